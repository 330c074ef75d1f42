// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/timeline/timeline_scene.hpp"

#include <QElapsedTimer>
#include <QObject>
#include <QPointF>
#include <QTimer>

class QMouseEvent;
class QWheelEvent;

namespace tidemark {

class TimelineView;

/// What the mouse does on the timeline (help/window.md): turns presses, drags, wheel turns and hovering over
/// the canvas into changes of ViewState and of the view's window. GUI thread.
class TimelineInput : public QObject {
    Q_OBJECT
public:
    TimelineInput(TimelineView& view, TimelineScene& scene, QWidget& canvas);

    bool eventFilter(QObject* watched, QEvent* event) override;
    void setSpaceHeld(bool held);
    /// Leaves a drag or an open ruler without effect; false when there is none.
    bool cancel();
    /// A ruler from here to where the next click will be.
    void startRulerAt(const QPointF& pos);
    /// A note tied to a point of the plot, its text to be typed.
    void noteAt(const QPointF& pos);
    /// Opens the field for the text of a remark, where it lies in the view; false when it does not.
    bool editNote(std::uint64_t id, bool fresh);
    /// Text and tooltip of what is under the pointer, after the picture changed under it.
    void refreshHover();
    void forgetHover();
    /// One entry of the view history for a series of wheel turns or keys.
    void rememberOnce();

private:
    enum class Drag {
        None,
        Pending, ///< left pressed on the plot, not moved yet
        Range,
        RangeLeft,
        RangeRight,
        PanPending, ///< middle pressed
        Pan,
        Box,
        Draw, ///< a box, an arrow or a ruler
        Note, ///< a kept remark: its disc or one of its ends
        Scrub, ///< cursor along the axis
        OverviewMove,
        OverviewLeft,
        OverviewRight,
    };
    enum class Area { None, Plot, Axis, Lanes, Finding, Pools, Overview, Legend };

    Area areaAt(const QPointF& pos) const;
    Drag overviewPartAt(const QPointF& pos) const;
    Drag rangeEdgeAt(const QPointF& pos) const;
    void press(QMouseEvent* event);
    void pressPlot(QMouseEvent* event);
    void pressOverview(const QPointF& pos);
    void move(QMouseEvent* event);
    void dragTo(const QPointF& pos);
    void release(QMouseEvent* event);
    void click(const QPointF& pos, Qt::KeyboardModifiers modifiers);
    void doubleClick(QMouseEvent* event);
    void wheel(QWheelEvent* event);
    void zoomY(double factor, double anchor);
    void panTo(const QPointF& pos);
    void finishBox();
    void clickLane(const QPointF& pos);
    void clickLegend(const QPointF& pos, Qt::KeyboardModifiers modifiers);
    /// What the search field must say to find a legend item's allocations; empty where it has no words for
    /// them.
    QString searchText(const LegendItem& entry, std::uint32_t group, GroupBy kind) const;
    void chooseLegendItem(int item, Qt::KeyboardModifiers modifiers);
    void hover(const QPointF& pos);
    void showTip();
    QString hoverText() const;
    QString tipText() const;
    QString laneTip(const LaneItem& item) const;
    QString findingTip(StateIndex state) const;
    QString allocationTip(AllocationId id) const;
    QString scaleText() const;
    void shapeCursor(const QPointF& pos);
    void startDrawing(report::AnnotationKind kind, const QPointF& pos);
    void finishDrawing(const QPointF& pos);
    bool pressNote(const QPointF& pos);
    void dragNote(const QPointF& pos);
    void finishNote();
    std::optional<NoteHit> noteUnder(const QPointF& pos) const;

    TimelineView& m_view;
    TimelineScene& m_scene;
    QWidget& m_canvas;
    Drag m_drag = Drag::None;
    QPointF m_pressed;
    QPointF m_last;
    Qt::KeyboardModifiers m_modifiers;
    XWindow m_startWindow;
    double m_startBottom = 0;
    double m_startTop = 1;
    StateIndex m_anchor = 0;
    bool m_space = false;
    bool m_floating = false; ///< what is drawn follows the pointer without a button held
    NotePart m_notePart = NotePart::Disc;
    std::optional<QPointF> m_hover;
    QTimer m_tip;
    QElapsedTimer m_gesture;
};

} // namespace tidemark
