// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/subset_series.hpp"

#include "model/core/byte_sum.hpp"

#include <algorithm>
#include <vector>

namespace tidemark {

namespace {

std::vector<AllocationId> distinct(std::span<const AllocationId> allocations, std::size_t count)
{
    std::vector<AllocationId> ids;
    ids.reserve(allocations.size());
    for (const AllocationId id : allocations)
        if (index(id) < count)
            ids.push_back(id);
    if (!std::is_sorted(ids.begin(), ids.end()))
        std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

} // namespace

Series subsetSeries(const Replay& replay, std::span<const AllocationId> allocations)
{
    const AllocationColumns& all = replay.timeline.allocations();
    const std::vector<AllocationId> begins = distinct(allocations, all.count());
    std::vector<AllocationId> ends = begins;
    std::sort(ends.begin(), ends.end(),
        [&](AllocationId a, AllocationId b) { return all.endState[index(a)] < all.endState[index(b)]; });
    // Ids ascend with their first states, so beginnings need no sorting.
    Series series(0);
    series.reserve(2 * begins.size() + 1);
    ByteSum live;
    std::size_t begin = 0;
    std::size_t end = 0;
    while (begin < begins.size() || end < ends.size()) {
        const StateIndex nextBegin
            = begin < begins.size() ? all.firstState[index(begins[begin])] : replay.states();
        const StateIndex nextEnd = end < ends.size() ? all.endState[index(ends[end])] : replay.states();
        const StateIndex state = std::min(nextBegin, nextEnd);
        if (state >= replay.states())
            break;
        for (; begin < begins.size() && all.firstState[index(begins[begin])] == state; ++begin)
            live += static_cast<std::int64_t>(all.size[index(begins[begin])]);
        for (; end < ends.size() && all.endState[index(ends[end])] == state; ++end)
            live -= static_cast<std::int64_t>(all.size[index(ends[end])]);
        series.set(state, live);
    }
    series.build(replay.states());
    return series;
}

} // namespace tidemark
