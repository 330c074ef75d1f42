// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/replay/series.hpp"
#include "model/snapshot/snapshot.hpp"

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

/// Every allocation of one device, a column per field, indexed by AllocationId. Predating ones come first,
/// then in the order of their alloc events: the stacking order "oldest at the bottom". An allocation lives in
/// the states [firstState, endState).
struct AllocationColumns {
    std::vector<std::uint64_t> address;
    /// Requested bytes; absurd ones are 0 here and as written in the event.
    std::vector<std::uint64_t> size;
    /// 0 for predating, else stateOf(alloc event).
    std::vector<StateIndex> firstState;
    /// stateOf(event that ended it); states() when it lives to the end of the trace.
    std::vector<StateIndex> endState;
    /// State from which it waits for a stream (a delayed free, help/numbers.md); equal to endState when it
    /// never did.
    std::vector<StateIndex> pendingState;
    std::vector<StackId> stack;
    std::vector<StreamId> stream;
    /// Of the event, else of the segment of the final state that contains the address; PoolId 0 otherwise.
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

/// Lifetimes of one device by help/numbers.md, and who is alive at any state. The invariant: for every state,
/// the sizes of the live allocations sum to requested().at(state). Immutable after build. Cost of build: one
/// pass, O(1) hash operations an event; memory about 45 bytes an allocation plus at most 4 bytes an event for
/// checkpoints.
class Timeline {
public:
    static Result<Timeline> build(const Snapshot& snapshot, const DeviceTrace& device, const Job& job);

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

    /// The allocation an event starts or ends: AllocationId::none for other events and ignored frees.
    AllocationId allocationOf(EventIndex event) const { return m_eventAllocation[index(event)]; }
    /// Ids of all live allocations at a state, ascending. Cost: O(live + distance to the checkpoint).
    std::vector<AllocationId> liveAt(StateIndex state) const;
    std::uint32_t liveCountAt(StateIndex state) const;
    bool isLive(AllocationId id, StateIndex state) const
    {
        const std::size_t i = index(id);
        return m_allocations.firstState[i] <= state && state < m_allocations.endState[i];
    }
    /// The live allocation that covers `address` at `state`, or none. Cost as liveAt the first time.
    AllocationId findLive(std::uint64_t address, StateIndex state) const;
    /// How many allocations at the same address came before: (address, generation) names an allocation.
    std::uint32_t generation(AllocationId id) const;
    /// Event that ended it; absent when alive at the end.
    std::optional<EventIndex> endEvent(AllocationId id) const;
    std::optional<EventIndex> allocEvent(AllocationId id) const;
    /// Stack recorded with the free, when it differs from the allocation's.
    StackId freeStack(AllocationId id, const DeviceTrace& device) const;

    /// Local peaks of requested() in ascending order: prominence ≥ 2 % of the peak (help/window.md); the peak
    /// included.
    std::vector<StateIndex> localPeaks() const;

private:
    friend class TimelineBuilder;
    AllocationColumns m_allocations;
    std::vector<AllocationId> m_eventAllocation;
    StateIndex m_states = 1;
    Predating m_predating;
    Irregularities m_irregular;
    std::uint64_t m_delayedFrees = 0;
    bool m_endsOnRequest = false;
    Series m_requested;
    Series m_pending;
    struct Checkpoint {
        StateIndex state;
        std::vector<AllocationId> live;
    };
    std::vector<Checkpoint> m_checkpoints;
};

} // namespace tidemark
