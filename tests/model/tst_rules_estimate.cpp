// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/expectation.hpp"
#include "tests/support/rule_case.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr const char* rule = "estimate-exceeds-device";

/// Settings of a small dense model on two pipeline stages of two tensor-parallel ranks, as Megatron Bridge
/// writes them, and the estimate made by hand:
///   a layer       1024·64·(2·16 + 2·4) + 2·1024 + 3·1024·4096 = 15,206,400 parameters, halved
///   stage 0       4 · 7,603,200 + 32,000·1024 / 2             = 46,796,800 parameters
///   states        (2 + 4 + 12/2) · that                       = 561,561,600 bytes
///   activations   2 in flight · 4 layers · 2048·(18·1024 + 4·4096) / 2 = 285,212,672 bytes
constexpr std::int64_t parameters = 46'796'800;
constexpr std::int64_t states = 12 * parameters;
constexpr std::int64_t activations = 285'212'672;
constexpr std::int64_t estimate = states + activations;

std::string settings(const std::string& device, const std::string& recompute = "null")
{
    std::string text = R"(_target_: megatron.bridge.training.config.ConfigContainer
ddp:
  use_distributed_optimizer: true
hardware:
)";
    text += device.empty() ? "" : "  device_total_bytes: " + device + "\n";
    text += R"(  world_size: 8
model:
  ffn_hidden_size: 4096
  gated_linear_unit: true
  hidden_size: 1024
  kv_channels: 64
  num_attention_heads: 16
  num_layers: 8
  num_query_groups: 4
  pipeline_model_parallel_size: 2
  recompute_granularity: )"
        + recompute + R"(
  recompute_modules: )"
        + (recompute == "null" ? "null" : "\n  - mlp") + R"(
  seq_length: 2048
  sequence_parallel: true
  share_embeddings_and_output_weights: false
  tensor_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: null
  vocab_size: 32000
optimizer:
  use_distributed_optimizer: true
peft: null
train:
  global_batch_size: 8
  micro_batch_size: 1
)";
    return text;
}

RunConfig config(const std::string& text)
{
    RunConfig out;
    if (const auto added = out.add(text, "run_config.yaml"); !added)
        qFatal("%s", added.error().message.c_str());
    return out;
}

/// What the rule says beside a trace in which next to nothing happens.
RuleOutput said(const RunConfig& given, std::optional<std::uint64_t> device = {}, int ordinal = 0)
{
    TraceMaker maker(ordinal);
    maker.alloc(0x7f0000000000, 512);
    const RuleCase beside(maker, given);
    RuleInput input = beside.input();
    input.deviceTotal = device;
    RuleOutput output;
    for (const Rule& each : rules())
        if (each.id == std::string_view(rule))
            each.run(input, output, Job{});
    return output;
}

} // namespace

class TestRulesEstimate : public QObject {
    Q_OBJECT
private slots:
    void theSettingsNeedMoreThanTheCard()
    {
        const RuleOutput output = said(config(settings("800000000")));
        QVERIFY(output.undecided.empty());
        QCOMPARE(output.findings.size(), std::size_t(1));
        const Finding& found = output.findings[0];
        QCOMPARE(found.rule.c_str(), rule);
        QCOMPARE(found.bytes, std::uint64_t(estimate - 800'000'000));
        QCOMPARE(QString::fromStdString(found.playbook), QString("D3"));
        QVERIFY(found.grade == Grade::B);
        QVERIFY(found.severity == Severity::Warning);
        QVERIFY(!found.eventRange);
        QCOMPARE(found.count, std::uint64_t(0));
        QVERIFY(found.allocations.empty() && found.segments.empty());
        QCOMPARE(evidenceNumber(found, "estimate"), estimate);
        QCOMPARE(evidenceNumber(found, "device_total"), std::int64_t(800'000'000));
        QCOMPARE(evidenceNumber(found, "parameters"), parameters);
        QCOMPARE(evidenceNumber(found, "weights"), 2 * parameters);
        QCOMPARE(evidenceNumber(found, "gradients"), 4 * parameters);
        QCOMPARE(evidenceNumber(found, "optimizer"), 6 * parameters);
        QCOMPARE(evidenceNumber(found, "activations"), activations);
        QCOMPARE(evidenceNumber(found, "activations_per_layer"), activations / 8);
        QCOMPARE(evidenceNumber(found, "output"), std::int64_t(0));
        QCOMPARE(evidenceNumber(found, "in_flight"), std::int64_t(2));
        QCOMPARE(evidenceNumber(found, "stage"), std::int64_t(0));
        for (const char* fix : {"distributed-optimizer", "recompute", "parallelism"})
            QVERIFY2(fixOf(found, fix) != nullptr, fix);
        // Nothing was measured: what a fix saves is not known.
        for (const Fix& fix : found.fixes)
            QVERIFY(!fix.newPeak && !fix.removedAtPeak && !fix.edits);
    }

    /// Bytes of the card that the user gives win over the settings'.
    void theGivenCardCounts()
    {
        QCOMPARE(said(config(settings("800000000")), estimate).findings.size(), std::size_t(0));
        const RuleOutput output = said(config(settings("900000000")), estimate - 1);
        QCOMPARE(output.findings.size(), std::size_t(1));
        QCOMPARE(output.findings[0].bytes, std::uint64_t(1));
        QCOMPARE(said(config(settings("")), estimate - 512).findings.size(), std::size_t(1));
    }

    void whatFitsExactlyFits()
    {
        const RuleOutput output = said(config(settings(std::to_string(estimate))));
        QVERIFY(output.findings.empty());
        QVERIFY(output.undecided.empty());
    }

    void whatIsMissingIsNamed()
    {
        const RuleOutput noCard = said(config(settings("")));
        QVERIFY(noCard.findings.empty());
        QCOMPARE(noCard.undecided.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(noCard.undecided[0].needs), QString("hardware.device_total_bytes"));
        std::string text = settings("800000000");
        const std::string key = "  seq_length: 2048\n";
        text.erase(text.find(key), key.size());
        const RuleOutput noLength = said(config(text));
        QVERIFY(noLength.findings.empty());
        QCOMPARE(noLength.undecided.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(noLength.undecided[0].needs), QString("model.seq_length"));
        const RuleOutput nothing = said({}, 1);
        QVERIFY(nothing.findings.empty());
        QCOMPARE(nothing.undecided.size(), std::size_t(1));
    }

    /// Recompute makes the activations smaller by what is not known; the states alone are exact enough.
    void recomputeLeavesOnlyTheStates()
    {
        const RuleOutput open = said(config(settings("800000000", "selective")));
        QVERIFY(open.findings.empty());
        QCOMPARE(open.undecided.size(), std::size_t(1));
        const RuleOutput certain = said(config(settings("500000000", "selective")));
        QVERIFY(certain.undecided.empty());
        QCOMPARE(certain.findings.size(), std::size_t(1));
        QCOMPARE(evidenceNumber(certain.findings[0], "weights") * 6, states);
    }

    /// What the settings let expect stands beside what is live at the peak, class by class.
    void theEstimateBesideTheRecording()
    {
        TraceMaker maker;
        const StackId setup
            = maker.stack({"__init__@megatron/core/distributed/param_and_grad_buffer.py:716"});
        const StackId forward
            = maker.stack({"forward@megatron/core/transformer/mlp.py:118", "step@train.py:1"});
        constexpr std::int64_t held = 200'000'000;
        constexpr std::int64_t saved = 50'000'000;
        maker.alloc(0x1000000000, held, setup);
        for (int step = 0; step < 3; ++step) {
            const auto base = 0x2000000000 + static_cast<std::uint64_t>(step) * 0x1000000000;
            for (std::uint64_t i = 0; i < 4; ++i)
                maker.alloc(base + i * 0x10000000, saved, forward);
            const StackId backward = maker.stack({});
            maker.alloc(base + 0x80000000, 1'000'000, backward);
            for (std::uint64_t i = 4; i-- > 0;)
                maker.free(base + i * 0x10000000, saved);
            maker.free(base + 0x80000000, 1'000'000);
        }
        const RuleCase trace(maker);
        const RuleInput input = trace.input();
        const auto expected = expectationOf(input.replay, input.labels, config(settings("")));
        QVERIFY(expected);
        QCOMPARE(expected->classes.size(), std::size_t(3));
        const ExpectedClass& held3 = expected->classes[0];
        QVERIFY(held3.low <= 6 * parameters && 6 * parameters <= held3.high); // stage 0 is one of the two
        QVERIFY(expected->classes[2].low <= activations && activations <= expected->classes[2].high);
        QCOMPARE(held3.measured, held);
        QCOMPARE(expected->classes[2].measured, 4 * saved);
        QCOMPARE(expected->live, input.replay.timeline.requested().total().max);
        QCOMPARE(expected->live, held + 4 * saved + expected->classes[1].measured + expected->otherMeasured);
        QVERIFY(!expectationOf(input.replay, input.labels, {}));
    }

    void hostMemoryIsNotTheCard()
    {
        const RuleOutput output = said(config(settings("800000000")), {}, -1);
        QVERIFY(output.findings.empty());
        QVERIFY(output.undecided.empty());
    }
};

QTEST_APPLESS_MAIN(TestRulesEstimate)
#include "tst_rules_estimate.moc"
