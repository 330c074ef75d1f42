// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/timeline/timeline_scene.hpp"

#include <qcustomplot.h>

namespace tidemark {

/// The plot itself: axes and layers of QCustomPlot around the painters of the timeline. What moves without a
/// new picture (cursor, selection, range, labels) is on a layer with a buffer of its own. It has no mouse
/// handling; TimelineInput filters its events.
class TimelineCanvas : public QCustomPlot {
    Q_OBJECT
public:
    explicit TimelineCanvas(TimelineScene& scene, QWidget* parent = nullptr);

    /// Axes, margins and colours ← scene; called before every replot.
    void sync();
    /// Redraws only the layer of what moves.
    void replotOverlay();

private:
    TimelineScene& m_scene;
    bool m_painted = false;
};

} // namespace tidemark
