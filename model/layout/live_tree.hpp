// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace tidemark {

/// Bytes by position in a stack, most positions empty: 64 children a node, each node with the sum below it
/// and a word that tells which children are occupied. Finds what covers a byte offset without touching what
/// lies below. Cost: insert and erase one step a level (four for 16 million positions).
class LiveTree {
public:
    explicit LiveTree(std::uint32_t positions)
    {
        std::size_t count = positions == 0 ? 1 : positions;
        do {
            count = (count + 63) / 64;
            m_levels.push_back({std::vector<std::uint64_t>(count, 0), std::vector<std::uint64_t>(count, 0)});
        } while (count > 1);
    }

    bool contains(std::uint32_t position) const
    {
        return (m_levels[0].occupied[position / 64] >> (position % 64) & 1) != 0;
    }
    void insert(std::uint32_t position, std::uint64_t bytes)
    {
        for (Level& level : m_levels) {
            level.occupied[position / 64] |= std::uint64_t{1} << (position % 64);
            level.bytes[position / 64] += bytes;
            position /= 64;
        }
    }
    /// `bytes` as inserted.
    void erase(std::uint32_t position, std::uint64_t bytes)
    {
        bool emptied = true;
        for (Level& level : m_levels) {
            if (emptied)
                level.occupied[position / 64] &= ~(std::uint64_t{1} << (position % 64));
            level.bytes[position / 64] -= bytes;
            emptied = emptied && level.occupied[position / 64] == 0;
            position /= 64;
        }
    }
    std::uint64_t total() const { return m_levels.back().bytes[0]; }

    /// Σ bytes of the positions below `position`.
    template <typename BytesAt>
    std::uint64_t below(std::uint32_t position, const BytesAt& bytesAt) const
    {
        std::uint64_t sum = 0;
        for (std::size_t level = 0; level < m_levels.size(); ++level) {
            const std::uint32_t node = position / 64;
            std::uint64_t before
                = m_levels[level].occupied[node] & ((std::uint64_t{1} << (position % 64)) - 1);
            for (; before != 0; before &= before - 1) {
                const std::uint32_t child = node * 64 + static_cast<std::uint32_t>(std::countr_zero(before));
                sum += level == 0 ? bytesAt(child) : m_levels[level - 1].bytes[child];
            }
            position = node;
        }
        return sum;
    }

    /// Walks upwards and tells `cover(position, end)` of every occupied position that reaches beyond the
    /// offset `wanted`, where `end` is one past its last byte, in ascending order. `cover` returns the next
    /// wanted offset, which must be ≥ end. Everything that ends at or below the wanted offset is passed over
    /// in whole nodes. `base` is the offset of position 0.
    template <typename BytesAt, typename Cover>
    void walk(std::uint64_t base, std::uint64_t wanted, const BytesAt& bytesAt, const Cover& cover) const
    {
        visit(m_levels.size() - 1, 0, base, wanted, bytesAt, cover);
    }

private:
    struct Level {
        std::vector<std::uint64_t> occupied;
        std::vector<std::uint64_t> bytes; ///< of the node itself
    };

    template <typename BytesAt, typename Cover>
    void visit(std::size_t level, std::uint32_t node, std::uint64_t offset, std::uint64_t& wanted,
        const BytesAt& bytesAt, const Cover& cover) const
    {
        const std::uint64_t end = offset + m_levels[level].bytes[node];
        for (std::uint64_t rest = m_levels[level].occupied[node]; rest != 0 && wanted < end;
             rest &= rest - 1) {
            const std::uint32_t child = node * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
            const std::uint64_t childEnd
                = offset + (level == 0 ? bytesAt(child) : m_levels[level - 1].bytes[child]);
            if (wanted < childEnd) {
                if (level == 0)
                    wanted = cover(child, childEnd);
                else
                    visit(level - 1, child, offset, wanted, bytesAt, cover);
            }
            offset = childEnd;
        }
    }

    std::vector<Level> m_levels;
};

} // namespace tidemark
