// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"
#include "model/simulate/changed_program.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

/// What a fix would do to the recorded lifetimes: end allocations earlier (or never make them), take them
/// away for a while, and add memory that the changed program needs instead. Requested bytes.
class Edits {
public:
    /// The allocation would not exist.
    void drop(AllocationId id) { m_cuts.push_back({id, 0}); }
    /// It would end at `state` (first state in which it is gone), if that is earlier.
    void endAt(AllocationId id, StateIndex state) { m_cuts.push_back({id, state}); }
    /// It would be gone in the states [first, end) and be there again afterwards, as recorded: what
    /// recomputing or offloading does to a saved tensor.
    void pause(AllocationId id, StateIndex first, StateIndex end) { m_pauses.push_back({id, first, end}); }
    /// Only `bytes` of it would remain.
    void shrink(AllocationId id, std::uint64_t bytes) { m_shrinks.push_back({id, bytes}); }
    /// Memory the changed program holds in the states [first, end).
    void add(StateIndex first, StateIndex end, std::int64_t bytes, std::string owner)
    {
        m_additions.push_back({first, end, bytes, std::move(owner)});
    }
    bool empty() const
    {
        return m_cuts.empty() && m_pauses.empty() && m_shrinks.empty() && m_additions.empty();
    }

    struct Cut {
        AllocationId id;
        StateIndex end;
    };
    struct Pause {
        AllocationId id;
        StateIndex first;
        StateIndex end;
    };
    struct Shrink {
        AllocationId id;
        std::uint64_t bytes;
    };
    struct Addition {
        StateIndex first;
        StateIndex end;
        std::int64_t bytes;
        std::string owner;
    };
    std::span<const Cut> cuts() const { return m_cuts; }
    std::span<const Pause> pauses() const { return m_pauses; }
    std::span<const Shrink> shrinks() const { return m_shrinks; }
    std::span<const Addition> additions() const { return m_additions; }

private:
    std::vector<Cut> m_cuts;
    std::vector<Pause> m_pauses;
    std::vector<Shrink> m_shrinks;
    std::vector<Addition> m_additions;
};

/// The timeline under some edits.
struct EditedCurve {
    std::int64_t oldPeak = 0;
    StateIndex oldPeakState = 0;
    /// Recorded − edited at the old peak.
    std::int64_t removedAtOldPeak = 0;
    std::int64_t newPeak = 0;
    StateIndex newPeakState = 0;
    /// oldPeak − newPeak.
    std::int64_t saved() const { return oldPeak - newPeak; }
    /// What the fixes leave of the old peak, where it was.
    std::int64_t leftAtOldPeak() const { return oldPeak - removedAtOldPeak; }
    /// Less than 60 % of what is removed is saved: the peak moved.
    bool peakMoved() const { return removedAtOldPeak > 0 && saved() * 10 < removedAtOldPeak * 6; }
    /// The whole edited curve: changes only, by state; values hold until the next one.
    std::vector<std::pair<StateIndex, std::int64_t>> curve;
};

/// The same for the allocator: what the changed program would ask it for. Null when nothing is changed.
std::shared_ptr<const ProgramChange> programChange(
    const Replay& replay, std::span<const std::shared_ptr<const Edits>> edits);

/// Applies several fixes together (never add up two of them): an allocation that several edits cut ends at
/// the earliest, one that several take away is gone whenever one of them says so, one that several shrink has
/// the least bytes; the same fix given twice counts once. Cost: one pass over the curve's changes plus the
/// edits sorted. Null when stopped. Any thread.
std::optional<EditedCurve> applyEdits(
    const Replay& replay, std::span<const std::shared_ptr<const Edits>> edits, const Job& job);

} // namespace tidemark
