// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/estimates.hpp"

#include <span>
#include <vector>

namespace tidemark {

/// What one recompute label of Megatron Core encloses (help/findings.md).
struct Boundary {
    const char* label; ///< "mlp"
    const char* fix; ///< "recompute-mlp"
    const char* playbook;
    /// The stack must have one of these …
    std::uint64_t any;
    /// … all of these …
    std::uint64_t all;
    /// … and none of these.
    std::uint64_t none;
    /// Only outputs are dropped and made again; else the whole module is replayed from its inputs.
    bool outputOnly;
    const char* cost; ///< measured elsewhere; "" for none
    const char* source;
};
std::span<const Boundary> boundaries();
bool encloses(const Boundary& boundary, std::uint64_t facts);

/// One module's pass over one layer and microbatch.
struct ModulePass {
    /// What stays until backward and only because of this module: without its output, unless that is dropped.
    std::vector<AllocationId> saved;
    /// What it hands on, where that stays until backward too: a checkpoint keeps it for the next module.
    AllocationId output = AllocationId::none;
    /// First state after the module's forward.
    StateIndex end = 0;
};

/// The passes of a module that save anything, in order. An allocation outside the boundary ends a pass; where
/// the allocations between two such repeat as a whole, each repetition is a pass. Null when stopped.
std::optional<std::vector<ModulePass>> modulePasses(
    const RuleInput& input, const StackFacts& facts, const Boundary& boundary, const Job& job);

/// The same for any module, told by its stacks: those that run inside it.
std::optional<std::vector<ModulePass>> modulePasses(
    const RuleInput& input, const std::vector<bool>& inside, bool outputOnly, const Job& job);

/// Lets the saved tensors of every pass go when its forward ends, and brings them back when its backward
/// begins, one pass at a time.
std::shared_ptr<const Edits> recomputed(const RuleInput& input, const std::vector<ModulePass>& passes);

/// Some backward pass is in the recording: without one, what was freed may as well be an evaluation's.
bool hasBackward(const RuleInput& input);

/// The labels asked for by a selective granularity; {"core_attn"} when it names none.
std::vector<std::string> askedLabels(const RunConfig& config);

} // namespace tidemark
