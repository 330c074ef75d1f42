// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/style.hpp"

#include <QRect>
#include <QSize>

#include <vector>

namespace tidemark {

/// What the timeline has to find room for.
struct TimelineParts {
    int lanes = 0;
    int pools = 0;
    bool overview = true;
    bool legend = true;
    int labelWidth = 0; ///< widest text left of the plot
    bool finding = false; ///< the lane of the selected finding
};

/// Where everything is, in logical pixels: lanes, plot, axis, pool strips, overview and legend from top to
/// bottom. What does not fit goes in the order pools, legend, overview, lanes, finding; the plot
/// always stays.
struct TimelineGeometry {
    QSize size;
    QRect plot;
    std::vector<QRect> lanes;
    QRect finding; ///< null where it is not wanted or has no room
    std::vector<QRect> pools;
    QRect morePools; ///< line that says how many more pools there are
    int hiddenPools = 0;
    QRect axis; ///< tick labels and cursor flag
    QRect overview;
    QRect legend;

    static TimelineGeometry of(QSize size, const TimelineParts& parts, const Metrics& metrics);
};

/// Pool strips shown at most.
inline constexpr int mostPoolStrips = 4;

} // namespace tidemark
