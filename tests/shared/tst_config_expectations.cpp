// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/reader.hpp"
#include "model/playbook/config_checks.hpp"
#include "tests/support/shared_paths.hpp"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> expectationsBelow(const fs::path& folder)
{
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.path().filename() == "expected.json")
            found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

/// Facts of all snapshots of a folder, as one run.
CheckFacts factsOf(const fs::path& folder, RunConfig& config)
{
    static const std::regex rankInName("([0-9]+)\\.pickle$");
    std::optional<CheckFacts> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        std::smatch match;
        if (!std::regex_search(name, match, rankInName))
            continue;
        const auto snapshot = readSnapshot(entry.path(), {}, {});
        if (!snapshot)
            qFatal("%s: %s", name.c_str(), snapshot.error().message.c_str());
        CheckFacts facts = checkFacts(**snapshot);
        facts.rank = std::stoi(match[1]);
        config.addSnapshot(**snapshot);
        if (all)
            all->merge(facts);
        else
            all = facts;
    }
    return all.value_or(CheckFacts());
}

/// Differences between what is expected of a folder's settings and what the checks say, a line each.
std::string differences(const fs::path& expectation)
{
    std::ifstream file(expectation);
    const Json expected = Json::parse(file).value("config", Json());
    if (!expected.is_object())
        return {};
    RunConfig config;
    for (const fs::path& each : configFilesBeside(expectation.parent_path()))
        if (const auto added = config.addFile(each); !added)
            return added.error().message + "\n";
    const CheckFacts facts = factsOf(expectation.parent_path(), config);
    std::map<std::string, std::string> found;
    for (const ConfigCheck& check : checkConfig(config, facts))
        found[check.id] = checkLevelName(check.level);
    std::map<std::string, std::string> wanted;
    for (const Json& each : expected["must"])
        wanted[each["id"]] = each["level"];
    for (const Json& each : expected["unknown"])
        wanted[each] = "unknown";
    std::set<std::string> ids;
    for (const auto& [id, level] : wanted)
        ids.insert(id);
    for (const Json& each : expected["must_not"])
        ids.insert(each);
    std::string text;
    for (const std::string& id : ids)
        if (found[id] != wanted[id])
            text += expectation.parent_path().string() + ": " + id + " is '" + found[id] + "', expected '"
                + wanted[id] + "'\n";
    return text;
}

} // namespace

/// The checks against the scenarios' own table of expectations: TIDEMARK_SCENARIOS names folders (separated
/// by colons); without it some are made.
class TestConfigExpectations : public QObject {
    Q_OBJECT
private slots:
    void everyBundle()
    {
        std::string folders = qEnvironmentVariable("TIDEMARK_SCENARIOS").toStdString();
        QTemporaryDir made;
        if (folders.empty()) {
            if (sharedFolder().empty() || !fs::exists(sharedFolder() / "tools/scenarios.py"))
                QSKIP("the scenario generator is not here");
            make(made.path(), {"SC-12", "--out", made.filePath("conflicts")});
            make(made.path(),
                {"SC-12", "--out", made.filePath("changed"), "--param",
                    "set=model.tensor_model_parallel_size:2;model.sequence_parallel:true;env.NCCL_GRAPH_"
                    "REGISTER:0"});
            make(made.path(), {"SC-04", "--out", made.filePath("lora"), "--scale", "0.25"});
            folders = made.path().toStdString();
        }
        std::stringstream list(folders);
        std::string report;
        std::size_t count = 0;
        for (std::string folder; std::getline(list, folder, ':');)
            for (const fs::path& each : expectationsBelow(folder)) {
                report += differences(each);
                ++count;
            }
        QVERIFY(count > 0);
        QVERIFY2(report.empty(), report.c_str());
    }

private:
    static void make(const QString& where, const QStringList& arguments)
    {
        QProcess generator;
        generator.setWorkingDirectory(where);
        const fs::path program = sharedFolder() / "tools/scenarios.py";
        generator.start("python3", QStringList{QString::fromStdString(program.string()), "make"} + arguments);
        QVERIFY(generator.waitForFinished(120000));
        QVERIFY2(generator.exitCode() == 0, generator.readAllStandardError().constData());
    }
};

QTEST_GUILESS_MAIN(TestConfigExpectations)
#include "tst_config_expectations.moc"
