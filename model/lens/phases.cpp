// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/phases.hpp"

#include "model/lens/event_phases.hpp"
#include "model/lens/steps.hpp"

#include <algorithm>

namespace tidemark {

const char* phaseName(Phase phase)
{
    switch (phase) {
    case Phase::Unknown:
        return "unknown";
    case Phase::Setup:
        return "set-up";
    case Phase::Forward:
        return "forward";
    case Phase::Backward:
        return "backward";
    case Phase::Recompute:
        return "recompute";
    case Phase::Optimizer:
        return "optimizer";
    case Phase::Side:
        return "side work";
    }
    return "unknown";
}

const char* stepSourceName(StepSource source)
{
    switch (source) {
    case StepSource::None:
        return "none";
    case StepSource::ProfilerSteps:
        return "ProfilerStep marks";
    case StepSource::OptimizerMarks:
        return "Optimizer.step marks";
    case StepSource::OptimizerFrames:
        return "optimizer frames";
    case StepSource::TrainStepFrames:
        return "train_step frames";
    case StepSource::Periodicity:
        return "repeating allocations";
    }
    return "none";
}

namespace {

/// Runs of one phase. A run is recorded when most of its requests say so.
std::vector<PhaseSpan> spansOf(const EventPhases& phases)
{
    std::vector<PhaseSpan> spans;
    std::size_t said = 0;
    std::size_t all = 0;
    for (std::size_t i = 0; i < phases.ofEvent.size(); ++i) {
        const Phase phase = phases.ofEvent[i];
        const auto state = static_cast<StateIndex>(i + 1);
        if (spans.empty() || spans.back().phase != phase) {
            spans.push_back({phase, state, state, false});
            said = 0;
            all = 0;
        }
        said += phases.recorded[i];
        ++all;
        spans.back().last = state;
        spans.back().recorded = said * 3 >= all; // frees, two of three events, seldom say anything
    }
    std::erase_if(spans, [](const PhaseSpan& span) { return span.phase == Phase::Unknown; });
    return spans;
}

std::optional<StateIndex> firstForwardOf(const Replay& replay, const std::vector<Phase>& ofEvent)
{
    bool setUp = replay.reachesStart();
    for (std::size_t i = 0; i < ofEvent.size(); ++i) {
        if (ofEvent[i] == Phase::Forward)
            return setUp ? std::optional(static_cast<StateIndex>(i + 1)) : std::nullopt;
        if (ofEvent[i] == Phase::Backward || ofEvent[i] == Phase::Optimizer)
            return std::nullopt;
        setUp |= ofEvent[i] == Phase::Setup;
    }
    return std::nullopt;
}

} // namespace

std::uint32_t Phases::inFlightAt(StateIndex state) const
{
    return static_cast<std::uint32_t>(std::ranges::count_if(microbatches, [state](const Microbatch& m) {
        return m.forwardFirst <= state && (!m.backwardLast || state < *m.backwardLast);
    }));
}

const Step* Phases::stepAt(StateIndex state) const
{
    const auto next = std::ranges::upper_bound(steps, state, {}, &Step::first);
    if (next == steps.begin())
        return nullptr;
    const Step& step = *std::prev(next);
    return state <= step.last ? &step : nullptr;
}

std::shared_ptr<const Phases> Phases::build(const Replay& replay, std::span<const Mark> marks, const Job& job)
{
    if (job.stopped())
        return nullptr;
    const StackKinds kinds(*replay.snapshot);
    std::optional<EventPhases> events = phasesOfEvents(replay, kinds, marks, job);
    if (!events)
        return nullptr;
    auto phases = std::make_shared<Phases>();
    phases->spans = spansOf(*events);
    phases->firstForward = firstForwardOf(replay, events->ofEvent);
    FoundSteps steps = findSteps(replay, kinds, *events, marks, phases->firstForward, job);
    phases->steps = std::move(steps.steps);
    phases->source = steps.source;
    phases->confidence = steps.confidence;
    if (phases->steps.empty()) {
        phases->source = StepSource::None;
        phases->confidence = 0;
    }
    if (job.stopped())
        return nullptr;
    phases->microbatches = findMicrobatches(replay, kinds, events->ofEvent);
    phases->ofEvent = std::move(events->ofEvent);
    return phases;
}

} // namespace tidemark
