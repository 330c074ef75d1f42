// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/finding_checks.hpp"
#include "tests/support/shared_paths.hpp"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace tidemark::test;

/// Makes the scenarios with known ground truth and compares the diagnosis with it. To look at a part:
///   TIDEMARK_SCENARIO=SC-01,SC-03   only these
///   TIDEMARK_FINDING_RULES=leak     only differences of these rules
///   TIDEMARK_SCENARIO_FOLDER=DIR    only the folder DIR, made before (also its sub-folders)
class TestFindingsScenarios : public QObject {
    Q_OBJECT
private slots:
    void scenarios_data();
    void scenarios();

private:
    static QStringList listOf(const char* variable)
    {
        return QString::fromLocal8Bit(qgetenv(variable)).split(',', Qt::SkipEmptyParts);
    }
    /// "layers=4 --scale 0.1": a word with = in it is a parameter.
    static QStringList programArguments(const QString& text)
    {
        QStringList out;
        for (const QString& word : text.split(' ', Qt::SkipEmptyParts))
            out += word.contains('=') ? QStringList{"--param", word} : QStringList{word};
        return out;
    }
    static std::string differencesBelow(const std::filesystem::path& folder);
};

void TestFindingsScenarios::scenarios_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("arguments");
    struct Set {
        const char* id;
        const char* arguments;
    };
    static constexpr Set sets[] = {
        {"SC-01", ""},
        {"SC-01", "ranks=2 fail_rank=1 layers=16 act_mib=2048 pin_mib=100 param_mib=8000 grad_mib=16000"},
        {"SC-01", "ranks=2 fail_rank=0 layers=30 act_mib=1200 pin_mib=48 noise=3 --torch-version 2.14"},
        {"SC-01", "ranks=1 fail_rank=0 limit_mib=120000 total_mib=122000"},
        {"SC-01", "ranks=1 fail_rank=0 empty_level=1"},
        {"SC-01", "ranks=1 fail_rank=0 --scale 0.1 --torch-version 2.1"},
        {"SC-02", ""},
        {"SC-02", "layers=30 act_mib=1200 pin_mib=48 noise=2 limit_mib=72000 total_mib=73500"},
        {"SC-03", ""},
        {"SC-03", "control=1 layers=20"},
        {"SC-03", "state_mib=61000 act_mib=900 layers=40 --torch-version 2.1"},
        {"SC-03", "--scale 0.25 --pickle-protocol 2"},
        {"SC-04", ""},
        {"SC-04", "--torch-version 2.11 --pickle-protocol 5"},
        {"SC-04", "fp8=1"},
        {"SC-04", "recompute_mlp=1"},
        {"SC-04", "graphs=1 regather=1"},
        {"SC-05", ""},
        {"SC-06", ""},
        {"SC-07", ""},
        {"SC-08", ""},
        {"SC-08", "steps=12 leak_bytes=1048576 --torch-version 2.1"},
        {"SC-09", ""},
        {"SC-09", "seq=2048 microbatches=6 short_mib=700"},
        {"SC-09", "pp=4 short_mib=0"},
        {"SC-10", ""},
        {"SC-10", "shared=1"},
        {"SC-10", "shared=1 order=ascending expandable=1"},
        {"SC-10", "sizes_mib=900/700/512/300 replays=5 state_mib=12000 --torch-version 2.14"},
        {"SC-10", "sizes_mib=900/1700/512/1900/300"},
        {"SC-11", "cap=20000 blocks=300 block_mib=40 freed=77 window_live_mib=1000"},
        {"SC-11", "cap=30000 blocks=700 block_mib=19 freed=0 window_live_mib=640"},
        {"SC-12", ""},
        {"SC-12", "set=versions.torch:2.11.0;env.NCCL_GRAPH_REGISTER:0"},
        {"SC-13", ""},
        {"SC-13", "dump=pending"},
        {"SC-13", "layers=10 rs_mib=30 steps=5 --style cpp-pickler"},
        {"SC-13", "torch=2.9.0 avoid=1"},
        {"SC-14", ""},
        {"SC-14", "lora_bytes=2 dropout=0.1 layers=16"},
        {"SC-15", ""},
        {"SC-15", "cached_mib=6000 request_mib=3000 device_free_mib=600 segments=3 --torch-version 2.14"},
        {"SC-15", "request_mib=12000"},
        {"SC-15", "capturing=0"},
        {"SC-16", ""},
        {"SC-16", "stranded_mib=9000 pieces=9 request_mib=5000 --torch-version 2.1"},
        {"SC-16", "private=1"},
        {"SC-16", "request_mib=7000"},
    };
    if (!qEnvironmentVariableIsEmpty("TIDEMARK_SCENARIO_FOLDER")) {
        QTest::newRow("given folder") << QString() << QString();
        return;
    }
    const QStringList wanted = listOf("TIDEMARK_SCENARIO");
    for (const Set& set : sets)
        if (wanted.isEmpty() || wanted.contains(set.id))
            QTest::addRow("%s %s", set.id, *set.arguments == 0 ? "default" : set.arguments)
                << QString(set.id) << QString(set.arguments);
}

std::string TestFindingsScenarios::differencesBelow(const std::filesystem::path& folder)
{
    std::set<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().filename() == "expected.json")
            folders.insert(entry.path().parent_path());
    const QStringList rules = listOf("TIDEMARK_FINDING_RULES");
    std::string text;
    for (const std::filesystem::path& each : folders) {
        std::vector<Difference> differences = folderDifferences(each);
        std::erase_if(differences, [&](const Difference& d) {
            return !rules.isEmpty() && !rules.contains(QString::fromStdString(d.rule));
        });
        if (folders.size() > 1 && !differences.empty())
            text += "\n " + each.filename().string();
        text += differencesText(differences);
    }
    return folders.empty() ? "there is no expected.json" : text;
}

void TestFindingsScenarios::scenarios()
{
    QFETCH(QString, id);
    QFETCH(QString, arguments);
    std::string text;
    if (id.isEmpty()) {
        text = differencesBelow(qgetenv("TIDEMARK_SCENARIO_FOLDER").toStdString());
    } else {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
        QTemporaryDir out;
        const QString program = QString::fromStdString((sharedFolder() / "tools" / "scenarios.py").string());
        QProcess python;
        python.setProcessChannelMode(QProcess::MergedChannels);
        python.start(
            "python3", QStringList{program, "make", id, "--out", out.path()} + programArguments(arguments));
        if (!python.waitForStarted())
            QSKIP("python3 is not here.");
        QVERIFY2(python.waitForFinished(300000), "the scenario takes too long");
        const QByteArray said = python.readAll();
        QVERIFY2(python.exitCode() == 0, said.constData());
        text = differencesBelow(out.path().toStdString());
    }
    QVERIFY2(text.empty(), text.c_str());
}

QTEST_GUILESS_MAIN(TestFindingsScenarios)
#include "tst_findings_scenarios.moc"
