// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/events/events_view.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QTableView>
#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::shared_ptr<const Snapshot> small()
{
    TraceMaker maker;
    maker.event(Action::SegmentAlloc, 0x1000, 64 << 20);
    maker.alloc(0x1000, 10 << 20, maker.stack({"leaf@/app/net.py:3"}));
    maker.alloc(0x1000 + (16 << 20), 20 << 20, maker.stack({"other@/app/net.py:4"}));
    maker.free(0x1000, 10 << 20);
    maker.segment(0x1000, 64 << 20);
    maker.block(BlockState::Inactive, 16 << 20, 0);
    maker.block(BlockState::Allocated, 20 << 20, 20 << 20);
    maker.block(BlockState::Inactive, 28 << 20, 0);
    return maker.finish();
}

struct Shown : PanelFixture {
    EventsView events{session, view, style};

    explicit Shown(std::shared_ptr<const Snapshot> snapshot = small())
        : PanelFixture(std::move(snapshot))
    {
        events.resize(900, 240);
        events.show();
    }
    QString cell(int row, int column) const
    {
        return events.model().data(events.model().index(row, column), Qt::DisplayRole).toString();
    }
};

} // namespace

/// The table of events.
class TestEventsView : public QObject {
    Q_OBJECT
private slots:
    void rowsAreTheEvents();
    void followsTheCursor();
    void choosingMovesTheCursor();
    void jumpsToTheOtherEnd();
    void filters();
    void copying();
    void emptyStates();
    void manyRows();
};

void TestEventsView::rowsAreTheEvents()
{
    Shown s;
    QTRY_COMPARE(s.events.model().rowCount(), int(s.replay().device().events.count()));
    QCOMPARE(s.cell(0, EventsModel::Action), QString("segment_alloc"));
    QCOMPARE(s.cell(0, EventsModel::Event), QString("0"));
    QVERIFY(s.cell(0, EventsModel::Size).startsWith("64.0"));
    QVERIFY(s.cell(1, EventsModel::Live).startsWith("10.0"));
    QVERIFY(s.cell(2, EventsModel::Live).startsWith("30.0"));
    QVERIFY(s.cell(2, EventsModel::Reserved).startsWith("64.0"));
    QCOMPARE(s.cell(1, EventsModel::Address), QString("0x1000"));
    QCOMPARE(s.cell(1, EventsModel::Site), QString("leaf@net.py:3"));
    const int last = s.events.model().rowCount() - 1;
    // A free is its allocation's.
    QCOMPARE(s.cell(last, EventsModel::Site), QString("leaf@net.py:3"));
    for (int row = 0; row <= last; ++row)
        QCOMPARE(s.cell(row, EventsModel::Live),
            QString::fromStdString(formatBytes(s.replay().timeline.requested().at(StateIndex(row) + 1))));
}

void TestEventsView::followsTheCursor()
{
    Shown s;
    QTRY_VERIFY(s.events.model().rowCount() > 0);
    s.view.setCursor(3);
    QTRY_COMPARE(s.events.table().currentIndex().row(), 2);
    s.view.setCursor(0);
    QTRY_VERIFY(s.events.table().selectionModel()->selectedRows().isEmpty());
    QVERIFY(s.events.windowTitle().contains("before the first event"));
}

void TestEventsView::choosingMovesTheCursor()
{
    Shown s;
    QTRY_VERIFY(s.events.model().rowCount() > 0);
    const QModelIndex at = s.events.model().index(2, EventsModel::Action);
    QTest::mouseClick(
        s.events.table().viewport(), Qt::LeftButton, {}, s.events.table().visualRect(at).center());
    QCOMPARE(s.view.cursor(), StateIndex{3});
    QCOMPARE(s.view.selection().kind, Selection::Kind::Allocation);
    QCOMPARE(s.view.selection().allocation, s.liveAt(0x1000 + (16 << 20)));
    QTest::keyClick(&s.events.table(), Qt::Key_Up);
    QCOMPARE(s.view.cursor(), StateIndex{2});
}

void TestEventsView::jumpsToTheOtherEnd()
{
    Shown s;
    QTRY_VERIFY(s.events.model().rowCount() > 0);
    s.view.setCursor(2);
    QTRY_COMPARE(s.events.table().currentIndex().row(), 1);
    QTest::keyClick(&s.events.table(), Qt::Key_Return);
    const int last = s.events.model().rowCount() - 1;
    QCOMPARE(s.events.table().currentIndex().row(), last);
    QCOMPARE(s.view.cursor(), StateIndex(last + 1));
    QTest::keyClick(&s.events.table(), Qt::Key_Return);
    QCOMPARE(s.view.cursor(), StateIndex{2});
    // One that lives on has no other end.
    s.view.setCursor(3);
    QTest::keyClick(&s.events.table(), Qt::Key_Return);
    QCOMPARE(s.view.cursor(), StateIndex{3});
}

void TestEventsView::filters()
{
    Shown s;
    QTRY_VERIFY(s.events.model().rowCount() > 0);
    auto flags = std::make_shared<std::vector<std::uint8_t>>(2, std::uint8_t{0});
    s.view.setCursor(2);
    (*flags)[index(s.liveAt(0x1000))] = 1;
    s.view.setMatches(flags);
    QTRY_VERIFY(s.events.footText().contains("are about the filter's matches"));
    for (int row = 0; row < s.events.model().rowCount(); ++row)
        QCOMPARE(s.cell(row, EventsModel::Site), QString("leaf@net.py:3"));
    QCOMPARE(s.events.table().currentIndex().row(), 0);
    // Between two rows the earlier one is the current one.
    s.view.setCursor(3);
    QTRY_COMPARE(s.events.table().currentIndex().row(), 0);
    s.view.setMatches(std::make_shared<std::vector<std::uint8_t>>(2, std::uint8_t{0}));
    QTRY_VERIFY(s.events.emptyHeading().startsWith("The filter hides all"));
    s.view.setMatches(nullptr);
    QTRY_COMPARE(s.events.model().rowCount(), int(s.replay().device().events.count()));
}

void TestEventsView::copying()
{
    Shown s;
    QTRY_VERIFY(s.events.model().rowCount() > 0);
    s.events.table().selectRow(1);
    QTest::keyClick(&s.events.table(), Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n');
    QCOMPARE(lines.size(), 2);
    QVERIFY(lines[0].startsWith("Event\tTime\tAction\tSize\t"));
    QVERIFY(lines[1].contains("\talloc\t10485760\t"));
    QVERIFY(lines[1].endsWith("\tleaf@net.py:3"));
}

void TestEventsView::emptyStates()
{
    Shown s;
    s.session.setRank(nullptr);
    QTRY_COMPARE(s.events.emptyHeading(), QString("Nothing is open"));
    TraceMaker maker;
    maker.segment(0x1000, 1 << 20);
    maker.block(BlockState::Allocated, 1 << 20, 1 << 20);
    s.open(maker.finish());
    QTRY_COMPARE(s.events.emptyHeading(), QString("This file has no events"));
}

/// A million rows cost no more than those that are seen.
void TestEventsView::manyRows()
{
    TraceMaker maker;
    const StackId stack = maker.stack({"leaf@/app/net.py:3"});
    for (int i = 0; i < 300000; ++i) {
        maker.alloc(0x1000, 512, stack);
        maker.free(0x1000, 512);
    }
    Shown s(maker.finish());
    QTRY_VERIFY(s.events.model().rowCount() >= 600000);
    const int last = s.events.model().rowCount() - 1;
    s.view.setCursor(StateIndex(last + 1));
    QTRY_COMPARE(s.events.table().currentIndex().row(), last);
    QVERIFY(s.events.table().visualRect(s.events.model().index(last, 0)).isValid());
}

QTEST_MAIN(TestEventsView)
#include "tst_events_view.moc"
