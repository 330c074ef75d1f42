// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/check_view.hpp"

namespace tidemark {

namespace {

Tri localGraphs(const CheckView& v)
{
    return allOf({v.wordIs("model.cuda_graph_impl", {"local"}), notOf(v.scopeHas("full_iteration"))});
}

Tri noGraphRandomNumbers(const CheckView& v)
{
    return allOf({v.graphs(), notOf(anyOf({v.on("rng.te_rng_tracker"), v.on("model.use_te_rng_tracker")}))});
}

Tri lossCheckInGraph(const CheckView& v)
{
    return allOf(
        {anyOf({v.wordIs("model.cuda_graph_impl", {"full_iteration"}), v.scopeHas("full_iteration")}),
            v.on("rerun_state_machine.check_for_nan_in_loss")});
}

Tri moeAndRouter(const CheckView& v)
{
    return allOf(
        {v.graphs(), notOf(v.isNull("model.num_moe_experts")), v.scopeHas("moe"), v.scopeHas("moe_router")});
}

Tri preprocessAlone(const CheckView& v)
{
    return allOf({v.graphs(), v.scopeHas("moe_preprocess"), notOf(v.scopeHas("moe_router"))});
}

Tri graphsRefused(const CheckView& v)
{
    return anyOf({noGraphRandomNumbers(v), lossCheckInGraph(v), moeAndRouter(v), preprocessAlone(v)});
}

std::string graphsRefusedText(const CheckView& v)
{
    std::string why;
    const auto add = [&why](Tri holds, const char* text) {
        if (holds == Tri(true))
            why += (why.empty() ? "" : "; ") + std::string(text);
    };
    add(noGraphRandomNumbers(v), "they need te_rng_tracker=true");
    add(lossCheckInGraph(v), "a graph of the whole iteration needs check_for_nan_in_loss=false");
    add(moeAndRouter(v), "the parts moe and moe_router exclude each other");
    add(preprocessAlone(v), "the part moe_preprocess needs moe_router");
    return "CUDA graphs are refused as set: " + why + ".";
}

Tri packing(const CheckView& v)
{
    return anyOf({v.on("dataset.enable_offline_packing"), v.on("dataset.enable_in_batch_packing")});
}

struct PackingConflicts {
    Tri padding;
    Tri sequences;
    Tri largeBatch;
    Tri smallBatch;
    Tri both;
};

PackingConflicts packingConflicts(const CheckView& v)
{
    const auto batch = v.countOr("train.micro_batch_size", 1);
    const Tri offline = v.on("dataset.enable_offline_packing");
    const Tri inBatch = v.on("dataset.enable_in_batch_packing");
    const Tri graphed = allOf({packing(v), v.graphs()});
    return {
        allOf({graphed, notOf(v.on("dataset.pad_to_max_length"))}),
        allOf({graphed, v.scopeHas("attn"), notOf(v.on("dataset.offline_packing_specs.pad_cu_seqlens"))}),
        allOf({offline, batch ? Tri(*batch > 1) : Tri()}),
        allOf({inBatch, batch ? Tri(*batch == 1) : Tri()}),
        allOf({offline, inBatch}),
    };
}

Tri packingRefused(const CheckView& v)
{
    const PackingConflicts c = packingConflicts(v);
    return anyOf({c.padding, c.sequences, c.largeBatch, c.smallBatch, c.both});
}

std::string packingText(const CheckView& v)
{
    const PackingConflicts c = packingConflicts(v);
    std::string why;
    const auto add = [&why](Tri holds, const std::string& text) {
        if (holds == Tri(true))
            why += (why.empty() ? "" : "; ") + text;
    };
    add(c.padding, "CUDA graphs need pad_to_max_length=true");
    add(c.sequences, "captured attention needs pad_cu_seqlens=true");
    add(c.largeBatch,
        "offline packing needs micro_batch_size=1 (here " + v.say("train.micro_batch_size") + ")");
    add(c.smallBatch, "packing within a batch needs micro_batch_size above 1");
    add(c.both, "the two kinds of packing exclude each other");
    return "Sequence packing is refused as set: " + why + ".";
}

} // namespace

std::span<const CheckRow> graphChecks()
{
    static const std::vector<CheckRow> rows = {
        {"C-25", CheckLevel::Error,
            {"model.cuda_graph_impl", "model.cuda_graph_scope", "model.cuda_graph_modules"}, localGraphs,
            [](const CheckView&) -> std::string {
                return "Local CUDA graphs run in Megatron Bridge with the scope full_iteration only: set "
                       "that scope, or use "
                       "cuda_graph_impl=transformer_engine.";
            },
            "Megatron Bridge 067f987d utils/cuda_graph.py"},
        {"C-26", CheckLevel::Error,
            {"model.cuda_graph_impl", "rng.te_rng_tracker", "model.use_te_rng_tracker",
                "rerun_state_machine.check_for_nan_in_loss", "model.cuda_graph_scope",
                "model.num_moe_experts"},
            graphsRefused, graphsRefusedText,
            "Megatron Bridge 067f987d training/config.py; Megatron-Core 2a75ac12 "
            "transformer/transformer_config.py"},
        {"C-27", CheckLevel::Error,
            {"dataset.enable_offline_packing", "dataset.enable_in_batch_packing", "dataset.pad_to_max_length",
                "dataset.offline_packing_specs.pad_cu_seqlens", "model.cuda_graph_impl",
                "model.cuda_graph_scope", "train.micro_batch_size"},
            packingRefused, packingText, "Megatron Bridge 067f987d training/config.py"},
    };
    return rows;
}

} // namespace tidemark
