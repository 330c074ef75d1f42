// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/estimator.hpp"

#include <QtTest>

#include <algorithm>

using namespace tidemark;

namespace {

/// Llama3-70B on 32 GPUs.
RunConfig llama()
{
    RunConfig config;
    const auto set = [&config](const char* key, std::int64_t value) { config.set(key, value); };
    set("model.num_layers", 80);
    set("model.hidden_size", 8192);
    set("model.ffn_hidden_size", 28672);
    set("model.num_attention_heads", 64);
    set("model.num_query_groups", 8);
    set("model.kv_channels", 128);
    set("model.vocab_size", 128256);
    set("model.seq_length", 4096);
    set("train.micro_batch_size", 1);
    set("train.global_batch_size", 32);
    set("model.tensor_model_parallel_size", 4);
    set("model.pipeline_model_parallel_size", 4);
    set("model.virtual_pipeline_model_parallel_size", 5);
    set("model.context_parallel_size", 1);
    set("hardware.world_size", 32);
    config.set("model.sequence_parallel", true);
    config.set("ddp.use_distributed_optimizer", true);
    config.set("model.recompute_granularity", {});
    config.set("model.gated_linear_unit", true);
    config.set("model.share_embeddings_and_output_weights", false);
    config.set("peft", {});
    return config;
}

} // namespace

class TestEstimator : public QObject {
    Q_OBJECT
private slots:
    void regatherMatchesThePublishedRows_data()
    {
        QTest::addColumn<qint64>("surfaces");
        QTest::addColumn<qint64>("tokens");
        QTest::addColumn<qint64>("hidden");
        QTest::addColumn<qint64>("ranks");
        QTest::addColumn<qint64>("bytes");
        QTest::addColumn<QString>("printed");
        QTest::newRow("Qwen3-8B") << qint64(72) << qint64(8192) << qint64(4096) << qint64(2)
                                  << qint64(4731174912) << "4.731";
        QTest::newRow("Qwen3-30B-A3B")
            << qint64(48) << qint64(8192) << qint64(2048) << qint64(4) << qint64(1568669696) << "1.569";
        QTest::newRow("GPT-OSS-120B")
            << qint64(36) << qint64(4096) << qint64(2880) << qint64(2) << qint64(813957120) << "0.814";
    }
    void regatherMatchesThePublishedRows()
    {
        QFETCH(qint64, surfaces);
        QFETCH(qint64, tokens);
        QFETCH(qint64, hidden);
        QFETCH(qint64, ranks);
        QFETCH(qint64, bytes);
        QFETCH(QString, printed);
        const Regather r{surfaces, tokens * hidden * 2, ranks, 1, true};
        QCOMPARE(qint64(regatherSaving(r)), bytes);
        QCOMPARE(QString::number(static_cast<double>(regatherSaving(r)) / 1e9, 'f', 3), printed);
    }

    void regatherVariants()
    {
        Regather r{72, 67108864, 2, 1, true};
        QCOMPARE(qint64(regatherSavingUnfused(r)), qint64(2348810240));
        r.embeddingStage = false;
        QCOMPARE(qint64(regatherSaving(r)), qint64(71) * 67108864);
        r.embeddingStage = true;
        r.microbatches = 4;
        QCOMPARE(qint64(regatherSaving(r)), 4 * (qint64(72) * 67108864 - 33554432) - 67108864);
        r.microbatches = 1;
        r.surfaces = 0;
        r.embeddingStage = false;
        QCOMPARE(qint64(regatherSaving(r)), qint64(-67108864));
    }

    void chunks_data()
    {
        QTest::addColumn<int>("chunks");
        QTest::addColumn<QList<int>>("inFlight");
        QTest::newRow("5 chunks") << 5 << QList<int>{23, 21, 19, 17};
        QTest::newRow("10 chunks") << 10 << QList<int>{43, 41, 39, 37};
        QTest::newRow("plain") << 1 << QList<int>{4, 3, 2, 1};
    }
    void chunks()
    {
        QFETCH(int, chunks);
        QFETCH(QList<int>, inFlight);
        for (int stage = 0; stage < 4; ++stage) {
            QCOMPARE(chunksInFlight(4, stage, chunks, {}), std::int64_t(inFlight[stage]));
            QCOMPARE(chunksInFlight(4, stage, chunks, 1), std::int64_t(std::min(inFlight[stage], chunks)));
        }
    }

    void llama70b()
    {
        const EstimateResult result = estimateMemory(llama());
        QVERIFY2(result.estimate, result.missing.empty() ? "" : result.missing[0].c_str());
        const MemoryEstimate& e = *result.estimate;
        QCOMPARE(e.parametersOfModel, std::int64_t(70553706496));
        QCOMPARE(e.activationsPerLayer, std::int64_t(268435456));
        QCOMPARE(e.optimizerShards, 2.0);
        QCOMPARE(e.stages.size(), std::size_t(4));
        const std::int64_t inFlight[] = {23, 21, 19, 17};
        for (std::size_t i = 0; i < 4; ++i) {
            const StageEstimate& stage = e.stages[i];
            QCOMPARE(stage.inFlight, inFlight[i]);
            QCOMPARE(stage.layersPerChunk, std::int64_t(4));
            QCOMPARE(stage.activations, inFlight[i] * 4 * 268435456);
            QCOMPARE(stage.weights, 2 * stage.parameters);
            QCOMPARE(stage.gradients, 4 * stage.parameters);
            QCOMPARE(stage.optimizer, 12 * stage.parameters / 2);
            QCOMPARE(stage.output, std::int64_t(0));
        }
        // 20 layers of 855,654,400 parameters and one embedding of 1,050,673,152, over 4 ranks.
        QCOMPARE(e.stages[0].parameters, std::int64_t((20LL * 855654400 + 1050673152) / 4));
        QCOMPARE(e.stages[1].parameters, std::int64_t(20LL * 855654400 / 4));
        QCOMPARE(e.fullest().stage, 0);
        QVERIFY(!e.activationsAreUpperBound);
        QVERIFY(e.assumptions.empty());
    }

    void singleStage()
    {
        RunConfig config = llama();
        config.set("model.pipeline_model_parallel_size", std::int64_t{1});
        config.set("model.virtual_pipeline_model_parallel_size", {});
        config.set("ddp.use_distributed_optimizer", false);
        config.set("optimizer.use_distributed_optimizer", false);
        const EstimateResult result = estimateMemory(config);
        QVERIFY(result.estimate);
        const StageEstimate& stage = result.estimate->fullest();
        QCOMPARE(stage.states(), 18 * stage.parameters);
        QCOMPARE(stage.activations, std::int64_t(80) * 268435456);
        QCOMPARE(stage.output, std::int64_t(4096LL * 4 * (8192 + 128256) / 4));
    }

    void settingsThatShrinkIt()
    {
        RunConfig config = llama();
        config.set("model.recompute_granularity", std::string("full"));
        config.set("model.recompute_method", std::string("uniform"));
        config.set("model.recompute_num_layers", std::int64_t{1});
        const EstimateResult full = estimateMemory(config);
        QVERIFY(full.estimate);
        // 92 layer inputs of 16 MiB, and one layer replayed.
        QCOMPARE(full.estimate->stages[0].activations, std::int64_t(92) * 16777216 + 268435456);

        config = RunConfig();
        const RunConfig whole = llama();
        for (const auto& [name, value] : whole.values())
            if (name != "peft")
                config.set(name, value);
        config.set("peft._target_", std::string("megatron.bridge.peft.lora.LoRA"));
        const EstimateResult frozen = estimateMemory(config);
        QVERIFY(frozen.estimate);
        QCOMPARE(frozen.estimate->stages[1].states(), 2 * frozen.estimate->stages[1].parameters);
        QVERIFY(frozen.estimate->activationsAreUpperBound);

        config = llama();
        config.set("optimizer.optimizer_cpu_offload", true);
        config.set("optimizer.optimizer_offload_fraction", 0.5);
        QCOMPARE(estimateMemory(config).estimate->stages[1].optimizer,
            3 * estimateMemory(config).estimate->stages[1].parameters);
    }

    void whatIsMissingIsNamed_data()
    {
        QTest::addColumn<QString>("key");
        for (const char* key : {"model.num_layers", "model.hidden_size", "model.vocab_size",
                 "model.seq_length", "train.micro_batch_size", "model.tensor_model_parallel_size",
                 "model.sequence_parallel", "ddp.use_distributed_optimizer", "hardware.world_size"})
            QTest::newRow(key) << key;
    }
    void whatIsMissingIsNamed()
    {
        QFETCH(QString, key);
        const RunConfig whole = llama();
        RunConfig config;
        for (const auto& [name, value] : whole.values())
            if (name != key.toStdString())
                config.set(name, value);
        const EstimateResult result = estimateMemory(config);
        QVERIFY(!result.estimate);
        QCOMPARE(result.missing.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(result.missing[0]), key);
    }

    void absurdSizesGiveNoEstimate()
    {
        for (const std::int64_t value :
            {std::int64_t{0}, std::int64_t{-3}, std::int64_t{999999999}, INT64_MAX, INT64_MIN})
            for (const char* key :
                {"model.num_layers", "model.hidden_size", "model.pipeline_model_parallel_size"}) {
                RunConfig config = llama();
                config.set(key, value);
                QVERIFY(!estimateMemory(config).estimate);
            }
        QVERIFY(!estimateMemory({}).estimate);
        QVERIFY(estimateMemory({}).missing.size() > 5);
    }

    void deviceSize()
    {
        RunConfig config;
        QVERIFY(!deviceBytes(config));
        config.set("hardware.device_total_bytes", std::int64_t{84934656000});
        QCOMPARE(deviceBytes(config), std::optional<std::uint64_t>(84934656000ULL));
    }
};

QTEST_GUILESS_MAIN(TestEstimator)
#include "tst_estimator.moc"
