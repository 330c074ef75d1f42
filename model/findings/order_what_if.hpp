// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/rule.hpp"
#include "model/simulate/what_if.hpp"

#include <span>
#include <string>

namespace tidemark {

/// Fixes that leave the requests as they are and change their order, or empty the cache between them.
inline constexpr const char* emptyCacheFix = "empty-cache-before-optimizer";
inline constexpr const char* pinsFirstFix = "allocate-pins-first";

/// The earliest finding of a device that offers such a fix; null when none does. After it the run would have
/// gone another way, so the others are not replayed.
Finding* firstThatOrderMayHelp(std::span<Finding> findings, std::size_t deviceIndex);

/// Replays the requests as each of these fixes would have them: a sentence, the grade and evidence
/// whatif_empty_cache_…, whatif_pins_first_…; a fix under which the request fails as well is blocked. Where a
/// fix cannot be replayed, its text says why. Cost: as Simulation::run, for each.
void addOrderWhatIf(Finding& finding, const RuleInput& input, const Simulation& simulation, const Job& job);
/// Says in the fixes that nothing of the recording can be replayed.
void tellOrderRefusal(Finding& finding, const std::string& why);

} // namespace tidemark
