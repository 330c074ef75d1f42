// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_notes.hpp"
#include "widgets/timeline/timeline_painters.hpp"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("Timeline", text);
}

// An outline belongs to the picture it was made from and is scaled with it.
void paintOutlineImage(QPainter& painter, const TimelineScene& scene, const OutlineImage& outline)
{
    if (outline.pixels.isNull() || outline.picture != scene.picture)
        return;
    const TimelineWindow& w = outline.picture->request.window;
    if (!scene.scale.draws(w))
        return;
    const double dx = (w.right - w.left) / w.width;
    const double dy = (w.top - w.bottom) / w.height;
    const QPointF from(scene.xPixel(w.left + outline.at.x() * dx), scene.yPixel(w.top - outline.at.y() * dy));
    const QPointF to(scene.xPixel(w.left + (outline.at.x() + outline.pixels.width()) * dx),
        scene.yPixel(w.top - (outline.at.y() + outline.pixels.height()) * dy));
    painter.drawImage(QRectF(QPointF(scene.snapped(from.x()), scene.snapped(from.y())),
                          QPointF(scene.snapped(to.x()), scene.snapped(to.y()))),
        outline.pixels);
}

void avoidSeries(const TimelineScene& scene, const Series& series, LabelPlacer& labels)
{
    constexpr std::size_t step = 8;
    for (std::size_t i = 0; i < scene.columns.size(); i += step) {
        const std::size_t last = std::min(i + step, scene.columns.size()) - 1;
        const auto extremes = series.extremes(scene.columns[i].first, scene.columns[last].last);
        const double top = scene.yPixel(static_cast<double>(extremes.max));
        const double bottom = scene.yPixel(static_cast<double>(extremes.min));
        labels.addLine(QRectF(scene.columnX(i), top - 1, step / scene.ratio, bottom - top + 2));
    }
}

// Labels stand beside the curves rather than on them.
void avoidLines(const TimelineScene& scene, LabelPlacer& labels)
{
    const QRectF plot = scene.geometry.plot;
    if (const auto capacity = scene.session.capacity())
        labels.addLine(
            QRectF(plot.left(), scene.yPixel(static_cast<double>(*capacity)) - 1, plot.width(), 3));
    if (scene.columns.empty())
        return;
    if (const Series* reserved = scene.source->reserved(); reserved && scene.options.reserved)
        avoidSeries(scene, *reserved, labels);
    if (scene.predicted.bytes)
        avoidSeries(scene, *scene.predicted.bytes, labels);
    if (scene.predicted.reserved)
        avoidSeries(scene, *scene.predicted.reserved, labels);
}

void paintRubber(QPainter& painter, const TimelineScene& scene)
{
    if (!scene.rubber)
        return;
    QColor fill = scene.style.color(Tone::Sel);
    fill.setAlphaF(0.15F);
    painter.setPen(QPen(scene.style.color(Tone::Sel), 1));
    painter.setBrush(fill);
    painter.drawRect(scene.rubber->adjusted(0.5, 0.5, -0.5, -0.5));
}

void paintFocus(QPainter& painter, const TimelineScene& scene)
{
    if (!scene.focused)
        return;
    painter.setPen(QPen(scene.style.color(Tone::Sel), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(QPointF(0, 0), QSizeF(scene.geometry.size)).adjusted(1, 1, -1, -1));
}

} // namespace

void paintOverlay(QPainter& painter, const TimelineScene& scene)
{
    paintFocus(painter, scene);
    if (scene.empty() || !scene.source)
        return;
    const QRectF plot = scene.geometry.plot;
    LabelPlacer labels(plot.adjusted(2, 0, -2, 0));
    avoidLines(scene, labels);
    painter.save();
    painter.setClipRect(plot, Qt::IntersectClip);
    paintOutlineImage(painter, scene, scene.hovered);
    paintOutlineImage(painter, scene, scene.selected);
    painter.restore();
    paintRange(painter, scene, labels);
    paintOoms(painter, scene, labels);
    paintPeaks(painter, scene, labels);
    paintPredictedPeak(painter, scene, labels);
    paintNotes(painter, scene, labels);
    paintBandLabels(painter, scene, labels);
    paintCursor(painter, scene);
    paintFindingValue(painter, scene);
    paintRubber(painter, scene);
}

QString rangeText(const TimelineScene& scene, StateIndex first, StateIndex last)
{
    const std::int64_t events = static_cast<std::int64_t>(last) - static_cast<std::int64_t>(first);
    QStringList parts{scene.categories()  ? tr("Δ %1 rows").arg(countText(events))
            : events == 1 || events == -1 ? tr("Δ %1 event").arg(countText(events))
                                          : tr("Δ %1 events").arg(countText(events))};
    if (scene.source->hasTimes())
        parts << durationText(
            static_cast<std::int64_t>(scene.source->timeOf(last) - scene.source->timeOf(first)));
    parts << deltaText(scene.source->requested().at(last) - scene.source->requested().at(first));
    return parts.join(QStringLiteral(" · "));
}

void paintRange(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels)
{
    const auto range = scene.state.range();
    if (!range)
        return;
    const QRectF plot = scene.geometry.plot;
    const double left = scene.snapped(scene.xPixel(scene.scale.begin(range->first)));
    const double right = scene.snapped(std::max(
        scene.xPixel(scene.scale.begin(range->first)) + 1, scene.xPixel(scene.scale.end(range->second))));
    painter.save();
    painter.setClipRect(plot, Qt::IntersectClip);
    const QColor dim = scene.dimming();
    if (left > plot.left())
        painter.fillRect(QRectF(plot.topLeft(), QPointF(std::min(left, plot.right()), plot.bottom())), dim);
    if (right < plot.right())
        painter.fillRect(QRectF(QPointF(std::max(right, plot.left()), plot.top()), plot.bottomRight()), dim);
    const QColor ink = scene.style.color(Tone::Ink);
    constexpr double arm = 6;
    for (const auto& [x, inward] : {std::pair{left, 1.0}, std::pair{right - 1, -1.0}}) {
        painter.fillRect(QRectF(x, plot.top(), 1, plot.height()), ink);
        const double from = inward > 0 ? x : x - arm + 1;
        painter.fillRect(QRectF(from, plot.top(), arm, 2), ink);
        painter.fillRect(QRectF(from, plot.bottom() - 2, arm, 2), ink);
    }
    painter.restore();
    const QString text = rangeText(scene, range->first, range->second);
    const QFont font = scene.style.font(FontRole::Small);
    const double middle = std::clamp(
        (std::max(left, plot.left()) + std::min(right, plot.right())) / 2, plot.left(), plot.right());
    QRectF box = textBox(font, text, {middle, plot.top() + 12}, TextSide::Centre);
    box.moveLeft(
        std::clamp(box.left(), plot.left() + 6, std::max(plot.left() + 6, plot.right() - box.width() - 6)));
    if (right < plot.left() || left > plot.right())
        return;
    labels.block(box.adjusted(-4, -2, 4, 2));
    painter.setFont(font);
    painter.setPen(QPen(scene.style.color(Tone::Line), 1));
    painter.setBrush(scene.style.color(Tone::Base));
    painter.drawRect(box.adjusted(-4.5, -1.5, 3.5, 1.5));
    drawText(painter, box, text, scene.style.color(Tone::Text));
}

QRectF cursorFlag(const TimelineScene& scene)
{
    const StateIndex cursor = scene.state.cursor();
    const QFont font = scene.style.font(FontRole::Small);
    const QString text = scene.scale.time() ? scene.stateTime(cursor) : scene.stateNumber(cursor);
    const double x = scene.xPixel(scene.scale.mark(cursor));
    QRectF box
        = textBox(font, text, {x, scene.geometry.axis.top() + 11.0}, TextSide::Centre).adjusted(-7, 0, 7, 0);
    const double most = scene.geometry.size.width() - box.width() - 1;
    box.moveLeft(std::clamp(box.left(), 1.0, std::max(1.0, most)));
    box.setTop(scene.geometry.axis.top() + 3);
    box.setHeight(std::ceil(QFontMetricsF(font).height()) + 1);
    return box;
}

double topOfLanes(const TimelineScene& scene)
{
    const TimelineGeometry& g = scene.geometry;
    if (!g.lanes.empty())
        return g.lanes.front().top();
    return g.finding.isNull() ? g.plot.top() : g.finding.top();
}

void paintCursor(QPainter& painter, const TimelineScene& scene)
{
    const QRectF plot = scene.geometry.plot;
    const StateIndex cursor = scene.state.cursor();
    const double x = scene.xPixel(scene.scale.mark(cursor));
    if (x < plot.left() - 1 || x > plot.right() + 1)
        return;
    const QColor ink = scene.style.color(Tone::Ink);
    const double top = topOfLanes(scene);
    painter.fillRect(QRectF(scene.snapped(x - 0.5), top, 1, plot.bottom() + 4 - top), ink);
    for (const QRect& strip : scene.geometry.pools)
        painter.fillRect(QRectF(scene.snapped(x - 0.5), strip.top(), 1, strip.height()), ink);
    const QRectF flag = cursorFlag(scene);
    // Tick labels that the flag would cut are taken away whole.
    painter.fillRect(scene.flagClearing(flag), scene.style.color(Tone::Base));
    painter.fillRect(flag, ink);
    const QString text = scene.scale.time() ? scene.stateTime(cursor) : scene.stateNumber(cursor);
    const QFont font = scene.style.font(FontRole::Small);
    painter.setFont(font);
    drawText(
        painter, textBox(font, text, flag.center(), TextSide::Centre), text, scene.style.color(Tone::Plot));
}

} // namespace tidemark
