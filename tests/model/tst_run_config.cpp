// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/allocator_conf.hpp"
#include "model/playbook/identities.hpp"
#include "model/playbook/run_config.hpp"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

using namespace tidemark;

namespace {

RunConfig read(std::string_view text, std::string_view name = "run_config.yaml")
{
    RunConfig config;
    if (const auto added = config.add(text, name); !added)
        qFatal("%s", added.error().message.c_str());
    return config;
}

std::string errorOf(std::string_view text, std::string_view name = "run_config.yaml")
{
    RunConfig config;
    const auto added = config.add(text, name);
    return added ? std::string() : added.error().message;
}

} // namespace

class TestRunConfig : public QObject {
    Q_OBJECT
private slots:
    void bridgeYaml()
    {
        const RunConfig config = read(R"(
_target_: megatron.bridge.training.config.ConfigContainer
model:
  _target_: megatron.bridge.models.gpt_config.GPTModelConfig
  seq_length: 4096
  transformer:
    _target_: megatron.core.transformer.transformer_config.TransformerConfig
    num_layers: 32
    seq_length: 1
    recompute_modules: [core_attn, moe_act]
    recompute_granularity: null
    attention_dropout: 0.1
    attention_backend:
      _target_: megatron.core.transformer.enums.AttnBackend
      _call_: true
      _args_:
      - 2
    cuda_graph_scope:
    - _target_: megatron.core.transformer.enums.CudaGraphScope
      _call_: true
      _args_: [3]
    params_dtype:
      _target_: torch.bfloat16
      _call_: false
versions:
  torch: '2.10'
peft: null
)");
        QCOMPARE(config.number("model.num_layers"), std::optional<std::int64_t>(32));
        QCOMPARE(config.number("model.transformer.num_layers"), std::optional<std::int64_t>(32));
        QCOMPARE(config.number("model.seq_length"), std::optional<std::int64_t>(4096));
        QCOMPARE(*config.list("model.recompute_modules"), (std::vector<std::string>{"core_attn", "moe_act"}));
        QVERIFY(std::holds_alternative<std::monostate>(*config.find("model.recompute_granularity")));
        QCOMPARE(config.real("model.attention_dropout"), std::optional(0.1));
        QCOMPARE(*config.text("model.attention_backend"), std::string("fused"));
        QCOMPARE(*config.list("model.cuda_graph_scope"), std::vector<std::string>{"mlp"});
        QCOMPARE(*config.text("model.params_dtype"), std::string("torch.bfloat16"));
        QCOMPARE(*config.text("versions.torch"), std::string("2.10"));
        QVERIFY(config.find("peft") && !config.text("peft"));
        QVERIFY(!config.find("model.hidden_size") && !config.flag("model.sequence_parallel"));
        QVERIFY(config.isCompleteDump() && !config.environment("RANK"));
        QCOMPARE(config.files(), std::vector<std::string>{"run_config.yaml"});
    }

    void printedArguments()
    {
        const RunConfig config = read(R"(some log line
------------------------ arguments ------------------------
[default0]:  tensor_model_parallel_size ...................... 4
  attention_backend ............................... AttnBackend.flash
  recompute_modules ............................... ['core_attn', 'mlp']
  virtual_pipeline_model_parallel_size ............ None
  sequence_parallel ............................... True
  use_distributed_optimizer ....................... True
  lr .............................................. 3e-05
  num_experts ..................................... 8
-------------------- end of arguments ---------------------
)",
            "train.log");
        QCOMPARE(config.number("model.tensor_model_parallel_size"), std::optional<std::int64_t>(4));
        QCOMPARE(*config.list("model.recompute_modules"), (std::vector<std::string>{"core_attn", "mlp"}));
        QVERIFY(config.find("model.virtual_pipeline_model_parallel_size"));
        QCOMPARE(config.flag("model.sequence_parallel"), std::optional(true));
        QCOMPARE(config.flag("ddp.use_distributed_optimizer"), std::optional(true));
        QCOMPARE(config.flag("optimizer.use_distributed_optimizer"), std::optional(true));
        QCOMPARE(config.number("model.num_moe_experts"), std::optional<std::int64_t>(8));
        QCOMPARE(config.real("model.lr"), std::optional(3e-05));
    }

    void flatYamlAndJson()
    {
        const RunConfig yaml = read(
            "!!python/object:argparse.Namespace\nmicro-batch-size: 2\noptimizer: adam\n"
            "attention_backend: !!python/object/apply:megatron.core.transformer.enums.AttnBackend\n- 5\n"
            "params_dtype: !!python/name:torch.bfloat16 ''\n",
            "args.yaml");
        QCOMPARE(yaml.number("train.micro_batch_size"), std::optional<std::int64_t>(2));
        QCOMPARE(*yaml.text("optimizer.optimizer"), std::string("adam"));
        QCOMPARE(*yaml.text("model.attention_backend"), std::string("auto"));
        QCOMPARE(*yaml.text("model.params_dtype"), std::string("torch.bfloat16"));
        const RunConfig json = read(R"({"model": {"num_layers": 32, "big": 18446744073709551615}, "hardware":
            {"world_size": 8}, "profiling": {"profile_ranks": [0, 3]}})",
            "run.json");
        QCOMPARE(json.number("hardware.world_size"), std::optional<std::int64_t>(8));
        QCOMPARE(*json.list("profiling.profile_ranks"), (std::vector<std::string>{"0", "3"}));
        QVERIFY(!json.number("model.big"));
    }

    void environment()
    {
        const RunConfig config = read(
            "HOME=/root\nexport NCCL_GRAPH_REGISTER='0'\ndeclare -x WORLD_SIZE=\"8\"\n"
            "PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:[256:1,512:2], expandable_segments:True\n"
            "AWS_SECRET_ACCESS_KEY=hidden\n",
            "env.txt");
        QCOMPARE(*config.environment("NCCL_GRAPH_REGISTER"), std::string("0"));
        QCOMPARE(*config.environment("WORLD_SIZE"), std::string("8"));
        QCOMPARE(*config.environment("NVTE_CPU_OFFLOAD_V1"), std::string());
        QCOMPARE(config.expandableSegments(), std::optional(true));
        QVERIFY(!config.find("env.AWS_SECRET_ACCESS_KEY") && !config.find("env.HOME"));
        QVERIFY(!RunConfig().environment("RANK"));
        const RunConfig empty = read("", "env.txt");
        QCOMPARE(empty.environment("RANK"), std::optional(std::string()));
        QCOMPARE(empty.expandableSegments(), std::optional(false));
    }

    void allocatorText()
    {
        QVERIFY(turnsOnExpandableSegments("expandable_segments:True"));
        QVERIFY(turnsOnExpandableSegments(" a:1 , expandable_segments : True "));
        QVERIFY(!turnsOnExpandableSegments("expandable_segments:False"));
        QVERIFY(!turnsOnExpandableSegments("x:[expandable_segments:True,2]"));
        QCOMPARE(*allocatorOption("roundup_power2_divisions:[256:1,512:2],b:3", "roundup_power2_divisions"),
            std::string("[256:1,512:2]"));
        QVERIFY(!allocatorOption("", "a"));
    }

    void earlierFilesWinAndTheSnapshotOverText()
    {
        RunConfig config = read("model: {num_layers: 1}\nenv_vars: {NCCL_NVLS_ENABLE: 0}\n");
        QVERIFY(config.add("{\"model\": {\"num_layers\": 2, \"hidden_size\": 3}}", "run.json"));
        QCOMPARE(config.number("model.num_layers"), std::optional<std::int64_t>(1));
        QCOMPARE(config.number("model.hidden_size"), std::optional<std::int64_t>(3));
        QCOMPARE(*config.environment("NCCL_NVLS_ENABLE"), std::string("0"));
        QVERIFY(config.add("PYTORCH_ALLOC_CONF=expandable_segments:True\nNCCL_NVLS_ENABLE=1\n", "env"));
        QCOMPARE(*config.environment("NCCL_NVLS_ENABLE"), std::string("1"));
        QCOMPARE(config.expandableSegments(), std::optional(true));
        Snapshot snapshot;
        snapshot.settings = {{"expandable_segments", false}};
        config.addSnapshot(snapshot);
        QCOMPARE(config.expandableSegments(), std::optional(false));
    }

    void anchorsAndMerges()
    {
        const RunConfig config
            = read("model:\n  a: &x 7\n  b: *x\n  base: &m {c: 1, d: 2}\n  e:\n    <<: *m\n    f: 3\n");
        QCOMPARE(config.number("model.b"), std::optional<std::int64_t>(7));
        QCOMPARE(config.number("model.e.c"), std::optional<std::int64_t>(1));
        QCOMPARE(config.number("model.e.f"), std::optional<std::int64_t>(3));
    }

    void badInput_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("says");
        QTest::newRow("empty") << QByteArray("\n \n") << "is empty";
        QTest::newRow("binary") << QByteArray("\x80\x04\x95\x00\x01\x02", 6) << "not a text";
        QTest::newRow("not UTF-8") << QByteArray("model: {a: \xff\xfe}") << "not a text";
        QTest::newRow("prose") << QByteArray("hello world") << "no settings by name";
        QTest::newRow("list") << QByteArray("- 1\n- 2\n") << "no settings by name";
        QTest::newRow("broken YAML") << QByteArray("model:\n  a: [1, 2\n") << "line ";
        QTest::newRow("broken JSON") << QByteArray("{\n\"model\": {\n\"a\" 1}}") << "line 3: not valid JSON";
        QTest::newRow("deep YAML") << QByteArray("a: ") + QByteArray(100000, '[') << "line 1";
        QTest::newRow("deep JSON") << QByteArray("{\"a\":") + QByteArray(100000, '[') << "nested deeper";
        QByteArray block;
        for (int i = 0; i < 1000; ++i)
            block += QByteArray(i, ' ') + "a:\n";
        QTest::newRow("deep blocks") << block << "line ";
        QByteArray bomb("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 12; ++i) {
            bomb += "a" + QByteArray::number(i) + ": &a" + QByteArray::number(i) + " {";
            for (int k = 0; k < 10; ++k)
                bomb += "k" + QByteArray::number(k) + ": *a" + QByteArray::number(i - 1) + ", ";
            bomb += "}\n";
        }
        QTest::newRow("references without end") << "model: {z: 1}\n" + bomb << "unfold";
        QTest::newRow("a huge value") << "model: {a: " + QByteArray(200000, 'x') + "}"
                                      << "no setting has";
        QTest::newRow("a huge name") << "model: {" + QByteArray(900, 'x') + ": 1}"
                                     << "no setting has";
        QTest::newRow("far too long") << "model: [" + QByteArray(5 << 20, ' ') + "]"
                                      << "far larger";
        QTest::newRow("many values") << "model: [" + QByteArray("1, ").repeated(300000) + "]"
                                     << "values";
    }
    void badInput()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, says);
        QElapsedTimer timer;
        timer.start();
        const QString error = QString::fromStdString(errorOf(text.toStdString()));
        QVERIFY2(error.contains(says), qPrintable(error));
        QVERIFY2(error.size() < 300 && !error.contains('\n') && error.endsWith('.'), qPrintable(error));
        QVERIFY2(error.startsWith("run_config.yaml"), qPrintable(error));
        QVERIFY(timer.elapsed() < 20000);
    }

    void selfReference()
    {
        const RunConfig config = read("model: &m\n  a: *m\n  b: 2\n");
        QCOMPARE(config.number("model.b"), std::optional<std::int64_t>(2));
        QVERIFY(config.find("model.a"));
    }

    void filesBeside()
    {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.path().toStdString();
        std::ofstream(path / "run_config.yaml") << "model: {num_layers: 4}\n";
        std::ofstream(path / "env.txt") << "RANK=3\n";
        std::ofstream(path / "other.txt") << "x\n";
        const auto found = configFilesBeside(path / "snapshot.pickle");
        QCOMPARE(found.size(), std::size_t(2));
        QCOMPARE(found, configFilesBeside(path));
        RunConfig config;
        for (const auto& each : found)
            QVERIFY(config.addFile(each).ok());
        QCOMPARE(config.number("model.num_layers"), std::optional<std::int64_t>(4));
        QCOMPARE(*config.environment("RANK"), std::string("3"));
        QCOMPARE(config.files(), (std::vector<std::string>{"run_config.yaml", "env.txt"}));
        QCOMPARE(config.addFile(path / "none.yaml").error().code, ErrorCode::NotFound);
        QCOMPARE(config.addFile(path).error().code, ErrorCode::Io);
    }

    void namesOfPeopleAndMachinesAreNoSettings()
    {
        const RunConfig config
            = read("USER=jane\nHOME=/users/jane.d/\nHOSTNAME=gpu-17.lab.example\n"
                   "SLURM_JOB_NODELIST=a[08-10,2]b,c1\nSSH_CLIENT=10.0.0.7 5022 22\nRANK=3\n",
                "env.txt");
        QCOMPARE(identitiesOf(config).users, (std::set<std::string>{"jane", "jane.d"}));
        QCOMPARE(identitiesOf(config).hosts,
            (std::set<std::string>{"10.0.0.7", "a08b", "a09b", "a10b", "a2b", "c1", "gpu-17",
                "gpu-17.lab.example", "lab.example"}));
        for (const auto& [key, value] : config.values())
            QVERIFY2(key == "env.RANK" || isIdentityKey(key), key.c_str());
        QVERIFY(identitiesOf(read("env:\n  USER: jane\nmodel:\n  hidden_size: 4\n", "run_config.yaml"))
                    .users.contains("jane"));
        // Absurd lists end.
        QVERIFY(identitiesOf(read("SLURM_NODELIST=a[0-4294967295]\n", "env.txt")).hosts.size() <= 1024);
        QVERIFY(identitiesOf(read("SLURM_NODELIST=a[[1-2]]],[x-,3\n", "env.txt")).hosts.size() <= 1024);
    }
};

QTEST_GUILESS_MAIN(TestRunConfig)
#include "tst_run_config.moc"
