// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <map>

namespace tidemark {

extern const Rule loraGatheredInputRule;

namespace {

/// How far before a gather its norm output is looked for, in allocations: rsigma, FP8 copies and the like lie
/// between them.
constexpr std::size_t partnerReach = 12;

enum class Surface { Qkv, Fc1, Other };

/// A gathered LoRA-A input that stays until backward.
struct Gathered {
    AllocationId id;
    Surface surface;
    std::uint64_t bytes;
    /// The local norm output it was gathered from; none when it is not in the trace.
    AllocationId shard = AllocationId::none;
    /// The shard stays as long by itself, so the whole gathered copy is surplus.
    bool shardKept = false;
    bool otherAdapter = false; ///< DoRA or CanonicalLoRA
    bool checkpointed = false; ///< made under activation checkpointing
    bool expert = false; ///< an expert's adapter
};

class Search {
public:
    Search(const RuleInput& input, const StackFacts& facts)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_facts(facts)
    { }

    bool gather(AllocationId id) const
    {
        const std::uint64_t is = m_facts.of(m_all.stack[index(id)]);
        if ((is & (in::BridgeLora | in::BridgeOther)) == 0)
            return false;
        const bool byEngine = (is & in::TeGather) != 0 && (is & in::AdapterBase) != 0;
        const bool byAdapter = (is & in::CoreGather) != 0 && (is & in::AdapterBranch) != 0;
        return byEngine || byAdapter;
    }

    Gathered describe(AllocationId id) const
    {
        const std::uint64_t is = m_facts.of(m_all.stack[index(id)]);
        Gathered out;
        out.id = id;
        out.bytes = m_all.size[index(id)];
        out.surface = (is & in::Qkv) != 0 ? Surface::Qkv
            : (is & in::DenseMlp) != 0    ? Surface::Fc1
                                          : Surface::Other;
        out.otherAdapter = (is & in::BridgeOther) != 0;
        out.checkpointed = (is & in::Checkpoint) != 0;
        out.expert = (is & in::Experts) != 0;
        out.shard = shardOf(id);
        if (valid(out.shard)) {
            const StateIndex first = m_all.firstState[index(id)];
            const StateIndex middle = first + (m_all.endState[index(id)] - first) / 2;
            out.shardKept = m_input.replay.timeline.isLive(out.shard, middle);
        }
        return out;
    }

private:
    /// The largest whole fraction of the gathered buffer among the norm outputs just before it.
    AllocationId shardOf(AllocationId id) const
    {
        const std::uint64_t full = m_all.size[index(id)];
        const std::optional<std::int64_t> parallel
            = m_input.config.number("model.tensor_model_parallel_size");
        AllocationId best = AllocationId::none;
        for (std::size_t back = 1; back <= partnerReach && back <= index(id); ++back) {
            const auto at = static_cast<AllocationId>(index(id) - back);
            const std::uint64_t size = m_all.size[index(at)];
            if (gather(at))
                break; // the surface before
            if (!m_facts.any(m_all.stack[index(at)], in::TeNorm) || size == 0 || full % size != 0)
                continue;
            const std::uint64_t ratio = full / size;
            const bool fits = parallel && *parallel > 1 ? ratio == static_cast<std::uint64_t>(*parallel)
                                                        : ratio > 1 && ratio <= 64;
            if (fits && (!valid(best) || size > m_all.size[index(best)]))
                best = at;
        }
        return best;
    }

    const RuleInput& m_input;
    const AllocationColumns& m_all;
    const StackFacts& m_facts;
};

std::string lastPart(const std::string& dotted)
{
    const std::size_t dot = dotted.rfind('.');
    return dot == std::string::npos ? dotted : dotted.substr(dot + 1);
}

/// Of layers whose input each rank has a part of anyway.
bool isRowParallel(const std::string& target)
{
    const std::string name = lastPart(target);
    return name == "linear_proj" || name == "linear_fc2";
}

/// Why the setting would have no effect, in the order in which the program looks; empty when nothing is known
/// against it.
std::string fallback(const RunConfig& config, const std::vector<Gathered>& found)
{
    const auto on = [&](const char* key) { return config.flag(key).value_or(false); };
    const auto all = [&](bool Gathered::*fact) {
        return std::ranges::all_of(found, [&](const Gathered& each) { return each.*fact; });
    };
    const bool others = all(&Gathered::otherAdapter);
    const std::string adapter = lastPart(config.text("peft._target_").value_or(""));
    if (others || (!adapter.empty() && adapter != "LoRA" && adapter != "VLMLoRA"))
        return "unsupported: only LoRA and VLMLoRA pass the setting on"
            + (adapter.empty() ? std::string() : ", not " + adapter);
    if (all(&Gathered::checkpointed))
        return "checkpoint: the adapters run inside an activation checkpoint";
    const auto targets = config.list("peft.target_modules");
    if (targets && !targets->empty() && std::ranges::all_of(*targets, isRowParallel))
        return "row_parallel: the inputs of peft.target_modules are split over the ranks anyway";
    if (config.flag("model.sequence_parallel") == false)
        return "sp_comm_disabled: sequence parallelism is off";
    if (config.number("model.tensor_model_parallel_size").value_or(2) <= 1)
        return "tp_size_1: there is nothing to gather without tensor parallelism";
    if (all(&Gathered::expert))
        return "expert: adapters of experts never re-gather";
    if (on("peft.a2a_experimental"))
        return "a2a: peft.a2a_experimental is on";
    if (const auto activation = config.text("peft.activation"); activation && *activation != "identity")
        return "activation: peft.activation is " + *activation + ", not identity";
    if (on("model.cpu_offloading") && config.flag("model.cpu_offloading_activations").value_or(true))
        return "cpu_activation_offload: model.cpu_offloading is on";
    if (std::all_of(
            found.begin(), found.end(), [](const Gathered& g) { return g.surface == Surface::Other; }))
        return "surface: only linear_qkv and linear_fc1 can re-gather";
    const std::string graphs = config.text("model.cuda_graph_impl").value_or("none");
    if (graphs != "none" && !graphs.empty())
        return "cuda_graphs: model.cuda_graph_impl is " + graphs;
    if (config.text("model.recompute_granularity") == "full")
        return "full_recompute: model.recompute_granularity is full";
    if (on("peft.sequence_parallel_input_regather"))
        return "already on: yet this recording still keeps the gathered inputs";
    return {};
}

bool recomputesMlp(const RunConfig& config)
{
    const auto modules = config.list("model.recompute_modules");
    return config.text("model.recompute_granularity") == "selective" && modules
        && std::find(modules->begin(), modules->end(), "mlp") != modules->end();
}

/// What re-gathering does: each gathered buffer ends with its LoRA-A product, its shard stays instead (of
/// `usualShard` bytes where it is not in the trace), and one buffer of the full size stays for
/// good.
std::shared_ptr<const Edits> regather(const RuleInput& input, const std::vector<Gathered>& eligible,
    std::uint64_t full, std::uint64_t usualShard)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    auto edits = std::make_shared<Edits>();
    StateIndex firstCut = input.replay.states();
    for (const Gathered& each : eligible) {
        const StateIndex end = all.endState[index(each.id)];
        // Its own base product is the next allocation; the one after that is beyond the gathered input.
        const std::size_t after = index(each.id) + 2;
        const StateIndex cut = after < all.count() ? std::min(all.firstState[after], end) : end;
        edits->endAt(each.id, cut);
        firstCut = std::min(firstCut, cut);
        if (each.shardKept)
            continue;
        const StateIndex gone
            = valid(each.shard) ? std::max(all.endState[index(each.shard)], StateIndex{0}) : cut;
        const std::uint64_t shard = valid(each.shard) ? all.size[index(each.shard)] : usualShard;
        edits->add(gone, end, static_cast<std::int64_t>(shard), "local norm output");
    }
    const StateIndex from = input.replay.reachesStart() ? firstCut : 0;
    edits->add(from, input.replay.states(), static_cast<std::int64_t>(full), "re-gather buffer");
    return edits;
}

struct PublishedRow {
    const char* model;
    std::int64_t layers;
    std::int64_t hidden;
    std::int64_t tensorParallel;
    std::int64_t tokens;
    bool experts;
    double percent;
    const char* text;
};
constexpr PublishedRow published[] = {
    {"Qwen3-8B", 36, 4096, 2, 8192, false, -6.74,
        "\u22126.74\u00a0% on Qwen3-8B TP2 seq 8192 (H100); yours will differ"},
    {"Qwen3-30B-A3B", 48, 2048, 4, 8192, true, -2.89,
        "\u22122.89\u00a0% on Qwen3-30B-A3B TP4 EP4 (H100); yours will differ"},
    {"GPT-OSS-120B", 36, 2880, 2, 4096, true, -0.34,
        "\u22120.34\u00a0% on GPT-OSS-120B TP2 EP8 (H100); yours will differ"},
};

const PublishedRow* publishedRow(const RunConfig& config)
{
    const std::optional<std::int64_t> tokens = config.number("model.seq_length");
    const bool experts = config.number("model.num_moe_experts").value_or(0) > 0;
    const std::string fp8 = config.text("model.fp8").value_or("");
    for (const PublishedRow& row : published)
        if (config.number("model.num_layers") == row.layers
            && config.number("model.hidden_size") == row.hidden
            && config.number("model.tensor_model_parallel_size") == row.tensorParallel && tokens == row.tokens
            && config.number("train.micro_batch_size") == 1 && experts == row.experts && fp8.empty())
            return &row;
    return nullptr;
}

/// The estimate and everything it rests on.
class Report {
public:
    Report(const RuleInput& input, std::vector<Gathered> all, SetPeak worst, const Job& job)
        : m_input(input)
        , m_found(std::move(all))
        , m_worst(std::move(worst))
        , m_job(job)
    {
        for (const Gathered& each : m_found) {
            if (std::binary_search(m_worst.live.begin(), m_worst.live.end(), each.id))
                m_live.push_back(each);
            m_full = std::max(m_full, each.bytes);
            if (m_shard == 0 && valid(each.shard))
                m_shard = input.replay.timeline.allocations().size[index(each.shard)];
        }
        m_parallel = input.config.number("model.tensor_model_parallel_size");
        if (!m_parallel && m_shard > 0)
            m_parallel = static_cast<std::int64_t>(m_full / m_shard);
        if (m_shard == 0 && m_parallel.value_or(0) > 1)
            m_shard = m_full / static_cast<std::uint64_t>(*m_parallel);
    }

    Finding finding()
    {
        Finding out
            = findingOf(m_input, loraGatheredInputRule, Severity::Warning, m_worst.live, m_worst.state);
        m_site = largestSite(m_input.replay, m_input.rawSites, m_worst.live);
        out.site = m_site.name;
        const std::uint64_t atPeak
            = sumOf(m_input.replay, liveOf(m_input.replay, m_worst.live, m_input.peak));
        out.evidence = {{"retained_surfaces", static_cast<std::int64_t>(m_live.size())},
            {"gathered_bytes_each", static_cast<std::int64_t>(m_full)}, {"shard_bytes", known(m_shard)},
            {"tensor_parallel", m_parallel ? EvidenceValue(*m_parallel) : EvidenceValue()},
            {"retained_at_peak", static_cast<std::int64_t>(atPeak)}};
        surfaces(out);
        out.fixes.push_back(fix(out));
        words(out);
        return out;
    }

private:
    static EvidenceValue known(std::uint64_t bytes)
    {
        return bytes > 0 ? EvidenceValue(static_cast<std::int64_t>(bytes)) : EvidenceValue();
    }
    bool eligible(const Gathered& each) const
    {
        return !each.otherAdapter && !each.checkpointed && !each.expert && each.surface != Surface::Other
            && !(each.surface == Surface::Fc1 && recomputesMlp(m_input.config));
    }
    std::uint64_t shardOf(const Gathered& each) const
    {
        return valid(each.shard) ? m_input.replay.timeline.allocations().size[index(each.shard)] : m_shard;
    }

    void surfaces(Finding& out) const
    {
        std::int64_t qkv = 0;
        std::int64_t fc1 = 0;
        for (const Gathered& each : m_live) {
            qkv += each.surface == Surface::Qkv ? 1 : 0;
            fc1 += each.surface == Surface::Fc1 ? 1 : 0;
        }
        out.evidence.push_back({"surfaces_linear_qkv", qkv});
        out.evidence.push_back({"surfaces_linear_fc1", fc1});
        out.evidence.push_back({"surfaces_other", static_cast<std::int64_t>(m_live.size()) - qkv - fc1});
    }

    Fix fix(Finding& out)
    {
        Fix regatherFix;
        regatherFix.id = "lora-input-regather";
        regatherFix.text
            = "Set peft.sequence_parallel_input_regather=true: the input is gathered again in backward "
              "instead of being kept.";
        std::int64_t saved = -static_cast<std::int64_t>(m_full);
        std::int64_t notKept = 0;
        bool complete = true;
        std::vector<Gathered> all;
        for (const Gathered& each : m_live)
            if (eligible(each)) {
                saved += static_cast<std::int64_t>(each.bytes);
                saved -= each.shardKept ? 0 : static_cast<std::int64_t>(shardOf(each));
                notKept += each.shardKept ? 0 : 1;
            }
        for (const Gathered& each : m_found)
            if (eligible(each)) {
                complete = complete && (each.shardKept || shardOf(each) > 0);
                all.push_back(each);
            }
        regatherFix.blockedBy = fallback(m_input.config, m_live);
        const bool decided = complete && !all.empty();
        // One a microbatch is the first layer's, whose shard nothing else needs; more rest on the partner
        // rule.
        const auto microbatches = std::max<std::int64_t>(1, m_input.phases.inFlightAt(m_worst.state));
        regatherFix.grade = notKept <= microbatches ? Grade::A : Grade::B;
        if (decided && regatherFix.blockedBy.empty()) {
            regatherFix.edits = regather(m_input, all, m_full, m_shard);
            estimate(regatherFix, m_input, m_job);
        }
        cost(regatherFix, out);
        out.evidence.push_back({"estimated_saved", decided ? EvidenceValue(saved) : EvidenceValue()});
        out.evidence.push_back(
            {"new_peak", regatherFix.newPeak ? EvidenceValue(*regatherFix.newPeak) : EvidenceValue()});
        out.evidence.push_back({"shards_not_kept", notKept});
        m_saved = decided ? std::optional(saved) : std::nullopt;
        return regatherFix;
    }

    void cost(Fix& regatherFix, Finding& out) const
    {
        const PublishedRow* row = publishedRow(m_input.config);
        regatherFix.cost = row
            ? row->text
            : "\u22120.34\u00a0% to \u22126.74\u00a0% throughput on three models (H100); yours will "
              "differ";
        regatherFix.costGrade = Grade::C;
        regatherFix.source = "Megatron Bridge PR 4581";
        out.evidence.push_back({"throughput_percent", row ? EvidenceValue(row->percent) : EvidenceValue()});
    }

    void words(Finding& out) const
    {
        out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
            + " of gathered LoRA inputs stay from forward to backward: "
            + countText(out.count, "buffer", "buffers") + " of "
            + formatBytes(static_cast<std::int64_t>(m_full)) + ".";
        out.explanation
            = "LoRA-A is trainable, so autograd keeps the input it was gathered for, in full on every rank";
        if (m_parallel && *m_parallel > 1)
            out.explanation += ", where 1/" + std::to_string(*m_parallel) + " of it would do";
        out.explanation += ".";
        if (m_saved)
            out.explanation += " Gathering again in backward would save " + formatBytes(*m_saved)
                + " of what is retained.";
        out.explanation += severalSitesText(m_site);
    }

    const RuleInput& m_input;
    std::vector<Gathered> m_found;
    SetPeak m_worst;
    const Job& m_job;
    LargestSite m_site;
    std::vector<Gathered> m_live;
    std::uint64_t m_full = 0;
    std::uint64_t m_shard = 0;
    std::optional<std::int64_t> m_parallel;
    std::optional<std::int64_t> m_saved;
};

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({loraGatheredInputRule.id, needsStacks});
        return;
    }
    const Search search(input, facts);
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::vector<AllocationId> kept;
    bool undecided = false;
    for (std::size_t i = 0; i < all.count(); ++i) {
        const auto id = static_cast<AllocationId>(i);
        if (i % pollInterval == 0 && job.stopped())
            return;
        if (!search.gather(id))
            continue;
        if (isSaved(input, id))
            kept.push_back(id);
        undecided = undecided || input.labels.role(id) == Role::Unknown;
    }
    const SetPeak worst = highestSum(input.replay, kept);
    if (worst.bytes == 0) {
        if (undecided)
            output.undecided.push_back({loraGatheredInputRule.id, needsPhases});
        return;
    }
    std::vector<Gathered> found;
    found.reserve(kept.size());
    for (const AllocationId id : kept)
        found.push_back(search.describe(id));
    output.findings.push_back(Report(input, std::move(found), worst, job).finding());
}

} // namespace

const Rule loraGatheredInputRule{"lora-gathered-input", "D4",
    "Full gathered inputs of LoRA-A that stay from forward to backward under sequence parallelism.", run};

} // namespace tidemark
