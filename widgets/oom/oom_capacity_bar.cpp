// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_capacity_bar.hpp"

#include "widgets/oom/oom_texts.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark {

namespace {

constexpr double barHeightAt100 = 22;
constexpr double leastFrame = 4; ///< a request of a few bytes is still seen

Pattern patternOf(CapacityPart::Kind kind)
{
    switch (kind) {
    case CapacityPart::Kind::Waiting:
        return Pattern::Waiting;
    case CapacityPart::Kind::PoolHeld:
        return Pattern::PoolHeld;
    case CapacityPart::Kind::Unknown:
        return Pattern::CutOff;
    default:
        return Pattern::Pinned;
    }
}

} // namespace

OomCapacityBar::OomCapacityBar(ViewState& view, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
    , m_style(style)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Capacity at the out-of-memory event"));
    connect(&style, &Style::changed, this, [this] {
        placeSlack();
        updateGeometry();
        update();
    });
}

void OomCapacityBar::setScene(std::shared_ptr<const OomScene> scene)
{
    m_scene = std::move(scene);
    m_starts.clear();
    m_current = 0;
    QStringList lines;
    if (m_scene) {
        std::uint64_t start = 0;
        lines << capacityCaption(*m_scene);
        for (const CapacityPart& part : m_scene->parts) {
            m_starts.push_back(start);
            start += part.bytes;
            lines << partLine(*m_scene, part);
        }
        lines << tidemark::slackFormula(*m_scene);
    }
    setAccessibleDescription(lines.join(QLatin1Char('\n')));
    placeSlack();
    update();
}

void OomCapacityBar::placeSlack()
{
    const bool below = !slackFormula().isEmpty() && !besideRequest();
    if (std::exchange(m_slackBelow, below) != below)
        updateGeometry();
}

void OomCapacityBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    placeSlack();
}

QSize OomCapacityBar::sizeHint() const
{
    const int line = QFontMetrics(m_style.font(FontRole::Strong)).height();
    const int small = QFontMetrics(m_style.font(FontRole::Small)).height();
    return {m_style.metrics().px(600),
        line + m_style.metrics().px(barHeightAt100) + (m_slackBelow ? 2 : 1) * small
            + 5 * m_style.metrics().unit};
}

QSize OomCapacityBar::minimumSizeHint() const
{
    return {m_style.metrics().px(200), sizeHint().height()};
}

double OomCapacityBar::barTop() const
{
    return QFontMetrics(m_style.font(FontRole::Strong)).height() + 1.5 * m_style.metrics().unit;
}

double OomCapacityBar::barHeight() const
{
    return m_style.metrics().px(barHeightAt100);
}

double OomCapacityBar::beneath() const
{
    return barTop() + barHeight() + 1.5 * m_style.metrics().unit;
}

double OomCapacityBar::scale() const
{
    if (!m_scene || m_scene->usable == 0)
        return 0;
    const auto& slack = m_scene->autopsy().slack;
    const double beyond = slack && *slack < 0 ? -static_cast<double>(*slack) : 0;
    return (width() - 1) / (static_cast<double>(m_scene->usable) + beyond);
}

QRectF OomCapacityBar::partRect(std::size_t part) const
{
    const double left = static_cast<double>(m_starts[part]) * scale();
    return {left, barTop(), static_cast<double>(m_scene->parts[part].bytes) * scale(), barHeight()};
}

QRectF OomCapacityBar::requestRect() const
{
    if (!m_scene || !m_scene->autopsy().request)
        return {};
    const double left = static_cast<double>(m_scene->used) * scale();
    const double wide = std::max(leastFrame, static_cast<double>(*m_scene->autopsy().request) * scale());
    return {left, beneath(), wide, QFontMetrics(m_style.font(FontRole::Small)).height() + 2.0};
}

QRectF OomCapacityBar::shortRect() const
{
    const QRectF request = requestRect();
    const double end = m_scene ? static_cast<double>(m_scene->usable) * scale() : 0;
    if (!m_scene || m_scene->autopsy().slack.value_or(0) >= 0 || request.right() <= end)
        return {};
    return {std::max(request.left(), end), request.top(), request.right() - std::max(request.left(), end),
        request.height()};
}

std::optional<std::size_t> OomCapacityBar::partAt(QPointF point) const
{
    if (!m_scene || point.y() < barTop() || point.y() >= barTop() + barHeight())
        return std::nullopt;
    for (std::size_t i = 0; i < m_starts.size(); ++i)
        if (partRect(i).contains(point))
            return i;
    return std::nullopt;
}

void OomCapacityBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    if (!m_scene)
        return;
    paintCaption(painter);
    if (m_scene->parts.empty())
        return;
    for (std::size_t i = 0; i < m_scene->parts.size(); ++i)
        paintPart(painter, i);
    for (std::size_t i = 0; i < m_scene->parts.size(); ++i)
        paintPartText(painter, i);
    const double end = static_cast<double>(m_scene->usable) * scale();
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_style.color(Tone::Line), 1));
    painter.drawRect(QRectF(0.5, barTop() + 0.5, end - 0.5, barHeight() - 1));
    paintRequest(painter);
    if (!shortRect().isEmpty()) {
        painter.setPen(QPen(m_style.color(Tone::Capacity), 2));
        painter.drawLine(QPointF(end, barTop() - 3), QPointF(end, requestRect().bottom()));
    }
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(m_style.color(Tone::Sel), 2));
        painter.drawRect(partRect(m_current).adjusted(1, 1, -1, -1));
    }
}

void OomCapacityBar::paintCaption(QPainter& painter) const
{
    painter.setFont(m_style.font(FontRole::Strong));
    painter.setPen(m_style.color(Tone::Text));
    const QRect line(0, 0, width(), painter.fontMetrics().height());
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(capacityCaption(*m_scene), Qt::ElideRight, width()));
}

void OomCapacityBar::paintPart(QPainter& painter, std::size_t number) const
{
    const CapacityPart& part = m_scene->parts[number];
    const QRectF area = partRect(number);
    const double ratio = devicePixelRatioF();
    const Theme& theme = m_style.theme();
    using Kind = CapacityPart::Kind;
    QColor ground = m_style.color(Tone::Hole);
    if (part.kind == Kind::Live)
        ground = QColor::fromRgb(theme.colourOf(part.slot, m_scene->of.colouring->sequential));
    else if (part.kind == Kind::Waiting || part.kind == Kind::Unknown)
        ground = m_style.color(Tone::Other);
    else if (part.kind == Kind::DeviceFree)
        ground = m_style.color(Tone::Plot);
    painter.fillRect(area, ground);
    const bool predating = part.kind == Kind::Live
        && (part.slot == colourSlot::predatingStays || part.slot == colourSlot::predatingFreed);
    const bool hatched = part.kind == Kind::Pinned || part.kind == Kind::OtherStream
        || part.kind == Kind::PoolHeld || part.kind == Kind::Waiting || part.kind == Kind::Unknown;
    const QColor line = m_style.color(part.kind == Kind::Waiting ? Tone::Halo
            : part.kind == Kind::Pinned                          ? Tone::Crit
                                                                 : Tone::Hatch);
    if (predating || hatched)
        painter.fillRect(
            area, patternBrush(predating ? Pattern::Predating : patternOf(part.kind), line, ratio));
    if (area.width() >= 3) {
        painter.setPen(QPen(m_style.color(part.kind == Kind::Pinned ? Tone::Crit : Tone::Base), 1));
        if (part.kind == Kind::Pinned)
            painter.drawRect(area.adjusted(0.5, 0.5, -1.5, -0.5));
        else
            painter.drawLine(
                QPointF(area.right() - 0.5, area.top()), QPointF(area.right() - 0.5, area.bottom()));
    }
}

void OomCapacityBar::paintPartText(QPainter& painter, std::size_t number) const
{
    const CapacityPart& part = m_scene->parts[number];
    const QRectF area = partRect(number);
    painter.setFont(
        m_style.font(part.kind == CapacityPart::Kind::Pinned ? FontRole::Strong : FontRole::Small));
    const QFontMetrics metrics(painter.font());
    const double padding = 1.5 * m_style.metrics().unit;
    const double room = area.width() - 2 * padding;
    const QString bytes = bytesText(part.bytes);
    QString text = partName(*m_scene, part) + QStringLiteral("  ") + bytes;
    if (metrics.horizontalAdvance(text) > room) {
        const int left = static_cast<int>(room) - metrics.horizontalAdvance(QStringLiteral("  ") + bytes);
        const bool named = part.kind == CapacityPart::Kind::Live
            && left > metrics.horizontalAdvance(QStringLiteral("…@mm.py:10"));
        text = named ? elidedSite(partName(*m_scene, part), metrics, left) + QStringLiteral("  ") + bytes
                     : bytes;
    }
    const int wide = metrics.horizontalAdvance(text);
    if (wide > room)
        return;
    if (part.kind == CapacityPart::Kind::Live && part.slot < colourSlot::predatingStays) {
        painter.setPen(
            QColor::fromRgb(textOn(m_style.theme().colourOf(part.slot, m_scene->of.colouring->sequential))));
        painter.drawText(area.adjusted(padding, 0, -padding, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
        return;
    }
    // Text on a pattern gets a plain ground.
    const bool pinned = part.kind == CapacityPart::Kind::Pinned;
    const QRectF box(
        area.center().x() - wide / 2.0 - padding, area.top() + 2.5, wide + 2 * padding, area.height() - 5);
    painter.setBrush(m_style.color(Tone::Base));
    painter.setPen(QPen(m_style.color(pinned ? Tone::Crit : Tone::Line), 1));
    if (area.width() > box.width() + 4)
        painter.drawRect(box);
    painter.setPen(m_style.color(pinned ? Tone::Crit : Tone::Text));
    painter.drawText(box, Qt::AlignCenter, text);
}

void OomCapacityBar::paintRequest(QPainter& painter) const
{
    const QRectF frame = requestRect();
    if (frame.isEmpty())
        return;
    const QColor red = m_style.color(Tone::Crit);
    const QRectF lacking = shortRect();
    if (!lacking.isEmpty())
        painter.fillRect(lacking, red);
    QPen dashes(red, 1.5);
    dashes.setDashPattern({3, 2});
    painter.setPen(dashes);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(frame.adjusted(1, 1, -1, -1));
    painter.setFont(requestFont());
    painter.setPen(red);
    painter.drawText(requestLabelRect(), Qt::AlignCenter, requestLabel());
    if (const QString slack = slackFormula(); !slack.isEmpty())
        paintSlack(painter, slack);
}

void OomCapacityBar::paintSlack(QPainter& painter, const QString& label) const
{
    if (m_scene->autopsy().slack.value_or(0) >= 0) {
        painter.setPen(QPen(m_style.color(Tone::Ok), 1));
        const double y = requestRect().center().y();
        const double left = std::max(requestRect().right(), requestLabelRect().right());
        const double right = static_cast<double>(m_scene->usable) * scale();
        if (right - left > 2 * m_style.metrics().unit) {
            painter.drawLine(QPointF(left + 2, y), QPointF(right, y));
            painter.drawLine(QPointF(left + 2, y - 4), QPointF(left + 2, y + 4));
            painter.drawLine(QPointF(right, y - 4), QPointF(right, y + 4));
        }
    }
    const QRectF box = slackRect();
    painter.fillRect(box, palette().color(backgroundRole()));
    painter.drawText(box, m_slackBelow ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignCenter,
        painter.fontMetrics().elidedText(label, Qt::ElideRight, static_cast<int>(box.width())));
}

QString OomCapacityBar::requestLabel() const
{
    return tr("request %1").arg(bytesText(*m_scene->autopsy().request));
}

QString OomCapacityBar::slackFormula() const
{
    return m_scene && !requestRect().isEmpty() ? tidemark::slackFormula(*m_scene) : QString();
}

QFont OomCapacityBar::requestFont() const
{
    QFont font = m_style.font(FontRole::Small);
    font.setWeight(QFont::DemiBold);
    return font;
}

/// Left of the request's frame, inside it, or right of it: where there is room first.
QRectF OomCapacityBar::requestLabelRect() const
{
    const QRectF frame = requestRect();
    const double gap = 2 * m_style.metrics().unit;
    const double wide = QFontMetrics(requestFont()).horizontalAdvance(requestLabel()) + 1;
    const double inside = frame.width() - shortRect().width();
    double x = frame.right() + gap;
    if (wide + gap <= frame.left())
        x = frame.left() - gap - wide;
    else if (wide + gap < inside)
        x = frame.left() + (inside - wide) / 2;
    return {x, frame.top(), wide, frame.height()};
}

std::optional<QRectF> OomCapacityBar::besideRequest() const
{
    const QRectF frame = requestRect();
    const QRectF label = requestLabelRect();
    const double gap = 2 * m_style.metrics().unit;
    const double wide = QFontMetrics(requestFont()).horizontalAdvance(slackFormula()) + gap;
    if (m_scene->autopsy().slack.value_or(0) >= 0) {
        const double left = std::max(frame.right(), label.right());
        const double right = static_cast<double>(m_scene->usable) * scale();
        if (wide + gap < right - left)
            return QRectF((left + right - wide) / 2, frame.top(), wide, frame.height());
    }
    const double before = std::min(frame.left(), label.left()) - gap;
    if (wide > before)
        return std::nullopt;
    return QRectF(before - wide, frame.top(), wide, frame.height());
}

QRectF OomCapacityBar::slackRect() const
{
    if (slackFormula().isEmpty())
        return {};
    if (const auto beside = m_slackBelow ? std::nullopt : besideRequest())
        return *beside;
    const double high = QFontMetrics(requestFont()).height();
    return {0, requestRect().bottom() + 1, width() - 1.0, high};
}

bool OomCapacityBar::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* const help = static_cast<QHelpEvent*>(event);
        const auto part = partAt(help->pos());
        if (part)
            QToolTip::showText(help->globalPos(), partLine(*m_scene, m_scene->parts[*part]), this);
        else if (m_scene && (requestRect().adjusted(-2, -2, 2, 2) | slackRect()).contains(help->pos()))
            QToolTip::showText(help->globalPos(), slackTip(*m_scene), this);
        else
            QToolTip::hideText();
        return true;
    }
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Return) {
            event->accept();
            return true;
        }
    }
    return QWidget::event(event);
}

void OomCapacityBar::choose(std::size_t number)
{
    m_current = number;
    const CapacityPart& part = m_scene->parts[number];
    emit m_view.hoverTextChanged(partLine(*m_scene, part));
    if (part.group) {
        emit picking();
        Selection selection;
        selection.kind = Selection::Kind::Group;
        selection.group = *part.group;
        selection.groupBy = m_scene->of.grouping->by();
        m_view.select(selection);
    }
    update();
}

void OomCapacityBar::keyPressEvent(QKeyEvent* event)
{
    const bool left = event->key() == Qt::Key_Left;
    const bool walks = left || event->key() == Qt::Key_Right;
    if (!m_scene || m_scene->parts.empty() || (!walks && event->key() != Qt::Key_Return)) {
        event->ignore();
        return;
    }
    const std::size_t last = m_scene->parts.size() - 1;
    std::size_t next = m_current;
    if (walks)
        next = left ? (m_current > 0 ? m_current - 1 : 0) : std::min(last, m_current + 1);
    choose(next);
}

void OomCapacityBar::mouseMoveEvent(QMouseEvent* event)
{
    const auto part = partAt(event->position());
    emit m_view.hoverTextChanged(part ? partLine(*m_scene, m_scene->parts[*part]) : QString());
}

void OomCapacityBar::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    if (const auto part = partAt(event->position()))
        choose(*part);
}

void OomCapacityBar::leaveEvent(QEvent*)
{
    emit m_view.hoverTextChanged({});
}

void OomCapacityBar::focusInEvent(QFocusEvent*)
{
    update();
}

void OomCapacityBar::focusOutEvent(QFocusEvent*)
{
    update();
}

} // namespace tidemark
