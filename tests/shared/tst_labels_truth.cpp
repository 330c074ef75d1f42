// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/labels.hpp"
#include "model/run/rank.hpp"
#include "tests/shared/scenario_maker.hpp"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

/// An allocation as the program that made it knows it.
struct Truth {
    EventIndex event{};
    std::uint64_t bytes = 0;
    std::string role; ///< state, saved, temp, cache, leak
    std::string site; ///< a call site of the generator's stack library
    std::optional<EventIndex> freed;
    /// Called saved by the generator, which then frees it while its forward pass still runs.
    bool dropped = false;

    bool backward() const { return role == "temp" && site.find("backward") != std::string::npos; }
    bool optimizer() const { return site.starts_with("grad_") || site.starts_with("exp_avg"); }
};

/// Roles an allocation of the generator's role and site may have.
struct RoleOfSite {
    const char* role;
    const char* site; ///< or its beginning
    std::set<Role> allowed;
};
const RoleOfSite rolesOfSites[] = {
    {"state", "exp_avg", {Role::OptimizerState}},
    {"state", "optimizer", {Role::OptimizerState}},
    {"state", "state_at_setup", {Role::OptimizerState}},
    {"state", "master", {Role::OptimizerState}},
    {"state", "lora_", {Role::Workspace}},
    {"state", "side_stream", {Role::Workspace}},
    {"state", "", {Role::Parameter}},
    {"saved", "", {Role::SavedActivation}},
    {"cache", "log_scalar", {Role::Unknown}},
    {"cache", "", {Role::Workspace}},
    {"leak", "", {Role::Leak}},
    // Without a backward pass (replays of a graph) the batch is gone with its forward pass.
    {"temp", "batch", {Role::StepScoped, Role::ForwardTemporary}},
    // Kept for the log until the step ends, or not.
    {"temp", "loss_backward", {Role::BackwardTemporary}},
    {"temp", "loss", {Role::StepScoped, Role::ForwardTemporary}},
    {"temp", "grad_", {Role::OptimizerTemporary}},
    {"temp", "checkpoint_inner", {Role::RecomputeTransient}},
    {"temp", "recv_next", {Role::BackwardTemporary}},
    {"temp", "log_scalar", {Role::Unknown}},
    {"temp", "backward", {Role::BackwardTemporary}},
    {"temp", "te_backward", {Role::BackwardTemporary}},
    {"temp", "te_row_backward", {Role::BackwardTemporary}},
    {"temp", "swiglu_backward", {Role::BackwardTemporary}},
    {"temp", "lora_backward", {Role::BackwardTemporary}},
    {"temp", "", {Role::ForwardTemporary}},
};

/// The rule that must name an allocation's module, by site.
struct ModuleOfSite {
    const char* site; ///< or its beginning
    const char* rule;
    /// What else it may be: side streams' memory in a private pool, Hugging Face's logits.
    const char* other = nullptr;
};
constexpr ModuleOfSite modulesOfSites[] = {
    {"weight", "F-wt"},
    {"embedding_weight", "F-wt"},
    {"param_buffer", "F-ddpbuf"},
    {"grad_buffer", "F-ddpbuf"},
    {"master", "F-master"},
    {"state_at_setup", "F-opt"},
    {"exp_avg", "F-opt"},
    {"optimizer", "F-opt"},
    {"grad_copy", "F-opttmp"},
    {"grad_norm", "F-opttmp"},
    {"batch", "F-data"},
    {"embedding", "F-emb"},
    {"rotary", "F-emb"},
    {"recv_", "F-ppcomm"},
    {"qkv_", "F-qkv"},
    {"rope", "F-qkv"},
    {"attention_residual", "F-bda"},
    {"mlp_residual", "F-bda"},
    {"attention", "F-attn"},
    {"proj_", "F-proj"},
    {"fc1_", "F-mlp"},
    {"fc2_", "F-mlp"},
    {"rs_input", "F-mlp"},
    {"checkpoint_inner", "F-mlp"},
    {"swiglu_backward", "F-mlp-act"},
    {"swiglu", "F-mlp-act"},
    {"lora_qkv_gather", "F-loraA"},
    {"lora_fc1_gather", "F-loraA"},
    {"lora_qkv_global_buffer", "F-gmb"},
    {"lora_fc1_global_buffer", "F-gmb"},
    {"lora_qkv_ln", "F-qkv"},
    {"lora_qkv_out", "F-qkv"},
    {"lora_qkv_quantize", "F-qkv"},
    {"lora_fc1_ln", "F-mlp"},
    {"lora_fc1_out", "F-mlp"},
    {"lora_fc1_quantize", "F-mlp"},
    {"lora_backward", "F-bwd-fn"},
    {"lora_", "F-lora"},
    {"head_gather", "F-loss"},
    {"logits", "F-loss", "F-nn"},
    {"loss_backward", "F-loss"},
    {"loss", "F-loss"},
    {"te_", "F-bwd-fn"},
    {"backward", "F-bwd"},
    {"graph", "F-graph"},
    {"side_stream", "F-mfsdp", "F-ncclub"},
    {"leak", ""},
    {"log_scalar", ""},
    // Hugging Face PEFT: what a plain module's forward makes is named by its call site.
    {"adapter_weight", "F-lora"},
    {"cast:", "F-lora"},
    {"dropout:", "F-lora"},
    {"mask:", "F-lora"},
    {"scaled:", "F-lora"},
    {"base:", "F-lora"},
    {"combined:", "F-lora"},
    {"norm", "F-nn"},
    {"residual", "F-nn"},
    {"activation", "F-nn"},
    {"product", "F-nn"},
};

/// What the peak of a file consists of, in the generator's words.
const char* peakWord(Role role)
{
    switch (role) {
    case Role::Parameter:
    case Role::OptimizerState:
    case Role::Workspace:
        return "state";
    case Role::SavedActivation:
        return "saved";
    case Role::Leak:
        return "leak";
    case Role::ForwardTemporary:
    case Role::BackwardTemporary:
    case Role::OptimizerTemporary:
    case Role::RecomputeTransient:
    case Role::StepScoped:
        return "temp";
    default:
        return roleName(role);
    }
}

/// A saved tensor is a temporary after all (of a layer whose input needs no gradient, before a frozen output
/// layer) when the forward pass goes on after its free. Only where backward passes show in the allocations.
void findDropped(std::vector<Truth>& all)
{
    if (std::ranges::none_of(all, &Truth::backward))
        return;
    for (Truth& each : all) {
        if (each.role != "saved" || !each.freed)
            continue;
        const auto from = std::ranges::upper_bound(all, each.event, {}, &Truth::event);
        const auto next = std::find_if(from, all.end(),
            [](const Truth& t) { return t.backward() || t.optimizer() || t.site == "batch"; });
        each.dropped = std::any_of(from, next, [&](const Truth& t) { return t.event > *each.freed; });
    }
}

std::vector<Truth> readTruth(const std::filesystem::path& file)
{
    std::ifstream in(file);
    std::vector<Truth> out;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string event;
        std::string bytes;
        Truth truth;
        std::getline(fields, event, '\t');
        std::getline(fields, bytes, '\t');
        std::getline(fields, truth.role, '\t');
        std::getline(fields, truth.site, '\t');
        std::string freed;
        if (!std::getline(fields, freed))
            continue;
        if (freed != "-1")
            truth.freed = static_cast<EventIndex>(std::stoul(freed));
        truth.event = static_cast<EventIndex>(std::stoul(event));
        truth.bytes = std::stoull(bytes);
        out.push_back(std::move(truth));
    }
    findDropped(out);
    return out;
}

/// Allocations that differ from the truth in the same way.
struct Differing {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

class Comparison {
public:
    Comparison(const Replay& replay, const Labels& labels)
        : m_replay(replay)
        , m_labels(labels)
    { }

    void compare(const Truth& truth)
    {
        const AllocationId id = m_replay.timeline.allocationOf(truth.event);
        if (!valid(id) || m_replay.timeline.allocations().size[index(id)] != truth.bytes)
            return differ(truth, "is no allocation of that size");
        const auto role = std::ranges::find_if(rolesOfSites, [&](const RoleOfSite& each) {
            return (truth.dropped ? "temp" : truth.role) == each.role && truth.site.starts_with(each.site);
        });
        if (role == std::end(rolesOfSites) || !role->allowed.contains(m_labels.role(id)))
            differ(truth, std::string("has the role ") + roleName(m_labels.role(id)));
        const auto module = std::ranges::find_if(
            modulesOfSites, [&](const ModuleOfSite& each) { return truth.site.starts_with(each.site); });
        const std::uint16_t rule = m_labels.ruleOf[index(id)];
        const std::string got = rule == Labels::unmatched ? "" : m_labels.rules->rules()[rule].id;
        if (module == std::end(modulesOfSites)
            || (got != module->rule && (!module->other || got != module->other)))
            differ(truth, "has a module by rule \"" + got + "\"");
    }

    std::string text() const
    {
        std::string text;
        for (const auto& [what, sum] : m_differing)
            text += "\n  " + what + ": " + std::to_string(sum.count) + " allocations, "
                + std::to_string(sum.bytes) + " bytes";
        return text;
    }

private:
    void differ(const Truth& truth, const std::string& how)
    {
        Differing& sum = m_differing[truth.role + " \"" + truth.site + "\" " + how];
        ++sum.count;
        sum.bytes += truth.bytes;
    }

    const Replay& m_replay;
    const Labels& m_labels;
    std::map<std::string, Differing> m_differing;
};

/// Live bytes at the peak by role against `truth.live_at_peak`, to the byte; and no byte of it without a
/// module but those of the sites that no rule is meant for.
std::string peakDifferences(
    const Replay& replay, const Labels& labels, const std::vector<Truth>& all, const Json& truth)
{
    const StateIndex peak = replay.timeline.requested().total().maxState;
    std::map<std::string, std::int64_t> want;
    std::map<std::string, std::int64_t> got;
    for (const auto& [name, bytes] : truth["live_at_peak"].items()) {
        const std::string role = name.substr(0, name.find(':'));
        want[role == "cache" ? "state" : role] += bytes.get<std::int64_t>();
    }
    for (const Truth& each : all)
        if (each.dropped && replay.timeline.isLive(replay.timeline.allocationOf(each.event), peak)) {
            want["saved"] -= static_cast<std::int64_t>(each.bytes);
            want["temp"] += static_cast<std::int64_t>(each.bytes);
        }
    for (const AllocationId id : replay.timeline.liveAt(peak))
        got[peakWord(labels.role(id))]
            += static_cast<std::int64_t>(replay.timeline.allocations().size[index(id)]);
    std::uint64_t nameless = 0;
    for (const Truth& each : all)
        if ((each.site == "leak" || each.site == "log_scalar")
            && replay.timeline.isLive(replay.timeline.allocationOf(each.event), peak))
            nameless += each.bytes;
    if (nameless != labels.unmatchedAtPeak)
        return "\n  without a module at the peak: want " + std::to_string(nameless) + ", got "
            + std::to_string(labels.unmatchedAtPeak);
    return want == got ? "" : "\n  at the peak: want " + Json(want).dump() + ", got " + Json(got).dump();
}

/// All rows together are one function to Qt, which by default gives it five minutes: too few beside a build.
[[maybe_unused]] const bool patient = qputenv("QTEST_FUNCTION_TIMEOUT", "1200000");

} // namespace

/// Modules and roles of every single allocation of scenarios against what the generating program knows.
class TestLabelsTruth : public QObject {
    Q_OBJECT
private slots:
    void allocations_data();
    void allocations();

private:
    ScenarioMaker* maker(int row)
    {
        if (row >= static_cast<int>(m_rows.size()))
            return nullptr;
        auto& made = m_makers[row];
        const auto& [id, arguments] = m_rows[static_cast<std::size_t>(row)];
        if (!made)
            made = std::make_unique<ScenarioMaker>(id, arguments, true);
        return made.get();
    }
    std::vector<std::pair<QString, QString>> m_rows;
    std::map<int, std::unique_ptr<ScenarioMaker>> m_makers;
};

void TestLabelsTruth::allocations_data()
{
    QTest::addColumn<int>("row");
    static constexpr std::pair<const char*, const char*> sets[] = {
        {"SC-01", "ranks=2 fail_rank=1"},
        {"SC-01", "ranks=1 fail_rank=0 layers=30 act_mib=1200 pin_mib=48 noise=3 --torch-version 2.14"},
        {"SC-02", "--torch-version 2.1"},
        {"SC-03", "--torch-version 2.11"},
        {"SC-03", "control=1 layers=20"},
        {"SC-04", "--torch-version 2.1"},
        {"SC-04", "fp8=1 layers=12"},
        {"SC-04", "recompute_mlp=1 layers=12 --torch-version 2.14"},
        {"SC-04", "surfaces=qkv layers=16 tp=4 microbatches=1 --style cpp-pickler"},
        {"SC-05", "layers=12 --torch-version 2.11"},
        {"SC-05", "recompute_mlp=1 layers=10 seq=2048"},
        {"SC-06", "layers=32 vpp=2 microbatches=8 --torch-version 2.1"},
        {"SC-06", "vpp=1 pp=2 tp=8 dp=1 layers=16 microbatches=6 steps=1 --torch-version 2.14"},
        {"SC-07", "layers=32 microbatches=8 vpp=2 --torch-version 2.1"},
        {"SC-08", "--torch-version 2.1"},
        {"SC-08", "profiler=0 steps=12 leak_bytes=3000 leak_per_step=2 --torch-version 2.14"},
        {"SC-09", "microbatches=6"},
        {"SC-09", "layers=24 pp=3 short_mib=300 batch=2 --torch-version 2.1"},
        {"SC-10", ""},
        {"SC-10", "shared=1 order=ascending expandable=1 --torch-version 2.1"},
        {"SC-11", "cap=10000 blocks=150 block_mib=90 freed=50 window_live_mib=2000 --torch-version 2.1"},
        {"SC-13", "dump=pending"},
        {"SC-13", "layers=10 rs_mib=30 steps=5 --torch-version 2.1"},
        {"SC-14", "layers=8"},
        {"SC-14", "lora_bytes=2 dropout=0.0 layers=6 --torch-version 2.1"},
        {"SC-15", ""},
        {"SC-16", ""},
        {"SC-16", "private=1"},
    };
    m_rows.clear();
    const QString wanted = qEnvironmentVariable("TIDEMARK_SCENARIO");
    for (const auto& [id, arguments] : sets) {
        if (!wanted.isEmpty() && wanted != id)
            continue;
        QTest::addRow("%s %s", id, arguments) << static_cast<int>(m_rows.size());
        m_rows.emplace_back(id, arguments);
    }
}

void TestLabelsTruth::allocations()
{
    if (sharedFolder().empty())
        QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    QFETCH(int, row);
    ScenarioMaker* made = maker(row);
    if (!made->started())
        QSKIP("python3 is not here.");
    const QByteArray failed = made->wait();
    QVERIFY2(failed.isEmpty(), failed.constData());
    maker(row + 1);
    std::ifstream in(made->folder() / "expected.json");
    const Json expected = Json::parse(in);
    std::string text;
    for (const Json& file : expected["files"]) {
        const std::string name = file["file"];
        const auto rank = openRank(made->folder() / name, {}, {});
        QVERIFY2(bool(rank), name.c_str());
        const std::size_t device = (*rank)->mainDevice();
        const Replay& replay = *(*rank)->devices[device];
        const auto phases = Phases::build(replay, (*rank)->marks[device], {});
        const auto labels = Labels::build(replay, *phases, LabelRules::standard(), {});
        Comparison comparison(replay, *labels);
        const std::vector<Truth> truth = readTruth(made->folder() / (name + ".truth"));
        QVERIFY(!truth.empty());
        for (const Truth& each : truth)
            comparison.compare(each);
        std::string here = comparison.text();
        // The generator's peak is that of the whole run; a ring that wrapped may have lost it.
        if (file["oracle"]["predating"]["alive_at_end"] == 0
            && file["oracle"]["predating"]["freed_in_trace"] == 0)
            here += peakDifferences(replay, *labels, truth, file["truth"]);
        if (!here.empty())
            text += "\n " + name + here;
    }
    m_makers.erase(row);
    QVERIFY2(text.empty(), text.c_str());
}

QTEST_GUILESS_MAIN(TestLabelsTruth)
#include "tst_labels_truth.moc"
