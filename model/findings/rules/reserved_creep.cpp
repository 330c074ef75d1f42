// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

#include <algorithm>

namespace tidemark {

namespace {

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    if (!isGpu(input) || !input.replay.segments.known())
        return;
    const ReservedGrowth g = reservedGrowth(input.replay, stepsOf(input));
    if (g.ends.size() < 4) {
        if (input.replay.device().events.count() > 0)
            output.undecided.push_back({"reserved-creep", "at least four complete steps in the recording"});
        return;
    }
    constexpr std::int64_t atLeast = 64LL << 20;
    const std::int64_t start = g.reserved[1];
    // Live memory that grows along explains it; one jump (a save, a capture) is no creep.
    if (g.grown < atLeast || g.grown * 50 < start || g.liveGrown * 4 > g.grown || g.rising < 0.5)
        return;
    Finding finding = makeFinding(input, "reserved-creep", Severity::Warning);
    finding.bytes = static_cast<std::uint64_t>(g.grown);
    finding.eventRange = std::pair(EventIndex{g.ends[1] - 1}, EventIndex{g.ends.back() - 1});
    finding.lookAt = g.ends.back();
    const auto steps = static_cast<std::uint64_t>(g.ends.size() - 2);
    for (const SegmentRange& range : input.replay.segments.ranges())
        if (range.since > g.ends[1] && range.firstState <= g.ends.back() && g.ends.back() < range.endState)
            finding.segments.push_back(range.id);
    std::sort(finding.segments.begin(), finding.segments.end());
    finding.segments.erase(
        std::unique(finding.segments.begin(), finding.segments.end()), finding.segments.end());
    finding.count = finding.segments.size();
    addEvidence(finding, "reserved_at_start", EvidenceValue(start));
    addEvidence(finding, "reserved_at_end", EvidenceValue(g.reserved.back()));
    addEvidence(finding, "live_growth", EvidenceValue(g.liveGrown));
    addEvidence(finding, "steps", steps);
    addEvidence(finding, "rising_share", EvidenceValue(g.rising));
    addEvidence(finding, "bytes_per_step", EvidenceValue(g.grown / static_cast<std::int64_t>(steps)));
    finding.title = "Reserved memory crept up by " + sizeText(g.grown) + " over "
        + countText(steps, "step", "steps") + " while live memory at the ends of steps did not.";
    finding.explanation
        = "Sizes that change from step to step rarely fit into cached segments of other sizes, so new "
          "ones are reserved and the old ones stay.";
    if (!expandableOn(input))
        finding.fixes.push_back(expandableFix(input, "one growing segment serves all sizes"));
    finding.fixes.push_back(makeFix("pad-lengths",
        "Pad or bucket sequence lengths, or run the longest batch first: then later steps find segments that "
        "fit.",
        Grade::D));
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule reservedCreepRule;
const Rule reservedCreepRule{"reserved-creep", "R7",
    "Reserved memory that grows step by step while live memory does not.", run,
    needs::history | needs::segments};

} // namespace tidemark
