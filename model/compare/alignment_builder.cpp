// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/alignment_builder.hpp"

#include "model/core/counted.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <set>

namespace tidemark::compare {

AlignmentBuilder::AlignmentBuilder(const Side& a, const Side& b)
    : m_a(a)
    , m_b(b)
{
    m_out.m_ranks = {a.rank, b.rank};
    m_out.m_devices = {a.device, b.device};
}

void AlignmentBuilder::add(StateIndex endA, StateIndex endB, bool together, std::string name, bool startsStep)
{
    endA = std::max(endA, m_endA);
    endB = std::max(endB, m_endB);
    const auto part = [&](StateIndex a, StateIndex b) {
        if (a == m_endA && b == m_endB)
            return;
        AlignedPart next;
        next.x0 = m_out.length();
        next.x1 = next.x0 + (static_cast<double>(a - m_endA) + static_cast<double>(b - m_endB)) / 2;
        next.firstA = m_endA;
        next.endA = a;
        next.firstB = m_endB;
        next.endB = b;
        next.name = name;
        next.startsStep = startsStep;
        m_out.m_parts.push_back(std::move(next));
        m_endA = a;
        m_endB = b;
    };
    if (!together)
        part(endA, m_endB);
    part(endA, endB);
}

void AlignmentBuilder::addUnmatchedSteps(Which side, std::size_t first, std::size_t end)
{
    if (first >= end)
        return;
    const std::vector<Step>& steps = (side == Which::A ? m_a : m_b).phases->steps;
    const std::size_t count = end - first;
    std::string text = counted(count, "step", "steps") + " of " + letter(side)
        + (count == 1 ? " has no partner (" : " have no partner (") + displayText(steps[first].name, 40);
    if (count > 1)
        text += (count == 2 ? " and " : " to ") + displayText(steps[end - 1].name, 40);
    const bool cut = std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(first),
        steps.begin() + static_cast<std::ptrdiff_t>(end), [](const Step& step) { return !step.complete; });
    text += cut ? "; cut off by the recording)." : ").";
    m_out.m_unmatched.push_back({side, count, std::move(text)});
}

void AlignmentBuilder::addStep(const Step& a, const Step& b)
{
    const StateIndex endA = a.last + 1;
    const StateIndex endB = b.last + 1;
    const std::string step = a.name == b.name ? a.name : a.name + " / " + b.name;
    const std::vector<PhaseRun> runsA = phaseRuns(*m_a.phases, m_endA, endA);
    const std::vector<PhaseRun> runsB = phaseRuns(*m_b.phases, m_endB, endB);
    const std::size_t firstPart = m_out.m_parts.size();
    std::size_t nextA = 0;
    std::size_t nextB = 0;
    const auto upTo = [&](std::size_t i, std::size_t j) {
        for (; nextA < i; ++nextA) {
            ++m_unmatchedPhases[{Which::A, runsA[nextA].phase}];
            add(runsA[nextA].end, m_endB, true, phaseName(runsA[nextA].phase));
        }
        for (; nextB < j; ++nextB) {
            ++m_unmatchedPhases[{Which::B, runsB[nextB].phase}];
            add(m_endA, runsB[nextB].end, true, phaseName(runsB[nextB].phase));
        }
    };
    const Pairs common = commonRuns(runsA, runsB);
    for (const auto& [i, j] : common) {
        upTo(i, j);
        add(runsA[nextA++].end, runsB[nextB++].end, true, phaseName(runsA[i].phase));
    }
    if (!common.empty())
        upTo(runsA.size(), runsB.size());
    add(endA, endB, true);
    if (firstPart < m_out.m_parts.size()) {
        AlignedPart& part = m_out.m_parts[firstPart];
        part.startsStep = true;
        part.name = part.name.empty() ? step : step + ", " + part.name;
    }
}

void AlignmentBuilder::noteUnmatchedPhases()
{
    for (const auto& [key, count] : m_unmatchedPhases)
        m_out.m_unmatched.push_back({key.first, count,
            counted(count, "stretch", "stretches") + " of " + phaseName(key.second) + " in "
                + letter(key.first) + (count == 1 ? " has" : " have")
                + " no partner within the matched steps."});
}

void AlignmentBuilder::byStep()
{
    const std::vector<Step>& stepsA = m_a.phases->steps;
    const std::vector<Step>& stepsB = m_b.phases->steps;
    std::size_t nextA = 0;
    std::size_t nextB = 0;
    const auto gap = [&](std::size_t i, std::size_t j, StateIndex endA, StateIndex endB) {
        addUnmatchedSteps(Which::A, nextA, i);
        addUnmatchedSteps(Which::B, nextB, j);
        add(endA, endB, nextA == i && nextB == j);
        nextA = i;
        nextB = j;
    };
    for (const auto& [i, j] : m_steps) {
        gap(i, j, stepsA[i].first, stepsB[j].first);
        addStep(stepsA[i], stepsB[j]);
        ++nextA;
        ++nextB;
    }
    gap(stepsA.size(), stepsB.size(), m_a.replay().states(), m_b.replay().states());
    noteUnmatchedPhases();
    m_out.m_pairs = m_steps.size();
    m_out.m_matchedText = formatCount(static_cast<std::int64_t>(m_steps.size())) + " of "
        + formatCount(static_cast<std::int64_t>(std::max(stepsA.size(), stepsB.size()))) + " matched";
}

void AlignmentBuilder::byMark()
{
    // Every matched begin and end is a point of the map as long as the points ascend on both sides.
    struct Point {
        StateIndex a;
        StateIndex b;
        const Mark* begins;
    };
    std::vector<Point> points;
    for (const auto& [a, b] : m_marks) {
        points.push_back({a->first, b->first, a});
        points.push_back({a->last + 1, b->last + 1, nullptr});
    }
    std::stable_sort(points.begin(), points.end(),
        [](const Point& x, const Point& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
    std::string name;
    for (const Point& point : points) {
        if (point.a > m_endA && point.b > m_endB)
            add(point.a, point.b, true, std::exchange(name, {}));
        if (point.begins != nullptr && m_endA == point.a && m_endB == point.b)
            name = point.begins->name;
    }
    add(m_a.replay().states(), m_b.replay().states(), true, name);
    const std::uint64_t paired = m_marks.size();
    for (const Which side : {Which::A, Which::B}) {
        const std::uint64_t all = usableMarks((side == Which::A ? m_a : m_b).marks());
        if (all > paired)
            m_out.m_unmatched.push_back({side, all - paired,
                counted(all - paired, "mark", "marks") + " of " + letter(side)
                    + (all - paired == 1 ? " has" : " have")
                    + " no partner of equal name in the same order."});
    }
    m_out.m_pairs = m_marks.size();
    m_out.m_matchedText = counted(m_marks.size(), "mark", "marks") + " matched";
}

void AlignmentBuilder::byPeak()
{
    const StateIndex peakA = m_a.peakState();
    const StateIndex peakB = m_b.peakState();
    add(peakA, peakB, true, "before the peak");
    if ((peakA == 0) != (peakB == 0)) {
        const Which side = peakA == 0 ? Which::B : Which::A;
        m_out.m_unmatched.push_back({side, 1,
            std::string("What comes before the peak of ") + letter(side)
                + " has no partner: the other is highest before its first event."});
    }
    add(m_a.replay().states(), m_b.replay().states(), true, "from the peak on");
}

void AlignmentBuilder::byEvent()
{
    add(m_a.replay().states(), m_b.replay().states(), true);
}

void AlignmentBuilder::byTime()
{
    const auto length = [](const Replay& replay) {
        return static_cast<double>(replay.monotoneTimes.back() - *replay.originUs()) + 1;
    };
    const Replay& a = m_a.replay();
    const Replay& b = m_b.replay();
    const double shorter = std::min(length(a), length(b));
    const double longer = std::max(length(a), length(b));
    const auto endOf = [shorter](const Replay& replay) {
        return replay.stateAtTime(*replay.originUs() + static_cast<std::int64_t>(shorter) - 1) + 1;
    };
    AlignedPart both;
    both.x1 = shorter;
    both.endA = endOf(a);
    both.endB = endOf(b);
    m_out.m_parts.push_back(both);
    if (longer > shorter) {
        const Which side = length(a) > length(b) ? Which::A : Which::B;
        m_out.m_parts.push_back({shorter, longer, both.endA, side == Which::A ? a.states() : both.endA,
            both.endB, side == Which::B ? b.states() : both.endB, {}, false});
        m_out.m_unmatched.push_back({side, 1,
            std::string(letter(side)) + " goes on for "
                + formatDuration(static_cast<std::int64_t>(longer - shorter))
                + " after the end of the other."});
    }
}

Alignment AlignmentBuilder::build(std::optional<AlignBy> wished, std::int64_t offset)
{
    findOptions();
    m_out.m_offset = offset;
    const bool possible = wished && m_out.m_options[static_cast<std::size_t>(*wished)].available;
    m_out.m_automatic = !possible;
    m_out.m_by = possible ? *wished : bestOf();
    switch (m_out.m_by) {
    case AlignBy::Step:
        byStep();
        break;
    case AlignBy::Mark:
        byMark();
        break;
    case AlignBy::Peak:
        byPeak();
        break;
    case AlignBy::Event:
        byEvent();
        break;
    case AlignBy::Time:
        byTime();
        break;
    }
    explain(wished);
    return std::move(m_out);
}

} // namespace tidemark::compare
