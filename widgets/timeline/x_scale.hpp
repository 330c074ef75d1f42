// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/timeline/timeline_source.hpp"
#include "widgets/view_state.hpp"

#include <memory>

namespace tidemark {

/// States ↔ the timeline's x coordinate. On the event axis state s covers [s, s + 1); on the time axis it
/// begins at its event's time in microseconds since the first event and lasts to the next one; on a bent axis
/// it covers [xOf(s), xOf(s + 1)). Cost: O(log events).
class XScale {
public:
    XScale() = default;
    /// `knots`: for the steps axis; without them that is the event axis.
    XScale(std::shared_ptr<const TimelineSource> source, XAxis axis,
        std::shared_ptr<const AxisKnots> knots = nullptr);

    XAxis axis() const { return m_axis; }
    bool time() const { return m_axis == XAxis::Time; }
    const std::shared_ptr<const AxisKnots>& knots() const { return m_knots; }
    /// A picture of this window stands on the same axis.
    bool draws(const TimelineWindow& window) const
    {
        return window.timeAxis == time() && window.knots == m_knots;
    }
    /// The whole trace.
    XWindow whole() const;
    double begin(StateIndex state) const;
    double end(StateIndex state) const;
    /// Where a line that marks the state is drawn.
    double mark(StateIndex state) const;
    StateIndex stateAt(double x) const;
    /// Narrowest window that still makes sense: a few states, or a few microseconds.
    double narrowest() const;
    /// A window of legal width inside the whole trace, as close to `window` as it gets.
    XWindow clamped(XWindow window) const;
    /// States first…last with a little air, at least the narrowest window.
    XWindow around(StateIndex first, StateIndex last, double air) const;

private:
    std::shared_ptr<const TimelineSource> m_source;
    XAxis m_axis = XAxis::Events;
    std::shared_ptr<const AxisKnots> m_knots;
};

} // namespace tidemark
