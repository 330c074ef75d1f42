// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/groups.hpp"
#include "model/lens/phases.hpp"
#include "model/lens/scope.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

/// How a group's bytes at the ends of steps go.
enum class Trend : std::uint8_t {
    Unknown, ///< fewer than three steps, or nothing at the end of any
    Steady,
    Grows, ///< more at the end of most steps, less at none
    Plateau, ///< grew at first, then no more
    Periodic, ///< up and down again and again
    Shrinks,
    Mixed,
};
/// "grows", "plateau", …; "" for unknown.
const char* trendName(Trend trend);
/// From bytes at the ends of steps, in order. Changes of up to 1 % of the highest count as none.
Trend trendOf(const std::vector<std::int64_t>& bytes);

/// What came and went of one group in a scope. Requested bytes.
struct GrowthRow {
    std::uint32_t group = 0;
    std::uint64_t allocated = 0; ///< lives that began in it
    std::uint64_t allocatedBytes = 0;
    std::uint64_t freed = 0; ///< lives that ended in it, whenever they began
    std::uint64_t freedBytes = 0;
    std::uint64_t kept = 0; ///< of those that began in it, those alive at its end
    std::uint64_t keptBytes = 0;
    std::uint64_t matchedBytes = 0; ///< of allocatedBytes
    /// Live at the end of each step of the table.
    std::vector<std::int64_t> atSteps;
    Trend trend = Trend::Unknown;
    AllocationId largest = AllocationId::none;
};

/// What changed in a range or the whole trace, a row a group, most bytes through it first: their sums are
/// those of rangeSums, and at the end of every step the rows add up to the curve. Immutable after build.
struct GrowthTable {
    Scope scope;
    GroupBy by = GroupBy::Site;
    std::vector<Step> steps; ///< complete ones inside the scope; the last 64 of them
    std::vector<GrowthRow> rows;
    GrowthRow sum; ///< group means nothing
    bool filtered = false;
};

/// Cost: one pass over the allocations, times log of the steps, and the rows sorted. Absent when stopped. Any
/// thread. A scope that is a moment is the whole trace.
std::optional<GrowthTable> buildGrowth(const Replay& replay, const Grouping& grouping, const Scope& scope,
    const Phases* phases, const std::vector<std::uint8_t>* matches, const Job& job);

/// Those of a group that began in the scope and live at its end, by id. Cost: a pass over the allocations.
std::vector<AllocationId> keptIn(
    const Replay& replay, const Grouping& grouping, std::uint32_t group, const Scope& scope);

} // namespace tidemark
