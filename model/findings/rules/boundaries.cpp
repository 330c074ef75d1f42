// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rules/boundaries.hpp"

#include <algorithm>
#include <limits>

namespace tidemark {

namespace {

constexpr Boundary all[] = {
    {"core_attn", "recompute-core-attn", "S3", in::PlainAttention, 0, in::FusedAttention, false,
        "+3.85\u00a0% time and no memory on Moonlight-16B with fused attention (8×H100); yours will differ",
        "recompute study of Megatron Bridge, Moonlight-16B"},
    {"mla_up_proj", "recompute-mla-up-proj", "R2", in::MlaUp, 0, 0, true,
        "+5.19\u00a0% time for \u22121.96\u00a0% of the peak on Moonlight-16B (8×H100); yours will differ",
        "recompute study of Megatron Bridge, Moonlight-16B"},
    {"moe_act", "recompute-moe-act", "R3", in::ActivationFunction, in::Experts, 0, true,
        "+1.99\u00a0% time for \u22121.85\u00a0% of the peak on Moonlight-16B (8×H100); yours will differ",
        "recompute study of Megatron Bridge, Moonlight-16B"},
    // A norm inside TE's fused layers is no module of its own: the label has nothing to act on.
    {"layernorm", "recompute-layernorm", "R3", in::Norm, 0, in::FusedNorm, true,
        "+10.79\u00a0% time together with moe_act on Moonlight-16B (8×H100); yours will differ",
        "recompute study of Megatron Bridge, Moonlight-16B"},
    {"gdn_norm_out", "recompute-gdn-norm-out", "R3", in::GatedNorm, in::Norm, 0, true, "", ""},
    {"shared_experts", "recompute-shared-experts", "R3", in::SharedExperts, 0, 0, false, "", ""},
    {"mlp", "recompute-mlp", "S6", in::DenseMlp | in::PlainMlp, 0, in::Moe | in::SharedExperts, false,
        "\u221216.4\u00a0% throughput for 3.2 GB on Llama3-70B SFT (32×H100, FP8); yours will differ",
        "Megatron Bridge PR 3107"},
    {"moe", "recompute-moe", "R3", in::Moe, 0, 0, false,
        "657 ms a step on Nemotron-3-Nano, the first setting that fitted (16×H100); yours will differ",
        "recompute study of Megatron Bridge, Nemotron-3-Nano"},
};

bool backwardLike(Phase phase)
{
    return phase == Phase::Backward || phase == Phase::Recompute;
}

/// First state of the unbroken backward work that a state lies in.
StateIndex backwardStart(const RuleInput& input, StateIndex state)
{
    const std::vector<PhaseSpan>& spans = input.phases.spans;
    auto at = std::upper_bound(spans.begin(), spans.end(), state,
        [](StateIndex s, const PhaseSpan& span) { return s < span.first; });
    if (at == spans.begin())
        return state;
    --at;
    if (state > at->last || !backwardLike(at->phase))
        return state;
    while (at != spans.begin() && backwardLike(std::prev(at)->phase) && std::prev(at)->last + 1 >= at->first)
        --at;
    return at->first;
}

/// A module's output, which the next operation keeps in any case: made last, and narrower than what is
/// inside. As wide as that, the last tensor seen is the input of a last operation whose result the boundary
/// misses.
void leaveOutput(const RuleInput& input, ModulePass& pass, AllocationId newest)
{
    if (pass.saved.empty() || pass.saved.back() != newest)
        return;
    const auto& size = input.replay.timeline.allocations().size;
    const bool narrower = std::any_of(pass.saved.begin(), pass.saved.end(),
        [&](AllocationId id) { return size[index(id)] > size[index(newest)]; });
    if (narrower)
        pass.saved.pop_back();
}

} // namespace

std::span<const Boundary> boundaries()
{
    return all;
}

bool encloses(const Boundary& boundary, std::uint64_t facts)
{
    return (facts & boundary.any) != 0 && (facts & boundary.all) == boundary.all
        && (facts & boundary.none) == 0;
}

std::optional<std::vector<ModulePass>> modulePasses(
    const RuleInput& input, const StackFacts& facts, const Boundary& boundary, const Job& job)
{
    const AllocationColumns& columns = input.replay.timeline.allocations();
    std::vector<ModulePass> out;
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t first = none; // of the pass under way
    AllocationId newest = AllocationId::none; // made in the pass under way
    const auto close = [&](StateIndex state) {
        if (first != none && !out.empty()) {
            out.back().end = state;
            if (!boundary.outputOnly)
                leaveOutput(input, out.back(), newest);
        }
        first = none;
    };
    for (std::size_t i = 0; i < columns.count(); ++i) {
        if (i % pollInterval == 0 && job.stopped())
            return std::nullopt;
        const auto id = static_cast<AllocationId>(i);
        const bool inside
            = encloses(boundary, facts.of(columns.stack[i])) && bornIn(input, id) == Phase::Forward;
        if (!inside) {
            close(columns.firstState[i]);
            continue;
        }
        if (first != none && columns.stack[first] == columns.stack[i]
            && columns.size[first] == columns.size[i])
            close(columns.firstState[i]);
        if (first == none) {
            first = i;
            out.emplace_back();
        }
        newest = id;
        if (isSaved(input, id))
            out.back().saved.push_back(id);
    }
    close(input.replay.states());
    std::erase_if(out, [](const ModulePass& pass) { return pass.saved.empty(); });
    return out;
}

std::shared_ptr<const Edits> recomputed(const RuleInput& input, const std::vector<ModulePass>& passes)
{
    const AllocationColumns& columns = input.replay.timeline.allocations();
    struct Life {
        StateIndex begin; ///< first of its tensors freed
        StateIndex end; ///< last one
    };
    std::vector<Life> lives;
    std::vector<StateIndex> ends;
    for (const ModulePass& pass : passes) {
        Life life{input.replay.states(), 0};
        for (const AllocationId id : pass.saved) {
            life.begin = std::min(life.begin, columns.endState[index(id)]);
            life.end = std::max(life.end, columns.endState[index(id)]);
        }
        lives.push_back(life);
        ends.push_back(life.end);
    }
    std::sort(ends.begin(), ends.end());
    auto edits = std::make_shared<Edits>();
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const StateIndex begin = lives[i].begin;
        // Its backward begins when that of the pass above is over, at the earliest with this stretch of
        // backward.
        const auto above = std::lower_bound(ends.begin(), ends.end(), begin);
        const StateIndex over = above == ends.begin() ? 0 : *std::prev(above);
        const StateIndex resume
            = begin == 0 ? 0 : std::min(std::max(over, backwardStart(input, begin)), begin - 1);
        for (const AllocationId id : passes[i].saved)
            if (passes[i].end < resume || begin == input.replay.states())
                edits->pause(id, passes[i].end, begin == input.replay.states() ? begin : resume);
    }
    return edits;
}

bool hasBackward(const RuleInput& input)
{
    // Memory that only goes away again is no sign of one: backward makes something, if only gradients.
    const EventColumns& events = input.replay.device().events;
    for (std::size_t i = 0; i < input.phases.ofEvent.size(); ++i)
        if (events.action[i] == Action::Alloc && backwardLike(input.phases.ofEvent[i]))
            return true;
    return false;
}

std::vector<std::string> askedLabels(const RunConfig& config)
{
    if (config.text("model.recompute_granularity") != "selective")
        return {};
    const auto named = config.list("model.recompute_modules");
    if (named)
        return *named;
    return {"core_attn"};
}

} // namespace tidemark
