// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tidemark {

/// A set of small numbers with successor and predecessor: a tree of 64-bit words, each bit saying whether the
/// word below holds anything. Every operation touches one word per level: three for 262,144 numbers.
class BitTree {
public:
    static constexpr std::uint32_t none = 0xffffffffU;

    explicit BitTree(std::uint32_t capacity);
    void insert(std::uint32_t i);
    void erase(std::uint32_t i);
    bool contains(std::uint32_t i) const { return (m_levels[0][i / 64] >> (i % 64) & 1) != 0; }
    /// Smallest member above `i`, or none.
    std::uint32_t after(std::uint32_t i) const;
    /// Largest member below `i`, or none.
    std::uint32_t before(std::uint32_t i) const;

private:
    std::vector<std::vector<std::uint64_t>> m_levels;
};

/// The distinct addresses of a column in ascending order, and the place of each row among them. Allocators
/// hand out the same addresses again and again, so ranks are few and serve as dense keys. Cost: a radix sort.
struct AddressRanks {
    std::vector<std::uint64_t> addresses; ///< distinct, ascending
    std::vector<std::uint32_t> rankOf; ///< by row

    static AddressRanks build(std::span<const std::uint64_t> column);
    /// Rank of the first address ≥ `address`; addresses.size() when there is none.
    std::uint32_t lowerBound(std::uint64_t address) const;
};

} // namespace tidemark
