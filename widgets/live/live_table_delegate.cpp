// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/live/live_table_delegate.hpp"

#include "widgets/live/live_table_model.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double barWidth = 44;
constexpr double fadedText = 0.55;

} // namespace

LiveTableDelegate::LiveTableDelegate(const Style& style, QObject* parent)
    : QStyledItemDelegate(parent)
    , m_style(style)
    , m_shareColumn(static_cast<int>(LiveColumn::Share))
{ }

void LiveTableDelegate::setSequential(bool sequential)
{
    m_sequential = sequential;
}

void LiveTableDelegate::paint(
    QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const bool selected = option.state & QStyle::State_Selected;
    const bool faded = index.data(LiveTableModel::FadedRole).toBool();
    const bool fold = index.data(LiveTableModel::FoldRole).toBool();
    QColor text = m_style.color(selected ? Tone::SelText : fold ? Tone::Text2 : Tone::Text);
    QColor second = m_style.color(selected ? Tone::SelText : Tone::Text2);
    if (faded && !selected) {
        text = QColor::fromRgb(mixed(text.rgb(), m_style.theme().rgb(Tone::Base), 1 - fadedText));
        second = text;
    }
    if (selected)
        painter->fillRect(option.rect, m_style.color(Tone::Sel));
    else if (option.features & QStyleOptionViewItem::Alternate)
        painter->fillRect(option.rect, m_style.color(Tone::Alt));
    const int padding = m_style.metrics().px(7);
    const QRect cell = option.rect.adjusted(padding, 0, -padding, 0);
    painter->save();
    painter->setFont(option.font);
    const double ratio = option.widget ? option.widget->devicePixelRatioF() : 1;
    if (index.column() == static_cast<int>(LiveColumn::Key)) {
        painter->setOpacity(1);
        paintKey(*painter, cell, index, text, second, ratio);
    } else if (index.column() == m_shareColumn) {
        paintShare(*painter, cell, index, text, selected);
    } else {
        painter->setPen(text);
        const QString shown = option.fontMetrics.elidedText(
            index.data(Qt::DisplayRole).toString(), Qt::ElideRight, cell.width());
        painter->drawText(
            cell, static_cast<int>(index.data(Qt::TextAlignmentRole).value<Qt::Alignment>()), shown);
    }
    painter->restore();
}

QSize LiveTableDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    return QStyledItemDelegate::sizeHint(option, index) + QSize(2 * m_style.metrics().px(7), 0);
}

void LiveTableDelegate::paintKey(QPainter& painter, const QRect& cell, const QModelIndex& index,
    const QColor& text, const QColor& second, double ratio) const
{
    QRect room = cell;
    if (const QVariant colour = index.data(LiveTableModel::SlotRole); colour.isValid()) {
        int slot = colour.toInt();
        const bool several = slot == colourSlot::count;
        if (several)
            slot = colourSlot::other;
        const QPixmap swatch
            = m_style.swatch(static_cast<std::uint8_t>(slot), m_sequential && !several, ratio);
        const int side = m_style.metrics().swatch;
        if (index.data(LiveTableModel::FadedRole).toBool())
            painter.setOpacity(0.38);
        painter.drawPixmap(cell.left(), cell.center().y() - side / 2, swatch);
        painter.setOpacity(1);
        room.adjust(side + m_style.metrics().px(7), 0, 0, 0);
    }
    const QFontMetrics metrics(painter.font());
    const QString more = index.data(LiveTableModel::SecondRole).toString();
    const int moreWidth = more.isEmpty() ? 0 : metrics.horizontalAdvance(more) + m_style.metrics().padding;
    const bool moreFits = moreWidth > 0 && moreWidth < room.width() / 2;
    const QString name = elidedSite(
        index.data(Qt::DisplayRole).toString(), metrics, room.width() - (moreFits ? moreWidth : 0));
    painter.setPen(text);
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, name);
    if (!moreFits)
        return;
    room.setLeft(room.left() + metrics.horizontalAdvance(name) + m_style.metrics().padding);
    painter.setPen(second);
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, more);
}

void LiveTableDelegate::paintShare(
    QPainter& painter, const QRect& cell, const QModelIndex& index, const QColor& text, bool selected) const
{
    const Metrics& metrics = m_style.metrics();
    const double full = metrics.px(barWidth);
    const double share = std::clamp(index.data(LiveTableModel::BarRole).toDouble(), 0.0, 1.0);
    const int width = share > 0 ? std::max(1, static_cast<int>(std::lround(share * full))) : 0;
    const int height = metrics.px(9);
    QColor bar = m_style.color(selected ? Tone::SelText : Tone::Sel);
    bar.setAlphaF(selected ? 0.8F : 0.55F);
    painter.fillRect(QRect(cell.left(), cell.center().y() - height / 2, width, height), bar);
    painter.setPen(text);
    // Figures stand at the end of their bar, as long as they fit.
    const QString figure = index.data(Qt::DisplayRole).toString();
    const int figureWidth = painter.fontMetrics().horizontalAdvance(figure);
    const int x = std::min(cell.left() + width + metrics.unit, cell.right() - figureWidth);
    painter.drawText(
        QRect(x, cell.top(), figureWidth + 1, cell.height()), Qt::AlignVCenter | Qt::AlignLeft, figure);
}

} // namespace tidemark
