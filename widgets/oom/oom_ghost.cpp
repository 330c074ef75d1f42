// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_ghost.hpp"

#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/ticks.hpp"

#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace tidemark {

namespace {

QPen dashed(const QColor& colour, double width)
{
    QPen pen(colour, width);
    pen.setDashPattern({3, 2});
    return pen;
}

} // namespace

OomMapCanvas::OomMapCanvas(Style& style, QWidget* parent)
    : SegmentMapCanvas(style, parent)
    , m_style(style)
{ }

void OomMapCanvas::setGhost(std::optional<GhostGeometry> ghost)
{
    m_ghost = ghost;
    viewport()->update();
}

void OomMapCanvas::paintEvent(QPaintEvent* event)
{
    SegmentMapCanvas::paintEvent(event);
    if (!m_ghost || !hasScene())
        return;
    QPainter painter(viewport());
    const double bottom = std::min<double>(viewport()->height(),
        scene().picture->height + m_style.metrics().unit - verticalScrollBar()->value());
    QColor band = m_style.color(Tone::Crit);
    band.setAlphaF(m_style.theme().isDark() ? 0.22F : 0.13F);
    if (m_ghost->right > m_ghost->fits)
        painter.fillRect(QRectF(m_ghost->fits, 0, m_ghost->right - m_ghost->fits, bottom), band);
    painter.setPen(dashed(m_style.color(Tone::Crit), 1));
    painter.drawLine(QPointF(m_ghost->left + 0.5, 0), QPointF(m_ghost->left + 0.5, bottom));
    if (!m_ghost->torn)
        painter.drawLine(QPointF(m_ghost->right - 0.5, 0), QPointF(m_ghost->right - 0.5, bottom));
}

OomMap::GhostStrip::GhostStrip(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&style, &Style::changed, this, &QWidget::updateGeometry);
}

void OomMap::GhostStrip::set(
    std::optional<GhostGeometry> ghost, const QString& label, const QString& missing, double end)
{
    m_ghost = ghost;
    m_label = label;
    m_missing = missing;
    m_end = end;
    setVisible(ghost.has_value());
    setAccessibleName(missing.isEmpty() ? label : label + QStringLiteral(", ") + missing);
    update();
}

QSize OomMap::GhostStrip::sizeHint() const
{
    return {0, QFontMetrics(m_style.font(FontRole::Small)).height() + m_style.metrics().unit + 4};
}

void OomMap::GhostStrip::paintEvent(QPaintEvent*)
{
    if (!m_ghost)
        return;
    QPainter painter(this);
    const QColor red = m_style.color(Tone::Crit);
    const QRectF frame(m_ghost->left, 1, m_ghost->right - m_ghost->left, height() - 1.0);
    const QRectF lacking(m_ghost->fits, 1, m_ghost->right - m_ghost->fits, height() - 1.0);
    if (lacking.width() > 0)
        painter.fillRect(lacking, red);
    painter.setPen(dashed(red, 1.5));
    painter.drawLine(frame.topLeft(), frame.topRight());
    painter.drawLine(frame.topLeft(), frame.bottomLeft());
    painter.drawLine(frame.bottomLeft(), frame.bottomRight());
    if (!m_ghost->torn)
        painter.drawLine(frame.topRight(), frame.bottomRight());
    QFont font = m_style.font(FontRole::Small);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(red);
    const QFontMetrics metrics(font);
    const int gap = 2 * m_style.metrics().unit;
    const int labelWidth = metrics.horizontalAdvance(m_label);
    const int missingWidth = metrics.horizontalAdvance(m_missing);
    // What is lacking stands at the right, where the rows name their holes; else inside its own red.
    double right = width();
    if (!m_missing.isEmpty()) {
        const bool outside = frame.right() + gap / 2.0 + missingWidth < width();
        if (outside) {
            painter.drawText(QRectF(frame.right() + gap / 2.0, 0, missingWidth + 1, height()),
                Qt::AlignLeft | Qt::AlignVCenter, m_missing);
        } else if (missingWidth + gap < lacking.width()) {
            painter.setPen(QColor::fromRgb(textOn(red.rgb())));
            painter.drawText(lacking, Qt::AlignCenter, m_missing);
            painter.setPen(red);
        }
        right = outside ? frame.right() : lacking.left();
    }
    const QRectF free(frame.left(), 0,
        std::min(lacking.width() > 0 ? lacking.left() : frame.right(), right) - frame.left(), height());
    if (labelWidth + gap <= free.width())
        painter.drawText(free, Qt::AlignCenter, m_label);
    else if (labelWidth + gap <= frame.left())
        painter.drawText(
            QRectF(0, 0, frame.left() - gap / 2.0, height()), Qt::AlignRight | Qt::AlignVCenter, m_label);
    else if (m_missing.isEmpty() && frame.right() + gap / 2.0 + labelWidth < width())
        painter.drawText(QRectF(frame.right() + gap / 2.0, 0, labelWidth + 1, height()),
            Qt::AlignLeft | Qt::AlignVCenter, m_label);
}

OomMap::ScaleStrip::ScaleStrip(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&style, &Style::changed, this, &QWidget::updateGeometry);
}

void OomMap::ScaleStrip::set(
    double left, double pixelsPerByte, std::uint64_t bytesPerRow, std::optional<std::uint64_t> deviceFree)
{
    m_left = left;
    m_pixelsPerByte = pixelsPerByte;
    m_bytes = bytesPerRow;
    m_deviceFree = deviceFree;
    setAccessibleName(deviceFree ? tr("not reserved: %1 on the device").arg(bytesText(*deviceFree))
                                 : tr("not reserved: unknown"));
    updateGeometry();
    update();
}

QSize OomMap::ScaleStrip::sizeHint() const
{
    const int line = QFontMetrics(m_style.font(FontRole::Scale)).height();
    return {0, 2 * line + 3 * m_style.metrics().unit};
}

void OomMap::ScaleStrip::paintUnreserved(QPainter& painter, double line) const
{
    const double padding = m_style.metrics().padding;
    painter.setPen(m_style.color(Tone::Text2));
    painter.drawText(QRectF(padding, 0, m_left - 1.5 * padding, line + 2), Qt::AlignLeft | Qt::AlignVCenter,
        tr("not reserved"));
    const double room = static_cast<double>(m_bytes) * m_pixelsPerByte;
    const double wanted = static_cast<double>(*m_deviceFree) * m_pixelsPerByte;
    const double wide = std::clamp(wanted, 1.0, std::max(1.0, room));
    QPen dots(m_style.color(Tone::Text2), 1);
    dots.setDashPattern({1, 2});
    painter.setPen(dots);
    const QRectF box(m_left + 0.5, 1.5, wide, line - 1);
    painter.drawLine(box.topLeft(), box.topRight());
    painter.drawLine(box.topLeft(), box.bottomLeft());
    painter.drawLine(box.bottomLeft(), box.bottomRight());
    if (wanted <= room)
        painter.drawLine(box.topRight(), box.bottomRight());
    painter.setPen(m_style.color(Tone::Text2));
    const QString text = tr("%1 on the device").arg(bytesText(*m_deviceFree));
    const int textWidth = painter.fontMetrics().horizontalAdvance(text);
    const bool outside = box.right() + padding + textWidth < width();
    painter.drawText(
        outside ? QRectF(box.right() + padding, 0, textWidth + 1, line + 2) : box.adjusted(padding, -1, 0, 1),
        Qt::AlignLeft | Qt::AlignVCenter, text);
}

void OomMap::ScaleStrip::paintEvent(QPaintEvent*)
{
    if (m_pixelsPerByte <= 0)
        return;
    QPainter painter(this);
    painter.setFont(m_style.font(FontRole::Scale));
    const QFontMetrics metrics(painter.font());
    const double line = metrics.height();
    if (m_deviceFree)
        paintUnreserved(painter, line);
    const double y = line + 2.0 * m_style.metrics().unit;
    const double right = m_left + static_cast<double>(m_bytes) * m_pixelsPerByte;
    painter.setPen(QPen(m_style.color(Tone::Line), 1));
    painter.drawLine(QPointF(m_left, y - 0.5), QPointF(right, y - 0.5));
    const int most = std::max(2, static_cast<int>((right - m_left) / m_style.metrics().px(64)));
    for (const AxisTick& tick : byteTicks(0, static_cast<double>(m_bytes), most)) {
        const double x = m_left + tick.value * m_pixelsPerByte;
        painter.setPen(QPen(m_style.color(Tone::Line), 1));
        painter.drawLine(QPointF(x, y), QPointF(x, y + 3));
        painter.setPen(m_style.color(Tone::Text2));
        const int wide = metrics.horizontalAdvance(tick.text);
        painter.drawText(QRectF(std::clamp(x - wide / 2.0, 0.0, width() - wide - 1.0), y + 3, wide + 1, line),
            Qt::AlignCenter, tick.text);
    }
}

} // namespace tidemark
