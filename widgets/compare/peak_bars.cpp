// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/compare/peak_bars.hpp"

#include "widgets/common/phase_text.hpp"
#include "widgets/style/pattern.hpp"
#include "widgets/style/text.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace tidemark {

namespace {

constexpr int rowHeight = 44;
constexpr int figureWidth = 250;

} // namespace

PeakBars::PeakBars(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setFocusPolicy(Qt::StrongFocus);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setAccessibleName(tr("Peaks of several runs"));
    setToolTip(tr("Click: hold the others against this run · double click: compare it with the base"));
    connect(&style, &Style::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void PeakBars::setBars(std::vector<compare::PeakBar> bars)
{
    m_bars = std::move(bars);
    setBase(std::min(m_base, m_bars.empty() ? 0 : m_bars.size() - 1));
    updateGeometry();
    update();
}

void PeakBars::setBase(std::size_t base)
{
    m_base = base;
    if (base < m_bars.size()) {
        const compare::PeakBar held = m_bars[base];
        for (compare::PeakBar& bar : m_bars) {
            bar.delta = bar.peak - held.peak;
            bar.reservedDelta.reset();
            if (bar.reservedPeak && held.reservedPeak)
                bar.reservedDelta = *bar.reservedPeak - *held.reservedPeak;
        }
    }
    update();
    emit baseChanged();
}

QSize PeakBars::sizeHint() const
{
    const int rows = std::max(1, static_cast<int>(m_bars.size()));
    return {m_style.metrics().px(620), m_style.metrics().px(rowHeight) * rows};
}

QRect PeakBars::rowRect(std::size_t row) const
{
    const int high = m_style.metrics().px(rowHeight);
    return {0, high * static_cast<int>(row), width(), high};
}

std::optional<std::size_t> PeakBars::rowAt(const QPoint& at) const
{
    for (std::size_t row = 0; row < m_bars.size(); ++row)
        if (rowRect(row).contains(at))
            return row;
    return std::nullopt;
}

QString PeakBars::deltaOf(std::size_t row) const
{
    if (row == m_base)
        return tr("base");
    const std::int64_t delta = m_bars[row].delta;
    return delta == 0 ? tr("the same") : deltaText(delta);
}

QString PeakBars::rowText(std::size_t row) const
{
    const compare::PeakBar& bar = m_bars[row];
    QStringList parts{shownText(bar.label), bytesText(bar.peak), deltaOf(row)};
    if (bar.phase != Phase::Unknown)
        parts << tr("in %1").arg(QString::fromLatin1(phaseName(bar.phase)));
    if (bar.reservedPeak)
        parts << tr("reserved %1").arg(bytesText(*bar.reservedPeak));
    return parts.join(QStringLiteral(" · "));
}

QString PeakBars::copyText() const
{
    QStringList lines{tr("Run\tPeak live\tB − base\tPeak reserved")};
    for (const compare::PeakBar& bar : m_bars)
        lines << QStringList{shownText(bar.label), QString::number(bar.peak), QString::number(bar.delta),
            bar.reservedPeak ? QString::number(*bar.reservedPeak) : QString()}
                     .join(QLatin1Char('\t'));
    return lines.join(QLatin1Char('\n'));
}

void PeakBars::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    std::int64_t most = 1;
    for (const compare::PeakBar& bar : m_bars)
        most = std::max({most, bar.peak, bar.reservedPeak.value_or(0)});
    const Metrics& m = m_style.metrics();
    for (std::size_t row = 0; row < m_bars.size(); ++row) {
        const compare::PeakBar& bar = m_bars[row];
        const QRect area = rowRect(row).adjusted(m.padding, m.px(3), -m.padding, -m.px(3));
        if (row == m_base)
            painter.fillRect(rowRect(row), m_style.color(Tone::SelSoft));
        const int line = area.height() / 2;
        painter.setFont(m_style.font(row == m_base ? FontRole::Strong : FontRole::Base));
        painter.setPen(m_style.color(Tone::Text));
        const QRect name(area.left(), area.top(), area.width() - m.px(figureWidth), line);
        painter.drawText(name, Qt::AlignVCenter | Qt::AlignLeft,
            painter.fontMetrics().elidedText(shownText(bar.label), Qt::ElideMiddle, name.width()));
        const QRect figure(name.right(), area.top(), m.px(figureWidth), line);
        QString text = bytesText(bar.peak);
        if (bar.phase != Phase::Unknown)
            text += tr(" in %1").arg(QString::fromLatin1(phaseName(bar.phase)));
        painter.setFont(m_style.font(FontRole::Base));
        painter.drawText(figure.adjusted(0, 0, -m.px(90), 0), Qt::AlignVCenter | Qt::AlignRight, text);
        painter.setPen(m_style.color(bar.delta > 0 ? Tone::Grew
                : bar.delta < 0                    ? Tone::Shrank
                                                   : Tone::Text2));
        painter.setFont(m_style.font(bar.delta == 0 ? FontRole::Base : FontRole::Strong));
        painter.drawText(figure, Qt::AlignVCenter | Qt::AlignRight, deltaOf(row));
        const auto length = [&](std::int64_t bytes) {
            return static_cast<int>(static_cast<double>(bytes) / static_cast<double>(most) * area.width());
        };
        const QRect ground(area.left(), area.top() + line + 1, area.width(), line - m.px(6));
        if (bar.reservedPeak) {
            const QRect reserved(ground.topLeft(), QSize(length(*bar.reservedPeak), ground.height()));
            painter.fillRect(reserved, m_style.color(Tone::Hole));
            painter.fillRect(
                reserved, patternBrush(Pattern::Pinned, m_style.color(Tone::Hatch), devicePixelRatioF()));
        }
        painter.fillRect(QRect(ground.topLeft(), QSize(std::max(1, length(bar.peak)), ground.height())),
            m_style.color(row == m_base ? Tone::Ink : Tone::Sel));
    }
    if (hasFocus()) {
        painter.setPen(m_style.color(Tone::Sel));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void PeakBars::mousePressEvent(QMouseEvent* event)
{
    if (const auto row = rowAt(event->pos()); row && event->button() == Qt::LeftButton) {
        m_before = m_base;
        setBase(*row);
    }
}

void PeakBars::mouseDoubleClickEvent(QMouseEvent* event)
{
    const auto row = rowAt(event->pos());
    if (!row)
        return;
    // The first click of the two made it the base.
    if (m_before < m_bars.size())
        setBase(m_before);
    emit compareRequested(*row);
}

void PeakBars::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Down && m_base + 1 < m_bars.size())
        setBase(m_base + 1);
    else if (event->key() == Qt::Key_Up && m_base > 0)
        setBase(m_base - 1);
    else
        QWidget::keyPressEvent(event);
}

} // namespace tidemark
