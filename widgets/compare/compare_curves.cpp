// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/compare/compare_curves.hpp"

#include "widgets/common/plot_text.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/ticks.hpp"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

using compare::AlignBy;
using compare::Alignment;
using compare::CurveColumn;
using compare::Which;

constexpr double leftMargin = 76;
constexpr double rightMargin = 14;
constexpr double laneShare = 0.26; // of what is left for plot and lane
constexpr double headroom = 1.08;
constexpr float tint = 0.16F;
/// Fewer states than this are walked at once.
constexpr std::uint64_t quick = 3000000;

Which sideB()
{
    return Which::B;
}

double least(const std::vector<CurveColumn>& columns)
{
    double low = 0;
    for (const CurveColumn& c : columns)
        low = std::min(low, c.hasDelta ? static_cast<double>(c.minDelta) : 0.0);
    return low;
}

double most(const std::vector<CurveColumn>& columns)
{
    double high = 0;
    for (const CurveColumn& c : columns)
        high = std::max(high, c.hasDelta ? static_cast<double>(c.maxDelta) : 0.0);
    return high;
}

} // namespace

CompareCurves::CompareCurves(CompareState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_state(state)
    , m_style(style)
    , m_task([this](Made&& made) {
        if (made.of != m_state.alignment())
            return;
        m_columns = std::move(made.columns);
        m_of = std::move(made.of);
        m_drawn = made.window;
        m_drawnCurve = made.curve;
        update();
    })
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setAccessibleName(tr("Curves of both runs and their difference"));
    connect(&state, &CompareState::alignmentChanged, this, [this] {
        rescale();
        refresh();
    });
    connect(&state, &CompareState::changed, this, [this] {
        if (!m_state.alignment()) {
            m_columns.clear();
            m_of.reset();
        }
        update();
    });
    connect(&state, &CompareState::windowChanged, this, &CompareCurves::refresh);
    connect(&state, &CompareState::cursorChanged, this, qOverload<>(&QWidget::update));
    connect(&style, &Style::changed, this, [this] {
        updateGeometry();
        refresh();
    });
}

void CompareCurves::setCurve(compare::Curve curve)
{
    m_curve = curve;
    rescale();
    refresh();
}

QSize CompareCurves::sizeHint() const
{
    return {m_style.metrics().px(700), m_style.metrics().px(270)};
}

QSize CompareCurves::minimumSizeHint() const
{
    return {m_style.metrics().px(320), m_style.metrics().px(150)};
}

QRectF CompareCurves::plot() const
{
    const Metrics& m = m_style.metrics();
    const double line = QFontMetrics(m_style.font(FontRole::Small)).height();
    const QRectF all
        = QRectF(rect()).adjusted(m.px(leftMargin), line + m.px(8), -m.px(rightMargin), -(line + m.px(6)));
    return {all.left(), all.top(), std::max(1.0, all.width()),
        std::max(1.0, all.height() * (1 - laneShare) - m.px(8))};
}

QRectF CompareCurves::lane() const
{
    const Metrics& m = m_style.metrics();
    const double line = QFontMetrics(m_style.font(FontRole::Small)).height();
    const double bottom = height() - line - m.px(6);
    const QRectF above = plot();
    return {above.left(), above.bottom() + m.px(8), above.width(),
        std::max(1.0, bottom - above.bottom() - m.px(8))};
}

double CompareCurves::xOf(double axis) const
{
    const QRectF area = plot();
    const XWindow& w = m_state.window();
    return area.left() + (axis - w.left) / (w.right - w.left) * area.width();
}

double CompareCurves::axisOf(double x) const
{
    const QRectF area = plot();
    const XWindow& w = m_state.window();
    return w.left + (x - area.left()) / area.width() * (w.right - w.left);
}

double CompareCurves::yOf(std::int64_t bytes) const
{
    const QRectF area = plot();
    return area.bottom() - area.height() * static_cast<double>(bytes) / m_top;
}

double CompareCurves::laneY(std::int64_t delta) const
{
    const QRectF area = lane();
    return area.top() + (m_more - static_cast<double>(delta)) / (m_more + m_less) * area.height();
}

bool CompareCurves::isExact() const
{
    return m_of == m_state.alignment() && m_drawn == m_state.window() && m_drawnCurve == m_curve
        && m_columns.size() == wantedColumns();
}

std::size_t CompareCurves::wantedColumns() const
{
    return static_cast<std::size_t>(std::max(1.0, std::round(plot().width() * devicePixelRatioF())));
}

void CompareCurves::refresh()
{
    const auto alignment = m_state.alignment();
    if (!alignment || width() < 2)
        return;
    const auto make
        = [alignment, window = m_state.window(), curve = m_curve, count = wantedColumns()](const Job&) {
              return Made{alignment, window, curve,
                  curveColumns(*alignment, curve, window.left, window.right, count)};
          };
    const std::uint64_t states
        = std::uint64_t{alignment->replay(Which::A).states()} + alignment->replay(Which::B).states();
    if (states <= quick) {
        Made made = make({});
        m_columns = std::move(made.columns);
        m_of = alignment;
        m_drawn = made.window;
        m_drawnCurve = made.curve;
        m_task.cancel();
    } else {
        m_task.request(make);
    }
    update();
}

// Both scales are those of the whole axis, so that they hold while one zooms.
void CompareCurves::rescale()
{
    const auto alignment = m_state.alignment();
    if (!alignment)
        return;
    const CurveColumn all = wholeCurve(*alignment, m_curve);
    m_top = std::max(1.0, headroom * static_cast<double>(std::max(all.maxA, all.maxB)));
    m_less = all.hasDelta ? std::max(0.0, -static_cast<double>(all.minDelta)) : 0;
    m_more = all.hasDelta ? std::max(0.0, static_cast<double>(all.maxDelta)) : 0;
    const double span = std::max(m_less + m_more, 1.0);
    m_less += span * 0.08;
    m_more += span * 0.08;
}

double CompareCurves::columnX(std::size_t column) const
{
    const double axis = m_drawn.left
        + (m_drawn.right - m_drawn.left) * static_cast<double>(column)
            / static_cast<double>(m_columns.size());
    return xOf(axis);
}

void CompareCurves::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    renderTo(painter);
    if (hasFocus()) {
        painter.setPen(QPen(m_style.color(Tone::Sel), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
    }
}

void CompareCurves::renderTo(QPainter& painter)
{
    painter.setFont(m_style.font(FontRole::Small));
    painter.fillRect(plot(), m_style.color(Tone::Plot));
    painter.fillRect(lane(), m_style.color(Tone::Plot));
    if (!m_state.alignment())
        return;
    paintGrid(painter);
    paintParts(painter);
    if (!m_columns.empty()) {
        painter.save();
        painter.setClipRect(plot().united(lane()).adjusted(0, -2, 0, 2));
        paintCurves(painter);
        paintDelta(painter);
        painter.restore();
        paintPeaks(painter);
    }
    paintCursor(painter);
    paintNotes(painter);
}

void CompareCurves::paintGrid(QPainter& painter) const
{
    const QFont font = m_style.font(FontRole::Small);
    const double line = QFontMetricsF(font).height();
    const QRectF area = plot();
    for (const AxisTick& tick :
        byteTicks(0, m_top, std::max(2, static_cast<int>(area.height() / (2 * line))))) {
        const double y = yOf(static_cast<std::int64_t>(tick.value));
        painter.fillRect(QRectF(area.left(), y, area.width(), 1), m_style.color(Tone::Grid));
        drawText(painter, textBox(font, tick.text, {area.left() - 6, y}, TextSide::Right), tick.text,
            m_style.color(Tone::Text2));
    }
    // The lane has a line at 0 and one at each end that counts.
    const QRectF below = lane();
    double last = -1e9;
    const auto label = [&](std::int64_t value) {
        const double y = laneY(value);
        if (std::abs(y - last) < line * 0.9)
            return;
        last = y;
        const QString text = value == 0 ? QStringLiteral("0") : deltaText(value);
        drawText(painter, textBox(font, text, {below.left() - 6, y}, TextSide::Right), text,
            m_style.color(Tone::Text2));
    };
    painter.fillRect(QRectF(below.left(), laneY(0), below.width(), 1), m_style.color(Tone::Line));
    label(0);
    const double span = (m_less + m_more) / 1.16;
    if (m_less > span * 0.2)
        label(-static_cast<std::int64_t>(m_less - span * 0.08));
    last = laneY(0);
    if (m_more > span * 0.2)
        label(static_cast<std::int64_t>(m_more - span * 0.08));
}

void CompareCurves::paintParts(QPainter& painter) const
{
    const QRectF area = plot();
    const QRectF below = lane();
    const QFont font = m_style.font(FontRole::Small);
    const double line = QFontMetricsF(font).height();
    const QRectF row(area.left(), area.top() - line - m_style.metrics().px(4), area.width(), line);
    drawText(painter, textBox(font, tr("aligned"), {area.left() - 6, row.center().y()}, TextSide::Right),
        tr("aligned"), m_style.color(Tone::Text2));
    const auto& parts = m_state.alignment()->parts();
    double free = row.left();
    painter.setFont(font);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double from = xOf(parts[i].x0);
        const double to = xOf(parts[i].x1);
        if (to < area.left() || from > area.right())
            continue;
        if (!parts[i].matched()) {
            const double left = std::max(from, area.left());
            const double right = std::min(to, area.right());
            painter.fillRect(
                QRectF(left, below.top(), right - left, below.height()), m_style.color(Tone::Pre3));
        }
        if (!parts[i].startsStep || from < area.left() - 1)
            continue;
        painter.fillRect(QRectF(from, row.top(), 1, below.bottom() - row.top()), m_style.color(Tone::Line2));
        const QString text = shownText(parts[i].name);
        const double width = QFontMetricsF(font).horizontalAdvance(text);
        if (from + 4 >= free && from + 4 + width < area.right()) {
            drawText(painter, textBox(font, text, {from + 4, row.center().y()}, TextSide::Left), text,
                m_style.color(Tone::Text));
            free = from + width + 12;
        }
    }
    // Below: where one is on the axis.
    const int most = std::max(2, static_cast<int>(area.width() / 110));
    const XWindow& w = m_state.window();
    if (m_state.alignment()->by() == AlignBy::Time)
        for (const AxisTick& tick : timeTicks(w.left, w.right, most))
            drawText(painter,
                textBox(font, tick.text, {xOf(tick.value), below.bottom() + line / 2 + 3}, TextSide::Centre),
                tick.text, m_style.color(Tone::Text2));
    else {
        double right = area.left();
        for (const compare::AlignedPart& part : parts) {
            const double from = std::max(xOf(part.x0), area.left());
            const double to = std::min(xOf(part.x1), area.right());
            const QString text = part.name.empty() || part.startsStep ? QString() : shownText(part.name);
            const double width = QFontMetricsF(font).horizontalAdvance(text);
            if (text.isEmpty() || to - from < width + 8 || from < right)
                continue;
            drawText(painter, textBox(font, text, {from + 3, below.bottom() + line / 2 + 3}, TextSide::Left),
                text, m_style.color(Tone::Text2));
            right = from + width + 8;
        }
    }
}

void CompareCurves::paintCurves(QPainter& painter) const
{
    QColor less = m_style.color(Tone::Shrank);
    QColor more = m_style.color(Tone::Grew);
    less.setAlphaF(tint);
    more.setAlphaF(tint);
    const QRectF area = plot();
    painter.setPen(Qt::NoPen);
    std::vector<double> yA(m_columns.size());
    std::vector<double> yB(m_columns.size());
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        const CurveColumn& c = m_columns[i];
        yA[i] = yOf(c.maxA);
        yB[i] = yOf(c.maxB);
        if (!c.hasDelta || c.maxA == c.maxB)
            continue;
        const double x = columnX(i);
        painter.fillRect(QRectF(x, std::min(yA[i], yB[i]), columnX(i + 1) - x, std::abs(yA[i] - yB[i])),
            c.maxB < c.maxA ? less : more);
    }
    const bool exact = m_drawn == m_state.window();
    const auto draw = [&](const std::vector<double>& y, const StepLine& look, const QColor& colour) {
        if (exact) {
            drawStepLine(painter, look, y, colour);
            return;
        }
        painter.setPen(QPen(colour, look.thickness));
        QPolygonF points;
        for (std::size_t i = 0; i < y.size(); ++i)
            points << QPointF(columnX(i), y[i]);
        painter.drawPolyline(points);
    };
    const double ratio = devicePixelRatioF();
    draw(yA, {area.left(), ratio, 1.4, 6, 3}, m_style.color(Tone::Ink));
    draw(yB, {area.left(), ratio, 2, 0, 0}, m_style.color(Tone::Link));
}

void CompareCurves::paintDelta(QPainter& painter) const
{
    const QColor less = m_style.color(Tone::Shrank);
    const QColor more = m_style.color(Tone::Grew);
    const double zero = laneY(0);
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        const CurveColumn& c = m_columns[i];
        if (!c.hasDelta)
            continue;
        const double x = columnX(i);
        const double width = columnX(i + 1) - x;
        if (c.maxDelta > 0)
            painter.fillRect(QRectF(x, laneY(c.maxDelta), width, zero - laneY(c.maxDelta)), more);
        if (c.minDelta < 0)
            painter.fillRect(QRectF(x, zero, width, laneY(c.minDelta) - zero), less);
    }
    const QRectF below = lane();
    const QFont font = m_style.font(FontRole::Small);
    const double line = QFontMetricsF(font).height();
    const auto name = [&](const QString& text, double y, const QColor& colour) {
        drawHaloText(painter, textBox(font, text, {below.right() - 4, y}, TextSide::Right), text, colour,
            m_style.color(Tone::Halo));
    };
    if (least(m_columns) < 0 && below.bottom() - zero > line)
        name(tr("B needs less"), below.bottom() - line * 0.6, less);
    if (most(m_columns) > 0 && zero - below.top() > line)
        name(tr("B needs more"), below.top() + line * 0.6, more);
}

void CompareCurves::paintPeaks(QPainter& painter) const
{
    const auto comparison = m_state.comparison();
    if (m_curve != compare::Curve::Live)
        return;
    const QRectF area = plot();
    const QFont font = m_style.font(FontRole::Strong);
    LabelPlacer placer(area.adjusted(0, -14, 0, 0));
    const auto label = [&](Which side, std::int64_t peak, StateIndex state, const QColor& colour) {
        const double x = xOf(m_state.alignment()->xOf(side, state));
        if (x < area.left() || x > area.right())
            return;
        const QString text = tr("%1  %2").arg(side == Which::A ? tr("A") : tr("B"), bytesText(peak));
        const double y = yOf(peak);
        std::vector<QRectF> boxes;
        const double line = QFontMetricsF(font).height();
        for (const double dy : {0.0, line, -line, 2 * line})
            for (const TextSide where : {TextSide::Left, TextSide::Right})
                boxes.push_back(textBox(font, text,
                    {x + (where == TextSide::Left ? 10.0 : -10.0),
                        y + (side == sideB() ? line * 0.9 : 0) + dy},
                    where));
        if (const auto box = placer.takeFirst(boxes)) {
            painter.setFont(font);
            drawHaloText(painter, *box, text, colour, m_style.color(Tone::Halo));
        }
        painter.setBrush(colour);
        painter.setPen(m_style.color(Tone::Halo));
        painter.drawEllipse(QPointF(x, y), 3.5, 3.5);
    };
    painter.setRenderHint(QPainter::Antialiasing);
    label(Which::A, comparison->peak.a, comparison->peakStateA, m_style.color(Tone::Ink));
    label(Which::B, comparison->peak.b, comparison->peakStateB, m_style.color(Tone::Link));
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setFont(m_style.font(FontRole::Small));
}

void CompareCurves::paintCursor(QPainter& painter) const
{
    const double x = std::round(xOf(m_state.cursor()));
    const QRectF area = plot();
    const QRectF below = lane();
    if (x < area.left() || x > area.right())
        return;
    painter.fillRect(QRectF(x - 1, area.top(), 3, below.bottom() - area.top()), m_style.color(Tone::Halo));
    painter.fillRect(QRectF(x, area.top(), 1, below.bottom() - area.top()), m_style.color(Tone::Ink));
}

QString CompareCurves::textAt(double axis) const
{
    const auto alignment = m_state.alignment();
    if (!alignment)
        return {};
    const auto value = [&](Which side) {
        const Replay& replay = alignment->replay(side);
        const StateIndex state = alignment->stateOf(side, axis);
        return m_curve == compare::Curve::Live ? replay.timeline.requested().at(state)
                                               : replay.segments.reserved().at(state);
    };
    if (!curveKnown(*alignment, m_curve))
        return tr("reserved is not known on both sides");
    const std::int64_t a = value(Which::A);
    const std::int64_t b = value(Which::B);
    return tr("A %1 · B %2 · B − A %3")
        .arg(bytesText(a), bytesText(b), b == a ? QStringLiteral("0") : deltaText(b - a));
}

void CompareCurves::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    refresh();
}

} // namespace tidemark
