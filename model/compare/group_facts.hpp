// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/side.hpp"
#include "model/lens/groups.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::compare {

/// What is known of one group of one side, whatever is compared.
struct GroupFacts {
    std::uint64_t highest = 0; ///< its own highest live bytes
    std::uint64_t largest = 0; ///< its largest allocation
    std::uint64_t count = 0; ///< allocations in the whole recording
    AllocationId first = AllocationId::none;
    /// Folder and name of the innermost frame's file that its name speaks of; empty for groups without.
    std::string path;
};
/// By group. Cost: one pass over the allocations and one over the states. Empty when stopped.
std::vector<GroupFacts> groupFacts(const Side& side, const Grouping& grouping, const Job& job);

} // namespace tidemark::compare
