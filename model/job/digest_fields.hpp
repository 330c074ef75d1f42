// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/rank_summary.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace tidemark {

/// What is left out to keep a digest small.
struct DigestDetail {
    std::size_t levels = 3; ///< of the series
    bool pieces = true; ///< what lies in the segments
    std::size_t findings = RankSummary::maxFindings;
};

/// The tree of help/digest.md.
nlohmann::json digestTree(const RankSummary& summary, const DigestDetail& detail);
/// The summary of a tree; the error is the path of what does not belong there.
struct DigestFault {
    std::string where;
};
std::optional<DigestFault> fillFromTree(RankSummary& summary, const nlohmann::json& tree);

} // namespace tidemark
