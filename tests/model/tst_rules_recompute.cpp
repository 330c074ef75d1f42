// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/layer_program.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

/// Rules about what a label of recompute would drop.
class TestRulesRecompute : public QObject {
    Q_OBJECT
private slots:
    void savedMlpIsACandidate();
    void attentionWrittenOutIsACandidate();
    void feedForwardOfAPlainModelIsACandidate_data();
    void feedForwardOfAPlainModelIsACandidate();
    void onlyFreesAreNoBackward();
    void askedForButSavedIsOff();
    void replayedIsNotOff();
    void withoutSettingsOffIsUndecided();
    void whatAModuleHandsOnStays();
    void aWorkspaceHidesNoOutput_data();
    void aWorkspaceHidesNoOutput();
    void operationsOfOneLineAreOneModule();
    void plainNormsAreNoCandidate();
    void theRecordingDecidesOfAttention();
    void labelsThatTheSettingsBar_data();
    void labelsThatTheSettingsBar();
    void emptyTraces();
};

void TestRulesRecompute::savedMlpIsACandidate()
{
    Program p;
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 6; ++i) {
        const auto hidden = p.alloc(96 * mib, p.mlp);
        const auto wide = p.alloc(32 * mib, p.mlp);
        const auto temporary = p.alloc(4 * mib, p.mlp);
        const auto out = p.alloc(2 * mib, p.residual);
        p.free(temporary);
        kept.push_back({hidden, wide, out});
    }
    p.unwind(kept);
    const RuleCase rules(p.maker);
    const RuleOutput output = rules.run("recompute-candidate");
    QCOMPARE(output.findings.size(), 1U);
    const Finding& found = output.findings.front();
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(6 * 128 * mib));
    QCOMPARE(found.count, 12U);
    QCOMPARE(found.playbook, std::string("S6"));
    QCOMPARE(evidenceNumber(found, "layer_activations"), 6);
    const Fix* fix = fixOf(found, "recompute-mlp");
    QVERIFY(fix && fix->removedAtPeak && fix->newPeak);
    // The last layer's own tensors are there while its module runs; the peak then lies in that module.
    QCOMPARE(*fix->removedAtPeak, 6 * 128 * mib);
    QCOMPARE(*fix->newPeak, 5 * 2 * mib + 132 * mib);
    QCOMPARE(fix->costGrade, Grade::C);
    QVERIFY(rules.run("recompute-off").findings.empty());
}

void TestRulesRecompute::attentionWrittenOutIsACandidate()
{
    enum class Kernel { WrittenOut, Unknown, Math, Flash };
    for (const Kernel kernel : {Kernel::WrittenOut, Kernel::Unknown, Kernel::Math, Kernel::Flash}) {
        const bool fused = kernel == Kernel::Unknown || kernel == Kernel::Flash;
        Program p;
        const char* python = "scaled_dot_product_attention@torch/nn/functional.py:5900";
        const StackId scores = kernel == Kernel::WrittenOut
            ? p.maker.stack({"softmax@app/utils.py:6", "scaled_dot_product_attention@app/model.py:434",
                "forward@app/model.py:12", "train_step@app/train.py:52"})
            : kernel == Kernel::Unknown
            ? p.maker.stack({python, "forward@app/model.py:12", "train_step@app/train.py:52"})
            : p.maker.stack({kernel == Kernel::Math
                    ? "at::native::_scaled_dot_product_attention_math(at::Tensor const&)@??:0"
                    : "at::native::_scaled_dot_product_flash_attention_cuda(at::Tensor const&)@??:0",
                python, "forward@app/model.py:12", "train_step@app/train.py:52"});
        const StackId other = p.maker.stack({"forward@app/model.py:39", "train_step@app/train.py:52"});
        if (kernel == Kernel::Math
            || kernel == Kernel::Flash) // with torch's own frames, backward has some too
            p.backward = p.maker.stack({"torch::autograd::Engine::evaluate_function()@??:0"});
        std::vector<std::vector<Program::Block>> kept;
        for (int i = 0; i < 6; ++i) {
            const auto score = p.alloc(64 * mib, scores);
            p.free(p.alloc(2 * mib, scores)); // what the attention hands on
            kept.push_back({score, p.alloc(2 * mib, other)});
        }
        p.unwind(kept);
        const RuleOutput output = RuleCase(p.maker).run("recompute-candidate");
        QCOMPARE(output.findings.size(), fused ? 0U : 1U);
        if (fused)
            continue;
        const Finding& found = output.findings.front();
        QCOMPARE(found.bytes, static_cast<std::uint64_t>(6 * 64 * mib));
        QCOMPARE(found.playbook, std::string("S3"));
        QCOMPARE(found.fixes.size(), 2U);
        QCOMPARE(found.fixes.front().id, std::string("fused-attention"));
        QVERIFY(!found.fixes.front().newPeak); // what a kernel needs instead is not known
        QCOMPARE(found.fixes.front().text.find("math fallback") != std::string::npos, kernel == Kernel::Math);
        QVERIFY(found.fixes.back().text.find("recompute_modules") == std::string::npos);
    }
}

void TestRulesRecompute::feedForwardOfAPlainModelIsACandidate_data()
{
    QTest::addColumn<QString>("function"); // that the activation is called from, and where
    QTest::addColumn<bool>("attentionToo");
    QTest::addColumn<bool>("candidate");
    QTest::newRow("own function") << "forward@app/model.py:399" << false << true;
    QTest::newRow("method by its full name") << "SwiGLU.forward@app/model.py:399" << false << true;
    QTest::newRow("a whole block in one function") << "forward@app/model.py:399" << true << false;
    QTest::newRow("Megatron Core") << "forward@megatron/core/transformer/other.py:399" << false << false;
}

void TestRulesRecompute::feedForwardOfAPlainModelIsACandidate()
{
    QFETCH(QString, function);
    QFETCH(bool, attentionToo);
    QFETCH(bool, candidate);
    Program p;
    const std::string at = function.toStdString();
    const std::string later = at.substr(0, at.rfind(':')) + ":401";
    const std::string block = "forward@app/model.py:386";
    const std::string layers = "forward@app/model.py:253";
    const StackId act = p.maker.stack({"silu@app/model.py:532", at, "PyObject_Call@/src/Objects/call.c:387",
        "_call_impl@torch/nn/modules/module.py:1790", block, layers});
    const StackId linear
        = p.maker.stack({"forward@app/model.py:39", "_call_impl@torch/nn/modules/module.py:1790", later,
            "_call_impl@torch/nn/modules/module.py:1790", block, layers});
    // The same file and callers, but far from the activation: another class's forward.
    const StackId norm
        = p.maker.stack({attentionToo ? "scaled_dot_product_attention@torch/nn/functional.py:5900"
                                      : "pow@torch/_tensor.py:40",
            attentionToo ? std::string_view(later) : "forward@app/model.py:102",
            "_call_impl@torch/nn/modules/module.py:1790", block, layers});
    // The block calls an activation of its own, as adaptive norms do: that makes it no feed-forward part.
    const StackId modulation
        = p.maker.stack({"silu@torch/nn/functional.py:2370", "forward@app/model.py:384", layers});
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 6; ++i) {
        p.free(p.alloc(mib, modulation));
        const auto normed = p.alloc(16 * mib, norm);
        const auto gate = p.alloc(64 * mib, linear);
        kept.push_back({normed, gate, p.alloc(32 * mib, act)});
        p.free(p.alloc(16 * mib, linear)); // what the block hands on
    }
    p.unwind(kept);
    const RuleOutput output = RuleCase(p.maker).run("recompute-candidate");
    QCOMPARE(output.findings.size(), candidate ? 1U : 0U);
    if (!candidate)
        return;
    const Finding& found = output.findings.front();
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(6 * 96 * mib));
    QCOMPARE(found.count, 12U);
    QCOMPARE(found.playbook, std::string("S6"));
    const Fix* fix = fixOf(found, "recompute-mlp");
    QVERIFY(fix && fix->newPeak);
    QVERIFY(fix->text.find("feed-forward block") != std::string::npos);
    QCOMPARE(*fix->newPeak, 6 * 16 * mib + 96 * mib + 16 * mib); // and what the last block hands on
}

void TestRulesRecompute::onlyFreesAreNoBackward()
{
    Program p;
    std::vector<Program::Block> kept;
    for (int i = 0; i < 6; ++i) {
        kept.push_back(p.alloc(96 * mib, p.mlp));
        p.free(p.alloc(2 * mib, p.mlp));
    }
    for (auto block = kept.rbegin(); block != kept.rend(); ++block)
        p.free(*block);
    const RuleOutput output = RuleCase(p.maker).run("recompute-candidate");
    QVERIFY(output.findings.empty());
    QCOMPARE(output.undecided.size(), 1U);
}

void TestRulesRecompute::askedForButSavedIsOff()
{
    for (const char* granularity : {"full", "selective"}) {
        Program p;
        std::vector<std::vector<Program::Block>> kept;
        for (int i = 0; i < 6; ++i)
            kept.push_back({p.alloc(96 * mib, p.mlp)});
        p.unwind(kept);
        const RuleCase rules(p.maker, asking(granularity));
        const RuleOutput output = rules.run("recompute-off");
        QCOMPARE(output.findings.size(), 1U);
        QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(6 * 96 * mib));
        QCOMPARE(output.findings.front().count, 6U);
    }
}

void TestRulesRecompute::replayedIsNotOff()
{
    Program p;
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 6; ++i)
        kept.push_back({p.alloc(8 * mib, p.layerInput)});
    p.unwind(kept, 20 * mib);
    const RuleOutput output = RuleCase(p.maker, asking("full")).run("recompute-off");
    QVERIFY(output.findings.empty());
    QVERIFY(output.undecided.empty());
}

void TestRulesRecompute::withoutSettingsOffIsUndecided()
{
    Program p;
    p.unwind({{p.alloc(96 * mib, p.mlp)}});
    const RuleOutput output = RuleCase(p.maker).run("recompute-off");
    QVERIFY(output.findings.empty());
    QCOMPARE(output.undecided.size(), 1U);
}

void TestRulesRecompute::whatAModuleHandsOnStays()
{
    // The last tensor the module makes is its output; the layer behind it keeps it with or without recompute.
    Program p;
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 6; ++i) {
        const auto hidden = p.alloc(96 * mib, p.mlp);
        const auto out = p.alloc(32 * mib, p.mlp);
        kept.push_back({hidden, out, p.alloc(2 * mib, p.residual)});
    }
    p.unwind(kept);
    const RuleOutput output = RuleCase(p.maker).run("recompute-candidate");
    QCOMPARE(output.findings.size(), 1U);
    QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(6 * 96 * mib));
    // The peak lies where backward begins: the last layer is there again.
    QCOMPARE(*fixOf(output.findings.front(), "recompute-mlp")->removedAtPeak, 5 * 96 * mib);
}

void TestRulesRecompute::aWorkspaceHidesNoOutput_data()
{
    QTest::addColumn<int>("width"); // of the output; what is inside is 64 wide
    QTest::addColumn<bool>("keepsOutput"); // the layer behind it does
    QTest::newRow("narrower") << 16 << true;
    QTest::newRow("as wide as inside") << 64 << true;
    QTest::newRow("added in place") << 16 << false;
}

void TestRulesRecompute::aWorkspaceHidesNoOutput()
{
    QFETCH(int, width);
    QFETCH(bool, keepsOutput);
    Program p;
    p.backward = p.maker.stack({"torch::autograd::Engine::evaluate_function()@??:0"});
    const std::string layers = "forward@app/model.py:253";
    const auto linear = [&](const char* kernel, const char* line) {
        return p.maker.stack({kernel, "forward@torch/nn/modules/linear.py:116", line, layers});
    };
    const char* first = "forward@app/mlp.py:44";
    const char* last = "forward@app/mlp.py:48";
    const StackId act
        = p.maker.stack({"forward@torch/nn/modules/activation.py:682", "forward@app/mlp.py:45", layers});
    const StackId outside = p.maker.stack({"forward@app/model.py:126", layers});
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 5; ++i) {
        const auto normed = p.alloc(16 * mib, outside);
        const auto hidden = p.alloc(64 * mib, linear("at::native::addmm@??:0", first));
        p.free(p.alloc(mib, linear("at::cuda::blas::gemm@??:0", first)));
        const auto wide = p.alloc(64 * mib, act);
        const auto out = p.alloc(width * mib, linear("at::native::addmm@??:0", last));
        // The kernel's workspace comes after the tensor that the layer hands on.
        p.free(p.alloc(mib, linear("at::cuda::blas::gemm@??:0", last)));
        kept.push_back({normed, hidden, wide});
        if (keepsOutput)
            kept.back().push_back(out);
        else
            p.free(out);
        kept.back().push_back(p.alloc(16 * mib, outside));
    }
    p.unwind(kept);
    const RuleOutput output = RuleCase(p.maker).run("recompute-candidate");
    QCOMPARE(output.findings.size(), 1U);
    const Finding& found = output.findings.front();
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(5 * 128 * mib));
    QCOMPARE(found.count, 10U);
    QCOMPARE(evidenceNumber(found, "outputs_not_counted"), keepsOutput ? 5 : 0);
    QCOMPARE(evidenceNumber(found, "output_bytes_not_counted"), keepsOutput ? 5 * width * mib : 0);
    QCOMPARE(found.explanation.find("Not counted") != std::string::npos, keepsOutput);
}

/// w2(silu(w1(x)) * w3(x)) on one line makes tensors of one stack and size several times.
void TestRulesRecompute::operationsOfOneLineAreOneModule()
{
    for (const bool backToBack : {false, true}) {
        Program p;
        std::vector<std::vector<Program::Block>> kept;
        std::optional<Program::Block> handedOn; // until the next operation has read it
        for (int i = 0; i < 6; ++i) {
            const auto left = p.alloc(32 * mib, p.mlp);
            if (handedOn)
                p.free(*handedOn);
            const auto right = p.alloc(32 * mib, p.mlp);
            const auto wide = p.alloc(64 * mib, p.mlp);
            const auto cast = p.alloc(32 * mib, p.mlp);
            handedOn = p.alloc(mib, p.mlp);
            kept.push_back({left, right, wide, cast});
            if (!backToBack)
                kept.back().push_back(p.alloc(2 * mib, p.residual));
        }
        p.alloc(mib, p.residual);
        p.free(*handedOn);
        p.unwind(kept);
        const RuleOutput output = RuleCase(p.maker).run("recompute-candidate");
        QCOMPARE(output.findings.size(), 1U);
        const Finding& found = output.findings.front();
        QCOMPARE(evidenceNumber(found, "layer_activations"), 6);
        QCOMPARE(found.bytes, static_cast<std::uint64_t>(6 * 160 * mib));
        // Backward begins with a whole layer again, and its gradient.
        const std::int64_t others = (backToBack ? 0 : 6 * 2) * mib + mib;
        QCOMPARE(evidenceNumber(found, "new_peak"), others + 160 * mib + mib);
    }
}

void TestRulesRecompute::plainNormsAreNoCandidate()
{
    for (const bool megatron : {true, false}) {
        Program p;
        const StackId norm = p.maker.stack({"forward@torch/nn/modules/normalization.py:217",
            megatron ? "forward@megatron/core/transformer/transformer_layer.py:440"
                     : "forward@app/model.py:80",
            "train_step@app/train.py:52"});
        std::vector<std::vector<Program::Block>> kept;
        for (int i = 0; i < 6; ++i)
            kept.push_back({p.alloc(96 * mib, norm)});
        p.unwind(kept);
        const RuleOutput output = RuleCase(p.maker).run("recompute-candidate");
        QCOMPARE(output.findings.size(), megatron ? 1U : 0U);
    }
}

void TestRulesRecompute::theRecordingDecidesOfAttention()
{
    // 24 of 600 MiB: above 3 % of the peak.
    for (const char* backend : {"auto", "AttnBackend.auto", "unfused", "flash"}) {
        Program p;
        const StackId scores
            = p.maker.stack({"forward@megatron/core/transformer/dot_product_attention.py:190",
                "forward@megatron/core/transformer/attention.py:900", "train_step@app/pretrain.py:77"});
        const auto state = p.alloc(576 * mib, p.head);
        std::vector<std::vector<Program::Block>> kept;
        for (int i = 0; i < 6; ++i) {
            const auto score = p.alloc(4 * mib, scores);
            p.free(p.alloc(mib, scores));
            kept.push_back({score, p.alloc(64 << 10, p.residual)});
        }
        p.unwind(kept);
        p.free(state);
        RunConfig config;
        config.set("model.attention_backend", std::string(backend));
        const RuleOutput output = RuleCase(p.maker, config).run("recompute-candidate");
        QCOMPARE(output.findings.size(), std::string_view(backend) == "flash" ? 0U : 1U);
    }
}

void TestRulesRecompute::labelsThatTheSettingsBar_data()
{
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QString>("barred");
    QTest::newRow("nothing") << QStringList{} << "";
    QTest::newRow("full") << QStringList{"model.recompute_granularity=full"} << "full recompute";
    QTest::newRow("offloading") << QStringList{"model.cpu_offloading=true"} << "C-07";
    QTest::newRow("graph") << QStringList{"model.cuda_graph_impl=transformer_engine",
        "model.cuda_graph_scope=mlp", "model.hidden_dropout=0.1"}
                           << "C-20";
    // The error is there already without the label: it is none of the label's.
    QTest::newRow("known before") << QStringList{"model.cpu_offloading=true",
        "model.recompute_granularity=selective", "model.recompute_modules=moe"}
                                  << "";
}

void TestRulesRecompute::labelsThatTheSettingsBar()
{
    QFETCH(QStringList, settings);
    QFETCH(QString, barred);
    Program p;
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 6; ++i)
        kept.push_back({p.alloc(96 * mib, p.mlp), p.alloc(2 * mib, p.residual)});
    kept.front().push_back(p.alloc(96 * mib, p.mlp));
    p.free(p.alloc(4 * mib, p.mlp));
    p.unwind(kept);
    RunConfig config;
    if (!settings.isEmpty())
        QVERIFY(config.add(settings.join('\n').replace('=', ": ").toStdString() + "\n", "run_config.yaml"));
    const RuleOutput output = RuleCase(p.maker, config).run("recompute-candidate");
    QCOMPARE(output.findings.size(), 1U);
    const QString said = QString::fromStdString(fixOf(output.findings.front(), "recompute-mlp")->blockedBy);
    QVERIFY2(barred.isEmpty() ? said.isEmpty() : said.startsWith(barred), qPrintable(said));
}

void TestRulesRecompute::emptyTraces()
{
    for (const char* rule : {"recompute-candidate", "recompute-off", "checkpoint-inputs", "checkpoint-level",
             "recompute-burst", "logits", "optimizer-peak"}) {
        TraceMaker maker;
        maker.segment(0x10000, 2 * mib);
        QVERIFY2(RuleCase(maker, asking("full")).run(rule).findings.empty(), rule);
    }
}

QTEST_GUILESS_MAIN(TestRulesRecompute)
#include "tst_rules_recompute.moc"
