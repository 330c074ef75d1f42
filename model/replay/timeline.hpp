// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/replay/series.hpp"
#include "model/snapshot/snapshot.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidemark {

/// How an allocation became known (help/numbers.md).
enum class Origin : std::uint8_t {
    Traced, ///< its alloc event is in the trace
    FreedInTrace, ///< predating: the trace only frees it
    AliveAtEnd, ///< predating: an active block the trace never mentions
};

/// Every allocation of one device, a column per field, indexed by AllocationId. Predating ones come first:
/// those that stay to the end, then those the trace frees, the last to go first; then all others in the order
/// of their alloc events. This is the stacking order "oldest at the bottom", and firstState never decreases.
/// An allocation lives in the states [firstState, endState).
struct AllocationColumns {
    std::vector<std::uint64_t> address;
    /// Requested bytes; absurd ones are 0 here and as written in the event.
    std::vector<std::uint64_t> size;
    /// 0 for predating, else stateOf(alloc event); ascending.
    std::vector<StateIndex> firstState;
    /// stateOf(event that ended it); states() when it lives to the end of the trace.
    std::vector<StateIndex> endState;
    /// State from which it waits for a stream (a delayed free, help/numbers.md); equal to endState when it
    /// never did.
    std::vector<StateIndex> pendingState;
    /// Where it was allocated. StackId::none for those known only by their free, except when the recorder
    /// repeats the allocation's stack on frees (freesCarryAllocStack).
    std::vector<StackId> stack;
    std::vector<StreamId> stream;
    /// Of the event, else of the replayed segment it was placed in, else of the segment of the final state
    /// that contains the address; PoolId 0 otherwise.
    std::vector<PoolId> pool;
    std::vector<Origin> origin;

    std::size_t count() const { return address.size(); }
};

/// Counts of help/numbers.md, in the words of the oracle.
struct Irregularities {
    std::uint64_t reallocOfLive = 0;
    std::uint64_t freeOfUnknown = 0;
    std::uint64_t activeButFreed = 0;
    std::uint64_t liveButInactive = 0;
};

struct Predating {
    std::uint64_t freedInTrace = 0;
    std::uint64_t freedInTraceBytes = 0;
    std::uint64_t aliveAtEnd = 0;
    std::uint64_t aliveAtEndBytes = 0;
};

/// An annotate event (PyTorch 2.14) and the live allocation it speaks of; none when nothing lives there.
struct AnnotatedAllocation {
    EventIndex event{};
    AllocationId allocation = AllocationId::none;
};

/// Lifetimes of one device by help/numbers.md, and who is alive at any state. The invariant: for every state,
/// the sizes of the live allocations sum to requested().at(state). Immutable after build. Cost of build: one
/// pass, O(1) hash operations an event; memory about 45 bytes an allocation, 4 bytes an event, 18 bytes a
/// change of the curve, and at most 4 bytes an event for checkpoints.
class Timeline {
public:
    static Result<Timeline> build(const Snapshot& snapshot, const DeviceTrace& device, const Job& job);

    /// Replaces the pools of allocations, by id, where one is given: a last step of building, once the
    /// segments are replayed.
    void placeInPools(std::span<const PoolId> pools);

    StateIndex states() const { return m_states; }
    const AllocationColumns& allocations() const { return m_allocations; }
    const Predating& predating() const { return m_predating; }
    const Irregularities& irregularities() const { return m_irregular; }
    std::uint64_t delayedFrees() const { return m_delayedFrees; }
    /// The trace was recorded with a filter: lives end at free_requested (help/numbers.md).
    bool endsOnRequest() const { return m_endsOnRequest; }

    /// Σ requested bytes of live allocations.
    const Series& requested() const { return m_requested; }
    /// Σ requested bytes of those that wait for a stream.
    const Series& pending() const { return m_pending; }

    /// The allocation an alloc or free event is about (a request and its completion alike):
    /// AllocationId::none for other events and ignored frees.
    AllocationId allocationOf(EventIndex event) const { return m_eventAllocation[index(event)]; }
    /// Ids of all live allocations at a state, ascending. Cost: O(live + distance to the checkpoint).
    std::vector<AllocationId> liveAt(StateIndex state) const;
    /// Cost: O(log allocations).
    std::uint32_t liveCountAt(StateIndex state) const;
    bool isLive(AllocationId id, StateIndex state) const
    {
        const std::size_t i = index(id);
        return m_allocations.firstState[i] <= state && state < m_allocations.endState[i];
    }
    /// The live allocation that covers `address` at `state`, or none; one that starts there is preferred,
    /// then the youngest. Cost as liveAt.
    AllocationId findLive(std::uint64_t address, StateIndex state) const;
    /// How many allocations at the same address came before: (address, generation) names an allocation.
    /// Cost: a scan of the addresses.
    std::uint32_t generation(AllocationId id) const;
    /// Event that ended it; absent when alive at the end.
    std::optional<EventIndex> endEvent(AllocationId id) const;
    std::optional<EventIndex> allocEvent(AllocationId id) const;
    /// Event in which the program gave it up: its free_requested where recorded, else the event that ended
    /// it; absent when never freed.
    std::optional<EventIndex> freeEvent(AllocationId id, const DeviceTrace& device) const;
    /// Stack of the program's free, when it differs from the allocation's. A free_completed that comes later
    /// carries the stack of whatever polled the driver, which says nothing and is not given.
    StackId freeStack(AllocationId id, const DeviceTrace& device) const;
    /// The stacks on free events repeat where the memory was allocated (context="alloc").
    bool freesCarryAllocStack() const { return m_freesCarryAllocStack; }
    /// Notes put on allocations, in order of events.
    std::span<const AnnotatedAllocation> annotations() const { return m_annotations; }

    /// Addresses behind each kind of irregularity, at most limits::maxExamples each; where the first happened
    /// in the trace.
    struct Oddity {
        std::vector<std::uint64_t> addresses;
        std::optional<EventIndex> firstEvent;
    };
    const Oddity& reallocsOfLive() const { return m_oddities[0]; }
    const Oddity& freesOfUnknown() const { return m_oddities[1]; }
    const Oddity& activeButFreed() const { return m_oddities[2]; }
    const Oddity& liveButInactive() const { return m_oddities[3]; }

    /// Local peaks of requested() in ascending order: prominence ≥ 2 % of the peak (help/window.md); the peak
    /// included.
    std::vector<StateIndex> localPeaks() const;

private:
    friend class TimelineBuilder;
    friend class CacheAccess;
    AllocationColumns m_allocations;
    std::vector<AllocationId> m_eventAllocation;
    StateIndex m_states = 1;
    Predating m_predating;
    Irregularities m_irregular;
    std::uint64_t m_delayedFrees = 0;
    bool m_endsOnRequest = false;
    Series m_requested;
    Series m_pending;
    /// Number of allocations that started in states ≤ `state`: they are the ids below it.
    std::uint32_t startedBy(StateIndex state) const;

    bool m_freesCarryAllocStack = false;
    /// The trace has no free_requested at all: free_completed is the only witness of a free.
    bool m_completedOnly = false;
    std::vector<AnnotatedAllocation> m_annotations;
    std::array<Oddity, 4> m_oddities;
    /// States in which an allocation ended, ascending, one entry per end.
    std::vector<StateIndex> m_ends;
    /// Live ids at a state: m_checkpointLive[begin … next checkpoint's begin).
    struct Checkpoint {
        StateIndex state;
        std::uint64_t begin;
    };
    std::vector<Checkpoint> m_checkpoints;
    std::vector<AllocationId> m_checkpointLive;
};

} // namespace tidemark
