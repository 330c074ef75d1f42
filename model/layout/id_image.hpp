// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/layout/axis_knots.hpp"
#include "model/lens/colouring.hpp"
#include "model/replay/replay.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tidemark {

/// What lies under a pixel that is no allocation.
namespace pixel {
inline constexpr std::uint32_t empty = 0xffffffffU;
}

/// A picture of ids instead of colours: which allocation lies under each pixel (README). Row 0 is the top.
/// Hit tests, colours, search and overlays are lookups in it.
struct IdImage {
    int width = 0;
    int height = 0;
    std::vector<std::uint32_t> ids; ///< row-major AllocationId or pixel::empty
    /// Per pixel: the allocation waits for a stream here.
    std::vector<std::uint8_t> waiting;

    std::uint32_t at(int x, int y) const
    {
        return ids[static_cast<std::size_t>(y) * static_cast<std::size_t>(width)
            + static_cast<std::size_t>(x)];
    }
};

/// The window of a timeline: x in states or microseconds, y in bytes. State s covers [s, s + 1); on the time
/// axis it lasts from its event's time to the next one's, the last state for one microsecond.
struct TimelineWindow {
    bool timeAxis = false;
    /// Left and right edge, in states (fractional) or in microseconds since the first event.
    double left = 0;
    double right = 1;
    double bottom = 0;
    double top = 1;
    int width = 1; ///< device pixels
    int height = 1;
    /// Where given, x is that of this axis instead (timeAxis is false then).
    std::shared_ptr<const AxisKnots> knots{};

    bool sameAxis(const TimelineWindow& other) const
    {
        return timeAxis == other.timeAxis && knots == other.knots;
    }
};

/// Where the trace ends on the x axis; it begins at 0.
double timelineExtent(const Replay& replay, bool timeAxis);

enum class StackOrder {
    Age, ///< oldest at the bottom
    Group, ///< colour groups, largest at the bottom
};

/// One pixel column of a timeline.
struct ColumnInfo {
    StateIndex first = 0; ///< states the column covers, both included
    StateIndex last = 0;
    StateIndex shown = 0; ///< the highest one: what is drawn
    std::int64_t max = 0;
    std::int64_t min = 0;
    /// Lies wholly beyond the trace: nothing is drawn, max and min are 0, the states are the nearest one.
    bool outside = false;
};

struct TimelineImage {
    TimelineWindow window;
    IdImage image;
    std::vector<ColumnInfo> columns;
};

/// Who lies above whom in the stack, waiting allocations apart (they are on top, in the same order). Depends
/// only on the arguments of build, so one serves all windows. Immutable;
/// must not outlive the replay. Cost of build: a pass over the sizes
/// and 4 bytes an allocation for Age; two passes over the events and 12 bytes an allocation for Group.
class StackPlan {
public:
    static std::shared_ptr<const StackPlan> build(
        const Replay& replay, const Colouring& colouring, StackOrder order);

    /// Place of an allocation counted from the bottom, and the allocation at a place.
    std::uint32_t positionOf(AllocationId id) const
    {
        return m_positionOf.empty() ? static_cast<std::uint32_t>(index(id)) : m_positionOf[index(id)];
    }
    AllocationId at(std::uint32_t position) const
    {
        return static_cast<AllocationId>(m_idAt.empty() ? position : m_idAt[position]);
    }
    /// Requested bytes of the allocation at a place.
    std::uint64_t bytesAt(std::uint32_t position) const
    {
        const std::uint32_t bytes = m_bytes[position];
        return bytes != large ? bytes : m_allocations->size[index(at(position))];
    }
    void fetch(std::uint32_t position) const { __builtin_prefetch(&m_bytes[position]); }
    /// Allocations whose last event is not about them (their address was allocated again), by end state.
    const std::vector<std::pair<StateIndex, AllocationId>>& silentEnds() const { return m_silentEnds; }

private:
    /// Stands for sizes from 4 GiB on: small numbers keep what a picture reads in the cache.
    static constexpr std::uint32_t large = 0xffffffffU;

    void sortByGroup(const AllocationColumns& allocations, const std::vector<std::uint8_t>& keys);

    const AllocationColumns* m_allocations = nullptr;
    std::vector<std::uint32_t> m_positionOf;
    std::vector<std::uint32_t> m_idAt;
    std::vector<std::uint32_t> m_bytes;
    std::vector<std::pair<StateIndex, AllocationId>> m_silentEnds;
};

/// States covered by each pixel column of a window. A state belongs to the column in which it begins; a
/// column in which none begins shows the state that holds there. Cost: O(width · log changes).
std::vector<ColumnInfo> timelineColumns(const Replay& replay, const TimelineWindow& window);

/// Draws the exact picture: column = state after its highest event, row = allocation that covers the byte at
/// its centre (help/window.md). Predating memory at the very bottom ("stays" below "freed in the trace"),
/// allocations waiting for a stream in one band at the top. Cost: O(events in the window) + O(pixels); ≤ 50
/// ms for 10⁶ allocations at 1600×900. Returns null when stopped.
std::shared_ptr<const TimelineImage> layoutTimeline(
    const Replay& replay, const StackPlan& plan, const TimelineWindow& window, const Job& job);
/// The same with a plan made on the spot.
std::shared_ptr<const TimelineImage> layoutTimeline(const Replay& replay, const Colouring& colouring,
    StackOrder order, const TimelineWindow& window, const Job& job);

/// Byte extent [low, high) of an allocation in the stack at a state; absent when not live then.
struct StackExtent {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};
/// Cost: O(live).
std::optional<StackExtent> stackExtent(
    const Replay& replay, const StackPlan& plan, AllocationId id, StateIndex state);
std::optional<StackExtent> stackExtent(
    const Replay& replay, const Colouring& colouring, StackOrder order, AllocationId id, StateIndex state);

} // namespace tidemark
