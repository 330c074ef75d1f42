// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/facts.hpp"
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/common/size_text.hpp"
#include "widgets/segments/segment_map_view.hpp"

#include <QAccessible>
#include <QPainter>
#include <QPushButton>
#include <QtTest>

#include <cmath>
#include <set>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t MiB = 1 << 20;
constexpr std::uint64_t base = 0x7f0000000000;

/// One 100 MiB segment: a (20) · hole (10) · b (30, freed in the middle of the trace) · c (40); a second one
/// of 40 MiB that is empty; a private pool's of 20 MiB, half used.
std::shared_ptr<const Snapshot> threeSegments(bool events = true)
{
    TraceMaker maker;
    const PoolId pool = maker.builder().pool(0, 1);
    const StackId a = maker.stack({"a@net.py:1"});
    const StackId b = maker.stack({"b@net.py:2"});
    const StackId c = maker.stack({"c@net.py:3"});
    if (events) {
        maker.event(Action::SegmentAlloc, base, 100 * MiB);
        maker.event(Action::SegmentAlloc, base + 0x10000000, 40 * MiB);
        maker.event(Action::SegmentAlloc, base + 0x20000000, 20 * MiB).pool = pool;
    }
    maker.alloc(base, 20 * MiB, a);
    maker.alloc(base + 30 * MiB, 30 * MiB, b);
    maker.alloc(base + 60 * MiB, 40 * MiB, c);
    maker.event(Action::Alloc, base + 0x20000000, 10 * MiB, a).pool = pool;
    maker.free(base + 30 * MiB, 30 * MiB);
    maker.segment(base, 100 * MiB);
    maker.block(BlockState::Allocated, 20 * MiB, 20 * MiB, a);
    maker.block(BlockState::Inactive, 40 * MiB, 0);
    maker.block(BlockState::Allocated, 40 * MiB, 40 * MiB, c);
    maker.segment(base + 0x10000000, 40 * MiB);
    maker.block(BlockState::Inactive, 40 * MiB, 0);
    maker.segment(base + 0x20000000, 20 * MiB, pool);
    maker.block(BlockState::Allocated, 10 * MiB, 10 * MiB, a);
    maker.block(BlockState::Inactive, 10 * MiB, 0);
    return maker.finish();
}

struct MapFixture : PanelFixture {
    SegmentMapView map;

    explicit MapFixture(std::shared_ptr<const Snapshot> snapshot)
        : PanelFixture(std::move(snapshot))
        , map(session, view, style)
    {
        map.resize(600, 300);
        map.show();
        map.flush();
    }

    /// Centre of the box of the piece at an address, in the canvas' viewport.
    QPointF centreOf(std::uint64_t address) const
    {
        for (const MapBox& box : map.scene().picture->boxes)
            if (map.scene().state->pieces[box.piece].address == address)
                return centreOf(box);
        return {};
    }
    QPointF centreOf(const MapBox& box) const
    {
        return {
            box.x + box.width / 2 + style.metrics().padding, box.y + box.height / 2 + style.metrics().unit};
    }
    void click(QPointF point)
    {
        QTest::mouseClick(map.canvas().viewport(), Qt::LeftButton, {}, point.toPoint());
    }
    QImage picture(double ratio = 1)
    {
        QWidget* const viewport = map.canvas().viewport();
        QImage image((QSizeF(viewport->size()) * ratio).toSize(), QImage::Format_RGB32);
        image.setDevicePixelRatio(ratio);
        QPainter painter(&image);
        map.canvas().paintInto(painter, ratio);
        return image;
    }
};

/// Share of pixels that differ by more than a shade.
double difference(const QImage& a, const QImage& b)
{
    if (a.size() != b.size())
        return 1;
    int differing = 0;
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x) {
            const QRgb p = a.pixel(x, y);
            const QRgb q = b.pixel(x, y);
            const int far = std::max({std::abs(qRed(p) - qRed(q)), std::abs(qGreen(p) - qGreen(q)),
                std::abs(qBlue(p) - qBlue(q))});
            differing += far > 16;
        }
    return static_cast<double>(differing) / (a.width() * a.height());
}

} // namespace

class TestSegmentMap : public QObject {
    Q_OBJECT

private slots:
    void showsEveryPieceOnce_data()
    {
        QTest::addColumn<bool>("expandable");
        QTest::addColumn<bool>("rows");
        QTest::newRow("flow") << false << false;
        QTest::newRow("rows") << false << true;
        QTest::newRow("expandable, flow") << true << false;
        QTest::newRow("expandable, rows") << true << true;
    }

    void showsEveryPieceOnce()
    {
        QFETCH(bool, expandable);
        QFETCH(bool, rows);
        ToyWish wish;
        wish.expandable = expandable;
        wish.pools = wish.streams = true;
        MapFixture f(toyRun(wish).snapshot);
        f.map.setMapLayout(rows ? MapLayout::Rows : MapLayout::Flow);
        for (StateIndex state = 0; state < f.replay().states(); state += 23) {
            f.view.setCursor(state);
            f.map.flush();
            if (!f.map.emptyHeading().isEmpty()) {
                QCOMPARE(f.replay().segments.reserved().at(state), std::int64_t{0});
                continue;
            }
            const SegmentScene& scene = f.map.scene();
            QCOMPARE(scene.state->state, state);
            // Widths add up to the reserved bytes, whatever the rows.
            double bytes = 0;
            std::set<std::uint32_t> pieces;
            for (const MapBox& box : scene.picture->boxes)
                pieces.insert(box.piece);
            QCOMPARE(pieces.size(), scene.state->pieces.size());
            for (const std::uint32_t piece : pieces)
                bytes += static_cast<double>(scene.state->pieces[piece].size);
            QCOMPARE(static_cast<std::int64_t>(bytes), f.replay().segments.reserved().at(state));
        }
    }

    void colourAtTheCentreIsTheAllocations_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::addColumn<double>("ratio");
        for (const bool dark : {false, true})
            for (const double ratio : {1.0, 1.25, 1.5, 2.0})
                QTest::addRow("%s at %g", dark ? "dark" : "light", ratio) << dark << ratio;
    }

    void colourAtTheCentreIsTheAllocations()
    {
        QFETCH(bool, dark);
        QFETCH(double, ratio);
        MapFixture f(threeSegments());
        f.style.setChoice(dark ? ThemeChoice::Dark : ThemeChoice::Light);
        f.map.flush();
        const QImage image = f.picture(ratio);
        const SegmentScene& scene = f.map.scene();
        const auto slots_ = f.style.theme().slotTable(false);
        int checked = 0;
        for (const MapBox& box : scene.picture->boxes) {
            const Piece& piece = scene.state->pieces[box.piece];
            if (piece.kind != PieceKind::Live || box.width < 5)
                continue;
            const QPoint at = (f.centreOf(box) * ratio).toPoint();
            QCOMPARE(
                QColor(image.pixel(at)), QColor(slots_[scene.colouring->slotOf[index(piece.allocation)]]));
            ++checked;
        }
        QVERIFY(checked >= 3);
    }

    void freeMemoryIsDrawnByItsMeaning()
    {
        MapFixture f(threeSegments());
        f.view.setCursor(f.replay().states() - 1);
        f.map.flush();
        const SegmentScene& scene = f.map.scene();
        std::set<PieceLook> looks;
        for (const MapBox& box : scene.picture->boxes)
            looks.insert(lookOf(scene.state->segments[box.segment], scene.state->pieces[box.piece]));
        QVERIFY(looks.contains(PieceLook::Pinned));
        QVERIFY(looks.contains(PieceLook::Releasable));
        QVERIFY(looks.contains(PieceLook::PoolHeld));
        QVERIFY2(f.map.footerText().contains(QStringLiteral("free, pinned 40.0\u00a0MiB in 1 segment")),
            qPrintable(f.map.footerText()));
        QVERIFY(f.map.footerText().contains(QStringLiteral("free, releasable 40.0\u00a0MiB")));
        QVERIFY(f.map.footerText().contains(QStringLiteral("held by a pool 10.0\u00a0MiB")));
        QCOMPARE(scene.state->pinned + scene.state->releasable + scene.state->heldByPools, scene.state->free);
        // A releasable hole is one plain colour inside; the others carry a pattern.
        const QImage image = f.picture();
        const auto shades = [&](std::uint64_t address) {
            const QPoint centre = f.centreOf(address).toPoint();
            std::set<QRgb> found;
            for (int x = -9; x <= 9; ++x)
                found.insert(image.pixel(centre.x() + x, centre.y()));
            return found.size();
        };
        QCOMPARE(shades(base + 0x10000000), std::size_t{1});
        QVERIFY(shades(base + 20 * MiB) > 1);
        QVERIFY(shades(base + 0x20000000 + 10 * MiB) > 1);
    }

    void followsTheCursor()
    {
        MapFixture f(threeSegments());
        for (const StateIndex state : {StateIndex{4}, StateIndex{9}, StateIndex{6}}) {
            f.view.setCursor(state);
            QTRY_COMPARE(f.map.scene().state->state, state);
            QCOMPARE(f.map.scene().state->reserved,
                static_cast<std::uint64_t>(f.replay().segments.reserved().at(state)));
        }
        QVERIFY2(f.map.windowTitle().startsWith(QStringLiteral("at event 5 · 3 segments")),
            qPrintable(f.map.windowTitle()));
        f.map.setMoment(MapMoment::End);
        QTRY_COMPARE(f.map.scene().state->state, f.replay().states() - 1);
        f.view.setCursor(5);
        f.map.flush();
        QCOMPARE(f.map.scene().state->state, f.replay().states() - 1);
    }

    void clicksSelectBlocksHolesAndSegments()
    {
        MapFixture f(threeSegments());
        f.view.setCursor(f.replay().states() - 1);
        f.map.flush();
        f.click(f.centreOf(base + 60 * MiB));
        QCOMPARE(f.view.selection().kind, Selection::Kind::Allocation);
        QCOMPARE(f.view.selection().allocation, f.liveAt(base + 60 * MiB));
        f.click(f.centreOf(base + 20 * MiB));
        QCOMPARE(f.view.selection().kind, Selection::Kind::Hole);
        QCOMPARE(f.view.selection().address, base + 20 * MiB);
        QCOMPARE(f.view.selection().size, std::uint64_t{40} << 20);
        const MapFrame& frame = f.map.scene().picture->frames.front();
        f.click({frame.x + f.style.metrics().padding, frame.y + frame.height / 2 + f.style.metrics().unit});
        QCOMPARE(f.view.selection().kind, Selection::Kind::Segment);
        QCOMPARE(f.view.selection().address, f.map.scene().state->segments[frame.segment].address);
        f.click({590, 280});
        QCOMPARE(f.view.selection().kind, Selection::Kind::None);
    }

    void hoverSpeaksInTheStatusBar()
    {
        MapFixture f(threeSegments());
        QString said;
        connect(&f.view, &ViewState::hoverTextChanged, this, [&](const QString& text) { said = text; });
        QTest::mouseMove(f.map.canvas().viewport(), f.centreOf(base + 60 * MiB).toPoint());
        QTRY_VERIFY2(
            said.startsWith(QStringLiteral("c@net.py:3  40.0\u00a0MiB · allocation")), qPrintable(said));
        QCOMPARE(f.view.hovered(), f.liveAt(base + 60 * MiB));
        QTest::mouseMove(f.map.canvas().viewport(), f.centreOf(base + 0x10000000).toPoint());
        QTRY_VERIFY2(said.startsWith(QStringLiteral("free, releasable  40.0\u00a0MiB")), qPrintable(said));
        QCOMPARE(f.view.hovered(), AllocationId::none);
    }

    void arrowsWalkEveryBlock()
    {
        MapFixture f(threeSegments());
        f.view.setCursor(f.replay().states() - 1);
        f.map.flush();
        SegmentMapCanvas& canvas = f.map.canvas();
        canvas.setFocus();
        std::set<std::pair<int, std::uint64_t>> visited;
        const std::size_t pieces = f.map.scene().state->pieces.size();
        for (std::size_t i = 0; i < pieces; ++i) {
            QTest::keyClick(&canvas, Qt::Key_Right);
            const Selection& selection = f.view.selection();
            visited.insert({static_cast<int>(selection.kind),
                selection.kind == Selection::Kind::Hole ? selection.address : index(selection.allocation)});
        }
        QCOMPARE(visited.size(), pieces);
        const Selection last = f.view.selection();
        QTest::keyClick(&canvas, Qt::Key_Right);
        QCOMPARE(f.view.selection(), last);
        QTest::keyClick(&canvas, Qt::Key_Left);
        QVERIFY(f.view.selection() != last);
        QTest::keyClick(&canvas, Qt::Key_Left, Qt::ControlModifier);
        QCOMPARE(f.view.selection().kind, Selection::Kind::Segment);
    }

    void arrowsBelongToTheMapOnlyWithFocus()
    {
        MapFixture f(threeSegments());
        int moves = 0;
        QAction next(&f.map);
        next.setShortcut(Qt::Key_Right);
        next.setShortcutContext(Qt::WindowShortcut);
        connect(&next, &QAction::triggered, this, [&] { ++moves; });
        f.map.addAction(&next);
        f.map.activateWindow();
        f.map.canvas().setFocus();
        QTest::keyClick(&f.map.canvas(), Qt::Key_Right);
        QCOMPARE(moves, 0);
        QVERIFY(f.view.selection().kind != Selection::Kind::None);
    }

    void doubleClickZoomsAndReturns()
    {
        MapFixture f(threeSegments());
        const std::uint64_t before = f.map.scene().picture->bytesPerRow;
        f.map.setBytesPerRow(std::uint64_t{200} << 20);
        f.map.flush();
        QTest::mouseDClick(
            f.map.canvas().viewport(), Qt::LeftButton, {}, f.centreOf(base + 0x10000000).toPoint());
        QCOMPARE(f.map.scene().picture->bytesPerRow, std::uint64_t{40} << 20);
        QTest::mouseDClick(
            f.map.canvas().viewport(), Qt::LeftButton, {}, f.centreOf(base + 0x10000000).toPoint());
        QCOMPARE(f.map.scene().picture->bytesPerRow, before);
    }

    void filtersByPoolAndHoles()
    {
        MapFixture f(threeSegments());
        f.view.setCursor(f.replay().states() - 1);
        f.map.setPoolFilter(static_cast<PoolId>(1));
        f.map.flush();
        for (const MapFrame& frame : f.map.scene().picture->frames)
            QCOMPARE(f.map.scene().state->segments[frame.segment].pool, static_cast<PoolId>(1));
        QVERIFY(f.map.footerText().contains(QStringLiteral("held by a pool 10.0\u00a0MiB")));
        QVERIFY(!f.map.footerText().contains(QStringLiteral("pinned")));
        f.map.setPoolFilter(std::nullopt);
        f.map.setWithHoles(true);
        f.map.flush();
        QCOMPARE(f.map.mapLayout(), MapLayout::Rows);
        f.view.setCursor(0);
        f.map.flush();
        QVERIFY(!f.map.emptyHeading().isEmpty());
    }

    void fitOutlinesTheRightHoles()
    {
        const SegmentView large{{}, 0, 100, {}, {}, SegmentKind::Large};
        const SegmentView small{{}, 0, 100, {}, {}, SegmentKind::Small};
        const Piece hole{0, 2 << 20, 0, AllocationId::none, PieceKind::Free, true};
        const Piece block{0, 2 << 20, 0, AllocationId::none, PieceKind::Live, true};
        QVERIFY(FitRequest{2 << 20}.fits(large, hole));
        QVERIFY(!FitRequest{(2 << 20) + 1}.fits(large, hole));
        QVERIFY(!FitRequest{2 << 20}.fits(large, block));
        QVERIFY(!FitRequest{2 << 20}.fits(small, hole));
        // Up to 1 MiB the allocator looks into small segments only.
        QVERIFY(FitRequest{1 << 20}.fits(small, hole));
        QVERIFY(!FitRequest{1 << 20}.fits(large, hole));
        MapFixture f(threeSegments());
        f.map.setFitRequest(std::uint64_t{500} << 20);
        QVERIFY2(f.map.footerText().startsWith(QStringLiteral("500\u00a0MiB fits no hole here")),
            qPrintable(f.map.footerText()));
    }

    void readsSizes()
    {
        QCOMPARE(parseSize(QStringLiteral("1.5 GiB")), std::uint64_t{1610612736});
        QCOMPARE(parseSize(QStringLiteral("64M")), std::uint64_t{67108864});
        QCOMPARE(parseSize(QStringLiteral("1,048,576")), std::uint64_t{1048576});
        QCOMPARE(parseSize(QStringLiteral("20.0\u00a0MiB")), std::uint64_t{20} << 20);
        for (const char* text : {"", "0", "-1", "lots", "1.5.2 G", "9999999999999 T"})
            QVERIFY(!parseSize(QString::fromLatin1(text)));
    }

    void unknownSegmentsSayWhy()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 4096);
        MapFixture f(maker.finish());
        QCOMPARE(f.map.emptyHeading(), QStringLiteral("This file lists no segments"));
        QVERIFY(!f.map.findChildren<QAbstractButton*>().isEmpty());
    }

    void withoutSegmentEventsSaysSo()
    {
        MapFixture f(threeSegments(false));
        f.view.setCursor(2);
        f.map.flush();
        QVERIFY2(f.map.windowTitle().contains(QStringLiteral("segments as at the end of the file")),
            qPrintable(f.map.windowTitle()));
    }

    void forgetsTheOldFile()
    {
        MapFixture f(threeSegments());
        const QPointF where = f.centreOf(base + 60 * MiB);
        f.open(trainingStep());
        // Before anything is painted anew, the pointer finds nothing of the old file.
        QVERIFY(!f.map.canvas().hitAt(where).box);
        QTRY_VERIFY(f.map.canvas().hasScene());
        QCOMPARE(f.map.scene().snapshot, f.session.replay()->snapshot);
        f.session.setRank(nullptr);
        f.map.flush();
        QCOMPARE(f.map.emptyHeading(), QStringLiteral("Nothing is open"));
    }

    void speaksToAssistiveTechnology()
    {
        MapFixture f(threeSegments());
        f.view.selectAllocation(f.liveAt(base + 60 * MiB));
        QAccessibleInterface* const chart = QAccessible::queryAccessibleInterface(&f.map.canvas());
        QVERIFY(chart);
        QCOMPARE(chart->role(), QAccessible::Chart);
        QCOMPARE(chart->text(QAccessible::Name), QStringLiteral("Segment map"));
        QTRY_VERIFY(chart->text(QAccessible::Value).contains(QStringLiteral("selected c@net.py:3")));
        QVERIFY(chart->text(QAccessible::Value).contains(QStringLiteral("3 segments")));
    }

    void looksAsItDid_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }

    void looksAsItDid()
    {
        QFETCH(bool, dark);
        ToyWish wish;
        wish.steps = 120;
        MapFixture f(toyRun(wish).snapshot);
        f.style.setChoice(dark ? ThemeChoice::Dark : ThemeChoice::Light);
        f.view.setCursor(f.replay().states() / 2);
        f.map.flush();
        // Without texts, which depend on the machine's fonts.
        SegmentScene scene = f.map.scene();
        auto picture = std::make_shared<MapPicture>(*scene.picture);
        picture->headers.clear();
        scene.picture = picture;
        f.map.canvas().setScene(scene);
        const QImage image = f.picture();
        const QString file = QStringLiteral(TIDEMARK_TEST_DATA "/segment-map-%1.png")
                                 .arg(dark ? QStringLiteral("dark") : QStringLiteral("light"));
        if (qEnvironmentVariableIsSet("TIDEMARK_UPDATE_PICTURES"))
            QVERIFY(image.save(file));
        const QImage before(file);
        QVERIFY2(!before.isNull(), qPrintable(file));
        const double share = difference(image, before.convertToFormat(QImage::Format_RGB32));
        QVERIFY2(share < 0.005, qPrintable(QStringLiteral("%1 % differ").arg(share * 100)));
    }
};

QTEST_MAIN(TestSegmentMap)
#include "tst_segment_map.moc"
