// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/builder.hpp"

#include <initializer_list>
#include <string_view>

namespace tidemark::test {

/// Writes the events and segments of one device by hand; every call appends in file order.
class TraceMaker {
public:
    explicit TraceMaker(int ordinal = 0)
        : m_ordinal(ordinal)
    { }

    SnapshotBuilder& builder() { return m_builder; }
    /// A stack of Python frames, innermost first, each "name@file:line".
    StackId stack(std::initializer_list<std::string_view> frames);

    EventRow& event(Action action, std::uint64_t address, std::int64_t size, StackId stack = StackId::none);
    void alloc(std::uint64_t address, std::int64_t size, StackId stack = StackId::none)
    {
        event(Action::Alloc, address, size, stack);
    }
    void request(std::uint64_t address, std::int64_t size) { event(Action::FreeRequested, address, size); }
    void complete(std::uint64_t address, std::int64_t size) { event(Action::FreeCompleted, address, size); }
    /// A request and its completion.
    void free(std::uint64_t address, std::int64_t size)
    {
        request(address, size);
        complete(address, size);
    }
    /// Blocks are added to the segment made last, one after the other from its start.
    void segment(std::uint64_t address, std::int64_t size, PoolId pool = PoolId{0}, std::int64_t stream = 0);
    /// In MiB, from 0x7f0000000000: a segment with a live block at its start and a hole behind it.
    void holedSegment(std::int64_t address, std::int64_t size, std::int64_t live, PoolId pool = PoolId{0},
        std::int64_t stream = 0);
    void block(BlockState state, std::int64_t size, std::int64_t requested, StackId stack = StackId::none);
    /// For events that follow.
    void setTime(std::int64_t us) { m_timeUs = us; }
    void setStream(std::int64_t stream) { m_stream = stream; }
    void setPool(PoolId pool) { m_pool = pool; }

    /// Ends the file; the maker is empty afterwards.
    std::shared_ptr<const Snapshot> finish();

private:
    void flush();

    SnapshotBuilder m_builder;
    EventBuffer m_events;
    EventRow m_row;
    bool m_open = false;
    int m_ordinal;
    std::int64_t m_timeUs = noTime;
    std::int64_t m_stream = 0;
    PoolId m_pool = PoolId::none;
    std::uint64_t m_nextBlock = 0;
};

/// What a random trace may contain.
struct RandomTrace {
    std::uint64_t seed = 1;
    std::uint32_t events = 200;
    /// Distinct addresses: few make reuse and irregularities likely.
    std::uint32_t addresses = 12;
    /// Also double frees, allocations of live addresses, absurd sizes and unknown addresses.
    bool irregular = true;
    bool segments = true;
    /// Actions that never occur, as with skip_actions.
    bool skipRequests = false;
    bool skipCompletions = false;
};

/// A made-up trace, equal for equal arguments.
std::shared_ptr<const Snapshot> randomTrace(const RandomTrace& wish);

/// A made-up trace whose segment events need not fit each other, the blocks, or the segments at the end: maps
/// and unmaps across borders, segments that hold several blocks, and (even seeds) blocks that wait since
/// before the trace. Equal for equal seeds.
std::shared_ptr<const Snapshot> randomSegments(std::uint64_t seed);

} // namespace tidemark::test
