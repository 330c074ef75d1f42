// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/rule_case.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tidemark::test {

inline constexpr std::int64_t mib = 1 << 20;

/// A small training program: stacks as Megatron Core and torch leave them.
struct Program {
    TraceMaker maker;
    std::uint64_t next = 0x7f0000000000;
    using Block = std::pair<std::uint64_t, std::int64_t>;

    StackId mlp = maker.stack({"forward@megatron/core/transformer/mlp.py:118",
        "forward@megatron/core/transformer/transformer_layer.py:470",
        "forward_step@megatron/core/pipeline_parallel/schedules.py:315", "train_step@app/pretrain.py:77"});
    StackId residual = maker.stack({"_bias_dropout_add_func@megatron/core/fusions/fused_bias_dropout.py:48",
        "forward@megatron/core/transformer/transformer_layer.py:480",
        "forward_step@megatron/core/pipeline_parallel/schedules.py:315", "train_step@app/pretrain.py:77"});
    StackId layerInput = maker.stack({"forward@transformers/models/llama/modeling_llama.py:311",
        "forward@torch/utils/checkpoint.py:263", "checkpoint@torch/utils/checkpoint.py:496",
        "forward@transformers/models/llama/modeling_llama.py:423", "train_step@app/train.py:52"});
    StackId partInput = maker.stack({"forward@transformers/models/llama/modeling_llama.py:290",
        "forward@torch/utils/checkpoint.py:263", "checkpoint@torch/utils/checkpoint.py:496",
        "forward@transformers/models/llama/modeling_llama.py:430", "train_step@app/train.py:52"});
    StackId replay = maker.stack({"forward@transformers/models/llama/modeling_llama.py:160",
        "recompute_fn@torch/utils/checkpoint.py:1415", "unpack_hook@torch/utils/checkpoint.py:1129",
        "apply@torch/autograd/function.py:311"});
    StackId backward = maker.stack({});
    StackId optimizer
        = maker.stack({"_multi_tensor_adamw@torch/optim/adamw.py:611", "step@torch/optim/adamw.py:243",
            "wrapper@torch/optim/optimizer.py:517", "train_step@app/train.py:52"});
    StackId loss = maker.stack({"cross_entropy@torch/nn/functional.py:3462",
        "fixed_cross_entropy@transformers/loss/loss_utils.py:32", "train_step@app/train.py:52"});
    StackId head = maker.stack({"forward@torch/nn/modules/linear.py:125",
        "forward@transformers/models/qwen2/modeling_qwen2.py:703", "train_step@app/train.py:52"});

    Block alloc(std::int64_t size, StackId stack)
    {
        next += 1ULL << 34;
        maker.alloc(next, size, stack);
        return {next, size};
    }
    void free(const Block& block) { maker.free(block.first, block.second); }
    void unwind(const std::vector<std::vector<Block>>& kept, std::int64_t burst = 0)
    {
        for (auto layer = kept.rbegin(); layer != kept.rend(); ++layer) {
            const Block gradient = alloc(mib, backward);
            if (burst > 0)
                free(alloc(burst, replay));
            for (auto block = layer->rbegin(); block != layer->rend(); ++block)
                free(*block);
            free(gradient);
        }
    }
};

inline RunConfig asking(const char* granularity)
{
    RunConfig config;
    config.set("model.recompute_granularity", std::string(granularity));
    config.set("model.recompute_modules", std::vector<std::string>{"mlp"});
    return config;
}

} // namespace tidemark::test
