// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/redaction.hpp"

#include <algorithm>
#include <array>

namespace tidemark::report {

namespace {

/// Packages whose names and functions anybody can look up.
constexpr std::array packages{"torch", "torchvision", "torchaudio", "torchtitan", "torchao", "torchtune",
    "torchgen", "torchrec", "functorch", "triton", "numpy", "scipy", "pandas", "megatron",
    "transformer_engine", "transformers", "accelerate", "peft", "trl", "diffusers", "datasets", "tokenizers",
    "safetensors", "deepspeed", "lightning", "pytorch_lightning", "lightning_fabric", "apex", "flash_attn",
    "xformers", "bitsandbytes", "vllm", "verl", "sglang", "nemo", "nemo_run", "timm", "einops", "omegaconf",
    "hydra", "ray", "torch_npu", "intel_extension_for_pytorch", "mamba_ssm", "causal_conv1d", "fairscale",
    "composer", "unsloth", "liger_kernel", "colossalai", "jaxtyping", "beartype", "typeguard", "tqdm",
    "ipykernel", "IPython", "nbclient", "traitlets", "debugpy", "click", "fire", "pytest", "_pytest",
    "pluggy", "sentence_transformers", "torchmetrics", "torchvideo", "onnx", "onnxruntime", "cupy", "numba"};

/// Parts of names in compiled code of PyTorch, CUDA, Python and C++.
constexpr std::array compiled{"at::", "c10::", "c10d::", "torch::", "caffe2::", "std::", "pybind11::",
    "aten::", "__gnu_cxx::", "autograd::", "nccl", "cublas", "cudnn", "cutlass::", "THPVariable", "THPModule",
    "THPEngine", "THPFunction", "_Py", "PyEval", "PyObject", "PyVectorcall", "PyRun_", "Py_", "slot_tp_",
    "slot_mp_", "slot_sq_", "method_vectorcall", "cfunction_vectorcall", "object_vacall", "type_call.llvm",
    "run_eval_code_obj", "pymain_", "__libc_start", "start_thread", "pyrun_", "builtin_exec", "<built-in ",
    "cudaMalloc", "cudaLaunch", "unwind::"};

/// Where threads and programs begin.
constexpr std::array<std::string_view, 8> symbols{"_start", "__clone", "clone", "clone3", "__clone3",
    "__libc_init_first", "pthread_condattr_setpshared", "__pthread_cond_signal"};

bool startsWithAny(std::string_view text, std::span<const char* const> words)
{
    return std::any_of(
        words.begin(), words.end(), [text](const char* word) { return text.starts_with(word); });
}

/// "/a/torch/nn/x.py" holds the folder "torch" below a place where packages are.
bool inPackage(std::string_view file)
{
    std::string path(file);
    std::replace(path.begin(), path.end(), '\\', '/');
    const std::size_t base = path.rfind("-packages/");
    std::string_view below = path;
    if (base != std::string::npos)
        below = std::string_view(path).substr(base + 10);
    else if (path.starts_with('/'))
        return false;
    return std::any_of(packages.begin(), packages.end(), [below](std::string_view name) {
        return below.starts_with(name) && below.size() > name.size()
            && (below[name.size()] == '/' || below.substr(name.size()) == ".py");
    });
}

/// Python's own library: "…/lib/python3.11/…" but no installed package, and generated code.
bool inPython(std::string_view file)
{
    const std::size_t at = file.find("lib/python3.");
    if (at != std::string_view::npos)
        return file.find("-packages", at) == std::string_view::npos;
    return file.starts_with("<frozen ") || file.starts_with("<eval_with_key>") || file == "<string>"
        || file.starts_with("<__array_function__");
}

/// Run from a source tree: "…/torch/nn/modules/linear.py", "…/megatron/core/…".
bool inSourceTree(std::string_view file)
{
    constexpr std::array trees{"/torch/nn/", "/torch/autograd/", "/torch/optim/", "/torch/utils/", "/torch/_",
        "/torch/cuda/", "/torch/distributed/", "/torch/profiler/", "/megatron/core/", "/megatron/bridge/",
        "/megatron/training/", "/transformer_engine/pytorch/"};
    return std::any_of(trees.begin(), trees.end(),
        [file](const char* tree) { return file.find(tree) != std::string_view::npos; });
}

} // namespace

bool isKnownLibrary(std::string_view function, std::string_view file)
{
    const bool python = file.ends_with(".py") || file.starts_with('<');
    if (python)
        return inPackage(file) || inPython(file) || inSourceTree(file);
    // The name without its arguments is what is shown; a return type may stand in front of it.
    const std::string_view shown = function.substr(0, function.find_first_of("(<", 1));
    if (startsWithAny(shown, compiled) || std::find(symbols.begin(), symbols.end(), shown) != symbols.end())
        return true;
    // Python's own interface: PyNumber_Add, PyCMethod_New.
    if (shown.starts_with("Py") && shown.size() > 3 && shown[2] >= 'A' && shown[2] <= 'Z'
        && shown.find('_') != std::string_view::npos)
        return true;
    const std::size_t space = shown.rfind(' ');
    return space != std::string_view::npos && startsWithAny(shown.substr(space + 1), compiled);
}

bool isPublicSetting(std::string_view key)
{
    constexpr std::array prefixes{"model.", "allocator.", "versions.", "hardware.", "ddp.", "dist.",
        "optimizer.", "comm_overlap.", "mixed_precision.", "train.", "peft.", "rng.", "snapshot.",
        "profiling.", "scheduler.", "rerun_state_machine.", "env.NCCL_", "env.NVTE_", "env.CUDA_",
        "env.TORCH_", "env.OMP_", "env.PYTORCH_", "env.TRITON_", "env.CUBLAS", "env.CUDNN", "env.WORLD_SIZE",
        "env.RANK", "env.LOCAL_RANK"};
    constexpr std::array hidden{"path", "dir", "file", "save", "load", "name", "host", "user", "addr",
        "token", "key", "project", "entity", "url", "home", "checkpoint"};
    if (!startsWithAny(key, prefixes))
        return false;
    std::string last(key.substr(key.rfind('.') + 1));
    std::transform(last.begin(), last.end(), last.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return std::none_of(hidden.begin(), hidden.end(), [&](const char* word) {
        const std::size_t at = last.find(word);
        const std::string_view found(word);
        return at != std::string::npos && (at == 0 || last[at - 1] == '_')
            && (at + found.size() == last.size() || last[at + found.size()] == '_'
                || last[at + found.size()] == 's');
    });
}

} // namespace tidemark::report
