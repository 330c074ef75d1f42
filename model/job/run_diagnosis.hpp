// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/discovery.hpp"
#include "model/job/parallel_roles.hpp"
#include "model/job/rank_summary.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// How one rank stands among the others: a row of the overview.
struct RankStanding {
    /// What its allocator could own; from its failed request, else that of a rank with the same card, else
    /// the size of the card.
    std::optional<std::uint64_t> capacity;
    std::string capacityFrom; ///< "its failed request", "rank 3's failed request", "size of the card"
    std::optional<std::int64_t>
        headroom; ///< capacity − allocated peak; below 0: the card cannot be that small
    std::optional<std::int64_t> overhead; ///< reserved peak − allocated peak
    std::int64_t groupMedian = 0; ///< live peaks of the other ranks of its group; its own when it is alone
    bool outlier = false;
    std::string reason; ///< of an outlier, a sentence: the title of the finding that names it
    /// The gravest of its own findings and of those over the ranks that name it.
    std::optional<Severity> worst;
    std::string worstTitle;
};

/// What is said of a job as a whole. Immutable after diagnoseRun; holds no summaries.
struct RunDiagnosis {
    RoleMap roles;
    std::vector<RankStanding> ranks; ///< as the summaries
    std::vector<Finding> findings; ///< over the ranks, by severity, then bytes
    std::vector<Undecided> undecided;
    std::vector<std::string> clear; ///< ids of rules that ran and found nothing
    std::vector<QualityNote> quality; ///< missing ranks, unreadable files; what the ranks' own notes share

    /// "Only rank 3 of 8 ran out of memory because …", or that nothing stands out.
    std::string headline(std::span<const RankSummary> summaries) const;
    /// One object on one line, as `diagnose --json` prints it for a folder: "ranks" beside the usual keys.
    std::string json(std::span<const RankSummary> summaries, std::string_view folder) const;
};

/// What `diagnose --json` prints of one digest.
std::string summaryJson(const RankSummary& summary);

/// Runs all rules over ranks. `summaries` by rank, as summarise() gives them. Cost: some µs a rank.
RunDiagnosis diagnoseRun(
    std::span<const RankSummary> summaries, const DiscoveredJob& job, const RunConfig& config);

} // namespace tidemark
