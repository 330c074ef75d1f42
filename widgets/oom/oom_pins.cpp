// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_pins.hpp"

#include "widgets/live/live_table_model.hpp"
#include "widgets/oom/oom_texts.hpp"
#include "widgets/style/text.hpp"

namespace tidemark {

void OomPinsModel::setScene(std::shared_ptr<const OomScene> scene)
{
    beginResetModel();
    m_scene = std::move(scene);
    endResetModel();
}

int OomPinsModel::rowOf(std::uint32_t group) const
{
    for (int row = 0; row < rowCount(); ++row)
        if (pins(row).group == group)
            return row;
    return -1;
}

int OomPinsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_scene ? 0 : static_cast<int>(m_scene->pins.size());
}

int OomPinsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : columns;
}

QString OomPinsModel::text(const PinGroup& pins, Column column) const
{
    switch (column) {
    case Site:
        return shownText(m_scene->of.grouping->name(pins.group));
    case Blocks:
        return countText(pins.blocks);
    case Size:
        return bytesText(pins.bytes);
    case HoldsFree:
        return bytesText(pins.releases);
    case Leverage:
        return QString::number(pins.leverage, 'f', 1) + QChar(0xa0) + QChar(u'×');
    case columns:
        break;
    }
    return {};
}

QString OomPinsModel::tip(const PinGroup& pins, Column column) const
{
    switch (column) {
    case Size:
        return exactBytesText(pins.bytes);
    case HoldsFree:
        return exactBytesText(pins.releases)
            + tr("\nfree bytes of their segments, shared equally with the segments' other blocks");
    case Leverage:
        return tr("bytes held free for each byte of their own");
    default:
        return text(pins, Site) + QLatin1Char('\n') + pinSentence(*m_scene, pins);
    }
}

QVariant OomPinsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
        return {};
    const PinGroup& row = pins(index.row());
    const auto column = static_cast<Column>(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return text(row, column);
    case Qt::ToolTipRole:
        return tip(row, column);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (column == Site ? Qt::AlignLeft : Qt::AlignRight)));
    case LiveTableModel::SlotRole:
        return static_cast<int>(row.slot);
    case LiveTableModel::FadedRole:
    case LiveTableModel::FoldRole:
        return false;
    default:
        return {};
    }
}

QVariant OomPinsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columns)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (section == Site ? Qt::AlignLeft : Qt::AlignRight)));
    if (role != Qt::DisplayRole)
        return {};
    switch (static_cast<Column>(section)) {
    case Site:
        return m_scene ? LiveTableModel::columnTitle(LiveColumn::Key, m_scene->of.grouping->by())
                       : tr("Call site");
    case Blocks:
        return tr("Blocks");
    case Size:
        return tr("Size");
    case HoldsFree:
        return tr("Holds free");
    case Leverage:
        return tr("Leverage");
    case columns:
        break;
    }
    return {};
}

QString OomPinsModel::copyText() const
{
    QStringList lines{tr("Call site\tBlocks\tSize (bytes)\tHolds free (bytes)\tLeverage")};
    for (int row = 0; row < rowCount(); ++row)
        lines << QStringList{text(pins(row), Site), QString::number(pins(row).blocks),
            QString::number(pins(row).bytes), QString::number(pins(row).releases),
            QString::number(pins(row).leverage, 'f', 3)}
                     .join(QLatin1Char('\t'));
    return lines.join(QLatin1Char('\n'));
}

} // namespace tidemark
