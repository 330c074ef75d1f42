// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/snapshot/tables.hpp"

#include <algorithm>
#include <cstring>

namespace tidemark {

namespace {

constexpr std::uint64_t mixer = 0x9E3779B97F4A7C15ULL;

std::uint64_t mix(std::uint64_t h, std::uint64_t v)
{
    h = (h ^ v) * mixer;
    return h ^ (h >> 29);
}

std::uint32_t fold(std::uint64_t h)
{
    return static_cast<std::uint32_t>(h ^ (h >> 32));
}

std::uint32_t hashBytes(std::string_view text)
{
    std::uint64_t h = text.size() * mixer;
    const char* p = text.data();
    std::size_t left = text.size();
    while (left >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, 8);
        h = mix(h, word);
        p += 8;
        left -= 8;
    }
    std::uint64_t word = 0;
    if (left > 0)
        std::memcpy(&word, p, left);
    return fold(mix(h, word));
}

/// Doubles an open-addressing table (0 = empty, else id + 1) whose entries hash to `hashOf(id)`.
template <typename HashOf>
void rehash(std::vector<std::uint32_t>& table, std::size_t count, HashOf hashOf)
{
    const std::size_t size = std::max<std::size_t>(64, table.size() * 2);
    table.assign(size, 0);
    for (std::size_t id = 0; id < count; ++id) {
        std::size_t at = hashOf(id) & (size - 1);
        while (table[at] != 0)
            at = (at + 1) & (size - 1);
        table[at] = static_cast<std::uint32_t>(id + 1);
    }
}

bool sameFrames(std::span<const FrameId> a, std::span<const FrameId> b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// Two chains, so that the multiplications of one do not wait for the other.
std::uint32_t hashFrames(std::span<const FrameId> frames)
{
    std::uint64_t a = frames.size();
    std::uint64_t b = mixer;
    std::size_t i = 0;
    for (; i + 4 <= frames.size(); i += 4) {
        std::uint64_t words[2];
        std::memcpy(words, frames.data() + i, sizeof words);
        a = mix(a, words[0]);
        b = mix(b, words[1]);
    }
    for (; i < frames.size(); ++i)
        a = mix(a, index(frames[i]));
    return fold(mix(a, b));
}

std::uint32_t hashFrame(const Frame& f)
{
    return fold(mix(mix(mix(1, index(f.name)), index(f.file)), f.line));
}

} // namespace

StringId StringTable::intern(std::string_view text)
{
    if ((m_entries.size() + 1) * 2 > m_slots.size())
        grow();
    const std::uint32_t hash = hashBytes(text);
    std::size_t at = hash & (m_slots.size() - 1);
    for (; m_slots[at] != 0; at = (at + 1) & (m_slots.size() - 1)) {
        const std::uint32_t id = m_slots[at] - 1;
        const Entry& e = m_entries[id];
        if (e.hash == hash && e.length == text.size()
            && (text.empty() || std::memcmp(m_bytes.data() + e.offset, text.data(), text.size()) == 0))
            return StringId{id};
    }
    const auto id = static_cast<std::uint32_t>(m_entries.size());
    m_entries.push_back({m_bytes.size(), static_cast<std::uint32_t>(text.size()), hash});
    m_bytes.insert(m_bytes.end(), text.begin(), text.end());
    m_slots[at] = id + 1;
    return StringId{id};
}

std::string_view StringTable::view(StringId id) const
{
    if (!valid(id))
        return {};
    const Entry& e = m_entries[index(id)];
    return {m_bytes.data() + e.offset, e.length};
}

void StringTable::grow()
{
    rehash(m_slots, m_entries.size(), [this](std::size_t id) { return m_entries[id].hash; });
}

FrameId FrameTable::intern(const Frame& frame)
{
    if ((m_frames.size() + 1) * 2 > m_slots.size())
        rehash(m_slots, m_frames.size(), [this](std::size_t id) { return hashFrame(m_frames[id]); });
    std::size_t at = hashFrame(frame) & (m_slots.size() - 1);
    for (; m_slots[at] != 0; at = (at + 1) & (m_slots.size() - 1))
        if (m_frames[m_slots[at] - 1] == frame)
            return FrameId{m_slots[at] - 1};
    const auto id = static_cast<std::uint32_t>(m_frames.size());
    m_frames.push_back(frame);
    m_slots[at] = id + 1;
    return FrameId{id};
}

const FxInfo* FrameTable::fx(FrameId id) const
{
    const auto found = m_fx.find(id);
    return found == m_fx.end() ? nullptr : &found->second;
}

StackId StackTable::intern(std::span<const FrameId> frames)
{
    if ((m_ends.size() + 1) * 2 > m_slots.size())
        rehash(m_slots, m_ends.size(), [this](std::size_t id) { return m_hashes[id]; });
    const std::uint32_t hash = hashFrames(frames);
    std::size_t at = hash & (m_slots.size() - 1);
    for (; m_slots[at] != 0; at = (at + 1) & (m_slots.size() - 1)) {
        const StackId id{m_slots[at] - 1};
        if (m_hashes[index(id)] == hash && sameFrames((*this)[id], frames))
            return id;
    }
    const auto id = static_cast<std::uint32_t>(m_ends.size());
    m_frames.insert(m_frames.end(), frames.begin(), frames.end());
    m_ends.push_back(m_frames.size());
    m_hashes.push_back(hash);
    m_slots[at] = id + 1;
    return StackId{id};
}

std::span<const FrameId> StackTable::operator[](StackId id) const
{
    if (!valid(id))
        return {};
    const std::size_t i = index(id);
    const std::uint64_t begin = i == 0 ? 0 : m_ends[i - 1];
    return {m_frames.data() + begin, static_cast<std::size_t>(m_ends[i] - begin)};
}

} // namespace tidemark
