// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/parallel_roles.hpp"
#include "model/job/rank_summary.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

/// What a rule over several ranks may look at: summaries only.
struct RunRuleInput {
    std::span<const RankSummary> ranks; ///< by rank
    const RoleMap& roles;
    const RunConfig& config;
    std::span<const int> missing; ///< expected ranks without a readable file
    std::string missingSentence;
};

struct RunRuleOutput {
    std::vector<Finding> findings;
    std::vector<Undecided> undecided;
    std::vector<QualityNote> notes;
};

/// One rule over ranks: a file in rules/ and a line in the registry.
struct RunRule {
    const char* id;
    const char* says; ///< what it looks for, a sentence
    void (*run)(const RunRuleInput& input, RunRuleOutput& output);
};

/// In the order in which they run.
std::span<const RunRule> runRules();

/// A finding about one of the ranks.
Finding runFinding(const RankSummary& rank, const char* rule, Severity severity, std::uint64_t bytes);
/// The middle of some numbers, the mean of the two middle ones for an even count; 0 of none.
std::int64_t medianOf(std::vector<std::int64_t> values);
/// "rank 3", "ranks 3 and 5"; those without a number by file.
std::string namesOfRanks(std::span<const RankSummary> ranks, std::span<const std::size_t> which);

/// A peak above its peers' median by more than this share of itself is an outlier (help/findings.md).
inline constexpr std::int64_t outlierShare = 100;

} // namespace tidemark
