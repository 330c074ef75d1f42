// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/live_table.hpp"

#include "model/core/sorted_order.hpp"

#include <algorithm>
#include <numeric>

namespace tidemark {

namespace {

constexpr std::uint32_t noRow = 0xffffffffU;

bool isMatch(const std::vector<std::uint8_t>* matches, AllocationId id)
{
    return matches && index(id) < matches->size() && (*matches)[index(id)] != 0;
}

void fillSingles(const Replay& replay, LiveTable& table, std::vector<AllocationId> live,
    const std::vector<std::uint8_t>* matches)
{
    const AllocationColumns& columns = replay.timeline.allocations();
    for (const AllocationId id : live) {
        const std::uint64_t size = columns.size[index(id)];
        table.bytes += size;
        if (isMatch(matches, id)) {
            table.matchedBytes += size;
            ++table.matchedAllocations;
        }
    }
    table.allocations = live.size();
    // Ids ascend, so a stable sort keeps the older of two equal sizes first.
    std::stable_sort(live.begin(), live.end(),
        [&](AllocationId a, AllocationId b) { return columns.size[index(a)] > columns.size[index(b)]; });
    table.ids = std::move(live);
}

void addMember(
    const Replay& replay, const Colouring* colouring, GroupExtra& extra, bool first, AllocationId id)
{
    const std::uint8_t slot = colouring ? colouring->slotOf[index(id)] : colourSlot::count;
    const AllocationColumns& columns = replay.timeline.allocations();
    const std::size_t i = index(id);
    if (first) {
        extra.stream = columns.stream[i];
        extra.pool = columns.pool[i];
        extra.slot = slot;
    }
    if (extra.slot != slot)
        extra.slot = colourSlot::count;
    if (extra.stream != columns.stream[i])
        extra.stream = StreamId::none;
    if (extra.pool != columns.pool[i])
        extra.pool = PoolId::none;
    extra.inferredBlock = extra.inferredBlock || !replay.segments.blockSizeExact(id);
}

void fillExtras(const Replay& replay, const Grouping& grouping, LiveTable& table,
    const std::vector<AllocationId>& live, const std::vector<std::uint8_t>* matches,
    const Colouring* colouring, const Job& job)
{
    std::vector<std::uint32_t> rowOf(grouping.count(), noRow);
    for (std::size_t row = 0; row < table.groups.size(); ++row)
        rowOf[table.groups[row].group] = static_cast<std::uint32_t>(row);
    table.extras.assign(table.groups.size(), {});
    std::vector<std::uint8_t> seen(table.groups.size(), 0);
    const AllocationColumns& columns = replay.timeline.allocations();
    std::uint32_t count = 0;
    for (const AllocationId id : live) {
        if (++count % pollInterval == 0 && job.stopped())
            return;
        const std::uint32_t row = rowOf[grouping.of(id)];
        if (row == noRow)
            continue;
        GroupExtra& extra = table.extras[row];
        addMember(replay, colouring, extra, seen[row] == 0, id);
        seen[row] = 1;
        if (isMatch(matches, id)) {
            extra.matchedBytes += columns.size[index(id)];
            ++extra.matchedAllocations;
        }
    }
    for (std::size_t row = 0; row < table.groups.size(); ++row) {
        table.bytes += table.groups[row].bytes;
        table.allocations += table.groups[row].allocations;
        table.matchedBytes += table.extras[row].matchedBytes;
        table.matchedAllocations += table.extras[row].matchedAllocations;
    }
}

/// Position of each group's name in alphabetical order, so that sorting compares numbers only.
std::vector<std::uint32_t> nameRanks(const Grouping& names)
{
    std::vector<std::uint32_t> order(names.count());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
        [&](std::uint32_t a, std::uint32_t b) { return names.name(a) < names.name(b); });
    std::vector<std::uint32_t> rank(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        rank[order[i]] = static_cast<std::uint32_t>(i);
    return rank;
}

std::uint64_t numberOf(const Replay& replay, const LiveFigures& row, LiveColumn column)
{
    switch (column) {
    case LiveColumn::Key:
    case LiveColumn::Live:
    case LiveColumn::Share:
        return row.bytes;
    case LiveColumn::Count:
        return row.allocations;
    case LiveColumn::Largest:
        return row.largest;
    case LiveColumn::Oldest:
        return row.oldest;
    case LiveColumn::BlockSize:
        return row.blockBytes;
    case LiveColumn::Waste:
        return row.blockBytes > row.bytes ? row.blockBytes - row.bytes : 0;
    case LiveColumn::Stream:
        return index(row.stream);
    case LiveColumn::Pool:
        return index(row.pool);
    case LiveColumn::Address:
        return row.allocations == 1 ? replay.timeline.allocations().address[index(row.largestId)] : 0;
    }
    return 0;
}

} // namespace

LiveTable buildLiveTable(const Replay& replay, const Grouping& grouping, GroupBy by, StateIndex state,
    const std::vector<std::uint8_t>* matches, const Colouring* colouring, const Job& job)
{
    LiveTable table;
    table.by = by;
    table.state = std::min(state, replay.states() - 1);
    table.filtered = matches != nullptr;
    table.curve = replay.timeline.requested().at(table.state);
    std::vector<AllocationId> live = replay.timeline.liveAt(table.state);
    if (by == GroupBy::None) {
        fillSingles(replay, table, std::move(live), matches);
        return table;
    }
    table.groups = groupLive(replay, grouping, table.state);
    fillExtras(replay, grouping, table, live, matches, colouring, job);
    return table;
}

LiveFigures figuresOf(const Replay& replay, const LiveTable& table, std::size_t row)
{
    LiveFigures figures;
    if (table.by == GroupBy::None) {
        const AllocationId id = table.ids[row];
        const AllocationColumns& columns = replay.timeline.allocations();
        const std::size_t i = index(id);
        figures.bytes = figures.largest = columns.size[i];
        figures.allocations = 1;
        figures.largestId = id;
        figures.oldest = columns.firstState[i];
        figures.blockBytes = replay.segments.blockSize(id);
        figures.inferredBlock = !replay.segments.blockSizeExact(id);
        figures.stream = columns.stream[i];
        figures.pool = columns.pool[i];
        figures.group = static_cast<std::uint32_t>(i);
        return figures;
    }
    const GroupRow& group = table.groups[row];
    const GroupExtra& extra = table.extras[row];
    figures.bytes = group.bytes;
    figures.allocations = group.allocations;
    figures.largest = group.largest;
    figures.largestId = group.largestId;
    figures.oldest = group.oldest;
    figures.blockBytes = group.blockBytes;
    figures.matchedBytes = extra.matchedBytes;
    figures.stream = extra.stream;
    figures.pool = extra.pool;
    figures.inferredBlock = extra.inferredBlock;
    figures.slot = extra.slot;
    figures.group = group.group;
    return figures;
}

std::vector<std::uint32_t> liveOrder(const Replay& replay, const LiveTable& table, const Grouping& names,
    LiveColumn column, bool descending, const Job& job)
{
    const std::size_t rows = table.rows();
    const std::vector<std::uint32_t> ranks
        = column == LiveColumn::Key ? nameRanks(names) : std::vector<std::uint32_t>();
    std::vector<std::uint64_t> keys(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        if (row % pollInterval == 0 && job.stopped())
            return {};
        const LiveFigures figures = figuresOf(replay, table, row);
        keys[row] = numberOf(replay, figures, column);
        if (column == LiveColumn::Key)
            keys[row] = table.by == GroupBy::ExactSize
                ? figures.largest
                : ranks[table.by == GroupBy::None ? names.of(figures.largestId) : figures.group];
    }
    return sortedOrder(keys, descending, job);
}

} // namespace tidemark
