// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/snapshot.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tidemark {

/// One event on its way into the columns; absent fields keep their defaults.
struct EventRow {
    Action action = Action::Unknown;
    StringId otherAction = StringId::none;
    std::uint64_t address = 0;
    std::int64_t size = 0;
    bool hasSize = false;
    StringId sizeText = StringId::none; ///< see DeviceTrace::oddSizes
    std::optional<std::int64_t> deviceFree;
    std::int64_t stream = 0;
    std::int64_t timeUs = noTime;
    StackId stack = StackId::none;
    PoolId pool = PoolId::none;
    StringId userMetadata = StringId::none;
    StringId compileContext = StringId::none;
    StringId internalMetadata = StringId::none;
    StringId category = StringId::none;
    StackId forwardStack = StackId::none;
};

/// Events that do not know their device yet, with the side tables of DeviceTrace; a reader fills one while it
/// is inside a trace list and hands it to SnapshotBuilder::addTrace when the list's place is known.
struct EventBuffer {
    EventColumns columns;
    // Ordered maps: a file may write its rows again in any order.
    std::map<EventIndex, OomEvent> ooms;
    std::map<EventIndex, StringId> otherActions;
    std::map<EventIndex, StringId> oddSizes;

    /// Whether any column of the second group was begun.
    bool anyRare = false;

    std::size_t count() const { return columns.count(); }
    void append(const EventRow& row, StreamId stream);
    /// Copies row `from` of `other` (with its side tables) to the end.
    void appendFrom(const EventBuffer& other, std::size_t from);
    /// A row as it was appended, but for the stream, which only the column knows.
    EventRow row(std::size_t at) const;
    /// Writes a row again, with its side tables.
    void replace(std::size_t at, const EventRow& row, StreamId stream);
    /// Makes room for `count` rows in the columns that are in use.
    void reserve(std::size_t count);
    /// Drops the rows from `count` on.
    void truncate(std::size_t count);
    /// Drops the first `count` rows; those behind move up.
    void dropFront(std::size_t count);

private:
    void addToTables(EventIndex event, const EventRow& row);
};

/// The only door into a Snapshot: readers add rows in file order and call finish once. One thread.
class SnapshotBuilder {
public:
    SnapshotBuilder();

    StringTable& strings() { return m_snapshot->strings; }
    FrameTable& frames() { return m_snapshot->frames; }
    StackTable& stacks() { return m_snapshot->stacks; }
    Source& source() { return m_snapshot->source; }

    StreamId stream(std::int64_t value);
    std::int64_t streamValue(StreamId id) const { return m_snapshot->streams[index(id)]; }
    PoolId pool(std::int64_t first, std::int64_t second);

    void append(EventBuffer& buffer, const EventRow& row) { buffer.append(row, stream(row.stream)); }
    /// Gives a device its events; called at most once per ordinal.
    void addTrace(int ordinal, EventBuffer&& events);
    /// The device's columns, created on first use.
    DeviceTrace& device(int ordinal);
    /// The device's columns, null if there are none so far.
    DeviceTrace* findDevice(int ordinal);
    /// Those made so far.
    const std::vector<DeviceTrace>& devices() const { return m_snapshot->devices; }
    std::size_t deviceSlots() const { return m_snapshot->deviceSlots; }
    void setDeviceSlots(std::size_t count) { m_snapshot->deviceSlots = count; }
    void addAnnotation(const Annotation& annotation) { m_snapshot->annotations.push_back(annotation); }
    void addSetting(std::string key, SettingValue value);
    void setCategories(CategoryTimeline timeline) { m_snapshot->categories = std::move(timeline); }

    /// Counts an irregularity; notes of one (id, device) are merged, `example` is kept if new and there is
    /// room. `sentence` of the first call stays unless setSentence replaces it.
    void note(Quality id, std::optional<int> device, std::string_view example, std::string_view sentence);
    QualityNote* findNote(Quality id, std::optional<int> device);

    /// Sorts the devices and closes the snapshot; the builder is empty afterwards.
    std::shared_ptr<const Snapshot> finish();

private:
    std::unique_ptr<Snapshot> m_snapshot;
    std::unordered_map<std::int64_t, StreamId> m_streams;
    std::map<std::pair<std::int64_t, std::int64_t>, PoolId> m_pools;
    std::int64_t m_lastStream = 0;
    StreamId m_lastStreamId{};
};

} // namespace tidemark
