// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_toolbar.hpp"
#include "app/peak_bars_window.hpp"
#include "tests/app/window_fixture.hpp"
#include "widgets/compare/compare_curves.hpp"
#include "widgets/compare/compare_table.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/compare/what_changed.hpp"
#include "widgets/findings/findings_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

using namespace tidemark;
using compare::Which;
using namespace tidemark::test;

namespace {

std::string trainingOf(int layers, int steps)
{
    SampleTraining training;
    training.hidden = 512;
    training.layers = layers;
    training.heads = 8;
    training.vocabulary = 4000;
    training.batch = 2;
    training.steps = steps;
    return writePickle(recordSampleTraining(training));
}

/// A window with a run of two layers, and one of four beside it.
class TwoRuns {
public:
    TwoRuns()
    {
        f.window->resize(1600, 1000);
        f.window->show();
        a = f.write("two_layers.pickle", trainingOf(2, 3));
        b = f.write("four_layers.pickle", trainingOf(4, 3));
        f.open({a});
        f.window->compareWith(b);
        wait();
    }
    void wait()
    {
        QTRY_VERIFY_WITH_TIMEOUT(state().comparison()
                && state().comparison()->b.rank == state().session(Which::B).rank() && !state().busy()
                && !f.workspace->comparer.isLoading(),
            20000);
        QCoreApplication::processEvents();
    }
    CompareState& state() { return f.workspace->comparer.state(); }
    CompareView& view() { return *f.window->compareView(); }
    static std::int64_t live(const compare::Side& side, StateIndex at)
    {
        return side.replay().timeline.requested().at(at);
    }

    WindowFixture f;
    QString a;
    QString b;
};

} // namespace

/// Two runs in one window.
class TestCompareWindow : public QObject {
    Q_OBJECT
private slots:
    void emptyAtFirst();
    void peaks();
    void atTheCursor();
    void oneCursorAndOneWindow();
    void notesOnTheCurves();
    void oneSelection();
    void filterAndMissing();
    void ownLabelRules();
    void swapped();
    void withItself();
    void instants();
    void movedByHand();
    void tableFinds();
    void unreadable();
    void layouts();
    void severalRuns();
};

void TestCompareWindow::emptyAtFirst()
{
    WindowFixture f;
    f.window->show();
    f.open({f.training()});
    f.window->commands()["window.compare"]->trigger();
    QCOMPARE(f.window->tabs()->currentWidget(), f.window->compareView());
    QCOMPARE(f.window->compareView()->emptyHeading(), QString("Choose a second run"));
}

void TestCompareWindow::peaks()
{
    TwoRuns t;
    const auto comparison = t.state().comparison();
    const auto table = t.state().table();
    QVERIFY(comparison->peak.delta() > 0);
    std::int64_t sum = 0;
    for (const compare::Row& row : table->rows)
        sum += row.delta;
    QCOMPARE(sum, comparison->peak.delta());
    CompareTable& shown = t.view().table();
    QCOMPARE(shown.model().rowCount(), static_cast<int>(table->rows.size()));
    QVERIFY2(shown.sumText().contains("= difference of the curves at the peak of each"),
        qPrintable(shown.sumText()));
    QVERIFY(t.view().figuresText().contains("Peak live, A"));
    QVERIFY2(t.view().what().toPlainText().contains("higher"), qPrintable(t.view().what().toPlainText()));
    // Both timelines have the same height, so that they can be held against each other.
    QCOMPARE(t.state().session(Which::A).sharedHeight(), t.state().session(Which::B).sharedHeight());
    QVERIFY(t.state().session(Which::A).sharedHeight() >= comparison->peak.b);
}

void TestCompareWindow::atTheCursor()
{
    TwoRuns t;
    t.state().setAt(CompareState::At::Cursor);
    for (const double share : {0.1, 0.35, 0.5, 0.77, 1.0}) {
        t.state().setCursor(t.state().alignment()->length() * share);
        QTRY_VERIFY(!t.state().busy());
        const auto comparison = t.state().comparison();
        const StateIndex a = t.state().view(Which::A).cursor();
        const StateIndex b = t.state().view(Which::B).cursor();
        QTRY_COMPARE(t.state().table()->scopeA.first, a);
        std::int64_t sum = 0;
        for (const compare::Row& row : t.state().table()->rows)
            sum += row.delta;
        QCOMPARE(sum, TwoRuns::live(comparison->b, b) - TwoRuns::live(comparison->a, a));
        QVERIFY(t.view().table().sumText().contains("at the cursor"));
    }
}

void TestCompareWindow::oneCursorAndOneWindow()
{
    TwoRuns t;
    const auto alignment = t.state().alignment();
    QCOMPARE(alignment->by(), compare::AlignBy::Step);
    // A click in the curves.
    CompareCurves& curves = t.view().curves();
    const QPointF at(curves.plot().left() + curves.plot().width() * 0.4, curves.plot().center().y());
    QTest::mouseClick(&curves, Qt::LeftButton, {}, at.toPoint());
    const double x = t.state().cursor();
    QVERIFY(std::abs(x - curves.axisOf(at.x())) <= alignment->length() / curves.plot().width() * 2);
    QCOMPARE(t.state().view(Which::A).cursor(), alignment->stateOf(Which::A, x));
    QCOMPARE(t.state().view(Which::B).cursor(), alignment->stateOf(Which::B, x));
    // B's own timeline moves A's cursor to its partner.
    const StateIndex b = t.state().view(Which::B).states() / 3;
    t.state().view(Which::B).setCursor(b);
    QCOMPARE(t.state().view(Which::A).cursor(), alignment->partner(Which::B, b));
    // Zooming one zooms all three.
    t.view().timeline(Which::A).zoomIn();
    QCOMPARE(t.state().view(Which::A).window(), t.state().window());
    QCOMPARE(t.state().view(Which::B).window(), t.state().window());
    QVERIFY(t.state().window().right - t.state().window().left < alignment->length());
    QVERIFY(curves.isExact());
    QTest::keyClick(&curves, Qt::Key_Home);
    QCOMPARE(t.state().window(), (XWindow{0, alignment->length()}));
}

void TestCompareWindow::notesOnTheCurves()
{
    TwoRuns t;
    CompareCurves& curves = t.view().curves();
    NotesState& notes = t.f.workspace->notes;
    const auto alignment = t.state().alignment();
    // At B's peak, just above its curve: far from A's.
    const StateIndex peak = t.state().comparison()->peakStateB;
    const QPointF at(
        curves.xOf(alignment->xOf(Which::B, peak)), curves.yOf(t.state().comparison()->peak.b) + 2);
    t.f.workspace->state.setTool(Tool::Note);
    const double cursor = t.state().cursor();
    QTest::mouseClick(&curves, Qt::LeftButton, {}, at.toPoint());
    QCOMPARE(t.state().cursor(), cursor); // the tool was for a note
    QCOMPARE(notes.items().size(), std::size_t(1));
    QVERIFY(t.f.workspace->state.tool() == Tool::Pointer);
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("higher"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    const report::Annotation note = notes.items().front();
    QCOMPARE(note.text, std::string("higher"));
    QCOMPARE(note.view, std::string("compare"));
    QCOMPARE(note.input, 1U);
    QCOMPARE(note.device, alignment->replay(Which::B).device().ordinal);
    const auto& anchor = std::get<report::PointAnchor>(note.from);
    const double perPixel = static_cast<double>(t.state().comparison()->peak.b)
        / (curves.plot().bottom() - curves.yOf(t.state().comparison()->peak.b));
    QVERIFY(std::abs(static_cast<double>(anchor.bytes - t.state().comparison()->peak.b)) < 4 * perPixel);
    // It is where it was when one has zoomed, and gone from what does not show it.
    const auto middle = [&] {
        const auto shapes = curves.noteShapes();
        return shapes.size() == 1 ? curves.axisOf(shapes.front().from.x()) : -1;
    };
    const double before = middle();
    QVERIFY(std::abs(before - curves.axisOf(at.x())) <= alignment->length() / curves.plot().width() * 2);
    t.state().setWindow({before - alignment->length() / 8, before + alignment->length() / 8});
    QVERIFY(std::abs(middle() - before) < alignment->length() / 1000);
    // Its disc is moved, and double-clicked to edit.
    const QPointF disc = curves.noteShapes().front().disc;
    QTest::mousePress(&curves, Qt::LeftButton, {}, disc.toPoint());
    QTest::mouseMove(&curves, disc.toPoint() + QPoint(0, 30));
    QTest::mouseRelease(&curves, Qt::LeftButton, {}, disc.toPoint() + QPoint(0, 30));
    QVERIFY(notes.items().front().labelY != note.labelY);
    QVERIFY(notes.items().front().from == note.from);
    t.state().setWindow({0, 1});
    QVERIFY(curves.noteShapes().empty());
    QTest::keyClick(&curves, Qt::Key_Home);
    // A box by dragging, on the run it began on.
    t.f.workspace->state.setTool(Tool::Box);
    const QPoint from(qRound(curves.plot().left()) + 40, qRound(curves.plot().bottom()) - 40);
    QTest::mousePress(&curves, Qt::LeftButton, {}, from);
    QTest::mouseMove(&curves, from + QPoint(80, 30));
    QTest::mouseRelease(&curves, Qt::LeftButton, {}, from + QPoint(80, 30));
    QCOMPARE(notes.items().size(), std::size_t(2));
    const report::Annotation box = notes.items().back();
    QVERIFY(box.kind == report::AnnotationKind::Box);
    QVERIFY(std::get<report::PointAnchor>(box.from).event < std::get<report::PointAnchor>(box.to).event);
}

void TestCompareWindow::oneSelection()
{
    TwoRuns t;
    CompareTable& table = t.view().table();
    table.view().setCurrentIndex(table.model().index(0, 0));
    const compare::Row& row = table.model().row(0);
    QCOMPARE(t.state().group(), std::optional(row.group));
    for (const Which side : {Which::A, Which::B}) {
        const auto& common = t.state().comparison()->matching->groups[row.group];
        const std::uint32_t group = side == Which::A ? common.groupA : common.groupB;
        const Selection& selection = t.state().view(side).selection();
        QCOMPARE(selection.kind == Selection::Kind::Group, group != compare::CommonGroup::none);
        if (group != compare::CommonGroup::none)
            QCOMPARE(selection.group, group);
    }
    // An allocation chosen on one side chooses its row, and its site on the other side.
    const compare::Row* both = nullptr;
    for (const compare::Row& each : t.state().table()->rows)
        if (valid(each.largestA) && valid(each.largestB))
            both = &each;
    QVERIFY(both);
    t.state().view(Which::B).selectAllocation(both->largestB);
    QCOMPARE(t.state().group(), std::optional(both->group));
    QCOMPARE(table.model().row(table.view().currentIndex().row()).group, both->group);
    QCOMPARE(t.state().view(Which::A).selection().kind, Selection::Kind::Group);
    // It has the same colour on both sides.
    QCOMPARE(t.state().session(Which::A).colouring(ColourBy::Site)->slotOf[index(both->largestA)],
        t.state().session(Which::B).colouring(ColourBy::Site)->slotOf[index(both->largestB)]);
}

/// The window's filter fades both stacks; what one side lacks fades all of it.
void TestCompareWindow::filterAndMissing()
{
    TwoRuns t;
    t.f.window->toolbar()->filterField()->setText("size>1M");
    for (const Which side : {Which::A, Which::B}) {
        QTRY_VERIFY(t.state().view(side).matches());
        const auto& sizes = t.state().session(side).replay()->timeline.allocations().size;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            QCOMPARE((*t.state().view(side).matches())[i] != 0, sizes[i] > (1U << 20));
    }
    // A program of another width: its sizes are not those of the first one.
    SampleTraining wider;
    wider.hidden = 640;
    wider.layers = 2;
    wider.heads = 8;
    wider.vocabulary = 4000;
    wider.batch = 2;
    wider.steps = 3;
    t.f.window->compareWith(t.f.write("wider.pickle", writePickle(recordSampleTraining(wider))));
    t.wait();
    t.state().setGroupBy(GroupBy::ExactSize);
    QTRY_COMPARE(t.state().comparison()->matching->by, GroupBy::ExactSize);
    QTRY_VERIFY(!t.state().busy());
    for (const compare::Row& row : t.state().table()->rows) {
        const auto& group = t.state().comparison()->matching->groups[row.group];
        if (group.groupA != compare::CommonGroup::none)
            continue;
        t.state().setGroup(row.group);
        const Selection& lacking = t.state().view(Which::A).selection();
        QCOMPARE(lacking.kind, Selection::Kind::Set);
        QVERIFY(std::ranges::count(lacking.set->flags, 1) == 0);
        QCOMPARE(t.state().view(Which::B).selection().kind, Selection::Kind::Group);
        return;
    }
    QFAIL("every size is on both sides");
}

/// The user's label rules hold on both sides.
void TestCompareWindow::ownLabelRules()
{
    TwoRuns t;
    t.f.workspace->diagnoser.setRulesFile(
        t.f.write("mine.yaml", "rules:\n  - {label: all of mine, match: '.'}\n"));
    for (const Which side : {Which::A, Which::B})
        QTRY_VERIFY(t.state().session(side).labels() && t.state().session(side).labels()->ownUse.size() == 1);
    t.state().setGroupBy(GroupBy::Label);
    QTRY_VERIFY(t.state().comparison()->matching->by == GroupBy::Label && !t.state().busy());
    const auto& groups = t.state().comparison()->matching->groups;
    const auto mine = std::ranges::find(groups, "all of mine", &compare::CommonGroup::name);
    QVERIFY(mine != groups.end());
    QVERIFY(mine->groupA != compare::CommonGroup::none && mine->groupB != compare::CommonGroup::none);
}

void TestCompareWindow::swapped()
{
    TwoRuns t;
    const std::int64_t delta = t.state().comparison()->peak.delta();
    t.state().setLabel(Which::A, "TP2");
    t.wait();
    t.f.window->commands()["compare.swap"]->trigger();
    QTRY_COMPARE(t.state().comparison()->peak.delta(), -delta);
    QCOMPARE(t.state().label(Which::B), QString("TP2"));
    QCOMPARE(t.state().label(Which::A), QString());
    QTRY_VERIFY2(t.view().what().toPlainText().contains("lower"), qPrintable(t.view().what().toPlainText()));
}

void TestCompareWindow::withItself()
{
    TwoRuns t;
    t.f.workspace->comparer.open(Which::B, t.a);
    QTRY_VERIFY(t.state().comparison() && t.state().comparison()->b.rank == t.state().comparison()->a.rank);
    t.wait();
    for (const compare::Row& row : t.state().table()->rows)
        QCOMPARE(row.delta, std::int64_t(0));
    QCOMPARE(t.view().table().sumText().contains("no difference"), true);
    for (const compare::CurveColumn& column : t.view().curves().columns()) {
        QCOMPARE(column.minDelta, std::int64_t(0));
        QCOMPARE(column.maxDelta, std::int64_t(0));
    }
    // Nothing is left when what is the same is hidden.
    t.view().table().hideSame().setChecked(true);
    QCOMPARE(t.view().table().model().rowCount(), 0);
}

void TestCompareWindow::instants()
{
    TwoRuns t;
    const StateIndex first = 40;
    const StateIndex last = t.f.replay()->states() - 60;
    t.f.window->tabs()->setCurrentIndex(0);
    QVERIFY(!t.f.window->commands()["compare.range"]->isEnabled());
    t.f.workspace->state.setRange(std::pair(first, last));
    QVERIFY(t.f.window->commands()["compare.range"]->isEnabled());
    t.f.window->commands()["compare.range"]->trigger();
    QCOMPARE(t.f.window->tabs()->currentWidget(), t.f.window->compareView());
    QTRY_VERIFY(t.state().comparison() && t.state().comparison()->oneRun);
    t.wait();
    const Series& curve = t.f.replay()->timeline.requested();
    QCOMPARE(t.state().table()->delta, curve.at(last) - curve.at(first));
    QVERIFY(t.view().table().sumText().contains("at the two moments"));
    // Figures, reasons and cursors speak of the same two moments.
    QCOMPARE(t.state().view(Which::A).cursor(), first);
    QCOMPARE(t.state().view(Which::B).cursor(), last);
    QVERIFY2(t.view().figuresText().contains("Live at the first moment"), qPrintable(t.view().figuresText()));
    const QString why = t.view().what().toPlainText();
    QVERIFY2(why.contains("survived") && !why.contains("The runs are the same"), qPrintable(why));
    // The peaks are still there to be compared.
    t.state().setAt(CompareState::At::Peaks);
    QTRY_COMPARE(t.state().table()->delta, std::int64_t(0));
    t.state().setAt(CompareState::At::Moments);
    QTRY_COMPARE(t.state().table()->delta, curve.at(last) - curve.at(first));
}

void TestCompareWindow::movedByHand()
{
    TwoRuns t;
    t.state().setCursor(t.state().alignment()->length() / 2);
    const StateIndex before = t.state().view(Which::B).cursor();
    CompareCurves& curves = t.view().curves();
    const QPoint from = curves.plot().center().toPoint();
    QTest::mousePress(&curves, Qt::LeftButton, Qt::ControlModifier, from);
    QMouseEvent move(QEvent::MouseMove, QPointF(from + QPoint(60, 0)), QPointF(curves.mapToGlobal(from)),
        Qt::NoButton, Qt::LeftButton, Qt::ControlModifier);
    QApplication::sendEvent(&curves, &move);
    QTest::mouseRelease(&curves, Qt::LeftButton, Qt::ControlModifier, from + QPoint(60, 0));
    QVERIFY(t.state().offset() < 0);
    const auto moved = static_cast<std::int64_t>(t.state().view(Which::B).cursor());
    QCOMPARE(moved, static_cast<std::int64_t>(before) + t.state().offset());
    QVERIFY2(t.view().figuresText().contains("Moved by hand"), qPrintable(t.view().figuresText()));
    t.state().setOffset(0);
    QCOMPARE(t.state().view(Which::B).cursor(), before);
}

void TestCompareWindow::tableFinds()
{
    TwoRuns t;
    CompareTable& table = t.view().table();
    const int all = table.model().rowCount();
    const QString name = table.model().name(all - 1);
    table.search().setText(name);
    QVERIFY(table.model().rowCount() >= 1 && table.model().rowCount() < all);
    for (int row = 0; row < table.model().rowCount(); ++row)
        QVERIFY(table.model().name(row).contains(name));
    table.search().clear();
    for (const GroupBy by : {GroupBy::Role, GroupBy::Size, GroupBy::Label, GroupBy::Stack}) {
        t.state().setGroupBy(by);
        QTRY_COMPARE(t.state().comparison()->matching->by, by);
        QTRY_VERIFY(!t.state().busy());
        std::int64_t sum = 0;
        for (const compare::Row& row : t.state().table()->rows)
            sum += row.delta;
        QCOMPARE(sum, t.state().comparison()->peak.delta());
        QCOMPARE(table.model().rowCount(), static_cast<int>(t.state().table()->rows.size()));
    }
    const QStringList lines = table.model().copyText().split('\n');
    QCOMPARE(lines.size(), table.model().rowCount() + 1);
    std::int64_t copied = 0;
    for (int i = 1; i < lines.size(); ++i)
        copied += lines[i].split('\t')[3].toLongLong();
    QCOMPARE(copied, t.state().comparison()->peak.delta());
}

void TestCompareWindow::unreadable()
{
    TwoRuns t;
    const auto before = t.state().comparison();
    t.f.window->compareWith(t.f.write("bad.pickle", "\x80\x04not a snapshot"));
    QTRY_VERIFY(!t.f.workspace->comparer.isLoading());
    // What was compared stays, and the fault is said.
    QTest::qWait(50);
    QCOMPARE(t.state().comparison(), before);
    WindowFixture f;
    f.window->show();
    f.open({f.training()});
    f.window->compareWith(f.write("bad.pickle", "\x80\x04not a snapshot"));
    QTRY_COMPARE(f.window->compareView()->emptyHeading(), QString("Choose a second run"));
}

void TestCompareWindow::layouts()
{
    TwoRuns t;
    QVERIFY(t.view().timeline(Which::A).isVisible());
    QVERIFY(!t.view().map(Which::A).isVisible());
    QVERIFY(t.view().timeline(Which::A).y() == t.view().timeline(Which::B).y());
    t.view().setLower(CompareView::Lower::Maps);
    QVERIFY(t.view().map(Which::A).isVisible() && t.view().map(Which::B).isVisible());
    t.view().setLower(CompareView::Lower::Stacks);
    t.view().setStacked(true);
    QVERIFY(t.view().isStacked());
    QCoreApplication::processEvents();
    QVERIFY(t.view().timeline(Which::A).mapToGlobal(QPoint()).x()
        == t.view().timeline(Which::B).mapToGlobal(QPoint()).x());
    // The docks leave the page all the room, and come back.
    QVERIFY(!t.f.window->windowLayout().dockOf(t.f.window->findings())->isVisible());
    t.f.window->tabs()->setCurrentIndex(0);
    QTRY_VERIFY(t.f.window->windowLayout().dockOf(t.f.window->findings())->isVisible());
}

/// Peaks of several runs as bars, against any of them.
void TestCompareWindow::severalRuns()
{
    TwoRuns t;
    const QString c = t.f.write("three_layers.pickle", trainingOf(3, 3));
    PeakBarsWindow& window = *t.f.window->peakBars();
    t.f.window->commands()["compare.several"]->trigger(); // with what is open
    window.add({t.b, c, t.f.write("bad.pickle", "no snapshot"), t.b});
    QTRY_VERIFY(!window.isReading());
    PeakBars& bars = window.bars();
    QCOMPARE(bars.bars().size(), std::size_t(3));
    const std::int64_t a = t.state().comparison()->peak.a;
    const std::int64_t b = t.state().comparison()->peak.b;
    QCOMPARE(bars.bars()[0].peak, a);
    QCOMPARE(bars.bars()[1].delta, b - a);
    QVERIFY2(window.message().contains("bad.pickle"), qPrintable(window.message()));
    // A click makes another one the base.
    QTest::mouseClick(&bars, Qt::LeftButton, {}, bars.rowRect(1).center());
    QCOMPARE(bars.base(), std::size_t(1));
    QCOMPARE(bars.bars()[0].delta, a - b);
    QCOMPARE(bars.bars()[1].delta, std::int64_t(0));
    QVERIFY(bars.rowText(1).contains("base"));
    // A double click compares with the base, which it leaves as it is.
    QSignalSpy wanted(&window, &PeakBarsWindow::compareRequested);
    QTest::mouseClick(&bars, Qt::LeftButton, {}, bars.rowRect(2).center()); // as a person's does
    QTest::mouseDClick(&bars, Qt::LeftButton, {}, bars.rowRect(2).center());
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted[0][0].toString(), t.b);
    QCOMPARE(wanted[0][1].toString(), c);
    QCOMPARE(bars.base(), std::size_t(1));
}

QTEST_MAIN(TestCompareWindow)
#include "tst_compare_window.moc"
