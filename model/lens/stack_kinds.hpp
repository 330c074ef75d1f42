// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

/// What a stack says by itself of the moment it was recorded in (help/labels.md).
enum class StackKind : std::uint8_t {
    None, ///< nothing was recorded
    Empty, ///< recorded, without frames: a thread that runs no Python, when only Python is recorded
    Backward,
    Recompute,
    Optimizer,
    Forward,
    Evaluation, ///< forward code below an evaluation loop
    Side, ///< saving, logging
    Setup, ///< building, loading
    Capture, ///< below the capture of a CUDA graph
    Other, ///< Python of the program that says nothing of the phase
    OtherThread, ///< the same, on another thread than most stacks (hooks of autograd)
};

/// Kinds of all stacks of a snapshot, found once a distinct stack.
class StackKinds {
public:
    /// Cost: one test a distinct frame and pattern, one walk a distinct stack.
    explicit StackKinds(const Snapshot& snapshot);

    StackKind of(StackId stack) const { return valid(stack) ? m_kinds[index(stack)] : StackKind::None; }
    /// No stack holds frames of compiled code: what runs in C++ threads has empty stacks.
    bool pythonOnly() const { return m_pythonOnly; }
    /// The stack starts a forward pass by what its frames say (embedding, batch, receive).
    bool isEntry(StackId stack) const { return valid(stack) && m_entry[index(stack)] != 0; }
    /// A number for the innermost Python frames; equal for calls of one place from different loops. 0: none.
    std::uint64_t place(StackId stack) const { return valid(stack) ? m_place[index(stack)] : 0; }
    /// Line of Megatron's train_step in the stack; 0 without.
    std::uint32_t trainStepLine(StackId stack) const { return valid(stack) ? m_trainStep[index(stack)] : 0; }

private:
    bool m_pythonOnly = true;
    std::vector<StackKind> m_kinds;
    std::vector<std::uint8_t> m_entry;
    std::vector<std::uint64_t> m_place;
    std::vector<std::uint32_t> m_trainStep;
};

} // namespace tidemark
