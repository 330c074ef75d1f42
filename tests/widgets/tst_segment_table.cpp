// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/segments/segment_table_view.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QTableView>
#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Three segments, made after each other.
std::shared_ptr<const Snapshot> three()
{
    TraceMaker maker;
    for (const std::int64_t size : {40, 100, 20})
        maker.event(Action::SegmentAlloc, 0x7f0000000000 + std::uint64_t(size << 22), size << 20);
    for (const std::int64_t size : {40, 100, 20}) {
        maker.segment(0x7f0000000000 + std::uint64_t(size << 22), size << 20);
        maker.block(BlockState::Allocated, 10 << 20, 10 << 20);
        maker.block(BlockState::Inactive, (size - 10) << 20, 0);
    }
    return maker.finish();
}

struct Shown : PanelFixture {
    SegmentTableView segments{session, view, style};

    Shown()
        : PanelFixture(three())
    {
        segments.resize(900, 240);
        segments.show();
        view.setCursor(replay().states() - 1);
    }
    bool ready(int rows) { return !segments.busy() && segments.model().rowCount() == rows; }
    QString cell(int row, int column) { return segments.model().index(row, column).data().toString(); }
};

} // namespace

/// The table of segments.
class TestSegmentTable : public QObject {
    Q_OBJECT
private slots:
    void rows();
    void followsTheCursor();
    void sorts();
    void selects();
    void copying();
    void emptyStates();
};

void TestSegmentTable::rows()
{
    Shown s;
    QTRY_VERIFY(s.ready(3));
    QVERIFY(s.cell(0, SegmentTableModel::Size).startsWith("100")); // largest first
    QVERIFY(s.cell(0, SegmentTableModel::Free).startsWith("90.0"));
    QVERIFY(s.cell(0, SegmentTableModel::Live).startsWith("10.0"));
    QCOMPARE(s.cell(0, SegmentTableModel::Blocks), QString("1"));
    QCOMPARE(s.cell(0, SegmentTableModel::Since), QString("event 1"));
    QVERIFY(s.segments.footText().contains("3 segments, 160"));
    QVERIFY(s.segments.table().isColumnHidden(SegmentTableModel::Pool));
}

void TestSegmentTable::followsTheCursor()
{
    Shown s;
    QTRY_VERIFY(s.ready(3));
    s.view.setCursor(1);
    QTRY_VERIFY(s.ready(1));
    QCOMPARE(s.segments.windowTitle(), QString("at event 0"));
    s.view.setCursor(0);
    QTRY_COMPARE(s.segments.emptyHeading(), QString("Nothing is reserved here"));
}

void TestSegmentTable::sorts()
{
    Shown s;
    QTRY_VERIFY(s.ready(3));
    s.segments.table().sortByColumn(SegmentTableModel::Address, Qt::AscendingOrder);
    for (int row = 1; row < 3; ++row)
        QVERIFY(s.segments.model().segment(row - 1).address < s.segments.model().segment(row).address);
    s.segments.table().sortByColumn(SegmentTableModel::Since, Qt::DescendingOrder);
    QVERIFY(s.cell(0, SegmentTableModel::Size).startsWith("20.0"));
    // The order stays when the cursor moves.
    s.view.setCursor(2);
    QTRY_VERIFY(s.ready(2));
    QCOMPARE(s.cell(0, SegmentTableModel::Since), QString("event 1"));
}

void TestSegmentTable::selects()
{
    Shown s;
    QTRY_VERIFY(s.ready(3));
    s.segments.table().selectRow(1);
    QCOMPARE(s.view.selection().kind, Selection::Kind::Segment);
    QCOMPARE(s.view.selection().address, s.segments.model().segment(1).address);
    Selection other;
    other.kind = Selection::Kind::Segment;
    other.address = s.segments.model().segment(2).address;
    s.view.select(other);
    QCOMPARE(s.segments.table().currentIndex().row(), 2);
    s.view.clearSelection();
    QVERIFY(s.segments.table().selectionModel()->selectedRows().isEmpty());
}

void TestSegmentTable::copying()
{
    Shown s;
    QTRY_VERIFY(s.ready(3));
    QTest::keyClick(&s.segments.table(), Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n');
    QCOMPARE(lines.size(), 4);
    QVERIFY(lines[0].startsWith("Segment\tSize\tBlocks hold\tFree\t"));
    QVERIFY(lines[1].contains(QString("\t%1\t%2\t%3\t").arg(100 << 20).arg(10 << 20).arg(90 << 20)));
}

void TestSegmentTable::emptyStates()
{
    Shown s;
    TraceMaker maker;
    maker.alloc(0x1000, 64, maker.stack({"f@m.py:1"}));
    s.open(maker.finish());
    QTRY_COMPARE(s.segments.emptyHeading(), QString("This file lists no segments"));
    s.session.setRank(nullptr);
    QTRY_COMPARE(s.segments.emptyHeading(), QString("Nothing is open"));
}

QTEST_MAIN(TestSegmentTable)
#include "tst_segment_table.moc"
