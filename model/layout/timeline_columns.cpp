// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/id_image.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

/// Where states begin on an axis.
class Axis {
public:
    Axis(const Replay& replay, bool timeAxis, const AxisKnots* knots)
        : m_states(replay.states())
        , m_times(timeAxis ? &replay.monotoneTimes : nullptr)
        , m_knots(knots)
    {
        const auto origin = replay.originUs();
        if (!origin)
            m_times = nullptr;
        m_origin = origin.value_or(0);
    }

    double extent() const
    {
        if (m_knots)
            return m_knots->extent();
        if (!m_times)
            return m_states;
        return static_cast<double>(std::max<std::int64_t>(0, m_times->back() - m_origin)) + 1;
    }

    /// Number of states that begin before x, the first of them at 0.
    StateIndex startedBefore(double x) const
    {
        if (!(x > 0))
            return 0;
        if (m_knots)
            x = m_knots->stateOf(x);
        if (!m_times)
            return x >= m_states ? m_states : static_cast<StateIndex>(std::ceil(x));
        const auto end = std::partition_point(m_times->begin(), m_times->end(),
            [&](std::int64_t t) { return static_cast<double>(t - m_origin) < x; });
        return static_cast<StateIndex>(end - m_times->begin()) + 1;
    }

private:
    StateIndex m_states;
    const std::vector<std::int64_t>* m_times;
    const AxisKnots* m_knots;
    std::int64_t m_origin = 0;
};

} // namespace

double timelineExtent(const Replay& replay, bool timeAxis)
{
    return Axis(replay, timeAxis, nullptr).extent();
}

std::vector<ColumnInfo> timelineColumns(const Replay& replay, const TimelineWindow& window)
{
    const Axis axis(replay, window.timeAxis, window.knots.get());
    const double extent = axis.extent();
    const StateIndex last = replay.states() - 1;
    const double span = window.right - window.left;
    std::vector<ColumnInfo> columns(static_cast<std::size_t>(std::max(0, window.width)));
    for (std::size_t c = 0; c < columns.size(); ++c) {
        ColumnInfo& column = columns[c];
        const double from = window.left + span * static_cast<double>(c) / window.width;
        const double to = window.left + span * static_cast<double>(c + 1) / window.width;
        if (!(to > 0) || !(from < extent)) {
            column.outside = true;
            column.first = column.last = column.shown = from < extent ? 0 : last;
            continue;
        }
        const StateIndex before = axis.startedBefore(from);
        const StateIndex until = std::max<StateIndex>(1, std::min(axis.startedBefore(to), last + 1));
        column.last = until - 1;
        column.first = before < until ? before : column.last;
        const Series::Extremes extremes = replay.timeline.requested().extremes(column.first, column.last);
        column.shown = std::clamp(extremes.maxState, column.first, column.last);
        column.max = extremes.max;
        column.min = extremes.min;
    }
    return columns;
}

} // namespace tidemark
