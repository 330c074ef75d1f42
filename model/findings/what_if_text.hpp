// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/rule.hpp"
#include "model/simulate/what_if.hpp"

#include <optional>
#include <string>

namespace tidemark {

/// The failed request that a finding is about; absent when it is about something else.
std::optional<EventIndex> failureOf(const Finding& finding, const RuleInput& input);
/// "peak reserved 66.80 GiB of 77.64 GiB (recorded 77.30 GiB), 0 flushes".
std::string figuresText(const WhatIf& predicted, const RuleInput& input);
/// "memory runs out at event 81 already, for a request of 1.46 GiB".
std::string runsOutText(const WhatIf::OutOfMemory& oom, const RuleInput& input);

} // namespace tidemark
