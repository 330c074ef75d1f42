// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/rule.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

/// What lowers a run's need on the hardware it has, in the playbook's order (row D2): recompute, sharding and
/// offloading of the optimizer state. Edits where labels and settings tell which allocations change. `saved`:
/// bytes of saved activations to name, 0 for none. Cost: a pass over the allocations, one over the curve a
/// fix.
std::vector<Fix> needFixes(const RuleInput& input, std::uint64_t saved, const Job& job);

/// Half of the optimizer state moves to the CPU; Megatron's.
Fix optimizerOffload(const RuleInput& input, const Job& job);

} // namespace tidemark
