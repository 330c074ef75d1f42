// SPDX-License-Identifier: GPL-3.0-or-later
// Public names in the texts of this program: settings, functions of PyTorch and of Megatron. A test finds
// those that are missing.
#include "model/report/redaction_words.hpp"

#include <algorithm>
#include <array>

namespace tidemark::report {

namespace {

/// In order of bytes.
constexpr std::array<std::string_view, 419> words{"CUDA_DEVICE_MAX_CONNECTIONS", "DistributedDataParallel",
    "DistributedOptimizer", "FusedAdam", "GITHUB_ACTOR", "JUPYTERHUB_USER", "KUBERNETES_SERVICE_HOST",
    "LOCAL_RANK", "LOCAL_WORLD_SIZE", "LSB_HOSTS", "LSB_SUB_HOST", "MASTER_ADDR", "MemPool", "MemPools",
    "NB_USER", "NCCL_GRAPH_REGISTER", "NCCL_NVLS_ENABLE", "NODE_NAME", "NVTE_CPU_OFFLOAD_V1", "NeMo",
    "PBS_O_HOME", "PBS_O_HOST", "PBS_O_LOGNAME", "PET_MASTER_ADDR", "POD_NAME", "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF", "ProcessGroupNCCL", "PyTorch", "SLURMD_NODENAME", "SLURM_ARRAY_TASK_ID",
    "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_JOB_USER", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_NNODES",
    "SLURM_NODELIST", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_STEP_NODELIST", "SLURM_SUBMIT_HOST",
    "SLURM_TOPOLOGY_ADDR", "SSH_CLIENT", "SSH_CONNECTION", "SUDO_USER", "TORCH_NCCL_AVOID_RECORD_STREAMS",
    "WORLD_SIZE", "ZeroRedundancyOptimizer", "_cast_input_dtype", "_checkpointed_attention_forward",
    "_dump_snapshot", "_forward_pre_mlp_layernorm", "_fsdp_collectives", "_fsdp_param_group", "_fully_shard",
    "_gather_along_first_dim", "_make_graphed_callables", "_peak_reserved", "_record_memory_history",
    "_run_input_layernorm", "_run_mlp", "_scaled_dot_product_attention_math",
    "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention", "a2a_experimental", "above_peers", "above_steps",
    "account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split",
    "accumulate_allreduce_grads_in_fp32", "activations_per_layer", "activations_upper_bound",
    "adapter_forward", "adapter_wrapper", "alloc_tensor_from_graph_mempool", "allocated_bytes",
    "allocated_on_stream", "allocated_peak", "allocator_settings", "apply_normalization", "arXiv",
    "attention_backend", "attention_dropout", "attn_proj", "autocast_adapter_dtype", "average_in_collective",
    "base_linear_forward", "bias_act_func", "block_bytes", "blocked_by", "bytes_each", "bytes_per_element",
    "bytes_per_step", "calculate_per_token_loss", "canonical_lora", "capture_begin", "capture_end",
    "check_for_nan_in_loss", "check_for_nan_in_loss_and_grad", "ckpt_format", "comm_overlap",
    "context_parallel_size", "copy_tensors_in_struct", "core_attn", "cost_grade", "cpp_extensions",
    "cpu_activation_offload", "cpu_offloading", "cpu_offloading_activations", "cpu_offloading_num_layers",
    "create_bwd_graph", "create_cudagraphs", "create_fwd_graph", "cross_entropy_loss_fusion", "cudaFree",
    "cudaMalloc", "cuda_graph", "cuda_graph_impl", "cuda_graph_modules", "cuda_graph_scope", "cuda_graphs",
    "data_parallel_sharding_strategy", "data_quality", "ddp_average_in_collective",
    "decoder_first_pipeline_num_layers", "decoder_last_pipeline_num_layers", "defer_embedding_wgrad_compute",
    "delayed_frees", "deviating_ranks", "device_free", "device_total", "device_total_bytes",
    "dist_ckpt_format", "distribute_saved_activations", "distributed_data_parallel_config", "dora_layers",
    "dot_product_attention", "dropout_outputs", "eager_attention_forward", "elsewhere_default_pool",
    "elsewhere_private_pools", "elsewhere_streams", "empty_cache", "empty_unused_memory_level",
    "enable_in_batch_packing", "enable_mhc_connections", "enable_offline_packing", "env_vars",
    "equal_tensors", "estimated_saved", "event_range", "expandable_segments",
    "experimental_attention_variant", "expert_bytes", "expert_fc1", "expert_model_parallel_size",
    "expert_tensor_parallel_size", "external_fragmentation", "failed_ranks", "failing_ranks",
    "ffn_hidden_size", "fine_grained_activation_offloading", "first_event", "first_forward_event",
    "flash_attn", "flash_attn_interface", "fp8_recipe", "freed_at", "fsdp_double_buffer", "fsdp_dtensor",
    "fsdp_manual_registration", "full_cuda_graph", "full_iteration", "full_iteration_inference",
    "full_recompute", "fully_shard", "fused_attn", "fused_bias_geglu", "fused_bias_gelu", "fused_bias_swiglu",
    "fused_group_mlp", "fused_layer_norm", "fused_softmax", "gap_at_allocated_peak",
    "garbage_collection_threshold", "gated_delta_net", "gated_linear_unit", "gather_along_first_dim",
    "gathered_bytes_each", "gdn_norm_out", "gdp_in_proj", "gdp_qkv", "get_peft_model",
    "get_query_key_value_tensors", "get_tensor", "global_batch_size", "gpt_model", "grad_reduce_in_fp32",
    "graph_pool_handle", "growth_unit", "held_by_pools", "hidden_dropout", "hidden_size",
    "hybrid_layer_pattern", "hybrid_override_pattern", "idle_by_pool", "idle_bytes", "idle_since_event",
    "in_flight", "in_reach", "inactive_ratio", "inactive_split_bytes", "is_expandable", "is_hybrid_model",
    "kv_channels", "large_segment_size_mb", "largest_hole", "largest_site_bytes", "layer_activations",
    "layernorm_linear", "layernorm_mlp", "leaky_relu", "linear_fc1", "linear_fc2", "linear_proj",
    "linear_qkv", "live_at_that_moment", "live_grown", "live_growth", "lora_dropout", "lora_layers",
    "make_graphed_callables", "max_entries", "max_memory_allocated", "max_memory_reserved",
    "max_over_mean_activations", "max_split_size", "max_split_size_mb", "megatron_bridge",
    "megatron_core_head", "megatron_core_pinned", "megatron_fsdp_version", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_snapshot_path", "memory_stats", "micro_batch_size", "mla_up_proj", "moe_act",
    "moe_ffn_hidden_size", "moe_grouped_gemm", "moe_layer", "moe_layer_freq", "moe_preprocess", "moe_router",
    "moe_router_topk", "moe_shared_expert_intermediate_size", "moe_shared_expert_overlap",
    "multi_latent_attention", "nccl_ub", "new_peak", "new_peak_event", "new_peak_owner", "num_alloc_retries",
    "num_attention_heads", "num_experts", "num_layers", "num_layers_in_first_pipeline_stage",
    "num_layers_in_last_pipeline_stage", "num_moe_experts", "num_ooms", "num_query_groups",
    "offline_packing_specs", "offload_modules", "one_percent_of_usable", "optim_grads", "optim_grads_params",
    "optimizer_cpu_offload", "optimizer_cuda_graph", "optimizer_offload_fraction", "optimizer_state",
    "other_bytes", "other_measured", "out_of_memory", "output_bytes_not_counted", "outputs_not_counted",
    "overlap_grad_reduce", "overlap_moe_expert_parallel_comm", "overlap_param_gather", "pad_cu_seqlens",
    "pad_to_max_length", "padded_vocab_size", "peak_event", "peak_moved", "peak_of_steps", "peak_pending",
    "peak_without_bursts", "peers_expert_bytes", "peers_median", "peers_median_allocated_peak",
    "pending_at_end", "per_layer", "per_layer_from", "per_process_memory_fraction", "pin_leverage",
    "pinned_free", "pinned_holes", "pinned_segments", "pinning_bytes", "pipeline_model_parallel_layout",
    "pipeline_model_parallel_size", "pool_ids", "post_backward", "profile_ranks", "profile_step_end",
    "pytorch_hint_moot", "qkv_up_proj_and_rope_apply", "quick_gelu", "r_squared", "recompute_fn",
    "recompute_granularity", "recompute_method", "recompute_modules", "recompute_num_layers",
    "record_function", "record_memory_history", "record_stream", "removed_at_peak", "replayed_allocations",
    "rerun_state_machine", "reserved_at_end", "reserved_at_start", "reserved_by_pool", "reserved_bytes",
    "reset_peak_memory_stats", "retained_at_peak", "retained_surfaces", "rising_share",
    "roundup_power2_divisions", "row_parallel", "run_config", "saved_activations",
    "scaled_dot_product_attention", "sdpa_kernel", "segment_events", "segments_expandable", "seq_length",
    "sequence_parallel", "sequence_parallel_input_regather", "set_device", "set_to_none", "shard_bytes",
    "shards_not_kept", "share_embeddings_and_output_weights", "share_of_peak", "shared_experts",
    "shared_experts_compute", "skip_actions", "sp_comm_disabled", "squared_relu", "stage_peaks",
    "steps_confidence", "steps_found_by", "steps_held", "steps_until_full", "steps_until_full_grade",
    "steps_with_flush", "surfaces_linear_fc1", "surfaces_linear_qkv", "surfaces_other", "target_modules",
    "te_rng_tracker", "tensor_model_parallel_size", "tensor_parallel", "tensors_per_layer",
    "throughput_percent", "torch_npu", "tp_size_1", "train_iters", "train_utils", "transformer_config",
    "transformer_engine", "transformer_impl", "transformer_layer", "unpack_hook", "unusable_index",
    "use_cpu_offloading", "use_distributed_optimizer", "use_megatron_fsdp", "use_mem_pool", "use_nccl_ub",
    "use_precision_aware_optimizer", "use_pytorch_profiler", "use_reentrant", "use_te_rng_tracker",
    "use_torch_fsdp2", "use_tp_pp_dp_mapping", "virtual_pipeline_model_parallel_size", "vocab_size",
    "waited_us", "wgrad_deferral_limit", "whatif_empty_cache", "whatif_empty_cache_fits",
    "whatif_empty_cache_flushes", "whatif_empty_cache_peak_reserved", "whatif_expandable_fits",
    "whatif_expandable_flushes", "whatif_expandable_peak_reserved", "whatif_expandable_refused",
    "whatif_fidelity", "whatif_pins_first", "whatif_pins_first_fits", "whatif_pins_first_flushes",
    "whatif_pins_first_peak_reserved", "within_peers", "world_size", "zero_grad"};
static_assert(std::is_sorted(words.begin(), words.end()));

} // namespace

bool isAdviceWord(std::string_view name)
{
    return std::binary_search(words.begin(), words.end(), name);
}

} // namespace tidemark::report
