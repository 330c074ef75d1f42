// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rules/boundaries.hpp"
#include "model/playbook/config_checks.hpp"

#include <algorithm>
#include <set>

namespace tidemark {

extern const Rule recomputeCandidateRule;

namespace {

/// Of the peak; less is not worth a layer's time.
constexpr double leastShare = 0.05;
/// For the attention core a few inputs are kept in any case (help/findings.md).
constexpr double leastAttentionShare = 0.03;

/// Errors of the configuration checks, each with its sentence.
std::set<std::pair<std::string, std::string>> errorsOf(const RunConfig& config)
{
    std::set<std::pair<std::string, std::string>> out;
    for (const ConfigCheck& check : checkConfig(config, {}))
        if (check.level == CheckLevel::Error)
            out.emplace(check.id, check.text);
    return out;
}

/// Why the label cannot be used: what the checks say of the settings with it and not without it. Empty when
/// nothing is known against it.
std::string blocked(const RunConfig& config, const char* label)
{
    if (config.text("model.recompute_granularity") == "full")
        return "full recompute is set and supersedes single labels";
    RunConfig with = config;
    std::vector<std::string> labels = askedLabels(config);
    labels.emplace_back(label);
    with.set("model.recompute_granularity", std::string("selective"));
    with.set("model.recompute_modules", std::move(labels));
    const auto before = errorsOf(config);
    for (const auto& [id, text] : errorsOf(with))
        if (!before.contains({id, text}))
            return id + ": " + text;
    return {};
}

/// A fused kernel never keeps what this label would drop. "auto" leaves it to the recording.
bool fusedAttention(const RunConfig& config)
{
    const std::string backend = config.text("model.attention_backend").value_or("");
    return backend == "fused" || backend == "flash";
}

/// The size of one number for every pair of tokens and head of a GPU; absent when settings do not tell.
std::optional<std::uint64_t> pairsOfTokens(const RunConfig& config)
{
    const auto tokens = config.number("model.seq_length");
    const auto heads = config.number("model.num_attention_heads");
    const auto ranks = config.number("model.tensor_model_parallel_size").value_or(1);
    constexpr std::int64_t most = 1 << 24;
    if (!tokens || !heads || *tokens < 1 || *heads < 1 || ranks < 1 || *tokens > most || *heads > most)
        return std::nullopt;
    return static_cast<std::uint64_t>(*tokens) * static_cast<std::uint64_t>(*tokens)
        * static_cast<std::uint64_t>(std::max<std::int64_t>(*heads / ranks, 1));
}

/// Scores are stored when a tensor grows with the square of the sequence, or when much is kept at all.
bool keepsScores(const RuleInput& input, const std::vector<AllocationId>& live, double share)
{
    const auto pairs = pairsOfTokens(input.config);
    const AllocationColumns& all = input.replay.timeline.allocations();
    return share > leastAttentionShare
        || (pairs && std::any_of(live.begin(), live.end(), [&](AllocationId id) {
               return all.size[index(id)] >= *pairs;
           }));
}

/// For attention whose scores are stored: with a fused kernel there is nothing to recompute.
Fix fusedKernel(bool mathBackend)
{
    Fix fix;
    fix.id = "fused-attention";
    fix.text = mathBackend
        ? "scaled_dot_product_attention ran its math fallback, which stores the scores: make a fused kernel "
          "possible (half precision, no arbitrary mask, supported head size; "
          "torch.nn.attention.sdpa_kernel names the reason)."
        : "Use a fused kernel (torch.nn.functional.scaled_dot_product_attention with the flash or cuDNN "
          "backend): the scores are never stored.";
    fix.grade = Grade::D;
    return fix;
}

/// What a label encloses, as the author of a model without Megatron Core calls it.
std::string partName(std::string_view label)
{
    return label == "core_attn" ? "the attention core"
        : label == "mlp"        ? "the feed-forward block"
        : label == "layernorm"  ? "the norms"
                                : std::string(label);
}

Fix fixOf(const RuleInput& input, const Boundary& boundary, bool megatron,
    const std::vector<ModulePass>& passes, const Job& job, std::optional<EditedCurve>& edited)
{
    Fix fix;
    fix.id = boundary.fix;
    fix.text = megatron ? std::string("Add \"") + boundary.label
            + "\" to model.recompute_modules with model.recompute_granularity=selective."
                        : "Call " + partName(boundary.label)
            + " through torch.utils.checkpoint.checkpoint (use_reentrant=False): backward computes it again.";
    fix.grade = Grade::B;
    fix.edits = recomputed(input, passes);
    edited = estimate(fix, input, job);
    fix.cost = boundary.cost;
    fix.source = boundary.source;
    if (!fix.cost.empty())
        fix.costGrade = Grade::C;
    if (megatron)
        fix.blockedBy = blocked(input.config, boundary.label);
    return fix;
}

void describe(Finding& out, const RuleInput& input, const Boundary& boundary,
    const std::vector<AllocationId>& handedOn, const std::optional<EditedCurve>& edited)
{
    if (edited) {
        out.evidence.push_back({"removed_at_peak", edited->removedAtOldPeak});
        out.evidence.push_back({"new_peak", edited->newPeak});
        out.evidence.push_back({"saved", edited->saved()});
        out.evidence.push_back({"peak_moved", edited->peakMoved()});
        // A phase, so that it can be told apart by program; the fix has the words for people.
        out.evidence.push_back({"new_peak_owner", phaseWord(input, edited->newPeakState)});
    }
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes)) + " of activations saved inside "
        + boundary.label + " live at the peak.";
    out.explanation = "Recomputing them would free them between forward and backward";
    if (edited && edited->peakMoved())
        out.explanation += ", but the peak would move: " + formatBytes(edited->removedAtOldPeak)
            + " less at the old peak lower the highest point by "
            + formatBytes(std::max<std::int64_t>(edited->saved(), 0)) + ", then the "
            + phaseWord(input, edited->newPeakState) + " phase is highest";
    else if (edited)
        out.explanation += ": the highest point falls by " + formatBytes(edited->saved());
    out.explanation += ".";
    if (!handedOn.empty())
        out.explanation += " Not counted: what the module hands on ("
            + formatBytes(static_cast<std::int64_t>(sumOf(input.replay, handedOn)))
            + "), which a checkpoint keeps as well.";
}

void look(const RuleInput& input, const StackFacts& facts, const Boundary& boundary, RuleOutput& output,
    const Job& job)
{
    const auto passes = modulePasses(input, facts, boundary, job);
    if (!passes)
        return;
    if (passes->empty() && !input.phases.firstForward) {
        output.undecided.push_back({recomputeCandidateRule.id, needsPhases});
        return;
    }
    std::vector<AllocationId> live;
    std::vector<AllocationId> handedOn;
    std::int64_t layers = 0;
    for (const ModulePass& pass : *passes) {
        const std::vector<AllocationId> part = liveOf(input.replay, pass.saved, input.peak);
        live.insert(live.end(), part.begin(), part.end());
        layers += part.empty() ? 0 : 1;
        if (valid(pass.output) && input.replay.timeline.isLive(pass.output, input.peak))
            handedOn.push_back(pass.output);
    }
    const AllocationColumns& all = input.replay.timeline.allocations();
    const bool megatron = std::any_of(live.begin(), live.end(),
        [&](AllocationId id) { return facts.any(all.stack[index(id)], in::Megatron); });
    // Outputs whose storage is emptied and filled again are a means of Megatron Core's.
    if (boundary.outputOnly && !megatron)
        return;
    const double share = shareOf(sumOf(input.replay, live), peakBytes(input));
    const bool attention = std::string_view(boundary.label) == "core_attn";
    if (live.empty() || (attention ? !keepsScores(input, live, share) : share < leastShare)
        || (attention && fusedAttention(input.config)))
        return;
    const bool freed = std::any_of(live.begin(), live.end(),
        [&](AllocationId id) { return all.endState[index(id)] < input.replay.states(); });
    if (freed && !hasBackward(input)) {
        output.undecided.push_back({recomputeCandidateRule.id,
            "a backward pass that allocates something: here the saved tensors only go away again"});
        return;
    }
    std::sort(live.begin(), live.end());
    const Severity severity = input.ooms.empty() ? Severity::Info : Severity::Warning;
    Finding out = findingOf(input, recomputeCandidateRule, severity, live, input.peak);
    out.playbook = boundary.playbook;
    out.site = largestSiteOf(input, live);
    out.evidence
        = {{"label", std::string(boundary.label)}, {"layer_activations", layers}, {"share_of_peak", share}};
    if (!boundary.outputOnly) {
        out.evidence.push_back({"outputs_not_counted", static_cast<std::int64_t>(handedOn.size())});
        out.evidence.push_back(
            {"output_bytes_not_counted", static_cast<std::int64_t>(sumOf(input.replay, handedOn))});
    }
    std::optional<EditedCurve> edited;
    if (attention && !megatron)
        out.fixes.push_back(fusedKernel(std::any_of(live.begin(), live.end(),
            [&](AllocationId id) { return facts.any(all.stack[index(id)], in::MathAttention); })));
    out.fixes.push_back(fixOf(input, boundary, megatron, *passes, job, edited));
    describe(out, input, boundary, handedOn, edited);
    output.findings.push_back(std::move(out));
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({recomputeCandidateRule.id, needsStacks});
        return;
    }
    const std::vector<std::string> asked = askedLabels(input.config);
    for (const Boundary& boundary : boundaries()) {
        // What was asked for and is saved all the same is another rule's.
        if (std::find(asked.begin(), asked.end(), boundary.label) != asked.end())
            continue;
        const std::size_t stacks = input.replay.snapshot->stacks.size();
        bool occurs = false;
        for (std::size_t i = 0; i < stacks && !occurs; ++i)
            occurs = encloses(boundary, facts.of(static_cast<StackId>(i)));
        if (occurs)
            look(input, facts, boundary, output, job);
    }
}

} // namespace

const Rule recomputeCandidateRule{"recompute-candidate", "S3",
    "Saved activations that one of Megatron Core's recompute labels would drop.", run};

} // namespace tidemark
