// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tidemark {

/// A −1 stands for "no time" in some files, and no recorder writes times before 1970.
constexpr bool hasTime(std::int64_t us)
{
    return us >= 0;
}

/// Replay::monotoneTimes of a trace's times; empty when there is none. Cost: one pass.
inline std::vector<std::int64_t> runningMaximum(const std::vector<std::int64_t>& times)
{
    const auto first = std::find_if(times.begin(), times.end(), hasTime);
    if (first == times.end())
        return {};
    std::vector<std::int64_t> out;
    out.reserve(times.size());
    std::int64_t latest = *first;
    for (const std::int64_t us : times) {
        latest = std::max(latest, us);
        out.push_back(latest);
    }
    return out;
}

} // namespace tidemark
