// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/order_what_if.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// Names the blocks that pin: what the overlay highlights, and the site most of them come from.
void addPins(const RuleInput& input, Finding& finding, const std::vector<PinningBlock>& pins)
{
    std::uint64_t bytes = 0;
    double leverage = 0;
    for (const PinningBlock& pin : pins) {
        bytes += pin.size;
        leverage = std::max(leverage, pin.leverage);
        if (valid(pin.allocation))
            finding.allocations.push_back(pin.allocation);
        if (finding.segments.empty() || finding.segments.back() != pin.segment)
            finding.segments.push_back(pin.segment);
    }
    std::sort(finding.segments.begin(), finding.segments.end());
    finding.segments.erase(
        std::unique(finding.segments.begin(), finding.segments.end()), finding.segments.end());
    finding.count = pins.size();
    const LargestSite site = largestSite(input.replay, input.sites, finding.allocations);
    finding.site = site.name;
    addEvidence(finding, "pins", static_cast<std::uint64_t>(pins.size()));
    addEvidence(finding, "pinning_bytes", bytes);
    addEvidence(finding, "pinned_segments", static_cast<std::uint64_t>(finding.segments.size()));
    addEvidence(finding, "pin_leverage", EvidenceValue(leverage));
    if (pins.empty())
        return;
    finding.explanation += " " + countText(pins.size(), "live block", "live blocks") + " of together "
        + sizeText(bytes) + (pins.size() == 1 ? " keeps " : " keep ")
        + countText(finding.segments.size(), "segment", "segments") + " from going back";
    finding.explanation += site.name.empty() ? "." : "; most come from " + site.name + ".";
}

void addFixes(const RuleInput& input, Finding& finding)
{
    if (!expandableOn(input))
        finding.fixes.push_back(expandableFix(
            input, "free pages between live blocks can then be moved to where they are needed"));
    Fix empty = makeFix(emptyCacheFix,
        "Set train.empty_unused_memory_level=1 (or call torch.cuda.empty_cache() once between the first "
        "backward and the first optimizer step), so that long-lived blocks are not placed into cached "
        "segments.",
        Grade::B, "replayed on the same requests for the pattern of optimizer state in activation segments");
    empty.cost = "one release of the cache a step";
    empty.costGrade = Grade::D;
    if (input.config.number("train.empty_unused_memory_level").value_or(0) > 0)
        empty.blockedBy = "it is on already";
    finding.fixes.push_back(std::move(empty));
    finding.fixes.push_back(makeFix(pinsFirstFix,
        "Allocate the long-lived blocks" + (finding.site.empty() ? std::string() : " of " + finding.site)
            + " before the first activations.",
        Grade::B, "allocation order decides which segments are pinned"));
}

void afterFailure(const RuleInput& input, RuleOutput& output, const OomAutopsy& oom)
{
    Finding finding = oomFinding(input, "fragmentation", oom, oom.pinned);
    finding.title = "Out of memory in pieces: " + requestText(oom) + " failed with " + sizeText(oom.pinned)
        + " of free memory held fast between live blocks.";
    finding.explanation = "In one piece the free memory would have held the request with "
        + sizeText(*oom.slack) + " to spare; the largest hole is " + sizeText(oom.largestHole) + ".";
    addEvidence(finding, "pinned_holes", oom.pinnedHoles);
    addPins(input, finding, oom.pins);
    addFixes(input, finding);
    output.findings.push_back(std::move(finding));
}

/// Without a failure: what was pinned when the last step began, and whether its largest request fitted.
void beforeFailure(const RuleInput& input, RuleOutput& output)
{
    constexpr std::int64_t atLeast = 2LL << 30;
    const Replay& replay = input.replay;
    const std::vector<Step> steps = stepsOf(input);
    if (expandableOn(input))
        return;
    if (!replay.segments.known() || !replay.segments.hasEvents() || steps.size() < 2) {
        if (replay.device().events.count() > 1)
            output.undecided.push_back({"fragmentation",
                !replay.segments.known()           ? "the allocator's segments, which this file does not list"
                    : !replay.segments.hasEvents() ? "events of segments, to know what was free before"
                                                   : "at least two complete steps in the recording"});
        return;
    }
    const Step& last = steps.back();
    const AllocationId id = largestRequest(replay, last);
    if (!valid(id))
        return;
    const StateIndex before = steps[steps.size() - 2].last;
    const SegmentState state = replay.segments.stateAt(before, replay.timeline);
    const StateMetrics all = metricsOf(state);
    const std::uint64_t request = roundedRequest(replay.timeline.allocations().size[index(id)]);
    const MemoryClass own{
        request <= smallRequest, replay.timeline.allocations().stream[index(id)], PoolId{0}};
    const StateMetrics same = metricsOf(state, [&](const SegmentView& s) { return classOf(s) == own; });
    if (all.pinned < static_cast<std::uint64_t>(atLeast) || all.pinned * 10 < all.reserved
        || same.pinned < request || same.largestHole >= request)
        return;
    Finding finding = makeFinding(input, "fragmentation", Severity::Warning);
    finding.bytes = all.pinned;
    finding.eventRange = std::pair(EventIndex{before == 0 ? 0 : before - 1}, EventIndex{last.last - 1});
    finding.lookAt = before;
    addEvidence(finding, "request", request);
    addEvidence(finding, "pinned_free", all.pinned);
    addEvidence(finding, "holes", all.holes);
    addEvidence(finding, "largest_hole", all.largestHole);
    addEvidence(finding, "reserved", all.reserved);
    addEvidence(finding, "unusable_index", EvidenceValue(unusableIndex(state, request)));
    finding.title = sizeText(all.pinned)
        + " of free memory are held fast between live blocks, in holes too small for the " + sizeText(request)
        + " that the next step asks for.";
    finding.explanation
        = "Unless other memory is freed first, reserved memory has to grow although enough is free; close to "
          "the limit this fails.";
    addPins(input, finding, pinningBlocks(state));
    addFixes(input, finding);
    output.findings.push_back(std::move(finding));
}

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    if (!isGpu(input))
        return;
    for (const OomAutopsy& oom : input.ooms)
        if (oom.verdict == Verdict::Fragmentation)
            afterFailure(input, output, oom);
    if (input.ooms.empty())
        beforeFailure(input, output);
}

} // namespace

extern const Rule fragmentationRule;
const Rule fragmentationRule{"fragmentation", "D1",
    "Failed requests, or those of the next step, that free memory holds only in pieces.", run,
    needs::history | needs::verdict};

} // namespace tidemark
