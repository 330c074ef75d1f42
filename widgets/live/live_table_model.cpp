// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/live/live_table_model.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>

namespace tidemark {

namespace {

const QString unknownText = QStringLiteral("–");

QString bytesCell(const LiveFigures& figures)
{
    return bytesText(figures.bytes);
}

std::uint64_t wasteOf(const LiveFigures& figures)
{
    return figures.blockBytes > figures.bytes ? figures.blockBytes - figures.bytes : 0;
}

} // namespace

QString rowNoun(GroupBy by, std::size_t count)
{
    const bool one = count == 1;
    switch (by) {
    case GroupBy::Site:
        return one ? QStringLiteral("site") : QStringLiteral("sites");
    case GroupBy::Stack:
        return one ? QStringLiteral("stack") : QStringLiteral("stacks");
    case GroupBy::Size:
    case GroupBy::ExactSize:
        return one ? QStringLiteral("size") : QStringLiteral("sizes");
    case GroupBy::Stream:
        return one ? QStringLiteral("stream") : QStringLiteral("streams");
    case GroupBy::Pool:
        return one ? QStringLiteral("pool") : QStringLiteral("pools");
    case GroupBy::Category:
        return one ? QStringLiteral("category") : QStringLiteral("categories");
    case GroupBy::Label:
        return one ? QStringLiteral("module") : QStringLiteral("modules");
    case GroupBy::Role:
        return one ? QStringLiteral("role") : QStringLiteral("roles");
    case GroupBy::None:
        return one ? QStringLiteral("allocation") : QStringLiteral("allocations");
    }
    return {};
}

QString partText(std::uint64_t part, std::uint64_t whole)
{
    const QString of = bytesText(whole);
    const QString some = bytesText(part);
    const QChar space(0xa0);
    const bool sameUnit = some.section(space, 1) == of.section(space, 1);
    return (sameUnit ? some.section(space, 0, 0) : some) + QStringLiteral(" of ") + of;
}

LiveTableModel::LiveTableModel(QObject* parent)
    : QAbstractTableModel(parent)
{ }

void LiveTableModel::setRows(LiveRows rows)
{
    beginResetModel();
    m_rows = std::move(rows);
    m_largestRow = 0;
    if (m_rows.table && m_rows.table->rows() > 0)
        m_largestRow = figuresOf(*m_rows.replay, *m_rows.table, 0).bytes;
    refold();
    endResetModel();
}

void LiveTableModel::clear()
{
    setRows({});
}

void LiveTableModel::setLimit(std::optional<std::size_t> limit)
{
    if (limit == m_limit)
        return;
    const std::size_t shown = m_shown;
    m_limit = limit;
    refold();
    if (m_shown == shown)
        return;
    m_shown = shown;
    beginResetModel();
    refold();
    endResetModel();
}

void LiveTableModel::refold()
{
    m_shown = total();
    m_fold = {};
    // A fold of one row would take the place of that row.
    if (!m_limit || total() <= *m_limit + 1)
        return;
    m_shown = *m_limit;
    for (std::size_t i = m_shown; i < total(); ++i) {
        const LiveFigures row = figuresOf(*m_rows.replay, *m_rows.table, m_rows.order[i]);
        m_fold.bytes += row.bytes;
        m_fold.allocations += row.allocations;
        m_fold.matchedBytes += row.matchedBytes;
        m_fold.blockBytes += row.blockBytes;
        m_fold.inferredBlock = m_fold.inferredBlock || row.inferredBlock;
        m_fold.oldest = i == m_shown ? row.oldest : std::min(m_fold.oldest, row.oldest);
        if (row.largest > m_fold.largest || i == m_shown) {
            m_fold.largest = row.largest;
            m_fold.largestId = row.largestId;
        }
    }
}

bool LiveTableModel::isFold(int row) const
{
    return folds() && row == static_cast<int>(m_shown);
}

std::optional<LiveFigures> LiveTableModel::figures(int row) const
{
    if (row < 0 || row >= static_cast<int>(m_shown))
        return std::nullopt;
    return figuresOf(*m_rows.replay, *m_rows.table, m_rows.order[static_cast<std::size_t>(row)]);
}

LiveFigures LiveTableModel::sumOf(int row) const
{
    return isFold(row) ? m_fold : figures(row).value_or(LiveFigures{});
}

int LiveTableModel::rowOf(std::uint32_t group) const
{
    if (!m_rows.table)
        return -1;
    for (std::size_t i = 0; i < total(); ++i) {
        const std::uint32_t row = m_rows.order[i];
        const std::uint32_t each = m_rows.table->by == GroupBy::None
            ? static_cast<std::uint32_t>(tidemark::index(m_rows.table->ids[row]))
            : m_rows.table->groups[row].group;
        if (each == group)
            return static_cast<int>(std::min(i, m_shown));
    }
    return -1;
}

int LiveTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_shown) + (folds() ? 1 : 0);
}

int LiveTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : columns;
}

QString LiveTableModel::nameOf(const LiveFigures& figures) const
{
    if (m_rows.table->by == GroupBy::ExactSize)
        return bytesText(figures.largest);
    const bool single = m_rows.table->by == GroupBy::None;
    const std::uint32_t group = single ? m_rows.grouping->of(figures.largestId) : figures.group;
    return shownText(m_rows.grouping->name(group));
}

bool LiveTableModel::isFaded(const LiveFigures& figures) const
{
    if (!m_rows.table->filtered)
        return false;
    if (m_rows.table->by != GroupBy::None)
        return figures.matchedBytes == 0 && figures.bytes > 0;
    const std::size_t i = tidemark::index(figures.largestId);
    return !m_rows.matches || i >= m_rows.matches->size() || (*m_rows.matches)[i] == 0;
}

QString LiveTableModel::text(LiveColumn column, const LiveFigures& figures) const
{
    const Replay& replay = *m_rows.replay;
    const LiveTable& table = *m_rows.table;
    switch (column) {
    case LiveColumn::Key:
        return nameOf(figures);
    case LiveColumn::Live:
        return table.filtered && table.by != GroupBy::None && figures.matchedBytes > 0
                && figures.matchedBytes < figures.bytes
            ? partText(figures.matchedBytes, figures.bytes)
            : bytesCell(figures);
    case LiveColumn::Share: {
        const std::uint64_t whole = m_rows.usable.value_or(table.bytes);
        return percentText(whole ? static_cast<double>(figures.bytes) / static_cast<double>(whole) : 0);
    }
    case LiveColumn::Count:
        return countText(figures.allocations);
    case LiveColumn::Largest:
        return bytesText(figures.largest);
    case LiveColumn::Oldest:
        return ageText(replay, figures.oldest, table.state);
    case LiveColumn::BlockSize:
        return (figures.inferredBlock ? QStringLiteral("≈ ") : QString()) + bytesText(figures.blockBytes);
    case LiveColumn::Waste:
        return (figures.inferredBlock ? QStringLiteral("≈ ") : QString()) + bytesText(wasteOf(figures));
    case LiveColumn::Stream:
        return valid(figures.stream) ? shownText(streamName(*replay.snapshot, figures.stream))
                                     : QStringLiteral("several");
    case LiveColumn::Pool:
        return valid(figures.pool) ? shownText(poolName(*replay.snapshot, figures.pool))
                                   : QStringLiteral("several");
    case LiveColumn::Address:
        return figures.allocations == 1
            ? addressText(replay.timeline.allocations().address[tidemark::index(figures.largestId)])
            : unknownText;
    }
    return {};
}

QString LiveTableModel::exactText(LiveColumn column, const LiveFigures& figures) const
{
    switch (column) {
    case LiveColumn::Key:
        return m_rows.table->by == GroupBy::ExactSize ? QString::number(figures.largest)
                                                      : text(column, figures);
    case LiveColumn::Live:
        return QString::number(figures.bytes);
    case LiveColumn::Count:
        return QString::number(figures.allocations);
    case LiveColumn::Largest:
        return QString::number(figures.largest);
    case LiveColumn::BlockSize:
        return QString::number(figures.blockBytes);
    case LiveColumn::Waste:
        return QString::number(wasteOf(figures));
    default:
        return text(column, figures).replace(QChar(0xa0), QLatin1Char(' '));
    }
}

QString LiveTableModel::toolTip(LiveColumn column, const LiveFigures& figures) const
{
    switch (column) {
    case LiveColumn::Key: {
        QString tip
            = m_rows.table->by == GroupBy::ExactSize ? exactBytesText(figures.largest) : nameOf(figures);
        if (figures.slot == colourSlot::count && m_rows.table->by != GroupBy::None)
            tip += QStringLiteral("\nits allocations have several colours");
        return tip;
    }
    case LiveColumn::Live:
    case LiveColumn::Share:
        return exactBytesText(figures.bytes)
            + (m_rows.table->filtered ? QStringLiteral("\nmatching: ") + exactBytesText(figures.matchedBytes)
                                      : QString());
    case LiveColumn::Largest:
        return exactBytesText(figures.largest);
    case LiveColumn::BlockSize:
    case LiveColumn::Waste:
        return exactBytesText(column == LiveColumn::Waste ? wasteOf(figures) : figures.blockBytes)
            + (figures.inferredBlock ? QStringLiteral(
                   "\ninferred from the allocator's rounding rules: traces do not record it")
                                     : QString());
    case LiveColumn::Oldest:
        return QStringLiteral("oldest since ") + momentText(*m_rows.replay, figures.oldest);
    default:
        return {};
    }
}

bool LiveTableModel::isText(LiveColumn column)
{
    return column == LiveColumn::Key || column == LiveColumn::Share || column == LiveColumn::Stream
        || column == LiveColumn::Pool || column == LiveColumn::Address;
}

QVariant LiveTableModel::foldData(LiveColumn column, int role) const
{
    const LiveTable& table = *m_rows.table;
    switch (role) {
    case FoldRole:
        return true;
    case SlotRole:
        return static_cast<int>(colourSlot::other);
    case BarRole:
        return m_largestRow
            ? std::min(1.0, static_cast<double>(m_fold.bytes) / static_cast<double>(m_largestRow))
            : 0.0;
    case FadedRole:
        return table.filtered && table.by != GroupBy::None && m_fold.matchedBytes == 0;
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isText(column) ? Qt::AlignLeft : Qt::AlignRight)));
    case Qt::ToolTipRole:
        return QStringLiteral("Enter or a double click shows them");
    case Qt::DisplayRole:
        if (column == LiveColumn::Key)
            return countText(static_cast<std::int64_t>(folded())) + QStringLiteral(" more ")
                + rowNoun(table.by, folded());
        if (column == LiveColumn::Stream || column == LiveColumn::Pool || column == LiveColumn::Address)
            return unknownText;
        return text(column, m_fold);
    default:
        return {};
    }
}

QVariant LiveTableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)
        || !m_rows.table)
        return {};
    const auto column = static_cast<LiveColumn>(index.column());
    if (isFold(index.row()))
        return foldData(column, role);
    const LiveTable& table = *m_rows.table;
    const LiveFigures row = *figures(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return text(column, row);
    case Qt::ToolTipRole:
        return toolTip(column, row);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isText(column) ? Qt::AlignLeft : Qt::AlignRight)));
    case SlotRole:
        if (table.by == GroupBy::None)
            return static_cast<int>(m_rows.colouring->slotOf[tidemark::index(row.largestId)]);
        return static_cast<int>(row.slot);
    case BarRole:
        return m_largestRow ? static_cast<double>(row.bytes) / static_cast<double>(m_largestRow) : 0.0;
    case SecondRole:
        if (column == LiveColumn::Key && table.by == GroupBy::ExactSize)
            return exactBytesText(row.largest);
        if (column == LiveColumn::Key && table.by == GroupBy::None)
            return addressText(m_rows.replay->timeline.allocations().address[tidemark::index(row.largestId)]);
        return {};
    case FadedRole:
        return isFaded(row);
    case FoldRole:
        return false;
    default:
        return {};
    }
}

QString LiveTableModel::columnTitle(LiveColumn column, GroupBy by)
{
    switch (column) {
    case LiveColumn::Key:
        switch (by) {
        case GroupBy::Site:
            return tr("Call site");
        case GroupBy::Stack:
            return tr("Stack");
        case GroupBy::Size:
            return tr("Size class");
        case GroupBy::ExactSize:
            return tr("Size");
        case GroupBy::Stream:
            return tr("Stream");
        case GroupBy::Pool:
            return tr("Pool");
        case GroupBy::Category:
            return tr("Category");
        case GroupBy::Label:
            return tr("Module");
        case GroupBy::Role:
            return tr("Role");
        case GroupBy::None:
            return tr("Allocation");
        }
        return {};
    case LiveColumn::Live:
        return tr("Live");
    case LiveColumn::Share:
        return tr("Share of live");
    case LiveColumn::Count:
        return tr("Count");
    case LiveColumn::Largest:
        return tr("Largest");
    case LiveColumn::Oldest:
        return tr("Oldest");
    case LiveColumn::BlockSize:
        return tr("Block size");
    case LiveColumn::Waste:
        return tr("Waste");
    case LiveColumn::Stream:
        return tr("Stream");
    case LiveColumn::Pool:
        return tr("Pool");
    case LiveColumn::Address:
        return tr("Address");
    }
    return {};
}

QVariant LiveTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= columns)
        return {};
    const auto column = static_cast<LiveColumn>(section);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isText(column) ? Qt::AlignLeft : Qt::AlignRight)));
    if (role != Qt::DisplayRole)
        return {};
    if (column == LiveColumn::Share && m_rows.usable)
        return tr("of usable");
    return columnTitle(column, m_rows.table ? m_rows.table->by : GroupBy::Site);
}

QString LiveTableModel::copyHeader(const std::vector<int>& columnList, GroupBy by)
{
    QStringList cells;
    for (const int each : columnList) {
        const auto column = static_cast<LiveColumn>(each);
        const bool bytes = column == LiveColumn::Live || column == LiveColumn::Largest
            || column == LiveColumn::BlockSize || column == LiveColumn::Waste;
        cells << columnTitle(column, by) + (bytes ? QStringLiteral(" (bytes)") : QString());
    }
    return cells.join(QLatin1Char('\t'));
}

QString LiveTableModel::copyLine(int row, const std::vector<int>& columnList) const
{
    QStringList cells;
    for (const int each : columnList) {
        const auto column = static_cast<LiveColumn>(each);
        cells << (isFold(row)
                ? (isText(column) ? foldData(column, Qt::DisplayRole).toString() : exactText(column, m_fold))
                : exactText(column, *figures(row)));
    }
    return cells.join(QLatin1Char('\t'));
}

} // namespace tidemark
