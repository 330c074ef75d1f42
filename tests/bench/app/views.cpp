// SPDX-License-Identifier: GPL-3.0-or-later
// What a user feels: the real window at 1600 × 900, off screen, opens a file and is then panned, zoomed,
// pointed at and clicked, the same way each time. A frame is the time from the input until the GUI thread has
// painted its result; "exact" is the time until the picture, the map and the tables are those of the new
// place. "not answering" is the longest time one event kept the event loop.
#include "tests/bench/app/watch.hpp"

#include "app/filter_completer.hpp"
#include "app/main_toolbar.hpp"
#include "app/main_window.hpp"
#include "app/search_field.hpp"
#include "widgets/details/details_view.hpp"
#include "widgets/events/events_view.hpp"
#include "widgets/growth/growth_view.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/results/results_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/timeline/timeline_view.hpp"
#include "widgets/tree/call_tree_view.hpp"
#include "widgets/tree/flame_view.hpp"

#include <QAction>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeView>
#include <QWheelEvent>

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using namespace tidemark;
using bench::Stamp;
using bench::Times;

namespace {

constexpr double frameMs = 1000.0 / 60;
constexpr int waitMs = 600'000;
/// Turns of the event loop until an input is painted: its handler, what that put off to the next turn, the
/// paint. What comes later is an answer of another thread.
constexpr int frameTurns = 3;
constexpr std::size_t gesture = 20; ///< frames of one drag, turn of the wheel, sweep of the cursor

class Session300 {
public:
    Session300(bench::Watch& watch, Workspace& work, MainWindow& window, bench::Report& report)
        : m_watch(watch)
        , m_work(work)
        , m_window(window)
        , m_report(report)
        , m_canvas(*window.timeline()->findChild<QCustomPlot*>())
    {
        watch.addView("timeline", window.timeline());
        watch.addView("segment map", window.segmentMap());
        watch.addView("live table", window.liveTable());
        watch.addView("details", window.details());
        watch.addView("events", window.events());
        watch.addView("call tree", window.callTree());
        watch.addView("flame graph", window.flame());
        watch.addView("growth", window.growth());
        watch.addView("results", window.results());
        watch.addView("status line", reinterpret_cast<QWidget*>(window.statusLine()));
        watch.addView("summary strip", reinterpret_cast<QWidget*>(window.strip()));
    }

    /// False when the file cannot be opened.
    bool open(const QString& path)
    {
        QElapsedTimer clock;
        clock.start();
        double first = 0;
        const auto shown = QObject::connect(m_window.timeline(), &TimelineView::exactPictureShown,
            [&] { first = first > 0 ? first : static_cast<double>(clock.nsecsElapsed()) / 1e9; });
        m_window.open({path});
        const bool opened = waitFor([&] {
            return m_work.session.replay() && !m_work.loader.isLoading() && m_window.timeline()->isExact();
        });
        QObject::disconnect(shown);
        if (!opened)
            return false;
        pump(0);
        m_report.line("first exact picture", {{"seconds", first}});
        m_report.line("loaded and painted", {{"seconds", static_cast<double>(clock.nsecsElapsed()) / 1e9}});
        gap("opening");
        settle();
        m_report.line("findings", {{"seconds", static_cast<double>(clock.nsecsElapsed()) / 1e9}});
        gap("findings arrive");
        return true;
    }

    void session(std::size_t actions)
    {
        const std::vector<std::pair<std::string, void (Session300::*)(std::size_t)>> kinds{
            {"pan", &Session300::pan}, {"zoom", &Session300::zoom}, {"cursor", &Session300::cursor},
            {"hover", &Session300::hover}, {"hover over the map", &Session300::hoverMap},
            {"select", &Session300::select}};
        // Ever the same order of gestures, each of some frames as fast as a hand makes them.
        std::vector<std::size_t> gestures;
        for (std::size_t i = 0; i * gesture < actions; ++i)
            gestures.push_back(i % kinds.size());
        std::shuffle(gestures.begin(), gestures.end(), m_random);
        for (const std::size_t kind : gestures) {
            m_kind = kinds[kind].first;
            (this->*kinds[kind].second)(std::min(gesture, actions));
            QElapsedTimer clock;
            clock.start();
            const Stamp start = Stamp::now();
            settle();
            m_exact[m_kind].add(Stamp::now() - start);
            takeGap();
        }
        print();
    }

    /// The panes behind the live table, each in front for a sweep of the cursor and a click.
    void panes()
    {
        MainWindow& w = m_window;
        pane(
            "events", w.events(), [&] { return w.events()->busy(); }, [] {});
        pane(
            "call tree", w.callTree(), [&] { return w.callTree()->source().busy(); },
            [&] { w.callTree()->source().select(1); });
        pane(
            "flame graph", w.flame(), [&] { return w.flame()->source().busy(); },
            [&] { w.flame()->selectNode(1); });
        pane(
            "growth", w.growth(), [&] { return w.growth()->busy(); },
            [&] { w.growth()->table().selectRow(0); });
        m_work.state.setScopeKind(Scope::Kind::Trace);
        pane(
            "call tree of the trace", w.callTree(), [&] { return w.callTree()->source().busy(); },
            [&] { w.callTree()->source().select(1); });
        m_work.state.setScopeKind(Scope::Kind::Instant);
        m_work.state.clearSelection();
        settle();
        takeGap();
    }

    void choices()
    {
        ViewState& state = m_work.state;
        single("select a whole site", [&] {
            Selection selection;
            selection.kind = Selection::Kind::Group;
            selection.group = m_work.session.grouping(GroupBy::Site)->of(biggest());
            state.select(selection);
        });
        single("clear the selection", [&] { state.clearSelection(); });
        for (const auto& [name, by] : {std::pair{"size", ColourBy::Size}, {"age", ColourBy::Age},
                 {"module", ColourBy::Label}, {"role", ColourBy::Role}, {"site", ColourBy::Site}})
            single(
                std::string("colour by ") + name,
                [&, by = by] {
                    const QByteArray id = "view.colour." + QByteArray::number(static_cast<int>(by));
                    m_window.commands()[id.constData()]->trigger();
                },
                [&, by = by] { return state.colourBy() == by; });
        single("stack by group", [&] { state.setStackOrder(StackOrder::Group); });
        single("stack by age", [&] { state.setStackOrder(StackOrder::Age); });
        for (const auto& [name, by] :
            {std::pair{"stack", GroupBy::Stack}, {"size", GroupBy::ExactSize}, {"module", GroupBy::Label},
                {"role", GroupBy::Role}, {"allocation", GroupBy::None}, {"site", GroupBy::Site}})
            single(
                std::string("live table by ") + name, [&, by = by] { m_window.liveTable()->setGroupBy(by); },
                [&, by = by] { return m_window.liveTable()->model().rows().table->by == by; });
        single("complete “site:”", [&] { type(QStringLiteral("site:")); });
        single("complete “site:f”", [&] { type(QStringLiteral("site:f")); });
        raise(m_window.results());
        for (const char* text : {"forward", "size>1M", "site:forward or file:layers", ""})
            single(std::string("search “") + text + "”", [&] {
                m_window.toolbar()->filterField()->setText(QString::fromUtf8(text));
                m_work.search.start();
            });
        const auto field = [&](const char* text) {
            m_window.toolbar()->filterField()->setText(QString::fromUtf8(text));
            m_work.search.start();
        };
        field("size>0");
        settle();
        for (const auto& [name, column] :
            {std::pair{"size", ResultsModel::Size}, {"site", ResultsModel::Site}})
            single(std::string("sort all results by ") + name,
                [&, column = column] { m_window.results()->sortBy(column, Qt::DescendingOrder); });
        m_kind = "cursor, with a search";
        cursor(gesture);
        takeGap();
        field("");
        settle();
        print();
    }

private:
    void print()
    {
        for (const auto& [kind, times] : m_frames) {
            m_report.times(kind + ": frame", times);
            for (const auto& [view, own] : m_byView[kind])
                if (own.cpu(1) >= 1)
                    m_report.times("  " + kind + ": " + view, own);
            if (const auto exact = m_exact.find(kind); exact != m_exact.end())
                m_report.times("  " + kind + ": exact after the last frame", exact->second);
            if (const auto found = m_gaps.find(kind); found != m_gaps.end())
                tell(kind, found->second);
        }
        m_frames.clear();
        m_byView.clear();
        m_exact.clear();
        m_gaps.clear();
    }

    void tell(const std::string& when, const bench::Watch::Gap& gap)
    {
        m_report.line("  " + when + ": not answering",
            {{"worst_ms", gap.took.wall}, {"cpu_worst_ms", gap.took.cpu},
                {"over_50ms", static_cast<double>(gap.over50)}});
        if (gap.took.cpu >= 10)
            m_report.say("    in " + gap.what);
    }
    void gap(const std::string& when) { tell(when, m_watch.takeGap()); }
    void takeGap()
    {
        const bench::Watch::Gap gap = m_watch.takeGap();
        bench::Watch::Gap& known = m_gaps[m_kind];
        const std::size_t over50 = known.over50 + gap.over50;
        if (gap.took.cpu > known.took.cpu)
            known = gap;
        known.over50 = over50;
    }

    /// Lets the event loop turn until `done`; false when that takes too long.
    bool waitFor(const std::function<bool()>& done)
    {
        QElapsedTimer clock;
        clock.start();
        while (!done()) {
            if (clock.elapsed() > waitMs)
                return false;
            QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
        }
        return true;
    }
    /// Everything that is due now, until nothing follows, and then for `ms` more.
    void pump(double ms)
    {
        for (int turn = 0; turn < 8; ++turn) {
            const std::size_t before = m_watch.delivered();
            QCoreApplication::processEvents();
            if (m_watch.delivered() == before)
                break;
        }
        QElapsedTimer clock;
        clock.start();
        while (static_cast<double>(clock.nsecsElapsed()) / 1e6 < ms)
            QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
    }
    bool settled() const
    {
        const auto replay = m_work.session.replay();
        const StateIndex cursor = std::min(m_work.state.cursor(), replay->states() - 1);
        const LiveTableView& live = *m_window.liveTable();
        const bool liveStale = live.isVisible() && live.model().rows().table && !live.atPeak()
            && live.model().rows().table->state != cursor;
        const SegmentMapView& map = *m_window.segmentMap();
        const bool mapStale = map.isVisible() && map.scene().state && map.scene().state->state != cursor;
        return m_window.timeline()->isExact() && !m_work.diagnoser.isBusy() && m_work.search.isSettled()
            && !liveStale && !mapStale && !m_window.results()->busy() && !m_window.growth()->busy()
            && !m_window.callTree()->source().busy() && !m_window.flame()->source().busy()
            && !m_window.events()->busy();
    }
    void settle()
    {
        pump(0);
        waitFor([&] { return settled(); });
        pump(0);
    }

    /// One frame of the present gesture: the input reaches the window through the event loop, as a real one.
    void frame(const std::function<void()>& input)
    {
        m_watch.takeViews();
        const Stamp start = Stamp::now();
        QMetaObject::invokeMethod(&m_window, input, Qt::QueuedConnection);
        // Timers are for what may come later than the frame, and on a busy machine they would be due in it.
        for (int turn = 0; turn < frameTurns; ++turn)
            QCoreApplication::sendPostedEvents();
        const Stamp took = Stamp::now() - start;
        m_frames[m_kind].add(took);
        for (const auto& [view, spent] : m_watch.takeViews())
            m_byView[m_kind][view].add(spent);
        pump(std::max(0.0, frameMs - took.wall));
    }
    /// Something done once: how long its frame takes, the event loop is held, and until all is there.
    void single(
        const std::string& what, const std::function<void()>& input,
        const std::function<bool()>& taken = [] { return true; })
    {
        m_watch.takeGap();
        const Stamp start = Stamp::now();
        QMetaObject::invokeMethod(&m_window, input, Qt::QueuedConnection);
        pump(0);
        waitFor(taken);
        settle();
        const Stamp took = Stamp::now() - start;
        const bench::Watch::Gap gap = m_watch.takeGap();
        m_report.line(what,
            {{"not_answering_ms", gap.took.wall}, {"cpu_not_answering_ms", gap.took.cpu},
                {"all_there_ms", took.wall}});
        if (gap.took.cpu >= 16)
            m_report.say("    in " + gap.what);
    }

    double random(double from, double to) { return std::uniform_real_distribution<>(from, to)(m_random); }
    QPointF inPlot(double x, double y) const
    {
        const QRect plot = m_canvas.axisRect()->rect();
        return {plot.left() + plot.width() * x, plot.top() + plot.height() * y};
    }
    void mouse(QWidget& widget, QEvent::Type type, QPointF pos, Qt::MouseButton button, Qt::MouseButtons down)
    {
        QMouseEvent event(type, pos, widget.mapToGlobal(pos), button, down, Qt::NoModifier);
        QCoreApplication::sendEvent(&widget, &event);
    }
    /// A window somewhere, between the whole trace and a few thousand events.
    void someWindow()
    {
        const double states = m_work.state.states();
        const double width = states * std::pow(10, -random(0, std::max(0.5, std::log10(states / 3000))));
        const double left = random(0, states - width);
        m_work.state.setWindow({left, left + width});
        settle();
        m_watch.takeGap();
    }

    void pan(std::size_t frames)
    {
        someWindow();
        QPointF at = inPlot(0.5, 0.5);
        mouse(m_canvas, QEvent::MouseButtonPress, at, Qt::MiddleButton, Qt::MiddleButton);
        const double step = random(8, 30) * (m_random() % 2 ? 1 : -1);
        for (std::size_t i = 0; i < frames; ++i)
            frame([&] {
                at += QPointF(step, 0);
                mouse(m_canvas, QEvent::MouseMove, at, Qt::NoButton, Qt::MiddleButton);
            });
        mouse(m_canvas, QEvent::MouseButtonRelease, at, Qt::MiddleButton, Qt::NoButton);
    }
    void zoom(std::size_t frames)
    {
        someWindow();
        const QPointF at = inPlot(random(0.1, 0.9), 0.6);
        for (std::size_t i = 0; i < frames; ++i)
            frame([&] {
                const QPoint turn(0, i < frames / 2 ? 120 : -120);
                QWheelEvent event(at, m_canvas.mapToGlobal(at), {}, turn, Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
                QCoreApplication::sendEvent(&m_canvas, &event);
            });
    }
    /// Half of the moves go on from where the last one was, half jump.
    void cursor(std::size_t frames)
    {
        someWindow();
        const XWindow window = m_work.state.window();
        double at = random(window.left, window.right);
        for (std::size_t i = 0; i < frames; ++i)
            frame([&] {
                at = i % 2 ? random(window.left, window.right) : at + (window.right - window.left) / 1000;
                m_work.state.setCursor(
                    static_cast<StateIndex>(std::clamp(at, window.left, window.right - 1)));
            });
    }
    void hover(std::size_t frames)
    {
        someWindow();
        for (std::size_t i = 0; i < frames; ++i)
            frame([&] {
                mouse(m_canvas, QEvent::MouseMove, inPlot(random(0, 1), random(0.2, 1)), Qt::NoButton,
                    Qt::NoButton);
            });
    }
    void hoverMap(std::size_t frames)
    {
        QWidget& map = *m_window.segmentMap()->canvas().viewport();
        for (std::size_t i = 0; i < frames; ++i)
            frame([&] {
                mouse(map, QEvent::MouseMove, {map.width() * random(0, 1), map.height() * random(0, 1)},
                    Qt::NoButton, Qt::NoButton);
            });
    }
    void select(std::size_t frames)
    {
        someWindow();
        for (std::size_t i = 0; i < frames; ++i)
            frame([&] {
                const QPointF at = inPlot(random(0, 1), random(0.2, 1));
                mouse(m_canvas, QEvent::MouseButtonPress, at, Qt::LeftButton, Qt::LeftButton);
                mouse(m_canvas, QEvent::MouseButtonRelease, at, Qt::LeftButton, Qt::NoButton);
            });
    }

    void raise(QWidget* view)
    {
        QDockWidget* const dock = m_window.windowLayout().dockOf(view);
        dock->show();
        dock->raise();
    }
    void pane(const std::string& name, QWidget* view, const std::function<bool()>& busy,
        const std::function<void()>& click)
    {
        QMetaObject::invokeMethod(
            &m_window, [&] { raise(view); }, Qt::QueuedConnection);
        pump(0);
        waitFor([&] { return !busy(); });
        settle();
        gap(name + " comes to the front");
        m_kind = name + ": cursor";
        cursor(gesture);
        settle();
        takeGap();
        m_kind = name + ": click";
        single(name + ": click", click);
        print();
    }

    AllocationId biggest() const
    {
        const auto& size = m_work.session.replay()->timeline.allocations().size;
        return AllocationId{
            static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin())};
    }
    /// As if typed: completions are offered, then the search runs.
    void type(const QString& text)
    {
        SearchField& field = *m_window.toolbar()->filterField();
        field.setText(text);
        emit field.textEdited(text);
    }

    bench::Watch& m_watch;
    Workspace& m_work;
    MainWindow& m_window;
    bench::Report& m_report;
    QCustomPlot& m_canvas;
    std::mt19937_64 m_random{20};
    std::string m_kind;
    std::map<std::string, Times> m_frames;
    std::map<std::string, std::map<std::string, Times>> m_byView;
    std::map<std::string, Times> m_exact;
    std::map<std::string, bench::Watch::Gap> m_gaps;
};

} // namespace

int main(int argc, char** argv)
{
    const bench::Words words(argc, argv, "bench_views [--json] [--actions=300] [--session-only] SNAPSHOT",
        {"--actions", "--session-only"});
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    bench::Watch watch(argc, argv);
    bench::Report report("views", words.file());
    report.setJson(words.has("--json"));
    const QTemporaryDir folder;
    Settings settings(folder.filePath(QStringLiteral("settings.ini")));
    Style style;
    style.applyTo(watch);
    Workspace work(settings);
    MainWindow window(work, style, settings);
    window.resize(1600, 900);
    window.show();
    QCoreApplication::processEvents();
    Session300 session(watch, work, window, report);
    report.begin();
    if (!session.open(QString::fromStdString(words.file()))) {
        std::fprintf(stderr, "%s cannot be opened\n", words.file().c_str());
        return 3;
    }
    const auto replay = work.session.replay();
    report.line("the file",
        {{"events", static_cast<double>(replay->states() - 1)},
            {"allocations", static_cast<double>(replay->timeline.allocations().count())}});
    session.session(static_cast<std::size_t>(words.number("--actions", 300)));
    if (!words.has("--session-only")) {
        session.panes();
        session.choices();
    }
    report.end();
    return 0;
}
