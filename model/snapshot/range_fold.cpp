// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/snapshot/range_fold.hpp"

#include "model/core/byte_sum.hpp"
#include "model/snapshot/builder.hpp"

#include <algorithm>
#include <unordered_set>

namespace tidemark {

namespace {

bool reserves(Action action)
{
    return action == Action::SegmentAlloc || action == Action::SegmentMap;
}

bool releases(Action action)
{
    return action == Action::SegmentFree || action == Action::SegmentUnmap;
}

void appendRow(EventColumns& to, const EventColumns& from, std::size_t row)
{
    to.action.push_back(from.action[row]);
    to.address.push_back(from.address[row]);
    to.size.push_back(from.size[row]);
    to.stream.push_back(from.stream[row]);
    to.timeUs.push_back(from.timeUs[row]);
    to.stack.push_back(from.stack[row]);
    to.pool.push_back(from.pool.empty() ? PoolId::none : from.pool[row]);
}

} // namespace

RangeFold::RangeFold()
    : m_entries(1024)
{ }

std::size_t RangeFold::slotOf(std::uint64_t address) const
{
    const std::size_t mask = m_entries.size() - 1;
    const std::uint64_t mixed = (address ^ (address >> 32U)) * 0x9e3779b97f4a7c15ULL;
    std::size_t slot = (mixed >> 32U) & mask;
    while (m_entries[slot].life != unused && m_entries[slot].address != address)
        slot = (slot + 1) & mask;
    return slot;
}

const RangeFold::Entry* RangeFold::find(std::uint64_t address) const
{
    const Entry& entry = m_entries[slotOf(address)];
    return entry.life == unused ? nullptr : &entry;
}

RangeFold::Entry& RangeFold::mention(std::uint64_t address, bool& isNew)
{
    std::size_t slot = slotOf(address);
    isNew = m_entries[slot].life == unused;
    if (!isNew)
        return m_entries[slot];
    if ((m_used + 1) * 2 > m_entries.size()) {
        grow();
        slot = slotOf(address);
    }
    ++m_used;
    m_entries[slot] = {address, notLive, m_where == Where::Before, false};
    return m_entries[slot];
}

void RangeFold::grow()
{
    std::vector<Entry> old(m_entries.size() * 2);
    old.swap(m_entries);
    for (const Entry& entry : old)
        if (entry.life != unused)
            m_entries[slotOf(entry.address)] = entry;
}

void RangeFold::start(Entry& entry, const EventColumns& rows, std::size_t row, bool allocated)
{
    Life life;
    life.number = m_nextNumber++;
    life.what.address = rows.address[row];
    life.what.size = rows.size[row];
    // The stack of a free says who freed, not who allocated.
    life.what.stack = allocated ? rows.stack[row] : StackId::none;
    life.what.stream = rows.stream[row];
    life.what.pool = rows.pool.empty() ? PoolId::none : rows.pool[row];
    life.what.allocSeen = allocated;
    if (m_freeLives.empty()) {
        entry.life = static_cast<std::uint32_t>(m_lives.size());
        m_lives.push_back(life);
    } else {
        entry.life = m_freeLives.back();
        m_freeLives.pop_back();
        m_lives[entry.life] = life;
    }
}

void RangeFold::end(Entry& entry)
{
    if (entry.life != notLive)
        m_freeLives.push_back(entry.life);
    entry.life = notLive;
}

void RangeFold::seeFree(const EventColumns& rows, std::size_t row, Action action)
{
    bool isNew = false;
    Entry& entry = mention(rows.address[row], isNew);
    if (isNew) {
        // Older than the trace; the range itself finds those that it frees.
        start(entry, rows, row, false);
        if (m_where == Where::After)
            m_late.push_back(m_lives[entry.life]);
    } else if (m_where == Where::Inside && entry.life == notLive && entry.namedBefore) {
        m_out.dead.push_back(entry.address);
    }
    entry.freeRequested |= action == Action::FreeRequested;
    if (action != Action::FreeRequested)
        end(entry);
    else if (entry.life != notLive && !m_lives[entry.life].what.waits) {
        m_lives[entry.life].what.waits = true;
        m_waitsSince = entry.address;
    }
}

void RangeFold::apply(const EventColumns& rows, std::size_t row)
{
    const Action action = rows.action[row];
    m_waitsSince.reset();
    switch (action) {
    case Action::Alloc: {
        bool isNew = false;
        Entry& entry = mention(rows.address[row], isNew);
        end(entry);
        start(entry, rows, row, true);
        break;
    }
    case Action::FreeRequested:
        m_requests = true;
        m_out.freeRequests |= m_where != Where::Inside;
        seeFree(rows, row, action);
        break;
    case Action::FreeCompleted:
    case Action::Free:
        m_completions = true;
        seeFree(rows, row, action);
        break;
    default:
        break;
    }
}

std::vector<RangeFold::Life> RangeFold::alive() const
{
    std::vector<Life> lives;
    for (const Entry& entry : m_entries)
        if (entry.life < unused)
            lives.push_back(m_lives[entry.life]);
    std::ranges::sort(lives, {}, &Life::number);
    return lives;
}

void RangeFold::before(const EventColumns& rows, std::size_t from, std::size_t to)
{
    for (std::size_t row = from; row < to; ++row)
        apply(rows, row);
    m_out.eventsBefore += to - from;
}

/// A request and its completion on both sides of a border: nothing waited.
void RangeFold::joinAcross(std::vector<Life>& lives, const EventColumns& rows, std::size_t next) const
{
    if (!m_waitsSince || rows.action[next] != Action::FreeCompleted || rows.address[next] != *m_waitsSince)
        return;
    for (Life& life : lives)
        if (life.what.address == *m_waitsSince)
            life.what.waits = false;
}

void RangeFold::inside(const EventColumns& rows, std::size_t count)
{
    m_insideDone = true;
    m_aliveAtStart = alive();
    if (count > 0)
        joinAcross(m_aliveAtStart, rows, 0);
    m_where = Where::Inside;
    for (std::size_t row = 0; row < count; ++row)
        apply(rows, row);
    m_out.eventsInFile += count;
    m_where = Where::After;
}

void RangeFold::after(const EventColumns& rows, std::size_t from, std::size_t to)
{
    if (from < to && m_out.eventsAfter == 0) {
        m_aliveAtEnd = alive();
        joinAcross(m_aliveAtEnd, rows, from);
        if (rows.action[from] == Action::FreeCompleted)
            m_out.completedNext = rows.address[from];
    }
    for (std::size_t row = from; row < to; ++row) {
        apply(rows, row);
        const Action action = rows.action[row];
        if (!reserves(action) && !releases(action))
            continue;
        appendRow(m_out.laterSegments, rows, row);
        const auto size = static_cast<std::int64_t>(sane(rows.size[row]));
        m_laterReserved = wrappingAdd(m_laterReserved, reserves(action) ? size : -size);
    }
    m_out.eventsAfter += to - from;
}

/// With completions filtered out, a request is all there is of a free (help/numbers.md).
bool RangeFold::endsOnRequest(const DeviceTrace& device) const
{
    if (m_completions || !m_requests)
        return false;
    return std::ranges::none_of(device.blocks, [this](const Block& block) {
        const Entry* entry = block.state == BlockState::Pending ? find(block.address) : nullptr;
        return entry != nullptr && entry->freeRequested;
    });
}

void RangeFold::dropWaiting(OutsideRange& out) const
{
    for (const OutsideAllocation& life : out.alive)
        if (life.waits)
            out.dead.push_back(life.address);
    std::erase_if(out.alive, [](const OutsideAllocation& life) { return life.waits; });
    std::erase_if(out.aliveAtEnd, [](const OutsideAllocation& life) { return life.waits; });
}

std::shared_ptr<OutsideRange> RangeFold::finish(const DeviceTrace& device)
{
    OutsideRange& out = m_out;
    out.eventsInFile += out.eventsBefore + out.eventsAfter;
    const bool cut = out.eventsAfter > 0;
    const auto stays = [this](const Life& life) {
        const Entry* entry = find(life.what.address);
        return entry != nullptr && entry->life < unused && m_lives[entry->life].number == life.number;
    };
    // The first to go lies on top, as where the trace itself tells of them.
    for (auto late = m_late.rbegin(); late != m_late.rend(); ++late)
        out.alive.push_back(late->what);
    for (const Life& life : m_aliveAtStart)
        out.alive.push_back(life.what);
    if (cut) {
        m_aliveAtEnd.insert(m_aliveAtEnd.end(), m_late.begin(), m_late.end());
        for (const Life& life : m_aliveAtEnd) {
            out.aliveAtEnd.push_back(life.what);
            if (stays(life))
                out.staying.push_back(life.what.address);
        }
        // Blocks in use that no event names are alive all through, too; with all others the trace decides.
        std::ranges::sort(out.staying);
    } else {
        for (const Block& block : device.blocks) {
            const Entry* entry = find(block.address);
            if (entry != nullptr && entry->namedBefore && entry->life == notLive)
                out.dead.push_back(block.address);
        }
    }
    out.endsOnRequest = endsOnRequest(device);
    if (out.endsOnRequest)
        dropWaiting(out);
    std::ranges::sort(out.dead);
    const auto again = std::ranges::unique(out.dead);
    out.dead.erase(again.begin(), again.end());
    for (const Block& block : device.blocks)
        if (cut && find(block.address) != nullptr)
            out.named.push_back(block.address);
    std::ranges::sort(out.named);
    if (cut && device.hasSegments) {
        ByteSum reserved;
        for (const Segment& segment : device.segments)
            reserved += static_cast<std::int64_t>(sane(segment.totalSize));
        reserved -= m_laterReserved;
        out.reservedAtEnd = reserved;
    }
    return std::make_shared<OutsideRange>(std::move(out));
}

void cutToRange(
    EventBuffer& rows, RangeFold& fold, std::uint64_t listed, std::uint64_t first, std::uint64_t last)
{
    if (fold.insideDone()) {
        fold.after(rows.columns, std::min<std::size_t>(rows.count(), last - first + 1), rows.count());
        rows.truncate(std::min<std::size_t>(rows.count(), last - first + 1));
        return;
    }
    first = std::min(first, listed);
    const std::uint64_t front = std::min<std::uint64_t>(first - fold.eventsBefore(), rows.count());
    fold.before(rows.columns, 0, front);
    rows.dropFront(front);
    const std::size_t kept
        = last < first ? 0 : std::min<std::uint64_t>(rows.count(), std::min(last, listed) - first + 1);
    fold.inside(rows.columns, kept);
    fold.after(rows.columns, kept, rows.count());
    rows.truncate(kept);
}

} // namespace tidemark
