// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/group_maxima.hpp"

#include <algorithm>

namespace tidemark {

std::vector<std::uint64_t> groupMaxima(
    const Timeline& timeline, const std::vector<std::uint32_t>& groupOf, std::size_t groups, const Job& job)
{
    const AllocationColumns& c = timeline.allocations();
    const auto count = static_cast<std::uint32_t>(c.count());
    std::vector<std::uint64_t> now(groups, 0);
    std::vector<std::uint64_t> most(groups, 0);
    // One event ends at most one life.
    std::vector<AllocationId> endedBy(timeline.states(), AllocationId::none);
    for (std::uint32_t id = 0; id < count; ++id)
        if (c.endState[id] < timeline.states())
            endedBy[c.endState[id]] = AllocationId{id};
    std::uint32_t next = 0;
    for (StateIndex state = 0; state < timeline.states(); ++state) {
        if (state % pollInterval == 0 && job.stopped())
            return {};
        if (const AllocationId ended = endedBy[state]; valid(ended))
            now[groupOf[index(ended)]] -= c.size[index(ended)];
        for (; next < count && c.firstState[next] == state; ++next) {
            std::uint64_t& bytes = now[groupOf[next]];
            bytes += c.size[next];
            most[groupOf[next]] = std::max(most[groupOf[next]], bytes);
        }
    }
    return most;
}

} // namespace tidemark
