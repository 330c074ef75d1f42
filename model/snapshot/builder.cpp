// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/snapshot/builder.hpp"

#include "model/core/limits.hpp"

#include <algorithm>
#include <cassert>
#include <type_traits>

namespace tidemark {

namespace {

/// Writes an optional column: it stays empty until the first value that says something.
template <typename Id>
void appendRare(std::vector<Id>& column, Id value, std::size_t row)
{
    if (column.empty()) {
        if (!valid(value))
            return;
        column.assign(row, Id::none);
    }
    column.push_back(value);
}

template <typename Id>
void replaceRare(std::vector<Id>& column, Id value, std::size_t row, std::size_t rows)
{
    if (column.empty() && valid(value))
        column.assign(rows, Id::none);
    if (!column.empty())
        column[row] = value;
}

template <typename Id>
Id rareAt(const std::vector<Id>& column, std::size_t row)
{
    return column.empty() ? Id::none : column[row];
}

} // namespace

void EventBuffer::append(const EventRow& row, StreamId stream)
{
    const std::size_t at = columns.count();
    columns.action.push_back(row.action);
    columns.address.push_back(row.address);
    columns.size.push_back(row.size);
    columns.stream.push_back(stream);
    columns.timeUs.push_back(row.timeUs);
    columns.stack.push_back(row.stack);
    const bool rare = valid(row.pool) || valid(row.userMetadata) || valid(row.compileContext)
        || valid(row.internalMetadata) || valid(row.category) || valid(row.forwardStack);
    if (rare || anyRare) {
        anyRare = true;
        appendRare(columns.pool, row.pool, at);
        appendRare(columns.userMetadata, row.userMetadata, at);
        appendRare(columns.compileContext, row.compileContext, at);
        appendRare(columns.internalMetadata, row.internalMetadata, at);
        appendRare(columns.category, row.category, at);
        appendRare(columns.forwardStack, row.forwardStack, at);
    }
    addToTables(EventIndex{static_cast<std::uint32_t>(at)}, row);
}

void EventBuffer::addToTables(EventIndex event, const EventRow& row)
{
    if (row.action == Action::Oom)
        ooms[event] = {event, row.hasSize ? std::optional(row.size) : std::nullopt, row.deviceFree};
    else if (row.action == Action::Unknown)
        otherActions[event] = row.otherAction;
    if (valid(row.sizeText))
        oddSizes[event] = row.sizeText;
}

EventRow EventBuffer::row(std::size_t at) const
{
    EventRow row;
    row.action = columns.action[at];
    row.address = columns.address[at];
    row.size = columns.size[at];
    row.hasSize = row.size != 0;
    row.timeUs = columns.timeUs[at];
    row.stack = columns.stack[at];
    row.pool = rareAt(columns.pool, at);
    row.userMetadata = rareAt(columns.userMetadata, at);
    row.compileContext = rareAt(columns.compileContext, at);
    row.internalMetadata = rareAt(columns.internalMetadata, at);
    row.category = rareAt(columns.category, at);
    row.forwardStack = rareAt(columns.forwardStack, at);
    const EventIndex event{static_cast<std::uint32_t>(at)};
    if (row.action == Action::Oom) {
        if (const auto found = ooms.find(event); found != ooms.end()) {
            row.hasSize = found->second.requested.has_value();
            row.deviceFree = found->second.deviceFree;
        }
    } else if (row.action == Action::Unknown) {
        if (const auto found = otherActions.find(event); found != otherActions.end())
            row.otherAction = found->second;
    }
    if (row.size < 0) {
        if (const auto found = oddSizes.find(event); found != oddSizes.end())
            row.sizeText = found->second;
    }
    return row;
}

void EventBuffer::appendFrom(const EventBuffer& other, std::size_t from)
{
    append(other.row(from), other.columns.stream[from]);
}

void EventBuffer::replace(std::size_t at, const EventRow& row, StreamId stream)
{
    columns.action[at] = row.action;
    columns.address[at] = row.address;
    columns.size[at] = row.size;
    columns.stream[at] = stream;
    columns.timeUs[at] = row.timeUs;
    columns.stack[at] = row.stack;
    anyRare = true;
    replaceRare(columns.pool, row.pool, at, columns.count());
    replaceRare(columns.userMetadata, row.userMetadata, at, columns.count());
    replaceRare(columns.compileContext, row.compileContext, at, columns.count());
    replaceRare(columns.internalMetadata, row.internalMetadata, at, columns.count());
    replaceRare(columns.category, row.category, at, columns.count());
    replaceRare(columns.forwardStack, row.forwardStack, at, columns.count());

    const EventIndex event{static_cast<std::uint32_t>(at)};
    ooms.erase(event);
    otherActions.erase(event);
    oddSizes.erase(event);
    addToTables(event, row);
}

void EventBuffer::reserve(std::size_t count)
{
    const auto grow = [count](auto& column) {
        if (!column.empty())
            column.reserve(count);
    };
    grow(columns.action);
    grow(columns.address);
    grow(columns.size);
    grow(columns.stream);
    grow(columns.timeUs);
    grow(columns.stack);
    grow(columns.pool);
    grow(columns.userMetadata);
    grow(columns.compileContext);
    grow(columns.internalMetadata);
    grow(columns.category);
    grow(columns.forwardStack);
}

void EventBuffer::truncate(std::size_t count)
{
    const auto cut = [count](auto& column) {
        if (column.size() > count)
            column.resize(count);
    };
    cut(columns.action);
    cut(columns.address);
    cut(columns.size);
    cut(columns.stream);
    cut(columns.timeUs);
    cut(columns.stack);
    cut(columns.pool);
    cut(columns.userMetadata);
    cut(columns.compileContext);
    cut(columns.internalMetadata);
    cut(columns.category);
    cut(columns.forwardStack);
    const EventIndex first{static_cast<std::uint32_t>(count)};
    ooms.erase(ooms.lower_bound(first), ooms.end());
    otherActions.erase(otherActions.lower_bound(first), otherActions.end());
    oddSizes.erase(oddSizes.lower_bound(first), oddSizes.end());
}

void EventBuffer::dropFront(std::size_t count)
{
    const auto drop = [count](auto& column) {
        column.erase(
            column.begin(), column.begin() + static_cast<std::ptrdiff_t>(std::min(count, column.size())));
    };
    drop(columns.action);
    drop(columns.address);
    drop(columns.size);
    drop(columns.stream);
    drop(columns.timeUs);
    drop(columns.stack);
    drop(columns.pool);
    drop(columns.userMetadata);
    drop(columns.compileContext);
    drop(columns.internalMetadata);
    drop(columns.category);
    drop(columns.forwardStack);
    const auto moved
        = [count](EventIndex event) { return EventIndex{static_cast<std::uint32_t>(index(event) - count)}; };
    const auto shift = [&](auto& table) {
        std::remove_reference_t<decltype(table)> kept;
        for (auto at = table.lower_bound(EventIndex{static_cast<std::uint32_t>(count)}); at != table.end();
             ++at)
            kept.emplace_hint(kept.end(), moved(at->first), at->second);
        table = std::move(kept);
    };
    shift(ooms);
    for (auto& [event, oom] : ooms)
        oom.event = event;
    shift(otherActions);
    shift(oddSizes);
}

SnapshotBuilder::SnapshotBuilder()
    : m_snapshot(std::make_unique<Snapshot>())
{
    pool(0, 0);
    m_snapshot->streams.push_back(0);
    m_streams.emplace(0, StreamId{0});
}

StreamId SnapshotBuilder::stream(std::int64_t value)
{
    if (value == m_lastStream)
        return m_lastStreamId;
    const auto [entry, added]
        = m_streams.try_emplace(value, StreamId{static_cast<std::uint32_t>(m_snapshot->streams.size())});
    if (added)
        m_snapshot->streams.push_back(value);
    m_lastStream = value;
    m_lastStreamId = entry->second;
    return entry->second;
}

PoolId SnapshotBuilder::pool(std::int64_t first, std::int64_t second)
{
    auto& pools = m_snapshot->pools;
    const auto [entry, added]
        = m_pools.try_emplace({first, second}, PoolId{static_cast<std::uint32_t>(pools.size())});
    if (added)
        pools.emplace_back(first, second);
    return entry->second;
}

DeviceTrace* SnapshotBuilder::findDevice(int ordinal)
{
    for (DeviceTrace& d : m_snapshot->devices)
        if (d.ordinal == ordinal)
            return &d;
    return nullptr;
}

DeviceTrace& SnapshotBuilder::device(int ordinal)
{
    if (DeviceTrace* found = findDevice(ordinal))
        return *found;
    m_snapshot->devices.emplace_back().ordinal = ordinal;
    return m_snapshot->devices.back();
}

void SnapshotBuilder::addTrace(int ordinal, EventBuffer&& events)
{
    DeviceTrace& d = device(ordinal);
    assert(d.events.count() == 0);
    d.events = std::move(events.columns);
    for (const auto& [event, oom] : events.ooms)
        d.ooms.push_back(oom);
    d.otherActions.assign(events.otherActions.begin(), events.otherActions.end());
    d.oddSizes.assign(events.oddSizes.begin(), events.oddSizes.end());
}

void SnapshotBuilder::addSetting(std::string key, SettingValue value)
{
    m_snapshot->settings.push_back({std::move(key), std::move(value)});
}

QualityNote* SnapshotBuilder::findNote(Quality id, std::optional<int> device)
{
    for (QualityNote& n : m_snapshot->quality)
        if (n.id == id && n.device == device)
            return &n;
    return nullptr;
}

void SnapshotBuilder::note(
    Quality id, std::optional<int> device, std::string_view example, std::string_view sentence)
{
    QualityNote* n = findNote(id, device);
    if (!n) {
        n = &m_snapshot->quality.emplace_back();
        n->id = id;
        n->device = device;
        n->count = 0;
        n->sentence = sentence;
    }
    ++n->count;
    if (!example.empty() && n->examples.size() < limits::maxExamples
        && std::ranges::find(n->examples, example) == n->examples.end())
        n->examples.emplace_back(example);
}

std::shared_ptr<const Snapshot> SnapshotBuilder::finish()
{
    auto& devices = m_snapshot->devices;
    // Host memory stands first, the CPU of a profiler recording last: devices people came for in between.
    const auto rank = [](const DeviceTrace& d) { return d.ordinal == cpuOrdinal ? 1 << 30 : d.ordinal; };
    std::ranges::stable_sort(devices, {}, rank);
    return std::shared_ptr<const Snapshot>(std::move(m_snapshot));
}

} // namespace tidemark
