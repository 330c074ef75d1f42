// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/simulate/address_space.hpp"
#include "model/simulate/allocator_settings.hpp"
#include "model/simulate/block_order.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// Handle of a block of an AllocatorModel; valid until the block is freed completely.
enum class BlockRef : std::uint32_t { none = 0xffffffffU };

/// Something the model asked of the driver or gave back, as the trace of a run would show it.
struct DriverEvent {
    Action action = Action::SegmentAlloc; ///< SegmentAlloc, SegmentFree, SegmentMap or SegmentUnmap
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::int64_t stream = 0;

    auto operator<=>(const DriverEvent&) const = default;
};

/// A piece of a segment, for looking at or for starting from.
struct ModelBlock {
    enum class State : std::uint8_t { Free, Allocated, Pending, Unmapped };
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    State state = State::Free;
    std::uint32_t tag = 0; ///< of the request that has it
};

/// What a request's memory is cut from: pools never share segments, nor do streams.
struct ModelClass {
    PoolId pool{};
    bool small = false;
    std::int64_t stream = 0;

    auto operator<=>(const ModelClass&) const = default;
};

/// A segment with its blocks in address order; of an expandable range every mapped stretch is one.
struct ModelSegment {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    ModelClass kind;
    bool expandable = false;
    std::vector<ModelBlock> blocks;
};

/// One device's CUDA caching allocator, without a device: which block serves a request, when memory has to be
/// asked of the driver, what is split, merged and given back. Bytes throughout.
/// Cost: O(log blocks) a request, about 0.2 µs; growing an expandable range walks its unmapped stretches.
/// Copies are independent. One thread. Frees of blocks that are not allocated are asserted against.
/// Source, where a member says nothing else: c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.6; the rules are
/// told in help/format.md.
class AllocatorModel {
public:
    struct Request {
        std::uint64_t bytes = 0;
        std::int64_t stream = 0;
        PoolId pool{};
        /// Comes back in ModelBlock::tag and takeSynchronised().
        std::uint32_t tag = 0;
        /// A graph capture or use_mem_pool scope is open: then frees are not polled and nothing is flushed.
        bool inScope = false;
        /// False: straight to the driver, as the retry after a flush does (malloc).
        bool search = true;
        /// Where the driver is to place new memory if it can: a recorded address, 0 = anywhere.
        std::uint64_t wish = 0;
    };
    struct Counts {
        std::uint64_t segmentAllocs = 0;
        std::uint64_t segmentFrees = 0;
        std::uint64_t maps = 0;
        std::uint64_t unmaps = 0;
        /// Releases of all cached memory because a request found none.
        std::uint64_t flushes = 0;
    };

    /// `capacity`: bytes this allocator can ever own, what others hold on the device taken off; absent = no
    /// end. `deviceTotal` is the whole device, of which fractions are taken; absent = as capacity.
    explicit AllocatorModel(const AllocatorSettings& settings, std::optional<std::uint64_t> capacity = {},
        std::optional<std::uint64_t> deviceTotal = {}, const AddressSpace& addresses = AddressSpace());

    /// Memory that is there before the first request: a segment, or an expandable range whose blocks may be
    /// unmapped. Blocks in address order, contiguous. Returns their handles in that order.
    std::vector<BlockRef> addSegment(
        const ModelClass& kind, bool expandable, std::span<const ModelBlock> blocks);

    /// Serves a request of more than 0 bytes (malloc). None: out of memory, after all that could be done.
    std::optional<BlockRef> allocate(const Request& request);
    /// The program gives a block up; it is free at once unless another stream was noted for it (free).
    void free(BlockRef block, bool inScope = false);
    /// First half of a free whose second half is known to come later: the block is pending.
    void requestFree(BlockRef block);
    /// Second half: the block merges with free neighbours and can be handed out (free_block).
    void completeFree(BlockRef block);
    /// Another stream reads the block too: its free waits for that stream (recordStream).
    void noteStream(BlockRef block, std::int64_t stream);
    /// The work on a stream is done for its `count` oldest waiting blocks (all by default); the next request
    /// outside a scope finds out (process_events).
    void streamDone(std::int64_t stream, std::size_t count = static_cast<std::size_t>(-1));
    /// torch.cuda.empty_cache (emptyCache): waits for all streams, gives back what is wholly free.
    void emptyCache();
    /// Gives back the free segment that begins at `address`, when the recording says that this one went.
    /// False: there is none. Cost: a walk over the free blocks.
    bool releaseSegmentAt(std::uint64_t address);
    /// A graph or MemPool begins to use a private pool (beginAllocateToPool).
    void usePool(PoolId pool);
    /// One of its users is gone; with the last one flushes may return its memory (releasePool). Segments and
    /// requests make sure that there is a user and add none.
    void releasePool(PoolId pool);
    /// What happened so far was before the recording: counts begin at 0, the peak at what is reserved now.
    void startCounting();
    /// A request is taken to fail: a flush counts, and is made if there may be something to give back.
    void failUnseen(bool flushes);
    /// Growth at `address` shows that the class's ranges below it were at their end: they are closed there.
    void closeRangesBelow(const ModelClass& kind, std::uint64_t address);

    std::uint64_t reserved() const { return m_reserved; }
    std::uint64_t allocated() const { return m_allocated; } ///< block bytes, pending ones not included
    std::uint64_t pending() const { return m_pending; }
    std::uint64_t requested() const { return m_requested; } ///< of allocated and pending blocks
    std::uint64_t peakReserved() const { return m_peakReserved; }
    const Counts& counts() const { return m_counts; }
    const AllocatorSettings& settings() const { return m_settings; }
    /// The least of the capacity and of what the fraction allows; absent when there is no end.
    std::optional<std::uint64_t> limit() const;
    /// What the driver could still give; absent when there is no end.
    std::optional<std::uint64_t> deviceFree() const;
    std::uint64_t addressOf(BlockRef block) const { return m_nodes[index(block)].address; }
    std::uint64_t sizeOf(BlockRef block) const { return m_nodes[index(block)].size; }
    ModelClass classOf(std::uint64_t bytes, std::int64_t stream, PoolId pool) const;
    /// All segments in address order. Cost: a sort of them.
    std::vector<ModelSegment> segments() const;
    /// Driver events since the last call, if they are kept.
    void keepDriverEvents(bool keep) { m_keepEvents = keep; }
    std::vector<DriverEvent> takeDriverEvents() { return std::exchange(m_events, {}); }
    /// Tags of pending blocks that a release of cached memory has waited for since the last call.
    std::vector<std::uint32_t> takeSynchronised() { return std::exchange(m_synchronised, {}); }
    bool hasSynchronised() const { return !m_synchronised.empty(); }
    /// What does not hold of the structure, for tests: empty when all is well. Cost: a pass over all blocks.
    std::string broken() const;

private:
    static constexpr std::uint32_t nil = 0xffffffffU;
    static constexpr std::uint64_t endless = 1ULL << 62;
    enum class State : std::uint8_t { Free, Allocated, Pending, Closed, Unused };

    /// Neighbours are linked in address order within a segment or an expandable range.
    struct Node {
        std::uint64_t address = 0;
        std::uint64_t size = 0;
        std::uint64_t requested = 0;
        std::uint32_t previous = nil;
        std::uint32_t next = nil;
        std::uint32_t list = 0;
        std::uint32_t range = nil;
        std::uint32_t tag = 0;
        /// While pending: place in m_pendingNodes, or how many streams are waited for.
        std::uint32_t wait = 0;
        std::uint64_t bornAt = 0; ///< searches of its pool when it became free: its age counts from there
        State state = State::Free;
        bool mapped = true;
    };
    /// The blocks of one class that can be handed out, and where its ranges can grow.
    struct FreeList {
        std::uint32_t pool = 0;
        std::int64_t stream = 0;
        BlockOrder free;
        BlockOrder unmapped; ///< sizes are 0: by address
    };
    struct Pool {
        PoolId id{};
        bool small = false;
        std::vector<std::uint32_t> lists; ///< by stream
        std::uint64_t searches = 0;
        std::uint64_t nodes = 0;
    };
    struct Range {
        std::uint64_t base = 0;
        std::uint64_t page = 0;
    };
    struct PrivateUse {
        std::uint32_t uses = 0;
        bool releasable = false;
    };

    // allocator_model.cpp
    std::uint32_t poolOf(PoolId pool, bool small);
    std::uint32_t listOf(std::uint32_t pool, std::int64_t stream);
    std::uint32_t newNode(std::uint64_t address, std::uint64_t size, std::uint32_t list, std::uint32_t range);
    void dropNode(std::uint32_t node);
    void linkBetween(std::uint32_t left, std::uint32_t node, std::uint32_t right);
    void addToList(std::uint32_t node);
    void takeFromList(std::uint32_t node);
    void absorb(std::uint32_t node, std::uint32_t neighbour);
    void mergeAround(std::uint32_t node);
    std::uint32_t cutRear(std::uint32_t node, std::uint64_t front);
    std::uint32_t search(FreeList& list, std::uint64_t size);
    bool splits(const Pool& pool, std::uint64_t size, std::uint64_t rest) const;
    std::uint32_t aligned(std::uint32_t node, std::uint64_t size);
    BlockRef hand(std::uint32_t node, std::uint64_t size, const Request& request);
    bool whole(const Node& node) const { return node.previous == nil && node.next == nil; }
    BlockOrder::Key keyOf(std::uint32_t node) const
    {
        const Node& n = m_nodes[node];
        return {n.mapped ? n.size : 0, n.address, node};
    }
    // allocator_growth.cpp
    std::uint32_t growOrRelease(std::uint32_t list, std::uint64_t size, const Request& request);
    std::uint32_t grow(std::uint32_t list, std::uint64_t size, std::uint64_t wish);
    std::uint32_t growRange(std::uint32_t list, std::uint64_t size, std::uint64_t wish);
    std::uint32_t placeToGrow(const FreeList& list, std::uint64_t size) const;
    void clearAt(std::uint64_t address);
    std::uint32_t newRange(std::uint32_t list, std::uint64_t size, std::uint64_t wish);
    bool map(std::uint32_t node, std::uint64_t size);
    void unmap(std::uint32_t node);
    std::uint64_t segmentSize(std::uint64_t size) const;
    std::uint64_t couldGrowTo(std::uint32_t node) const;
    void addReserved(std::uint64_t size);
    void tell(Action action, std::uint64_t address, std::uint64_t size, std::uint32_t list);
    // allocator_release.cpp
    void flush();
    void release(std::uint32_t pool);
    void releaseSegment(std::uint32_t node);
    bool releaseOversize(std::uint32_t list, std::uint64_t size);
    void collectGarbage();
    std::vector<std::uint32_t> collectable() const;
    void await(std::uint32_t node);
    void poll();
    void drain(std::int64_t stream, std::size_t count);
    void setPending(std::uint32_t node);

    AllocatorSettings m_settings;
    std::uint64_t m_capacity = endless;
    std::uint64_t m_memoryLimit = endless;
    std::uint64_t m_rangeSize = 0;
    AddressSpace m_addresses;
    std::vector<Node> m_nodes;
    std::vector<std::uint32_t> m_unusedNodes;
    std::vector<FreeList> m_lists;
    std::vector<Pool> m_pools; ///< 2 · pool id, the small half first
    std::vector<Range> m_ranges;
    std::map<PoolId, PrivateUse> m_private;
    std::vector<PoolId> m_releasable; ///< in the order in which their last users went
    std::map<std::uint32_t, std::vector<std::int64_t>> m_streamsOf;
    std::map<std::int64_t, std::deque<std::uint32_t>> m_waiting;
    std::map<std::int64_t, std::size_t> m_done;
    std::vector<std::uint32_t> m_deferred; ///< freed in a scope: their streams are asked later
    std::vector<std::uint32_t> m_pendingNodes;
    std::vector<std::uint32_t> m_synchronised;
    std::vector<DriverEvent> m_events;
    bool m_keepEvents = false;
    std::uint64_t m_reserved = 0;
    std::uint64_t m_allocated = 0;
    std::uint64_t m_pending = 0;
    std::uint64_t m_requested = 0;
    std::uint64_t m_peakReserved = 0;
    Counts m_counts;
};

} // namespace tidemark
