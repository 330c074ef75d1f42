// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/labels.hpp"

#include "model/core/text.hpp"
#include "model/lens/roles.hpp"
#include "model/lens/sites.hpp"
#include "model/lens/stack_labels.hpp"

#include <unordered_map>

namespace tidemark {

const char* roleName(Role role)
{
    switch (role) {
    case Role::Unknown:
        return "unknown";
    case Role::Parameter:
        return "parameter";
    case Role::OptimizerState:
        return "optimizer state";
    case Role::Gradient:
        return "gradient";
    case Role::SavedActivation:
        return "saved activation";
    case Role::ForwardTemporary:
        return "forward temporary";
    case Role::BackwardTemporary:
        return "backward temporary";
    case Role::OptimizerTemporary:
        return "optimizer temporary";
    case Role::RecomputeTransient:
        return "recompute transient";
    case Role::Workspace:
        return "workspace";
    case Role::StepScoped:
        return "step-scoped";
    case Role::Leak:
        return "leak";
    case Role::Predating:
        return "before recording";
    }
    return "unknown";
}

bool Labels::is(AllocationId id, std::string_view ruleId) const
{
    const std::uint16_t rule = ruleOf[index(id)];
    return rule != unmatched && rules->rules()[rule].id == ruleId;
}

namespace {

/// Modules a file may have; those beyond share their rule's name.
constexpr std::size_t maxModules = 60000;
constexpr std::uint16_t noLayer = 0xffff;

/// Gives allocations their modules and layers.
class ModuleFinder {
public:
    ModuleFinder(const Replay& replay, const Phases& phases, Labels& labels)
        : m_snapshot(*replay.snapshot)
        , m_columns(replay.timeline.allocations())
        , m_phases(phases)
        , m_labels(labels)
        , m_stacks(*replay.snapshot, *labels.rules)
        , m_backward(labels.rules->find("F-bwd"))
    {
        for (const LabelRule& rule : labels.rules->rules()) {
            m_known.try_emplace(rule.label, static_cast<std::uint16_t>(labels.modules.size()));
            labels.modules.push_back(rule.label);
        }
    }

    bool find(const Job& job)
    {
        const std::size_t count = m_columns.count();
        m_labels.moduleOf.assign(count, Labels::unmatched);
        m_labels.ruleOf.assign(count, Labels::unmatched);
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            const StackId stack = m_columns.stack[i];
            const StackLabels::Match& match = m_stacks.of(stack, m_stacks.poolOf(m_columns.pool[i]));
            if (match.rule != StackLabels::none)
                set(i, match.rule, match.frame);
            else if (valid(stack))
                tryBackward(i, stack);
        }
        return true;
    }

    /// What the user's rules did. Cost: a pass over the allocations, and own rules × distinct stacks. False
    /// when stopped.
    bool countOwn(const Job& job)
    {
        const std::size_t own = m_labels.rules->own();
        if (own == 0)
            return true;
        struct Share {
            std::uint64_t allocations = 0;
            std::uint64_t bytes = 0;
        };
        std::unordered_map<std::uint64_t, Share> shares;
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            const auto pool = static_cast<std::uint64_t>(m_stacks.poolOf(m_columns.pool[i]));
            Share& share = shares[std::uint64_t{index(m_columns.stack[i])} * 4 + pool];
            ++share.allocations;
            share.bytes += m_columns.size[i];
        }
        m_labels.ownUse.assign(own, {});
        for (const auto& [key, share] : shares) {
            const auto stack = static_cast<StackId>(key / 4);
            const auto pool = static_cast<StackLabels::Pool>(key % 4);
            const std::uint16_t winner = m_stacks.of(stack, pool).rule;
            if (valid(stack)) {
                m_labels.withStack += share.allocations;
                m_labels.withoutOwn += winner < own ? 0 : share.allocations;
            }
            if (winner >= own)
                continue;
            m_labels.ownUse[winner].allocations += share.allocations;
            m_labels.ownUse[winner].bytes += share.bytes;
            for (std::size_t rule = winner + 1U; rule < own; ++rule)
                if (m_stacks.would(stack, rule, pool))
                    m_labels.ownUse[rule].overlapping += share.allocations;
        }
        return true;
    }

    /// Numbers the layers of each forward pass by its groups of QKV allocations. False when stopped.
    bool findLayers(const Job& job)
    {
        m_labels.layerOf.assign(m_columns.count(), noLayer);
        const auto qkv = m_labels.rules->find("F-qkv");
        if (!qkv)
            return true;
        const std::vector<std::uint8_t> inLayer = layerStacks();
        auto pass = m_phases.microbatches.begin();
        int layer = -1;
        bool inGroup = false;
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            const StateIndex state = m_columns.firstState[i];
            if (state == 0 || m_phases.phaseAt(state) != Phase::Forward || !valid(m_columns.stack[i]))
                continue;
            while (pass != m_phases.microbatches.end() && state > pass->forwardLast)
                ++pass;
            if (pass == m_phases.microbatches.end())
                break;
            if (state < pass->forwardFirst)
                continue; // a forward that no backward followed: its layers are not the next pass's
            if (state == pass->forwardFirst) {
                layer = -1;
                inGroup = false;
            }
            const bool group = m_stacks.fits(m_columns.stack[i], *qkv);
            layer += group && !inGroup ? 1 : 0;
            inGroup = group;
            if (layer >= 0 && layer < noLayer && inLayer[index(m_columns.stack[i])] != 0)
                m_labels.layerOf[i] = static_cast<std::uint16_t>(layer);
        }
        return true;
    }

private:
    /// Position of a name; that of the rule's own label when it is new and there is no more room.
    std::uint16_t module(const std::string& name, std::uint16_t rule)
    {
        if (m_labels.modules.size() >= maxModules && !m_known.contains(name))
            return m_known.at(m_labels.rules->rules()[rule].label);
        const auto [entry, added]
            = m_known.try_emplace(name, static_cast<std::uint16_t>(m_labels.modules.size()));
        if (added)
            m_labels.modules.push_back(name);
        return entry->second;
    }

    void set(std::uint32_t id, std::uint16_t rule, FrameId frame)
    {
        m_labels.ruleOf[id] = rule;
        if (!valid(frame)) {
            m_labels.moduleOf[id] = m_known.at(m_labels.rules->rules()[rule].label);
            return;
        }
        std::uint16_t& module = m_ofFrame.try_emplace(frame, Labels::unmatched).first->second;
        if (module == Labels::unmatched)
            module = this->module(frameText(m_snapshot, frame), rule);
        m_labels.moduleOf[id] = module;
    }

    /// Compiled backward code: no frames at all, or the engine's, which name the node.
    void tryBackward(std::uint32_t id, StackId stack)
    {
        if (!m_backward)
            return;
        const auto rule = static_cast<std::uint16_t>(*m_backward);
        const auto [entry, added] = m_backwardOf.try_emplace(stack, Labels::unmatched);
        if (added)
            entry->second = nodeModule(stack, rule);
        std::uint16_t module = entry->second;
        const Phase phase = m_phases.phaseAt(m_columns.firstState[id]);
        if (module == Labels::unmatched && (phase == Phase::Backward || phase == Phase::Recompute))
            module = m_known.at(m_labels.rules->rules()[rule].label);
        if (module == Labels::unmatched)
            return;
        m_labels.ruleOf[id] = rule;
        m_labels.moduleOf[id] = module;
    }

    std::uint16_t nodeModule(StackId stack, std::uint16_t rule)
    {
        for (const FrameId frame : m_snapshot.stacks[stack])
            if (const std::string_view node
                = autogradNode(m_snapshot.strings.view(m_snapshot.frames[frame].name));
                !node.empty())
                return module("backward: " + displayText(node, 80), rule);
        return Labels::unmatched;
    }

    /// By stack: it runs inside a transformer layer.
    std::vector<std::uint8_t> layerStacks() const
    {
        const std::vector<FramePattern> layer{{"megatron/core/transformer/transformer_layer.py", {}}};
        FrameMatcher matcher;
        const std::size_t group = matcher.add(layer);
        matcher.build(m_snapshot);
        std::vector<std::uint8_t> inside(m_snapshot.stacks.size(), 0);
        for (std::uint32_t i = 0; i < inside.size(); ++i)
            for (const FrameId frame : m_snapshot.stacks[StackId{i}])
                if (matcher.in(frame, group)) {
                    inside[i] = 1;
                    break;
                }
        return inside;
    }

    const Snapshot& m_snapshot;
    const AllocationColumns& m_columns;
    const Phases& m_phases;
    Labels& m_labels;
    StackLabels m_stacks;
    std::optional<std::size_t> m_backward;
    std::unordered_map<std::string, std::uint16_t> m_known;
    std::unordered_map<FrameId, std::uint16_t> m_ofFrame;
    std::unordered_map<StackId, std::uint16_t> m_backwardOf;
};

} // namespace

std::shared_ptr<const Labels> Labels::build(
    const Replay& replay, const Phases& phases, std::shared_ptr<const LabelRules> rules, const Job& job)
{
    auto labels = std::make_shared<Labels>();
    labels->rules = rules ? std::move(rules) : LabelRules::standard();
    ModuleFinder finder(replay, phases, *labels);
    if (!finder.find(job) || !finder.countOwn(job) || !finder.findLayers(job))
        return nullptr;
    std::optional<std::vector<Role>> found = findRoles(replay, phases, *labels, job);
    if (!found)
        return nullptr;
    labels->roleOf = std::move(*found);
    const StateIndex peak = replay.timeline.requested().total().maxState;
    for (const AllocationId id : replay.timeline.liveAt(peak))
        if (labels->ruleOf[index(id)] == unmatched)
            labels->unmatchedAtPeak += replay.timeline.allocations().size[index(id)];
    return labels;
}

} // namespace tidemark
