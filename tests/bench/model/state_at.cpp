// SPDX-License-Identifier: GPL-3.0-or-later
// What is known at a random event, and how long finding it takes: who is live, the segments with their holes,
// the table by call site, the map's layout.
#include "model/layout/segment_layout.hpp"
#include "model/lens/groups.hpp"
#include "model/lens/live_table.hpp"
#include "model/run/rank.hpp"
#include "tests/bench/bench.hpp"

#include <algorithm>
#include <cstdio>
#include <random>

using namespace tidemark;

int main(int argc, char** argv)
{
    const bench::Words words(argc, argv, "bench_state_at [--json] [--times=1000] SNAPSHOT", {"--times"});
    const auto rank = openRank(words.file(), {}, {});
    if (!rank)
        return std::fprintf(stderr, "%s\n", rank.error().message.c_str()), 3;
    const Replay& replay = *(*rank)->devices.at((*rank)->mainDevice());
    const Timeline& timeline = replay.timeline;
    bench::Report report("state at an event", words.file());
    report.setJson(words.has("--json"));
    report.fact("events", static_cast<double>(replay.states() - 1));
    report.fact("allocations", static_cast<double>(timeline.allocations().count()));
    report.begin();

    const auto times = static_cast<std::size_t>(std::max(1.0, words.number("--times", 1000)));
    std::mt19937_64 random(1);
    const auto anywhere = [&](std::size_t) { return static_cast<StateIndex>(random() % replay.states()); };
    const auto measure = [&](const char* what, const auto& work) {
        random.seed(1);
        report.times(what, bench::timed(times, [&](std::size_t i) { work(anywhere(i)); }));
    };
    measure("state: live allocations and segments", [&](StateIndex state) {
        timeline.liveAt(state);
        replay.segments.stateAt(state, timeline);
    });
    measure("  live allocations", [&](StateIndex state) { timeline.liveAt(state); });
    measure("  segments", [&](StateIndex state) { replay.segments.stateAt(state, timeline); });
    const StateIndex middle = replay.states() / 2;
    report.times("  segments, an event further each time", bench::timed(times, [&](std::size_t i) {
        replay.segments.stateAt(std::min(middle + static_cast<StateIndex>(i), replay.states() - 1), timeline);
    }));
    const auto grouping = Grouping::build(replay, *(*rank)->sites, GroupBy::Site);
    const auto each = Grouping::build(replay, *(*rank)->sites, GroupBy::None);
    measure("live table by site", [&](StateIndex state) {
        buildLiveTable(replay, *grouping, GroupBy::Site, state, nullptr, nullptr, {});
    });
    measure("live table, a row each, by size", [&](StateIndex state) {
        const LiveTable table = buildLiveTable(replay, *each, GroupBy::None, state, nullptr, nullptr, {});
        liveOrder(replay, table, *each, LiveColumn::Live, true, {});
    });
    MapOptions options;
    options.width = 800;
    for (const auto& [name, layout] :
        {std::pair{"segments and the map's layout, flow", MapLayout::Flow}, {"… in rows", MapLayout::Rows}}) {
        options.layout = layout;
        measure(name, [&](StateIndex state) {
            layoutSegments(*replay.snapshot, replay.segments.stateAt(state, timeline), options);
        });
    }
    measure("1,600 extremes of the curve", [&](StateIndex state) {
        const StateIndex step = std::max<StateIndex>(1, (replay.states() - state) / 1600);
        for (StateIndex at = state; at + step < replay.states(); at += step)
            timeline.requested().extremes(at, at + step - 1);
    });
    report.times("local peaks", bench::timed(3, [&](std::size_t) { timeline.localPeaks(); }));
    report.end();
    return 0;
}
