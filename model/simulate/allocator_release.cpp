// SPDX-License-Identifier: GPL-3.0-or-later
// How an AllocatorModel takes memory back from the program and gives it back to the driver.
#include "model/simulate/allocator_model.hpp"

#include <algorithm>
#include <cassert>

namespace tidemark {

void AllocatorModel::setPending(std::uint32_t node)
{
    Node& n = m_nodes[node];
    assert(n.state == State::Allocated);
    n.state = State::Pending;
    n.wait = nil;
    m_allocated -= n.size;
    m_pending += n.size;
}

void AllocatorModel::requestFree(BlockRef block)
{
    const auto node = static_cast<std::uint32_t>(index(block));
    setPending(node);
    m_nodes[node].wait = static_cast<std::uint32_t>(m_pendingNodes.size());
    m_pendingNodes.push_back(node);
}

void AllocatorModel::noteStream(BlockRef block, std::int64_t stream)
{
    const auto node = static_cast<std::uint32_t>(index(block));
    if (stream == m_lists[m_nodes[node].list].stream)
        return;
    auto& streams = m_streamsOf[node];
    if (std::find(streams.begin(), streams.end(), stream) == streams.end())
        streams.push_back(stream);
}

void AllocatorModel::free(BlockRef block, bool inScope)
{
    const auto node = static_cast<std::uint32_t>(index(block));
    if (m_streamsOf.empty() || !m_streamsOf.contains(node))
        return completeFree(block);
    setPending(node);
    if (inScope)
        m_deferred.push_back(node);
    else
        await(node);
}

/// insert_events: the block waits for every stream that was noted for it.
void AllocatorModel::await(std::uint32_t node)
{
    const auto streams = m_streamsOf.extract(node).mapped();
    m_nodes[node].wait = nil - static_cast<std::uint32_t>(streams.size());
    for (const std::int64_t stream : streams)
        m_waiting[stream].push_back(node);
}

void AllocatorModel::streamDone(std::int64_t stream, std::size_t count)
{
    const auto waiting = m_waiting.find(stream);
    if (waiting == m_waiting.end())
        return;
    std::size_t& done = m_done[stream];
    const std::size_t all = waiting->second.size();
    done = count > all - std::min(all, done) ? all : done + count;
}

/// process_events.
void AllocatorModel::poll()
{
    for (const std::uint32_t node : std::exchange(m_deferred, {}))
        await(node);
    for (const auto& [stream, count] : std::exchange(m_done, {}))
        drain(stream, count);
}

void AllocatorModel::drain(std::int64_t stream, std::size_t count)
{
    const auto waiting = m_waiting.find(stream);
    for (; count > 0; --count) {
        const std::uint32_t node = waiting->second.front();
        waiting->second.pop_front();
        if (++m_nodes[node].wait == nil)
            completeFree(BlockRef{node});
    }
    if (waiting->second.empty())
        m_waiting.erase(waiting);
}

void AllocatorModel::usePool(PoolId pool)
{
    PrivateUse& use = m_private[pool];
    ++use.uses;
    if (std::exchange(use.releasable, false))
        std::erase(m_releasable, pool);
}

void AllocatorModel::releasePool(PoolId pool)
{
    PrivateUse& use = m_private[pool];
    if (use.uses > 0 && --use.uses == 0) {
        use.releasable = true;
        m_releasable.push_back(pool);
    }
}

void AllocatorModel::startCounting()
{
    m_counts = {};
    m_peakReserved = m_reserved;
    m_events.clear();
}

void AllocatorModel::failUnseen(bool flushes)
{
    ++m_counts.flushes;
    if (flushes)
        flush();
}

void AllocatorModel::emptyCache()
{
    flush();
}

/// release_cached_blocks: waits for all streams, then the default pool's large half, its small half, and the
/// private pools nobody uses any more.
void AllocatorModel::flush()
{
    for (const std::uint32_t node : std::exchange(m_deferred, {}))
        await(node);
    m_done.clear();
    while (!m_waiting.empty())
        drain(m_waiting.begin()->first, m_waiting.begin()->second.size());
    while (!m_pendingNodes.empty()) {
        m_synchronised.push_back(m_nodes[m_pendingNodes.back()].tag);
        completeFree(BlockRef{m_pendingNodes.back()});
    }
    release(poolOf(PoolId{}, false));
    release(poolOf(PoolId{}, true));
    for (const PoolId pool : std::vector<PoolId>(m_releasable)) {
        release(poolOf(pool, true));
        release(poolOf(pool, false));
        if (m_pools[poolOf(pool, true)].nodes + m_pools[poolOf(pool, false)].nodes == 0) {
            std::erase(m_releasable, pool);
            m_private.erase(pool);
        }
    }
}

/// release_blocks: whole free segments go, then the whole pages of free blocks in ranges.
void AllocatorModel::release(std::uint32_t pool)
{
    std::vector<std::uint32_t> ranged;
    for (const std::uint32_t list : m_pools[pool].lists) {
        for (const std::uint32_t node : m_lists[list].free.blocks()) {
            if (m_nodes[node].range != nil)
                ranged.push_back(node);
            else if (whole(m_nodes[node]))
                releaseSegment(node);
        }
    }
    for (const std::uint32_t node : ranged)
        unmap(node);
}

/// release_block.
void AllocatorModel::releaseSegment(std::uint32_t node)
{
    takeFromList(node);
    const Node n = m_nodes[node];
    dropNode(node);
    m_reserved -= n.size;
    m_addresses.give(n.address);
    tell(Action::SegmentFree, n.address, n.size, n.list);
}

bool AllocatorModel::releaseSegmentAt(std::uint64_t address)
{
    for (const FreeList& list : m_lists) {
        for (const std::uint32_t node : list.free.blocks()) {
            if (m_nodes[node].address == address && m_nodes[node].range == nil && whole(m_nodes[node])) {
                releaseSegment(node);
                return true;
            }
        }
    }
    return false;
}

/// release_available_cached_blocks: with max_split_size_mb set, one cached block too large to be split that
/// is large enough, else several from the largest down; without waiting for streams.
bool AllocatorModel::releaseOversize(std::uint32_t list, std::uint64_t size)
{
    if (!m_settings.splitLimited())
        return false;
    const std::uint64_t limit = m_settings.rounding.maxSplitSize;
    const std::uint64_t wanted = std::max(size, limit);
    const auto releasable
        = [this](std::uint32_t node) { return m_nodes[node].range == nil && whole(m_nodes[node]); };
    const BlockOrder& free = m_lists[list].free;
    if (const auto place = free.lowerBound({wanted, 0, 0}); place != free.end()) {
        const std::uint32_t node = free.at(place).block;
        if (!releasable(node))
            return false;
        releaseSegment(node);
        return true;
    }
    std::uint64_t released = 0;
    const std::vector<std::uint32_t> blocks = free.blocks();
    for (auto node = blocks.rbegin(); node != blocks.rend(); ++node) {
        if (released >= wanted || m_nodes[*node].size < limit || !releasable(*node))
            break;
        released += m_nodes[*node].size;
        releaseSegment(*node);
    }
    return released >= wanted;
}

/// Free segments of the default pool's large half, by stream and size.
std::vector<std::uint32_t> AllocatorModel::collectable() const
{
    std::vector<std::uint32_t> out;
    if (m_pools.empty())
        return out;
    for (const std::uint32_t list : m_pools[1].lists)
        for (const std::uint32_t node : m_lists[list].free.blocks())
            if (whole(m_nodes[node]) && m_nodes[node].range == nil)
                out.push_back(node);
    return out;
}

/// garbage_collect_cached_blocks: above the threshold, segments that lay unused for longer than average go,
/// in as many rounds as it takes.
void AllocatorModel::collectGarbage()
{
    const double share = m_settings.garbageCollectionThreshold * static_cast<double>(m_memoryLimit);
    const auto limit = static_cast<std::uint64_t>(share);
    if (m_reserved <= limit)
        return;
    const std::uint64_t wanted = m_reserved - limit;
    const std::uint64_t now = m_pools[1].searches;
    std::vector<std::uint32_t> blocks = collectable();
    std::uint64_t count = blocks.size();
    std::uint64_t totalAge = 0;
    for (const std::uint32_t node : blocks)
        totalAge += now - m_nodes[node].bornAt;
    std::uint64_t freed = 0;
    for (bool any = true; freed < wanted && any && count > 0; blocks = collectable()) {
        const double average = static_cast<double>(totalAge) / static_cast<double>(count);
        any = false;
        for (const std::uint32_t node : blocks) {
            const std::uint64_t age = now - m_nodes[node].bornAt;
            if (static_cast<double>(age) < average)
                continue;
            any = true;
            freed += m_nodes[node].size;
            totalAge -= age;
            --count;
            releaseSegment(node);
        }
    }
}

} // namespace tidemark
