// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simulate/recording.hpp"

#include <cstdint>
#include <optional>

namespace tidemark {

/// What a recording says of the things that a WhatIf predicts, counted the same way. Bytes.
struct RecordedFigures {
    std::uint64_t peakReserved = 0;
    StateIndex peakState = 0;
    std::uint64_t peakAllocated = 0; ///< block bytes: inferred for blocks that are gone at the end
    std::uint64_t endReserved = 0;
    std::uint64_t endReleasable = 0; ///< what a shortage at the end would give back
    std::uint64_t idleAtPeak = 0; ///< after the first request or free at which most is reserved; inferred
    /// Flushes: bursts of releases that a request forced, and failed requests, which flush before they fail.
    /// What garbage_collection_threshold and max_split_size_mb give back looks the same and is among them.
    AllocatorModel::Counts counts;
    std::uint64_t failures = 0;
    std::optional<EventIndex> firstFailure;
    std::uint64_t failedBytes = 0; ///< request of the first one
};

/// Cost: a pass over the events.
RecordedFigures recordedFigures(const Recording& recording);

} // namespace tidemark
