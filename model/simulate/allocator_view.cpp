// SPDX-License-Identifier: GPL-3.0-or-later
// What an AllocatorModel holds, for looking at and for checking.
#include "model/simulate/allocator_model.hpp"

#include <algorithm>
#include <string>

namespace tidemark {

std::vector<ModelSegment> AllocatorModel::segments() const
{
    std::vector<ModelSegment> out;
    for (std::uint32_t head = 0; head < m_nodes.size(); ++head) {
        const Node& first = m_nodes[head];
        if (first.state == State::Unused || !first.mapped
            || (first.previous != nil && m_nodes[first.previous].mapped))
            continue;
        const FreeList& list = m_lists[first.list];
        const Pool& pool = m_pools[list.pool];
        ModelSegment segment{first.address, 0, {pool.id, pool.small, list.stream}, first.range != nil, {}};
        for (std::uint32_t b = head; b != nil && m_nodes[b].mapped; b = m_nodes[b].next) {
            const Node& n = m_nodes[b];
            segment.size += n.size;
            segment.blocks.push_back({n.address, n.size, n.requested,
                n.state == State::Free            ? ModelBlock::State::Free
                    : n.state == State::Allocated ? ModelBlock::State::Allocated
                                                  : ModelBlock::State::Pending,
                n.tag});
        }
        out.push_back(std::move(segment));
    }
    std::sort(out.begin(), out.end(),
        [](const ModelSegment& a, const ModelSegment& b) { return a.address < b.address; });
    return out;
}

std::string AllocatorModel::broken() const
{
    std::uint64_t end = 0;
    std::uint64_t reserved = 0;
    std::uint64_t allocated = 0;
    std::uint64_t pending = 0;
    for (const ModelSegment& s : segments()) {
        if (s.address < end)
            return "segments overlap";
        std::uint64_t at = s.address;
        bool wasFree = false;
        for (const ModelBlock& b : s.blocks) {
            if (b.address != at || b.size == 0)
                return "blocks do not tile their segment";
            const bool isFree = b.state == ModelBlock::State::Free;
            if (isFree && wasFree)
                return "two free blocks side by side";
            if (!isFree && (b.requested == 0 || b.requested > b.size))
                return "a request does not fit its block";
            wasFree = isFree;
            at += b.size;
            allocated += b.state == ModelBlock::State::Allocated ? b.size : 0;
            pending += b.state == ModelBlock::State::Pending ? b.size : 0;
        }
        end = at;
        reserved += s.size;
    }
    if (reserved != m_reserved || allocated != m_allocated || pending != m_pending)
        return "sums";
    if (m_reserved > m_capacity)
        return "more than there is";
    std::size_t listed = 0;
    for (const FreeList& list : m_lists) {
        for (const BlockOrder* order : {&list.free, &list.unmapped}) {
            for (auto p = order->begin(); p != order->end(); p = order->next(p), ++listed) {
                const BlockOrder::Key& key = order->at(p);
                const Node& n = m_nodes[key.block];
                if (n.state != State::Free || n.address != key.address || &m_lists[n.list] != &list
                    || n.mapped != (order == &list.free) || (n.mapped && n.size != key.size))
                    return "a list does not know its blocks";
            }
        }
    }
    const auto unlisted
        = std::count_if(m_nodes.begin(), m_nodes.end(), [](const Node& n) { return n.state == State::Free; });
    return listed == static_cast<std::size_t>(unlisted) ? "" : "a free block is in no list";
}

} // namespace tidemark
