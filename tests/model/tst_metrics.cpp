// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/metrics.hpp"
#include "model/findings/metrics_text.hpp"

#include "model/lens/facts.hpp"

#include "tests/support/trace_maker.hpp"

#include <QTest>
#include <nlohmann/json.hpp>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t mib = 1LL << 20;
constexpr std::uint64_t base = 0x7f0000000000;

std::shared_ptr<const Replay> replayOf(TraceMaker& maker)
{
    return Replay::build(maker.finish(), 0, {}).value();
}

SegmentState endOf(const Replay& replay)
{
    return replay.segments.stateAt(replay.states() - 1, replay.timeline);
}

std::uint64_t at(std::int64_t mebibytes)
{
    return base + static_cast<std::uint64_t>(mebibytes * mib);
}

/// A pinned segment, a wholly free one, a small one on stream 7, and a private pool.
std::shared_ptr<const Replay> mixed()
{
    TraceMaker maker;
    maker.segment(at(0), 100 * mib);
    maker.block(BlockState::Allocated, 10 * mib, 10 * mib - 512);
    maker.block(BlockState::Inactive, 30 * mib, 0);
    maker.block(BlockState::Pending, 20 * mib, 20 * mib);
    maker.block(BlockState::Inactive, 40 * mib, 0);
    maker.segment(at(200), 60 * mib);
    maker.block(BlockState::Inactive, 60 * mib, 0);
    maker.segment(at(400), 2 * mib, PoolId{0}, 7);
    maker.block(BlockState::Allocated, mib / 2, 1000);
    maker.block(BlockState::Inactive, 3 * mib / 2, 0);
    maker.builder().device(0).segments.back().kind = SegmentKind::Small;
    maker.segment(at(600), 50 * mib, maker.builder().pool(3, 0));
    maker.block(BlockState::Allocated, 5 * mib, 5 * mib);
    maker.block(BlockState::Inactive, 45 * mib, 0);
    return replayOf(maker);
}

} // namespace

class TestMetrics : public QObject {
    Q_OBJECT
private slots:
    void state();
    void classes();
    void unusable();
    void pins();
    void sizes();
    void nothing();
    void trace();
    void flushBursts();
    void growth();
    void captureFrames();
    void largest();
    void pages();
    void everythingAtAnyState();
};

void TestMetrics::state()
{
    const auto replay = mixed();
    const StateMetrics m = metricsOf(endOf(*replay));
    QCOMPARE(m.reserved, std::uint64_t(212 * mib));
    QCOMPARE(m.allocated, std::uint64_t(15 * mib + mib / 2));
    QCOMPARE(m.waiting, std::uint64_t(20 * mib));
    QCOMPARE(m.inactive, std::uint64_t(176 * mib + mib / 2));
    QCOMPARE(m.holes, std::uint64_t(5));
    QCOMPARE(m.largestHole, std::uint64_t(60 * mib));
    QCOMPARE(m.pinned, std::uint64_t(71 * mib + mib / 2));
    QCOMPARE(m.stuckHoles, std::uint64_t(3));
    QCOMPARE(m.releasable, std::uint64_t(60 * mib));
    QCOMPARE(m.releasableSegments, std::uint64_t(1));
    QCOMPARE(m.privateReserved, std::uint64_t(50 * mib));
    QCOMPARE(m.privateInactive, std::uint64_t(45 * mib));
    QCOMPARE(m.rounding(), std::uint64_t(512 + mib / 2 - 1000));
    QCOMPARE(m.inactiveRatio(), 176.5 / 212);
    QCOMPARE(m.externalFragmentation(), 1 - 60 / 176.5);
    QCOMPARE(m.stuck(), m.pinned);
}

void TestMetrics::classes()
{
    const auto table = classTable(endOf(*mixed()));
    QCOMPARE(table.size(), std::size_t(3));
    std::uint64_t reserved = 0;
    for (const ClassMetrics& row : table)
        reserved += row.metrics.reserved;
    QCOMPARE(reserved, std::uint64_t(212 * mib));
    QCOMPARE(table[0].segments, std::uint64_t(2));
    QVERIFY(!table[0].of.small);
    QCOMPARE(table[0].metrics.largestHole, std::uint64_t(60 * mib));
    QVERIFY(table[1].of.small);
    QVERIFY(index(table[2].of.pool) != 0);
}

void TestMetrics::unusable()
{
    const SegmentState state = endOf(*mixed());
    QCOMPARE(unusableIndex(state, std::uint64_t(61 * mib)), 1.0);
    QCOMPARE(unusableIndex(state, 512), 0.0);
    QCOMPARE(unusableIndex(state, std::uint64_t(42 * mib)), (176.5 - 60 - 45) / 176.5);
    const auto large = [](const SegmentView& s) { return index(s.pool) == 0 && !isSmallPool(s); };
    QCOMPARE(unusableIndex(state, std::uint64_t(42 * mib), large), 70.0 / 130);
}

void TestMetrics::pins()
{
    const auto pins = pinningBlocks(endOf(*mixed()));
    QCOMPARE(pins.size(), std::size_t(3));
    // 70 MiB shared by a block of 10 and one of 20 MiB; 1.5 MiB by one of half a MiB.
    QCOMPARE(pins[0].leverage, 3.5);
    QCOMPARE(pins[0].releases, std::uint64_t(35 * mib));
    QCOMPARE(pins[1].leverage, 3.0);
    QCOMPARE(pins[2].leverage, 1.75);
    QVERIFY(valid(pins[0].allocation));
}

void TestMetrics::sizes()
{
    QCOMPARE(growthUnit(512, false), std::uint64_t(2 * mib));
    QCOMPARE(growthUnit(mib, true), std::uint64_t(2 * mib));
    QCOMPARE(growthUnit(mib + 512, false), std::uint64_t(20 * mib));
    QCOMPARE(growthUnit(10 * mib - 512, false), std::uint64_t(20 * mib));
    QCOMPARE(growthUnit(10 * mib, false), std::uint64_t(10 * mib));
    QCOMPARE(growthUnit(11 * mib, false), std::uint64_t(12 * mib));
    QCOMPARE(growthUnit(21 * mib, true), std::uint64_t(40 * mib));
    QCOMPARE(growthUnit(21 * mib, true, 32 * mib), std::uint64_t(32 * mib)); // large_segment_size_mb
    QCOMPARE(growthUnit(2 * mib, false, 32 * mib), std::uint64_t(32 * mib));
    QCOMPARE(roundedRequest(1), std::uint64_t(512));
    QCOMPARE(roundedRequest(513), std::uint64_t(1024));
    QCOMPARE(roundedRequest(~std::uint64_t{0}), ~std::uint64_t{0});
}

void TestMetrics::nothing()
{
    TraceMaker maker;
    maker.alloc(base, 512);
    const auto replay = replayOf(maker);
    const StateMetrics m = metricsOf(endOf(*replay));
    QCOMPARE(m.reserved, std::uint64_t(0));
    QCOMPARE(m.inactiveRatio(), 0.0);
    QCOMPARE(m.externalFragmentation(), 0.0);
    QVERIFY(classTable(endOf(*replay)).empty());
    QVERIFY(pinningBlocks(endOf(*replay)).empty());
    QCOMPARE(unusableIndex(endOf(*replay), 512), 0.0);
    QVERIFY(flushes(*replay, {}).empty());
    QVERIFY(reservedGrowth(*replay, {}).ends.empty());
    QCOMPARE(traceMetrics(*replay).reservedPeak, std::int64_t(0));
    QCOMPARE(traceMetrics(*replay).allocatedPeak, std::int64_t(512));
}

void TestMetrics::trace()
{
    TraceMaker maker;
    maker.event(Action::SegmentAlloc, at(0), 40 * mib); // 1
    maker.alloc(at(0), 40 * mib); // 2
    maker.request(at(0), 40 * mib); // 3: waits
    maker.event(Action::SegmentAlloc, at(100), 20 * mib); // 4
    maker.alloc(at(100), 20 * mib); // 5: the peak, 60 MiB with the waiting block
    maker.complete(at(0), 40 * mib); // 6
    maker.event(Action::SegmentAlloc, at(200), 30 * mib); // 7
    for (const auto& [address, size, live] :
        {std::tuple(0, 40, false), std::tuple(100, 20, true), std::tuple(200, 30, false)}) {
        maker.segment(at(address), size * mib);
        maker.block(live ? BlockState::Allocated : BlockState::Inactive, size * mib, live ? size * mib : 0);
    }
    const TraceMetrics m = traceMetrics(*replayOf(maker));
    QCOMPARE(m.allocatedPeak, 60 * mib);
    QCOMPARE(m.allocatedPeakState, StateIndex(5));
    QCOMPARE(m.reservedPeak, 90 * mib);
    QCOMPARE(m.reservedPeakState, StateIndex(7));
    QCOMPARE(m.gapAtAllocatedPeak, std::int64_t(0));
    QCOMPARE(m.utilization, 60.0 / 90);
    QCOMPARE(m.pendingPeak, 40 * mib);
    QCOMPARE(m.pendingPeakState, StateIndex(3));
}

void TestMetrics::flushBursts()
{
    // 100 MiB are all there is. A request of 60 MiB forces 80 MiB out; later a call of empty_cache at a low
    // level is none, and neither is one that its frame names.
    for (const bool named : {false, true}) {
        TraceMaker maker;
        const StackId stack
            = named ? maker.stack({"empty_cache@/usr/lib/torch/cuda/memory.py:170"}) : StackId::none;
        maker.event(Action::SegmentAlloc, at(0), 40 * mib); // event 0
        maker.event(Action::SegmentAlloc, at(100), 40 * mib); // 1
        maker.event(Action::SegmentAlloc, at(200), 20 * mib); // 2
        maker.event(Action::SegmentFree, at(0), 40 * mib, stack); // 3
        maker.event(Action::SegmentFree, at(100), 40 * mib, stack); // 4
        maker.event(Action::SegmentAlloc, at(300), 60 * mib); // 5
        maker.alloc(at(300), 60 * mib); // 6
        maker.event(Action::SegmentFree, at(200), 20 * mib); // 7
        maker.alloc(at(320), 512); // 8: the program went on, no request forced it
        maker.event(Action::SegmentAlloc, at(400), 20 * mib); // 9
        maker.event(Action::SegmentFree, at(400), 20 * mib); // 10
        maker.event(Action::SegmentAlloc, at(500), 10 * mib); // 11: fits beside the rest
        maker.segment(at(300), 60 * mib);
        maker.block(BlockState::Allocated, 60 * mib, 60 * mib);
        maker.segment(at(500), 10 * mib);
        maker.block(BlockState::Inactive, 10 * mib, 0);
        const std::vector<Flush> found = flushes(*replayOf(maker), {});
        QCOMPARE(found.size(), std::size_t(named ? 0 : 1));
        if (named)
            continue;
        QCOMPARE(index(found[0].first), std::size_t(3));
        QCOMPARE(index(found[0].last), std::size_t(4));
        QCOMPARE(found[0].bytes, std::uint64_t(80 * mib));
        QCOMPARE(found[0].events, std::uint64_t(2));
        QCOMPARE(found[0].reservedBefore, 100 * mib);
        QCOMPARE(found[0].grownBy, std::uint64_t(60 * mib));
    }
}

void TestMetrics::growth()
{
    TraceMaker maker;
    for (int i = 0; i < 5; ++i)
        maker.event(Action::SegmentAlloc, at(100 * i), 20 * mib);
    for (int i = 0; i < 5; ++i) {
        maker.segment(at(100 * i), 20 * mib);
        maker.block(BlockState::Inactive, 20 * mib, 0);
    }
    const auto replay = replayOf(maker);
    std::vector<Step> steps;
    for (StateIndex s = 1; s <= 5; ++s)
        steps.push_back({"step", s, s, s != 3});
    const ReservedGrowth g = reservedGrowth(*replay, steps);
    QCOMPARE(g.ends.size(), std::size_t(4)); // the incomplete one is left out
    QCOMPARE(g.grown, 60 * mib);
    QCOMPARE(g.liveGrown, std::int64_t(0));
    QCOMPARE(g.rising, 1.0);
    QCOMPARE(reservedGrowth(*replay, std::span(steps).first(3)).grown, std::int64_t(0));
}

void TestMetrics::captureFrames()
{
    TraceMaker maker;
    const StackId captured = maker.stack({"forward@/app/model.py:1",
        "create_cudagraphs@/opt/x/megatron/core/"
        "transformer/cuda_graphs.py:9"});
    const StackId replayed = maker.stack({"replay@/usr/lib/torch/cuda/graphs.py:80"});
    const StackId plain = maker.stack({"create_cudagraphs@/app/my_graphs.py:9"});
    maker.alloc(base, 512, captured);
    const auto snapshot = maker.finish();
    QVERIFY(capturesGraph(*snapshot, captured));
    QVERIFY(!capturesGraph(*snapshot, replayed));
    QVERIFY(!capturesGraph(*snapshot, plain));
    QVERIFY(!capturesGraph(*snapshot, StackId::none));
}

void TestMetrics::largest()
{
    TraceMaker maker;
    const StackId a = maker.stack({"a@/app/x.py:1"});
    const StackId b = maker.stack({"b@/app/x.py:2"});
    maker.alloc(at(0), 10 * mib, a);
    maker.alloc(at(100), 6 * mib, b);
    maker.alloc(at(200), 6 * mib, b);
    const auto replay = replayOf(maker);
    const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
    const LargestSite found = largestSite(*replay, sites, replay->timeline.liveAt(3));
    QCOMPARE(found.name, std::string("b@x.py:2"));
    QCOMPARE(found.bytes, std::uint64_t(12 * mib));
    QCOMPARE(found.allocations.size(), std::size_t(2));
    QCOMPARE(largestSite(*replay, sites, {}).bytes, std::uint64_t(0));
}

/// Segments of the default pool on pages: what goes back and what stays is told the same way everywhere.
void TestMetrics::pages()
{
    TraceMaker maker;
    maker.segment(at(0), 100 * mib); // a hole of 50 MiB that begins 5 MiB into a page holds one whole page
    maker.block(BlockState::Allocated, 25 * mib, 25 * mib);
    maker.block(BlockState::Inactive, 50 * mib, 0);
    maker.block(BlockState::Allocated, 25 * mib, 25 * mib);
    maker.builder().device(0).segments.back().expandable = true;
    maker.segment(at(200), 60 * mib);
    maker.block(BlockState::Inactive, 60 * mib, 0);
    maker.segment(at(400), 30 * mib);
    maker.block(BlockState::Allocated, 10 * mib, 10 * mib);
    maker.block(BlockState::Inactive, 20 * mib, 0);
    const SegmentState state = endOf(*replayOf(maker));
    QCOMPARE(state.releasable, std::uint64_t(80 * mib));
    QCOMPARE(state.pinned, std::uint64_t(50 * mib));
    QCOMPARE(state.segments[0].releasableBytes, std::uint64_t(20 * mib));
    QCOMPARE(releasableIn(state.segments[0], state.pieces[1]), std::uint64_t(20 * mib));
    QCOMPARE(releasableIn(state.segments[0], state.pieces[0]), std::uint64_t(0));

    const StateMetrics m = metricsOf(state);
    QCOMPARE(m.releasable, state.releasable);
    QCOMPARE(m.stuck(), state.pinned);
    QCOMPARE(m.pageResidue, std::uint64_t(30 * mib));
    QCOMPARE(m.stuckHoles, std::uint64_t(2));

    const FreeSums sums = freeSums(state, std::nullopt, std::nullopt);
    QCOMPARE(sums.releasable, state.releasable);
    QCOMPARE(sums.pinned, state.pinned);
    QCOMPARE(sums.pinnedSegments, std::uint64_t(2));
    QCOMPARE(sums.releasableSegments, std::uint64_t(2));
}

void TestMetrics::everythingAtAnyState()
{
    TraceMaker maker;
    maker.event(Action::SegmentAlloc, at(0), 100 * mib);
    maker.alloc(at(0), 60 * mib);
    maker.free(at(0), 60 * mib);
    maker.alloc(at(0), 10 * mib);
    maker.event(Action::SegmentFree, at(200), 40 * mib); // a flush before the memory grows beyond all before
    maker.event(Action::SegmentAlloc, at(400), 80 * mib);
    maker.alloc(at(400), 70 * mib);
    maker.event(Action::Oom, 0, 95 * mib).deviceFree = 20 * mib;
    maker.segment(at(0), 100 * mib);
    maker.block(BlockState::Allocated, 10 * mib, 10 * mib);
    maker.block(BlockState::Inactive, 90 * mib, 0);
    maker.segment(at(400), 80 * mib);
    maker.block(BlockState::Allocated, 70 * mib, 70 * mib);
    maker.block(BlockState::Inactive, 10 * mib, 0);
    const auto replay = replayOf(maker);
    const std::vector<Step> steps{{"0", 1, 4, true}, {"1", 5, 8, true}};
    const std::vector<OomAutopsy> ooms{autopsy(*replay, replay->device().ooms.front(), std::nullopt)};
    const MetricsContext context{steps, ooms, std::uint64_t(250 * mib)};

    const MomentMetrics end = metricsAt(*replay, 9, context, {});
    QCOMPARE(end.now.inactiveRatio(), 100.0 / 180); // M1
    QCOMPARE(end.trace.gapAtAllocatedPeak, 100 * mib); // M2
    QCOMPARE(end.trace.utilization, 80.0 / 180); // M3
    QCOMPARE(end.now.externalFragmentation(), 0.1); // M4
    QCOMPARE(*end.request, std::uint64_t(95 * mib));
    QCOMPARE(end.unusable, 1.0); // M5
    QCOMPARE(end.now.pinned, std::uint64_t(100 * mib)); // M6
    QCOMPARE(end.pins.front().leverage, 9.0); // M7
    QCOMPARE(end.now.releasable, std::uint64_t(0)); // M8
    QCOMPARE(end.now.rounding(), std::uint64_t(0)); // M9
    QCOMPARE(end.now.waiting, std::uint64_t(0)); // M10
    QCOMPARE(end.classes.size(), std::size_t(1)); // M11
    QCOMPARE(end.now.privateReserved, std::uint64_t(0)); // M12
    QCOMPARE(*end.nonPyTorch, (250 - 20 - 180) * mib); // M13
    QCOMPARE(end.flushes.size(), std::size_t(1)); // M14
    QCOMPARE(end.flushes.front().bytes, std::uint64_t(40 * mib));
    QCOMPARE(end.growth.ends.size(), std::size_t(2)); // M15

    // As people and programs read it.
    const std::vector<MetricLine> lines = metricLines(*replay, end);
    QCOMPARE(lines.size(), std::size_t(15));
    for (std::size_t i = 0; i < lines.size(); ++i)
        QCOMPARE(std::string(lines[i].id), "M" + std::to_string(i + 1));
    QCOMPARE(lines[0].value, formatPercent(100.0 / 180));
    QCOMPARE(lines[1].value, formatBytes(100 * mib));
    QCOMPARE(lines[5].value, formatBytes(100 * mib));
    QCOMPARE(lines[12].value, formatBytes(50 * mib));
    QCOMPARE(lines[14].value, std::string("unknown")); // two steps say nothing
    const auto json = nlohmann::json::parse(metricsJson(*replay, end));
    QCOMPARE(json["M2"]["gap_at_allocated_peak"].get<std::int64_t>(), 100 * mib);
    QCOMPARE(json["M5"]["request"].get<std::int64_t>(), 95 * mib);
    QCOMPARE(json["M7"]["held"].get<std::int64_t>(), 100 * mib);
    QCOMPARE(json["M13"]["other_bytes"].get<std::int64_t>(), 50 * mib);
    QVERIFY(json["M15"]["grown"].is_null());

    // After the fourth event: the request is the next step's largest, nothing of the failure is known.
    const MomentMetrics before = metricsAt(*replay, 4, context, {});
    QCOMPARE(*before.request, std::uint64_t(70 * mib));
    QCOMPARE(before.now.reserved, std::uint64_t(140 * mib));
    QVERIFY(!before.nonPyTorch && before.flushes.empty());
    QCOMPARE(before.trace.utilization, end.trace.utilization);
    QVERIFY(!metricsAt(*replay, 9, {}, {}).request);
}

QTEST_GUILESS_MAIN(TestMetrics)
#include "tst_metrics.moc"
