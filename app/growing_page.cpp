// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/growing_page.hpp"

#include "widgets/style/text.hpp"

#include <QPainter>

#include <algorithm>
#include <utility>

namespace tidemark {

GrowingPage::GrowingPage(const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    connect(&style, &Style::changed, this, qOverload<>(&QWidget::update));
}

void GrowingPage::setCurve(CurveSoFar curve, double share)
{
    m_curve = std::move(curve);
    m_share = std::clamp(share, 0.0, 1.0);
    setAccessibleDescription(text());
    update();
}

QString GrowingPage::text() const
{
    const auto events = static_cast<std::uint64_t>(m_curve.events());
    return events == 0
        ? tr("Reading. The timeline appears when all is replayed.")
        : tr("%1 events so far. Figures follow when all is read and replayed.").arg(countText(events));
}

double GrowingPage::drawnShare() const
{
    if (m_curve.events() == 0)
        return 0;
    return m_share > 0 ? m_share : 1;
}

/// From the highest point of each column back along the lowest ones.
QPainterPath GrowingPage::outline(const QRectF& plot) const
{
    const auto& columns = m_curve.columns();
    // What was freed but never allocated was there before: at least so much stood under the curve.
    std::int64_t floor = 0;
    std::int64_t top = 1;
    for (const CurveSoFar::Column& column : columns) {
        floor = std::min(floor, column.low);
        top = std::max(top, column.high);
    }
    const double events = static_cast<double>(m_curve.events());
    const double width = plot.width() * drawnShare();
    const double height = static_cast<double>(top) - static_cast<double>(floor);
    const auto x = [&](std::size_t column) {
        const auto event = static_cast<double>(column * m_curve.columnEvents());
        return plot.left() + width * std::min(1.0, event / events);
    };
    const auto y = [&](std::int64_t bytes) {
        return plot.bottom()
            - plot.height() * (static_cast<double>(bytes) - static_cast<double>(floor)) / height;
    };
    QPainterPath path(QPointF(plot.left(), plot.bottom()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
        path.lineTo(x(i), y(columns[i].high));
        path.lineTo(x(i + 1), y(columns[i].high));
    }
    path.lineTo(x(columns.size()), plot.bottom());
    path.closeSubpath();
    return path;
}

void GrowingPage::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Plot));
    const Metrics& metrics = m_style.metrics();
    const QFont font = m_style.font(FontRole::Base);
    const int line = QFontMetrics(font).height();
    const QRectF plot = QRectF(rect()).adjusted(
        metrics.px(24), metrics.px(24), -metrics.px(24), -metrics.px(24) - 2 * line);
    if (plot.height() > line && m_curve.events() > 0) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(m_style.color(Tone::Line));
        painter.drawPath(outline(plot));
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
    painter.setFont(font);
    painter.setPen(m_style.color(Tone::Text2));
    painter.drawText(QRectF(plot.left(), plot.bottom() + line * 0.5, plot.width(), line * 1.5),
        Qt::AlignHCenter | Qt::AlignTop | Qt::TextSingleLine, text());
}

} // namespace tidemark
