// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/alignment.hpp"

#include "model/compare/alignment_builder.hpp"

#include <cmath>

namespace tidemark::compare {

namespace {

constexpr std::array<const char*, alignments> names{"step", "mark", "peak", "event", "time"};

StateIndex moved(StateIndex state, std::int64_t offset, StateIndex states)
{
    const std::int64_t last = static_cast<std::int64_t>(states) - 1;
    const std::int64_t limited = std::clamp(offset, -last - 1, last + 1);
    return static_cast<StateIndex>(std::clamp<std::int64_t>(state + limited, 0, last));
}

} // namespace

const char* alignName(AlignBy by)
{
    return names[static_cast<std::size_t>(by)];
}

std::optional<AlignBy> alignFromName(std::string_view name)
{
    for (std::size_t i = 0; i < names.size(); ++i)
        if (name == names[i])
            return static_cast<AlignBy>(i);
    return std::nullopt;
}

Alignment Alignment::build(const Side& a, const Side& b, std::optional<AlignBy> by, std::int64_t offset)
{
    return AlignmentBuilder(a, b).build(by, offset);
}

Alignment Alignment::withOffset(std::int64_t offset) const
{
    Alignment copy = *this;
    copy.m_offset = offset;
    return copy;
}

std::size_t Alignment::partIndex(double x) const
{
    const auto after = std::upper_bound(
        m_parts.begin(), m_parts.end(), x, [](double at, const AlignedPart& part) { return at < part.x1; });
    return std::min<std::size_t>(static_cast<std::size_t>(after - m_parts.begin()), m_parts.size() - 1);
}

std::uint64_t Alignment::tickOf(const AlignedPart& part, double x) const
{
    if (m_by == AlignBy::Time)
        return static_cast<std::uint64_t>(std::max(x, 0.0));
    const double share = std::clamp((x - part.x0) / (part.x1 - part.x0), 0.0, 1.0);
    return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(part.ticks())));
}

StateIndex Alignment::stateAtTick(Which side, const AlignedPart& part, std::uint64_t tick) const
{
    const Replay& own = replay(side);
    StateIndex state = 0;
    if (m_by == AlignBy::Time) {
        state = own.stateAtTime(*own.originUs() + static_cast<std::int64_t>(tick));
    } else {
        const std::uint64_t inside = std::min(tick, part.ticks() - 1);
        const bool isA = side == Which::A;
        const StateIndex first = isA ? part.firstA : part.firstB;
        const std::uint64_t step = inside / (isA ? part.ticksOfA() : part.ticksOfB());
        state = std::min(first + static_cast<StateIndex>(step), own.states() - 1);
    }
    return side == Which::A ? state : moved(state, m_offset, own.states());
}

StateIndex Alignment::stateOf(Which side, double x) const
{
    const AlignedPart& part = partAt(x);
    return stateAtTick(side, part, tickOf(part, x));
}

double Alignment::xOf(Which side, StateIndex state) const
{
    const Replay& own = replay(side);
    const bool isA = side == Which::A;
    state = isA ? std::min(state, own.states() - 1) : moved(state, -m_offset, own.states());
    if (m_by == AlignBy::Time)
        return state == 0 || own.monotoneTimes.empty()
            ? 0.0
            : std::max(0.0, static_cast<double>(own.monotoneTimes[state - 1] - *own.originUs()));
    const auto found = std::upper_bound(m_parts.begin(), m_parts.end(), state,
        [isA](StateIndex s, const AlignedPart& part) { return s < (isA ? part.endA : part.endB); });
    const AlignedPart& part = found == m_parts.end() ? m_parts.back() : *found;
    const StateIndex first = isA ? part.firstA : part.firstB;
    const double tick
        = static_cast<double>(state - first) * static_cast<double>(isA ? part.ticksOfA() : part.ticksOfB());
    return part.x0 + (part.x1 - part.x0) * (tick / static_cast<double>(part.ticks()));
}

} // namespace tidemark::compare
