// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/alignment.hpp"

#include <map>
#include <utility>

namespace tidemark::compare {

/// Steps or marks of both sides that belong together, in order.
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Puts the parts of an alignment one behind the other. One use.
class AlignmentBuilder {
public:
    AlignmentBuilder(const Side& a, const Side& b);

    Alignment build(std::optional<AlignBy> wished, std::int64_t offset);

private:
    AlignBy bestOf() const;
    void findOptions();
    void explain(std::optional<AlignBy> wished);
    void offer(AlignBy by, bool available, std::string why)
    {
        m_out.m_options[static_cast<std::size_t>(by)] = {by, available, std::move(why)};
    }

    void byStep();
    void byMark();
    void byPeak();
    void byEvent();
    void byTime();
    void findSteps();
    void findMarks();
    void explainSteps();

    /// Adds the states up to the given ends; two parts where they do not belong together.
    void add(StateIndex endA, StateIndex endB, bool together, std::string name = {}, bool startsStep = false);
    void addStep(const Step& a, const Step& b);
    void addUnmatchedSteps(Which side, std::size_t first, std::size_t end);
    void noteUnmatchedPhases();

    const Side& m_a;
    const Side& m_b;
    Alignment m_out;
    StateIndex m_endA = 0; ///< what has been added so far
    StateIndex m_endB = 0;
    Pairs m_steps;
    bool m_numbered = false; ///< steps were matched by their numbers
    std::vector<std::pair<const Mark*, const Mark*>> m_marks;
    std::map<std::pair<Which, Phase>, std::uint64_t> m_unmatchedPhases;
};

/// "A" or "B".
const char* letter(Which side);
/// Marks that can be points of an alignment: not steps, closed.
std::uint64_t usableMarks(const std::vector<Mark>& marks);

/// Steps that belong together: by number where both have ProfilerStep numbers that overlap, else whole steps
/// in order. `numbered`: which it was.
Pairs pairSteps(const Phases& a, const Phases& b, bool& numbered);
/// Closed user marks, the n-th of a name with the n-th; those that would cross others are left out.
std::vector<std::pair<const Mark*, const Mark*>> pairUserMarks(
    const std::vector<Mark>& a, const std::vector<Mark>& b);

/// The larger parts of a step: recompute counts as backward; side work and what is not known as what came
/// before.
struct PhaseRun {
    Phase phase{};
    StateIndex end = 0;
};
std::vector<PhaseRun> phaseRuns(const Phases& phases, StateIndex first, StateIndex end);
/// Longest common subsequence; empty when the lists are too long for it.
Pairs commonRuns(const std::vector<PhaseRun>& a, const std::vector<PhaseRun>& b);

} // namespace tidemark::compare
