// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/segments/segment_map_canvas.hpp"

#include <QAccessibleWidget>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr int edgeReach = 2; ///< logical pixels around a segment's outline that mean the segment
constexpr int wheelStep = 120;

/// A chart whose value is the view's description.
class AccessibleMap : public QAccessibleWidget {
public:
    explicit AccessibleMap(QWidget* widget)
        : QAccessibleWidget(widget, QAccessible::Chart)
    { }
    QString text(QAccessible::Text kind) const override
    {
        return kind == QAccessible::Value ? widget()->accessibleDescription() : QAccessibleWidget::text(kind);
    }
};

QAccessibleInterface* makeAccessible(const QString&, QObject* object)
{
    auto* const canvas = qobject_cast<SegmentMapCanvas*>(object);
    return canvas ? new AccessibleMap(canvas) : nullptr;
}

} // namespace

void installSegmentMapAccessibility()
{
    QAccessible::installFactory(makeAccessible);
}

SegmentMapCanvas::SegmentMapCanvas(Style& style, QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_style(style)
{
    installSegmentMapAccessibility();
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    viewport()->setBackgroundRole(QPalette::Base);
}

int SegmentMapCanvas::margin() const
{
    return m_style.metrics().padding;
}

int SegmentMapCanvas::contentWidth(bool withScrollBar) const
{
    const int bar = withScrollBar ? verticalScrollBar()->sizeHint().width() : 0;
    return std::max(50, width() - 2 * margin() - bar);
}

int SegmentMapCanvas::contentHeight() const
{
    return std::max(20, viewport()->height() - 2 * m_style.metrics().unit);
}

void SegmentMapCanvas::setScene(const SegmentScene& scene)
{
    m_scene = scene;
    updateScrollBars();
    invalidate();
}

void SegmentMapCanvas::setMarks(const SegmentScene& scene)
{
    m_scene = scene;
    viewport()->update();
}

void SegmentMapCanvas::invalidate()
{
    m_blocksValid = false;
    viewport()->update();
}

void SegmentMapCanvas::updateScrollBars()
{
    const double height = m_scene.picture ? m_scene.picture->height : 0;
    const int room = contentHeight();
    verticalScrollBar()->setPageStep(room);
    verticalScrollBar()->setSingleStep(m_style.metrics().row);
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(height)) - room));
}

QPoint SegmentMapCanvas::originPixels(double ratio) const
{
    return {static_cast<int>(std::lround(margin() * ratio)),
        static_cast<int>(std::lround((m_style.metrics().unit - verticalScrollBar()->value()) * ratio))};
}

QPointF SegmentMapCanvas::origin() const
{
    return {static_cast<double>(margin()),
        static_cast<double>(m_style.metrics().unit - verticalScrollBar()->value())};
}

void SegmentMapCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    const double ratio = viewport()->devicePixelRatioF();
    const QRect clip(QPoint(0, 0), (QSizeF(viewport()->size()) * ratio).toSize());
    if (!m_scene.picture || !m_scene.colouring) {
        painter.fillRect(viewport()->rect(), m_style.color(Tone::Base));
        return;
    }
    const SegmentPainter segments(m_scene, m_style, ratio);
    if (!m_blocksValid || m_blocks.size() != clip.size()) {
        m_blocks = QPixmap(clip.size());
        m_blocks.setDevicePixelRatio(ratio);
        m_blocks.fill(m_style.color(Tone::Base));
        QPainter blocks(&m_blocks);
        segments.paintBlocks(blocks, originPixels(ratio), clip);
        m_blocksValid = true;
    }
    painter.drawPixmap(0, 0, m_blocks);
    segments.paintMarks(painter, originPixels(ratio), clip);
    if (m_notes.paint)
        m_notes.paint(painter, origin());
    if (hasFocus()) {
        painter.setPen(QPen(m_style.color(Tone::Sel), 2));
        painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

void SegmentMapCanvas::paintInto(QPainter& painter, double ratio)
{
    const QRect clip(QPoint(0, 0), (QSizeF(viewport()->size()) * ratio).toSize());
    painter.fillRect(viewport()->rect(), m_style.color(Tone::Base));
    if (!m_scene.picture || !m_scene.colouring)
        return;
    const SegmentPainter segments(m_scene, m_style, ratio);
    segments.paintBlocks(painter, originPixels(ratio), clip);
    segments.paintMarks(painter, originPixels(ratio), clip);
    if (m_notes.paint)
        m_notes.paint(painter, origin());
}

MapHit SegmentMapCanvas::hitAt(QPointF point) const
{
    MapHit hit;
    if (!m_scene.picture)
        return hit;
    const MapPicture& picture = *m_scene.picture;
    const double x = point.x() - margin();
    const double y = point.y() - m_style.metrics().unit + verticalScrollBar()->value();
    hit.box = boxAt(picture, x, y);
    const auto first = std::partition_point(picture.frames.begin(), picture.frames.end(),
        [&](const MapFrame& frame) { return frame.y + frame.height + edgeReach < y; });
    for (auto frame = first; frame != picture.frames.end() && frame->y - edgeReach <= y; ++frame) {
        if (x < frame->x - edgeReach || x > frame->x + frame->width + edgeReach)
            continue;
        hit.segment = frame->segment;
        const bool wide = frame->width > 6 * edgeReach;
        const bool outside = y < frame->y || y >= frame->y + frame->height;
        const bool atSide = wide
            && ((!frame->tornLeft && x < frame->x + edgeReach)
                || (!frame->tornRight && x > frame->x + frame->width - edgeReach));
        hit.edge = outside || atSide;
        if (!outside)
            break;
    }
    if (hit.box && !hit.edge)
        hit.segment = picture.boxes[*hit.box].segment;
    return hit;
}

void SegmentMapCanvas::showRange(double top, double bottom)
{
    QScrollBar* const bar = verticalScrollBar();
    if (top < bar->value())
        bar->setValue(static_cast<int>(top) - m_style.metrics().unit);
    else if (bottom > bar->value() + contentHeight())
        bar->setValue(static_cast<int>(std::ceil(bottom)) - contentHeight() + m_style.metrics().unit);
}

void SegmentMapCanvas::showPiece(std::uint64_t address)
{
    if (!m_scene.picture)
        return;
    for (const MapBox& box : m_scene.picture->boxes)
        if (m_scene.state->pieces[box.piece].address == address) {
            showRange(box.y, box.y + box.height);
            return;
        }
}

void SegmentMapCanvas::showSegment(std::uint32_t segment)
{
    if (!m_scene.picture)
        return;
    for (const MapFrame& frame : m_scene.picture->frames)
        if (frame.segment == segment) {
            showRange(frame.y, frame.y + frame.height);
            return;
        }
}

void SegmentMapCanvas::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBars();
    invalidate();
    emit resized();
}

void SegmentMapCanvas::scrollContentsBy(int, int)
{
    invalidate();
}

bool SegmentMapCanvas::isWalkKey(const QKeyEvent& event) const
{
    switch (event.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        return !(event.modifiers() & (Qt::AltModifier | Qt::ShiftModifier));
    case Qt::Key_Return:
    case Qt::Key_Enter:
        return true;
    default:
        return false;
    }
}

bool SegmentMapCanvas::event(QEvent* event)
{
    // Arrows belong to the map while it has the focus; elsewhere they move the cursor.
    if (event->type() == QEvent::ShortcutOverride && isWalkKey(*static_cast<QKeyEvent*>(event))) {
        event->accept();
        return true;
    }
    return QAbstractScrollArea::event(event);
}

void SegmentMapCanvas::keyPressEvent(QKeyEvent* event)
{
    const bool erase = event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace;
    if (erase && m_notes.erase && m_notes.erase())
        return;
    if (!isWalkKey(*event)) {
        event->ignore();
        return;
    }
    const bool segments = event->modifiers() & Qt::ControlModifier;
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
        const int direction = event->key() == Qt::Key_Left ? -1 : 1;
        if (segments)
            emit walkSegments(direction);
        else
            emit walkBlocks(direction);
        break;
    }
    case Qt::Key_Up:
    case Qt::Key_Down: {
        const int direction = event->key() == Qt::Key_Up ? -1 : 1;
        if (segments)
            emit walkSegments(direction);
        else
            emit walkRows(direction);
        break;
    }
    default:
        emit activated();
    }
}

bool SegmentMapCanvas::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        emit left();
    if (event->type() == QEvent::ToolTip) {
        const auto* const help = static_cast<QHelpEvent*>(event);
        emit toolTipWanted(hitAt(help->pos()), help->globalPos());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void SegmentMapCanvas::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const MapHit hit = hitAt(event->position());
    m_noting = m_notes.press && m_notes.press(hit, event->position());
    if (!m_noting)
        emit clicked(hit);
}

void SegmentMapCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && std::exchange(m_noting, false) && m_notes.release)
        m_notes.release(event->position());
}

void SegmentMapCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || (m_notes.doubleClick && m_notes.doubleClick(event->position())))
        return;
    emit doubleClicked(hitAt(event->position()));
}

void SegmentMapCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const MapHit hit = hitAt(event->position());
    if (m_noting && m_notes.drag)
        m_notes.drag(hit, event->position());
    emit hovered(hit);
}

void SegmentMapCanvas::wheelEvent(QWheelEvent* event)
{
    if (!(event->modifiers() & Qt::ControlModifier)) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    m_wheel += event->angleDelta().y();
    const int steps = m_wheel / wheelStep;
    m_wheel -= steps * wheelStep;
    if (steps != 0)
        emit zoomRequested(steps);
    event->accept();
}

void SegmentMapCanvas::contextMenuEvent(QContextMenuEvent* event)
{
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    emit menuRequested(byKey ? MapHit{} : hitAt(event->pos()), event->globalPos());
}

void SegmentMapCanvas::focusInEvent(QFocusEvent*)
{
    viewport()->update();
}

void SegmentMapCanvas::focusOutEvent(QFocusEvent*)
{
    viewport()->update();
}

} // namespace tidemark
