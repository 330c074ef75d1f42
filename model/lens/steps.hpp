// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/event_phases.hpp"

namespace tidemark {

/// Steps with where they come from, for Phases.
struct FoundSteps {
    std::vector<Step> steps;
    StepSource source = StepSource::None;
    double confidence = 0;
};

/// Tries the sources of StepSource from the best to the last. Cost: passes over the events. Stopped by job:
/// none, to be thrown away.
FoundSteps findSteps(const Replay& replay, const StackKinds& kinds, const EventPhases& phases,
    std::span<const Mark> marks, std::optional<StateIndex> firstForward, const Job& job);

/// Splits the forward events into passes and finds the backward pass of each by what frees its memory.
std::vector<Microbatch> findMicrobatches(
    const Replay& replay, const StackKinds& kinds, const std::vector<Phase>& ofEvent);

} // namespace tidemark
