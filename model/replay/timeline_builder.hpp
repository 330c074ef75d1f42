// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/byte_sum.hpp"
#include "model/replay/timeline.hpp"
#include "model/snapshot/outside_range.hpp"

#include <vector>

namespace tidemark {

/// What is known of every address the trace has mentioned: open addressing with linear probing, because one
/// probe an event is most of what building a timeline costs.
class AddressTable {
public:
    static constexpr std::uint32_t unused = 0xfffffffeU;
    static constexpr std::uint32_t notLive = 0xffffffffU;

    struct Entry {
        std::uint64_t address = 0;
        /// Number of the live allocation, or notLive.
        std::uint32_t live = unused;
        /// Pool of the end state's segment that contains the address; PoolId::none: not looked up yet.
        PoolId pool = PoolId::none;
    };

    AddressTable()
        : m_entries(1024)
    { }

    /// The address's entry; on first mention a new one whose `live` is still `unused`: the caller sets it.
    /// References stay valid until the next call.
    Entry& mention(std::uint64_t address);
    const Entry* find(std::uint64_t address) const;
    /// Has the address's place fetched into the cache for a mention soon to come.
    void prefetch(std::uint64_t address) const;
    template <typename Visit>
    void forEach(Visit visit) const
    {
        for (const Entry& entry : m_entries)
            if (entry.live != unused)
                visit(entry);
    }

private:
    std::size_t homeOf(std::uint64_t address) const;
    std::size_t slotOf(std::uint64_t address) const;
    void grow();

    std::vector<Entry> m_entries;
    std::size_t m_used = 0;
};

/// Segments of the end state by address, to find the one that contains an address. Cost: O(log segments).
class SegmentFinder {
public:
    explicit SegmentFinder(const DeviceTrace& device);
    /// Position in device.segments; absent when no segment contains the address.
    std::optional<std::uint32_t> find(std::uint64_t address) const;

private:
    struct Span {
        std::uint64_t begin;
        std::uint64_t size;
        std::uint32_t segment;
    };
    std::vector<Span> m_spans;
};

/// Builds one Timeline; used once.
class TimelineBuilder {
public:
    TimelineBuilder(const Snapshot& snapshot, const DeviceTrace& device, const Job& job);
    Result<Timeline> build();

private:
    /// A life on its way: numbered in the order of first mention, renumbered at the end because only then the
    /// number of predating allocations is known.
    struct Life {
        /// Of the first mention; of the first m_olderLives a position in OutsideRange::alive.
        std::uint32_t event;
        StateIndex end;
        StateIndex pending;
        PoolId pool;
    };

    bool findEndsOnRequest() const;
    void replayEvent(std::uint32_t event);
    void alloc(std::uint32_t event);
    void free(std::uint32_t event, Action action);
    bool completes(std::uint32_t event, std::uint64_t address) const;
    void request(std::uint32_t event, std::uint32_t life);
    void endLife(std::uint32_t life, std::uint32_t event);
    std::uint64_t sizeOf(std::uint32_t life) const
    {
        return sane(life < m_olderLives ? m_outside->alive[life].size : m_events.size[m_lives[life].event]);
    }
    bool isTraced(std::uint32_t life) const
    {
        return life >= m_olderLives && m_events.action[m_lives[life].event] == Action::Alloc;
    }
    void beginLives();
    std::vector<std::uint32_t> predatingLives() const;
    void addOlder(std::uint32_t life, Origin origin);
    void standIns();
    void judgeEndState();
    void number();
    void fillColumns();
    void placeEarlyNotes();
    void addColumns(const Life& life, Origin origin);
    void closeSeries();
    void compareFreeStacks();
    void checkpoints();
    PoolId poolOf(std::uint32_t event, AddressTable::Entry& entry) const;
    PoolId poolByAddress(AddressTable::Entry& entry) const;
    void remember(Timeline::Oddity& oddity, std::uint64_t address, std::uint32_t event);
    static void rememberSorted(Timeline::Oddity& oddity, std::vector<std::uint64_t> addresses);

    const DeviceTrace& m_device;
    const EventColumns& m_events;
    const Job& m_job;
    std::uint32_t m_count;
    SegmentFinder m_segments;
    /// All segments are of this pool, or there are none: no need to look any up.
    std::optional<PoolId> m_onlyPool;
    AddressTable m_table;
    std::vector<Life> m_lives;
    /// Where only a range of the events was read, the first lives are those alive when it begins.
    const OutsideRange* m_outside = nullptr;
    std::uint32_t m_olderLives = 0;
    /// Of them, those that are not freed in the range.
    std::uint32_t m_olderStay = 0;
    /// Active blocks the trace never mentions, in the order of the file.
    std::vector<std::pair<const Segment*, const Block*>> m_aliveAtEnd;
    std::vector<AllocationId> m_idOfLife;
    ByteSum m_requested;
    ByteSum m_pending;
    Timeline m_out;
};

} // namespace tidemark
