// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/labels.hpp"

namespace tidemark {

/// Allocations of stacks that leave some more behind in every step, up to the last one (help/labels.md).
/// `lasts`: by AllocationId, whether nothing frees it. Without five complete steps nothing is a leak, nor
/// once stopped.
std::vector<AllocationId> findLeaks(const Replay& replay, const Phases& phases, const Labels& labels,
    const std::vector<std::uint8_t>& lasts, const Job& job);

} // namespace tidemark
