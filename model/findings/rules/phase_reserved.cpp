// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace tidemark {

namespace {

/// The side phase (saving, evaluation) that reserved a segment, or null.
const PhaseSpan* sideSpanAt(const Phases& phases, StateIndex state)
{
    const auto next = std::ranges::upper_bound(phases.spans, state, {}, &PhaseSpan::first);
    if (next == phases.spans.begin())
        return nullptr;
    const PhaseSpan& span = *std::prev(next);
    return span.phase == Phase::Side && state <= span.last ? &span : nullptr;
}

/// Last state in which an allocation was placed into each segment, by its id; 0 for never.
std::vector<StateIndex> lastUses(const Replay& replay)
{
    std::vector<StateIndex> uses;
    for (const SegmentRange& range : replay.segments.ranges())
        if (index(range.id) >= uses.size())
            uses.resize(index(range.id) + 1, 0);
    const AllocationColumns& a = replay.timeline.allocations();
    for (std::uint32_t i = 0; i < a.count(); ++i)
        if (const SegmentId id = replay.segments.segmentOf(AllocationId{i}); index(id) < uses.size())
            uses[index(id)] = std::max(uses[index(id)], a.firstState[i]);
    return uses;
}

/// The name of the innermost mark around a state, for people.
std::string phaseNameAt(const RuleInput& input, StateIndex state)
{
    const Mark* found = nullptr;
    for (const Mark& mark : input.marks)
        if (!mark.step && mark.first <= state && state <= mark.last
            && (found == nullptr || mark.depth >= found->depth))
            found = &mark;
    return found != nullptr ? "\"" + found->name + "\"" : "a side phase";
}

/// Segments of one side phase that nothing has used since.
struct Idle {
    const PhaseSpan* span = nullptr;
    std::uint64_t bytes = 0;
    std::vector<SegmentId> segments;
};

std::vector<Idle> idleSince(const RuleInput& input, const SegmentState& state)
{
    const Replay& replay = input.replay;
    const std::vector<StateIndex> uses = lastUses(replay);
    std::map<StateIndex, Idle> bySpan;
    for (const SegmentView& s : state.segments) {
        if (index(s.pool) != 0 || s.expandable || s.since == 0 || s.freeBytes != s.size)
            continue;
        const PhaseSpan* span = sideSpanAt(input.phases, s.since);
        // Born in the phase, and the program went on without it afterwards.
        if (span == nullptr || span->last + 1 >= replay.states()
            || (index(s.id) < uses.size() && uses[index(s.id)] > span->last))
            continue;
        Idle& idle = bySpan[span->first];
        idle.span = span;
        idle.bytes += s.size;
        idle.segments.push_back(s.id);
    }
    std::vector<Idle> found;
    for (auto& [first, idle] : bySpan)
        if (idle.bytes >= largePage)
            found.push_back(std::move(idle));
    return found;
}

Finding report(const RuleInput& input, const SegmentState& state, const Idle& idle)
{
    const StateIndex first = idle.span->first;
    Finding finding = makeFinding(input, "phase-reserved", Severity::Warning);
    finding.bytes = idle.bytes;
    finding.count = idle.segments.size();
    finding.segments = idle.segments;
    finding.lookAt = state.state;
    finding.eventRange = std::pair(EventIndex{first == 0 ? 0 : first - 1},
        EventIndex{static_cast<std::uint32_t>(input.replay.states() - 2)});
    addEvidence(finding, "idle_bytes", idle.bytes);
    addEvidence(finding, "segments", static_cast<std::uint64_t>(idle.segments.size()));
    addEvidence(
        finding, "idle_since_event", EvidenceValue(static_cast<std::int64_t>(momentOf(idle.span->last))));
    finding.title = sizeText(idle.bytes) + " in " + countText(idle.segments.size(), "segment", "segments")
        + (idle.segments.size() == 1 ? " was" : " were") + " reserved in " + phaseNameAt(input, first)
        + (idle.segments.size() == 1 ? " and has been idle ever since." : " and have been idle ever since.");
    finding.explanation = "The sizes of that phase fit nothing the training steps ask for, so the "
                          "segments stay in the cache.";
    finding.fixes.push_back(makeFix(
        "empty-cache-after-phase", "Call torch.cuda.empty_cache() at the end of that phase.", Grade::A));
    if (!expandableOn(input))
        finding.fixes.push_back(expandableFix(input, "the pages of that phase serve the steps as well"));
    return finding;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const Replay& replay = input.replay;
    if (!isGpu(input) || !replay.segments.known() || !replay.segments.hasEvents()
        || std::none_of(input.phases.spans.begin(), input.phases.spans.end(),
            [](const PhaseSpan& span) { return span.phase == Phase::Side; }))
        return;
    const SegmentState state = replay.segments.stateAt(replay.states() - 1, replay.timeline);
    std::vector<Idle> found = idleSince(input, state);
    const std::size_t more = keepLargest(found, &Idle::bytes);
    for (std::size_t i = 0; i < found.size() && !job.stopped(); ++i)
        output.findings.push_back(report(input, state, found[i]));
    if (more > 0)
        output.undecided.push_back({"phase-reserved",
            "a closer look: " + countText(more, "more side phase", "more side phases")
                + " left segments idle in the same way, each with less"});
}

} // namespace

extern const Rule phaseReservedRule;
const Rule phaseReservedRule{"phase-reserved", "",
    "Segments that were reserved in a side phase and have been idle ever since.", run,
    needs::history | needs::segments | needs::phases};

} // namespace tidemark
