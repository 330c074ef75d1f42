// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/colouring.hpp"
#include "model/lens/labels.hpp"
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_trace.hpp"

#include <QTest>

#include <map>

using namespace tidemark;
using namespace tidemark::test;

namespace {

struct Labelled {
    std::shared_ptr<const Replay> replay;
    std::shared_ptr<const Phases> phases;
    std::shared_ptr<const Labels> labels;
};

Labelled labelled(std::shared_ptr<const Snapshot> snapshot, std::shared_ptr<const LabelRules> rules = nullptr)
{
    Labelled out;
    out.replay = Replay::build(std::move(snapshot), 0, {}).value();
    out.phases = Phases::build(*out.replay, pairMarks(*out.replay), {});
    out.labels = Labels::build(*out.replay, *out.phases, std::move(rules), {});
    return out;
}

/// Bytes of each role over all allocations.
std::map<std::string, std::uint64_t> roleBytes(const Labelled& of)
{
    std::map<std::string, std::uint64_t> bytes;
    const AllocationColumns& columns = of.replay->timeline.allocations();
    for (std::uint32_t i = 0; i < columns.count(); ++i)
        bytes[roleName(of.labels->roleOf[i])] += columns.size[i];
    return bytes;
}

QString moduleOf(const Labelled& of, std::uint32_t id)
{
    const std::uint16_t module = of.labels->moduleOf[id];
    return module == Labels::unmatched ? QString("-") : QString::fromStdString(of.labels->modules[module]);
}

} // namespace

class TestLabels : public QObject {
    Q_OBJECT
private slots:
    /// A file with more modules than fit: known ones keep their name, new ones take that of their rule.
    void moreModulesThanFit()
    {
        TraceMaker maker;
        constexpr std::uint32_t count = 60100;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::string text = "forward@/app/model" + std::to_string(i) + ".py:7";
            maker.alloc(0x7f0000000000 + std::uint64_t{i} * 4096, 512, maker.stack({text}));
        }
        maker.alloc(0x7e0000000000, 512, maker.stack({"forward@/app/model0.py:7", "main@/app/run.py:1"}));
        // A new frame, met when the list is full already.
        maker.alloc(0x7e0000001000, 512, maker.stack({"forward@/other/model0.py:7", "main@/app/run.py:1"}));
        const Labelled of = labelled(maker.finish());
        const std::uint16_t rule = of.labels->ruleOf[count - 1];
        QVERIFY(rule != Labels::unmatched);
        QCOMPARE(moduleOf(of, 0), QString("forward@model0.py:7"));
        QCOMPARE(moduleOf(of, count - 1), QString::fromStdString(of.labels->rules->rules()[rule].label));
        QCOMPARE(moduleOf(of, count), moduleOf(of, 0));
        QCOMPARE(moduleOf(of, count + 1), moduleOf(of, 0));
    }

    void roles_data()
    {
        QTest::addColumn<bool>("full");
        QTest::newRow("python only") << false;
        QTest::newRow("all frames") << true;
    }
    void roles()
    {
        QFETCH(bool, full);
        TrainingTrace wish;
        wish.full = full;
        wish.leak = true;
        wish.steps = 8;
        const Labelled of = labelled(wish.make());
        const std::map<std::string, std::uint64_t> expected{{"parameter", 4 * 70},
            {"saved activation", 8 * (4 * 1000 + 4)}, {"forward temporary", 8 * 4 * 10},
            {"backward temporary", 8 * 4 * 20}, {"gradient", 8 * 4 * 40}, {"optimizer state", 4 * 80},
            {"optimizer temporary", 8 * 30}, {"leak", 8 * 500}};
        const auto found = roleBytes(of);
        for (const auto& [role, bytes] : found)
            QVERIFY2(expected.contains(role) && expected.at(role) == bytes,
                qPrintable(QString("%1 %2").arg(role.c_str()).arg(bytes)));
        QCOMPARE(found.size(), expected.size());
        QCOMPARE(of.labels->rules, LabelRules::standard());
    }

    void recomputeTransients()
    {
        TrainingTrace wish;
        wish.recompute = true;
        const auto bytes = roleBytes(labelled(wish.make()));
        QCOMPARE(bytes.at("recompute transient"), std::uint64_t(3 * 4 * 1000));
        QCOMPARE(bytes.at("saved activation"), std::uint64_t(3 * 4));
    }

    /// The recording ends inside a forward pass: what lives then fares as its likes did.
    void cutOff()
    {
        TrainingTrace wish;
        wish.steps = 2;
        wish.cutAfterLayers = 2;
        const auto bytes = roleBytes(labelled(wish.make()));
        QCOMPARE(bytes.at("saved activation"), std::uint64_t(4 * 1000 + 4 + 2 * 1000));
        QCOMPARE(bytes.at("forward temporary"), std::uint64_t(6 * 10));
    }

    void fewStepsAreNoLeak()
    {
        TrainingTrace wish;
        wish.leak = true;
        wish.steps = 4;
        QVERIFY(!roleBytes(labelled(wish.make())).contains("leak"));
    }

    /// In every state the rows of both groupings sum to the curve, and colours follow.
    void rowsSumToTheCurve()
    {
        std::vector<std::shared_ptr<const Snapshot>> files{TrainingTrace{}.make()};
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            RandomTrace wish;
            wish.seed = seed;
            files.push_back(randomTrace(wish));
        }
        for (const auto& file : files) {
            const Labelled of = labelled(file);
            const Sites sites = Sites::build(*of.replay->snapshot, SiteMode::User);
            for (const GroupBy by : {GroupBy::Label, GroupBy::Role}) {
                const auto grouping = Grouping::build(*of.replay, sites, by, of.labels.get());
                for (StateIndex state = 0; state < of.replay->states(); ++state) {
                    std::uint64_t bytes = 0;
                    for (const GroupRow& row : groupLive(*of.replay, *grouping, state))
                        bytes += row.bytes;
                    QCOMPARE(static_cast<std::int64_t>(bytes), of.replay->timeline.requested().at(state));
                }
            }
            const auto without = Grouping::build(*of.replay, sites, GroupBy::Role);
            QVERIFY(without->count() <= 1);
            const auto colours = Colouring::build(*of.replay, sites, ColourBy::Role, of.labels.get());
            QCOMPARE(colours->slotOf.size(), of.replay->timeline.allocations().count());
        }
    }

    void installPrefixDoesNotMatter()
    {
        TrainingTrace here;
        TrainingTrace there;
        there.prefix = "C:\\Users\\me\\venv\\Lib\\site-packages\\";
        const Labelled a = labelled(here.make());
        const Labelled b = labelled(there.make());
        QCOMPARE(a.labels->roleOf, b.labels->roleOf);
        QCOMPARE(a.labels->ruleOf, b.labels->ruleOf);
        QCOMPARE(a.phases->ofEvent, b.phases->ofEvent);
    }

    void modules()
    {
        TraceMaker maker;
        const std::string core = "/o/megatron/core/";
        std::uint64_t next = 0x10000;
        const auto alloc = [&](std::initializer_list<std::string_view> frames) {
            maker.alloc(next += 0x10000, 100, maker.stack(frames));
        };
        alloc({"bias_swiglu@/o/megatron/core/fusions/fused_bias_swiglu.py:3",
            "forward@/o/megatron/core/transformer/mlp.py:9"});
        alloc({"general_gemm@/v/transformer_engine/pytorch/cpp_extensions/gemm.py:3",
            "forward@/o/megatron/core/transformer/mlp.py:9"});
        alloc({"gather_along_first_dim@/v/transformer_engine/pytorch/distributed.py:1",
            "forward@/v/transformer_engine/pytorch/module/layernorm_linear.py:2",
            "base_linear_forward@/o/megatron/bridge/peft/adapter_wrapper.py:3",
            "forward@/o/megatron/bridge/peft/lora_layers.py:4"});
        alloc({"forward@/o/megatron/bridge/peft/lora_layers.py:4"});
        alloc({"relu@/v/site-packages/torch/nn/functional.py:1",
            "forward@/v/site-packages/torch/nn/modules/a.py:2", "help@/home/me/net.py:3",
            "forward@/home/me/net.py:4"});
        alloc({"guide@/home/me/run.py:4"});
        maker.setPool(maker.builder().pool(0, 3));
        alloc({"guide@/home/me/run.py:4"});
        maker.setPool(maker.builder().pool(2, 0));
        alloc({"forward@/o/megatron/core/transformer/mlp.py:9"});
        const Labelled of = labelled(maker.finish());
        const QStringList expected{"MLP activation", "dense MLP", "LoRA-A gathered input", "LoRA adapters",
            "forward@net.py:4", "-", "private pool", "CUDA-graph capture/pool"};
        for (std::uint32_t i = 0; i < 8; ++i)
            QCOMPARE(moduleOf(of, i), expected[i]);
        QVERIFY(of.labels->is(AllocationId{2}, "F-loraA"));
        QVERIFY(of.labels->is(AllocationId{4}, "F-nn"));
        QVERIFY(!of.labels->is(AllocationId{5}, "F-nn"));
        QCOMPARE(of.labels->unmatchedAtPeak, std::uint64_t(100));
    }

    void ownRule()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 10, maker.stack({"guide@/home/me/run.py:4"}));
        const auto rules = LabelRules::withUser(
            R"({"rules": [{"id": "mine", "label": "guidance", "all": [["run.py:guide"]]}]})", "r.json");
        const Labelled of = labelled(maker.finish(), *rules);
        QCOMPARE(moduleOf(of, 0), QString("guidance"));
        QVERIFY(of.labels->is(AllocationId{0}, "mine"));
    }

    void backwardWithoutPython()
    {
        TrainingTrace python;
        TrainingTrace full;
        full.full = true;
        for (const bool all : {false, true}) {
            const Labelled of = labelled((all ? full : python).make());
            int found = 0;
            for (std::uint32_t i = 0; i < of.labels->roleOf.size(); ++i)
                if (of.labels->is(AllocationId{i}, "F-bwd")) {
                    ++found;
                    QCOMPARE(
                        moduleOf(of, i), all ? QString("backward: MmBackward0") : QString("backward (C++)"));
                }
            // Two temporaries of four layers, and the gradients.
            QCOMPARE(found, 3 * (2 + 4));
        }
    }

    void layers()
    {
        TraceMaker maker;
        const StackId qkv
            = maker.stack({"get_query_key_value_tensors@/o/megatron/core/transformer/attention.py:1",
                "forward@/o/megatron/core/transformer/transformer_layer.py:2"});
        const StackId mlp = maker.stack({"forward@/o/megatron/core/transformer/mlp.py:1",
            "forward@/o/megatron/core/transformer/transformer_layer.py:3"});
        const StackId head = maker.stack({"forward@/o/megatron/core/models/gpt/gpt_model.py:1"});
        std::uint64_t next = 0x1000;
        for (int layer = 0; layer < 3; ++layer)
            for (const StackId stack : {qkv, qkv, mlp})
                maker.alloc(next += 0x1000, 10, stack);
        maker.alloc(next += 0x1000, 10, head);
        const Labelled of = labelled(maker.finish());
        QCOMPARE(of.labels->layerOf, (std::vector<std::uint16_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 0xffff}));
    }
};

QTEST_APPLESS_MAIN(TestLabels)
#include "tst_labels.moc"
