// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/segment_ranges.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace tidemark {

namespace {

constexpr std::uint32_t noRange = 0xffffffffU;

/// Moves the set of reserved ranges backwards through the trace. A range is open while its first state is not
/// known yet.
class Rewind {
public:
    Rewind(const DeviceTrace& device, const SegmentRanges::KindOfRange& kindOfRange, std::uint64_t largePage)
        : m_device(device)
        , m_kindOfRange(kindOfRange)
        , m_largePage(largePage)
        , m_states(static_cast<StateIndex>(device.events.count() + 1))
    {
        for (const Segment& s : device.segments) {
            SegmentRange r;
            r.address = s.address;
            r.size = sane(s.totalSize);
            r.stream = s.stream;
            r.pool = valid(s.pool) ? s.pool : PoolId{};
            r.kind = s.kind;
            r.expandable = s.expandable;
            open(r, m_states, noRange);
        }
    }

    void undo(std::size_t event)
    {
        const std::uint64_t address = m_device.events.address[event];
        const std::uint64_t size = sane(m_device.events.size[event]);
        if (size == 0)
            return;
        const auto state = static_cast<StateIndex>(event + 1);
        switch (m_device.events.action[event]) {
        case Action::SegmentAlloc:
            return undoAlloc(address, size, state);
        case Action::SegmentMap:
            return undoMap(address, size, state);
        case Action::SegmentFree:
            return add(event, address, size, state, false);
        case Action::SegmentUnmap:
            return add(event, address, size, state, true);
        default:
            return;
        }
    }

    /// Closes what is still open at the start and puts all in order.
    SegmentRanges finish()
    {
        for (const auto& [address, i] : m_open)
            m_ranges[i].firstState = 0;
        std::vector<std::uint32_t> order(m_ranges.size());
        for (std::uint32_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
            const SegmentRange& left = m_ranges[a];
            const SegmentRange& right = m_ranges[b];
            return std::tuple(left.firstState, left.address, left.id)
                < std::tuple(right.firstState, right.address, right.id);
        });
        SegmentRanges result;
        result.misfits = m_misfits;
        result.ranges.reserve(order.size());
        for (const std::uint32_t i : order) {
            SegmentRange& r = m_ranges[i];
            r.since = r.firstState;
            for (const std::uint32_t older : m_older[i]) {
                if (older != noRange)
                    r.since = std::min(r.since, m_ranges[older].since);
            }
            if (r.kind == SegmentKind::Unknown && r.expandable)
                r.kind = r.size % m_largePage == 0 ? SegmentKind::Large : SegmentKind::Small;
            // Ranges that begin and end in one state never were: several events undone at the same place.
            if (r.firstState < r.endState)
                result.ranges.push_back(r);
        }
        return result;
    }

private:
    using Open = std::multimap<std::uint64_t, std::uint32_t>;

    /// A range whose last state is before `endState`; `newer` is the range it became there.
    std::uint32_t open(SegmentRange range, StateIndex endState, std::uint32_t newer, bool keepId = false)
    {
        const auto i = static_cast<std::uint32_t>(m_ranges.size());
        if (!keepId)
            range.id = static_cast<SegmentId>(m_nextId++);
        range.endState = endState;
        m_ranges.push_back(range);
        m_older.push_back({noRange, noRange});
        m_open.emplace(range.address, i);
        if (newer != noRange)
            link(newer, i);
        return i;
    }

    void link(std::uint32_t newer, std::uint32_t older)
    {
        auto& slots = m_older[newer];
        (slots[0] == noRange ? slots[0] : slots[1]) = older;
    }

    /// The open range that contains an address.
    Open::iterator find(std::uint64_t address)
    {
        auto it = m_open.upper_bound(address);
        // Segments of a damaged file may overlap, so the nearest start is not always the right one.
        for (int tries = 0; it != m_open.begin() && tries < 4; ++tries) {
            --it;
            const SegmentRange& r = m_ranges[it->second];
            if (address < endOf(r.address, r.size))
                return it;
        }
        return m_open.end();
    }

    void undoAlloc(std::uint64_t address, std::uint64_t size, StateIndex state)
    {
        const auto [from, to] = m_open.equal_range(address);
        const auto exact = std::find_if(from, to, [&](const auto& entry) {
            return m_ranges[entry.second].size == size && !m_ranges[entry.second].expandable;
        });
        if (exact == to) {
            ++m_misfits;
            // Another size at the same address: the segment is this one all the same.
            if (from == to)
                return;
            m_ranges[from->second].firstState = state;
            m_open.erase(from);
            return;
        }
        m_ranges[exact->second].firstState = state;
        m_open.erase(exact);
    }

    void undoMap(std::uint64_t address, std::uint64_t size, StateIndex state)
    {
        const std::uint64_t end = endOf(address, size);
        std::uint64_t found = 0;
        auto it = find(address);
        if (it == m_open.end())
            it = m_open.lower_bound(address);
        while (it != m_open.end() && it->first < end) {
            const std::uint32_t i = it->second;
            const SegmentRange whole = m_ranges[i];
            const std::uint64_t wholeEnd = endOf(whole.address, whole.size);
            const std::uint64_t from = std::max(address, whole.address);
            const std::uint64_t to = std::min(end, wholeEnd);
            if (from >= to) {
                ++it;
                continue;
            }
            found += to - from;
            m_ranges[i].firstState = state;
            m_open.erase(it);
            SegmentRange part = whole;
            part.size = from - whole.address;
            if (part.size > 0)
                open(part, state, i, true);
            const bool leftLives = part.size > 0;
            part.address = to;
            part.size = wholeEnd - to;
            if (part.size > 0)
                open(part, state, i, !leftLives);
            it = m_open.lower_bound(to);
        }
        m_misfits += found != size;
    }

    /// Undoes a release: the bytes that no open range covers were reserved before it.
    void add(std::size_t event, std::uint64_t address, std::uint64_t size, StateIndex state, bool expandable)
    {
        const std::uint64_t end = endOf(address, size);
        std::uint64_t at = address;
        if (const auto before = find(address); before != m_open.end()) {
            const SegmentRange& r = m_ranges[before->second];
            at = endOf(r.address, r.size);
            ++m_misfits;
        }
        while (at < end) {
            const auto next = m_open.lower_bound(at);
            const std::uint64_t stop = next == m_open.end() ? end : std::min(end, next->first);
            // Read before the piece is added: that may join it to the next range, which is then no more.
            std::uint64_t after = end;
            if (next != m_open.end()) {
                const SegmentRange& r = m_ranges[next->second];
                after = std::max(endOf(r.address, r.size), stop + 1);
            }
            if (stop > at)
                addPiece(event, at, stop - at, state, expandable);
            if (stop == end)
                break;
            ++m_misfits;
            at = after;
        }
    }

    void addPiece(
        std::size_t event, std::uint64_t address, std::uint64_t size, StateIndex state, bool expandable)
    {
        SegmentRange r;
        r.address = address;
        r.size = size;
        r.stream = m_device.events.stream[event];
        const bool poolKnown = !m_device.events.pool.empty() && valid(m_device.events.pool[event]);
        r.pool = poolKnown ? m_device.events.pool[event] : PoolId{};
        r.expandable = expandable;
        if (!expandable) {
            r.kind = size <= BlockRules::smallSegment ? SegmentKind::Small : SegmentKind::Large;
            open(r, state, noRange);
            return;
        }
        r.kind = m_kindOfRange ? m_kindOfRange(address, size) : SegmentKind::Unknown;
        mergeAndOpen(r, poolKnown, state);
    }

    /// Opens an expandable range together with its mapped neighbours of the same reservation.
    void mergeAndOpen(SegmentRange r, bool poolKnown, StateIndex state)
    {
        std::uint32_t joined[2] = {noRange, noRange};
        auto take = [&](Open::iterator it, std::uint32_t& slot) {
            const std::uint32_t i = it->second;
            const SegmentRange& n = m_ranges[i];
            const bool samePool = !poolKnown || n.pool == r.pool;
            const bool sameKind
                = r.kind == SegmentKind::Unknown || n.kind == SegmentKind::Unknown || n.kind == r.kind;
            if (!n.expandable || n.stream != r.stream || !samePool || !sameKind)
                return;
            poolKnown = true;
            r.pool = n.pool;
            if (r.kind == SegmentKind::Unknown)
                r.kind = n.kind;
            m_ranges[i].firstState = state;
            slot = i;
            m_open.erase(it);
        };
        if (r.address > 0) {
            const auto left = find(r.address - 1);
            if (left != m_open.end()
                && endOf(m_ranges[left->second].address, m_ranges[left->second].size) == r.address)
                take(left, joined[0]);
        }
        if (const auto right = m_open.find(endOf(r.address, r.size)); right != m_open.end())
            take(right, joined[1]);
        bool keepId = false;
        for (const std::uint32_t i : joined) {
            if (i == noRange)
                continue;
            r.id = keepId ? std::min(r.id, m_ranges[i].id) : m_ranges[i].id;
            r.address = std::min(r.address, m_ranges[i].address);
            r.size += m_ranges[i].size;
            keepId = true;
        }
        const std::uint32_t whole = open(r, state, noRange, keepId);
        for (const std::uint32_t i : joined) {
            if (i != noRange)
                link(i, whole);
        }
    }

    const DeviceTrace& m_device;
    const SegmentRanges::KindOfRange& m_kindOfRange;
    std::uint64_t m_largePage;
    StateIndex m_states;
    std::vector<SegmentRange> m_ranges;
    /// The ranges a range was made of, in the state before its first.
    std::vector<std::array<std::uint32_t, 2>> m_older;
    Open m_open;
    std::uint32_t m_nextId = 0;
    std::uint64_t m_misfits = 0;
};

} // namespace

Result<SegmentRanges> SegmentRanges::build(
    const DeviceTrace& device, const KindOfRange& kindOfRange, std::uint64_t largePage, const Job& job)
{
    Rewind rewind(device, kindOfRange, largePage);
    for (std::size_t i = device.events.count(); i-- > 0;) {
        if (i % pollInterval == 0 && job.stopped())
            return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
        if (reserving(device.events.action[i]) != 0)
            rewind.undo(i);
    }
    return rewind.finish();
}

std::vector<std::pair<PoolId, Series>> SegmentRanges::byPool(StateIndex states) const
{
    struct Step {
        PoolId pool;
        StateIndex state;
        std::int64_t bytes;
    };
    std::vector<Step> steps;
    steps.reserve(ranges.size() * 2);
    for (const SegmentRange& r : ranges) {
        steps.push_back({r.pool, r.firstState, static_cast<std::int64_t>(r.size)});
        if (r.endState < states)
            steps.push_back({r.pool, r.endState, -static_cast<std::int64_t>(r.size)});
    }
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
        return std::tuple(a.pool, a.state) < std::tuple(b.pool, b.state);
    });
    std::vector<std::pair<PoolId, Series>> pools;
    std::int64_t value = 0;
    for (std::size_t i = 0; i < steps.size();) {
        const Step first = steps[i];
        if (pools.empty() || pools.back().first != first.pool) {
            pools.emplace_back(first.pool, Series(0));
            value = 0;
        }
        for (; i < steps.size() && steps[i].pool == first.pool && steps[i].state == first.state; ++i)
            value += steps[i].bytes;
        pools.back().second.set(first.state, value);
    }
    for (auto& [pool, series] : pools)
        series.build(states);
    return pools;
}

} // namespace tidemark
