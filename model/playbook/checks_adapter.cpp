// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/playbook/check_view.hpp"
#include "model/playbook/estimator.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace tidemark {

namespace {

constexpr const char* regatherKey = "peft.sequence_parallel_input_regather";
/// trace_alloc_max_entries of Megatron Bridge's recorder.
constexpr std::uint64_t bridgeRing = 100000;

Tri isLora(const CheckView& v)
{
    const auto adapter = v.adapter();
    return adapter ? Tri(*adapter == "LoRA" || *adapter == "VLMLoRA") : Tri();
}

Tri hasAdapter(const CheckView& v)
{
    const auto adapter = v.adapter();
    return adapter ? Tri(!adapter->empty()) : Tri();
}

Tri regather(const CheckView& v)
{
    return allOf({hasAdapter(v), v.on(regatherKey)});
}

Tri tensorParallel(const CheckView& v)
{
    const auto size = v.countOr("model.tensor_model_parallel_size", 1);
    return size ? Tri(*size > 1) : Tri();
}

/// Some target is a surface that is gathered; patterns count by their last part.
Tri targets(const CheckView& v, const char* surface)
{
    const auto names = v.words("peft.target_modules");
    if (!names || names->empty())
        return {};
    return std::any_of(names->begin(), names->end(), [surface](const std::string& each) {
        return each == "*" || each.find(surface) != std::string::npos
            || each.find("all") != std::string::npos;
    });
}

Tri noSurface(const CheckView& v)
{
    return notOf(anyOf({targets(v, "linear_qkv"), targets(v, "linear_fc1")}));
}

struct Fallback {
    Tri holds;
    std::string why;
    bool onlyFc1 = false; ///< linear_qkv is gathered anew all the same
};

std::vector<Fallback> fallbacks(const CheckView& v)
{
    const Tri a2a = v.on("peft.a2a_experimental");
    const Tri offloaded = v.on("model.cpu_offloading_activations");
    const Tri nowhere = noSurface(v);
    return {
        {notOf(tensorParallel(v)), "tensor parallelism is 1"},
        {notOf(v.on("model.sequence_parallel")), "sequence parallelism is off"},
        {a2a.value_or(false), "the adapter uses all-to-all"},
        {v.graphs(), "CUDA graphs are on"},
        {v.wordIs("model.recompute_granularity", {"full"}), "recompute is full"},
        {allOf({v.recomputes("mlp"), targets(v, "linear_fc1").value_or(true)}),
            "mlp is recomputed (linear_fc1 only)", true},
        {allOf({v.on("model.cpu_offloading"), offloaded.value_or(true)}),
            "activations are offloaded to the CPU"},
        {nowhere.value_or(false), "no target is linear_qkv or linear_fc1"},
    };
}

Tri fallsBack(const CheckView& v)
{
    Tri any = false;
    for (const Fallback& each : fallbacks(v))
        any = anyOf({any, each.holds});
    return allOf({regather(v), isLora(v), any});
}

std::string fallsBackText(const CheckView& v)
{
    std::string why;
    for (const Fallback& each : fallbacks(v))
        if (each.holds == Tri(true))
            why += (why.empty() ? "" : "; ") + each.why;
    return "Input re-gather is set but takes the old path, told in the debug log only: " + why + ".";
}

Tri worthRegathering(const CheckView& v)
{
    // What is not known to stand against it does not keep the advice back.
    bool barred = false;
    for (const Fallback& each : fallbacks(v))
        if (each.holds == Tri(true))
            barred = barred || !each.onlyFc1 || !targets(v, "linear_qkv").value_or(true);
    return allOf(
        {isLora(v), v.on("model.sequence_parallel"), tensorParallel(v), notOf(regather(v)), !barred});
}

std::optional<std::int64_t> adviceBytes(const CheckView& v)
{
    const auto layers = v.count("model.num_layers");
    const auto tokens = v.count("model.seq_length");
    const auto batch = v.count("train.micro_batch_size");
    const auto hidden = v.count("model.hidden_size");
    const auto size = v.count("model.tensor_model_parallel_size");
    const auto stages = v.config().find("model.pipeline_model_parallel_size")
        ? v.countOr("model.pipeline_model_parallel_size", 1)
        : std::optional<std::int64_t>(1);
    const auto parts = v.config().find("model.context_parallel_size")
        ? v.countOr("model.context_parallel_size", 1)
        : std::optional<std::int64_t>(1);
    const Tri qkv = targets(v, "linear_qkv");
    const Tri fc1 = targets(v, "linear_fc1");
    if (!layers || !tokens || !batch || !hidden || !size || stages != 1 || !parts || !qkv || !fc1)
        return std::nullopt;
    const auto small = [](std::int64_t value) { return value > 0 && value < 100'000'000; };
    if (!small(*layers) || !small(*tokens) || !small(*batch) || !small(*hidden) || !small(*size)
        || !small(*parts) || *batch > 100000 || *layers > 100000 || *hidden > 1'000'000)
        return std::nullopt;
    const bool dense = v.isNull("model.num_moe_experts").value_or(true);
    const Tri mlp = v.recomputes("mlp");
    Regather r;
    r.surfaces = *layers * ((*qkv ? 1 : 0) + (*fc1 && dense && !mlp.value_or(false) ? 1 : 0));
    r.tensorParallel = *size;
    const double product
        = static_cast<double>(*tokens) * static_cast<double>(*batch) * static_cast<double>(*hidden);
    if (product > 1e12)
        return std::nullopt;
    r.gathered = *tokens / *parts * *batch * *hidden * 2;
    return v.on("model.fp8").value_or(false) ? regatherSavingUnfused(r) : regatherSaving(r);
}

std::string worthRegatheringText(const CheckView& v)
{
    std::string text = "LoRA with sequence parallelism over " + v.say("model.tensor_model_parallel_size")
        + " ranks keeps the gathered inputs of LoRA-A until backward: set " + std::string(regatherKey)
        + "=true";
    if (const auto bytes = adviceBytes(v); bytes && *bytes > 0)
        text += ", which by these settings saves " + formatBytes(*bytes) + " a microbatch in flight";
    return text
        + ". Measured cost: 0.34 to 6.74 % of the throughput (three models on H100; yours will differ).";
}

Tri missedRank(const CheckView& v)
{
    const auto ranks = v.words("profiling.profile_ranks");
    const std::vector<int> failed = v.facts().failedRanks();
    if (!ranks || failed.empty())
        return {};
    const bool missed = std::any_of(failed.begin(), failed.end(), [&ranks](int rank) {
        return std::find(ranks->begin(), ranks->end(), std::to_string(rank)) == ranks->end();
    });
    if (missed)
        return true;
    // Another rank may have failed without leaving a file.
    auto world = v.count("hardware.world_size");
    if (const auto stated = v.env("WORLD_SIZE"); stated && !stated->empty())
        world = std::atoll(stated->c_str());
    if (!world)
        return {};
    // Unless none was left out of the recording.
    const std::set<std::string> recorded(ranks->begin(), ranks->end());
    const auto all = static_cast<std::size_t>(std::max<std::int64_t>(*world, 1));
    bool everyRank = recorded.size() >= all;
    for (std::size_t rank = 0; everyRank && rank < all; ++rank)
        everyRank = recorded.contains(std::to_string(rank));
    return everyRank || v.facts().files >= all ? Tri(false) : Tri();
}

Tri noSteps(const CheckView& v)
{
    const Tri profiler = v.on("profiling.use_pytorch_profiler");
    return notOf(profiler || !v.facts().hasSteps ? profiler : Tri(true));
}

Tri ringFull(const CheckView& v)
{
    const CheckFacts& facts = v.facts();
    if (!facts.events)
        return {};
    return *facts.events >= bridgeRing && *facts.events >= facts.ringCapacity.value_or(0);
}

std::string captureText(const CheckView& v)
{
    std::string text = "A better recording next time:";
    if (missedRank(v) == Tri(true))
        text += " rank " + v.say("snapshot.failing_ranks") + " ran out of memory but profile_ranks is "
            + v.say("profiling.profile_ranks") + ", so add it;";
    if (noSteps(v) == Tri(true))
        text += " turn use_pytorch_profiler on, so that steps are marked;";
    if (ringFull(v) == Tri(true))
        text += " " + v.say("snapshot.events")
            + " events fill Megatron Bridge's recorder (100,000), so record fewer steps;";
    text.back() = '.';
    return text;
}

} // namespace

std::span<const CheckRow> adapterChecks()
{
    static const char* const peft = "Megatron Bridge 067f987d peft/utils.py";
    static const std::vector<CheckRow> rows = {
        {"C-32", CheckLevel::Warning,
            {regatherKey, "peft._target_", "peft.target_modules", "model.tensor_model_parallel_size",
                "model.sequence_parallel", "model.cuda_graph_impl", "model.recompute_granularity",
                "model.recompute_modules", "model.cpu_offloading"},
            fallsBack, fallsBackText, peft},
        {"C-33", CheckLevel::Warning, {regatherKey, "peft._target_"},
            [](const CheckView& v) {
                return allOf({regather(v), hasAdapter(v), notOf(isLora(v))});
            },
            [](const CheckView& v) {
                return v.adapter().value_or("This adapter")
                    + " does not pass sequence_parallel_input_regather on: only LoRA and VLMLoRA gather "
                      "again, so it does nothing.";
            },
            peft},
        {"C-34", CheckLevel::Advice,
            {"peft._target_", regatherKey, "peft.target_modules", "model.sequence_parallel",
                "model.tensor_model_parallel_size", "model.cuda_graph_impl", "model.recompute_granularity"},
            worthRegathering, worthRegatheringText,
            "Megatron Bridge pull request 4581, peft/utils.py 067f987d"},
        {"C-35", CheckLevel::Advice,
            {"profiling.profile_ranks", "profiling.use_pytorch_profiler", "hardware.world_size",
                "snapshot.failing_ranks", "snapshot.events"},
            [](const CheckView& v) {
                return anyOf({missedRank(v), noSteps(v), ringFull(v)});
            },
            captureText, "Megatron Bridge 067f987d training/utils/train_utils.py and profiling.py"},
    };
    return rows;
}

} // namespace tidemark
