// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/allocator_model.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tidemark {

namespace {

/// 9/8 of the device, in whole large pages, so that pages can move behind a range that is full (constructor
/// of ExpandableSegment, PyTorch 2.6). Beyond 1 TiB there is no device.
std::uint64_t rangeSizeFor(std::uint64_t device)
{
    constexpr std::uint64_t page = BlockRules::largeSegment;
    return (std::min<std::uint64_t>(device, 1ULL << 40) * 9 / 8 + page - 1) / page * page;
}

} // namespace

AllocatorModel::AllocatorModel(const AllocatorSettings& settings, std::optional<std::uint64_t> capacity,
    std::optional<std::uint64_t> deviceTotal, const AddressSpace& addresses)
    : m_settings(settings)
    , m_capacity(capacity.value_or(endless))
    , m_rangeSize(rangeSizeFor(deviceTotal.value_or(m_capacity)))
    , m_addresses(addresses)
{
    const std::optional<std::uint64_t> device = deviceTotal ? deviceTotal : capacity;
    if (settings.memoryFraction && device)
        m_memoryLimit = static_cast<std::uint64_t>(*settings.memoryFraction * static_cast<double>(*device));
}

std::optional<std::uint64_t> AllocatorModel::limit() const
{
    const std::uint64_t least = std::min(m_capacity, m_memoryLimit);
    return least == endless ? std::nullopt : std::optional(least);
}

std::optional<std::uint64_t> AllocatorModel::deviceFree() const
{
    if (m_capacity == endless)
        return std::nullopt;
    return m_capacity - std::min(m_capacity, m_reserved);
}

/// get_pool: rounded requests of up to 1 MiB are small ones.
ModelClass AllocatorModel::classOf(std::uint64_t bytes, std::int64_t stream, PoolId pool) const
{
    return {pool, m_settings.rounding.roundSize(bytes) <= BlockRules::smallLimit, stream};
}

std::uint32_t AllocatorModel::poolOf(PoolId pool, bool small)
{
    const std::size_t at = index(pool) * 2;
    for (std::size_t i = m_pools.size(); i < at + 2; ++i) {
        Pool& added = m_pools.emplace_back();
        added.id = static_cast<PoolId>(i / 2);
        added.small = i % 2 == 0;
    }
    return static_cast<std::uint32_t>(at + (small ? 0 : 1));
}

std::uint32_t AllocatorModel::listOf(std::uint32_t pool, std::int64_t stream)
{
    auto& lists = m_pools[pool].lists;
    auto at = lists.begin();
    while (at != lists.end() && m_lists[*at].stream < stream)
        ++at;
    if (at != lists.end() && m_lists[*at].stream == stream)
        return *at;
    const auto added = static_cast<std::uint32_t>(m_lists.size());
    m_lists.emplace_back();
    m_lists.back().pool = pool;
    m_lists.back().stream = stream;
    lists.insert(at, added);
    return added;
}

std::uint32_t AllocatorModel::newNode(
    std::uint64_t address, std::uint64_t size, std::uint32_t list, std::uint32_t range)
{
    std::uint32_t node = static_cast<std::uint32_t>(m_nodes.size());
    if (m_unusedNodes.empty()) {
        m_nodes.emplace_back();
    } else {
        node = m_unusedNodes.back();
        m_unusedNodes.pop_back();
        m_nodes[node] = Node{};
    }
    Node& n = m_nodes[node];
    n.address = address;
    n.size = size;
    n.list = list;
    n.range = range;
    ++m_pools[m_lists[list].pool].nodes;
    return node;
}

void AllocatorModel::dropNode(std::uint32_t node)
{
    m_nodes[node].state = State::Unused;
    --m_pools[m_lists[m_nodes[node].list].pool].nodes;
    m_unusedNodes.push_back(node);
}

void AllocatorModel::linkBetween(std::uint32_t left, std::uint32_t node, std::uint32_t right)
{
    m_nodes[node].previous = left;
    m_nodes[node].next = right;
    if (left != nil)
        m_nodes[left].next = node;
    if (right != nil)
        m_nodes[right].previous = node;
}

void AllocatorModel::addToList(std::uint32_t node)
{
    Node& n = m_nodes[node];
    FreeList& list = m_lists[n.list];
    (n.mapped ? list.free : list.unmapped).insert(keyOf(node));
    n.bornAt = m_pools[list.pool].searches;
}

void AllocatorModel::takeFromList(std::uint32_t node)
{
    FreeList& list = m_lists[m_nodes[node].list];
    (m_nodes[node].mapped ? list.free : list.unmapped).erase(keyOf(node));
}

/// Takes in a neighbour that is free and mapped alike (try_merge_blocks). The node itself stands in no list.
void AllocatorModel::absorb(std::uint32_t node, std::uint32_t neighbour)
{
    if (neighbour == nil || m_nodes[neighbour].state != State::Free
        || m_nodes[neighbour].mapped != m_nodes[node].mapped)
        return;
    takeFromList(neighbour);
    Node& n = m_nodes[node];
    const Node& other = m_nodes[neighbour];
    n.size += other.size;
    if (n.previous == neighbour) {
        n.address = other.address;
        linkBetween(other.previous, node, n.next);
    } else {
        linkBetween(n.previous, node, other.next);
    }
    dropNode(neighbour);
}

void AllocatorModel::mergeAround(std::uint32_t node)
{
    absorb(node, m_nodes[node].previous);
    absorb(node, m_nodes[node].next);
}

/// Cuts a node after `front` bytes; returns the rear, which stands in no list.
std::uint32_t AllocatorModel::cutRear(std::uint32_t node, std::uint64_t front)
{
    const Node old = m_nodes[node];
    const std::uint32_t rear = newNode(old.address + front, old.size - front, old.list, old.range);
    m_nodes[rear].mapped = old.mapped;
    m_nodes[node].size = front;
    linkBetween(node, rear, old.next);
    return rear;
}

std::vector<BlockRef> AllocatorModel::addSegment(
    const ModelClass& kind, bool expandable, std::span<const ModelBlock> blocks)
{
    std::vector<BlockRef> out;
    const std::uint32_t list = listOf(poolOf(kind.pool, kind.small), kind.stream);
    std::uint32_t range = nil;
    if (kind.pool != PoolId{} && m_private[kind.pool].uses == 0)
        usePool(kind.pool);
    if (expandable && !blocks.empty()) {
        range = static_cast<std::uint32_t>(m_ranges.size());
        m_ranges.push_back(
            {blocks.front().address, kind.small ? BlockRules::smallSegment : m_settings.rounding.largePage});
    }
    std::uint64_t bytes = 0;
    std::uint32_t previous = nil;
    for (const ModelBlock& block : blocks) {
        const std::uint32_t node = newNode(block.address, block.size, list, range);
        Node& n = m_nodes[node];
        linkBetween(previous, node, nil);
        previous = node;
        n.mapped = block.state != ModelBlock::State::Unmapped;
        n.requested = block.requested;
        n.tag = block.tag;
        bytes += n.mapped ? n.size : 0;
        if (block.state == ModelBlock::State::Free || !n.mapped) {
            addToList(node);
        } else {
            n.state = State::Allocated;
            m_allocated += n.size;
            m_requested += n.requested;
            if (block.state == ModelBlock::State::Pending)
                requestFree(BlockRef{node});
        }
        out.push_back(BlockRef{node});
    }
    if (!expandable && !blocks.empty())
        m_addresses.occupy(blocks.front().address, bytes);
    else if (!blocks.empty())
        m_addresses.occupyRange(
            blocks.front().address, blocks.back().address + blocks.back().size - blocks.front().address);
    addReserved(bytes);
    return out;
}

/// Best fit among the free blocks of the class, lowest address on ties (get_free_block). Returns nil when
/// none will do; one that is returned is off its list.
std::uint32_t AllocatorModel::search(FreeList& list, std::uint64_t size)
{
    ++m_pools[list.pool].searches;
    auto place = list.free.lowerBound({size, 0, 0});
    if (place == list.free.end())
        return nil;
    std::uint32_t node = list.free.at(place).block;
    if (m_nodes[node].range != nil && m_settings.expandableSegments) {
        // One that can grow counts as large as it could become, so a later one may fit better.
        for (auto next = list.free.next(place); next != list.free.end() && m_nodes[node].range != nil;
             next = list.free.next(place)) {
            const std::uint32_t other = list.free.at(next).block;
            if (couldGrowTo(other) >= couldGrowTo(node))
                break;
            place = next;
            node = other;
        }
    } else {
        // Switched off meanwhile: what ranges hold is not handed out any more.
        while (m_nodes[node].range != nil) {
            place = list.free.next(place);
            if (place == list.free.end())
                return nil;
            node = list.free.at(place).block;
        }
    }
    const std::uint64_t limit = m_settings.rounding.maxSplitSize;
    const std::uint64_t found = m_nodes[node].size;
    if (size < limit ? found >= limit : found >= size + m_settings.maxNonSplitRounding)
        return nil;
    list.free.erase(place);
    return node;
}

/// should_split.
bool AllocatorModel::splits(const Pool& pool, std::uint64_t size, std::uint64_t rest) const
{
    if (pool.small || m_settings.expandableSegments)
        return rest >= BlockRules::minBlock;
    return size < m_settings.rounding.maxSplitSize && rest > BlockRules::smallLimit;
}

/// The rear part of a block that begins where Ascend wants it, if the request still fits; the front stays
/// free. Read off recordings of torch_npu.
std::uint32_t AllocatorModel::aligned(std::uint32_t node, std::uint64_t size)
{
    const std::uint64_t align = m_settings.baseAlign;
    if (align == 0 || !m_settings.expandableSegments || size < BlockRules::smallSegment
        || m_nodes[node].address % align == 0)
        return node;
    const std::uint64_t skip = align - m_nodes[node].address % align;
    if (skip + size > m_nodes[node].size)
        return node;
    const std::uint32_t rear = cutRear(node, skip);
    addToList(node);
    return rear;
}

std::optional<BlockRef> AllocatorModel::allocate(const Request& request)
{
    assert(request.bytes > 0);
    const bool inScope = request.inScope || request.pool != PoolId{};
    if (!inScope && (!m_done.empty() || !m_deferred.empty()))
        poll();
    const std::uint64_t size = m_settings.rounding.roundSize(request.bytes);
    const std::uint32_t pool = poolOf(request.pool, size <= BlockRules::smallLimit);
    if (request.pool != PoolId{} && m_private[request.pool].uses == 0)
        usePool(request.pool);
    const std::uint32_t list = listOf(pool, request.stream);
    std::uint32_t node = request.search ? search(m_lists[list], size) : nil;
    if (node == nil)
        node = growOrRelease(list, size, request);
    return node == nil ? std::nullopt : std::optional(hand(aligned(node, size), size, request));
}

/// alloc_found_block: the request takes the front, the rest stays free behind it.
BlockRef AllocatorModel::hand(std::uint32_t node, std::uint64_t size, const Request& request)
{
    const std::uint64_t rest = m_nodes[node].size - size;
    if (splits(m_pools[m_lists[m_nodes[node].list].pool], size, rest))
        addToList(cutRear(node, size));
    Node& n = m_nodes[node];
    n.state = State::Allocated;
    n.requested = request.bytes;
    n.tag = request.tag;
    m_allocated += n.size;
    m_requested += n.requested;
    return BlockRef{node};
}

void AllocatorModel::completeFree(BlockRef block)
{
    const auto node = static_cast<std::uint32_t>(index(block));
    Node& n = m_nodes[node];
    assert(n.state == State::Allocated || n.state == State::Pending);
    if (n.state == State::Allocated) {
        m_allocated -= n.size;
    } else {
        m_pending -= n.size;
        if (n.wait < m_pendingNodes.size() && m_pendingNodes[n.wait] == node) {
            m_pendingNodes[n.wait] = m_pendingNodes.back();
            m_nodes[m_pendingNodes[n.wait]].wait = n.wait;
            m_pendingNodes.pop_back();
        }
    }
    m_requested -= n.requested;
    n.state = State::Free;
    mergeAround(node);
    addToList(node);
}

} // namespace tidemark
