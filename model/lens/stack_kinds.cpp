// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/stack_kinds.hpp"

#include "model/lens/frame_matcher.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace tidemark {

namespace {

/// Python frames that name a place in the program (StackKinds::place).
constexpr std::size_t placeFrames = 6;

/// Groups of frames, in the order in which they are added to the matcher.
enum Group : std::size_t {
    Apply, ///< root of Python-defined backward functions (and a helper in forward)
    BackwardCall, ///< the main thread starts backward, or receives gradients
    Replay, ///< activation checkpointing replays below it
    ReplayThread, ///< the same, and nothing but backward calls it
    ForwardCall,
    OptimizerCall,
    SetupCall,
    SideCall,
    EvaluationCall,
    CaptureCall,
    Entry,
    TrainStep,
    groups
};

using Patterns = std::vector<FramePattern>;

const std::array<Patterns, groups>& patterns()
{
    static const std::array<Patterns, groups> table{
        Patterns{{"torch/autograd/function.py", {"apply"}}},
        Patterns{{"megatron/core/pipeline_parallel/schedules.py", {"backward_step", "custom_backward"}},
            {"megatron/core/pipeline_parallel/p2p_communication.py",
                {"create_tensor_recv_next", "recv_backward"}},
            {"torch/_tensor.py", {"backward"}},
            {"torch/autograd/__init__.py", {"backward", "grad", "_make_grads"}},
            {"torch/autograd/graph.py", {"_engine_run_backward"}}},
        Patterns{{"megatron/core/tensor_parallel/random.py", {"backward"}},
            {"torch/utils/checkpoint.py", {"backward"}},
            {"transformer_engine/pytorch/distributed.py", {"backward"}},
            {"deepspeed/runtime/activation_checkpointing/checkpointing.py", {"backward"}}},
        Patterns{{"megatron/core/tensor_parallel/random.py", {"_recompute"}},
            {"torch/utils/checkpoint.py", {"unpack_hook", "recompute_fn", "unpack"}}},
        Patterns{{"",
                     {"forward", "forward_step", "forward_step_helper", "_forward_step_common",
                         "training_step", "compute_loss", "forward_step_calc_loss"}},
            {"torch/nn/modules/module.py", {"_call_impl", "_wrapped_call_impl", "_slow_forward"}},
            {"torch/nn/functional.py", {}},
            {"megatron/core/pipeline_parallel/p2p_communication.py",
                {"create_tensor_recv_prev", "recv_forward"}}},
        Patterns{{"torch/optim/optimizer.py",
                     {"wrapper", "profile_hook_step", "_use_grad", "zero_grad", "maybe_fallback"}},
            {"torch/optim/*.py", {"_init_group", "_multi_tensor_*", "_single_tensor_*", "_fused_*"}},
            {"torch/nn/utils/clip_grad.py", {}},
            {"torch/amp/grad_scaler.py",
                {"step", "unscale_", "_unscale_grads_", "_maybe_opt_step", "update"}},
            {"torch/cuda/amp/grad_scaler.py",
                {"step", "unscale_", "_unscale_grads_", "_maybe_opt_step", "update"}},
            {"megatron/core/optimizer/**.py",
                {"step", "step_with_ready_grads", "prepare_grads", "get_grad_norm", "get_grad_norm_fp32",
                    "clip_grad_norm", "clip_grad_by_total_norm_fp32", "_copy_model_grads_to_main_grads",
                    "_copy_main_params_to_model_params", "zero_grad", "count_zeros"}},
            {"transformer_engine/pytorch/optimizers/*.py", {}}, {"apex/optimizers/*.py", {"step"}},
            {"*optim*/*.py", {"step", "zero_grad"}}, {"*optim*.py", {"step", "zero_grad"}},
            {"deepspeed/runtime/**.py", {"step", "_take_model_step"}},
            {"accelerate/accelerator.py", {"clip_grad_norm_"}}},
        Patterns{
            {"",
                {"__init__", "from_pretrained", "_load_pretrained_model", "reset_parameters",
                    "load_state_dict", "load_checkpoint", "get_peft_model", "load_weights", "load_model"}},
            {"torch/nn/modules/module.py", {"_apply", "load_state_dict"}},
            {"megatron/bridge/training/setup.py", {}}, {"torch/serialization.py", {"load"}}},
        Patterns{{"", {"training_log", "save_checkpoint", "save_pretrained", "save_model", "log_metrics"}},
            {"torch/utils/data/**.py", {}}, {"torch/serialization.py", {"save"}},
            {"torch/distributed/checkpoint/**.py", {}}, {"megatron/core/dist_checkpointing/**.py", {}}},
        Patterns{{"",
            {"evaluate", "evaluate_and_print_results", "evaluation_loop", "evaluation_step",
                "validation_step", "validation_epoch", "validate", "eval_step", "eval_epoch",
                "run_evaluation", "run_validation", "estimate_loss"}}},
        Patterns{{"megatron/core/transformer/cuda_graphs.py",
                     {"create_fwd_graph", "create_bwd_graph", "create_cudagraphs"}},
            {"megatron/core/full_cuda_graph.py", {"__call__"}},
            {"transformer_engine/pytorch/graph.py", {"_make_graphed_callables", "make_graphed_callables"}},
            {"torch/cuda/graphs.py", {"make_graphed_callables"}}, {"", {"capture_model"}}},
        Patterns{{"megatron/core/pipeline_parallel/p2p_communication.py", {"create_tensor_recv_prev"}},
            {"megatron/core/models/common/embeddings/language_model_embedding.py", {"forward"}},
            {"", {"get_batch", "get_batch_from_iterator"}}},
        Patterns{{"megatron/bridge/training/train.py", {"train_step"}},
            {"megatron/training/training.py", {"train_step"}}},
    };
    return table;
}

/// Bits of what one frame is, beside the matcher's groups.
struct FrameNature {
    bool engine = false; ///< the autograd engine, in C++ (or as profilers name it)
    bool python = false;
    bool inTorch = false;
    bool namedBackward = false;
};

FrameNature natureOf(const Snapshot& snapshot, FrameId id)
{
    const Frame& frame = snapshot.frames[id];
    const std::string_view name = snapshot.strings.view(frame.name);
    const std::string_view file = snapshot.strings.view(frame.file);
    FrameNature nature;
    nature.python = file.ends_with(".py") || file.starts_with('<');
    nature.engine = !nature.python
        && (name.find("torch::autograd::Engine::") != std::string_view::npos
            || name.starts_with("autograd::engine::evaluate_function"));
    nature.inTorch = file.find("/torch/") != std::string_view::npos;
    nature.namedBackward = nature.python && bareName(name) == "backward";
    return nature;
}

/// Tells the kind of one stack after another.
class Classifier {
public:
    explicit Classifier(const Snapshot& snapshot)
        : m_snapshot(snapshot)
    {
        for (const Patterns& group : patterns())
            m_matcher.add(group);
        m_matcher.build(snapshot);
        m_nature.reserve(snapshot.frames.size());
        for (std::uint32_t i = 0; i < snapshot.frames.size(); ++i) {
            m_nature.push_back(natureOf(snapshot, FrameId{i}));
            const Frame& frame = snapshot.frames[FrameId{i}];
            m_compiled |= !m_nature.back().python
                && snapshot.strings.view(frame.name).find("::") != std::string_view::npos;
        }
    }

    bool compiled() const { return m_compiled; }
    bool in(FrameId frame, Group group) const { return m_matcher.in(frame, group); }
    const FrameNature& nature(FrameId frame) const { return m_nature[index(frame)]; }

    StackKind kind(std::span<const FrameId> stack) const
    {
        if (stack.empty())
            return StackKind::Empty;
        std::uint32_t seen = 0;
        bool engine = false;
        for (const FrameId frame : stack) {
            seen |= static_cast<std::uint32_t>(m_matcher.bits(frame)[0]);
            engine |= nature(frame).engine;
        }
        const auto has = [seen](Group group) { return (seen >> group & 1U) != 0; };
        if (engine || has(BackwardCall) || has(ReplayThread) || (has(Apply) && rootIsApply(stack)))
            return replays(stack) ? StackKind::Recompute : StackKind::Backward;
        if (has(CaptureCall))
            return StackKind::Capture;
        return ofMainThread(stack, has(EvaluationCall));
    }

private:
    /// Python runs autograd functions on the engine's thread; `apply` is then the outermost Python frame.
    bool rootIsApply(std::span<const FrameId> stack) const
    {
        for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
            if (nature(*frame).python)
                return in(*frame, Apply);
        return false;
    }

    /// Below the innermost checkpoint there is forward code, and no backward of its own.
    bool replays(std::span<const FrameId> stack) const
    {
        bool forward = false;
        for (const FrameId frame : stack) {
            if (in(frame, Replay) || in(frame, ReplayThread))
                return forward;
            if (nature(frame).engine || in(frame, BackwardCall))
                return false;
            forward |= in(frame, ForwardCall) || (nature(frame).python && !nature(frame).inTorch);
        }
        return false;
    }

    /// The innermost frame that says something decides: an optimizer may run a closure. Building is set-up
    /// only outside of both: models and optimizers make parts of themselves when first called.
    StackKind ofMainThread(std::span<const FrameId> stack, bool evaluation) const
    {
        bool setUp = false;
        for (const FrameId frame : stack) {
            if (in(frame, OptimizerCall))
                return StackKind::Optimizer;
            if (in(frame, SideCall))
                return StackKind::Side;
            setUp |= in(frame, SetupCall);
            if (in(frame, ForwardCall))
                return evaluation ? StackKind::Evaluation : StackKind::Forward;
        }
        return setUp ? StackKind::Setup : evaluation ? StackKind::Side : StackKind::Other;
    }

    const Snapshot& m_snapshot;
    FrameMatcher m_matcher;
    std::vector<FrameNature> m_nature;
    bool m_compiled = false;
};

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdULL;
}

} // namespace

StackKinds::StackKinds(const Snapshot& snapshot)
{
    const Classifier classifier(snapshot);
    m_pythonOnly = !classifier.compiled();
    const std::size_t count = snapshot.stacks.size();
    m_kinds.reserve(count);
    m_entry.reserve(count);
    m_place.reserve(count);
    m_trainStep.reserve(count);
    // Scripts without a main function run from many lines of one "<module>".
    const auto root = [&](std::span<const FrameId> stack) {
        const Frame& frame = snapshot.frames[stack.back()];
        return std::uint64_t{index(frame.name)} << 32U | index(frame.file);
    };
    std::unordered_set<std::uint64_t> mainRoots;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::span<const FrameId> stack = snapshot.stacks[StackId{i}];
        m_kinds.push_back(classifier.kind(stack));
        std::uint64_t place = 0;
        std::size_t python = 0;
        std::uint32_t trainStep = 0;
        bool entry = false;
        for (const FrameId frame : stack) {
            entry |= classifier.in(frame, Entry);
            if (classifier.in(frame, TrainStep))
                trainStep = snapshot.frames[frame].line;
            if (classifier.nature(frame).python && python++ < placeFrames)
                place = mixed(place, index(frame) + 1);
        }
        m_entry.push_back(entry && m_kinds.back() == StackKind::Forward);
        m_place.push_back(place);
        m_trainStep.push_back(trainStep);
        if (m_kinds.back() == StackKind::Forward || m_kinds.back() == StackKind::Optimizer)
            mainRoots.insert(root(stack));
    }
    if (mainRoots.empty())
        return;
    for (std::uint32_t i = 0; i < count; ++i)
        if (m_kinds[i] == StackKind::Other && !mainRoots.contains(root(snapshot.stacks[StackId{i}])))
            m_kinds[i] = StackKind::OtherThread;
}

} // namespace tidemark
