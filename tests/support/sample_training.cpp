// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/sample_training.hpp"

#include "tests/support/caching_allocator.hpp"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace tidemark::test {

namespace {

constexpr std::uint64_t bf16 = 2;
constexpr std::uint64_t fp32 = 4;
constexpr std::uint64_t int64Size = 8;
constexpr std::uint64_t imageFeatures = 4096;
constexpr std::int64_t mainStream = 0;
constexpr std::int64_t copyStream = 94'012'388'117'504; // a pointer, as the files have it

// Padded lengths of the batches; what changes from step to step is what leaves holes.
constexpr std::array<std::uint64_t, 8> lengths{1792, 2048, 1600, 1984, 1728, 2048, 1856, 1664};

// "function@file:line", innermost first. "torch:" and "harbor:" stand for where these are installed.
using Calls = std::vector<std::string_view>;

Calls operator+(Calls inner, const Calls& outer)
{
    inner.insert(inner.end(), outer.begin(), outer.end());
    return inner;
}

const Calls cpp{
    "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char, unsigned "
    "long, CUstream_st*)@CUDACachingAllocator.cpp:0",
    "at::detail::empty_cuda(c10::ArrayRef<long>, c10::ScalarType, std::optional<c10::Device>, "
    "std::optional<c10::MemoryFormat>)@??:0"};
const Calls module{
    "_call_impl@torch:nn/modules/module.py:1750", "_wrapped_call_impl@torch:nn/modules/module.py:1739"};
const Calls program{"main@harbor:train.py:148", "<module>@harbor:train.py:171"};
const Calls step = Calls{"train@harbor:train.py:96"} + program;
const Calls forwardPass
    = Calls{"forward@harbor:model.py:128"} + module + Calls{"train_step@harbor:train.py:54"} + step;
const Calls engine{"torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&, "
                   "torch::autograd::Node*, torch::autograd::InputBuffer&, "
                   "std::shared_ptr<torch::autograd::ReadyQueue> const&)@??:0",
    "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)@??:0",
    "torch::autograd::python::PythonEngine::thread_init(int, std::shared_ptr<torch::autograd::ReadyQueue> "
    "const&, "
    "bool)@??:0"};
const Calls customBackward = Calls{"apply@torch:autograd/function.py:307"} + engine;

/// Interned stacks of the run.
class Stacks {
public:
    explicit Stacks(RecordedSnapshot& snapshot)
        : m_snapshot(snapshot)
    { }

    std::uint32_t of(const Calls& calls)
    {
        std::vector<std::uint32_t> frames;
        for (const std::string_view call : calls)
            frames.push_back(frame(call));
        const auto [place, isNew]
            = m_stacks.emplace(frames, static_cast<std::uint32_t>(m_snapshot.stacks.size()));
        if (isNew)
            m_snapshot.stacks.push_back(frames);
        return place->second;
    }

private:
    std::uint32_t frame(std::string_view call)
    {
        const auto [place, isNew]
            = m_frames.emplace(call, static_cast<std::uint32_t>(m_snapshot.frames.size()));
        if (isNew)
            m_snapshot.frames.push_back(parse(call));
        return place->second;
    }

    static RecordedFrame parse(std::string_view call)
    {
        const std::size_t at = call.find('@'), colon = call.rfind(':');
        RecordedFrame frame{
            std::string(call.substr(0, at)), std::string(call.substr(at + 1, colon - at - 1))};
        std::from_chars(call.data() + colon + 1, call.data() + call.size(), frame.line);
        const std::array<std::pair<std::string_view, std::string_view>, 2> places{
            {{"torch:", "/opt/venv/lib/python3.11/site-packages/torch/"}, {"harbor:", "/opt/harbor/"}}};
        for (const auto& [prefix, folder] : places)
            if (frame.file.starts_with(prefix))
                frame.file.replace(0, prefix.size(), folder);
        return frame;
    }

    RecordedSnapshot& m_snapshot;
    std::map<std::string, std::uint32_t, std::less<>> m_frames;
    std::map<std::vector<std::uint32_t>, std::uint32_t> m_stacks;
};

using Tensor = std::uint64_t; // its address

/// The run: a clock, the allocator, and the program's tensors.
class Run {
public:
    explicit Run(const SampleTraining& training)
        : m_t(training)
        , m_gpu(training.capacityBytes)
        , m_stacks(m_snapshot)
    { }

    RecordedSnapshot play()
    {
        load();
        m_gpu.startRecording();
        Batch next = prefetch(0);
        for (int i = 0; i < m_t.steps; ++i) {
            mark(true, "ProfilerStep#" + std::to_string(i));
            next = trainStep(i, next);
            if (i == 0)
                dropCheckpoint();
            mark(false, "ProfilerStep#" + std::to_string(i));
            if (i % m_t.validateEvery == m_t.validateEvery - 1)
                validate();
        }
        m_gpu.finish(m_snapshot);
        return std::move(m_snapshot);
    }

private:
    struct Batch {
        std::uint64_t tokens = 0;
        Tensor features, input, target;
    };
    struct Layer {
        Tensor norm1, stats1, qkv, attention, logsumexp, mask1, residual1;
        Tensor norm2, stats2, up, activated, mask2, residual2;
    };
    struct Activations {
        Tensor projected, embedded, norm, stats, logits, logits32, logProbabilities, loss;
        std::vector<Layer> layers;
    };
    struct Parameter {
        std::uint64_t count = 0;
        Tensor gradient = 0;
        std::optional<Tensor> average, averageOfSquares;
    };

    // -- machinery

    void wait(std::int64_t us)
    {
        // A little noise from a fixed sequence, so that times look like times.
        m_random = m_random * 6364136223846793005u + 1442695040888963407u;
        m_nowUs += us + static_cast<std::int64_t>(m_random >> 58);
    }

    std::optional<Tensor> tryAllocate(
        std::uint64_t bytes, const Calls& calls, std::int64_t stream = mainStream)
    {
        wait(12 + static_cast<std::int64_t>(bytes >> 18));
        return m_gpu.allocate(bytes, stream, m_stacks.of(cpp + calls), m_nowUs);
    }

    Tensor allocate(std::uint64_t bytes, const Calls& calls, std::int64_t stream = mainStream)
    {
        const auto tensor = tryAllocate(bytes, calls, stream);
        if (!tensor)
            throw std::runtime_error("the sample's training itself does not fit");
        return *tensor;
    }

    void release(std::initializer_list<Tensor> tensors, const Calls& calls)
    {
        wait(3);
        for (const Tensor tensor : tensors)
            m_gpu.free(tensor, m_stacks.of(calls), m_nowUs);
    }

    void mark(bool start, std::string name) { m_snapshot.marks.push_back({start, std::move(name), m_nowUs}); }

    // -- the program

    void load()
    {
        const std::uint64_t h = m_t.hidden;
        addParameter(m_t.vocabulary * h);
        addParameter(imageFeatures * h);
        for (std::uint64_t layer = 0; layer < m_t.layers; ++layer)
            for (const std::uint64_t count : {2 * h, 3 * h * h, h * h, 2 * h, 4 * h * h, 4 * h * h})
                addParameter(count);
        addParameter(2 * h);
        addParameter(m_t.vocabulary * h);
        // A copy of the checkpoint's larger half, which the program forgets to drop before it starts.
        for (std::uint64_t layer = 0; layer < m_t.layers / 2; ++layer)
            m_checkpoint.push_back(allocate(12 * h * h * bf16, {}));
    }

    void addParameter(std::uint64_t count)
    {
        allocate(count * bf16, {});
        m_parameters.push_back({count, 0, std::nullopt, std::nullopt});
    }

    void dropCheckpoint()
    {
        const Calls site = Calls{"release@harbor:checkpoint.py:63", "train@harbor:train.py:103"} + program;
        for (const Tensor tensor : m_checkpoint)
            release({tensor}, site);
        m_checkpoint.clear();
    }

    Batch prefetch(int number)
    {
        const Calls site = Calls{"__next__@harbor:data.py:71"} + step;
        Batch batch;
        batch.tokens = m_t.batch * lengths[static_cast<std::size_t>(number) % lengths.size()];
        batch.features = allocate(
            batch.tokens * imageFeatures * fp32, Calls{"to_device@harbor:data.py:52"} + site, copyStream);
        batch.input
            = allocate(batch.tokens * int64Size, Calls{"to_device@harbor:data.py:53"} + site, copyStream);
        batch.target
            = allocate(batch.tokens * int64Size, Calls{"to_device@harbor:data.py:53"} + site, copyStream);
        return batch;
    }

    Batch trainStep(int number, const Batch& batch)
    {
        mark(true, "forward");
        Activations kept = forward(batch);
        mark(false, "forward");
        keepForMetrics(batch.tokens);
        // The batch came from the other stream: its memory waits until this stream has read it.
        for (const Tensor tensor : {batch.features, batch.input})
            m_gpu.recordStream(tensor, m_nowUs + 60'000);
        release({batch.features, batch.input}, Calls{"train_step@harbor:train.py:57"} + step);
        const Batch next = prefetch(number + 1);
        mark(true, "backward");
        backward(batch, kept);
        mark(false, "backward");
        m_gpu.recordStream(batch.target, m_nowUs + 500);
        release({batch.target}, Calls{"train_step@harbor:train.py:61"} + step);
        optimize();
        return next;
    }

    Calls inLayer(std::string_view line) const
    {
        return module + Calls{line} + module + Calls{"forward@harbor:model.py:119"} + forwardPass;
    }

    Activations forward(const Batch& batch)
    {
        const std::uint64_t wide = batch.tokens * m_t.hidden * bf16;
        const Calls linear{"forward@torch:nn/modules/linear.py:125"};
        Activations kept;
        const Tensor cast = allocate(
            batch.tokens * imageFeatures * bf16, Calls{"forward@harbor:model.py:108"} + forwardPass);
        kept.projected = allocate(wide, linear + module + Calls{"forward@harbor:model.py:109"} + forwardPass);
        release({cast}, Calls{"forward@harbor:model.py:110"} + forwardPass);
        const Tensor words = allocate(wide,
            Calls{"embedding@torch:nn/functional.py:2551", "forward@torch:nn/modules/sparse.py:190"} + module
                + Calls{"forward@harbor:model.py:112"} + forwardPass);
        kept.embedded = allocate(wide, Calls{"forward@harbor:model.py:113"} + forwardPass);
        release({words}, Calls{"forward@harbor:model.py:114"} + forwardPass);
        for (std::uint64_t i = 0; i < m_t.layers; ++i)
            kept.layers.push_back(forwardLayer(batch.tokens));
        const Calls norm
            = Calls{"layer_norm@torch:nn/functional.py:2900", "forward@torch:nn/modules/normalization.py:217"}
            + module + Calls{"forward@harbor:model.py:121"} + forwardPass;
        kept.norm = allocate(wide, norm);
        kept.stats = allocate(2 * batch.tokens * fp32, norm);
        kept.logits = allocate(batch.tokens * m_t.vocabulary * bf16,
            linear + module + Calls{"forward@harbor:model.py:122"} + forwardPass);
        const Calls loss = Calls{"caption_loss@harbor:losses.py:31"} + forwardPass;
        kept.logits32 = allocate(
            batch.tokens * m_t.vocabulary * fp32, Calls{"caption_loss@harbor:losses.py:29"} + forwardPass);
        kept.logProbabilities = allocate(
            batch.tokens * m_t.vocabulary * fp32, Calls{"cross_entropy@torch:nn/functional.py:3479"} + loss);
        kept.loss = allocate(fp32, Calls{"cross_entropy@torch:nn/functional.py:3479"} + loss);
        release({kept.logits32, kept.logits}, Calls{"caption_loss@harbor:losses.py:32"} + forwardPass);
        return kept;
    }

    Layer forwardLayer(std::uint64_t tokens)
    {
        const std::uint64_t wide = tokens * m_t.hidden * bf16;
        const Calls linear{"forward@torch:nn/modules/linear.py:125"};
        const Calls norm{
            "layer_norm@torch:nn/functional.py:2900", "forward@torch:nn/modules/normalization.py:217"};
        const Calls dropout{"dropout@torch:nn/functional.py:1425", "forward@torch:nn/modules/dropout.py:70"};
        const Calls attention = inLayer("forward@harbor:model.py:88");
        const Calls mlp = inLayer("forward@harbor:model.py:89");
        Layer kept;
        kept.norm1 = allocate(wide, norm + attention);
        kept.stats1 = allocate(2 * tokens * fp32, norm + attention);
        kept.qkv = allocate(3 * wide, linear + module + Calls{"forward@harbor:attention.py:41"} + attention);
        kept.attention = allocate(wide, Calls{"forward@harbor:attention.py:45"} + attention);
        kept.logsumexp
            = allocate(tokens * m_t.heads * fp32, Calls{"forward@harbor:attention.py:45"} + attention);
        const Tensor out
            = allocate(wide, linear + module + Calls{"forward@harbor:attention.py:47"} + attention);
        const Tensor dropped
            = allocate(wide, dropout + module + Calls{"forward@harbor:attention.py:48"} + attention);
        kept.mask1 = allocate(
            tokens * m_t.hidden, dropout + module + Calls{"forward@harbor:attention.py:48"} + attention);
        release({out}, Calls{"forward@harbor:attention.py:49"} + attention);
        kept.residual1 = allocate(wide, attention);
        release({dropped}, attention);
        kept.norm2 = allocate(wide, norm + mlp);
        kept.stats2 = allocate(2 * tokens * fp32, norm + mlp);
        kept.up = allocate(4 * wide, linear + module + Calls{"forward@harbor:mlp.py:24"} + mlp);
        kept.activated = allocate(4 * wide,
            Calls{"gelu_forward@harbor:kernels.py:18", "apply@torch:autograd/function.py:575",
                "forward@harbor:mlp.py:25"}
                + mlp);
        const Tensor down = allocate(wide, linear + module + Calls{"forward@harbor:mlp.py:26"} + mlp);
        const Tensor dropped2 = allocate(wide, dropout + module + Calls{"forward@harbor:mlp.py:27"} + mlp);
        kept.mask2
            = allocate(tokens * m_t.hidden, dropout + module + Calls{"forward@harbor:mlp.py:27"} + mlp);
        release({down}, Calls{"forward@harbor:mlp.py:28"} + mlp);
        kept.residual2 = allocate(wide, mlp);
        release({dropped2}, mlp);
        return kept;
    }

    /// The leak: a copy of the pooled features is kept "for the report at the end".
    void keepForMetrics(std::uint64_t tokens)
    {
        allocate(tokens * m_t.hidden * bf16,
            Calls{"update@harbor:metrics.py:37", "train_step@harbor:train.py:56"} + step);
    }

    Calls autograd(std::string_view node) const { return Calls{node} + engine; }

    void gradient(std::size_t parameter, const Calls& calls)
    {
        m_parameters[parameter].gradient = allocate(m_parameters[parameter].count * bf16, calls);
    }

    void backward(const Batch& batch, const Activations& kept)
    {
        const std::uint64_t wide = batch.tokens * m_t.hidden * bf16;
        const Calls loss = Calls{"loss_backward@harbor:losses.py:48"} + customBackward;
        const Calls matmul
            = autograd("torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)@??:0");
        const Tensor logits32 = allocate(batch.tokens * m_t.vocabulary * fp32, loss);
        release({kept.logProbabilities}, loss);
        const Tensor logits = allocate(batch.tokens * m_t.vocabulary * bf16, loss);
        release({logits32}, loss);
        gradient(m_parameters.size() - 1, matmul);
        Tensor flowing = allocate(wide, matmul);
        release({logits, kept.norm}, matmul);
        flowing = normBackward(m_parameters.size() - 2, wide, flowing, kept.stats);
        for (std::uint64_t i = m_t.layers; i-- > 0;)
            flowing = backwardLayer(2 + 6 * i, batch.tokens, kept.layers[i], flowing);
        gradient(0,
            autograd(
                "torch::autograd::generated::EmbeddingBackward0::apply(std::vector<at::Tensor>&&)@??:0"));
        gradient(1, matmul);
        release({flowing, kept.embedded, kept.projected}, matmul);
        release({kept.loss}, Calls{"train_step@harbor:train.py:60"} + step);
    }

    Tensor normBackward(std::size_t parameter, std::uint64_t wide, Tensor flowing, Tensor stats)
    {
        const Calls site = autograd(
            "torch::autograd::generated::NativeLayerNormBackward0::apply(std::vector<at::Tensor>&&)@??:0");
        const Tensor result = allocate(wide, site);
        gradient(parameter, site);
        release({flowing, stats}, site);
        return result;
    }

    Tensor backwardLayer(std::size_t first, std::uint64_t tokens, const Layer& kept, Tensor flowing)
    {
        const std::uint64_t wide = tokens * m_t.hidden * bf16;
        const Calls matmul
            = autograd("torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)@??:0");
        const Calls gelu = Calls{"gelu_backward@harbor:kernels.py:27"} + customBackward;
        const Calls flash = autograd("torch::autograd::generated::ScaledDotProductFlashAttentionBackward0::"
                                     "apply(std::vector<at::Tensor>&&)@??:0");
        const Calls dropout = autograd(
            "torch::autograd::generated::NativeDropoutBackward0::apply(std::vector<at::Tensor>&&)@??:0");
        const Calls add = autograd("torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)@??:0");

        const Tensor down = allocate(wide, dropout);
        release({kept.mask2, kept.residual2}, dropout);
        const Tensor activated = allocate(4 * wide, matmul);
        gradient(first + 5, matmul);
        release({down, kept.activated}, matmul);
        const Tensor up = allocate(4 * wide, gelu);
        release({activated, kept.up}, gelu);
        Tensor norm = allocate(wide, matmul);
        gradient(first + 4, matmul);
        release({up, kept.norm2}, matmul);
        norm = normBackward(first + 3, wide, norm, kept.stats2);
        Tensor sum = allocate(wide, add);
        release({flowing, norm}, add);

        const Tensor out = allocate(wide, dropout);
        release({kept.mask1, kept.residual1}, dropout);
        const Tensor attention = allocate(wide, matmul);
        gradient(first + 2, matmul);
        release({out}, matmul);
        const Tensor qkv = allocate(3 * wide, flash);
        const Tensor delta = allocate(tokens * m_t.heads * fp32, flash);
        release({attention, delta, kept.attention, kept.logsumexp, kept.qkv}, flash);
        norm = allocate(wide, matmul);
        gradient(first + 1, matmul);
        release({qkv, kept.norm1}, matmul);
        norm = normBackward(first, wide, norm, kept.stats1);
        const Tensor result = allocate(wide, add);
        release({sum, norm}, add);
        return result;
    }

    void optimize()
    {
        const Calls wrapper{"wrapper@torch:optim/optimizer.py:487"};
        const Calls caller = Calls{"train_step@harbor:train.py:63"} + step;
        const Calls state
            = Calls{"init_state@harbor:optim.py:34", "step@harbor:optim.py:52"} + wrapper + caller;
        const Calls update = Calls{"update@harbor:optim.py:71", "step@harbor:optim.py:55"} + wrapper + caller;
        mark(true, "Optimizer.step#AdamW.step");
        for (Parameter& p : m_parameters)
            if (!p.average) {
                p.average = allocate(p.count * fp32, state);
                p.averageOfSquares = allocate(p.count * fp32, state);
            }
        std::vector<Tensor> roots;
        for (const Parameter& p : m_parameters)
            roots.push_back(allocate(p.count * fp32, update));
        wait(9000);
        for (const Tensor root : roots)
            release({root}, update);
        mark(false, "Optimizer.step#AdamW.step");
        mark(true, "Optimizer.zero_grad#AdamW.zero_grad");
        const Calls zero
            = Calls{"zero_grad@torch:optim/optimizer.py:986", "train_step@harbor:train.py:64"} + step;
        for (const Parameter& p : m_parameters)
            release({p.gradient}, zero);
        mark(false, "Optimizer.zero_grad#AdamW.zero_grad");
    }

    /// Captions grow a word at a time, each cache a little larger than the one it replaces; then the scores
    /// of all words at once, which fit only in the second try.
    void validate()
    {
        const Calls caller = Calls{"train@harbor:train.py:107"} + program;
        mark(true, "validate");
        std::vector<Tensor> caches;
        for (std::uint64_t word = 1; word <= 10; ++word)
            for (std::uint64_t i = 0; i < m_t.layers; ++i) {
                const Tensor longer = allocate((30 + word) * m_t.hidden * bf16 * 64,
                    Calls{"append@harbor:generate.py:58", "caption@harbor:generate.py:83",
                        "validate@harbor:validate.py:29"}
                        + caller);
                if (caches.size() < m_t.layers) {
                    caches.push_back(longer);
                } else {
                    release({caches[i]},
                        Calls{"append@harbor:generate.py:59", "caption@harbor:generate.py:83",
                            "validate@harbor:validate.py:29"}
                            + caller);
                    caches[i] = longer;
                }
            }
        const Calls score = Calls{"score@harbor:validate.py:47", "validate@harbor:validate.py:33"} + caller;
        for (std::uint64_t batch = 6 * m_t.batch; batch > 0; batch /= 2) {
            const std::uint64_t elements = batch * lengths[1] * m_t.vocabulary;
            const auto logits = tryAllocate(elements * bf16, score);
            const auto logits32 = logits ? tryAllocate(elements * fp32, score) : std::nullopt;
            if (logits)
                release({*logits}, score);
            if (logits32) {
                release({*logits32}, score);
                break;
            }
            m_gpu.emptyCache(
                m_stacks.of(
                    Calls{"empty_cache@torch:cuda/memory.py:192", "validate@harbor:validate.py:36"} + caller),
                m_nowUs);
        }
        for (const Tensor cache : caches)
            release({cache}, Calls{"validate@harbor:validate.py:41"} + caller);
        mark(false, "validate");
    }

    SampleTraining m_t;
    RecordedSnapshot m_snapshot;
    CachingAllocator m_gpu;
    Stacks m_stacks;
    std::int64_t m_nowUs = 1'767'344'400'000'000; // 2026-01-02 09:00 UTC
    std::uint64_t m_random = 2026;
    std::vector<Parameter> m_parameters;
    std::vector<Tensor> m_checkpoint;
};

} // namespace

RecordedSnapshot recordSampleTraining(const SampleTraining& training)
{
    return Run(training).play();
}

} // namespace tidemark::test
