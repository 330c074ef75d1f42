// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/address_space.hpp"

#include <algorithm>
#include <iterator>

namespace tidemark {

namespace {

std::uint64_t whole(std::uint64_t size)
{
    return (size + AddressSpace::granule - 1) / AddressSpace::granule * AddressSpace::granule;
}

} // namespace

bool AddressSpace::isFree(std::uint64_t address, std::uint64_t size) const
{
    const auto next = m_used.lower_bound(address);
    if (next != m_used.end() && next->first < address + size)
        return false;
    return next == m_used.begin() || std::prev(next)->first + std::prev(next)->second <= address;
}

std::uint64_t AddressSpace::take(std::uint64_t size, std::uint64_t wish)
{
    size = whole(size);
    std::uint64_t address = m_top;
    if (wish != 0 && isFree(wish, size)) {
        address = wish;
    } else if (const auto hole = std::find_if(
                   m_holes.begin(), m_holes.end(), [size](const auto& h) { return h.second >= size; });
               hole != m_holes.end()) {
        address = hole->first;
        if (hole->second > size)
            m_holes[address + size] = hole->second - size;
        m_holes.erase(address);
    } else {
        m_top += size;
    }
    m_used[address] = size;
    return address;
}

void AddressSpace::give(std::uint64_t address)
{
    const auto used = m_used.find(address);
    if (used == m_used.end())
        return;
    std::uint64_t size = used->second;
    m_used.erase(used);
    if (address < m_base)
        return; // the recording's: taken again only on its wish
    auto next = m_holes.lower_bound(address);
    if (next != m_holes.end() && next->first == address + size) {
        size += next->second;
        next = m_holes.erase(next);
    }
    if (next != m_holes.begin() && std::prev(next)->first + std::prev(next)->second == address)
        std::prev(next)->second += size;
    else
        m_holes[address] = size;
}

std::uint64_t AddressSpace::takeRange(std::uint64_t size, std::uint64_t wish)
{
    constexpr std::uint64_t step = 1ULL << 36;
    std::uint64_t address = wish;
    if (wish == 0) {
        address = m_rangeTop;
        m_rangeTop += (size / step + 1) * step;
    }
    occupyRange(address, size);
    return address;
}

std::uint64_t AddressSpace::rangeRoom(std::uint64_t address) const
{
    std::uint64_t end = ~std::uint64_t{0};
    const auto range = m_ranges.upper_bound(address);
    if (range != m_ranges.begin() && std::prev(range)->second > address)
        return 0;
    if (range != m_ranges.end())
        end = range->first;
    const auto used = m_used.upper_bound(address);
    if (used != m_used.begin() && std::prev(used)->first + std::prev(used)->second > address)
        return 0;
    if (used != m_used.end())
        end = std::min(end, used->first);
    return end - address;
}

void AddressSpace::giveRange(std::uint64_t from, std::uint64_t to)
{
    auto range = m_ranges.upper_bound(from);
    if (range == m_ranges.begin() || (--range)->second <= from)
        return;
    const std::uint64_t end = range->second;
    range->second = from;
    if (range->first == from)
        m_ranges.erase(range);
    if (to < end)
        m_ranges[to] = end;
}

} // namespace tidemark
