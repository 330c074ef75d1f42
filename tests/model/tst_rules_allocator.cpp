// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/allocator_run.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

/// Rules about what the allocator holds while nothing fails.
class TestRulesAllocator : public QObject {
    Q_OBJECT
private slots:
    void nothingInNothing();
    void ringsOfOneEvent();
    void poolHeld();
    void unsharedPools();
    void pendingFrees();
    void allocatorRetries();
    void roundingWaste();
    void reservedCreep();
    void phaseReserved();
    void manySidePhases();
    void unreachableLargeBlocks();
    void allIdle();
    void setupPeak();
    void ranks();
};

void TestRulesAllocator::nothingInNothing()
{
    TraceMaker empty;
    empty.builder().device(0);
    const Run run(empty);
    TraceMaker plain;
    segment(plain, 0, 100, 100);
    const Run full(plain);
    for (const Rule& rule : rules()) {
        QVERIFY2(run.count(rule.id) == 0, rule.id);
        QVERIFY2(full.count(rule.id) == 0, rule.id);
    }
}

/// What a file without a history lacks is one.
void TestRulesAllocator::ringsOfOneEvent()
{
    TraceMaker maker;
    maker.alloc(at(0), 100 * mib);
    segment(maker, 0, 100, 100);
    const Run run(maker);
    for (const char* rule : {"tight", "allocator-retries"})
        QVERIFY2(run.of(rule).undecided.empty(), rule); // the run of the rules says what they lack
}

void TestRulesAllocator::poolHeld()
{
    TraceMaker maker;
    const PoolId user = maker.builder().pool(0, 1);
    segment(maker, 0, 100, 30, user);
    segment(maker, 200, 50, 0, user, 7);
    segment(maker, 400, 40, 0, maker.builder().pool(4, 0));
    segment(maker, 600, 40, 0, maker.builder().pool(5, 0));
    segment(maker, 800, 40, 1);
    const RuleOutput output = Run(maker).of("pool-held");
    QCOMPARE(output.findings.size(), std::size_t(2));
    QCOMPARE(output.findings[0].bytes, std::uint64_t(120 * mib)); // user pools come first
    QCOMPARE(output.findings[0].count, std::uint64_t(2));
    QCOMPARE(number(output.findings[0], "live"), 30 * mib);
    QCOMPARE(number(output.findings[0], "streams"), std::int64_t(2));
    QCOMPARE(output.findings[1].bytes, std::uint64_t(80 * mib));
    QCOMPARE(number(output.findings[1], "pools"), std::int64_t(2));

    TraceMaker used;
    segment(used, 0, 100, 100, used.builder().pool(0, 1));
    QCOMPARE(Run(used).count("pool-held"), std::size_t(0));

    // A hundredth of all user pools, but much of its own.
    TraceMaker beside;
    segment(beside, 0, 20000, 20000, beside.builder().pool(0, 1));
    segment(beside, 30000, 500, 420, beside.builder().pool(0, 2));
    QCOMPARE(Run(beside).one("pool-held").bytes, std::uint64_t(80 * mib));
}

void TestRulesAllocator::unsharedPools()
{
    const auto bytes = [](std::initializer_list<std::int64_t> sizes, std::int64_t live = 0) {
        TraceMaker maker;
        std::int64_t id = 0;
        for (const std::int64_t size : sizes) {
            ++id;
            maker.event(Action::SegmentAlloc, at(10000 * id), size * mib);
        }
        id = 0;
        for (const std::int64_t size : sizes) {
            ++id;
            segment(maker, 10000 * id, size, live, maker.builder().pool(id, 0));
        }
        const RuleOutput output = Run(maker).of("unshared-pools");
        return output.findings.empty() ? std::int64_t(0)
                                       : static_cast<std::int64_t>(output.findings.front().bytes) / mib;
    };
    QCOMPARE(bytes({500, 400, 100}), std::int64_t(500)); // the first one serves all
    QCOMPARE(bytes({100, 400, 500}), std::int64_t(0)); // each is too small for the next
    QCOMPARE(bytes({400, 500, 300}), std::int64_t(300));
    QCOMPARE(bytes({500, 400}, 100), std::int64_t(300)); // what lives cannot be shared
    QCOMPARE(bytes({500}), std::int64_t(0));
}

void TestRulesAllocator::pendingFrees()
{
    for (const bool delayed : {true, false}) {
        TraceMaker maker;
        const StackId stack = maker.stack({"reduce@/app/comm.py:5"});
        maker.alloc(at(0), 100 * mib, stack);
        maker.alloc(at(200), 60 * mib, stack);
        maker.request(at(0), 100 * mib);
        if (delayed) {
            maker.request(at(200), 60 * mib);
            maker.complete(at(0), 100 * mib);
            maker.complete(at(200), 60 * mib);
        } else {
            maker.complete(at(0), 100 * mib);
            maker.free(at(200), 60 * mib);
        }
        const Run run(maker);
        QCOMPARE(run.count("pending-frees"), std::size_t(delayed ? 1 : 0));
        if (!delayed)
            continue;
        const Finding f = run.one("pending-frees");
        QCOMPARE(f.bytes, std::uint64_t(160 * mib));
        QCOMPARE(f.count, std::uint64_t(2));
        QCOMPARE(f.site, std::string("reduce@comm.py:5"));
        QCOMPARE(number(f, "pending_at_end"), std::int64_t(0));
    }
}

void TestRulesAllocator::allocatorRetries()
{
    TraceMaker maker;
    StateIndex state = 0;
    std::vector<std::pair<StateIndex, StateIndex>> steps;
    for (int i = 0; i < 4; ++i) {
        const StateIndex first = state + 1;
        if (i > 0) {
            maker.event(Action::SegmentFree, at(1000 * i), 100 * mib);
            ++state;
        }
        maker.event(Action::SegmentAlloc, at(1000 * (i + 1)), 100 * mib);
        maker.alloc(at(1000 * (i + 1)), 100 * mib);
        maker.free(at(1000 * (i + 1)), 100 * mib);
        state += 4;
        steps.emplace_back(first, state);
    }
    segment(maker, 4000, 100, 0);
    Run run(maker);
    QCOMPARE(run.count("allocator-retries"), std::size_t(0)); // no steps are known
    for (const auto& [first, last] : steps)
        run.step(first, last);
    const Finding f = run.one("allocator-retries");
    QCOMPARE(f.bytes, std::uint64_t(300 * mib));
    QCOMPARE(f.count, std::uint64_t(3));
    QCOMPARE(number(f, "steps_with_flush"), std::int64_t(3));
    QVERIFY(f.explanation.find("garbage_collection_threshold") == std::string::npos);
}

void TestRulesAllocator::roundingWaste()
{
    for (const bool waste : {true, false}) {
        TraceMaker maker;
        maker.segment(at(0), 512 * mib);
        maker.block(BlockState::Allocated, 512 * mib, (waste ? 300 : 505) * mib);
        const Run run(maker);
        QCOMPARE(run.count("rounding-waste"), std::size_t(waste ? 1 : 0));
        if (waste) {
            QCOMPARE(run.one("rounding-waste").bytes, std::uint64_t(212 * mib));
            QCOMPARE(run.one("rounding-waste").count, std::uint64_t(1));
            QCOMPARE(number(run.one("rounding-waste"), "block_bytes"), 512 * mib);
        }
    }
}

void TestRulesAllocator::reservedCreep()
{
    for (const bool live : {false, true}) {
        TraceMaker maker;
        for (int i = 0; i < 6; ++i) {
            maker.event(Action::SegmentAlloc, at(1000 * i), 100 * mib);
            maker.alloc(at(1000 * i), 100 * mib);
            if (!live)
                maker.free(at(1000 * i), 100 * mib);
        }
        for (int i = 0; i < 6; ++i)
            segment(maker, 1000 * i, 100, live ? 100 : 0);
        Run run(maker);
        const StateIndex each = live ? 2 : 4;
        for (StateIndex i = 0; i < 6; ++i)
            run.step(i * each + 1, (i + 1) * each);
        QCOMPARE(run.count("reserved-creep"), std::size_t(live ? 0 : 1));
        if (live)
            continue;
        const Finding f = run.one("reserved-creep");
        QCOMPARE(f.bytes, std::uint64_t(400 * mib));
        QCOMPARE(f.count, std::uint64_t(4));
        run.phases.steps.resize(3);
        QCOMPARE(run.count("reserved-creep"), std::size_t(0));
        QCOMPARE(run.of("reserved-creep").undecided.size(), std::size_t(1));
    }
}

void TestRulesAllocator::phaseReserved()
{
    for (const bool usedLater : {false, true}) {
        TraceMaker maker;
        maker.event(Action::SegmentAlloc, at(0), 100 * mib); // state 1
        maker.alloc(at(0), 100 * mib); // 2
        maker.event(Action::SegmentAlloc, at(1000), 94 * mib); // 3: side phase
        maker.alloc(at(1000), 94 * mib); // 4
        maker.free(at(1000), 94 * mib); // 5, 6
        maker.free(at(0), 100 * mib); // 7, 8: the program goes on
        maker.alloc(at(usedLater ? 1000 : 0), 90 * mib); // 9
        maker.free(at(usedLater ? 1000 : 0), 90 * mib); // 10, 11
        segment(maker, 0, 100, 0);
        segment(maker, 1000, 94, 0);
        Run run(maker);
        QCOMPARE(run.count("phase-reserved"), std::size_t(0));
        run.phases.spans.push_back({Phase::Side, 3, 6, true});
        QCOMPARE(run.count("phase-reserved"), std::size_t(usedLater ? 0 : 1));
        if (usedLater)
            continue;
        const Finding f = run.one("phase-reserved");
        QCOMPARE(f.bytes, std::uint64_t(94 * mib));
        QCOMPARE(f.count, std::uint64_t(1));
    }
}

/// Each side phase leaves a segment behind: the largest are told, in order, the others counted.
void TestRulesAllocator::manySidePhases()
{
    TraceMaker maker;
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < 23; ++i) {
        sizes.push_back(i % 2 == 0 ? 40 + i : 80 + i);
        maker.event(Action::SegmentAlloc, at(1000 * i), sizes.back() * mib);
        maker.alloc(at(1000 * i), sizes.back() * mib);
        maker.free(at(1000 * i), sizes.back() * mib);
        maker.event(Action::SegmentAlloc, at(500000 + 100 * i), 2 * mib);
    }
    for (int i = 0; i < 23; ++i)
        segment(maker, 1000 * i, sizes[static_cast<std::size_t>(i)], 0);
    for (int i = 0; i < 23; ++i)
        segment(maker, 500000 + 100 * i, 2, 0);
    Run run(maker);
    for (StateIndex i = 0; i < 23; ++i) {
        run.phases.spans.push_back({Phase::Side, i * 5 + 1, i * 5 + 4, true});
        run.phases.spans.push_back({Phase::Forward, i * 5 + 5, i * 5 + 5, true});
    }
    const RuleOutput output = run.of("phase-reserved");
    QCOMPARE(output.findings.size(), std::size_t(20));
    QCOMPARE(output.findings.front().bytes, std::uint64_t(81 * mib)); // 40, 42 and 44 MiB are the least
    QCOMPARE(output.findings.back().bytes, std::uint64_t(62 * mib));
    QCOMPARE(output.undecided.size(), std::size_t(1));
    QVERIFY(output.undecided.front().needs.find("3 more side phases") != std::string::npos);
}

void TestRulesAllocator::unreachableLargeBlocks()
{
    for (const std::int64_t limit : {std::int64_t(128) * mib, std::int64_t(-1)}) {
        TraceMaker maker;
        segment(maker, 0, 254, 0);
        segment(maker, 1000, 200, 72);
        segment(maker, 2000, 200, 100);
        maker.builder().addSetting("max_split_size", limit);
        const Run run(maker);
        QCOMPARE(run.count("unreachable-large-blocks"), std::size_t(limit > 0 ? 1 : 0));
        if (limit < 0)
            continue;
        const Finding f = run.one("unreachable-large-blocks");
        QCOMPARE(f.bytes, std::uint64_t((254 + 128) * mib));
        QCOMPARE(f.count, std::uint64_t(2));
        QCOMPARE(f.severity, Severity::Info);
    }
}

void TestRulesAllocator::allIdle()
{
    for (const bool live : {false, true}) {
        TraceMaker maker;
        segment(maker, 0, 100, 0);
        segment(maker, 1000, 60, live ? 1 : 0);
        segment(maker, 2000, 30, 0, maker.builder().pool(1, 0));
        const Run run(maker);
        QCOMPARE(run.count("all-idle"), std::size_t(live ? 0 : 1));
        if (!live)
            QCOMPARE(run.one("all-idle").bytes, std::uint64_t(160 * mib));
    }
}

void TestRulesAllocator::setupPeak()
{
    TraceMaker maker;
    const StackId stack = maker.stack({"load@/app/model.py:5"});
    maker.event(Action::SegmentAlloc, at(0), 100 * mib); // state 1
    maker.alloc(at(0), 100 * mib, stack); // 2: the peak
    maker.free(at(0), 100 * mib); // 3, 4
    maker.alloc(at(0), 60 * mib); // 5
    segment(maker, 0, 100, 60);
    Run run(maker);
    QCOMPARE(run.count("setup-peak"), std::size_t(0)); // no forward is known
    run.phases.firstForward = 5;
    const Finding f = run.one("setup-peak");
    QCOMPARE(f.bytes, std::uint64_t(100 * mib));
    QCOMPARE(f.site, std::string("load@model.py:5"));
    QCOMPARE(number(f, "above_steps"), 40 * mib);
    run.phases.firstForward = 2;
    QCOMPARE(run.count("setup-peak"), std::size_t(0));
}

void TestRulesAllocator::ranks()
{
    QCOMPARE(rankFromName("snapshot_oom_rank-3.pickle"), std::optional<int>(3));
    QCOMPARE(rankFromName("rank0_memory_snapshot.pickle"), std::optional<int>(0));
    QCOMPARE(rankFromName("/runs/rank7/snapshot_12.pickle.gz"), std::optional<int>(12));
    QCOMPARE(rankFromName("step_12_rank_7.pickle"), std::optional<int>(7));
    QCOMPARE(rankFromName("oom_Rank5.pickle"), std::optional<int>(5));
    QCOMPARE(rankFromName("snapshot_20260714.pickle"), std::nullopt);
    QCOMPARE(rankFromName("snapshot.pickle"), std::nullopt);
    QCOMPARE(rankFromName("frank.pickle"), std::nullopt);
    QCOMPARE(rankFromName("12.pickle"), std::nullopt);
    QCOMPARE(rankFromName(""), std::nullopt);
}

QTEST_GUILESS_MAIN(TestRulesAllocator)
#include "tst_rules_allocator.moc"
