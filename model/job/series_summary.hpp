// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/replay/replay.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Live and reserved memory over a trace at several resolutions, with exact extremes, packed: a few KiB. It
/// outlives the replay it was made from. Any thread.
class SeriesSummary {
public:
    /// Some states next to each other.
    struct Bucket {
        StateIndex first = 0;
        StateIndex last = 0;
        std::int64_t liveMin = 0;
        std::int64_t liveMax = 0;
        std::optional<std::int64_t> reservedMax; ///< absent: reserved is not known
        std::optional<std::int64_t> timeUs; ///< of `last`; absent without times
    };
    /// One resolution, packed: see help/digest.md.
    struct Level {
        std::uint32_t buckets = 0;
        std::string bytes;
    };

    SeriesSummary() = default;
    /// Levels of 64, 512 and 4096 buckets, as far as there are so many states. Cost: O(buckets · log n).
    static SeriesSummary of(const Replay& replay);
    /// From the parts of a digest; absent when they do not fit each other.
    static std::optional<SeriesSummary> fromParts(
        StateIndex states, bool reserved, bool times, std::vector<Level> levels);

    StateIndex states() const { return m_states; }
    bool reservedKnown() const { return m_reserved; }
    bool timesKnown() const { return m_times; }
    /// Coarsest first; empty when there is nothing to draw.
    const std::vector<Level>& levels() const { return m_levels; }
    /// The coarsest level of at least `wanted` buckets, else the finest.
    std::size_t levelFor(std::size_t wanted) const;
    /// Unpacks one level. Cost: some ns a bucket.
    std::vector<Bucket> level(std::size_t at) const;

private:
    bool unpack(const Level& level, std::vector<Bucket>* out) const;

    StateIndex m_states = 0;
    bool m_reserved = false;
    bool m_times = false;
    std::vector<Level> m_levels;
};

/// Numbers as differences, zigzag-coded, seven bits a byte, low ones first.
class PackedNumbers {
public:
    void add(std::int64_t value);
    std::string take() { return std::move(m_bytes); }

private:
    std::string m_bytes;
    std::int64_t m_last = 0;
};

class UnpackedNumbers {
public:
    explicit UnpackedNumbers(std::string_view bytes)
        : m_bytes(bytes)
    { }
    /// False at the end and where the bytes are no number.
    bool next(std::int64_t& value);
    /// The next number is no difference to the last one.
    void restart() { m_last = 0; }
    bool atEnd() const { return m_at == m_bytes.size(); }

private:
    std::string_view m_bytes;
    std::size_t m_at = 0;
    std::int64_t m_last = 0;
};

} // namespace tidemark
