// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/playbook/run_config.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

enum class CheckLevel { Error, Warning, Advice, Unknown };
const char* checkLevelName(CheckLevel level);

/// A configuration check that fired, or that could not be decided for lack of input (Unknown).
struct ConfigCheck {
    std::string id; ///< C-01 … C-37
    CheckLevel level{};
    std::map<std::string, std::string> keys; ///< the settings it looked at; "unknown" for those not given
    std::string text; ///< what is wrong and what to do, one or two sentences
    std::string source; ///< where the rule comes from: file of which project, revision
};

/// What only the open recording can add to a check.
struct CheckFacts {
    /// allocator_settings.expandable_segments, or is_expandable of the segments; absent: not recorded.
    std::optional<bool> expandableInSnapshot;
    bool mixedSegments = false; ///< some segments are expandable, some are not
    /// Events of the longest device trace, and the ring's capacity where known.
    std::optional<std::uint64_t> events;
    std::optional<std::uint64_t> ringCapacity;
    std::optional<int> rank; ///< of the file
    bool outOfMemory = false;
    bool loraGatheredInput = false; ///< the finding of that name exists
    bool hasSteps = false; ///< ProfilerStep annotations
    std::size_t files = 1; ///< of the run that were looked at, one rank each
    std::vector<int> otherFailedRanks; ///< of the run's other files, when several are looked at together

    /// Ranks known to have run out of memory, by number.
    std::vector<int> failedRanks() const;
    /// What another file of the same run adds.
    void merge(const CheckFacts& other);
};
/// `rank` and `loraGatheredInput` stay as they are: a snapshot does not tell.
CheckFacts checkFacts(const Snapshot& snapshot);

/// All 37 checks: those that fired and those that are unknown, by id. Nothing for those that pass.
std::vector<ConfigCheck> checkConfig(const RunConfig& config, const CheckFacts& facts);

} // namespace tidemark
