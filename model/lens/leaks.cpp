// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/leaks.hpp"

#include <algorithm>
#include <unordered_map>

namespace tidemark {

namespace {

constexpr std::size_t leastSteps = 5;
constexpr double leastFit = 0.98;
/// Share of the steps in which a stack must leave something; one step more may lack it: what is logged after
/// a step counts for the next.
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

/// What one stack leaves behind.
using Remains = std::vector<AllocationId>;

/// Number of the step that a state counts to; the number of steps for what precedes them all.
std::size_t stepOf(const std::vector<const Step*>& steps, StateIndex state)
{
    const auto next = std::ranges::upper_bound(steps, state, {}, &Step::first);
    return next == steps.begin() ? steps.size() : static_cast<std::size_t>(next - steps.begin() - 1);
}

bool leaks(const Remains& remains, const std::vector<const Step*>& steps, const AllocationColumns& columns)
{
    const double least = leastShare * static_cast<double>(steps.size());
    // Few can not be in nearly every step; a list of all steps for each of many stacks would be quadratic.
    if (static_cast<double>(remains.size() + 1) < least)
        return false;
    std::vector<double> added(steps.size(), 0);
    for (const AllocationId id : remains)
        added[stepOf(steps, columns.firstState[index(id)])] += static_cast<double>(columns.size[index(id)]);
    const auto with = std::ranges::count_if(added, [](double bytes) { return bytes > 0; });
    return added.back() > 0 && static_cast<double>(with + 1) >= least && straightness(added) > leastFit;
}

} // namespace

std::vector<AllocationId> findLeaks(const Replay& replay, const Phases& phases, const Labels& labels,
    const std::vector<std::uint8_t>& lasts, const Job& job)
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
        if (i % pollInterval == 0 && job.stopped())
            return {};
        // Backward's empty stacks are one stack only in name.
        if (lasts[i] == 0 || !valid(columns.stack[i]) || (backward && labels.ruleOf[i] == *backward))
            continue;
        if (stepOf(steps, columns.firstState[i]) < steps.size())
            ofStack[columns.stack[i]].push_back(AllocationId{i});
    }
    std::vector<AllocationId> found;
    for (const auto& [stack, remains] : ofStack)
        if (!job.stopped() && leaks(remains, steps, columns))
            found.insert(found.end(), remains.begin(), remains.end());
    std::ranges::sort(found);
    return found;
}

} // namespace tidemark
