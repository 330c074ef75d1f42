// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/segments.hpp"
#include "tests/support/segment_checks.hpp"
#include "tests/support/toy_allocator.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace tidemark;
using namespace tidemark::test;

Q_DECLARE_METATYPE(tidemark::test::ToyWish)

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

struct Built {
    std::shared_ptr<const Snapshot> snapshot;
    Timeline timeline;
    SegmentHistory history;

    const DeviceTrace& device() const { return snapshot->devices.front(); }
    SegmentState at(StateIndex state) const { return history.stateAt(state, timeline); }
    StateIndex last() const { return timeline.states() - 1; }
};

Built build(std::shared_ptr<const Snapshot> snapshot)
{
    const DeviceTrace& device = snapshot->devices.front();
    Timeline timeline = Timeline::build(*snapshot, device, {}).value();
    SegmentHistory history = SegmentHistory::build(*snapshot, device, timeline, {}).value();
    return {std::move(snapshot), std::move(timeline), std::move(history)};
}

QByteArray broken(const Built& b, StateIndex state)
{
    return QByteArray::fromStdString(brokenState(b.at(state), b.timeline));
}

/// Compares a state with what the toy allocator had then. How blocks from before the trace were placed is not
/// recorded, so `sizes` says whether theirs must be right too.
QByteArray different(const Built& b, StateIndex state, const ToyState& truth, bool sizes, bool pools)
{
    const SegmentState s = b.at(state);
    if (s.segments.size() != truth.size())
        return "number of segments " + QByteArray::number(int(s.segments.size())) + " for "
            + QByteArray::number(int(truth.size()));
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const SegmentView& view = s.segments[i];
        const ToySegment& segment = truth[i];
        if (view.address != segment.address || view.size != segment.size
            || view.expandable != segment.expandable)
            return "range of segment " + QByteArray::number(int(i));
        if (b.snapshot->streams[index(view.stream)] != segment.stream
            || (pools && index(view.pool) != std::size_t(segment.pool)))
            return "owner of segment " + QByteArray::number(int(i));
        std::vector<ToyBlock> used;
        for (const ToyBlock& block : segment.blocks)
            if (block.state != BlockState::Inactive)
                used.push_back(block);
        std::size_t n = 0;
        for (std::size_t p = view.firstPiece; p < view.firstPiece + view.pieceCount; ++p) {
            const Piece& piece = s.pieces[p];
            if (piece.kind == PieceKind::Free)
                continue;
            if (n == used.size() || piece.address != used[n].address || piece.requested != used[n].requested)
                return "block in segment " + QByteArray::number(int(i));
            const bool hidden = valid(piece.allocation)
                && b.timeline.allocations().origin[index(piece.allocation)] == Origin::FreedInTrace;
            if ((sizes || !hidden) && piece.size != used[n].size)
                return "size of block in segment " + QByteArray::number(int(i));
            ++n;
        }
        if (n != used.size())
            return "missing block in segment " + QByteArray::number(int(i));
    }
    return {};
}

} // namespace

class TestSegments : public QObject {
    Q_OBJECT
private slots:
    void toyTraces_data();
    void toyTraces();
    void anyTrace_data();
    void anyTrace();
    void anySegments_data();
    void anySegments();
    void mapsSplitAndMerge();
    void largePagesAreThoseOfTheSettings_data();
    void largePagesAreThoseOfTheSettings();
    void traceAgainstSegments();
    void waitingAndPools();
    void withoutSegments();
    void unknownStatesAtTheEnd();
    void oddSegmentEvents();
    void statedReserved();
};

void TestSegments::toyTraces_data()
{
    QTest::addColumn<ToyWish>("wish");
    for (unsigned seed = 1; seed <= 24; ++seed) {
        ToyWish wish;
        wish.seed = seed;
        wish.expandable = seed % 2 == 0;
        wish.pools = seed % 3 == 0;
        wish.streams = seed % 4 < 2;
        wish.poolOnEvents = seed % 6 != 0;
        if (seed % 8 == 3)
            wish.maxSplit = 24 * mib;
        if (seed % 8 >= 6)
            wish.divisions = 4;
        if (seed % 8 == 4 || seed % 8 == 5)
            wish.padding = 32;
        if (seed % 5 == 0)
            wish.skip = 150;
        QTest::addRow("seed %u", seed) << wish;
    }
}

void TestSegments::toyTraces()
{
    QFETCH(ToyWish, wish);
    const ToyRun run = toyRun(wish);
    const Built b = build(run.snapshot);
    QCOMPARE(std::size_t(b.timeline.states()), run.states.size());
    QVERIFY(b.history.known() && b.history.reservedKnown());
    QCOMPARE(b.history.misfits(), 0U);
    const bool complete = wish.skip == 0;
    // Nothing tells the pool of memory that is gone at the end when events do not.
    const bool pools = !wish.pools || wish.poolOnEvents;
    for (StateIndex s = 0; s < b.timeline.states(); ++s) {
        QByteArray what = broken(b, s);
        if (what.isEmpty())
            what = different(b, s, run.states[s], complete, pools || s == b.last());
        QVERIFY2(what.isEmpty(), "at state " + QByteArray::number(s) + ": " + what);
        const SegmentState state = b.at(s);
        QCOMPARE(b.history.reserved().at(s), std::int64_t(state.reserved));
        QVERIFY(b.history.reserved().at(s) >= 0);
        QCOMPARE(b.history.allocated().at(s), std::int64_t(state.live));
        QCOMPARE(b.history.waiting().at(s), std::int64_t(state.waiting));
        QCOMPARE(b.timeline.requested().at(s), std::int64_t(state.requested));
        QVERIFY(state.homeless.empty());
        std::map<PoolId, std::int64_t> byPool;
        for (const SegmentView& view : state.segments)
            byPool[view.pool] += std::int64_t(view.size);
        for (const auto& [pool, series] : b.history.reservedByPool()) {
            QCOMPARE(series.at(s), byPool[pool]);
            byPool.erase(pool);
        }
        QVERIFY(byPool.empty());
    }
    QCOMPARE(b.history.sizeCheck().equal, b.history.sizeCheck().compared);
}

void TestSegments::anyTrace_data()
{
    QTest::addColumn<unsigned>("seed");
    for (unsigned seed = 1; seed <= 40; ++seed)
        QTest::addRow("seed %u", seed) << seed;
}

/// Nonsense must not break what holds of every state.
void TestSegments::anyTrace()
{
    QFETCH(unsigned, seed);
    RandomTrace wish;
    wish.seed = seed;
    wish.irregular = true;
    wish.skipRequests = seed % 5 == 1;
    wish.skipCompletions = seed % 5 == 2;
    const Built b = build(randomTrace(wish));
    for (StateIndex s = 0; s < b.timeline.states(); ++s) {
        const QByteArray what = broken(b, s);
        QVERIFY2(what.isEmpty(), "at state " + QByteArray::number(s) + ": " + what);
    }
}

void TestSegments::anySegments_data()
{
    QTest::addColumn<unsigned>("seed");
    for (unsigned seed = 1; seed <= 60; ++seed)
        QTest::addRow("seed %u", seed) << seed;
}

/// Reserving and giving back at random, over blocks that share segments and blocks older than the trace.
void TestSegments::anySegments()
{
    QFETCH(unsigned, seed);
    const Built b = build(randomSegments(seed));
    std::uint64_t expandable = 0;
    std::uint64_t waitingFromStart = 0;
    std::uint64_t shared = 0;
    for (StateIndex s = 0; s < b.timeline.states(); ++s) {
        const QByteArray what = broken(b, s);
        QVERIFY2(what.isEmpty(), "at state " + QByteArray::number(s) + ": " + what);
        const SegmentState state = b.at(s);
        std::map<PoolId, std::int64_t> byPool;
        for (const SegmentView& view : state.segments) {
            byPool[view.pool] += std::int64_t(view.size);
            expandable += view.expandable;
            const auto first = state.pieces.begin() + view.firstPiece;
            shared += std::count_if(first, first + view.pieceCount, [](const Piece& p) {
                return valid(p.allocation);
            }) > 1;
        }
        for (const auto& [pool, series] : b.history.reservedByPool()) {
            QCOMPARE(series.at(s), byPool[pool]);
            byPool.erase(pool);
        }
        QVERIFY(byPool.empty());
        if (b.history.misfits() == 0)
            QCOMPARE(b.history.reserved().at(s), std::int64_t(state.reserved));
        waitingFromStart += s == 0 && state.waiting > 0;
    }
    // What the test is about did occur.
    QVERIFY(expandable > 0 && shared > 0 && b.history.misfits() > 0);
    QVERIFY(seed % 2 != 0 || waitingFromStart > 0);
}

void TestSegments::mapsSplitAndMerge()
{
    TraceMaker t;
    const std::uint64_t base = 0x700000000000;
    t.event(Action::SegmentMap, base + 40 * mib, 20 * mib); // joins two older ranges
    t.event(Action::SegmentUnmap, base + 20 * mib, 20 * mib); // splits them elsewhere
    t.event(Action::SegmentMap, base + 20 * mib, 20 * mib);
    t.event(Action::SegmentUnmap, base, 20 * mib); // the front goes, and was older than the trace
    t.segment(base + 20 * mib, 60 * mib);
    t.builder().device(0).segments.back().expandable = true;
    t.block(BlockState::Inactive, 60 * mib, 0);
    const Built b = build(t.finish());
    const auto ranges = [&](StateIndex s) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> list;
        for (const SegmentView& v : b.at(s).segments)
            list.emplace_back((v.address - base) / mib, v.size / mib);
        return list;
    };
    using List = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    QCOMPARE(ranges(0), (List{{0, 40}, {60, 20}}));
    QCOMPARE(ranges(1), (List{{0, 80}}));
    QCOMPARE(ranges(2), (List{{0, 20}, {40, 40}}));
    QCOMPARE(ranges(3), (List{{0, 80}}));
    QCOMPARE(ranges(4), (List{{20, 60}}));
    for (StateIndex s = 0; s <= 4; ++s) {
        QVERIFY2(broken(b, s).isEmpty(), broken(b, s));
        for (const SegmentView& v : b.at(s).segments)
            QVERIFY(v.predating && v.expandable);
    }
    // One and the same segment at the end of the file and before.
    QCOMPARE(b.at(3).segments[0].id, SegmentId{0});
    QCOMPARE(b.at(4).segments[0].id, SegmentId{0});
}

void TestSegments::largePagesAreThoseOfTheSettings_data()
{
    QTest::addColumn<QString>("conf");
    QTest::addColumn<std::int64_t>("mapped"); // MiB that are unmapped in the trace and never held anything
    QTest::addColumn<bool>("small");
    QTest::addColumn<std::int64_t>("releasable"); // MiB of a hole of 40 behind a block of 8
    QTest::newRow("usual, whole pages")
        << "expandable_segments:True" << std::int64_t{60} << false << std::int64_t{20};
    QTest::newRow("usual, small pages")
        << "expandable_segments:True" << std::int64_t{64} << true << std::int64_t{20};
    QTest::newRow("32 MiB") << "expandable_segments:True,large_segment_size_mb:32" << std::int64_t{64}
                            << false << std::int64_t{0};
    QTest::newRow("12 MiB") << "expandable_segments:True,large_segment_size_mb:12" << std::int64_t{60}
                            << false << std::int64_t{36};
}

void TestSegments::largePagesAreThoseOfTheSettings()
{
    QFETCH(QString, conf);
    QFETCH(std::int64_t, mapped);
    QFETCH(bool, small);
    QFETCH(std::int64_t, releasable);
    TraceMaker t;
    const std::uint64_t base = 0x700000000000;
    const std::uint64_t kept = base + (1ULL << 32);
    t.builder().addSetting("PYTORCH_CUDA_ALLOC_CONF", conf.toStdString());
    t.event(Action::SegmentUnmap, base, mapped * static_cast<std::int64_t>(mib));
    t.segment(kept, 48 * mib);
    t.builder().device(0).segments.back().expandable = true;
    t.builder().device(0).segments.back().kind = SegmentKind::Large;
    t.block(BlockState::Allocated, 8 * mib, 8 * mib);
    t.block(BlockState::Inactive, 40 * mib, 0);
    const Built b = build(t.finish());
    const SegmentState before = b.at(0);
    QCOMPARE(before.segments.size(), std::size_t(2));
    QCOMPARE(before.segments[0].kind, small ? SegmentKind::Small : SegmentKind::Large);
    const SegmentState end = b.at(1);
    QCOMPARE(end.segments.size(), std::size_t(1));
    QCOMPARE(end.releasable, static_cast<std::uint64_t>(releasable) * mib);
    QCOMPARE(end.pinned, static_cast<std::uint64_t>(40 - releasable) * mib);
}

void TestSegments::traceAgainstSegments()
{
    TraceMaker t;
    t.event(Action::SegmentAlloc, 0x1000000, 20 * mib);
    t.alloc(0x1000000, 2 * mib);
    t.alloc(0x1000000 + 2 * mib, 4 * mib);
    t.free(0x1000000, 2 * mib); // still active in the segments
    t.segment(0x1000000, 20 * mib);
    t.block(BlockState::Allocated, 2 * mib, 2 * mib);
    t.block(BlockState::Inactive, 18 * mib, 0); // although the trace has 4 MiB of it live
    const Built b = build(t.finish());
    const SegmentState before = b.at(b.last() - 1);
    QCOMPARE(before.pieces.size(), 3U);
    const SegmentState end = b.at(b.last());
    QCOMPARE(end.pieces.size(), 2U);
    QCOMPARE(end.pieces[0].kind, PieceKind::Live);
    QCOMPARE(end.pieces[0].size, 2 * mib);
    QCOMPARE(end.pieces[0].allocation, AllocationId::none);
    QVERIFY(end.pieces[0].exactSize);
    QCOMPARE(end.pieces[1].kind, PieceKind::Free);
    QCOMPARE(end.homeless.size(), 1U);
    QCOMPARE(b.history.allocated().last(), std::int64_t(2 * mib));
    QCOMPARE(b.history.allocated().at(b.last() - 1), std::int64_t(6 * mib));
}

void TestSegments::waitingAndPools()
{
    TraceMaker t;
    const PoolId pool = t.builder().pool(0, 1);
    t.setPool(pool);
    t.event(Action::SegmentAlloc, 0x1000000, 40 * mib);
    t.alloc(0x1000000, 30 * mib);
    t.request(0x1000000, 30 * mib);
    t.event(Action::Snapshot, 0, 0);
    t.complete(0x1000000, 30 * mib);
    t.segment(0x1000000, 40 * mib, pool);
    t.block(BlockState::Inactive, 40 * mib, 30 * mib);
    t.segment(0x8000000, 2 * mib);
    t.block(BlockState::Inactive, 2 * mib, 0);
    const Built b = build(t.finish());
    const SegmentState waiting = b.at(4);
    QCOMPARE(waiting.waiting, 30 * mib);
    QCOMPARE(waiting.live, 0U);
    QCOMPARE(waiting.heldByPools, 10 * mib);
    QCOMPARE(waiting.releasable, 2 * mib);
    QCOMPARE(waiting.pinned, 0U);
    QCOMPARE(waiting.largestHole, 10 * mib);
    QCOMPARE(waiting.requested, 30 * mib);
    QCOMPARE(b.history.waiting().at(4), std::int64_t(30 * mib));
    QCOMPARE(b.history.allocated().at(2), std::int64_t(30 * mib));
    QCOMPARE(b.history.allocated().at(4), 0);
    QCOMPARE(b.at(5).heldByPools, 40 * mib);
    QCOMPARE(b.history.reservedByPool().size(), 2U);
    QCOMPARE(b.history.segmentOf(AllocationId{0}), SegmentId{0});
    QVERIFY(!b.history.blockSizeExact(AllocationId{0}));
}

void TestSegments::withoutSegments()
{
    TraceMaker t;
    t.alloc(0x1000, 100);
    const Built b = build(t.finish());
    QVERIFY(!b.history.known() && !b.history.reservedKnown() && !b.history.hasEvents());
    QVERIFY(b.at(1).segments.empty());
    QCOMPARE(b.at(1).homeless.size(), 1U);
    QCOMPARE(b.history.blockSize(AllocationId{0}), 512U);
    QCOMPARE(b.history.segmentOf(AllocationId{0}), SegmentId::none);
    QCOMPARE(b.history.allocated().at(1), 512);
}

void TestSegments::unknownStatesAtTheEnd()
{
    TraceMaker t;
    t.segment(0x1000000, 4 * mib);
    t.block(BlockState::Unknown, mib, mib);
    t.block(BlockState::Allocated, mib, mib);
    // The file forgets the rest of the segment.
    const Built b = build(t.finish());
    const SegmentState s = b.at(0);
    QVERIFY2(broken(b, 0).isEmpty(), broken(b, 0));
    QCOMPARE(s.pieces.size(), 3U);
    QCOMPARE(s.pieces[0].kind, PieceKind::Unknown);
    QCOMPARE(s.pieces[2].kind, PieceKind::Free);
    QVERIFY(s.pieces[1].exactSize && !s.pieces[2].exactSize);
    QCOMPARE(s.pinned, 2 * mib);
    QCOMPARE(b.timeline.allocations().count(), 1U);
    // An allocation of the trace keeps its place whatever the word for its block is.
    TraceMaker u;
    u.alloc(0x1000000, 100);
    u.segment(0x1000000, 2 * mib);
    u.block(BlockState::Unknown, 2 * mib, 100);
    const Built c = build(u.finish());
    QCOMPARE(c.at(1).pieces.size(), 1U);
    QCOMPARE(c.at(1).pieces[0].kind, PieceKind::Unknown);
    QCOMPARE(c.at(1).pieces[0].allocation, AllocationId{0});
    QVERIFY(c.at(1).homeless.empty());
    QCOMPARE(c.at(1).live, 0U);
}

void TestSegments::oddSegmentEvents()
{
    TraceMaker t;
    t.event(Action::SegmentAlloc, 0x1000000, 2 * mib); // gone at the end without a word
    t.event(Action::SegmentFree, 0x9000000, 2 * mib); // but there at the end
    t.event(Action::SegmentUnmap, 0xf000000, 20 * mib); // nothing is near: a range of its own
    t.event(Action::SegmentMap, 0xffffffffffff0000, 20 * mib); // past the end of all addresses
    t.event(Action::SegmentAlloc, 0x5000000, -1);
    t.segment(0x9000000, 2 * mib);
    t.block(BlockState::Inactive, 2 * mib, 0);
    const Built b = build(t.finish());
    QCOMPARE(b.history.misfits(), 3U);
    for (StateIndex s = 0; s < b.timeline.states(); ++s)
        QVERIFY2(broken(b, s).isEmpty(), broken(b, s));
    QCOMPARE(b.at(0).segments.size(), 2U);
    QCOMPARE(b.at(0).segments[1].kind, SegmentKind::Large);
    QCOMPARE(b.at(5).segments.size(), 1U);
    // The curve keeps to the events, anchored at the end.
    QCOMPARE(b.history.reserved().last(), std::int64_t(2 * mib));
    QCOMPARE(b.history.reserved().first(), std::int64_t(2 * mib));
}

void TestSegments::statedReserved()
{
    TraceMaker t(cpuOrdinal);
    t.alloc(0x1000, 100);
    t.event(Action::Free, 0x1000, 100);
    t.builder().source().kind = SourceKind::KinetoTrace;
    t.builder().device(cpuOrdinal).statedReserved = {300, 200};
    const Built b = build(t.finish());
    QVERIFY(!b.history.known() && b.history.reservedKnown());
    QCOMPARE(b.history.reserved().at(1), 300);
    QCOMPARE(b.history.reserved().at(2), 200);
    QCOMPARE(b.history.allocated().at(1), 100); // such recorders state block sizes
}

QTEST_GUILESS_MAIN(TestSegments)
#include "tst_segments.moc"
