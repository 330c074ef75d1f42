// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

/// What a call stack passes through, as the rules need to know it: finer than module labels, because one
/// allocation may lie inside several boundaries at once (a norm inside an adapter inside an MLP).
namespace in {
enum Facts : std::uint64_t {
    BridgeLora = 1ULL << 0, ///< Megatron Bridge's LoRA linear
    BridgeOther = 1ULL << 1, ///< its relatives that never re-gather: DoRA, CanonicalLoRA
    AdapterBase = 1ULL << 2, ///< the wrapped base layer's forward
    AdapterBranch = 1ULL << 3, ///< the adapter's own forward
    TeGather = 1ULL << 4,
    CoreGather = 1ULL << 5,
    TeNorm = 1ULL << 6, ///< a norm inside Transformer Engine's fused layers
    Qkv = 1ULL << 7,
    DenseMlp = 1ULL << 8,
    GlobalBuffer = 1ULL << 9,
    HfLora = 1ULL << 10,
    Cast = 1ULL << 11,
    Dropout = 1ULL << 12,
    Checkpoint = 1ULL << 13, ///< forward under activation checkpointing
    Replay = 1ULL << 14, ///< the same forward again, inside backward
    FusedAttention = 1ULL << 15,
    PlainAttention = 1ULL << 16,
    FusedNorm = 1ULL << 17,
    Norm = 1ULL << 18,
    MlaUp = 1ULL << 19,
    Moe = 1ULL << 20,
    Experts = 1ULL << 21,
    ActivationFunction = 1ULL << 22,
    SharedExperts = 1ULL << 23,
    GatedNorm = 1ULL << 24,
    Postprocess = 1ULL << 25,
    OutputLinear = 1ULL << 26,
    Reduction = 1ULL << 27, ///< a gradient's reduction over the ranks
    MegatronCore = 1ULL << 28, ///< anything of Megatron Core
    PlainMlp = 1ULL << 29, ///< the feed-forward block of a model known by no file name (plain_mlp.hpp)
    MathAttention = 1ULL << 30, ///< torch's fallback that stores the scores
    TorchOptimizer = 1ULL << 31, ///< torch's own optimizers
    AnyLora = BridgeLora | BridgeOther | HfLora,
    AnyGather = TeGather | CoreGather,
    Megatron = MegatronCore | BridgeLora | BridgeOther | AdapterBase | AdapterBranch, ///< Core or Bridge
};
} // namespace in

/// Facts of every stack of a snapshot. Cost of building: one test a distinct frame, one pass over the frames
/// of all distinct stacks.
class StackFacts {
public:
    explicit StackFacts(const Snapshot& snapshot);

    /// in::Facts of a stack; 0 for none.
    std::uint64_t of(StackId stack) const { return valid(stack) ? m_ofStack[index(stack)] : 0; }
    bool all(StackId stack, std::uint64_t facts) const { return (of(stack) & facts) == facts; }
    bool any(StackId stack, std::uint64_t facts) const { return (of(stack) & facts) != 0; }
    std::uint64_t ofFrame(FrameId frame) const { return m_ofFrame[index(frame)]; }
    /// Some stack has one of the facts.
    bool anywhere(std::uint64_t facts) const { return (m_anywhere & facts) != 0; }
    /// Some stack has frames at all: without them rules about call sites cannot be decided.
    bool anyFrames() const { return m_anyFrames; }

private:
    std::vector<std::uint64_t> m_ofFrame;
    std::vector<std::uint64_t> m_ofStack;
    std::uint64_t m_anywhere = 0;
    bool m_anyFrames = false;
};

} // namespace tidemark
