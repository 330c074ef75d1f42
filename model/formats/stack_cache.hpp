// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark {

/// Remembers which bytes of a pickle made which stack. The frames of a stack are memo references, so the same
/// call site gives the same bytes every time, and comparing them is several times faster than running them.
/// Only valid while the memo slots and frames they refer to stay what they are: else clear().
class StackCache {
public:
    struct Hit {
        std::size_t length;
        StackId stack;
    };

    /// The stack whose bytes stand at `at`; needs lookAhead readable bytes.
    std::optional<Hit> find(const unsigned char* at, const unsigned char* end);
    void insert(const unsigned char* at, std::size_t length, StackId stack);
    void clear();

    static constexpr std::size_t lookAhead = 128;

private:
    struct Entry {
        std::uint64_t hash;
        std::uint32_t offset;
        std::uint32_t length;
        StackId stack;
        std::uint32_t next; ///< another entry with the same head, 0 = none, else index + 1
        std::uint32_t follower; ///< what was found after it last time, likewise
    };
    bool matches(std::uint32_t id, const unsigned char* at, const unsigned char* end) const;
    std::uint32_t probe(std::uint64_t hash, const unsigned char* at, const unsigned char* end) const;
    std::uint32_t search(const unsigned char* at, const unsigned char* end) const;
    void grow();

    std::vector<unsigned char> m_bytes;
    std::vector<Entry> m_entries;
    std::uint32_t m_last = 0; ///< the entry found last, 0 = none, else index + 1
    std::vector<std::uint32_t> m_slots; ///< 0 = empty, else index of a head's newest entry + 1
};

} // namespace tidemark
