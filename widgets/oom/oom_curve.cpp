// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_curve.hpp"

#include "widgets/common/plot_text.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/ticks.hpp"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double leftMargin = 60;
constexpr double rightMargin = 132;
constexpr double heightAt100 = 132;
constexpr double headroom = 1.08;

} // namespace

OomCurve::OomCurve(ViewState& view, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
    , m_style(style)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setAccessibleName(tr("Memory up to the out-of-memory event"));
    setToolTip(tr("A click sets the cursor"));
    connect(&view, &ViewState::cursorChanged, this, qOverload<>(&QWidget::update));
    connect(&style, &Style::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void OomCurve::setScene(std::shared_ptr<const OomScene> scene)
{
    m_scene = std::move(scene);
    if (m_scene) {
        const OomAutopsy& autopsy = m_scene->autopsy();
        const Series& live = replay().timeline.requested();
        // In doubles: what a broken file asks for may not even fit 63 bits.
        const std::uint64_t request = autopsy.request.value_or(0);
        double top = std::max(static_cast<double>(live.total().max),
            static_cast<double>(live.at(autopsy.state)) + static_cast<double>(request));
        if (replay().segments.reservedKnown())
            top = std::max(top, static_cast<double>(replay().segments.reserved().total().max));
        m_top = headroom * std::max({top, static_cast<double>(m_scene->usable), 1.0});
        setAccessibleDescription(
            tr("%1 live, %2 asked for in vain").arg(bytesText(live.at(autopsy.state)), bytesText(request)));
    }
    update();
}

QSize OomCurve::sizeHint() const
{
    return {m_style.metrics().px(600), m_style.metrics().px(heightAt100)};
}

QSize OomCurve::minimumSizeHint() const
{
    return {m_style.metrics().px(300), sizeHint().height()};
}

QRectF OomCurve::plot() const
{
    const Metrics& metrics = m_style.metrics();
    const double line = QFontMetrics(m_style.font(FontRole::Small)).height();
    return QRectF(rect()).adjusted(metrics.px(leftMargin), line / 2 + metrics.unit, -metrics.px(rightMargin),
        -(line + 1.5 * metrics.unit));
}

double OomCurve::xOf(StateIndex state) const
{
    const QRectF area = plot();
    const double states = std::max<double>(1, replay().states());
    return area.left() + area.width() * (static_cast<double>(state) + 0.5) / states;
}

double OomCurve::yOf(double bytes) const
{
    const QRectF area = plot();
    return area.bottom() - area.height() * bytes / m_top;
}

StateIndex OomCurve::stateAt(double x) const
{
    const QRectF area = plot();
    const double share = std::clamp((x - area.left()) / std::max(1.0, area.width()), 0.0, 1.0);
    const double last = static_cast<double>(replay().states() - 1);
    return static_cast<StateIndex>(
        std::clamp(std::floor(share * static_cast<double>(replay().states())), 0.0, last));
}

std::vector<double> OomCurve::columns(const Series& series) const
{
    const QRectF area = plot();
    const auto count = static_cast<std::size_t>(std::max(1.0, area.width() * devicePixelRatioF()));
    const std::uint64_t states = series.states();
    std::vector<double> y(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto first = static_cast<StateIndex>(states * i / count);
        const auto past = static_cast<StateIndex>(states * (i + 1) / count);
        y[i] = yOf(static_cast<double>(series.extremes(first, std::max(first, past - (past > first))).max));
    }
    return y;
}

void OomCurve::paintEvent(QPaintEvent*)
{
    if (!m_scene || plot().width() < 20 || plot().height() < 20)
        return;
    QPainter painter(this);
    painter.setFont(m_style.font(FontRole::Small));
    paintAxes(painter);
    paintLive(painter);
    paintReserved(painter);
    paintRequest(painter);
    paintNames(painter);
    if (hasFocus()) {
        painter.setPen(QPen(m_style.color(Tone::Sel), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
    }
}

void OomCurve::paintAxes(QPainter& painter) const
{
    const QRectF area = plot();
    const QFont font = m_style.font(FontRole::Small);
    painter.fillRect(area, m_style.color(Tone::Plot));
    const int rows = std::max(2, static_cast<int>(area.height() / (2.2 * QFontMetricsF(font).height())));
    for (const AxisTick& tick : byteTicks(0, m_top, rows)) {
        const double y = yOf(tick.value);
        painter.fillRect(QRectF(area.left(), y, area.width(), 1), m_style.color(Tone::Grid));
        drawText(painter, textBox(font, tick.text, {area.left() - 6, y}, TextSide::Right), tick.text,
            m_style.color(Tone::Text2));
    }
    const auto first = replay().device().firstEventInFile;
    const int most = std::max(2, static_cast<int>(area.width() / 110));
    const double states = replay().states();
    for (const AxisTick& tick : eventTicks(0, states, replay().states(), first, most)) {
        const double x = area.left() + area.width() * tick.value / states;
        const QRectF box = textBox(
            font, tick.text, {x, area.bottom() + 3 + QFontMetricsF(font).height() / 2}, TextSide::Centre);
        drawText(painter, box, tick.text, m_style.color(Tone::Text2));
    }
}

void OomCurve::paintLive(QPainter& painter) const
{
    const QRectF area = plot();
    const std::vector<double> y = columns(replay().timeline.requested());
    const double width = area.width() / static_cast<double>(y.size());
    QColor fill = m_style.color(Tone::Sel);
    fill.setAlphaF(0.28F);
    for (std::size_t i = 0; i < y.size(); ++i)
        painter.fillRect(
            QRectF(area.left() + static_cast<double>(i) * width, y[i], width, area.bottom() - y[i]), fill);
    drawStepLine(painter, {area.left(), devicePixelRatioF(), 1, 0, 0}, y, m_style.color(Tone::Ink));
}

void OomCurve::paintReserved(QPainter& painter) const
{
    const QRectF area = plot();
    if (replay().segments.reservedKnown())
        drawStepLine(painter, {area.left(), devicePixelRatioF(), 1.4, 7, 3},
            columns(replay().segments.reserved()), m_style.color(Tone::Reserved));
    if (m_scene->usable > 0)
        painter.fillRect(
            QRectF(area.left(), yOf(static_cast<double>(m_scene->usable)) - 0.75, area.width(), 1.5),
            m_style.color(Tone::Capacity));
}

void OomCurve::paintRequest(QPainter& painter) const
{
    const QRectF area = plot();
    const OomAutopsy& autopsy = m_scene->autopsy();
    const double x = xOf(autopsy.state);
    const QColor crit = m_style.color(Tone::Crit);
    if (m_view.cursor() != autopsy.state)
        painter.fillRect(
            QRectF(std::round(xOf(m_view.cursor())), area.top(), 1, area.height()), m_style.color(Tone::Ink));
    painter.fillRect(QRectF(x - 0.75, area.top(), 1.5, area.height()), crit);
    if (!autopsy.request)
        return;
    const double live = static_cast<double>(replay().timeline.requested().at(autopsy.state));
    const double top = yOf(live + static_cast<double>(*autopsy.request));
    const double side = m_style.metrics().px(14);
    QPen pen(crit, 1.2, Qt::CustomDashLine);
    pen.setDashPattern({3, 2});
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(x - side, top, side, std::max(2.0, yOf(live) - top)));
    const QString text = tr("+%1 failed").arg(bytesText(*autopsy.request));
    const QFont font = m_style.font(FontRole::Small);
    // Beside the frame, but not on the line of what is usable.
    const double line = QFontMetricsF(font).height();
    double y = (top + yOf(live)) / 2;
    if (const double usable = yOf(static_cast<double>(m_scene->usable));
        m_scene->usable > 0 && std::abs(y - usable) < 0.7 * line)
        y = usable + 0.8 * line;
    QRectF box = textBox(font, text, {x - side - 6, y}, TextSide::Right);
    if (box.left() < area.left())
        box = textBox(font, text, {x + 6, top - 8}, TextSide::Left);
    drawHaloText(painter, box, text, crit, m_style.color(Tone::Halo));
}

/// At the right edge, one below the other where values are near each other.
void OomCurve::paintNames(QPainter& painter) const
{
    struct Name {
        QString text;
        double y;
        Tone tone;
    };
    const StateIndex last = replay().states() - 1;
    std::vector<Name> names;
    const auto add = [&](const QString& text, std::int64_t bytes, Tone tone) {
        names.push_back({text.arg(bytesText(bytes)), yOf(static_cast<double>(bytes)), tone});
    };
    if (m_scene->usable > 0)
        add(tr("usable %1"), static_cast<std::int64_t>(m_scene->usable), Tone::Crit);
    if (replay().segments.reservedKnown())
        add(tr("reserved %1"), replay().segments.reserved().at(last), Tone::Text);
    add(tr("live %1"), replay().timeline.requested().at(last), Tone::Text);
    std::stable_sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.y < b.y; });
    const QRectF area = plot();
    const QFont font = m_style.font(FontRole::Small);
    const double line = QFontMetricsF(font).height();
    double lowest = area.top() - line / 2;
    for (const Name& name : names) {
        const double y = std::max(name.y, lowest);
        drawText(painter, textBox(font, name.text, {area.right() + 8, y}, TextSide::Left), name.text,
            m_style.color(name.tone));
        lowest = y + line;
    }
}

void OomCurve::goTo(StateIndex state)
{
    if (state == m_view.cursor())
        return;
    m_view.setCursor(state);
}

void OomCurve::mousePressEvent(QMouseEvent* event)
{
    if (!m_scene || event->button() != Qt::LeftButton || !plot().contains(event->position()))
        return;
    m_view.pushHistory();
    goTo(stateAt(event->position().x()));
}

void OomCurve::mouseMoveEvent(QMouseEvent* event)
{
    if (m_scene && (event->buttons() & Qt::LeftButton) != 0)
        goTo(stateAt(event->position().x()));
}

void OomCurve::keyPressEvent(QKeyEvent* event)
{
    const StateIndex cursor = m_view.cursor();
    if (m_scene && event->key() == Qt::Key_Left && event->modifiers() == Qt::NoModifier && cursor > 0)
        goTo(cursor - 1);
    else if (m_scene && event->key() == Qt::Key_Right && event->modifiers() == Qt::NoModifier
        && cursor + 1 < replay().states())
        goTo(cursor + 1);
    else
        QWidget::keyPressEvent(event);
}

} // namespace tidemark
