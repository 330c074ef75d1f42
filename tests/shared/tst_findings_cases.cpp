// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/finding_checks.hpp"
#include "tests/support/shared_paths.hpp"

#include <QTest>

#include <fstream>
#include <map>
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
        QVERIFY(!report["findings"].empty());
        const Json& found = report["findings"][0];
        QVERIFY(found["rule"] == "recompute-candidate");
        QVERIFY(found["evidence"]["label"] == "core_attn");
        QVERIFY(found["bytes"] == 10'143'924'224);
        QVERIFY(found["fixes"][1]["new_peak"] == 14'349'242'376);
    }

    /// Every finding on the real recordings, each looked at by hand: what lives at the peak was summed by
    /// call site with a script of its own. Files that are not named have none.
    void realRecordings()
    {
        const std::map<std::string, std::set<std::string>> expected{
            // The card is full: 384 MiB asked for, 115 MiB short even if packed. A diffusion transformer
            // whose scaled_dot_product_attention fell back to the math kernel. Nine feed-forward blocks keep
            // two tensors of 384 MiB each (their outputs of 96 MiB stay in any case), the embedding of the
            // time another 1 MiB.
            {"15-oom-named-json",
                {"capacity  120635392", "thin-margin  120635392", "recompute-candidate mlp 7248805888",
                    "recompute-candidate core_attn 6341787648"}},
            // Two MemPools: one of 558 MiB has 82.5 MiB of inactive blocks at the end of the file, the large
            // one none.
            {"29-verl-vllm-3pools", {"pool-held  86558720"}},
            // A small network; the optimizer makes temporaries for all parameters at once (162 of 162).
            {"31-npu-expandable-8dev", {"optimizer-peak  94114600"}},
            {"33-npu-emptycache-expandable-unmap", {"optimizer-peak  94114600"}},
            // Plain transformers that write their attention out: softmax, SwiGLU.
            {"40-cs336-windows-newest",
                {"recompute-candidate mlp 6039797760", "recompute-candidate core_attn 2732064768"}},
            {"42-cs336-medium-training-2026",
                {"recompute-candidate core_attn 10143924224", "recompute-candidate mlp 4823449600"}},
            {"48-cs336-fwd-128", {"recompute-candidate core_attn 1113587712"}},
        };
        std::size_t files = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(sharedFolder() / "corpus")) {
            if (!entry.is_regular_file())
                continue;
            Json report;
            try {
                report = diagnosisOf(entry.path(), {});
            } catch (const std::runtime_error&) {
                continue; // no snapshot: tst_corpus looks at those
            }
            ++files;
            std::set<std::string> found;
            for (const Json& each : report["findings"])
                found.insert(each["rule"].get<std::string>() + ' '
                    + each["evidence"].value("label", std::string()) + ' '
                    + std::to_string(each["bytes"].get<std::int64_t>()));
            const std::string name = entry.path().parent_path().filename().string();
            const auto wanted = expected.find(name);
            QVERIFY2(found == (wanted == expected.end() ? std::set<std::string>() : wanted->second),
                (name + ": " + report["findings"].dump()).c_str());
        }
        QVERIFY2(files >= 20, qPrintable(QString::number(files)));
    }
};

QTEST_GUILESS_MAIN(TestFindingsCases)
#include "tst_findings_cases.moc"
