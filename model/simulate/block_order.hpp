// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark {

/// Blocks ordered by size, then address: what "best fit, lowest address on ties" walks. Kept as sorted chunks
/// of at most 128 keys behind a directory, so that inserting and erasing moves little memory however many
/// there are. Cost: two binary searches and a move of some 1.5 kB an operation.
class BlockOrder {
public:
    struct Key {
        std::uint64_t size = 0;
        std::uint64_t address = 0;
        std::uint32_t block = 0; ///< carried along, no part of the order

        friend bool operator<(const Key& a, const Key& b)
        {
            return a.size != b.size ? a.size < b.size : a.address < b.address;
        }
    };
    /// Where a key stands; valid until the next change.
    struct Place {
        std::size_t chunk = 0;
        std::size_t offset = 0;
        bool operator==(const Place&) const = default;
    };

    bool empty() const { return m_chunks.empty(); }
    Place begin() const { return {}; }
    Place end() const { return {m_chunks.size(), 0}; }
    const Key& at(Place place) const { return m_chunks[place.chunk][place.offset]; }
    Place next(Place place) const
    {
        return place.offset + 1 < m_chunks[place.chunk].size() ? Place{place.chunk, place.offset + 1}
                                                               : Place{place.chunk + 1, 0};
    }
    /// First key that is not less.
    Place lowerBound(const Key& key) const
    {
        const std::size_t chunk = chunkOf(key);
        if (chunk == m_chunks.size())
            return end();
        const auto& keys = m_chunks[chunk];
        return {
            chunk, static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin())};
    }

    void insert(const Key& key)
    {
        if (m_chunks.empty()) {
            m_chunks.emplace_back().reserve(most + 1);
            m_chunks.back().push_back(key);
            m_last.push_back(key);
            return;
        }
        const std::size_t chunk = std::min(chunkOf(key), m_chunks.size() - 1);
        auto& keys = m_chunks[chunk];
        keys.insert(std::lower_bound(keys.begin(), keys.end(), key), key);
        m_last[chunk] = keys.back();
        if (keys.size() > most)
            split(chunk);
    }

    void erase(const Key& key)
    {
        const Place place = lowerBound(key);
        assert(place != end() && at(place).address == key.address && at(place).size == key.size);
        erase(place);
    }
    void erase(Place place)
    {
        auto& keys = m_chunks[place.chunk];
        keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(place.offset));
        if (keys.empty()) {
            m_chunks.erase(m_chunks.begin() + static_cast<std::ptrdiff_t>(place.chunk));
            m_last.erase(m_last.begin() + static_cast<std::ptrdiff_t>(place.chunk));
            return;
        }
        m_last[place.chunk] = keys.back();
        if (place.chunk > 0 && keys.size() + m_chunks[place.chunk - 1].size() < most / 2)
            join(place.chunk - 1);
    }

    /// The blocks in order, as they are now.
    std::vector<std::uint32_t> blocks() const
    {
        std::vector<std::uint32_t> out;
        for (const auto& keys : m_chunks)
            for (const Key& key : keys)
                out.push_back(key.block);
        return out;
    }

private:
    static constexpr std::size_t most = 128;

    std::size_t chunkOf(const Key& key) const
    {
        return static_cast<std::size_t>(std::lower_bound(m_last.begin(), m_last.end(), key) - m_last.begin());
    }
    void split(std::size_t chunk)
    {
        auto& low = m_chunks[chunk];
        const auto middle = low.begin() + static_cast<std::ptrdiff_t>(low.size() / 2);
        std::vector<Key> high;
        high.reserve(most + 1);
        high.assign(middle, low.end());
        low.erase(middle, low.end());
        m_last[chunk] = low.back();
        m_last.insert(m_last.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, high.back());
        m_chunks.insert(m_chunks.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, std::move(high));
    }
    void join(std::size_t chunk)
    {
        auto& low = m_chunks[chunk];
        const auto& high = m_chunks[chunk + 1];
        low.insert(low.end(), high.begin(), high.end());
        m_last[chunk] = low.back();
        m_chunks.erase(m_chunks.begin() + static_cast<std::ptrdiff_t>(chunk) + 1);
        m_last.erase(m_last.begin() + static_cast<std::ptrdiff_t>(chunk) + 1);
    }

    std::vector<std::vector<Key>> m_chunks;
    /// The highest key of each chunk.
    std::vector<Key> m_last;
};

} // namespace tidemark
