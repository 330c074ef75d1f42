// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/diagnosis.hpp"
#include "tests/support/training_trace.hpp"
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/growth/growth_view.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QTableView>
#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

struct Shown : PanelFixture {
    GrowthView growth{session, view, style};

    Shown()
        : PanelFixture(trace())
    {
        session.setDiagnosis(diagnose(session.rank(), {}, {}));
        growth.resize(800, 240);
        growth.show();
    }
    static std::shared_ptr<const Snapshot> trace()
    {
        TrainingTrace made;
        made.full = true;
        made.steps = 6;
        made.leak = true;
        return made.make();
    }
    bool ready() { return !growth.busy() && growth.model().rowCount() > 0; }
};

} // namespace

/// What grows from step to step.
class TestGrowthView : public QObject {
    Q_OBJECT
private slots:
    void wholeTrace();
    void range();
    void leakIsFound();
    void rowsSelectWhatTheyKept();
    void groups();
    void copying();
    void emptyStates();
};

void TestGrowthView::wholeTrace()
{
    Shown s;
    QTRY_VERIFY(s.ready());
    QCOMPARE(s.growth.windowTitle(), QString("in the whole trace"));
    QVERIFY(s.growth.footText().startsWith(QString::fromUtf8("Σ")));
    QVERIFY(!s.growth.table().isColumnHidden(GrowthModel::Steps));
    const auto strip
        = s.growth.model().index(0, GrowthModel::Steps).data(GrowthModel::StripRole).value<QList<double>>();
    QVERIFY(strip.size() >= 4);
    // What kept most comes first.
    for (int row = 1; row < s.growth.model().rowCount(); ++row)
        QVERIFY(s.growth.model().row(row - 1).keptBytes >= s.growth.model().row(row).keptBytes);
}

void TestGrowthView::range()
{
    Shown s;
    const StateIndex last = s.replay().states() - 1;
    s.view.setRange(std::pair{last / 2, last / 2 + 9});
    QTRY_COMPARE(s.growth.windowTitle(), QString("in the range, 9 events"));
    QVERIFY(s.growth.table().isColumnHidden(GrowthModel::Steps)); // no whole step in it
}

void TestGrowthView::leakIsFound()
{
    Shown s;
    QTRY_VERIFY(s.ready());
    QStringList growing;
    for (int row = 0; row < s.growth.model().rowCount(); ++row)
        if (s.growth.model().index(row, GrowthModel::Trend).data().toString() == "grows")
            growing << s.growth.model().name(row);
    QCOMPARE(growing.size(), 1);
    // By the heading: what grows comes together.
    s.growth.table().sortByColumn(GrowthModel::Allocated, Qt::DescendingOrder);
    for (int row = 1; row < s.growth.model().rowCount(); ++row)
        QVERIFY(s.growth.model().row(row - 1).allocatedBytes >= s.growth.model().row(row).allocatedBytes);
}

void TestGrowthView::rowsSelectWhatTheyKept()
{
    Shown s;
    QTRY_VERIFY(s.ready());
    int leak = -1;
    int gone = -1;
    for (int row = 0; row < s.growth.model().rowCount(); ++row) {
        if (s.growth.model().row(row).trend == Trend::Grows)
            leak = row;
        if (s.growth.model().row(row).kept == 0)
            gone = row;
    }
    s.growth.table().selectRow(leak);
    QCOMPARE(s.view.selection().kind, Selection::Kind::Set);
    const auto& flags = s.view.selection().set->flags;
    QCOMPARE(std::uint64_t(std::count(flags.begin(), flags.end(), 1)), s.growth.model().row(leak).kept);
    for (std::size_t i = 0; i < flags.size(); ++i)
        if (flags[i] != 0)
            QCOMPARE(s.replay().timeline.allocations().endState[i], s.replay().states());
    // A row that kept nothing selects the group.
    s.growth.table().selectRow(gone);
    QCOMPARE(s.view.selection().kind, Selection::Kind::Group);
}

void TestGrowthView::groups()
{
    Shown s;
    QTRY_VERIFY(s.ready());
    s.growth.setGroupBy(GroupBy::Role);
    QTRY_VERIFY(!s.growth.busy() && s.growth.model().table()->by == GroupBy::Role);
    QCOMPARE(s.growth.model().headerData(0, Qt::Horizontal, Qt::DisplayRole).toString(), QString("Role"));
    QStringList names;
    for (int row = 0; row < s.growth.model().rowCount(); ++row)
        names << s.growth.model().name(row);
    QVERIFY2(names.contains("saved activation"), qPrintable(names.join(", ")));
}

void TestGrowthView::copying()
{
    Shown s;
    QTRY_VERIFY(s.ready());
    QTest::keyClick(&s.growth.table(), Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QGuiApplication::clipboard()->text().split('\n');
    QCOMPARE(lines.size(), s.growth.model().rowCount() + 1);
    QCOMPARE(lines[0], QString("Call site\tAllocated\tFreed\tKept\tCount\tTrend"));
    std::uint64_t allocated = 0;
    for (const QString& line : lines.mid(1))
        allocated += line.section('\t', 1, 1).toULongLong();
    QCOMPARE(allocated, s.growth.model().table()->sum.allocatedBytes);
}

void TestGrowthView::emptyStates()
{
    Shown s;
    s.view.setRange(std::pair{StateIndex{3}, StateIndex{3}});
    QTRY_COMPARE(s.growth.emptyHeading(), QString("Nothing came or went in the range"));
    s.session.setRank(nullptr);
    QTRY_COMPARE(s.growth.emptyHeading(), QString("Nothing is open"));
}

QTEST_MAIN(TestGrowthView)
#include "tst_growth_view.moc"
