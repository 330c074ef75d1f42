// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/id_image.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace tidemark {

namespace {

constexpr std::size_t slots = colourSlot::count;

std::uint8_t slotOf(const Colouring& colouring, std::size_t id)
{
    return id < colouring.slotOf.size() ? std::min<std::uint8_t>(colouring.slotOf[id], slots - 1)
                                        : colourSlot::other;
}

std::vector<std::pair<StateIndex, AllocationId>> silentEnds(const Timeline& timeline)
{
    std::vector<std::pair<StateIndex, AllocationId>> ends;
    if (timeline.irregularities().reallocOfLive == 0)
        return ends;
    const AllocationColumns& a = timeline.allocations();
    for (std::uint32_t i = 0; i < a.count(); ++i) {
        const StateIndex end = a.endState[i];
        if (end < timeline.states() && timeline.allocationOf(EventIndex{end - 1}) != AllocationId{i})
            ends.emplace_back(end, AllocationId{i});
    }
    std::sort(ends.begin(), ends.end());
    return ends;
}

/// Rank of each slot from the bottom: by the largest sum its traced allocations ever had; what is in no named
/// group last.
std::array<std::uint8_t, slots> groupRanks(const Replay& replay, const Colouring& colouring,
    const std::vector<std::pair<StateIndex, AllocationId>>& silent)
{
    const AllocationColumns& a = replay.timeline.allocations();
    std::array<std::int64_t, slots> now{};
    std::array<std::int64_t, slots> most{};
    auto nextSilent = silent.begin();
    const auto end = [&](std::size_t id) {
        if (a.origin[id] == Origin::Traced)
            now[slotOf(colouring, id)] -= static_cast<std::int64_t>(a.size[id]);
    };
    for (StateIndex state = 1; state < replay.states(); ++state) {
        for (; nextSilent != silent.end() && nextSilent->first <= state; ++nextSilent)
            end(index(nextSilent->second));
        const AllocationId id = replay.timeline.allocationOf(EventIndex{state - 1});
        if (!valid(id))
            continue;
        if (a.firstState[index(id)] == state) {
            const std::uint8_t slot = slotOf(colouring, index(id));
            now[slot] += static_cast<std::int64_t>(a.size[index(id)]);
            most[slot] = std::max(most[slot], now[slot]);
        } else if (a.endState[index(id)] == state) {
            end(index(id));
        }
    }
    std::array<std::uint8_t, slots> order{};
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::uint8_t l, std::uint8_t r) {
        const bool lOther = l == colourSlot::other;
        const bool rOther = r == colourSlot::other;
        return lOther != rOther ? rOther : most[l] > most[r];
    });
    std::array<std::uint8_t, slots> rank{};
    for (std::size_t i = 0; i < slots; ++i)
        rank[order[i]] = static_cast<std::uint8_t>(i);
    return rank;
}

} // namespace

std::shared_ptr<const StackPlan> StackPlan::build(
    const Replay& replay, const Colouring& colouring, StackOrder order)
{
    auto plan = std::make_shared<StackPlan>();
    plan->m_silentEnds = tidemark::silentEnds(replay.timeline);
    if (order == StackOrder::Age)
        return plan; // the numbering of Timeline is this order
    const AllocationColumns& a = replay.timeline.allocations();
    const auto ranks = groupRanks(replay, colouring, plan->m_silentEnds);
    // Counting sort, stable: predating that stays, predating that goes, then the groups by rank.
    const auto keyOf = [&](std::size_t id) -> std::size_t {
        if (a.origin[id] == Origin::AliveAtEnd)
            return 0;
        return a.origin[id] == Origin::FreedInTrace ? 1 : 2U + ranks[slotOf(colouring, id)];
    };
    std::array<std::uint32_t, slots + 2> place{};
    for (std::size_t id = 0; id < a.count(); ++id)
        ++place[keyOf(id)];
    std::uint32_t sum = 0;
    for (std::uint32_t& p : place)
        sum += std::exchange(p, sum);
    plan->m_positionOf.resize(a.count());
    plan->m_idAt.resize(a.count());
    for (std::size_t id = 0; id < a.count(); ++id) {
        const std::uint32_t position = place[keyOf(id)]++;
        plan->m_positionOf[id] = position;
        plan->m_idAt[position] = static_cast<std::uint32_t>(id);
    }
    return plan;
}

std::optional<StackExtent> stackExtent(
    const Replay& replay, const StackPlan& plan, AllocationId id, StateIndex state)
{
    const AllocationColumns& a = replay.timeline.allocations();
    if (!valid(id) || index(id) >= a.count() || !replay.timeline.isLive(id, state))
        return std::nullopt;
    const auto waits = [&](AllocationId other) { return a.pendingState[index(other)] <= state; };
    const bool waiting = waits(id);
    const std::uint32_t position = plan.positionOf(id);
    StackExtent extent;
    for (const AllocationId other : replay.timeline.liveAt(state)) {
        if (waits(other) != waiting ? waiting : plan.positionOf(other) < position)
            extent.low += a.size[index(other)];
    }
    extent.high = extent.low + a.size[index(id)];
    return extent;
}

std::optional<StackExtent> stackExtent(
    const Replay& replay, const Colouring& colouring, StackOrder order, AllocationId id, StateIndex state)
{
    return stackExtent(replay, *StackPlan::build(replay, colouring, order), id, state);
}

} // namespace tidemark
