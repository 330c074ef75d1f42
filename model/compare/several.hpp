// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::compare {

/// At most so many runs stand beside each other as bars.
inline constexpr std::size_t maxRuns = 8;

/// Highest memory of one of several runs against a base.
struct PeakBar {
    std::string label;
    std::int64_t peak = 0;
    std::int64_t delta = 0; ///< peak − the base's; 0 for the base
    std::optional<std::int64_t> reservedPeak;
    std::optional<std::int64_t> reservedDelta;
    StateIndex peakState = 0;
    Phase phase = Phase::Unknown; ///< in which the peak lies, where phases are known
};
/// One bar a side, in their order. `base`: position of the run the others are held against.
std::vector<PeakBar> peakBars(std::span<const Side> sides, std::size_t base);

/// Files of two folders that belong together.
struct RankPairs {
    struct Pair {
        std::size_t a = 0; ///< positions in the given lists
        std::size_t b = 0;
        std::string label; ///< "rank 3", else the file's name
    };
    std::vector<Pair> pairs; ///< by rank, then in A's order
    std::vector<std::size_t> onlyA;
    std::vector<std::size_t> onlyB;
};
/// By rank number in the names (rankFromName); what has none, or one that is not alone, by equal names, then
/// by order.
RankPairs pairRanks(std::span<const std::filesystem::path> a, std::span<const std::filesystem::path> b);

/// One pair of ranks in a comparison of folders.
struct RankLine {
    std::string label;
    PeakPair peak;
    std::optional<PeakPair> reservedPeak;
    std::string verdict; ///< title of the first one
};
RankLine rankLine(const std::string& label, const Comparison& comparison);

/// Folders as a whole.
struct FolderComparison {
    std::vector<RankLine> lines;
    std::vector<std::string> onlyA; ///< names without a partner
    std::vector<std::string> onlyB;
    /// Line with the largest |Δ peak|; absent without lines.
    std::optional<std::size_t> largest() const;
    /// Highest live peak of any paired rank on each side.
    PeakPair highest() const;
    /// A line a rank, those without a partner, and the largest difference.
    std::string text() const;
    /// The same as one object on one line; `pairs`: compareJson of every line, in order.
    std::string json(std::span<const std::string> pairs) const;
};

} // namespace tidemark::compare
