// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/sorted_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace tidemark {

namespace {

constexpr unsigned digitBits = 11;
constexpr std::uint64_t digitMask = (1U << digitBits) - 1;
constexpr std::size_t tooFew = 2000; ///< for the counters of a pass to pay

std::vector<std::uint32_t> compared(const std::vector<std::uint64_t>& keys, bool descending)
{
    std::vector<std::uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
        if (keys[a] != keys[b])
            return descending ? keys[a] > keys[b] : keys[a] < keys[b];
        return a < b;
    });
    return order;
}

/// One stable pass by the digit at `shift`; nothing to do when it is the same everywhere.
template <typename Entry, typename KeyOf>
void pass(std::vector<Entry>& from, std::vector<Entry>& to, unsigned shift, KeyOf keyOf)
{
    std::array<std::uint32_t, digitMask + 1> place{};
    for (const Entry& entry : from)
        ++place[(keyOf(entry) >> shift) & digitMask];
    if (std::ranges::find(place, static_cast<std::uint32_t>(from.size())) != place.end())
        return;
    std::uint32_t next = 0;
    for (std::uint32_t& at : place)
        next += std::exchange(at, next);
    for (const Entry& entry : from)
        to[place[(keyOf(entry) >> shift) & digitMask]++] = entry;
    from.swap(to);
}

/// Sorts by the lower `bits` of the keys; empty when stopped.
template <typename Entry, typename KeyOf, typename PlaceOf>
std::vector<std::uint32_t> sorted(
    std::vector<Entry> entries, unsigned bits, const Job& job, KeyOf keyOf, PlaceOf placeOf)
{
    std::vector<Entry> other(entries.size());
    for (unsigned shift = 0; shift < bits; shift += digitBits) {
        if (job.stopped())
            return {};
        pass(entries, other, shift, keyOf);
    }
    std::vector<std::uint32_t> order(entries.size());
    std::ranges::transform(entries, order.begin(), placeOf);
    return order;
}

} // namespace

std::vector<std::uint32_t> sortedOrder(
    const std::vector<std::uint64_t>& keys, bool descending, const Job& job)
{
    if (keys.size() < tooFew)
        return compared(keys, descending);
    const auto [least, most] = std::ranges::minmax(keys);
    const auto keyOf = [&, least = least, most = most](std::uint32_t place) {
        return descending ? most - keys[place] : keys[place] - least;
    };
    const auto bits = static_cast<unsigned>(std::bit_width(most - least));
    const auto placeBits = static_cast<unsigned>(std::bit_width(keys.size() - 1));
    const auto count = static_cast<std::uint32_t>(keys.size());
    if (bits + placeBits <= 64) { // key and place in one number: half the memory to move
        std::vector<std::uint64_t> entries(count);
        for (std::uint32_t i = 0; i < count; ++i)
            entries[i] = keyOf(i) << placeBits | i;
        const std::uint64_t placeMask = (std::uint64_t{1} << placeBits) - 1;
        return sorted(
            std::move(entries), bits, job, [placeBits](std::uint64_t entry) { return entry >> placeBits; },
            [placeMask](std::uint64_t entry) { return static_cast<std::uint32_t>(entry & placeMask); });
    }
    struct Entry {
        std::uint64_t key;
        std::uint32_t place;
    };
    std::vector<Entry> entries(count);
    for (std::uint32_t i = 0; i < count; ++i)
        entries[i] = {keyOf(i), i};
    return sorted(
        std::move(entries), bits, job, [](const Entry& entry) { return entry.key; }, &Entry::place);
}

} // namespace tidemark
