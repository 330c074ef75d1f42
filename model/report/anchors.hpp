// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"
#include "model/report/annotations.hpp"
#include "model/run/rank.hpp"

#include <optional>
#include <string>

/// Between the anchors of remarks and an open device: the same data is found again in the next opening of the
/// file, or in another one of the same run. Any thread.
namespace tidemark::report {

/// The number of the event after which a state stands, as in the file; −1 (or one below the first event that
/// was read) for the state before it.
std::int64_t eventOf(const Replay& replay, StateIndex state);
/// The state after an event; the nearest one for events that were not read.
StateIndex stateOfEvent(const Replay& replay, std::int64_t event);

PointAnchor pointAnchor(const Replay& replay, StateIndex state, std::int64_t bytes);
/// Cost: O(allocations up to `id`).
AllocationAnchor allocationAnchor(const Replay& replay, AllocationId id);
/// AllocationId::none when the device has no such allocation. Cost: O(log allocations), for one that is older
/// than the recording O(number of those).
AllocationId findAllocation(const Replay& replay, const AllocationAnchor& anchor);

/// The state an anchor speaks of: of its event, or of the birth of its allocation; absent for findings and
/// for what the device does not have.
std::optional<StateIndex> stateOfAnchor(const Replay& replay, const Anchor& anchor);

/// Why a remark points nowhere in a file: one sentence without its end, "this file has no device 99"; empty
/// where it points at something, and for findings. Cost: as stateOfAnchor.
std::string lostText(const Rank& rank, const Annotation& annotation);

} // namespace tidemark::report
