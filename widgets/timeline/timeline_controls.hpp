// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/timeline/timeline_scene.hpp"

#include <QWidget>

class QCheckBox;
class QLabel;

namespace tidemark {

class Segmented;

/// "Stack by Age | Site · Reserved · Allocated ≈ · Marks · Finding". GUI thread.
class TimelineControls : public QWidget {
    Q_OBJECT
public:
    TimelineControls(Session& session, ViewState& state, const Style& style, QWidget* parent = nullptr);

    /// Shows what the scene can draw and does draw.
    void follow(const TimelineScene& scene);
    CurveOptions options(CurveOptions current) const;

signals:
    void optionsChanged();

private:
    void restyle();
    void followOrder();
    void followShown();
    void showFinding(bool shown);

    Session& m_session;
    ViewState& m_state;
    const Style& m_style;
    QLabel* m_caption;
    Segmented* m_order;
    QCheckBox* m_reserved;
    QCheckBox* m_allocated;
    QCheckBox* m_marks;
    QCheckBox* m_finding;
};

} // namespace tidemark
