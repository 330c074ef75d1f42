// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/stack_facts.hpp"

#include "model/findings/plain_mlp.hpp"
#include "model/lens/frame_matcher.hpp"

#include <array>
#include <span>
#include <string_view>

namespace tidemark {

namespace {

/// A file as FramePattern has it, and a function; empty: any.
struct Test {
    const char* path;
    const char* function;
    std::uint64_t fact;
};

constexpr std::array tests{
    Test{"megatron/bridge/peft/lora_layers.py", "", in::BridgeLora},
    Test{"megatron/bridge/peft/dora_layers.py", "", in::BridgeOther},
    Test{"megatron/bridge/peft/canonical_lora.py", "", in::BridgeOther},
    Test{"megatron/bridge/peft/adapter_wrapper.py", "base_linear_forward", in::AdapterBase},
    Test{"megatron/bridge/peft/adapter_wrapper.py", "adapter_forward", in::AdapterBranch},
    Test{"megatron/bridge/peft/utils.py", "forward", in::AdapterBranch},
    Test{"transformer_engine/pytorch/distributed.py", "gather_along_first_dim", in::TeGather},
    Test{"megatron/core/tensor_parallel/mappings.py", "_gather_along_first_dim", in::CoreGather},
    Test{"transformer_engine/pytorch/module/_common.py", "apply_normalization", in::TeNorm | in::Norm},
    Test{"transformer/attention.py", "get_query_key_value_tensors", in::Qkv},
    Test{"megatron/core/transformer/mlp.py", "forward", in::DenseMlp},
    Test{"megatron/core/utils.py", "get_tensor", in::GlobalBuffer},
    Test{"peft/tuners/lora/**", "", in::HfLora},
    Test{"", "_cast_input_dtype", in::Cast},
    Test{"torch/nn/functional.py", "dropout", in::Dropout},
    Test{"torch/utils/checkpoint.py", "forward", in::Checkpoint},
    Test{"torch/utils/checkpoint.py", "checkpoint", in::Checkpoint},
    Test{"megatron/core/tensor_parallel/random.py", "forward", in::Checkpoint},
    Test{"megatron/core/tensor_parallel/random.py", "checkpoint", in::Checkpoint},
    Test{"transformer_engine/pytorch/distributed.py", "checkpoint", in::Checkpoint},
    Test{"torch/utils/checkpoint.py", "unpack_hook", in::Replay},
    Test{"torch/utils/checkpoint.py", "backward", in::Replay},
    Test{"torch/utils/checkpoint.py", "recompute_fn", in::Replay},
    Test{"megatron/core/tensor_parallel/random.py", "backward", in::Replay},
    Test{"megatron/core/tensor_parallel/random.py", "_recompute", in::Replay},
    Test{"transformer_engine/pytorch/distributed.py", "backward", in::Replay},
    Test{"transformer_engine/pytorch/cpp_extensions/fused_attn.py", "", in::FusedAttention},
    Test{"flash_attn/**", "", in::FusedAttention},
    Test{"flash_attn_interface.py", "", in::FusedAttention},
    Test{"torch/nn/functional.py", "scaled_dot_product_attention", in::FusedAttention},
    Test{"megatron/core/transformer/dot_product_attention.py", "", in::PlainAttention},
    Test{"fused_softmax.py", "", in::PlainAttention},
    // A model's own attention, written out; torch's function of that name is the fused one above.
    Test{"", "scaled_dot_product_attention", in::PlainAttention},
    Test{"", "eager_attention_forward", in::PlainAttention},
    Test{"megatron/core/**", "", in::MegatronCore},
    Test{"transformer_engine/pytorch/attention/dot_product_attention/**", "", in::PlainAttention},
    Test{"transformer_engine/pytorch/module/layernorm_linear.py", "", in::FusedNorm},
    Test{"transformer_engine/pytorch/module/layernorm_mlp.py", "", in::FusedNorm},
    Test{"transformer_engine/pytorch/module/layernorm.py", "", in::Norm},
    Test{"transformer_engine/pytorch/module/rmsnorm.py", "", in::Norm},
    Test{"torch/nn/modules/normalization.py", "forward", in::Norm},
    Test{"megatron/core/fusions/fused_layer_norm.py", "", in::Norm},
    Test{"megatron/core/transformer/transformer_layer.py", "_run_input_layernorm", in::Norm},
    Test{"megatron/core/transformer/transformer_layer.py", "_forward_pre_mlp_layernorm", in::Norm},
    Test{"transformer/multi_latent_attention.py", "qkv_up_proj_and_rope_apply", in::MlaUp},
    Test{"megatron/core/transformer/moe/moe_layer.py", "", in::Moe},
    Test{"megatron/core/transformer/moe/experts.py", "", in::Experts},
    Test{"megatron/core/transformer/moe/experts.py", "bias_act_func", in::ActivationFunction},
    Test{"megatron/core/fusions/fused_bias_swiglu.py", "", in::ActivationFunction},
    Test{"megatron/core/fusions/fused_bias_geglu.py", "", in::ActivationFunction},
    Test{"megatron/core/fusions/fused_bias_gelu.py", "", in::ActivationFunction},
    Test{"megatron/core/transformer/moe/shared_experts.py", "", in::SharedExperts},
    Test{"megatron/core/ssm/gated_delta_net.py", "", in::GatedNorm},
    Test{"megatron/core/ssm/gdn/gated_delta_net.py", "", in::GatedNorm},
    Test{"megatron/core/ssm/gated_delta_net/gdn.py", "", in::GatedNorm},
    Test{"megatron/core/models/gpt/gpt_model.py", "_postprocess", in::Postprocess},
    Test{"torch/nn/modules/linear.py", "forward", in::OutputLinear},
    Test{"torch/optim/**", "", in::TorchOptimizer},
    Test{"fsdp/_fully_shard/_fsdp_collectives.py", "", in::Reduction},
    Test{"fsdp/_fully_shard/_fsdp_param_group.py", "post_backward", in::Reduction},
};

/// Functions of torch's own code, where stacks hold it: the beginning of the name. Which kernel
/// scaled_dot_product_attention chose is seen only there (ATen/native/transformers/attention.cpp, 2.1
/// to 2.9).
struct NativeTest {
    std::string_view beginning;
    std::uint64_t fact;
};

constexpr std::array nativeTests{
    NativeTest{"at::native::_scaled_dot_product_attention_math", in::MathAttention | in::PlainAttention},
    NativeTest{"at::native::_scaled_dot_product_flash_attention", in::FusedAttention},
    NativeTest{"at::native::_scaled_dot_product_efficient_attention", in::FusedAttention},
    NativeTest{"at::native::_scaled_dot_product_cudnn_attention", in::FusedAttention},
};

std::uint64_t nativeFacts(std::string_view name)
{
    std::uint64_t out = 0;
    for (const NativeTest& test : nativeTests)
        if (name.starts_with(test.beginning))
            out |= test.fact;
    return out;
}

constexpr std::size_t facts = 32;

/// The tests of every fact, by its bit.
std::array<std::vector<FramePattern>, facts> patternsByFact()
{
    std::array<std::vector<FramePattern>, facts> patterns;
    for (const Test& test : tests)
        for (std::size_t fact = 0; fact < facts; ++fact)
            if ((test.fact >> fact & 1U) != 0)
                patterns[fact].push_back({test.path,
                    *test.function == 0 ? std::vector<std::string>()
                                        : std::vector<std::string>{test.function}});
    return patterns;
}

} // namespace

StackFacts::StackFacts(const Snapshot& snapshot)
{
    static_assert(in::TorchOptimizer == 1ULL << (facts - 1), "a new fact needs room");
    const auto patterns = patternsByFact();
    FrameMatcher matcher;
    for (const std::vector<FramePattern>& each : patterns)
        matcher.add(each);
    matcher.build(snapshot);
    m_ofFrame.resize(snapshot.frames.size());
    for (std::size_t i = 0; i < m_ofFrame.size(); ++i) {
        m_ofFrame[i] = matcher.bits(static_cast<FrameId>(i))[0];
        if (const StringId name = snapshot.frames[static_cast<FrameId>(i)].name; valid(name))
            m_ofFrame[i] |= nativeFacts(snapshot.strings.view(name));
    }
    m_ofStack.resize(snapshot.stacks.size());
    for (std::size_t i = 0; i < m_ofStack.size(); ++i) {
        const std::span<const FrameId> frames = snapshot.stacks[static_cast<StackId>(i)];
        m_anyFrames = m_anyFrames || !frames.empty();
        for (const FrameId frame : frames)
            m_ofStack[i] |= m_ofFrame[index(frame)];
        if ((m_ofStack[i] & in::MathAttention) != 0) // torch's function was called, its kernels were not
            m_ofStack[i] &= ~static_cast<std::uint64_t>(in::FusedAttention);
    }
    const std::vector<bool> mlp = plainMlpStacks(snapshot, m_ofStack);
    for (std::size_t i = 0; i < m_ofStack.size(); ++i)
        if (mlp[i])
            m_ofStack[i] |= in::PlainMlp;
    for (const std::uint64_t each : m_ofStack)
        m_anywhere |= each;
}

} // namespace tidemark
