// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/common/wrapped_label.hpp"
#include "widgets/oom/oom_banner.hpp"
#include "widgets/oom/oom_capacity_bar.hpp"
#include "widgets/oom/oom_curve.hpp"
#include "widgets/oom/oom_map.hpp"
#include "widgets/oom/oom_view.hpp"

#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QtTest>

#include <cmath>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t MiB = 1 << 20;
constexpr std::uint64_t base = 0x7f0000000000;
constexpr std::uint64_t apart = 0x10000000;

struct Failure {
    std::int64_t request = 100 * MiB;
    std::int64_t deviceFree = 20 * MiB;
    std::int64_t stream = 0;
    int segments = 4;
    bool capturing = false;
    int events = 1; ///< failed requests
    std::int64_t cached = 0; ///< of a segment that holds nothing
};

/// Segments of 100 MiB, in each a block of 10 MiB of `pin` and behind it one of 90 MiB that `work` gave back;
/// one segment of 200 MiB full of `weights`; then requests that fail.
std::shared_ptr<const Snapshot> fragmented(const Failure& wish = {})
{
    TraceMaker maker;
    const StackId weights = maker.stack({"weights@model.py:1"});
    const StackId pin = maker.stack({"pin@adam.py:7"});
    const StackId work = maker.stack({"work@net.py:9"});
    const StackId capture = maker.stack({"work@net.py:9", "capture_begin@/lib/torch/cuda/graphs.py:80"});
    const std::uint64_t first = base + apart;
    maker.event(Action::SegmentAlloc, base, 200 * MiB);
    maker.alloc(base, 200 * MiB, weights);
    for (int i = 0; i < wish.segments; ++i) {
        const std::uint64_t at = first + static_cast<std::uint64_t>(i) * apart;
        maker.event(Action::SegmentAlloc, at, 100 * MiB);
        maker.alloc(at, 10 * MiB, pin);
        maker.alloc(at + 10 * MiB, 90 * MiB, work);
    }
    for (int i = 0; i < wish.segments; ++i)
        maker.free(first + static_cast<std::uint64_t>(i) * apart + 10 * MiB, 90 * MiB);
    if (wish.cached > 0) {
        maker.event(Action::SegmentAlloc, base - apart, wish.cached);
        maker.alloc(base - apart, wish.cached, work);
        maker.free(base - apart, wish.cached);
    }
    for (int i = 0; i < wish.events; ++i) {
        maker.setStream(wish.stream);
        EventRow& oom = maker.event(Action::Oom, 0, wish.request, wish.capturing ? capture : work);
        oom.deviceFree = wish.deviceFree;
    }
    maker.setStream(0);
    if (wish.cached > 0) {
        maker.segment(base - apart, wish.cached);
        maker.block(BlockState::Inactive, wish.cached, 0);
    }
    maker.segment(base, 200 * MiB);
    maker.block(BlockState::Allocated, 200 * MiB, 200 * MiB, weights);
    for (int i = 0; i < wish.segments; ++i) {
        maker.segment(first + static_cast<std::uint64_t>(i) * apart, 100 * MiB);
        maker.block(BlockState::Allocated, 10 * MiB, 10 * MiB, pin);
        maker.block(BlockState::Inactive, 90 * MiB, 0);
    }
    return maker.finish();
}

/// The view over one file, taken apart as the diagnosis would.
struct OomFixture : PanelFixture {
    OomView oom;

    explicit OomFixture(std::shared_ptr<const Snapshot> snapshot, QSize size = {1220, 760})
        : PanelFixture(std::move(snapshot))
        , oom(session, view, style)
    {
        oom.resize(size);
        show();
    }
    void show()
    {
        OomData data;
        data.replay = session.replay();
        data.rank = 3;
        for (const OomEvent& event : replay().device().ooms)
            data.ooms.push_back(autopsy(replay(), event, std::nullopt));
        oom.setData(std::move(data));
        oom.show();
        oom.flush();
        QCoreApplication::processEvents();
        oom.flush();
    }
    QString said()
    {
        QString text = oom.banner().title() + QLatin1Char('\n') + oom.banner().sentences();
        return text.replace(QChar(0xa0), QLatin1Char(' '));
    }
    QPoint centreOf(std::size_t box)
    {
        const MapBox& b = oom.map().built().picture->boxes[box];
        const double margin = style.metrics().padding;
        return QPointF(margin + b.x + b.width / 2, style.metrics().unit + b.y + b.height / 2).toPoint();
    }
    std::size_t boxOf(PieceKind kind)
    {
        const MapBuilt& built = oom.map().built();
        for (std::size_t i = 0; i < built.picture->boxes.size(); ++i)
            if (built.state->pieces[built.picture->boxes[i].piece].kind == kind)
                return i;
        qFatal("no such box");
        return 0;
    }
};

QString cell(const QTableView& table, int row, int column)
{
    return table.model()->index(row, column).data().toString().replace(QChar(0xa0), QLatin1Char(' '));
}

} // namespace

class TestOomView : public QObject {
    Q_OBJECT

private slots:
    void hasContentOnlyWithAnEvent()
    {
        TraceMaker maker;
        maker.alloc(base, MiB);
        PanelFixture f(maker.finish());
        OomView oom(f.session, f.view, f.style);
        QSignalSpy changed(&oom, &OomView::contentChanged);
        QVERIFY(!oom.hasContent());
        f.open(fragmented());
        QVERIFY(changed.count() > 0);
        QVERIFY2(!oom.hasContent(), "not before the diagnosis is there");
        auto diagnosis = std::make_shared<Diagnosis>();
        diagnosis->rank = f.session.rank();
        diagnosis->devices.resize(1);
        diagnosis->devices[0].ooms.push_back(autopsy(f.replay(), f.replay().device().ooms[0], std::nullopt));
        changed.clear();
        f.session.setDiagnosis(diagnosis);
        QVERIFY(changed.count() > 0);
        QVERIFY(oom.hasContent());
        oom.show();
        QTRY_VERIFY(oom.scene() != nullptr);
        QVERIFY(oom.banner().title().contains(QLatin1String("by fragmentation")));
        f.open(fragmented());
        QVERIFY(!oom.hasContent());
    }

    void saysWhyInWords()
    {
        OomFixture f(fragmented());
        const QString said = f.said();
        QVERIFY2(said.startsWith(QLatin1String("Out of memory by fragmentation, not by size\n")),
            qPrintable(said));
        for (const char* part : {"Rank 3 asked for 100 MiB", "360 MiB of its reserved memory was free",
                 "in 4 holes of 90.0 MiB", "each held open by one 10.0 MiB block", "280 MiB to spare"})
            QVERIFY2(said.contains(QLatin1String(part)), qPrintable(said));
        QCOMPARE(f.oom.banner().grade(), QStringLiteral("A"));
        QCOMPARE(f.oom.scene()->autopsy().slack, std::optional<std::int64_t>(280 * MiB));
    }

    void barIsToScaleAndAddsUp()
    {
        OomFixture f(fragmented());
        const OomScene& scene = *f.oom.scene();
        OomCapacityBar& bar = f.oom.bar();
        std::uint64_t sum = 0;
        double right = 0;
        const double perByte = (bar.width() - 1) / static_cast<double>(scene.usable);
        for (std::size_t i = 0; i < scene.parts.size(); ++i) {
            const QRectF rect = bar.partRect(i);
            QVERIFY(std::abs(rect.left() - right) < 0.01);
            QVERIFY(std::abs(rect.width() - static_cast<double>(scene.parts[i].bytes) * perByte) < 0.01);
            right = rect.right();
            sum += scene.parts[i].bytes;
        }
        QCOMPARE(sum, std::uint64_t{620 * MiB});
        QCOMPARE(scene.reserved, std::uint64_t{600 * MiB});
        QCOMPARE(scene.used, std::uint64_t{240 * MiB});
        QCOMPARE(scene.parts.back().kind, CapacityPart::Kind::DeviceFree);
        // The request begins where free memory does and keeps the scale.
        QVERIFY(std::abs(bar.requestRect().left() - 240.0 * MiB * perByte) < 0.01);
        QVERIFY(std::abs(bar.requestRect().width() - 100.0 * MiB * perByte) < 0.01);
        QVERIFY(bar.shortRect().isEmpty());
        QVERIFY(bar.accessibleDescription().contains(QLatin1String("free but pinned")));
        QTest::mouseClick(&bar, Qt::LeftButton, {}, bar.partRect(0).center().toPoint());
        QCOMPARE(f.view.selection().kind, Selection::Kind::Group);
        QCOMPARE(f.view.cursor(), scene.autopsy().state);
        QTest::keyClick(&bar, Qt::Key_Right);
        const auto grouping = f.session.grouping(GroupBy::Site);
        QCOMPARE(grouping->name(f.view.selection().group), std::string("pin@adam.py:7"));
    }

    void ghostStandsWhereTheLargestHoleStarts()
    {
        OomFixture f(fragmented());
        QVERIFY(f.oom.map().isVisible());
        QCOMPARE(f.oom.map().title(), QStringLiteral("Segments with holes: 4 of 5"));
        QCOMPARE(f.oom.map().built().picture->frames.size(), std::size_t{4});
        const auto ghost = f.oom.map().ghost();
        QVERIFY(ghost.has_value());
        const MapBox& hole = f.oom.map().built().picture->boxes[f.boxOf(PieceKind::Free)];
        const double margin = f.style.metrics().padding;
        QVERIFY(std::abs(ghost->left - margin - hole.x) < 0.01);
        QVERIFY(std::abs(ghost->fits - ghost->left - hole.width) < 0.01);
        QVERIFY(std::abs(ghost->right - ghost->left - 100.0 * MiB * ghost->pixelsPerByte) < 0.01);
        QVERIFY(!ghost->torn);
        QCOMPARE(f.oom.map().missingText().replace(QChar(0xa0), QLatin1Char(' ')),
            QStringLiteral("10.0 MiB too long"));
        f.oom.map().setAll(true);
        QCOMPARE(f.oom.map().title(), QStringLiteral("All 5 segments"));
        QCOMPARE(f.oom.map().built().picture->frames.size(), std::size_t{5});
    }

    void whatIsTooLongIsRed()
    {
        OomFixture f(fragmented());
        const auto ghost = f.oom.map().ghost();
        const QImage image = f.oom.map().grab().toImage();
        const double ratio = image.devicePixelRatio();
        const QRgb red = f.style.theme().rgb(Tone::Crit);
        const int y = f.oom.map().canvas().y() - 8;
        const auto at = [&](double x) {
            return image.pixel(static_cast<int>(x * ratio), static_cast<int>(y * ratio)) & 0xffffffU;
        };
        QCOMPARE(at((ghost->fits + ghost->right) / 2), red & 0xffffffU);
        QVERIFY(at(ghost->left + 12) != (red & 0xffffffU));
    }

    void clickFollowsThroughViewState()
    {
        OomFixture f(fragmented());
        f.view.setCursor(3);
        QWidget* const map = f.oom.map().canvas().viewport();
        const std::size_t hole = f.boxOf(PieceKind::Free);
        QTest::mouseClick(map, Qt::LeftButton, {}, f.centreOf(hole));
        QCOMPARE(f.view.selection().kind, Selection::Kind::Hole);
        QCOMPARE(f.view.selection().address, base + apart + 10 * MiB);
        QCOMPARE(f.view.cursor(), f.oom.scene()->autopsy().state);
        QVERIFY2(f.view.canGoBack(), "the jump of the cursor can be undone");
        QTest::mouseClick(map, Qt::LeftButton, {}, f.centreOf(f.boxOf(PieceKind::Live)));
        QCOMPARE(f.view.selection().kind, Selection::Kind::Allocation);
        QCOMPARE(f.oom.pinTable().selectionModel()->selectedRows().size(), 1);
        QTest::keyClick(&f.oom.map().canvas(), Qt::Key_Down);
        const auto& columns = f.replay().timeline.allocations();
        QCOMPARE(columns.address[index(f.view.selection().allocation)], base + 2 * apart);
        QTest::keyClick(&f.oom.map().canvas(), Qt::Key_Right);
        QCOMPARE(f.view.selection().kind, Selection::Kind::Hole);
        QCOMPARE(f.view.selection().address, base + 2 * apart + 10 * MiB);
        QTest::mouseMove(map, f.centreOf(f.boxOf(PieceKind::Live)));
        QVERIFY(valid(f.view.hovered()));
    }

    void pinsStandBySite()
    {
        OomFixture f(fragmented());
        QTableView& pins = f.oom.pinTable();
        QCOMPARE(pins.model()->rowCount(), 1);
        const QStringList row{
            cell(pins, 0, 0), cell(pins, 0, 1), cell(pins, 0, 2), cell(pins, 0, 3), cell(pins, 0, 4)};
        QCOMPARE(row, (QStringList{"pin@adam.py:7", "4", "40.0 MiB", "360 MiB", QString::fromUtf8("9.0 ×")}));
        QTest::mouseClick(
            pins.viewport(), Qt::LeftButton, {}, pins.visualRect(pins.model()->index(0, 0)).center());
        QCOMPARE(f.view.selection().kind, Selection::Kind::Group);
        QCOMPARE(
            f.session.grouping(GroupBy::Site)->name(f.view.selection().group), std::string("pin@adam.py:7"));
        const QModelIndexList live = f.oom.liveTable().selectionModel()->selectedRows();
        QCOMPARE(live.size(), 1);
        QCOMPARE(cell(f.oom.liveTable(), live[0].row(), 0), QStringLiteral("pin@adam.py:7"));
        f.view.clearSelection();
        QVERIFY(pins.selectionModel()->selectedRows().isEmpty());
    }

    void whatFillsTheCardSumsToTheCurve()
    {
        OomFixture f(fragmented());
        QTableView& live = f.oom.liveTable();
        QCOMPARE(live.model()->rowCount(), 2);
        QCOMPARE(cell(live, 0, 0), QStringLiteral("weights@model.py:1"));
        QCOMPARE(cell(live, 0, static_cast<int>(LiveColumn::Live)), QStringLiteral("200 MiB"));
        QCOMPARE(cell(live, 0, static_cast<int>(LiveColumn::Share)), QStringLiteral("32.3 %"));
        QString sum = f.oom.liveSumText().replace(QChar(0xa0), QLatin1Char(' '));
        QVERIFY2(sum.contains(QString::fromUtf8("Σ 5 allocations, 240 MiB = curve")), qPrintable(sum));
    }

    void checksCarryTheirNumbers()
    {
        OomFixture f(fragmented());
        const auto& checks = f.oom.checks().checks();
        QVERIFY(checks.size() >= 5);
        QCOMPARE(checks[0].state, OomCheck::State::Holds);
        QVERIFY(checks[0].figure.contains(QLatin1String("+280")));
        QCOMPARE(checks[1].state, OomCheck::State::Holds);
        QString compared = checks[1].figure;
        QCOMPARE(compared.replace(QChar(0xa0), QLatin1Char(' ')), QString::fromUtf8("380 MiB ≥ 100 MiB"));
        QCOMPARE(checks.back().state, OomCheck::State::Unknown);
        QVERIFY2(!checks.back().tip.isEmpty(), "unknown says what is needed");
        f.session.setCardSize(std::uint64_t{1000} * MiB);
        f.oom.flush();
        QCOMPARE(f.oom.checks().checks().back().state, OomCheck::State::Holds);
        QVERIFY(f.oom.checks().checks().back().figure.startsWith(QLatin1String("380")));
    }

    void bySizeTheMapGivesWay()
    {
        OomFixture f(fragmented({900 * MiB, 20 * MiB, 0, 4, false, 1, 0}));
        QVERIFY2(f.said().startsWith(QLatin1String("Out of memory by size: even packed, 520 MiB short")),
            qPrintable(f.said()));
        QVERIFY(!f.oom.map().isVisible());
        QVERIFY(f.oom.liveTable().isVisible());
        QVERIFY(f.oom.liveTable().width() > f.oom.width() / 2);
        const QRectF lacking = f.oom.bar().shortRect();
        const QRectF request = f.oom.bar().requestRect();
        QVERIFY(std::abs(lacking.width() / request.width() - 520.0 / 900.0) < 0.01);
        QVERIFY(lacking.right() <= f.oom.bar().width());
        QCOMPARE(f.oom.checks().checks()[0].state, OomCheck::State::Fails);
    }

    void thinMarginIsSaid()
    {
        OomFixture f(fragmented({300 * MiB, 20 * MiB, 0, 4, false, 1, 0}));
        QVERIFY2(f.said().startsWith(
                     QLatin1String("Out of memory by fragmentation, not by size, by a thin margin\n")),
            qPrintable(f.said()));
        QVERIFY2(f.said().contains(QLatin1String("below 160 MiB")), qPrintable(f.said()));
        OomFixture g(fragmented({400 * MiB, 20 * MiB, 0, 4, false, 1, 0}));
        QVERIFY2(g.said().contains(QLatin1String("by a thin margin: even packed, 20.0 MiB short")),
            qPrintable(g.said()));
    }

    void anotherStreamHoldsIt()
    {
        OomFixture f(fragmented({100 * MiB, 20 * MiB, 7, 4, false, 1, 0}));
        const QString said = f.said();
        QVERIFY2(said.startsWith(QLatin1String("Out of memory: the free memory is in the default stream")),
            qPrintable(said));
        QVERIFY2(said.contains(QLatin1String("360 MiB in the default stream")), qPrintable(said));
        QVERIFY(f.oom.map().isVisible());
        const auto& parts = f.oom.scene()->parts;
        QVERIFY(std::any_of(parts.begin(), parts.end(),
            [](const CapacityPart& part) { return part.kind == CapacityPart::Kind::OtherStream; }));
    }

    void captureHoldsTheCache()
    {
        OomFixture f(fragmented({250 * MiB, 20 * MiB, 0, 4, true, 1, 300 * MiB}));
        const QString said = f.said();
        QVERIFY2(said.startsWith(
                     QLatin1String("Out of memory during graph capture, when cached memory is not flushed")),
            qPrintable(said));
        QVERIFY2(said.contains(QLatin1String("300 MiB of cached memory was free")), qPrintable(said));
        QVERIFY(f.oom.map().isVisible());
        // The request would fit into the cached segment: nothing of the ghost is too long.
        QVERIFY(f.oom.map().ghost().has_value());
        QCOMPARE(f.oom.map().missingText(), QString());
        QCOMPARE(f.oom.map().ghost()->fits, f.oom.map().ghost()->right);
    }

    void withoutNumbersItSaysWhatIsMissing()
    {
        PanelFixture f(fragmented());
        OomData data;
        data.replay = f.session.replay();
        OomAutopsy oom = autopsy(f.replay(), f.replay().device().ooms[0], std::nullopt);
        oom.verdict = Verdict::Unknown;
        oom.slack.reset();
        oom.request.reset();
        oom.deviceFree.reset();
        oom.cannotTell = "the event does not state <the size>";
        data.ooms = {oom};
        OomView view(f.session, f.view, f.style);
        view.resize(960, 560);
        view.setData(std::move(data));
        view.show();
        view.flush();
        QCOMPARE(view.banner().title(), QStringLiteral("Out of memory: cannot tell why"));
        QVERIFY2(view.banner().sentences().contains(QLatin1String("does not state <the size>")),
            qPrintable(view.banner().sentences()));
        QCOMPARE(view.banner().grade(), QString());
        QVERIFY(!view.map().ghost());
        QVERIFY(view.bar().requestRect().isEmpty());
        QCOMPARE(view.checks().checks()[0].state, OomCheck::State::Unknown);
    }

    void severalEventsHaveAList()
    {
        OomFixture f(fragmented({100 * MiB, 20 * MiB, 0, 4, false, 3, 0}));
        QVERIFY(f.oom.banner().events().isVisible());
        QCOMPARE(f.oom.banner().events().count(), 3);
        QCOMPARE(f.oom.currentEvent(), 2);
        const StateIndex last = f.oom.scene()->autopsy().state;
        f.oom.setEvent(0);
        f.oom.flush();
        QCOMPARE(f.oom.scene()->autopsy().state, last - 2);
        f.view.setCursor(0);
        for (auto* button : f.oom.findChildren<QPushButton*>())
            if (button->text() == QLatin1String("Go to event"))
                button->click();
        QCOMPARE(f.view.cursor(), last - 2);
        OomFixture one(fragmented());
        QVERIFY(!one.oom.banner().events().isVisible());
    }

    void copiesAsText()
    {
        OomFixture f(fragmented());
        for (auto* button : f.oom.findChildren<QPushButton*>())
            if (button->text() == QLatin1String("Copy text"))
                button->click();
        const QString text = QGuiApplication::clipboard()->text();
        for (const char* part : {"Out of memory by fragmentation", "293,601,280 B", "pin@adam.py:7: 4 blocks",
                 "377,487,360 B", "weights@model.py:1", "Slack ≥ 0: it would fit packed: holds"})
            QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
        QVERIFY(!text.contains(QLatin1Char('<')));
    }

    void theCurveLeadsToTheEvent()
    {
        OomFixture f(fragmented(), {1220, 900});
        const OomCurve& curve = f.oom.curve();
        QVERIFY(curve.isVisible());
        const OomAutopsy& autopsy = f.oom.scene()->autopsy();
        // 240 MiB live, 600 reserved, 620 usable: the axis ends a little above.
        const double live = curve.yOf(240.0 * MiB);
        QVERIFY(curve.yOf(620.0 * MiB) > curve.plot().top());
        QVERIFY(live > curve.yOf(340.0 * MiB) && live < curve.plot().bottom());
        const QImage image = f.oom.curve().grab().toImage();
        const double ratio = image.devicePixelRatio();
        const auto at
            = [&](double x, double y) { return image.pixelColor(QPointF(x * ratio, y * ratio).toPoint()); };
        const double x = curve.xOf(autopsy.state);
        const double foot = curve.plot().bottom() - 3;
        const QColor crit = f.style.color(Tone::Crit);
        QVERIFY(
            at(x - 1, foot) == crit || at(x, foot) == crit || at(x + 1, foot) == crit); // the event's line
        QVERIFY(at(x - 40, live + 6) != at(x - 40, live - 10)); // filled below the curve
        // A click on an earlier moment takes the cursor there.
        QTest::mouseClick(&f.oom.curve(), Qt::LeftButton, {}, QPointF(curve.xOf(3), live).toPoint());
        QVERIFY(f.view.cursor() >= 2 && f.view.cursor() <= 4);
        QTest::keyClick(&f.oom.curve(), Qt::Key_Right);
        QVERIFY(f.view.cursor() >= 3 && f.view.cursor() <= 5);
        // Where the rest needs the room, it goes.
        f.oom.resize(1220, 620);
        QCoreApplication::processEvents();
        QVERIFY(!curve.isVisible());
    }

    void namesGoBeforeTheLeverage()
    {
        OomFixture f(fragmented(), {1220, 760});
        const auto hidden = [&] { return f.oom.pinTable().isColumnHidden(4); };
        QVERIFY(!hidden());
        f.oom.resize(780, 760);
        QTRY_VERIFY(hidden());
        QVERIFY(f.oom.pinTable().columnWidth(0) > 100);
        f.oom.resize(1220, 760);
        QTRY_VERIFY(!hidden());
    }

    void headingIsNotCut()
    {
        OomFixture f(fragmented(), {1220, 760});
        QVERIFY(f.oom.map().subtitle().endsWith(QLatin1String("one row each, lowest address first")));
        f.oom.resize(960, 760);
        QCoreApplication::processEvents();
        const auto* label = f.oom.map().findChild<QLabel*>(QStringLiteral("subtitle"));
        QVERIFY(label->fontMetrics().horizontalAdvance(label->text()) <= label->width());
    }

    void theSumIsAlwaysThere()
    {
        OomFixture f(fragmented({300 * MiB, 20 * MiB, 0, 4, false, 1, 0}), {1220, 760});
        for (const int width : {1220, 980, 700, 600}) {
            f.oom.resize(width, 760);
            QCoreApplication::processEvents();
            const OomCapacityBar& bar = f.oom.bar();
            const QRectF sum = bar.slackRect();
            QVERIFY(!sum.isEmpty());
            QVERIFY2(QRectF(bar.rect()).contains(sum), qPrintable(QString::number(width)));
            QVERIFY(!sum.intersects(bar.requestRect()));
        }
    }

    void nothingIsCut_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::addRow("wide") << QSize(1220, 760);
        QTest::addRow("with the curve") << QSize(1220, 860);
        QTest::addRow("narrow") << QSize(960, 560);
    }

    void nothingIsCut()
    {
        QFETCH(QSize, size);
        OomFixture f(fragmented({100 * MiB, 20 * MiB, 0, 24, false, 1, 0}), size);
        QCoreApplication::processEvents();
        f.oom.flush();
        QCoreApplication::processEvents();
        QCOMPARE(f.oom.size(), size);
        for (QLabel* label : f.oom.findChildren<QLabel*>()) {
            if (!label->isVisible() || label->text().isEmpty()
                || label->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored)
                continue;
            const int wanted = label->wordWrap() ? label->heightForWidth(label->width())
                                                 : label->minimumSizeHint().height();
            QVERIFY2(label->height() >= wanted, qPrintable(label->text()));
            if (dynamic_cast<WrappedLabel*>(label)
                && label->textFormat() == Qt::PlainText) { // nor is room lost below a text
                const QMargins around = label->contentsMargins();
                const QRect lines = label->fontMetrics().boundingRect(
                    QRect(0, 0, label->width() - around.left() - around.right(), 1000), Qt::TextWordWrap,
                    label->text());
                QCOMPARE(label->height(), lines.height() + around.top() + around.bottom());
            }
            if (!label->wordWrap())
                QVERIFY2(label->width() >= label->minimumSizeHint().width(), qPrintable(label->text()));
        }
        for (QScrollArea* area : f.oom.findChildren<QScrollArea*>())
            QVERIFY2(area->verticalScrollBar()->maximum() == 0, "one screen holds all of it");
        QVERIFY2(size.height() < 700 || f.oom.map().canvas().verticalScrollBar()->maximum() == 0,
            "all rows are seen");
    }
};

QTEST_MAIN(TestOomView)
#include "tst_oom_view.moc"
