// SPDX-License-Identifier: GPL-3.0-or-later
// What the diagnosis adds to the timeline: the selected finding's lane and the predicted curve's peak.
#include "widgets/common/severity_look.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_painters.hpp"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double areaRoom = 3; // pixels of the finding's lane above its highest point

QString tr(const char* text)
{
    return QCoreApplication::translate("Timeline", text);
}

double laneHeight(const TimelineScene& scene, std::int64_t bytes)
{
    const std::int64_t most = scene.finding.bytes->total().max;
    if (most <= 0 || bytes <= 0)
        return 0;
    const double whole = scene.geometry.finding.height() - areaRoom;
    // Whatever is there leaves at least a hairline.
    return std::max(
        scene.hairline(), scene.snapped(whole * static_cast<double>(bytes) / static_cast<double>(most)));
}

/// Share of the lane's height that is filled below a text.
double filledBelow(const TimelineScene& scene, const QRectF& box)
{
    std::int64_t most = 0;
    const auto first = scene.columnAt(std::max<double>(box.left(), scene.geometry.plot.left()));
    const auto last = scene.columnAt(std::min<double>(box.right(), scene.geometry.plot.right()));
    if (first && last)
        most = scene.finding.bytes
                   ->extremes(scene.columns[*first].first, scene.columns[std::max(*first, *last)].last)
                   .max;
    return laneHeight(scene, most) / scene.geometry.finding.height();
}

QString valueText(const TimelineScene& scene)
{
    const StateIndex cursor = scene.state.cursor();
    const std::int64_t bytes = scene.finding.bytes->at(cursor);
    const std::int64_t live = scene.source->requested().at(cursor);
    QString text = tr("%1 at the cursor").arg(bytesText(bytes));
    if (live > 0 && bytes > 0)
        text += tr(", %1 of live").arg(percentText(static_cast<double>(bytes) / static_cast<double>(live)));
    return text;
}

} // namespace

void paintFinding(QPainter& painter, const TimelineScene& scene)
{
    const QRect& row = scene.geometry.finding;
    if (row.isNull() || !scene.finding.bytes || scene.columns.empty())
        return;
    const QFont font = scene.style.font(FontRole::Small);
    painter.setFont(font);
    const QString title = tr("finding");
    drawText(painter, textBox(font, title, {row.left() - 7.0, row.center().y() + 0.5}, TextSide::Right),
        title, scene.style.color(Tone::Text2));
    painter.save();
    painter.setClipRect(row, Qt::IntersectClip);
    std::vector<QRectF> bars;
    bars.reserve(scene.columns.size());
    const double base = row.top() + row.height();
    for (std::size_t i = 0; i < scene.columns.size(); ++i) {
        const ColumnInfo& column = scene.columns[i];
        if (column.outside)
            continue;
        const double height = laneHeight(scene, scene.finding.bytes->extremes(column.first, column.last).max);
        if (height > 0)
            bars.emplace_back(scene.columnX(i), base - height, 1 / scene.ratio, height);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(scene.style.color(severityShapeTone(scene.finding.finding->severity)));
    painter.drawRects(bars.data(), static_cast<int>(bars.size()));
    painter.restore();
    painter.fillRect(QRectF(row.left(), base - scene.hairline(), row.width(), scene.hairline()),
        scene.style.color(Tone::Line2));
}

void paintFindingValue(QPainter& painter, const TimelineScene& scene)
{
    const QRect& row = scene.geometry.finding;
    if (row.isNull() || !scene.finding.bytes || scene.columns.empty())
        return;
    const Finding& finding = *scene.finding.finding;
    const QFont font = scene.style.font(FontRole::Small);
    const QString value = valueText(scene);
    const double cursorX = scene.xPixel(scene.scale.mark(scene.state.cursor()));
    const int side = scene.style.metrics().smallIcon;
    constexpr double gap = 4;
    QString name = shownText(finding.title);
    if (name.endsWith(QLatin1Char('.')))
        name.chop(1);
    const QString named = name + QStringLiteral(": ") + value;
    for (const QString& text : {named, value}) {
        const double width = side + gap + textBox(font, text, {0, 0}, TextSide::Left).width();
        // Where least of the lane's own picture lies behind it, and not across the cursor.
        std::optional<QRectF> best;
        double least = 2;
        for (const double share : {0.4, 0.5, 0.6, 0.3, 0.2, 0.1, 0.0, 0.7, 0.8, 0.9, 1.0}) {
            const double left = row.left() + 6 + share * (row.width() - 12 - width);
            const QRectF box(left, row.top(), width, row.height());
            if (left < row.left() || (cursorX > box.left() - 5 && cursorX < box.right() + 5))
                continue;
            const double filled = filledBelow(scene, box);
            if (filled < least - 0.1) {
                least = filled;
                best = box;
            }
        }
        if (!best)
            continue;
        if (least > 0) {
            QColor ground = scene.style.color(Tone::Plot);
            ground.setAlphaF(0.8F);
            painter.fillRect(best->adjusted(-3, 2, 3, -2), ground);
        }
        painter.drawPixmap(QPointF(best->left(), row.center().y() + 0.5 - side / 2.0),
            scene.style.pixmap(
                severityIcon(finding.severity), severityShapeTone(finding.severity), side, scene.ratio));
        painter.setFont(font);
        drawHaloText(painter,
            textBox(font, text, {best->left() + side + gap, row.center().y() + 0.5}, TextSide::Left), text,
            scene.style.color(Tone::Text), scene.style.color(Tone::Halo));
        return;
    }
}

namespace {

/// A mark at a predicted peak with the first of the texts that finds room.
void paintPeakMark(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels, StateIndex state,
    std::int64_t bytes, std::initializer_list<QString> texts)
{
    const QRectF plot = scene.geometry.plot;
    const double x = scene.xPixel(scene.scale.mark(state));
    const double y = scene.yPixel(static_cast<double>(bytes));
    const bool visible = plot.adjusted(-1, -1, 1, 1).contains(x, y);
    const double tip = std::max(y - 3, plot.top() + 9);
    if (visible) {
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(scene.style.color(Tone::Halo), 1));
        painter.setBrush(scene.style.color(Tone::Sel));
        painter.drawPolygon(QPolygonF{{x - 5, tip - 8}, {x + 5, tip - 8}, {x, tip}});
        painter.restore();
        labels.block(QRectF(x - 5, tip - 8, 10, 8));
    }
    QFont font = scene.style.font(FontRole::Small);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    for (const QString& text : texts) {
        std::vector<QRectF> places;
        if (visible)
            for (const double dy : {tip - 6 - y, 5.0, 20.0, -22.0, 35.0, -38.0, 50.0})
                for (const TextSide side : {TextSide::Left, TextSide::Right})
                    places.push_back(
                        textBox(font, text, {side == TextSide::Left ? x + 9 : x - 9, y + dy}, side));
        else
            places = {textBox(font, text, {plot.right() - 6, plot.top() + 24}, TextSide::Right),
                textBox(font, text, {plot.left() + 6, plot.top() + 24}, TextSide::Left)};
        if (const auto box = labels.takeFirst(places)) {
            drawHaloText(painter, *box, text, scene.style.color(Tone::Link), scene.style.color(Tone::Halo));
            return;
        }
    }
}

} // namespace

void paintPredictedPeak(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels)
{
    if (!scene.predicted.prediction)
        return;
    const Prediction& prediction = *scene.predicted.prediction;
    if (scene.predicted.bytes) {
        const EditedCurve& curve = prediction.curve;
        const QString brief = tr("predicted %1").arg(bytesText(curve.newPeak));
        const QString owner = shownText(prediction.owner);
        const QString full = owner.isEmpty() ? brief : tr("%1, made by %2").arg(brief, owner);
        paintPeakMark(painter, scene, labels, curve.newPeakState, curve.newPeak, {full, brief});
    }
    if (scene.predicted.reserved) {
        const auto peak = scene.predicted.reserved->total();
        paintPeakMark(painter, scene, labels, peak.maxState, peak.max,
            {tr("predicted reserved %1").arg(bytesText(peak.max))});
    }
}

} // namespace tidemark
