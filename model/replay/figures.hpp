// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// The allocator's state as `segments` lists it (or, before the end of the trace, as replayed).
struct SegmentFigures {
    std::uint64_t count = 0;
    std::uint64_t reserved = 0;
    std::uint64_t allocated = 0;
    std::uint64_t pending = 0;
    std::uint64_t inactive = 0;
    /// Requested bytes of allocated and pending blocks.
    std::uint64_t requested = 0;
    std::uint64_t blocks = 0;
    std::uint64_t inactiveBlocks = 0;
    std::uint64_t largestInactiveBlock = 0;
    std::uint64_t expandable = 0;
    std::uint64_t privatePoolReserved = 0;
};

/// A curve at both ends of the range and at its highest.
struct CurveFigures {
    std::int64_t atStart = 0;
    std::int64_t atEnd = 0;
    std::int64_t peak = 0;
    /// First moment that reaches the peak.
    Moment peakMoment = beforeFirst;
};

/// The figures of help/numbers.md for one device, over all its events or a range of them.
struct DeviceFigures {
    /// Events looked at, both included; absent when there is none.
    std::optional<std::pair<std::uint32_t, std::uint32_t>> range;
    std::uint64_t events = 0;
    std::map<std::string, std::uint64_t> actions;
    std::optional<std::int64_t> firstTimeUs;
    std::optional<std::int64_t> lastTimeUs;
    std::optional<SegmentFigures> segments;
    Predating predating;
    Irregularities irregular;
    CurveFigures live;
    std::uint64_t delayedFrees = 0;
    std::int64_t peakPending = 0;
    /// Absent: reserved is unknown.
    std::optional<CurveFigures> reserved;
    std::vector<OomEvent> ooms;
    std::vector<std::pair<StreamId, CurveFigures>> streams;
    std::vector<std::pair<PoolId, CurveFigures>> pools;
};

/// Figures of events `range` (both included, numbered as in the file; what is beyond the trace is cut off),
/// of the whole trace without one. Memory that lives when the range begins counts as predating. Cost: one
/// pass.
DeviceFigures deviceFigures(
    const Replay& replay, std::optional<std::pair<std::uint64_t, std::uint64_t>> range = std::nullopt);

} // namespace tidemark
