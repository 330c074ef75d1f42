// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"
#include "model/simulate/allocator_model.hpp"

#include <vector>

namespace tidemark {

/// The segments before a recording's first event, as an AllocatorModel takes them. Expandable ranges are put
/// together from the mapped stretches and from what the trace maps later: a file does not tell where a range
/// begins and ends. Block sizes of memory that is gone at the end are inferred (SegmentHistory).
std::vector<ModelSegment> startState(const Replay& replay);

} // namespace tidemark
