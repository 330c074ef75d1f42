// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/summarise.hpp"
#include "model/report/report.hpp"

#include <memory>

namespace tidemark {

/// What a report says of all ranks together. Any thread.
report::RunTexts runTexts(const SummarisedJob& job);

/// The table of ranks: those that were read, by rank, then files that could not be. Any thread.
std::vector<report::RankRow> rankRows(const SummarisedJob& job);

/// Puts what is known of a job into a report about one of its ranks: the table; of two ranks and more also
/// the picture and what the rules over ranks found, instead of the advice to compare with them. Nothing for a
/// job of one file. Any thread.
void addJob(report::ReportInput& input, std::shared_ptr<const SummarisedJob> job);

} // namespace tidemark
