// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/compare/compare_table_model.hpp"

#include "widgets/live/live_table_model.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>
#include <numeric>

namespace tidemark {

using compare::Row;
using compare::RowStatus;

namespace {

std::uint64_t magnitude(std::int64_t delta)
{
    return delta < 0 ? ~static_cast<std::uint64_t>(delta) + 1 : static_cast<std::uint64_t>(delta);
}

QString statusText(RowStatus status)
{
    switch (status) {
    case RowStatus::Grew:
        return CompareTableModel::tr("▲ grew");
    case RowStatus::Shrank:
        return CompareTableModel::tr("▼ shrank");
    case RowStatus::New:
        return CompareTableModel::tr("+ new");
    case RowStatus::Gone:
        return CompareTableModel::tr("× gone");
    case RowStatus::Same:
        return CompareTableModel::tr("= same");
    }
    return {};
}

} // namespace

void CompareTableModel::show(std::shared_ptr<const compare::Comparison> comparison,
    std::shared_ptr<const compare::Table> table, std::shared_ptr<const Colouring> coloursA,
    std::shared_ptr<const Colouring> coloursB)
{
    beginResetModel();
    m_comparison = std::move(comparison);
    m_table = std::move(table);
    m_coloursA = std::move(coloursA);
    m_coloursB = std::move(coloursB);
    m_largest = 1;
    if (m_table)
        for (const Row& row : m_table->rows)
            m_largest = std::max(m_largest, magnitude(row.delta));
    order();
    endResetModel();
}

void CompareTableModel::setFilter(const QString& text, bool hideSame)
{
    beginResetModel();
    m_filter = text;
    m_hideSame = hideSame;
    order();
    endResetModel();
}

void CompareTableModel::order()
{
    m_order.clear();
    if (!m_table)
        return;
    for (std::uint32_t i = 0; i < m_table->rows.size(); ++i) {
        const Row& row = m_table->rows[i];
        // As many bytes in as many pieces: nothing to see.
        if (m_hideSame && row.status == RowStatus::Same && row.allocationsA == row.allocationsB)
            continue;
        const QString name = shownText(m_comparison->matching->groups[row.group].name);
        if (m_filter.isEmpty() || name.contains(m_filter, Qt::CaseInsensitive))
            m_order.push_back(i);
    }
    const bool down = m_direction == Qt::DescendingOrder;
    const auto byKey = [&](const auto& key) {
        std::ranges::stable_sort(m_order, [&](std::uint32_t a, std::uint32_t b) {
            const auto x = key(m_table->rows[a]);
            const auto y = key(m_table->rows[b]);
            return down ? y < x : x < y;
        });
    };
    switch (m_column) {
    case Key:
        byKey([this](const Row& r) { return m_comparison->matching->groups[r.group].name; });
        break;
    case A:
        byKey([](const Row& r) { return r.bytesA; });
        break;
    case B:
        byKey([](const Row& r) { return r.bytesB; });
        break;
    case Bar:
        byKey([](const Row& r) { return r.delta; });
        break;
    case Count:
        byKey([](const Row& r) {
            return static_cast<std::int64_t>(r.allocationsB) - static_cast<std::int64_t>(r.allocationsA);
        });
        break;
    case Status:
        byKey([](const Row& r) { return static_cast<int>(r.status); });
        break;
    default: // by |B − A|, as the rows are
        if (!down)
            std::ranges::reverse(m_order);
    }
}

void CompareTableModel::sort(int column, Qt::SortOrder direction)
{
    beginResetModel();
    m_column = column;
    m_direction = direction;
    order();
    endResetModel();
}

int CompareTableModel::rowOf(std::uint32_t group) const
{
    for (std::size_t i = 0; i < m_order.size(); ++i)
        if (m_table->rows[m_order[i]].group == group)
            return static_cast<int>(i);
    return -1;
}

QString CompareTableModel::name(int row) const
{
    return shownText(m_comparison->matching->groups[this->row(row).group].name);
}

int CompareTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_order.size());
}

QString CompareTableModel::text(const Row& row, int column) const
{
    const auto bytes = [](std::uint64_t value, std::uint64_t count) {
        return count == 0 ? QStringLiteral("–") : bytesText(value);
    };
    switch (column) {
    case Key:
        return shownText(m_comparison->matching->groups[row.group].name);
    case A:
        return bytes(row.bytesA, row.allocationsA);
    case B:
        return bytes(row.bytesB, row.allocationsB);
    case Delta:
        return row.delta == 0 ? QStringLiteral("0") : deltaText(row.delta);
    case Count:
        return row.allocationsA == row.allocationsB
            ? countText(row.allocationsA)
            : QStringLiteral("%1 → %2").arg(countText(row.allocationsA), countText(row.allocationsB));
    case Status:
        return statusText(row.status);
    default:
        return {};
    }
}

QVariant CompareTableModel::data(const QModelIndex& at, int role) const
{
    if (!m_table || !at.isValid())
        return {};
    const Row& row = this->row(at.row());
    const compare::CommonGroup& group = m_comparison->matching->groups[row.group];
    switch (role) {
    case Qt::DisplayRole:
        return text(row, at.column());
    case Qt::ToolTipRole:
        switch (at.column()) {
        case Key:
            return tr("%1\nmatched: %2")
                .arg(shownText(group.name), QString::fromLatin1(matchKindName(group.kind)));
        case A:
            return exactBytesText(row.bytesA);
        case B:
            return exactBytesText(row.bytesB);
        case Delta:
        case Bar:
            return tr("%1 in %2 allocations")
                .arg(exactBytesText(row.delta),
                    countText(static_cast<std::int64_t>(row.allocationsB)
                        - static_cast<std::int64_t>(row.allocationsA)));
        default:
            return text(row, at.column());
        }
    case Qt::TextAlignmentRole: {
        const bool right = at.column() != Key && at.column() != Status;
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft)));
    }
    case LiveTableModel::SlotRole:
        if (m_comparison->matching->by != GroupBy::Site)
            return {};
        if (valid(row.largestA) && m_coloursA)
            return static_cast<int>(m_coloursA->slotOf[tidemark::index(row.largestA)]);
        if (valid(row.largestB) && m_coloursB)
            return static_cast<int>(m_coloursB->slotOf[tidemark::index(row.largestB)]);
        return {};
    case BarRole:
        return static_cast<double>(row.delta) / static_cast<double>(m_largest);
    default:
        return {};
    }
}

QVariant CompareTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole) {
        const auto side = section == Key || section == Status ? Qt::AlignLeft
            : section == Bar                                  ? Qt::AlignHCenter
                                                              : Qt::AlignRight;
        return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter | side));
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Key:
        switch (m_comparison ? m_comparison->matching->by : GroupBy::Site) {
        case GroupBy::Label:
            return tr("Module");
        case GroupBy::Role:
            return tr("Role");
        case GroupBy::Size:
            return tr("Size");
        case GroupBy::Stack:
            return tr("Stack");
        default:
            return tr("Call site");
        }
    case A:
        return tr("A");
    case B:
        return tr("B");
    case Delta:
        return tr("B − A");
    case Bar:
        return tr("less | more");
    case Count:
        return tr("Count");
    case Status:
        return tr("Status");
    default:
        return {};
    }
}

QString CompareTableModel::copyText() const
{
    QStringList lines;
    QStringList cells;
    for (int column = 0; column < columns; ++column)
        if (column != Bar)
            cells << headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    lines << cells.join(QLatin1Char('\t'));
    for (int at = 0; at < rowCount(); ++at) {
        const Row& r = row(at);
        lines << QStringList{text(r, Key), QString::number(r.bytesA), QString::number(r.bytesB),
            QString::number(r.delta), text(r, Count), QString::fromLatin1(statusName(r.status))}
                     .join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace tidemark
