// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/ladder.hpp"

namespace tidemark {

namespace {

std::string granularityOf(const RunConfig& config)
{
    return config.text("model.recompute_granularity").value_or("");
}

/// Full recompute of some layers only: the others can be added.
bool blockMethod(const RunConfig& config)
{
    return granularityOf(config) == "full" && config.text("model.recompute_method") == "block";
}

} // namespace

bool runsMegatron(const RuleInput& input)
{
    if (input.facts.anyFrames())
        return input.facts.anywhere(in::Megatron);
    const auto& settings = input.config.values();
    const auto first = settings.lower_bound("model.");
    return first != settings.end() && first->first.starts_with("model.");
}

std::string rungBarred(const RunConfig& config, Rung rung)
{
    const bool offloads = config.flag("model.cpu_offloading") == true;
    switch (rung) {
    case Rung::Recompute:
        if (offloads)
            return "cpu_offloading: refused together with recompute (C-07)";
        return granularityOf(config) == "full" && !blockMethod(config)
            ? "full recompute is set: every layer is recomputed already"
            : "";
    case Rung::DistributedOptimizer:
        return config.flag("optimizer.use_distributed_optimizer") == true
                || config.flag("ddp.use_distributed_optimizer") == true
            ? "it is on already"
            : "";
    case Rung::PipelineParallel:
        return offloads ? "cpu_offloading: refused with more than one pipeline stage (C-06)" : "";
    }
    return {};
}

std::optional<std::int64_t> worldSize(const RunConfig& config)
{
    auto world = config.number("hardware.world_size");
    if (const auto text = config.environment("WORLD_SIZE"); !world && text) {
        RunConfig number;
        number.set("value", *text);
        world = number.number("value");
    }
    return world;
}

std::optional<std::int64_t> equalRanks(const RunConfig& config)
{
    const auto world = worldSize(config);
    std::int64_t others = 1;
    for (const char* key : {"model.tensor_model_parallel_size", "model.pipeline_model_parallel_size"}) {
        const std::int64_t ranks = config.number(key).value_or(1);
        if (ranks < 1 || ranks > std::int64_t{1} << 20)
            return std::nullopt;
        others *= ranks;
    }
    return world && *world >= others && *world % others == 0 ? std::optional(*world / others) : std::nullopt;
}

std::string recomputeAdvice(const RuleInput& input)
{
    if (!runsMegatron(input))
        return "Recompute activations: call the blocks that hold most at the peak through "
               "torch.utils.checkpoint.checkpoint (use_reentrant=False)";
    if (blockMethod(input.config))
        return "Recompute more layers: raise model.recompute_num_layers";
    return granularityOf(input.config) == "selective"
        ? "Recompute more: compare the module lists of model.recompute_modules by what they keep at the peak"
        : "Recompute activations: model.recompute_granularity=selective with the modules that hold most at "
          "the peak";
}

} // namespace tidemark
