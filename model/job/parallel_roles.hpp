// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/rank_summary.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

/// Degrees of parallelism of a run; absent: unknown.
struct ParallelSizes {
    std::int64_t tensor = 1;
    std::int64_t context = 1;
    std::int64_t pipeline = 1;
    std::int64_t data = 1;
    std::int64_t expert = 1;
    std::int64_t expertTensor = 1;
    std::int64_t chunks = 1; ///< of a stage: virtual pipeline
    std::optional<std::int64_t> microbatches; ///< of a step
    /// use_tp_pp_dp_mapping: pipeline stages lie inside the data-parallel groups.
    bool pipelineInside = false;
};
/// Absent when settings do not say the sizes, or the world is no multiple of them. `worldSize`: where the
/// settings do not say it.
std::optional<ParallelSizes> parallelSizes(const RunConfig& config, std::optional<int> worldSize);

/// Where a rank stands in the run. Coordinates are absent when they can only be inferred.
struct ParallelRole {
    std::optional<int> tensor;
    std::optional<int> context;
    std::optional<int> data;
    std::optional<int> pipeline;
    std::optional<int> expert;
    std::size_t group = 0; ///< position in RoleMap::groups
    std::string label; ///< "stage 2", "group A"; empty when nothing is known
    std::string detail; ///< "tp 1 · pp 2 · dp 0 · ep 1", only what there is more than one of
};
/// Megatron's order tp-cp-ep-dp-pp, tensor parallelism innermost. Source: Megatron Core,
/// megatron/core/parallel_state.py, RankGenerator and initialize_model_parallel.
ParallelRole roleOfRank(int rank, const ParallelSizes& sizes);

enum class RoleSource : std::uint8_t {
    None, ///< all ranks are one group
    Settings,
    Shapes, ///< inferred: ranks that allocate the same are of one group
};

/// Ranks that do the same work and are compared with each other.
struct RoleGroup {
    std::string label;
    std::optional<int> stage; ///< pipeline stage, by the settings
    std::vector<std::size_t> members; ///< positions in the summaries, by rank
};

struct RoleMap {
    RoleSource source = RoleSource::None;
    std::optional<ParallelSizes> sizes;
    std::vector<ParallelRole> roles; ///< as the summaries
    std::vector<RoleGroup> groups; ///< by stage, else by their lowest rank
    std::string sentence; ///< where the roles come from
};
/// By the settings, else by equal shapes: nearly the same call sites and sizes, the same set-up within 1 %
/// and number of allocations within 2 %, as many microbatches in flight (a rank that ran out of memory may
/// have had fewer). Cost: summaries × groups.
RoleMap rolesOf(std::span<const RankSummary> ranks, const RunConfig& config, std::optional<int> worldSize);

} // namespace tidemark
