// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/playbook.hpp"
#include "tests/support/rule_case.hpp"

#include <QtTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t full = 64 * mib;
constexpr std::int64_t shard = 32 * mib;

/// Allocates at ever new addresses and frees by handle.
class Program {
public:
    using Block = std::pair<std::uint64_t, std::int64_t>;

    Block alloc(std::int64_t size, StackId stack)
    {
        m_next += 1ULL << 32;
        maker.alloc(m_next, size, stack);
        return {m_next, size};
    }
    void free(const Block& block) { maker.free(block.first, block.second); }
    /// Frames around every adapter, from the inside out.
    std::vector<std::string_view> around;
    StackId lora(std::initializer_list<std::string_view> inner)
    {
        std::vector<std::string_view> frames(inner);
        for (const std::string_view each :
            {std::string_view("forward@megatron/core/extensions/transformer_engine.py:512"),
                std::string_view("base_linear_forward@megatron/bridge/peft/adapter_wrapper.py:140"),
                std::string_view("forward@megatron/bridge/peft/lora_layers.py:68"),
                std::string_view("get_query_key_value_tensors@megatron/core/transformer/attention.py:1022"),
                std::string_view("forward_step@megatron/core/pipeline_parallel/schedules.py:315"),
                std::string_view("train_step@megatron/bridge/training/train.py:640")})
            frames.push_back(each);
        frames.insert(frames.end() - 2, around.begin(), around.end());
        return stack(frames);
    }
    StackId stack(const std::vector<std::string_view>& frames)
    {
        std::vector<FrameId> ids;
        for (const std::string_view text : frames) {
            const std::size_t at = text.find('@');
            const std::size_t colon = text.rfind(':');
            SnapshotBuilder& b = maker.builder();
            Frame frame;
            frame.name = b.strings().intern(text.substr(0, at));
            frame.file = b.strings().intern(text.substr(at + 1, colon - at - 1));
            frame.line = 7;
            ids.push_back(b.frames().intern(frame));
        }
        return maker.builder().stacks().intern(ids);
    }
    StackId norm() { return lora({"apply_normalization@transformer_engine/pytorch/module/_common.py:72"}); }
    StackId gather()
    {
        return lora({"gather_along_first_dim@transformer_engine/pytorch/distributed.py:1190",
            "forward@transformer_engine/pytorch/module/layernorm_linear.py:213"});
    }
    StackId otherGather()
    {
        return lora({"_gather_along_first_dim@megatron/core/tensor_parallel/mappings.py:112",
            "forward@megatron/bridge/peft/utils.py:512"});
    }
    StackId product()
    {
        return lora({"general_gemm@transformer_engine/pytorch/cpp_extensions/gemm.py:3",
            "forward@transformer_engine/pytorch/module/layernorm_linear.py:410"});
    }
    StackId backward() { return maker.stack({}); }

    TraceMaker maker;

private:
    std::uint64_t m_next = 0x7f0000000000;
};

enum class Keeps { Everything, NoFirstShard, NoShards, NoShardsRecorded, Nothing };

/// Forward over some layers and backward: norm shard, gathered input, product.
void train(Program& p, int layers, Keeps keeps)
{
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < layers; ++i) {
        std::vector<Program::Block> mine;
        const auto norm = keeps == Keeps::NoShardsRecorded ? Program::Block{} : p.alloc(shard, p.norm());
        const auto gathered = p.alloc(full, p.gather());
        const auto product = p.alloc(48 * mib, p.product());
        if (keeps == Keeps::Nothing)
            p.free(gathered);
        else
            mine.push_back(gathered);
        if (keeps == Keeps::NoShards || (keeps == Keeps::NoFirstShard && i == 0))
            p.free(norm);
        else if (keeps != Keeps::NoShardsRecorded)
            mine.push_back(norm);
        mine.push_back(product);
        kept.push_back(mine);
    }
    for (auto layer = kept.rbegin(); layer != kept.rend(); ++layer) {
        const auto gradient = p.alloc(8 * mib, p.backward());
        for (const Program::Block& block : *layer)
            p.free(block);
        p.free(gradient);
    }
}

RunConfig config(std::initializer_list<std::pair<const char*, ConfigValue>> more = {})
{
    RunConfig out;
    out.set("peft._target_", std::string("megatron.bridge.peft.lora.LoRA"));
    out.set("model.tensor_model_parallel_size", std::int64_t{2});
    out.set("model.sequence_parallel", true);
    out.set("model.cuda_graph_impl", std::string("none"));
    for (const auto& [key, value] : more)
        out.set(key, value);
    return out;
}

Finding only(const RuleOutput& output)
{
    return output.findings.size() == 1 ? output.findings.front() : Finding{};
}

} // namespace

class TestRulesLora : public QObject {
    Q_OBJECT
private slots:
    void gatheredInputsAreCountedAndEstimated();
    void theSiteHoldsMostBytes();
    void theFirstShardCountsAgainstTheSaving();
    void shardsThatAreNotKeptMakeItGradeB();
    void shardsThatAreNotInTheTraceCountInTheEditsToo();
    void costsAreThePlaybooks();
    void tensorParallelismIsInferred();
    void temporaryGathersAreNoFinding();
    void graphsBlockTheFix();
    void otherAdaptersBlockTheFix();
    void reasonsNotToRegather_data();
    void reasonsNotToRegather();
    void withoutStacksItIsUndecided();
    void anEmptyTraceHasNoFinding();
    void castsAndMasksOfPeftAreCopies();
    void sharedInputsAreNoCopies();
    void equalTemporariesOfOneCall();
    void longCallsStayFast();
};

void TestRulesLora::gatheredInputsAreCountedAndEstimated()
{
    Program p;
    train(p, 6, Keeps::Everything);
    const RuleCase rules(p.maker, config());
    const Finding found = only(rules.run("lora-gathered-input"));
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(6 * full));
    QCOMPARE(found.count, 6U);
    QCOMPARE(found.allocations.size(), 6U);
    QCOMPARE(found.severity, Severity::Warning);
    QCOMPARE(found.playbook, std::string("D4"));
    QCOMPARE(found.site, std::string("gather_along_first_dim@distributed.py:7"));
    QCOMPARE(evidenceNumber(found, "gathered_bytes_each"), full);
    QCOMPARE(evidenceNumber(found, "shard_bytes"), shard);
    QCOMPARE(evidenceNumber(found, "estimated_saved"), 5 * full);
    const Fix* fix = fixOf(found, "lora-input-regather");
    QVERIFY(fix && fix->newPeak && fix->edits);
    QCOMPARE(fix->grade, Grade::A);
    QVERIFY(fix->blockedBy.empty());
    QCOMPARE(*fix->removedAtPeak, 5 * full);
}

void TestRulesLora::theSiteHoldsMostBytes()
{
    Program p;
    std::vector<Program::Block> kept;
    for (int i = 0; i < 4; ++i) {
        p.free(p.alloc(shard, p.norm()));
        kept.push_back(p.alloc(full, i == 0 ? p.otherGather() : p.gather()));
        kept.push_back(p.alloc(48 * mib, p.product()));
    }
    const auto gradient = p.alloc(8 * mib, p.backward());
    for (auto block = kept.rbegin(); block != kept.rend(); ++block)
        p.free(*block);
    p.free(gradient);
    const Finding found = only(RuleCase(p.maker, config()).run("lora-gathered-input"));
    QCOMPARE(found.count, 4U);
    QCOMPARE(found.site, std::string("gather_along_first_dim@distributed.py:7"));
    QVERIFY2(found.explanation.ends_with(
                 "They come from gather_along_first_dim@distributed.py:7 and 1 other site."),
        found.explanation.c_str());
}

void TestRulesLora::theFirstShardCountsAgainstTheSaving()
{
    Program p;
    train(p, 6, Keeps::NoFirstShard);
    const Finding found = only(RuleCase(p.maker, config()).run("lora-gathered-input"));
    QCOMPARE(evidenceNumber(found, "estimated_saved"), 5 * full - shard);
    QCOMPARE(fixOf(found, "lora-input-regather")->grade, Grade::A);
}

void TestRulesLora::shardsThatAreNotKeptMakeItGradeB()
{
    Program p;
    train(p, 6, Keeps::NoShards);
    const Finding found = only(RuleCase(p.maker, config()).run("lora-gathered-input"));
    QCOMPARE(evidenceNumber(found, "estimated_saved"), 6 * (full - shard) - full);
    QCOMPARE(fixOf(found, "lora-input-regather")->grade, Grade::B);
}

void TestRulesLora::shardsThatAreNotInTheTraceCountInTheEditsToo()
{
    Program p;
    train(p, 6, Keeps::NoShardsRecorded);
    const Finding found = only(RuleCase(p.maker, config()).run("lora-gathered-input"));
    QCOMPARE(evidenceNumber(found, "estimated_saved"), 6 * (full - shard) - full);
    const Fix* fix = fixOf(found, "lora-input-regather");
    QVERIFY(fix && fix->removedAtPeak);
    QCOMPARE(*fix->removedAtPeak, evidenceNumber(found, "estimated_saved"));
}

/// The throughput of the published rows is the playbook's, in the number and in the sentence.
void TestRulesLora::costsAreThePlaybooks()
{
    struct Row {
        const char* result;
        std::int64_t layers;
        std::int64_t hidden;
        std::int64_t parallel;
        std::int64_t tokens;
        std::int64_t experts;
    };
    std::vector<double> all;
    for (const Row& row : {Row{"lora-regather/qwen3-8b", 36, 4096, 2, 8192, 0},
             Row{"lora-regather/qwen3-30b-a3b", 48, 2048, 4, 8192, 128},
             Row{"lora-regather/gpt-oss-120b", 36, 2880, 2, 4096, 128}}) {
        Program p;
        train(p, 4, Keeps::Everything);
        const RunConfig run = config({{"model.num_layers", row.layers}, {"model.hidden_size", row.hidden},
            {"model.tensor_model_parallel_size", row.parallel}, {"model.seq_length", row.tokens},
            {"model.num_moe_experts", row.experts}, {"train.micro_batch_size", std::int64_t{1}}});
        const Finding found = only(RuleCase(p.maker, run).run("lora-gathered-input"));
        const MeasuredResult* result = Playbook::standard().result(row.result);
        QVERIFY2(result && result->figure("throughput change", "%"), row.result);
        const double percent = *result->figure("throughput change", "%");
        all.push_back(percent);
        const auto said = std::ranges::find(found.evidence, "throughput_percent", &Evidence::key);
        QVERIFY2(said != found.evidence.end() && std::holds_alternative<double>(said->value), row.result);
        QCOMPARE(std::get<double>(said->value), percent);
        const QString number = QString::number(-percent, 'f', 2);
        const QString cost = QString::fromStdString(fixOf(found, "lora-input-regather")->cost);
        QVERIFY2(cost.contains(QStringLiteral("\u2212") + number), qPrintable(cost));
        QVERIFY2(cost.contains(QString::fromStdString(result->model)), qPrintable(cost));
    }
    Program p;
    train(p, 4, Keeps::Everything);
    const Finding other = only(RuleCase(p.maker, config()).run("lora-gathered-input"));
    const QString cost = QString::fromStdString(fixOf(other, "lora-input-regather")->cost);
    for (const double edge : {*std::ranges::min_element(all), *std::ranges::max_element(all)})
        QVERIFY2(cost.contains(QStringLiteral("\u2212") + QString::number(-edge, 'f', 2)), qPrintable(cost));
}

void TestRulesLora::tensorParallelismIsInferred()
{
    Program p;
    train(p, 4, Keeps::Everything);
    const Finding found = only(RuleCase(p.maker).run("lora-gathered-input"));
    QCOMPARE(evidenceNumber(found, "tensor_parallel"), 2);
}

void TestRulesLora::temporaryGathersAreNoFinding()
{
    Program p;
    train(p, 6, Keeps::Nothing);
    const RuleOutput output = RuleCase(p.maker, config()).run("lora-gathered-input");
    QVERIFY(output.findings.empty());
    QVERIFY(output.undecided.empty());
}

void TestRulesLora::graphsBlockTheFix()
{
    Program p;
    train(p, 4, Keeps::Everything);
    const RunConfig graphs = config({{"model.cuda_graph_impl", std::string("transformer_engine")}});
    const Finding found = only(RuleCase(p.maker, graphs).run("lora-gathered-input"));
    const Fix* fix = fixOf(found, "lora-input-regather");
    QVERIFY(fix);
    QVERIFY(fix->blockedBy.find("cuda_graphs") != std::string::npos);
    QVERIFY(!fix->newPeak && !fix->edits);
    QCOMPARE(evidenceNumber(found, "estimated_saved"), 3 * full);
}

void TestRulesLora::otherAdaptersBlockTheFix()
{
    Program p;
    train(p, 4, Keeps::Everything);
    const RunConfig dora = config({{"peft._target_", std::string("megatron.bridge.peft.dora.DoRA")}});
    const Finding found = only(RuleCase(p.maker, dora).run("lora-gathered-input"));
    QVERIFY(fixOf(found, "lora-input-regather")->blockedBy.find("DoRA") != std::string::npos);
}

/// What stacks and settings tell of the program's own reasons not to re-gather.
void TestRulesLora::reasonsNotToRegather_data()
{
    QTest::addColumn<QString>("frame");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("reason");
    QTest::newRow("none") << ""
                          << ""
                          << ""
                          << "";
    QTest::newRow("checkpoint") << "forward@megatron/core/tensor_parallel/random.py:7"
                                << ""
                                << ""
                                << "checkpoint: ";
    QTest::newRow("expert") << "forward@megatron/core/transformer/moe/experts.py:7"
                            << ""
                            << ""
                            << "expert: ";
    QTest::newRow("activation") << ""
                                << "peft.activation"
                                << "swish"
                                << "activation: ";
    QTest::newRow("identity") << ""
                              << "peft.activation"
                              << "identity"
                              << "";
    QTest::newRow("row-parallel") << ""
                                  << "peft.target_modules"
                                  << "linear_proj,*.linear_fc2"
                                  << "row_parallel: ";
    QTest::newRow("also others") << ""
                                 << "peft.target_modules"
                                 << "linear_qkv,linear_proj"
                                 << "";
}

void TestRulesLora::reasonsNotToRegather()
{
    QFETCH(QString, frame);
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, reason);
    Program p;
    const std::string around = frame.toStdString();
    if (!around.empty())
        p.around = {around};
    train(p, 4, Keeps::Everything);
    RunConfig settings = config();
    std::vector<std::string> list;
    for (const QString& each : value.split(','))
        list.push_back(each.toStdString());
    if (key == "peft.target_modules")
        settings.set("peft.target_modules", list);
    else if (!key.isEmpty())
        settings.set(key.toStdString(), value.toStdString());
    const Finding found = only(RuleCase(p.maker, settings).run("lora-gathered-input"));
    const Fix* fix = fixOf(found, "lora-input-regather");
    QVERIFY(fix);
    QCOMPARE(fix->edits == nullptr, !reason.isEmpty());
    QVERIFY2(reason.isEmpty() ? fix->blockedBy.empty() : fix->blockedBy.starts_with(reason.toStdString()),
        fix->blockedBy.c_str());
}

void TestRulesLora::withoutStacksItIsUndecided()
{
    TraceMaker maker;
    maker.alloc(0x1000, full);
    const RuleOutput output = RuleCase(maker, config()).run("lora-gathered-input");
    QVERIFY(output.findings.empty());
    QCOMPARE(output.undecided.size(), 1U);
    QVERIFY(output.undecided.front().needs.find("stacks") != std::string::npos);
}

void TestRulesLora::anEmptyTraceHasNoFinding()
{
    for (const char* rule :
        {"lora-gathered-input", "lora-extra-copies", "lora-input-kept", "same-size-temporaries"}) {
        TraceMaker maker;
        maker.segment(0x10000, 2 * mib);
        QVERIFY2(RuleCase(maker).run(rule).findings.empty(), rule);
    }
}

namespace {

StackId peft(Program& p, std::vector<std::string_view> inner)
{
    for (const std::string_view each : {std::string_view("forward@peft/tuners/lora/layer.py:771"),
             std::string_view("forward@transformers/models/llama/modeling_llama.py:262"),
             std::string_view("train@app/run.py:12")})
        inner.push_back(each);
    return p.stack(inner);
}

} // namespace

void TestRulesLora::castsAndMasksOfPeftAreCopies()
{
    Program p;
    const StackId input
        = p.stack({"forward@transformers/models/llama/modeling_llama.py:74", "train@app/run.py:12"});
    const StackId dropout
        = peft(p, {"dropout@torch/nn/functional.py:1425", "forward@torch/nn/modules/dropout.py:70"});
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 5; ++i) {
        const auto x = p.alloc(8 * mib, input);
        kept.push_back({x, p.alloc(16 * mib, dropout), p.alloc(4 * mib, dropout)});
    }
    for (auto layer = kept.rbegin(); layer != kept.rend(); ++layer) {
        const auto gradient = p.alloc(mib, p.backward());
        for (const Program::Block& block : *layer)
            p.free(block);
        p.free(gradient);
    }
    const Finding found = only(RuleCase(p.maker).run("lora-extra-copies"));
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(5 * 20 * mib));
    QCOMPARE(found.count, 10U);
    QCOMPARE(evidenceNumber(found, "bytes_per_element"), 5);
    QCOMPARE(evidenceNumber(found, "targets"), 1);
    QCOMPARE(evidenceNumber(found, "per_layer"), 20 * mib);
    QCOMPARE(evidenceNumber(found, "masks"), 5);
}

void TestRulesLora::sharedInputsAreNoCopies()
{
    Program p;
    const StackId input
        = p.stack({"forward@transformers/models/llama/modeling_llama.py:74", "train@app/run.py:12"});
    const StackId low = peft(p, {"forward@torch/nn/modules/linear.py:125"});
    std::vector<std::vector<Program::Block>> kept;
    for (int i = 0; i < 5; ++i) {
        const auto x = p.alloc(8 * mib, input);
        kept.push_back({x, p.alloc(mib, low)});
    }
    for (auto layer = kept.rbegin(); layer != kept.rend(); ++layer) {
        const auto gradient = p.alloc(mib, p.backward());
        for (const Program::Block& block : *layer)
            p.free(block);
        p.free(gradient);
    }
    const RuleCase rules(p.maker);
    QVERIFY(rules.run("lora-extra-copies").findings.empty());
    const Finding kepts = only(rules.run("lora-input-kept"));
    QCOMPARE(kepts.bytes, static_cast<std::uint64_t>(5 * 8 * mib));
    QCOMPARE(kepts.count, 5U);
    QCOMPARE(kepts.severity, Severity::Info);
}

void TestRulesLora::equalTemporariesOfOneCall()
{
    Program p;
    const StackId base = peft(p, {"forward@peft/tuners/lora/variants.py:125"});
    const StackId sum = peft(p, {});
    for (int i = 0; i < 3; ++i) { // the forward pass goes on after the one with three
        const auto a = p.alloc(8 * mib, base);
        const auto b = p.alloc(8 * mib, sum);
        if (i == 1) {
            const auto c = p.alloc(8 * mib, sum);
            p.free(c);
        }
        p.free(b);
        p.free(a);
    }
    const Finding found = only(RuleCase(p.maker).run("same-size-temporaries"));
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(24 * mib));
    QCOMPARE(found.count, 3U);
    QCOMPARE(evidenceNumber(found, "bytes_each"), 8 * mib);
    // Two of three are made where the sum is.
    QVERIFY2(found.site.find("variants.py") == std::string::npos, found.site.c_str());
    QVERIFY2(found.explanation.ends_with("They come from " + found.site + " and 1 other site."),
        found.explanation.c_str());
}

void TestRulesLora::longCallsStayFast()
{
    // One call with tens of thousands of equal temporaries: a list of all for each of them would take
    // minutes.
    constexpr int count = 60000;
    Program p;
    const StackId first = peft(p, {"forward@torch/nn/modules/linear.py:125"});
    const StackId sum = peft(p, {});
    p.alloc(4 * mib, first); // the forward pass goes on after the long call
    std::vector<Program::Block> blocks;
    for (int i = 0; i < count; ++i)
        blocks.push_back(p.alloc(2 * mib, sum));
    for (const Program::Block& block : blocks)
        p.free(block);
    p.alloc(4 * mib, first);
    const RuleCase rules(p.maker);
    QElapsedTimer timer;
    timer.start();
    const Finding found = only(rules.run("same-size-temporaries"));
    QCOMPARE(found.count, static_cast<std::uint64_t>(count));
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(count) * 2 * mib);
    QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
}

QTEST_GUILESS_MAIN(TestRulesLora)
#include "tst_rules_lora.moc"
