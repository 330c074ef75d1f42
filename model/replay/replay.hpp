// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/segments.hpp"
#include "model/replay/timeline.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// Everything derived from one device of a snapshot. Immutable, shared; keeps its snapshot alive.
struct Replay {
    std::shared_ptr<const Snapshot> snapshot;
    /// Position in snapshot->devices.
    std::size_t deviceIndex = 0;
    Timeline timeline;
    SegmentHistory segments;
    /// Requested bytes of live allocations per stream, one entry per stream that ever had one, by id. They
    /// sum to timeline.requested().
    std::vector<std::pair<StreamId, Series>> requestedByStream;
    /// The same per pool; default pool included.
    std::vector<std::pair<PoolId, Series>> requestedByPool;
    /// What this device's recording cannot tell: notes of replay and, for device notes, of reading.
    std::vector<QualityNote> quality;

    const DeviceTrace& device() const { return snapshot->devices[deviceIndex]; }
    StateIndex states() const { return timeline.states(); }
    /// Time of a state: of its event; of the first event for state 0. Absent where the event has none (a −1
    /// says so too).
    std::optional<std::int64_t> timeUs(StateIndex state) const;
    /// What times "+77.7 ms" count from: the time of the first event that has one. Absent without times.
    std::optional<std::int64_t> originUs() const;
    /// Last state whose event's time is ≤ `us`, 0 before the first event; binary search over a running
    /// maximum of the times, so that a time that goes back does not confuse it.
    StateIndex stateAtTime(std::int64_t us) const;
    /// The trace goes back to the start of the run: then the highest point is "peak", else "peak of the
    /// recorded window" (help/numbers.md).
    bool reachesStart() const;
    /// The note of this kind on this device, null when there is none.
    const QualityNote* note(Quality id) const;

    /// Builds all of it. Cost: a few passes; polls job.
    static Result<std::shared_ptr<const Replay>> build(
        std::shared_ptr<const Snapshot> snapshot, std::size_t deviceIndex, const Job& job);

    /// Running maximum of the event times, by event, for stateAtTime; empty without times.
    std::vector<std::int64_t> monotoneTimes;
};

} // namespace tidemark
