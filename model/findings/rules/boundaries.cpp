// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rules/boundaries.hpp"

#include <algorithm>
#include <string_view>

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

bool inPython(const Snapshot& snapshot, FrameId frame)
{
    const StringId file = snapshot.frames[frame].file;
    if (!valid(file))
        return false;
    const std::string_view name = snapshot.strings.view(file);
    return name.ends_with(".py") || name.starts_with('<');
}

/// The same line of the same function, called from the same lines: one operation, whatever kernels and
/// workspaces lie under it.
bool sameCall(const Snapshot& snapshot, StackId one, StackId other)
{
    if (one == other)
        return true;
    const std::span<const FrameId> a = snapshot.stacks[one];
    const std::span<const FrameId> b = snapshot.stacks[other];
    const auto next = [&](std::span<const FrameId> frames, std::size_t& at) {
        while (at < frames.size() && !inPython(snapshot, frames[at]))
            ++at;
        return at < frames.size();
    };
    std::size_t i = 0;
    std::size_t j = 0;
    for (;; ++i, ++j) {
        const bool more = next(a, i);
        if (next(b, j) != more)
            return false;
        if (!more)
            return true;
        if (a[i] != b[j])
            return false;
    }
}

/// What the module hands on, which the next operation keeps in any case: of the last operation's tensors the
/// newest that is still there when the next module works, so no workspace. Narrower than what is inside, or a
/// linear layer's; as wide as that, it may as well be the input of a last operation that the boundary misses.
void leaveOutput(
    const RuleInput& input, const StackFacts& facts, ModulePass& pass, std::size_t first, std::size_t newest)
{
    const AllocationColumns& columns = input.replay.timeline.allocations();
    const Snapshot& snapshot = *input.replay.snapshot;
    std::size_t made = newest;
    while (columns.endState[made] <= pass.end) {
        if (made == first || !sameCall(snapshot, columns.stack[made - 1], columns.stack[newest]))
            return;
        --made;
    }
    if (pass.saved.empty() || index(pass.saved.back()) != made)
        return;
    const bool narrower = std::any_of(pass.saved.begin(), pass.saved.end(),
        [&](AllocationId id) { return columns.size[index(id)] > columns.size[made]; });
    const bool linear = facts.any(columns.stack[made], in::OutputLinear)
        && !sameCall(snapshot, columns.stack[first], columns.stack[made]);
    if (narrower || linear) {
        pass.output = pass.saved.back();
        pass.saved.pop_back();
    }
}

/// Passes may follow one another with nothing between them: the run of allocations [first, end) is then the
/// same sequence of (stack, size) several times. Length of one; the whole run's when it does not repeat. Only
/// the recording's end may break one off.
std::size_t passLength(const AllocationColumns& columns, std::size_t first, std::size_t end)
{
    const auto same = [&](std::size_t i, std::size_t j) {
        return columns.stack[first + i] == columns.stack[first + j]
            && columns.size[first + i] == columns.size[first + j];
    };
    const std::size_t length = end - first;
    std::vector<std::size_t> border(length, 0); // longest proper beginning that is also the end, by prefix
    for (std::size_t i = 1; i < length; ++i) {
        std::size_t matched = border[i - 1];
        while (matched > 0 && !same(i, matched))
            matched = border[matched - 1];
        border[i] = same(i, matched) ? matched + 1 : matched;
    }
    const std::size_t period = length - border.back();
    const bool brokenOff = end == columns.count();
    return length % period == 0 || brokenOff ? period : length;
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
    std::vector<bool> inside(input.replay.snapshot->stacks.size());
    for (std::size_t i = 0; i < inside.size(); ++i)
        inside[i] = encloses(boundary, facts.of(static_cast<StackId>(i)));
    return modulePasses(input, inside, boundary.outputOnly, job);
}

std::optional<std::vector<ModulePass>> modulePasses(
    const RuleInput& input, const std::vector<bool>& inside, bool outputOnly, const Job& job)
{
    const AllocationColumns& columns = input.replay.timeline.allocations();
    const std::size_t count = columns.count();
    std::vector<ModulePass> out;
    const auto take = [&](std::size_t first, std::size_t end) {
        ModulePass pass;
        pass.end = end < count ? columns.firstState[end] : input.replay.states();
        for (std::size_t i = first; i < end; ++i)
            if (isSaved(input, static_cast<AllocationId>(i)))
                pass.saved.push_back(static_cast<AllocationId>(i));
        if (!outputOnly && end < count) // else it may be broken off
            leaveOutput(input, input.facts, pass, first, end - 1);
        if (!pass.saved.empty())
            out.push_back(std::move(pass));
    };
    std::size_t first = 0; // of what may be the run under way
    for (std::size_t i = 0; i <= count; ++i) {
        if (i % pollInterval == 0 && job.stopped())
            return std::nullopt;
        if (i < count && valid(columns.stack[i]) && inside[index(columns.stack[i])]
            && bornIn(input, static_cast<AllocationId>(i)) == Phase::Forward)
            continue;
        if (first < i)
            for (const std::size_t length = passLength(columns, first, i); first < i; first += length)
                take(first, std::min(first + length, i));
        first = i + 1;
    }
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
