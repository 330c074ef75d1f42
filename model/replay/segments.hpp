// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/byte_sum.hpp"
#include "model/core/ids.hpp"
#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/replay/block_rules.hpp"
#include "model/replay/segment_ranges.hpp"
#include "model/replay/series.hpp"
#include "model/replay/timeline.hpp"
#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tidemark {

/// What a stretch of a segment is at a moment.
enum class PieceKind : std::uint8_t {
    Live, ///< an allocation's block
    Waiting, ///< freed by the program, waiting for a stream
    Free, ///< inactive, in the allocator's hands
    /// A block state this program does not know, at the end of the file. Counts in no total but reserved; has
    /// an allocation when the trace lets one live there.
    Unknown,
};

/// A stretch of one segment: blocks and holes in address order cover the segment exactly.
struct Piece {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    /// Requested bytes of a live piece; size − requested is rounding waste.
    std::uint64_t requested = 0;
    AllocationId allocation = AllocationId::none;
    PieceKind kind = PieceKind::Free;
    /// The size is stated by the file, not inferred from the rounding rules (help/format.md).
    bool exactSize = false;
};

/// A reserved range at a moment; for expandable segments one contiguous mapped range.
struct SegmentView {
    SegmentId id{};
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    StreamId stream{};
    PoolId pool{};
    SegmentKind kind = SegmentKind::Unknown;
    bool expandable = false;
    /// Bytes that are mapped and unmapped together where it is expandable.
    std::uint64_t page = BlockRules::largeSegment;
    /// Reserved before the first event.
    bool predating = false;
    /// Its pieces are SegmentState::pieces[firstPiece … firstPiece + pieceCount).
    std::uint32_t firstPiece = 0;
    std::uint32_t pieceCount = 0;
    std::uint64_t liveBytes = 0;
    std::uint64_t waitingBytes = 0;
    std::uint64_t freeBytes = 0;
    /// Of freeBytes: what emptying the cache would give back (releasableIn of segment_class.hpp). The rest is
    /// pinned, or held by a private pool.
    std::uint64_t releasableBytes = 0;
    std::uint64_t largestHole = 0;
    /// State since which it exists; 0 for predating.
    StateIndex since = 0;
};

/// All segments of one device at one state, in address order. Invariants: pieces of a segment are contiguous
/// and sum to its size; Σ segment sizes = reserved at that state.
struct SegmentState {
    StateIndex state = 0;
    std::vector<SegmentView> segments;
    std::vector<Piece> pieces;
    /// Live allocations that lie in no known segment (trace and segments disagree); listed, never dropped.
    std::vector<AllocationId> homeless;
    std::uint64_t reserved = 0;
    std::uint64_t live = 0; ///< block bytes of live pieces
    std::uint64_t requested = 0;
    std::uint64_t waiting = 0;
    std::uint64_t free = 0;
    /// Free bytes of the default pool that emptying the cache would leave behind, and that it would give
    /// back: native segments that hold nothing, whole free pages of expandable ones.
    std::uint64_t pinned = 0;
    std::uint64_t releasable = 0;
    /// Free bytes inside private pools, reported apart (help/numbers.md).
    std::uint64_t heldByPools = 0;
    std::uint64_t largestHole = 0;
};

/// Fills the sums of a state and of its segments, which must be 0, from the pieces. Cost: a pass over them.
void sumUp(SegmentState& state);

/// Segments over the whole trace of one device: state at any moment, reserved and allocated curves. The end
/// state comes from `segments`; earlier ones undo the segment events from the end (help/numbers.md). Sources
/// of the allocator's rules: c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.6 (round_size, should_split,
/// map_block). Immutable after build; stateAt may be called from any thread.
class SegmentHistory {
public:
    /// Cost: a sort of the addresses and two passes over the events; about 50 bytes an allocation meanwhile.
    static Result<SegmentHistory> build(
        const Snapshot& snapshot, const DeviceTrace& device, const Timeline& timeline, const Job& job);

    /// False: the file lists no segments: there is no map, and reserved is unknown unless reservedKnown().
    bool known() const { return m_known; }
    /// Reserved can be told: from the segments, or as the recorder itself counted it.
    bool reservedKnown() const { return m_reservedKnown; }
    /// False: no segment event in the trace: segments are those of the end of the file, at every moment.
    bool hasEvents() const { return m_hasEvents; }

    /// Anchored at the end of the file; may differ from SegmentState::reserved only when misfits() > 0.
    const Series& reserved() const { return m_reserved; }
    /// Block bytes of live allocations that do not wait for a stream, as torch.cuda.memory_allocated counts
    /// them: exact at the end, inferred before (label with ≈).
    const Series& allocated() const { return m_allocated; }
    /// Block bytes of allocations that wait for a stream, the same way.
    const Series& waiting() const { return m_waiting; }
    /// Reserved bytes that no block holds: reserved − allocated − waiting, exact at the end, inferred before.
    std::int64_t inactiveAt(StateIndex state) const
    {
        ByteSum sum = m_reserved.at(state);
        sum -= m_allocated.at(state);
        sum -= m_waiting.at(state);
        sum -= state + 1 == m_reserved.states() ? m_unknownAtEnd : ByteSum();
        return sum;
    }
    /// Reserved per private pool: one entry per pool with segments, default pool included.
    const std::vector<std::pair<PoolId, Series>>& reservedByPool() const { return m_reservedByPool; }

    /// The last state is the file's own; earlier ones are replayed. Cost: O(segments + live · log live +
    /// distance to the checkpoint); ≤ 8 ms at 10⁶ allocations with 10⁴ live.
    SegmentState stateAt(StateIndex state, const Timeline& timeline) const;
    /// Block size of an allocation and whether the file states it.
    std::uint64_t blockSize(AllocationId id) const { return m_blockSize[index(id)]; }
    bool blockSizeExact(AllocationId id) const { return m_blockSizeExact[index(id)] != 0; }
    /// SegmentView::id of the segment an allocation was placed in (for predating ones: lies in at the start);
    /// none if unknown. Ids below the number of segments in the file are positions in that list.
    SegmentId segmentOf(AllocationId id) const { return m_segmentOf[index(id)]; }

    /// Every reserved range with the states in which it exists, by first state.
    std::span<const SegmentRange> ranges() const { return m_ranges; }
    /// Segment events that do not fit the segments of the end.
    std::uint64_t misfits() const { return m_misfits; }
    /// How inference did where the file knows better: allocations of the trace that live at its end.
    struct SizeCheck {
        std::uint64_t compared = 0;
        std::uint64_t equal = 0;
    };
    SizeCheck sizeCheck() const { return m_sizeCheck; }
    /// Pages of the large pool (BlockRules::largePage).
    std::uint64_t largePage() const { return m_largePage; }

private:
    friend class SegmentHistoryBuilder;
    friend class CacheAccess;
    struct Checkpoint {
        StateIndex state;
        /// First of m_ranges that begins later.
        std::uint32_t next;
        /// Ranges that exist at the state.
        std::vector<std::uint32_t> alive;
    };
    struct LiveBlock {
        std::uint64_t address;
        AllocationId id;
    };
    std::vector<std::uint32_t> rangesAt(StateIndex state) const;
    void placeBlocks(const SegmentRange& range, const std::vector<LiveBlock>& live,
        std::vector<std::uint8_t>& placed, const Timeline& timeline, SegmentState& out) const;

    bool m_known = false;
    bool m_reservedKnown = false;
    bool m_hasEvents = false;
    /// Events behind the range that was read were left out: the last state is replayed like all others.
    bool m_endsEarly = false;
    std::uint64_t m_misfits = 0;
    SizeCheck m_sizeCheck;
    std::uint64_t m_largePage = BlockRules::largeSegment;
    Series m_reserved;
    Series m_allocated;
    /// Bytes of blocks in a state this program does not know.
    ByteSum m_unknownAtEnd;
    /// Blocks older than the trace whose free was requested before it and never completed, ascending.
    std::vector<AllocationId> m_waitFromStart;
    Series m_waiting;
    std::vector<std::pair<PoolId, Series>> m_reservedByPool;
    std::vector<SegmentRange> m_ranges;
    std::vector<Checkpoint> m_checkpoints;
    std::vector<std::uint64_t> m_blockSize;
    std::vector<std::uint8_t> m_blockSizeExact;
    std::vector<SegmentId> m_segmentOf;
    /// The last state, as the file has it: pieces of segment i from m_endFirst[i] to m_endFirst[i + 1].
    std::vector<Piece> m_endPieces;
    std::vector<std::uint32_t> m_endFirst;
};

} // namespace tidemark
