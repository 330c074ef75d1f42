// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/training_trace.hpp"

namespace tidemark::test {

namespace {

constexpr std::int64_t saved = 1000;

class Writer {
public:
    explicit Writer(const TrainingTrace& wish)
        : m_wish(wish)
    {
        const std::string torch = wish.prefix + "torch/";
        const std::string call = "_call_impl@" + torch + "nn/modules/module.py:1";
        m_weight = stack({"__init__@/home/me/model.py:5", "main@/home/me/train.py:10"}, false);
        m_layer = stack(
            {"forward@/home/me/model.py:20", call, "step@/home/me/train.py:30", "main@/home/me/train.py:40"},
            false);
        m_temp = stack(
            {"forward@/home/me/model.py:25", call, "step@/home/me/train.py:30", "main@/home/me/train.py:40"},
            false);
        m_loss = stack({"cross_entropy@" + torch + "nn/functional.py:9", "loss@/home/me/train.py:33",
                           "step@/home/me/train.py:33", "main@/home/me/train.py:40"},
            false);
        m_backward = wish.full ? stack({}, true) : m_maker.builder().stacks().intern({});
        m_function
            = stack({"backward@/home/me/ops.py:7", "apply@" + torch + "autograd/function.py:300"}, wish.full);
        m_replay
            = stack({"forward@/home/me/model.py:20", call, "recompute_fn@" + torch + "utils/checkpoint.py:3",
                        "unpack_hook@" + torch + "utils/checkpoint.py:4"},
                wish.full);
        m_adam = stack({"_init_group@" + torch + "optim/adam.py:3", "step@" + torch + "optim/adam.py:4",
                           "wrapper@" + torch + "optim/optimizer.py:5", "main@/home/me/train.py:50"},
            false);
        m_adamTemp
            = stack({"_multi_tensor_adam@" + torch + "optim/adam.py:8", "step@" + torch + "optim/adam.py:4",
                        "wrapper@" + torch + "optim/optimizer.py:5", "main@/home/me/train.py:50"},
                false);
        m_log = stack({"append@/home/me/metrics.py:2", "training_log@/home/me/train.py:60",
                          "main@/home/me/train.py:55"},
            false);
    }

    std::shared_ptr<const Snapshot> run()
    {
        if (m_wish.setUp)
            for (int i = 0; i < TrainingTrace::layers; ++i)
                alloc(70, m_weight);
        for (int step = 0; step < m_wish.steps; ++step) {
            for (int i = 0; i < m_wish.microbatches; ++i)
                if (!microbatch(step))
                    return m_maker.finish();
            optimize(step);
        }
        return m_maker.finish();
    }

private:
    struct Tensor {
        std::uint64_t address;
        std::int64_t size;
        StackId stack;
    };

    StackId stack(const std::vector<std::string>& python, bool engine)
    {
        std::vector<std::string> all;
        if (m_wish.full)
            all.push_back("c10::cuda::CUDACachingAllocator::malloc()@??:0");
        if (engine && python.empty())
            all.push_back("torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)@??:0");
        all.insert(all.end(), python.begin(), python.end());
        if (engine)
            all.push_back("torch::autograd::Engine::thread_main(std::shared_ptr<GraphTask> const&)@??:0");
        else if (m_wish.full)
            all.push_back("_PyEval_EvalFrameDefault@??:0");
        std::vector<FrameId> frames;
        for (const std::string& text : all) {
            const std::size_t at = text.rfind('@');
            const std::size_t colon = text.rfind(':');
            Frame frame;
            frame.name = m_maker.builder().strings().intern(text.substr(0, at));
            frame.file = m_maker.builder().strings().intern(text.substr(at + 1, colon - at - 1));
            frame.line = static_cast<std::uint32_t>(std::stoi(text.substr(colon + 1)));
            frames.push_back(m_maker.builder().frames().intern(frame));
        }
        return m_maker.builder().stacks().intern(frames);
    }

    Tensor alloc(std::int64_t size, StackId stack)
    {
        m_next += 0x10000;
        m_maker.alloc(m_next, size, stack);
        return {m_next, size, stack};
    }
    void free(const Tensor& tensor, StackId own)
    {
        const StackId stack = m_wish.full ? own : tensor.stack;
        m_maker.event(Action::FreeRequested, tensor.address, tensor.size, stack);
        m_maker.event(Action::FreeCompleted, tensor.address, tensor.size, stack);
    }

    bool microbatch(int step)
    {
        std::vector<Tensor> kept;
        for (int layer = 0; layer < TrainingTrace::layers; ++layer) {
            if (m_wish.cutAfterLayers == layer && layer > 0 && step + 1 == m_wish.steps)
                return false;
            Tensor output = alloc(saved, m_layer);
            free(alloc(10, m_temp), m_temp);
            if (m_wish.recompute)
                free(output, m_layer);
            else
                kept.push_back(output);
        }
        const Tensor loss = alloc(4, m_loss);
        for (int layer = TrainingTrace::layers; layer-- > 0;) {
            const Tensor gradient = alloc(20, layer % 2 == 0 ? m_backward : m_function);
            if (m_wish.recompute)
                kept.push_back(alloc(saved, m_replay));
            free(kept.back(), m_backward);
            kept.pop_back();
            free(gradient, m_backward);
            if (m_gradients.size() < TrainingTrace::layers)
                m_gradients.push_back(alloc(40, m_backward));
        }
        free(loss, m_backward);
        return true;
    }

    void optimize(int step)
    {
        if (m_wish.optimizer) {
            for (int i = 0; i < (step == 0 ? TrainingTrace::layers : 0); ++i)
                alloc(80, m_adam);
            free(alloc(30, m_adamTemp), m_adamTemp);
        }
        for (const Tensor& gradient : m_gradients)
            free(gradient, m_adamTemp);
        m_gradients.clear();
        if (m_wish.leak)
            alloc(500, m_log);
    }

    const TrainingTrace& m_wish;
    TraceMaker m_maker;
    std::uint64_t m_next = 0x700000000000;
    std::vector<Tensor> m_gradients;
    StackId m_weight{}, m_layer{}, m_temp{}, m_loss{}, m_backward{}, m_function{}, m_replay{}, m_adam{},
        m_adamTemp{}, m_log{};
};

} // namespace

std::shared_ptr<const Snapshot> TrainingTrace::make() const
{
    return Writer(*this).run();
}

} // namespace tidemark::test
