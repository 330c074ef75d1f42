// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/segments/segment_painter.hpp"

#include <QAbstractScrollArea>
#include <QPixmap>

#include <functional>
#include <optional>

namespace tidemark {

/// What lies under a point of the map.
struct MapHit {
    std::optional<std::size_t> box; ///< into MapPicture::boxes
    std::optional<std::uint32_t> segment; ///< into SegmentState::segments
    /// The point is on the segment's edge: the segment is meant, not the block.
    bool edge = false;
};

/// What draws remarks over the map and takes the pointer for them; every member may be empty.
struct MapNotes {
    std::function<void(QPainter& painter, QPointF origin)> paint;
    /// True: the press is for a remark, and so are the drag and the release that follow.
    std::function<bool(const MapHit& hit, QPointF pos)> press;
    std::function<void(const MapHit& hit, QPointF pos)> drag;
    std::function<void(QPointF pos)> release;
    std::function<bool(QPointF pos)> doubleClick;
    std::function<bool()> erase; ///< Delete was pressed
};

/// The painted surface of the segment map: scrolls, finds what is under the pointer, walks blocks by key. It
/// keeps the drawn blocks as a picture; selection and hover are painted over it. GUI thread.
class SegmentMapCanvas : public QAbstractScrollArea {
    Q_OBJECT
public:
    SegmentMapCanvas(Style& style, QWidget* parent = nullptr);

    /// A new picture: blocks are painted anew.
    void setScene(const SegmentScene& scene);
    /// Only selection, hover or fit differ from the last scene: blocks stay as they are.
    void setMarks(const SegmentScene& scene);
    const SegmentScene& scene() const { return m_scene; }
    bool hasScene() const { return m_scene.picture != nullptr; }

    void setNotes(MapNotes notes) { m_notes = std::move(notes); }
    /// Where the picture's corner lies in the viewport, logical pixels.
    QPointF origin() const;

    /// Blocks are painted anew at the next paint event.
    void invalidate();
    /// Room for rows, in logical pixels.
    int contentWidth(bool withScrollBar) const;
    int contentHeight() const;
    /// Scrolls so that the box of a piece, or the segment's first frame, is visible.
    void showPiece(std::uint64_t address);
    void showSegment(std::uint32_t segment);
    MapHit hitAt(QPointF viewportPoint) const;
    /// Paints blocks and marks of the visible part without caches, for exports.
    void paintInto(QPainter& painter, double ratio);

signals:
    void hovered(const MapHit& hit);
    void left();
    void clicked(const MapHit& hit);
    void doubleClicked(const MapHit& hit);
    void menuRequested(const MapHit& hit, QPoint globalPos);
    /// Keys: −1 and +1 walk blocks, rows or segments from the selected one.
    void walkBlocks(int direction);
    void walkRows(int direction);
    void walkSegments(int direction);
    void activated();
    /// Ctrl+wheel: > 0 means fewer bytes per row.
    void zoomRequested(int steps);
    void resized();
    void toolTipWanted(const MapHit& hit, QPoint globalPos);

protected:
    bool viewportEvent(QEvent* event) override;
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void updateScrollBars();
    QPoint originPixels(double ratio) const;
    void showRange(double top, double bottom);
    bool isWalkKey(const QKeyEvent& event) const;
    int margin() const;

    Style& m_style;
    SegmentScene m_scene;
    QPixmap m_blocks;
    bool m_blocksValid = false;
    int m_wheel = 0;
    MapNotes m_notes;
    bool m_noting = false; ///< the button is held for a remark
};

/// Gives the canvas the accessible role of a chart with its value; call once per application.
void installSegmentMapAccessibility();

} // namespace tidemark
