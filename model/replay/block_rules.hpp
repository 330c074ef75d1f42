// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/snapshot.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace tidemark {

/// The caching allocator's arithmetic as far as it decides how large a block is: rounding of requests and the
/// rest that stays with a block. Source: round_size, roundup_power2_next_division and should_split of
/// c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.6; the padding of Ascend's allocator is read off the file's
/// own blocks.
struct BlockRules {
    static constexpr std::uint64_t minBlock = 512;
    static constexpr std::uint64_t smallLimit = 1ULL << 20;
    static constexpr std::uint64_t smallSegment = 2ULL << 20;
    static constexpr std::uint64_t largeSegment = 20ULL << 20;

    /// Recorded sizes are block sizes already (pinned host memory, profiler traces, made-up files).
    bool exactRequests = false;
    /// Bytes added to a request before rounding.
    std::uint64_t padding = 0;
    /// Requests from here on take whole blocks; all bits set when there is no such limit.
    std::uint64_t maxSplitSize = ~std::uint64_t{0};
    /// Segments of the large pool for requests below 10 MiB, and its pages (large_segment_size_mb).
    std::uint64_t largePage = largeSegment;
    /// Power-of-two divisions by size class, 1 MiB … 32 GiB; 0 = off.
    std::array<std::uint32_t, 16> divisions{};

    /// Whether PyTorch takes so many MiB as large_segment_size_mb: more than the largest request that shares
    /// a segment (c10/core/AllocatorConfig.cpp); and no device is as large as 1 TiB.
    static constexpr bool isLargePage(std::uint64_t mib) { return mib > 10 && mib < (1U << 20); }

    /// What the settings and the final blocks of a device tell.
    static BlockRules of(const Snapshot& snapshot, const DeviceTrace& device);
    /// `roundup_power2_divisions` as a configuration text has it: one number, or [256:1,512:2,>:8] with
    /// starts in MiB. Each start's value also covers the classes below it that have none
    /// (c10/cuda/CUDAAllocatorConfig.cpp, PyTorch 2.6).
    void readDivisions(std::string_view value);
    /// Size of the block a request needs, before any rest; 0 for 0.
    std::uint64_t roundSize(std::uint64_t requested) const;
    /// Rest behind a block that stays part of it, at most: what is larger is split off. `rigid` = not
    /// expandable.
    std::uint64_t largestRest(std::uint64_t rounded, SegmentKind kind, bool rigid) const;
};

} // namespace tidemark
