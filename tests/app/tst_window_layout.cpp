// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/key_overlay.hpp"
#include "app/main_toolbar.hpp"
#include "model/findings/prediction.hpp"
#include "tests/app/window_fixture.hpp"
#include "widgets/findings/findings_view.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QDockWidget>
#include <QFontMetrics>
#include <QMenuBar>
#include <QScreen>
#include <QTabBar>
#include <QTabWidget>

using namespace tidemark;
using tidemark::test::WindowFixture;

/// Docks, tabs and the key map in windows and texts of every size.
class TestWindowLayout : public QObject {
    Q_OBJECT
private slots:
    // Sizes that cannot be are remarked upon by the toolkit.
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("Negative sizes"))); }
    void theSandboxStaysOpenInASmallWindow();
    void closingTheSandboxTakesThePredictionAway();
    void docksAreAsWideAsBefore();
    void largeTextWidensTheDocks();
    void allTabsAreThere();
    void theWindowFitsOnTheScreen();
    void theWindowMenuLeadsEverywhere();
    void keysAreReadInEveryWindow_data();
    void keysAreReadInEveryWindow();
};

void TestWindowLayout::theSandboxStaysOpenInASmallWindow()
{
    WindowFixture f;
    f.open({f.training()});
    auto* dock = f.window->findChild<QDockWidget*>(QStringLiteral("sandbox"));
    QVERIFY(dock->isHidden());
    f.window->commands()["window.sandbox"]->trigger();
    QVERIFY(!dock->isHidden());
    f.window->resize(1100, 700);
    QTRY_VERIFY(f.window->windowLayout().isNarrow());
    QVERIFY(!dock->isHidden());
    // Its tab is there to be clicked.
    const auto tabOf = [&]() -> int {
        for (const QTabBar* bar : f.window->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly))
            for (int i = 0; i < bar->count(); ++i)
                if (bar->tabText(i) == dock->windowTitle() && bar->isVisible())
                    return bar->rect().contains(bar->tabRect(i)) ? 1 : -1;
        return 0;
    };
    QTRY_COMPARE(tabOf(), 1);
    dock->close();
    f.window->resize(1600, 1000);
    QTRY_VERIFY(!f.window->windowLayout().isNarrow());
    QVERIFY2(dock->isHidden(), "what was closed stays closed");
}

void TestWindowLayout::closingTheSandboxTakesThePredictionAway()
{
    WindowFixture f;
    f.open({f.training()});
    f.window->commands()["window.sandbox"]->trigger();
    auto* dock = f.window->findChild<QDockWidget*>(QStringLiteral("sandbox"));
    QCoreApplication::processEvents();
    f.workspace->session.setPrediction(std::make_shared<Prediction>());
    f.window->resize(1100, 700);
    QTRY_VERIFY(f.window->windowLayout().isNarrow());
    f.window->commands()["window.findings"]->trigger();
    QCoreApplication::processEvents();
    QVERIFY2(f.workspace->session.prediction() != nullptr, "a tab behind another one is not closed");
    dock->close();
    QTRY_VERIFY(f.workspace->session.prediction() == nullptr);
}

void TestWindowLayout::docksAreAsWideAsBefore()
{
    WindowFixture f;
    f.open({f.training()});
    QTest::qWait(50);
    const auto widths = [&] {
        return std::array{
            f.window->liveTable()->width(), f.window->segmentMap()->width(), f.window->findings()->width()};
    };
    const auto before = widths();
    for (const QSize small : {QSize(1450, 950), QSize(1000, 700), QSize(1450, 950)}) {
        f.window->resize(small);
        QTest::qWait(50);
        f.window->resize(1600, 1000);
        QTest::qWait(50);
        for (std::size_t i = 0; i < before.size(); ++i)
            QTRY_VERIFY2(std::abs(widths()[i] - before[i]) <= 4,
                qPrintable(QStringLiteral("%1: %2, before %3").arg(i).arg(widths()[i]).arg(before[i])));
    }
}

void TestWindowLayout::largeTextWidensTheDocks()
{
    WindowFixture f;
    f.open({f.training()});
    QTest::qWait(50);
    const int before = f.window->findings()->width();
    f.style->setTextPercent(140);
    QTRY_VERIFY2(f.window->findings()->width() > before * 11 / 10,
        qPrintable(QStringLiteral("%1, before %2").arg(f.window->findings()->width()).arg(before)));
    f.style->setTextPercent(200);
    QTRY_VERIFY(f.window->findings()->width() > before * 11 / 10);
    QTRY_VERIFY(f.window->findings()->width() <= f.window->width() * 2 / 5);
    f.style->setTextPercent(100);
    QTRY_VERIFY(std::abs(f.window->findings()->width() - before) <= 4);
}

void TestWindowLayout::allTabsAreThere()
{
    WindowFixture f;
    f.open({f.training()});
    for (const int percent : {100, 200})
        for (const QSize size : {QSize(1600, 1000), QSize(1280, 800), QSize(960, 600)}) {
            f.style->setTextPercent(percent);
            f.window->resize(size);
            QTest::qWait(30);
            const QTabBar* bar = f.window->tabs()->tabBar();
            for (int i = 0; i < bar->count(); ++i)
                QVERIFY2(bar->rect().contains(bar->tabRect(i)),
                    qPrintable(QStringLiteral("%1 %: tab %2 at %3").arg(percent).arg(i).arg(size.width())));
            // The controls of the timeline cover no tab and are there.
            const QWidget* controls = f.window->timeline()->controls();
            QVERIFY(controls->isVisible());
            const QRect place(controls->mapTo(f.window.get(), QPoint(0, 0)), controls->size());
            const QRect tabs(bar->mapTo(f.window.get(), QPoint(0, 0)), bar->size());
            QVERIFY(!place.intersects(tabs));
        }
}

void TestWindowLayout::theWindowFitsOnTheScreen()
{
    WindowFixture f;
    const QRect room = f.window->screen()->availableGeometry();
    f.window->resize(room.width() + 100, room.height() + 100);
    QTest::qWait(20);
    f.window->setMinimumSize(200, 200); // the screen of the test may be small
    f.window->windowLayout().fitScreen();
    QTRY_VERIFY(f.window->frameGeometry().width() <= room.width());
    QTRY_VERIFY(f.window->frameGeometry().height() <= room.height());
    QTRY_VERIFY(room.contains(f.window->frameGeometry()));
}

void TestWindowLayout::theWindowMenuLeadsEverywhere()
{
    WindowFixture f;
    for (const QAction* top : f.window->menuBar()->actions())
        if (top->text() == QStringLiteral("&Window"))
            for (const char* id : {"window.timeline", "window.segments", "window.live", "window.details",
                     "window.findings", "window.sandbox", "window.oom", "window.playbook"})
                QVERIFY2(top->menu()->actions().contains(f.window->commands()[id]), id);
}

void TestWindowLayout::keysAreReadInEveryWindow_data()
{
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("percent");
    for (const QSize size : {QSize(1600, 1000), QSize(1280, 800), QSize(960, 600)})
        for (const int percent : {100, 200})
            QTest::addRow("%d x %d, %d %%", size.width(), size.height(), percent) << size << percent;
}

void TestWindowLayout::keysAreReadInEveryWindow()
{
    QFETCH(QSize, size);
    QFETCH(int, percent);
    WindowFixture f;
    f.style->setTextPercent(percent);
    const QRect area(QPoint(0, 0), size);
    const auto cells = f.window->keyOverlay()->cells(area);
    std::map<int, QString> tops; // of each column
    std::map<int, QRect> columns;
    std::size_t commands = 0;
    for (const KeyOverlay::Cell& cell : cells) {
        commands += cell.keys.isEmpty() ? 0 : 1;
        columns[cell.area.left()] |= cell.area;
        if (cell.area.top() == area.top())
            tops[cell.area.left()] = cell.keys;
        QVERIFY(area.contains(cell.area));
    }
    QCOMPARE(commands, f.window->keyOverlay()->rows().size());
    for (const auto& [left, keys] : tops)
        QVERIFY2(keys.isEmpty(), "every column begins with a heading");
    QCOMPARE(tops.size(), columns.size());
    if (percent == 100) {
        const QFontMetrics base(f.style->font(FontRole::Base));
        for (const KeyOverlay::Cell& cell : cells)
            if (size.width() >= 1280)
                QVERIFY2(base.horizontalAdvance(cell.text) + 90 <= cell.area.width() || cell.keys.isEmpty(),
                    qPrintable(cell.text));
    }
}

QTEST_MAIN(TestWindowLayout)
#include "tst_window_layout.moc"
