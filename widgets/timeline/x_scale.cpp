// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/x_scale.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {
constexpr double fewestStates = 4;
constexpr double fewestMicroseconds = 8;

/// Width of a state where the axis is steepest.
double closest(const AxisKnots& axis)
{
    double least = axis.extent();
    for (std::size_t i = 1; i < axis.knots.size(); ++i)
        if (axis.knots[i].state > axis.knots[i - 1].state && axis.knots[i].x > axis.knots[i - 1].x)
            least = std::min(least,
                (axis.knots[i].x - axis.knots[i - 1].x) / (axis.knots[i].state - axis.knots[i - 1].state));
    return least;
}
} // namespace

XScale::XScale(
    std::shared_ptr<const TimelineSource> source, XAxis axis, std::shared_ptr<const AxisKnots> knots)
    : m_source(std::move(source))
{
    if (axis == XAxis::Time && m_source && m_source->hasTimes())
        m_axis = axis;
    if ((axis == XAxis::Steps || axis == XAxis::Aligned) && m_source && knots) {
        m_axis = axis;
        m_knots = std::move(knots);
    }
}

XWindow XScale::whole() const
{
    if (!m_source)
        return {0, 1};
    const StateIndex states = m_source->states();
    if (m_knots)
        return {0, m_knots->extent()};
    if (!time())
        return {0, static_cast<double>(states)};
    // Clocks tick in microseconds, so the last state is given one.
    return {0, m_source->timeOf(states - 1) + 1};
}

double XScale::begin(StateIndex state) const
{
    if (m_knots)
        return m_knots->xOf(state);
    return time() ? m_source->timeOf(state) : static_cast<double>(state);
}

double XScale::end(StateIndex state) const
{
    if (m_knots)
        return m_knots->xOf(static_cast<double>(state) + 1);
    if (!time())
        return static_cast<double>(state) + 1;
    return state + 1 < m_source->states() ? m_source->timeOf(state + 1) : whole().right;
}

double XScale::mark(StateIndex state) const
{
    if (m_knots)
        return m_knots->xOf(static_cast<double>(state) + 0.5);
    return time() ? m_source->timeOf(state) : static_cast<double>(state) + 0.5;
}

StateIndex XScale::stateAt(double x) const
{
    if (!m_source)
        return 0;
    const StateIndex last = m_source->states() - 1;
    if (!(x > 0))
        return 0;
    if (time())
        return std::min(last, m_source->stateAtTime(std::min(x, whole().right)));
    if (m_knots)
        x = m_knots->stateOf(x);
    return x >= static_cast<double>(last) ? last : static_cast<StateIndex>(x);
}

double XScale::narrowest() const
{
    const XWindow all = whole();
    if (m_knots) // a few states where they lie closest
        return std::min(fewestStates * closest(*m_knots), all.right - all.left);
    return std::min(time() ? fewestMicroseconds : fewestStates, all.right - all.left);
}

XWindow XScale::clamped(XWindow window) const
{
    const XWindow all = whole();
    const double widest = all.right - all.left;
    double width = window.right - window.left;
    if (!std::isfinite(width) || !std::isfinite(window.left) || width <= 0)
        return all;
    const double wanted = std::clamp(width, narrowest(), widest);
    if (wanted != width) {
        const double middle = (window.left + window.right) / 2;
        window = {middle - wanted / 2, middle + wanted / 2};
        width = wanted;
    }
    const double left = std::clamp(window.left, all.left, std::max(all.left, all.right - width));
    return {left, left + width};
}

XWindow XScale::around(StateIndex first, StateIndex last, double air) const
{
    const double from = begin(std::min(first, last));
    const double to = end(std::max(first, last));
    const double least = time() ? 1.0 : m_knots ? (to - from) * 0.01 : 0.5;
    const double margin = std::max((to - from) * air, least);
    return clamped({from - margin, to + margin});
}

} // namespace tidemark
