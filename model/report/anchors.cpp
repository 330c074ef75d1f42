// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/anchors.hpp"

#include "model/core/units.hpp"

#include <algorithm>

namespace tidemark::report {

std::int64_t eventOf(const Replay& replay, StateIndex state)
{
    return momentOf(state) + static_cast<std::int64_t>(replay.device().firstEventInFile);
}

StateIndex stateOfEvent(const Replay& replay, std::int64_t event)
{
    const auto first = static_cast<std::int64_t>(replay.device().firstEventInFile);
    const auto last = static_cast<std::int64_t>(replay.states()) - 1;
    // Compared before they are subtracted: events come from files.
    if (event < first)
        return 0;
    if (event >= first + last)
        return replay.states() - 1;
    return static_cast<StateIndex>(event - first + 1);
}

PointAnchor pointAnchor(const Replay& replay, StateIndex state, std::int64_t bytes)
{
    return {eventOf(replay, state), bytes};
}

AllocationAnchor allocationAnchor(const Replay& replay, AllocationId id)
{
    const AllocationColumns& all = replay.timeline.allocations();
    AllocationAnchor anchor;
    anchor.address = all.address[index(id)];
    if (all.origin[index(id)] == Origin::Traced)
        anchor.allocEvent = eventOf(replay, all.firstState[index(id)]);
    for (std::size_t i = 0; i < index(id); ++i)
        anchor.generation += all.address[i] == anchor.address ? 1U : 0U;
    return anchor;
}

AllocationId findAllocation(const Replay& replay, const AllocationAnchor& anchor)
{
    const AllocationColumns& all = replay.timeline.allocations();
    const auto found = [](std::size_t i) { return AllocationId{static_cast<std::uint32_t>(i)}; };
    if (anchor.allocEvent) {
        const StateIndex state = stateOfEvent(replay, *anchor.allocEvent);
        if (state == 0 || eventOf(replay, state) != *anchor.allocEvent)
            return AllocationId::none;
        const auto [from, to] = std::equal_range(all.firstState.begin(), all.firstState.end(), state);
        for (auto i = static_cast<std::size_t>(from - all.firstState.begin());
             i < static_cast<std::size_t>(to - all.firstState.begin()); ++i)
            if (all.address[i] == anchor.address)
                return found(i);
        return AllocationId::none;
    }
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < all.count() && all.origin[i] != Origin::Traced; ++i)
        if (all.address[i] == anchor.address && before++ == anchor.generation)
            return found(i);
    return AllocationId::none;
}

std::optional<StateIndex> stateOfAnchor(const Replay& replay, const Anchor& anchor)
{
    if (const auto* point = std::get_if<PointAnchor>(&anchor))
        return stateOfEvent(replay, point->event);
    if (const auto* segment = std::get_if<SegmentAnchor>(&anchor))
        return stateOfEvent(replay, segment->event);
    if (const auto* allocation = std::get_if<AllocationAnchor>(&anchor))
        if (const AllocationId id = findAllocation(replay, *allocation); valid(id))
            return replay.timeline.allocations().firstState[index(id)];
    return std::nullopt;
}

std::string lostText(const Rank& rank, const Annotation& annotation)
{
    const Replay* replay = nullptr;
    for (const auto& each : rank.devices)
        if (each->device().ordinal == annotation.device)
            replay = each.get();
    if (replay == nullptr)
        return "this file has no device " + std::to_string(annotation.device);
    const auto first = static_cast<std::int64_t>(replay->device().firstEventInFile);
    const auto last = first + static_cast<std::int64_t>(replay->states()) - 2;
    for (const Anchor* anchor : {&annotation.from, &annotation.to}) {
        std::optional<std::int64_t> event;
        if (const auto* point = std::get_if<PointAnchor>(anchor))
            event = point->event;
        else if (const auto* segment = std::get_if<SegmentAnchor>(anchor))
            event = segment->event;
        if (event && (*event < std::min<std::int64_t>(first - 1, -1) || *event > last))
            return "this file has no event " + formatCount(*event);
        if (const auto* allocation = std::get_if<AllocationAnchor>(anchor);
            allocation && !valid(findAllocation(*replay, *allocation)))
            return "this file has no such allocation";
    }
    return {};
}

} // namespace tidemark::report
