// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/id_image.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

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

/// Bands from the bottom by allocation: predating that stays, predating that goes, then the groups.
std::vector<std::uint8_t> groupKeys(const Replay& replay, const Colouring& colouring,
    const std::vector<std::pair<StateIndex, AllocationId>>& silent)
{
    const AllocationColumns& a = replay.timeline.allocations();
    const auto ranks = groupRanks(replay, colouring, silent);
    std::vector<std::uint8_t> keys(a.count());
    for (std::size_t id = 0; id < keys.size(); ++id) {
        if (a.origin[id] == Origin::Traced)
            keys[id] = static_cast<std::uint8_t>(2 + ranks[slotOf(colouring, id)]);
        else
            keys[id] = a.origin[id] == Origin::AliveAtEnd ? 0 : 1;
    }
    return keys;
}

} // namespace

std::shared_ptr<const StackPlan> StackPlan::build(
    const Replay& replay, const Colouring& colouring, StackOrder order)
{
    auto plan = std::make_shared<StackPlan>();
    const AllocationColumns& a = replay.timeline.allocations();
    plan->m_allocations = &a;
    plan->m_silentEnds = tidemark::silentEnds(replay.timeline);
    // By age, the numbering of Timeline is the order.
    if (order == StackOrder::Group)
        plan->sortByGroup(a, groupKeys(replay, colouring, plan->m_silentEnds));
    plan->m_bytes.resize(a.count());
    for (std::uint32_t p = 0; p < a.count(); ++p)
        plan->m_bytes[p]
            = static_cast<std::uint32_t>(std::min<std::uint64_t>(a.size[index(plan->at(p))], large));
    return plan;
}

void StackPlan::sortByGroup(const AllocationColumns& a, const std::vector<std::uint8_t>& keys)
{
    std::array<std::uint32_t, 256> place{};
    for (const std::uint8_t key : keys)
        ++place[key];
    std::uint32_t sum = 0;
    for (std::uint32_t& p : place)
        sum += std::exchange(p, sum);
    m_positionOf.resize(a.count());
    m_idAt.resize(a.count());
    for (std::uint32_t id = 0; id < a.count(); ++id) {
        const std::uint32_t position = place[keys[id]]++;
        m_positionOf[id] = position;
        m_idAt[position] = id;
    }
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
