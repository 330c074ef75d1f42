// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/replay/block_rules.hpp"
#include "model/replay/series.hpp"
#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tidemark {

/// A reserved range of addresses and the states [firstState, endState) in which it is exactly that range.
/// Mapping into or unmapping from an expandable range ends it and starts others that keep its id.
struct SegmentRange {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    StateIndex firstState = 0;
    StateIndex endState = 0;
    /// State since which the memory, or the oldest part of it, is reserved; 0 when older than the trace.
    StateIndex since = 0;
    SegmentId id{};
    StreamId stream{};
    PoolId pool{};
    SegmentKind kind = SegmentKind::Unknown;
    bool expandable = false;
};

/// One past the last address, kept in 64 bits for nonsense sizes.
constexpr std::uint64_t endOf(std::uint64_t address, std::uint64_t size) noexcept
{
    return address + size < address ? ~std::uint64_t{0} : address + size;
}

/// All reserved ranges of a trace: the segments of the end of the file, and going back from there what the
/// segment events took away or added.
struct SegmentRanges {
    /// By first state, then address. Ids below the number of segments in the file are positions in that list.
    std::vector<SegmentRange> ranges;
    /// Segment events that do not fit the segments: reserving what is not there later, releasing what still
    /// is.
    std::uint64_t misfits = 0;

    /// `kindOfRange` names the pool of memory that is gone at the end, from what was allocated in it, or
    /// Unknown.
    using KindOfRange = std::function<SegmentKind(std::uint64_t address, std::uint64_t size)>;
    static Result<SegmentRanges> build(
        const DeviceTrace& device, const KindOfRange& kindOfRange, std::uint64_t largePage, const Job& job);

    /// Reserved bytes by pool over the states, the default pool first.
    std::vector<std::pair<PoolId, Series>> byPool(StateIndex states) const;
};

/// +1 for actions that reserve memory, −1 for those that give it back, else 0.
constexpr int reserving(Action action) noexcept
{
    switch (action) {
    case Action::SegmentAlloc:
    case Action::SegmentMap:
        return 1;
    case Action::SegmentFree:
    case Action::SegmentUnmap:
        return -1;
    default:
        return 0;
    }
}

} // namespace tidemark
