// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"

#include <algorithm>

namespace tidemark {

extern const Rule recomputeBurstRule;

namespace {

constexpr double leastShare = 0.02;

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({recomputeBurstRule.id, needsStacks});
        return;
    }
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::vector<AllocationId> burst;
    for (const AllocationId id : input.liveAtPeak) {
        const bool replayed = bornIn(input, id) == Phase::Recompute
            || input.labels.role(id) == Role::RecomputeTransient
            || facts.any(all.stack[index(id)], in::Replay);
        if (replayed)
            burst.push_back(id);
    }

    const Phase phase = input.phases.phaseAt(input.peak);
    if (phase == Phase::Unknown && !burst.empty()) {
        output.undecided.push_back({recomputeBurstRule.id, needsPhases});
        return;
    }
    if (burst.empty() || (phase != Phase::Recompute && phase != Phase::Backward)
        || shareOf(sumOf(input.replay, burst), peakBytes(input)) < leastShare)
        return;
    std::sort(burst.begin(), burst.end());
    Finding out = findingOf(input, recomputeBurstRule, Severity::Info, burst, input.peak);
    out.site = largestSiteOf(input, burst);
    Fix fix;
    fix.id = "recompute-smaller-units";
    fix.text = "Checkpoint smaller units (fewer layers each, or single modules): a replay then brings back "
               "less at once.";
    fix.grade = Grade::B;
    auto edits = std::make_shared<Edits>();
    for (std::size_t i = 0; i < all.count(); ++i)
        if (bornIn(input, static_cast<AllocationId>(i)) == Phase::Recompute)
            edits->drop(static_cast<AllocationId>(i));
    fix.text += " The figure is the bound with no burst at all.";
    fix.edits = edits;
    estimate(fix, input, job);
    out.fixes.push_back(fix);
    out.evidence = {{"share_of_peak", shareOf(out.bytes, peakBytes(input))},
        {"peak_without_bursts", fix.newPeak ? EvidenceValue(*fix.newPeak) : EvidenceValue()}};
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
        + " of replayed forward tensors top the peak, inside backward.";
    out.explanation = "Recompute trades saved activations for bursts like this one; here the burst is what "
                      "makes the highest "
                      "point.";
    output.findings.push_back(std::move(out));
}

} // namespace

const Rule recomputeBurstRule{
    "recompute-burst", "", "A replayed forward inside backward that makes the peak.", run};

} // namespace tidemark
