// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/toy_allocator.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <tuple>

namespace tidemark::test {

namespace {

constexpr std::uint64_t kib = 1ULL << 10;
constexpr std::uint64_t mib = 1ULL << 20;

struct Class {
    std::int64_t stream = 0;
    int pool = 0;
    bool small = false;
    auto operator<=>(const Class&) const = default;
};

struct Cell {
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    BlockState state = BlockState::Inactive;
    bool mapped = true;
    /// Segment or reservation it belongs to: blocks of different ones never merge.
    std::uint64_t base = 0;
    bool expandable = false;
    Class cls;
};

class Toy {
public:
    explicit Toy(const ToyWish& wish)
        : m_wish(wish)
        , m_random(wish.seed)
    { }

    ToyRun run()
    {
        std::vector<ToyState> states{state()};
        m_after = [&] { states.push_back(state()); };
        for (std::uint32_t i = 0; i < m_wish.steps; ++i)
            step();
        const std::size_t skip = std::min<std::size_t>(m_wish.skip, m_rows.size());
        states.erase(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(skip));
        return {snapshot(skip, states.back()), std::move(states)};
    }

private:
    std::uint64_t below(std::uint64_t n)
    {
        return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(m_random);
    }

    std::uint64_t rounded(std::uint64_t request) const
    {
        const std::uint64_t size = request + m_wish.padding;
        if (size < 512)
            return 512;
        if (m_wish.divisions > 1 && size > 512ULL * m_wish.divisions && !std::has_single_bit(size)) {
            const std::uint64_t part = std::bit_floor(size) / m_wish.divisions;
            return (size + part - 1) / part * part;
        }
        return m_wish.divisions > 1 && std::has_single_bit(size) ? size : (size + 511) / 512 * 512;
    }

    void emit(Action action, std::uint64_t address, std::uint64_t size, const Class& cls)
    {
        EventRow row;
        row.action = action;
        row.address = address;
        row.size = static_cast<std::int64_t>(size);
        row.hasSize = true;
        row.stream = cls.stream;
        row.timeUs = 1000 + static_cast<std::int64_t>(m_rows.size() / 3);
        if (m_wish.poolOnEvents)
            row.pool = static_cast<PoolId>(cls.pool);
        m_rows.push_back(row);
        if (m_after)
            m_after();
    }

    void step()
    {
        const std::uint64_t dice = below(100);
        if (dice < 55 || m_live.empty()) {
            Class cls;
            cls.stream = m_wish.streams ? static_cast<std::int64_t>(below(2) * 7) : 0;
            cls.pool = m_wish.pools ? static_cast<int>(below(3) / 2) : 0;
            allocate(randomSize(), cls);
        } else if (dice < 95) {
            const std::size_t i = below(m_live.size());
            const std::uint64_t address = m_live[i];
            m_live.erase(m_live.begin() + static_cast<std::ptrdiff_t>(i));
            request(address);
            if (below(4) == 0)
                m_waiting.push_back(address);
            else
                complete(address);
        } else if (dice < 98) {
            poll();
        } else {
            emptyCache();
        }
    }

    std::uint64_t randomSize()
    {
        // Tensors are mostly multiples of 512 bytes: only such sizes show a padding.
        const std::uint64_t size = anySize();
        return below(2) == 0 ? (size + 511) / 512 * 512 : size;
    }

    std::uint64_t anySize()
    {
        switch (below(4)) {
        case 0:
            return 1 + below(5000);
        case 1:
            return 1 + below(mib);
        case 2:
            return mib + 1 + below(11 * mib);
        default:
            return mib + below(60 * mib);
        }
    }

    void poll()
    {
        for (const std::uint64_t address : std::exchange(m_waiting, {}))
            complete(address);
    }

    void allocate(std::uint64_t request, Class cls)
    {
        const std::uint64_t size = rounded(request);
        cls.small = size <= mib;
        std::optional<std::uint64_t> at = find(size, cls);
        if (!at)
            at = m_wish.expandable ? grow(size, cls) : reserve(size, cls);
        Cell& cell = m_cells.at(*at);
        const std::uint64_t rest = cell.size - size;
        const bool split = cls.small || cell.expandable
            ? rest >= 512
            : (m_wish.maxSplit == 0 || size < m_wish.maxSplit) && rest > mib;
        if (split) {
            Cell tail = cell;
            tail.size = rest;
            m_cells[*at + size] = tail;
            cell.size = size;
        }
        cell.state = BlockState::Allocated;
        cell.requested = request;
        m_live.push_back(*at);
        emit(Action::Alloc, *at, request, cls);
    }

    std::optional<std::uint64_t> find(std::uint64_t size, const Class& cls) const
    {
        std::optional<std::tuple<std::uint64_t, std::uint64_t>> best;
        for (const auto& [address, cell] : m_cells) {
            if (cell.cls != cls || cell.state != BlockState::Inactive || !cell.mapped || cell.size < size)
                continue;
            const bool oversize
                = m_wish.maxSplit != 0 && cell.size >= m_wish.maxSplit && size < m_wish.maxSplit;
            const bool tooLarge
                = m_wish.maxSplit != 0 && size >= m_wish.maxSplit && cell.size >= size + 20 * mib;
            if (!oversize && !tooLarge && (!best || std::tuple(cell.size, address) < *best))
                best = {cell.size, address};
        }
        return best ? std::optional(std::get<1>(*best)) : std::nullopt;
    }

    std::uint64_t reserve(std::uint64_t size, const Class& cls)
    {
        std::uint64_t bytes = 2 * mib;
        if (!cls.small)
            bytes = size < 10 * mib ? 20 * mib : (size + 2 * mib - 1) / (2 * mib) * (2 * mib);
        // Sometimes right behind the last one: neighbours that must not be mixed up.
        const std::uint64_t address = m_top += below(2) * 2 * mib;
        m_top += bytes;
        Cell cell;
        cell.size = bytes;
        cell.base = address;
        cell.cls = cls;
        m_cells[address] = cell;
        emit(Action::SegmentAlloc, address, bytes, cls);
        return address;
    }

    std::uint64_t grow(std::uint64_t size, const Class& cls)
    {
        const std::uint64_t page = cls.small ? 2 * mib : 20 * mib;
        if (m_reservations.count(cls) == 0) {
            const std::uint64_t base = 0x7000000000ULL + m_reservations.size() * (1ULL << 38);
            m_reservations[cls] = base;
            Cell tail;
            tail.size = 1ULL << 37;
            tail.mapped = false;
            tail.expandable = true;
            tail.base = base;
            tail.cls = cls;
            m_cells[base] = tail;
        }
        // Lowest place where free memory and unmapped space behind it are large enough together.
        for (auto it = m_cells.begin();; ++it) {
            if (it->second.cls != cls || it->second.state != BlockState::Inactive)
                continue;
            std::uint64_t start = it->first;
            std::uint64_t free = it->second.mapped ? it->second.size : 0;
            auto hole = it->second.mapped ? std::next(it) : it;
            if (hole == m_cells.end() || hole->second.mapped || hole->second.cls != cls
                || free + hole->second.size < size)
                continue;
            const std::uint64_t need = (size - free + page - 1) / page * page;
            if (need > hole->second.size)
                continue;
            const std::uint64_t at = hole->first;
            Cell tail = hole->second;
            tail.size -= need;
            if (tail.size > 0)
                m_cells[at + need] = tail;
            hole->second.size = need;
            hole->second.mapped = true;
            merge(at);
            emit(Action::SegmentMap, at, need, cls);
            return start;
        }
    }

    void request(std::uint64_t address)
    {
        Cell& cell = m_cells.at(address);
        cell.state = BlockState::Pending;
        emit(Action::FreeRequested, address, cell.requested, cell.cls);
    }

    void complete(std::uint64_t address)
    {
        Cell& cell = m_cells.at(address);
        const Class cls = cell.cls;
        const std::uint64_t requested = cell.requested;
        cell.state = BlockState::Inactive;
        cell.requested = 0;
        merge(address);
        emit(Action::FreeCompleted, address, requested, cls);
    }

    void merge(std::uint64_t address)
    {
        const auto fits = [](const Cell& a, const Cell& b) {
            return a.base == b.base && a.mapped == b.mapped && a.state == BlockState::Inactive
                && b.state == BlockState::Inactive;
        };
        auto it = m_cells.find(address);
        if (const auto right = std::next(it); right != m_cells.end() && fits(it->second, right->second)) {
            it->second.size += right->second.size;
            m_cells.erase(right);
        }
        if (it != m_cells.begin()) {
            const auto left = std::prev(it);
            if (fits(left->second, it->second)) {
                left->second.size += it->second.size;
                m_cells.erase(it);
            }
        }
    }

    void emptyCache()
    {
        poll();
        std::vector<std::uint64_t> addresses;
        for (const auto& entry : m_cells)
            addresses.push_back(entry.first);
        for (const std::uint64_t address : addresses) {
            const auto it = m_cells.find(address);
            if (it == m_cells.end() || it->second.state != BlockState::Inactive || !it->second.mapped)
                continue;
            const Cell cell = it->second;
            if (cell.expandable) {
                unmap(address, cell);
            } else if (whole(it)) {
                m_cells.erase(it);
                emit(Action::SegmentFree, address, cell.size, cell.cls);
            }
        }
    }

    bool whole(std::map<std::uint64_t, Cell>::iterator it) const
    {
        const auto next = std::next(it);
        return (it == m_cells.begin() || std::prev(it)->second.base != it->second.base)
            && (next == m_cells.end() || next->second.base != it->second.base);
    }

    void unmap(std::uint64_t address, const Cell& cell)
    {
        const std::uint64_t page = cell.cls.small ? 2 * mib : 20 * mib;
        const std::uint64_t from = cell.base + (address - cell.base + page - 1) / page * page;
        const std::uint64_t to = cell.base + (address + cell.size - cell.base) / page * page;
        if (from >= to)
            return;
        Cell part = cell;
        if (from > address)
            m_cells.at(address).size = from - address;
        part.mapped = false;
        part.size = to - from;
        m_cells[from] = part;
        if (address + cell.size > to) {
            part.mapped = true;
            part.size = address + cell.size - to;
            m_cells[to] = part;
        }
        merge(from);
        emit(Action::SegmentUnmap, from, to - from, cell.cls);
    }

    ToyState state() const
    {
        ToyState result;
        std::uint64_t end = 0;
        std::uint64_t base = 0;
        for (const auto& [address, cell] : m_cells) {
            if (!cell.mapped)
                continue;
            if (result.empty() || address != end || cell.base != base) {
                ToySegment s;
                s.address = address;
                s.stream = cell.cls.stream;
                s.pool = cell.cls.pool;
                s.small = cell.cls.small;
                s.expandable = cell.expandable;
                result.push_back(s);
            }
            result.back().blocks.push_back({address, cell.size, cell.requested, cell.state});
            result.back().size += cell.size;
            end = address + cell.size;
            base = cell.base;
        }
        return result;
    }

    std::shared_ptr<const Snapshot> snapshot(std::size_t skip, const ToyState& last) const
    {
        SnapshotBuilder builder;
        builder.pool(0, 0);
        builder.pool(0, 1);
        if (m_wish.maxSplit != 0)
            builder.addSetting("max_split_size", static_cast<std::int64_t>(m_wish.maxSplit));
        for (int c = 0; m_wish.divisions != 0 && c < 16; ++c)
            builder.addSetting("roundup_power2_divisions." + std::to_string(1 << c),
                static_cast<std::int64_t>(m_wish.divisions));
        EventBuffer events;
        for (std::size_t i = skip; i < m_rows.size(); ++i)
            builder.append(events, m_rows[i]);
        builder.addTrace(0, std::move(events));
        for (const ToySegment& s : last) {
            const StreamId stream = builder.stream(s.stream);
            DeviceTrace& device = builder.device(0);
            Segment segment;
            segment.address = s.address;
            segment.totalSize = static_cast<std::int64_t>(s.size);
            segment.stream = stream;
            segment.pool = static_cast<PoolId>(s.pool);
            segment.kind = s.small ? SegmentKind::Small : SegmentKind::Large;
            segment.expandable = s.expandable;
            segment.firstBlock = static_cast<std::uint32_t>(device.blocks.size());
            segment.blockCount = static_cast<std::uint32_t>(s.blocks.size());
            for (const ToyBlock& b : s.blocks) {
                Block block;
                block.address = b.address;
                block.size = static_cast<std::int64_t>(b.size);
                block.requested = static_cast<std::int64_t>(b.requested);
                block.state = b.state;
                device.blocks.push_back(block);
            }
            device.segments.push_back(segment);
        }
        builder.device(0).hasSegments = true;
        return builder.finish();
    }

    ToyWish m_wish;
    std::mt19937_64 m_random;
    std::map<std::uint64_t, Cell> m_cells;
    std::map<Class, std::uint64_t> m_reservations;
    std::vector<std::uint64_t> m_live;
    std::vector<std::uint64_t> m_waiting;
    std::vector<EventRow> m_rows;
    std::function<void()> m_after;
    std::uint64_t m_top = 0x100000000ULL;
};

} // namespace

ToyRun toyRun(const ToyWish& wish)
{
    return Toy(wish).run();
}

} // namespace tidemark::test
