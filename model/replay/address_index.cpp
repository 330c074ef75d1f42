// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/address_index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace tidemark {

BitTree::BitTree(std::uint32_t capacity)
{
    std::size_t count = std::max<std::size_t>(capacity, 1);
    do {
        count = (count + 63) / 64;
        m_levels.emplace_back(count, 0);
    } while (count > 1);
}

void BitTree::insert(std::uint32_t i)
{
    for (auto& level : m_levels) {
        std::uint64_t& word = level[i / 64];
        const bool wasEmpty = word == 0;
        word |= std::uint64_t{1} << (i % 64);
        if (!wasEmpty)
            return;
        i /= 64;
    }
}

void BitTree::erase(std::uint32_t i)
{
    for (auto& level : m_levels) {
        std::uint64_t& word = level[i / 64];
        word &= ~(std::uint64_t{1} << (i % 64));
        if (word != 0)
            return;
        i /= 64;
    }
}

std::uint32_t BitTree::after(std::uint32_t i) const
{
    for (std::size_t level = 0; level < m_levels.size(); ++level) {
        const std::uint32_t bit = i % 64;
        const std::uint64_t above
            = bit == 63 ? 0 : m_levels[level][i / 64] & (~std::uint64_t{0} << (bit + 1));
        if (above != 0) {
            std::uint32_t found = i / 64 * 64 + static_cast<std::uint32_t>(std::countr_zero(above));
            while (level-- > 0)
                found = found * 64 + static_cast<std::uint32_t>(std::countr_zero(m_levels[level][found]));
            return found;
        }
        i /= 64;
    }
    return none;
}

std::uint32_t BitTree::before(std::uint32_t i) const
{
    for (std::size_t level = 0; level < m_levels.size(); ++level) {
        const std::uint64_t below = m_levels[level][i / 64] & ((std::uint64_t{1} << (i % 64)) - 1);
        if (below != 0) {
            std::uint32_t found = i / 64 * 64 + 63 - static_cast<std::uint32_t>(std::countl_zero(below));
            while (level-- > 0)
                found
                    = found * 64 + 63 - static_cast<std::uint32_t>(std::countl_zero(m_levels[level][found]));
            return found;
        }
        i /= 64;
    }
    return none;
}

AddressRanks AddressRanks::build(std::span<const std::uint64_t> column)
{
    struct Row {
        std::uint64_t address;
        std::uint32_t row;
    };
    constexpr unsigned digitBits = 11;
    constexpr std::size_t buckets = std::size_t{1} << digitBits;
    std::vector<Row> rows(column.size());
    std::uint64_t varying = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
        rows[i] = {column[i], static_cast<std::uint32_t>(i)};
        varying |= column[i] ^ column[0];
    }
    // Addresses are aligned and lie close together: most digits are the same everywhere and need no pass.
    std::vector<Row> other(rows.size());
    for (unsigned shift = varying == 0 ? 64 : static_cast<unsigned>(std::countr_zero(varying)); shift < 64;
         shift += digitBits) {
        if ((varying >> shift & (buckets - 1)) == 0)
            continue;
        std::array<std::uint32_t, buckets> place{};
        for (const Row& r : rows)
            ++place[r.address >> shift & (buckets - 1)];
        std::uint32_t sum = 0;
        for (std::uint32_t& p : place)
            sum += std::exchange(p, sum);
        for (const Row& r : rows)
            other[place[r.address >> shift & (buckets - 1)]++] = r;
        rows.swap(other);
    }
    AddressRanks ranks;
    ranks.rankOf.resize(column.size());
    for (const Row& r : rows) {
        if (ranks.addresses.empty() || ranks.addresses.back() != r.address)
            ranks.addresses.push_back(r.address);
        ranks.rankOf[r.row] = static_cast<std::uint32_t>(ranks.addresses.size() - 1);
    }
    return ranks;
}

std::uint32_t AddressRanks::lowerBound(std::uint64_t address) const
{
    return static_cast<std::uint32_t>(
        std::lower_bound(addresses.begin(), addresses.end(), address) - addresses.begin());
}

} // namespace tidemark
