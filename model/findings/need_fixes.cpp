// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/need_fixes.hpp"

#include "model/core/units.hpp"
#include "model/findings/ladder.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/findings/rules/boundaries.hpp"
#include "model/lens/frame_matcher.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// Every allocation of optimizer state keeps one part in `of`, rounded up; null when there is none.
std::shared_ptr<const Edits> partOfState(const RuleInput& input, std::uint64_t of)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    auto edits = std::make_shared<Edits>();
    for (std::size_t i = 0; i < all.count(); ++i) {
        const auto id = static_cast<AllocationId>(i);
        if (input.labels.role(id) == Role::OptimizerState)
            edits->shrink(id, all.size[i] / of + (all.size[i] % of != 0 ? 1 : 0));
    }
    return edits->empty() ? nullptr : edits;
}

/// By stack: it runs inside a transformer layer of Megatron Core.
std::vector<bool> layerStacks(const RuleInput& input)
{
    const Snapshot& snapshot = *input.replay.snapshot;
    const std::vector<FramePattern> layer{{"megatron/core/transformer/transformer_layer.py", {}}};
    FrameMatcher matcher;
    const std::size_t group = matcher.add(layer);
    matcher.build(snapshot);
    std::vector<bool> out(snapshot.stacks.size(), false);
    for (std::size_t i = 0; i < out.size(); ++i)
        for (const FrameId frame : snapshot.stacks[static_cast<StackId>(i)])
            out[i] = out[i] || matcher.in(frame, group);
    return out;
}

Fix recompute(const RuleInput& input, std::uint64_t saved)
{
    std::string text = recomputeAdvice(input);
    if (saved > 0)
        text += ". Saved activations hold " + sizeText(saved) + " when memory runs out";
    Fix fix = makeFix("recompute", text + ".", Grade::C, "playbook row D2");
    fix.cost
        = "between 1.99\u00a0% and 10.79\u00a0% of a step by module on Moonlight-16B (8×H100); yours will "
          "differ";
    fix.costGrade = Grade::C;
    if (runsMegatron(input))
        fix.blockedBy = rungBarred(input.config, Rung::Recompute);
    return fix;
}

/// Every layer keeps its input alone and is replayed as a whole; absent when no layers can be told.
std::optional<Fix> recomputeLayers(const RuleInput& input, const Job& job)
{
    const auto passes = modulePasses(input, layerStacks(input), false, job);
    if (!passes || passes->size() < 2)
        return std::nullopt;
    // What was freed without any backward pass may be an evaluation's.
    const std::vector<StateIndex>& end = input.replay.timeline.allocations().endState;
    const bool freed = std::ranges::any_of(*passes, [&](const ModulePass& pass) {
        return std::ranges::any_of(
            pass.saved, [&](AllocationId id) { return end[index(id)] < input.replay.states(); });
    });
    if (freed && !hasBackward(input))
        return std::nullopt;
    Fix fix = makeFix("recompute-full",
        "Recompute whole layers: model.recompute_granularity=full, recompute_method=uniform, "
        "recompute_num_layers=1. Each layer then keeps its input alone.",
        Grade::B, "playbook row D2; activation recompute of Megatron Core");
    fix.cost = "about 30\u00a0% more compute, by Megatron Bridge's performance guide; yours will differ";
    fix.costGrade = Grade::C;
    fix.blockedBy = rungBarred(input.config, Rung::Recompute);
    if (!fix.blockedBy.empty())
        return fix;
    fix.edits = recomputed(input, *passes);
    const auto untold = static_cast<std::uint64_t>(
        std::ranges::count_if(*passes, [](const ModulePass& pass) { return !valid(pass.output); }));
    if (untold > 0)
        fix.text += " Which tensor is handed on is not told in "
            + formatCount(static_cast<std::int64_t>(untold)) + " of "
            + countText(passes->size(), "layer pass", "layer passes") + ": there it is not counted as kept.";
    estimate(fix, input, job);
    return fix;
}

Fix shardOptimizer(const RuleInput& input, const Job& job)
{
    const bool megatron = runsMegatron(input);
    Fix fix = megatron
        ? makeFix("distributed-optimizer",
            "Shard the optimizer state: optimizer.use_distributed_optimizer=true, 18 bytes a parameter "
            "become 6 + 12 divided by the data-parallel size.",
            Grade::C, "playbook row D2; estimator of Megatron Bridge")
        : makeFix("distributed-optimizer",
            "Shard parameters, gradients and optimizer state over the GPUs "
            "(torch.distributed.fsdp.fully_shard, or ZeroRedundancyOptimizer for the state alone).",
            Grade::C, "estimator of Megatron Bridge");
    fix.cost = "1 to 2\u00a0% of a step by Megatron Bridge's notes; yours will differ";
    fix.costGrade = Grade::C;
    fix.blockedBy = rungBarred(input.config, Rung::DistributedOptimizer);
    const std::optional<std::int64_t> ranks = equalRanks(input.config);
    if (!fix.blockedBy.empty() || !ranks || *ranks < 2)
        return fix;
    fix.edits = partOfState(input, static_cast<std::uint64_t>(*ranks));
    if (fix.edits)
        fix.text += " The figures are for the state alone, over "
            + countText(static_cast<std::uint64_t>(*ranks), "rank", "ranks") + ".";
    estimate(fix, input, job);
    return fix;
}

} // namespace

Fix optimizerOffload(const RuleInput& input, const Job& job)
{
    const auto on = [&](const char* key) { return input.config.flag(key); };
    Fix fix = makeFix("optimizer-offload",
        "Set optimizer.optimizer_cpu_offload=true with optimizer_offload_fraction=0.5: state and step of "
        "half "
        "of the parameters move to the CPU.",
        Grade::B, "Megatron Bridge 067f987d, skill nemo-mbridge-perf-cpu-offloading");
    fix.cost = "2484\u00a0ms a step instead of 996\u00a0ms for 7.6\u00a0GB less at 0.5, 4189\u00a0ms for "
               "15.2\u00a0GB less with all of it on the CPU, on Qwen3-30B-A3B TP2 PP2 EP4 (2 nodes of H100); "
               "yours will differ";
    fix.costGrade = Grade::C;
    if (on("optimizer.optimizer_cpu_offload") == true)
        fix.blockedBy = "it is on already";
    else if (on("optimizer.use_distributed_optimizer") == false
        && on("ddp.use_distributed_optimizer") != true)
        fix.blockedBy = "needs optimizer.use_distributed_optimizer=true";
    else
        fix.edits = partOfState(input, 2);
    estimate(fix, input, job);
    return fix;
}

std::vector<Fix> needFixes(const RuleInput& input, std::uint64_t saved, const Job& job)
{
    std::vector<Fix> out;
    out.push_back(recompute(input, saved));
    out.push_back(shardOptimizer(input, job));
    if (std::optional<Fix> layers = recomputeLayers(input, job))
        out.push_back(std::move(*layers));
    if (runsMegatron(input))
        out.push_back(optimizerOffload(input, job));
    return out;
}

} // namespace tidemark
