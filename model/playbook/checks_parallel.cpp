// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/check_view.hpp"

namespace tidemark {

namespace {

/// A number that a version may not have or that may be null: absent then.
std::optional<std::int64_t> optional(const CheckView& v, const char* key)
{
    return v.isNull(key) == Tri(false) ? v.count(key) : std::nullopt;
}

bool divides(std::int64_t chunks, std::int64_t layers)
{
    return layers % chunks == 0;
}

Tri unevenStages(const CheckView& v)
{
    const auto layers = v.count("model.num_layers");
    const auto stages = v.countOr("model.pipeline_model_parallel_size", 1);
    // A layout of its own says which layers a stage has; the sizes below do not count then.
    if (v.on("model.pipeline_model_parallel_layout") == Tri(true) || !layers || !stages || *stages < 1)
        return {};
    const auto chunks = optional(v, "model.virtual_pipeline_model_parallel_size");
    if (chunks && *chunks < 1)
        return {};
    std::int64_t middle = *layers + (v.on("model.account_for_embedding_in_pipeline_split") == Tri(true))
        + (v.on("model.account_for_loss_in_pipeline_split") == Tri(true));
    std::int64_t left = *stages;
    bool uneven = false;
    for (const char* key :
        {"model.num_layers_in_first_pipeline_stage", "model.num_layers_in_last_pipeline_stage"})
        if (const auto special = optional(v, key)) {
            middle -= *special;
            --left;
            uneven = uneven || (chunks && !divides(*chunks, *special));
        }
    if (left < 1)
        return uneven || middle != 0;
    if (middle < 0 || !divides(left, middle))
        return true;
    return uneven || (chunks && !divides(*chunks, middle / left));
}

std::string unevenStagesText(const CheckView& v)
{
    std::string text = v.say("model.num_layers") + " layers do not spread evenly over "
        + v.say("model.pipeline_model_parallel_size") + " pipeline stages";
    if (optional(v, "model.virtual_pipeline_model_parallel_size"))
        text += " of " + v.say("model.virtual_pipeline_model_parallel_size") + " virtual chunks each";
    return text
        + ": choose sizes that divide them, or give the first and last stage their own number of layers.";
}

Tri above(const std::optional<std::int64_t>& value, std::int64_t limit)
{
    return value ? Tri(*value > limit) : Tri();
}

Tri badSequence(const CheckView& v)
{
    const auto parts = v.countOr("model.context_parallel_size", 1);
    const auto length = v.count("model.seq_length");
    return parts && length && *parts > 0 ? Tri(*length % (2 * *parts) != 0) : Tri();
}

Tri fineTuning(const CheckView& v)
{
    const auto kind = v.config().text("dataset._target_");
    return kind ? Tri(kind->find("inetun") != std::string::npos || kind->find("SFT") != std::string::npos)
                : Tri();
}

Tri badContextParallel(const CheckView& v)
{
    return allOf({above(v.countOr("model.context_parallel_size", 1), 1),
        anyOf({badSequence(v),
            allOf({fineTuning(v),
                anyOf(
                    {notOf(v.on("model.calculate_per_token_loss")), v.on("ddp.average_in_collective")})})})});
}

std::string badContextParallelText(const CheckView& v)
{
    if (badSequence(v) == Tri(true))
        return "The sequence length " + v.say("model.seq_length")
            + " is no multiple of twice the context-parallel size " + v.say("model.context_parallel_size")
            + ": each rank takes two pieces of it.";
    return "Fine-tuning with context parallelism needs calculate_per_token_loss=true (here "
        + v.say("model.calculate_per_token_loss") + ") and average_in_collective=false (here "
        + v.say("ddp.average_in_collective") + ").";
}

struct FsdpConflicts {
    Tri torchFsdp;
    Tri mapping;
    Tri connections;
    Tri format;
    Tri registration;
    Tri second;
};

FsdpConflicts fsdpConflicts(const CheckView& v)
{
    const auto connections = v.env("CUDA_DEVICE_MAX_CONNECTIONS");
    const Tri files = anyOf({notOf(v.isNull("checkpoint.save")), notOf(v.isNull("checkpoint.load"))});
    const Tri second = v.count("ddp.megatron_fsdp_version").value_or(1) == 2;
    return {
        v.on("dist.use_torch_fsdp2"),
        v.on("dist.use_tp_pp_dp_mapping"),
        connections ? Tri(*connections == "1") : Tri(),
        allOf({files, notOf(v.wordIs("checkpoint.ckpt_format", {"fsdp_dtensor"}))}),
        allOf({v.on("ddp.fsdp_manual_registration"), notOf(v.on("ddp.nccl_ub"))}),
        allOf({second,
            anyOf({above(v.countOr("model.tensor_model_parallel_size", 1), 1),
                above(v.countOr("model.pipeline_model_parallel_size", 1), 1),
                above(v.countOr("model.context_parallel_size", 1), 1), v.on("model.fp8"),
                notOf(v.isNull("model.num_moe_experts")), v.graphs(), files})}),
    };
}

Tri fsdpRefused(const CheckView& v)
{
    const FsdpConflicts c = fsdpConflicts(v);
    return allOf({anyOf({v.on("dist.use_megatron_fsdp"), v.on("ddp.use_megatron_fsdp")}),
        anyOf({c.torchFsdp, c.mapping, c.connections, c.format, c.registration, c.second})});
}

std::string fsdpText(const CheckView& v)
{
    const FsdpConflicts c = fsdpConflicts(v);
    std::string why;
    const auto add = [&why](Tri holds, const char* text) {
        if (holds == Tri(true))
            why += (why.empty() ? "" : "; ") + std::string(text);
    };
    add(c.torchFsdp, "PyTorch's FSDP2 is on as well");
    add(c.mapping, "use_tp_pp_dp_mapping is on");
    add(c.connections, "CUDA_DEVICE_MAX_CONNECTIONS is 1, which keeps its gathers from overlapping");
    add(c.format, "checkpoints are saved or loaded in another format than fsdp_dtensor");
    add(c.registration, "fsdp_manual_registration needs nccl_ub");
    add(c.second, "version 2 takes data parallelism in BF16 only, without graphs, experts and checkpoints");
    return "Megatron FSDP is refused: " + why + ".";
}

Tri oneDistributedOptimizer(const CheckView& v)
{
    const Tri ddp = v.on("ddp.use_distributed_optimizer");
    const Tri optimizer = v.on("optimizer.use_distributed_optimizer");
    return ddp && optimizer ? Tri(*ddp != *optimizer) : Tri();
}

} // namespace

std::span<const CheckRow> parallelChecks()
{
    static const std::vector<CheckRow> rows = {
        {"C-24", CheckLevel::Error,
            {"model.num_layers", "model.pipeline_model_parallel_size",
                "model.virtual_pipeline_model_parallel_size", "model.num_layers_in_first_pipeline_stage",
                "model.num_layers_in_last_pipeline_stage", "model.account_for_embedding_in_pipeline_split",
                "model.account_for_loss_in_pipeline_split", "model.pipeline_model_parallel_layout"},
            unevenStages, unevenStagesText, "Megatron-Core 2a75ac12 transformer/transformer_config.py"},
        {"C-28", CheckLevel::Error,
            {"model.context_parallel_size", "model.seq_length", "dataset._target_",
                "model.calculate_per_token_loss", "ddp.average_in_collective"},
            badContextParallel, badContextParallelText, "Megatron Bridge 067f987d training/config.py"},
        {"C-29", CheckLevel::Error,
            {"dist.use_megatron_fsdp", "ddp.use_megatron_fsdp", "dist.use_torch_fsdp2",
                "dist.use_tp_pp_dp_mapping", "env.CUDA_DEVICE_MAX_CONNECTIONS", "checkpoint.save",
                "checkpoint.load", "checkpoint.ckpt_format", "ddp.fsdp_manual_registration", "ddp.nccl_ub"},
            fsdpRefused, fsdpText, "Megatron Bridge 067f987d training/config.py"},
        {"C-30", CheckLevel::Warning,
            {"ddp.use_distributed_optimizer", "optimizer.use_distributed_optimizer"}, oneDistributedOptimizer,
            [](const CheckView& v) {
                return "use_distributed_optimizer is " + v.say("ddp.use_distributed_optimizer")
                    + " for ddp and " + v.say("optimizer.use_distributed_optimizer")
                    + " for the optimizer: both will be turned on. Set both, so that the file says what "
                      "runs.";
            },
            "Megatron Bridge 067f987d training/config.py"},
    };
    return rows;
}

} // namespace tidemark
