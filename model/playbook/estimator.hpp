// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/playbook/run_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

/// What one pipeline stage is expected to hold, in bytes of one rank.
struct StageEstimate {
    int stage = 0;
    std::int64_t layers = 0;
    std::int64_t parameters = 0; ///< of one rank, after tensor and expert parallelism
    std::int64_t weights = 0;
    std::int64_t gradients = 0;
    std::int64_t optimizer = 0;
    /// Microbatches in flight, or chunks of them with interleaving, and the layers of one.
    std::int64_t inFlight = 0;
    std::int64_t layersPerChunk = 0;
    std::int64_t activations = 0;
    std::int64_t output = 0; ///< final norm and logits, with a single stage
    std::int64_t states() const { return weights + gradients + optimizer; }
    std::int64_t total() const { return states() + activations + output; }
};

/// The byte model of Megatron Bridge's estimator (help/playbook.md). It leaves out the allocator, workspaces,
/// communication and graph buffers, and any imbalance of experts.
struct MemoryEstimate {
    std::vector<StageEstimate> stages;
    std::int64_t activationsPerLayer = 0; ///< one layer, one microbatch, one rank
    std::int64_t parametersOfModel = 0;
    double optimizerShards = 1; ///< ranks that share the optimizer state
    /// Settings make the activations smaller than the model of bytes says (recompute, offloading).
    bool activationsAreUpperBound = false;
    /// What was taken for granted, a sentence each.
    std::vector<std::string> assumptions;

    const StageEstimate& fullest() const;
};

/// An estimate, or the keys it would need.
struct EstimateResult {
    std::optional<MemoryEstimate> estimate;
    std::vector<std::string> missing;
};
EstimateResult estimateMemory(const RunConfig& config);

/// Bytes of the card a run was made on: hardware.device_total_bytes; absent: unknown.
std::optional<std::uint64_t> deviceBytes(const RunConfig& config);

/// Microbatches (chunks of them with `chunks` > 1) whose activations a pipeline stage holds at once: 1F1B, or
/// the interleaved schedule. `microbatches` bounds them when known.
std::int64_t chunksInFlight(
    std::int64_t stages, std::int64_t stage, std::int64_t chunks, std::optional<std::int64_t> microbatches);

/// What gathering LoRA-A's input again in backward saves.
struct Regather {
    std::int64_t surfaces = 0; ///< N: adapted linears that keep a gathered input
    std::int64_t gathered = 0; ///< F: bytes of one, tokens · hidden · 2
    std::int64_t tensorParallel = 1;
    std::int64_t microbatches = 1; ///< m: in flight
    /// e: the first layer's norm output is not otherwise kept (embedding stage, frozen base).
    bool embeddingStage = true;
};
/// m · (N·F − e·F/TP) − F, for BF16 with the norm fused into Transformer Engine's linear.
std::int64_t regatherSaving(const Regather& r);
/// m · N·F · (1 − 1/TP) − F, for FP8 or a norm of its own: the rank's part of the input stays.
std::int64_t regatherSavingUnfused(const Regather& r);

} // namespace tidemark
