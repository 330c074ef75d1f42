// SPDX-License-Identifier: GPL-3.0-or-later
// Which alignments are possible, and the sentences about them.
#include "model/compare/alignment_builder.hpp"

#include "model/core/counted.hpp"
#include "model/core/units.hpp"

namespace tidemark::compare {

namespace {

bool hasTimes(const Side& side)
{
    return side.replay().originUs().has_value();
}

/// "A has no events" and the like for one or both.
std::string lacking(bool a, bool b, const char* what)
{
    return std::string(a && b ? "Neither run has " : a ? "A has no " : "B has no ") + what + ".";
}

} // namespace

const char* letter(Which side)
{
    return side == Which::A ? "A" : "B";
}

std::uint64_t usableMarks(const std::vector<Mark>& marks)
{
    return static_cast<std::uint64_t>(
        std::count_if(marks.begin(), marks.end(), [](const Mark& mark) { return !mark.step && !mark.open; }));
}

void AlignmentBuilder::findSteps()
{
    const std::size_t stepsA = m_a.phases ? m_a.phases->steps.size() : 0;
    const std::size_t stepsB = m_b.phases ? m_b.phases->steps.size() : 0;
    if (stepsA > 0 && stepsB > 0)
        m_steps = pairSteps(*m_a.phases, *m_b.phases, m_numbered);
    if (!m_steps.empty())
        offer(AlignBy::Step, true,
            counted(m_steps.size(), "step", "steps") + " of " + formatCount(std::int64_t(stepsA))
                + " in A and " + formatCount(std::int64_t(stepsB)) + " in B.");
    else if (stepsA == 0 || stepsB == 0)
        offer(AlignBy::Step, false,
            lacking(stepsA == 0, stepsB == 0, "steps: there are no step marks, and no repeating pattern"));
    else
        offer(AlignBy::Step, false, "No whole step of A has a whole step of B as partner.");
}

void AlignmentBuilder::findMarks()
{
    m_marks = pairUserMarks(m_a.marks(), m_b.marks());
    const bool noneA = usableMarks(m_a.marks()) == 0;
    const bool noneB = usableMarks(m_b.marks()) == 0;
    if (!m_marks.empty())
        offer(AlignBy::Mark, true, counted(m_marks.size(), "mark", "marks") + " of equal name.");
    else if (noneA || noneB)
        offer(
            AlignBy::Mark, false, lacking(noneA, noneB, "marks (torch.profiler.record_function) of its own"));
    else
        offer(AlignBy::Mark, false, "No mark of A has the name of one of B.");
}

void AlignmentBuilder::findOptions()
{
    findSteps();
    findMarks();
    const bool emptyA = m_a.replay().states() < 2;
    const bool emptyB = m_b.replay().states() < 2;
    const bool empty = emptyA || emptyB;
    offer(AlignBy::Peak, !empty,
        empty ? lacking(emptyA, emptyB, "events") : "The stretches before and after the peak.");
    offer(AlignBy::Event, true, "The first event with the first, the last with the last.");
    const bool timeless = !hasTimes(m_a) || !hasTimes(m_b);
    offer(AlignBy::Time, !timeless,
        timeless ? lacking(!hasTimes(m_a), !hasTimes(m_b), "times") : "Time since the first event.");
}

AlignBy AlignmentBuilder::bestOf() const
{
    for (const AlignBy by : {AlignBy::Step, AlignBy::Mark, AlignBy::Peak})
        if (m_out.m_options[static_cast<std::size_t>(by)].available)
            return by;
    return AlignBy::Event;
}

void AlignmentBuilder::explainSteps()
{
    const Phases& a = *m_a.phases;
    const Phases& b = *m_b.phases;
    std::string found = stepSourceName(a.source);
    if (a.source != b.source)
        found += std::string(" in A, ") + stepSourceName(b.source) + " in B";
    m_out.m_explanation = "Aligned by step (" + found + "), " + m_out.m_matchedText
        + (m_numbered ? " by number" : " in order")
        + "; inside a step by phase, inside a phase by share of events.";
    const bool late = m_a.replay().reachesStart() != m_b.replay().reachesStart();
    if (!m_numbered && late)
        m_out.m_explanation += " One recording does not reach back to the start of its run, so step numbers "
                               "need not be those of the run.";
}

void AlignmentBuilder::explain(std::optional<AlignBy> wished)
{
    switch (m_out.m_by) {
    case AlignBy::Step:
        explainSteps();
        break;
    case AlignBy::Mark:
        m_out.m_explanation = "Aligned by marks of equal name, the n-th with the n-th: " + m_out.m_matchedText
            + "; between them by share of events.";
        break;
    case AlignBy::Peak:
        m_out.m_explanation = "Aligned by peak: what comes before A's peak is laid on what comes before B's, "
                              "and so after it, each by share of events.";
        break;
    case AlignBy::Event:
        m_out.m_explanation = "Aligned by share of events: the first with the first, the last with the last.";
        break;
    case AlignBy::Time:
        m_out.m_explanation = "Aligned by time since each recording's first event.";
        break;
    }
    if (wished && *wished != m_out.m_by)
        m_out.m_explanation = std::string("By ") + alignName(*wished) + " is not possible: "
            + m_out.m_options[static_cast<std::size_t>(*wished)].why + " " + m_out.m_explanation;
    else if (!wished && m_out.m_by != AlignBy::Step)
        m_out.m_explanation += " By step is not possible: " + m_out.m_options[0].why;
}

} // namespace tidemark::compare
