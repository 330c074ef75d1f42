// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/check_view.hpp"

namespace tidemark {

namespace {

constexpr const char* transformerConfig = "Megatron-Core 2a75ac12 transformer/transformer_config.py";

Tri offloading(const CheckView& v)
{
    return v.on("model.cpu_offloading");
}

Tri withPipeline(const CheckView& v)
{
    const auto stages = v.countOr("model.pipeline_model_parallel_size", 1);
    return allOf({offloading(v), stages ? Tri(*stages > 1) : Tri()});
}

Tri withRecompute(const CheckView& v)
{
    return allOf({offloading(v), notOf(v.isNull("model.recompute_granularity"))});
}

Tri layersOutOfRange(const CheckView& v)
{
    const auto offloaded = v.countOr("model.cpu_offloading_num_layers", 0);
    const auto layers = v.count("model.num_layers");
    return allOf({offloading(v), offloaded && layers ? Tri(*offloaded < 0 || *offloaded >= *layers) : Tri()});
}

Tri withGraphs(const CheckView& v)
{
    return allOf({offloading(v), notOf(v.wordIs("model.cuda_graph_impl", {"none", "full_iteration"}))});
}

Tri withFineGrained(const CheckView& v)
{
    return allOf({offloading(v), v.on("model.fine_grained_activation_offloading")});
}

struct FineGrained {
    Tri otherImplementation;
    Tri newEngine;
    Tri projectionAlone;
    Tri expertsRecomputed;
    Tri fusedWithOthers;
};

FineGrained fineGrained(const CheckView& v)
{
    const auto engine = v.version("transformer_engine");
    const auto oldPath = v.env("NVTE_CPU_OFFLOAD_V1");
    const char* modules = "model.offload_modules";
    return {
        notOf(v.wordIs("model.transformer_impl", {"transformer_engine"})),
        allOf({engine ? Tri(*engine >= Version(2, 10)) : Tri(), oldPath ? Tri(*oldPath != "1") : Tri()}),
        allOf({v.listHas(modules, {"attn_proj"}), notOf(v.listHas(modules, {"core_attn"}))}),
        allOf({v.listHas(modules, {"moe_act", "expert_fc1", "fused_group_mlp"}), v.recomputes("moe")}),
        allOf({v.listHas(modules, {"fused_group_mlp"}), v.listHas(modules, {"moe_act", "expert_fc1"})}),
    };
}

Tri fineGrainedRefused(const CheckView& v)
{
    const FineGrained f = fineGrained(v);
    return allOf({v.on("model.fine_grained_activation_offloading"),
        anyOf({f.otherImplementation, f.newEngine, f.projectionAlone, f.expertsRecomputed,
            f.fusedWithOthers})});
}

std::string fineGrainedText(const CheckView& v)
{
    const FineGrained f = fineGrained(v);
    std::string why;
    const auto add = [&why](Tri holds, const std::string& text) {
        if (holds == Tri(true))
            why += (why.empty() ? "" : "; ") + text;
    };
    add(f.otherImplementation,
        "it needs transformer_impl=transformer_engine (here " + v.say("model.transformer_impl") + ")");
    add(f.newEngine,
        "Transformer Engine " + v.say("versions.transformer_engine") + " needs NVTE_CPU_OFFLOAD_V1=1");
    add(f.projectionAlone, "attn_proj needs core_attn beside it");
    add(f.expertsRecomputed,
        "moe_act, expert_fc1 and fused_group_mlp cannot be offloaded while moe is recomputed");
    add(f.fusedWithOthers, "fused_group_mlp excludes moe_act and expert_fc1");
    return "Fine-grained activation offloading is refused: " + why + ".";
}

Tri optimizerOffloadAlone(const CheckView& v)
{
    return allOf({v.on("optimizer.optimizer_cpu_offload"),
        notOf(anyOf({v.on("ddp.use_distributed_optimizer"), v.on("optimizer.use_distributed_optimizer")}))});
}

} // namespace

std::span<const CheckRow> offloadChecks()
{
    static const std::vector<CheckRow> rows = {
        {"C-06", CheckLevel::Error, {"model.cpu_offloading", "model.pipeline_model_parallel_size"},
            withPipeline,
            [](const CheckView& v) {
                return "Layer offloading to the CPU works with one pipeline stage only; there are "
                    + v.say("model.pipeline_model_parallel_size")
                    + ". Turn cpu_offloading off or set the size to 1.";
            },
            transformerConfig},
        {"C-07", CheckLevel::Error, {"model.cpu_offloading", "model.recompute_granularity"}, withRecompute,
            [](const CheckView& v) {
                return "Layer offloading and recompute (" + v.say("model.recompute_granularity")
                    + ") exclude each other: use one of the two.";
            },
            transformerConfig},
        {"C-08", CheckLevel::Error,
            {"model.cpu_offloading", "model.cpu_offloading_num_layers", "model.num_layers"}, layersOutOfRange,
            [](const CheckView& v) {
                return v.say("model.cpu_offloading_num_layers") + " layers are to be offloaded of "
                    + v.say("model.num_layers") + ": allowed are 0 up to one less than all.";
            },
            transformerConfig},
        {"C-09", CheckLevel::Error, {"model.cpu_offloading", "model.cuda_graph_impl"}, withGraphs,
            [](const CheckView& v) {
                return "Layer offloading is refused with CUDA graphs of kind "
                    + v.say("model.cuda_graph_impl")
                    + "; only full_iteration is let through. Use one of the two.";
            },
            transformerConfig},
        {"C-10", CheckLevel::Error, {"model.cpu_offloading", "model.fine_grained_activation_offloading"},
            withFineGrained,
            [](const CheckView&) -> std::string {
                return "Layer offloading and fine-grained activation offloading exclude each other: choose "
                       "one.";
            },
            transformerConfig},
        {"C-11", CheckLevel::Error,
            {"model.fine_grained_activation_offloading", "model.transformer_impl",
                "versions.transformer_engine", "env.NVTE_CPU_OFFLOAD_V1", "model.offload_modules",
                "model.recompute_granularity", "model.recompute_modules"},
            fineGrainedRefused, fineGrainedText,
            "Megatron Bridge 067f987d training/config.py; Megatron-Core 2a75ac12 "
            "transformer/transformer_config.py"},
        {"C-31", CheckLevel::Error,
            {"optimizer.optimizer_cpu_offload", "ddp.use_distributed_optimizer",
                "optimizer.use_distributed_optimizer"},
            optimizerOffloadAlone,
            [](const CheckView&) -> std::string {
                return "Optimizer offloading needs the distributed optimizer: set use_distributed_optimizer.";
            },
            "Megatron Bridge 067f987d skill nemo-mbridge-perf-cpu-offloading"},
    };
    return rows;
}

} // namespace tidemark
