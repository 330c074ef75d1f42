// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/json_pull.hpp"
#include "model/snapshot/builder.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark {

/// Reads what torch.profiler's export_memory_timeline writes (torch/profiler/_memory_profiler.py):
/// `[times, sizes]` with a row of bytes per category and time, or the raw list of
/// `[nanoseconds, action, bytes, category]`. Memory: 40 bytes an entry while reading, 72 bytes a row after.
class TimelineCollector {
public:
    /// Reads from the first inner list on (the puller stands on its bracket) to the end of the outer one. An
    /// error of the text itself is left to the puller (false and no refusal()).
    bool read(JsonPull& json);
    /// Why the lists are something else, once read() gave false.
    const std::optional<Error>& refusal() const { return m_refusal; }
    /// Rows or entries that were complete.
    std::uint64_t entries() const { return m_raw.empty() ? m_rows.size() : m_raw.size(); }

    /// Hands the timeline to the snapshot.
    std::optional<Error> finish(SnapshotBuilder& builder);

private:
    static constexpr std::size_t categories = 8;
    using Row = std::array<std::int64_t, categories>;
    struct Entry {
        std::int64_t timeNs;
        std::int64_t bytes;
        std::uint8_t category;
    };

    bool tooMany(JsonPull& json, std::size_t rows);
    bool readNumbers(JsonPull& json, std::vector<std::int64_t>& into, std::size_t atMost);
    bool readSizes(JsonPull& json);
    bool readRaw(JsonPull& json);
    bool addRaw();
    bool refuse();
    CategoryTimeline fromRows(SnapshotBuilder& builder);
    CategoryTimeline fromRaw(SnapshotBuilder& builder);

    std::vector<std::int64_t> m_first; // the first inner list: all times, or the first raw entry
    std::vector<std::int64_t> m_numbers;
    std::vector<Row> m_rows;
    std::vector<Entry> m_raw;
    std::uint64_t m_strangeCategories = 0;
    std::optional<Error> m_refusal;
};

} // namespace tidemark
