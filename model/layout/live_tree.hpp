// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
            m_levels.emplace_back(count);
        } while (count > 1);
    }

    bool contains(std::uint32_t position) const
    {
        return (m_levels[0][position / 64].occupied >> (position % 64) & 1) != 0;
    }
    void fetch(std::uint32_t position) const { __builtin_prefetch(&m_levels[0][position / 64]); }
    void insert(std::uint32_t position, std::uint64_t bytes)
    {
        for (std::vector<Node>& level : m_levels) {
            Node& node = level[position / 64];
            node.occupied |= std::uint64_t{1} << (position % 64);
            node.bytes += bytes;
            position /= 64;
        }
    }
    /// `bytes` as inserted.
    void erase(std::uint32_t position, std::uint64_t bytes)
    {
        bool emptied = true;
        for (std::vector<Node>& level : m_levels) {
            Node& node = level[position / 64];
            if (emptied)
                node.occupied &= ~(std::uint64_t{1} << (position % 64));
            node.bytes -= bytes;
            emptied = emptied && node.occupied == 0;
            position /= 64;
        }
    }
    std::uint64_t total() const { return m_levels.back()[0].bytes; }

    /// Σ bytes of the positions below `position`.
    template <typename BytesAt>
    std::uint64_t below(std::uint32_t position, const BytesAt& bytesAt) const
    {
        std::uint64_t sum = 0;
        for (std::size_t level = 0; level < m_levels.size(); ++level) {
            const std::uint32_t node = position / 64;
            std::uint64_t before
                = m_levels[level][node].occupied & ((std::uint64_t{1} << (position % 64)) - 1);
            for (; before != 0; before &= before - 1) {
                const std::uint32_t child = node * 64 + static_cast<std::uint32_t>(std::countr_zero(before));
                sum += level == 0 ? bytesAt(child) : m_levels[level - 1][child].bytes;
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
        switch (m_levels.size()) {
        case 1:
            visit<0>(0, base, wanted, bytesAt, cover);
            break;
        case 2:
            visit<1>(0, base, wanted, bytesAt, cover);
            break;
        case 3:
            visit<2>(0, base, wanted, bytesAt, cover);
            break;
        case 4:
            visit<3>(0, base, wanted, bytesAt, cover);
            break;
        case 5:
            visit<4>(0, base, wanted, bytesAt, cover);
            break;
        default:
            visit<5>(0, base, wanted, bytesAt, cover); // 2^32 positions need six levels, no more
            break;
        }
    }

private:
    struct Node {
        std::uint64_t occupied = 0;
        std::uint64_t bytes = 0; ///< of all below
    };

    /// Returns the next wanted offset. A function per level, so that the innermost loops are unrolled into
    /// one.
    template <std::size_t level, typename BytesAt, typename Cover>
    std::uint64_t visit(std::uint32_t number, std::uint64_t offset, std::uint64_t wanted,
        const BytesAt& bytesAt, const Cover& cover) const
    {
        const Node& node = m_levels[level][number];
        const std::uint64_t end = offset + node.bytes;
        for (std::uint64_t rest = node.occupied; wanted < end; rest &= rest - 1) {
            const std::uint32_t child = number * 64 + static_cast<std::uint32_t>(std::countr_zero(rest));
            if constexpr (level == 0) {
                offset += bytesAt(child);
                if (wanted < offset)
                    wanted = cover(child, offset);
            } else {
                const std::uint64_t bytes = m_levels[level - 1][child].bytes;
                if (wanted < offset + bytes)
                    wanted = visit<level - 1>(child, offset, wanted, bytesAt, cover);
                offset += bytes;
            }
        }
        return wanted;
    }

    std::vector<std::vector<Node>> m_levels;
};

} // namespace tidemark
