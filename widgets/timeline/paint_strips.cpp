// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/pattern.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_painters.hpp"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

double share(std::int64_t value, double most)
{
    return most > 0 ? std::clamp(static_cast<double>(value) / most, 0.0, 1.0) : 0;
}

void paintPool(QPainter& painter, const TimelineScene& scene, const PoolStrip& strip, const QRect& row)
{
    const Theme& theme = scene.style.theme();
    const double most = static_cast<double>(strip.most) * 1.08;
    const double base = row.bottom() + 1;
    const auto y
        = [&](std::int64_t value) { return scene.snapped(base - share(value, most) * row.height()); };
    std::vector<QRectF> held;
    std::vector<QRectF> live;
    std::vector<double> outline;
    for (std::size_t i = 0; i < scene.columns.size(); ++i) {
        const ColumnInfo& column = scene.columns[i];
        const double x = scene.columnX(i);
        const double width = 1 / scene.ratio;
        const double reservedY
            = strip.reserved ? y(strip.reserved->extremes(column.first, column.last).max) : base;
        const double liveY = strip.live ? y(strip.live->extremes(column.first, column.last).max) : base;
        outline.push_back(reservedY - scene.hairline() / 2);
        if (liveY < base)
            live.emplace_back(x, liveY, width, base - liveY);
        if (reservedY < liveY)
            held.emplace_back(x, reservedY, width, liveY - reservedY);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(scene.style.color(Tone::Hole));
    painter.drawRects(held.data(), static_cast<int>(held.size()));
    painter.setBrush(patternBrush(Pattern::PoolHeld, scene.style.color(Tone::Hatch), scene.ratio));
    painter.setBrushOrigin(row.topLeft());
    painter.drawRects(held.data(), static_cast<int>(held.size()));
    painter.setBrush(QColor(mixed(theme.rgb(Tone::Other), theme.rgb(Tone::Sel), 0.55)));
    painter.drawRects(live.data(), static_cast<int>(live.size()));
    if (strip.reserved)
        drawStepLine(painter, {static_cast<double>(row.left()), scene.ratio, scene.hairline(), 0, 0}, outline,
            scene.style.color(Tone::Ink));
    painter.fillRect(QRectF(row.left(), base - scene.hairline(), row.width(), scene.hairline()),
        scene.style.color(Tone::Line));
}

QString poolFigures(const TimelineScene& scene, const PoolStrip& strip)
{
    const StateIndex at = scene.state.cursor();
    const QString live = strip.live ? bytesText(strip.live->at(at)) : QStringLiteral("0 B");
    if (!strip.reserved)
        return QCoreApplication::translate("Timeline", "live %1, reserved unknown").arg(live);
    return QCoreApplication::translate("Timeline", "reserved %1, live %2 at the cursor")
        .arg(bytesText(strip.reserved->at(at)), live);
}

} // namespace

void paintPools(QPainter& painter, const TimelineScene& scene)
{
    const QFont font = scene.style.font(FontRole::Small);
    painter.setFont(font);
    for (std::size_t i = 0; i < scene.geometry.pools.size(); ++i) {
        const QRect& row = scene.geometry.pools[i];
        const PoolStrip& strip = scene.pools[i];
        const QString name = QString::fromStdString(poolName(*scene.replay->snapshot, strip.pool));
        drawText(painter, textBox(font, name, {row.left() - 7.0, row.center().y() + 0.5}, TextSide::Right),
            name, scene.style.color(Tone::Text2));
        painter.save();
        painter.setClipRect(row.adjusted(0, -1, 0, 1), Qt::IntersectClip);
        paintPool(painter, scene, strip, row);
        const QString text = poolFigures(scene, strip);
        drawHaloText(painter, textBox(font, text, {row.right() - 4.0, row.top() + 9.0}, TextSide::Right),
            text, scene.style.color(Tone::Text), scene.style.color(Tone::Halo));
        painter.restore();
    }
    if (scene.geometry.hiddenPools > 0 && !scene.geometry.morePools.isNull()) {
        std::int64_t most = 0;
        for (std::size_t i = scene.geometry.pools.size(); i < scene.pools.size(); ++i)
            most = std::max(most, scene.pools[i].most);
        const int hidden = scene.geometry.hiddenPools;
        const QString text = hidden == 1
            ? QCoreApplication::translate("Timeline", "1 more private pool, at most %1").arg(bytesText(most))
            : QCoreApplication::translate("Timeline", "%1 more private pools, at most %2 each")
                  .arg(hidden)
                  .arg(bytesText(most));
        const QRect& row = scene.geometry.morePools;
        drawText(painter,
            textBox(font, text, {static_cast<double>(row.left()), row.center().y() + 0.5}, TextSide::Left),
            text, scene.style.color(Tone::Text2));
    }
}

double overviewX(const TimelineScene& scene, double x)
{
    const XWindow all = scene.scale.whole();
    const QRect& strip = scene.geometry.overview;
    return strip.left() + (x - all.left) / (all.right - all.left) * strip.width();
}

double overviewAt(const TimelineScene& scene, double pixel)
{
    const XWindow all = scene.scale.whole();
    const QRect& strip = scene.geometry.overview;
    return all.left + (pixel - strip.left()) / strip.width() * (all.right - all.left);
}

QRectF overviewBox(const TimelineScene& scene)
{
    const QRectF strip = scene.geometry.overview;
    const double left = overviewX(scene, scene.state.window().left);
    const double right = overviewX(scene, scene.state.window().right);
    return QRectF(QPointF(left, strip.top()), QPointF(std::max(right, left + 2), strip.bottom()));
}

namespace {

constexpr double handleWidth = 6;

void paintWindowBox(QPainter& painter, const TimelineScene& scene)
{
    const QRectF strip = scene.geometry.overview;
    const QRectF box = overviewBox(scene);
    const QColor outside = scene.dimming();
    painter.fillRect(QRectF(strip.topLeft(), QPointF(box.left(), strip.bottom())), outside);
    painter.fillRect(QRectF(QPointF(box.right(), strip.top()), strip.bottomRight()), outside);
    const QColor accent = scene.style.color(Tone::Sel);
    painter.setPen(QPen(accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
    // Handles stand outside a box too narrow to hold them.
    const double inset = box.width() > 2 * handleWidth + 2 ? 0 : handleWidth;
    for (const double x : {box.left() - inset, box.right() - handleWidth + inset}) {
        painter.fillRect(QRectF(x, strip.top(), handleWidth, strip.height()), accent);
        for (const double line : {2.0, 4.0})
            painter.fillRect(
                QRectF(x + line - 0.5, strip.center().y() - 5, 1, 10), scene.style.color(Tone::SelText));
    }
}

} // namespace

void paintOverview(QPainter& painter, const TimelineScene& scene)
{
    const QRect& strip = scene.geometry.overview;
    if (strip.isNull())
        return;
    const QFont font = scene.style.font(FontRole::Small);
    const QString title = QCoreApplication::translate("Timeline", "all");
    painter.setFont(font);
    drawText(painter, textBox(font, title, {strip.left() - 7.0, strip.center().y() + 0.5}, TextSide::Right),
        title, scene.style.color(Tone::Text2));
    painter.fillRect(strip, scene.style.color(Tone::Alt));
    const auto& most = scene.overviewColumns();
    const double highest = static_cast<double>(scene.source->requested().total().max) * 1.08;
    std::vector<QRectF> rects;
    for (std::size_t i = 0; i < most.size(); ++i) {
        const double height = share(most[i], highest) * strip.height();
        if (height > 0)
            rects.emplace_back(strip.left() + static_cast<double>(i), strip.bottom() + 1 - height, 1, height);
    }
    QColor fill = scene.style.color(Tone::Other);
    fill.setAlphaF(0.6F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    painter.drawRects(rects.data(), static_cast<int>(rects.size()));
    const auto tick = [&](StateIndex state, Tone tone, double width) {
        painter.fillRect(QRectF(overviewX(scene, scene.scale.mark(state)) - width / 2, strip.top(), width, 7),
            scene.style.color(tone));
    };
    tick(scene.peak, Tone::Ink, 1);
    if (scene.replay)
        for (const OomEvent& oom : scene.replay->device().ooms)
            tick(stateOf(static_cast<Moment>(index(oom.event))), Tone::Crit, 2);
    paintWindowBox(painter, scene);
}

std::optional<std::uint32_t> legendGroup(const LegendItem& item)
{
    if (item.group == 0xffffffffU)
        return std::nullopt;
    return item.group;
}

std::vector<LegendPlace> legendPlaces(const TimelineScene& scene)
{
    std::vector<LegendPlace> places;
    const QRect& row = scene.geometry.legend;
    if (row.isNull() || !scene.colouring)
        return places;
    const QFontMetricsF metrics(scene.style.font(FontRole::Small));
    const auto& legend = scene.colouring->legend;
    const double swatch = scene.style.metrics().swatch;
    const auto width
        = [&](const QString& text) { return swatch + 5 + std::ceil(metrics.horizontalAdvance(text)) + 14; };
    std::vector<QString> texts;
    for (const LegendItem& item : legend)
        texts.push_back(elidedSite(shownText(item.text), QFontMetrics(scene.style.font(FontRole::Small)),
            scene.style.metrics().px(165)));
    // The last items ("other sites", "before recording") explain greys and are never hidden.
    std::size_t tail = 0;
    while (tail < legend.size() && legend[legend.size() - 1 - tail].slot >= colourSlot::other)
        ++tail;
    const std::size_t named = legend.size() - tail;
    double all = 0;
    for (const QString& text : texts)
        all += width(text);
    std::vector<int> last;
    for (std::size_t i = named; i < legend.size(); ++i) {
        // The two tones of older memory share an item where room is short.
        const bool second = !last.empty() && legend[i].slot == colourSlot::predatingFreed
            && legend[i - 1].slot == colourSlot::predatingStays && all > row.width();
        if (second)
            texts[i - 1] = QCoreApplication::translate("Timeline", "before recording");
        else
            last.push_back(static_cast<int>(i));
    }
    double rest = row.width();
    for (const int i : last)
        rest -= width(texts[static_cast<std::size_t>(i)]);
    const QString more = QCoreApplication::translate("Timeline", "%1 more");
    const double moreWidth = all > row.width() ? width(more.arg(99)) - swatch : 0;
    LegendPlace hidden;
    double x = row.left();
    const auto add = [&](LegendPlace place) {
        const double w = width(place.text) - (place.item < 0 ? swatch : 0);
        place.box = QRectF(x, row.top(), w - 8, row.height());
        place.swatch = QRectF(x, std::round(row.center().y() - swatch / 2) + 0.0, swatch, swatch);
        x += w;
        places.push_back(std::move(place));
    };
    for (std::size_t i = 0; i < named; ++i) {
        if (hidden.hidden.empty() && x - row.left() + width(texts[i]) <= rest - moreWidth)
            add({{}, {}, texts[i], static_cast<int>(i), {}});
        else
            hidden.hidden.push_back(static_cast<int>(i));
    }
    if (!hidden.hidden.empty()) {
        hidden.text = more.arg(hidden.hidden.size());
        add(std::move(hidden));
    }
    for (const int i : last)
        add({{}, {}, texts[static_cast<std::size_t>(i)], i, {}});
    return places;
}

void paintLegend(QPainter& painter, const TimelineScene& scene)
{
    const QFont font = scene.style.font(FontRole::Small);
    painter.setFont(font);
    const Theme& theme = scene.style.theme();
    for (const LegendPlace& place : legendPlaces(scene)) {
        double textX = place.swatch.right() + 5;
        if (place.item >= 0) {
            const LegendItem& item = scene.colouring->legend[static_cast<std::size_t>(place.item)];
            painter.fillRect(place.swatch, QColor(theme.colourOf(item.slot, scene.colouring->sequential)));
            painter.setBrushOrigin(place.swatch.topLeft());
            if (item.slot == colourSlot::predatingStays || item.slot == colourSlot::predatingFreed)
                painter.fillRect(
                    place.swatch, patternBrush(Pattern::Pinned, scene.style.color(Tone::Hatch), scene.ratio));
            else if (item.slot == colourSlot::waiting)
                painter.fillRect(
                    place.swatch, patternBrush(Pattern::Waiting, scene.style.color(Tone::Halo), scene.ratio));
        } else {
            textX = place.swatch.left();
        }
        const bool chosen = place.item >= 0 && scene.legendChosen(place.item);
        drawText(painter, textBox(font, place.text, {textX, place.swatch.center().y() + 0.5}, TextSide::Left),
            place.text, scene.style.color(chosen ? Tone::Text : Tone::Text2));
        if (chosen)
            painter.fillRect(QRectF(place.swatch.left(), place.box.bottom() - 3, place.box.width() - 6, 2),
                scene.style.color(Tone::Ink));
    }
}

} // namespace tidemark
