// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/timeline_window.hpp"

#include <QAccessible>
#include <QSignalSpy>
#include <QToolTip>

using namespace tidemark;
using test::afterForward;
using test::bySize;
using test::MiB;
using Window = test::TimelineWindowUnderTest;

class TestTimelineView : public QObject {
    Q_OBJECT
private slots:
    // ---- mouse

    void showsTheWholeTraceFromZero()
    {
        Window w;
        QCOMPARE(w.state.window(), (XWindow{0, 123}));
        QCOMPARE(w.canvas()->yAxis->range().lower, 0.0);
        QVERIFY(w.canvas()->yAxis->range().upper > 1.66 * 1024 * MiB); // reserved is in sight
    }

    void wheelZoomsAtThePointer()
    {
        Window w;
        const QPoint pos = w.atState(60, 300 * MiB);
        const double before = w.canvas()->xAxis->pixelToCoord(pos.x());
        w.wheel(pos, 3);
        w.settle();
        QVERIFY(std::abs(w.canvas()->xAxis->pixelToCoord(pos.x()) - before) < 0.01);
        QVERIFY(std::abs((w.state.window().right - w.state.window().left) - 123 / std::pow(1.2, 3)) < 0.01);
        w.wheel(pos, -9);
        QCOMPARE(w.state.window(), (XWindow{0, 123})); // never wider than the trace
    }

    void wheelWithModifiersPansAndZoomsY()
    {
        Window w;
        w.state.setWindow({40, 80});
        w.settle();
        w.wheel(w.plot().center(), -1, Qt::ShiftModifier);
        QVERIFY(w.state.window().left > 40);
        QCOMPARE(w.state.window().right - w.state.window().left, 40.0);
        const XWindow x = w.state.window();
        const QPoint pos = w.at(x.left + 3, 400 * MiB);
        w.wheel(pos, 2, Qt::ControlModifier);
        w.settle();
        QCOMPARE(w.state.window(), x);
        QVERIFY(std::abs(w.canvas()->yAxis->pixelToCoord(pos.y()) - 400 * MiB) < 5 * MiB);
        QVERIFY(w.canvas()->yAxis->range().lower > 0);
    }

    void clickSelectsAndSetsTheCursor()
    {
        Window w;
        w.click(w.atState(30, 50 * MiB));
        QCOMPARE(w.state.cursor(), StateIndex{30});
        QCOMPARE(w.state.selection().kind, Selection::Kind::Allocation);
        QCOMPARE(w.state.selection().allocation, bySize(w.replay(), 100 * MiB));
        w.click(w.atState(afterForward, 184 * MiB));
        QCOMPARE(w.replay().timeline.allocations().size[index(w.state.selection().allocation)],
            static_cast<std::uint64_t>(48 * MiB));
        w.click(w.atState(100, 1200 * MiB)); // above the stack
        QCOMPARE(w.state.cursor(), StateIndex{100});
        QCOMPARE(w.state.selection().kind, Selection::Kind::None);
    }

    void dragMakesARangeThatShiftClickExtends()
    {
        Window w;
        w.drag(w.atState(20, 400 * MiB), w.atState(50, 500 * MiB));
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{20, 50})));
        w.click(w.atState(70, 400 * MiB), Qt::ShiftModifier);
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{20, 70})));
        w.click(w.atState(10, 400 * MiB), Qt::ShiftModifier);
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{10, 70})));
        w.key(Qt::Key_Escape);
        QVERIFY(!w.state.range());
    }

    void doubleClickZoomsToTheLifeOfWhatIsThere()
    {
        Window w;
        w.doubleClick(w.atState(afterForward, 184 * MiB));
        w.settle();
        const AllocationId id = w.state.selection().allocation;
        QVERIFY(valid(id));
        const auto& all = w.replay().timeline.allocations();
        QVERIFY(w.state.window().left <= all.firstState[index(id)]);
        QVERIFY(w.state.window().right >= all.endState[index(id)]);
        QVERIFY(w.state.window().right - w.state.window().left
            < 1.3 * (all.endState[index(id)] - all.firstState[index(id)]));
        w.state.goBack();
        QCOMPARE(w.state.window(), (XWindow{0, 123}));
    }

    void controlDragZoomsIntoABox()
    {
        Window w;
        w.drag(w.at(30, 600 * MiB), w.at(60, 200 * MiB), Qt::LeftButton, Qt::ControlModifier);
        w.settle();
        QVERIFY(std::abs(w.state.window().left - 30) < 0.3);
        QVERIFY(std::abs(w.state.window().right - 60) < 0.3);
        QVERIFY(std::abs(w.canvas()->yAxis->range().upper - 600 * MiB) < 13 * MiB);
        QVERIFY(std::abs(w.canvas()->yAxis->range().lower - 200 * MiB) < 13 * MiB);
        QVERIFY(!w.state.range());
    }

    void middleDragAndSpaceDragPan()
    {
        Window w;
        w.state.setWindow({40, 80});
        w.settle();
        w.drag(w.at(60, 300 * MiB), w.at(50, 300 * MiB), Qt::MiddleButton);
        QVERIFY(std::abs(w.state.window().left - 50) < 0.3);
        w.settle();
        QTest::keyPress(&w.view, Qt::Key_Space);
        w.drag(w.at(60, 300 * MiB), w.at(70, 300 * MiB));
        QTest::keyRelease(&w.view, Qt::Key_Space);
        QVERIFY(std::abs(w.state.window().left - 40) < 0.5);
        QVERIFY(!w.state.range());
    }

    void axisScrubsTheCursor()
    {
        Window w;
        const int y = w.plot().bottom() + 12;
        w.drag({w.atState(10, 0).x(), y}, {w.atState(77, 0).x(), y});
        QCOMPARE(w.state.cursor(), StateIndex{77});
    }

    void laneItemsAreRanges()
    {
        Window w;
        const Mark* forward = nullptr;
        for (const Mark& mark : w.session.marks())
            if (mark.name == "forward")
                forward = &mark;
        QVERIFY(forward);
        const QPoint pos(w.atState(forward->first + 3, 0).x(), w.plot().top() - 14);
        w.click(pos);
        QCOMPARE(w.state.range(), (std::optional(std::pair{forward->first, forward->last})));
        QTest::mouseDClick(w.canvas(), Qt::LeftButton, Qt::NoModifier, pos);
        QVERIFY(w.state.window().right < forward->last + 4);
    }

    void overviewMovesAndResizesTheWindow()
    {
        Window w;
        w.state.setWindow({40, 80});
        w.settle();
        const int y = w.canvas()->height() - 44;
        const auto x
            = [&](double s) { return w.plot().left() + static_cast<int>(s / 123 * w.plot().width()); };
        w.drag({x(60), y}, {x(80), y});
        QVERIFY(std::abs(w.state.window().left - 60) < 1);
        QCOMPARE(std::round(w.state.window().right - w.state.window().left), 40.0);
        w.settle();
        w.drag({x(60), y}, {x(20), y}); // the left handle
        QVERIFY(std::abs(w.state.window().left - 20) < 1);
        QVERIFY(std::abs(w.state.window().right - 100) < 1);
    }

    void legendSelectsGroupsAndSearches()
    {
        Window w;
        const QPoint first(w.plot().left() + 4, w.canvas()->height() - 13);
        w.click(first);
        QCOMPARE(w.state.selection().kind, Selection::Kind::Group);
        QCOMPARE(QString::fromStdString(w.session.grouping(GroupBy::Site)->name(w.state.selection().group)),
            QStringLiteral("softmax@nn_utils.py:6"));
        w.click(first);
        QCOMPARE(w.state.selection().kind, Selection::Kind::None);
        QSignalSpy searched(&w.state, &ViewState::searchRequested);
        w.click(first, Qt::ControlModifier);
        QCOMPARE(searched.count(), 1);
        QCOMPARE(searched[0][0].toString(), QStringLiteral("site:softmax@nn_utils.py:6"));
    }

    void rulerStaysUntilDeleted()
    {
        Window w;
        w.state.setTool(Tool::Ruler);
        QCOMPARE(w.state.tool(), Tool::Ruler);
        w.drag(w.atState(30, 200 * MiB), w.atState(90, 600 * MiB));
        QCOMPARE(w.view.notes().items().size(), std::size_t{1});
        const report::Annotation ruler = w.view.notes().items().front();
        QCOMPARE(ruler.kind, report::AnnotationKind::Ruler);
        const auto from = std::get<report::PointAnchor>(ruler.from);
        const auto to = std::get<report::PointAnchor>(ruler.to);
        QCOMPARE(from.event, std::int64_t{29}); // the state after it is 30
        QCOMPARE(to.event, std::int64_t{89});
        QVERIFY(std::abs(static_cast<double>(to.bytes - from.bytes) - 400 * MiB) < 10 * MiB);
        QVERIFY(!w.state.range());
        w.key(Qt::Key_Escape);
        QCOMPARE(w.state.tool(), Tool::Pointer);
        w.click(w.atState(10, 1000 * MiB));
        QCOMPARE(w.view.notes().items().size(), std::size_t{1});
        w.key(Qt::Key_Delete); // nothing chosen
        QCOMPARE(w.view.notes().items().size(), std::size_t{1});
        w.click(w.atState(60, 400 * MiB));
        w.key(Qt::Key_Delete);
        QVERIFY(w.view.notes().items().empty());
    }

    void hoverNamesTheAllocationAndTheScale()
    {
        Window w;
        QSignalSpy texts(&w.state, &ViewState::hoverTextChanged);
        w.hover(w.atState(afterForward, 184 * MiB));
        QVERIFY(!texts.isEmpty());
        const QString text = texts.last()[0].toString();
        QVERIFY2(text.startsWith(QStringLiteral("softmax@nn_utils.py:6")), qPrintable(text));
        QVERIFY(text.contains(QStringLiteral("48.0\u00a0MiB")));
        QVERIFY(text.contains(QStringLiteral("event 40")));
        QVERIFY(text.contains(QStringLiteral("1 event = ")));
        QVERIFY(text.contains(QStringLiteral("1 row = ")));
        QVERIFY(valid(w.state.hovered()));
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(w.canvas(), &leave);
        QVERIFY(!valid(w.state.hovered()));
    }

    void tooltipTellsSizeAndLife()
    {
        Window w;
        const QPoint pos = w.atState(afterForward, 184 * MiB);
        QTest::mouseMove(w.canvas(), pos - QPoint(3, 0));
        QTest::mouseMove(w.canvas(), pos);
        QTRY_VERIFY(QToolTip::isVisible());
        const QString text = QToolTip::text();
        QVERIFY2(text.contains(QStringLiteral("<b>softmax@nn_utils.py:6</b>")), qPrintable(text));
        QVERIFY(text.contains(QStringLiteral("48.0\u00a0MiB (50,331,648\u00a0B)")));
        QVERIFY(text.contains(QStringLiteral("event 2 → ")));
        QVERIFY(!text.contains(QStringLiteral("share this row")));
        QToolTip::hideText();
    }

    // ---- keys

    void keysZoomAndPan()
    {
        Window w;
        w.state.setCursor(60);
        w.view.zoomIn();
        const XWindow zoomed = w.state.window();
        QVERIFY(std::abs((zoomed.right - zoomed.left) - 82) < 0.01);
        QVERIFY(zoomed.left < 60 && zoomed.right > 60);
        w.view.panRight();
        QVERIFY(w.state.window().left > zoomed.left);
        w.view.panLeft();
        QVERIFY(std::abs(w.state.window().left - zoomed.left) < 1e-9);
        w.view.zoomOut();
        QCOMPARE(w.state.window(), (XWindow{0, 123}));
        w.state.setWindow({0, 30});
        w.key(Qt::Key_PageDown);
        QCOMPARE(w.state.window(), (XWindow{30, 60}));
        w.key(Qt::Key_PageUp);
        QCOMPARE(w.state.window(), (XWindow{0, 30}));
        w.key(Qt::Key_Home);
        QCOMPARE(w.state.window(), (XWindow{0, 123}));
    }

    void keysMoveTheCursor()
    {
        Window w;
        w.state.setCursor(50);
        w.key(Qt::Key_Right);
        QCOMPARE(w.state.cursor(), StateIndex{51});
        w.key(Qt::Key_Left);
        w.key(Qt::Key_Left);
        QCOMPARE(w.state.cursor(), StateIndex{49});
        w.key(Qt::Key_Right, Qt::ShiftModifier);
        w.key(Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{49, 51})));
        w.key(Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{49, 50})));
        w.state.setCursor(0);
        w.key(Qt::Key_Left);
        QCOMPARE(w.state.cursor(), StateIndex{0});
    }

    void keysFindTheSameSiteAndPeaks()
    {
        Window w;
        w.click(w.atState(afterForward, 184 * MiB)); // the first softmax, allocated by event 2
        w.state.setCursor(3);
        w.key(Qt::Key_Right, Qt::ControlModifier);
        QCOMPARE(w.state.cursor(), StateIndex{8}); // five events a layer
        w.key(Qt::Key_Left, Qt::ControlModifier);
        QCOMPARE(w.state.cursor(), StateIndex{3});
        const auto peaks = w.replay().timeline.localPeaks();
        QVERIFY(peaks.size() > 2);
        w.state.setCursor(0);
        w.view.stepPeak(1);
        QCOMPARE(w.state.cursor(), peaks.front());
        w.view.stepPeak(1);
        QCOMPARE(w.state.cursor(), peaks[1]);
        w.view.stepPeak(-1);
        QCOMPARE(w.state.cursor(), peaks.front());
    }

    void keyFZoomsThereAndBack()
    {
        Window w;
        w.state.setRange(std::pair<StateIndex, StateIndex>{20, 40});
        w.view.zoomToSelection();
        QVERIFY(w.state.window().left > 18 && w.state.window().right < 43);
        w.view.zoomToSelection();
        QCOMPARE(w.state.window(), (XWindow{0, 123}));
    }

    void keyYFitsToWhatIsVisible()
    {
        Window w;
        w.state.setWindow({0, 6});
        w.settle();
        w.view.fitY();
        w.settle();
        const double fitted = w.canvas()->yAxis->range().upper;
        QVERIFY(fitted < 1.2 * 1100 * MiB); // reserved grows to 1.06 GiB there, 1.66 GiB later
        w.view.fitY();
        w.settle();
        QVERIFY(w.canvas()->yAxis->range().upper > fitted);
    }

    void keysSwitchLanesOrderAxisAndSteps()
    {
        Window w;
        const int top = w.plot().top();
        w.view.setLanesVisible(!w.view.lanesVisible());
        w.settle();
        QVERIFY(w.plot().top() < top - 30);
        w.state.setStackOrder(StackOrder::Group);
        QCOMPARE(w.state.stackOrder(), StackOrder::Group);
        w.state.setAxis(XAxis::Time);
        QCOMPARE(w.state.axis(), XAxis::Time);
        w.state.setCursor(0);
        w.view.stepStep(1);
        QVERIFY(w.state.range().has_value());
        QVERIFY(w.state.range()->second > 100);
    }

    // ---- axes

    void axisSwitchKeepsTheStates()
    {
        Window w;
        w.state.setWindow({20, 50});
        w.state.setAxis(XAxis::Time);
        w.settle();
        // Events are 100 µs apart; state s begins at (s − 1) × 100 µs.
        QVERIFY(std::abs(w.state.window().left - 1900) < 1);
        QVERIFY(std::abs(w.state.window().right - 4900) < 101);
        w.state.setAxis(XAxis::Events);
        QVERIFY(std::abs(w.state.window().left - 20) < 1.01);
        QVERIFY(std::abs(w.state.window().right - 50) < 1.01);
    }

    void withoutTimesThereIsNoTimeAxisAndAReason()
    {
        Window w(test::makeRank(test::trainingStep({.layers = 4, .times = false})));
        QVERIFY(!w.view.whyNoTimeAxis().isEmpty());
        w.state.setAxis(XAxis::Time);
        QCOMPARE(w.state.axis(), XAxis::Events);
        Window timed;
        QVERIFY(timed.view.whyNoTimeAxis().isEmpty());
    }

    void newCursorsComeIntoSight()
    {
        Window w;
        w.state.setWindow({0, 20});
        w.settle();
        w.state.setCursor(100);
        QVERIFY(w.state.window().left < 100 && w.state.window().right > 100);
        QVERIFY(std::abs((w.state.window().right - w.state.window().left) - 20) < 1e-6);
    }

    // ---- the rest

    void speaksToAssistiveTechnology()
    {
        Window w;
        w.state.setCursor(41);
        w.state.selectAllocation(bySize(w.replay(), 100 * MiB));
        auto* spoken = QAccessible::queryAccessibleInterface(&w.view);
        QVERIFY(spoken);
        QCOMPARE(spoken->role(), QAccessible::Chart);
        QCOMPARE(spoken->text(QAccessible::Name), QStringLiteral("Timeline"));
        const QString value = spoken->text(QAccessible::Value);
        QVERIFY2(value.startsWith(QStringLiteral("event 40 of 122")), qPrintable(value));
        QVERIFY(value.contains(QStringLiteral("live 672\u00a0MiB")));
        QVERIFY(value.contains(QStringLiteral("selected before recording")));
    }
};

QTEST_MAIN(TestTimelineView)
#include "tst_timeline_view.moc"
