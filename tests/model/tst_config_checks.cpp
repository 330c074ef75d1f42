// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/config_checks.hpp"
#include "tests/support/trace_maker.hpp"

#include <QtTest>

#include <algorithm>
#include <sstream>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Settings with nothing wrong in them, one "key: value" a line; an environment is given.
constexpr const char* soundSettings = R"(
versions.torch: '2.10.0'
versions.transformer_engine: '2.4.0'
hardware.sm: 90
hardware.world_size: 1
model.num_layers: 24
model.hidden_size: 4096
model.seq_length: 4096
model.num_moe_experts: null
model.multi_latent_attention: false
model.experimental_attention_variant: null
model.tensor_model_parallel_size: 1
model.pipeline_model_parallel_size: 1
model.virtual_pipeline_model_parallel_size: null
model.context_parallel_size: 1
model.sequence_parallel: false
model.recompute_granularity: null
model.recompute_modules: null
model.recompute_method: null
model.recompute_num_layers: null
model.distribute_saved_activations: false
model.cpu_offloading: false
model.cpu_offloading_num_layers: 0
model.cpu_offloading_activations: true
model.fine_grained_activation_offloading: false
model.offload_modules: []
model.cuda_graph_impl: none
model.cuda_graph_scope: null
model.use_te_rng_tracker: false
model.fp8: null
model.fp8_recipe: null
model.attention_backend: AttnBackend.unfused
model.transformer_impl: transformer_engine
model.attention_dropout: 0.0
model.hidden_dropout: 0.0
model.moe_grouped_gemm: false
model.overlap_moe_expert_parallel_comm: false
model.moe_shared_expert_intermediate_size: null
model.moe_shared_expert_overlap: false
model.calculate_per_token_loss: false
train.micro_batch_size: 1
optimizer.use_distributed_optimizer: true
optimizer.optimizer_cpu_offload: false
ddp.use_distributed_optimizer: true
ddp.nccl_ub: false
ddp.use_megatron_fsdp: false
ddp.fsdp_manual_registration: false
ddp.average_in_collective: true
dist.use_megatron_fsdp: false
dist.use_torch_fsdp2: false
dist.use_tp_pp_dp_mapping: false
rng.te_rng_tracker: false
rerun_state_machine.check_for_nan_in_loss: true
checkpoint.ckpt_format: torch_dist
checkpoint.save: null
checkpoint.load: null
dataset._target_: megatron.bridge.training.config.GPTDatasetConfig
dataset.enable_offline_packing: false
dataset.enable_in_batch_packing: false
dataset.pad_to_max_length: false
dataset.offline_packing_specs.pad_cu_seqlens: false
profiling.profile_ranks: [0]
profiling.use_pytorch_profiler: true
peft: null
)";

constexpr const char* lora
    = "peft._target_: megatron.bridge.peft.lora.LoRA; peft.target_modules: [linear_qkv, linear_fc1]; ";

CheckFacts quietFacts()
{
    CheckFacts facts;
    facts.expandableInSnapshot = false;
    facts.events = 1000;
    facts.rank = 0;
    facts.outOfMemory = true;
    return facts;
}

/// The sound settings with some changed ("a: 1; env.B: 2") and one taken away.
RunConfig settingsWith(const std::string& changes, const std::string& without = {})
{
    RunConfig config;
    std::stringstream list(changes);
    std::string environment = "HOME=/root\n";
    std::string text;
    for (std::string item; std::getline(list, item, ';');) {
        const auto start = item.find_first_not_of(' ');
        if (start == std::string::npos)
            continue;
        item = item.substr(start);
        if (item.starts_with("env."))
            environment
                += item.substr(4, item.find(": ") - 4) + "=" + item.substr(item.find(": ") + 2) + "\n";
        else
            text += item + "\n";
    }
    if (!text.empty() && !config.add(text, "changes.yaml"))
        qFatal("changes do not parse: %s", text.c_str());
    std::string sound;
    std::stringstream lines(soundSettings);
    for (std::string line; std::getline(lines, line);) {
        // A section that the changes fill is not null.
        const bool filled = line.starts_with("peft:") && text.find("peft.") != std::string::npos;
        if (!filled && (without.empty() || !line.starts_with(without + ":")))
            sound += line + "\n";
    }
    if (!config.add(sound, "sound.yaml"))
        qFatal("the sound settings do not parse");
    if (without != "env" && !config.add(environment, "env.txt"))
        qFatal("the environment does not parse");
    return config;
}

const ConfigCheck* find(const std::vector<ConfigCheck>& checks, const std::string& id)
{
    const auto it = std::find_if(
        checks.begin(), checks.end(), [&id](const ConfigCheck& each) { return each.id == id; });
    return it == checks.end() ? nullptr : &*it;
}

std::string idsOf(const std::vector<ConfigCheck>& checks)
{
    std::string text;
    for (const ConfigCheck& each : checks)
        text += each.id + " " + checkLevelName(each.level) + "; ";
    return text;
}

} // namespace

class TestConfigChecks : public QObject {
    Q_OBJECT
private slots:
    void soundSettingsAreSilent()
    {
        const auto checks = checkConfig(settingsWith(""), quietFacts());
        QCOMPARE(idsOf(checks), std::string());
    }

    void nothingKnownIsUnknownThroughout()
    {
        const auto checks = checkConfig({}, {});
        QCOMPARE(checks.size(), std::size_t(37));
        for (const ConfigCheck& each : checks) {
            QCOMPARE(each.level, CheckLevel::Unknown);
            QVERIFY2(each.text.find("without ") != std::string::npos, each.id.c_str());
            QVERIFY(!each.keys.empty() && !each.source.empty());
        }
        QCOMPARE(checks.front().id, std::string("C-01"));
        QCOMPARE(checks.back().id, std::string("C-37"));
        QCOMPARE(checks.front().keys.at("ddp.nccl_ub"), std::string("unknown"));
    }

    /// Each row: settings under which the check fires, words of its text, and a key without which, the rest
    /// as it is, it cannot be decided.
    void fires_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("level");
        QTest::addColumn<QString>("changes");
        QTest::addColumn<QString>("says");
        QTest::addColumn<QString>("needs");
        const auto row = [](const char* id, const char* level, const std::string& changes, const char* says,
                             const char* needs) {
            QTest::newRow((std::string(id) + " " + changes).substr(0, 90).c_str())
                << id << level << QString::fromStdString(changes) << says << needs;
        };
        const char* es = "env.PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True; ";
        row("C-01", "error", std::string(es) + "ddp.nccl_ub: true", "here 2.10.0", "versions.torch");
        row("C-02", "error",
            std::string(es) + "model.cuda_graph_impl: transformer_engine; rng.te_rng_tracker: true",
            "NCCL_GRAPH_REGISTER=0; it is not set", "env");
        row("C-03", "advice",
            std::string(es) + "model.cuda_graph_impl: full_iteration; rng.te_rng_tracker: true", "Blackwell",
            "hardware.sm");
        row("C-04", "advice", "env.PYTORCH_ALLOC_CONF: expandable_segments:True", "C-01", "env");
        row("C-05", "advice", es, "did not reach", "env");
        row("C-06", "error",
            "model.cpu_offloading: true; model.cpu_offloading_num_layers: 2; "
            "model.pipeline_model_parallel_size: 4",
            "there are 4", "model.pipeline_model_parallel_size");
        row("C-07", "error", "model.cpu_offloading: true; model.recompute_granularity: selective",
            "selective", "model.cpu_offloading");
        row("C-08", "error", "model.cpu_offloading: true; model.cpu_offloading_num_layers: 24", "24 layers",
            "model.num_layers");
        row("C-08", "error", "model.cpu_offloading: true; model.cpu_offloading_num_layers: -1", "-1 layers",
            "model.num_layers");
        row("C-09", "error",
            "model.cpu_offloading: true; model.cuda_graph_impl: local; model.cuda_graph_scope: "
            "full_iteration",
            "kind local", "model.cpu_offloading");
        row("C-10", "error", "model.cpu_offloading: true; model.fine_grained_activation_offloading: true",
            "choose one", "model.cpu_offloading");
        const std::string fine = "model.fine_grained_activation_offloading: true; ";
        row("C-11", "error", fine + "model.transformer_impl: local", "transformer_impl",
            "model.fine_grained_activation_offloading");
        row("C-11", "error", fine + "versions.transformer_engine: '2.10.1'", "NVTE_CPU_OFFLOAD_V1=1", "env");
        row("C-11", "error", fine + "model.offload_modules: [attn_proj]", "needs core_attn",
            "model.fine_grained_activation_offloading");
        row("C-11", "error", fine + "model.offload_modules: [fused_group_mlp, moe_act]", "excludes",
            "model.fine_grained_activation_offloading");
        row("C-12", "error", "model.recompute_granularity: everything", "everything", "");
        row("C-12", "error", "model.recompute_granularity: full; model.recompute_num_layers: 1",
            "recompute_method (here none)", "model.recompute_method");
        row("C-12", "error", "model.recompute_granularity: selective; model.recompute_num_layers: 3",
            "recompute_num_layers=3", "");
        row("C-13", "error", "model.distribute_saved_activations: true; model.sequence_parallel: true",
            "exclude", "model.distribute_saved_activations");
        row("C-14", "error",
            "model.recompute_granularity: selective; model.recompute_modules: [core_attn, atention]",
            "atention", "");
        row("C-15", "error", "model.recompute_granularity: selective; model.recompute_modules: [moe_act]",
            "moe_grouped_gemm", "model.moe_grouped_gemm");
        row("C-15", "error", "model.recompute_granularity: selective; model.recompute_modules: [mla_up_proj]",
            "multi-latent", "model.multi_latent_attention");
        row("C-15", "error",
            "model.recompute_granularity: selective; model.recompute_modules: [gdn_norm_out]", "delta-net",
            "model.experimental_attention_variant");
        row("C-16", "error",
            "model.recompute_granularity: selective; model.recompute_modules: [shared_experts]; "
            "model.moe_shared_expert_overlap: true; "
            "model.moe_shared_expert_intermediate_size: 1408",
            "moe_shared_expert_overlap", "");
        row("C-17", "error",
            "model.recompute_granularity: selective; model.fp8: hybrid; model.fp8_recipe: delayed; "
            "model.recompute_modules: [layernorm]",
            "here delayed", "");
        row("C-17", "error",
            "model.recompute_granularity: selective; model.fp8: hybrid; model.fp8_recipe: tensorwise; "
            "model.recompute_modules: [layernorm]",
            "here 2.4.0", "versions.transformer_engine");
        row("C-18", "error", "model.overlap_moe_expert_parallel_comm: true; model.recompute_modules: [moe]",
            "moe_act", "model.overlap_moe_expert_parallel_comm");
        row("C-19", "error",
            "model.recompute_granularity: full; model.recompute_method: uniform; model.recompute_num_layers: "
            "1; "
            "model.cuda_graph_impl: transformer_engine; rng.te_rng_tracker: true",
            "transformer_engine", "");
        const std::string graphs = "model.cuda_graph_impl: transformer_engine; rng.te_rng_tracker: true; "
                                   "model.recompute_granularity: selective; ";
        row("C-20", "error", graphs + "model.cuda_graph_scope: [moe_router]; model.recompute_modules: [moe]",
            "moe_router", "");
        row("C-20", "error",
            graphs
                + "model.cuda_graph_scope: [attn]; model.recompute_modules: [core_attn]; "
                  "model.attention_dropout: 0.1",
            "it is 0.1", "");
        row("C-20", "error",
            graphs
                + "model.cuda_graph_scope: [mlp]; model.recompute_modules: [mlp]; model.hidden_dropout: 0.2",
            "it is 0.2", "");
        row("C-21", "warning", "model.recompute_modules: [mlp]", "ignored", "model.recompute_granularity");
        const std::string selective = "model.recompute_granularity: selective; ";
        row("C-22", "warning",
            selective + "model.recompute_modules: [core_attn]; model.attention_backend: AttnBackend.fused",
            "backend fused", "");
        row("C-22", "unknown",
            selective + "model.recompute_modules: [core_attn]; model.attention_backend: AttnBackend.auto",
            "Cannot be decided", "");
        row("C-23", "warning", selective + "model.recompute_modules: [layernorm]", "fuses",
            "model.num_moe_experts");
        row("C-23", "warning", selective + "model.recompute_modules: [mlp]; model.num_moe_experts: 64",
            "(64)", "");
        row("C-24", "error",
            "model.num_layers: 80; model.pipeline_model_parallel_size: 4; "
            "model.virtual_pipeline_model_parallel_size: 6",
            "6 virtual", "");
        row("C-24", "error", "model.num_layers: 80; model.pipeline_model_parallel_size: 3", "80 layers", "");
        row("C-24", "error",
            "model.num_layers: 80; model.pipeline_model_parallel_size: 4; "
            "model.num_layers_in_first_pipeline_stage: 19",
            "80 layers", "");
        row("C-25", "error",
            "model.cuda_graph_impl: local; model.cuda_graph_scope: [attn]; rng.te_rng_tracker: true",
            "full_iteration", "");
        row("C-26", "error", "model.cuda_graph_impl: transformer_engine", "te_rng_tracker",
            "rng.te_rng_tracker");
        row("C-26", "error", "model.cuda_graph_impl: full_iteration; rng.te_rng_tracker: true",
            "check_for_nan_in_loss", "rerun_state_machine.check_for_nan_in_loss");
        row("C-26", "error",
            "model.cuda_graph_impl: transformer_engine; rng.te_rng_tracker: true; "
            "model.cuda_graph_scope: [moe_preprocess]",
            "needs moe_router", "");
        row("C-26", "error",
            "model.cuda_graph_impl: transformer_engine; rng.te_rng_tracker: true; "
            "model.cuda_graph_scope: [moe, moe_router]; model.num_moe_experts: 8",
            "exclude", "");
        row("C-27", "error", "dataset.enable_offline_packing: true; train.micro_batch_size: 2",
            "micro_batch_size=1", "");
        row("C-27", "error", "dataset.enable_in_batch_packing: true", "above 1", "train.micro_batch_size");
        row("C-27", "error",
            "dataset.enable_offline_packing: true; model.cuda_graph_impl: transformer_engine; "
            "rng.te_rng_tracker: true",
            "pad_to_max_length", "dataset.pad_to_max_length");
        row("C-28", "error", "model.context_parallel_size: 3", "multiple", "model.seq_length");
        row("C-28", "error",
            "model.context_parallel_size: 2; dataset._target_: "
            "megatron.bridge.training.config.FinetuningDatasetConfig",
            "calculate_per_token_loss=true (here false)", "");
        row("C-29", "error", "ddp.use_megatron_fsdp: true; env.CUDA_DEVICE_MAX_CONNECTIONS: 1",
            "CUDA_DEVICE_MAX_CONNECTIONS", "env");
        row("C-29", "error", "ddp.use_megatron_fsdp: true; dist.use_torch_fsdp2: true", "FSDP2", "");
        row("C-29", "error", "ddp.use_megatron_fsdp: true; checkpoint.save: /checkpoints", "fsdp_dtensor",
            "checkpoint.ckpt_format");
        row("C-29", "error", "ddp.use_megatron_fsdp: true; ddp.fsdp_manual_registration: true", "nccl_ub",
            "ddp.nccl_ub");
        row("C-30", "warning", "ddp.use_distributed_optimizer: false", "false for ddp",
            "optimizer.use_distributed_optimizer");
        row("C-31", "error",
            "optimizer.optimizer_cpu_offload: true; ddp.use_distributed_optimizer: false; "
            "optimizer.use_distributed_optimizer: false",
            "distributed optimizer", "");
        const std::string regather = std::string(lora) + "peft.sequence_parallel_input_regather: true; ";
        row("C-32", "warning", regather, "tensor parallelism is 1; sequence parallelism is off", "");
        row("C-32", "warning",
            regather
                + "model.tensor_model_parallel_size: 2; model.sequence_parallel: true; "
                  "model.cuda_graph_impl: transformer_engine",
            "CUDA graphs", "");
        const std::string recomputed
            = "model.tensor_model_parallel_size: 2; model.sequence_parallel: true; "
              "model.recompute_granularity: selective; model.recompute_modules: [mlp]";
        row("C-32", "warning", regather + recomputed, "linear_fc1 only", "");
        row("C-34", "advice",
            std::string(lora) + "peft.sequence_parallel_input_regather: false; " + recomputed, "saves", "");
        row("C-33", "warning",
            "peft._target_: megatron.bridge.peft.dora.DoRA; peft.sequence_parallel_input_regather: true",
            "DoRA", "");
        row("C-34", "advice",
            std::string(lora)
                + "peft.sequence_parallel_input_regather: false; model.tensor_model_parallel_size: 2; "
                  "model.sequence_parallel: true",
            "saves", "model.tensor_model_parallel_size");
        row("C-35", "advice", "profiling.profile_ranks: [1, 2]", "rank 0 ran out", "profiling.profile_ranks");
        row("C-35", "advice", "profiling.use_pytorch_profiler: false", "use_pytorch_profiler",
            "profiling.use_pytorch_profiler");
        row("C-36", "advice", "env.TORCH_NCCL_AVOID_RECORD_STREAMS: 1", "2.10.0", "versions.torch");
        row("C-37", "advice", "env.PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True,max_split_size_mb:128",
            "max_split_size_mb", "");
    }
    void fires()
    {
        QFETCH(QString, id);
        QFETCH(QString, level);
        QFETCH(QString, changes);
        QFETCH(QString, says);
        QFETCH(QString, needs);
        const auto checks = checkConfig(settingsWith(changes.toStdString()), quietFacts());
        const ConfigCheck* check = find(checks, id.toStdString());
        QVERIFY2(check, idsOf(checks).c_str());
        QCOMPARE(checkLevelName(check->level), level.toLatin1().constData());
        QVERIFY2(QString::fromStdString(check->text).contains(says), check->text.c_str());
        if (needs.isEmpty())
            return;
        // The key is taken away from the changes as well.
        QStringList rest;
        for (const QString& item : changes.split(';'))
            if (!item.trimmed().startsWith(needs + ":")
                && !(needs == "env" && item.trimmed().startsWith("env.")))
                rest += item;
        const auto blind
            = checkConfig(settingsWith(rest.join(';').toStdString(), needs.toStdString()), quietFacts());
        const ConfigCheck* unknown = find(blind, id.toStdString());
        QVERIFY2(unknown, idsOf(blind).c_str());
        QCOMPARE(checkLevelName(unknown->level), "unknown");
        const QString named = needs == "env" ? QString("env.") : needs;
        QVERIFY2(QString::fromStdString(unknown->text).contains(named), unknown->text.c_str());
    }

    /// What stands one step beside each rule.
    void staysSilent_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("changes");
        const auto row = [](const char* id, const std::string& changes) {
            QTest::newRow((std::string(id) + " " + changes).substr(0, 90).c_str())
                << id << QString::fromStdString(changes);
        };
        const std::string es = "env.PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True; ";
        row("C-01", es + "ddp.nccl_ub: true; versions.torch: '2.11.0a0+9f1'");
        row("C-01", "env.PYTORCH_CUDA_ALLOC_CONF: expandable_segments:False; ddp.nccl_ub: true");
        row("C-02",
            es
                + "model.cuda_graph_impl: transformer_engine; rng.te_rng_tracker: true; "
                  "env.NCCL_GRAPH_REGISTER: 0");
        row("C-03", es + "model.cuda_graph_impl: full_iteration; rng.te_rng_tracker: true; hardware.sm: 100");
        row("C-04", es + "env.PYTORCH_ALLOC_CONF: expandable_segments:True");
        row("C-08", "model.cpu_offloading: true; model.cpu_offloading_num_layers: 23");
        row("C-09", "model.cpu_offloading: true; model.cuda_graph_impl: full_iteration");
        row("C-11",
            "model.fine_grained_activation_offloading: true; versions.transformer_engine: '2.10'; "
            "env.NVTE_CPU_OFFLOAD_V1: 1");
        row("C-12",
            "model.recompute_granularity: full; model.recompute_method: block; model.recompute_num_layers: "
            "4");
        row("C-14", "model.recompute_granularity: selective; model.recompute_modules: []");
        // What the granularity ignores raises nothing.
        for (const std::string granularity : {"null", "full"}) {
            const std::string ignored = "model.recompute_granularity: " + granularity
                + "; model.recompute_modules: [moe_act, mla_up_proj, gdn_norm_out, shared_experts, foo]; "
                  "model.moe_shared_expert_overlap: true; model.moe_shared_expert_intermediate_size: 100; "
                  "model.fp8: hybrid; model.fp8_recipe: delayed";
            for (const char* id : {"C-14", "C-15", "C-16", "C-17"})
                row(id, ignored);
        }
        row("C-17",
            "model.recompute_granularity: selective; model.fp8: hybrid; model.fp8_recipe: tensorwise; "
            "model.recompute_modules: [layernorm]; "
            "versions.transformer_engine: '2.6.0.dev0'");
        row("C-22", "model.recompute_granularity: selective; model.recompute_modules: [core_attn]");
        row("C-23",
            "model.recompute_granularity: selective; model.recompute_modules: [mlp]; model.num_moe_experts: "
            "64; "
            "model.moe_layer_freq: [0, 1, 1]");
        row("C-24",
            "model.num_layers: 80; model.pipeline_model_parallel_size: 4; "
            "model.virtual_pipeline_model_parallel_size: 5");
        row("C-24",
            "model.num_layers: 8; model.pipeline_model_parallel_size: 4; "
            "model.num_layers_in_first_pipeline_stage: 1; "
            "model.num_layers_in_last_pipeline_stage: 3");
        row("C-24",
            "model.num_layers: 62; model.pipeline_model_parallel_size: 8; "
            "model.account_for_embedding_in_pipeline_split: true; model.account_for_loss_in_pipeline_split: "
            "true");
        row("C-28", "model.context_parallel_size: 2");
        row("C-29", "ddp.use_megatron_fsdp: true; checkpoint.save: /c; checkpoint.ckpt_format: fsdp_dtensor");
        row("C-32",
            std::string(lora)
                + "peft.sequence_parallel_input_regather: true; model.tensor_model_parallel_size: 2; "
                  "model.sequence_parallel: true");
        const std::string onQkv = "peft._target_: megatron.bridge.peft.lora.LoRA; peft.target_modules: "
                                  "[linear_qkv]; model.tensor_model_parallel_size: 2; "
                                  "model.sequence_parallel: true; ";
        row("C-32",
            onQkv
                + "peft.sequence_parallel_input_regather: true; model.recompute_granularity: selective; "
                  "model.recompute_modules: [mlp]");
        row("C-34", std::string(lora) + "peft.sequence_parallel_input_regather: false");
        const std::string off = onQkv + "peft.sequence_parallel_input_regather: false; ";
        row("C-34", off + "peft.a2a_experimental: true");
        row("C-34", off + "model.cpu_offloading: true; model.cpu_offloading_num_layers: 2");
        row("C-36", "env.TORCH_NCCL_AVOID_RECORD_STREAMS: 0");
        row("C-36", "env.TORCH_NCCL_AVOID_RECORD_STREAMS: 1; versions.torch: '2.6.0'");
        row("C-37", "env.PYTORCH_CUDA_ALLOC_CONF: max_split_size_mb:128");
    }
    void staysSilent()
    {
        QFETCH(QString, id);
        QFETCH(QString, changes);
        const auto checks = checkConfig(settingsWith(changes.toStdString()), quietFacts());
        QVERIFY2(!find(checks, id.toStdString()), idsOf(checks).c_str());
    }

    void regatherAdviceNamesTheBytes()
    {
        RunConfig config;
        QVERIFY(config.add(
            R"({"model": {"sequence_parallel": true, "tensor_model_parallel_size": 8, "num_layers": 32,
            "seq_length": 16384, "hidden_size": 8192, "cuda_graph_impl": "none"}, "train": {"micro_batch_size": 1},
            "peft": {"_target_": "megatron.bridge.peft.lora.LoRA", "target_modules": ["linear_qkv"],
            "sequence_parallel_input_regather": false}})",
            "run.json"));
        const auto checks = checkConfig(config, {});
        const ConfigCheck* check = find(checks, "C-34");
        QVERIFY(check);
        QCOMPARE(check->level, CheckLevel::Advice);
        // 32 · 256 MiB − 32 MiB − 256 MiB = 7,904 MiB
        QVERIFY2(check->text.find("7.72\u00a0GiB") != std::string::npos, check->text.c_str());
    }

    void factsOfARecording()
    {
        TraceMaker maker;
        maker.segment(0x1000000, 2097152);
        maker.block(BlockState::Allocated, 512, 512);
        maker.alloc(0x1000000, 512);
        const auto native = maker.finish();
        CheckFacts facts = checkFacts(*native);
        QCOMPARE(facts.expandableInSnapshot, std::optional(false));
        QCOMPARE(facts.events, std::optional<std::uint64_t>(1));
        QVERIFY(!facts.outOfMemory && !facts.mixedSegments && facts.failedRanks().empty());

        // A snapshot alone tells of a setting that hinders another.
        auto snapshot = std::make_shared<Snapshot>(*native);
        snapshot->settings = {{"expandable_segments", true}, {"max_split_size", std::int64_t{134217728}}};
        RunConfig config;
        config.addSnapshot(*snapshot);
        const auto checks = checkConfig(config, checkFacts(*snapshot));
        QVERIFY(find(checks, "C-37"));
        QCOMPARE(find(checks, "C-37")->level, CheckLevel::Advice);

        CheckFacts failed = facts;
        failed.outOfMemory = true;
        failed.rank = 3;
        failed.expandableInSnapshot = true;
        failed.events = 200000;
        facts.merge(failed);
        QCOMPARE(facts.failedRanks(), std::vector<int>{3});
        QCOMPARE(facts.events, std::optional<std::uint64_t>(200000));
        QVERIFY(facts.mixedSegments);
    }

    void otherRanksMayHaveFailed()
    {
        RunConfig config = settingsWith("");
        QVERIFY(!find(checkConfig(config, quietFacts()), "C-35"));
        config.set("hardware.world_size", std::int64_t{2});
        QCOMPARE(find(checkConfig(config, quietFacts()), "C-35")->level, CheckLevel::Unknown);
        // Unless every rank is recorded.
        RunConfig all = config;
        all.set("profiling.profile_ranks", std::vector<std::string>{"0", "1"});
        QVERIFY(!find(checkConfig(all, quietFacts()), "C-35"));
        CheckFacts both = quietFacts();
        both.merge(quietFacts());
        QVERIFY(!find(checkConfig(config, both), "C-35"));
    }

    void recorderWasFull()
    {
        CheckFacts facts = quietFacts();
        facts.events = 100000;
        QVERIFY(find(checkConfig(settingsWith(""), facts), "C-35"));
        facts.events = 99999;
        QVERIFY(!find(checkConfig(settingsWith(""), facts), "C-35"));
        facts.events = 150000;
        facts.ringCapacity = 1000000;
        QVERIFY(!find(checkConfig(settingsWith(""), facts), "C-35"));
    }
};

QTEST_GUILESS_MAIN(TestConfigChecks)
#include "tst_config_checks.moc"
