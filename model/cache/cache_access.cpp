// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cache/cache_access.hpp"

#include "model/replay/running_maximum.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tidemark {

template <typename Io>
void CacheAccess::tables(Io& io, Snapshot& s)
{
    StringTable& strings = s.strings;
    std::vector<std::uint8_t> letters;
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint32_t> lengths;
    std::vector<std::uint32_t> hashes;
    if constexpr (!Io::reading) {
        letters.assign(strings.m_bytes.begin(), strings.m_bytes.end());
        for (const auto& entry : strings.m_entries) {
            offsets.push_back(entry.offset);
            lengths.push_back(entry.length);
            hashes.push_back(entry.hash);
        }
    }
    io.column(letters);
    io.column(offsets);
    io.column(lengths);
    io.column(hashes);
    io.column(strings.m_slots);
    if constexpr (Io::reading) {
        strings.m_bytes.assign(letters.begin(), letters.end());
        if (lengths.size() != offsets.size() || hashes.size() != offsets.size())
            return io.fail();
        for (std::size_t i = 0; i < offsets.size(); ++i)
            strings.m_entries.push_back({offsets[i], lengths[i], hashes[i]});
    }

    FrameTable& frames = s.frames;
    std::vector<StringId> names;
    std::vector<StringId> files;
    std::vector<std::uint32_t> lines;
    std::vector<std::pair<FrameId, FxInfo>> fx;
    if constexpr (!Io::reading) {
        for (const Frame& frame : frames.m_frames) {
            names.push_back(frame.name);
            files.push_back(frame.file);
            lines.push_back(frame.line);
        }
        fx.assign(frames.m_fx.begin(), frames.m_fx.end());
        std::ranges::sort(fx, {}, [](const auto& each) { return each.first; });
    }
    io.column(names);
    io.column(files);
    io.column(lines);
    io.column(frames.m_slots);
    io.list(fx, [&](auto& each) {
        io.value(each.first);
        for (StringId* field : {&each.second.op, &each.second.name, &each.second.target, &each.second.trace})
            io.value(*field);
    });
    if constexpr (Io::reading) {
        if (files.size() != names.size() || lines.size() != names.size())
            return io.fail();
        for (std::size_t i = 0; i < names.size(); ++i)
            frames.m_frames.push_back({names[i], files[i], lines[i]});
        for (const auto& [id, info] : fx)
            frames.m_fx[id] = info;
    }
    io.column(s.stacks.m_frames);
    io.column(s.stacks.m_ends);
    io.column(s.stacks.m_hashes);
    io.column(s.stacks.m_slots);
}

template <typename Io>
void CacheAccess::note(Io& io, QualityNote& n)
{
    io.value(n.id);
    io.optional(n.device);
    io.value(n.count);
    io.text(n.sentence);
    io.list(n.examples, [&](std::string& example) { io.text(example); });
    io.optional(n.firstEvent);
}

template <typename Io>
void CacheAccess::source(Io& io, Snapshot& s)
{
    io.value(s.source.kind);
    io.text(s.source.encoding);
    io.text(s.source.container);
    io.optional(s.source.pickleProtocol);
    io.value(s.source.unpackedBytes);
    io.value(s.source.trailingBytes);
    io.column(s.streams);
    io.list(s.pools, [&](auto& pool) {
        io.value(pool.first);
        io.value(pool.second);
    });
    io.value(s.deviceSlots);
    io.list(s.annotations, [&](Annotation& a) {
        io.value(a.start);
        io.value(a.name);
        io.value(a.device);
        io.value(a.timeUs);
        io.optional(a.event);
    });
    io.list(s.settings, [&](Setting& setting) {
        io.text(setting.key);
        std::uint32_t kind = static_cast<std::uint32_t>(setting.value.index());
        io.value(kind);
        bool flag = false;
        std::int64_t whole = 0;
        double real = 0;
        std::string text;
        if constexpr (!Io::reading) {
            flag = kind == 0 && std::get<0>(setting.value);
            whole = kind == 1 ? std::get<1>(setting.value) : 0;
            real = kind == 2 ? std::get<2>(setting.value) : 0;
            text = kind == 3 ? std::get<3>(setting.value) : std::string();
        }
        auto bits = std::bit_cast<std::uint64_t>(real);
        io.value(flag);
        io.value(whole);
        io.value(bits);
        io.text(text);
        if constexpr (Io::reading) {
            if (kind == 0)
                setting.value = flag;
            else if (kind == 1)
                setting.value = whole;
            else if (kind == 2)
                setting.value = std::bit_cast<double>(bits);
            else
                setting.value = text;
        }
    });
    bool categories = s.categories.has_value();
    io.value(categories);
    if (categories) {
        if (!s.categories)
            s.categories.emplace();
        io.column(s.categories->timesUs);
        for (auto& column : s.categories->bytes)
            io.column(column);
        io.optional(s.categories->predating);
    }
    io.list(s.quality, [&](QualityNote& n) { note(io, n); });
}

template <typename Io>
void CacheAccess::device(Io& io, DeviceTrace& d)
{
    io.value(d.ordinal);
    io.list(d.segments, [&](Segment& g) {
        io.value(g.address);
        io.value(g.totalSize);
        io.value(g.stream);
        io.value(g.pool);
        io.value(g.stack);
        io.value(g.kind);
        io.value(g.expandable);
        io.value(g.firstBlock);
        io.value(g.blockCount);
    });
    io.list(d.blocks, [&](Block& b) {
        io.value(b.address);
        io.value(b.size);
        io.value(b.requested);
        io.value(b.stack);
        io.value(b.forwardStack);
        io.value(b.userMetadata);
        io.value(b.stateName);
        io.value(b.state);
    });
    io.value(d.hasSegments);
    io.list(d.ooms, [&](OomEvent& oom) {
        io.value(oom.event);
        io.optional(oom.requested);
        io.optional(oom.deviceFree);
    });
    for (auto* table : {&d.otherActions, &d.oddSizes})
        io.list(*table, [&](auto& each) {
            io.value(each.first);
            io.value(each.second);
        });
    io.optional(d.ringCapacity);
    io.optional(d.ringOverflowed);
    io.column(d.statedReserved);
}

template <typename Io>
void CacheAccess::file(Io& io, Snapshot& s)
{
    tables(io, s);
    source(io, s);
    io.list(s.devices, [&](DeviceTrace& d) { device(io, d); });
}

template <typename Io>
void CacheAccess::series(Io& io, Series& series, StateIndex states)
{
    if constexpr (!Io::reading) {
        const std::vector<Series::Change>& changes = series.m_data->changes;
        io.template computed<StateIndex>(changes.size(), [&](std::size_t i) { return changes[i].state; });
        io.template computed<std::int64_t>(changes.size(), [&](std::size_t i) { return changes[i].value; });
    } else {
        auto data = std::make_shared<Series::Data>();
        std::vector<Series::Change>& changes = data->changes;
        io.template computed<StateIndex>(
            [&](std::uint64_t count) {
                changes.resize(count);
                return true;
            },
            [&](std::size_t i, StateIndex state) { changes[i].state = state; });
        io.template computed<std::int64_t>([&](std::uint64_t count) { return count == changes.size(); },
            [&](std::size_t i, std::int64_t value) { changes[i].value = value; });
        series.m_data = std::move(data);
        if (!io.good() || !fits(series, states))
            return io.fail();
        series.build(states);
    }
}

/// A column that is mostly what is expected: only where it is not.
template <typename Io, typename T, typename Expected>
void CacheAccess::alike(Io& io, std::vector<T>& column, std::size_t rows, const Expected& expected)
{
    std::vector<std::uint32_t> places;
    std::vector<T> values;
    if constexpr (!Io::reading) {
        for (std::size_t i = 0; i < rows; ++i)
            if (column[i] != expected(i)) {
                places.push_back(static_cast<std::uint32_t>(i));
                values.push_back(column[i]);
            }
    }
    io.column(places);
    io.column(values);
    if constexpr (Io::reading) {
        if (places.size() != values.size()
            || std::ranges::any_of(places, [rows](std::uint32_t place) { return place >= rows; }))
            return io.fail();
        column.reserve(rows);
        for (std::size_t i = 0; i < rows; ++i)
            column.push_back(expected(i));
        for (std::size_t i = 0; i < places.size(); ++i)
            column[places[i]] = values[i];
    }
}

/// Events mostly repeat what is known of their allocation.
template <typename Io>
void CacheAccess::events(Io& io, EventColumns& e, const Timeline& t)
{
    io.column(e.action);
    const AllocationColumns& a = t.m_allocations;
    const auto& of = t.m_eventAllocation;
    if constexpr (Io::reading) {
        const bool known
            = std::ranges::all_of(of, [&](AllocationId id) { return !valid(id) || index(id) < a.count(); });
        if (of.size() != e.action.size() || !known)
            return io.fail();
    }
    const std::size_t rows = of.size();
    alike(io, e.address, rows, [&](std::size_t i) { return valid(of[i]) ? a.address[index(of[i])] : 0; });
    alike(io, e.size, rows,
        [&](std::size_t i) { return valid(of[i]) ? static_cast<std::int64_t>(a.size[index(of[i])]) : 0; });
    alike(io, e.stream, rows,
        [&](std::size_t i) { return valid(of[i]) ? a.stream[index(of[i])] : StreamId{}; });
    io.column(e.timeUs);
    io.column(e.stack);
    io.column(e.pool);
    io.column(e.userMetadata);
    io.column(e.compileContext);
    io.column(e.internalMetadata);
    io.column(e.category);
    io.column(e.forwardStack);
}

template <typename Io>
void CacheAccess::timeline(Io& io, Timeline& t)
{
    AllocationColumns& a = t.m_allocations;
    io.value(t.m_states);
    io.column(a.address);
    io.column(a.size);
    io.column(a.firstState);
    if constexpr (!Io::reading) {
        io.template computed<std::uint32_t>(
            a.count(), [&](std::size_t i) { return a.endState[i] - a.firstState[i]; });
        io.template computed<std::uint32_t>(
            a.count(), [&](std::size_t i) { return a.endState[i] - a.pendingState[i]; });
    } else {
        const auto sized = [&](std::vector<StateIndex>& column) {
            return [&](std::uint64_t count) {
                column.resize(count);
                return count == a.firstState.size();
            };
        };
        io.template computed<std::uint32_t>(sized(a.endState),
            [&](std::size_t i, std::uint32_t life) { a.endState[i] = a.firstState[i] + life; });
        io.template computed<std::uint32_t>(sized(a.pendingState),
            [&](std::size_t i, std::uint32_t wait) { a.pendingState[i] = a.endState[i] - wait; });
        if (!io.good() || a.endState.size() != a.firstState.size()
            || a.pendingState.size() != a.firstState.size())
            return io.fail();
    }
    io.column(a.stack);
    io.column(a.stream);
    io.column(a.pool);
    io.column(a.origin);
    if constexpr (Io::reading) {
        const std::size_t n = a.count();
        if (a.size.size() != n || a.firstState.size() != n || a.stack.size() != n || a.stream.size() != n
            || a.pool.size() != n || a.origin.size() != n)
            return io.fail();
    }

    // An allocation's first and last event, and the request before the last.
    if (t.m_states == 0)
        return io.fail();
    std::vector<AllocationId> expected(t.m_states - 1, AllocationId::none);
    for (std::uint32_t i = 0; i < a.count(); ++i) {
        const AllocationId id{i};
        const StateIndex first = a.firstState[i];
        const StateIndex last = a.endState[i];
        if (first > last || last > t.m_states)
            return io.fail();
        if (last < t.m_states && last > 1) {
            expected[last - 1] = id;
            const StateIndex request = std::min(a.pendingState[i], last - 1);
            if (request > 0)
                expected[request - 1] = id;
        }
        if (first > 0)
            expected[first - 1] = id;
    }
    alike(io, t.m_eventAllocation, expected.size(), [&](std::size_t i) { return expected[i]; });
    for (std::uint64_t* number :
        {&t.m_predating.freedInTrace, &t.m_predating.freedInTraceBytes, &t.m_predating.aliveAtEnd,
            &t.m_predating.aliveAtEndBytes, &t.m_irregular.reallocOfLive, &t.m_irregular.freeOfUnknown,
            &t.m_irregular.activeButFreed, &t.m_irregular.liveButInactive, &t.m_delayedFrees})
        io.value(*number);
    io.value(t.m_endsOnRequest);
    io.value(t.m_freesCarryAllocStack);
    io.value(t.m_completedOnly);
    series(io, t.m_requested, t.m_states);
    series(io, t.m_pending, t.m_states);
    io.list(t.m_annotations, [&](AnnotatedAllocation& each) {
        io.value(each.event);
        io.value(each.allocation);
    });
    for (Timeline::Oddity& oddity : t.m_oddities) {
        io.column(oddity.addresses);
        io.optional(oddity.firstEvent);
    }
    io.column(t.m_ends);
    io.list(t.m_checkpoints, [&](Timeline::Checkpoint& each) {
        io.value(each.state);
        io.value(each.begin);
    });
    io.column(t.m_checkpointLive);
}

template <typename Io>
void CacheAccess::segments(Io& io, SegmentHistory& h, StateIndex states)
{
    io.value(h.m_known);
    io.value(h.m_reservedKnown);
    io.value(h.m_hasEvents);
    io.value(h.m_endsEarly);
    io.value(h.m_misfits);
    io.value(h.m_sizeCheck.compared);
    io.value(h.m_sizeCheck.equal);
    io.value(h.m_largePage);
    std::int64_t unknown = h.m_unknownAtEnd;
    io.value(unknown);
    h.m_unknownAtEnd = unknown;
    series(io, h.m_reserved, states);
    series(io, h.m_allocated, states);
    series(io, h.m_waiting, states);
    io.column(h.m_waitFromStart);
    io.list(h.m_reservedByPool, [&](auto& each) {
        io.value(each.first);
        series(io, each.second, states);
    });
    io.list(h.m_ranges, [&](SegmentRange& r) {
        io.value(r.address);
        io.value(r.size);
        io.value(r.firstState);
        io.value(r.endState);
        io.value(r.since);
        io.value(r.id);
        io.value(r.stream);
        io.value(r.pool);
        io.value(r.kind);
        io.value(r.expandable);
    });
    io.list(h.m_checkpoints, [&](SegmentHistory::Checkpoint& each) {
        io.value(each.state);
        io.value(each.next);
        io.column(each.alive);
    });
    io.column(h.m_blockSize);
    io.column(h.m_blockSizeExact);
    io.column(h.m_segmentOf);
    io.list(h.m_endPieces, [&](Piece& p) {
        io.value(p.address);
        io.value(p.size);
        io.value(p.requested);
        io.value(p.allocation);
        io.value(p.kind);
        io.value(p.exactSize);
    });
    io.column(h.m_endFirst);
}

/// One curve of all is the same as the whole, and shares its memory.
template <typename Io, typename Key>
void CacheAccess::split(Io& io, std::vector<std::pair<Key, Series>>& all, const Series& whole)
{
    io.list(all, [&](auto& each) {
        io.value(each.first);
        bool same = each.second.m_data == whole.m_data;
        io.value(same);
        if (!same)
            series(io, each.second, whole.states());
        else if constexpr (Io::reading)
            each.second = whole;
    });
}

template <typename Io>
void CacheAccess::replay(Io& io, Replay& r, DeviceTrace& device, const Snapshot&)
{
    timeline(io, r.timeline);
    if constexpr (Io::reading)
        if (!io.good())
            return;
    events(io, device.events, r.timeline);
    segments(io, r.segments, r.timeline.m_states);
    split(io, r.requestedByStream, r.timeline.m_requested);
    split(io, r.requestedByPool, r.timeline.m_requested);
    io.list(r.quality, [&](QualityNote& n) { note(io, n); });
}

template void CacheAccess::file(PackedWriter&, Snapshot&);
template void CacheAccess::file(PackedReader&, Snapshot&);
template void CacheAccess::replay(PackedWriter&, Replay&, DeviceTrace&, const Snapshot&);
template void CacheAccess::replay(PackedReader&, Replay&, DeviceTrace&, const Snapshot&);

void CacheAccess::finish(Replay& r, const DeviceTrace& device)
{
    r.monotoneTimes = runningMaximum(device.events.timeUs);
}

} // namespace tidemark
