// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/axis_knots.hpp"

#include <algorithm>

namespace tidemark {

double AxisKnots::xOf(double state) const
{
    auto after = std::ranges::upper_bound(knots, state, {}, &Knot::state);
    after = std::clamp(after, knots.begin() + 1, knots.end() - 1);
    const Knot& a = *(after - 1);
    const Knot& b = *after;
    return b.state > a.state ? a.x + (state - a.state) / (b.state - a.state) * (b.x - a.x) : b.x;
}

double AxisKnots::stateOf(double x) const
{
    auto after = std::ranges::upper_bound(knots, x, {}, &Knot::x);
    after = std::clamp(after, knots.begin() + 1, knots.end() - 1);
    const Knot& a = *(after - 1);
    const Knot& b = *after;
    return b.x > a.x ? a.state + (x - a.x) / (b.x - a.x) * (b.state - a.state) : b.state;
}

std::shared_ptr<const AxisKnots> stepAxis(const Phases& phases, StateIndex states)
{
    if (phases.steps.empty() || states == 0)
        return nullptr;
    double inSteps = 0;
    for (const Step& step : phases.steps)
        inSteps += static_cast<double>(step.last - step.first) + 1;
    const double average = inSteps / static_cast<double>(phases.steps.size());
    auto axis = std::make_shared<AxisKnots>();
    axis->knots.push_back({});
    const auto gapTo = [&](double state) {
        const AxisKnots::Knot& from = axis->knots.back();
        if (state > from.state)
            axis->knots.push_back({state, from.x + std::min(1.0, (state - from.state) / average)});
    };
    for (const Step& step : phases.steps) {
        gapTo(step.first);
        axis->knots.push_back({static_cast<double>(step.last) + 1, axis->knots.back().x + 1});
    }
    gapTo(states);
    return axis;
}

double stepBegin(const AxisKnots& axis, const Phases& phases, std::size_t step)
{
    return axis.xOf(phases.steps[step].first);
}

double stepEnd(const AxisKnots& axis, const Phases& phases, std::size_t step)
{
    return axis.xOf(static_cast<double>(phases.steps[step].last) + 1);
}

} // namespace tidemark
