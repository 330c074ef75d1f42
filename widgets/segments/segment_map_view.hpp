// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/latest_task.hpp"
#include "widgets/common/named_area.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/notes/note_shape.hpp"
#include "widgets/segments/map_build.hpp"
#include "widgets/segments/segment_map_canvas.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QTimer>
#include <QWidget>

#include <list>

class QMenu;
class QStackedLayout;
class QToolButton;

namespace tidemark {

class EmptyState;
class FactBar;

/// The instant the map shows.
enum class MapMoment { Cursor, Peak, Oom, End };

/// The segment map (help/window.md): every reserved segment at one moment, its blocks to scale, its free
/// memory visible as holes. Follows the cursor: states that cost more than a part of a frame are replayed on
/// a worker, the newest asked for wins, and the last ones stay at hand. windowTitle() is the dock's subtitle.
/// GUI thread.
class SegmentMapView : public QWidget {
    Q_OBJECT
public:
    SegmentMapView(Session& session, ViewState& view, Style& style, QWidget* parent = nullptr);
    ~SegmentMapView() override;

    /// Button with the map's menu: order, layout, moment, filters. Stands in the footer unless a dock's title
    /// bar takes it over.
    QWidget* headerControls() const;

    void setMapLayout(MapLayout layout);
    MapLayout mapLayout() const { return m_options.layout; }
    void setOrder(MapOrder order);
    MapOrder order() const { return m_options.order; }
    /// Only segments with holes, one a row.
    void setWithHoles(bool withHoles);
    bool withHoles() const { return m_options.withHoles; }
    void setPoolFilter(std::optional<PoolId> pool);
    void setStreamFilter(std::optional<StreamId> stream);
    void setMoment(MapMoment moment);
    MapMoment moment() const { return m_moment; }
    /// The segments that the sandbox predicts are shown (ViewState::mapPredicted), not the recorded ones.
    bool showsPrediction() const { return shownPrediction() != nullptr; }
    /// 0: chosen by the layout.
    void setBytesPerRow(std::uint64_t bytes);
    /// For pictures, which can be neither scrolled nor clicked: rows shrink until every segment is visible,
    /// and the menu's button is left out.
    void setForPicture();
    /// Outlines the holes that could take a request of this size; absent: none.
    void setFitRequest(std::optional<std::uint64_t> bytes);

    /// The remarks to show and to add to (segment_map_notes.cpp); none until then. `notes` outlives the view.
    void setNotes(NotesState& notes, NotesScope scope);
    /// Cursor, and the map itself, to where a remark is.
    void goToNote(std::uint64_t id);
    /// Where remarks lie for a picture whose corner is at `origin`.
    std::vector<NoteShape> noteShapes(QPointF origin) const;

    /// Brings the picture up to date now instead of with the next event; for exports and tests.
    void flush();
    /// What is shown; null pieces while nothing can be.
    const SegmentScene& scene() const { return m_canvas->scene(); }
    SegmentMapCanvas& canvas() { return *m_canvas; }
    /// The footer as one line.
    QString footerText() const;
    /// What the map says instead of a picture; empty when there is one.
    QString emptyHeading() const;
    /// What tooltips of such a picture say of its widest blocks and holes, at most `most`.
    std::vector<NamedArea> areas(std::size_t most) const;
    /// Paints the view as it stands, with vector shapes where the device has them.
    void renderTo(QPainter& painter, double ratio);

private:
    void schedule() { m_refresher.schedule(); }
    void refresh(bool now);
    void take(MapBuilt&& built);
    void addFindingSegments(SegmentScene& scene) const;
    /// Null: the recording is shown.
    std::shared_ptr<const Prediction> shownPrediction() const;
    bool canPredict() const;
    void followPrediction();
    void updateMarks();
    void showMarks();
    void restyle();
    void reset();
    SegmentScene sceneOf(const MapBuilt& built) const;
    StateIndex wantedState(const Replay& replay) const;
    std::shared_ptr<const SegmentState> cached(const Replay& replay, StateIndex state) const;
    MapRequest request(std::shared_ptr<const Replay> replay) const;
    void showEmpty();
    bool showsEmptyResult();
    void updateTexts();
    void updateFooter();
    void updateButton();
    void updateAccessible();

    void fillMenu();
    void addLayoutActions(QMenu& menu);
    void addMomentActions(QMenu& menu);
    void addFilterActions(QMenu& menu);
    void addFitActions(QMenu& menu);
    void contextMenu(const MapHit& hit, QPoint position);

    void connectNotes();
    std::optional<report::Anchor> anchorOf(const MapHit& hit) const;
    void paintNotes(QPainter& painter, QPointF origin) const;
    bool pressNote(const MapHit& hit, QPointF pos);
    void dragNote(const MapHit& hit, QPointF pos);
    void releaseNote(QPointF pos);
    bool editNote(std::uint64_t id, bool fresh);
    bool deleteNote();
    void addNoteEntries(QMenu& menu, const MapHit& hit);

    void onHovered(const MapHit& hit);
    void onClicked(const MapHit& hit);
    void onDoubleClicked(const MapHit& hit);
    void showToolTip(const MapHit& hit, QPoint position);
    void walk(int direction);
    void walkRows(int direction);
    void walkTo(std::optional<std::size_t> box);
    void walkSegments(int direction);
    void zoomToSegment(std::uint32_t segment);
    void selectBox(std::size_t box);
    std::optional<std::size_t> selectedBox() const;

    Session& m_session;
    ViewState& m_view;
    Style& m_style;
    SegmentMapCanvas* m_canvas;
    EmptyState* m_empty;
    FactBar* m_footer;
    QToolButton* m_button;
    QMenu* m_menu;
    QStackedLayout* m_stack;

    MapOptions m_options;
    MapMoment m_moment = MapMoment::Cursor;
    bool m_forPicture = false;
    std::optional<FitRequest> m_fit;
    /// Address of the segment a double click zoomed to.
    std::optional<std::uint64_t> m_zoomedTo;
    MapBuilt m_built;
    std::shared_ptr<const Replay> m_replay;
    std::list<std::shared_ptr<const SegmentState>> m_recent;
    double m_lastCostMs = 0;
    bool m_selecting = false;
    NotesState* m_notes = nullptr;
    NotesScope m_notesScope;
    std::optional<report::Annotation> m_openNote; ///< is being drawn or dragged
    std::uint64_t m_draggedNote = 0;
    QPointF m_pressed;
    QTimer m_restTimer;
    Refresher m_refresher;
    LatestTask<MapBuilt> m_task;
};

} // namespace tidemark
