// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rules/checkpoints.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace tidemark {

namespace {

/// Two equal tensors are a coincidence.
constexpr std::size_t atLeast = 3;

/// Layers of this stage times the microbatches in flight, when the configuration tells.
std::optional<std::size_t> layerPasses(const RuleInput& input)
{
    const std::optional<std::int64_t> layers = input.config.number("model.num_layers");
    const std::int64_t stages = input.config.number("model.pipeline_model_parallel_size").value_or(1);
    if (!layers || *layers <= 0 || stages <= 0 || *layers % stages != 0)
        return std::nullopt;
    const std::int64_t flying = stages > 1 ? std::max(1U, input.phases.inFlightAt(input.peak)) : 1;
    return static_cast<std::size_t>(*layers / stages * flying);
}

/// Several call sites that take turns: so many of them in every layer.
std::size_t sitesInTurn(const RuleInput& input, const std::vector<AllocationId>& ids)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::vector<StackId> pattern;
    std::unordered_set<StackId> seen;
    for (const AllocationId id : ids) {
        const StackId stack = all.stack[index(id)];
        if (!seen.insert(stack).second)
            break;
        pattern.push_back(stack);
    }
    const std::size_t turn = pattern.size();
    if (turn < 2 || ids.size() % turn != 0 || ids.size() / turn < 2)
        return 1;
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (all.stack[index(ids[i])] != pattern[i % turn])
            return 1;
    return turn;
}

/// Backward frees a layer's inputs together, after its one replay.
std::size_t freedPerReplay(const RuleInput& input, const std::vector<AllocationId>& ids)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::vector<StateIndex> replays;
    for (std::size_t i = 0; i < all.count(); ++i)
        if (bornIn(input, static_cast<AllocationId>(i)) == Phase::Recompute)
            replays.push_back(all.firstState[i]);
    if (replays.empty())
        return 1;
    std::map<std::size_t, std::size_t> runs; // frees by the number of replays before them
    for (const AllocationId id : ids) {
        const StateIndex end = all.endState[index(id)];
        if (end == input.replay.states())
            return 1;
        const auto before = std::upper_bound(replays.begin(), replays.end(), end);
        ++runs[static_cast<std::size_t>(before - replays.begin())];
    }
    const std::size_t first = runs.begin()->second;
    const bool even
        = std::all_of(runs.begin(), runs.end(), [&](const auto& run) { return run.second == first; });
    return even && runs.size() >= atLeast ? first : 1;
}

void countPerLayer(const RuleInput& input, CheckpointInputs& out)
{
    const std::size_t inTurn = sitesInTurn(input, out.ids);
    const std::optional<std::size_t> passes = layerPasses(input);
    if (passes && out.ids.size() % *passes == 0) {
        out.perLayer = out.ids.size() / *passes;
        out.perLayerFrom = "model.num_layers";
    } else if (inTurn > 1) {
        out.perLayer = inTurn;
        out.perLayerFrom = "call sites that take turns";
    } else {
        out.perLayer = freedPerReplay(input, out.ids);
        out.perLayerFrom = out.perLayer > 1 ? "frees after each replay" : "";
    }
}

} // namespace

std::optional<CheckpointInputs> checkpointInputs(const RuleInput& input, const StackFacts& facts)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::map<std::uint64_t, std::vector<AllocationId>> bySize;
    for (const AllocationId id : input.liveAtPeak)
        if (isSaved(input, id) && facts.any(all.stack[index(id)], in::Checkpoint))
            bySize[all.size[index(id)]].push_back(id);
    CheckpointInputs out;
    for (auto& [size, ids] : bySize)
        if (ids.size() >= atLeast && size * ids.size() > out.each * out.ids.size()) {
            out.ids = ids;
            out.each = size;
        }
    if (out.ids.empty())
        return std::nullopt;
    std::sort(out.ids.begin(), out.ids.end());
    countPerLayer(input, out);
    return out;
}

} // namespace tidemark
