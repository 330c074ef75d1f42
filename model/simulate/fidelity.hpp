// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simulate/recording.hpp"

#include <cstdint>
#include <optional>

namespace tidemark {

/// How many of the recorded things came out the same.
struct Match {
    std::uint64_t matched = 0;
    std::uint64_t total = 0;
    /// 1 when there was nothing to compare.
    double share() const
    {
        return total == 0 ? 1.0 : static_cast<double>(matched) / static_cast<double>(total);
    }
};

/// How well the model retells a recording under its own settings: what a prediction from it is worth. Taken
/// from the recording are the state before the first event, where the driver placed new memory, and when
/// cached memory was released; everything else is the model's own.
struct Fidelity {
    Match addresses; ///< allocations that got the recorded address
    Match segmentAllocs;
    Match segmentFrees;
    Match maps;
    Match unmaps;
    Match reserved; ///< requests and frees after which as much is reserved as recorded
    std::uint64_t largestReservedError = 0; ///< bytes
    Match endSegments; ///< address and size
    Match endBlocks; ///< address, size and state
    /// Frees the model had no block for.
    std::uint64_t strayFrees = 0;

    struct Difference {
        std::uint32_t event = 0;
        std::uint64_t bytes = 0;
        std::uint64_t recorded = 0; ///< address
        std::uint64_t model = 0;
    };
    /// The first allocation that went elsewhere.
    std::optional<Difference> firstDifference;

    Match segmentEvents() const;
    /// The least of the shares of addresses, segment events, reserved, and blocks at the end: 0 … 1.
    double score() const;
};

/// Replays a usable recording under its own settings. Cost: 10⁶ requests in 0.2 s with 10⁴ live blocks, 0.5 s
/// with 10⁵; polls job. Errors: Cancelled.
Result<Fidelity> fidelityOf(const Recording& recording, const Job& job);

} // namespace tidemark
