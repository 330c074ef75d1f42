// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark {

/// An allocation that lives across an end of a range of events, as the events outside of it tell.
struct OutsideAllocation {
    std::uint64_t address = 0;
    /// Bytes as in the event that tells of it; ≤ 0 counts as 0.
    std::int64_t size = 0;
    StackId stack = StackId::none;
    StreamId stream{};
    PoolId pool = PoolId::none;
    /// Its free was requested and has not been completed: it waits for a stream.
    bool waits = false;
    /// Its alloc event stands before the range; otherwise only a later free tells of it.
    bool allocSeen = false;
};

/// What the events of a trace that were not kept say of the ones that were: with it the curves of a range
/// equal those of the whole file at the same events (help/ranges.md). Filled by RangeFold.
struct OutsideRange {
    /// Events of the whole trace.
    std::uint64_t eventsInFile = 0;
    std::uint64_t eventsBefore = 0;
    std::uint64_t eventsAfter = 0;
    /// Allocations alive when the range begins, the oldest first.
    std::vector<OutsideAllocation> alive;
    /// Addresses that events before the range name and where nothing lives when it begins, as far as the
    /// range or the end state name them again.
    std::vector<std::uint64_t> dead;
    /// The first event behind the range completes the free of this address.
    std::optional<std::uint64_t> completedNext;
    /// Whether a free is requested outside of the range.
    bool freeRequests = false;
    /// Timeline::endsOnRequest of the whole trace.
    bool endsOnRequest = false;

    /// Allocations alive when the range ends, when events follow it: nothing else has a block in use then.
    std::vector<OutsideAllocation> aliveAtEnd;
    /// The addresses of those among them that stay to the end of the file, ascending.
    std::vector<std::uint64_t> staying;
    /// Addresses of blocks of the end of the file that any event names, ascending.
    std::vector<std::uint64_t> named;
    /// Events behind the range that reserve memory or give it back, until the state at its end is
    /// made of them.
    EventColumns laterSegments;
    /// Reserved bytes at the end of the range, when events follow it and the file lists segments.
    std::optional<std::int64_t> reservedAtEnd;
    /// Reserved bytes before the first event of the range, where the recorder itself counted them.
    std::optional<std::int64_t> reservedAtStart;
};

} // namespace tidemark
