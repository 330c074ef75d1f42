// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/pattern.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"
#include "widgets/tree/flame_view.hpp"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double boxPitch = 21;
/// Boxes from this width on carry their name.
constexpr double textFrom = 44;
/// Inner boxes are that much of the plot's ground.
constexpr double innerMix = 0.55;

} // namespace

FlameCanvas::FlameCanvas(FlameView& view, Style& style)
    : QAbstractScrollArea(&view)
    , m_view(view)
    , m_style(style)
{
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Flame graph"));
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(false);
}

int FlameCanvas::boxHeight() const
{
    return m_style.metrics().px(boxPitch);
}

void FlameCanvas::layOut()
{
    m_boxes.clear();
    const auto tree = m_view.source().tree();
    const int margin = m_style.metrics().padding;
    if (tree)
        m_boxes = layoutFlame(*tree, m_view.zoomed(), viewport()->width() - 2 * margin);
    std::uint32_t rows = 0;
    for (const FlameBox& box : m_boxes)
        rows = std::max(rows, box.row + 1);
    const int height = static_cast<int>(rows) * boxHeight() + 2 * m_style.metrics().unit;
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(boxHeight());
    verticalScrollBar()->setRange(0, std::max(0, height - viewport()->height()));
    viewport()->update();
}

QRectF FlameCanvas::rectOf(const FlameBox& box) const
{
    const Metrics& metrics = m_style.metrics();
    return {metrics.padding + double{box.x},
        static_cast<double>(
            metrics.unit + static_cast<int>(box.row) * boxHeight() - verticalScrollBar()->value()),
        double{box.width}, static_cast<double>(boxHeight() - 1)};
}

const FlameBox* FlameCanvas::boxAt(QPointF position) const
{
    for (const FlameBox& box : m_boxes)
        if (rectOf(box).contains(position))
            return &box;
    return nullptr;
}

QColor FlameCanvas::colourOf(const FlameBox& box) const
{
    const Theme& theme = m_style.theme();
    const auto tree = m_view.source().tree();
    const CallTree::Node& node = tree->nodes[box.node];
    const auto colouring = m_view.m_session.colouring(m_view.m_state.colourBy());
    QRgb colour = theme.rgb(Tone::Line2);
    if (box.merged > 1)
        colour = theme.rgb(Tone::Other);
    else if (node.predating)
        colour = theme.rgb(Tone::Pre1);
    else if (box.node != 0 && colouring && valid(node.largest))
        colour = theme.colourOf(colouring->slotOf[index(node.largest)], colouring->sequential);
    if (box.merged == 1 && box.node != 0 && node.children > 0 && !node.predating)
        colour = mixed(colour, theme.rgb(Tone::Plot), innerMix);
    if (tree->filtered && box.matchedCount == 0 && box.node != 0)
        colour = theme.faded(colour);
    return QColor::fromRgb(colour);
}

QString FlameCanvas::boxText(const FlameBox& box) const
{
    if (box.merged > 1)
        return tr("%1 narrow boxes: %2 in %3 allocations")
            .arg(countText(std::uint64_t{box.merged}), bytesText(box.bytes), countText(box.count));
    const auto tree = m_view.source().tree();
    return QString::fromStdString(tree->name(box.node)) + QStringLiteral("  ")
        + m_view.source().valueText(box.node);
}

void FlameCanvas::paintBox(QPainter& painter, const FlameBox& box, double ratio) const
{
    QRectF area = rectOf(box);
    if (area.bottom() < 0 || area.top() > viewport()->height())
        return;
    // Edges on device pixels; a gap of one between boxes that have room for it.
    const double left = std::round(area.left() * ratio) / ratio;
    const double right = std::round(area.right() * ratio) / ratio;
    area = QRectF(left, area.top(), std::max(1 / ratio, right - left - (right - left > 3 ? 1 / ratio : 0)),
        area.height());
    const QColor ground = colourOf(box);
    painter.fillRect(area, ground);
    const auto tree = m_view.source().tree();
    if (box.merged == 1 && tree->nodes[box.node].predating)
        painter.fillRect(area, patternBrush(Pattern::Predating, m_style.color(Tone::Hatch), ratio));
    if (area.width() >= m_style.metrics().px(textFrom) && box.merged == 1) {
        const QRectF room = area.adjusted(m_style.metrics().px(5), 0, -m_style.metrics().unit, 0);
        const QFontMetrics metrics(painter.font());
        QString text = boxText(box);
        if (metrics.horizontalAdvance(text) > room.width())
            text = elidedSite(
                QString::fromStdString(tree->name(box.node)), metrics, static_cast<int>(room.width()));
        painter.setPen(QColor::fromRgb(textOn(ground.rgb())));
        painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, text);
    }
    if (box.node != 0 && box.node == m_view.m_selected && box.merged == 1) {
        painter.setPen(QPen(m_style.color(Tone::Halo), 1));
        painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5));
        painter.setPen(QPen(m_style.color(Tone::Ink), 1));
        painter.drawRect(area.adjusted(1.5, 1.5, -1.5, -1.5));
    }
}

void FlameCanvas::paintInto(QPainter& painter, double ratio)
{
    painter.fillRect(viewport()->rect(), m_style.color(Tone::Base));
    painter.setFont(m_style.font(FontRole::Small));
    for (const FlameBox& box : m_boxes)
        paintBox(painter, box, ratio);
}

void FlameCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    paintInto(painter, devicePixelRatioF());
}

void FlameCanvas::resizeEvent(QResizeEvent*)
{
    layOut();
}

void FlameCanvas::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const FlameBox* const box = boxAt(event->position());
    m_view.selectNode(box && box->merged == 1 ? box->node : 0);
}

void FlameCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    const FlameBox* const box = boxAt(event->position());
    if (event->button() == Qt::LeftButton && box)
        m_view.zoomTo(box->merged == 1 ? box->node : m_view.source().tree()->nodes[box->node].parent);
}

void FlameCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const FlameBox* const box = boxAt(event->position());
    emit m_view.m_state.hoverTextChanged(box ? boxText(*box) : QString());
}

bool FlameCanvas::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        emit m_view.m_state.hoverTextChanged({});
    if (event->type() == QEvent::ToolTip) {
        auto* const help = static_cast<QHelpEvent*>(event);
        const FlameBox* const box = boxAt(help->pos());
        QString text;
        if (box && box->merged > 1) {
            text = boxText(*box);
        } else if (box) {
            const CallTree::Node& node = m_view.source().tree()->nodes[box->node];
            text = tr("%1\n%2 (%3), %4 allocations")
                       .arg(QString::fromStdString(m_view.source().tree()->name(box->node)),
                           bytesText(node.bytes), exactBytesText(node.bytes), countText(node.count));
        }
        QToolTip::showText(help->globalPos(), text, viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

/// Arrows walk the boxes: up to the caller, down to the heaviest called one, sideways among those it stands
/// with.
void FlameCanvas::keyPressEvent(QKeyEvent* event)
{
    const auto tree = m_view.source().tree();
    if (!tree) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    const std::uint32_t at = m_view.m_selected;
    const CallTree::Node& node = tree->nodes[at];
    switch (event->key()) {
    case Qt::Key_Backspace:
        if (m_view.zoomed() != 0)
            m_view.zoomTo(tree->nodes[m_view.zoomed()].parent);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        m_view.zoomTo(at);
        return;
    case Qt::Key_Up:
        if (at != 0)
            m_view.selectNode(node.parent);
        return;
    case Qt::Key_Down:
        if (node.children > 0)
            m_view.selectNode(tree->child(at, 0));
        return;
    case Qt::Key_Left:
    case Qt::Key_Right: {
        const bool right = event->key() == Qt::Key_Right;
        if (at != 0 && (right ? node.row + 1 < tree->nodes[node.parent].children : node.row > 0))
            m_view.selectNode(tree->child(node.parent, right ? node.row + 1 : node.row - 1));
        return;
    }
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void FlameCanvas::contextMenuEvent(QContextMenuEvent* event)
{
    if (const FlameBox* const box = boxAt(event->pos()); box && box->merged == 1)
        m_view.contextMenu(box->node, event->globalPos());
}

} // namespace tidemark
