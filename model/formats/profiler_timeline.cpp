// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/profiler_timeline.hpp"

#include "model/core/byte_sum.hpp"
#include "model/core/limits.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <limits>

namespace tidemark {

namespace {

constexpr std::size_t unknownCategory = 7;
constexpr std::size_t rawFields = 4;
/// Times read between two looks at how many they are.
constexpr std::size_t rowsBetweenLooks = 4096;

void addRow(CategoryTimeline& timeline, std::int64_t timeUs, const std::array<std::int64_t, 8>& row)
{
    timeline.timesUs.push_back(timeUs);
    for (std::size_t c = 0; c < row.size(); ++c)
        timeline.bytes[c].push_back(row[c]);
}

} // namespace

bool TimelineCollector::refuse()
{
    m_refusal = Error{ErrorCode::NotASnapshot,
        "This is JSON of another kind (lists in lists), neither a memory snapshot nor torch.profiler's "
        "memory "
        "timeline. Record a snapshot with torch.cuda.memory._record_memory_history() and "
        "torch.cuda.memory._dump_snapshot().",
        std::nullopt};
    return false;
}

/// Whether so many rows cannot honestly stand in the bytes read so far.
bool TimelineCollector::tooMany(JsonPull& json, std::size_t rows)
{
    if (rows <= limits::maxTimelineRows + json.offset() / 8)
        return false;
    json.refuse({ErrorCode::TooLarge,
        "Up to byte " + formatUnsigned(json.offset()) + " the file lists " + formatUnsigned(rows)
            + " times, far more than a memory timeline of that length",
        json.offset()});
    return true;
}

bool TimelineCollector::readNumbers(JsonPull& json, std::vector<std::int64_t>& into, std::size_t atMost)
{
    into.clear();
    for (;;) {
        const JsonToken token = json.next();
        if (token == JsonToken::EndArray)
            return true;
        if (token == JsonToken::Failed || (into.size() % rowsBetweenLooks == 0 && tooMany(json, into.size())))
            return false;
        if ((token != JsonToken::Integer && token != JsonToken::Real) || into.size() == atMost)
            return refuse();
        into.push_back(json.integer());
    }
}

bool TimelineCollector::read(JsonPull& json)
{
    if (!readNumbers(json, m_first, std::numeric_limits<std::size_t>::max()))
        return false;
    const JsonToken second = json.next();
    if (second == JsonToken::Failed)
        return false;
    if (second == JsonToken::EndArray) {
        m_numbers = m_first;
        return addRaw();
    }
    if (second != JsonToken::BeginArray)
        return refuse();
    const JsonToken inner = json.next();
    if (inner == JsonToken::BeginArray || (inner == JsonToken::EndArray && m_first.size() != rawFields))
        return readSizes(json);
    if (inner != JsonToken::Integer && inner != JsonToken::Real)
        return inner == JsonToken::Failed ? false : refuse();
    return readRaw(json);
}

/// Stands on the first row of sizes, or on the end of an empty list of them.
bool TimelineCollector::readSizes(JsonPull& json)
{
    for (; json.token() == JsonToken::BeginArray; json.next()) {
        if (!readNumbers(json, m_numbers, categories + 1))
            return false;
        // The stock writer puts a 0 in front, the floor of its stacked plot.
        if (m_numbers.size() != categories + 1)
            return refuse();
        if (m_rows.size() == m_first.size())
            return refuse();
        Row& row = m_rows.emplace_back();
        std::copy(m_numbers.begin() + 1, m_numbers.end(), row.begin());
    }
    if (json.token() != JsonToken::EndArray)
        return json.token() == JsonToken::Failed ? false : refuse();
    if (m_rows.size() != m_first.size())
        return refuse();
    if (json.next() != JsonToken::EndArray)
        return json.token() == JsonToken::Failed ? false : refuse();
    return true;
}

/// Stands on the first number of the second entry.
bool TimelineCollector::readRaw(JsonPull& json)
{
    m_numbers = m_first;
    if (!addRaw())
        return false;
    const std::int64_t time = json.integer();
    if (!readNumbers(json, m_numbers, rawFields - 1))
        return false;
    m_numbers.insert(m_numbers.begin(), time);
    if (!addRaw())
        return false;
    while (json.next() == JsonToken::BeginArray)
        if (!readNumbers(json, m_numbers, rawFields) || !addRaw() || tooMany(json, m_raw.size()))
            return false;
    if (json.token() != JsonToken::EndArray)
        return json.token() == JsonToken::Failed ? false : refuse();
    return true;
}

bool TimelineCollector::addRaw()
{
    if (m_numbers.size() != rawFields || m_numbers[1] < 1 || m_numbers[1] > 4)
        return refuse();
    const std::int64_t category = m_numbers[3];
    const bool known = category >= 0 && category < static_cast<std::int64_t>(categories);
    m_strangeCategories += known ? 0 : 1;
    m_raw.push_back({m_numbers[0], m_numbers[2],
        static_cast<std::uint8_t>(known ? category : std::int64_t{unknownCategory})});
    return true;
}

CategoryTimeline TimelineCollector::fromRows(SnapshotBuilder& builder)
{
    CategoryTimeline timeline;
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();
    const std::size_t count = std::min(m_rows.size(), m_first.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (m_first[i] < latest)
            builder.note(Quality::TimeDecreases, std::nullopt, {},
                "Some rows have an earlier time than the row before; they are drawn at the later time.");
        latest = std::max(latest, m_first[i]);
        addRow(timeline, latest, m_rows[i]);
    }
    return timeline;
}

CategoryTimeline TimelineCollector::fromRaw(SnapshotBuilder& builder)
{
    if (!std::ranges::is_sorted(m_raw, {}, &Entry::timeNs)) {
        std::ranges::stable_sort(m_raw, {}, &Entry::timeNs);
        builder.note(Quality::TimeDecreases, std::nullopt, {},
            "The entries were not in the order of their times and were put into it; each of them is a "
            "change, so "
            "nothing is lost.");
    }
    // Entries at −1 stood before the recording began: they belong to its first moment.
    const auto firstTimed = std::ranges::find_if(m_raw, [](const Entry& e) { return e.timeNs >= 0; });
    const std::int64_t start = firstTimed == m_raw.end() ? 0 : firstTimed->timeNs;
    CategoryTimeline timeline;
    timeline.predating = 0;
    Row now{};
    for (std::size_t i = 0; i < m_raw.size(); ++i) {
        const Entry& entry = m_raw[i];
        now[entry.category] = wrappingAdd(now[entry.category], entry.bytes);
        if (entry.timeNs < 0)
            timeline.predating = wrappingAdd(*timeline.predating, entry.bytes);
        // A version bump is a pair − and + of one instant, not a moment without the tensor.
        const std::int64_t time = std::max(entry.timeNs, start);
        if (i + 1 == m_raw.size() || std::max(m_raw[i + 1].timeNs, start) != time)
            addRow(timeline, time / 1000, now);
    }
    return timeline;
}

std::optional<Error> TimelineCollector::finish(SnapshotBuilder& builder)
{
    if (entries() == 0)
        return Error{ErrorCode::Unsupported,
            "This is a memory timeline of torch.profiler without a single entry: nothing was recorded on its "
            "device.",
            std::nullopt};
    builder.source().kind = SourceKind::ProfilerTimeline;
    const bool raw = !m_raw.empty();
    builder.setCategories(raw ? fromRaw(builder) : fromRows(builder));
    std::string sentence
        = "A memory timeline of torch.profiler: bytes per category over time on one device. It has no "
          "allocations, addresses, stacks or segments, so the segment map, the live table and the call sites "
          "stay empty. For those, record a memory snapshot.";
    if (!raw)
        sentence += " How much of it existed before the recording is not told.";
    if (m_strangeCategories > 0)
        sentence += " " + formatCount(static_cast<std::int64_t>(m_strangeCategories))
            + " entries have a category this program does not know; they count as unknown.";
    builder.note(Quality::OtherRecorder, std::nullopt, {}, sentence);
    return std::nullopt;
}

} // namespace tidemark
