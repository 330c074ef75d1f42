// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/stack_cache.hpp"

#include <array>
#include <cstring>

namespace tidemark {

namespace {

constexpr std::size_t maxBytes = 8U << 20;
/// Heads by which an entry is found: the longest that lies inside of its bytes. Shorter stacks are run
/// quickly.
constexpr std::array<std::size_t, 3> heads{32, 64, StackCache::lookAhead};
constexpr unsigned maxSameHead = 8;

std::uint64_t mix(std::uint64_t h, std::uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 29U);
}

/// Continues a hash over the bytes from one head's end to the next one's.
std::uint64_t extend(std::uint64_t hash, const unsigned char* from, std::size_t bytes)
{
    std::uint64_t other = bytes;
    for (std::size_t i = 0; i < bytes; i += 16) {
        std::uint64_t words[2];
        std::memcpy(words, from + i, sizeof words);
        hash = mix(hash, words[0]);
        other = mix(other, words[1]);
    }
    return mix(hash, other);
}

} // namespace

std::optional<StackCache::Hit> StackCache::find(const unsigned char* at, const unsigned char* end)
{
    if (m_entries.empty() || static_cast<std::size_t>(end - at) < lookAhead)
        return std::nullopt;
    // Training repeats itself: what came after the last stack before mostly comes again.
    std::uint32_t id = m_last == 0 ? 0 : m_entries[m_last - 1].follower;
    if (id == 0 || !matches(id, at, end)) {
        id = search(at, end);
        if (id != 0 && m_last != 0)
            m_entries[m_last - 1].follower = id;
    }
    if (id == 0)
        return std::nullopt;
    m_last = id;
    return Hit{m_entries[id - 1].length, m_entries[id - 1].stack};
}

bool StackCache::matches(std::uint32_t id, const unsigned char* at, const unsigned char* end) const
{
    const Entry& e = m_entries[id - 1];
    return e.length <= static_cast<std::size_t>(end - at)
        && std::memcmp(m_bytes.data() + e.offset, at, e.length) == 0;
}

std::uint32_t StackCache::search(const unsigned char* at, const unsigned char* end) const
{
    std::array<std::uint64_t, heads.size()> hashes{};
    std::uint64_t hash = 1;
    std::size_t done = 0;
    for (std::size_t i = 0; i < heads.size(); ++i) {
        hash = extend(hash, at + done, heads[i] - done);
        done = heads[i];
        hashes[i] = hash;
    }
    for (std::size_t i = heads.size(); i-- > 0;)
        if (const std::uint32_t id = probe(hashes[i], at, end); id != 0)
            return id;
    return 0;
}

std::uint32_t StackCache::probe(std::uint64_t hash, const unsigned char* at, const unsigned char* end) const
{
    std::size_t slot = hash & (m_slots.size() - 1);
    while (m_slots[slot] != 0 && m_entries[m_slots[slot] - 1].hash != hash)
        slot = (slot + 1) & (m_slots.size() - 1);
    std::uint32_t id = m_slots[slot];
    while (id != 0 && !matches(id, at, end))
        id = m_entries[id - 1].next;
    return id;
}

void StackCache::insert(const unsigned char* at, std::size_t length, StackId stack)
{
    if (length < heads.front() || m_bytes.size() + length > maxBytes)
        return;
    if ((m_entries.size() + 1) * 2 > m_slots.size())
        grow();
    std::uint64_t hash = 1;
    std::size_t done = 0;
    for (const std::size_t head : heads) {
        if (head > length)
            break;
        hash = extend(hash, at + done, head - done);
        done = head;
    }
    std::size_t slot = hash & (m_slots.size() - 1);
    while (m_slots[slot] != 0 && m_entries[m_slots[slot] - 1].hash != hash)
        slot = (slot + 1) & (m_slots.size() - 1);
    unsigned same = 0;
    for (std::uint32_t id = m_slots[slot]; id != 0; id = m_entries[id - 1].next)
        ++same;
    if (same >= maxSameHead)
        return;
    m_entries.push_back({hash, static_cast<std::uint32_t>(m_bytes.size()), static_cast<std::uint32_t>(length),
        stack, m_slots[slot], 0});
    m_bytes.insert(m_bytes.end(), at, at + length);
    m_slots[slot] = static_cast<std::uint32_t>(m_entries.size());
}

void StackCache::grow()
{
    const std::size_t size = m_slots.empty() ? 1024 : m_slots.size() * 2;
    std::vector<std::uint32_t> old = std::move(m_slots);
    m_slots.assign(size, 0);
    for (const std::uint32_t id : old) {
        if (id == 0)
            continue;
        std::size_t slot = m_entries[id - 1].hash & (size - 1);
        while (m_slots[slot] != 0)
            slot = (slot + 1) & (size - 1);
        m_slots[slot] = id;
    }
}

void StackCache::clear()
{
    m_bytes.clear();
    m_entries.clear();
    m_last = 0;
    m_slots.clear();
}

} // namespace tidemark
