// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/segments/segment_painter.hpp"

#include "model/replay/segment_class.hpp"
#include "widgets/common/severity_look.hpp"
#include "widgets/style/text.hpp"

#include <QPaintEngine>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr std::uint64_t blockGranularity = 512;
constexpr double gapFrom = 3; ///< logical width from which neighbours get a gap between them
constexpr double edgeFrom = 4; ///< logical height from which a block has a lighter top edge
constexpr double edgeShare = 0.30;
constexpr double wasteShare = 0.45;
constexpr float stripeShare = 0.55F; ///< of black or white in a stripe of the finding shown

/// First device pixel whose centre lies at or right of `edge`.
int pixelAt(double edge)
{
    return static_cast<int>(std::ceil(edge - 0.5));
}

} // namespace

PieceLook lookOf(const SegmentView& segment, const Piece& piece)
{
    switch (piece.kind) {
    case PieceKind::Live:
        return PieceLook::Live;
    case PieceKind::Waiting:
        return PieceLook::Waiting;
    case PieceKind::Unknown:
        return PieceLook::Unknown;
    case PieceKind::Free:
        break;
    }
    if (index(segment.pool) != 0)
        return PieceLook::PoolHeld;
    // A hole in an expandable segment may hold whole pages and parts of others: what most of it is.
    const std::uint64_t releasable = releasableIn(segment, piece);
    return releasable * 2 >= piece.size ? PieceLook::Releasable : PieceLook::Pinned;
}

QString lookName(PieceLook look)
{
    switch (look) {
    case PieceLook::Live:
        return QStringLiteral("live");
    case PieceLook::Waiting:
        return QStringLiteral("waiting for a stream");
    case PieceLook::Unknown:
        return QStringLiteral("state unknown");
    case PieceLook::Pinned:
        return QStringLiteral("free, pinned");
    case PieceLook::Releasable:
        return QStringLiteral("free, releasable");
    case PieceLook::PoolHeld:
        return QStringLiteral("free, held by a pool");
    }
    return {};
}

bool FitRequest::fits(const SegmentView& segment, const Piece& piece) const
{
    if (piece.kind != PieceKind::Free)
        return false;
    const std::uint64_t block = (bytes + blockGranularity - 1) / blockGranularity * blockGranularity;
    const SegmentKind kind = block <= smallRequest ? SegmentKind::Small : SegmentKind::Large;
    return piece.size >= block && (segment.kind == kind || segment.kind == SegmentKind::Unknown);
}

SegmentPainter::SegmentPainter(const SegmentScene& scene, const Style& style, double ratio)
    : m_scene(scene)
    , m_style(style)
    , m_ratio(ratio)
    , m_slots(style.theme().slotTable(scene.colouring->sequential))
{
    const QColor hatch = style.color(Tone::Hatch);
    QColor halo = style.color(Tone::Halo);
    halo.setAlphaF(0.8F);
    m_predating = patternBrush(Pattern::Predating, hatch, ratio);
    m_waiting = patternBrush(Pattern::Waiting, halo, ratio);
    m_pinned = patternBrush(Pattern::Pinned, hatch, ratio);
    m_held = patternBrush(Pattern::PoolHeld, hatch, ratio);
    m_dots = patternBrush(Pattern::CutOff, style.color(Tone::Text), ratio);
    const auto stripes = [&](QColor colour) {
        colour.setAlphaF(stripeShare);
        return patternBrush(Pattern::Finding, colour, ratio);
    };
    m_darkStripes = stripes(Qt::black);
    m_lightStripes = stripes(Qt::white);
    // Painting happens in device pixels, one pattern pixel to each.
    for (QBrush* brush :
        {&m_predating, &m_waiting, &m_pinned, &m_held, &m_dots, &m_darkStripes, &m_lightStripes})
        brush->setTransform({});
}

QRect SegmentPainter::rectOf(double x, double y, double width, double height) const
{
    const int left = pixelAt(x * m_ratio);
    const int top = static_cast<int>(std::lround(y * m_ratio));
    const int right = pixelAt((x + width) * m_ratio);
    const int bottom = static_cast<int>(std::lround((y + height) * m_ratio));
    return {left, top, right - left, std::max(1, bottom - top)};
}

template <typename Item>
SegmentPainter::Span SegmentPainter::onRows(
    const std::vector<Item>& items, QPoint origin, const QRect& clip) const
{
    const double top = (clip.top() - origin.y()) / m_ratio;
    const double bottom = (clip.bottom() + 1 - origin.y()) / m_ratio;
    const auto first = std::partition_point(
        items.begin(), items.end(), [&](const Item& item) { return item.y + item.height < top; });
    const auto last
        = std::partition_point(first, items.end(), [&](const Item& item) { return item.y <= bottom; });
    return {static_cast<std::size_t>(first - items.begin()), static_cast<std::size_t>(last - items.begin())};
}

void SegmentPainter::paintBlocks(QPainter& painter, QPoint origin, const QRect& clip) const
{
    const MapPicture& picture = *m_scene.picture;
    painter.save();
    painter.scale(1 / m_ratio, 1 / m_ratio);
    painter.setBrushOrigin(origin);
    painter.setPen(Qt::NoPen);
    m_origin = origin;
    m_vector = painter.paintEngine() && painter.paintEngine()->type() == QPaintEngine::SVG;
    const Span frames = onRows(picture.frames, origin, clip);
    for (std::size_t i = frames.first; i < frames.last; ++i)
        paintGround(painter, origin, picture.frames[i]);
    const Span boxes = onRows(picture.boxes, origin, clip);
    for (std::size_t i = boxes.first; i < boxes.last; ++i)
        paintBox(painter, origin, picture.boxes[i]);
    for (std::size_t i = frames.first; i < frames.last; ++i) {
        paintTorn(painter, origin, picture.frames[i]);
        paintUnmapped(painter, origin, picture.frames[i]);
    }
    painter.restore();
    paintLabels(painter, origin, clip);
}

void SegmentPainter::paintGround(QPainter& painter, QPoint origin, const MapFrame& frame) const
{
    const QRect area = rectOf(frame.x, frame.y, frame.width, frame.height).translated(origin);
    if (area.width() < 1)
        return;
    const SegmentView& segment = m_scene.state->segments[frame.segment];
    const bool pool = index(segment.pool) != 0;
    const bool framed = area.width() >= px(gapFrom);
    // One hairline at the right separates neighbours.
    const QRect inner = framed ? area.adjusted(0, 0, -1, 0) : area;
    // Too narrow for a frame: the frame's colour alone says that something is there.
    const bool blank = !framed && segment.freeBytes == segment.size;
    painter.fillRect(inner, m_style.color(blank ? Tone::Line : Tone::Hole));
    if (!framed)
        return;
    painter.setPen(QPen(m_style.color(pool ? Tone::Ink : Tone::Line), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(inner.adjusted(0, 0, -1, -1));
    painter.setPen(Qt::NoPen);
}

void SegmentPainter::paintBox(QPainter& painter, QPoint origin, const MapBox& box) const
{
    QRect area = rectOf(box).translated(origin);
    if (area.width() < 1)
        return;
    const SegmentView& segment = m_scene.state->segments[box.segment];
    const Piece& piece = m_scene.state->pieces[box.piece];
    // A pool's frame stays visible around what it holds.
    if (index(segment.pool) != 0 && area.height() > px(4))
        area.adjust(0, 1, 0, -1);
    switch (lookOf(segment, piece)) {
    case PieceLook::Live:
    case PieceLook::Waiting:
        paintLive(painter, area, box, piece);
        break;
    case PieceLook::Unknown:
        painter.fillRect(area, m_style.color(Tone::Other));
        hatch(painter, area, Pattern::CutOff);
        break;
    case PieceLook::Pinned:
        hatch(painter, area, Pattern::Pinned);
        break;
    case PieceLook::PoolHeld:
        hatch(painter, area, Pattern::PoolHeld);
        break;
    case PieceLook::Releasable:
        break;
    }
}

void SegmentPainter::hatch(QPainter& painter, const QRect& area, Pattern pattern) const
{
    if (m_vector) {
        hatchLines(
            painter, area, pattern, m_style.color(pattern == Pattern::Waiting ? Tone::Halo : Tone::Hatch));
        return;
    }
    switch (pattern) {
    case Pattern::Predating:
        painter.fillRect(area, m_predating);
        return;
    case Pattern::Waiting:
        painter.fillRect(area, m_waiting);
        return;
    case Pattern::Pinned:
        painter.fillRect(area, m_pinned);
        return;
    case Pattern::PoolHeld:
        painter.fillRect(area, m_held);
        return;
    case Pattern::CutOff:
        painter.fillRect(area, m_dots);
        return;
    case Pattern::Finding: // by stripe(), which knows the ground
        return;
    }
}

void SegmentPainter::stripe(QPainter& painter, const QRect& area, QRgb ground) const
{
    const bool light = qGray(textOn(ground)) > 127;
    if (!m_vector) {
        painter.fillRect(area, light ? m_lightStripes : m_darkStripes);
        return;
    }
    QColor colour(light ? Qt::white : Qt::black);
    colour.setAlphaF(stripeShare);
    hatchLines(painter, area, Pattern::Finding, colour);
}

/// SVG has no texture brushes here: the same patterns as lines, cut to the area by hand.
void SegmentPainter::hatchLines(
    QPainter& painter, const QRect& area, Pattern pattern, const QColor& colour) const
{
    const bool waiting = pattern == Pattern::Waiting;
    const bool falling
        = pattern == Pattern::PoolHeld || pattern == Pattern::CutOff || pattern == Pattern::Finding;
    const int step = px(waiting             ? 4
            : pattern == Pattern::Predating ? 7
            : pattern == Pattern::Pinned    ? 5
            : pattern == Pattern::Finding   ? 8
                                            : 6);
    painter.setPen(QPen(colour, 0.8 * m_ratio));
    const QRect local = area.translated(-m_origin);
    const int left = local.left();
    const int right = local.left() + local.width();
    const int top = local.top();
    const int bottom = local.top() + local.height();
    const auto firstAbove
        = [step](int value) { return value + (step - (value % step + step) % step) % step; };
    QList<QLine> lines;
    if (waiting)
        for (int x = firstAbove(left); x < right; x += step)
            lines << QLine(x, top, x, bottom);
    else if (pattern != Pattern::Finding)
        for (int sum = firstAbove(left + top); sum < right + bottom; sum += step) {
            const int high = std::min(right, sum - top);
            const int low = std::max(left, sum - bottom);
            if (high > low)
                lines << QLine(low, sum - low, high, sum - high);
        }
    if (falling)
        for (int difference = firstAbove(left - bottom); difference < right - top; difference += step) {
            const int low = std::max(left, difference + top);
            const int high = std::min(right, difference + bottom);
            if (high > low)
                lines << QLine(low, low - difference, high, high - difference);
        }
    for (QLine& line : lines)
        line.translate(m_origin);
    painter.drawLines(lines);
    painter.setPen(Qt::NoPen);
}

void SegmentPainter::paintLive(QPainter& painter, QRect area, const MapBox& box, const Piece& piece) const
{
    const Theme& theme = m_style.theme();
    const bool known = valid(piece.allocation) && index(piece.allocation) < m_scene.colouring->slotOf.size();
    const std::uint8_t slot
        = known ? m_scene.colouring->slotOf[index(piece.allocation)] : colourSlot::predatingStays;
    const bool predating = slot == colourSlot::predatingStays || slot == colourSlot::predatingFreed;
    const bool faded = isFaded(piece);
    QRgb fill = m_slots[slot];
    if (faded)
        fill = theme.faded(fill);
    const bool gap = area.width() >= px(gapFrom) && !box.tornRight;
    if (gap)
        area.adjust(0, 0, -1, 0);
    painter.fillRect(area, QColor::fromRgb(fill));
    const QRgb plot = theme.rgb(Tone::Plot);
    if (piece.size > piece.requested && piece.requested > 0 && !box.tornLeft && !box.tornRight) {
        // The tail that rounding added; only blocks on one row, where the proportion is that of the picture.
        const double share
            = static_cast<double>(piece.size - piece.requested) / static_cast<double>(piece.size);
        const int tail = static_cast<int>(std::lround(share * box.width * m_ratio));
        if (tail >= px(gapFrom))
            painter.fillRect(QRect(area.right() - tail + 1, area.top(), tail, area.height()),
                QColor::fromRgb(mixed(fill, plot, wasteShare)));
    }
    if (predating) {
        painter.setOpacity(faded ? 0.4 : 1);
        hatch(painter, area, Pattern::Predating);
        painter.setOpacity(1);
    } else if (area.height() >= px(edgeFrom)) {
        painter.fillRect(QRect(area.left(), area.top(), area.width(), px(1)),
            QColor::fromRgb(mixed(fill, plot, edgeShare)));
    }
    if (piece.kind == PieceKind::Waiting)
        hatch(painter, area, Pattern::Waiting);
    if (isStriped(piece))
        stripe(painter, area, fill);
    if (m_scene.searched && !faded && area.height() > px(edgeFrom) && area.width() >= px(gapFrom))
        painter.fillRect(
            QRect(area.left(), area.bottom() - px(1) + 1, area.width(), px(1)), m_style.color(Tone::Ink));
}

void SegmentPainter::paintTorn(QPainter& painter, QPoint origin, const MapFrame& frame) const
{
    if (!frame.tornLeft && !frame.tornRight)
        return;
    const QRect area = rectOf(frame.x, frame.y, frame.width, frame.height).translated(origin);
    const int depth = px(2.5);
    const int tooth = std::max(2, area.height() / 3);
    if (area.width() < 3 * depth)
        return;
    const auto tear = [&](int edge, int inward) {
        QPolygon line;
        line << QPoint(edge - inward, area.top() - 1);
        for (int y = area.top(), i = 0; y <= area.bottom() + tooth; y += tooth, ++i)
            line << QPoint(edge + (i % 2 ? inward * depth : 0), std::min(y, area.bottom() + 1));
        line << QPoint(edge - inward, area.bottom() + 2);
        painter.setBrush(m_style.color(Tone::Base));
        painter.drawPolygon(line);
    };
    painter.setRenderHint(QPainter::Antialiasing);
    if (frame.tornRight)
        tear(area.right() + 1, -1);
    if (frame.tornLeft)
        tear(area.left(), 1);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void SegmentPainter::paintUnmapped(QPainter& painter, QPoint origin, const MapFrame& frame) const
{
    const auto& segments = m_scene.state->segments;
    const SegmentView& segment = segments[frame.segment];
    if (m_scene.layout != MapLayout::Rows || !segment.expandable || frame.tornRight
        || m_scene.picture->bytesPerRow == 0)
        return;
    // Up to the next mapped range of the same reservation, else a stub: where it ends is not recorded.
    const double end = frame.x + frame.width;
    double length = 24;
    const std::size_t next = frame.segment + std::size_t{1};
    if (next < segments.size() && segments[next].expandable && segments[next].stream == segment.stream
        && segments[next].pool == segment.pool) {
        const double gap = static_cast<double>(segments[next].address - segment.address - segment.size);
        length = gap * frame.width / static_cast<double>(segment.size);
    }
    const double room = m_scene.labelWidth > 0 ? m_scene.labelWidth : 24;
    const QRect line = rectOf(end, frame.y, std::min(length, room), frame.height).translated(origin);
    if (line.width() < px(3))
        return;
    QPen pen(m_style.color(Tone::Text2), px(1));
    pen.setDashPattern({1, 3});
    painter.setPen(pen);
    painter.drawLine(line.left() + px(2), line.bottom() - px(1), line.right(), line.bottom() - px(1));
    painter.setPen(Qt::NoPen);
}

void SegmentPainter::paintLabels(QPainter& painter, QPoint origin, const QRect& clip) const
{
    const MapPicture& picture = *m_scene.picture;
    const QPointF corner(origin.x() / m_ratio, origin.y() / m_ratio);
    const double right = corner.x() + (clip.right() + 1) / m_ratio;
    painter.setFont(m_style.font(FontRole::Small));
    painter.setPen(m_style.color(Tone::Text2));
    const QFontMetricsF metrics(painter.font());
    for (const MapHeader& header : picture.headers) {
        const double y = corner.y() + header.y;
        if (y > (clip.bottom() + 1) / m_ratio || y + 2 * metrics.height() < clip.top() / m_ratio)
            continue;
        painter.drawText(QPointF(corner.x(), y + metrics.ascent() + 1), shownText(header.text));
    }
    if (m_scene.layout != MapLayout::Rows || m_scene.labelWidth <= 0)
        return;
    painter.setFont(m_style.font(FontRole::Scale));
    const QFontMetricsF small(painter.font());
    const Span frames = onRows(picture.frames, origin, clip);
    for (std::size_t i = frames.first; i < frames.last; ++i) {
        const MapFrame& frame = picture.frames[i];
        const SegmentView& segment = m_scene.state->segments[frame.segment];
        const double baseline = corner.y() + frame.y + (frame.height + small.ascent() - small.descent()) / 2;
        if (!frame.tornLeft) {
            const QString address = addressText(segment.address);
            painter.drawText(QPointF(corner.x(), baseline), address);
        }
        if (frame.tornRight)
            continue;
        const QString hole = segment.largestHole > 0
            ? QStringLiteral("hole ") + bytesText(segment.largestHole)
            : QStringLiteral("full");
        painter.drawText(QPointF(right - small.horizontalAdvance(hole) - corner.x(), baseline), hole);
    }
}

bool SegmentPainter::isFaded(const Piece& piece) const
{
    if (!m_scene.emphasis)
        return false;
    const std::size_t i = index(piece.allocation);
    return i >= m_scene.emphasis->size() || (*m_scene.emphasis)[i] == 0;
}

bool SegmentPainter::isStriped(const Piece& piece) const
{
    const std::size_t i = index(piece.allocation);
    return m_scene.shownFinding && i < m_scene.shownFinding->size() && (*m_scene.shownFinding)[i] != 0;
}

bool SegmentPainter::isSelected(const MapBox& box, const Piece& piece) const
{
    const Selection& selection = m_scene.selection;
    switch (selection.kind) {
    case Selection::Kind::None:
    case Selection::Kind::Segment:
        return false;
    case Selection::Kind::Allocation:
        return valid(piece.allocation) && piece.allocation == selection.allocation;
    case Selection::Kind::Hole:
        return piece.kind == PieceKind::Free && piece.address == selection.address;
    case Selection::Kind::Group:
        if (!valid(piece.allocation) || rectOf(box).width() < 1)
            return false;
        if (selection.groupBy == GroupBy::None)
            return index(piece.allocation) == selection.group;
        return m_scene.grouping && m_scene.grouping->by() == selection.groupBy
            && m_scene.grouping->of(piece.allocation) == selection.group;
    case Selection::Kind::Set:
        return valid(piece.allocation) && selection.set->has(piece.allocation) && rectOf(box).width() >= 1;
    }
    return false;
}

void SegmentPainter::outline(QPainter& painter, const QRect& area) const
{
    const int line = px(1);
    const QRect ink = area.width() >= 3 * line ? area : area.adjusted(-line, 0, line, 0);
    painter.setBrush(Qt::NoBrush);
    const auto frame = [&](const QRect& r, Tone tone) {
        const QColor colour = m_style.color(tone);
        painter.fillRect(QRect(r.left(), r.top(), r.width(), line), colour);
        painter.fillRect(QRect(r.left(), r.bottom() - line + 1, r.width(), line), colour);
        painter.fillRect(QRect(r.left(), r.top(), line, r.height()), colour);
        painter.fillRect(QRect(r.right() - line + 1, r.top(), line, r.height()), colour);
    };
    frame(ink.adjusted(-line, -line, line, line), Tone::Halo);
    frame(ink, Tone::Ink);
}

void SegmentPainter::paintFindingFrame(QPainter& painter, const QRect& area) const
{
    const QColor colour = m_style.color(severityShapeTone(m_scene.findingSeverity));
    if (area.width() < px(8)) {
        // A frame would cover what it is around.
        painter.fillRect(QRect(area.left(), area.bottom() - px(2) + 1, area.width(), px(2)), colour);
        return;
    }
    QPen pen(colour, px(2));
    pen.setDashPattern({3, 1.5});
    pen.setCapStyle(Qt::FlatCap);
    pen.setJoinStyle(Qt::MiterJoin);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    const double half = px(2) / 2.0;
    painter.drawRect(QRectF(area).adjusted(half, half, -half, -half));
}

void SegmentPainter::paintMarks(QPainter& painter, QPoint origin, const QRect& clip) const
{
    const MapPicture& picture = *m_scene.picture;
    const SegmentState& state = *m_scene.state;
    painter.save();
    painter.scale(1 / m_ratio, 1 / m_ratio);
    // A hole is held open by every block of its segment.
    std::optional<std::uint32_t> pinned;
    if (m_scene.selection.kind == Selection::Kind::Hole)
        for (std::uint32_t i = 0; i < state.segments.size(); ++i)
            if (m_scene.selection.address - state.segments[i].address < state.segments[i].size)
                pinned = i;
    const Span boxes = onRows(picture.boxes, origin, clip);
    for (std::size_t i = boxes.first; i < boxes.last; ++i) {
        const MapBox& box = picture.boxes[i];
        const Piece& piece = state.pieces[box.piece];
        if (m_scene.fit && m_scene.fit->fits(state.segments[box.segment], piece)) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(m_style.color(Tone::Ok), px(2)));
            painter.drawRect(rectOf(box).translated(origin).adjusted(px(1), px(1), -px(1), -px(1)));
        }
        if (pinned && box.segment == *pinned && valid(piece.allocation)) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(m_style.color(Tone::WarnFill), px(1)));
            painter.drawRect(rectOf(box).translated(origin).adjusted(0, 0, -1, -1));
        }
        if (isSelected(box, piece))
            outline(painter, rectOf(box).translated(origin));
        else if (valid(m_scene.hovered) && piece.allocation == m_scene.hovered) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(m_style.color(Tone::Ink), 1));
            painter.drawRect(rectOf(box).translated(origin).adjusted(0, 0, -1, -1));
        }
    }
    const bool segmentChosen = m_scene.selection.kind == Selection::Kind::Segment;
    const Span frames = onRows(picture.frames, origin, clip);
    for (std::size_t i = frames.first; i < frames.last; ++i) {
        const MapFrame& frame = picture.frames[i];
        const SegmentView& segment = state.segments[frame.segment];
        const QRect area = rectOf(frame.x, frame.y, frame.width, frame.height).translated(origin);
        if (std::binary_search(m_scene.findingSegments.begin(), m_scene.findingSegments.end(), segment.id))
            paintFindingFrame(painter, area);
        if (segmentChosen && segment.address == m_scene.selection.address)
            outline(painter, area);
    }
    painter.restore();
}

QPixmap SegmentPainter::sample(PieceLook look, const Style& style, double ratio)
{
    const int height = style.metrics().swatch;
    const int width = height + style.metrics().unit;
    QPixmap pixmap(QSize(width, height) * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(style.color(Tone::Hole));
    QPainter painter(&pixmap);
    const QColor hatch = style.color(Tone::Hatch);
    const QRectF area(0, 0, width, height);
    if (look == PieceLook::Waiting)
        painter.fillRect(area, style.color(Tone::Other));
    if (look == PieceLook::Pinned)
        painter.fillRect(area, patternBrush(Pattern::Pinned, hatch, ratio));
    if (look == PieceLook::PoolHeld)
        painter.fillRect(area, patternBrush(Pattern::PoolHeld, hatch, ratio));
    if (look == PieceLook::Waiting)
        painter.fillRect(area, patternBrush(Pattern::Waiting, style.color(Tone::Halo), ratio));
    if (look == PieceLook::Unknown)
        painter.fillRect(area, patternBrush(Pattern::CutOff, style.color(Tone::Text), ratio));
    painter.setPen(QPen(style.color(look == PieceLook::PoolHeld ? Tone::Ink : Tone::Line), 1 / ratio));
    painter.drawRect(area.adjusted(0, 0, -1 / ratio, -1 / ratio));
    return pixmap;
}

} // namespace tidemark
