// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

namespace tidemark {

/// The axis that bends states, where one does.
inline std::shared_ptr<const AxisKnots> axisKnots(const Session& session, XAxis axis)
{
    return axis == XAxis::Steps  ? session.stepsAxis()
        : axis == XAxis::Aligned ? session.sharedAxis()
                                 : nullptr;
}

/// Where a state of the open device stands on the timeline's x axis. Cost: O(log steps).
inline double axisPosition(const Session& session, XAxis axis, double state)
{
    const auto replay = session.replay();
    if (const auto knots = axisKnots(session, axis))
        return knots->xOf(state);
    if (axis == XAxis::Time && replay) {
        const auto first = replay->originUs();
        const auto at = replay->timeUs(static_cast<StateIndex>(state));
        if (first && at)
            return static_cast<double>(*at - *first);
    }
    return state;
}

} // namespace tidemark
