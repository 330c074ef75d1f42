// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_painters.hpp"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double minimumShows = 3; // pixels a column's minimum must lie below its maximum
constexpr double thickLine = 1.5;
constexpr double predictedLine = 2;

// Curves far outside the plot are as good as just outside, and dashes there cost time.
double nearPlot(const TimelineScene& scene, double y)
{
    return std::clamp(y, scene.geometry.plot.top() - 20.0, scene.geometry.plot.bottom() + 20.0);
}

QRectF pictureTarget(const TimelineScene& scene)
{
    const TimelineWindow& w = scene.picture->request.window;
    const QPointF topLeft(scene.xPixel(w.left), scene.yPixel(w.top));
    const QPointF bottomRight(scene.xPixel(w.right), scene.yPixel(w.bottom));
    return QRectF(topLeft, bottomRight);
}

bool pictureIsExact(const TimelineScene& scene)
{
    const TimelineWindow& a = scene.picture->request.window;
    const TimelineWindow b = scene.window();
    return a.left == b.left && a.right == b.right && a.bottom == b.bottom && a.top == b.top
        && a.width == b.width && a.height == b.height;
}

// Stands in for columns the last picture does not reach yet.
void paintSilhouette(QPainter& painter, const TimelineScene& scene, const QRectF& covered)
{
    painter.setPen(Qt::NoPen);
    painter.setBrush(
        QColor(mixed(scene.style.theme().rgb(Tone::Other), scene.style.theme().rgb(Tone::Plot), 0.6)));
    std::vector<QRectF> rects;
    const double base = scene.yPixel(scene.bottom);
    for (std::size_t i = 0; i < scene.columns.size(); ++i) {
        const double x = scene.columnX(i);
        if (x >= covered.left() && x < covered.right())
            continue;
        const double y = nearPlot(scene, scene.yPixel(static_cast<double>(scene.columns[i].max)));
        if (y < base)
            rects.emplace_back(x, y, 1 / scene.ratio, base - y);
    }
    painter.drawRects(rects.data(), static_cast<int>(rects.size()));
}

void paintPicture(QPainter& painter, const TimelineScene& scene)
{
    if (!scene.picture || !scene.scale.draws(scene.picture->request.window)) {
        paintSilhouette(painter, scene, {});
        return;
    }
    const QImage& pixels = scene.picture->pixels;
    if (pictureIsExact(scene)) {
        const QPointF at(scene.snapped(scene.geometry.plot.left()), scene.snapped(scene.geometry.plot.top()));
        painter.drawImage(
            QRectF(at, QSizeF(pixels.width() / scene.ratio, pixels.height() / scene.ratio)), pixels);
        return;
    }
    const QRectF target = pictureTarget(scene);
    const QRectF plot = scene.geometry.plot;
    if (target.left() > plot.left() || target.right() < plot.right())
        paintSilhouette(painter, scene, target);
    // Only the visible part is scaled, so a deep zoom costs no more than a shallow one.
    const QRectF shown = target.intersected(plot);
    if (shown.isEmpty())
        return;
    const double sx = pixels.width() / target.width();
    const double sy = pixels.height() / target.height();
    const QRectF part((shown.left() - target.left()) * sx, (shown.top() - target.top()) * sy,
        shown.width() * sx, shown.height() * sy);
    painter.drawImage(shown, pixels, part);
}

void paintOutline(QPainter& painter, const TimelineScene& scene)
{
    const double hair = scene.hairline();
    std::vector<double> y(scene.columns.size());
    std::vector<QRectF> minima;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const ColumnInfo& column = scene.columns[i];
        y[i] = nearPlot(scene, scene.snapped(scene.yPixel(static_cast<double>(column.max))) - hair / 2);
        const double low = scene.yPixel(static_cast<double>(column.min));
        if (low - y[i] >= minimumShows && low < scene.geometry.plot.bottom() + 1)
            minima.emplace_back(scene.columnX(i), scene.snapped(low) - hair, 1 / scene.ratio, hair);
    }
    QColor faint = scene.style.color(Tone::Ink);
    faint.setAlphaF(0.35F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(faint);
    painter.drawRects(minima.data(), static_cast<int>(minima.size()));
    const Theme& theme = scene.style.theme();
    drawStepLine(painter, {static_cast<double>(scene.geometry.plot.left()), scene.ratio, hair, 0, 0}, y,
        QColor(mixed(theme.rgb(Tone::Ink), theme.rgb(Tone::Plot), 0.35)));
}

// One column of what the end of the file tells, where there is no history.
void paintEndState(QPainter& painter, const TimelineScene& scene)
{
    if (!scene.source)
        return;
    const QRectF plot = scene.geometry.plot;
    const QFont font = scene.style.font(FontRole::Small);
    const double right = plot.right();
    painter.setFont(font);
    QColor fill = scene.style.color(Tone::Sel);
    fill.setAlphaF(0.8F);
    const std::int64_t live = scene.source->requested().last();
    const double liveY = scene.yPixel(static_cast<double>(live));
    painter.fillRect(QRectF(right - 16, liveY, 16, plot.bottom() - liveY), fill);
    drawText(painter,
        textBox(font, QCoreApplication::translate("Timeline", "live %1").arg(bytesText(live)),
            {right - 24, liveY + 7}, TextSide::Right),
        QCoreApplication::translate("Timeline", "live %1").arg(bytesText(live)),
        scene.style.color(Tone::Text));
    if (const Series* reserved = scene.source->reserved()) {
        const double y = scene.snapped(scene.yPixel(static_cast<double>(reserved->last())));
        const QString text
            = QCoreApplication::translate("Timeline", "reserved %1").arg(bytesText(reserved->last()));
        drawStepLine(
            painter, {right - 66, 1, 2, 7, 3}, std::vector<double>(66, y), scene.style.color(Tone::Reserved));
        drawText(painter, textBox(font, text, {right - 24, y - 9}, TextSide::Right), text,
            scene.style.color(Tone::Text));
    }
    const QString end = QCoreApplication::translate("Timeline", "end of file");
    drawText(painter, textBox(font, end, {right, scene.geometry.axis.center().y() + 1.0}, TextSide::Right),
        end, scene.style.color(Tone::Text2));
}

} // namespace

void paintSeries(QPainter& painter, const TimelineScene& scene, const Series& series, const QColor& colour,
    double thickness, double dash, double gap)
{
    std::vector<double> y(scene.columns.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto extremes = series.extremes(scene.columns[i].first, scene.columns[i].last);
        y[i] = nearPlot(scene, scene.snapped(scene.yPixel(static_cast<double>(extremes.max))));
    }
    const double thick = std::max(1.0, std::round(thickness * scene.ratio)) / scene.ratio;
    drawStepLine(
        painter, {static_cast<double>(scene.geometry.plot.left()), scene.ratio, thick, dash, gap}, y, colour);
}

void paintGround(QPainter& painter, const TimelineScene& scene)
{
    if (scene.empty())
        paintEndState(painter, scene);
}

void paintStack(QPainter& painter, const TimelineScene& scene)
{
    if (scene.empty())
        return;
    painter.setClipRect(scene.geometry.plot, Qt::IntersectClip);
    paintPicture(painter, scene);
    paintOutline(painter, scene);
}

void paintCurves(QPainter& painter, const TimelineScene& scene)
{
    if (scene.empty())
        return;
    painter.setClipRect(scene.geometry.plot, Qt::IntersectClip);
    const QColor reserved = scene.style.color(Tone::Reserved);
    if (scene.options.allocated && scene.source->allocated())
        paintSeries(painter, scene, *scene.source->allocated(), reserved, 1, 1, 2);
    if (scene.options.reserved && scene.source->reserved())
        paintSeries(painter, scene, *scene.source->reserved(), reserved, thickLine, 7, 3);
    if (const auto capacity = scene.session.capacity()) {
        const double y = scene.snapped(scene.yPixel(static_cast<double>(*capacity)));
        const QRectF plot = scene.geometry.plot;
        if (plot.contains(plot.left(), y))
            painter.fillRect(
                QRectF(plot.left(), y - 1, plot.width(), std::round(thickLine * scene.ratio) / scene.ratio),
                scene.style.color(Tone::Capacity));
    }
    if (scene.predicted.reserved) {
        paintSeries(
            painter, scene, *scene.predicted.reserved, scene.style.color(Tone::Halo), predictedLine + 2);
        paintSeries(
            painter, scene, *scene.predicted.reserved, scene.style.color(Tone::Sel), predictedLine, 7, 3);
    }
    if (scene.predicted.bytes) {
        // On a rim, since it crosses the stack's colours.
        paintSeries(painter, scene, *scene.predicted.bytes, scene.style.color(Tone::Halo), predictedLine + 2);
        paintSeries(painter, scene, *scene.predicted.bytes, scene.style.color(Tone::Sel), predictedLine);
    }
}

} // namespace tidemark
