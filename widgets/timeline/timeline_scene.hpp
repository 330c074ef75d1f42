// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/marks.hpp"
#include "widgets/notes/note_shape.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/timeline/stack_picture.hpp"
#include "widgets/timeline/ticks.hpp"
#include "widgets/timeline/timeline_geometry.hpp"
#include "widgets/timeline/x_scale.hpp"
#include "widgets/view_state.hpp"

#include <QImage>
#include <QPixmap>

#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

struct CurveOptions {
    bool reserved = true;
    bool allocated = false;
    bool marks = true; ///< peak, local peaks
    bool lanes = true;
};

/// One row above the plot.
struct Lane {
    enum class Kind {
        Phases, ///< Phases::spans
        FoundSteps, ///< Phases::steps, where no mark names the steps
        Steps,
        Marks,
        Density, ///< marks too deep for a row of their own
    } kind
        = Kind::Marks;
    QString title;
    /// Into what its kind says (Session::marks() for the last three), in order of begin, not overlapping but
    /// for Density.
    std::vector<std::uint32_t> items;
};

/// Something on a lane that can be clicked.
struct LaneItem {
    QString name;
    QString note; ///< where it comes from, for its tooltip; may be empty
    StateIndex first = 0;
    StateIndex last = 0;
    std::optional<std::int64_t> lengthUs;
    bool recorded = true; ///< else inferred
    bool open = false; ///< its other end is not in the file
};

/// The selected finding over time.
struct FindingLane {
    std::shared_ptr<const Diagnosis> diagnosis; ///< keeps `finding`
    const Finding* finding = nullptr; ///< null: nothing to show
    std::shared_ptr<const Series> bytes; ///< of its allocations that are live
};

/// The curve under the ticked fixes.
struct PredictedCurve {
    std::shared_ptr<const Prediction> prediction; ///< null: none
    std::shared_ptr<const Series> bytes; ///< live; null: as recorded
    std::shared_ptr<const Series> reserved; ///< null: not predicted
};

/// One private pool under the plot.
struct PoolStrip {
    PoolId pool{};
    const Series* reserved = nullptr;
    const Series* live = nullptr;
    std::int64_t most = 0; ///< highest value of either
};

/// Something with an outline over the stack, as spans of rows per column of a picture.
struct OutlineImage {
    std::shared_ptr<const StackPicture> picture;
    QImage pixels;
    QPoint at; ///< in the picture's pixels
};

/// Everything the painters of the timeline read. What belongs to the device is set by open(), what belongs to
/// the window by prepareFrame.
struct TimelineScene {
    TimelineScene(Session& theSession, ViewState& theState, Style& theStyle);

    /// Takes over the session's device (or category timeline, or nothing).
    void open();
    /// Colours by the state's choice; categories have their own.
    void recolour();
    /// Takes over what was found in the file: phases, steps, the selected finding.
    void followDiagnosis();
    void followFinding();
    void followPrediction();
    /// Geometry, columns and scale for a picture of this size.
    void prepareFrame(QSize size, double deviceRatio);
    /// y from 0 to a little above everything, the capacity included when it is near.
    void wholeY();
    /// y to what the present columns hold.
    void fitY();
    bool yIsWhole() const { return bottom == 0 && top == wholeTop(); }
    double highestTop() const { return wholeTop(); }

    /// Too little to draw: a sentence and a cure stand there instead.
    bool empty() const { return !source || (replay && source->states() <= 2); }
    bool categories() const { return source && !replay; }

    double xPixel(double x) const;
    double xAt(double pixel) const;
    double yPixel(double bytes) const;
    double bytesAt(double pixel) const;
    double bytesPerRow() const; ///< of a device pixel
    /// Device column under a logical x, absent outside the plot.
    std::optional<std::size_t> columnAt(double pixel) const;
    /// Logical x of a column's left edge.
    double columnX(std::size_t column) const;
    /// The state shown at a logical x: of its column.
    StateIndex stateShownAt(double pixel) const;
    double snapped(double logical) const;
    /// Veil over what is outside of the range or the window.
    QColor dimming() const;
    double hairline() const { return Style::hairline(ratio); }
    TimelineWindow window() const;
    /// Allocation (or category) under a point of the plot, from the picture on screen.
    std::uint32_t idAt(const QPointF& pos) const;
    const std::vector<Mark>& marks() const { return session.marks(); }
    /// Both ends of the k-th thing on a lane, on the x axis.
    std::pair<double, double> laneSpan(const Lane& lane, std::size_t k) const;
    /// The same with its name.
    LaneItem laneItem(const Lane& lane, std::size_t k) const;
    /// First thing on a lane whose end is not left of the window. Cost: O(log items).
    std::size_t firstVisible(const Lane& lane) const;
    /// What the steps are, from marks or else from what was found: first and last states, in order.
    std::vector<std::pair<StateIndex, StateIndex>> steps() const;

    /// "event 3,737" as numbered in the file; "before the first event"; "row 7" for categories.
    QString stateName(StateIndex state) const;
    /// "3,737": number in the file; "start" for the state before the first event.
    QString stateNumber(StateIndex state) const;
    /// "+77.7 ms" where there are times, else empty.
    QString stateTime(StateIndex state) const;
    QString idName(std::uint32_t id) const;
    /// Highest requested bytes per logical pixel of the overview, kept until width, axis or device change.
    const std::vector<std::int64_t>& overviewColumns() const;
    /// The legend item stands for what is selected.
    bool legendChosen(int item) const;
    /// Grouping whose groups the legend's items are; absent for colours that are no groups.
    std::optional<GroupBy> groupKind() const;
    /// What has to be wiped so that the cursor's flag cuts no tick label in two.
    QRectF flagClearing(const QRectF& flag) const;
    /// Top of the memory that is older than the recording, near a logical x; the bottom where there is none.
    double predatingTop(double pixel) const;

    Session& session;
    ViewState& state;
    Style& style;

    std::shared_ptr<const Rank> rank;
    std::shared_ptr<const Replay> replay;
    std::shared_ptr<const TimelineSource> source;
    std::shared_ptr<const Colouring> colouring;
    std::shared_ptr<const Phases> phases;
    FindingLane finding;
    PredictedCurve predicted;
    std::vector<Lane> lanes;
    std::vector<PoolStrip> pools;
    std::vector<StateIndex> peaks;
    std::vector<std::int64_t> peakBytes; ///< of each
    StateIndex peak = 0;

    XScale scale;
    double bottom = 0;
    double top = 1;
    CurveOptions options;
    const NotesState* notes = nullptr; ///< null: none are shown
    NotesScope notesScope;

    TimelineGeometry geometry;
    double ratio = 1;
    std::vector<ColumnInfo> columns;
    std::vector<AxisTick> xTicks;
    std::vector<AxisTick> yTicks;
    std::shared_ptr<const StackPicture> picture;
    OutlineImage selected;
    OutlineImage hovered;

    /// What a drag shows at the moment.
    std::optional<QRectF> rubber;
    /// A remark under the pointer: a new one without id, or one that is dragged, in place of the kept one.
    std::optional<report::Annotation> openNote;
    bool focused = false;
    bool onScreen = true; ///< else in a picture: handles of what is chosen are left out

private:
    double wholeTop() const;
    int labelWidth(const TimelineParts& parts) const;
    void buildLanes();
    void buildMarkLanes();
    void buildPools();
    /// x of a mark's ends, by its own times where it has them.
    double markBegin(const Mark& mark) const;
    double markEnd(const Mark& mark) const;

    mutable std::vector<std::int64_t> m_overview;
    mutable XAxis m_overviewAxis = XAxis::Events;
    mutable std::shared_ptr<const AxisKnots> m_overviewKnots;
};

} // namespace tidemark
