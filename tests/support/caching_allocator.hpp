// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/recorded_snapshot.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

namespace tidemark::test {

/// One device's caching allocator with native segments, reduced to what a training run without graphs meets:
/// 512 B rounding, small and large pool, best fit per stream, splitting and merging, frees that wait for
/// another stream, the flush and the failure when the device is full. Every request leaves the events that
/// PyTorch would record. Source of the rules: PyTorch 2.6.0, c10/cuda/CUDACachingAllocator.cpp (round_size,
/// get_pool, get_free_block, should_split, alloc_block, free_block, release_cached_blocks). Sizes in bytes,
/// times in microseconds.
class CachingAllocator {
public:
    /// What the driver would give before it says no.
    explicit CachingAllocator(std::uint64_t capacityBytes);

    /// From now on events and stacks are kept; what is allocated before has none.
    void startRecording();

    /// Address of a new block for `bytes` > 0, or nothing when even a flush did not make room (an `oom` event
    /// then stands in the trace). `stack` is an index into RecordedSnapshot::stacks.
    std::optional<std::uint64_t> allocate(
        std::uint64_t bytes, std::int64_t stream, std::uint32_t stack, std::int64_t nowUs);
    /// Tensor.record_stream: the block may be in use by another stream until `untilUs`.
    void recordStream(std::uint64_t address, std::int64_t untilUs);
    void free(std::uint64_t address, std::uint32_t stack, std::int64_t nowUs);
    /// torch.cuda.empty_cache().
    void emptyCache(std::uint32_t stack, std::int64_t nowUs);

    std::uint64_t reserved() const { return m_reserved; }
    /// Moves the recorded events out and adds the segments as they are now.
    void finish(RecordedSnapshot& snapshot);

private:
    struct Block {
        std::uint64_t size = 0;
        std::uint64_t requested = 0;
        std::uint64_t segment = 0;
        std::uint32_t stack = noStack;
        bool allocated = false;
        bool pending = false;
        std::optional<std::int64_t> usedUntilUs;
    };
    struct Segment {
        std::uint64_t size = 0;
        std::int64_t stream = 0;
        std::uint32_t stack = noStack;
        bool small = false;
    };
    struct Waiting {
        std::uint64_t address;
        std::int64_t doneUs;
    };
    using FreeKey = std::tuple<std::int64_t, std::uint64_t, std::uint64_t>; // stream, size, address
    using Blocks = std::map<std::uint64_t, Block>;

    void record(std::string_view action, std::uint64_t address, std::uint64_t size, std::int64_t stream,
        std::uint32_t stack, std::int64_t nowUs);
    void completeWaiting(bool all, std::uint32_t stack, std::int64_t nowUs);
    void complete(std::uint64_t address, std::uint32_t stack, std::int64_t nowUs);
    bool reserve(
        std::uint64_t roundedBytes, std::int64_t stream, bool small, std::uint32_t stack, std::int64_t nowUs);
    void releaseCached(std::uint32_t stack, std::int64_t nowUs);
    std::uint64_t newSegmentAddress(std::uint64_t bytes) const;
    bool mayMerge(Blocks::const_iterator block, Blocks::const_iterator neighbour) const;
    FreeKey freeKey(Blocks::const_iterator block) const;
    std::set<FreeKey>& freeList(const Segment& segment) { return m_free[segment.small ? 0 : 1]; }

    std::uint64_t m_capacity;
    std::uint64_t m_reserved = 0;
    bool m_recording = false;
    std::map<std::uint64_t, Segment> m_segments;
    Blocks m_blocks;
    std::array<std::set<FreeKey>, 2> m_free; // small pool, large pool
    std::deque<Waiting> m_waiting;
    std::vector<RecordedEvent> m_events;
};

} // namespace tidemark::test
