// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/label_rules.hpp"
#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tidemark {

/// Whether `text` fits a pattern in which * stands for any characters but "/", and ** for any characters.
bool fitsGlob(std::string_view pattern, std::string_view text);

/// Whether a path, or its end from some folder on, fits `pattern`. Windows separators count as "/". An empty
/// pattern fits every path.
bool fitsPathEnd(std::string_view pattern, std::string_view path);

/// A function's own name without the classes and functions round it: "step" of "Adam.step", as Python 3.11
/// and later record it. Names of C++ are left alone.
std::string_view bareName(std::string_view name);

/// Tests the distinct frames of a snapshot against groups of patterns, once each; a stack is then a few words
/// to combine. Immutable after build.
class FrameMatcher {
public:
    /// Adds a group: a frame is in it when one of the patterns fits, by its whole or its bare name. Returns
    /// its number. The patterns must outlive build().
    std::size_t add(std::span<const FramePattern> anyOf);
    /// Cost: one test a distinct file and pattern, and names where a file fits.
    void build(const Snapshot& snapshot);

    /// Words of 64 groups each that bits() has.
    std::size_t words() const { return m_words; }
    std::span<const std::uint64_t> bits(FrameId frame) const
    {
        return std::span(m_bits).subspan(index(frame) * m_words, m_words);
    }
    bool in(FrameId frame, std::size_t group) const
    {
        return (m_bits[index(frame) * m_words + group / 64] >> (group % 64) & 1U) != 0;
    }

private:
    struct Pattern {
        const FramePattern* pattern;
        std::size_t group;
    };
    std::vector<Pattern> m_patterns;
    std::size_t m_groups = 0;
    std::size_t m_words = 0;
    std::vector<std::uint64_t> m_bits;
};

} // namespace tidemark
