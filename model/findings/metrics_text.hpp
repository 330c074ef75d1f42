// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/metrics.hpp"

#include <string>
#include <vector>

namespace tidemark {

/// One metric as people read it.
struct MetricLine {
    const char* id; ///< "M1"
    std::string name; ///< "inactive share"
    std::string value; ///< "4.2 %", "unknown"
    std::string remark; ///< "1.2 GiB of 28 GiB reserved"; may be empty
};
/// M1 to M15 in order; those that depend on segments say so where the file lists none.
std::vector<MetricLine> metricLines(const Replay& replay, const MomentMetrics& metrics);

/// The same as one JSON object, exact: {"M1": {"inactive_ratio": …}, …}. Unknown figures are null.
std::string metricsJson(const Replay& replay, const MomentMetrics& metrics);

} // namespace tidemark
