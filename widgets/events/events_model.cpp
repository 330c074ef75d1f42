// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/events/events_model.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/live/live_table_model.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>

namespace tidemark {

void EventsModel::show(std::shared_ptr<const Replay> replay, std::shared_ptr<const Sites> sites,
    std::shared_ptr<const Colouring> colouring, Rows rows)
{
    beginResetModel();
    m_replay = std::move(replay);
    m_sites = std::move(sites);
    m_colouring = std::move(colouring);
    m_rows = std::move(rows);
    endResetModel();
}

std::size_t EventsModel::events() const
{
    return m_replay ? m_replay->device().events.count() : 0;
}

int EventsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows ? m_rows->size() : events());
}

std::uint32_t EventsModel::event(int row) const
{
    return m_rows ? (*m_rows)[static_cast<std::size_t>(row)] : static_cast<std::uint32_t>(row);
}

int EventsModel::rowOf(std::uint32_t event) const
{
    if (!m_rows)
        return static_cast<int>(std::min<std::size_t>(event + std::size_t{1}, events())) - 1;
    return static_cast<int>(std::upper_bound(m_rows->begin(), m_rows->end(), event) - m_rows->begin()) - 1;
}

QString EventsModel::text(std::uint32_t event, int column) const
{
    const EventColumns& events = m_replay->device().events;
    const StateIndex after = event + 1;
    switch (column) {
    case Event:
        return countText(std::uint64_t{event} + m_replay->device().firstEventInFile);
    case Time: {
        const auto origin = m_replay->originUs();
        return origin && events.timeUs[event] != noTime ? offsetText(events.timeUs[event] - *origin)
                                                        : QString();
    }
    case Action:
        return QString::fromLatin1(actionName(events.action[event]));
    case Size:
        return events.size[event] == 0 ? QString() : bytesText(sane(events.size[event]));
    case Live:
        return bytesText(m_replay->timeline.requested().at(after));
    case Reserved:
        return m_replay->segments.known() ? bytesText(m_replay->segments.reserved().at(after)) : QString();
    case Address:
        return events.address[event] == 0 ? QString() : addressText(events.address[event]);
    case Stream:
        return valid(events.stream[event])
            ? QString::number(m_replay->snapshot->streams[tidemark::index(events.stream[event])])
            : QString();
    case Pool: {
        const AllocationId id = m_replay->timeline.allocationOf(static_cast<EventIndex>(event));
        const PoolId pool = valid(id) ? m_replay->timeline.allocations().pool[tidemark::index(id)]
            : events.pool.empty()     ? PoolId::none
                                      : events.pool[event];
        return valid(pool) && pool != PoolId{} ? shownText(poolName(*m_replay->snapshot, pool)) : QString();
    }
    case Site: {
        const AllocationId id = m_replay->timeline.allocationOf(static_cast<EventIndex>(event));
        if (valid(id))
            return shownText(allocationSite(*m_replay, *m_sites, id));
        const SiteId site = m_sites->of(events.stack[event]);
        return valid(site) ? shownText(m_sites->name(site)) : QString();
    }
    default:
        return {};
    }
}

QVariant EventsModel::data(const QModelIndex& at, int role) const
{
    if (!m_replay || !at.isValid())
        return {};
    const std::uint32_t event = this->event(at.row());
    const AllocationId id = m_replay->timeline.allocationOf(static_cast<EventIndex>(event));
    switch (role) {
    case Qt::DisplayRole:
        return text(event, at.column());
    case Qt::ToolTipRole:
        return at.column() == Size ? exactBytesText(sane(m_replay->device().events.size[event]))
                                   : text(event, at.column());
    case Qt::TextAlignmentRole: {
        const bool right = at.column() < Address && at.column() != Action;
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft)));
    }
    case LiveTableModel::SlotRole:
        return valid(id) && m_colouring ? QVariant(static_cast<int>(m_colouring->slotOf[tidemark::index(id)]))
                                        : QVariant();
    default:
        return {};
    }
}

QVariant EventsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter | (section < Address && section != Action ? Qt::AlignRight : Qt::AlignLeft)));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Event:
        return tr("Event");
    case Time:
        return tr("Time");
    case Action:
        return tr("Action");
    case Size:
        return tr("Size");
    case Live:
        return tr("Live after");
    case Reserved:
        return tr("Reserved after");
    case Address:
        return tr("Address");
    case Stream:
        return tr("Stream");
    case Pool:
        return tr("Pool");
    case Site:
        return tr("Call site");
    default:
        return {};
    }
}

QString EventsModel::header()
{
    const EventsModel names;
    QStringList cells;
    for (int column = 0; column < columns; ++column)
        cells << names.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    return cells.join(QLatin1Char('\t'));
}

QString EventsModel::line(int row) const
{
    const std::uint32_t at = event(row);
    QStringList cells;
    for (int column = 0; column < columns; ++column)
        cells << text(at, column);
    // Sizes to calculate with.
    cells[Size] = QString::number(sane(m_replay->device().events.size[at]));
    return cells.join(QLatin1Char('\t'));
}

EventsModel::Rows matchingEvents(
    const Replay& replay, const std::vector<std::uint8_t>& matches, const Job& job)
{
    auto rows = std::make_shared<std::vector<std::uint32_t>>();
    const std::size_t count = replay.device().events.count();
    for (std::uint32_t event = 0; event < count; ++event) {
        if (event % pollInterval == 0 && job.stopped())
            return nullptr;
        const AllocationId id = replay.timeline.allocationOf(static_cast<EventIndex>(event));
        if (valid(id) && matches[index(id)] != 0)
            rows->push_back(event);
    }
    return rows;
}

} // namespace tidemark
