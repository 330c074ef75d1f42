// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/training_trace.hpp"
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/live/live_table_model.hpp"
#include "widgets/tree/call_tree_model.hpp"
#include "widgets/tree/call_tree_view.hpp"
#include "widgets/tree/flame_view.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QTest>
#include <QTreeView>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// main calls two functions; some memory has no stack.
std::shared_ptr<const Snapshot> small()
{
    TraceMaker maker;
    const StackId a = maker.stack({"leaf@/app/net.py:3", "step@/app/main.py:7", "main@/app/main.py:1"});
    const StackId b = maker.stack({"other@/app/net.py:4", "step@/app/main.py:7", "main@/app/main.py:1"});
    maker.alloc(0x1000, 100 << 20, a);
    maker.alloc(0x8000000, 30 << 20, b);
    maker.alloc(0x10000000, 20 << 20, b);
    maker.alloc(0x18000000, 5 << 20);
    maker.free(0x8000000, 30 << 20);
    return maker.finish();
}

template <typename View>
struct Shown : PanelFixture {
    View tree;

    explicit Shown(std::shared_ptr<const Snapshot> snapshot = small())
        : PanelFixture(std::move(snapshot))
        , tree(session, view, style)
    {
        tree.resize(600, 300);
        tree.show();
        view.setCursor(4);
        tree.source().flush();
    }
};

QStringList rows(const QAbstractItemModel& model, const QModelIndex& parent = {}, int depth = 0)
{
    QStringList out;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex at = model.index(row, 0, parent);
        out << QString(depth, '.') + at.data().toString() + ' '
                + at.siblingAtColumn(CallTreeModel::Count).data().toString();
        out += rows(model, at, depth + 1);
    }
    return out;
}

} // namespace

/// The call tree and the flame graph.
class TestTreeViews : public QObject {
    Q_OBJECT
private slots:
    void rowsAreTheTree();
    void scopesAreFollowed();
    void branchesSelectTheirAllocations();
    void opensAgain();
    void directionsAndWeights();
    void searches();
    void copying();
    void emptyStates();
    void flameSelectsAndZooms();
    void flameKeys();
    void flameKeepsItsPlace();
    void flamePaints();
};

void TestTreeViews::rowsAreTheTree()
{
    Shown<CallTreeView> s;
    QCOMPARE(rows(*s.tree.tree().model()),
        (QStringList{"main@main.py:1 3", ".step@main.py:7 3", "..leaf@net.py:3 1", "..other@net.py:4 2",
            "no stack 1"}));
    const QString title = s.tree.windowTitle();
    QVERIFY2(title.startsWith("live at event 3 · framework frames hidden"), qPrintable(title));
    // Parents are found from below.
    const QAbstractItemModel& model = *s.tree.tree().model();
    const QModelIndex step = model.index(0, 0, model.index(0, 0));
    QCOMPARE(model.parent(model.index(1, 0, step)), step);
    QVERIFY(!model.parent(model.index(1, 0)).isValid());
}

void TestTreeViews::scopesAreFollowed()
{
    Shown<CallTreeView> s;
    const StateIndex last = s.replay().states() - 1;
    s.view.setCursor(last);
    QTRY_COMPARE(s.tree.source().tree()->nodes[0].count, std::uint64_t(3));
    s.view.setRange(std::pair{StateIndex{1}, last});
    QCOMPARE(s.tree.source().tree()->nodes[0].count, std::uint64_t(3)); // the scope is still a moment
    s.view.setScopeKind(Scope::Kind::Range);
    QTRY_VERIFY(s.tree.windowTitle().startsWith(QString("allocated in the range, %1 events").arg(last - 1)));
    QCOMPARE(s.tree.source().tree()->nodes[0].count, std::uint64_t(3));
    CallTreeWish wish = s.tree.source().options();
    wish.part = ScopePart::Freed;
    s.tree.source().setOptions(wish);
    QTRY_VERIFY(s.tree.windowTitle().startsWith("freed in the range"));
    QCOMPARE(s.tree.source().tree()->nodes[0].bytes, std::uint64_t(30 << 20));
    wish.part = ScopePart::Allocated;
    s.tree.source().setOptions(wish);
    s.view.setScopeKind(Scope::Kind::Trace);
    QTRY_VERIFY(s.tree.windowTitle().startsWith("all of the whole trace"));
    QCOMPARE(s.tree.source().tree()->nodes[0].count, std::uint64_t(4));
    // Without a range the scope of a range is the cursor's moment.
    s.view.setRange(std::nullopt);
    s.view.setScopeKind(Scope::Kind::Range);
    QTRY_VERIFY(s.tree.windowTitle().startsWith("live at event"));
}

void TestTreeViews::branchesSelectTheirAllocations()
{
    Shown<CallTreeView> s;
    QTreeView& tree = s.tree.tree();
    tree.expandAll();
    const QAbstractItemModel& model = *tree.model();
    const QModelIndex other = model.index(1, 0, model.index(0, 0, model.index(0, 0)));
    QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, tree.visualRect(other).center());
    const Selection& selection = s.view.selection();
    QCOMPARE(selection.kind, Selection::Kind::Set);
    QCOMPARE(selection.set->name, QString("other@net.py:4"));
    QVERIFY(selection.set->has(s.liveAt(0x8000000)) && selection.set->has(s.liveAt(0x10000000)));
    QVERIFY(!selection.set->has(s.liveAt(0x1000)));
    // Another selection takes the row's away.
    s.view.selectAllocation(s.liveAt(0x1000));
    QVERIFY(tree.selectionModel()->selectedRows().isEmpty());
}

/// What was open stays open when the cursor moves.
void TestTreeViews::opensAgain()
{
    Shown<CallTreeView> s;
    QTreeView& tree = s.tree.tree();
    const QAbstractItemModel& model = *tree.model();
    QVERIFY(tree.isExpanded(model.index(0, 0))); // most of it: open from the start
    tree.collapse(model.index(0, 0));
    s.view.setCursor(s.replay().states() - 1);
    QTRY_COMPARE(s.tree.source().tree()->nodes[0].count, std::uint64_t(3));
    QVERIFY(!tree.isExpanded(model.index(0, 0)));
    tree.expand(model.index(0, 0));
    s.view.setCursor(4);
    QTRY_COMPARE(s.tree.source().tree()->nodes[0].count, std::uint64_t(4));
    QVERIFY(tree.isExpanded(model.index(0, 0)));
}

void TestTreeViews::directionsAndWeights()
{
    Shown<CallTreeView> s;
    CallTreeWish wish = s.tree.source().options();
    wish.direction = TreeDirection::FromLeaf;
    wish.weight = TreeWeight::Count;
    s.tree.source().setOptions(wish);
    s.tree.source().flush();
    const QAbstractItemModel& model = *s.tree.tree().model();
    QCOMPARE(model.index(0, 0).data().toString(), QString("other@net.py:4"));
    QCOMPARE(model.headerData(0, Qt::Horizontal).toString(), QString("Call tree, from the leaf"));
    QCOMPARE(
        model.index(0, CallTreeModel::Share).data().toString(), QString("50.0 %").replace(' ', QChar(0xa0)));
    wish.weight = TreeWeight::BytesTime;
    s.tree.source().setOptions(wish);
    s.tree.source().flush();
    QVERIFY(model.index(0, CallTreeModel::Value).data().toString().endsWith(" s"));
}

void TestTreeViews::searches()
{
    Shown<CallTreeView> s;
    auto flags = std::make_shared<std::vector<std::uint8_t>>(4, std::uint8_t{0});
    (*flags)[index(s.liveAt(0x1000))] = 1;
    s.view.setMatches(flags);
    QTRY_VERIFY(s.tree.source().tree()->filtered);
    const QAbstractItemModel& model = *s.tree.tree().model();
    QVERIFY(model.index(0, CallTreeModel::Value).data().toString().contains("of"));
    QVERIFY(model.index(1, 0).data(LiveTableModel::FadedRole).toBool());
    QVERIFY(!model.index(0, 0).data(LiveTableModel::FadedRole).toBool());
}

void TestTreeViews::copying()
{
    Shown<CallTreeView> s;
    s.tree.tree().setFocus();
    QTest::keyClick(&s.tree.tree(), Qt::Key_C, Qt::ControlModifier);
    QVERIFY(QGuiApplication::clipboard()->text().startsWith("all\t"));
    QVERIFY(QGuiApplication::clipboard()->text().contains("\n  main@main.py:1\t"));
}

void TestTreeViews::emptyStates()
{
    Shown<CallTreeView> s;
    s.view.setCursor(0);
    QTRY_COMPARE(s.tree.emptyHeading(), QString("Nothing in this scope"));
    s.session.setRank(nullptr);
    QTRY_COMPARE(s.tree.emptyHeading(), QString("Nothing is open"));
    Shown<FlameView> flame;
    QVERIFY(flame.tree.emptyHeading().isEmpty());
    flame.view.setCursor(0);
    QTRY_COMPARE(flame.tree.emptyHeading(), QString("Nothing in this scope"));
}

void TestTreeViews::flameSelectsAndZooms()
{
    Shown<FlameView> s;
    FlameCanvas& canvas = s.tree.canvas();
    const CallTree& tree = *s.tree.source().tree();
    const auto boxOf = [&](const char* name) -> QPoint {
        for (const FlameBox& box : canvas.boxes())
            if (box.merged == 1 && tree.name(box.node) == name)
                return canvas.rectOf(box).center().toPoint();
        return {-1, -1};
    };
    QTest::mouseClick(canvas.viewport(), Qt::LeftButton, {}, boxOf("other@net.py:4"));
    QCOMPARE(s.view.selection().kind, Selection::Kind::Set);
    QVERIFY(s.tree.headText().contains("32.3"));
    QTest::mouseDClick(canvas.viewport(), Qt::LeftButton, {}, boxOf("other@net.py:4"));
    QVERIFY(s.tree.headText().startsWith("Zoomed to other@net.py:4"));
    QCOMPARE(boxOf("leaf@net.py:3"), QPoint(-1, -1));
    QTest::mouseDClick(canvas.viewport(), Qt::LeftButton, {}, boxOf("all"));
    QCOMPARE(s.tree.zoomed(), 0U);
    // Beside the boxes: nothing is selected.
    QTest::mouseClick(canvas.viewport(), Qt::LeftButton, {}, QPoint(300, 200));
    QCOMPARE(s.view.selection().kind, Selection::Kind::None);
}

void TestTreeViews::flameKeys()
{
    Shown<FlameView> s;
    FlameCanvas& canvas = s.tree.canvas();
    canvas.setFocus();
    for (int i = 0; i < 3; ++i)
        QTest::keyClick(&canvas, Qt::Key_Down);
    QCOMPARE(s.view.selection().set->name, QString("leaf@net.py:3"));
    QTest::keyClick(&canvas, Qt::Key_Right);
    QCOMPARE(s.view.selection().set->name, QString("other@net.py:4"));
    QTest::keyClick(&canvas, Qt::Key_Right); // the last one
    QCOMPARE(s.view.selection().set->name, QString("other@net.py:4"));
    QTest::keyClick(&canvas, Qt::Key_Return);
    QVERIFY(s.tree.zoomed() != 0);
    QTest::keyClick(&canvas, Qt::Key_Up);
    QCOMPARE(s.view.selection().set->name, QString("step@main.py:7"));
    QTest::keyClick(&canvas, Qt::Key_Backspace);
    QVERIFY(s.tree.headText().startsWith("Zoomed to step@main.py:7"));
}

/// The same branch stays zoomed and selected when the cursor moves.
void TestTreeViews::flameKeepsItsPlace()
{
    Shown<FlameView> s;
    FlameCanvas& canvas = s.tree.canvas();
    for (int i = 0; i < 2; ++i)
        QTest::keyClick(&canvas, Qt::Key_Down);
    QTest::keyClick(&canvas, Qt::Key_Return);
    s.view.setCursor(s.replay().states() - 1);
    QTRY_COMPARE(s.tree.source().tree()->nodes[0].count, std::uint64_t(3));
    QVERIFY(s.tree.headText().startsWith("Zoomed to step@main.py:7"));
    QVERIFY(s.tree.headText().contains("selected"));
}

/// Boxes have the colour of their largest allocation, the leaf in full; every pixel of a row is somebody's.
void TestTreeViews::flamePaints()
{
    TrainingTrace trace;
    trace.full = true;
    Shown<FlameView> s(trace.make());
    s.view.setScopeKind(Scope::Kind::Trace);
    s.tree.flush();
    for (const int width : {80, 640}) {
        s.tree.resize(width, 300);
        QImage image(s.tree.size(), QImage::Format_RGB32);
        QPainter painter(&image);
        s.tree.renderTo(painter, 1);
        painter.end();
        const FlameCanvas& canvas = s.tree.canvas();
        QVERIFY(canvas.boxes().size() > 3);
        const QRgb ground = s.style.color(Tone::Base).rgb();
        for (const FlameBox& box : canvas.boxes()) {
            const QRectF area = canvas.rectOf(box).translated(canvas.geometry().topLeft());
            if (area.width() < 6 || area.bottom() >= image.height())
                continue;
            QVERIFY(image.pixel(int(area.left()) + 2, int(area.bottom()) - 2) != ground);
        }
    }
}

QTEST_MAIN(TestTreeViews)
#include "tst_tree_views.moc"
