// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/label_rules.hpp"
#include "model/lens/phases.hpp"
#include "model/replay/replay.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// What an allocation is for, from when it was made and freed (help/labels.md).
enum class Role : std::uint8_t {
    Unknown,
    Parameter, ///< set up before the first forward, never freed
    OptimizerState, ///< made by the first optimizer step, never freed
    Gradient, ///< backward → optimizer or zero_grad, or kept
    SavedActivation, ///< forward of a microbatch → its backward
    ForwardTemporary,
    BackwardTemporary,
    OptimizerTemporary,
    RecomputeTransient, ///< replayed inside backward, gone with its layer's backward
    Workspace, ///< first use → never, one per process
    StepScoped, ///< lives over several microbatches, freed at the end of the step
    Leak, ///< one more each step, never freed
    Predating, ///< older than the recording
};
inline constexpr std::size_t roles = 13;
const char* roleName(Role role);

/// How often a rule of the user's decided, and how often one before it did where it would have fitted too.
struct RuleUse {
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t overlapping = 0; ///< allocations that an earlier rule took
};

/// Module and role of every allocation of one device. Immutable after build.
struct Labels {
    static constexpr std::uint16_t unmatched = 0xffff;
    std::shared_ptr<const LabelRules> rules;
    /// Position in `modules`; by AllocationId.
    std::vector<std::uint16_t> moduleOf;
    std::vector<Role> roleOf;
    /// Shown names. The first ones are the rules', in their order; the rest those of plain modules
    /// (function@file:line, rule F-nn).
    std::vector<std::string> modules;
    /// Rule that gave the module; `unmatched` for none; by AllocationId.
    std::vector<std::uint16_t> ruleOf;
    /// Layer number where it can be told (0 is the first), 0xffff else; by AllocationId.
    std::vector<std::uint16_t> layerOf;
    /// At the peak: bytes no rule matched.
    std::uint64_t unmatchedAtPeak = 0;
    /// Of the user's own rules, in their order, over the whole trace.
    std::vector<RuleUse> ownUse;
    /// Allocations with a stack that none of the user's own rules fits, and all that have one.
    std::uint64_t withoutOwn = 0;
    std::uint64_t withStack = 0;

    bool is(AllocationId id, std::string_view ruleId) const;
    Role role(AllocationId id) const { return roleOf[index(id)]; }

    /// Cost: one test a distinct stack and rule, a pass over the allocations. Any thread. Null when stopped.
    static std::shared_ptr<const Labels> build(
        const Replay& replay, const Phases& phases, std::shared_ptr<const LabelRules> rules, const Job& job);
};

} // namespace tidemark
