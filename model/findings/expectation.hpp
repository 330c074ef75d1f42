// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/labels.hpp"
#include "model/playbook/run_config.hpp"
#include "model/replay/replay.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

/// Bytes of one class as the settings let expect them, over the pipeline stages, and as the recording has
/// them.
struct ExpectedClass {
    std::string name;
    std::int64_t low = 0; ///< stage with the least
    std::int64_t high = 0; ///< stage with the most; equal to low with a single stage
    std::int64_t measured = 0;
};

/// The byte model of Megatron Bridge's estimator beside what is live at the peak of a GPU. Which stage the
/// file's rank is, settings do not tell, so expectations are ranges over the stages.
struct Expectation {
    int device = 0; ///< ordinal
    StateIndex peak = 0;
    std::vector<ExpectedClass> classes;
    /// Live at the peak and in no class of the model: temporaries, workspaces, memory from before recording.
    std::int64_t otherMeasured = 0;
    std::int64_t live = 0; ///< Σ measured and otherMeasured
    /// Recompute or offloading make the activations smaller than expected.
    bool activationsAreUpperBound = false;
    std::vector<std::string> assumptions;
};

/// Absent when settings that the model needs are unknown. Cost: a pass over what is live at the peak.
/// Source of the model: estimateMemory.
std::optional<Expectation> expectationOf(const Replay& replay, const Labels& labels, const RunConfig& config);

} // namespace tidemark
