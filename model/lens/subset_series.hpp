// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"

#include <span>

namespace tidemark {

/// Σ requested bytes of those of the given allocations that are live, over all states of the trace. An
/// allocation named twice counts once; the whole set gives timeline.requested(). Cost: O(n log n) in the
/// number of allocations named. Any thread.
Series subsetSeries(const Replay& replay, std::span<const AllocationId> allocations);

} // namespace tidemark
