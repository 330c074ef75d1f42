// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/lens/marks.hpp"
#include "model/replay/replay.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

/// What the program was doing when an event was recorded.
enum class Phase : std::uint8_t {
    Unknown,
    Setup, ///< before the first forward: building the model, its buffers, loading
    Forward,
    Backward,
    Recompute, ///< forward code replayed inside backward (activation checkpointing)
    Optimizer,
    Side, ///< saving, evaluation, logging: neither of a step's own parts
};
const char* phaseName(Phase phase);

/// A run of events of one phase, for the lane above the timeline. `recorded`: from marks or frames that say
/// so; else inferred from the neighbours.
struct PhaseSpan {
    Phase phase{};
    StateIndex first = 0; ///< state after its first event
    StateIndex last = 0; ///< state after its last event
    bool recorded = false;
};

/// Where a step begins and ends. The steps cover the part of the trace that is known to be stepwise.
struct Step {
    std::string name; ///< "step 3" or "ProfilerStep#12"
    StateIndex first = 0;
    StateIndex last = 0;
    /// Both ends lie in the trace: only such steps count in per-step results.
    bool complete = true;
};

/// How the steps were found, best first (help/labels.md).
enum class StepSource : std::uint8_t {
    None,
    ProfilerSteps,
    OptimizerMarks,
    OptimizerFrames,
    TrainStepFrames,
    Periodicity,
};
const char* stepSourceName(StepSource source);

/// One forward pass and its backward pass.
struct Microbatch {
    StateIndex forwardFirst = 0;
    StateIndex forwardLast = 0;
    std::optional<StateIndex> backwardFirst;
    std::optional<StateIndex> backwardLast;
};

/// Phases and steps of one device, without needing annotations. Immutable after build.
struct Phases {
    std::vector<Phase> ofEvent; ///< by EventIndex; frees have the phase of the events around them
    std::vector<PhaseSpan> spans; ///< in order, without overlap
    std::vector<Step> steps; ///< in order, without overlap
    StepSource source = StepSource::None;
    /// 0…1: the share of the repeats that agree; 1 for recorded marks.
    double confidence = 0;
    std::optional<StateIndex> firstForward;
    std::vector<Microbatch> microbatches;
    /// Forward passes without their backward at a state: 4, 3, 2, 1 by pipeline stage.
    std::uint32_t inFlightAt(StateIndex state) const;
    /// The step that contains a state, or null.
    const Step* stepAt(StateIndex state) const;
    /// Phase of the event that led to a state; Unknown for state 0.
    Phase phaseAt(StateIndex state) const
    {
        return state == 0 || ofEvent.empty() ? Phase::Unknown : ofEvent[state - 1];
    }

    /// Cost: a pass over the events, one test a distinct stack. Any thread. Null when stopped.
    static std::shared_ptr<const Phases> build(
        const Replay& replay, std::span<const Mark> marks, const Job& job);
};

} // namespace tidemark
