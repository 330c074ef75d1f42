// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>

namespace tidemark {

/// Stands in for the driver when an AllocatorModel asks for memory: which address a new segment gets. The
/// driver's own rule is not known, so a recorded address is taken where it is free, else the lowest hole of
/// the model's own area. Addresses decide only between blocks of equal size.
/// Source of the granules: cudaMalloc and cuMemAddressReserve as called by alloc_block and ExpandableSegment
/// of c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.6.
class AddressSpace {
public:
    static constexpr std::uint64_t granule = 2ULL << 20;
    /// Apart from each other and from where drivers place memory.
    static constexpr std::uint64_t segmentArea = 1ULL << 56;
    static constexpr std::uint64_t rangeArea = 1ULL << 60;

    explicit AddressSpace(std::uint64_t segments = segmentArea, std::uint64_t ranges = rangeArea)
        : m_base(segments)
        , m_top(segments)
        , m_rangeTop(ranges)
    { }

    /// Address of a new segment; `wish` (0 = none) if nothing lies there.
    std::uint64_t take(std::uint64_t size, std::uint64_t wish);
    /// The segment is gone; its place may be taken again.
    void give(std::uint64_t address);
    /// Address of a new expandable range: `wish` (0 = none), for which rangeRoom() says that it is free;
    /// ranges of the model's own never touch each other.
    std::uint64_t takeRange(std::uint64_t size, std::uint64_t wish);
    /// Bytes from an address up to the next range or segment; 0: it lies in one.
    std::uint64_t rangeRoom(std::uint64_t address) const;
    /// What a range has between two addresses is free again.
    void giveRange(std::uint64_t from, std::uint64_t to);
    /// Memory that is there from the start.
    void occupy(std::uint64_t address, std::uint64_t size) { m_used[address] = size; }
    void occupyRange(std::uint64_t address, std::uint64_t size) { m_ranges[address] = address + size; }

private:
    bool isFree(std::uint64_t address, std::uint64_t size) const;

    std::uint64_t m_base;
    std::uint64_t m_top;
    std::uint64_t m_rangeTop;
    /// Size by address: what is taken, and the holes below m_top.
    std::map<std::uint64_t, std::uint64_t> m_used;
    std::map<std::uint64_t, std::uint64_t> m_holes;
    /// End by address.
    std::map<std::uint64_t, std::uint64_t> m_ranges;
};

} // namespace tidemark
