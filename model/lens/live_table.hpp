// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/lens/colouring.hpp"
#include "model/lens/groups.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// What one group of the live table has besides the figures of GroupRow.
struct GroupExtra {
    std::uint64_t matchedBytes = 0;
    std::uint64_t matchedAllocations = 0;
    /// The stream and pool all members share; none when they differ.
    StreamId stream = StreamId::none;
    PoolId pool = PoolId::none;
    /// Some member's block size is inferred.
    bool inferredBlock = false;
    /// The colour all members share; colourSlot::count when they differ or no colouring was given.
    std::uint8_t slot = colourSlot::count;
};

/// One figure of a row, named as the table's columns.
enum class LiveColumn { Key, Live, Share, Count, Largest, Oldest, BlockSize, Waste, Stream, Pool, Address };

/// Who is live at one state, a row a group, or a row an allocation under GroupBy::None, with the sums the
/// table prints. Rows are largest first; other orders are permutations (liveOrder). Immutable after build.
struct LiveTable {
    GroupBy by = GroupBy::Site;
    StateIndex state = 0;
    /// One per row; under GroupBy::None empty, the row is then `ids[row]`.
    std::vector<GroupRow> groups;
    std::vector<GroupExtra> extras;
    std::vector<AllocationId> ids;

    std::uint64_t bytes = 0; ///< Σ of all rows
    std::uint64_t allocations = 0;
    bool filtered = false; ///< a search was given: the matched figures mean something
    std::uint64_t matchedBytes = 0;
    std::uint64_t matchedAllocations = 0;
    /// The drawn curve at the state; equal to `bytes` unless the program has a mistake.
    std::int64_t curve = 0;

    std::size_t rows() const { return by == GroupBy::None ? ids.size() : groups.size(); }
};

/// A row with its figures, whatever the grouping.
struct LiveFigures {
    std::uint64_t bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t largest = 0;
    AllocationId largestId = AllocationId::none;
    StateIndex oldest = 0;
    std::uint64_t blockBytes = 0;
    std::uint64_t matchedBytes = 0;
    StreamId stream = StreamId::none;
    PoolId pool = PoolId::none;
    bool inferredBlock = false;
    std::uint8_t slot = colourSlot::count; ///< of a group; count: several colours
    /// Group number under the table's grouping; the allocation's number under GroupBy::None.
    std::uint32_t group = 0;
};

/// Builds the table of a state. `grouping` is that of `by`; under GroupBy::None it may be any (it is not
/// used). `matches` as in ViewState::matches, or null. Cost: two passes over the live allocations, plus
/// sorting the groups. Stopped by job: whatever is there so far, to be thrown away. Any thread.
LiveTable buildLiveTable(const Replay& replay, const Grouping& grouping, GroupBy by, StateIndex state,
    const std::vector<std::uint8_t>* matches, const Colouring* colouring, const Job& job);

LiveFigures figuresOf(const Replay& replay, const LiveTable& table, std::size_t row);

/// Rows in the order of a column; equal ones stay largest first. `names` names the rows in the Key column:
/// the table's own grouping, or that of sites under GroupBy::None. Cost: one key a row and one sort of
/// numbers, about 0.15 s for 10⁶ rows. Any thread.
std::vector<std::uint32_t> liveOrder(const Replay& replay, const LiveTable& table, const Grouping& names,
    LiveColumn column, bool descending, const Job& job);

} // namespace tidemark
