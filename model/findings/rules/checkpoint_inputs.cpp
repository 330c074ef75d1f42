// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/findings/rules/checkpoints.hpp"

namespace tidemark {

extern const Rule checkpointInputsRule;

namespace {

constexpr double leastShare = 0.01;

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({checkpointInputsRule.id, needsStacks});
        return;
    }
    const std::optional<CheckpointInputs> found = checkpointInputs(input, facts);
    if (!found && facts.anywhere(in::Checkpoint) && !input.phases.firstForward) {
        output.undecided.push_back({checkpointInputsRule.id, needsPhases});
        return;
    }
    // Several a layer are no floor: checkpoint-level says so.
    if (!found || found->perLayer > 1
        || shareOf(found->each * found->ids.size(), peakBytes(input)) < leastShare)
        return;
    Finding out = findingOf(input, checkpointInputsRule, Severity::Info, found->ids, input.peak);
    out.site = largestSiteOf(input, found->ids);
    out.evidence = {{"bytes_each", static_cast<std::int64_t>(found->each)},
        {"layers", static_cast<std::int64_t>(found->ids.size())},
        {"share_of_peak", shareOf(out.bytes, peakBytes(input))}};
    Fix fix;
    fix.id = "recompute-longer-groups";
    fix.text = "Checkpoint groups of several layers (recompute_method=uniform with a larger "
               "recompute_num_layers): fewer inputs "
               "are kept, each replay brings back more.";
    fix.grade = Grade::B;
    out.fixes.push_back(fix);
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
        + " of layer inputs (checkpoint boundaries) live at the peak: "
        + countText(out.count, "tensor", "tensors") + " of "
        + formatBytes(static_cast<std::int64_t>(found->each)) + ".";
    out.explanation = "They are what full recompute keeps of each layer: the floor, not a fault.";
    output.findings.push_back(std::move(out));
}

} // namespace

const Rule checkpointInputsRule{
    "checkpoint-inputs", "", "Equal tensors, one a layer, that activation checkpointing keeps.", run};

} // namespace tidemark
