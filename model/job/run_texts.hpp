// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/summarise.hpp"
#include "model/report/report.hpp"

namespace tidemark {

/// What a report says of all ranks together. Any thread.
report::RunTexts runTexts(const SummarisedJob& job);

} // namespace tidemark
