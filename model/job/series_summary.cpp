// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/series_summary.hpp"

#include "model/core/byte_sum.hpp"

#include <array>

namespace tidemark {

namespace {

constexpr std::array<std::uint32_t, 3> resolutions{64, 512, 4096};

StateIndex boundary(std::uint32_t bucket, std::uint32_t buckets, StateIndex states)
{
    return static_cast<StateIndex>(std::uint64_t{bucket} * states / buckets);
}

} // namespace

void PackedNumbers::add(std::int64_t value)
{
    const std::int64_t difference = wrappingSubtract(value, m_last);
    m_last = value;
    std::uint64_t rest = (static_cast<std::uint64_t>(difference) << 1U)
        ^ (difference < 0 ? ~std::uint64_t{0} : std::uint64_t{0});
    while (rest >= 0x80) {
        m_bytes.push_back(static_cast<char>((rest & 0x7fU) | 0x80U));
        rest >>= 7U;
    }
    m_bytes.push_back(static_cast<char>(rest));
}

bool UnpackedNumbers::next(std::int64_t& value)
{
    std::uint64_t raw = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (m_at == m_bytes.size())
            return false;
        const auto byte = static_cast<unsigned char>(m_bytes[m_at++]);
        raw |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80U) == 0) {
            const std::uint64_t difference = (raw >> 1U) ^ (~(raw & 1U) + 1);
            m_last = wrappingAdd(m_last, static_cast<std::int64_t>(difference));
            value = m_last;
            return true;
        }
    }
    return false;
}

SeriesSummary SeriesSummary::of(const Replay& replay)
{
    SeriesSummary out;
    out.m_states = replay.states();
    out.m_reserved = replay.segments.reservedKnown();
    const Series& live = replay.timeline.requested();
    for (const std::uint32_t wished : resolutions) {
        const std::uint32_t buckets = std::min<std::uint32_t>(wished, out.m_states);
        if (!out.m_levels.empty() && out.m_levels.back().buckets == buckets)
            break;
        out.m_levels.push_back({buckets, {}});
    }
    // Times are given for all levels or for none.
    out.m_times = true;
    for (const Level& level : out.m_levels)
        for (std::uint32_t b = 0; out.m_times && b < level.buckets; ++b)
            out.m_times = replay.timeUs(boundary(b + 1, level.buckets, out.m_states) - 1).has_value();
    for (Level& level : out.m_levels) {
        const auto column = [&](const auto& valueOf) {
            PackedNumbers packed;
            for (std::uint32_t b = 0; b < level.buckets; ++b)
                packed.add(valueOf(boundary(b, level.buckets, out.m_states),
                    boundary(b + 1, level.buckets, out.m_states) - 1));
            level.bytes += packed.take();
        };
        column([&](StateIndex first, StateIndex last) { return live.extremes(first, last).min; });
        column([&](StateIndex first, StateIndex last) { return live.extremes(first, last).max; });
        if (out.m_reserved)
            column([&](StateIndex first, StateIndex last) {
                return replay.segments.reserved().extremes(first, last).max;
            });
        if (out.m_times)
            column([&](StateIndex, StateIndex last) { return *replay.timeUs(last); });
    }
    return out;
}

std::optional<SeriesSummary> SeriesSummary::fromParts(
    StateIndex states, bool reserved, bool times, std::vector<Level> levels)
{
    SeriesSummary out;
    out.m_states = states;
    out.m_reserved = reserved;
    out.m_times = times;
    std::uint32_t coarser = 0;
    for (const Level& level : levels) {
        if (level.buckets <= coarser || level.buckets > resolutions.back() || level.buckets > states
            || !out.unpack(level, nullptr))
            return std::nullopt;
        coarser = level.buckets;
    }
    out.m_levels = std::move(levels);
    return out;
}

bool SeriesSummary::unpack(const Level& level, std::vector<Bucket>* out) const
{
    UnpackedNumbers numbers(level.bytes);
    const auto column = [&](const auto& put) {
        numbers.restart();
        for (std::uint32_t b = 0; b < level.buckets; ++b) {
            std::int64_t value = 0;
            if (!numbers.next(value))
                return false;
            if (out != nullptr)
                put((*out)[b], value);
        }
        return true;
    };
    if (out != nullptr) {
        out->resize(level.buckets);
        for (std::uint32_t b = 0; b < level.buckets; ++b) {
            (*out)[b].first = boundary(b, level.buckets, m_states);
            (*out)[b].last = boundary(b + 1, level.buckets, m_states) - 1;
        }
    }
    return column([](Bucket& bucket, std::int64_t value) { bucket.liveMin = value; })
        && column([](Bucket& bucket, std::int64_t value) { bucket.liveMax = value; })
        && (!m_reserved || column([](Bucket& bucket, std::int64_t value) { bucket.reservedMax = value; }))
        && (!m_times || column([](Bucket& bucket, std::int64_t value) { bucket.timeUs = value; }))
        && numbers.atEnd();
}

std::size_t SeriesSummary::levelFor(std::size_t wanted) const
{
    std::size_t at = 0;
    while (at + 1 < m_levels.size() && m_levels[at].buckets < wanted)
        ++at;
    return at;
}

std::vector<SeriesSummary::Bucket> SeriesSummary::level(std::size_t at) const
{
    std::vector<Bucket> out;
    if (at < m_levels.size())
        unpack(m_levels[at], &out);
    return out;
}

} // namespace tidemark
