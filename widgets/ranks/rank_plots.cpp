// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ranks/rank_plots.hpp"

#include "widgets/common/plot_text.hpp"
#include "widgets/style/pattern.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/ticks.hpp"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double air = 1.06; // above the highest value

void say(QPainter& painter, const Style& style, const QRect& room, const QString& text)
{
    painter.setFont(style.font(FontRole::Base));
    painter.setPen(style.color(Tone::Text2));
    painter.drawText(room.adjusted(12, 8, -12, -8), Qt::AlignCenter | Qt::TextWordWrap, text);
}

QString nameOf(const RankSummary& rank)
{
    return shownText(rank.name());
}

QColor lineColour(const Style& style, std::size_t which)
{
    constexpr int order[]{0, 4, 2, 9, 6, 10, 7, 11};
    return QColor::fromRgb(style.theme().category(order[which % std::size(order)]));
}

} // namespace

// ---- dots

RoleDots::RoleDots(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setAccessibleName(tr("Peak live by role"));
    connect(&style, &Style::changed, this, qOverload<>(&QWidget::update));
}

void RoleDots::setJob(std::shared_ptr<const SummarisedJob> job)
{
    m_job = std::move(job);
    m_selected.clear();
    updateGeometry();
    update();
}

void RoleDots::setSelected(std::vector<std::size_t> ranks)
{
    m_selected = std::move(ranks);
    update();
}

QSize RoleDots::sizeHint() const
{
    const int groups
        = m_job ? static_cast<int>(std::min<std::size_t>(m_job->diagnosis.roles.groups.size(), 12)) : 1;
    return {m_style.metrics().px(300), m_style.metrics().px(46 + 34 * groups)};
}

void RoleDots::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Base));
    if (!m_job || m_job->ranks.empty())
        return;
    const auto& groups = m_job->diagnosis.roles.groups;
    std::int64_t low = INT64_MAX;
    std::int64_t high = 1;
    for (std::size_t i = 0; i < m_job->ranks.size(); ++i) {
        const RankSummary& rank = m_job->ranks[i];
        low = std::min(low, rank.live.bytes);
        high = std::max({high, rank.live.bytes, rank.reserved ? rank.reserved->bytes : 0});
        if (const auto limit = m_job->diagnosis.ranks[i].capacity)
            high = std::max(high, static_cast<std::int64_t>(*limit));
    }
    const double from = static_cast<double>(low) * 0.9;
    const double to = static_cast<double>(high) * 1.03;
    painter.setRenderHint(QPainter::Antialiasing);
    const QFont small = m_style.font(FontRole::Small);
    double widest = 0;
    for (const RoleGroup& group : groups)
        widest = std::max(widest,
            QFontMetricsF(small).horizontalAdvance(
                group.label.empty() ? tr("all ranks") : shownText(group.label)));
    const double names = std::min(widest + 18, width() * 0.4);
    const QRectF plot = QRectF(rect()).adjusted(names, 8, -14, -m_style.metrics().px(24));
    const auto x = [&](std::int64_t bytes) {
        return plot.left() + (static_cast<double>(bytes) - from) / (to - from) * plot.width();
    };
    painter.setFont(small);
    for (const AxisTick& tick : byteTicks(from, to, std::max(2, static_cast<int>(plot.width() / 70)))) {
        const double at = x(static_cast<std::int64_t>(tick.value));
        painter.fillRect(QRectF(std::round(at), plot.top(), 1, plot.height()), m_style.color(Tone::Grid));
        drawText(painter, textBox(small, tick.text, {at, plot.bottom() + 12}, TextSide::Centre), tick.text,
            m_style.color(Tone::Text2));
    }
    LabelPlacer labels(QRectF(rect()).adjusted(names, 0, 0, 0));
    const std::size_t shown = std::min<std::size_t>(groups.size(), 40);
    const double pitch = plot.height() / static_cast<double>(std::max<std::size_t>(1, shown));
    for (std::size_t g = 0; g < shown; ++g) {
        const double middle = plot.top() + pitch * (static_cast<double>(g) + 0.5);
        const QString name = groups[g].label.empty() ? tr("all ranks") : shownText(groups[g].label);
        if (pitch >= 10)
            drawText(painter, textBox(small, name, {plot.left() - 8, middle}, TextSide::Right), name,
                m_style.color(Tone::Text2));
        const std::size_t members = groups[g].members.size();
        for (std::size_t k = 0; k < members; ++k) {
            const std::size_t which = groups[g].members[k];
            const RankSummary& rank = m_job->ranks[which];
            const double spread = std::min(pitch * 0.7, 7.0 * static_cast<double>(members));
            const double y = members == 1
                ? middle
                : middle - spread / 2 + spread * static_cast<double>(k) / static_cast<double>(members - 1);
            const bool failed = rank.oom.has_value();
            const QColor colour = failed ? m_style.color(Tone::Crit) : m_style.color(Tone::Sel);
            painter.setPen(QPen(colour, 1.5));
            painter.setBrush(colour);
            const double at = x(rank.live.bytes);
            if (rank.reserved && (failed || m_job->diagnosis.ranks[which].outlier)) {
                const double held = x(rank.reserved->bytes);
                painter.drawLine(QPointF(at, y), QPointF(held, y));
                painter.drawLine(QPointF(held - 3, y - 3), QPointF(held + 3, y + 3));
                painter.drawLine(QPointF(held - 3, y + 3), QPointF(held + 3, y - 3));
                const QString text = nameOf(rank);
                const std::vector<QRectF> places{textBox(small, text, {at - 7, y}, TextSide::Right),
                    textBox(small, text, {held + 7, y}, TextSide::Left)};
                if (const auto box = labels.takeFirst(places))
                    drawHaloText(painter, *box, text, colour, m_style.color(Tone::Base));
                painter.setPen(QPen(colour, 1.5));
            }
            const bool chosen = std::find(m_selected.begin(), m_selected.end(), which) != m_selected.end();
            if (chosen)
                painter.setPen(QPen(m_style.color(Tone::Ink), 2));
            painter.drawEllipse(QPointF(at, y), 3, 3);
        }
    }
    for (const RankStanding& standing : m_job->diagnosis.ranks)
        if (standing.capacity) {
            painter.fillRect(QRectF(std::round(x(static_cast<std::int64_t>(*standing.capacity))), plot.top(),
                                 1.5, plot.height()),
                m_style.color(Tone::Capacity));
            break;
        }
}

// ---- curves

RankCurves::RankCurves(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setAccessibleName(tr("Live memory of the chosen ranks"));
    connect(&style, &Style::changed, this, qOverload<>(&QWidget::update));
}

void RankCurves::setRanks(std::shared_ptr<const SummarisedJob> job, std::vector<std::size_t> ranks)
{
    m_job = std::move(job);
    m_ranks = std::move(ranks);
    if (m_ranks.size() > most)
        m_ranks.resize(most);
    if (!canAlong(m_along))
        m_along = Along::Events;
    build();
}

bool RankCurves::canAlong(Along along) const
{
    if (!m_job || along == Along::Events)
        return m_job != nullptr;
    return !m_ranks.empty() && std::all_of(m_ranks.begin(), m_ranks.end(), [&](std::size_t i) {
        const RankSummary& rank = m_job->ranks[i];
        return along == Along::Time ? rank.series.timesKnown() : !rank.steps.empty();
    });
}

void RankCurves::setAlong(Along along)
{
    if (along == m_along || !canAlong(along))
        return;
    m_along = along;
    build();
}

void RankCurves::build()
{
    m_lines.clear();
    m_extent = 1;
    m_highest = 1;
    for (const std::size_t i : m_ranks) {
        const RankSummary& rank = m_job->ranks[i];
        if (rank.series.levels().empty())
            continue;
        Line line;
        line.rank = i;
        const auto buckets = rank.series.level(rank.series.levelFor(1024));
        const auto stepX = [&](StateIndex state) {
            const auto after = std::upper_bound(rank.steps.begin(), rank.steps.end(), state,
                [](StateIndex s, const Step& step) { return s < step.first; });
            if (after == rank.steps.begin())
                return 0.0;
            const Step& step = *(after - 1);
            const double length = std::max<double>(1, static_cast<double>(step.last) - step.first);
            return static_cast<double>(after - rank.steps.begin() - 1)
                + std::min(1.0, (state - static_cast<double>(step.first)) / length);
        };
        double last = 0;
        std::optional<std::int64_t> before = rank.firstTimeUs;
        for (const SeriesSummary::Bucket& bucket : buckets) {
            double x = bucket.first;
            double end = bucket.last + 1.0;
            if (m_along == Along::Time) {
                const std::int64_t origin = rank.firstTimeUs.value_or(0);
                x = static_cast<double>(before.value_or(origin) - origin);
                end = static_cast<double>(bucket.timeUs.value_or(origin) - origin);
                before = bucket.timeUs;
            } else if (m_along == Along::Steps) {
                x = stepX(bucket.first);
                end = stepX(bucket.last);
            }
            last = std::max(last, x);
            line.points.emplace_back(last, bucket.liveMax);
            line.end = std::max(last, end);
            m_highest = std::max(m_highest, bucket.liveMax);
        }
        m_extent = std::max(m_extent, line.end);
        m_lines.push_back(std::move(line));
    }
    update();
}

std::int64_t RankCurves::highest(std::size_t rank, double from, double to) const
{
    std::int64_t best = 0;
    for (const Line& line : m_lines)
        if (line.rank == rank)
            for (std::size_t i = 0; i < line.points.size(); ++i) {
                const double begin = line.points[i].first / m_extent;
                const double end
                    = (i + 1 < line.points.size() ? line.points[i + 1].first : line.end) / m_extent;
                if (begin < to && end >= from)
                    best = std::max(best, line.points[i].second);
            }
    return best;
}

void RankCurves::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Plot));
    if (m_lines.empty()) {
        say(painter, m_style, rect(),
            tr("Choose ranks in the table (Ctrl+click for several) to lay their curves over each other."));
        return;
    }
    const QFont small = m_style.font(FontRole::Small);
    painter.setFont(small);
    const QRectF plot = QRectF(rect()).adjusted(
        m_style.metrics().px(58), 8, -m_style.metrics().px(90), -m_style.metrics().px(22));
    const double top = static_cast<double>(m_highest) * air;
    const auto x = [&](double at) { return plot.left() + at / m_extent * plot.width(); };
    const auto y = [&](std::int64_t bytes) {
        return plot.bottom() - static_cast<double>(bytes) / top * plot.height();
    };
    for (const AxisTick& tick : byteTicks(0, top, std::max(2, static_cast<int>(plot.height() / 26)))) {
        const double at = y(static_cast<std::int64_t>(tick.value));
        painter.fillRect(QRectF(plot.left(), std::round(at), plot.width(), 1), m_style.color(Tone::Grid));
        drawText(painter, textBox(small, tick.text, {plot.left() - 6, at}, TextSide::Right), tick.text,
            m_style.color(Tone::Text2));
    }
    const int wanted = std::max(2, static_cast<int>(plot.width() / 90));
    std::vector<AxisTick> ticks;
    if (m_along == Along::Time)
        ticks = timeTicks(0, m_extent, wanted);
    else if (m_along == Along::Events)
        ticks = eventTicks(0, m_extent, static_cast<std::uint32_t>(m_extent), 0, wanted);
    else
        for (int step = 0; step <= static_cast<int>(m_extent);
             step += std::max(1, static_cast<int>(m_extent) / wanted))
            ticks.push_back({static_cast<double>(step), tr("step %1").arg(step + 1)});
    for (const AxisTick& tick : ticks)
        drawText(painter, textBox(small, tick.text, {x(tick.value), plot.bottom() + 11}, TextSide::Centre),
            tick.text, m_style.color(Tone::Text2));
    painter.setRenderHint(QPainter::Antialiasing);
    LabelPlacer labels(rect());
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const Line& line = m_lines[i];
        QPolygonF path;
        for (std::size_t k = 0; k < line.points.size(); ++k) {
            const double end = k + 1 < line.points.size() ? line.points[k + 1].first : line.end;
            path << QPointF(x(line.points[k].first), y(line.points[k].second))
                 << QPointF(x(end), y(line.points[k].second));
        }
        const QColor colour = lineColour(m_style, i);
        constexpr Qt::PenStyle styles[]{Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
        painter.setPen(QPen(colour, 1.8, styles[i % std::size(styles)]));
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(path);
        const QString name = nameOf(m_job->ranks[line.rank]);
        std::vector<QRectF> places;
        for (int shift : {0, 14, -14, 28, -28, 42, -42, 56})
            places.push_back(textBox(small, name, path.last() + QPointF(6, shift), TextSide::Left));
        if (const auto box = labels.takeFirst(places)) {
            painter.setFont(small);
            drawHaloText(painter, *box, name, colour, m_style.color(Tone::Plot));
        }
    }
}

// ---- maps

RankMaps::RankMaps(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setAccessibleName(tr("Segments of the chosen ranks"));
    connect(&style, &Style::changed, this, qOverload<>(&QWidget::update));
}

void RankMaps::setRanks(std::shared_ptr<const SummarisedJob> job, std::vector<std::size_t> ranks)
{
    m_job = std::move(job);
    m_ranks = std::move(ranks);
    if (m_ranks.size() > most)
        m_ranks.resize(most);
    update();
}

void RankMaps::setMoment(Moment moment)
{
    m_moment = moment;
    update();
}

void RankMaps::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Base));
    if (!m_job || m_ranks.empty()) {
        say(painter, m_style, rect(), tr("Choose ranks in the table to see their segments side by side."));
        return;
    }
    const double ratio = devicePixelRatioF();
    const QFont small = m_style.font(FontRole::Small);
    const double gap = 14;
    const double each
        = (width() - gap * static_cast<double>(m_ranks.size() + 1)) / static_cast<double>(m_ranks.size());
    std::uint64_t largest = 1;
    std::size_t rows = 1;
    for (const std::size_t i : m_ranks) {
        const RankSummary& rank = m_job->ranks[i];
        const SegmentSummary& map = m_moment == Moment::Peak ? rank.segmentsAtPeak : rank.segmentsAtEnd;
        rows = std::max(rows, map.segments.size());
        for (const SegmentSummary::Segment& segment : map.segments)
            largest = std::max(largest, segment.size);
    }
    const double head = m_style.metrics().px(36);
    const double room = height() - head - 6;
    const double pitch = std::clamp(room / static_cast<double>(rows), 2.0, 12.0);
    const auto fit = static_cast<std::size_t>(std::max(1.0, room / pitch));
    for (std::size_t k = 0; k < m_ranks.size(); ++k) {
        const RankSummary& rank = m_job->ranks[m_ranks[k]];
        const SegmentSummary& map = m_moment == Moment::Peak ? rank.segmentsAtPeak : rank.segmentsAtEnd;
        const double left = gap + static_cast<double>(k) * (each + gap);
        painter.setFont(m_style.font(FontRole::Strong));
        painter.setPen(m_style.color(Tone::Text));
        painter.drawText(QRectF(left, 2, each, head / 2), Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(nameOf(rank), Qt::ElideRight, static_cast<int>(each)));
        painter.setFont(small);
        painter.setPen(m_style.color(Tone::Text2));
        const QString note = !rank.segmentsKnown
            ? tr("this file lists no segments")
            : tr("%1 segments, %2 reserved, %3 free but pinned")
                  .arg(countText(map.count), bytesText(map.reserved), bytesText(map.pinned));
        painter.drawText(QRectF(left, head / 2, each, head / 2), Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(note, Qt::ElideRight, static_cast<int>(each)));
        const double scale = each / static_cast<double>(largest);
        for (std::size_t s = 0; s < std::min(map.segments.size(), fit); ++s) {
            const SegmentSummary::Segment& segment = map.segments[s];
            const double top = head + pitch * static_cast<double>(s);
            const double tall = std::max(1.0, pitch - 1);
            const QRectF whole(left, top, std::max(1.0, static_cast<double>(segment.size) * scale), tall);
            painter.fillRect(whole, m_style.color(segment.pieces.empty() ? Tone::Other : Tone::Hole));
            const bool holds = std::any_of(segment.pieces.begin(), segment.pieces.end(),
                [](const auto& piece) { return piece.first != PieceKind::Free; });
            double at = left;
            for (const auto& [kind, size] : segment.pieces) {
                const QRectF box(at, top, static_cast<double>(size) * scale, tall);
                at = box.right();
                if (kind == PieceKind::Live || kind == PieceKind::Unknown)
                    painter.fillRect(box, m_style.theme().category(0));
                else if (kind == PieceKind::Waiting)
                    painter.fillRect(box, patternBrush(Pattern::Waiting, m_style.color(Tone::Hatch), ratio));
                else if (holds)
                    painter.fillRect(box, patternBrush(Pattern::Pinned, m_style.color(Tone::Hatch), ratio));
            }
        }
        if (map.count > fit) {
            const QString more
                = tr("%1 more").arg(countText(map.count - std::min<std::uint64_t>(map.count, fit)));
            drawHaloText(painter, textBox(small, more, {left + each, height() - 9.0}, TextSide::Right), more,
                m_style.color(Tone::Text2), m_style.color(Tone::Base));
        }
    }
}

} // namespace tidemark
