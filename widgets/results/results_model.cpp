// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/results/results_model.hpp"

#include "model/core/sorted_order.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/live/live_table_model.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>
#include <numeric>

namespace tidemark {

namespace {

constexpr std::uint32_t noRow = 0xffffffffU;

/// What a column is sorted by.
std::vector<std::uint64_t> sortKeys(
    const Replay& replay, const Sites& sites, const std::vector<AllocationId>& ids, int column)
{
    const AllocationColumns& c = replay.timeline.allocations();
    std::vector<std::uint32_t> siteRank;
    if (column == ResultsModel::Site) {
        std::vector<std::uint32_t> order(sites.count());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::sort(
            order, {}, [&](std::uint32_t s) { return std::string_view(sites.name(SiteId{s})); });
        siteRank.resize(order.size());
        for (std::uint32_t rank = 0; rank < order.size(); ++rank)
            siteRank[order[rank]] = rank;
    }
    // As Replay::timeUs, without its calls.
    const std::vector<std::int64_t>& times = replay.device().events.timeUs;
    const auto timeOf = [&](StateIndex state) {
        const std::size_t event = state == 0 ? 0 : state - 1;
        return event < times.size() ? times[event] : noTime;
    };
    std::vector<std::uint64_t> keys;
    keys.reserve(ids.size());
    for (const AllocationId id : ids) {
        const std::size_t i = index(id);
        switch (column) {
        case ResultsModel::Freed:
            keys.push_back(c.endState[i]);
            break;
        case ResultsModel::Life: {
            const StateIndex end = std::min(c.endState[i], replay.states() - 1);
            const std::int64_t from = timeOf(c.firstState[i]);
            const std::int64_t to = timeOf(end);
            keys.push_back(from != noTime && to != noTime
                    ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, to - from))
                    : end - c.firstState[i]);
            break;
        }
        case ResultsModel::Size:
            keys.push_back(c.size[i]);
            break;
        case ResultsModel::Address:
            keys.push_back(c.address[i]);
            break;
        case ResultsModel::Stream:
            keys.push_back(index(c.stream[i]));
            break;
        case ResultsModel::Site: {
            const SiteId site = sites.of(c.stack[i]);
            keys.push_back(valid(site) ? siteRank[index(site)] : siteRank.size());
            break;
        }
        default:
            keys.push_back(i);
        }
    }
    return keys;
}

} // namespace

void ResultsModel::show(std::shared_ptr<const Replay> replay, std::shared_ptr<const Sites> sites,
    std::shared_ptr<const Colouring> colouring, std::shared_ptr<const Rows> rows)
{
    beginResetModel();
    m_replay = std::move(replay);
    m_sites = std::move(sites);
    m_colouring = std::move(colouring);
    m_rows = std::move(rows);
    endResetModel();
}

int ResultsModel::rowOf(AllocationId id) const
{
    if (!m_rows || tidemark::index(id) >= m_rows->rowOf.size() || m_rows->rowOf[tidemark::index(id)] == noRow)
        return -1;
    return static_cast<int>(m_rows->rowOf[tidemark::index(id)]);
}

int ResultsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_rows ? 0 : static_cast<int>(m_rows->ids.size());
}

QString ResultsModel::text(AllocationId id, int column) const
{
    const Timeline& timeline = m_replay->timeline;
    const AllocationColumns& c = timeline.allocations();
    switch (column) {
    case Made: {
        const auto event = timeline.allocEvent(id);
        return event ? eventText(*m_replay, *event) : tr("before");
    }
    case Freed: {
        const auto event = timeline.endEvent(id);
        return event ? eventText(*m_replay, *event) : tr("lives");
    }
    case Life:
        return lifeLengthText(*m_replay, id);
    case Size:
        return bytesText(c.size[tidemark::index(id)]);
    case Address:
        return addressText(c.address[tidemark::index(id)]);
    case Stream: {
        const StreamId stream = c.stream[tidemark::index(id)];
        return valid(stream) ? QString::number(m_replay->snapshot->streams[tidemark::index(stream)])
                             : QString();
    }
    case Site:
        return shownText(allocationSite(*m_replay, *m_sites, id));
    default:
        return {};
    }
}

QVariant ResultsModel::data(const QModelIndex& at, int role) const
{
    if (!m_replay || !at.isValid())
        return {};
    const AllocationId id = this->id(at.row());
    switch (role) {
    case Qt::DisplayRole:
        return text(id, at.column());
    case Qt::ToolTipRole:
        return at.column() == Size
            ? exactBytesText(m_replay->timeline.allocations().size[tidemark::index(id)])
            : text(id, at.column());
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (at.column() < Address ? Qt::AlignRight : Qt::AlignLeft)));
    case LiveTableModel::SlotRole:
        return m_colouring ? QVariant(static_cast<int>(m_colouring->slotOf[tidemark::index(id)]))
                           : QVariant();
    default:
        return {};
    }
}

QVariant ResultsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (section < Address ? Qt::AlignRight : Qt::AlignLeft)));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Made:
        return tr("Made at");
    case Freed:
        return tr("Freed at");
    case Life:
        return tr("Life");
    case Size:
        return tr("Size");
    case Address:
        return tr("Address");
    case Stream:
        return tr("Stream");
    case Site:
        return tr("Call site");
    default:
        return {};
    }
}

QString ResultsModel::header()
{
    const ResultsModel names;
    QStringList cells;
    for (int column = 0; column < columns; ++column)
        cells << names.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    return cells.join(QLatin1Char('\t'));
}

QString ResultsModel::line(int row) const
{
    QStringList cells;
    for (int column = 0; column < columns; ++column)
        cells << text(id(row), column);
    // Sizes to calculate with.
    cells[Size] = QString::number(m_replay->timeline.allocations().size[tidemark::index(id(row))]);
    return cells.join(QLatin1Char('\t'));
}

std::shared_ptr<const ResultsModel::Rows> resultRows(const Replay& replay, const Sites& sites,
    const std::vector<std::uint8_t>& matches, int column, bool descending, const Job& job)
{
    const AllocationColumns& c = replay.timeline.allocations();
    std::vector<AllocationId> ids;
    auto rows = std::make_shared<ResultsModel::Rows>();
    for (std::uint32_t i = 0; i < matches.size() && i < c.count(); ++i) {
        if (i % pollInterval == 0 && job.stopped())
            return nullptr;
        if (matches[i] == 0)
            continue;
        ids.push_back(AllocationId{i});
        rows->bytes += c.size[i];
    }
    const std::vector<std::uint64_t> keys = sortKeys(replay, sites, ids, column);
    const std::vector<std::uint32_t> order = sortedOrder(keys, descending, job);
    if (job.stopped())
        return nullptr;
    rows->rowOf.assign(c.count(), noRow);
    rows->ids.reserve(ids.size());
    for (const std::uint32_t at : order) {
        rows->rowOf[index(ids[at])] = static_cast<std::uint32_t>(rows->ids.size());
        rows->ids.push_back(ids[at]);
    }
    return rows;
}

} // namespace tidemark
