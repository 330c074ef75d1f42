// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/reader.hpp"
#include "model/layout/id_image.hpp"
#include "model/layout/segment_layout.hpp"
#include "tests/support/segment_checks.hpp"
#include "tests/support/shared_paths.hpp"

#include <QTest>

#include <algorithm>
#include <map>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Events of a device up to which every state is looked at; of longer traces as many states, evenly spread.
constexpr StateIndex mostStates = 30000;

std::vector<StateIndex> statesOf(const Replay& r)
{
    const StateIndex step = std::max<StateIndex>(1, r.states() / mostStates);
    std::vector<StateIndex> list;
    for (StateIndex s = 0; s < r.states(); s += step)
        list.push_back(s);
    if (list.back() != r.states() - 1)
        list.push_back(r.states() - 1);
    return list;
}

/// The segments at the end against those of the file, block for block.
QByteArray differentEnd(const Replay& r)
{
    const DeviceTrace& device = r.device();
    const SegmentState end = r.segments.stateAt(r.states() - 1, r.timeline);
    std::map<std::uint64_t, const SegmentView*> byAddress;
    for (const SegmentView& v : end.segments)
        byAddress[v.address] = &v;
    if (byAddress.size() != device.segments.size())
        return "segments";
    for (std::size_t i = 0; i < device.segments.size(); ++i) {
        const Segment& segment = device.segments[i];
        const auto found = byAddress.find(segment.address);
        if (found == byAddress.end() || found->second->size != sane(segment.totalSize))
            return "a segment";
        if (index(found->second->id) != i)
            return "an id";
        std::vector<Piece> stated;
        for (std::uint32_t p = 0; p < found->second->pieceCount; ++p)
            if (const Piece& piece = end.pieces[found->second->firstPiece + p]; piece.exactSize)
                stated.push_back(piece);
        if (stated.size() != segment.blockCount)
            return "number of blocks";
        for (std::uint32_t b = 0; b < segment.blockCount; ++b) {
            const Block& block = device.blocks[segment.firstBlock + b];
            const PieceKind kind = block.state == BlockState::Allocated ? PieceKind::Live
                : block.state == BlockState::Pending                    ? PieceKind::Waiting
                : block.state == BlockState::Inactive                   ? PieceKind::Free
                                                                        : PieceKind::Unknown;
            const bool used = kind == PieceKind::Live || kind == PieceKind::Waiting;
            if (stated[b].address != block.address || stated[b].size != sane(block.size)
                || stated[b].kind != kind || (used && stated[b].requested != sane(block.requested)))
                return "block " + QByteArray::number(b) + " of segment " + QByteArray::number(int(i));
        }
    }
    return {};
}

/// Rows of one column against the stack's definition.
QByteArray wrongColumn(const Replay& r, const TimelineImage& image, int x)
{
    const TimelineWindow& w = image.window;
    const ColumnInfo& column = image.columns[std::size_t(x)];
    const auto extremes = r.timeline.requested().extremes(column.first, column.last);
    if (column.outside || column.max != extremes.max || column.min != extremes.min
        || r.timeline.requested().at(column.shown) != extremes.max)
        return "extremes";
    const AllocationColumns& a = r.timeline.allocations();
    std::vector<AllocationId> stack = r.timeline.liveAt(column.shown);
    std::stable_sort(stack.begin(), stack.end(), [&](AllocationId l, AllocationId h) {
        return (a.pendingState[index(l)] <= column.shown) < (a.pendingState[index(h)] <= column.shown);
    });
    std::size_t next = 0;
    double end = 0;
    for (int y = w.height - 1; y >= 0; --y) {
        const double byte = w.top - (y + 0.5) * (w.top - w.bottom) / w.height;
        while (next < stack.size() && end + double(a.size[index(stack[next])]) <= byte)
            end += double(a.size[index(stack[next++])]);
        const std::uint32_t expected
            = next == stack.size() ? pixel::empty : static_cast<std::uint32_t>(index(stack[next]));
        if (image.image.at(x, y) != expected)
            return "row " + QByteArray::number(y);
    }
    return {};
}

} // namespace

class TestCorpusSegments : public QObject {
    Q_OBJECT
private slots:
    void corpus_data();
    void corpus();
    void mapFollowsSegments();
    void mappedRanges();
    void cleanupTestCase();

private:
    int m_looked = 0;
    int m_read = 0;
};

void TestCorpusSegments::corpus_data()
{
    QTest::addColumn<QString>("path");
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sharedFolder() / "corpus")) {
        if (!entry.is_regular_file() || entry.path().parent_path() == sharedFolder() / "corpus")
            continue;
        const std::string name = std::filesystem::relative(entry.path(), sharedFolder() / "corpus");
        QTest::newRow(name.c_str()) << QString::fromStdString(entry.path());
        ++count;
    }
    QVERIFY(count > 20);
}

void TestCorpusSegments::corpus()
{
    QFETCH(QString, path);
    ++m_looked;
    const auto read = readSnapshot(path.toStdString(), {}, {});
    if (!read)
        QSKIP("not a snapshot");
    ++m_read;
    const auto snapshot = read.value();
    for (std::size_t d = 0; d < snapshot->devices.size(); ++d) {
        const auto built = Replay::build(snapshot, d, {});
        QVERIFY(built.ok());
        const Replay& r = **built;
        const bool synthetic = path.contains("01-mosaic"); // no allocator made it: blocks outside of segments
        if (r.segments.known()) {
            if (!synthetic)
                QCOMPARE(differentEnd(r), QByteArray());
            QCOMPARE(r.segments.misfits(), 0U);
            // Where the file tells sizes of traced allocations, inference finds the same.
            QCOMPARE(r.segments.sizeCheck().equal, r.segments.sizeCheck().compared);
        }
        for (const StateIndex s : statesOf(r)) {
            const SegmentState state = r.segments.stateAt(s, r.timeline);
            const std::string what = brokenState(state, r.timeline);
            QVERIFY2(what.empty(), (what + " at state " + std::to_string(s)).c_str());
            if (!r.segments.known())
                continue;
            QVERIFY(r.segments.reserved().at(s) >= 0);
            QCOMPARE(std::int64_t(state.reserved), r.segments.reserved().at(s));
            if (synthetic)
                continue;
            QVERIFY(state.homeless.empty());
            QCOMPARE(std::int64_t(state.live), r.segments.allocated().at(s));
            QCOMPARE(std::int64_t(state.waiting), r.segments.waiting().at(s));
            QCOMPARE(std::int64_t(state.requested), r.timeline.requested().at(s));
        }
        for (const bool timeAxis : {false, true}) {
            TimelineWindow w;
            w.timeAxis = timeAxis;
            w.right = timelineExtent(r, timeAxis);
            w.top = std::max(1.0, double(r.timeline.requested().total().max) * 1.05);
            w.width = 211;
            w.height = 157;
            const auto image = layoutTimeline(r, Colouring{}, StackOrder::Age, w, {});
            for (int x = 0; x < w.width; ++x) {
                const QByteArray what = wrongColumn(r, *image, x);
                QVERIFY2(what.isEmpty(), what + " in column " + QByteArray::number(x));
            }
        }
        const SegmentState peak = r.segments.stateAt(r.timeline.requested().total().maxState, r.timeline);
        MapOptions options;
        options.width = 700;
        const MapPicture map = layoutSegments(*snapshot, peak, options);
        double bytes = 0;
        for (const MapBox& box : map.boxes)
            bytes += box.width / options.width * double(map.bytesPerRow);
        QVERIFY(std::abs(bytes - double(peak.reserved)) <= double(peak.reserved) * 1e-9);
    }
}

/// A block the trace freed but the segments hold, and one the other way round.
void TestCorpusSegments::mapFollowsSegments()
{
    const auto snapshot
        = readSnapshot(sharedFolder() / "cases/F-38-trace-against-segments/snapshot.pickle", {}, {}).value();
    const auto r = Replay::build(snapshot, 0, {}).value();
    QCOMPARE(differentEnd(*r), QByteArray());
    const SegmentState end = r->segments.stateAt(r->states() - 1, r->timeline);
    QCOMPARE(end.live, 7340032U);
    QCOMPARE(end.largestHole, 13631488U);
    QCOMPARE(end.homeless.size(), 1U);
    QCOMPARE(r->timeline.requested().last(), 9437184);
    QCOMPARE(r->segments.allocated().last(), 7340032);
}

void TestCorpusSegments::mappedRanges()
{
    const auto snapshot
        = readSnapshot(sharedFolder() / "cases/F-40-expandable-pieces/snapshot.pickle", {}, {}).value();
    const auto r = Replay::build(snapshot, 0, {}).value();
    QCOMPARE(differentEnd(*r), QByteArray());
    for (StateIndex s = 0; s < r->states(); ++s) {
        const SegmentState state = r->segments.stateAt(s, r->timeline);
        QCOMPARE(brokenState(state, r->timeline), std::string());
        QCOMPARE(std::int64_t(state.reserved), r->segments.reserved().at(s));
        QVERIFY(state.homeless.empty());
    }
    QCOMPARE(r->segments.reserved().first(), 104857600);
    QCOMPARE(r->segments.reserved().total().max, 125829120);
}

/// Not all may be skipped; when all were looked at, at least those with figures of their own were snapshots.
void TestCorpusSegments::cleanupTestCase()
{
    QVERIFY(m_looked < 28 || m_read >= 28);
}

QTEST_GUILESS_MAIN(TestCorpusSegments)
#include "tst_corpus_segments.moc"
