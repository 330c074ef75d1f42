// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/rule.hpp"

#include <memory>
#include <span>

namespace tidemark {

/// Answers "would expandable segments have helped?" in the findings of one device that raise the question:
/// those that advise them, and failures for lack of memory in one piece. Adds evidence whatif_expandable_…, a
/// sentence, and takes the advice away from failures that would stay. Where nothing can be predicted, a
/// sentence says why and the advice stays as it is. Fixes that change the order of requests are replayed, too
/// (order_what_if.hpp). Only if a finding asks.
/// Cost: as Simulation::build and run for each of up to three replays, 1 to 2 s for 10⁶ requests.
void addWhatIfs(std::span<Finding> findings, const RuleInput& input,
    const std::shared_ptr<const Replay>& replay, const Job& job);

} // namespace tidemark
