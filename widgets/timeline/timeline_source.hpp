// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/layout/id_image.hpp"
#include "model/lens/colouring.hpp"
#include "model/replay/replay.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// What a timeline draws: states in a row, the bytes that are live in each, and who they belong to. One
/// implementation stands on the replay of a device, the other on a profiler's bytes per category. Immutable
/// and shared with the thread that lays the picture out.
class TimelineSource {
public:
    virtual ~TimelineSource() = default;

    virtual StateIndex states() const = 0;
    virtual bool hasTimes() const = 0;
    /// Microseconds since the first event, never decreasing; 0 without times.
    virtual double timeOf(StateIndex state) const = 0;
    /// Last state that has begun at `us`.
    virtual StateIndex stateAtTime(double us) const = 0;

    virtual const Series& requested() const = 0;
    /// Null when unknown.
    virtual const Series* reserved() const = 0;
    /// Inferred block bytes (label with ≈); null when unknown.
    virtual const Series* allocated() const = 0;
    /// Bytes that wait for a stream; null when the source does not know such a thing.
    virtual const Series* pending() const = 0;

    virtual std::vector<ColumnInfo> columns(const TimelineWindow& window) const = 0;
    /// As layoutTimeline; null when stopped.
    virtual std::shared_ptr<const TimelineImage> layout(const std::shared_ptr<const Colouring>& colouring,
        StackOrder order, const TimelineWindow& window, const Job& job) const = 0;
    /// Byte extent of an allocation in the stack at a state. Cost: O(live).
    virtual std::optional<StackExtent> extent(const std::shared_ptr<const Colouring>& colouring,
        StackOrder order, AllocationId id, StateIndex state) const = 0;
    /// How many live allocations reach into the bytes [low, high) of the stack. Cost: O(live · log live).
    virtual std::size_t countWithin(const std::shared_ptr<const Colouring>& colouring, StackOrder order,
        StateIndex state, double low, double high) const = 0;
    /// Ids below this are older than the recording.
    virtual std::uint32_t predatingCount() const = 0;
};

/// One device's replay as a timeline.
std::shared_ptr<const TimelineSource> replaySource(std::shared_ptr<const Replay> replay);

/// A profiler's category timeline: state = row, id = category (CategoryTimeline::names). Null when it has no
/// row.
std::shared_ptr<const TimelineSource> categorySource(std::shared_ptr<const Snapshot> snapshot);
/// Colours and legend of a category timeline; categories that never hold a byte have no legend item.
std::shared_ptr<const Colouring> categoryColouring(const CategoryTimeline& categories);
/// "optimizer state" for "optimizer_state".
std::string categoryTitle(std::size_t category);

} // namespace tidemark
