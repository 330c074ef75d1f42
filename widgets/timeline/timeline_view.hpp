// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/named_area.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/timeline/timeline_scene.hpp"
#include "widgets/view_state.hpp"

#include <QWidget>

#include <functional>
#include <memory>

class QMenu;
class QPaintDevice;
class QPainter;
class QTimer;
class QVBoxLayout;

namespace tidemark {

class EmptyState;
class StackWorker;
class TimelineCanvas;
class TimelineControls;
class TimelineInput;

/// The timeline: every live allocation stacked over events or time, with lanes of marks above, private pools
/// below, an overview and a legend (help/window.md). It follows Session and ViewState and writes to ViewState
/// alone. The exact picture is laid out on a thread of its own; until it is there the last one is shown
/// scaled. GUI thread.
class TimelineView : public QWidget {
    Q_OBJECT
public:
    TimelineView(Session& session, ViewState& state, Style& style, QWidget* parent = nullptr);
    ~TimelineView() override;

    /// "Stack by … · Reserved · Allocated ≈ · Marks": a row above the plot until somebody gives it another
    /// parent, such as the corner of a tab bar.
    QWidget* controls() const;

    void zoomIn();
    void zoomOut();
    void panLeft();
    void panRight();
    /// The whole trace.
    void zoomFit();
    /// To the selected allocation's life or, without one, the range; again: back to where it came from.
    void zoomToSelection();
    void zoomToRange();
    void zoomToLife(AllocationId id);
    /// Fits y to what is visible; again: back to the whole.
    void fitY();
    void setLanesVisible(bool visible);
    bool lanesVisible() const;
    /// One window's width to the left (−1) or right (+1).
    void screenful(int direction);
    /// Cursor by events: −1 or +1; `extend` grows the range with it.
    void stepCursor(int direction, bool extend);
    /// Cursor to the previous or next allocation of the selected (or shown) allocation's site.
    void stepSameSite(int direction);
    /// Cursor to the previous (−1) or next (+1) local peak.
    void stepPeak(int direction);
    /// Range to the previous or next step mark.
    void stepStep(int direction);

    /// The cursor and the selection in words, for assistive technology.
    QString spokenValue() const;
    /// Why there is no time axis, in one sentence; empty when there is one.
    QString whyNoTimeAxis() const;

    /// The remarks to show and to add to; a view has its own until then. `notes` outlives the view.
    void setNotes(NotesState& notes, NotesScope scope);
    NotesState& notes() { return *m_notes; }
    /// A remark tied to the selected allocation: a pin, or a note whose text is to be typed.
    void noteSelected(report::AnnotationKind kind);
    /// Opens the field for a remark's text; false when it does not lie in the visible window.
    bool editNote(std::uint64_t id);
    /// Cursor and window to where a remark is.
    void goToNote(std::uint64_t id);
    /// Takes the chosen remark away; false when none is.
    bool deleteNote();

    /// Draws what the view shows, at any size, with no need of a screen: PNG (QImage), SVG (QSvgGenerator),
    /// PDF. `size` in logical pixels; `scale` device pixels per logical pixel: give a QImage of size × scale
    /// and leave its device pixel ratio at 1. The exact picture is laid out on the calling thread. The
    /// device must not be painted on meanwhile. `above` paints a strip of `aboveHeight` before the view,
    /// which follows below it. `areas`
    /// gets what tooltips of the picture say, without that strip.
    void renderTo(QPaintDevice& device, QSize size, double scale = 1,
        const std::function<void(QPainter&)>& above = {}, int aboveHeight = 0,
        std::vector<NamedArea>* areas = nullptr);

    /// The exact picture of the present window is on screen.
    bool isExact() const;

signals:
    /// The exact picture of the present window has arrived.
    void exactPictureShown();
    /// The context menu is about to open; listeners may append entries. `id` may be none.
    void contextMenuOpening(QMenu* menu, tidemark::AllocationId id);

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    friend class TimelineInput;
    void connectAll();
    void openDevice();
    void fillEmptyState(EmptyState& empty) const;
    void restyle();
    void axisChanged();
    void windowChanged();
    void cursorChanged();
    void selectionChanged();
    void optionsChanged();
    void diagnosisChanged();
    void findingChanged();
    void sharedChanged();
    void predictionChanged();
    void recolour();
    void ensureVisible(StateIndex state);

    /// Remembers the present place in the view history before a deliberate jump.
    void rememberPlace();
    void setWindow(const XWindow& window);
    void setY(double bottom, double top);
    void zoomBy(double factor, double anchor);
    void panBy(double share);
    void zoomToItem(const LaneItem& item);
    double zoomAnchor() const;
    QString selectionName() const;

    StackRequest stackRequest(const TimelineScene& scene) const;
    void prepareFrame();
    void outlineSelected(TimelineScene& scene) const;
    void outlineHovered(TimelineScene& scene) const;
    void pictureArrived(std::uint64_t number, std::shared_ptr<const StackPicture> picture);
    void replot();
    void replotOverlay();
    bool handlePlainKey(int key);
    bool handleArrow(int direction, Qt::KeyboardModifiers modifiers);
    bool escape();
    void openContextMenu(const QPoint& globalPos, const QPointF& pos);
    void addAllocationEntries(QMenu& menu, AllocationId id);
    void addCopyMenu(QMenu& menu, AllocationId id);
    void addNoteEntries(QMenu& menu, AllocationId id, const QPointF& pos);

    Session& m_session;
    ViewState& m_state;
    Style& m_style;
    NotesState m_ownNotes;
    NotesState* m_notes = &m_ownNotes;
    TimelineScene m_scene;
    QVBoxLayout* m_layout;
    TimelineControls* m_controls;
    TimelineCanvas* m_canvas;
    EmptyState* m_empty;
    std::unique_ptr<TimelineInput> m_input;
    std::unique_ptr<StackWorker> m_worker;
    std::uint64_t m_wantedPicture = 0;
    std::optional<StackRequest> m_requested;
    KeepFlags m_groupKeep;
    /// Somebody else placed the window in this turn of the event loop, so a new cursor does not move it.
    bool m_placedByOthers = false;
    bool m_placing = false;
    XScale m_lastScale;
    /// The last zoom to a selection or range, for the way back.
    struct Zoomed {
        XWindow from;
        XWindow to;
        Selection selection;
        std::optional<std::pair<StateIndex, StateIndex>> range;
        XAxis axis;
    };
    std::optional<Zoomed> m_zoomed;
    QTimer* m_rest;
};

} // namespace tidemark
