// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/growth/growth_view.hpp"

#include "widgets/live/live_table_model.hpp"
#include "widgets/style/text.hpp"

#include <QList>

#include <algorithm>
#include <numeric>

namespace tidemark {

void GrowthModel::show(std::shared_ptr<const GrowthTable> table, std::shared_ptr<const Grouping> grouping,
    std::shared_ptr<const Colouring> colouring)
{
    beginResetModel();
    m_table = std::move(table);
    m_grouping = std::move(grouping);
    m_colouring = std::move(colouring);
    m_order.resize(m_table ? m_table->rows.size() : 0);
    std::iota(m_order.begin(), m_order.end(), 0U);
    endResetModel();
}

int GrowthModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_order.size());
}

QString GrowthModel::name(int at) const
{
    return shownText(m_grouping->name(row(at).group));
}

QVariant GrowthModel::text(int at, int column) const
{
    const GrowthRow& r = row(at);
    switch (column) {
    case Key:
        return name(at);
    case Allocated:
        return bytesText(r.allocatedBytes);
    case Freed:
        return bytesText(r.freedBytes);
    case Kept:
        return bytesText(r.keptBytes);
    case Count:
        return countText(r.allocated);
    case Trend:
        return QString::fromLatin1(trendName(r.trend));
    default:
        return {};
    }
}

QVariant GrowthModel::data(const QModelIndex& at, int role) const
{
    if (!m_table || !at.isValid())
        return {};
    const GrowthRow& r = row(at.row());
    switch (role) {
    case Qt::DisplayRole:
        return text(at.row(), at.column());
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter
            | (at.column() >= Allocated && at.column() <= Count ? Qt::AlignRight : Qt::AlignLeft)));
    case LiveTableModel::SlotRole:
        return m_colouring && valid(r.largest)
            ? QVariant(static_cast<int>(m_colouring->slotOf[tidemark::index(r.largest)]))
            : QVariant();
    case LiveTableModel::FadedRole:
        return m_table->filtered && r.matchedBytes == 0;
    case StripRole: {
        QList<double> shares;
        const std::int64_t most
            = r.atSteps.empty() ? 0 : *std::max_element(r.atSteps.begin(), r.atSteps.end());
        for (const std::int64_t bytes : r.atSteps)
            shares << (most > 0 ? static_cast<double>(bytes) / static_cast<double>(most) : 0);
        return QVariant::fromValue(shares);
    }
    case Qt::ToolTipRole: {
        if (at.column() != Steps || r.atSteps.empty())
            return tr("%1: %2 allocated (%3), %4 freed (%5), %6 kept (%7)")
                .arg(name(at.row()), exactBytesText(r.allocatedBytes), countText(r.allocated),
                    exactBytesText(r.freedBytes), countText(r.freed), exactBytesText(r.keptBytes),
                    countText(r.kept));
        QStringList lines;
        for (std::size_t i = 0; i < r.atSteps.size(); ++i)
            lines << tr("end of %1: %2").arg(shownText(m_table->steps[i].name), bytesText(r.atSteps[i]));
        return lines.join(QLatin1Char('\n'));
    }
    default:
        return {};
    }
}

QVariant GrowthModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter | (section >= Allocated && section <= Count ? Qt::AlignRight : Qt::AlignLeft)));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Key:
        return !m_table || m_table->by == GroupBy::Site ? tr("Call site")
            : m_table->by == GroupBy::Label             ? tr("Module")
                                                        : tr("Role");
    case Allocated:
        return tr("Allocated");
    case Freed:
        return tr("Freed");
    case Kept:
        return tr("Kept");
    case Count:
        return tr("Count");
    case Steps:
        return m_table && !m_table->steps.empty()
            ? tr("%1 steps").arg(countText(std::uint64_t{m_table->steps.size()}))
            : tr("Steps");
    case Trend:
        return tr("Trend");
    default:
        return {};
    }
}

void GrowthModel::sort(int column, Qt::SortOrder order)
{
    if (!m_table)
        return;
    beginResetModel();
    const auto key = [&](std::uint32_t at) -> std::uint64_t {
        const GrowthRow& r = m_table->rows[at];
        switch (column) {
        case Freed:
            return r.freedBytes;
        case Kept:
            return r.keptBytes;
        case Count:
            return r.allocated;
        case Steps:
            return static_cast<std::uint64_t>(
                r.atSteps.empty() ? 0 : std::max<std::int64_t>(0, r.atSteps.back()));
        default:
            return r.allocatedBytes;
        }
    };
    std::stable_sort(m_order.begin(), m_order.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (order == Qt::DescendingOrder)
            std::swap(a, b);
        if (column == Key)
            return m_grouping->name(m_table->rows[a].group) < m_grouping->name(m_table->rows[b].group);
        if (column == Trend)
            return m_table->rows[a].trend < m_table->rows[b].trend;
        return key(a) < key(b);
    });
    endResetModel();
}

QString GrowthModel::copyText() const
{
    QStringList lines;
    QStringList head;
    for (const int column : {Key, Allocated, Freed, Kept, Count, Trend})
        head << headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    lines << head.join(QLatin1Char('\t'));
    for (int at = 0; at < rowCount(); ++at) {
        const GrowthRow& r = row(at);
        lines << QStringList{name(at), QString::number(r.allocatedBytes), QString::number(r.freedBytes),
            QString::number(r.keptBytes), QString::number(r.allocated),
            QString::fromLatin1(trendName(r.trend))}
                     .join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace tidemark
