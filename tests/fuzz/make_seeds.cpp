// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the inputs a fuzzer begins with, DIR/<target>/<name>, and DIR/words.dict. All are made here, none
// is a recorded file.
#include "model/findings/diagnosis.hpp"
#include "model/job/digest.hpp"
#include "model/job/summarise.hpp"
#include "model/report/session_file.hpp"
#include "tests/fuzz/digest_wrapper.hpp"
#include "tests/fuzz/snapshot_tree.hpp"
#include "tests/support/small_files.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/snapshot_json.hpp"
#include "tests/support/training_trace.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace tidemark;
using namespace tidemark::test;
namespace fs = std::filesystem;

namespace {

class Seeds {
public:
    explicit Seeds(fs::path folder)
        : m_folder(std::move(folder))
    { }
    void add(const std::string& target, const std::string& name, const std::string& bytes) const
    {
        fs::create_directories(m_folder / target);
        std::ofstream(m_folder / target / name, std::ios::binary) << bytes;
    }

private:
    fs::path m_folder;
};

/// A snapshot that has it all: several segments and devices, an expandable one, private pools, a failed
/// request, marks, metadata, memory that waits, a ring that overflowed, host memory.
Py richSnapshot()
{
    const Py a = pyFrame("forward", "megatron/core/transformer/mlp.py", 71);
    const Py b = pyFrame("_call_impl", "torch/nn/modules/module.py", 1511);
    const Py c = pyFrame("backward", "torch/autograd/graph.py", 823);
    const Py d = pyFrame("step", "torch/optim/adam.py", 166);
    const Py main = pyFrame("main", "train.py", 9);
    const Py forward = pyList({a, b, main});
    const Py backward = pyList({c, main});
    const Py update = pyList({d, main});
    constexpr std::uint64_t base = sampleBase;
    constexpr std::int64_t mib = 1 << 20;
    std::int64_t now = sampleStart;
    std::vector<Py> events;
    const auto event = [&](const char* action, std::uint64_t at, std::int64_t size, const Py& frames) {
        events.push_back(pyEvent(action, base + at, size, now += 10, frames));
    };
    event("segment_alloc", 0, 20 * mib, forward);
    event("segment_map", 64 * mib, 2 * mib, forward);
    event("alloc", 0, 3 * mib, update);
    for (std::uint64_t step = 0; step < 3; ++step) {
        events.push_back(with(pyEvent("user_defined", 0, 0, now += 10),
            {{"stage", pyText("START")}, {"name", pyText("ProfilerStep#" + std::to_string(step))}}));
        for (std::uint64_t layer = 0; layer < 3; ++layer)
            event("alloc", (3 + layer) * mib, mib, forward);
        event("alloc", 8 * mib, 2 * mib, backward);
        for (std::uint64_t layer = 3; layer-- > 0;) {
            event("free_requested", (3 + layer) * mib, mib, backward);
            event("free_completed", (3 + layer) * mib, mib, nullptr);
        }
        event("alloc", (12 + step) * mib, mib / 2, update);
        event("free", 8 * mib, 2 * mib, update);
    }
    event("free_requested", 13 * mib, mib / 2, update);
    events.push_back(
        with(pyEvent("oom", 0, 512 * mib, now += 10, forward), {{"device_free", pyInt(30 * mib)}}));
    event("snapshot", 0, 0, nullptr);
    event("segment_unmap", 64 * mib, 2 * mib, nullptr);
    events[3] = with(events[3],
        {{"user_metadata", pyText("layer 1")}, {"compile_context", pyText("0/1")},
            {"pool_id", pyTuple({pyInt(0), pyInt(1)})}});

    const auto live = "active_allocated";
    Py first = pySegment(0, base, 20 * mib,
        {pyBlock(base, 3 * mib, live, 3 * mib, update), pyBlock(base + 3 * mib, 9 * mib, "inactive", 0),
            pyBlock(base + 12 * mib, mib / 2, live, mib / 2, update),
            pyBlock(base + 12 * mib + mib / 2, mib / 2, "inactive", 0),
            pyBlock(base + 13 * mib, mib / 2, "active_pending_free", mib / 2, update),
            pyBlock(base + 13 * mib + mib / 2, 6 * mib + mib / 2, "inactive", 0)});
    Py pool
        = with(pySegment(0, base + 256 * mib, 2 * mib, {pyBlock(base + 256 * mib, 2 * mib, "inactive", 0)}),
            {{"segment_pool_id", pyTuple({pyInt(0), pyInt(1)})}, {"segment_type", pyText("small")},
                {"stream", pyInt(7)}});
    Py other = with(pySegment(1, base + 512 * mib, 2 * mib, {}), {{"is_expandable", pyBool(true)}});
    const Py sample = pySample();
    return with(pySnapshot({first, pool, other}, {pyList(events), pyList({pyEvent("alloc", base, 512)})}),
        {{"allocator_settings", valueOf(sample, "allocator_settings")},
            {"external_annotations", valueOf(sample, "external_annotations")}, {"host_segments", pyList()},
            {"host_traces", pyList({pyEvent("alloc", 4096, 512, now)})},
            {"trace_alloc_max_entries", pyInt(100)}, {"trace_alloc_overflowed", pyList({pyBool(true)})}});
}

void addSnapshots(const Seeds& seeds)
{
    for (const SmallFile& file : smallFiles()) {
        const bool html = file.name.ends_with("html");
        const bool json = file.name.ends_with("json");
        seeds.add(html ? "html" : json ? "json" : "pickle", file.name, file.bytes);
        seeds.add("whole", file.name, file.bytes);
        seeds.add("containers", file.name, file.bytes);
    }
    for (const SmallFile& file : smallContainers())
        seeds.add("containers", file.name, file.bytes);
    const Py rich = richSnapshot();
    for (const int protocol : {2, 4})
        for (const char* target : {"pickle", "whole"})
            seeds.add(target, "rich" + std::to_string(protocol), pickled(rich, {.protocol = protocol}));
    seeds.add("json", "rich", fuzz::jsonText(rich));
    seeds.add("whole", "rich-json", fuzz::jsonText(rich));
    seeds.add("html", "rich", viewerPage(pickled(rich)));
    seeds.add("html", "base64", base64("a text of some length") + "\"");
    TrainingTrace training;
    training.steps = 2;
    training.leak = true;
    seeds.add("whole", "training-json", snapshotJson(*training.make()).dump());
}

void addSettings(const Seeds& seeds)
{
    const auto add = [&](char name, const char* as, const std::string& text) {
        seeds.add("config", as, std::string(1, name) + text);
    };
    add(0, "bridge", R"(_target_: megatron.bridge.training.config.ConfigContainer
model: &m
  num_layers: 32
  hidden_size: 4096
  num_attention_heads: 32
  ffn_hidden_size: 16384
  seq_length: 4096
  vocab_size: 32000
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 4
  recompute_modules: [core_attn, 'moe_act']
  recompute_granularity: null
  attention_backend: {_target_: megatron.core.transformer.enums.AttnBackend, _call_: true, _args_: [2]}
train: {micro_batch_size: 1, global_batch_size: 64, lr: 1.0e-4}
ddp: {use_distributed_optimizer: true}
other: *m
text: |
  two
  lines
obj: !!python/object/apply:os.system ["x"]
)");
    add(1, "json", R"({"model": {"num_layers": 4, "fp8": null, "list": [1, 2.5, "x"]}, "env": {"A": "b"}})");
    add(2, "env",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128\nexport WORLD_SIZE=8\n"
        "declare -x NCCL_DEBUG=\"INFO\"\nCUDA_DEVICE_MAX_CONNECTIONS='1'\n");
    add(3, "arguments",
        "------------------------ arguments ------------------------\n"
        "  num_layers ...................................... 32\n"
        "  recompute_modules ............................... ['core_attn', 'mlp']\n"
        "  fp16 ............................................ False\n"
        "-------------------- end of arguments ---------------------\n");
    add(4, "conf",
        "expandable_segments:True,garbage_collection_threshold:0.8,"
        "roundup_power2_divisions:[256:1,512:2,>:8],max_split_size_mb:20,per_process_memory_fraction:0.5");

    seeds.add("labels", "rules",
        R"({"rules": [{"id": "mine", "label": "x", "all": [[":at::native::empty", "C:/lib/a.py:put", "**/b*.py"]],
"none": ["c.py"]}, {"label": "y", "match": ["put@/a/cache.py:7", "train"], "colour": "sage"}]})");
    seeds.add("labels", "filter", "(site:forward or \"two words\") and not size>=64M -file:torch label:mlp");
    seeds.add("labels", "filter-all",
        "role:gradient /^a.*b$/ 0x7f40 addr:0x7f40 age<1s stream:7 pool:(0,1) "
        "device:0 state:live event:12..40 finding:leak size=1");

    for (const char* text : {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 "
                             "has a total capacity of "
                             "79.15 GiB of which 1.06 GiB is free. Process 17 has 78.08 GiB memory in use. "
                             "Of the allocated memory "
                             "70.21 GiB is allocated by PyTorch, with 24.00 MiB allocated in private pools "
                             "(e.g., CUDA Graphs), and "
                             "6.38 GiB is reserved by PyTorch but unallocated.",
             "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.80 GiB total capacity; "
             "6.00 "
             "GiB already allocated; 10.00 MiB free; 6.50 GiB reserved in total by PyTorch)",
             "CUDA error: out of memory", "NCCL WARN Cuda failure 'out of memory'"})
        seeds.add("oom_text", std::to_string(std::string_view(text).size()), text);
}

void addSession(const Seeds& seeds)
{
    report::SessionFile session;
    session.inputs = {{"run/rank0.pickle", "fast1-12-abc", 12, {}}, {"x.pickle", "", 0, R"({"later":[1]})"}};
    session.compare = {{"other.pickle", "", 7, {}}};
    session.device = -1;
    session.cursor = 3;
    session.window = {-1, 4000000000};
    session.range = {3, 5};
    session.axis = "time";
    session.filter = "site:f and size>64M";
    session.cardBytes = std::uint64_t{80} << 30;
    session.fixes = {{"recompute-candidate", 1, "checkpoint"}};
    session.conf = "expandable_segments:True";
    session.parts = {"verdict", "live"};
    report::Annotation note;
    note.id = 4;
    note.kind = report::AnnotationKind::Box;
    note.from = report::PointAnchor{-1, 0};
    note.to = report::SegmentAnchor{0xffffffffffffff00ULL, 12};
    note.text = "here";
    note.labelX = -12.5;
    report::Annotation pin = note;
    pin.id = 5;
    pin.from = report::AllocationAnchor{7, 4096, 0};
    pin.to = report::FindingAnchor{"leak", 2};
    session.annotations = {note, pin};
    session.extra = R"({"newer_key":{"a":null,"b":[true,"x"]}})";
    seeds.add("session", "full", report::sessionText(session));
    seeds.add("session", "empty", report::sessionText({}));
}

void addDigests(const Seeds& seeds)
{
    TrainingTrace training;
    training.leak = true;
    int n = 0;
    for (const auto& snapshot : {TrainingTrace{}.make(), training.make()}) {
        const compare::Side side = diagnosedSide(snapshot);
        SummaryOrigin origin;
        origin.file = "/runs/a/snapshot_3.pickle";
        origin.rank = 3;
        const std::string digest = digestBytes(makeSummary(*side.diagnosis, origin));
        seeds.add("digest", "packed" + std::to_string(n), '\0' + digest);
        seeds.add("digest", "tree" + std::to_string(n++), '\1' + fuzz::unwrappedDigest(digest));
    }
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 2) {
        std::fputs("usage: fuzz_make_seeds DIR\n", stderr);
        return 2;
    }
    const Seeds seeds(arguments[1]);
    addSnapshots(seeds);
    addSettings(seeds);
    addSession(seeds);
    addDigests(seeds);
    std::ofstream dictionary(fs::path(arguments[1]) / "words.dict");
    for (const std::string_view word : fuzz::snapshotWords())
        if (!word.empty())
            dictionary << '"' << word << "\"\n";
    return dictionary ? 0 : 1;
}
