// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/rank_summary.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Peaks of a rank inside a step of this name; null where it has none or they are not known. Steps that were
/// counted from the start of the recording mean the same in all ranks only where that is the start of the
/// run.
const StepPeak* stepPeak(const RankSummary& rank, std::string_view step);

/// Steps that two ranks at least can be compared at, in natural order.
std::vector<std::string> stepsInCommon(std::span<const RankSummary> ranks);

/// Of these the one to look at first: where the last failing rank stopped, else where the fullest rank peaks,
/// else the first. Empty when there is none.
std::string stepToLookAt(std::span<const RankSummary> ranks);

} // namespace tidemark
