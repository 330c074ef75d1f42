// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/plot_text.hpp"
#include "widgets/timeline/timeline_scene.hpp"

#include <QPainter>

namespace tidemark {

// The parts of the timeline's picture. All draw in logical pixels with the scene's geometry and may be called
// on any paint device.

/// Frame lines and, where nothing else fills the plot, what is known of the end of the file.
void paintGround(QPainter& painter, const TimelineScene& scene);
/// The stack: its picture (scaled while it is not the exact one), outline and column minima.
void paintStack(QPainter& painter, const TimelineScene& scene);
/// Reserved, allocated, capacity, predicted.
void paintCurves(QPainter& painter, const TimelineScene& scene);
void paintLanes(QPainter& painter, const TimelineScene& scene);
/// Bytes of the selected finding over time.
void paintFinding(QPainter& painter, const TimelineScene& scene);
void paintPools(QPainter& painter, const TimelineScene& scene);
void paintOverview(QPainter& painter, const TimelineScene& scene);
void paintLegend(QPainter& painter, const TimelineScene& scene);
/// Cursor, selection, range, marks, labels, notes: what moves without a new picture.
void paintOverlay(QPainter& painter, const TimelineScene& scene);

// Pieces of the overlay.
void paintRange(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels);
void paintCursor(QPainter& painter, const TimelineScene& scene);
void paintOoms(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels);
void paintPeaks(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels);
/// Where the peak would move to, and what would make it.
void paintPredictedPeak(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels);
/// The finding's value at the cursor, in its lane.
void paintFindingValue(QPainter& painter, const TimelineScene& scene);
/// Draws a series of the plot column by column, as its maxima.
void paintSeries(QPainter& painter, const TimelineScene& scene, const Series& series, const QColor& colour,
    double thickness, double dash = 0, double gap = 0);
void paintBandLabels(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels);
/// Top of what the cursor's line and an out-of-memory line run through.
double topOfLanes(const TimelineScene& scene);
/// The box of the cursor's flag on the axis.
QRectF cursorFlag(const TimelineScene& scene);
/// "Δ 2,345 events · 12.3 ms · +1.20 GiB".
QString rangeText(const TimelineScene& scene, StateIndex first, StateIndex last);

/// One entry of the legend as laid out; `item` is −1 for "n more".
struct LegendPlace {
    QRectF box;
    QRectF swatch;
    QString text;
    int item = -1;
    std::vector<int> hidden; ///< items behind "n more"
};
std::vector<LegendPlace> legendPlaces(const TimelineScene& scene);
/// The group a legend item stands for, if it stands for exactly one.
std::optional<std::uint32_t> legendGroup(const LegendItem& item);

/// The mark, phase or step under a point of the lanes.
std::optional<LaneItem> laneItemAt(const TimelineScene& scene, const QPointF& pos);
/// Where the window stands in the overview.
QRectF overviewBox(const TimelineScene& scene);
double overviewX(const TimelineScene& scene, double x);
double overviewAt(const TimelineScene& scene, double pixel);

} // namespace tidemark
