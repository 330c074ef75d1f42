// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/leaks.hpp"

#include <algorithm>
#include <unordered_map>

namespace tidemark {

namespace {

constexpr std::size_t leastSteps = 5;
constexpr double leastFit = 0.98;
/// Share of the steps in which a stack must leave something.
constexpr double leastShare = 0.9;

/// R² of a straight line through the running sums.
double straightness(const std::vector<double>& added)
{
    const auto n = static_cast<double>(added.size());
    double sum = 0;
    double sx = 0;
    double sy = 0;
    double sxx = 0;
    double sxy = 0;
    double syy = 0;
    for (std::size_t i = 0; i < added.size(); ++i) {
        const auto x = static_cast<double>(i);
        sum += added[i];
        sx += x;
        sy += sum;
        sxx += x * x;
        sxy += x * sum;
        syy += sum * sum;
    }
    const double vx = n * sxx - sx * sx;
    const double vy = n * syy - sy * sy;
    const double cov = n * sxy - sx * sy;
    return vx <= 0 || vy <= 0 || cov <= 0 ? 0 : cov * cov / (vx * vy);
}

/// What one stack leaves behind, step by step.
struct Remains {
    std::vector<double> added;
    std::vector<AllocationId> ids;
};

bool leaks(const Remains& remains)
{
    const auto with = std::ranges::count_if(remains.added, [](double bytes) { return bytes > 0; });
    return remains.added.back() > 0
        && static_cast<double>(with) >= leastShare * static_cast<double>(remains.added.size())
        && straightness(remains.added) > leastFit;
}

} // namespace

std::vector<AllocationId> findLeaks(const Replay& replay, const Phases& phases, const Labels& labels,
    const std::vector<std::uint8_t>& lasts)
{
    std::vector<const Step*> steps;
    for (const Step& step : phases.steps)
        if (step.complete)
            steps.push_back(&step);
    if (steps.size() < leastSteps)
        return {};
    const auto backward = labels.rules->find("F-bwd");
    const AllocationColumns& columns = replay.timeline.allocations();
    std::unordered_map<StackId, Remains> ofStack;
    for (std::uint32_t i = 0; i < columns.count(); ++i) {
        // Backward's empty stacks are one stack only in name.
        if (lasts[i] == 0 || !valid(columns.stack[i]) || (backward && labels.ruleOf[i] == *backward))
            continue;
        const auto next = std::ranges::upper_bound(steps, columns.firstState[i], {}, &Step::first);
        if (next == steps.begin())
            continue;
        Remains& remains = ofStack[columns.stack[i]];
        remains.added.resize(steps.size());
        remains.added[static_cast<std::size_t>(next - steps.begin() - 1)]
            += static_cast<double>(columns.size[i]);
        remains.ids.push_back(AllocationId{i});
    }
    std::vector<AllocationId> found;
    for (const auto& [stack, remains] : ofStack)
        if (leaks(remains))
            found.insert(found.end(), remains.ids.begin(), remains.ids.end());
    std::ranges::sort(found);
    return found;
}

} // namespace tidemark
