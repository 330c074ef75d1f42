// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_geometry.hpp"

#include <algorithm>

namespace tidemark {

namespace {
constexpr int leastPlot = 110;
}

TimelineGeometry TimelineGeometry::of(QSize size, const TimelineParts& wanted, const Metrics& metrics)
{
    TimelineGeometry g;
    g.size = size;
    TimelineParts parts = wanted;
    const int gap = metrics.px(4);
    const int lanePitch = metrics.lane + 1;
    const int findingHeight = metrics.px(26);
    const int axisHeight = metrics.px(22);
    const int poolPitch = metrics.poolStrip + gap;
    const int moreHeight = metrics.px(16);
    const int overviewHeight = metrics.overview + metrics.px(6);
    const int legendHeight = metrics.px(24);
    int shownPools = std::min(parts.pools, mostPoolStrips);

    const auto below = [&] {
        int height = axisHeight + shownPools * poolPitch;
        if (parts.pools > shownPools)
            height += moreHeight;
        if (parts.overview)
            height += overviewHeight;
        height += parts.legend ? legendHeight : gap;
        return height;
    };
    const auto above = [&] {
        const int finding = parts.finding ? findingHeight + 1 : 0;
        return metrics.px(6) + parts.lanes * lanePitch + finding + (parts.lanes || parts.finding ? gap : 0);
    };
    const int least = metrics.px(leastPlot);
    while (size.height() - above() - below() < least) {
        if (shownPools > 0)
            --shownPools;
        else if (parts.pools > 0)
            parts.pools = 0;
        else if (parts.legend)
            parts.legend = false;
        else if (parts.overview)
            parts.overview = false;
        else if (parts.lanes > 0)
            --parts.lanes;
        else if (parts.finding)
            parts.finding = false;
        else
            break;
    }

    const int left = std::max(metrics.px(58), parts.labelWidth + metrics.px(13));
    const int width = std::max(1, size.width() - left - metrics.px(14));
    int y = metrics.px(6);
    for (int i = 0; i < parts.lanes; ++i, y += lanePitch)
        g.lanes.emplace_back(left, y, width, metrics.lane - 2);
    if (parts.finding) {
        g.finding = QRect(left, y, width, findingHeight);
        y += findingHeight + 1;
    }
    if (parts.lanes || parts.finding)
        y += gap;
    g.plot = QRect(left, y, width, std::max(1, size.height() - y - below()));
    y += g.plot.height();
    g.axis = QRect(left, y, width, axisHeight);
    y += axisHeight;
    for (int i = 0; i < shownPools; ++i, y += poolPitch)
        g.pools.emplace_back(left, y, width, metrics.poolStrip);
    g.hiddenPools = wanted.pools - shownPools;
    if (parts.pools > shownPools) {
        g.morePools = QRect(left, y - 2, width, moreHeight);
        y += moreHeight;
    }
    if (parts.overview) {
        g.overview = QRect(left, y + 2, width, metrics.overview);
        y += overviewHeight;
    }
    if (parts.legend)
        g.legend = QRect(left, y, width, legendHeight);
    return g;
}

} // namespace tidemark
