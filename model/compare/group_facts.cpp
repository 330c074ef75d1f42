// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/group_facts.hpp"

#include "model/lens/group_maxima.hpp"

#include <algorithm>

namespace tidemark::compare {

namespace {

/// The file of the frame that gives a stack its site.
std::string pathOfSite(const Side& side, StackId stack, const std::string& site)
{
    const Snapshot& snapshot = *side.rank->snapshot;
    if (!valid(stack))
        return {};
    for (const FrameId frame : snapshot.stacks[stack])
        if (frameText(snapshot, frame) == site)
            return std::string(snapshot.strings.view(snapshot.frames[frame].file));
    return {};
}

} // namespace

std::vector<GroupFacts> groupFacts(const Side& side, const Grouping& grouping, const Job& job)
{
    const Timeline& timeline = side.replay().timeline;
    const AllocationColumns& c = timeline.allocations();
    std::vector<GroupFacts> facts(grouping.count());
    std::vector<std::uint32_t> groupOf(c.count());
    for (std::uint32_t id = 0; id < c.count(); ++id) {
        groupOf[id] = grouping.of(AllocationId{id});
        GroupFacts& own = facts[groupOf[id]];
        if (own.count++ == 0)
            own.first = AllocationId{id};
        own.largest = std::max(own.largest, c.size[id]);
    }
    const std::vector<std::uint64_t> highest = groupMaxima(timeline, groupOf, grouping.count(), job);
    if (highest.size() != facts.size())
        return {};
    for (std::uint32_t group = 0; group < facts.size(); ++group) {
        facts[group].highest = highest[group];
        if (const SiteId site = grouping.site(group); valid(site) && valid(facts[group].first))
            facts[group].path = pathOfSite(side, c.stack[index(facts[group].first)], side.sites().name(site));
    }
    return facts;
}

} // namespace tidemark::compare
