// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/segment_layout.hpp"
#include "tests/support/toy_allocator.hpp"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

/// Segments of given sizes in MiB, one free piece each.
SegmentState segmentsOf(const std::vector<std::uint64_t>& sizes, SegmentKind kind = SegmentKind::Large)
{
    SegmentState s;
    std::uint64_t at = 0x100000000;
    for (const std::uint64_t size : sizes) {
        SegmentView v;
        v.address = at;
        v.size = size * mib;
        v.kind = kind;
        v.freeBytes = v.largestHole = v.size;
        v.firstPiece = static_cast<std::uint32_t>(s.pieces.size());
        v.pieceCount = 1;
        s.pieces.push_back({at, v.size, 0, AllocationId::none, PieceKind::Free, false});
        s.segments.push_back(v);
        at += v.size;
    }
    return s;
}

MapOptions optionsOf(double width, std::uint64_t perRow = 0, MapOrder order = MapOrder::Size)
{
    MapOptions o;
    o.width = width;
    o.bytesPerRow = perRow * mib;
    o.order = order;
    return o;
}

/// Sizes in MiB on each row, in drawing order.
std::vector<std::vector<double>> rowsOf(const MapPicture& p, double width)
{
    std::map<double, std::vector<double>> rows;
    for (const MapFrame& f : p.frames)
        rows[f.y].push_back(std::round(f.width / width * double(p.bytesPerRow) / double(mib)));
    std::vector<std::vector<double>> list;
    for (auto& [y, sizes] : rows)
        list.push_back(sizes);
    return list;
}

using Rows = std::vector<std::vector<double>>;

QByteArray broken(const SegmentState& state, const MapPicture& p, const MapOptions& o, std::size_t segments)
{
    const double scale = (o.width - o.labelWidth) / double(p.bytesPerRow);
    const double right = o.width + 1e-6;
    std::map<std::uint32_t, double> framed;
    for (std::size_t i = 0; i < p.frames.size(); ++i) {
        const MapFrame& f = p.frames[i];
        framed[f.segment] += f.width;
        if (f.x < o.labelWidth - 1e-6 || f.x + f.width > right || f.y + f.height > p.height)
            return "a frame outside";
        if (i > 0) {
            const MapFrame& before = p.frames[i - 1];
            if (std::tuple(before.y, before.x) >= std::tuple(f.y, f.x))
                return "frames out of order";
            if (before.y == f.y && before.x + before.width > f.x + 1e-6)
                return "frames overlap";
        }
    }
    if (framed.size() != segments)
        return "segments missing";
    std::map<std::uint32_t, double> boxed;
    for (std::size_t i = 0; i < p.boxes.size(); ++i) {
        const MapBox& b = p.boxes[i];
        boxed[b.piece] += b.width;
        const SegmentView& view = state.segments[b.segment];
        if (b.piece < view.firstPiece || b.piece >= view.firstPiece + view.pieceCount)
            return "a box of another segment";
        if (i > 0 && p.boxes[i - 1].y == b.y && p.boxes[i - 1].x + p.boxes[i - 1].width > b.x + 1e-6)
            return "boxes overlap";
        if (i > 0 && p.boxes[i - 1].y > b.y)
            return "boxes out of order";
    }
    for (const auto& [segment, width] : framed) {
        const SegmentView& view = state.segments[segment];
        if (std::abs(width - double(view.size) * scale) > 1e-3)
            return "a frame of the wrong size";
        for (std::uint32_t i = view.firstPiece; i < view.firstPiece + view.pieceCount; ++i)
            if (std::abs(boxed[i] - double(state.pieces[i].size) * scale) > 1e-3)
                return "bytes missing";
    }
    return {};
}

} // namespace

class TestSegmentLayout : public QObject {
    Q_OBJECT
private slots:
    void toyStates();
    void firstFit();
    void ordersKeepTheirOrder();
    void longSegmentsBreak();
    void oneRowEach();
    void chosenScale();
    void groups();
    void filters();
    void hits();
    void nonsense();
};

void TestSegmentLayout::toyStates()
{
    for (unsigned seed = 1; seed <= 16; ++seed) {
        ToyWish wish;
        wish.seed = seed;
        wish.expandable = seed % 2 == 0;
        wish.pools = seed % 3 == 0;
        wish.streams = seed % 4 < 2;
        const ToyRun run = toyRun(wish);
        const Snapshot& snapshot = *run.snapshot;
        const Timeline timeline = Timeline::build(snapshot, snapshot.devices.front(), {}).value();
        const SegmentHistory history
            = SegmentHistory::build(snapshot, snapshot.devices.front(), timeline, {}).value();
        for (StateIndex s = 0; s < timeline.states(); s += 37) {
            const SegmentState state = history.stateAt(s, timeline);
            for (const MapLayout layout : {MapLayout::Flow, MapLayout::Rows}) {
                for (const MapOrder order :
                    {MapOrder::Size, MapOrder::Address, MapOrder::Age, MapOrder::FreeBytes}) {
                    MapOptions o = optionsOf(700, s % 2 == 0 ? 0 : 13, order);
                    o.layout = layout;
                    o.labelWidth = layout == MapLayout::Rows ? 90 : 0;
                    const MapPicture p = layoutSegments(snapshot, state, o);
                    const QByteArray what = broken(state, p, o, state.segments.size());
                    QVERIFY2(what.isEmpty(), what);
                }
            }
        }
    }
}

void TestSegmentLayout::firstFit()
{
    const SegmentState s = segmentsOf({20, 60, 40, 30, 20, 50});
    const MapPicture p = layoutSegments({}, s, optionsOf(500, 100));
    QCOMPARE(rowsOf(p, 500), (Rows{{60, 40}, {50, 30, 20}, {20}}));
    QVERIFY(p.headers.empty());
    QCOMPARE(p.height, 3 * 13.0);
}

void TestSegmentLayout::ordersKeepTheirOrder()
{
    SegmentState s = segmentsOf({20, 60, 40, 30, 20, 50});
    const MapPicture p = layoutSegments({}, s, optionsOf(500, 100, MapOrder::Address));
    QCOMPARE(rowsOf(p, 500), (Rows{{20, 60}, {40, 30, 20}, {50}}));
    const StateIndex since[] = {5, 4, 3, 2, 1, 0};
    const std::uint64_t free[] = {1, 9, 1, 7, 0, 8};
    for (std::size_t i = 0; i < 6; ++i) {
        s.segments[i].since = since[i];
        s.segments[i].freeBytes = free[i] * mib;
    }
    QCOMPARE(rowsOf(layoutSegments({}, s, optionsOf(500, 1000, MapOrder::Age)), 500),
        (Rows{{50, 20, 30, 40, 60, 20}}));
    QCOMPARE(rowsOf(layoutSegments({}, s, optionsOf(500, 1000, MapOrder::FreeBytes)), 500),
        (Rows{{60, 50, 30, 20, 40, 20}}));
}

void TestSegmentLayout::longSegmentsBreak()
{
    SegmentState s = segmentsOf({250, 40});
    // A piece across the first tear.
    s.pieces = {{s.segments[0].address, 90 * mib, 1, AllocationId{0}, PieceKind::Live, true},
        {s.segments[0].address + 90 * mib, 160 * mib, 0, AllocationId::none, PieceKind::Free, false},
        {s.segments[1].address, 40 * mib, 0, AllocationId::none, PieceKind::Free, false}};
    s.segments[0].pieceCount = 2;
    s.segments[1].firstPiece = 2;
    const MapPicture p = layoutSegments({}, s, optionsOf(500, 100));
    QCOMPARE(rowsOf(p, 500), (Rows{{100}, {100}, {50, 40}}));
    QVERIFY(!p.frames[0].tornLeft && p.frames[0].tornRight);
    QVERIFY(p.frames[1].tornLeft && p.frames[1].tornRight);
    QVERIFY(p.frames[2].tornLeft && !p.frames[2].tornRight);
    QCOMPARE(p.boxes.size(), 5U);
    QVERIFY(!p.boxes[0].tornLeft && !p.boxes[0].tornRight);
    QVERIFY(!p.boxes[1].tornLeft && p.boxes[1].tornRight);
    QVERIFY(p.boxes[3].tornLeft && !p.boxes[3].tornRight);
    QCOMPARE(p.boxes[3].piece, 1U);
}

void TestSegmentLayout::oneRowEach()
{
    MapOptions o = optionsOf(600);
    o.layout = MapLayout::Rows;
    o.labelWidth = 100;
    const MapPicture p = layoutSegments({}, segmentsOf({20, 60, 40}), o);
    QCOMPARE(p.bytesPerRow, 60 * mib);
    QCOMPARE(rowsOf(p, 500), (Rows{{60}, {40}, {20}}));
    for (const MapFrame& f : p.frames)
        QCOMPARE(f.x, 100.0);
    // A giant does not hide the others.
    const MapPicture giant = layoutSegments({}, segmentsOf(std::vector<std::uint64_t>(50, 20)), o);
    QCOMPARE(giant.bytesPerRow, 20 * mib);
    std::vector<std::uint64_t> sizes(50, 20);
    sizes.push_back(900);
    QCOMPARE(layoutSegments({}, segmentsOf(sizes), o).bytesPerRow, 320 * mib);
}

void TestSegmentLayout::chosenScale()
{
    // Five of the largest usual size to a row.
    std::vector<std::uint64_t> sizes(80, 256);
    sizes.insert(sizes.end(), {900, 20, 20, 20});
    QCOMPARE(layoutSegments({}, segmentsOf(sizes), optionsOf(500)).bytesPerRow, 5 * 256 * mib);
    // One expandable segment alone still becomes a map of several rows.
    const MapPicture one = layoutSegments({}, segmentsOf({20000}), optionsOf(500));
    QVERIFY(one.frames.size() >= 8 && one.frames.size() <= 40);
    // The same for a crowd.
    const MapPicture crowd
        = layoutSegments({}, segmentsOf(std::vector<std::uint64_t>(4000, 20)), optionsOf(500));
    QVERIFY(crowd.height <= 41 * 13);
    QVERIFY(layoutSegments({}, {}, optionsOf(500)).bytesPerRow > 0);
}

void TestSegmentLayout::groups()
{
    SnapshotBuilder builder;
    const StreamId stream = builder.stream(7);
    const PoolId pool = builder.pool(0, 1);
    const auto snapshot = builder.finish();
    SegmentState s = segmentsOf({20, 20, 2, 2, 40});
    s.segments[1].stream = stream;
    s.segments[1].pool = pool;
    s.segments[2].kind = s.segments[3].kind = SegmentKind::Small;
    const MapPicture p = layoutSegments(*snapshot, s, optionsOf(500, 100));
    std::vector<std::string> headers;
    for (const MapHeader& h : p.headers)
        headers.push_back(h.text);
    QCOMPARE(headers.size(), 3U);
    const std::string gap = "\u00a0";
    QCOMPARE(headers[0], "default stream · default pool · 4 segments · 64.0" + gap + "MiB");
    QCOMPARE(headers[1], "small pool: 2 segments of 2.0" + gap + "MiB");
    QCOMPARE(headers[2], "stream 7 · pool (0, 1) · 1 segment · 20.0" + gap + "MiB");
    QCOMPARE(rowsOf(p, 500), (Rows{{40, 20}, {2, 2}, {20}}));
    // Rows and headers share the height without overlap.
    QCOMPARE(p.headers[0].y, 0.0);
    QCOMPARE(p.frames[0].y, 18.0);
    QCOMPARE(p.headers[1].y, 18.0 + 13);
    QCOMPARE(p.height, 3 * 18.0 + 3 * 13);
}

void TestSegmentLayout::filters()
{
    SegmentState s = segmentsOf({20, 30, 40});
    s.segments[0].freeBytes = 0;
    s.segments[1].stream = StreamId{3};
    s.segments[2].pool = PoolId{1};
    SnapshotBuilder builder;
    builder.pool(0, 1);
    const auto snapshot = builder.finish();
    const auto shown = [&](auto change) {
        MapOptions o = optionsOf(500, 100);
        change(o);
        std::set<std::uint32_t> list;
        for (const MapFrame& f : layoutSegments(*snapshot, s, o).frames)
            list.insert(f.segment);
        return list;
    };
    using Set = std::set<std::uint32_t>;
    s.segments[1].stream = StreamId{};
    QCOMPARE(shown([](MapOptions& o) { o.withHoles = true; }), (Set{1, 2}));
    QCOMPARE(shown([](MapOptions& o) { o.pool = PoolId{1}; }), (Set{2}));
    QCOMPARE(shown([](MapOptions& o) { o.stream = StreamId{5}; }), (Set{}));
    QCOMPARE(shown([](MapOptions& o) { o.stream = StreamId{0}; }), (Set{0, 1, 2}));
}

void TestSegmentLayout::hits()
{
    ToyWish wish;
    wish.streams = true;
    const ToyRun run = toyRun(wish);
    const Timeline timeline = Timeline::build(*run.snapshot, run.snapshot->devices.front(), {}).value();
    const SegmentHistory history
        = SegmentHistory::build(*run.snapshot, run.snapshot->devices.front(), timeline, {}).value();
    const SegmentState state = history.stateAt(timeline.states() / 2, timeline);
    const MapPicture p = layoutSegments(*run.snapshot, state, optionsOf(300));
    std::mt19937 random(3);
    int found = 0;
    for (int i = 0; i < 5000; ++i) {
        const double x = double(random() % 3200) / 10 - 5;
        const double y = double(random() % 10000) / 10000 * (p.height + 20) - 10;
        std::optional<std::size_t> expected;
        for (std::size_t b = 0; b < p.boxes.size(); ++b) {
            const MapBox& box = p.boxes[b];
            if (x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height)
                expected = b;
        }
        QCOMPARE(boxAt(p, x, y), expected);
        found += expected.has_value();
    }
    QVERIFY(found > 500);
    QVERIFY(!boxAt({}, 1, 1));
}

void TestSegmentLayout::nonsense()
{
    SegmentState s = segmentsOf({20});
    s.segments[0].size = s.pieces[0].size = 1ULL << 62;
    MapOptions o = optionsOf(500);
    o.bytesPerRow = 1;
    const MapPicture p = layoutSegments({}, s, o);
    QVERIFY(p.frames.size() <= 65537);
    o.bytesPerRow = 0;
    QVERIFY(layoutSegments({}, s, o).frames.size() <= 41);
}

QTEST_GUILESS_MAIN(TestSegmentLayout)
#include "tst_segment_layout.moc"
