// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/cbor_check.hpp"
#include "model/job/digest.hpp"
#include "model/job/summarise.hpp"
#include "tests/support/training_trace.hpp"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <map>
#include <random>
#include <set>

using namespace tidemark;
using namespace tidemark::test;

namespace fs = std::filesystem;

namespace {

/// A summary of a small training run.
RankSummary training()
{
    auto rank = std::make_shared<Rank>();
    rank->snapshot = TrainingTrace{}.make();
    for (std::size_t i = 0; i < rank->snapshot->devices.size(); ++i) {
        rank->devices.push_back(*Replay::build(rank->snapshot, i, {}));
        rank->marks.push_back(pairMarks(*rank->devices.back()));
    }
    rank->sites = std::make_shared<const Sites>(Sites::build(*rank->snapshot, SiteMode::User));
    rank->rawSites = std::make_shared<const Sites>(Sites::build(*rank->snapshot, SiteMode::Raw));
    DiagnosisOptions options;
    options.config.set("model.num_layers", std::int64_t{4});
    options.config.set("train.lr", 0.25);
    options.config.set("model.recompute_modules", std::vector<std::string>{"mlp", "core_attn"});
    options.config.set("model.fp8", std::monostate{});
    const auto diagnosis = diagnose(rank, options, {});
    SummaryOrigin origin;
    origin.file = "/runs/a/snapshot_3.pickle";
    origin.rank = 3;
    origin.rankFrom = "file name";
    origin.step = 12;
    origin.contentKey = "fast1-7-abc";
    RankSummary summary = makeSummary(*diagnosis, origin);
    Finding finding;
    finding.rule = "leak";
    finding.severity = Severity::Warning;
    finding.rank = 3;
    finding.bytes = 77;
    finding.grade = Grade::B;
    finding.eventRange = {EventIndex{3}, EventIndex{9}};
    finding.title = "A title.";
    finding.evidence
        = {{"a", std::monostate{}}, {"b", true}, {"c", std::int64_t{-4}}, {"d", 0.5}, {"e", std::string("x")},
            {"f", std::vector<std::int64_t>{1, 2}}, {"g", std::vector<std::string>{"y"}}};
    Fix fix;
    fix.id = "f";
    fix.text = "Do.";
    fix.newPeak = 5;
    fix.costGrade = Grade::C;
    finding.fixes = {fix};
    summary.findings.push_back(finding);
    summary.oom.emplace();
    summary.oom->request = 5;
    summary.oom->slack = -3;
    summary.oom->verdict = Verdict::WrongPool;
    return summary;
}

std::string packedAgain(const RankSummary& summary)
{
    RankSummary as = summary;
    as.file = "x";
    return digestBytes(as);
}

Result<WorkShare> share(const std::map<std::string, std::string>& variables)
{
    return workShare([&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

std::string shareText(const std::map<std::string, std::string>& variables)
{
    const auto result = share(variables);
    if (!result)
        return "error: " + result.error().message;
    return std::to_string(result->index) + "/" + std::to_string(result->count) + " " + result->from;
}

} // namespace

class TestDigest : public QObject {
    Q_OBJECT
private slots:
    void comesBackAsItWas()
    {
        const RankSummary before = training();
        const std::string bytes = digestBytes(before);
        QVERIFY(bytes.size() < 256U << 10);
        const auto after = parseDigest(bytes, "d.tmdigest");
        QVERIFY2(after, after ? "" : after.error().message.c_str());
        QVERIFY(after->fromDigest);
        QCOMPARE(after->file.string(), std::string("d.tmdigest"));
        QCOMPARE(after->snapshot.string(), std::string("/runs/a/snapshot_3.pickle"));
        QCOMPARE(after->rank, std::optional<int>(3));
        QCOMPARE(after->live.bytes, before.live.bytes);
        QCOMPARE(after->settings == before.settings, true);
        QCOMPARE(after->shape, before.shape);
        QCOMPARE(after->findings.size(), before.findings.size());
        QVERIFY(after->findings.back().evidence.size() == 7);
        QVERIFY(after->findings.back().evidence[5].value == EvidenceValue(std::vector<std::int64_t>{1, 2}));
        for (std::size_t level = 0; level < before.series.levels().size(); ++level)
            QCOMPARE(after->series.levels()[level].bytes, before.series.levels()[level].bytes);
        // All of it: written again it is the same, byte for byte.
        QCOMPARE(packedAgain(*after), bytes);
    }

    void cutAnywhereItIsRefusedInOneSentence()
    {
        const std::string bytes = digestBytes(training());
        for (std::size_t length = 0; length < bytes.size(); length += length < 64 ? 1 : 37) {
            const auto read = parseDigest(std::string_view(bytes).substr(0, length), "d.tmdigest");
            QVERIFY(!read);
            const std::string& said = read.error().message;
            QVERIFY2(said.starts_with("d.tmdigest ") && said.ends_with("Make it again with tidemark digest."),
                said.c_str());
        }
    }

    void noDamageDoesHarm()
    {
        const std::string bytes = digestBytes(training());
        std::mt19937 random(7);
        for (int round = 0; round < 2000; ++round) {
            std::string damaged = bytes;
            const int places = 1 + static_cast<int>(random() % 4);
            for (int i = 0; i < places; ++i)
                damaged[random() % damaged.size()] = static_cast<char>(random());
            (void)parseDigest(damaged, "d");
        }
    }

    void hostileTreesAreRefused()
    {
        QVERIFY(isPlainCbor(std::string_view("\x83\x01\x61\x61\xf6", 5), 4, 100));
        QVERIFY(!isPlainCbor(std::string(100'000, '\x81'), 16, 1U << 20)); // nesting
        QVERIFY(!isPlainCbor(std::string_view("\x9b\xff\xff\xff\xff\xff\xff\xff\xff", 9), 16, 100)); // length
        QVERIFY(!isPlainCbor(std::string_view("\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 9), 16, 100));
        QVERIFY(!isPlainCbor(std::string_view("\x9f\x01\xff", 3), 16, 100)); // indefinite length
        QVERIFY(!isPlainCbor(std::string_view("\xc1\x01", 2), 16, 100)); // tag
        QVERIFY(!isPlainCbor(std::string_view("\x01\x01", 2), 16, 100)); // two items
        QVERIFY(!isPlainCbor({}, 16, 100));
        QVERIFY(!isPlainCbor(std::string_view("\x83\x01\x01\x01", 4), 16, 3)); // items
    }

    void otherLayoutsAreNamed()
    {
        std::string bytes = digestBytes(training());
        bytes[digestMagic.size()] = 9;
        const auto read = parseDigest(bytes, "d.tmdigest");
        QVERIFY(!read);
        QCOMPARE(read.error().message,
            std::string("d.tmdigest has layout 9, this program reads layout 1. Make it again with tidemark "
                        "digest."));
    }

    void theKeyIsReadFromTheFirstBytes()
    {
        QTemporaryDir folder;
        const fs::path file = fs::path(folder.path().toStdString()) / "a.tmdigest";
        std::ofstream(file, std::ios::binary) << digestBytes(training());
        QCOMPARE(digestKey(file), std::optional<std::string>("fast1-7-abc"));
        std::ofstream(file, std::ios::binary) << "TMDIGEST";
        QCOMPARE(digestKey(file), std::nullopt);
        QCOMPARE(digestKey(file.parent_path() / "gone.tmdigest"), std::nullopt);
    }

    void staysSmall()
    {
        RankSummary large = training();
        for (int i = 0; i < 60; ++i) {
            Finding finding = large.findings.front();
            std::mt19937 random(static_cast<unsigned>(i));
            for (int c = 0; c < 30'000; ++c)
                finding.explanation.push_back(static_cast<char>('a' + random() % 26));
            large.findings.push_back(finding);
        }
        const std::string bytes = digestBytes(large);
        QVERIFY2(bytes.size() <= 256U << 10, qPrintable(QString::number(bytes.size())));
        QVERIFY(parseDigest(bytes, "d"));
    }

    void shares_data()
    {
        QTest::addColumn<QString>("variables");
        QTest::addColumn<QString>("share");
        const std::pair<const char*, const char*> rows[] = {
            {"", "0/1 "},
            {"SLURM_PROCID=2 SLURM_NTASKS=8", "2/8 SLURM_PROCID"},
            {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=3",
                "2/4 SLURM_ARRAY_TASK_ID"},
            {"SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=3 "
             "SLURM_ARRAY_TASK_MIN=0",
                "3/6 SLURM_ARRAY_TASK_ID and SLURM_PROCID"},
            {"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4", "3/4 OMPI_COMM_WORLD_RANK"},
            {"RANK=0 WORLD_SIZE=2", "0/2 RANK"},
            {"RANK=1", "0/1 "},
            {"RANK=4 WORLD_SIZE=4",
                "error: RANK is 4, beyond the 4 tasks of WORLD_SIZE. Unset both to digest all files."},
            {"SLURM_PROCID=x SLURM_NTASKS=2",
                "error: SLURM_PROCID is \"x\", which is no number of a task. Unset it to digest all files."},
        };
        for (const auto& [variables, text] : rows)
            QTest::addRow("%s", variables) << variables << text;
    }
    void shares()
    {
        QFETCH(QString, variables);
        QFETCH(QString, share);
        std::map<std::string, std::string> set;
        for (const QString& each : variables.split(' ', Qt::SkipEmptyParts))
            set[each.section('=', 0, 0).toStdString()] = each.section('=', 1).toStdString();
        QCOMPARE(QString::fromStdString(shareText(set)), share);
    }

    void tasksHaveNamesOfTheirOwn()
    {
        const std::vector<fs::path> files{"/r/iteration_20/rank0.pickle", "/r/iteration_10/rank0.pickle",
            "/r/rank1.pickle", "/r/iteration_10/rank0.pickle"};
        std::string names;
        std::set<fs::path> distinct;
        for (const DigestTask& task : digestTasks(files, "out")) {
            names += task.digest.string() + " ";
            distinct.insert(task.digest);
        }
        QCOMPARE(names,
            std::string("out/iteration_10__rank0.pickle.tmdigest out/iteration_20__rank0.pickle.tmdigest "
                        "out/rank1.pickle.tmdigest "));
        QCOMPARE(distinct.size(), std::size_t{3});
        const std::vector<fs::path> alike{"/r/a/b.pickle", "/r/a__b.pickle", "/r/c.pickle"};
        distinct.clear();
        for (const DigestTask& task : digestTasks(alike, "out"))
            distinct.insert(task.digest);
        QCOMPARE(distinct.size(), std::size_t{3});
    }

    void aFolderOfDigestsIsAJob()
    {
        QTemporaryDir folder;
        RankSummary summary = training();
        for (int rank = 0; rank < 5; ++rank) {
            summary.rank = rank;
            const std::string name
                = "digest_of_" + std::string(1, static_cast<char>('a' + rank)) + ".tmdigest";
            std::ofstream(fs::path(folder.path().toStdString()) / name, std::ios::binary)
                << digestBytes(summary);
        }
        std::ofstream(fs::path(folder.path().toStdString()) / "snapshot_5.pickle.tmdigest") << "TMDIGEST cut";
        std::ofstream(fs::path(folder.path().toStdString()) / "snapshot_6.pickle.tmdigest.Ab3xYz") << "half";
        const std::vector<fs::path> paths{folder.path().toStdString()};
        const auto all = summarise(*discover(paths, {}, {}), {}, {});
        QVERIFY(all);
        QCOMPARE(all->ranks.size(), std::size_t{5});
        for (int rank = 0; rank < 5; ++rank)
            QCOMPARE(all->ranks[static_cast<std::size_t>(rank)].rank, std::optional<int>(rank));
        QCOMPARE(all->job.bad.size(), std::size_t{1});
        QCOMPARE(all->job.missing, std::vector<int>{5});
        QVERIFY(all->config.number("model.num_layers") == 4);
    }
};

QTEST_GUILESS_MAIN(TestDigest)
#include "tst_digest.moc"
