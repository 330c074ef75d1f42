// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/goto_popup.hpp"
#include "app/help_window.hpp"
#include "app/key_overlay.hpp"
#include "app/main_toolbar.hpp"
#include "app/status_line.hpp"
#include "app/summary_strip.hpp"
#include "model/core/units.hpp"
#include "tests/app/window_fixture.hpp"
#include "widgets/details/details_view.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QTableView>

#include <set>

using namespace tidemark;
using tidemark::test::says;
using tidemark::test::WindowFixture;

namespace {

QString text(const std::string& s)
{
    return QString::fromStdString(s);
}

/// Two devices and pinned host memory, a few events each.
Result<std::shared_ptr<const Rank>> threeDevices(
    const std::filesystem::path&, const ReadOptions&, const Job& job)
{
    SnapshotBuilder builder;
    for (const int ordinal : {-1, 0, 1}) {
        EventBuffer buffer;
        for (int i = 0; i < 4 + ordinal; ++i) {
            EventRow row;
            row.action = Action::Alloc;
            row.address = 0x1000000ULL * static_cast<std::uint64_t>(i + 1);
            row.size = 1 << 20;
            builder.append(buffer, row);
        }
        builder.addTrace(ordinal, std::move(buffer));
    }
    auto rank = std::make_shared<Rank>();
    rank->snapshot = builder.finish();
    rank->sites = std::make_shared<Sites>(Sites::build(*rank->snapshot, SiteMode::User));
    rank->rawSites = std::make_shared<Sites>(Sites::build(*rank->snapshot, SiteMode::Raw));
    for (std::size_t i = 0; i < rank->snapshot->devices.size(); ++i) {
        auto replay = Replay::build(rank->snapshot, i, job);
        if (!replay)
            return replay.error();
        rank->devices.push_back(replay.value());
        rank->marks.emplace_back();
    }
    return std::shared_ptr<const Rank>(rank);
}

} // namespace

class TestWindow : public QObject {
    Q_OBJECT
private slots:
    // Sizes that cannot be are remarked upon by the toolkit.
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("Negative sizes"))); }
    void docksBecomeTabsWhenNarrow();
    void layoutIsRemembered();
    void everyCommandIsInAMenu();
    void keysMoveTheCursor();
    void lettersStayInTextFields();
    void lettersCanBeSwitchedOff();
    void listsKeepTheirArrows();
    void escapeTakesBackOneThingAtATime();
    void searchFindsWhatMatches();
    void searchSaysWhatIsWrong();
    void goesWhereTheTextSays();
    void themeChangesLive();
    void textSizeHasBounds();
    void devicesAreNamed();
    void helpPagesAreThere();
    void keyMapListsTheKeys();
};

void TestWindow::docksBecomeTabsWhenNarrow()
{
    WindowFixture f;
    f.open({f.training()});
    QVERIFY(!f.window->windowLayout().isNarrow());
    const auto visible = [&](QWidget* view) { return !view->visibleRegion().isEmpty(); };
    QTRY_VERIFY(visible(f.window->segmentMap()) && visible(f.window->liveTable()));
    f.window->resize(1280, 800);
    QTRY_VERIFY(f.window->windowLayout().isNarrow());
    QTRY_VERIFY(visible(f.window->segmentMap()) != visible(f.window->liveTable()));
    QTRY_VERIFY(!f.window->toolbar()->colourChooser()->isVisible());
    f.window->commands()["window.segments"]->trigger();
    QTRY_VERIFY(visible(f.window->segmentMap()));
    f.window->resize(1600, 1000);
    QTRY_VERIFY(visible(f.window->segmentMap()) && visible(f.window->liveTable()));
    QTRY_VERIFY(f.window->toolbar()->colourChooser()->isVisible());
}

void TestWindow::layoutIsRemembered()
{
    WindowFixture f;
    const QString run = f.training();
    f.open({run});
    auto* dock = f.window->findChild<QDockWidget*>(QStringLiteral("details"));
    QVERIFY(dock && dock->isVisible());
    dock->close();
    f.window->close();
    f.restart();
    f.open({run});
    dock = f.window->findChild<QDockWidget*>(QStringLiteral("details"));
    QVERIFY(!dock->isVisible());
    f.window->commands()["look.reset"]->trigger();
    QVERIFY(dock->isVisible());
}

void TestWindow::everyCommandIsInAMenu()
{
    WindowFixture f;
    std::set<const QAction*> inMenus;
    const std::function<void(const QList<QAction*>&)> collect = [&](const QList<QAction*>& actions) {
        for (const QAction* action : actions) {
            inMenus.insert(action);
            if (action->menu())
                collect(action->menu()->actions());
        }
    };
    collect(f.window->menuBar()->actions());
    std::set<QString> keys;
    for (const QAction* action : f.window->commands().all()) {
        QVERIFY2(inMenus.count(action) == 1, qPrintable(action->objectName()));
        for (const QKeySequence& key : action->shortcuts())
            QVERIFY2(keys.insert(key.toString()).second, qPrintable(key.toString()));
    }
}

void TestWindow::keysMoveTheCursor()
{
    WindowFixture f;
    f.open({f.training()});
    ViewState& state = f.workspace->state;
    TimelineView* timeline = f.window->timeline();
    timeline->setFocus();
    state.setCursor(10);
    QTest::keyClick(timeline, Qt::Key_Right);
    QCOMPARE(state.cursor(), StateIndex{11});
    QTest::keyClick(timeline, Qt::Key_Left);
    QTest::keyClick(timeline, Qt::Key_Left);
    QCOMPARE(state.cursor(), StateIndex{9});
    QTest::keyClick(timeline, Qt::Key_Right, Qt::ShiftModifier);
    QVERIFY(state.range().has_value());
    state.setRange(std::nullopt);

    state.setCursor(0);
    const auto peaks = f.replay()->timeline.localPeaks();
    QVERIFY(!peaks.empty());
    QTest::keyClick(timeline, Qt::Key_N);
    QCOMPARE(state.cursor(), peaks.front() == 0 ? peaks[1] : peaks.front());
    QTest::keyClick(timeline, Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(state.cursor(), StateIndex{0});

    const ColourBy before = state.colourBy();
    QTest::keyClick(timeline, Qt::Key_C);
    QVERIFY(state.colourBy() != before);
    QTest::keyClick(timeline, Qt::Key_G);
    QCOMPARE(state.stackOrder(), StackOrder::Group);
    QTest::keyClick(timeline, Qt::Key_X);
    QCOMPARE(state.axis(), XAxis::Time);
    QTest::keyClick(timeline, Qt::Key_R);
    QCOMPARE(state.tool(), Tool::Ruler);
    const bool hidden = f.window->details()->isFrameworkHidden();
    QTest::keyClick(timeline, Qt::Key_H);
    QCOMPARE(f.window->details()->isFrameworkHidden(), !hidden);
    const bool lanes = timeline->lanesVisible();
    QTest::keyClick(timeline, Qt::Key_L);
    QCOMPARE(timeline->lanesVisible(), !lanes);
}

void TestWindow::lettersStayInTextFields()
{
    WindowFixture f;
    f.open({f.training()});
    ViewState& state = f.workspace->state;
    SearchField* field = f.window->toolbar()->filterField();
    QTest::keyClick(f.window->timeline(), Qt::Key_F, Qt::ControlModifier);
    QTRY_VERIFY(field->hasFocus());
    const StateIndex cursor = state.cursor();
    const ColourBy colour = state.colourBy();
    QTest::keyClicks(field, QStringLiteral("ncx/"));
    QCOMPARE(field->text(), QStringLiteral("ncx/"));
    QTest::keyClick(field, Qt::Key_Left);
    QCOMPARE(state.cursor(), cursor);
    QCOMPARE(state.colourBy(), colour);
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(field->text().isEmpty());
    QVERIFY(!field->hasFocus());
}

void TestWindow::lettersCanBeSwitchedOff()
{
    WindowFixture f;
    f.window->commands().setSingleLetters(false);
    QVERIFY(f.window->commands()["view.cycleColour"]->shortcuts().isEmpty());
    QCOMPARE(f.window->commands()["edit.filter"]->shortcuts().size(), 1);
    QVERIFY(!f.window->commands()["file.open"]->shortcuts().isEmpty());
    f.open({f.training()});
    f.window->timeline()->setFocus();
    const ViewState& state = f.workspace->state;
    const XWindow before = state.window();
    const StateIndex cursor = state.cursor();
    for (const Qt::Key key : {Qt::Key_W, Qt::Key_D, Qt::Key_N, Qt::Key_G, Qt::Key_X, Qt::Key_R})
        QTest::keyClick(f.window->timeline(), key);
    QCOMPARE(state.window(), before);
    QCOMPARE(state.cursor(), cursor);
    QCOMPARE(state.axis(), XAxis::Events);
    QCOMPARE(state.tool(), Tool::Pointer);
    QCOMPARE(state.stackOrder(), StackOrder::Age);
    f.window->commands().setSingleLetters(true);
    QCOMPARE(f.window->commands()["view.cycleColour"]->shortcut(), QKeySequence(Qt::Key_C));
}

void TestWindow::listsKeepTheirArrows()
{
    WindowFixture f;
    f.open({f.training()});
    QTableView& table = f.window->liveTable()->table();
    f.window->liveTable()->flush();
    table.setFocus();
    table.setCurrentIndex(table.model()->index(0, 0));
    const StateIndex cursor = f.workspace->state.cursor();
    QTest::keyClick(&table, Qt::Key_Down);
    QCOMPARE(table.currentIndex().row(), 1);
    QTest::keyClick(&table, Qt::Key_Right);
    QTest::keyClick(&table, Qt::Key_Home);
    QCOMPARE(f.workspace->state.cursor(), cursor);
}

void TestWindow::escapeTakesBackOneThingAtATime()
{
    WindowFixture f;
    f.open({f.training()});
    ViewState& state = f.workspace->state;
    f.window->toolbar()->filterField()->setText(QStringLiteral("size>1M"));
    QTRY_VERIFY_WITH_TIMEOUT(state.matches() != nullptr, 10000);
    state.selectAllocation(AllocationId{0});
    state.setRange(std::pair{StateIndex{2}, StateIndex{9}});
    state.setTool(Tool::Ruler);
    f.window->timeline()->setFocus();
    const auto escape = [&] { QTest::keyClick(f.window->timeline(), Qt::Key_Escape); };
    escape();
    QCOMPARE(state.tool(), Tool::Pointer);
    QVERIFY(state.range().has_value());
    escape();
    QVERIFY(!state.range());
    QVERIFY(state.matches() != nullptr);
    escape();
    QTRY_VERIFY(state.matches() == nullptr);
    QVERIFY(f.window->toolbar()->filterField()->text().isEmpty());
    QVERIFY(state.selection().kind == Selection::Kind::Allocation);
    escape();
    QVERIFY(state.selection().kind == Selection::Kind::None);
}

void TestWindow::searchFindsWhatMatches()
{
    WindowFixture f;
    f.open({f.training()});
    ViewState& state = f.workspace->state;
    const AllocationColumns& a = f.replay()->timeline.allocations();
    constexpr std::uint64_t bound = 1 << 20;
    const auto wanted = static_cast<std::uint64_t>(
        std::count_if(a.size.begin(), a.size.end(), [](std::uint64_t size) { return size > bound; }));
    QVERIFY(wanted > 0 && wanted < a.count());
    SearchField* field = f.window->toolbar()->filterField();
    field->setText(QStringLiteral("size>1M"));
    QTRY_COMPARE_WITH_TIMEOUT(f.workspace->search.count(), wanted, 10000);
    const StateIndex cursor = state.cursor();
    std::uint64_t live = 0;
    for (const AllocationId id : f.replay()->timeline.liveAt(cursor))
        live += a.size[index(id)] > bound ? a.size[index(id)] : 0;
    const QString status = f.window->statusLine()->filterText();
    QVERIFY2(status.startsWith(text(formatCount(static_cast<std::int64_t>(wanted)) + " matches, ")),
        qPrintable(status));
    QVERIFY2(
        status.contains(text(formatBytes(static_cast<std::int64_t>(live)) + " of ")), qPrintable(status));

    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(state.selection().kind == Selection::Kind::Allocation);
    const AllocationId first = state.selection().allocation;
    QVERIFY(a.size[index(first)] > bound);
    QCOMPARE(state.cursor(), a.firstState[index(first)]);
    f.window->commands()["edit.nextMatch"]->trigger();
    const AllocationId second = state.selection().allocation;
    QVERIFY(second != first && a.size[index(second)] > bound);
    f.window->commands()["edit.previousMatch"]->trigger();
    QCOMPARE(state.selection().allocation, first);

    const QString address = text(formatAddress(a.address[index(first)]));
    field->setText(address);
    f.workspace->search.start();
    QTRY_VERIFY_WITH_TIMEOUT(!f.workspace->search.isSearching(), 10000);
    QVERIFY((*state.matches())[index(first)] != 0);
    for (std::size_t i = 0; i < a.count(); ++i) {
        const std::uint64_t at = a.address[index(first)];
        const bool covers = a.address[i] <= at && at - a.address[i] < std::max<std::uint64_t>(1, a.size[i]);
        QCOMPARE((*state.matches())[i] != 0, covers);
    }
    field->clear();
    QVERIFY(state.matches() == nullptr);
}

void TestWindow::searchSaysWhatIsWrong()
{
    WindowFixture f;
    f.open({f.training()});
    SearchField* field = f.window->toolbar()->filterField();
    for (const QString& bad : {QStringLiteral("size>large"), QStringLiteral("0xzz"), QStringLiteral("/(/"),
             QStringLiteral("age<3"), QStringLiteral("pool:7")}) {
        field->setText(bad);
        f.workspace->search.start();
        QVERIFY2(!f.workspace->search.problem().isEmpty(), qPrintable(bad));
        QVERIFY(f.workspace->state.matches() == nullptr);
        QCOMPARE(f.window->statusLine()->filterText(), f.workspace->search.problem());
    }
}

void TestWindow::goesWhereTheTextSays()
{
    WindowFixture f;
    f.open({f.training()});
    Navigator& go = f.workspace->navigator;
    const auto replay = f.replay();
    QVERIFY(go.goTo(QStringLiteral("12")));
    QCOMPARE(f.workspace->state.cursor(), StateIndex{13});
    QVERIFY(go.goTo(QStringLiteral("peak")));
    QCOMPARE(f.workspace->state.cursor(), replay->timeline.requested().total().maxState);
    QVERIFY(go.goTo(QStringLiteral("event 3")));
    QCOMPARE(f.workspace->state.cursor(), StateIndex{4});
    QVERIFY(!go.goTo(QStringLiteral("99,999,999")));
    QVERIFY(!go.goTo(QStringLiteral("somewhere")));
    QVERIFY(!go.find(QStringLiteral("somewhere")).text.isEmpty());
    const std::int64_t span = *replay->timeUs(replay->states() - 1) - *replay->timeUs(0);
    QVERIFY(go.goTo(QStringLiteral("+%1 us").arg(span / 2)));
    QCOMPARE(f.workspace->state.cursor(), replay->stateAtTime(*replay->timeUs(0) + span / 2));
    const AllocationColumns& a = replay->timeline.allocations();
    const std::size_t last = a.count() - 1;
    QVERIFY(go.goTo(text(formatAddress(a.address[last]))));
    const Selection selection = f.workspace->state.selection();
    QVERIFY(selection.kind == Selection::Kind::Allocation);
    QVERIFY(a.address[index(selection.allocation)] <= a.address[last]);
    QVERIFY(replay->timeline.isLive(selection.allocation, f.workspace->state.cursor()));

    f.window->commands()["go.to"]->trigger();
    QVERIFY(f.window->gotoPopup()->isVisible());
    f.window->gotoPopup()->edit()->setText(QStringLiteral("7"));
    QVERIFY(f.window->gotoPopup()->hint().contains(QStringLiteral("event 7")));
    QTest::keyClick(f.window->gotoPopup()->edit(), Qt::Key_Return);
    QCOMPARE(f.workspace->state.cursor(), StateIndex{8});
    QVERIFY(!f.window->gotoPopup()->isVisible());
}

void TestWindow::themeChangesLive()
{
    WindowFixture f;
    f.style->applyTo(*qApp);
    f.open({f.training()});
    int changes = 0;
    QObject::connect(f.style.get(), &Style::changed, f.window.get(), [&changes] { ++changes; });
    f.window->commands()["look.dark"]->trigger();
    QCOMPARE(changes, 1);
    QVERIFY(f.style->theme().isDark());
    QCOMPARE(QApplication::palette().color(QPalette::Window), f.style->color(Tone::Win));
    // What is painted by hand follows at once.
    const QImage strip = f.window->strip()->grab().toImage();
    QCOMPARE(strip.pixelColor(3, strip.height() / 2), f.style->color(Tone::Base));
    f.window->commands()["look.light"]->trigger();
    QVERIFY(!f.style->theme().isDark());
    QCOMPARE(f.settings->get(setting::theme), QStringLiteral("light"));
    f.style->setSystemDark(true);
    QVERIFY(!f.style->theme().isDark());
    f.window->commands()["look.system"]->trigger();
    QVERIFY(f.style->theme().isDark());
    f.window->commands()["look.light"]->trigger();
}

void TestWindow::textSizeHasBounds()
{
    WindowFixture f;
    for (int i = 0; i < 30; ++i)
        f.window->commands()["look.larger"]->trigger();
    QCOMPARE(f.style->textPercent(), 200);
    for (int i = 0; i < 30; ++i)
        f.window->commands()["look.smaller"]->trigger();
    QCOMPARE(f.style->textPercent(), 80);
    QCOMPARE(f.settings->get(setting::textPercent), 80);
    f.window->commands()["look.normal"]->trigger();
    QCOMPARE(f.style->textPercent(), 100);
}

void TestWindow::devicesAreNamed()
{
    WindowFixture f(threeDevices);
    f.open({f.write(QStringLiteral("x"), "x")});
    QComboBox* chooser = f.window->toolbar()->deviceChooser();
    QCOMPARE(chooser->count(), 3);
    QCOMPARE(chooser->itemText(0), text(deviceName(-1)));
    QCOMPARE(chooser->itemText(1), QStringLiteral("GPU 0"));
    QCOMPARE(chooser->currentText(), QStringLiteral("GPU 1"));
    emit chooser->activated(1);
    QCOMPARE(f.workspace->session.deviceIndex(), std::size_t{1});
    QCOMPARE(f.workspace->state.states(), f.replay()->states());
    // No segments in this file: unknown, and the reason.
    QVERIFY(says(f.window->strip()->reservedCell(), QStringLiteral("unknown")));
    QVERIFY(says(f.window->strip()->cursorCell(), QStringLiteral("unknown")));
    QVERIFY(!f.window->strip()->reservedCell()->toolTip().isEmpty());
    QVERIFY(!f.window->commands()["view.timeAxis"]->isEnabled());
}

void TestWindow::helpPagesAreThere()
{
    WindowFixture f;
    QVERIFY(HelpWindow::pages().size() >= 5);
    QCOMPARE(HelpWindow::pages().front(), QStringLiteral("index"));
    emit f.workspace->state.helpRequested(QStringLiteral("recording"));
    QVERIFY(f.window->helpWindow()->isVisible());
    QVERIFY(!f.window->helpWindow()->isModal());
    QCOMPARE(f.window->helpWindow()->page(), QStringLiteral("record"));
    emit f.workspace->state.helpRequested(QStringLiteral("numbers"));
    QCOMPARE(f.window->helpWindow()->page(), QStringLiteral("numbers"));
    f.window->helpWindow()->close();
}

void TestWindow::keyMapListsTheKeys()
{
    WindowFixture f;
    f.window->timeline()->setFocus();
    f.window->commands()["help.keys"]->trigger();
    KeyOverlay* keys = f.window->keyOverlay();
    QVERIFY(keys->isVisible());
    const auto rows = keys->rows();
    QVERIFY(std::any_of(rows.begin(), rows.end(), [](const KeyOverlay::Row& row) {
        return row.text == QStringLiteral("Next peak") && row.keys == QStringLiteral("N");
    }));
    QTest::keyClick(keys, Qt::Key_A);
    QVERIFY(!keys->isVisible());
}

QTEST_MAIN(TestWindow)
#include "tst_window.moc"
