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
    }

    /// Null when stopped.
    std::optional<std::vector<Role>> find(const Replay& replay, const Job& job)
    {
        if (!readEvents(job))
            return std::nullopt;
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
        if (!learn(job))
            return std::nullopt;
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return std::nullopt;
            m_roles[open[i]] = whenCut(AllocationId{open[i]});
        }
        for (const AllocationId id : findLeaks(replay, m_phases, m_labels, lastsFlags(), job))
            m_roles[index(id)] = Role::Leak;
        if (job.stopped())
            return std::nullopt;
        return std::move(m_roles);
    }

private:
    struct Fate {
        std::uint32_t kept = 0; ///< until backward, or as gradients
        std::uint32_t gone = 0; ///< as temporaries
        StateIndex longest = 0; ///< life of these
    };
    enum class Rule : std::uint8_t {
        Other,
        OptimizerState,
        OptimizerTemporary,
        Weights,
        Batch,
        Workspace,
        Graph,
        Receive
    };

    void readRules()
    {
        const std::array<std::pair<const char*, Rule>, 15> known{{{"F-opt", Rule::OptimizerState},
            {"F-master", Rule::OptimizerState}, {"F-opttmp", Rule::OptimizerTemporary},
            {"F-wt", Rule::Weights}, {"F-ddpbuf", Rule::Weights}, {"F-data", Rule::Batch},
            {"F-gmb", Rule::Workspace}, {"F-ws", Rule::Workspace}, {"F-ub", Rule::Workspace},
            {"F-ncclub", Rule::Workspace}, {"F-kv", Rule::Workspace}, {"F-graph", Rule::Graph},
            {"F-mfsdp", Rule::Workspace}, {"F-fsdp2", Rule::Workspace}, {"F-ppcomm", Rule::Receive}}};
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
    bool readEvents(const Job& job)
    {
        const std::vector<Phase>& phases = m_phases.ofEvent;
        m_outsideBackward.assign(phases.size() + 1, 0);
        m_model.assign(phases.size() + 1, 0);
        for (std::size_t i = 0; i < phases.size(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
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
        return true;
    }

    Phase phaseAt(EventIndex event) const { return m_phases.ofEvent[index(event)]; }

    /// When the program gave it up while it still trained: frees of lasting memory after the last training
    /// event are the program's end.
    std::optional<EventIndex> freeOf(AllocationId id) const
    {
        const auto event = m_timeline.freeEvent(id, m_device);
        if (!event || index(*event) <= m_lastTraining)
            return event;
        const StateIndex state = m_columns.firstState[index(id)];
        const Phase made = m_phases.phaseAt(state);
        const bool lasting = made == Phase::Setup
            || (made == Phase::Optimizer
                && (m_model.back() > m_model[state] || ruleOf(id) == Rule::OptimizerState));
        return lasting ? std::nullopt : event;
    }

    std::ptrdiff_t passAt(StateIndex state) const
    {
        const auto next
            = std::ranges::upper_bound(m_phases.microbatches, state, {}, &Microbatch::forwardFirst);
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

    /// Memory that a capture gives back by its end was a temporary of the captured code.
    Role ofGraph(AllocationId id, std::optional<EventIndex> freed) const
    {
        if (!freed)
            return Role::Workspace;
        const StateIndex made = m_columns.firstState[index(id)];
        return m_model[index(*freed)] > m_model[made] ? Role::StepScoped : Role::ForwardTemporary;
    }

    Role ofSetup(AllocationId id, std::optional<EventIndex> freed) const
    {
        switch (ruleOf(id)) {
        case Rule::OptimizerState:
            return freed ? Role::OptimizerTemporary : Role::OptimizerState;
        case Rule::Weights:
            return Role::Parameter;
        case Rule::Graph:
            return ofGraph(id, freed);
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
        if (ruleOf(id) == Rule::Workspace || ruleOf(id) == Rule::Graph || passOver(made))
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
        if (ruleOf(id) == Rule::Workspace)
            return Role::Workspace;
        if (ruleOf(id) == Rule::Graph)
            return ofGraph(id, freed);
        const StateIndex made = m_columns.firstState[index(id)];
        return freed && m_model[index(*freed)] > m_model[made] ? Role::StepScoped : Role::Unknown;
    }

    static std::uint64_t keyOf(StackId stack, std::uint64_t size)
    {
        return (std::uint64_t{index(stack)} + 1) * 0x9e3779b97f4a7c15ULL ^ size * 0xff51afd7ed558ccdULL;
    }

    /// How allocations of the same stack and size fared whose end is known.
    bool learn(const Job& job)
    {
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            const Role role = m_roles[i];
            const bool kept = role == Role::SavedActivation || role == Role::Gradient;
            if (kept || role == Role::ForwardTemporary || role == Role::BackwardTemporary) {
                Fate& fate = m_fates[keyOf(m_columns.stack[i], m_columns.size[i])];
                ++(kept ? fate.kept : fate.gone);
                if (!kept)
                    fate.longest = std::max(fate.longest, m_columns.endState[i] - m_columns.firstState[i]);
            }
            if (m_phases.phaseAt(m_columns.firstState[i]) == Phase::Forward) {
                const std::ptrdiff_t pass = passAt(m_columns.firstState[i]);
                if (pass + 1 == static_cast<std::ptrdiff_t>(m_phases.microbatches.size())) {
                    m_lastPassBytes += m_columns.size[i];
                    m_lastPassKept += freeOf(AllocationId{i}) ? 0 : m_columns.size[i];
                }
            }
        }
        return true;
    }

    /// The trace ends before the pass that would have freed it: what its likes were, unless it is older than
    /// any of their temporaries became.
    Role whenCut(AllocationId id) const
    {
        const std::size_t i = index(id);
        const bool forward = m_phases.phaseAt(m_columns.firstState[i]) == Phase::Forward;
        if (const auto found = m_fates.find(keyOf(m_columns.stack[i], m_columns.size[i]));
            found != m_fates.end()) {
            const Fate& fate = found->second;
            const StateIndex age = m_columns.endState[i] - m_columns.firstState[i];
            if (fate.kept > fate.gone || (fate.gone > 0 && age > 2 * fate.longest))
                return forward ? Role::SavedActivation : Role::Gradient;
            if (fate.gone > 0)
                return forward ? Role::ForwardTemporary : Role::BackwardTemporary;
        }
        if (!forward)
            return Role::Unknown;
        if (ruleOf(id) == Rule::Batch)
            return Role::StepScoped;
        const bool keeps
            = static_cast<double>(m_lastPassKept) >= keptForBackward * static_cast<double>(m_lastPassBytes);
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
    std::unordered_map<std::uint64_t, Fate> m_fates;
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
