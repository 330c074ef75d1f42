// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ranks/rank_painter.hpp"

#include "widgets/style/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tidemark {

namespace {

double share(std::int64_t bytes, std::int64_t scale)
{
    return scale > 0 ? std::clamp(static_cast<double>(bytes) / static_cast<double>(scale), 0.0, 1.0) : 0;
}

/// What is reserved beyond the live bytes.
void paintRest(QPainter& painter, const Style& style, const QRectF& rest, bool failed, double ratio)
{
    painter.fillRect(rest, style.color(Tone::Hole));
    painter.save();
    painter.setBrushOrigin(rest.topLeft());
    painter.fillRect(
        rest, patternBrush(Pattern::Pinned, style.color(failed ? Tone::Crit : Tone::Hatch), ratio));
    painter.setPen(QPen(style.color(failed ? Tone::Crit : Tone::Line), 1));
    painter.setBrush(Qt::NoBrush);
    if (rest.width() > 2)
        painter.drawRect(rest.adjusted(0.5, 0.5, -0.5, -0.5));
    painter.restore();
}

} // namespace

QColor partColour(const Theme& theme, std::string_view part)
{
    // The same in every run, so that one report reads like the other.
    struct Word {
        std::string_view in;
        int slot;
    };
    static constexpr Word words[]{{"core attention", 0}, {"core_attn", 0}, {"embedding", 1}, {"logits", 1},
        {"loss", 1}, {"optimizer", 2}, {"expert", 3}, {"moe", 3}, {"gradient", 4}, {"parameter", 5},
        {"mlp", 6}, {"communication", 7}, {"collective", 7}, {"attention", 8}, {"temporar", 9},
        {"workspace", 9}, {"lora", 10}, {"norm", 11}, {"residual", 11}, {"qkv", 8}, {"receive", 7},
        {"master", 2}, {"weights", 5}, {"unshard", 7}};
    std::string lower(part);
    std::transform(lower.begin(), lower.end(), lower.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (lower.empty())
        return theme.color(Tone::Other);
    for (const Word& word : words)
        if (lower.find(word.in) != std::string::npos)
            return QColor::fromRgb(theme.category(word.slot));
    return theme.color(Tone::Other);
}

std::vector<std::pair<std::string, std::uint64_t>> peakParts(const RankSummary& rank)
{
    std::map<std::string, std::uint64_t> sums;
    for (const PeakShare& each : rank.shares) {
        const bool kept = each.role == Role::Parameter || each.role == Role::Gradient
            || each.role == Role::OptimizerState;
        sums[kept ? std::string(roleName(each.role)) : each.label] += each.bytes;
    }
    std::vector<std::pair<std::string, std::uint64_t>> parts(sums.begin(), sums.end());
    // What stays all the time comes first, then by size.
    const auto order = [](const std::string& name) {
        return name == roleName(Role::Parameter)     ? 0
            : name == roleName(Role::Gradient)       ? 1
            : name.empty()                           ? 4
            : name == roleName(Role::OptimizerState) ? 3
                                                     : 2;
    };
    std::stable_sort(parts.begin(), parts.end(), [&](const auto& a, const auto& b) {
        return order(a.first) != order(b.first) ? order(a.first) < order(b.first) : a.second > b.second;
    });
    return parts;
}

void paintPeakBar(QPainter& painter, const Style& style, const RankSummary& rank, const QRectF& box,
    std::int64_t scale, double ratio)
{
    const auto x = [&](std::int64_t bytes) { return box.left() + share(bytes, scale) * box.width(); };
    std::int64_t at = 0;
    for (const auto& [part, bytes] : peakParts(rank)) {
        const std::int64_t end = at + static_cast<std::int64_t>(bytes);
        const double left = x(at);
        // A line of the ground between two parts that are wide enough for it.
        const double gap = x(end) - left > 4 ? 1 : 0;
        painter.fillRect(
            QRectF(left, box.top(), x(end) - left - gap, box.height()), partColour(style.theme(), part));
        at = end;
    }
    if (!rank.reserved || rank.reserved->bytes <= rank.live.bytes)
        return;
    const double from = x(rank.live.bytes);
    paintRest(painter, style, QRectF(from, box.top(), x(rank.reserved->bytes) - from, box.height()),
        rank.oom.has_value(), ratio);
}

void paintStepBar(QPainter& painter, const Style& style, const StepPeak& peak, const QRectF& box,
    std::int64_t scale, double ratio)
{
    const double live = share(peak.live, scale) * box.width();
    painter.fillRect(QRectF(box.left(), box.top(), live, box.height()), style.color(Tone::Other));
    if (peak.reserved && *peak.reserved > peak.live)
        paintRest(painter, style,
            QRectF(box.left() + live, box.top(), share(*peak.reserved, scale) * box.width() - live,
                box.height()),
            false, ratio);
}

void paintLimit(
    QPainter& painter, const Style& style, const QRectF& box, std::int64_t limit, std::int64_t scale)
{
    painter.fillRect(
        QRectF(std::round(box.left() + share(limit, scale) * box.width()) - 1, box.top(), 1.5, box.height()),
        style.color(Tone::Capacity));
}

void paintSparkline(QPainter& painter, const Style& style, const RankSummary& rank,
    const RankStanding& standing, const QRectF& box, std::int64_t scale)
{
    if (rank.series.levels().empty())
        return;
    const auto buckets = rank.series.level(rank.series.levelFor(static_cast<std::size_t>(box.width() / 2)));
    if (buckets.empty())
        return;
    const double states = std::max(1.0, static_cast<double>(rank.series.states()));
    const auto x = [&](StateIndex state) { return box.left() + state / states * box.width(); };
    const auto y = [&](std::int64_t bytes) { return box.bottom() - share(bytes, scale) * box.height(); };
    painter.save();
    painter.setClipRect(box.adjusted(0, -1, 0, 1), Qt::IntersectClip);
    painter.setPen(Qt::NoPen);
    // Opaque: buckets may share a column.
    const QColor area
        = QColor::fromRgb(mixed(style.theme().rgb(Tone::Other), style.theme().rgb(Tone::Base), 0.3));
    for (const SeriesSummary::Bucket& bucket : buckets) {
        const double left = std::floor(x(bucket.first));
        const double right = std::max(left + 1, std::floor(x(bucket.last + 1)));
        painter.fillRect(
            QRectF(left, y(bucket.liveMax), right - left, box.bottom() - y(bucket.liveMax)), area);
    }
    for (const Step& step : rank.steps)
        painter.fillRect(
            QRectF(std::round(x(step.first)), box.top(), 1, box.height()), style.color(Tone::Grid));
    if (rank.series.reservedKnown()) {
        QPolygonF line;
        for (const SeriesSummary::Bucket& bucket : buckets)
            if (bucket.reservedMax)
                line << QPointF(x(bucket.first), y(*bucket.reservedMax))
                     << QPointF(x(bucket.last + 1), y(*bucket.reservedMax));
        QPen pen(style.color(Tone::Reserved), 1);
        pen.setDashPattern({4, 2});
        painter.setPen(pen);
        painter.drawPolyline(line);
    }
    painter.restore();
    if (standing.capacity)
        painter.fillRect(
            QRectF(box.left(), std::round(y(static_cast<std::int64_t>(*standing.capacity))), box.width(), 1),
            style.color(Tone::Capacity));
    if (rank.oom)
        painter.fillRect(QRectF(std::min(box.right() - 2, std::round(x(rank.oom->event + 1))), box.top() - 2,
                             2, box.height() + 4),
            style.color(Tone::Crit));
}

std::vector<std::pair<std::string, std::uint64_t>> partsOfBars(const std::vector<RankSummary>& ranks)
{
    std::map<std::string, std::uint64_t> sums;
    for (const RankSummary& rank : ranks)
        for (const auto& [part, bytes] : peakParts(rank))
            sums[part] += bytes;
    std::vector<std::pair<std::string, std::uint64_t>> sorted(sums.begin(), sums.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.first.empty() != b.first.empty() ? b.first.empty() : a.second > b.second;
    });
    return sorted;
}

} // namespace tidemark
