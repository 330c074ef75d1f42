// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/alignment.hpp"
#include "model/compare/changes.hpp"
#include "model/compare/table.hpp"
#include "model/compare/verdicts.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::compare {

struct Wish {
    std::optional<AlignBy> align; ///< absent: the best one
    GroupBy by = GroupBy::Site;
    /// Compared instants; absent: the peak of each.
    std::optional<StateIndex> stateA;
    std::optional<StateIndex> stateB;
};

/// Highest of a quantity on both sides.
struct PeakPair {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t delta() const { return b - a; }
};

/// Everything a window or a text says of two runs. Immutable, shared between threads. Other instants:
/// tableAt; another alignment or grouping: Alignment::build, Matching::build.
struct Comparison {
    Side a; ///< prepared
    Side b;
    Alignment alignment;
    std::shared_ptr<const Matching> matching; ///< under Wish::by
    std::shared_ptr<const Matching> sites; ///< under GroupBy::Site; the same object where that was wished
    Table table; ///< at the wished instants
    PeakPair peak; ///< live
    StateIndex peakStateA = 0;
    StateIndex peakStateB = 0;
    std::optional<PeakPair> reservedPeak; ///< absent when a side does not know it
    std::vector<FindingChange> findings;
    SettingChanges settings;
    std::vector<Verdict> verdicts; ///< of the peaks, in order of importance
    /// What is compared and what cannot be: wrapped or late traces, no steps, other devices, no stacks.
    std::vector<std::string> notes;
    bool oneRun = false; ///< two instants of one run
};

/// "site", "stack", "module", …: the name of a grouping in options and JSON.
const char* groupingName(GroupBy by);

/// Compares two sides. Cost: ≤ 1 s for two runs of 10⁶ events whose phases and labels are known. Null when
/// stopped. Any thread.
std::shared_ptr<const Comparison> compareSides(Side a, Side b, const Wish& wish, const Job& job);

/// True when B's live peak is more than `percent` above A's; with an empty A, when B has any.
bool peakGrowsBeyond(const Comparison& comparison, double percent);

/// "B peaks 4.41 GiB lower" in about ten lines: what differs, by how much, where in the code. `top`: rows
/// listed at most.
std::string compareText(const Comparison& comparison, std::size_t top = 5);
/// The object that help/command-line.md describes, on one line. `top`: rows listed, the rest is summed in
/// "other".
std::string compareJson(const Comparison& comparison, std::optional<std::size_t> top = std::nullopt);

} // namespace tidemark::compare
