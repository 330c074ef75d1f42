// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/same_step.hpp"

#include "model/core/natural_order.hpp"

#include <algorithm>
#include <map>

namespace tidemark {

namespace {

/// The profiler's steps carry the number of the run's own iteration.
bool comparable(const RankSummary& rank, std::string_view step)
{
    return rank.reachesStart || step.starts_with("ProfilerStep#");
}

} // namespace

const StepPeak* stepPeak(const RankSummary& rank, std::string_view step)
{
    if (rank.stepPeaks.size() != rank.steps.size() || !comparable(rank, step))
        return nullptr;
    const auto found = std::ranges::find(rank.steps, step, &Step::name);
    return found == rank.steps.end() ? nullptr
                                     : &rank.stepPeaks[static_cast<std::size_t>(found - rank.steps.begin())];
}

std::vector<std::string> stepsInCommon(std::span<const RankSummary> ranks)
{
    std::map<std::string, std::size_t> having;
    for (const RankSummary& rank : ranks)
        for (const Step& step : rank.steps)
            if (stepPeak(rank, step.name) != nullptr)
                ++having[step.name];
    std::vector<std::string> out;
    for (const auto& [name, count] : having)
        if (count > 1)
            out.push_back(name);
    std::ranges::sort(out, [](const std::string& a, const std::string& b) { return naturallyLess(a, b); });
    return out;
}

std::string stepToLookAt(std::span<const RankSummary> ranks)
{
    const std::vector<std::string> common = stepsInCommon(ranks);
    const auto has = [&](const std::string& name) { return std::ranges::find(common, name) != common.end(); };
    std::string found;
    const RankSummary* fullest = nullptr;
    for (const RankSummary& rank : ranks) {
        if (rank.oom)
            for (const Step& step : rank.steps)
                if (has(step.name))
                    found = step.name;
        if (fullest == nullptr || rank.live.bytes > fullest->live.bytes)
            fullest = &rank;
    }
    if (found.empty() && fullest != nullptr)
        for (const Step& step : fullest->steps)
            if (step.first <= fullest->live.state && fullest->live.state <= step.last && has(step.name))
                found = step.name;
    return !found.empty() || common.empty() ? found : common.front();
}

} // namespace tidemark
