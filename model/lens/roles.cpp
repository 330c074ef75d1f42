// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/roles.hpp"

#include "model/lens/leaks.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tidemark {

namespace {

/// A forward pass that keeps this share of what it allocates keeps it for a backward pass.
constexpr double keptForBackward = 0.3;

bool isBackward(Phase phase)
{
    return phase == Phase::Backward || phase == Phase::Recompute;
}

bool isTraining(Phase phase)
{
    return phase == Phase::Forward || phase == Phase::Optimizer || isBackward(phase);
}

class RoleFinder {
public:
    RoleFinder(const Replay& replay, const Phases& phases, const Labels& labels)
        : m_timeline(replay.timeline)
        , m_device(replay.device())
        , m_columns(replay.timeline.allocations())
        , m_phases(phases)
        , m_labels(labels)
    {
        readRules();
        readEvents();
    }

    std::optional<std::vector<Role>> find(const Replay& replay, const Job& job)
    {
        const std::size_t count = m_columns.count();
        m_roles.assign(count, Role::Unknown);
        std::vector<std::uint32_t> open;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return std::nullopt;
            if (m_columns.origin[i] != Origin::Traced) {
                m_roles[i] = Role::Predating;
                continue;
            }
            if (const auto role = decided(AllocationId{i}))
                m_roles[i] = *role;
            else
                open.push_back(i);
        }
        learn();
        for (const std::uint32_t i : open)
            m_roles[i] = whenCut(AllocationId{i});
        for (const AllocationId id : findLeaks(replay, m_phases, m_labels, lastsFlags()))
            m_roles[index(id)] = Role::Leak;
        return std::move(m_roles);
    }

private:
    enum class Rule : std::uint8_t { Other, OptimizerState, OptimizerTemporary, Weights, Batch, Workspace, Receive };

    void readRules()
    {
        const std::array<std::pair<const char*, Rule>, 11> known{{{"F-opt", Rule::OptimizerState},
            {"F-master", Rule::OptimizerState}, {"F-opttmp", Rule::OptimizerTemporary},
            {"F-wt", Rule::Weights}, {"F-data", Rule::Batch}, {"F-gmb", Rule::Workspace},
            {"F-ub", Rule::Workspace}, {"F-graph", Rule::Workspace}, {"F-ncclub", Rule::Workspace},
            {"F-kv", Rule::Workspace}, {"F-ppcomm", Rule::Receive}}};
        for (const LabelRule& rule : m_labels.rules->rules()) {
            const auto found = std::ranges::find_if(known, [&](const auto& k) { return rule.id == k.first; });
            m_ruleKinds.push_back(found == known.end() ? Rule::Other : found->second);
        }
    }

    Rule ruleOf(AllocationId id) const
    {
        const std::uint16_t rule = m_labels.ruleOf[index(id)];
        return rule == Labels::unmatched ? Rule::Other : m_ruleKinds[rule];
    }

    /// Where training ends, and how often it changed between backward and anything else.
    void readEvents()
    {
        const std::vector<Phase>& phases = m_phases.ofEvent;
        m_outsideBackward.assign(phases.size() + 1, 0);
        m_model.assign(phases.size() + 1, 0);
        for (std::size_t i = 0; i < phases.size(); ++i) {
            const bool alloc = m_device.events.action[i] == Action::Alloc;
            const Phase phase = phases[i];
            m_outsideBackward[i + 1] = m_outsideBackward[i]
                + (alloc && (phase == Phase::Forward || phase == Phase::Optimizer) ? 1 : 0);
            m_model[i + 1] = m_model[i] + (alloc && (phase == Phase::Forward || isBackward(phase)) ? 1 : 0);
            if (!alloc)
                continue;
            if (isTraining(phase)) {
                m_lastTraining = i;
                m_lastTrainingPhase = phase;
            }
            if (phase == Phase::Optimizer)
                m_lastOptimizer = static_cast<StateIndex>(i + 1);
            m_trains |= isBackward(phase) || phase == Phase::Optimizer;
        }
    }

    Phase phaseAt(EventIndex event) const { return m_phases.ofEvent[index(event)]; }

    /// Frees after the last training event are the program's end.
    std::optional<EventIndex> freeOf(AllocationId id) const
    {
        const auto event = m_timeline.freeEvent(id, m_device);
        if (event && index(*event) > m_lastTraining) {
            const Phase made = m_phases.phaseAt(m_columns.firstState[index(id)]);
            if (made == Phase::Setup || made == Phase::Optimizer)
                return std::nullopt;
        }
        return event;
    }

    std::ptrdiff_t passAt(StateIndex state) const
    {
        const auto next = std::ranges::upper_bound(m_phases.microbatches, state, {}, &Microbatch::forwardFirst);
        return next - m_phases.microbatches.begin() - 1;
    }

    /// The role, when alloc and free settle it.
    std::optional<Role> decided(AllocationId id)
    {
        const Phase made = m_phases.phaseAt(m_columns.firstState[index(id)]);
        const std::optional<EventIndex> freed = freeOf(id);
        switch (made) {
        case Phase::Setup:
            return ofSetup(id, freed);
        case Phase::Forward:
            return ofForward(id, freed);
        case Phase::Backward:
            return ofBackward(id, freed);
        case Phase::Recompute:
            return !freed && !isBackward(m_lastTrainingPhase) ? Role::Workspace : Role::RecomputeTransient;
        case Phase::Optimizer:
            return ofOptimizer(id, freed);
        case Phase::Side:
            return ofSide(id, freed);
        case Phase::Unknown:
            break;
        }
        return Role::Unknown;
    }

    Role ofSetup(AllocationId id, std::optional<EventIndex> freed) const
    {
        switch (ruleOf(id)) {
        case Rule::OptimizerState:
            return freed ? Role::OptimizerTemporary : Role::OptimizerState;
        case Rule::Weights:
            return Role::Parameter;
        case Rule::Workspace:
            return freed ? Role::Unknown : Role::Workspace;
        default:
            return freed ? Role::Unknown : Role::Parameter;
        }
    }

    std::optional<Role> ofForward(AllocationId id, std::optional<EventIndex> freed) const
    {
        const StateIndex made = m_columns.firstState[index(id)];
        if (freed) {
            const Phase phase = phaseAt(*freed);
            if (ruleOf(id) == Rule::Batch && phase != Phase::Forward)
                return Role::StepScoped;
            if (isBackward(phase))
                return Role::SavedActivation;
            if (phase != Phase::Forward)
                return Role::StepScoped;
            const bool samePass = passAt(made) == passAt(stateOf(static_cast<Moment>(index(*freed))));
            return samePass ? Role::ForwardTemporary : Role::StepScoped;
        }
        if (ruleOf(id) == Rule::Workspace)
            return Role::Workspace;
        if (passOver(made))
            return Role::Workspace;
        return std::nullopt;
    }

    /// The backward pass of the forward pass at a state has run, or the step has ended without one.
    bool passOver(StateIndex state) const
    {
        const std::ptrdiff_t pass = passAt(state);
        if (pass < 0)
            return m_lastOptimizer > state;
        const Microbatch& batch = m_phases.microbatches[static_cast<std::size_t>(pass)];
        if (!batch.backwardLast)
            return m_lastOptimizer > state;
        return m_outsideBackward.back() > m_outsideBackward[*batch.backwardLast];
    }

    std::optional<Role> ofBackward(AllocationId id, std::optional<EventIndex> freed) const
    {
        const StateIndex made = m_columns.firstState[index(id)];
        if (freed) {
            if (isBackward(phaseAt(*freed))
                && (m_outsideBackward[index(*freed)] == m_outsideBackward[made]
                    || ruleOf(id) == Rule::Receive))
                return Role::BackwardTemporary;
            return Role::Gradient;
        }
        if (ruleOf(id) == Rule::Workspace)
            return Role::Workspace;
        if (m_outsideBackward.back() > m_outsideBackward[made] || !isBackward(m_lastTrainingPhase))
            return Role::Gradient;
        return std::nullopt;
    }

    Role ofOptimizer(AllocationId id, std::optional<EventIndex> freed) const
    {
        const StateIndex made = m_columns.firstState[index(id)];
        if (freed)
            return m_model[index(*freed)] == m_model[made] ? Role::OptimizerTemporary : Role::StepScoped;
        const bool cut = m_model.back() == m_model[made] && m_lastTrainingPhase == Phase::Optimizer
            && !m_device.ooms.empty();
        if (cut && ruleOf(id) == Rule::OptimizerTemporary)
            return Role::OptimizerTemporary;
        return Role::OptimizerState;
    }

    Role ofSide(AllocationId id, std::optional<EventIndex> freed) const
    {
        if (freed)
            return Role::StepScoped;
        return ruleOf(id) == Rule::Workspace ? Role::Workspace : Role::Unknown;
    }

    static std::uint64_t keyOf(StackId stack, std::uint64_t size)
    {
        return (std::uint64_t{index(stack)} + 1) * 0x9e3779b97f4a7c15ULL ^ size * 0xff51afd7ed558ccdULL;
    }

    /// How allocations of the same stack and size fared whose end is known.
    void learn()
    {
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            const Role role = m_roles[i];
            const int vote = role == Role::SavedActivation || role == Role::Gradient ? 1
                : role == Role::ForwardTemporary || role == Role::BackwardTemporary  ? -1
                                                                                      : 0;
            if (vote != 0)
                m_votes[keyOf(m_columns.stack[i], m_columns.size[i])] += vote;
            if (m_phases.phaseAt(m_columns.firstState[i]) == Phase::Forward) {
                const std::ptrdiff_t pass = passAt(m_columns.firstState[i]);
                if (pass + 1 == static_cast<std::ptrdiff_t>(m_phases.microbatches.size())) {
                    m_lastPassBytes += m_columns.size[i];
                    m_lastPassKept += freeOf(AllocationId{i}) ? 0 : m_columns.size[i];
                }
            }
        }
    }

    /// The trace ends before the pass that would have freed it.
    Role whenCut(AllocationId id) const
    {
        const std::size_t i = index(id);
        const bool forward = m_phases.phaseAt(m_columns.firstState[i]) == Phase::Forward;
        if (const auto vote = m_votes.find(keyOf(m_columns.stack[i], m_columns.size[i]));
            vote != m_votes.end() && vote->second != 0) {
            if (forward)
                return vote->second > 0 ? Role::SavedActivation : Role::ForwardTemporary;
            return vote->second > 0 ? Role::Gradient : Role::BackwardTemporary;
        }
        if (!forward)
            return Role::Unknown;
        if (ruleOf(id) == Rule::Batch)
            return Role::StepScoped;
        const bool keeps = static_cast<double>(m_lastPassKept)
            >= keptForBackward * static_cast<double>(m_lastPassBytes);
        return m_trains || !m_device.ooms.empty() || keeps ? Role::SavedActivation : Role::Unknown;
    }

    std::vector<std::uint8_t> lastsFlags() const
    {
        std::vector<std::uint8_t> lasts(m_columns.count(), 0);
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            const Role role = m_roles[i];
            lasts[i] = role == Role::Workspace || role == Role::OptimizerState
                || ((role == Role::Unknown || role == Role::Gradient) && !freeOf(AllocationId{i}));
        }
        return lasts;
    }

    const Timeline& m_timeline;
    const DeviceTrace& m_device;
    const AllocationColumns& m_columns;
    const Phases& m_phases;
    const Labels& m_labels;
    std::vector<Rule> m_ruleKinds;
    std::vector<Role> m_roles;
    /// By state: allocations so far in forward or the optimizer; in forward or backward.
    std::vector<std::uint32_t> m_outsideBackward;
    std::vector<std::uint32_t> m_model;
    std::size_t m_lastTraining = static_cast<std::size_t>(-1);
    Phase m_lastTrainingPhase = Phase::Unknown;
    StateIndex m_lastOptimizer = 0;
    bool m_trains = false;
    std::unordered_map<std::uint64_t, int> m_votes;
    std::uint64_t m_lastPassBytes = 0;
    std::uint64_t m_lastPassKept = 0;
};

} // namespace

std::optional<std::vector<Role>> findRoles(
    const Replay& replay, const Phases& phases, const Labels& labels, const Job& job)
{
    return RoleFinder(replay, phases, labels).find(replay, job);
}

} // namespace tidemark
