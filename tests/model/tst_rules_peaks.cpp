// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/need_fixes.hpp"
#include "tests/support/layer_program.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

/// Rules about what makes the peak: layer inputs, bursts, the optimizer, the loss.
class TestRulesPeaks : public QObject {
    Q_OBJECT
private slots:
    void layerInputsAreTheFloor();
    void severalALayerAreAboveTheFloor();
    void aBurstMakesThePeak();
    void theOptimizerMakesThePeak();
    void megatronsOptimizerHasOtherFixes();
    void offloadOfHalfTheState();
    void wholeLayers();
    void logitsAndTheirCopies();
    void editsReachEveryStep();
};

void TestRulesPeaks::layerInputsAreTheFloor()
{
    Program p;
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 6; ++i)
        kept.push_back({p.alloc(64 * mib, p.layerInput)});
    p.unwind(kept, 20 * mib);
    const RuleCase rules(p.maker);
    const RuleOutput output = rules.run("checkpoint-inputs");
    QCOMPARE(output.findings.size(), 1U);
    QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(6 * 64 * mib));
    QCOMPARE(output.findings.front().count, 6U);
    QCOMPARE(evidenceNumber(output.findings.front(), "bytes_each"), 64 * mib);
    QVERIFY(rules.run("checkpoint-level").findings.empty());
}

void TestRulesPeaks::severalALayerAreAboveTheFloor()
{
    Program p;
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 6; ++i)
        kept.push_back({p.alloc(64 * mib, p.partInput), p.alloc(64 * mib, p.layerInput)});
    p.unwind(kept, 20 * mib);
    const RuleCase rules(p.maker);
    const RuleOutput output = rules.run("checkpoint-level");
    QCOMPARE(output.findings.size(), 1U);
    const Finding& found = output.findings.front();
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(6 * 64 * mib));
    QCOMPARE(found.count, 6U);
    QCOMPARE(evidenceNumber(found, "tensors_per_layer"), 2);
    QCOMPARE(evidenceNumber(found, "floor"), 6 * 64 * mib);
    QVERIFY(rules.run("checkpoint-inputs").findings.empty());
}

void TestRulesPeaks::aBurstMakesThePeak()
{
    Program p;
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 6; ++i)
        kept.push_back({p.alloc(64 * mib, p.layerInput)});
    p.unwind(kept, 200 * mib);
    const RuleOutput output = RuleCase(p.maker).run("recompute-burst");
    QCOMPARE(output.findings.size(), 1U);
    QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(200 * mib));
    QCOMPARE(output.findings.front().count, 1U);
}

void TestRulesPeaks::theOptimizerMakesThePeak()
{
    Program p;
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 3; ++i)
        kept.push_back({p.alloc(64 * mib, p.mlp)});
    p.unwind(kept);
    std::vector<Program::Block> temporaries;
    for (int i = 0; i < 4; ++i)
        temporaries.push_back(p.alloc(100 * mib, p.optimizer));
    for (const Program::Block& block : temporaries)
        p.free(block);
    const RuleCase rules(p.maker);
    const RuleOutput output = rules.run("optimizer-peak");
    QCOMPARE(output.findings.size(), 1U);
    QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(400 * mib));
    QCOMPARE(output.findings.front().count, 4U);
    QCOMPARE(output.findings.front().playbook, std::string("R9"));
    QVERIFY(rules.run("recompute-candidate").findings.empty());
}

void TestRulesPeaks::megatronsOptimizerHasOtherFixes()
{
    for (const bool megatron : {true, false}) {
        Program p;
        p.unwind({{p.alloc(64 * mib, p.mlp)}});
        const StackId copies = megatron
            ? p.maker.stack(
                {"_copy_model_grads_to_main_grads@megatron/core/optimizer/distrib_optimizer.py:2100",
                    "step@megatron/core/optimizer/optimizer.py:600", "train_step@app/pretrain.py:77"})
            : p.optimizer;
        const auto small = p.alloc(10 * mib, megatron ? p.optimizer : copies);
        const auto large = p.alloc(300 * mib, copies);
        p.free(small);
        p.free(large);
        const RuleOutput output = RuleCase(p.maker).run("optimizer-peak");
        QCOMPARE(output.findings.size(), 1U);
        const Finding& found = output.findings.front();
        const Fix* fused = fixOf(found, "optimizer-fused");
        QVERIFY(fused && fused->removedAtPeak);
        QCOMPARE(*fused->removedAtPeak, (megatron ? 10 : 310) * mib);
        const Fix* precise = fixOf(found, "precision-aware-optimizer");
        QCOMPARE(precise != nullptr, megatron);
        const Fix* offload = fixOf(found, "optimizer-offload");
        QCOMPARE(offload != nullptr, megatron);
        // What it costs was measured; what it saves here is not known.
        QVERIFY(!offload || (offload->costGrade == Grade::C && !offload->newPeak));
        if (precise) {
            QVERIFY(!precise->removedAtPeak && !precise->newPeak);
            // The site is that of most bytes, not of the first tensor.
            QVERIFY2(found.site.starts_with("_copy_model_grads"), found.site.c_str());
        }
    }
}

/// State made in the step that has the peak: half of it can go, on top of what sharding leaves.
void TestRulesPeaks::offloadOfHalfTheState()
{
    Program p;
    p.unwind({{p.alloc(64 * mib, p.mlp)}});
    const StackId state = p.maker.stack({"init_state_fn@megatron/core/optimizer/__init__.py:410",
        "step@megatron/core/optimizer/optimizer.py:600", "train_step@app/pretrain.py:77"});
    p.alloc(100 * mib, state);
    p.alloc(200 * mib, state);
    const Finding found = RuleCase(p.maker).run("optimizer-peak").findings.at(0);
    const Fix* offload = fixOf(found, "optimizer-offload");
    QVERIFY(offload && offload->predictable());
    QCOMPARE(offload->removedAtPeak, std::optional(150 * mib));
    QCOMPARE(offload->newPeak, std::optional(150 * mib));
    QCOMPARE(offload->grade, Grade::B);
}

/// Full recompute of whole layers: each keeps its input, and one at a time is there again.
void TestRulesPeaks::wholeLayers()
{
    for (const bool full : {false, true}) {
        Program p;
        const auto inLayer = [&](const char* inner) {
            return p.maker.stack({inner, "forward@megatron/core/transformer/transformer_layer.py:460",
                "forward@megatron/core/transformer/transformer_block.py:500",
                "train_step@app/pretrain.py:77"});
        };
        const StackId hidden = inLayer("forward@megatron/core/transformer/mlp.py:118");
        const StackId sum = inLayer("bias_dropout_add@megatron/core/fusions/fused_bias_dropout.py:30");
        std::vector<std::vector<Program::Block>> kept;
        for (int i = 0; i < 6; ++i) {
            const auto wide = p.alloc(96 * mib, hidden);
            kept.push_back({wide, p.alloc(32 * mib, sum)});
        }
        p.unwind(kept);
        RunConfig config;
        if (full)
            config.set("model.recompute_granularity", std::string("full"));
        const RuleCase rules(p.maker, config);
        const std::vector<Fix> fixes = needFixes(rules.input(), 0, Job{});
        const auto fix = std::ranges::find_if(fixes, [](const Fix& f) { return f.id == "recompute-full"; });
        QVERIFY(fix != fixes.end());
        // Behind what costs less.
        QCOMPARE(fixes[0].id, std::string("recompute"));
        QCOMPARE(fixes[1].id, std::string("distributed-optimizer"));
        QCOMPARE(fix - fixes.begin(), std::ptrdiff_t(2));
        QCOMPARE(fix->edits == nullptr, full);
        QCOMPARE(fix->blockedBy.empty(), !full);
        if (full)
            continue;
        QCOMPARE(fix->grade, Grade::B);
        // The peak lies where backward begins: the last layer is there again.
        QCOMPARE(fix->removedAtPeak, std::optional(5 * 96 * mib));
    }
}

void TestRulesPeaks::logitsAndTheirCopies()
{
    std::vector<std::vector<Program::Block>> kept;
    for (const bool deferred : {false, true}) {
        Program p;
        kept.clear();
        for (int i = 0; i < 3; ++i)
            kept.push_back({p.alloc(64 * mib, p.mlp)});
        kept.push_back({p.alloc(100 * mib, p.head), p.alloc(200 * mib, p.loss)});
        p.unwind(kept);
        RunConfig config;
        config.set("comm_overlap.defer_embedding_wgrad_compute", deferred);
        const RuleOutput output = RuleCase(p.maker, config).run("logits");
        QCOMPARE(output.findings.size(), 1U);
        QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(300 * mib));
        QCOMPARE(output.findings.front().count, 2U);
        QCOMPARE(fixOf(output.findings.front(), "embedding-wgrad-at-once") != nullptr, deferred);
    }

    Program small;
    kept = {{small.alloc(640 * mib, small.mlp)},
        {small.alloc(mib, small.head), small.alloc(2 * mib, small.loss)}};
    small.unwind(kept);
    QVERIFY(RuleCase(small.maker).run("logits").findings.empty());
}

/// What tops one step tops the next as well: a fix that changed one peak only would move it there.
void TestRulesPeaks::editsReachEveryStep()
{
    Program optimizer;
    for (int step = 0; step < 3; ++step) {
        optimizer.unwind(
            {{optimizer.alloc(64 * mib, optimizer.mlp)}, {optimizer.alloc(64 * mib, optimizer.mlp)}});
        std::vector<Program::Block> temporaries;
        for (int i = 0; i < 4; ++i)
            temporaries.push_back(optimizer.alloc(100 * mib, optimizer.optimizer));
        for (const Program::Block& block : temporaries)
            optimizer.free(block);
    }
    const RuleOutput peak = RuleCase(optimizer.maker).run("optimizer-peak");
    QCOMPARE(peak.findings.size(), 1U);
    const Fix* fused = fixOf(peak.findings.front(), "optimizer-fused");
    QVERIFY(fused && fused->newPeak);
    QCOMPARE(*fused->removedAtPeak, 400 * mib);
    QCOMPARE(*fused->newPeak, 129 * mib); // both layers, and the gradient of the last

    Program level;
    for (int step = 0; step < 2; ++step) {
        std::vector<std::vector<Program::Block>> kept;
        for (int i = 0; i < 6; ++i)
            kept.push_back({level.alloc(64 * mib, level.partInput), level.alloc(64 * mib, level.layerInput)});
        level.unwind(kept, 20 * mib);
    }
    const RuleOutput above = RuleCase(level.maker).run("checkpoint-level");
    QCOMPARE(above.findings.size(), 1U);
    QCOMPARE(above.findings.front().count, 6U);
    const Fix* whole = fixOf(above.findings.front(), "checkpoint-whole-layers");
    QVERIFY(whole && whole->newPeak);
    QCOMPARE(*whole->removedAtPeak, 6 * 64 * mib);
    QCOMPARE(*whole->newPeak, 6 * 64 * mib + 21 * mib);
}

QTEST_GUILESS_MAIN(TestRulesPeaks)
#include "tst_rules_peaks.moc"
