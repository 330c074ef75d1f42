// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/estimates.hpp"

#include <optional>
#include <vector>

namespace tidemark {

/// Equal tensors saved at the boundaries of activation checkpoints, live at the peak.
struct CheckpointInputs {
    std::vector<AllocationId> ids; ///< ascending
    std::uint64_t each = 0;
    /// How many of them one layer keeps; 1 is the floor.
    std::size_t perLayer = 1;
    const char* perLayerFrom = ""; ///< what told it
    std::size_t layers() const { return ids.size() / perLayer; }
};

/// The largest such set at the peak; absent when the recording shows none.
std::optional<CheckpointInputs> checkpointInputs(const RuleInput& input, const StackFacts& facts);

} // namespace tidemark
