// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/figures.hpp"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

CurveFigures curve(const Series& series, StateIndex first, StateIndex last)
{
    const Series::Extremes extremes = series.extremes(first, last);
    return {series.at(first), series.at(last), extremes.max, momentOf(extremes.maxState)};
}

SegmentFigures statedSegments(const DeviceTrace& device)
{
    SegmentFigures out;
    out.count = device.segments.size();
    for (const Segment& segment : device.segments) {
        out.reserved += sane(segment.totalSize);
        out.expandable += segment.expandable;
        out.privatePoolReserved += segment.pool == PoolId{0} ? 0 : sane(segment.totalSize);
    }
    out.blocks = device.blocks.size();
    for (const Block& block : device.blocks) {
        const std::uint64_t size = sane(block.size);
        switch (block.state) {
        case BlockState::Allocated:
            out.allocated += size;
            out.requested += sane(block.requested);
            break;
        case BlockState::Pending:
            out.pending += size;
            out.requested += sane(block.requested);
            break;
        case BlockState::Inactive:
            out.inactive += size;
            ++out.inactiveBlocks;
            out.largestInactiveBlock = std::max(out.largestInactiveBlock, size);
            break;
        case BlockState::Unknown:
            break;
        }
    }
    return out;
}

SegmentFigures replayedSegments(const Replay& replay, StateIndex state)
{
    const SegmentState at = replay.segments.stateAt(state, replay.timeline);
    SegmentFigures out;
    out.count = at.segments.size();
    out.reserved = at.reserved;
    out.allocated = at.live;
    out.pending = at.waiting;
    out.inactive = at.free;
    out.requested = at.requested;
    out.blocks = at.pieces.size();
    out.largestInactiveBlock = at.largestHole;
    for (const Piece& piece : at.pieces)
        out.inactiveBlocks += piece.kind == PieceKind::Free;
    for (const SegmentView& segment : at.segments) {
        out.expandable += segment.expandable;
        out.privatePoolReserved += segment.pool == PoolId{0} ? 0 : segment.size;
    }
    return out;
}

class Figurer {
public:
    Figurer(const Replay& replay, StateIndex first, StateIndex last)
        : m_replay(replay)
        , m_timeline(replay.timeline)
        , m_device(replay.device())
        , m_first(first)
        , m_last(last)
        , m_toEnd(last + 1 == replay.states())
        , m_whole(m_toEnd && first == 0)
    { }

    DeviceFigures figure()
    {
        if (m_last > m_first)
            m_out.range.emplace(m_first, m_last - 1);
        m_out.events = m_last - m_first;
        countEvents();
        if (m_device.hasSegments)
            m_out.segments = m_toEnd ? statedSegments(m_device) : replayedSegments(m_replay, m_last);
        predating();
        irregular();
        m_out.live = curve(m_timeline.requested(), m_first, m_last);
        delayedFrees();
        m_out.peakPending = m_timeline.pending().extremes(m_first, m_last).max;
        if (m_replay.segments.reservedKnown())
            m_out.reserved = curve(m_replay.segments.reserved(), m_first, m_last);
        for (const OomEvent& oom : m_device.ooms)
            if (index(oom.event) >= m_first && index(oom.event) < m_last)
                m_out.ooms.push_back(oom);
        for (const auto& [stream, series] : m_replay.requestedByStream)
            m_out.streams.emplace_back(stream, curve(series, m_first, m_last));
        for (const auto& [pool, series] : m_replay.requestedByPool)
            m_out.pools.emplace_back(pool, curve(series, m_first, m_last));
        return std::move(m_out);
    }

private:
    void countEvents()
    {
        const EventColumns& e = m_device.events;
        for (std::size_t i = m_first; i < m_last; ++i) {
            if (e.action[i] != Action::Unknown)
                ++m_actions[static_cast<std::size_t>(e.action[i])];
            if (e.timeUs[i] == noTime)
                continue;
            if (!m_out.firstTimeUs)
                m_out.firstTimeUs = e.timeUs[i];
            m_out.lastTimeUs = e.timeUs[i];
        }
        for (std::size_t a = 0; a < m_actions.size(); ++a)
            if (m_actions[a] > 0)
                m_out.actions[actionName(static_cast<Action>(a))] = m_actions[a];
        for (const auto& [event, word] : m_device.otherActions)
            if (index(event) >= m_first && index(event) < m_last)
                ++m_out.actions[std::string(valid(word) ? m_replay.snapshot->strings.view(word) : "unknown")];
    }

    void predating()
    {
        if (m_whole) {
            m_out.predating = m_timeline.predating();
            return;
        }
        const AllocationColumns& c = m_timeline.allocations();
        for (const AllocationId id : m_timeline.liveAt(m_first)) {
            const bool stays = c.endState[index(id)] > m_last;
            (stays ? m_out.predating.aliveAtEnd : m_out.predating.freedInTrace) += 1;
            (stays ? m_out.predating.aliveAtEndBytes : m_out.predating.freedInTraceBytes)
                += c.size[index(id)];
        }
    }

    void delayedFrees()
    {
        const AllocationColumns& c = m_timeline.allocations();
        for (std::size_t i = 0; i < c.count(); ++i)
            m_out.delayedFrees += c.pendingState[i] < c.endState[i] && c.pendingState[i] > m_first
                && c.pendingState[i] <= m_last;
    }

    void irregular()
    {
        const Irregularities& all = m_timeline.irregularities();
        if (m_whole) {
            m_out.irregular = all;
            return;
        }
        const EventColumns& e = m_device.events;
        for (std::uint32_t i = m_first; i < m_last; ++i) {
            const bool ends = e.action[i] == Action::FreeCompleted || e.action[i] == Action::Free
                || (e.action[i] == Action::FreeRequested && m_timeline.endsOnRequest());
            m_out.irregular.freeOfUnknown += ends && !valid(m_timeline.allocationOf(EventIndex{i}));
        }
        const AllocationColumns& c = m_timeline.allocations();
        for (std::uint32_t id = 0; id < c.count(); ++id) {
            const StateIndex end = c.endState[id];
            if (end > m_first && end <= m_last && end < m_replay.states())
                m_out.irregular.reallocOfLive += e.action[end - 1] == Action::Alloc;
        }
        if (m_toEnd) {
            m_out.irregular.activeButFreed = all.activeButFreed;
            m_out.irregular.liveButInactive = all.liveButInactive;
        }
    }

    const Replay& m_replay;
    const Timeline& m_timeline;
    const DeviceTrace& m_device;
    StateIndex m_first;
    StateIndex m_last;
    bool m_toEnd;
    bool m_whole;
    std::array<std::uint64_t, static_cast<std::size_t>(Action::Unknown) + 1> m_actions{};
    DeviceFigures m_out;
};

} // namespace

DeviceFigures deviceFigures(
    const Replay& replay, std::optional<std::pair<std::uint64_t, std::uint64_t>> range)
{
    const StateIndex end = replay.states() - 1;
    StateIndex first = 0;
    StateIndex last = end;
    if (range) {
        first = static_cast<StateIndex>(std::min<std::uint64_t>(range->first, end));
        last = range->second >= end ? end : static_cast<StateIndex>(range->second + 1);
        last = std::max(first, last);
    }
    return Figurer(replay, first, last).figure();
}

} // namespace tidemark
