// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/steps.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace tidemark {

namespace {

/// Periods that must follow each other, and the share of their allocations that must agree.
constexpr std::size_t leastRepeats = 3;
/// Rounds in a step: gradient accumulation over more is not looked for, each length costs a pass.
constexpr std::size_t longestPeriod = 128;
constexpr double leastAgreement = 0.95;
/// Confidence of steps that recorded frames delimit, when there are no two to compare.
constexpr double alone = 0.5;

bool trainsIn(Phase phase)
{
    return phase == Phase::Forward || phase == Phase::Backward || phase == Phase::Recompute;
}

class StepFinder {
public:
    StepFinder(const Replay& replay, const StackKinds& kinds, const EventPhases& phases,
        std::optional<StateIndex> firstForward, const Job& job)
        : m_replay(replay)
        , m_kinds(kinds)
        , m_events(replay.device().events)
        , m_phases(phases.ofEvent)
        , m_firstForward(firstForward)
        , m_job(job)
    {
        m_known = std::ranges::any_of(m_phases, trainsIn);
    }

    FoundSteps find(std::span<const Mark> marks)
    {
        if (FoundSteps found = fromProfiler(marks); !found.steps.empty())
            return found;
        if (const std::vector<StateIndex> ends = optimizerMarkEnds(marks); !ends.empty())
            return {byEnds(ends), StepSource::OptimizerMarks, 1};
        if (const std::vector<StateIndex> ends = optimizerFrameEnds(); !ends.empty())
            return measured(byEnds(ends), StepSource::OptimizerFrames);
        if (const std::vector<StateIndex> ends = trainStepEnds(); !ends.empty())
            return measured(byEnds(ends), StepSource::TrainStepFrames);
        return fromPeriods();
    }

private:
    StateIndex lastState() const { return m_replay.states() - 1; }
    bool isAlloc(std::size_t event) const { return m_events.action[event] == Action::Alloc; }

    FoundSteps fromProfiler(std::span<const Mark> marks) const
    {
        FoundSteps found{{}, StepSource::ProfilerSteps, 1};
        for (const Mark& mark : marks) {
            if (!mark.step || mark.last <= mark.first)
                continue;
            StateIndex first = mark.first + 1;
            if (!found.steps.empty())
                first = std::max(first, found.steps.back().last + 1);
            if (first <= mark.last)
                found.steps.push_back({mark.name, first, mark.last, !mark.open});
        }
        return found;
    }

    /// Ends of the optimizer's ranges. Several optimizers of one step have nothing of the model between them.
    std::vector<StateIndex> optimizerMarkEnds(std::span<const Mark> marks) const
    {
        std::vector<std::pair<StateIndex, StateIndex>> ranges;
        for (const Mark& mark : marks)
            if (mark.name.starts_with("Optimizer.step#") && !(mark.open && !mark.endUs))
                ranges.emplace_back(mark.last, mark.first);
        std::ranges::sort(ranges);
        std::vector<StateIndex> ends;
        for (const auto& [last, first] : ranges) {
            if (!ends.empty() && !modelBetween(ends.back(), first))
                ends.back() = last;
            else if (last > 0)
                ends.push_back(last);
        }
        return ends;
    }

    bool modelBetween(StateIndex after, StateIndex until) const
    {
        for (StateIndex state = after; state < until; ++state)
            if (isAlloc(state) && (!m_known || trainsIn(m_phases[state])))
                return true;
        return false;
    }

    /// Last state of every cluster of optimizer events: the model runs before and after it.
    std::vector<StateIndex> optimizerFrameEnds() const
    {
        std::vector<StateIndex> ends;
        StateIndex last = 0;
        bool requested = false;
        for (std::size_t i = 0; i < m_phases.size(); ++i) {
            if (m_phases[i] == Phase::Optimizer) {
                last = static_cast<StateIndex>(i + 1);
                requested |= isAlloc(i);
            } else if (trainsIn(m_phases[i]) && isAlloc(i)) {
                if (requested)
                    ends.push_back(last);
                requested = false;
            }
        }
        if (requested && m_known)
            ends.push_back(last);
        if (!m_known)
            ends.clear();
        return ends;
    }

    /// Megatron's loop calls the parts of a step from increasing lines: where the line goes back, one begins.
    std::vector<StateIndex> trainStepEnds() const
    {
        std::vector<StateIndex> ends;
        std::uint32_t line = 0;
        for (std::size_t i = 0; i < m_phases.size(); ++i) {
            const std::uint32_t here = isAlloc(i) ? m_kinds.trainStepLine(m_events.stack[i]) : 0;
            if (here == 0)
                continue;
            if (here < line)
                ends.push_back(static_cast<StateIndex>(i));
            line = here;
        }
        return ends;
    }

    /// Steps that end at these states, and what began after the last of them.
    std::vector<Step> byEnds(const std::vector<StateIndex>& ends) const
    {
        const bool fromStart = m_firstForward && *m_firstForward <= ends.front();
        std::vector<Step> steps;
        StateIndex first = fromStart ? *m_firstForward : 1;
        for (const StateIndex end : ends) {
            if (first > end)
                continue;
            steps.push_back({{}, first, end, !steps.empty() || fromStart});
            first = end + 1;
        }
        if (first <= lastState() && modelBetween(first - 1, lastState()))
            steps.push_back({{}, first, lastState(), false});
        for (std::size_t i = 0; i < steps.size(); ++i)
            steps[i].name = "step " + std::to_string(i + 1);
        return steps;
    }

    static FoundSteps found(std::vector<Step> steps, StepSource source, double confidence)
    {
        return {std::move(steps), source, confidence};
    }

    FoundSteps measured(std::vector<Step> steps, StepSource source) const
    {
        double sum = 0;
        int pairs = 0;
        const Step* before = nullptr;
        for (const Step& step : steps) {
            if (!step.complete)
                continue;
            // The first step also creates what lasts; it is no measure of the others.
            if (before != nullptr) {
                sum += agreement(*before, step);
                ++pairs;
            }
            before = &step;
        }
        return found(std::move(steps), source, pairs == 0 ? alone : sum / pairs);
    }

    std::uint64_t keyOf(std::size_t event) const
    {
        const std::uint64_t stack = index(m_events.stack[event]);
        return (stack << 32U | stack)
            ^ static_cast<std::uint64_t>(m_events.size[event]) * 0x9e3779b97f4a7c15ULL;
    }

    /// Share of the allocations of two stretches that have a partner of the same stack and size.
    double agreement(const Step& a, const Step& b) const
    {
        std::unordered_map<std::uint64_t, int> count;
        std::size_t inA = 0;
        for (std::size_t i = a.first - 1; i < a.last; ++i)
            if (isAlloc(i)) {
                ++count[keyOf(i)];
                ++inA;
            }
        std::size_t inB = 0;
        std::size_t shared = 0;
        for (std::size_t i = b.first - 1; i < b.last; ++i)
            if (isAlloc(i)) {
                ++inB;
                shared += count[keyOf(i)]-- > 0 ? 1 : 0;
            }
        const std::size_t most = std::max(inA, inB);
        return most == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(most);
    }

    /// Stretches from one forward after backward to the next.
    std::vector<Step> rounds() const
    {
        std::vector<Step> list;
        bool backward = false;
        for (std::size_t i = 0; i < m_phases.size(); ++i) {
            if (!isAlloc(i))
                continue;
            const auto state = static_cast<StateIndex>(i + 1);
            if (m_phases[i] == Phase::Forward && (list.empty() || backward)) {
                if (!list.empty())
                    list.back().last = state - 1;
                list.push_back({{}, state, lastState(), true});
                backward = false;
            } else if (m_phases[i] == Phase::Backward) {
                backward = true;
            }
        }
        if (!backward && !list.empty())
            list.pop_back(); // a forward without its backward is no round
        return list;
    }

    /// Without a trace of an optimizer: the shortest group of forward-backward rounds that comes again and
    /// again. Layers of one pass are periodic too, but hold only one phase.
    FoundSteps fromPeriods() const
    {
        const std::vector<Step> all = rounds();
        for (std::size_t length = 1; length <= longestPeriod && length * (leastRepeats + 1) <= all.size();
             ++length) {
            if (m_job.stopped())
                return {};
            const std::vector<Step> groups = grouped(all, length);
            double sum = 0;
            std::size_t best = 0;
            std::size_t agreeing = 0;
            std::size_t pairs = 0;
            // The first period makes what the others find, gradients above all.
            for (std::size_t i = 1; i + 1 < groups.size(); ++i, ++pairs) {
                const double share = agreement(groups[i], groups[i + 1]);
                sum += share;
                agreeing = share >= leastAgreement ? agreeing + 1 : 0;
                best = std::max(best, agreeing);
            }
            // n periods that follow each other make n − 1 pairs.
            if (pairs > 0 && best + 1 >= leastRepeats && sum / static_cast<double>(pairs) >= leastAgreement)
                return {named(groups), StepSource::Periodicity, sum / static_cast<double>(pairs)};
        }
        return {};
    }

    static std::vector<Step> grouped(const std::vector<Step>& rounds, std::size_t length)
    {
        std::vector<Step> groups;
        for (std::size_t i = 0; i + length <= rounds.size(); i += length)
            groups.push_back({{}, rounds[i].first, rounds[i + length - 1].last, true});
        return groups;
    }

    /// The last period reaches to the end of the trace, which may cut it.
    std::vector<Step> named(std::vector<Step> steps) const
    {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            steps[i].name = "step " + std::to_string(i + 1);
            steps[i].complete = (i > 0 || m_firstForward.has_value()) && steps[i].last < lastState();
        }
        if (steps.size() > 1 && !steps.back().complete)
            steps.back().complete = agreement(steps[steps.size() - 2], steps.back()) >= leastAgreement;
        return steps;
    }

    const Replay& m_replay;
    const StackKinds& m_kinds;
    const EventColumns& m_events;
    const std::vector<Phase>& m_phases;
    std::optional<StateIndex> m_firstForward;
    const Job& m_job;
    bool m_known = false;
};

} // namespace

FoundSteps findSteps(const Replay& replay, const StackKinds& kinds, const EventPhases& phases,
    std::span<const Mark> marks, std::optional<StateIndex> firstForward, const Job& job)
{
    return StepFinder(replay, kinds, phases, firstForward, job).find(marks);
}

} // namespace tidemark
