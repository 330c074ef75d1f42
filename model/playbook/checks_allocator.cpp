// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/allocator_conf.hpp"
#include "model/playbook/check_view.hpp"

namespace tidemark {

namespace {

/// Of two places that say the same thing, what is known of either.
Tri eitherKnown(Tri a, Tri b)
{
    return !a ? b : !b ? a : Tri(*a || *b);
}

Tri registerNotZero(const CheckView& v)
{
    const auto value = v.env("NCCL_GRAPH_REGISTER");
    return value ? Tri(*value != "0") : Tri();
}

Tri torchBelow(const CheckView& v, Version limit)
{
    const auto torch = v.version("torch");
    return torch ? Tri(*torch < limit) : Tri();
}

Tri userBuffersWithExpandable(const CheckView& v)
{
    return allOf({v.on("ddp.nccl_ub"), v.expandableOld(), torchBelow(v, {2, 11})});
}

Tri teGraphsWithExpandable(const CheckView& v)
{
    return allOf(
        {v.wordIs("model.cuda_graph_impl", {"transformer_engine"}), v.expandableOld(), registerNotZero(v)});
}

Tri otherGraphsWithExpandable(const CheckView& v)
{
    const Tri claimed = v.expandableEither();
    const auto sm = v.count("hardware.sm");
    return allOf({v.graphs(), notOf(v.wordIs("model.cuda_graph_impl", {"transformer_engine"})),
        claimed ? claimed : v.facts().expandableInSnapshot, registerNotZero(v), sm ? Tri(*sm < 100) : Tri()});
}

Tri onlyNewName(const CheckView& v)
{
    return allOf({v.expandableNew(), notOf(v.expandableOld())});
}

Tri settingWithoutEffect(const CheckView& v)
{
    const Tri recorded = v.facts().expandableInSnapshot;
    return anyOf(
        {recorded ? Tri(v.facts().mixedSegments) : Tri(), allOf({v.expandableEither(), notOf(recorded)})});
}

std::string settingWithoutEffectText(const CheckView& v)
{
    if (v.facts().mixedSegments)
        return "Some segments are expandable and some are not: the setting changed while the process ran, or "
               "holds for a part of it only. Set it before the first allocation.";
    return "The environment asks for expandable segments, the recording says they were off: the setting did "
           "not "
           "reach this process, or came after its first allocation.";
}

Tri ignoredStreamSetting(const CheckView& v)
{
    const auto value = v.env("TORCH_NCCL_AVOID_RECORD_STREAMS");
    return allOf({value ? Tri(!value->empty() && *value != "0") : Tri(), notOf(torchBelow(v, {2, 8}))});
}

/// max_split_size or garbage collection in the text of the environment.
Tri splitInEnvironment(const CheckView& v)
{
    Tri known;
    for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"})
        if (const auto conf = v.env(name))
            known = known.value_or(false) || allocatorOption(*conf, "max_split_size_mb")
                || allocatorOption(*conf, "garbage_collection_threshold");
    return known;
}

Tri splitInSnapshot(const CheckView& v)
{
    const auto split = v.config().number("allocator.max_split_size");
    const auto collection = v.config().real("allocator.garbage_collection_threshold");
    if (!split && !collection)
        return {};
    return split.value_or(-1) > 0 || collection.value_or(0) > 0;
}

Tri splitWithExpandable(const CheckView& v)
{
    return allOf({eitherKnown(v.expandableEither(), v.facts().expandableInSnapshot),
        eitherKnown(splitInEnvironment(v), splitInSnapshot(v))});
}

} // namespace

std::span<const CheckRow> allocatorChecks()
{
    static const std::vector<CheckRow> rows = {
        {"C-01", CheckLevel::Error, {"ddp.nccl_ub", "env.PYTORCH_CUDA_ALLOC_CONF", "versions.torch"},
            userBuffersWithExpandable,
            [](const CheckView& v) {
                return "NCCL user buffers and expandable segments exclude each other before PyTorch 2.11 "
                       "(here "
                    + v.say("versions.torch")
                    + "): Megatron stops at start. Drop ddp.nccl_ub or expandable_segments, or update.";
            },
            "Megatron-Core 2a75ac12 distributed/distributed_data_parallel_config.py"},
        {"C-02", CheckLevel::Error,
            {"model.cuda_graph_impl", "env.PYTORCH_CUDA_ALLOC_CONF", "env.NCCL_GRAPH_REGISTER"},
            teGraphsWithExpandable,
            [](const CheckView& v) {
                return "Transformer Engine graphs with expandable segments need NCCL_GRAPH_REGISTER=0; it is "
                    + v.say("env.NCCL_GRAPH_REGISTER") + ", so the graph helper stops with an assertion.";
            },
            "Megatron-Core 2a75ac12 transformer/cuda_graphs.py, training/arguments.py"},
        {"C-03", CheckLevel::Advice,
            {"model.cuda_graph_impl", "env.PYTORCH_CUDA_ALLOC_CONF", "env.PYTORCH_ALLOC_CONF",
                "env.NCCL_GRAPH_REGISTER", "hardware.sm"},
            otherGraphsWithExpandable,
            [](const CheckView& v) {
                return "Graphs (" + v.say("model.cuda_graph_impl")
                    + ") with expandable segments on a GPU before Blackwell: older Megatron-Core refused "
                      "this without "
                      "NCCL_GRAPH_REGISTER=0, since NCCL may touch unmapped memory. Set it to 0.";
            },
            "Megatron Bridge 067f987d skills nemo-mbridge-perf-memory-tuning and perf-cuda-graphs"},
        {"C-04", CheckLevel::Advice, {"env.PYTORCH_ALLOC_CONF", "env.PYTORCH_CUDA_ALLOC_CONF"}, onlyNewName,
            [](const CheckView&) -> std::string {
                return "Expandable segments are set through PYTORCH_ALLOC_CONF only. Megatron's own checks "
                       "(C-01, C-02) "
                       "read PYTORCH_CUDA_ALLOC_CONF and will not see it: mind those conflicts yourself.";
            },
            "Megatron-Core 2a75ac12, all checks of the environment"},
        {"C-05", CheckLevel::Advice,
            {"env.PYTORCH_CUDA_ALLOC_CONF", "env.PYTORCH_ALLOC_CONF", "snapshot.expandable_segments"},
            settingWithoutEffect, settingWithoutEffectText,
            "the recording: allocator_settings and is_expandable of its segments"},
        {"C-36", CheckLevel::Advice, {"env.TORCH_NCCL_AVOID_RECORD_STREAMS", "versions.torch"},
            ignoredStreamSetting,
            [](const CheckView& v) {
                return "TORCH_NCCL_AVOID_RECORD_STREAMS does nothing in PyTorch " + v.say("versions.torch")
                    + ": avoiding record_stream is the default there. Remove it.";
            },
            "PyTorch pull request 194701; the release from which on it holds (2.8) is not certain"},
        {"C-37", CheckLevel::Advice,
            {"env.PYTORCH_CUDA_ALLOC_CONF", "env.PYTORCH_ALLOC_CONF", "snapshot.expandable_segments",
                "allocator.max_split_size", "allocator.garbage_collection_threshold"},
            splitWithExpandable,
            [](const CheckView&) -> std::string {
                return "max_split_size_mb or garbage_collection_threshold beside expandable segments: they "
                       "were made for "
                       "native segments. Free blocks above the split size may stay unused; drop the two.";
            },
            "PyTorch c10/cuda/CUDACachingAllocator.cpp; pull request 193400"},
    };
    return rows;
}

} // namespace tidemark
