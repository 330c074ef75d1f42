// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rules/checkpoints.hpp"

#include <algorithm>

namespace tidemark {

extern const Rule checkpointLevelRule;

namespace {

constexpr double leastShare = 0.01;

/// What the wrapper round the whole layer would not keep, in the whole recording: all but one of a layer's
/// inputs. Others take the turn after that of the peak's nearest.
std::shared_ptr<const Edits> onlyOneALayer(const RuleInput& input, const CheckpointInputs& found)
{
    std::vector<AllocationId> likes = likesOf(input.replay, found.ids);
    std::erase_if(likes, [&](AllocationId id) { return !isSaved(input, id); });
    const auto before = static_cast<std::size_t>(
        std::lower_bound(likes.begin(), likes.end(), found.ids.front()) - likes.begin());
    std::size_t turn = (found.perLayer - before % found.perLayer) % found.perLayer;
    std::size_t next = 0; // of the peak's
    auto edits = std::make_shared<Edits>();
    for (const AllocationId id : likes) {
        if (next < found.ids.size() && found.ids[next] == id)
            turn = next++ % found.perLayer;
        if (turn != 0)
            edits->drop(id);
        turn = (turn + 1) % found.perLayer;
    }
    return edits;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({checkpointLevelRule.id, needsStacks});
        return;
    }
    const std::optional<CheckpointInputs> found = checkpointInputs(input, facts);
    if (!found && facts.anywhere(in::Checkpoint) && !input.phases.firstForward) {
        output.undecided.push_back({checkpointLevelRule.id, needsPhases});
        return;
    }
    if (!found || found->perLayer < 2)
        return;
    std::vector<AllocationId> surplus;
    for (std::size_t i = 0; i < found->ids.size(); ++i)
        if (i % found->perLayer != 0)
            surplus.push_back(found->ids[i]);
    if (shareOf(found->each * surplus.size(), peakBytes(input)) < leastShare)
        return;
    Finding out = findingOf(input, checkpointLevelRule, Severity::Warning, surplus, input.peak);
    out.grade = Grade::B;
    out.site = largestSiteOf(input, surplus);
    out.evidence = {{"tensors_per_layer", static_cast<std::int64_t>(found->perLayer)},
        {"bytes_each", static_cast<std::int64_t>(found->each)},
        {"layers", static_cast<std::int64_t>(found->layers())},
        {"floor", static_cast<std::int64_t>(found->each * found->layers())},
        {"retained", static_cast<std::int64_t>(found->each * found->ids.size())},
        {"per_layer_from", std::string(found->perLayerFrom)}};
    Fix fix;
    fix.id = "checkpoint-whole-layers";
    fix.text = "Put the checkpoint round the whole layer instead of its parts: one input a layer is enough.";
    fix.grade = Grade::B;
    fix.edits = onlyOneALayer(input, *found);
    estimate(fix, input, job);
    out.fixes.push_back(fix);
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
        + " above the floor of activation checkpointing: " + std::to_string(found->perLayer) + " tensors of "
        + formatBytes(static_cast<std::int64_t>(found->each)) + " a layer where one would do.";
    out.explanation = "The checkpoint sits on parts of a layer, so each part keeps an input of its own.";
    output.findings.push_back(std::move(out));
}

} // namespace

const Rule checkpointLevelRule{"checkpoint-level", "R5",
    "Several equal tensors a layer at checkpoint boundaries, where one is enough.", run};

} // namespace tidemark
