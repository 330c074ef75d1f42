// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/check_view.hpp"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

constexpr const char* transformerConfig = "Megatron-Core 2a75ac12 transformer/transformer_config.py";
constexpr const char* granularity = "model.recompute_granularity";
constexpr const char* modules = "model.recompute_modules";

// The last three came after the revision Megatron Bridge pins.
constexpr std::array<std::string_view, 11> labels{"core_attn", "moe_act", "layernorm", "mla_up_proj", "mlp",
    "moe", "shared_experts", "gdn_norm_out", "gdp_in_proj", "gdp_qkv", "mhc"};

Tri full(const CheckView& v)
{
    return v.wordIs(granularity, {"full"});
}

Tri badGranularity(const CheckView& v)
{
    return anyOf({notOf(v.wordIs(granularity, {"none", "full", "selective"})),
        allOf({full(v), anyOf({v.isNull("model.recompute_method"), v.isNull("model.recompute_num_layers")})}),
        allOf({v.selective(), notOf(v.isNull("model.recompute_num_layers"))})});
}

std::string badGranularityText(const CheckView& v)
{
    if (full(v) == Tri(true))
        return "Full recompute needs recompute_method (here " + v.say("model.recompute_method")
            + ") and recompute_num_layers (here " + v.say("model.recompute_num_layers") + ").";
    if (v.selective() == Tri(true))
        return "Selective recompute takes modules, not a number of layers: remove recompute_num_layers="
            + v.say("model.recompute_num_layers") + ".";
    return "recompute_granularity is " + v.say(granularity) + "; only full and selective exist.";
}

std::string unknownLabels(const CheckView& v)
{
    std::string unknown;
    for (const std::string& each : v.words(modules).value_or(std::vector<std::string>()))
        if (std::find(labels.begin(), labels.end(), each) == labels.end())
            unknown += (unknown.empty() ? "" : ", ") + each;
    return unknown;
}

Tri hasUnknownLabel(const CheckView& v)
{
    return allOf({v.selective(), v.words(modules) ? Tri(!unknownLabels(v).empty()) : Tri()});
}

Tri noGroupedGemm(const CheckView& v)
{
    return allOf({v.recomputes("moe_act"), notOf(v.on("model.moe_grouped_gemm"))});
}

Tri noLatentAttention(const CheckView& v)
{
    return allOf({v.recomputes("mla_up_proj"), notOf(v.on("model.multi_latent_attention"))});
}

Tri noDeltaNet(const CheckView& v)
{
    return allOf({v.recomputes("gdn_norm_out"),
        notOf(v.wordIs("model.experimental_attention_variant", {"gated_delta_net"}))});
}

Tri labelWithoutModule(const CheckView& v)
{
    return anyOf({noGroupedGemm(v), noLatentAttention(v), noDeltaNet(v)});
}

std::string labelWithoutModuleText(const CheckView& v)
{
    if (noGroupedGemm(v) == Tri(true))
        return "Recomputing moe_act needs moe_grouped_gemm, which is off: turn it on or drop the label.";
    if (noLatentAttention(v) == Tri(true))
        return "Recomputing mla_up_proj needs multi-latent attention, which this model has not: drop the "
               "label.";
    return "Recomputing gdn_norm_out needs gated delta-net layers, which this model has not: drop the label.";
}

Tri sharedExpertsOverlap(const CheckView& v)
{
    return allOf({v.recomputes("shared_experts"), v.on("model.moe_shared_expert_overlap"),
        notOf(v.isNull("model.moe_shared_expert_intermediate_size"))});
}

Tri outputDiscardInFp8(const CheckView& v)
{
    const auto engine = v.version("transformer_engine");
    return allOf({v.on("model.fp8"), v.selective(), v.listHas(modules, {"moe_act", "layernorm"}),
        anyOf({v.wordIs("model.fp8_recipe", {"delayed"}), engine ? Tri(*engine < Version(2, 6)) : Tri()})});
}

Tri expertOverlap(const CheckView& v)
{
    return allOf({v.on("model.overlap_moe_expert_parallel_comm"),
        anyOf({full(v), notOf(v.isNull("model.recompute_method")),
            notOf(v.isNull("model.recompute_num_layers")), v.listHas(modules, {"moe"})})});
}

Tri fullWithGraphs(const CheckView& v)
{
    return allOf({full(v), notOf(v.wordIs("model.cuda_graph_impl", {"none", "full_iteration"}))});
}

Tri dropout(const CheckView& v, const char* key)
{
    const ConfigValue* value = v.config().find(key);
    if (!value)
        return {};
    return v.config().real(key).value_or(0) != 0;
}

Tri routerCaptured(const CheckView& v)
{
    return allOf({v.scopeHas("moe_router"), v.recomputes("moe")});
}

Tri attentionCaptured(const CheckView& v)
{
    return allOf({v.scopeHas("attn"), v.recomputes("core_attn"), dropout(v, "model.attention_dropout")});
}

Tri mlpCaptured(const CheckView& v)
{
    return allOf({anyOf({allOf({v.scopeHas("mlp"), v.recomputes("mlp")}),
                      allOf({v.scopeHas("moe"), v.recomputes("moe")})}),
        dropout(v, "model.hidden_dropout")});
}

Tri recomputeInsideGraph(const CheckView& v)
{
    return allOf({v.wordIs("model.cuda_graph_impl", {"transformer_engine"}),
        anyOf({routerCaptured(v), attentionCaptured(v), mlpCaptured(v)})});
}

std::string recomputeInsideGraphText(const CheckView& v)
{
    if (routerCaptured(v) == Tri(true))
        return "A graph captures the router (moe_router) while the whole moe is recomputed: drop one of the "
               "two.";
    if (attentionCaptured(v) == Tri(true))
        return "Recomputed attention inside a graph needs attention_dropout=0; it is "
            + v.say("model.attention_dropout") + ".";
    return "Recomputed MLP inside a graph needs hidden_dropout=0; it is " + v.say("model.hidden_dropout")
        + ".";
}

Tri modulesIgnored(const CheckView& v)
{
    return allOf({v.on(modules), v.wordIs(granularity, {"none", "full"})});
}

Tri attentionFused(const CheckView& v)
{
    // Left open, the choice falls when the model runs.
    const bool open = v.isNull("model.attention_backend") == Tri(true)
        || v.wordIs("model.attention_backend", {"auto"}) == Tri(true);
    const Tri backend = open ? Tri() : v.wordIs("model.attention_backend", {"fused", "flash"});
    return allOf({v.recomputes("core_attn"), backend});
}

Tri normFused(const CheckView& v)
{
    return allOf({v.recomputes("layernorm"), v.wordIs("model.transformer_impl", {"transformer_engine"}),
        v.isNull("model.num_moe_experts")});
}

/// Every layer has experts: a frequency of 1 (the default), or a list of ones.
Tri everyLayerMoe(const CheckView& v)
{
    Tri everywhere = true;
    if (v.config().find("model.moe_layer_freq")) {
        const auto pattern = v.words("model.moe_layer_freq").value_or(std::vector<std::string>());
        everywhere = std::all_of(
            pattern.begin(), pattern.end(), [](const std::string& each) { return each == "1"; });
    }
    return allOf({notOf(v.isNull("model.num_moe_experts")), everywhere});
}

Tri noDenseMlp(const CheckView& v)
{
    return allOf({v.recomputes("mlp"), everyLayerMoe(v)});
}

std::string withoutEffectText(const CheckView& v)
{
    if (normFused(v) == Tri(true))
        return "Recomputing layernorm does nothing here: Transformer Engine fuses the norms of a dense layer "
               "into the "
               "linear layers behind them.";
    return "Recomputing mlp does nothing here: every layer has experts (" + v.say("model.num_moe_experts")
        + "), none a dense MLP. Use moe_act or moe.";
}

} // namespace

std::span<const CheckRow> recomputeChecks()
{
    static const std::vector<CheckRow> rows = {
        {"C-12", CheckLevel::Error, {granularity, "model.recompute_method", "model.recompute_num_layers"},
            badGranularity, badGranularityText, transformerConfig},
        {"C-13", CheckLevel::Error, {"model.distribute_saved_activations", "model.sequence_parallel"},
            [](const CheckView& v) {
                return allOf({v.on("model.distribute_saved_activations"), v.on("model.sequence_parallel")});
            },
            [](const CheckView&) -> std::string {
                return "distribute_saved_activations and sequence_parallel exclude each other: sequence "
                       "parallelism "
                       "already splits what is saved. Turn the first one off.";
            },
            transformerConfig},
        {"C-14", CheckLevel::Error, {granularity, modules}, hasUnknownLabel,
            [](const CheckView& v) {
                return "recompute_modules names what Megatron-Core does not know: " + unknownLabels(v)
                    + ". Labels belong to a revision; correct the name or update.";
            },
            "Megatron-Core 2a75ac12 and d98e8a64 transformer/transformer_config.py"},
        {"C-15", CheckLevel::Error,
            {granularity, modules, "model.moe_grouped_gemm", "model.multi_latent_attention",
                "model.experimental_attention_variant"},
            labelWithoutModule, labelWithoutModuleText, transformerConfig},
        {"C-16", CheckLevel::Error,
            {granularity, modules, "model.moe_shared_expert_overlap",
                "model.moe_shared_expert_intermediate_size"},
            sharedExpertsOverlap,
            [](const CheckView&) -> std::string {
                return "Shared experts cannot be recomputed while their work overlaps the dispatch: turn "
                       "moe_shared_expert_overlap off or drop shared_experts.";
            },
            transformerConfig},
        {"C-17", CheckLevel::Error, {"model.fp8", "model.fp8_recipe", modules, "versions.transformer_engine"},
            outputDiscardInFp8,
            [](const CheckView& v) {
                return "In FP8, moe_act and layernorm can be recomputed with a recipe other than delayed "
                       "(here "
                    + v.say("model.fp8_recipe") + ") and Transformer Engine 2.6 or newer (here "
                    + v.say("versions.transformer_engine") + ") only.";
            },
            transformerConfig},
        {"C-18", CheckLevel::Error,
            {"model.overlap_moe_expert_parallel_comm", granularity, "model.recompute_method",
                "model.recompute_num_layers", modules},
            expertOverlap,
            [](const CheckView&) -> std::string {
                return "Overlapped expert communication allows neither full recompute (nor its method and "
                       "number of layers) "
                       "nor the label moe: recompute inside the experts, for instance moe_act, or drop the "
                       "overlap.";
            },
            transformerConfig},
        {"C-19", CheckLevel::Error, {granularity, "model.cuda_graph_impl"}, fullWithGraphs,
            [](const CheckView& v) {
                return "Full recompute and CUDA graphs of kind " + v.say("model.cuda_graph_impl")
                    + " exclude each other: use full_iteration graphs, selective recompute, or no graphs.";
            },
            transformerConfig},
        {"C-20", CheckLevel::Error,
            {"model.cuda_graph_impl", "model.cuda_graph_scope", granularity, modules,
                "model.attention_dropout", "model.hidden_dropout"},
            recomputeInsideGraph, recomputeInsideGraphText, transformerConfig},
        {"C-21", CheckLevel::Warning, {modules, granularity}, modulesIgnored,
            [](const CheckView& v) {
                return "recompute_modules " + v.say(modules) + " is ignored with recompute_granularity "
                    + v.say(granularity) + ": only selective looks at it.";
            },
            transformerConfig},
        {"C-22", CheckLevel::Warning, {granularity, modules, "model.attention_backend"}, attentionFused,
            [](const CheckView& v) {
                return "core_attn recompute with attention backend "
                    + v.word("model.attention_backend").value_or("unknown")
                    + ": fused attention keeps little but its inputs, so expect no gain for the time it "
                      "costs.";
            },
            transformerConfig},
        {"C-23", CheckLevel::Warning,
            {granularity, modules, "model.transformer_impl", "model.num_moe_experts", "model.moe_layer_freq"},
            [](const CheckView& v) {
                return anyOf({normFused(v), noDenseMlp(v)});
            },
            withoutEffectText, "Megatron-Core 2a75ac12 transformer/transformer_layer.py"},
    };
    return rows;
}

} // namespace tidemark
