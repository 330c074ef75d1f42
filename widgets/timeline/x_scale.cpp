// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/x_scale.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {
constexpr double fewestStates = 4;
constexpr double fewestMicroseconds = 8;
} // namespace

XScale::XScale(std::shared_ptr<const TimelineSource> source, XAxis axis)
    : m_source(std::move(source))
    , m_axis(m_source && m_source->hasTimes() ? axis : XAxis::Events)
{ }

XWindow XScale::whole() const
{
    if (!m_source)
        return {0, 1};
    const StateIndex states = m_source->states();
    if (!time())
        return {0, static_cast<double>(states)};
    // Clocks tick in microseconds, so the last state is given one.
    return {0, m_source->timeOf(states - 1) + 1};
}

double XScale::begin(StateIndex state) const
{
    return time() ? m_source->timeOf(state) : static_cast<double>(state);
}

double XScale::end(StateIndex state) const
{
    if (!time())
        return static_cast<double>(state) + 1;
    return state + 1 < m_source->states() ? m_source->timeOf(state + 1) : whole().right;
}

double XScale::mark(StateIndex state) const
{
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
    return x >= static_cast<double>(last) ? last : static_cast<StateIndex>(x);
}

double XScale::narrowest() const
{
    const XWindow all = whole();
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
    const double margin = std::max((to - from) * air, time() ? 1.0 : 0.5);
    return clamped({from - margin, to + margin});
}

} // namespace tidemark
