// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simulate/what_if.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

/// One setting changed, everything else as recorded.
struct SettingChange {
    std::string text; ///< "expandable_segments:True", "without max_split_size_mb"; empty: nothing is changed
    AllocatorSettings settings;
    /// Why it would change nothing here; empty when it may.
    std::string idle;
};

/// The recorded settings, then what is worth trying one at a time. Source of the values: the notes on
/// PYTORCH_CUDA_ALLOC_CONF in docs/source/notes/cuda.rst of PyTorch 2.6.
std::vector<SettingChange> singleChanges(const AllocatorSettings& own);

/// A change and what would come of it. Bytes.
struct SettingTrial {
    SettingChange change;
    /// Why it is no advice here; nothing is predicted then.
    std::string barred;

    bool fits = false;
    std::uint64_t peakReserved = 0;
    std::uint64_t idleAtPeak = 0;
    AllocatorModel::Counts counts;
    std::optional<WhatIf::OutOfMemory> outOfMemory;
    std::optional<EventIndex> servedFailure;
    /// When it fits: a capacity with which it still does, at most 1/1000 of it or 32 MiB above the least one.
    std::uint64_t needs = 0;
    /// Capacity less needs; absent when there is no capacity or it does not fit.
    std::optional<std::uint64_t> headroom;

    bool unchanged() const { return change.text.empty(); }
    /// Calls of the driver for memory: cudaMalloc, or cuMemCreate and cuMemMap.
    std::uint64_t growths() const { return counts.segmentAllocs + counts.maps; }
};

/// Why settings may not be used in a run; empty when nothing is known against them.
using SettingBar = std::function<std::string(const AllocatorSettings&)>;

/// Answers "which single setting fits with the most headroom?": every change of singleChanges, predicted;
/// best first. Those that fit come first, by what they need and by peak reserved, both in units of 64 MiB,
/// then by calls of the driver; then those that run out, the later the better; then the barred ones. `wish`
/// gives capacity and device; its settings are not looked at. Cost: about ten times Simulation::run per
/// change. Errors: as Simulation::run.
Result<std::vector<SettingTrial>> rankSettings(
    const Simulation& simulation, const WhatIfWish& wish, const SettingBar& barred, const Job& job);

/// The change to recommend: it fits, and the recorded settings do not, or need at least 1 % more. Null: none.
const SettingTrial* bestChange(const std::vector<SettingTrial>& ranked);

} // namespace tidemark
