// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/filter_strip.hpp"
#include "app/label_rules_window.hpp"
#include "app/main_toolbar.hpp"
#include "app/search_field.hpp"
#include "tests/app/window_fixture.hpp"
#include "widgets/results/results_view.hpp"

#include <QDockWidget>
#include <QTableView>
#include <QTableWidget>
#include <QTest>

using namespace tidemark;
using tidemark::test::WindowFixture;

/// What stands in the filter field as chips and as a list of results; the user's label rules.
class TestFilterStrip : public QObject {
    Q_OBJECT
private slots:
    void chips();
    void results();
    void stepsAxis();
    void labelRules();
    void brokenLabelRules();

private:
    static void type(WindowFixture& f, const QString& text)
    {
        f.window->toolbar()->filterField()->setText(text);
        f.workspace->search.start();
        QTRY_VERIFY(f.workspace->search.isSettled());
    }
};

void TestFilterStrip::chips()
{
    WindowFixture f;
    f.window->resize(1600, 1000);
    f.window->show();
    f.open({f.training()});
    FilterStrip* strip = f.window->filterStrip();
    SearchField* field = f.window->toolbar()->filterField();
    QVERIFY(!strip->isVisible());

    type(f, "size>64K and (stream:0 or state:live) not state:before");
    QTRY_VERIFY(strip->isVisible());
    QCOMPARE(strip->terms(), QStringList({"size>64K", "(stream:0 or state:live)", "not state:before"}));
    QCOMPARE(strip->summary(), f.workspace->search.summary());
    QVERIFY(strip->summary().contains("matches"));

    // A click on a chip's text selects its term in the field, its cross takes it away.
    QTest::mouseClick(strip->chip(1), Qt::LeftButton, {}, QPoint(10, 8));
    QCOMPARE(field->selectedText(), QString("(stream:0 or state:live)"));
    QTest::mouseClick(strip->chip(1), Qt::LeftButton, {}, strip->chip(1)->cross().center());
    QTRY_COMPARE(field->text(), QString("size>64K not state:before"));
    QTRY_COMPARE(strip->terms().size(), 2);
    QTest::keyClick(strip->chip(1), Qt::Key_Delete);
    QTRY_COMPARE(field->text(), QString("size>64K"));
    QTest::mouseClick(strip->chip(0), Qt::LeftButton, {}, strip->chip(0)->cross().center());
    QTRY_VERIFY(field->text().isEmpty());
    QTRY_VERIFY(!strip->isVisible());
    // What a chip took away comes back, in the field too.
    field->setFocus();
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(!field->text().isEmpty());
    type(f, "");

    // What is no filter says so in the place of the sum.
    type(f, "size>many");
    QTRY_VERIFY(strip->isVisible());
    QCOMPARE(strip->summary(), f.workspace->search.problem());
    QVERIFY(!strip->summary().isEmpty());
}

void TestFilterStrip::results()
{
    WindowFixture f;
    f.window->resize(1600, 1000);
    f.window->show();
    f.open({f.training()});
    type(f, "size>1M");
    f.window->commands()["window.results"]->trigger();
    ResultsView* results = f.window->results();
    QTRY_VERIFY(results->isVisible());
    QTRY_COMPARE(static_cast<std::uint64_t>(results->model().rowCount()), f.workspace->search.count());
    QVERIFY(results->model().rowCount() > 3);

    results->sortBy(ResultsModel::Size, Qt::DescendingOrder);
    QTRY_VERIFY(!results->busy());
    const AllocationColumns& c = f.replay()->timeline.allocations();
    const auto size = [&](int row) { return c.size[index(results->model().id(row))]; };
    QTRY_VERIFY(size(0) == *std::max_element(c.size.begin(), c.size.end()));
    for (int row = 1; row < results->model().rowCount(); ++row)
        QVERIFY(size(row - 1) >= size(row));

    // Lives are in time, as they are shown, whatever number of events they span.
    results->sortBy(ResultsModel::Life, Qt::AscendingOrder);
    QTRY_VERIFY(!results->busy());
    const auto life = [&](int row) {
        const AllocationId id = results->model().id(row);
        const StateIndex end = std::min(c.endState[index(id)], f.replay()->states() - 1);
        return *f.replay()->timeUs(end) - *f.replay()->timeUs(c.firstState[index(id)]);
    };
    const auto inOrder = [&] {
        for (int row = 1; row < results->model().rowCount(); ++row)
            if (life(row - 1) > life(row))
                return false;
        return true;
    };
    QTRY_VERIFY(inOrder());
    results->sortBy(ResultsModel::Size, Qt::DescendingOrder);
    QTRY_VERIFY(size(0) == *std::max_element(c.size.begin(), c.size.end()));
    QTRY_VERIFY(!results->busy());

    // Enter in the field walks the list; the cursor and the selection follow.
    SearchField* field = f.window->toolbar()->filterField();
    f.workspace->state.clearSelection();
    for (int row = 0; row < 3; ++row) {
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(f.workspace->state.selection().allocation, results->model().id(row));
        QCOMPARE(f.workspace->state.cursor(), c.firstState[index(results->model().id(row))]);
        QVERIFY(results->footText().startsWith(QString::number(row + 1) + " of "));
    }
    QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(f.workspace->state.selection().allocation, results->model().id(1));

    // What is selected elsewhere is found in the list.
    f.workspace->state.selectAllocation(results->model().id(5));
    QCOMPARE(results->table().currentIndex().row(), 5);

    type(f, "size>900G");
    QTRY_COMPARE(results->emptyHeading(), QString("Nothing matches the filter"));
    type(f, "");
    QTRY_COMPARE(results->emptyHeading(), QString("No filter"));
}

/// On the steps axis every step is as wide as the next, and the same states stay visible.
void TestFilterStrip::stepsAxis()
{
    WindowFixture f;
    f.window->show();
    f.open({f.training("run.pickle", 4)});
    QTRY_VERIFY(f.workspace->session.phases());
    const Phases& phases = *f.workspace->session.phases();
    QVERIFY(phases.steps.size() >= 3);
    QTRY_VERIFY(f.window->commands()["view.stepsAxis"]->isEnabled());
    ViewState& state = f.workspace->state;
    f.window->commands()["view.stepsAxis"]->trigger();
    QCOMPARE(state.axis(), XAxis::Steps);
    const auto axis = f.workspace->session.stepsAxis();
    QVERIFY(axis != nullptr);
    QCOMPARE(state.window(), (XWindow{0, axis->extent()}));
    for (const Step& step : phases.steps)
        QCOMPARE(axis->xOf(step.last + 1.0) - axis->xOf(step.first), 1.0);
    for (StateIndex s = 0; s < f.replay()->states(); ++s)
        QVERIFY(std::abs(axis->stateOf(axis->xOf(s)) - s) < 1e-6);
    f.window->commands()["view.stepsAxis"]->trigger();
    QCOMPARE(state.axis(), XAxis::Events);
    QCOMPARE(state.window(), (XWindow{0, static_cast<double>(f.replay()->states())}));
}

void TestFilterStrip::labelRules()
{
    WindowFixture f;
    f.window->show();
    f.open({f.training()});
    QTRY_VERIFY(f.workspace->session.labels());
    // In YAML; the second rule overlaps the first, the third never matches.
    const QString file = f.write("mine.yaml",
        "rules:\n"
        "  - label: everything of mine\n"
        "    match: 'train.*@'\n"
        "    colour: rust\n"
        "  - label: all of it\n"
        "    match: '.'\n"
        "  - {label: nothing, match: no_such_function}\n");
    LabelRulesWindow* rules = f.window->labelRules();
    rules->open();
    rules->use(file);
    QCOMPARE(rules->fileText(), file);
    QTRY_COMPARE(rules->table().rowCount(), 3);
    const auto labels = f.workspace->session.labels();
    QCOMPARE(labels->ownUse.size(), std::size_t(3));
    const auto cell = [&](int row, int column) { return rules->table().item(row, column)->text(); };
    QCOMPARE(cell(0, 0), QString("everything of mine"));
    QCOMPARE(cell(2, 4), QString("never matches"));

    // By hand: which allocations have a frame that fits.
    const Snapshot& snapshot = *f.workspace->session.rank()->snapshot;
    const AllocationColumns& c = f.replay()->timeline.allocations();
    std::uint64_t mine = 0;
    std::uint64_t bytes = 0;
    std::uint64_t stacked = 0;
    for (std::uint32_t i = 0; i < c.count(); ++i) {
        if (!valid(c.stack[i]) || snapshot.stacks[c.stack[i]].empty())
            continue;
        ++stacked;
        bool fits = false;
        for (const FrameId frame : snapshot.stacks[c.stack[i]])
            fits
                |= snapshot.strings.view(snapshot.frames[frame].name).find("train") != std::string_view::npos;
        mine += fits ? 1 : 0;
        bytes += fits ? c.size[i] : 0;
        QCOMPARE(labels->modules[labels->moduleOf[i]],
            fits ? std::string("everything of mine") : std::string("all of it"));
    }
    QVERIFY(mine > 0);
    QCOMPARE(labels->ownUse[0].allocations, mine);
    QCOMPARE(labels->ownUse[0].bytes, bytes);
    QCOMPARE(labels->ownUse[1].allocations, stacked - mine);
    QCOMPARE(labels->ownUse[1].overlapping, mine);
    QCOMPARE(labels->ownUse[2].allocations + labels->ownUse[2].overlapping, std::uint64_t(0));
    QVERIFY2(rules->sumText().contains("1 never match"), qPrintable(rules->sumText()));
    QVERIFY(rules->sumText().contains("1 overlap earlier ones"));

    // The colour asked for, by its place among the twelve.
    const auto colours = f.workspace->session.colouring(ColourBy::Label);
    for (const LegendItem& item : colours->legend)
        if (item.text == "everything of mine")
            QCOMPARE(int(item.slot), 4);
        else
            QVERIFY(item.slot != 4);

    // Remembered, and in force again after a restart.
    f.restart();
    QCOMPARE(f.workspace->diagnoser.rulesFile(), file);
    f.open({f.path("run.pickle")});
    QTRY_VERIFY(f.workspace->session.labels());
    QCOMPARE(f.workspace->session.labels()->ownUse.size(), std::size_t(3));
    f.window->labelRules()->use({});
    QTRY_VERIFY(f.workspace->session.labels()->ownUse.empty());
}

void TestFilterStrip::brokenLabelRules()
{
    WindowFixture f;
    f.window->show();
    f.open({f.training()});
    QTRY_VERIFY(f.workspace->session.labels());
    LabelRulesWindow* rules = f.window->labelRules();
    rules->open();
    for (const auto& [text, says] : {std::pair{"rules:\n  - label: a\n    match: '('\n", "rule 1: \"match\""},
             {"{\"rules\": [{\"label\": \"a\", \"match\": \"x\", \"colour\": \"puce\"}]}",
                 "must be one of teal"},
             {"rules: [\n", "line"}, {"{\"rules\": [{\"label\": \"a\"}]}", "\"id\" is missing"}}) {
        rules->use(f.write("bad.yaml", text));
        QTRY_VERIFY2(f.workspace->diagnoser.rulesProblem().contains(says),
            qPrintable(f.workspace->diagnoser.rulesProblem()));
        // The built-in ones stay in force.
        QTRY_VERIFY(f.workspace->session.labels() && f.workspace->session.labels()->ownUse.empty());
    }
}

QTEST_MAIN(TestFilterStrip)
#include "tst_filter_strip.moc"
