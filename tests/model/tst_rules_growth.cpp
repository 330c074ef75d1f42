// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/rule_case.hpp"

#include <QtTest>

#include <deque>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t mib = 1 << 20;

struct Program {
    TraceMaker maker;
    std::uint64_t next = 0x7f0000000000;
    std::int64_t time = 1000;
    using Block = std::pair<std::uint64_t, std::int64_t>;

    StackId layer = maker.stack(
        {"forward@app/model/mlp.py:70", "train_step@app/train.py:52", "<module>@app/train.py:131"});
    StackId backward = maker.stack({});
    StackId metric
        = maker.stack({"append@app/my_metrics.py:57", "train@app/train.py:60", "<module>@app/train.py:131"});
    StackId reduce
        = maker.stack({"foreach_reduce@torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py:514",
            "post_backward@torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py:484",
            "apply@torch/autograd/function.py:311"});
    StackId node = maker.stack(
        {"__init__@app/graph/node.py:29", "build@app/graph/tree.py:64", "<module>@app/train.py:131"});

    Block alloc(std::int64_t size, StackId stack)
    {
        maker.setTime(time += 10);
        next += 1ULL << 32;
        maker.alloc(next, size, stack);
        return {next, size};
    }
    void free(const Block& block)
    {
        maker.setTime(time += 10);
        maker.free(block.first, block.second);
    }
    void mark(bool start, int step)
    {
        SnapshotBuilder& b = maker.builder();
        b.addAnnotation(
            {start, b.strings().intern("ProfilerStep#" + std::to_string(step)), 0, time += 10, std::nullopt});
    }
    /// Forward and backward over three layers.
    void pass()
    {
        std::vector<Block> kept;
        for (int i = 0; i < 3; ++i)
            kept.push_back(alloc(8 * mib, layer));
        while (!kept.empty()) {
            const Block gradient = alloc(mib, backward);
            free(kept.back());
            kept.pop_back();
            free(gradient);
        }
    }
};

/// Steps that keep one tensor each until the cache is full.
RuleOutput leakOf(int steps, int keptUntil, int each = 1, std::optional<std::uint64_t> card = {})
{
    Program p;
    for (int step = 0; step < steps; ++step) {
        p.mark(true, step);
        p.pass();
        for (int i = 0; i < each && step < keptUntil; ++i)
            p.alloc(2 * mib, p.metric);
        p.mark(false, step);
    }
    const RuleCase rules(p.maker);
    RuleInput input = rules.input();
    input.deviceTotal = card;
    RuleOutput output;
    for (const Rule& rule : tidemark::rules())
        if (std::string_view(rule.id) == "leak")
            rule.run(input, output, Job{});
    return output;
}

RuleOutput gradientsOf(int steps, std::size_t hold, bool named = true)
{
    Program p;
    std::deque<Program::Block> held;
    for (int step = 0; step < steps; ++step) {
        p.mark(true, step);
        std::vector<Program::Block> kept;
        for (int i = 0; i < 3; ++i)
            kept.push_back(p.alloc(8 * mib, p.layer));
        if (held.size() == hold) {
            p.free(held.front());
            held.pop_front();
        }
        held.push_back(p.alloc(4 * mib, named ? p.reduce : p.backward));
        while (!kept.empty()) {
            const auto gradient = p.alloc(mib, p.backward);
            p.free(kept.back());
            kept.pop_back();
            p.free(gradient);
        }
        p.mark(false, step);
    }
    return RuleCase(p.maker).run("gradients-kept");
}

/// Nodes of a graph, made one by one and freed together.
RuleOutput batchOf(int count, bool reversed, bool others)
{
    Program p;
    std::vector<Program::Block> nodes;
    for (int i = 0; i < count; ++i) {
        nodes.push_back(p.alloc(4 * mib, p.node));
        if (others && i % 3 == 2)
            p.free(p.alloc(mib, p.layer));
    }
    if (reversed)
        std::reverse(nodes.begin(), nodes.end());
    for (const auto& block : nodes)
        p.free(block);
    return RuleCase(p.maker).run("batch-free");
}

} // namespace

class TestRulesGrowth : public QObject {
    Q_OBJECT
private slots:
    void oneMoreEachStepIsALeak();
    void stepsUntilTheCardIsFull();
    void aCacheThatIsFullIsNone();
    void setUpInOneStepIsNone();
    void fewStepsAreUndecided();
    void aQueueIsNoLeak();
    void gradientsOfSeveralSteps();
    void gradientsWithoutStacks();
    void gradientsFreedInTheNextStepAreFine();
    void unshardedGradientsAreUndecided();
    void nodesFreedTogether();
    void nodesOfSeveralSteps();
    void whatFunctionsFreeIsNoBatch();
    void manyGradientsStayFast();
    void manyBatchesAreCounted();
    void emptyTraces();
};

void TestRulesGrowth::oneMoreEachStepIsALeak()
{
    const RuleOutput output = leakOf(8, 8, 2);
    QCOMPARE(output.findings.size(), 1U);
    const Finding& found = output.findings.front();
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(8 * 2 * 2 * mib));
    QCOMPARE(found.count, 16U);
    QCOMPARE(found.site, std::string("append@my_metrics.py:57"));
    QCOMPARE(found.severity, Severity::Warning);
    QCOMPARE(evidenceNumber(found, "bytes_per_step"), 4 * mib);
    QCOMPARE(evidenceNumber(found, "steps"), 8);
    QVERIFY(fixOf(found, "release-per-step")->removedAtPeak.value_or(0) > 0);
    QVERIFY(found.explanation.find("cannot be told without its size") != std::string::npos);
}

/// The room above the peak over the growth of a step; the whole card is more than there is.
void TestRulesGrowth::stepsUntilTheCardIsFull()
{
    const auto peak = static_cast<std::uint64_t>(
        evidenceNumber(leakOf(8, 8, 2, 1ULL << 40).findings.front(), "headroom"));
    const std::uint64_t used = (1ULL << 40) - peak;
    const Finding found = leakOf(8, 8, 2, used + 41 * mib).findings.front();
    QCOMPARE(evidenceNumber(found, "headroom"), 41 * mib);
    QCOMPARE(evidenceNumber(found, "steps_until_full"), 10);
    QVERIFY2(found.explanation.find("is full in at most about 10 more steps") != std::string::npos
            && found.explanation.find("(grade D)") != std::string::npos,
        found.explanation.c_str());
    const Finding full = leakOf(8, 8, 2, used + mib).findings.front();
    QCOMPARE(evidenceNumber(full, "steps_until_full"), -1);
}

void TestRulesGrowth::aCacheThatIsFullIsNone()
{
    for (int keptUntil = 1; keptUntil < 12; ++keptUntil)
        QVERIFY2(leakOf(12, keptUntil).findings.empty(), qPrintable(QString::number(keptUntil)));
}

void TestRulesGrowth::setUpInOneStepIsNone()
{
    QVERIFY(leakOf(8, 1, 20).findings.empty());
}

void TestRulesGrowth::fewStepsAreUndecided()
{
    const RuleOutput output = leakOf(4, 4);
    QVERIFY(output.findings.empty());
    QCOMPARE(output.undecided.size(), 1U);
}

void TestRulesGrowth::aQueueIsNoLeak()
{
    Program p;
    std::deque<Program::Block> held;
    for (int step = 0; step < 6; ++step) {
        p.mark(true, step);
        p.pass();
        held.push_back(p.alloc(2 * mib, p.metric));
        if (held.size() == 5) {
            p.free(held.front());
            held.pop_front();
        }
        p.mark(false, step);
    }
    QVERIFY(RuleCase(p.maker).run("leak").findings.empty());
}

void TestRulesGrowth::gradientsOfSeveralSteps()
{
    const RuleOutput output = gradientsOf(6, 4);
    QCOMPARE(output.findings.size(), 1U);
    QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(4 * 4 * mib));
    QCOMPARE(output.findings.front().count, 4U);
    QCOMPARE(evidenceNumber(output.findings.front(), "steps_held"), 4);
    QCOMPARE(output.findings.front().grade, Grade::A);
    QCOMPARE(output.findings.front().fixes.front().grade, Grade::A);
}

/// Without frames only sizes tell which gradients belong together: an assumption, which is named.
void TestRulesGrowth::gradientsWithoutStacks()
{
    QVERIFY(gradientsOf(6, 2, false).findings.empty());
    const RuleOutput output = gradientsOf(6, 4, false);
    QCOMPARE(output.findings.size(), 1U);
    const Finding& found = output.findings.front();
    QCOMPARE(found.bytes, static_cast<std::uint64_t>(4 * 4 * mib));
    QCOMPARE(found.grade, Grade::B);
    QCOMPARE(found.fixes.front().grade, Grade::B);
    QVERIFY(found.explanation.find("None of them have a call stack") != std::string::npos);
}

void TestRulesGrowth::gradientsFreedInTheNextStepAreFine()
{
    QVERIFY(gradientsOf(6, 1).findings.empty());
}

/// One rank's recording does not show whether its gradients are whole or shards: the rule says what it lacks.
void TestRulesGrowth::unshardedGradientsAreUndecided()
{
    using Settings = std::initializer_list<std::pair<const char*, ConfigValue>>;
    const auto undecided = [](Settings settings) {
        Program p;
        const StackId optimizer
            = p.maker.stack({"step@torch/optim/adamw.py:243", "train_step@app/train.py:52"});
        for (int step = 0; step < 3; ++step) {
            p.mark(true, step);
            std::vector<Program::Block> kept;
            for (int i = 0; i < 3; ++i)
                kept.push_back(p.alloc(8 * mib, p.layer));
            std::vector<Program::Block> gradients;
            for (; !kept.empty(); kept.pop_back()) {
                gradients.push_back(p.alloc(4 * mib, p.backward));
                p.free(p.alloc(mib, p.backward));
                p.free(kept.back());
            }
            p.free(p.alloc(mib, optimizer));
            for (const Program::Block& gradient : gradients)
                p.free(gradient);
            p.mark(false, step);
        }
        RunConfig config;
        for (const auto& [key, value] : settings)
            config.set(key, value);
        const RuleOutput output = RuleCase(p.maker, config).run("gradients-kept");
        return output.findings.empty() && output.undecided.size() == 1 ? output.undecided.front().needs
            : output.findings.empty() && output.undecided.empty()      ? std::string("clear")
                                                                       : std::string("finding");
    };
    QVERIFY(undecided({}).starts_with("the number of data-parallel ranks"));
    constexpr std::int64_t two = 2;
    const auto of = [](std::int64_t ranks) { return std::pair("hardware.world_size", ConfigValue(ranks)); };
    const std::pair tensor("model.tensor_model_parallel_size", ConfigValue(two));
    QVERIFY(undecided({of(8), tensor}).find("4 ranks have the same parameters") != std::string::npos);
    QCOMPARE(undecided({of(2), tensor}), std::string("clear"));
    QCOMPARE(undecided({of(8), {"dist.use_torch_fsdp2", true}}), std::string("clear"));
    QCOMPARE(undecided({of(8), {"ddp.use_megatron_fsdp", true},
                 {"ddp.data_parallel_sharding_strategy", std::string("optim_grads")}}),
        std::string("clear"));
}

void TestRulesGrowth::nodesFreedTogether()
{
    const RuleOutput output = batchOf(12, false, true);
    QCOMPARE(output.findings.size(), 1U);
    QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(12 * 4 * mib));
    QCOMPARE(output.findings.front().count, 12U);
    QCOMPARE(output.findings.front().site, std::string("__init__@node.py:29"));
    // One pass made them: a container that is dropped looks the same, however much it holds.
    QCOMPARE(output.findings.front().severity, Severity::Info);
    QCOMPARE(output.findings.front().grade, Grade::D);
}

void TestRulesGrowth::nodesOfSeveralSteps()
{
    Program p;
    std::vector<Program::Block> nodes;
    for (int step = 0; step < 4; ++step) {
        p.mark(true, step);
        for (int i = 0; i < 3; ++i)
            nodes.push_back(p.alloc(4 * mib, p.node));
        p.pass();
        p.mark(false, step);
    }
    p.alloc(mib, p.layer);
    for (const auto& block : nodes)
        p.free(block);
    const RuleOutput output = RuleCase(p.maker).run("batch-free");
    QCOMPARE(output.findings.size(), 1U);
    QCOMPARE(output.findings.front().bytes, static_cast<std::uint64_t>(12 * 4 * mib));
    QCOMPARE(output.findings.front().severity, Severity::Warning);
    QCOMPARE(output.findings.front().grade, Grade::A);
    QVERIFY(output.findings.front().explanation.find("garbage collector") != std::string::npos);
}

void TestRulesGrowth::whatFunctionsFreeIsNoBatch()
{
    QVERIFY(batchOf(7, false, true).findings.empty());
    QVERIFY(batchOf(12, true, true).findings.empty());
    QVERIFY(batchOf(12, false, false).findings.empty());
}

void TestRulesGrowth::manyGradientsStayFast()
{
    // A gradient of every step lives to the end of the next: a queue of two, over many steps.
    QElapsedTimer timer;
    timer.start();
    const RuleOutput output = gradientsOf(4000, 2);
    QCOMPARE(output.findings.size(), 1U);
    QCOMPARE(evidenceNumber(output.findings.front(), "steps_held"), 2);
    QVERIFY2(timer.elapsed() < 10000, qPrintable(QString::number(timer.elapsed())));
}

void TestRulesGrowth::manyBatchesAreCounted()
{
    Program p;
    for (int batch = 0; batch < 25; ++batch) {
        std::vector<Program::Block> nodes;
        for (int i = 0; i < 9 + batch; ++i) {
            nodes.push_back(p.alloc(4 * mib, p.metric));
            if (i % 3 == 2)
                p.free(p.alloc(mib, p.node));
        }
        for (const auto& block : nodes)
            p.free(block);
    }
    const RuleOutput output = RuleCase(p.maker).run("batch-free");
    QCOMPARE(output.findings.size(), 20U);
    QCOMPARE(output.findings.front().count, 14U); // the five smallest are left out, the order is the trace's
    QCOMPARE(output.findings.back().count, 33U);
    QCOMPARE(output.undecided.size(), 1U);
    QVERIFY(output.undecided.front().needs.find("5 more batches") != std::string::npos);
}

void TestRulesGrowth::emptyTraces()
{
    for (const char* rule : {"leak", "gradients-kept", "batch-free"}) {
        TraceMaker maker;
        maker.segment(0x10000, 2 * mib);
        QVERIFY2(RuleCase(maker).run(rule).findings.empty(), rule);
    }
}

QTEST_GUILESS_MAIN(TestRulesGrowth)
#include "tst_rules_growth.moc"
