// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/curves.hpp"

#include "model/core/byte_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark::compare {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

const Series& seriesOf(const Replay& replay, Curve curve)
{
    return curve == Curve::Live ? replay.timeline.requested() : replay.segments.reserved();
}

/// Walks one curve forward by ticks of a part.
class Walker {
public:
    Walker(const Alignment& alignment, Which side, Curve curve)
        : m_alignment(alignment)
        , m_side(side)
        , m_replay(alignment.replay(side))
        , m_changes(seriesOf(m_replay, curve).changes())
        , m_offset(side == Which::B ? alignment.offset() : 0)
        , m_time(alignment.by() == AlignBy::Time)
        , m_origin(m_time ? *m_replay.originUs() : 0)
    { }

    /// Stands at a tick of a part.
    void enter(const AlignedPart& part, std::uint64_t tick)
    {
        const bool isA = m_side == Which::A;
        m_first = static_cast<std::int64_t>(isA ? part.firstA : part.firstB) + m_offset;
        m_states = isA ? part.endA - part.firstA : part.endB - part.firstB;
        m_ticks = isA ? part.ticksOfA() : part.ticksOfB();
        const StateIndex state = m_alignment.stateAtTick(m_side, part, tick);
        find(state);
        m_value = m_changes[m_next - 1].value;
        m_at = nextTick();
    }

    /// Walks two linear axes up to and with a tick, one change at a time, and widens [least, most] by B − A
    /// after each. In registers and without branches on the data: a picture has a million of them.
    static void differences(Walker& a, Walker& b, std::uint64_t last, std::int64_t& least, std::int64_t& most)
    {
        Cursor ofA(a);
        Cursor ofB(b);
        for (std::uint64_t next = std::min(ofA.at, ofB.at); next <= last; next = std::min(ofA.at, ofB.at)) {
            ofA.pass(next);
            ofB.pass(next);
            const std::int64_t delta = wrappingSubtract(ofB.value, ofA.value);
            least = std::min(least, delta);
            most = std::max(most, delta);
        }
        ofA.leave(a);
        ofB.leave(b);
    }
    bool linear() const { return !m_time; }

    std::int64_t value() const { return m_value; }
    /// Tick of the next change in this part.
    std::uint64_t at() const { return m_at; }
    void advance()
    {
        m_value = m_changes[m_next++].value;
        m_at = nextTick();
    }

private:
    /// The first change after a state. The next part begins where the last one ended: what is near is looked
    /// at first, for a search through a long recording misses the cache at every step.
    void find(StateIndex state)
    {
        constexpr std::size_t near = 16;
        if (m_next > 0 && m_changes[m_next - 1].state <= state)
            for (const std::size_t end = std::min(m_next + near, m_changes.size()); m_next < end; ++m_next)
                if (m_changes[m_next].state > state)
                    return;
        const auto after = std::upper_bound(m_changes.begin(), m_changes.end(), state,
            [](StateIndex s, const Series::Change& change) { return s < change.state; });
        m_next = static_cast<std::size_t>(after - m_changes.begin());
    }

    /// A linear walk's state, apart from what stays.
    struct Cursor {
        explicit Cursor(const Walker& walker)
            : change(walker.m_changes.data() + walker.m_next)
            , end(walker.m_changes.data() + walker.m_changes.size())
            , first(walker.m_first)
            , endState(walker.m_first + walker.m_states)
            , ticks(walker.m_ticks)
            , value(walker.m_value)
            , nextValue(change == end ? 0 : change->value)
            , at(walker.m_at)
        { }
        /// Takes the next change if it is at this tick; a linear axis has one at most.
        void pass(std::uint64_t tick)
        {
            const bool here = at == tick;
            value = here ? nextValue : value;
            change += here ? 1 : 0;
            if (change == end) {
                at = never;
                return;
            }
            nextValue = change->value;
            const std::int64_t state = change->state;
            const std::uint64_t place = static_cast<std::uint64_t>(state - first) * ticks;
            at = state < endState ? place : never;
        }
        void leave(Walker& walker) const
        {
            walker.m_next = static_cast<std::size_t>(change - walker.m_changes.data());
            walker.m_value = value;
            walker.m_at = at;
        }
        const Series::Change* change;
        const Series::Change* end;
        std::int64_t first;
        std::int64_t endState;
        std::uint64_t ticks;
        std::int64_t value;
        std::int64_t nextValue;
        std::uint64_t at;
    };

    std::uint64_t nextTick() const
    {
        if (m_next >= m_changes.size())
            return never;
        const StateIndex state = m_changes[m_next].state;
        if (m_time) {
            const std::int64_t moved = static_cast<std::int64_t>(state) - m_offset;
            if (moved < 1)
                return 0;
            if (moved > static_cast<std::int64_t>(m_replay.monotoneTimes.size()))
                return never;
            const std::int64_t us = m_replay.monotoneTimes[static_cast<std::size_t>(moved) - 1];
            return us > m_origin ? static_cast<std::uint64_t>(us - m_origin) : 0;
        }
        const std::int64_t inside = static_cast<std::int64_t>(state) - m_first;
        return inside < static_cast<std::int64_t>(m_states) ? static_cast<std::uint64_t>(inside) * m_ticks
                                                            : never;
    }

    const Alignment& m_alignment;
    Which m_side;
    const Replay& m_replay;
    std::span<const Series::Change> m_changes;
    std::int64_t m_offset;
    bool m_time;
    std::int64_t m_origin;
    std::int64_t m_first = 0;
    StateIndex m_states = 0;
    std::uint64_t m_ticks = 1;
    std::size_t m_next = 0;
    std::int64_t m_value = 0;
    std::uint64_t m_at = never;
};

/// Fills columns one after the other; both walkers only go forward.
class ColumnFiller {
public:
    ColumnFiller(const Alignment& alignment, Curve curve)
        : m_alignment(alignment)
        , m_a(alignment, Which::A, curve)
        , m_b(alignment, Which::B, curve)
        , m_seriesA(seriesOf(alignment.replay(Which::A), curve))
        , m_seriesB(seriesOf(alignment.replay(Which::B), curve))
    { }

    CurveColumn column(double from, double to)
    {
        m_column = {};
        m_any = false;
        const std::vector<AlignedPart>& parts = m_alignment.parts();
        for (std::size_t i = m_alignment.partIndex(from); i < parts.size(); ++i) {
            if (m_any && parts[i].x0 >= to)
                break;
            part(i, std::max(from, parts[i].x0), std::min(to, parts[i].x1));
        }
        return m_column;
    }

private:
    void part(std::size_t number, double from, double to)
    {
        const AlignedPart& part = m_alignment.parts()[number];
        const std::uint64_t first = m_alignment.tickOf(part, from);
        // Time counts whole microseconds: one that is begun belongs to the column.
        const double end = m_alignment.by() == AlignBy::Time ? std::ceil(to) : to;
        const std::uint64_t last = std::max(first + 1, m_alignment.tickOf(part, end)) - 1;
        extremes(m_seriesA, Which::A, part, first, last, m_column.minA, m_column.maxA);
        extremes(m_seriesB, Which::B, part, first, last, m_column.minB, m_column.maxB);
        m_column.hasA = m_column.hasA || part.firstA < part.endA;
        m_column.hasB = m_column.hasB || part.firstB < part.endB;
        m_any = true;
        if (part.matched())
            difference(number, part, first, last);
    }

    void extremes(const Series& series, Which side, const AlignedPart& part, std::uint64_t first,
        std::uint64_t last, std::int64_t& least, std::int64_t& most) const
    {
        const Series::Extremes found = series.extremes(
            m_alignment.stateAtTick(side, part, first), m_alignment.stateAtTick(side, part, last));
        least = m_any ? std::min(least, found.min) : found.min;
        most = m_any ? std::max(most, found.max) : found.max;
    }

    void difference(std::size_t number, const AlignedPart& part, std::uint64_t first, std::uint64_t last)
    {
        if (number != m_part || first < m_tick) {
            m_a.enter(part, first);
            m_b.enter(part, first);
            m_part = number;
        }
        // What changed between the columns; nothing when they touch.
        skipTo(first);
        m_tick = last;
        std::int64_t delta = wrappingSubtract(m_b.value(), m_a.value());
        std::int64_t least = m_column.hasDelta ? std::min(m_column.minDelta, delta) : delta;
        std::int64_t most = m_column.hasDelta ? std::max(m_column.maxDelta, delta) : delta;
        if (m_a.linear()) {
            Walker::differences(m_a, m_b, last, least, most);
        } else {
            for (std::uint64_t next = std::min(m_a.at(), m_b.at()); next <= last;
                 next = std::min(m_a.at(), m_b.at())) {
                step(next);
                delta = wrappingSubtract(m_b.value(), m_a.value());
                least = std::min(least, delta);
                most = std::max(most, delta);
            }
        }
        m_column.minDelta = least;
        m_column.maxDelta = most;
        m_column.hasDelta = true;
    }

    void skipTo(std::uint64_t tick)
    {
        for (std::uint64_t next = std::min(m_a.at(), m_b.at()); next <= tick;
             next = std::min(m_a.at(), m_b.at()))
            step(next);
    }

    /// Everything that happens at a tick happens at once.
    void step(std::uint64_t tick)
    {
        while (m_a.at() <= tick)
            m_a.advance();
        while (m_b.at() <= tick)
            m_b.advance();
    }

    const Alignment& m_alignment;
    Walker m_a;
    Walker m_b;
    const Series& m_seriesA;
    const Series& m_seriesB;
    CurveColumn m_column;
    bool m_any = false;
    std::size_t m_part = std::numeric_limits<std::size_t>::max();
    std::uint64_t m_tick = 0;
};

} // namespace

bool curveKnown(const Alignment& alignment, Curve curve)
{
    return curve == Curve::Live
        || (alignment.replay(Which::A).segments.reservedKnown()
            && alignment.replay(Which::B).segments.reservedKnown());
}

std::vector<CurveColumn> curveColumns(
    const Alignment& alignment, Curve curve, double from, double to, std::size_t width)
{
    std::vector<CurveColumn> columns;
    if (width == 0 || !curveKnown(alignment, curve) || alignment.parts().empty())
        return columns;
    columns.reserve(width);
    ColumnFiller filler(alignment, curve);
    const double each = (to - from) / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
        columns.push_back(
            filler.column(from + each * static_cast<double>(i), from + each * static_cast<double>(i + 1)));
    return columns;
}

CurveColumn wholeCurve(const Alignment& alignment, Curve curve)
{
    const std::vector<CurveColumn> columns = curveColumns(alignment, curve, 0, alignment.length(), 1);
    return columns.empty() ? CurveColumn{} : columns.front();
}

} // namespace tidemark::compare
