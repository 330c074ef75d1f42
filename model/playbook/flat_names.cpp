// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/flat_names.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace tidemark {

namespace {

struct FlatName {
    std::string_view argument;
    std::string_view key;
    std::string_view second = {};
};

// What Megatron-LM's arguments are called in the sections of Megatron Bridge, where it is not model.<name>.
constexpr FlatName flatNames[] = {
    {"micro_batch_size", "train.micro_batch_size"},
    {"global_batch_size", "train.global_batch_size"},
    {"train_iters", "train.train_iters"},
    {"empty_unused_memory_level", "train.empty_unused_memory_level"},
    {"use_distributed_optimizer", "ddp.use_distributed_optimizer", "optimizer.use_distributed_optimizer"},
    {"use_precision_aware_optimizer", "optimizer.use_precision_aware_optimizer"},
    {"optimizer_cpu_offload", "optimizer.optimizer_cpu_offload"},
    {"optimizer_offload_fraction", "optimizer.optimizer_offload_fraction"},
    {"optimizer_cuda_graph", "optimizer.optimizer_cuda_graph"},
    {"optimizer", "optimizer.optimizer"},
    {"nccl_ub", "ddp.nccl_ub"},
    {"use_nccl_ub", "ddp.nccl_ub"},
    {"fsdp_double_buffer", "ddp.fsdp_double_buffer"},
    {"fsdp_manual_registration", "ddp.fsdp_manual_registration"},
    {"data_parallel_sharding_strategy", "ddp.data_parallel_sharding_strategy"},
    {"ddp_average_in_collective", "ddp.average_in_collective"},
    {"average_in_collective", "ddp.average_in_collective"},
    {"accumulate_allreduce_grads_in_fp32", "ddp.grad_reduce_in_fp32"},
    {"grad_reduce_in_fp32", "ddp.grad_reduce_in_fp32"},
    {"overlap_grad_reduce", "ddp.overlap_grad_reduce"},
    {"overlap_param_gather", "ddp.overlap_param_gather"},
    {"use_megatron_fsdp", "ddp.use_megatron_fsdp", "dist.use_megatron_fsdp"},
    {"use_torch_fsdp2", "dist.use_torch_fsdp2"},
    {"use_tp_pp_dp_mapping", "dist.use_tp_pp_dp_mapping"},
    {"te_rng_tracker", "rng.te_rng_tracker"},
    {"check_for_nan_in_loss_and_grad", "rerun_state_machine.check_for_nan_in_loss"},
    {"check_for_nan_in_loss", "rerun_state_machine.check_for_nan_in_loss"},
    {"dist_ckpt_format", "checkpoint.ckpt_format"},
    {"ckpt_format", "checkpoint.ckpt_format"},
    {"save", "checkpoint.save"},
    {"load", "checkpoint.load"},
    {"profile_ranks", "profiling.profile_ranks"},
    {"use_pytorch_profiler", "profiling.use_pytorch_profiler"},
    {"record_memory_history", "profiling.record_memory_history"},
    {"profile_step_end", "profiling.profile_step_end"},
    {"memory_snapshot_path", "profiling.memory_snapshot_path"},
    {"defer_embedding_wgrad_compute", "comm_overlap.defer_embedding_wgrad_compute"},
    {"wgrad_deferral_limit", "comm_overlap.wgrad_deferral_limit"},
    {"world_size", "hardware.world_size"},
    {"num_experts", "model.num_moe_experts"},
    {"swiglu", "model.gated_linear_unit"},
    {"padded_vocab_size", "model.vocab_size"},
    {"decoder_first_pipeline_num_layers", "model.num_layers_in_first_pipeline_stage"},
    {"decoder_last_pipeline_num_layers", "model.num_layers_in_last_pipeline_stage"},
    {"use_cpu_offloading", "model.cpu_offloading"},
};

constexpr std::array<std::string_view, 20> sections{"model", "train", "optimizer", "ddp", "dist", "rng",
    "rerun_state_machine", "comm_overlap", "checkpoint", "dataset", "profiling", "profile", "peft",
    "hardware", "versions", "env", "env_vars", "logger", "scheduler", "tokenizer"};

} // namespace

std::vector<std::string> dottedKeys(std::string_view argument)
{
    std::string name(argument);
    while (name.starts_with('-'))
        name.erase(0, 1);
    std::replace(name.begin(), name.end(), '-', '_');
    const auto* it = std::find_if(std::begin(flatNames), std::end(flatNames),
        [&name](const FlatName& flat) { return flat.argument == name; });
    if (it == std::end(flatNames))
        return {"model." + name};
    std::vector<std::string> keys{std::string(it->key)};
    if (!it->second.empty())
        keys.emplace_back(it->second);
    return keys;
}

bool isConfigSection(std::string_view name)
{
    return std::find(sections.begin(), sections.end(), name) != sections.end();
}

} // namespace tidemark
