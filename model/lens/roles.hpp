// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/labels.hpp"

namespace tidemark {

/// Roles of all allocations from when they were made and freed; `labels` has its rules already. Null when
/// stopped. Cost: two passes over the allocations, and one over those never freed for leaks.
std::optional<std::vector<Role>> findRoles(
    const Replay& replay, const Phases& phases, const Labels& labels, const Job& job);

} // namespace tidemark
