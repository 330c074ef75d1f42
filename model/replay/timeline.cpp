// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/timeline.hpp"

#include "model/replay/timeline_builder.hpp"

#include <algorithm>

namespace tidemark {

Result<Timeline> Timeline::build(const Snapshot& snapshot, const DeviceTrace& device, const Job& job)
{
    return TimelineBuilder(snapshot, device, job).build();
}

std::uint32_t Timeline::startedBy(StateIndex state) const
{
    const std::vector<StateIndex>& first = m_allocations.firstState;
    return static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), state) - first.begin());
}

void Timeline::placeInPools(std::span<const PoolId> pools)
{
    for (std::size_t i = 0; i < pools.size(); ++i)
        if (valid(pools[i]))
            m_allocations.pool[i] = pools[i];
}

std::vector<AllocationId> Timeline::liveAt(StateIndex state) const
{
    // Ids are numbered by their first state: who came after the checkpoint is one run of ids.
    const auto after = std::upper_bound(m_checkpoints.begin(), m_checkpoints.end(), state,
        [](StateIndex s, const Checkpoint& c) { return s < c.state; });
    std::vector<AllocationId> live;
    live.reserve(liveCountAt(state));
    std::uint32_t next = 0;
    if (after - m_checkpoints.begin() > 1) {
        const Checkpoint& from = *(after - 1);
        const std::uint64_t end = after == m_checkpoints.end() ? m_checkpointLive.size() : after->begin;
        for (std::uint64_t i = from.begin; i < end; ++i)
            if (m_allocations.endState[index(m_checkpointLive[i])] > state)
                live.push_back(m_checkpointLive[i]);
        next = startedBy(from.state);
    }
    const std::uint32_t last = startedBy(state);
    for (std::uint32_t id = next; id < last; ++id)
        if (m_allocations.endState[id] > state)
            live.push_back(AllocationId{id});
    return live;
}

std::uint32_t Timeline::liveCountAt(StateIndex state) const
{
    const auto ended = std::upper_bound(m_ends.begin(), m_ends.end(), state) - m_ends.begin();
    return startedBy(state) - static_cast<std::uint32_t>(ended);
}

AllocationId Timeline::findLive(std::uint64_t address, StateIndex state) const
{
    AllocationId found = AllocationId::none;
    for (const AllocationId id : liveAt(state)) {
        const std::uint64_t start = m_allocations.address[index(id)];
        const bool exact = start == address;
        if (!exact && (address < start || address - start >= m_allocations.size[index(id)]))
            continue;
        if (exact || !valid(found) || m_allocations.address[index(found)] != address)
            found = id;
    }
    return found;
}

std::uint32_t Timeline::generation(AllocationId id) const
{
    const std::vector<std::uint64_t>& address = m_allocations.address;
    const auto self = address.begin() + static_cast<std::ptrdiff_t>(index(id));
    return static_cast<std::uint32_t>(std::count(address.begin(), self, *self));
}

std::optional<EventIndex> Timeline::endEvent(AllocationId id) const
{
    const StateIndex end = m_allocations.endState[index(id)];
    if (end >= m_states)
        return std::nullopt;
    return EventIndex{end - 1};
}

std::optional<EventIndex> Timeline::allocEvent(AllocationId id) const
{
    if (m_allocations.origin[index(id)] != Origin::Traced)
        return std::nullopt;
    return EventIndex{m_allocations.firstState[index(id)] - 1};
}

std::optional<EventIndex> Timeline::freeEvent(AllocationId id, const DeviceTrace& device) const
{
    const StateIndex end = m_allocations.endState[index(id)];
    const StateIndex pending = m_allocations.pendingState[index(id)];
    if (pending < end)
        return EventIndex{pending - 1};
    const std::optional<EventIndex> last = endEvent(id);
    // A second alloc at the address ends it without a free.
    if (!last || m_eventAllocation[index(*last)] != id)
        return std::nullopt;
    const std::size_t before = index(*last) - 1;
    if (index(*last) > 0 && device.events.action[before] == Action::FreeRequested
        && m_eventAllocation[before] == id)
        return EventIndex{static_cast<std::uint32_t>(before)};
    return last;
}

StackId Timeline::freeStack(AllocationId id, const DeviceTrace& device) const
{
    const std::optional<EventIndex> event = freeEvent(id, device);
    if (!event)
        return StackId::none;
    if (device.events.action[index(*event)] == Action::FreeCompleted && !m_completedOnly)
        return StackId::none;
    const StackId stack = device.events.stack[index(*event)];
    return stack == m_allocations.stack[index(id)] ? StackId::none : stack;
}

std::vector<StateIndex> Timeline::localPeaks() const
{
    // Hysteresis: a maximum counts once the curve has fallen by the prominence, and the search for the next
    // one starts once it has risen by as much.
    const std::int64_t prominence = std::max<std::int64_t>(1, m_requested.total().max / 50);
    std::vector<StateIndex> peaks;
    bool climbing = true;
    Series::Change extreme = m_requested.changes().front();
    for (const Series::Change& change : m_requested.changes()) {
        if (climbing ? change.value > extreme.value : change.value < extreme.value) {
            extreme = change;
        } else if (climbing ? change.value <= extreme.value - prominence
                            : change.value >= extreme.value + prominence) {
            if (climbing)
                peaks.push_back(extreme.state);
            climbing = !climbing;
            extreme = change;
        }
    }
    if (climbing)
        peaks.push_back(extreme.state);
    return peaks;
}

} // namespace tidemark
