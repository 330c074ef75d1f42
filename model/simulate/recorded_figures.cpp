// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/recorded_figures.hpp"

#include <algorithm>

namespace tidemark {

namespace {

std::uint64_t bytesOf(std::int64_t bytes)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes));
}

void countDriverEvents(const EventColumns& events, AllocatorModel::Counts& counts)
{
    for (const Action action : events.action) {
        counts.segmentAllocs += action == Action::SegmentAlloc ? 1 : 0;
        counts.segmentFrees += action == Action::SegmentFree ? 1 : 0;
        counts.maps += action == Action::SegmentMap ? 1 : 0;
        counts.unmaps += action == Action::SegmentUnmap ? 1 : 0;
    }
}

void countFailures(const Recording& recording, RecordedFigures& out)
{
    const DeviceTrace& device = recording.replay->device();
    StepKind previous = StepKind::Allocate;
    for (const RecordedStep& step : recording.steps) {
        const bool failed = step.kind == StepKind::OutOfMemory;
        out.counts.flushes += step.kind == StepKind::Flush ? 1 : 0;
        // What had nothing to give back left no event.
        out.counts.flushes += failed && !step.inScope && previous != StepKind::Flush ? 1 : 0;
        previous = step.kind;
    }
    out.failures = device.ooms.size();
    if (!device.ooms.empty()) {
        out.firstFailure = device.ooms.front().event;
        out.failedBytes = device.ooms.front().requested.value_or(0);
    }
}

} // namespace

RecordedFigures recordedFigures(const Recording& recording)
{
    RecordedFigures out;
    const SegmentHistory& segments = recording.replay->segments;
    const auto extremes = segments.reserved().total();
    out.peakReserved = bytesOf(extremes.max);
    out.peakState = extremes.maxState;
    out.peakAllocated = bytesOf(segments.allocated().total().max);
    out.endReserved = bytesOf(segments.reserved().last());
    out.endReleasable
        = segments.stateAt(recording.replay->states() - 1, recording.replay->timeline).releasable;
    std::int64_t highest = segments.reserved().at(0);
    out.idleAtPeak = bytesOf(segments.inactiveAt(0));
    for (const RecordedStep& step : recording.steps) {
        const auto state = static_cast<StateIndex>(step.event + 1);
        if (const std::int64_t reserved = segments.reserved().at(state); reserved > highest) {
            highest = reserved;
            out.idleAtPeak = bytesOf(segments.inactiveAt(state));
        }
    }
    countDriverEvents(recording.replay->device().events, out.counts);
    countFailures(recording, out);
    return out;
}

} // namespace tidemark
