// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/groups.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// A text a recording keeps with an allocation, as in the file (show it through core/text.hpp).
struct AttachedText {
    enum class Kind { UserMetadata, Annotation, CompileContext, InternalMetadata, Category, FxNode };
    Kind kind = Kind::UserMetadata;
    std::string text;
    /// The event it came with; absent when only the block at the end of the file has it.
    std::optional<EventIndex> event;
};

/// Everything the file says of one allocation beyond its columns.
struct AllocationFacts {
    StackId stack = StackId::none;
    /// The stack of the forward call whose backward made it; none when absent.
    StackId forwardStack = StackId::none;
    /// Recorded with the free; none when absent or equal to `stack`.
    StackId freeStack = StackId::none;
    std::optional<EventIndex> allocEvent;
    std::optional<EventIndex> endEvent;
    /// Event that asked for the free, when it is not the one that ended the life.
    std::optional<EventIndex> freeRequest;
    std::optional<std::int64_t> startUs;
    std::optional<std::int64_t> endUs;
    /// In order of their events, each distinct text of a kind once; annotations attached later included.
    std::vector<AttachedText> texts;
    std::uint32_t generation = 0;
    /// Allocations at this address over the whole trace, this one included.
    std::uint32_t generations = 1;
};

/// Collects the facts of one allocation. Cost: one scan over the events of its life. Any thread.
AllocationFacts allocationFacts(const Replay& replay, AllocationId id);

/// A group over the whole trace.
struct GroupFacts {
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0; ///< Σ over all, dead or alive
    std::uint64_t largest = 0;
    AllocationId largestId = AllocationId::none;
    std::uint64_t smallest = 0;
    StateIndex first = 0; ///< first state with a member
    StateIndex last = 0; ///< last state with a member
    std::int64_t peak = 0; ///< the group's own maximum
    StateIndex peakState = 0;
    std::uint64_t atCursor = 0;
    std::uint64_t countAtCursor = 0;
    std::uint64_t aliveAtEnd = 0;
    std::uint64_t aliveAtEndBytes = 0;
    std::uint64_t predating = 0;
    /// Stack of the largest member; the sheet shows it as an example.
    StackId stack = StackId::none;
    bool oneStack = true; ///< all members share it
    StreamId stream = StreamId::none; ///< none: several
    PoolId pool = PoolId::none;
    std::uint64_t blockBytes = 0; ///< at the cursor
};

/// Cost: a pass over all allocations and one over the states. Any thread.
GroupFacts groupFacts(const Replay& replay, const Grouping& grouping, std::uint32_t group, StateIndex cursor);

/// GroupFacts::first and last alone; the first behind the last when the group is empty. Cost: a pass over the
/// groups of all allocations, some milliseconds for 10⁷ events.
std::pair<StateIndex, StateIndex> groupSpan(
    const Replay& replay, const Grouping& grouping, std::uint32_t group);

/// GroupFacts of any allocations, one flag each by AllocationId.
GroupFacts setFacts(const Replay& replay, const std::vector<std::uint8_t>& flags, StateIndex cursor);

/// What happened to memory between two states.
struct RangeSums {
    std::uint64_t allocated = 0; ///< allocations that began in it
    std::uint64_t allocatedBytes = 0;
    std::uint64_t freed = 0; ///< lives that ended in it, whenever they began
    std::uint64_t freedBytes = 0;
    std::uint64_t surviving = 0; ///< of the ones that began in it, those alive at its end
    std::uint64_t survivingBytes = 0;
};
/// Over the events after state `first` up to state `last`; allocatedBytes − freedBytes is the curve's change.
RangeSums rangeSums(const Replay& replay, StateIndex first, StateIndex last);

/// A live block next to free memory, for "what pins it".
struct Pin {
    AllocationId allocation = AllocationId::none;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    bool waiting = false;
    /// Free bytes that touch the block.
    std::uint64_t holds = 0;
    /// Distance in bytes from the hole asked about; 0 for its direct neighbours.
    std::uint64_t distance = 0;
};

/// The live and waiting blocks of a segment, by free bytes they touch (largest first), then smallest block
/// first: the blocks whose end would open most memory. `hole` is the start address of the hole asked about.
std::vector<Pin> pinsOf(const SegmentState& state, const SegmentView& segment, std::uint64_t hole);

/// The segment that contains an address, or null. Cost: O(log segments).
const SegmentView* segmentAt(const SegmentState& state, std::uint64_t address);

/// Free memory of the segments of one pool and stream (or of all), by what can be done with it; sums of the
/// map's footer. Σ = SegmentState::free when nothing is left out.
struct FreeSums {
    std::uint64_t segments = 0;
    std::uint64_t reserved = 0;
    std::uint64_t pinned = 0; ///< in the default pool, and emptying the cache would leave it behind
    std::uint64_t pinnedSegments = 0; ///< that hold some of it
    std::uint64_t releasable = 0; ///< in the default pool, and emptying the cache would give it back
    std::uint64_t releasableSegments = 0;
    std::uint64_t held = 0; ///< in private pools
    std::uint64_t heldSegments = 0;
    std::uint64_t waiting = 0; ///< block bytes that wait for a stream; not free
    std::uint64_t largestHole = 0;
};
FreeSums freeSums(const SegmentState& state, std::optional<PoolId> pool, std::optional<StreamId> stream);

/// Stack of the event that reserved a segment, or of the segment at the end of the file; none when unknown.
StackId segmentStack(const Replay& replay, const SegmentView& segment);

} // namespace tidemark
