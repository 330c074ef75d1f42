// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/estimator.hpp"

#include "model/playbook/check_view.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

/// Beyond this a sum of bytes is no longer exact as a double, and no run is that large.
constexpr double largestExact = 9e15;

/// Reads the sizes of a model and remembers which are missing.
class Sizes {
public:
    Sizes(const CheckView& view, std::vector<std::string>& missing)
        : m_view(view)
        , m_missing(missing)
    { }

    /// A size of at least 1; 0 when missing, and then noted.
    double needed(const char* key)
    {
        const auto value = m_view.count(key);
        return value && *value > 0 && *value < 1'000'000'000 ? static_cast<double>(*value) : note(key);
    }
    /// As needed, with a value for null.
    double orNull(const char* key, double nullValue)
    {
        return m_view.isNull(key) == Tri(true) ? nullValue : needed(key);
    }
    /// As needed, with a value for null and for an absent key.
    double orAbsent(const char* key, double value)
    {
        return m_view.config().find(key) ? orNull(key, value) : value;
    }
    Tri flag(const char* key)
    {
        const Tri on = m_view.on(key);
        if (!on)
            note(key);
        return on;
    }
    double note(const std::string& key)
    {
        if (std::find(m_missing.begin(), m_missing.end(), key) == m_missing.end())
            m_missing.push_back(key);
        return 0;
    }
    const CheckView& view() const { return m_view; }

private:
    const CheckView& m_view;
    std::vector<std::string>& m_missing;
};

struct Shape {
    double layers, hidden, ffn, heads, groups, channels, vocabulary, tokens;
    double tensor, pipeline, context, chunks;
    bool gated = true;
    bool tied = false;
    double experts = 0, expertFfn = 0, topk = 0, sharedFfn = 0, expertRanks = 1;
    double world = 0;
    std::optional<double> dataParallel;
};

Shape readShape(Sizes& s, MemoryEstimate& out)
{
    Shape shape;
    shape.layers = s.needed("model.num_layers");
    shape.hidden = s.needed("model.hidden_size");
    shape.ffn = s.orNull("model.ffn_hidden_size", 4 * shape.hidden);
    shape.heads = s.needed("model.num_attention_heads");
    shape.groups = s.orAbsent("model.num_query_groups", shape.heads);
    shape.channels = s.orAbsent("model.kv_channels", shape.heads > 0 ? shape.hidden / shape.heads : 0);
    shape.vocabulary = s.needed("model.vocab_size");
    shape.tokens = s.needed("model.seq_length") * s.needed("train.micro_batch_size");
    shape.tensor = s.orNull("model.tensor_model_parallel_size", 1);
    shape.pipeline = s.orNull("model.pipeline_model_parallel_size", 1);
    shape.context = s.orAbsent("model.context_parallel_size", 1);
    shape.chunks = s.orAbsent("model.virtual_pipeline_model_parallel_size", 1);
    const Tri gated = s.view().on("model.gated_linear_unit");
    shape.gated = gated.value_or(true);
    if (!gated)
        out.assumptions.push_back(
            "A gated MLP (SwiGLU) is taken for granted: gated_linear_unit is not given.");
    const Tri tied = s.view().on("model.share_embeddings_and_output_weights");
    shape.tied = tied.value_or(false);
    if (!tied)
        out.assumptions.push_back("Input and output embeddings are counted as two.");
    return shape;
}

void readExperts(Sizes& s, Shape& shape)
{
    if (s.view().isNull("model.num_moe_experts").value_or(true))
        return;
    shape.experts = s.needed("model.num_moe_experts");
    shape.expertFfn = s.orNull("model.moe_ffn_hidden_size", shape.ffn);
    shape.topk = s.needed("model.moe_router_topk");
    shape.sharedFfn = s.orAbsent("model.moe_shared_expert_intermediate_size", 0);
    shape.expertRanks = s.orNull("model.expert_model_parallel_size", 1)
        * s.orAbsent("model.expert_tensor_parallel_size", shape.tensor);
    if (!s.view().wordIs("model.moe_layer_freq", {"1"}).value_or(true))
        s.note("a model in which every layer has experts (model.moe_layer_freq)");
}

std::optional<std::int64_t> plainNumber(const std::string& text)
{
    RunConfig one;
    one.set("value", text);
    return one.number("value");
}

void readRanks(Sizes& s, Shape& shape)
{
    auto world = s.view().count("hardware.world_size");
    if (!world)
        if (const auto text = s.view().env("WORLD_SIZE"))
            world = plainNumber(*text);
    if (!world || *world < 1)
        return;
    shape.world = static_cast<double>(*world);
    const double data = shape.world / (shape.tensor * shape.pipeline * shape.context);
    if (std::isfinite(data) && data >= 1 && data == std::floor(data))
        shape.dataParallel = data;
}

/// Layers of every stage; empty when they do not come out even.
std::vector<double> layersOfStages(const CheckView& v, const Shape& shape)
{
    const auto stages = static_cast<std::size_t>(shape.pipeline);
    if (stages < 1 || stages > 4096)
        return {};
    const double before = v.on("model.account_for_embedding_in_pipeline_split").value_or(false);
    const double after = v.on("model.account_for_loss_in_pipeline_split").value_or(false);
    const auto first = v.count("model.num_layers_in_first_pipeline_stage");
    const auto last = v.count("model.num_layers_in_last_pipeline_stage");
    double middle = shape.layers + before + after;
    double left = shape.pipeline;
    for (const auto& special : {first, last})
        if (special) {
            middle -= static_cast<double>(*special);
            left -= 1;
        }
    const double each = left > 0 ? middle / left : 0;
    if (each != std::floor(each) || each < 0 || (left <= 0 && middle != 0))
        return {};
    std::vector<double> layers(stages, each);
    layers.back() = last ? static_cast<double>(*last) : layers.back() - after;
    layers.front() = first ? static_cast<double>(*first) : layers.front() - before;
    return layers;
}

/// Parameters of one rank: those every tensor-parallel rank shares in, and those of experts.
struct Parameters {
    double dense = 0;
    double expert = 0;
};

Parameters layerParameters(const Shape& m)
{
    const double multiplier = m.gated ? 3 : 2;
    const double attention = m.hidden * m.channels * (2 * m.heads + 2 * m.groups);
    const double norms = 2 * m.hidden;
    Parameters p;
    p.dense = (attention + norms) / m.tensor;
    if (m.experts > 0) {
        p.dense += m.hidden * m.experts + multiplier * m.hidden * m.sharedFfn / m.tensor;
        p.expert = m.experts * multiplier * m.hidden * m.expertFfn / m.expertRanks;
    } else {
        p.dense += multiplier * m.hidden * m.ffn / m.tensor;
    }
    return p;
}

double modelParameters(const Shape& m)
{
    const Parameters p = layerParameters(m);
    const double router = m.experts > 0 ? m.hidden * m.experts : 0;
    const double layer = (p.dense - router) * m.tensor + router + p.expert * m.expertRanks;
    return m.layers * layer + m.hidden + (m.tied ? 1 : 2) * m.hidden * m.vocabulary;
}

/// How many ranks share a class of states.
struct Sharding {
    double weights = 1;
    double gradients = 1;
    double optimizer = 1;
};

std::optional<Sharding> readSharding(Sizes& s, const Shape& shape)
{
    const CheckView& v = s.view();
    const Tri distributed
        = anyOf({v.on("ddp.use_distributed_optimizer"), v.on("optimizer.use_distributed_optimizer")});
    const Tri megatron = anyOf({v.on("ddp.use_megatron_fsdp"), v.on("dist.use_megatron_fsdp")});
    const bool torchFsdp = v.on("dist.use_torch_fsdp2").value_or(false);
    if (!distributed && !megatron.value_or(false) && !torchFsdp)
        s.note("ddp.use_distributed_optimizer");
    Sharding sharding;
    const std::string strategy = v.word("ddp.data_parallel_sharding_strategy").value_or("");
    const bool anything = distributed.value_or(false) || megatron.value_or(false) || torchFsdp;
    if (!anything)
        return sharding;
    if (!shape.dataParallel) {
        if (shape.world == 0)
            s.note("hardware.world_size");
        else if (shape.tensor > 0 && shape.pipeline > 0 && shape.context > 0)
            s.note("a hardware.world_size that the parallel sizes divide");
        return std::nullopt;
    }
    const double ranks = *shape.dataParallel * shape.context;
    const bool fsdp = megatron.value_or(false);
    if (distributed.value_or(false) || torchFsdp || (fsdp && strategy.starts_with("optim")))
        sharding.optimizer = ranks;
    if (torchFsdp || (fsdp && strategy.starts_with("optim_grads")))
        sharding.gradients = ranks;
    if (torchFsdp || (fsdp && strategy == "optim_grads_params"))
        sharding.weights = ranks;
    return sharding;
}

/// Bytes of the saved activations of one layer and microbatch on one rank.
double layerActivations(Sizes& s, const Shape& m, MemoryEstimate& out)
{
    const double ffn = m.experts > 0 ? m.topk * m.expertFfn + m.sharedFfn : m.ffn;
    const double tokens = m.tokens / m.context;
    if (m.tensor > 1 && s.flag("model.sequence_parallel") == Tri(false)) {
        out.assumptions.push_back(
            "Without sequence parallelism every tensor-parallel rank keeps 10 bytes a token and "
            "hidden unit whole.");
        return tokens * (10 * m.hidden + (8 * m.hidden + 4 * ffn) / m.tensor);
    }
    return tokens * (18 * m.hidden + 4 * ffn) / m.tensor;
}

/// The rule by which recompute changes the activations of one chunk of layers.
struct Recompute {
    bool full = false;
    bool block = false;
    double layers = 1;
    double input = 0; ///< bytes of a layer's input
};

Recompute readRecompute(Sizes& s, const Shape& m, MemoryEstimate& out)
{
    const CheckView& v = s.view();
    Recompute r;
    r.input = m.tokens / m.context * m.hidden * 2
        / (v.on("model.sequence_parallel").value_or(false) ? m.tensor : 1);
    r.full = v.wordIs("model.recompute_granularity", {"full"}).value_or(false);
    if (r.full) {
        r.block = v.wordIs("model.recompute_method", {"block"}).value_or(false);
        r.layers = s.needed("model.recompute_num_layers");
        return r;
    }
    for (const std::string& label : v.words("model.recompute_modules").value_or(std::vector<std::string>()))
        if (v.selective() == Tri(true) && label != "core_attn")
            out.activationsAreUpperBound = true;
    if (!v.wordIs("model.recompute_granularity", {"none"}) || v.on("model.cpu_offloading").value_or(false)
        || v.on("model.fine_grained_activation_offloading").value_or(false))
        out.activationsAreUpperBound = true;
    return r;
}

/// Saved bytes of one chunk of layers, and what its replay needs besides.
double chunkActivations(const Recompute& r, double layers, double perLayer)
{
    if (!r.full)
        return layers * perLayer;
    if (r.block)
        return std::min(r.layers, layers) * r.input + std::max(layers - r.layers, 0.0) * perLayer;
    return std::ceil(layers / r.layers) * r.input;
}

std::int64_t whole(double value)
{
    return static_cast<std::int64_t>(std::llround(value));
}

std::optional<std::int64_t> microbatches(const CheckView& v, const Shape& m)
{
    const auto global = v.count("train.global_batch_size");
    const auto micro = v.count("train.micro_batch_size");
    if (!global || !micro || *global < 1 || *micro < 1 || !m.dataParallel)
        return std::nullopt;
    const double count = static_cast<double>(*global) / (static_cast<double>(*micro) * *m.dataParallel);
    return count >= 1 ? std::optional(whole(std::floor(count))) : std::nullopt;
}

struct StateRules {
    Sharding sharding;
    double expertShare = 1; ///< ranks that share an expert's states, relative to the dense ones
    bool frozen = false;
    double offloaded = 0;
};

void fillStates(StageEstimate& stage, const Parameters& p, const StateRules& rules)
{
    const auto share = [&rules](double dense, double expert, double ranks) {
        return dense / ranks + expert / (ranks > 1 ? std::max(1.0, ranks * rules.expertShare) : 1);
    };
    stage.parameters = whole(p.dense + p.expert);
    stage.weights = whole(2 * share(p.dense, p.expert, rules.sharding.weights));
    if (rules.frozen)
        return;
    stage.gradients = whole(4 * share(p.dense, p.expert, rules.sharding.gradients));
    stage.optimizer = whole(12 * (1 - rules.offloaded) * share(p.dense, p.expert, rules.sharding.optimizer));
}

/// An adapter leaves the base weights frozen: they have no gradients and no optimizer state.
bool isFrozen(const CheckView& v, MemoryEstimate& out)
{
    const auto adapter = v.adapter();
    if (!adapter)
        out.assumptions.push_back("No adapter is taken for granted: peft is not given.");
    if (!adapter || adapter->empty())
        return false;
    out.activationsAreUpperBound = true;
    out.assumptions.push_back(
        "Of the frozen base model only the weights are counted; the adapter's own states are not.");
    return true;
}

void coverage(Sizes& s)
{
    const CheckView& v = s.view();
    if (v.on("model.multi_latent_attention").value_or(false))
        s.note("an attention other than multi-latent (its shapes are not covered)");
    for (const char* key :
        {"model.is_hybrid_model", "model.hybrid_layer_pattern", "model.hybrid_override_pattern"})
        if (v.on(key).value_or(false))
            s.note("a model of attention layers only (hybrid ones are not covered)");
    if (v.on("model.pipeline_model_parallel_layout").value_or(false))
        s.note("a pipeline without a layout of its own");
}

} // namespace

const StageEstimate& MemoryEstimate::fullest() const
{
    return *std::max_element(stages.begin(), stages.end(),
        [](const StageEstimate& a, const StageEstimate& b) { return a.total() < b.total(); });
}

EstimateResult estimateMemory(const RunConfig& config)
{
    EstimateResult result;
    MemoryEstimate out;
    const CheckFacts none;
    const CheckView view(config, none);
    Sizes sizes(view, result.missing);
    Shape shape = readShape(sizes, out);
    readExperts(sizes, shape);
    coverage(sizes);
    readRanks(sizes, shape);
    const auto sharding = readSharding(sizes, shape);
    const double perLayer = layerActivations(sizes, shape, out);
    const Recompute recompute = readRecompute(sizes, shape, out);
    const auto layers = layersOfStages(view, shape);
    if (result.missing.empty() && layers.empty())
        sizes.note("a number of layers that the pipeline stages divide");
    const double bound = modelParameters(shape) * 18 + perLayer * shape.layers * 2 * shape.chunks;
    if (result.missing.empty() && (!std::isfinite(bound) || bound > largestExact))
        sizes.note("sizes of a model that exists");
    if (!result.missing.empty())
        return result;

    StateRules rules{*sharding, 1, isFrozen(view, out), 0};
    rules.expertShare = shape.tensor / shape.expertRanks;
    if (view.on("optimizer.optimizer_cpu_offload").value_or(false))
        rules.offloaded
            = std::clamp(config.real("optimizer.optimizer_offload_fraction").value_or(1), 0.0, 1.0);
    out.optimizerShards = sharding->optimizer;
    out.parametersOfModel = whole(modelParameters(shape));
    out.activationsPerLayer = whole(perLayer);
    if (view.on("ddp.grad_reduce_in_fp32") == Tri(false))
        out.assumptions.push_back(
            "Gradients are counted with 4 bytes, as Megatron Bridge does; in BF16 they take 2.");
    const auto batches = microbatches(view, shape);
    if (!batches && shape.pipeline > 1)
        out.assumptions.push_back("As many microbatches as the pipeline can hold are taken for granted.");
    const Parameters layer = layerParameters(shape);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        StageEstimate stage;
        stage.stage = static_cast<int>(i);
        stage.layers = whole(layers[i]);
        Parameters p{layers[i] * layer.dense, layers[i] * layer.expert};
        const double embedding = shape.hidden * shape.vocabulary / shape.tensor;
        const bool last = i + 1 == layers.size();
        p.dense += (i == 0 ? embedding : 0) + (last && !(shape.tied && layers.size() == 1) ? embedding : 0);
        fillStates(stage, p, rules);
        stage.inFlight = chunksInFlight(
            whole(shape.pipeline), static_cast<std::int64_t>(i), whole(shape.chunks), batches);
        stage.layersPerChunk = whole(std::ceil(layers[i] / shape.chunks));
        const double chunk = chunkActivations(recompute, static_cast<double>(stage.layersPerChunk), perLayer);
        const double replay
            = recompute.full ? std::min(recompute.block ? 1 : recompute.layers, layers[i]) * perLayer : 0;
        stage.activations = whole(static_cast<double>(stage.inFlight) * chunk + replay);
        if (layers.size() == 1)
            stage.output
                = whole(shape.tokens / shape.context * 4 * (shape.hidden + shape.vocabulary) / shape.tensor);
        out.stages.push_back(stage);
    }
    result.estimate = std::move(out);
    return result;
}

std::optional<std::uint64_t> deviceBytes(const RunConfig& config)
{
    const auto bytes = config.number("hardware.device_total_bytes");
    return bytes && *bytes > 0 ? std::optional(static_cast<std::uint64_t>(*bytes)) : std::nullopt;
}

std::int64_t chunksInFlight(
    std::int64_t stages, std::int64_t stage, std::int64_t chunks, std::optional<std::int64_t> microbatches)
{
    const std::int64_t warm
        = chunks > 1 ? 2 * (stages - stage - 1) + (chunks - 1) * stages + 1 : stages - stage;
    // Compared before it is multiplied: files may state any number.
    const std::int64_t each = std::max<std::int64_t>(chunks, 1);
    return microbatches && *microbatches < warm ? std::min(warm, *microbatches * each) : warm;
}

std::int64_t regatherSaving(const Regather& r)
{
    const std::int64_t first = r.embeddingStage ? r.gathered / r.tensorParallel : 0;
    return r.microbatches * (r.surfaces * r.gathered - first) - r.gathered;
}

std::int64_t regatherSavingUnfused(const Regather& r)
{
    const std::int64_t all = r.surfaces * r.gathered;
    return r.microbatches * (all - all / r.tensorParallel) - r.gathered;
}

} // namespace tidemark
