// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/side.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::compare {

enum class AlignBy : std::uint8_t { Step, Mark, Peak, Event, Time };
inline constexpr std::size_t alignments = 5;
/// "step", "mark", "peak", "event", "time": for options and JSON.
const char* alignName(AlignBy by);
std::optional<AlignBy> alignFromName(std::string_view name);

/// A stretch of the common axis. The states of A in [firstA, endA) are mapped linearly onto [x0, x1), those
/// of B likewise. A side that has nothing here (first = end) stands still at that state.
struct AlignedPart {
    double x0 = 0;
    double x1 = 0;
    StateIndex firstA = 0;
    StateIndex endA = 0;
    StateIndex firstB = 0;
    StateIndex endB = 0;
    /// "step 3", "forward", "before the peak"; empty between named parts.
    std::string name;
    bool startsStep = false; ///< a matched step begins here: a labelled tick

    /// Both sides have something here: their difference means something.
    bool matched() const { return firstA < endA && firstB < endB; }

    /// The part in whole numbers, so that both sides can be walked without rounding: `ticks` of them, of
    /// which a state of A takes ticksOfA and one of B ticksOfB. Not for AlignBy::Time.
    std::uint64_t ticksOfA() const { return std::max<std::uint64_t>(endB - firstB, 1); }
    std::uint64_t ticksOfB() const { return std::max<std::uint64_t>(endA - firstA, 1); }
    std::uint64_t ticks() const { return ticksOfA() * ticksOfB(); }
};

/// Something of one side that has no partner on the other.
struct Unmatched {
    Which side{};
    std::uint64_t count = 0; ///< of steps, phases or marks
    std::string reason; ///< "3 steps of B have no partner (step 4 to step 6)."
};

/// Whether a way to align is possible for two sides, and why not.
struct AlignOption {
    AlignBy by{};
    bool available = false;
    std::string why; ///< a sentence; what it would match, or why it is not possible
};

/// Which state of A belongs to which state of B: a common axis x in [0, length()] and two monotone maps.
/// For all kinds but Time the maps are piecewise linear in states and x counts states (the mean of both sides
/// in every part, so that a run aligned with itself has x = state); for Time x counts microseconds since each
/// side's first event. Every function is O(log parts). Immutable after build.
class Alignment {
public:
    /// Cost: passes over steps, phases or marks. `by` absent, or not available: the best one. `offset`: B is
    /// moved by so many states after that (B's state at x is that of the plain map plus offset, kept inside
    /// the trace). The sides must be prepared().
    static Alignment build(
        const Side& a, const Side& b, std::optional<AlignBy> by = std::nullopt, std::int64_t offset = 0);

    AlignBy by() const { return m_by; }
    /// True when it was not what was asked for by name.
    bool automatic() const { return m_automatic; }
    /// "Aligned by step: 2 of 2 steps matched …": one or two sentences.
    const std::string& explanation() const { return m_explanation; }
    /// "2 of 3 steps", "4 marks"; empty for kinds without.
    const std::string& matchedText() const { return m_matchedText; }
    /// All five, in the order of AlignBy.
    const std::array<AlignOption, alignments>& options() const { return m_options; }
    const std::vector<AlignedPart>& parts() const { return m_parts; }
    const std::vector<Unmatched>& unmatched() const { return m_unmatched; }
    /// Pairs of steps or marks that were matched.
    std::size_t pairs() const { return m_pairs; }
    std::int64_t offset() const { return m_offset; }
    double length() const { return m_parts.empty() ? 0 : m_parts.back().x1; }
    /// B's offset changed, everything else kept.
    Alignment withOffset(std::int64_t offset) const;

    /// State of one side at x; x beyond the axis counts as its end.
    StateIndex stateOf(Which side, double x) const;
    /// First x of a state; stateOf(side, xOf(side, s)) = s except where time stands still and where an offset
    /// pushes B beyond its ends.
    double xOf(Which side, StateIndex state) const;
    /// The other side's state for one of this side.
    StateIndex partner(Which side, StateIndex state) const
    {
        return stateOf(side == Which::A ? Which::B : Which::A, xOf(side, state));
    }
    /// Part that contains x.
    const AlignedPart& partAt(double x) const { return m_parts[partIndex(x)]; }

    std::size_t partIndex(double x) const;
    /// Place of x in a part: a tick, or microseconds since the first event for Time.
    std::uint64_t tickOf(const AlignedPart& part, double x) const;
    /// State of a side at a tick of a part, offset included.
    StateIndex stateAtTick(Which side, const AlignedPart& part, std::uint64_t tick) const;
    const std::shared_ptr<const Rank>& rank(Which side) const
    {
        return m_ranks[static_cast<std::size_t>(side)];
    }
    const Replay& replay(Which side) const
    {
        return *rank(side)->devices[m_devices[static_cast<std::size_t>(side)]];
    }

private:
    friend class AlignmentBuilder;
    AlignBy m_by{};
    bool m_automatic = false;
    std::string m_explanation;
    std::string m_matchedText;
    std::array<AlignOption, alignments> m_options;
    std::vector<AlignedPart> m_parts;
    std::vector<Unmatched> m_unmatched;
    std::size_t m_pairs = 0;
    std::int64_t m_offset = 0;
    std::array<std::shared_ptr<const Rank>, 2> m_ranks;
    std::array<std::size_t, 2> m_devices{};
};

} // namespace tidemark::compare
