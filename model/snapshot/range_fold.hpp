// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/outside_range.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tidemark {

/// Follows the events of one device that are not kept, so that no more of them stays in memory than who lives
/// at the ends of the range. Use: before() as often as there are events to drop in front, inside() once with
/// all that are kept, after() for what follows, finish() once. Memory: about 80 bytes per address the trace
/// names. Cost: one hash an event. One thread.
class RangeFold {
public:
    RangeFold();

    /// Rows from … to − 1 stand before the range.
    void before(const EventColumns& rows, std::size_t from, std::size_t to);
    /// Rows 0 … count − 1 are the range.
    void inside(const EventColumns& rows, std::size_t count);
    /// Rows from … to − 1 stand behind it.
    void after(const EventColumns& rows, std::size_t from, std::size_t to);
    bool insideDone() const { return m_insideDone; }
    std::uint64_t eventsBefore() const { return m_out.eventsBefore; }
    /// What is known, once the segments and blocks of the file are in `device`.
    std::shared_ptr<OutsideRange> finish(const DeviceTrace& device);

private:
    static constexpr std::uint32_t unused = 0xfffffffeU;
    static constexpr std::uint32_t notLive = 0xffffffffU;
    struct Entry {
        std::uint64_t address = 0;
        std::uint32_t life = unused;
        bool namedBefore = false;
        bool freeRequested = false;
    };
    struct Life {
        OutsideAllocation what;
        std::uint64_t number = 0;
    };

    Entry& mention(std::uint64_t address, bool& isNew);
    const Entry* find(std::uint64_t address) const;
    std::size_t slotOf(std::uint64_t address) const;
    void grow();
    void apply(const EventColumns& rows, std::size_t row);
    void start(Entry& entry, const EventColumns& rows, std::size_t row, bool allocated);
    void end(Entry& entry);
    void seeFree(const EventColumns& rows, std::size_t row, Action action);
    std::vector<Life> alive() const;
    void joinAcross(std::vector<Life>& lives, const EventColumns& rows, std::size_t next) const;
    bool endsOnRequest(const DeviceTrace& device) const;
    void dropWaiting(OutsideRange& out) const;

    enum class Where : std::uint8_t { Before, Inside, After };
    Where m_where = Where::Before;
    bool m_insideDone = false;
    std::vector<Entry> m_entries;
    std::size_t m_used = 0;
    std::vector<Life> m_lives;
    std::vector<std::uint32_t> m_freeLives;
    std::uint64_t m_nextNumber = 0;
    bool m_requests = false;
    bool m_completions = false;
    /// The last event requests the free of this address, for the first time.
    std::optional<std::uint64_t> m_waitsSince;
    std::vector<Life> m_aliveAtStart;
    std::vector<Life> m_aliveAtEnd;
    /// Known only by a free behind the range: alive all through it.
    std::vector<Life> m_late;
    std::int64_t m_laterReserved = 0;
    OutsideRange m_out;
};

struct EventBuffer;

/// Drops the rows of `rows` that are not in first … last of a trace of `listed` events and lets the fold
/// follow them. The fold may have dropped rows in front, or behind the range, already.
void cutToRange(
    EventBuffer& rows, RangeFold& fold, std::uint64_t listed, std::uint64_t first, std::uint64_t last);

} // namespace tidemark
