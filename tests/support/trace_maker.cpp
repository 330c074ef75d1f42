// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/trace_maker.hpp"

#include <charconv>
#include <map>
#include <random>
#include <vector>

namespace tidemark::test {

StackId TraceMaker::stack(std::initializer_list<std::string_view> frames)
{
    std::vector<FrameId> ids;
    for (const std::string_view text : frames) {
        const std::size_t at = text.find('@');
        const std::size_t colon = text.rfind(':');
        Frame frame;
        frame.name = m_builder.strings().intern(text.substr(0, at));
        if (at == std::string_view::npos) {
            frame.file = m_builder.strings().intern("");
        } else {
            frame.file = m_builder.strings().intern(text.substr(at + 1, colon - at - 1));
            std::from_chars(text.data() + colon + 1, text.data() + text.size(), frame.line);
        }
        ids.push_back(m_builder.frames().intern(frame));
    }
    return m_builder.stacks().intern(ids);
}

void TraceMaker::flush()
{
    if (m_open)
        m_builder.append(m_events, m_row);
    m_open = false;
}

EventRow& TraceMaker::event(Action action, std::uint64_t address, std::int64_t size, StackId stack)
{
    flush();
    m_row = {};
    m_row.action = action;
    m_row.address = address;
    m_row.size = size;
    m_row.hasSize = true;
    m_row.stream = m_stream;
    m_row.timeUs = m_timeUs;
    m_row.stack = stack;
    m_row.pool = m_pool;
    m_open = true;
    return m_row;
}

void TraceMaker::segment(std::uint64_t address, std::int64_t size, PoolId pool, std::int64_t stream)
{
    DeviceTrace& device = m_builder.device(m_ordinal);
    device.hasSegments = true;
    Segment segment;
    segment.address = address;
    segment.totalSize = size;
    segment.pool = pool;
    segment.stream = m_builder.stream(stream);
    segment.kind = SegmentKind::Large;
    segment.firstBlock = static_cast<std::uint32_t>(device.blocks.size());
    device.segments.push_back(segment);
    m_nextBlock = address;
}

void TraceMaker::holedSegment(
    std::int64_t address, std::int64_t size, std::int64_t live, PoolId pool, std::int64_t stream)
{
    constexpr std::int64_t mib = 1LL << 20;
    segment(0x7f0000000000 + static_cast<std::uint64_t>(address * mib), size * mib, pool, stream);
    if (live > 0)
        block(BlockState::Allocated, live * mib, live * mib);
    block(BlockState::Inactive, (size - live) * mib, 0);
}

void TraceMaker::block(BlockState state, std::int64_t size, std::int64_t requested, StackId stack)
{
    DeviceTrace& device = m_builder.device(m_ordinal);
    Block block;
    block.address = m_nextBlock;
    block.size = size;
    block.requested = requested;
    block.state = state;
    block.stack = stack;
    device.blocks.push_back(block);
    ++device.segments.back().blockCount;
    m_nextBlock += static_cast<std::uint64_t>(size);
}

std::shared_ptr<const Snapshot> TraceMaker::finish()
{
    flush();
    m_builder.addTrace(m_ordinal, std::move(m_events));
    return m_builder.finish();
}

namespace {

/// Plays a program with a flawed recorder: remembers what lives so that most events make sense.
class RandomProgram {
public:
    explicit RandomProgram(const RandomTrace& wish)
        : m_wish(wish)
        , m_random(wish.seed)
    { }

    std::shared_ptr<const Snapshot> play()
    {
        // Some addresses are alive before the first event.
        for (std::uint32_t i = 0; i < m_wish.addresses / 3; ++i)
            m_live[address(pick(m_wish.addresses))] = 512 * (1 + pick(2000));
        for (std::uint32_t i = 0; i < m_wish.events; ++i)
            step();
        if (m_wish.segments)
            endState();
        return m_maker.finish();
    }

private:
    std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(m_random() % count); }
    bool chance(std::uint32_t percent) { return pick(100) < percent; }
    static std::uint64_t address(std::uint32_t slot) { return 0x7f0000000000ULL + slot * 0x4000000ULL; }

    std::int64_t size()
    {
        if (m_wish.irregular && chance(3))
            return chance(50) ? -1 : 0;
        return 1 + pick(1000000);
    }

    void step()
    {
        m_maker.setTime(1790000000000000 + 7 * ++m_time);
        m_maker.setStream(chance(20) ? 7 : 0);
        const std::uint64_t where = address(pick(m_wish.addresses));
        const auto found = m_live.find(where);
        if (chance(5)) {
            m_maker.event(chance(50) ? Action::Snapshot : Action::SegmentAlloc, where, 0);
        } else if (found == m_live.end()) {
            if (m_wish.irregular && chance(5)) {
                release(where, size());
                return;
            }
            m_live[where] = size();
            m_maker.alloc(where, m_live[where]);
        } else if (m_wish.irregular && chance(4)) {
            found->second = size();
            m_maker.alloc(where, found->second);
        } else if (m_waiting.count(where) != 0) {
            m_waiting.erase(where);
            m_maker.complete(where, found->second);
            m_live.erase(found);
        } else if (!m_wish.skipCompletions && !m_wish.skipRequests && chance(25)) {
            m_waiting[where] = true;
            m_maker.request(where, found->second);
        } else {
            release(where, found->second);
            m_live.erase(found);
        }
    }

    void release(std::uint64_t where, std::int64_t bytes)
    {
        if (!m_wish.skipRequests)
            m_maker.request(where, bytes);
        if (!m_wish.skipCompletions)
            m_maker.complete(where, bytes);
    }

    void endState()
    {
        for (std::uint32_t slot = 0; slot < m_wish.addresses + 3; ++slot) {
            const std::uint64_t where = address(slot);
            m_maker.segment(where, 0x4000000);
            const auto found = m_live.find(where);
            const bool unknown = slot >= m_wish.addresses;
            bool active = found != m_live.end() || unknown;
            if (m_wish.irregular && chance(6))
                active = !active;
            if (!active) {
                m_maker.block(BlockState::Inactive, 0x4000000, 0);
                continue;
            }
            const std::int64_t bytes = found != m_live.end() && found->second > 0 ? found->second : 4096;
            const bool waits = m_waiting.count(where) != 0;
            m_maker.block(waits ? BlockState::Pending : BlockState::Allocated, 0x200000, bytes);
            m_maker.block(BlockState::Inactive, 0x4000000 - 0x200000, 0);
        }
    }

    RandomTrace m_wish;
    std::mt19937_64 m_random;
    TraceMaker m_maker;
    std::map<std::uint64_t, std::int64_t> m_live;
    std::map<std::uint64_t, bool> m_waiting;
    std::int64_t m_time = 0;
};

} // namespace

std::shared_ptr<const Snapshot> randomTrace(const RandomTrace& wish)
{
    return RandomProgram(wish).play();
}

std::shared_ptr<const Snapshot> randomSegments(std::uint64_t seed)
{
    constexpr std::uint64_t arena = 0x700000000000ULL;
    constexpr std::uint64_t page = 2U << 20;
    constexpr std::uint64_t unit = page / 4;
    constexpr std::uint64_t pages = 24;
    std::mt19937_64 random(seed);
    const auto pick = [&random](std::uint64_t count) { return random() % count; };
    TraceMaker t;
    const PoolId pools[] = {PoolId{0}, t.builder().pool(0, 1)};
    static constexpr Action reserving[]
        = {Action::SegmentAlloc, Action::SegmentFree, Action::SegmentMap, Action::SegmentUnmap};
    std::map<std::uint64_t, std::int64_t> live;
    for (int i = 0; i < 160; ++i) {
        t.setStream(pick(4) == 0 ? 7 : 0);
        t.setPool(seed % 3 == 0 ? pools[pick(2)] : PoolId::none);
        if (pick(10) < 4) {
            t.event(reserving[pick(4)], arena + pick(pages) * page,
                static_cast<std::int64_t>((1 + pick(6)) * page));
            continue;
        }
        const std::uint64_t where = arena + pick(pages * 4) * unit;
        const auto found = live.find(where);
        if (found == live.end() && pick(20) != 0) {
            live[where] = static_cast<std::int64_t>(1 + pick(3 * unit));
            t.alloc(where, live[where]);
        } else if (found == live.end()) {
            t.free(where, static_cast<std::int64_t>(unit)); // older than the trace
        } else if (pick(3) == 0) {
            t.request(where, found->second);
        } else {
            t.free(where, found->second);
            live.erase(found);
        }
    }
    for (std::uint64_t at = 0; at < pages * page;) {
        if (pick(3) == 0) {
            at += page;
            continue;
        }
        const std::uint64_t size = (1 + pick(5)) * page;
        t.segment(arena + at, static_cast<std::int64_t>(size), pools[pick(2)], pick(2) == 0 ? 7 : 0);
        t.builder().device(0).segments.back().expandable = pick(2) == 0;
        for (std::uint64_t used = 0; used < size;) {
            static constexpr BlockState states[]
                = {BlockState::Allocated, BlockState::Inactive, BlockState::Inactive, BlockState::Unknown};
            const std::uint64_t block = std::min(size - used, (1 + pick(8)) * unit / 2);
            t.block(states[pick(4)], static_cast<std::int64_t>(block), static_cast<std::int64_t>(block - 1));
            used += block;
        }
        at += size;
    }
    if (seed % 2 == 0) {
        t.segment(arena - 16 * page, static_cast<std::int64_t>(page));
        t.block(BlockState::Pending, static_cast<std::int64_t>(page), static_cast<std::int64_t>(unit));
    }
    return t.finish();
}

} // namespace tidemark::test
