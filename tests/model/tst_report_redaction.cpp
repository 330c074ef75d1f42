// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/rank_summary.hpp"
#include "model/playbook/identities.hpp"
#include "model/report/redaction_words.hpp"
#include "tests/support/report_case.hpp"
#include "tests/support/small_runs.hpp"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <set>

using namespace tidemark;
using namespace tidemark::test;
using report::Redaction;

namespace {

RunConfig privateConfig()
{
    RunConfig config;
    config.set("env.USER", std::string("janedoe"));
    config.set("env.HOSTNAME", std::string("gpu-node-0417.acme.example"));
    config.set("env.WANDB_API_KEY", std::string("9f8e7d6c5b4a39281706"));
    config.set("env.PYTORCH_CUDA_ALLOC_CONF", std::string("expandable_segments:True"));
    config.set("checkpoint.save", std::string("/lustre/projects/acme/zeppelin/run-17"));
    config.set("logger.wandb_project", std::string("Zeppelin-Pretrain"));
    config.set("model.hidden_size", std::int64_t{4096});
    config.set("model.recompute_granularity", std::string("selective"));
    return config;
}

RunConfig configWithEnvironment()
{
    RunConfig config;
    const Result<void> read
        = config.add("USER=janedoe\nLOGNAME=jane.doe\nHOME=/lustre/home/jdoe77\n"
                     "HOSTNAME=gpu-node-0417.acme.example\nSLURM_NODELIST=dgx[003-005],login9\n"
                     "MASTER_ADDR=10.17.4.201\nSLURMD_NODENAME=worker\nRANK=3\n",
            "env.txt");
    return read ? config : RunConfig();
}

/// Secrets of a list that a text still holds.
std::string found(const std::string& text, const std::vector<std::string>& secrets)
{
    for (const std::string& secret : secrets)
        if (report::mentions(text, secret))
            return secret;
    return {};
}

} // namespace

class TestReportRedaction : public QObject {
    Q_OBJECT
private slots:
    void nothingThatShouldBeGoneIsLeft()
    {
        report::ReportInput input = reportInput(attackSnapshot(), privateConfig());
        report::ReportInput other = reportInput(attackSnapshot(), privateConfig());
        compare::Side a;
        a.rank = input.rank;
        a.diagnosis = input.diagnosis;
        a.label = "/home/janedoe/acme-model/run1/snapshot.pickle";
        compare::Side b = a;
        b.rank = other.rank;
        b.diagnosis = other.diagnosis;
        b.label = "Zeppelin-runs/seventeen/snapshot.pickle";
        input.comparison = compare::compareSides(a, b, {}, {});
        report::Annotation note;
        note.text = "Ask janedoe about AcmeFusedAttention_forward in /home/janedoe/acme-model/run.py";
        input.annotations = {note};
        for (const Redaction& redaction :
            {Redaction::full(), Redaction::standard(), Redaction{Redaction::Paths::Hash, true, true, true},
                Redaction{Redaction::Paths::Keep, true, false, false}}) {
            const std::vector<std::string> secrets
                = report::redactedStrings(report::redactionInput(input), redaction);
            QVERIFY(secrets.size() > 8);
            report::ReportWish wish;
            wish.redaction = redaction;
            wish.title = note.text;
            wish.topRows = 1000;
            const auto document = report::buildReport(input, wish, nullptr, {});
            for (const report::Exporter& exporter : report::exporters()) {
                const std::string written = exporter.write(*document);
                QVERIFY2(found(written, secrets).empty(), found(written, secrets).substr(0, 200).c_str());
                const std::string shown = shownText(written, exporter.extension);
                QVERIFY2(found(shown, secrets).empty(),
                    (std::string(exporter.name) + ": " + found(shown, secrets).substr(0, 200)).c_str());
            }
        }
    }

    /// By hand, apart from what the program itself lists.
    void knownSecretsAreGone()
    {
        const report::ReportInput input = reportInput(attackSnapshot(), privateConfig());
        report::ReportWish wish;
        wish.redaction = Redaction::full();
        wish.topRows = 1000;
        const auto document = report::buildReport(input, wish, nullptr, {});
        for (const report::Exporter& exporter : report::exporters()) {
            const QString text = QString::fromStdString(exporter.write(*document));
            for (const char* secret : {"janedoe", "acme-model", "gpu-node-0417", "9f8e7d6c5b4a39281706",
                     "Zeppelin", "zeppelin", "/lustre", "/home", "Users", "AcmeFusedAttention",
                     "acme_main_entry", "alert_secret", "octocat", "reversed_secret", "secret_tail",
                     "Long_secret", "end_of_secret", "QQQQ", "plainword@"})
                QVERIFY2(!text.contains(secret), (std::string(exporter.name) + ' ' + secret).c_str());
            // What is public, or tells nothing, stays.
            QVERIFY(text.contains("_call_impl") || text.contains("\\_call\\_impl"));
        }
        // All of it is there when nothing is redacted.
        wish.redaction = {};
        const std::string open = report::writeJson(*report::buildReport(input, wish, nullptr, {}));
        for (const char* secret :
            {"AcmeFusedAttention", "acme_main_entry", "octocat", "Long_secret", "plainword@"})
            QVERIFY2(open.find(secret) != std::string::npos, secret);
        wish.redaction = Redaction::full();
        const std::string html = report::writeHtml(*document);
        QVERIFY(html.find("fn_") != std::string::npos);
        QVERIFY(html.find("attention_impl.py") != std::string::npos);
        QCOMPARE(htmlFault(html), std::string());
        // The figures are the same.
        QCOMPARE(figureOf(*document, "peak-live")->value,
            figureOf(*report::buildReport(input, {}, nullptr, {}), "peak-live")->value);
    }

    /// What env.txt says of who and where is no setting, yet people type it into titles and notes.
    void namesOfTheEnvironmentAreGoneWhereTyped()
    {
        report::ReportInput input = reportInput(attackSnapshot(), configWithEnvironment());
        report::Annotation note;
        note.text = "dgx004 fell behind; jdoe77 restarted it from login9";
        input.annotations = {note};
        report::RankRow other;
        other.name = "a100-box-7_4242.1700000000123.pickle";
        other.problem = "It is empty.";
        input.ranks = {report::rankRow(*input.diagnosis), other};
        report::ReportWish wish;
        wish.title = "OOM of janedoe on gpu-node-0417";
        wish.summary = "jane.doe saw it on gpu-node-0417.acme.example (10.17.4.201) and dgx003, a worker.\n\n"
                       "Also on dgx005.";
        const std::vector<const char*> secrets{"janedoe", "jane.doe", "jdoe77", "gpu-node", "acme.example",
            "dgx00", "login9", "10.17.4.201", "a100-box-7"};
        const auto written = [&](const report::Exporter& exporter) {
            return shownText(
                exporter.write(*report::buildReport(input, wish, nullptr, {})), exporter.extension);
        };
        for (const report::Exporter& exporter : report::exporters()) {
            wish.redaction = {};
            const std::string open = written(exporter);
            for (const char* secret : secrets)
                QVERIFY2(
                    open.find(secret) != std::string::npos, (std::string(exporter.name) + secret).c_str());
            for (const Redaction& redaction : {Redaction::standard(), Redaction::full()}) {
                wish.redaction = redaction;
                const std::string closed = written(exporter);
                for (const char* secret : secrets)
                    QVERIFY2(closed.find(secret) == std::string::npos,
                        (std::string(exporter.name) + ' ' + secret).c_str());
                // A word that names no machine stays.
                QVERIFY(closed.find("and host, a worker.") != std::string::npos);
            }
        }
        // Nor are they among the settings that digests keep.
        for (const auto& [key, value] : makeSummary(*input.diagnosis, {}).settings)
            QVERIFY2(!isIdentityKey(key), key.c_str());
        const auto gone = report::redactedStrings(report::redactionInput(input), Redaction::standard());
        for (const char* secret : {"janedoe", "jdoe77", "dgx004", "gpu-node-0417"})
            QVERIFY2(std::find(gone.begin(), gone.end(), secret) != gone.end(), secret);
    }

    /// A program may have functions called as those of PyTorch that the advice tells to use.
    void adviceStaysReadable()
    {
        SmallRun run;
        run.sites = {{"scaled_dot_product_attention@/home/janedoe/acme/attn.py:11", 4LL << 30, 1},
            {"Acme_secret_attention@/home/janedoe/acme/attn.py:12", 1LL << 30, 1},
            {"_dump_snapshot@/home/janedoe/acme/debug.py:3", 1LL << 30, 1}};
        report::ReportInput input = reportInput(run.make(), privateConfig());
        auto diagnosis = std::make_shared<Diagnosis>(*input.diagnosis);
        Finding finding;
        finding.rule = "recompute-candidate";
        finding.title = "Plain attention keeps its scores.";
        finding.explanation = "Acme_secret_attention stores them.";
        Fix fix;
        fix.text = "Use scaled_dot_product_attention, call torch.cuda.memory._dump_snapshot() again.";
        finding.fixes = {fix};
        diagnosis->findings = {finding};
        input.diagnosis = diagnosis;
        report::ReportWish wish;
        wish.redaction = Redaction::full();
        const auto document = report::buildReport(input, wish, nullptr, {});
        for (const report::Exporter& exporter : report::exporters()) {
            const std::string shown = shownText(exporter.write(*document), exporter.extension);
            QVERIFY2(shown.find(fix.text) != std::string::npos, exporter.name);
            QVERIFY2(shown.find("Acme_secret") == std::string::npos, exporter.name);
        }
    }

    /// Every name in the program's own texts is one that redaction leaves alone.
    void namesInOwnTextsAreKnown()
    {
        static const QRegularExpression literal(QStringLiteral("\"((?:[^\"\\\\]|\\\\.)*)\""));
        static const QRegularExpression name(
            QStringLiteral("(?<![A-Za-z0-9_])_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+(?![A-Za-z0-9_])"));
        const QString root = QStringLiteral(TIDEMARK_RESOURCES "/../");
        QStringList files{root + QStringLiteral("resources/playbook.json")};
        for (const char* folder : {"model/findings", "model/playbook", "model/job"}) {
            QDirIterator walk(root + QLatin1String(folder), {QStringLiteral("*.cpp")}, QDir::Files,
                QDirIterator::Subdirectories);
            while (walk.hasNext())
                files << walk.next();
        }
        QVERIFY(files.size() > 60);
        QStringList missing;
        for (const QString& path : files) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            for (const QByteArray& line : file.readAll().split('\n'))
                for (auto text = literal.globalMatch(QString::fromUtf8(line)); text.hasNext();) {
                    const QString words = text.next().captured(1);
                    for (auto found = name.globalMatch(words); words.contains(u' ') && found.hasNext();)
                        if (const QString word = found.next().captured();
                            !report::isOwnWord(word.toStdString()))
                            missing << word;
                }
        }
        missing.removeDuplicates();
        QVERIFY2(missing.isEmpty(), qPrintable("put into advice_words.cpp: " + missing.join(u' ')));
        QVERIFY(!report::isOwnWord("acme_attention"));
    }

    void functionsKeepTheirHash()
    {
        const report::ReportInput one = reportInput(attackSnapshot());
        SmallRun run;
        run.sites = {{"AcmeFusedAttention_forward@/elsewhere/x/y.py:2", 1 << 20, 1}};
        const report::ReportInput two = reportInput(run.make());
        const auto hashed = [](const report::ReportInput& input) {
            return report::Redactor::build(report::redactionInput(input), Redaction::full())
                .text("AcmeFusedAttention_forward");
        };
        QCOMPARE(hashed(one), hashed(two));
        QVERIFY2(hashed(one).starts_with("fn_") && hashed(one).size() == 7, hashed(one).c_str());
    }

    void differentFunctionsGetDifferentHashes()
    {
        SmallRun run;
        for (int i = 0; i < 600; ++i)
            run.sites.push_back({"My_function_" + std::to_string(i) + "@/x/m.py:7", 1 << 20, 1});
        const report::ReportInput input = reportInput(run.make());
        std::set<std::string> after;
        std::size_t functions = 0;
        for (const report::Replacement& each :
            report::Redactor::build(report::redactionInput(input), Redaction::full()).replacements())
            if (each.kind == report::Replacement::Kind::Function) {
                ++functions;
                after.insert(each.after);
            }
        QCOMPARE(functions, std::size_t(600));
        QCOMPARE(after.size(), functions);
    }

    void paths_data()
    {
        QTest::addColumn<QString>("before");
        QTest::addColumn<QString>("after");
        QTest::newRow("linux") << "in /data/team/x/train.py line"
                               << "in train.py line";
        QTest::newRow("line") << "/data/team/x/train.py:12"
                              << "train.py:12";
        QTest::newRow("home") << "cd /home/somebody now"
                              << "cd ~ now";
        QTest::newRow("tilde") << "~/proj/x.py"
                               << "x.py";
        QTest::newRow("windows") << "C:\\Team\\Proj\\x.py!"
                                 << "x.py!";
        QTest::newRow("server") << "\\\\server\\share\\x.py"
                                << "x.py";
        QTest::newRow("address") << "https://pytorch.org/docs/stable/notes"
                                 << "https://pytorch.org/docs/stable/notes";
        QTest::newRow("words") << "q/k/v, TP/PP, 3 GiB/s, and/or"
                               << "q/k/v, TP/PP, 3 GiB/s, and/or";
        QTest::newRow("short") << "/tmp"
                               << "/tmp";
        QTest::newRow("relative") << "megatron/core/ddp.py"
                                  << "megatron/core/ddp.py";
        QTest::newRow("end") << "see /data/team/run."
                             << "see run.";
    }
    void paths()
    {
        QFETCH(QString, before);
        QFETCH(QString, after);
        const report::Redactor redactor = report::Redactor::build({}, Redaction::standard());
        QCOMPARE(QString::fromStdString(redactor.text(before.toStdString())), after);
        QCOMPARE(QString::fromStdString(report::Redactor().text(before.toStdString())), before);
    }

    void settings()
    {
        const RunConfig config = privateConfig();
        const report::Redactor redactor
            = report::Redactor::build({{}, {&config}, {}, {}, {}}, Redaction::full());
        QCOMPARE(redactor.setting("env.WANDB_API_KEY", "9f8e7d6c5b4a39281706"), std::string("hidden"));
        QCOMPARE(redactor.setting("checkpoint.save", "/a/b/c"), std::string("hidden"));
        QCOMPARE(redactor.setting("model.hidden_size", "4096"), std::string("4096"));
        QCOMPARE(redactor.setting("env.PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
            std::string("expandable_segments:True"));
        QCOMPARE(redactor.setting("model.recompute_granularity", "selective"), std::string("selective"));
    }

    void hostsInFileNames()
    {
        QCOMPARE(report::hostInFileName("gpu-node-17_4242.1700000000123.pickle"), std::string("gpu-node-17"));
        QCOMPARE(report::hostInFileName("gpu17_Jun_10_12_30_05.pickle"), std::string("gpu17"));
        QCOMPARE(report::hostInFileName("snapshot_oom_rank-3.pickle"), std::string());
    }

    void knownLibraries()
    {
        QVERIFY(report::isKnownLibrary("linear", "/v/lib/python3.12/site-packages/torch/nn/functional.py"));
        QVERIFY(report::isKnownLibrary("run", "/usr/lib/python3.12/threading.py"));
        QVERIFY(report::isKnownLibrary("void at::native::f<long, 8>(long const*)", ""));
        QVERIFY(report::isKnownLibrary("PyNumber_Add", "??"));
        QVERIFY(!report::isKnownLibrary("f", "/v/lib/python3.12/site-packages/acme/torch_x.py"));
        QVERIFY(!report::isKnownLibrary("f", "/home/x/torchlike/y.py"));
        QVERIFY(!report::isKnownLibrary("acme::kernel(float*)", ""));
    }

    void textsOfPictures()
    {
        const report::ReportInput input = reportInput(attackSnapshot());
        const report::Redactor redactor
            = report::Redactor::build(report::redactionInput(input), Redaction::full());
        const std::string svg
            = redactor.svg("<svg xmlns=\"http://www.w3.org/2000/svg\"><text>acme_main_entry@run.py &lt;3 "
                           "&amp; more</text></svg>");
        QVERIFY2(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"><text>fn_"), svg.c_str());
        QVERIFY2(svg.ends_with("@run.py &lt;3 &amp; more</text></svg>"), svg.c_str());
    }

    void nothingWishedChangesNothing()
    {
        const report::ReportInput input = reportInput(attackSnapshot(), privateConfig());
        QVERIFY(report::redactedStrings(report::redactionInput(input), {}).empty());
        QVERIFY(!report::Redactor::build(report::redactionInput(input), {}).active());
    }

    void words()
    {
        QVERIFY(report::mentions("a foo b", "foo"));
        QVERIFY(!report::mentions("a foo_b", "foo"));
        QVERIFY(!report::mentions("afoo", "foo"));
        QVERIFY(report::mentions("x/foo@y", "foo@"));
        QVERIFY(!report::mentions("", "foo"));
        QVERIFY(!report::mentions("foo", ""));
    }
};

QTEST_GUILESS_MAIN(TestReportRedaction)
#include "tst_report_redaction.moc"
