// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/replay/replay.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

/// Of which allocations tables, trees and flames speak.
struct Scope {
    enum class Kind : std::uint8_t {
        Instant, ///< those that live at `first`
        Range, ///< those that begin or end after `first`, up to and with `last`
        Trace, ///< all there are
    };
    Kind kind = Kind::Instant;
    StateIndex first = 0;
    StateIndex last = 0; ///< equal to `first` for a moment

    static Scope moment(StateIndex state) { return {Kind::Instant, state, state}; }
    static Scope range(StateIndex first, StateIndex last) { return {Kind::Range, first, last}; }
    static Scope trace(const Replay& replay) { return {Kind::Trace, 0, replay.states() - 1}; }
    bool operator==(const Scope&) const = default;
};

/// Which allocations of a range; of the whole trace Allocated means all, those before it included.
enum class ScopePart : std::uint8_t {
    Allocated, ///< lives that began in it
    Freed, ///< lives that ended in it, whenever they began
    Surviving, ///< lives that began in it and go on at its end
};

/// The allocations a scope speaks of, by id. A moment knows no parts. The sums of the parts are those of
/// rangeSums. Cost: as Timeline::liveAt for a moment, else a pass over all. Empty when stopped. Any thread.
std::vector<AllocationId> allocationsIn(
    const Replay& replay, const Scope& scope, ScopePart part, const Job& job);

/// Microseconds an allocation lives within a scope, at a moment: has lived so far. States stand in for
/// microseconds where the recording has no times.
double livesWithin(const Replay& replay, const Scope& scope, AllocationId id);

} // namespace tidemark
