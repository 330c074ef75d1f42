// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.hpp"
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_step.hpp"

#include <string>
#include <vector>

namespace tidemark::test {

/// One call site of a run written by hand: at the peak `count` allocations of `size` bytes live.
struct SmallSite {
    std::string frame; ///< "f@/x/m.py:7"; empty: no stack
    std::int64_t size = 0;
    int count = 1;
};

/// A run that allocates all sites in turn, `steps` times, and frees them again at the end of each step.
struct SmallRun {
    std::vector<SmallSite> sites;
    std::uint64_t base = 0x7f0000000000ULL; ///< where addresses begin
    bool upwards = true; ///< addresses grow with every allocation, else they fall
    int steps = 1;
    int firstStep = 1; ///< number of the first ProfilerStep
    bool marks = false; ///< ProfilerStep#N and a range "work" in every step
    std::int64_t startUs = 1'000'000;
    std::int64_t tickUs = 10;
    /// Frees of allocations that are older than the recording, each with a size.
    std::vector<std::int64_t> older{};

    std::shared_ptr<const Snapshot> make() const;
    compare::Side side(std::string label = {}) const;
};

/// A snapshot as a side, prepared.
compare::Side sideOf(std::shared_ptr<const Snapshot> snapshot, std::string label = {});
/// The same with a diagnosis.
compare::Side diagnosedSide(std::shared_ptr<const Snapshot> snapshot, RunConfig config = {});

} // namespace tidemark::test
