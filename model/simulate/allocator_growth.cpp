// SPDX-License-Identifier: GPL-3.0-or-later
// How an AllocatorModel gets memory from the driver.
#include "model/simulate/allocator_model.hpp"

#include <algorithm>

namespace tidemark {

/// get_allocation_size.
std::uint64_t AllocatorModel::segmentSize(std::uint64_t size) const
{
    constexpr std::uint64_t direct = 10ULL << 20;
    constexpr std::uint64_t step = 2ULL << 20;
    if (size <= BlockRules::smallLimit)
        return BlockRules::smallSegment;
    const std::uint64_t rounded = (size + step - 1) / step * step;
    return size < direct ? std::max(m_settings.rounding.largePage, rounded) : rounded;
}

void AllocatorModel::addReserved(std::uint64_t size)
{
    m_reserved += size;
    m_peakReserved = std::max(m_peakReserved, m_reserved);
}

void AllocatorModel::tell(Action action, std::uint64_t address, std::uint64_t size, std::uint32_t list)
{
    switch (action) {
    case Action::SegmentAlloc:
        ++m_counts.segmentAllocs;
        break;
    case Action::SegmentFree:
        ++m_counts.segmentFrees;
        break;
    case Action::SegmentMap:
        ++m_counts.maps;
        break;
    default:
        ++m_counts.unmaps;
    }
    if (m_keepEvents)
        m_events.push_back({action, address, size, m_lists[list].stream});
}

/// What malloc does when no cached block will do: garbage collection, growing, giving back some large cached
/// blocks, giving back all, each followed by another try with the driver, not with the cache.
std::uint32_t AllocatorModel::growOrRelease(std::uint32_t list, std::uint64_t size, const Request& request)
{
    if (m_settings.garbageCollectionThreshold > 0 && m_memoryLimit < endless)
        collectGarbage();
    std::uint32_t node = grow(list, size, request.wish);
    if (node == nil && releaseOversize(list, size))
        node = grow(list, size, request.wish);
    if (node == nil && !request.inScope && request.pool == PoolId{}) {
        ++m_counts.flushes;
        flush();
        node = grow(list, size, request.wish);
    }
    return node;
}

/// alloc_block. The block returned stands in no list; nil: the driver or the limit said no.
std::uint32_t AllocatorModel::grow(std::uint32_t list, std::uint64_t size, std::uint64_t wish)
{
    const Pool& pool = m_pools[m_lists[list].pool];
    const std::uint64_t segment = segmentSize(size);
    if (m_reserved + segment > m_memoryLimit)
        return nil;
    if (m_settings.expandableSegments && (pool.id == PoolId{} || m_settings.expandablePrivatePools))
        return growRange(list, size, wish);
    if (m_reserved + segment > m_capacity)
        return nil;
    const std::uint32_t node = newNode(m_addresses.take(segment, wish), segment, list, nil);
    addReserved(segment);
    tell(Action::SegmentAlloc, m_nodes[node].address, segment, list);
    return node;
}

/// A free block counts with the unmapped space right behind it.
std::uint64_t AllocatorModel::couldGrowTo(std::uint32_t node) const
{
    const Node& n = m_nodes[node];
    return n.size + (n.next != nil && !m_nodes[n.next].mapped ? m_nodes[n.next].size : 0);
}

/// The lowest place where free and unmapped space together are enough; nil: nowhere (find_expandable_block).
std::uint32_t AllocatorModel::placeToGrow(const FreeList& list, std::uint64_t size) const
{
    for (auto at = list.unmapped.begin(); at != list.unmapped.end(); at = list.unmapped.next(at)) {
        std::uint32_t start = list.unmapped.at(at).block;
        if (const std::uint32_t before = m_nodes[start].previous;
            before != nil && m_nodes[before].state == State::Free)
            start = before;
        std::uint64_t room = 0;
        for (std::uint32_t b = start; b != nil && m_nodes[b].state == State::Free && room < size;
             b = m_nodes[b].next)
            room += m_nodes[b].size;
        if (room >= size)
            return start;
    }
    return nil;
}

/// Takes the space without pages at an address from the range that has it: how long ranges are is a guess,
/// and here another one is known to begin.
void AllocatorModel::clearAt(std::uint64_t address)
{
    if (m_addresses.rangeRoom(address) > 0)
        return;
    for (const FreeList& list : m_lists) {
        for (const std::uint32_t node : list.unmapped.blocks()) {
            const Node n = m_nodes[node];
            if (address < n.address || n.address + n.size <= address)
                continue;
            if (address == n.address)
                takeFromList(node);
            const std::uint32_t rear = address == n.address ? node : cutRear(node, address - n.address);
            // What has pages behind it is a range of its own now.
            if (m_nodes[rear].previous != nil)
                m_nodes[m_nodes[rear].previous].next = nil;
            if (m_nodes[rear].next != nil)
                m_nodes[m_nodes[rear].next].previous = nil;
            dropNode(rear);
            m_addresses.giveRange(address, n.address + n.size);
            return;
        }
    }
}

std::uint32_t AllocatorModel::newRange(std::uint32_t list, std::uint64_t size, std::uint64_t wish)
{
    const bool small = m_pools[m_lists[list].pool].small;
    const std::uint64_t page = small ? BlockRules::smallSegment : m_settings.rounding.largePage;
    const std::uint64_t least = (size + page - 1) / page * page;
    std::uint64_t total = std::max(least, (m_rangeSize + page - 1) / page * page);
    if (wish != 0)
        clearAt(wish);
    if (const std::uint64_t room = wish == 0 ? 0 : m_addresses.rangeRoom(wish); room < least)
        wish = 0;
    else
        total = std::min(total, room / page * page);
    const std::uint64_t base = m_addresses.takeRange(total, wish);
    m_ranges.push_back({base, page});
    const std::uint32_t node = newNode(base, total, list, static_cast<std::uint32_t>(m_ranges.size() - 1));
    m_nodes[node].mapped = false;
    addToList(node);
    return node;
}

/// try_allocate_expandable_block: maps the unmapped pieces of the place one by one. When one of them fails,
/// those before it stay as free memory.
std::uint32_t AllocatorModel::growRange(std::uint32_t list, std::uint64_t size, std::uint64_t wish)
{
    std::uint32_t node = placeToGrow(m_lists[list], size);
    if (node == nil)
        node = newRange(list, size, wish);
    if (!m_nodes[node].mapped && !map(node, std::min(m_nodes[node].size, size)))
        return nil;
    while (m_nodes[node].size < size) {
        const std::uint32_t piece = m_nodes[node].next;
        if (!map(piece, std::min(size - m_nodes[node].size, m_nodes[piece].size)))
            return nil;
        node = piece; // it has absorbed what was in front of it
    }
    takeFromList(node);
    return node;
}

/// map_block: backs the front of an unmapped block with whole pages, or leaves all as it is.
bool AllocatorModel::map(std::uint32_t node, std::uint64_t size)
{
    const std::uint64_t page = m_ranges[m_nodes[node].range].page;
    const std::uint64_t length = std::min((size + page - 1) / page * page, m_nodes[node].size);
    if (m_reserved + length > m_capacity)
        return false;
    takeFromList(node);
    if (length < m_nodes[node].size)
        addToList(cutRear(node, length));
    m_nodes[node].mapped = true;
    const std::uint64_t address = m_nodes[node].address;
    mergeAround(node);
    addToList(node);
    addReserved(length);
    tell(Action::SegmentMap, address, length, m_nodes[node].list);
    return true;
}

/// unmap_block: gives back the whole pages inside a free block; its edges stay as free blocks of their own. A
/// range without any page left is gone.
void AllocatorModel::unmap(std::uint32_t node)
{
    const Range range = m_ranges[m_nodes[node].range];
    const std::uint64_t begin = m_nodes[node].address - range.base;
    const std::uint64_t end = begin + m_nodes[node].size;
    const std::uint64_t low = (begin + range.page - 1) / range.page * range.page;
    const std::uint64_t high = end / range.page * range.page;
    if (high <= low)
        return;
    takeFromList(node);
    if (high < end)
        addToList(cutRear(node, high - begin));
    if (low > begin) {
        const std::uint32_t front = node;
        node = cutRear(front, low - begin);
        addToList(front);
    }
    m_nodes[node].mapped = false;
    const std::uint32_t list = m_nodes[node].list;
    mergeAround(node);
    if (whole(m_nodes[node])) {
        m_addresses.giveRange(m_nodes[node].address, m_nodes[node].address + m_nodes[node].size);
        dropNode(node);
    } else {
        addToList(node);
    }
    m_reserved -= high - low;
    tell(Action::SegmentUnmap, range.base + low, high - low, list);
}

void AllocatorModel::closeRangesBelow(const ModelClass& kind, std::uint64_t address)
{
    const std::uint32_t list = listOf(poolOf(kind.pool, kind.small), kind.stream);
    bool known = false;
    bool open = false;
    for (const std::uint32_t node : m_lists[list].unmapped.blocks()) {
        const Node n = m_nodes[node];
        if (n.address < address && address < n.address + n.size) {
            // Growth begins where unmapped space begins: this is where the next range lies.
            const std::uint32_t rear = cutRear(node, address - n.address);
            const auto range = static_cast<std::uint32_t>(m_ranges.size());
            m_ranges.push_back({address, m_ranges[n.range].page});
            for (std::uint32_t b = rear; b != nil; b = m_nodes[b].next)
                m_nodes[b].range = range;
            m_nodes[node].next = nil;
            m_nodes[rear].previous = nil;
            addToList(rear);
            known = true;
        }
        known = known || n.address == address;
        open = open || (n.address < address && m_nodes[node].next == nil);
    }
    if (known && !open)
        return;
    for (const std::uint32_t node : m_lists[list].unmapped.blocks()) {
        if (m_nodes[node].address < address && m_nodes[node].next == nil) {
            takeFromList(node);
            m_nodes[node].state = State::Closed;
            m_addresses.giveRange(m_nodes[node].address, m_nodes[node].address + m_nodes[node].size);
        }
    }
}

} // namespace tidemark
