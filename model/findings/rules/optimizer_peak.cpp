// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/need_fixes.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <iterator>

namespace tidemark {

extern const Rule optimizerPeakRule;

namespace {

/// First state of the optimizer step that a state lies in.
StateIndex optimizerStart(const RuleInput& input, StateIndex state)
{
    const std::vector<PhaseSpan>& spans = input.phases.spans;
    auto at = std::upper_bound(spans.begin(), spans.end(), state,
        [](StateIndex s, const PhaseSpan& span) { return s < span.first; });
    if (at == spans.begin())
        return state;
    --at;
    while (at != spans.begin()) {
        const PhaseSpan& before = *std::prev(at);
        if (before.phase != Phase::Optimizer && before.phase != Phase::Unknown)
            break;
        --at;
    }
    return at->first;
}

/// Temporaries of torch's own optimizers, outside wrappers that set these flags themselves.
bool torchTemporary(const RuleInput& input, AllocationId id)
{
    const StackId stack = input.replay.timeline.allocations().stack[index(id)];
    return input.labels.role(id) != Role::OptimizerState && input.facts.any(stack, in::TorchOptimizer)
        && !input.facts.any(stack, in::MegatronCore);
}

Fix fusedOptimizer(const RuleInput& input, const std::vector<AllocationId>& set, const Job& job)
{
    Fix fix;
    fix.id = "optimizer-fused";
    fix.text = "Use a fused optimizer (fused=True) or foreach=False: parameters are updated in place or one "
               "by one, without "
               "temporaries for all of them at once.";
    fix.grade = Grade::B;
    std::vector<AllocationId> temporaries;
    std::ranges::copy_if(
        set, std::back_inserter(temporaries), [&](AllocationId id) { return torchTemporary(input, id); });
    auto edits = std::make_shared<Edits>();
    for (const AllocationId id : likesOf(input.replay, temporaries))
        if (bornIn(input, id) == Phase::Optimizer && torchTemporary(input, id))
            edits->drop(id);
    fix.edits = edits;
    estimate(fix, input, job);
    return fix;
}

/// For Megatron's own copies of gradients: no figure, since the step then keeps other things.
void addPreciseOptimizer(const RuleInput& input, Finding& out)
{
    const auto on = [&](const char* key) { return input.config.flag(key); };
    const bool unsharded
        = on("optimizer.use_distributed_optimizer") == false && on("ddp.use_distributed_optimizer") != true;
    const char* needsSharding = "needs optimizer.use_distributed_optimizer=true";
    Fix precise;
    precise.id = "precision-aware-optimizer";
    precise.text = "Set optimizer.use_precision_aware_optimizer=true: the optimizer reads the gradients as "
                   "they are, without float32 copies.";
    precise.blockedBy = on("optimizer.use_precision_aware_optimizer") == true ? "it is on already"
        : unsharded                                                           ? needsSharding
                                                                              : "";
    out.fixes.push_back(precise);
}

void addTemporaryFixes(
    const RuleInput& input, const std::vector<AllocationId>& set, const Job& job, Finding& out)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    if (std::ranges::any_of(set, [&](AllocationId id) { return torchTemporary(input, id); }))
        out.fixes.push_back(fusedOptimizer(input, set, job));
    if (std::ranges::any_of(set, [&](AllocationId id) {
            return input.labels.role(id) != Role::OptimizerState
                && input.facts.any(all.stack[index(id)], in::MegatronCore);
        }))
        addPreciseOptimizer(input, out);
}

Fix stateEarlier()
{
    Fix fix;
    fix.id = "require-optimizer-init";
    fix.text
        = "Count a setting as fitting only after the first optimizer step: its state is made there and stays "
          "(sharding or offloading it lowers this wall).";
    fix.grade = Grade::D;
    return fix;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    if (input.phases.phaseAt(input.peak) != Phase::Optimizer) {
        if (input.phases.phaseAt(input.peak) == Phase::Unknown && input.replay.states() > 1)
            output.undecided.push_back({optimizerPeakRule.id, needsPhases});
        return;
    }
    const AllocationColumns& all = input.replay.timeline.allocations();
    const StateIndex start = optimizerStart(input, input.peak);
    std::vector<AllocationId> set;
    std::uint64_t state = 0;
    for (const AllocationId id : input.liveAtPeak) {
        if (all.firstState[index(id)] < start || bornIn(input, id) != Phase::Optimizer)
            continue;
        set.push_back(id);
        state += input.labels.role(id) == Role::OptimizerState ? all.size[index(id)] : 0;
    }
    if (set.empty() || sumOf(input.replay, set) == 0)
        return;
    std::sort(set.begin(), set.end());
    const double share = shareOf(sumOf(input.replay, set), peakBytes(input));
    Finding out = findingOf(
        input, optimizerPeakRule, share > 0.1 ? Severity::Warning : Severity::Info, set, input.peak);
    out.site = largestSiteOf(input, set);
    out.evidence = {{"optimizer_state", static_cast<std::int64_t>(state)},
        {"temporaries", static_cast<std::int64_t>(out.bytes - state)}, {"share_of_peak", share}};
    if (out.bytes > state)
        addTemporaryFixes(input, set, job, out);
    if (std::ranges::any_of(
            set, [&](AllocationId id) { return input.facts.any(all.stack[index(id)], in::MegatronCore); }))
        out.fixes.push_back(optimizerOffload(input, job));
    if (state > 0)
        out.fixes.push_back(stateEarlier());
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
        + " made by the optimizer step top the peak: " + countText(out.count, "tensor", "tensors") + ".";
    out.explanation = state * 2 > out.bytes
        ? "The optimizer sets up its state here, and it stays: a run that got this far may still not fit."
        : "The highest point lies in the optimizer step, on top of parameters, gradients and state; saving "
          "activations will not "
          "lower it.";
    output.findings.push_back(std::move(out));
}

} // namespace

const Rule optimizerPeakRule{
    "optimizer-peak", "R9", "A peak that lies in the optimizer step: state set-up or temporaries.", run};

} // namespace tidemark
