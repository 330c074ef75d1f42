// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/curves.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/compare/compare_state.hpp"
#include "widgets/notes/note_shape.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// Both curves over the common axis, A dashed and B solid with the ground between them tinted, and below them
/// what B needs more or less. A click or drag moves the cursor; the wheel zooms, Shift and drag pans, Ctrl
/// and drag moves B against A. With a tool for remarks a click or drag makes one, on the run whose curve is
/// nearer; they are those of the runs' timelines below. GUI thread.
class CompareCurves : public QWidget {
    Q_OBJECT
public:
    CompareCurves(CompareState& state, Style& style, QWidget* parent = nullptr);

    void setCurve(compare::Curve curve);
    compare::Curve curve() const { return m_curve; }
    /// Whose remarks are shown and made; they outlive the view or change before.
    void setNotes(NotesState& notes);
    /// Remarks as they lie in the plot.
    std::vector<NoteShape> noteShapes() const;

    /// Areas in logical pixels, and where values stand in them; for tests.
    QRectF plot() const;
    QRectF lane() const;
    double xOf(double axis) const;
    double axisOf(double x) const;
    double yOf(std::int64_t bytes) const;
    double laneY(std::int64_t delta) const;
    const std::vector<compare::CurveColumn>& columns() const { return m_columns; }
    /// "A 44.28 GiB · B 39.87 GiB · B − A −4.41 GiB" at a point of the axis.
    QString textAt(double axis) const;
    /// Columns are those of the present window.
    bool isExact() const;
    /// Paints what the widget shows; for exports.
    void renderTo(QPainter& painter);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    struct Made {
        std::shared_ptr<const compare::Alignment> of;
        XWindow window;
        compare::Curve curve{};
        std::vector<compare::CurveColumn> columns;
    };
    enum class Drag { None, Cursor, Pan, Offset, Draw, Note };

    void refresh();
    void rescale();
    std::size_t wantedColumns() const;
    void zoom(double factor, double anchor);
    void paintParts(QPainter& painter) const;
    void paintGrid(QPainter& painter) const;
    void paintCurves(QPainter& painter) const;
    void paintDelta(QPainter& painter) const;
    void paintPeaks(QPainter& painter) const;
    void paintCursor(QPainter& painter) const;
    void paintNotes(QPainter& painter) const;
    compare::Which nearer(QPointF pos) const;
    report::PointAnchor anchorAt(compare::Which side, QPointF pos) const;
    std::optional<QPointF> placeOf(compare::Which side, const report::Anchor& anchor) const;
    std::optional<NoteShape> shapeOf(const report::Annotation& note, int number) const;
    /// Whether the press was for a remark: a tool is chosen, or one lies there.
    bool pressNote(QPointF pos);
    void dragNote(QPointF pos);
    void finishNote(QPointF pos);
    void editNote(std::uint64_t id, bool fresh);
    /// Logical left edge of a column of m_columns on the present window.
    double columnX(std::size_t column) const;

    CompareState& m_state;
    Style& m_style;
    compare::Curve m_curve = compare::Curve::Live;
    std::vector<compare::CurveColumn> m_columns;
    std::shared_ptr<const compare::Alignment> m_of; ///< of m_columns
    XWindow m_drawn; ///< window of m_columns
    compare::Curve m_drawnCurve{};
    double m_top = 1; ///< bytes at the upper edge
    double m_less = 0; ///< most that B needs less anywhere
    double m_more = 1;
    Drag m_drag = Drag::None;
    double m_dragX = 0;
    XWindow m_dragWindow;
    std::int64_t m_dragOffset = 0;
    std::optional<double> m_hover;
    NotesState* m_notes = nullptr;
    std::optional<report::Annotation> m_openNote; ///< being drawn or moved
    NotePart m_notePart = NotePart::Disc;
    QPointF m_pressed;
    LatestTask<Made> m_task;
};

} // namespace tidemark
