// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/replay/address_index.hpp"
#include "model/replay/block_rules.hpp"
#include "model/replay/segment_ranges.hpp"
#include "model/replay/timeline.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

/// How many bytes each allocation's block holds. The trace states requests only; the block follows from
/// rounding, and in rigid segments of the large pool from the free space the request was placed in: a rest of
/// up to 1 MiB is not split off (should_split of c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.6). What is
/// already known (`exact`) is kept.
struct BlockSizes {
    std::vector<std::uint64_t> size;
    std::vector<std::uint8_t> exact;
    /// Id of the range the allocation was placed in; none outside of all.
    std::vector<SegmentId> segment;
    /// Traced allocations of known size, and those for which inference gives the same.
    std::uint64_t compared = 0;
    std::uint64_t equal = 0;

    explicit BlockSizes(std::size_t count)
        : size(count, 0)
        , exact(count, 0)
        , segment(count, SegmentId::none)
    { }

    /// Fills in what is not known. Walks the trace once, with the live blocks in address order, O(1) steps of
    /// a BitTree an event. False when stopped.
    bool infer(const DeviceTrace& device, const Timeline& timeline, const AddressRanks& ranks,
        const std::vector<SegmentRange>& ranges, const BlockRules& rules, const Job& job);
};

} // namespace tidemark
