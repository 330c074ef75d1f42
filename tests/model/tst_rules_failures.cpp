// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/allocator_run.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

/// Rules about requests that failed, or nearly did.
class TestRulesFailures : public QObject {
    Q_OBJECT
private slots:
    void fragmentation();
    void fragmentationFixes();
    void fragmentationWithoutFailure();
    void capacity();
    void capacityTellsWhatItIsOf();
    void orderOfCapacitysFixes();
    void partsOfTheOptimizerState();
    void wrongPool();
    void outsideAllocator();
    void thinMargin();
    void tight();
};

void TestRulesFailures::fragmentation()
{
    const Finding f = pinnedRun().one("fragmentation");
    QCOMPARE(f.severity, Severity::Critical);
    QCOMPARE(f.bytes, std::uint64_t(225 * mib));
    QCOMPARE(f.count, std::uint64_t(3));
    QCOMPARE(f.allocations.size(), std::size_t(3));
    QCOMPARE(f.segments.size(), std::size_t(3));
    QCOMPARE(f.site, std::string("append@cache.py:57"));
    QCOMPARE(f.playbook, std::string("D1"));
    QCOMPARE(*f.rank, 3);
    QCOMPARE(number(f, "slack"), 145 * mib);
    QCOMPARE(number(f, "pins"), std::int64_t(3));
    QCOMPARE(number(f, "pinning_bytes"), 75 * mib);
    QCOMPARE(index(f.eventRange->first), std::size_t(0));
    QVERIFY(f.title.find("225\u00a0MiB") != std::string::npos);
    QCOMPARE(pinnedRun().count("capacity"), std::size_t(0));
}

void TestRulesFailures::fragmentationFixes()
{
    Run run = pinnedRun();
    QVERIFY(fixOf(run.one("fragmentation"), "expandable-segments")->blockedBy.empty());
    QCOMPARE(run.one("fragmentation").fixes.front().id, std::string("expandable-segments"));
    QVERIFY(fixOf(run.one("fragmentation"), "empty-cache-before-optimizer")->blockedBy.empty());
    run.config.set("train.empty_unused_memory_level", std::int64_t(1));
    QCOMPARE(fixOf(run.one("fragmentation"), "empty-cache-before-optimizer")->blockedBy,
        std::string("it is on already"));
    run.config.set("ddp.nccl_ub", true);
    run.config.set("versions.torch", std::string("2.10.1"));
    QVERIFY(!fixOf(run.one("fragmentation"), "expandable-segments")->blockedBy.empty());
    run.config.set("versions.torch", std::string("2.11.0a0"));
    QVERIFY(fixOf(run.one("fragmentation"), "expandable-segments")->blockedBy.empty());
    QVERIFY(!fixOf(pinnedRun(true).one("fragmentation"), "expandable-segments"));
}

void TestRulesFailures::fragmentationWithoutFailure()
{
    for (const bool fits : {false, true}) {
        TraceMaker maker;
        for (int i = 0; i < 3; ++i) {
            maker.event(Action::SegmentAlloc, at(2000 * i), gib);
            maker.alloc(at(2000 * i), 24 * mib);
        }
        maker.event(Action::SegmentAlloc, at(9000), (fits ? 900 : 1100) * mib);
        maker.alloc(at(9000), (fits ? 900 : 1100) * mib);
        maker.free(at(9000), (fits ? 900 : 1100) * mib);
        for (int i = 0; i < 3; ++i)
            segment(maker, 2000 * i, 1024, 24);
        segment(maker, 9000, fits ? 900 : 1100, 0);
        Run run(maker);
        QCOMPARE(run.count("fragmentation"), std::size_t(0)); // no steps are known
        run.step(1, 6);
        run.step(7, 10);
        QCOMPARE(run.count("fragmentation"), std::size_t(fits ? 0 : 1));
        if (fits)
            continue;
        const Finding f = run.one("fragmentation");
        QCOMPARE(f.severity, Severity::Warning);
        QCOMPARE(f.bytes, std::uint64_t(3000 * mib));
        QCOMPARE(number(f, "request"), 1100 * mib);
    }
}

void TestRulesFailures::capacity()
{
    for (const bool expandable : {false, true}) {
        TraceMaker maker;
        const StackId stack = maker.stack({"forward@/app/logits.py:23"});
        segment(maker, 0, 100, 80, PoolId{0}, 0, stack);
        maker.builder().addSetting("expandable_segments", expandable);
        outOfMemory(maker, 100, 30);
        Run run(maker);
        const Finding f = run.one("capacity");
        QCOMPARE(f.bytes, std::uint64_t(50 * mib));
        QCOMPARE(f.playbook, std::string("D2"));
        QCOMPARE(f.site, std::string("forward@logits.py:23"));
        QCOMPARE(number(f, "largest_site_bytes"), 80 * mib);
        QVERIFY(!fixOf(f, "expandable-segments"));
        QCOMPARE(f.explanation.find("moot") != std::string::npos, expandable);
        QVERIFY(fixOf(f, "distributed-optimizer")->blockedBy.empty());
        run.config.set("optimizer.use_distributed_optimizer", true);
        QVERIFY(!fixOf(run.one("capacity"), "distributed-optimizer")->blockedBy.empty());
        QCOMPARE(run.count("fragmentation"), std::size_t(0));
        // What the memory is for is told where it is known.
        QVERIFY(f.explanation.find("Of what lives then") == std::string::npos);
        run.roles.front() = Role::SavedActivation;
        const Finding known = run.one("capacity");
        QVERIFY(known.explanation.find("MiB are saved activations.") != std::string::npos);
        QVERIFY(fixOf(known, "recompute")->text.find("Saved activations hold 80.0") != std::string::npos);
    }
}

/// The deficit is the failed request's alone, the largest site has its role, and peers are named where there
/// are any.
void TestRulesFailures::capacityTellsWhatItIsOf()
{
    TraceMaker maker;
    const StackId stack = maker.stack({"init@/app/optimizer.py:9"});
    maker.alloc(at(0), 90 * mib, stack);
    segment(maker, 0, 90, 90);
    outOfMemory(maker, 32, 10);
    Run run(maker);
    const auto says = [&run](const char* words) {
        return run.one("capacity").explanation.find(words) != std::string::npos;
    };
    QVERIFY(
        says("What this one request lacked is 22.0\u00a0MiB; what the run would have asked for after it"));
    QVERIFY(says("files of the other ranks"));
    run.config.set("hardware.world_size", std::int64_t(1));
    QVERIFY(!says("other ranks"));
    QVERIFY(fixOf(run.one("capacity"), "shrink-largest-site")->text.find("90.0\u00a0MiB when")
        != std::string::npos);
    run.roles.front() = Role::SavedActivation;
    QVERIFY(run.one("capacity").explanation.find("90.0\u00a0MiB of saved activations in 1 allocation,")
        != std::string::npos);
    run.roles.front() = Role::OptimizerState;
    QVERIFY(
        fixOf(run.one("capacity"), "shrink-largest-site")->text.find("90.0\u00a0MiB of optimizer state when")
        != std::string::npos);
}

/// The playbook's decision steps: S3 and S6, the distributed optimizer of row D2, S7, then what S5 and S4
/// warn of.
void TestRulesFailures::orderOfCapacitysFixes()
{
    TraceMaker maker;
    const StackId stack = maker.stack({"forward@megatron/core/transformer/mlp.py:118"});
    maker.alloc(at(0), 90 * mib, stack);
    segment(maker, 0, 90, 90);
    outOfMemory(maker, 32, 10);
    QCOMPARE(idsOf(Run(maker).one("capacity")),
        (std::vector<std::string>{"shrink-largest-site", "recompute", "distributed-optimizer",
            "optimizer-offload", "raise-pipeline-parallel", "raise-tensor-parallel"}));
}

/// Shards and offloading act on the allocations that labels call optimizer state.
void TestRulesFailures::partsOfTheOptimizerState()
{
    TraceMaker maker;
    maker.alloc(at(0), 90 * mib);
    maker.alloc(at(100), 30 * mib);
    segment(maker, 0, 90, 90);
    segment(maker, 100, 30, 30);
    outOfMemory(maker, 100, 30);
    Run run(maker);
    run.roles.front() = Role::OptimizerState;
    run.config.set("model.num_layers", std::int64_t(4));
    const auto fix = [&](const char* id) { return *fixOf(run.one("capacity"), id); };
    QVERIFY(!fix("distributed-optimizer").edits); // over how many ranks?
    run.config.set("hardware.world_size", std::int64_t(6));
    run.config.set("model.tensor_model_parallel_size", std::int64_t(2));
    const Fix shards = fix("distributed-optimizer");
    QVERIFY(shards.edits && shards.predictable());
    QCOMPARE(shards.grade, Grade::C);
    QCOMPARE(shards.removedAtPeak, std::optional(60 * mib));
    QCOMPARE(shards.newPeak, std::optional(60 * mib));
    const Fix offload = fix("optimizer-offload");
    QCOMPARE(offload.grade, Grade::B);
    QCOMPARE(offload.removedAtPeak, std::optional(45 * mib));
    QCOMPARE(offload.newPeak, std::optional(75 * mib));
    run.config.set("optimizer.use_distributed_optimizer", false);
    QVERIFY(!fix("optimizer-offload").predictable());
    run.config.set("optimizer.use_distributed_optimizer", true);
    QVERIFY(fix("optimizer-offload").predictable());
    QVERIFY(!fix("distributed-optimizer").edits);
    run.roles.front() = Role::Unknown;
    QVERIFY(!fix("optimizer-offload").edits);
    QCOMPARE(fix("recompute").grade, Grade::C);
    QCOMPARE(fix("recompute").costGrade, std::optional(Grade::C));
}

void TestRulesFailures::wrongPool()
{
    for (const bool isPrivate : {false, true}) {
        TraceMaker maker;
        segment(maker, 0, 100, 4, isPrivate ? maker.builder().pool(0, 1) : PoolId{0}, isPrivate ? 0 : 7);
        outOfMemory(maker, 60, 10);
        const Run run(maker);
        const Finding f = run.one("wrong-pool");
        QCOMPARE(f.bytes, std::uint64_t(96 * mib));
        QCOMPARE(f.count, std::uint64_t(1));
        QCOMPARE(f.severity, Severity::Critical);
        QCOMPARE(fixOf(f, "expandable-segments") != nullptr, !isPrivate);
        QCOMPARE(fixOf(f, "release-private-pool") != nullptr, isPrivate);
        QCOMPARE(run.count("fragmentation"), std::size_t(0));
    }
    QCOMPARE(pinnedRun().count("wrong-pool"), std::size_t(0));
}

void TestRulesFailures::outsideAllocator()
{
    TraceMaker maker;
    segment(maker, 0, 1000, 1000);
    outOfMemory(maker, 60, 10);
    Run run(maker);
    QCOMPARE(run.count("outside-allocator"), std::size_t(0));
    QCOMPARE(run.of("outside-allocator").undecided.size(), std::size_t(1));
    run.deviceTotal = static_cast<std::uint64_t>(1010 * mib + 4 * gib);
    const Finding f = run.one("outside-allocator");
    QCOMPARE(f.bytes, std::uint64_t(4 * gib));
    QCOMPARE(number(f, "reserved"), 1000 * mib);
    run.deviceTotal = static_cast<std::uint64_t>(1010 * mib + 2 * gib);
    QCOMPARE(run.count("outside-allocator"), std::size_t(0));
    QVERIFY(run.of("outside-allocator").undecided.empty());
}

void TestRulesFailures::thinMargin()
{
    TraceMaker maker;
    segment(maker, 0, 1000, 1000);
    outOfMemory(maker, 25, 20);
    const Finding f = Run(maker).one("thin-margin");
    QCOMPARE(f.bytes, std::uint64_t(5 * mib));
    QCOMPARE(f.grade, Grade::D);
    QCOMPARE(number(f, "slack"), -5 * mib);
    QCOMPARE(number(f, "one_percent_of_usable"), 1020 * mib / 100);
    QCOMPARE(
        idsOf(f), (std::vector<std::string>{"expandable-segments", "recompute", "distributed-optimizer"}));
    QCOMPARE(pinnedRun().count("thin-margin"), std::size_t(0));
}

void TestRulesFailures::tight()
{
    TraceMaker maker;
    maker.event(Action::SegmentAlloc, at(0), 950 * mib);
    maker.alloc(at(0), 950 * mib);
    segment(maker, 0, 950, 950);
    Run run(maker);
    QCOMPARE(run.of("tight").undecided.size(), std::size_t(1));
    run.deviceTotal = static_cast<std::uint64_t>(1000 * mib);
    const Finding f = run.one("tight");
    QCOMPARE(f.bytes, std::uint64_t(50 * mib));
    QCOMPARE(f.lookAt, StateIndex(2));
    // The whole card is not what PyTorch may reserve.
    QVERIFY2(f.title.find("of the whole card (1,000\u00a0MiB): at most 50.0") != std::string::npos,
        f.title.c_str());
    QCOMPARE(
        idsOf(f), (std::vector<std::string>{"expandable-segments", "recompute", "distributed-optimizer"}));
    run.config.set("model.num_layers", std::int64_t(4));
    run.config.set("optimizer.use_distributed_optimizer", true);
    QCOMPARE(idsOf(run.one("tight")).back(), std::string("optimizer-offload"));
    QCOMPARE(fixOf(run.one("tight"), "distributed-optimizer")->blockedBy, std::string("it is on already"));
    run.deviceTotal = static_cast<std::uint64_t>(1040 * mib);
    QCOMPARE(run.count("tight"), std::size_t(0));
    QVERIFY(run.of("tight").undecided.empty());
}

QTEST_GUILESS_MAIN(TestRulesFailures)
#include "tst_rules_failures.moc"
