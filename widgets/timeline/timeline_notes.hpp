// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/plot_text.hpp"
#include "widgets/notes/note_shape.hpp"
#include "widgets/timeline/timeline_scene.hpp"

namespace tidemark {

/// A measured stretch between two points of the plot.
struct Ruler {
    StateIndex first = 0;
    std::int64_t firstBytes = 0;
    StateIndex last = 0;
    std::int64_t lastBytes = 0;
    bool operator==(const Ruler&) const = default;
};
/// Absent for remarks that are no rulers between two points of this trace.
std::optional<Ruler> rulerOf(const TimelineScene& scene, const report::Annotation& note);
/// "Δ +1.20 GiB · 2,345 events · 12.3 ms".
QString rulerText(const TimelineScene& scene, const Ruler& ruler);

/// The point under a pixel of the plot, as an anchor: the state shown there and its bytes.
report::PointAnchor pointAnchorAt(const TimelineScene& scene, QPointF pos);
/// Where an anchor lies in the plot; absent for what this trace does not have and for findings. Allocations
/// are looked up in the picture on screen: the middle of what is visible of them.
std::optional<QPointF> anchorPoint(const TimelineScene& scene, const report::Anchor& anchor);

/// All remarks that lie in the visible window, the one that is being drawn or dragged among them.
std::vector<NoteShape> noteShapes(const TimelineScene& scene);
void paintNotes(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels);

/// Ordinal of the device, for annotations; 0 for a category timeline.
int noteDevice(const TimelineScene& scene);

} // namespace tidemark
