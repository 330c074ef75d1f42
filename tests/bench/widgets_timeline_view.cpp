// SPDX-License-Identifier: GPL-3.0-or-later
// Frame times of the timeline with a million allocations at 1600×900, off screen: what a user feels while
// panning, zooming, hovering and moving the cursor, and how long the exact picture takes after that.
//   bench_widgets_timeline_view [allocations] [device pixel ratio]
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_step.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>

#include <qcustomplot.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <thread>
#include <vector>

using namespace tidemark;

namespace {

// A long training run: layers of saved tensors that rise and fall, many short-lived temporaries, a slow leak.
std::shared_ptr<const Snapshot> longRun(std::uint32_t allocations)
{
    SnapshotBuilder builder;
    EventBuffer events;
    std::mt19937_64 random(7);
    std::vector<StackId> stacks;
    for (std::uint32_t i = 0; i < 300; ++i) {
        Frame frame;
        frame.name = builder.strings().intern("forward");
        frame.file = builder.strings().intern("/home/u/layer" + std::to_string(i % 40) + ".py");
        frame.line = i;
        const FrameId id = builder.frames().intern(frame);
        stacks.push_back(builder.stacks().intern({&id, 1}));
    }
    std::int64_t now = 1'700'000'000'000'000;
    EventRow row;
    row.hasSize = true;
    const auto add = [&](Action action, std::uint64_t address, std::int64_t size, StackId stack) {
        row.action = action;
        row.address = address;
        row.size = size;
        row.stack = stack;
        row.timeUs = now += 1 + static_cast<std::int64_t>(random() % 20);
        builder.append(events, row);
    };
    std::uint64_t address = 0x7f0000000000;
    std::vector<std::pair<std::uint64_t, std::int64_t>> saved;
    for (std::uint32_t made = 0; made < allocations;) {
        const std::size_t depth = 400 + random() % 4000;
        for (std::size_t i = 0; i < depth && made < allocations; ++i, ++made) {
            const auto size = static_cast<std::int64_t>(512 * (1 + random() % 4000));
            add(Action::Alloc, address, size, stacks[random() % stacks.size()]);
            if (random() % 3 == 0) {
                add(Action::FreeCompleted, address, size, StackId::none);
            } else {
                saved.emplace_back(address, size);
            }
            address += 4096 * 512;
        }
        while (saved.size() > 3000 && random() % 4096 != 0) {
            add(Action::FreeCompleted, saved.back().first, saved.back().second, StackId::none);
            saved.pop_back();
        }
    }
    builder.addTrace(0, std::move(events));
    return builder.finish();
}

// Processor time of this thread: what a frame costs when nobody else wants the machine.
double threadMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void report(const char* what, std::vector<double> ms)
{
    std::sort(ms.begin(), ms.end());
    std::printf("%-34s median %6.2f  p95 %6.2f  worst %6.2f ms  (%zu)\n", what, ms[ms.size() / 2],
        ms[ms.size() * 95 / 100], ms.back(), ms.size());
}

// What the layout thread does for one exact picture of the whole trace.
void pictureParts(const Rank& rank)
{
    StackRequest request;
    request.source = replaySource(rank.devices[0]);
    request.colouring = Colouring::build(*rank.devices[0], *rank.sites, ColourBy::Site);
    request.ink = StackInk::of(Theme::light(), false, 1);
    const double top = static_cast<double>(request.source->requested().total().max) * 1.075;
    for (const double share : {1.0, 0.1}) {
        request.window = {false, 0, rank.devices[0]->states() * share, 0, top, 1526, 760};
        std::vector<double> layouts;
        std::vector<double> colours;
        for (int i = 0; i < 12; ++i) {
            request.window.right -= 1;
            const double start = threadMs();
            const auto layout = request.source->layout(request.colouring, request.order, request.window, {});
            const double laidOut = threadMs();
            colourStack(*layout, request, {});
            layouts.push_back(laidOut - start);
            colours.push_back(threadMs() - laidOut);
        }
        std::printf("%.0f %% of the trace:\n", share * 100);
        report("  layout, processor time", layouts);
        report("  colours, processor time", colours);
    }
}

class Bench {
public:
    explicit Bench(std::shared_ptr<const Rank> rank)
        : m_view(m_session, m_state, m_style)
    {
        m_style.applyTo(*qApp);
        m_view.resize(1600, 900);
        m_view.show();
        m_session.setRank(std::move(rank));
        m_state.reset(
            m_session.replay()->states(), m_session.replay()->timeline.requested().total().maxState);
        m_canvas = m_view.findChild<QCustomPlot*>();
        waitExact();
    }

    void run()
    {
        const double states = m_state.states();
        m_state.setWindow({states * 0.3, states * 0.5});
        waitExact();
        frames("pan", 120, [&](int i) {
            const double left = states * (0.3 + 0.001 * i);
            m_state.setWindow({left, left + states * 0.2});
        });
        frames("zoom", 120, [&](int i) {
            const double width = states * 0.4 * std::pow(0.96, i);
            m_state.setWindow({states * 0.5 - width / 2, states * 0.5 + width / 2});
        });
        m_state.setWindow({0, states});
        waitExact();
        hover(200);
        frames(
            "cursor, overlay alone", 200,
            [&](int i) { m_state.setCursor(static_cast<StateIndex>(states * (0.2 + 0.003 * i))); }, false);
        frames(
            "selection", 60,
            [&](int i) {
                m_state.selectAllocation(AllocationId{static_cast<std::uint32_t>(1000 + i * 997)});
            },
            false);
        exactAfter("exact picture, whole trace", 20, [&](int i) { m_state.setWindow({0, states - 1 - i}); });
        exactAfter("exact picture, tenth of the trace", 20, [&](int i) {
            m_state.setWindow({states * 0.04 * i, states * (0.04 * i + 0.1)});
        });
        exactAfter("other colours", 10,
            [&](int i) { m_state.setColourBy(i % 2 ? ColourBy::Site : ColourBy::Size); });
    }

private:
    void waitExact()
    {
        QElapsedTimer timer;
        timer.start();
        do
            QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
        while (!m_view.isExact() && timer.elapsed() < 20000);
    }
    void frames(const char* what, int count, const std::function<void(int)>& change, bool whole = true)
    {
        std::vector<double> ms;
        std::vector<double> cpu;
        for (int i = 0; i < count; ++i) {
            QElapsedTimer timer;
            timer.start();
            const double before = threadMs();
            change(i);
            if (whole)
                m_canvas->replot(QCustomPlot::rpImmediateRefresh);
            else
                m_canvas->repaint();
            ms.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
            cpu.push_back(threadMs() - before);
            // The layout thread works between frames, as it would between mouse events.
            std::this_thread::sleep_for(
                std::chrono::milliseconds(std::max(0, 16 - static_cast<int>(ms.back()))));
            QCoreApplication::processEvents();
        }
        report(what, ms);
        report("  processor time", cpu);
    }
    void hover(int count)
    {
        std::vector<double> ms;
        const QRect plot = m_canvas->axisRect()->rect();
        for (int i = 0; i < count; ++i) {
            const QPointF pos(
                plot.left() + plot.width() * (0.1 + 0.004 * i), plot.bottom() - plot.height() * 0.2);
            QMouseEvent event(QEvent::MouseMove, pos, m_canvas->mapToGlobal(pos), Qt::NoButton, Qt::NoButton,
                Qt::NoModifier);
            QElapsedTimer timer;
            timer.start();
            QApplication::sendEvent(m_canvas, &event);
            m_canvas->repaint();
            ms.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
        }
        report("hover", ms);
    }
    void exactAfter(const char* what, int count, const std::function<void(int)>& change)
    {
        std::vector<double> ms;
        for (int i = 0; i < count; ++i) {
            QElapsedTimer timer;
            timer.start();
            change(i);
            waitExact();
            m_canvas->repaint();
            ms.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
        }
        report(what, ms);
    }

    Style m_style;
    Session m_session;
    ViewState m_state;
    TimelineView m_view;
    QCustomPlot* m_canvas = nullptr;
};

} // namespace

int main(int argc, char** argv)
{
    if (argc > 2)
        qputenv("QT_SCALE_FACTOR", argv[2]);
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    const auto allocations = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1'000'000);
    const auto rank = test::makeRank(longRun(allocations));
    std::printf("%u allocations, %u states, 1600 x 900\n", allocations, rank->devices[0]->states());
    pictureParts(*rank);
    Bench(rank).run();
    return 0;
}
