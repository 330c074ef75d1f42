// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/plot_text.hpp"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace tidemark {

QRectF textBox(const QFont& font, const QString& text, const QPointF& at, TextSide side)
{
    const QFontMetricsF metrics(font);
    const double width = std::ceil(metrics.horizontalAdvance(text)) + 1;
    const double height = std::ceil(metrics.height());
    double left = at.x();
    if (side == TextSide::Centre)
        left -= std::round(width / 2);
    else if (side == TextSide::Right)
        left -= width;
    return {left, std::round(at.y() - height / 2), width, height};
}

void drawText(QPainter& painter, const QRectF& box, const QString& text, const QColor& colour)
{
    painter.setPen(colour);
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip | Qt::TextSingleLine, text);
}

void drawHaloText(
    QPainter& painter, const QRectF& box, const QString& text, const QColor& colour, const QColor& halo)
{
    for (const QPointF& shift : {QPointF(-1, 0), QPointF(1, 0), QPointF(0, -1), QPointF(0, 1),
             QPointF(-1, -1), QPointF(1, 1), QPointF(-1, 1), QPointF(1, -1)})
        drawText(painter, box.translated(shift), text, halo);
    drawText(painter, box, text, colour);
}

bool LabelPlacer::isFree(const QRectF& box) const
{
    if (!m_bounds.contains(box))
        return false;
    return std::none_of(
        m_taken.begin(), m_taken.end(), [&](const QRectF& other) { return other.intersects(box); });
}

double LabelPlacer::crossed(const QRectF& box) const
{
    double area = 0;
    for (const QRectF& line : m_lines) {
        const QRectF both = line.intersected(box);
        area += both.width() * both.height();
    }
    return area;
}

std::optional<QRectF> LabelPlacer::takeFirst(const std::vector<QRectF>& boxes)
{
    std::optional<QRectF> best;
    double least = 0;
    for (const QRectF& box : boxes) {
        if (!isFree(box))
            continue;
        const double area = crossed(box);
        if (best && area >= least)
            continue;
        best = box;
        least = area;
        if (area == 0)
            break;
    }
    if (best)
        m_taken.push_back(*best);
    return best;
}

namespace {

// Cuts a path of horizontal and vertical stretches into dashes.
class Dasher {
public:
    Dasher(const StepLine& line, std::vector<QRectF>& out)
        : m_line(line)
        , m_out(out)
        , m_rest(line.dash)
    { }

    void horizontal(double from, double to, double y)
    {
        stretch(to - from, [&](double a, double b) {
            m_out.emplace_back(from + a, y - m_line.thickness / 2, b - a, m_line.thickness);
        });
    }
    void vertical(double x, double from, double to)
    {
        const double direction = to < from ? -1 : 1;
        stretch(std::abs(to - from), [&](double a, double b) {
            const double y0 = from + direction * a;
            const double y1 = from + direction * b;
            m_out.emplace_back(
                x - m_line.thickness / 2, std::min(y0, y1), m_line.thickness, std::abs(y1 - y0));
        });
    }

private:
    template <typename Add>
    void stretch(double length, const Add& add)
    {
        if (m_line.dash <= 0) {
            add(0.0, length);
            return;
        }
        double at = 0;
        while (at < length) {
            const double piece = std::min(m_rest, length - at);
            if (m_on)
                add(at, at + piece);
            at += piece;
            m_rest -= piece;
            if (m_rest <= 1e-9) {
                m_on = !m_on;
                m_rest = m_on ? m_line.dash : m_line.gap;
            }
        }
    }

    const StepLine& m_line;
    std::vector<QRectF>& m_out;
    double m_rest;
    bool m_on = true;
};

} // namespace

void drawStepLine(QPainter& painter, const StepLine& line, const std::vector<double>& y, const QColor& colour)
{
    if (y.empty())
        return;
    std::vector<QRectF> rects;
    Dasher dasher(line, rects);
    const double column = 1 / line.ratio;
    std::size_t start = 0;
    while (start < y.size()) {
        std::size_t end = start + 1;
        while (end < y.size() && y[end] == y[start])
            ++end;
        const double from = line.left + static_cast<double>(start) * column;
        const double to = line.left + static_cast<double>(end) * column;
        dasher.horizontal(from, to, y[start]);
        if (end < y.size())
            dasher.vertical(to, y[start], y[end]);
        start = end;
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawRects(rects.data(), static_cast<int>(rects.size()));
}

} // namespace tidemark
