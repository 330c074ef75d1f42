// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/block_sizes.hpp"

#include <algorithm>
#include <map>

namespace tidemark {

namespace {

constexpr std::uint32_t noRange = 0xffffffffU;

/// The ranges that exist at the walk's state, found by address.
class RangeCursor {
public:
    RangeCursor(const std::vector<SegmentRange>& ranges, std::size_t addresses)
        : m_ranges(ranges)
        , m_last(addresses, noRange)
    {
        m_byEnd.resize(ranges.size());
        for (std::uint32_t i = 0; i < m_byEnd.size(); ++i)
            m_byEnd[i] = i;
        std::sort(m_byEnd.begin(), m_byEnd.end(),
            [&](std::uint32_t a, std::uint32_t b) { return ranges[a].endState < ranges[b].endState; });
    }

    void moveTo(StateIndex state)
    {
        for (; m_nextEnd < m_byEnd.size() && m_ranges[m_byEnd[m_nextEnd]].endState <= state; ++m_nextEnd) {
            const std::uint32_t gone = m_byEnd[m_nextEnd];
            const auto [from, to] = m_open.equal_range(m_ranges[gone].address);
            const auto it = std::find_if(from, to, [&](const auto& entry) { return entry.second == gone; });
            if (it != to)
                m_open.erase(it);
        }
        for (; m_nextFirst < m_ranges.size() && m_ranges[m_nextFirst].firstState <= state; ++m_nextFirst) {
            if (m_ranges[m_nextFirst].endState > state)
                m_open.emplace(m_ranges[m_nextFirst].address, m_nextFirst);
        }
        m_state = state;
    }

    /// The range that holds an address, or null. The same address mostly asks for the same range again.
    const SegmentRange* find(std::uint32_t rank, std::uint64_t address)
    {
        if (m_last[rank] != noRange) {
            const SegmentRange& last = m_ranges[m_last[rank]];
            if (last.firstState <= m_state && m_state < last.endState)
                return &last;
        }
        auto it = m_open.upper_bound(address);
        for (int tries = 0; it != m_open.begin() && tries < 4; ++tries) {
            --it;
            const SegmentRange& r = m_ranges[it->second];
            if (address < endOf(r.address, r.size)) {
                m_last[rank] = it->second;
                return &r;
            }
        }
        return nullptr;
    }

private:
    const std::vector<SegmentRange>& m_ranges;
    std::vector<std::uint32_t> m_last;
    std::vector<std::uint32_t> m_byEnd;
    std::size_t m_nextEnd = 0;
    std::uint32_t m_nextFirst = 0;
    StateIndex m_state = 0;
    std::multimap<std::uint64_t, std::uint32_t> m_open;
};

/// Walks the trace forwards with all live blocks in address order.
class SizeWalk {
public:
    SizeWalk(BlockSizes& sizes, const Timeline& timeline, const AddressRanks& ranks,
        const std::vector<SegmentRange>& ranges, const BlockRules& rules)
        : m_sizes(sizes)
        , m_allocations(timeline.allocations())
        , m_ranks(ranks)
        , m_rules(rules)
        , m_cursor(ranges, ranks.addresses.size())
        , m_live(static_cast<std::uint32_t>(ranks.addresses.size()))
        , m_owner(ranks.addresses.size(), 0)
    { }

    void moveTo(StateIndex state) { m_cursor.moveTo(state); }

    /// Predating blocks are all there at once, so that each sees its neighbours.
    void begin()
    {
        m_cursor.moveTo(0);
        std::uint32_t count = 0;
        while (count < m_allocations.count() && m_allocations.firstState[count] == 0)
            m_live.insert(m_ranks.rankOf[count++]);
        for (std::uint32_t i = 0; i < count; ++i)
            m_owner[m_ranks.rankOf[i]] = i;
        for (std::uint32_t i = 0; i < count; ++i)
            measure(i, false);
    }

    void place(AllocationId id)
    {
        const auto i = static_cast<std::uint32_t>(index(id));
        const std::uint32_t rank = m_ranks.rankOf[i];
        m_live.insert(rank);
        m_owner[rank] = i;
        correctBefore(rank, measure(i, true));
    }

    void remove(AllocationId id)
    {
        const auto i = static_cast<std::uint32_t>(index(id));
        if (m_owner[m_ranks.rankOf[i]] == i)
            m_live.erase(m_ranks.rankOf[i]);
    }

private:
    /// Returns the range the block lies in, or null.
    const SegmentRange* measure(std::uint32_t i, bool traced)
    {
        const std::uint32_t rank = m_ranks.rankOf[i];
        const std::uint64_t address = m_allocations.address[i];
        const SegmentRange* range = m_cursor.find(rank, address);
        std::uint64_t size = m_rules.roundSize(m_allocations.size[i]);
        if (range)
            m_sizes.segment[i] = range->id;
        if (range && size > 0) {
            std::uint64_t room = endOf(range->address, range->size) - address;
            if (const std::uint32_t next = m_live.after(rank); next != BitTree::none)
                room = std::min(room, m_ranks.addresses[next] - address);
            if (room <= size || room - size <= largestRest(size, *range))
                size = room;
        }
        if (m_sizes.exact[i] == 0) {
            m_sizes.size[i] = size;
        } else if (traced) {
            ++m_sizes.compared;
            m_sizes.equal += size == m_sizes.size[i];
        }
        return range;
    }

    std::uint64_t largestRest(std::uint64_t size, const SegmentRange& range) const
    {
        return m_rules.largestRest(size, range.kind, !range.expandable);
    }

    /// What a new block's address tells of its left neighbour: one that would reach into the block is shorter
    /// than inferred, and a gap too small for a free block is that neighbour's rest.
    void correctBefore(std::uint32_t rank, const SegmentRange* range)
    {
        const std::uint32_t left = m_live.before(rank);
        if (left == BitTree::none)
            return;
        const std::uint32_t i = m_owner[left];
        const std::uint64_t room = m_ranks.addresses[rank] - m_ranks.addresses[left];
        std::uint64_t& size = m_sizes.size[i];
        if (m_sizes.exact[i] != 0 || size == 0 || size == room)
            return;
        const bool sameRange = range && m_ranks.addresses[left] >= range->address;
        if (size > room || (sameRange && room - size <= largestRest(size, *range)))
            size = room;
    }

    BlockSizes& m_sizes;
    const AllocationColumns& m_allocations;
    const AddressRanks& m_ranks;
    const BlockRules& m_rules;
    RangeCursor m_cursor;
    BitTree m_live;
    std::vector<std::uint32_t> m_owner;
};

} // namespace

bool BlockSizes::infer(const DeviceTrace& device, const Timeline& timeline, const AddressRanks& ranks,
    const std::vector<SegmentRange>& ranges, const BlockRules& rules, const Job& job)
{
    SizeWalk walk(*this, timeline, ranks, ranges, rules);
    walk.begin();
    const AllocationColumns& allocations = timeline.allocations();
    for (std::uint32_t event = 0; event < device.events.count(); ++event) {
        if (event % pollInterval == 0 && job.stopped())
            return false;
        const StateIndex state = event + 1;
        if (reserving(device.events.action[event]) != 0) {
            walk.moveTo(state);
            continue;
        }
        const AllocationId id = timeline.allocationOf(static_cast<EventIndex>(event));
        if (!valid(id))
            continue;
        if (allocations.firstState[index(id)] == state)
            walk.place(id);
        else if (allocations.endState[index(id)] == state)
            walk.remove(id);
    }
    return true;
}

} // namespace tidemark
