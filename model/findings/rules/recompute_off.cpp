// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rules/boundaries.hpp"

#include <algorithm>
#include <array>

namespace tidemark {

extern const Rule recomputeOffRule;

namespace {

/// Labels whose boundary shows in stacks; the others keep something by design even when they work.
constexpr std::array<std::string_view, 5> telling{"mlp", "moe", "shared_experts", "moe_act", "mla_up_proj"};
constexpr double leastShare = 0.01;

/// What was asked for shows: forward runs under a checkpoint, or is replayed inside backward.
bool replays(const RuleInput& input, const StackFacts& facts)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    for (std::size_t i = 0; i < all.count(); ++i) {
        const auto id = static_cast<AllocationId>(i);
        if (facts.any(all.stack[i], in::Checkpoint | in::Replay) || bornIn(input, id) == Phase::Recompute)
            return true;
    }
    return false;
}

std::vector<AllocationId> savedAtPeak(
    const RuleInput& input, const StackFacts& facts, const Boundary* boundary)
{
    std::vector<AllocationId> out;
    for (const AllocationId id : input.liveAtPeak) {
        const std::uint64_t is = facts.of(input.replay.timeline.allocations().stack[index(id)]);
        if (isSaved(input, id) && (!boundary || encloses(*boundary, is)))
            out.push_back(id);
    }
    std::sort(out.begin(), out.end());
    return out;
}

void report(
    const RuleInput& input, std::vector<AllocationId> saved, const std::string& asked, RuleOutput& output)
{
    if (shareOf(sumOf(input.replay, saved), peakBytes(input)) < leastShare)
        return;
    Finding out = findingOf(input, recomputeOffRule, Severity::Warning, std::move(saved), input.peak);
    out.grade = Grade::B;
    out.site = largestSiteOf(input, out.allocations);
    out.evidence = {{"asked", asked}, {"share_of_peak", shareOf(out.bytes, peakBytes(input))},
        {"replayed_allocations", std::int64_t{0}}};
    Fix fix;
    fix.id = "recompute-reaches-model";
    fix.text = "Check that the recompute settings reach the model that is built (adapters and wrappers may "
               "copy only some), "
               "then record again: backward must show replayed forwards.";
    fix.grade = Grade::D;
    out.fixes.push_back(fix);
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
        + " of activations are saved at the peak although the settings ask for " + asked + ".";
    out.explanation = "No forward is replayed inside backward and none runs under a checkpoint: the "
                      "staircase of saved tensors "
                      "is that of a run without recompute.";
    output.findings.push_back(std::move(out));
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    if (!input.config.find("model.recompute_granularity")) {
        output.undecided.push_back({recomputeOffRule.id, needsConfig});
        return;
    }
    const std::string granularity = input.config.text("model.recompute_granularity").value_or("");
    if (granularity != "full" && granularity != "selective")
        return;
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames() || !hasBackward(input)) {
        output.undecided.push_back({recomputeOffRule.id, facts.anyFrames() ? needsPhases : needsStacks});
        return;
    }
    if (job.stopped() || replays(input, facts))
        return;
    if (granularity == "full") {
        report(input, savedAtPeak(input, facts, nullptr), "full recompute", output);
        return;
    }
    for (const std::string& label : askedLabels(input.config)) {
        if (std::find(telling.begin(), telling.end(), label) == telling.end())
            continue;
        for (const Boundary& boundary : boundaries())
            if (label == boundary.label)
                report(
                    input, savedAtPeak(input, facts, &boundary), "selective recompute of " + label, output);
    }
}

} // namespace

const Rule recomputeOffRule{"recompute-off", "",
    "Settings that ask for recompute while the recording shows saved activations and no replay.", run};

} // namespace tidemark
