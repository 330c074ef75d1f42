// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_painters.hpp"

#include <QCoreApplication>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("Timeline", text);
}

void halo(QPainter& painter, const TimelineScene& scene, const QRectF& box, const QString& text,
    Tone tone = Tone::Text)
{
    // Dense curves and stripes would run through the letters.
    QColor plate = scene.style.color(Tone::Halo);
    plate.setAlphaF(0.65F);
    painter.fillRect(box.adjusted(-2, 1, 2, -1), plate);
    drawHaloText(painter, box, text, scene.style.color(tone), scene.style.color(Tone::Halo));
}

QFont boldSmall(const TimelineScene& scene)
{
    QFont font = scene.style.font(FontRole::Small);
    font.setWeight(QFont::DemiBold);
    return font;
}

// An octagon with a cross, the sign of "out of memory".
void paintOctagon(QPainter& painter, const TimelineScene& scene, const QPointF& centre, double radius)
{
    QPolygonF shape;
    for (int k = 0; k < 8; ++k) {
        const double angle = (2 * k + 1) * std::acos(-1.0) / 8;
        shape << centre + QPointF(radius * std::cos(angle), radius * std::sin(angle));
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(scene.style.color(Tone::Halo), 1));
    painter.setBrush(scene.style.color(Tone::Crit));
    painter.drawPolygon(shape);
    painter.setPen(QPen(scene.style.color(Tone::Base), 1.6));
    const double arm = radius * 0.36;
    painter.drawLine(centre + QPointF(-arm, -arm), centre + QPointF(arm, arm));
    painter.drawLine(centre + QPointF(arm, -arm), centre + QPointF(-arm, arm));
    painter.restore();
}

// The request that failed as a dashed frame on top of what was live.
void paintRequest(QPainter& painter, const TimelineScene& scene, const OomEvent& oom, StateIndex state,
    double x, LabelPlacer& labels)
{
    if (!oom.requested || *oom.requested <= 0)
        return;
    const QRectF plot = scene.geometry.plot;
    const auto live = static_cast<double>(scene.source->requested().at(state));
    const double bottom = scene.yPixel(live);
    const double top = std::min(bottom - 3, scene.yPixel(live + static_cast<double>(*oom.requested)));
    const double width = scene.style.metrics().px(26);
    const double left = x - width < plot.left() ? x : x - width;
    painter.save();
    painter.setClipRect(plot, Qt::IntersectClip);
    QPen pen(scene.style.color(Tone::Crit), 1.5);
    pen.setDashPattern({4 / 1.5, 3 / 1.5});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(left + 0.75, top, width - 1.5, bottom - top));
    painter.restore();
    const QFont font = boldSmall(scene);
    const QString text = tr("%1 failed").arg(deltaText(*oom.requested));
    painter.setFont(font);
    const double middle = (top + bottom) / 2;
    const auto box = labels.takeFirst({textBox(font, text, {left - 5, middle}, TextSide::Right),
        textBox(font, text, {left + width + 5, middle}, TextSide::Left),
        textBox(font, text, {left - 5, bottom + 10}, TextSide::Right),
        textBox(font, text, {left - 5, top - 10}, TextSide::Right)});
    if (box)
        halo(painter, scene, *box, text, Tone::Crit);
}

} // namespace

void paintOoms(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels)
{
    if (!scene.replay)
        return;
    const QRectF plot = scene.geometry.plot;
    const double radius = scene.style.metrics().px(8);
    double lastX = -1e9;
    for (const OomEvent& oom : scene.replay->device().ooms) {
        const StateIndex state = stateOf(static_cast<Moment>(index(oom.event)));
        const double x = scene.xPixel(scene.scale.mark(state));
        if (x < plot.left() - 1 || x > plot.right() + 1)
            continue;
        const double line = std::min(scene.snapped(x - 1), plot.right() - 1);
        const double top = topOfLanes(scene);
        painter.fillRect(QRectF(line, top, 2, plot.bottom() + 1 - top), scene.style.color(Tone::Crit));
        // Retries of one request stand so close that one sign has to do for them.
        if (x - lastX < 2 * radius)
            continue;
        lastX = x;
        const QPointF centre(
            std::clamp(x, plot.left() + radius, plot.right() - radius), plot.top() + radius + 1);
        paintOctagon(painter, scene, centre, radius);
        labels.block(QRectF(centre - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius)));
        paintRequest(painter, scene, oom, state, x, labels);
    }
}

void paintPeaks(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels)
{
    if (!scene.options.marks)
        return;
    const QRectF plot = scene.geometry.plot;
    const Series& live = scene.source->requested();
    const QColor ink = scene.style.color(Tone::Ink);
    QPointF last;
    // A long trace has thousands of them: those left of the plot are skipped at once, and none follow on its
    // right.
    const auto before = [&](StateIndex state) { return scene.xPixel(scene.scale.mark(state)) < plot.left(); };
    for (auto at = std::partition_point(scene.peaks.begin(), scene.peaks.end(), before);
         at != scene.peaks.end(); ++at) {
        const StateIndex state = *at;
        const double x = scene.xPixel(scene.scale.mark(state));
        if (x > plot.right())
            break;
        const auto place = static_cast<std::size_t>(at - scene.peaks.begin());
        const double y = scene.yPixel(static_cast<double>(scene.peakBytes[place]));
        const QPointF corner(scene.snapped(x - 0.5), y - 8);
        // Zoomed out, many stand on one another.
        if (state == scene.peak || !plot.contains(x, y) || corner == last)
            continue;
        painter.fillRect(QRectF(corner, QSizeF(1, 5)), ink);
        last = corner;
    }
    const auto most = live.at(scene.peak);
    const double x = scene.xPixel(scene.scale.mark(scene.peak));
    const double y = scene.yPixel(static_cast<double>(most));
    if (!plot.adjusted(-1, -1, 1, 1).contains(x, y) || most <= 0)
        return;
    // Where there is no room above, the sign stands inside the stack.
    const double tip = std::max(y - 3, plot.top() + 9);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(scene.style.color(Tone::Halo), 1));
    painter.setBrush(ink);
    painter.drawPolygon(QPolygonF{{x - 5, tip - 8}, {x + 5, tip - 8}, {x, tip}});
    painter.restore();
    labels.block(QRectF(x - 5, tip - 8, 10, 8));
    const bool whole = !scene.replay || scene.replay->reachesStart();
    const QString text = (whole ? tr("peak %1") : tr("peak of the recorded window %1")).arg(bytesText(most));
    const QFont font = boldSmall(scene);
    painter.setFont(font);
    const auto box = labels.takeFirst({textBox(font, text, {x + 9, y + 5}, TextSide::Left),
        textBox(font, text, {x + 9, tip - 6}, TextSide::Left),
        textBox(font, text, {x - 9, y + 5}, TextSide::Right),
        textBox(font, text, {x - 9, tip - 6}, TextSide::Right),
        textBox(font, text, {x + 9, y + 20}, TextSide::Left)});
    if (box)
        halo(painter, scene, *box, text);
}

namespace {

// Labels of lines and bands; every one tries a few places and stays away rather than cover another.
class BandLabels {
public:
    BandLabels(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels)
        : m_painter(painter)
        , m_scene(scene)
        , m_labels(labels)
        , m_plot(scene.geometry.plot)
        , m_font(scene.style.font(FontRole::Small))
    {
        painter.setFont(m_font);
    }

    void capacity()
    {
        const auto bytes = m_scene.session.capacity();
        if (!bytes)
            return;
        // What PyTorch may reserve is known from a failed request alone; else it is the size of the card.
        const QString size = (m_scene.session.cardSize()    ? tr("card %1")
                : m_scene.session.statedCardSize() == bytes ? tr("card %1 by the settings")
                                                            : tr("usable %1"))
                                 .arg(bytesText(*bytes));
        const double y = m_scene.yPixel(static_cast<double>(*bytes));
        if (y < m_plot.top()) {
            place(QStringLiteral("▲ ") + size, Tone::Capacity,
                {{{m_plot.right() - 4, m_plot.top() + 9}, TextSide::Right},
                    {{m_plot.left() + 6, m_plot.top() + 9}, TextSide::Left}});
        } else if (y <= m_plot.bottom()) {
            atLine(size, y, Tone::Capacity);
        }
    }
    void reserved()
    {
        const Series* series = m_scene.source->reserved();
        if (!series || !m_scene.options.reserved)
            return;
        const std::int64_t bytes = series->at(m_scene.columns.back().last);
        const double y = m_scene.yPixel(static_cast<double>(bytes));
        if (y >= m_plot.top() && y <= m_plot.bottom())
            atLine(tr("reserved %1").arg(bytesText(bytes)), y, Tone::Text);
    }
    void allocated()
    {
        const Series* series = m_scene.source->allocated();
        if (!series || !m_scene.options.allocated)
            return;
        const std::int64_t bytes = series->at(m_scene.columns.back().last);
        const double y = m_scene.yPixel(static_cast<double>(bytes));
        if (y >= m_plot.top() && y <= m_plot.bottom())
            atLine(tr("allocated ≈ %1").arg(bytesText(bytes)), y, Tone::Text);
    }
    void predating()
    {
        if (!m_scene.replay)
            return;
        const Predating& p = m_scene.replay->timeline.predating();
        const std::uint64_t total = p.aliveAtEndBytes + p.freedInTraceBytes;
        if (total == 0)
            return;
        const QString shortText = tr("before recording %1").arg(bytesText(total));
        const QString longText = p.freedInTraceBytes == 0 ? shortText + tr(", all of it stays")
            : p.aliveAtEndBytes == 0                      ? shortText + tr(", all of it freed in the trace")
                                                          : shortText
                + tr(": %1 stays, %2 freed in the trace")
                      .arg(bytesText(p.aliveAtEndBytes), bytesText(p.freedInTraceBytes));
        const double cursorX = m_scene.xPixel(m_scene.scale.mark(m_scene.state.cursor()));
        for (const QString& text : {longText, shortText}) {
            const double width = textBox(m_font, text, {0, 0}, TextSide::Left).width();
            for (const double x : {cursorX + 8, m_plot.left() + 8, cursorX - 8 - width}) {
                if (x < m_plot.left() || x + width > m_plot.right())
                    continue;
                // The band gets thinner as its memory is freed: the text has to stay inside it.
                const double top = std::max(m_scene.predatingTop(x), m_scene.predatingTop(x + width));
                const double base = std::min(m_plot.bottom(), m_scene.yPixel(0));
                if (base - top >= 14 && place(text, Tone::Text, {{{x, (top + base) / 2}, TextSide::Left}}))
                    return;
            }
        }
    }
    void waiting()
    {
        const Series* pending = m_scene.source->pending();
        if (!pending)
            return;
        const auto most = std::max_element(
            m_scene.columns.begin(), m_scene.columns.end(), [&](const ColumnInfo& a, const ColumnInfo& b) {
                return pending->at(a.shown) < pending->at(b.shown);
            });
        const std::int64_t bytes = pending->at(most->shown);
        const auto live = static_cast<double>(m_scene.source->requested().at(most->shown));
        const double top = m_scene.yPixel(live);
        const double bottom = m_scene.yPixel(live - static_cast<double>(bytes));
        if (bytes <= 0 || bottom - top < 3)
            return;
        const double x = m_scene.columnX(static_cast<std::size_t>(most - m_scene.columns.begin()));
        const QString text = tr("waiting for a stream: %1").arg(bytesText(bytes));
        place(text, Tone::Text,
            {{{x + 8, (top + bottom) / 2}, TextSide::Left}, {{x - 8, (top + bottom) / 2}, TextSide::Right},
                {{x, top - 11}, TextSide::Centre}, {{x + 8, bottom + 10}, TextSide::Left}});
    }
    void live()
    {
        const QString text = m_scene.categories() ? tr("live") : tr("live (requested)");
        const double width = textBox(m_font, text, {0, 0}, TextSide::Left).width();
        for (const double share : {0.41, 0.55, 0.68, 0.3, 0.8, 0.18, 0.05}) {
            const double left = m_plot.left() + share * m_plot.width();
            double highest = m_plot.bottom();
            for (double x = left - 4; x < left + width + 4; x += 1 / m_scene.ratio)
                if (const auto column = m_scene.columnAt(x))
                    highest = std::min(
                        highest, m_scene.yPixel(static_cast<double>(m_scene.columns[*column].max)));
            if (highest < m_plot.top() + 26)
                continue;
            // Above the ticks of local peaks.
            if (place(text, Tone::Text, {{{left, highest - 17}, TextSide::Left}}))
                return;
        }
    }

private:
    struct Place {
        QPointF at;
        TextSide side;
    };
    bool place(const QString& text, Tone tone, const std::vector<Place>& places)
    {
        std::vector<QRectF> boxes;
        for (const Place& p : places)
            boxes.push_back(textBox(m_font, text, p.at, p.side));
        const auto box = m_labels.takeFirst(boxes);
        if (box)
            halo(m_painter, m_scene, *box, text, tone);
        return box.has_value();
    }
    // At the right edge, where the curve has the value that the label names.
    void atLine(const QString& text, double y, Tone tone)
    {
        std::vector<Place> places;
        for (const double shift : {-9.0, 10.0, -22.0, 23.0})
            places.push_back({{m_plot.right() - 4, y + shift}, TextSide::Right});
        place(text, tone, places);
    }

    QPainter& m_painter;
    const TimelineScene& m_scene;
    LabelPlacer& m_labels;
    QRectF m_plot;
    QFont m_font;
};

} // namespace

void paintBandLabels(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels)
{
    if (scene.columns.empty())
        return;
    const double cursorX = scene.xPixel(scene.scale.mark(scene.state.cursor()));
    const QRectF plot = scene.geometry.plot;
    if (cursorX >= plot.left() && cursorX <= plot.right())
        labels.block(QRectF(cursorX - 1, plot.top(), 3, plot.height()));
    BandLabels bands(painter, scene, labels);
    bands.capacity();
    bands.reserved();
    bands.allocated();
    bands.predating();
    bands.waiting();
    bands.live();
}

} // namespace tidemark
