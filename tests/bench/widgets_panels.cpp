// SPDX-License-Identifier: GPL-3.0-or-later
// Prints what the panels cost while the cursor moves through a large recording:
// usage: bench_widgets_panels SNAPSHOT [MOVES]
#include "model/lens/live_table.hpp"
#include "model/run/rank.hpp"
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_step.hpp"
#include "widgets/details/details_view.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/style/style.hpp"

#include <QApplication>
#include <QElapsedTimer>
#include <QTableView>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

using namespace tidemark;

namespace {

/// Milliseconds since start(): of the clock, and of the processor (what a busy machine leaves unchanged).
class Stopwatch {
public:
    void start()
    {
        m_clock.start();
        m_cpu = cpu();
    }
    std::pair<double, double> elapsed() const
    {
        return {static_cast<double>(m_clock.nsecsElapsed()) / 1e6, cpu() - m_cpu};
    }

private:
    static double cpu()
    {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
    }
    QElapsedTimer m_clock;
    double m_cpu = 0;
};

using Times = std::vector<std::pair<double, double>>;

void print(const char* what, const Times& times)
{
    std::vector<double> wall, cpu;
    for (const auto& [w, c] : times) {
        wall.push_back(w);
        cpu.push_back(c);
    }
    std::sort(wall.begin(), wall.end());
    std::sort(cpu.begin(), cpu.end());
    std::printf("%-54s median %7.2f ms  95 %% %7.2f ms   processor: %7.2f, %7.2f ms\n", what,
        wall[wall.size() / 2], wall[wall.size() * 95 / 100], cpu[cpu.size() / 2], cpu[cpu.size() * 95 / 100]);
}

void measure(const char* what, int times, const std::function<void()>& work)
{
    Times took;
    for (int i = 0; i < times; ++i) {
        Stopwatch clock;
        clock.start();
        work();
        took.push_back(clock.elapsed());
    }
    print(what, std::move(took));
}

/// A million allocations that are all live: the largest table there can be.
void largeTable()
{
    test::TraceMaker maker;
    std::mt19937_64 random(3);
    std::vector<StackId> stacks;
    for (int i = 0; i < 500; ++i)
        stacks.push_back(maker.stack({"op" + std::to_string(i) + "@model.py:" + std::to_string(i)}));
    for (std::uint64_t i = 0; i < 1000000; ++i)
        maker.alloc(0x7f0000000000 + (i << 21), static_cast<std::int64_t>(1 + random() % 2000000),
            stacks[random() % stacks.size()]);
    const auto rank = test::makeRank(maker.finish());
    const Replay& replay = *rank->devices[0];
    const auto sites = Grouping::build(replay, *rank->sites, GroupBy::Site);
    const LiveTable table
        = buildLiveTable(replay, *sites, GroupBy::None, replay.states() - 1, nullptr, nullptr, {});
    std::printf("%zu rows, every allocation one\n", table.rows());
    for (const LiveColumn column :
        {LiveColumn::Live, LiveColumn::Key, LiveColumn::Address, LiveColumn::Oldest})
        measure(("sort by column " + std::to_string(static_cast<int>(column))).c_str(), 5,
            [&] { liveOrder(replay, table, *sites, column, true, {}); });
    measure("group by site", 5,
        [&] { buildLiveTable(replay, *sites, GroupBy::Site, replay.states() - 1, nullptr, nullptr, {}); });
}

} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_widgets_panels SNAPSHOT [MOVES]\n");
        return 2;
    }
    Stopwatch clock;
    clock.start();
    const auto rank = openRank(argv[1], {}, {});
    if (!rank) {
        std::fprintf(stderr, "%s\n", rank.error().message.c_str());
        return 3;
    }
    const int moves = argc > 2 ? std::atoi(argv[2]) : 200;
    Session session;
    ViewState view;
    Style style;
    style.applyTo(application);
    session.setRank(*rank);
    const auto replay = session.replay();
    const StateIndex peak = replay->timeline.requested().total().maxState;
    view.reset(replay->states(), peak);
    std::printf("opened in %.0f ms: %zu allocations, %u states, %u live at the peak, %zu segments\n",
        clock.elapsed().first, replay->timeline.allocations().count(), replay->states(),
        replay->timeline.liveCountAt(peak), replay->segments.stateAt(peak, replay->timeline).segments.size());
    session.grouping(GroupBy::Site);
    session.colouring(ColourBy::Site);

    SegmentMapView map(session, view, style);
    map.resize(1600, 400);
    map.show();
    LiveTableView table(session, view, style);
    table.resize(800, 400);
    table.show();
    DetailsView details(session, view, style);
    details.resize(372, 500);
    details.show();
    QApplication::processEvents();

    std::mt19937_64 random(11);
    Times states, maps, paints, tables, sheets;
    for (int i = 0; i < moves; ++i) {
        view.setCursor(static_cast<StateIndex>(random() % replay->states()));
        clock.start();
        const SegmentState state = replay->segments.stateAt(view.cursor(), replay->timeline);
        states.push_back(clock.elapsed());
        clock.start();
        map.flush();
        const auto laidOut = clock.elapsed();
        clock.start();
        map.canvas().viewport()->repaint();
        paints.push_back(clock.elapsed());
        maps.push_back({laidOut.first + paints.back().first, laidOut.second + paints.back().second});
        clock.start();
        table.flush();
        table.table().viewport()->repaint();
        tables.push_back(clock.elapsed());
        clock.start();
        details.flush();
        details.repaint();
        sheets.push_back(clock.elapsed());
    }
    print("segments at a random state", states);
    print("segment map: state, layout and repaint", maps);
    print("segment map: repaint alone", paints);
    print("live table by site: rows and repaint", tables);
    print("details of the moment", sheets);
    Times steps;
    for (int i = 0; i < moves; ++i) {
        view.setCursor(peak / 2 + static_cast<StateIndex>(i) * 97 % (replay->states() - peak / 2));
        clock.start();
        map.flush();
        map.canvas().viewport()->repaint();
        steps.push_back(clock.elapsed());
    }
    print("segment map while dragging: state, layout and repaint", steps);
    view.setCursor(peak);
    map.flush();
    measure("segment map: hover", moves, [&] {
        view.setHovered(static_cast<AllocationId>(random() % replay->timeline.allocations().count()));
        map.canvas().viewport()->repaint();
    });
    largeTable();
    return 0;
}
