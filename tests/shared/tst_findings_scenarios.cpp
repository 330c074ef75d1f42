// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.hpp"
#include "tests/shared/scenario_maker.hpp"
#include "tests/support/finding_checks.hpp"
#include "tests/support/json_subset.hpp"

#include <QTest>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

struct ScenarioSet {
    const char* id;
    const char* arguments;
};

/// At least five of each that differ in what they are about: sizes, depths, parallelism, the part that goes
/// wrong or does not, the release of PyTorch and the pickler.
constexpr ScenarioSet sets[] = {
    {"SC-01", ""},
    {"SC-01", "ranks=2 fail_rank=1 layers=16 act_mib=2048 pin_mib=100 param_mib=8000 grad_mib=16000"},
    {"SC-01", "ranks=2 fail_rank=0 layers=30 act_mib=1200 pin_mib=48 noise=3 --torch-version 2.14"},
    {"SC-01", "ranks=1 fail_rank=0 limit_mib=120000 total_mib=122000"},
    {"SC-01", "ranks=1 fail_rank=0 empty_level=1"},
    {"SC-01", "ranks=1 fail_rank=0 --scale 0.1 --torch-version 2.1"},
    {"SC-01", "ranks=1 fail_rank=0 copy_mib=900 --style cpp-pickler"},
    {"SC-01",
        "ranks=3 fail_rank=2 layers=12 act_mib=3000 pin_mib=20 param_mib=12000 grad_mib=24000 "
        "--torch-version 2.11 --pickle-protocol 5"},
    {"SC-02", ""},
    {"SC-02", "va_mib=1000000 --torch-version 2.11 --style cpp-pickler"},
    {"SC-02", "layers=16 act_mib=2048 pin_mib=100 param_mib=8000 grad_mib=16000 --torch-version 2.1"},
    {"SC-02", "layers=30 act_mib=1200 pin_mib=48 noise=2 limit_mib=72000 total_mib=73500"},
    {"SC-02", "--scale 0.05 --torch-version 2.14 --pickle-protocol 2"},
    {"SC-02", "limit_mib=61000 total_mib=62500 --pickle-protocol 5"},
    {"SC-03", ""},
    {"SC-03", "control=1 layers=20"},
    {"SC-03", "state_mib=61000 act_mib=900 layers=40 --torch-version 2.1"},
    {"SC-03", "state_mib=30000 act_mib=2500 --torch-version 2.14 --style cpp-pickler"},
    {"SC-03", "--scale 0.25 --pickle-protocol 2"},
    {"SC-03", "state_mib=78000 act_mib=333 layers=8 --torch-version 2.11 --pickle-protocol 5"},
    {"SC-04", ""},
    {"SC-04", "seq=4096 batch=2 microbatches=3 steps=1 --torch-version 2.11 --pickle-protocol 5"},
    {"SC-04", "fp8=1"},
    {"SC-04", "recompute_mlp=1"},
    {"SC-04", "graphs=1 regather=1"},
    {"SC-04",
        "layers=48 hidden=2048 ffn=6144 heads=32 kv_heads=4 tp=4 surfaces=qkv state_bytes=15000000000 "
        "microbatches=1"},
    {"SC-04",
        "layers=36 hidden=2880 ffn=2880 heads=64 kv_heads=8 head_dim=64 vocab=201088 seq=4096 tp=2 "
        "surfaces=qkv state_bytes=30000000000 microbatches=1 --torch-version 2.14"},
    {"SC-04",
        "layers=12 seq=2048 tp=4 batch=2 steps=1 state_bytes=9000000000 --torch-version 2.1 --style "
        "cpp-pickler"},
    {"SC-05", ""},
    {"SC-05", "recompute_mlp=1 --torch-version 2.14"},
    {"SC-05",
        "layers=48 hidden=2048 ffn=6144 heads=32 kv_heads=4 tp=4 surfaces=qkv state_bytes=15000000000 "
        "microbatches=1"},
    {"SC-05", "seq=4096 batch=2 tp=4 --torch-version 2.1 --style cpp-pickler"},
    {"SC-05", "layers=10 seq=1024 steps=3 state_bytes=12000000000 --torch-version 2.11 --pickle-protocol 5"},
    {"SC-06", ""},
    {"SC-06", "vpp=10 microbatches=8 steps=1 --torch-version 2.11"},
    {"SC-06",
        "layers=48 hidden=6144 ffn=16384 heads=48 kv_heads=8 tp=2 pp=2 vpp=4 microbatches=8 vocab=64000 dp=4 "
        "--torch-version 2.14"},
    {"SC-06", "vpp=1 pp=8 tp=8 dp=1 layers=40 microbatches=10 steps=1 --style cpp-pickler"},
    {"SC-06", "--scale 0.25 layers=32 microbatches=8 vpp=2 --torch-version 2.1 --pickle-protocol 2"},
    {"SC-07", ""},
    {"SC-07", "optimizer_peak=40000000000 --torch-version 2.14"},
    {"SC-07", "seq=2048 forward_peak=50000000000 optimizer_peak=47000000000 --torch-version 2.1"},
    {"SC-07",
        "layers=48 hidden=6144 ffn=16384 heads=48 tp=2 pp=2 vpp=4 microbatches=8 forward_peak=60000000256 "
        "optimizer_peak=58000000000 --pickle-protocol 5"},
    {"SC-07",
        "layers=16 vpp=1 microbatches=6 forward_peak=30000000000 optimizer_peak=29500000000 --torch-version "
        "2.11 --style cpp-pickler"},
    {"SC-08", ""},
    {"SC-08", "steps=12 leak_bytes=1048576 --torch-version 2.1"},
    {"SC-08", "profiler=0 --torch-version 2.14"},
    {"SC-08", "steps=25 leak_bytes=7340032 layers=12 act_mib=40 --style cpp-pickler"},
    {"SC-08", "steps=12 leak_bytes=3000 leak_per_step=2 headroom_mib=900 --torch-version 2.11"},
    {"SC-08", "--scale 0.1 steps=18 cache_steps=9 profiler=0 --pickle-protocol 5"},
    {"SC-09", ""},
    {"SC-09", "seq=2048 microbatches=6 short_mib=700"},
    {"SC-09", "pp=4 short_mib=0"},
    {"SC-09",
        "layers=32 hidden=5120 ffn=13824 heads=40 kv_heads=40 vocab=32000 pp=2 microbatches=4 short_mib=2048 "
        "--torch-version 2.14"},
    {"SC-09", "layers=24 pp=3 short_mib=300 batch=2 --torch-version 2.1 --style cpp-pickler"},
    {"SC-10", ""},
    {"SC-10", "shared=1"},
    {"SC-10", "shared=1 order=ascending expandable=1"},
    {"SC-10", "sizes_mib=900/700/512/300 replays=5 state_mib=12000 --torch-version 2.14"},
    {"SC-10", "sizes_mib=900/1700/512/1900/300"},
    {"SC-10", "shared=1 order=ascending --torch-version 2.1"},
    {"SC-10",
        "expandable=1 order=descending sizes_mib=640/64/1280/32 --torch-version 2.11 --style cpp-pickler"},
    {"SC-11", "cap=20000 blocks=300 block_mib=40 freed=77 window_live_mib=1000"},
    {"SC-11", "cap=30000 blocks=700 block_mib=19 freed=0 window_live_mib=640"},
    {"SC-11", ""},
    {"SC-11", "cap=65536 expandable=0 --torch-version 2.14"},
    {"SC-11",
        "cap=10000 blocks=150 block_mib=90 freed=150 window_live_mib=2000 layers=30 act_mib=8 "
        "--torch-version 2.1 --style cpp-pickler"},
    {"SC-11", "cap=50000 blocks=500 freed=40 window_live_mib=300 --torch-version 2.11 --pickle-protocol 5"},
    {"SC-12", ""},
    {"SC-12", "set=versions.torch:2.11.0;env.NCCL_GRAPH_REGISTER:0"},
    {"SC-12", "set=model.tensor_model_parallel_size:2;model.sequence_parallel:true"},
    {"SC-12",
        "set=model.recompute_granularity:\"full\";env.TORCH_NCCL_AVOID_RECORD_STREAMS:1;versions.torch:2.9."
        "0"},
    {"SC-12",
        "set=optimizer.use_distributed_optimizer:false;model.num_layers:30;profiling.use_pytorch_profiler:"
        "false"},
    {"SC-13", ""},
    {"SC-13", "dump=pending"},
    {"SC-13", "layers=10 rs_mib=30 steps=5 --style cpp-pickler"},
    {"SC-13", "torch=2.9.0 avoid=1"},
    {"SC-13", "rs_mib=16 act_mib=24 state_mib=8000 layers=40 steps=2 dump=pending --torch-version 2.14"},
    {"SC-13", "--scale 0.5 layers=7 steps=6 --torch-version 2.1 --pickle-protocol 2"},
    {"SC-14", ""},
    {"SC-14", "lora_bytes=2 dropout=0.1 layers=16"},
    {"SC-14", "lora_bytes=2 dropout=0.0 --torch-version 2.14"},
    {"SC-14",
        "lora_bytes=4 dropout=0.0 layers=24 hidden=2048 ffn=5632 heads=16 kv_heads=4 --torch-version 2.1"},
    {"SC-14", "--scale 0.25 layers=8 dropout=0.2 steps=3 --torch-version 2.11 --pickle-protocol 5"},
    {"SC-15", ""},
    {"SC-15", "cached_mib=6000 request_mib=3000 device_free_mib=600 segments=3 --torch-version 2.14"},
    {"SC-15", "request_mib=12000"},
    {"SC-15", "capturing=0"},
    {"SC-15", "--scale 0.25 segments=2 --torch-version 2.1 --style cpp-pickler"},
    {"SC-15", "cached_mib=16000 request_mib=900 device_free_mib=200 segments=16 --torch-version 2.11"},
    {"SC-16", ""},
    {"SC-16", "stranded_mib=9000 pieces=9 request_mib=5000 --torch-version 2.1"},
    {"SC-16", "private=1"},
    {"SC-16", "request_mib=7000"},
    {"SC-16",
        "stranded_mib=4000 pieces=2 live_mib=16 side_stream=23 request_mib=2600 device_free_mib=900 "
        "--torch-version 2.14 --style cpp-pickler"},
    {"SC-16", "private=1 stranded_mib=8000 pieces=4 request_mib=3500 --torch-version 2.11"},
};

/// All rows together are one function to Qt, which by default gives it five minutes: too few beside a build.
[[maybe_unused]] const bool patient = qputenv("QTEST_FUNCTION_TIMEOUT", "1200000");

} // namespace

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
    /// Of a set, by its place in the list of those wanted; begun when it is not there yet.
    ScenarioMaker* maker(std::size_t place)
    {
        if (place >= m_wanted.size())
            return nullptr;
        std::unique_ptr<ScenarioMaker>& made = m_makers[place];
        if (!made)
            made = std::make_unique<ScenarioMaker>(m_wanted[place].id, m_wanted[place].arguments, false);
        return made.get();
    }
    static std::string differencesBelow(const std::filesystem::path& folder);
    static std::vector<Difference> figureDifferences(const std::filesystem::path& folder);
    static std::vector<Difference> orderDifferences(const std::filesystem::path& folder);

    std::vector<ScenarioSet> m_wanted;
    std::map<std::size_t, std::unique_ptr<ScenarioMaker>> m_makers;
};

void TestFindingsScenarios::scenarios_data()
{
    QTest::addColumn<int>("place");
    if (!qEnvironmentVariableIsEmpty("TIDEMARK_SCENARIO_FOLDER")) {
        QTest::newRow("given folder") << -1;
        return;
    }
    const QStringList wanted = listOf("TIDEMARK_SCENARIO");
    m_wanted.clear();
    for (const ScenarioSet& set : sets) {
        if (!wanted.isEmpty() && !wanted.contains(set.id))
            continue;
        QTest::addRow("%s %s", set.id, *set.arguments == 0 ? "default" : set.arguments)
            << static_cast<int>(m_wanted.size());
        m_wanted.push_back(set);
    }
}

/// The figures of `tidemark info --json` that the generator states.
std::vector<Difference> TestFindingsScenarios::figureDifferences(const std::filesystem::path& folder)
{
    std::ifstream in(folder / "expected.json");
    const Json expected = Json::parse(in);
    std::vector<Difference> out;
    for (const Json& file : expected["files"]) {
        const std::string path = (folder / file["file"].get<std::string>()).string();
        const std::vector<const char*> arguments{"info", "--json", path.c_str()};
        std::ostringstream said;
        std::ostringstream errors;
        tidemark::runCommandLine(arguments, said, errors, nullptr);
        const Json info = Json::parse(said.str(), nullptr, false);
        std::string missing = errors.str();
        if (info.is_object()) {
            missing += missingFrom(info, file["report"]);
            missing += missingFrom(info["pickle_protocol"], expected["pickle_protocol"], "/pickle_protocol");
            for (const Json& device : info["devices"])
                if (device["device"] == file["device"])
                    missing += missingFrom(device, file["oracle"]);
        }
        if (!info.is_object() || !missing.empty())
            out.push_back({"info", file["file"].get<std::string>() + ": " + missing});
    }
    return out;
}

/// Where the generator ran the program with its pins made first: what the replay of that fix reserves at
/// most.
std::vector<Difference> TestFindingsScenarios::orderDifferences(const std::filesystem::path& folder)
{
    std::ifstream in(folder / "expected.json");
    const Json expected = Json::parse(in);
    const Json figures = expected.value("figures", Json::object());
    const Json reserved = figures.is_object() ? figures.value("fix_order_reserved", Json()) : Json();
    std::vector<Difference> out;
    if (!reserved.is_number())
        return out;
    for (const Json& file : expected["files"]) {
        const std::string name = file["file"].get<std::string>();
        if (name.find("oom") == std::string::npos)
            continue;
        const std::string path = (folder / name).string();
        const std::vector<const char*> arguments{"diagnose", "--json", path.c_str()};
        std::ostringstream said;
        std::ostringstream errors;
        tidemark::runCommandLine(arguments, said, errors, nullptr);
        const Json diagnosis = Json::parse(said.str(), nullptr, false);
        for (const Json& finding : diagnosis["findings"]) {
            const Json& evidence = finding["evidence"];
            if (finding["rule"] != "fragmentation" || finding["severity"] != "critical")
                continue;
            if (evidence.value("whatif_pins_first_peak_reserved", Json()) != reserved
                || evidence.value("whatif_pins_first_fits", Json()) != true
                || evidence.value("whatif_empty_cache_fits", Json()) != true)
                out.push_back({"fragmentation", name + ": pins first: " + evidence.dump()});
        }
    }
    return out;
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
        for (Difference& figure : figureDifferences(each))
            differences.push_back(std::move(figure));
        for (Difference& order : orderDifferences(each))
            differences.push_back(std::move(order));
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
    QFETCH(int, place);
    std::string text;
    if (place < 0) {
        text = differencesBelow(qgetenv("TIDEMARK_SCENARIO_FOLDER").toStdString());
    } else {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
        const auto at = static_cast<std::size_t>(place);
        ScenarioMaker* made = maker(at);
        if (!made->started())
            QSKIP("python3 is not here.");
        const QByteArray failed = made->wait();
        QVERIFY2(failed.isEmpty(), failed.constData());
        maker(at + 1);
        text = differencesBelow(made->folder());
        m_makers.erase(at);
    }
    QVERIFY2(text.empty(), text.c_str());
}

QTEST_GUILESS_MAIN(TestFindingsScenarios)
#include "tst_findings_scenarios.moc"
