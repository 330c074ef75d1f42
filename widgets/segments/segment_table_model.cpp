// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/segments/segment_table_view.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/segments/segment_texts.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>
#include <numeric>

namespace tidemark {

void SegmentTableModel::show(std::shared_ptr<const Replay> replay, std::shared_ptr<const SegmentState> state)
{
    beginResetModel();
    m_replay = std::move(replay);
    m_state = std::move(state);
    m_order.resize(m_state ? m_state->segments.size() : 0);
    std::iota(m_order.begin(), m_order.end(), 0U);
    endResetModel();
}

int SegmentTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_order.size());
}

int SegmentTableModel::rowOf(std::uint64_t address) const
{
    for (std::size_t row = 0; row < m_order.size(); ++row)
        if (m_state->segments[m_order[row]].address == address)
            return static_cast<int>(row);
    return -1;
}

std::uint64_t SegmentTableModel::blocksOf(const SegmentView& segment) const
{
    const auto begin = m_state->pieces.begin() + segment.firstPiece;
    return static_cast<std::uint64_t>(std::count_if(
        begin, begin + segment.pieceCount, [](const Piece& p) { return p.kind != PieceKind::Free; }));
}

QString SegmentTableModel::text(const SegmentView& segment, int column) const
{
    switch (column) {
    case Address:
        return addressText(segment.address);
    case Size:
        return bytesText(segment.size);
    case Live:
        return bytesText(segment.liveBytes + segment.waitingBytes);
    case Free:
        return bytesText(segment.freeBytes);
    case LargestHole:
        return bytesText(segment.largestHole);
    case Blocks:
        return countText(blocksOf(segment));
    case Kind:
        return segmentKindText(segment);
    case Stream:
        return valid(segment.stream)
            ? QString::number(m_replay->snapshot->streams[tidemark::index(segment.stream)])
            : QString();
    case Pool:
        return segment.pool != PoolId{} ? shownText(poolName(*m_replay->snapshot, segment.pool)) : QString();
    case Since:
        return segment.predating ? tr("before recording") : momentText(*m_replay, segment.since);
    default:
        return {};
    }
}

QVariant SegmentTableModel::data(const QModelIndex& at, int role) const
{
    if (!m_state || !at.isValid())
        return {};
    const SegmentView& s = segment(at.row());
    if (role == Qt::DisplayRole)
        return text(s, at.column());
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter
            | (at.column() >= Size && at.column() <= Blocks ? Qt::AlignRight : Qt::AlignLeft)));
    if (role == Qt::ToolTipRole)
        return tr("%1: %2, live %3, free %4")
            .arg(addressText(s.address), exactBytesText(s.size), exactBytesText(s.liveBytes),
                exactBytesText(s.freeBytes));
    return {};
}

QVariant SegmentTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter | (section >= Size && section <= Blocks ? Qt::AlignRight : Qt::AlignLeft)));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Address:
        return tr("Segment");
    case Size:
        return tr("Size");
    case Live:
        return tr("Blocks hold");
    case Free:
        return tr("Free");
    case LargestHole:
        return tr("Largest hole");
    case Blocks:
        return tr("Blocks");
    case Kind:
        return tr("Kind");
    case Stream:
        return tr("Stream");
    case Pool:
        return tr("Pool");
    case Since:
        return tr("Reserved since");
    default:
        return {};
    }
}

void SegmentTableModel::sort(int column, Qt::SortOrder order)
{
    if (!m_state)
        return;
    beginResetModel();
    const auto key = [&](std::uint32_t at) -> std::uint64_t {
        const SegmentView& s = m_state->segments[at];
        switch (column) {
        case Size:
            return s.size;
        case Live:
            return s.liveBytes + s.waitingBytes;
        case Free:
            return s.freeBytes;
        case LargestHole:
            return s.largestHole;
        case Blocks:
            return blocksOf(s);
        case Kind:
            return static_cast<std::uint64_t>(s.kind);
        case Stream:
            return tidemark::index(s.stream);
        case Pool:
            return tidemark::index(s.pool);
        case Since:
            return s.predating ? 0 : s.since;
        default:
            return s.address;
        }
    };
    std::vector<std::uint64_t> keys; // one a row: counting blocks is a pass over them
    for (std::uint32_t at = 0; at < m_state->segments.size(); ++at)
        keys.push_back(key(at));
    std::stable_sort(m_order.begin(), m_order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return order == Qt::AscendingOrder ? keys[a] < keys[b] : keys[b] < keys[a];
    });
    endResetModel();
}

QString SegmentTableModel::copyText() const
{
    QStringList lines;
    QStringList head;
    for (int column = 0; column < columns; ++column)
        head << headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    lines << head.join(QLatin1Char('\t'));
    for (int row = 0; row < rowCount(); ++row) {
        const SegmentView& s = segment(row);
        QStringList cells;
        for (int column = 0; column < columns; ++column)
            cells << text(s, column);
        // Sizes to calculate with.
        cells[Size] = QString::number(s.size);
        cells[Live] = QString::number(s.liveBytes + s.waitingBytes);
        cells[Free] = QString::number(s.freeBytes);
        cells[LargestHole] = QString::number(s.largestHole);
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace tidemark
