// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cache/cache_access.hpp"

#include "model/core/limits.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// Whether all ids of a column are below `count`, or none.
template <typename Id>
bool below(const std::vector<Id>& column, std::size_t count)
{
    // Without a branch in it the loop takes eight at a time.
    std::uint32_t largest = 0;
    for (const Id id : column)
        largest = std::max(largest, static_cast<std::uint32_t>(id) + 1U);
    return largest <= count;
}
template <typename Id>
bool below(Id id, std::size_t count)
{
    return !valid(id) || index(id) < count;
}

/// Either empty or as long as the others.
template <typename T>
bool rare(const std::vector<T>& column, std::size_t rows)
{
    return column.empty() || column.size() == rows;
}

template <typename Enum>
bool within(const std::vector<Enum>& column, Enum last)
{
    std::uint8_t largest = 0;
    for (const Enum each : column)
        largest = std::max(largest, static_cast<std::uint8_t>(each));
    return largest <= static_cast<std::uint8_t>(last);
}

/// A power of two, or nothing, with entries that stand for ids + 1 below `count`, and room left.
bool isTable(const std::vector<std::uint32_t>& slots, std::size_t count)
{
    return (slots.size() & (slots.size() - 1)) == 0 && slots.size() >= count
        && std::ranges::all_of(slots, [count](std::uint32_t slot) { return slot <= count; });
}

bool areNotes(const std::vector<QualityNote>& notes)
{
    return std::ranges::all_of(notes, [](const QualityNote& note) {
        return static_cast<int>(note.id) >= 0 && note.id <= Quality::EventRange
            && note.examples.size() <= limits::maxExamples;
    });
}

bool isOrdinal(int ordinal)
{
    return ordinal >= everyDevice && ordinal <= limits::maxDevice;
}

bool fitsDevice(const DeviceTrace& d, const Snapshot& s)
{
    const EventColumns& e = d.events;
    const std::size_t rows = e.count();
    const std::size_t stacks = s.stacks.size();
    const std::size_t strings = s.strings.size();
    if (!isOrdinal(d.ordinal) || rows > limits::maxEvents || e.address.size() != rows || e.size.size() != rows
        || e.stream.size() != rows || e.timeUs.size() != rows || e.stack.size() != rows || !rare(e.pool, rows)
        || !rare(e.userMetadata, rows) || !rare(e.compileContext, rows) || !rare(e.internalMetadata, rows)
        || !rare(e.category, rows) || !rare(e.forwardStack, rows))
        return false;
    if (!within(e.action, Action::Unknown) || !below(e.stack, stacks) || !below(e.forwardStack, stacks)
        || !below(e.pool, s.pools.size()) || !below(e.userMetadata, strings)
        || !below(e.compileContext, strings) || !below(e.internalMetadata, strings)
        || !below(e.category, strings)
        || std::ranges::any_of(e.stream, [&](StreamId id) { return index(id) >= s.streams.size(); }))
        return false;
    const auto segment = [&](const Segment& g) {
        return index(g.stream) < s.streams.size() && index(g.pool) < s.pools.size() && below(g.stack, stacks)
            && g.kind <= SegmentKind::Unknown && g.firstBlock <= d.blocks.size()
            && g.blockCount <= d.blocks.size() - g.firstBlock;
    };
    const auto block = [&](const Block& b) {
        return below(b.stack, stacks) && below(b.forwardStack, stacks) && below(b.userMetadata, strings)
            && below(b.stateName, strings) && b.state <= BlockState::Unknown;
    };
    const auto oom = [&](const OomEvent& each) { return index(each.event) < rows; };
    const auto word
        = [&](const auto& each) { return index(each.first) < rows && below(each.second, strings); };
    return std::ranges::all_of(d.segments, segment) && std::ranges::all_of(d.blocks, block)
        && std::ranges::all_of(d.ooms, oom) && std::ranges::all_of(d.otherActions, word)
        && std::ranges::all_of(d.oddSizes, word) && d.statedReserved.size() <= rows;
}

} // namespace

bool CacheAccess::fits(const Snapshot& s)
{
    const std::size_t letters = s.strings.m_bytes.size();
    const std::size_t strings = s.strings.size();
    for (const auto& entry : s.strings.m_entries)
        if (entry.offset > letters || entry.length > letters - entry.offset)
            return false;
    const std::size_t frames = s.frames.size();
    for (const Frame& frame : s.frames.m_frames)
        if (!below(frame.name, strings) || !below(frame.file, strings))
            return false;
    for (const auto& [id, info] : s.frames.m_fx)
        if (index(id) >= frames || !below(info.op, strings) || !below(info.name, strings)
            || !below(info.target, strings) || !below(info.trace, strings))
            return false;
    const auto& cells = s.stacks.m_frames;
    const auto& ends = s.stacks.m_ends;
    const bool stacks = std::ranges::is_sorted(ends)
        && (ends.empty() ? cells.empty() : ends.back() == cells.size())
        && s.stacks.m_hashes.size() == ends.size()
        && std::ranges::all_of(cells, [frames](FrameId id) { return index(id) < frames; });
    if (!stacks || !isTable(s.strings.m_slots, strings) || !isTable(s.frames.m_slots, frames)
        || !isTable(s.stacks.m_slots, ends.size()))
        return false;
    if (s.streams.empty() || s.pools.empty() || s.source.kind < SourceKind::Snapshot
        || s.source.kind > SourceKind::ProfilerTimeline || !areNotes(s.quality))
        return false;
    for (const Annotation& a : s.annotations)
        if (!below(a.name, strings) || !isOrdinal(a.device))
            return false;
    if (s.categories)
        for (const auto& column : s.categories->bytes)
            if (column.size() != s.categories->timesUs.size())
                return false;
    return std::ranges::all_of(s.devices, [&](const DeviceTrace& d) { return fitsDevice(d, s); });
}

bool CacheAccess::fits(const Series& series, StateIndex states)
{
    const auto& changes = series.m_data->changes;
    if (changes.empty() || changes.front().state != 0 || changes.back().state >= states)
        return false;
    for (std::size_t i = 1; i < changes.size(); ++i)
        if (changes[i].state <= changes[i - 1].state)
            return false;
    return true;
}

bool CacheAccess::fits(const SegmentHistory& h, const DeviceTrace& device, const Timeline& t)
{
    const std::size_t count = t.m_allocations.count();
    const StateIndex states = t.m_states;
    if (!fits(h.m_reserved, states) || !fits(h.m_allocated, states) || !fits(h.m_waiting, states)
        || h.m_blockSize.size() != count || h.m_blockSizeExact.size() != count
        || h.m_segmentOf.size() != count || h.m_known != device.hasSegments)
        return false;
    for (const auto& [pool, series] : h.m_reservedByPool)
        if (!fits(series, states))
            return false;
    std::size_t ids = 0;
    StateIndex before = 0;
    for (const SegmentRange& r : h.m_ranges) {
        if (r.firstState < before || r.firstState >= r.endState || r.endState > states
            || r.kind > SegmentKind::Unknown)
            return false;
        // A range of the last state is a segment of the file.
        if (h.m_known && r.endState == states && index(r.id) >= device.segments.size())
            return false;
        before = r.firstState;
        ids = std::max(ids, index(r.id) + 1);
    }
    if (ids > h.m_ranges.size() + device.segments.size()
        || std::ranges::any_of(h.m_segmentOf, [ids](SegmentId id) { return valid(id) && index(id) >= ids; }))
        return false;
    for (const SegmentHistory::Checkpoint& each : h.m_checkpoints)
        if (each.next > h.m_ranges.size()
            || std::ranges::any_of(each.alive, [&](std::uint32_t r) { return r >= h.m_ranges.size(); }))
            return false;
    const auto byState = [](const auto& a, const auto& b) { return a.state < b.state; };
    const bool pieces = std::ranges::all_of(h.m_endPieces,
        [&](const Piece& p) { return below(p.allocation, count) && p.kind <= PieceKind::Unknown; });
    return pieces && std::ranges::is_sorted(h.m_checkpoints, byState) && below(h.m_waitFromStart, count)
        && std::ranges::is_sorted(h.m_waitFromStart) && h.m_endFirst.size() == device.segments.size() + 1
        && std::ranges::is_sorted(h.m_endFirst) && h.m_endFirst.back() <= h.m_endPieces.size();
}

bool CacheAccess::fits(const Replay& r, const DeviceTrace& device, const Snapshot& s)
{
    const Timeline& t = r.timeline;
    const AllocationColumns& a = t.m_allocations;
    const std::size_t count = a.count();
    const StateIndex states = t.m_states;
    if (std::size_t{states} != device.events.count() + 1
        || t.m_eventAllocation.size() != device.events.count() || !within(a.origin, Origin::AliveAtEnd)
        || !below(a.stack, s.stacks.size()) || !below(t.m_eventAllocation, count)
        || !std::ranges::is_sorted(a.firstState) || !std::ranges::is_sorted(t.m_ends)
        || !fits(t.m_requested, states) || !fits(t.m_pending, states))
        return false;
    for (std::size_t i = 0; i < count; ++i)
        if (a.firstState[i] > a.endState[i] || a.endState[i] > states || a.pendingState[i] > a.endState[i]
            || index(a.stream[i]) >= s.streams.size() || index(a.pool[i]) >= s.pools.size()
            || (a.origin[i] == Origin::Traced) != (a.firstState[i] > 0))
            return false;
    if (t.m_checkpoints.empty() || t.m_checkpoints.front().state != 0 || t.m_checkpoints.front().begin != 0
        || !std::ranges::all_of(t.m_checkpointLive, [count](AllocationId id) { return index(id) < count; }))
        return false;
    for (std::size_t i = 0; i < t.m_checkpoints.size(); ++i) {
        const auto& point = t.m_checkpoints[i];
        if (point.begin > t.m_checkpointLive.size() || point.state >= std::max<StateIndex>(states, 1)
            || (i > 0
                && (point.state <= t.m_checkpoints[i - 1].state
                    || point.begin < t.m_checkpoints[i - 1].begin)))
            return false;
    }
    for (const AnnotatedAllocation& each : t.m_annotations)
        if (index(each.event) >= device.events.count() || !below(each.allocation, count))
            return false;
    for (const auto& [stream, series] : r.requestedByStream)
        if (index(stream) >= s.streams.size() || !fits(series, states))
            return false;
    for (const auto& [pool, series] : r.requestedByPool)
        if (index(pool) >= s.pools.size() || !fits(series, states))
            return false;
    return areNotes(r.quality) && fits(r.segments, device, t);
}

} // namespace tidemark
