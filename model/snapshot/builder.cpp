// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/snapshot/builder.hpp"

#include "model/core/limits.hpp"

#include <algorithm>
#include <cassert>

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
    appendRare(columns.pool, row.pool, at);
    appendRare(columns.userMetadata, row.userMetadata, at);
    appendRare(columns.compileContext, row.compileContext, at);
    appendRare(columns.internalMetadata, row.internalMetadata, at);
    appendRare(columns.category, row.category, at);
    appendRare(columns.forwardStack, row.forwardStack, at);
    const EventIndex event{static_cast<std::uint32_t>(at)};
    if (row.action == Action::Oom)
        ooms.push_back({event, row.hasSize ? std::optional(row.size) : std::nullopt, row.deviceFree});
    else if (row.action == Action::Unknown)
        otherActions.emplace_back(event, row.otherAction);
}

void EventBuffer::appendFrom(const EventBuffer& other, std::size_t from)
{
    const EventColumns& c = other.columns;
    EventRow row;
    row.action = c.action[from];
    row.address = c.address[from];
    row.size = c.size[from];
    row.timeUs = c.timeUs[from];
    row.stack = c.stack[from];
    row.pool = rareAt(c.pool, from);
    row.userMetadata = rareAt(c.userMetadata, from);
    row.compileContext = rareAt(c.compileContext, from);
    row.internalMetadata = rareAt(c.internalMetadata, from);
    row.category = rareAt(c.category, from);
    row.forwardStack = rareAt(c.forwardStack, from);
    const EventIndex event{static_cast<std::uint32_t>(from)};
    if (row.action == Action::Oom) {
        const auto found = std::ranges::lower_bound(
            other.ooms, index(event), {}, [](const OomEvent& o) { return index(o.event); });
        if (found != other.ooms.end() && found->event == event) {
            row.hasSize = found->requested.has_value();
            row.deviceFree = found->deviceFree;
        }
    } else if (row.action == Action::Unknown) {
        const auto found = std::ranges::lower_bound(
            other.otherActions, index(event), {}, [](const auto& pair) { return index(pair.first); });
        if (found != other.otherActions.end() && found->first == event)
            row.otherAction = found->second;
    }
    append(row, c.stream[from]);
}

SnapshotBuilder::SnapshotBuilder()
    : m_snapshot(std::make_unique<Snapshot>())
{
    m_snapshot->pools.emplace_back(0, 0);
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
    const std::pair key{first, second};
    const auto found = std::ranges::find(pools, key);
    if (found != pools.end())
        return PoolId{static_cast<std::uint32_t>(found - pools.begin())};
    pools.push_back(key);
    return PoolId{static_cast<std::uint32_t>(pools.size() - 1)};
}

DeviceTrace& SnapshotBuilder::device(int ordinal)
{
    for (DeviceTrace& d : m_snapshot->devices)
        if (d.ordinal == ordinal)
            return d;
    m_snapshot->devices.emplace_back().ordinal = ordinal;
    return m_snapshot->devices.back();
}

void SnapshotBuilder::addTrace(int ordinal, EventBuffer&& events)
{
    DeviceTrace& d = device(ordinal);
    assert(d.events.count() == 0);
    d.events = std::move(events.columns);
    d.ooms = std::move(events.ooms);
    d.otherActions = std::move(events.otherActions);
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
