// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_painters.hpp"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double narrowest = 3; // pixels from which a mark is drawn with a frame of its own
constexpr double elideFrom = 72; // room from which a cut name still says something

// Not marked in the file but worked out: drawn on grey.
bool isFound(const Lane& lane)
{
    return lane.kind == Lane::Kind::Phases || lane.kind == Lane::Kind::FoundSteps;
}

// Draws one row of marks; what is narrower than a few pixels runs together into bars.
class RowPainter {
public:
    RowPainter(QPainter& painter, const TimelineScene& scene, const Lane& lane, const QRect& row)
        : m_painter(painter)
        , m_scene(scene)
        , m_lane(lane)
        , m_row(row)
        , m_line(isFound(lane) ? Tone::Hatch : Tone::Sel)
        , m_ground(isFound(lane) ? Tone::Head : Tone::SelSoft)
        , m_font(scene.style.font(FontRole::Small))
        , m_metrics(m_font)
    { }

    void add(std::size_t k)
    {
        const auto [begin, end] = m_scene.laneSpan(m_lane, k);
        const double left = m_scene.snapped(std::max(m_scene.xPixel(begin), m_row.left() - 8.0));
        const double right = m_scene.snapped(std::min(m_scene.xPixel(end), m_row.right() + 9.0));
        if (right - left < narrowest) {
            fold(left, std::max(right, left + 1));
            return;
        }
        flush();
        frame(m_scene.laneItem(m_lane, k), left, right);
    }
    void flush()
    {
        if (m_foldRight > m_foldLeft)
            m_painter.fillRect(QRectF(m_foldLeft, m_row.top(), m_foldRight - m_foldLeft, m_row.height()),
                QColor(mixed(m_scene.style.theme().rgb(m_line), m_scene.style.theme().rgb(m_ground), 0.4)));
        m_foldRight = m_foldLeft;
    }

private:
    void fold(double left, double right)
    {
        if (left > m_foldRight + 1) {
            flush();
            m_foldLeft = left;
        }
        m_foldRight = std::max(m_foldRight, right);
    }
    void frame(const LaneItem& item, double left, double right)
    {
        const QRectF box(left + 0.5, m_row.top() + 0.5, right - left - 1, m_row.height() - 1);
        QPen pen(m_scene.style.color(m_line), 1);
        if (item.open || !item.recorded)
            pen.setDashPattern({3, 2});
        m_painter.setPen(pen);
        m_painter.setBrush(m_scene.style.color(m_ground));
        m_painter.drawRect(box);
        const double from = std::max(left, static_cast<double>(m_row.left())) + 8;
        const double room = std::min(right, static_cast<double>(m_row.right())) - 4 - from;
        QString text = item.name;
        if (m_metrics.horizontalAdvance(text) > room) {
            if (room < elideFrom)
                return;
            text = m_metrics.elidedText(text, Qt::ElideRight, room);
        }
        m_painter.setFont(m_font);
        drawText(m_painter, textBox(m_font, text, {from, m_row.center().y() + 0.5}, TextSide::Left), text,
            m_scene.style.color(Tone::Text));
    }

    QPainter& m_painter;
    const TimelineScene& m_scene;
    const Lane& m_lane;
    QRect m_row;
    Tone m_line;
    Tone m_ground;
    QFont m_font;
    QFontMetricsF m_metrics;
    double m_foldLeft = -1e9;
    double m_foldRight = -1e9;
};

void paintRow(QPainter& painter, const TimelineScene& scene, const Lane& lane, const QRect& row)
{
    RowPainter out(painter, scene, lane, row);
    for (std::size_t k = scene.firstVisible(lane); k < lane.items.size(); ++k) {
        if (scene.laneSpan(lane, k).first > scene.state.window().right)
            break;
        out.add(k);
    }
    out.flush();
}

// How many marks cover each pixel, as tint; for what is nested too deep to get a row.
void paintDensity(QPainter& painter, const TimelineScene& scene, const Lane& lane, const QRect& row)
{
    const auto width = static_cast<std::size_t>(row.width());
    std::vector<int> change(width + 1, 0);
    std::int64_t seen = 0;
    for (std::size_t k = 0; k < lane.items.size(); ++k) {
        const auto [begin, end] = scene.laneSpan(lane, k);
        const double left = scene.xPixel(begin) - row.left();
        const double right = std::max(left + 1, scene.xPixel(end) - row.left());
        if (right <= 0 || left >= row.width())
            continue;
        ++seen;
        ++change[static_cast<std::size_t>(std::max(0.0, left))];
        --change[static_cast<std::size_t>(std::min(std::ceil(right), static_cast<double>(width)))];
    }
    int most = 0;
    int depth = 0;
    for (std::size_t x = 0; x < width; ++x)
        most = std::max(most, depth += change[x]);
    const Theme& theme = scene.style.theme();
    depth = 0;
    for (std::size_t x = 0; x < width; ++x) {
        depth += change[x];
        if (depth > 0)
            painter.fillRect(QRectF(row.left() + static_cast<double>(x), row.top(), 1, row.height()),
                QColor(mixed(theme.rgb(Tone::SelSoft), theme.rgb(Tone::Sel), 0.8 * depth / most)));
    }
    if (seen == 0)
        return;
    const QFont font = scene.style.font(FontRole::Small);
    const QString text = QCoreApplication::translate("Timeline", "%1 deeper marks").arg(countText(seen));
    painter.setFont(font);
    drawHaloText(painter, textBox(font, text, {row.left() + 8.0, row.center().y() + 0.5}, TextSide::Left),
        text, scene.style.color(Tone::Text), scene.style.color(Tone::Halo));
}

} // namespace

void paintLanes(QPainter& painter, const TimelineScene& scene)
{
    const QFont font = scene.style.font(FontRole::Small);
    painter.setFont(font);
    for (std::size_t i = 0; i < scene.geometry.lanes.size() && i < scene.lanes.size(); ++i) {
        const QRect& row = scene.geometry.lanes[i];
        const Lane& lane = scene.lanes[i];
        if (!lane.title.isEmpty())
            drawText(painter,
                textBox(font, lane.title, {row.left() - 7.0, row.center().y() + 0.5}, TextSide::Right),
                lane.title, scene.style.color(Tone::Text2));
        painter.save();
        painter.setClipRect(row, Qt::IntersectClip);
        if (lane.kind == Lane::Kind::Density)
            paintDensity(painter, scene, lane, row);
        else
            paintRow(painter, scene, lane, row);
        painter.restore();
    }
}

std::optional<LaneItem> laneItemAt(const TimelineScene& scene, const QPointF& pos)
{
    for (std::size_t i = 0; i < scene.geometry.lanes.size() && i < scene.lanes.size(); ++i) {
        const Lane& lane = scene.lanes[i];
        if (!QRectF(scene.geometry.lanes[i]).contains(pos) || lane.kind == Lane::Kind::Density)
            continue;
        std::optional<std::size_t> best;
        double nearest = narrowest;
        for (std::size_t k = scene.firstVisible(lane); k < lane.items.size(); ++k) {
            const auto [begin, end] = scene.laneSpan(lane, k);
            const double left = scene.xPixel(begin);
            const double right = scene.xPixel(end);
            if (left > pos.x() + narrowest)
                break;
            const double distance = std::max({0.0, left - pos.x(), pos.x() - right});
            if (distance < nearest) {
                nearest = distance;
                best = k;
            }
        }
        return best ? std::optional(scene.laneItem(lane, *best)) : std::nullopt;
    }
    return std::nullopt;
}

} // namespace tidemark
