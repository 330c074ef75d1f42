// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/finding_checks.hpp"
#include "tests/support/shared_paths.hpp"

#include <QTest>

#include <fstream>
#include <set>

using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

std::filesystem::path cases()
{
    return sharedFolder() / "cases";
}

/// The case's top level, overridden for one file.
Json expectationOf(const Json& whole, const std::string& file)
{
    Json expected;
    for (const char* key : {"findings", "no_findings", "fixes_must_not_mention", "config", "config_checks",
             "opens", "either_ok"})
        if (whole.contains("files") && whole["files"].contains(file) && whole["files"][file].contains(key))
            expected[key] = whole["files"][file][key];
        else if (whole.contains(key))
            expected[key] = whole[key];
    return expected;
}

Json readCase(const std::string& name)
{
    std::ifstream in(cases() / name / "expected.json");
    return Json::parse(in);
}

} // namespace

class TestFindingsCases : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    }

    void everyCase_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("file");
        std::set<std::filesystem::path> folders;
        if (!sharedFolder().empty())
            for (const auto& entry : std::filesystem::directory_iterator(cases()))
                if (std::filesystem::exists(entry.path() / "expected.json"))
                    folders.insert(entry.path());
        for (const std::filesystem::path& folder : folders) {
            const std::string name = folder.filename().string();
            const Json whole = readCase(name);
            // What is said of a set of ranks is not for one file.
            if (whole.contains("ranks"))
                continue;
            for (const auto& entry : std::filesystem::directory_iterator(folder)) {
                const std::string file = entry.path().filename().string();
                const Json expected = expectationOf(whole, file);
                if (entry.is_regular_file() && file != "expected.json" && file != "run.json"
                    && expected.value("opens", false) && !expected.contains("either_ok"))
                    QTest::addRow("%s/%s", name.c_str(), file.c_str())
                        << QString::fromStdString(name) << QString::fromStdString(file);
            }
        }
    }

    void everyCase()
    {
        QFETCH(QString, name);
        QFETCH(QString, file);
        const Json expected = expectationOf(readCase(name.toStdString()), file.toStdString());
        const std::filesystem::path folder = cases() / name.toStdString();
        std::filesystem::path config;
        if (expected.contains("config"))
            config = folder / expected["config"].get<std::string>();
        const Json report = diagnosisOf(folder / file.toStdString(), config);
        const std::string text = differencesText(caseDifferences(report, expected));
        QVERIFY2(text.empty(), text.c_str());
    }

    /// A plain model that writes its attention out: the scores wait for backward.
    void plainAttentionWaitsForBackward()
    {
        const Json report = diagnosisOf(sharedFolder() / "corpus" / "42-cs336-medium-training-2026"
                / "medium_1024_training_memory_snapshot.pickle",
            {});
        QCOMPARE(report["findings"].size(), std::size_t(1));
        const Json& found = report["findings"][0];
        QVERIFY(found["rule"] == "recompute-candidate");
        QVERIFY(found["evidence"]["label"] == "core_attn");
        QVERIFY(found["bytes"] == 10'143'924'224);
        QVERIFY(found["fixes"][1]["new_peak"] == 14'340'853'768);
    }

    /// Runs without a failure have no critical finding.
    void healthyRunsAreNotCalledBroken()
    {
        std::size_t files = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(sharedFolder() / "corpus")) {
            const std::string name = entry.path().filename().string();
            if (!entry.is_regular_file() || entry.path().extension() != ".pickle")
                continue;
            const Json report = diagnosisOf(entry.path(), {});
            if (!report.contains("findings"))
                continue;
            ++files;
            const bool failed = entry.path().string().find("oom") != std::string::npos;
            for (const Json& found : report["findings"])
                QVERIFY2(failed || found["severity"] != "critical", (name + ": " + found.dump()).c_str());
        }
        QVERIFY2(files >= 15, qPrintable(QString::number(files)));
    }
};

QTEST_GUILESS_MAIN(TestFindingsCases)
#include "tst_findings_cases.moc"
