// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/rule.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark {

/// The run is one of Megatron Core or Bridge: by its stacks; where no stack has frames, by its settings.
bool runsMegatron(const RuleInput& input);

/// Steps of the ladder that lowers a run's needs (playbook rows D2, D3).
enum class Rung : std::uint8_t { Recompute, DistributedOptimizer, PipelineParallel };
/// Why the settings bar a step; empty when nothing is known against it.
std::string rungBarred(const RunConfig& config, Rung rung);

/// Ranks of the run, by its settings or environment.
std::optional<std::int64_t> worldSize(const RunConfig& config);
/// Ranks that hold the same parameters, when settings tell. Ranks of one context share them too.
std::optional<std::int64_t> equalRanks(const RunConfig& config);

/// How to recompute more, as the settings stand: one sentence without its full stop.
std::string recomputeAdvice(const RuleInput& input);

} // namespace tidemark
