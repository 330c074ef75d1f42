// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures without a window: the timeline's layout at all zooms, in both orders, and what it is made from.
#include "model/layout/id_image.hpp"
#include "model/run/rank.hpp"
#include "tests/bench/bench.hpp"

#include <cstdio>
#include <random>
#include <string>

using namespace tidemark;

namespace {

TimelineWindow windowOf(const Replay& replay, bool timeAxis)
{
    TimelineWindow w;
    w.timeAxis = timeAxis;
    w.right = timelineExtent(replay, timeAxis);
    w.top = static_cast<double>(replay.timeline.requested().total().max) * 1.05;
    w.width = 1600;
    w.height = 900;
    return w;
}

void stacked(const Replay& replay, const Colouring& colouring, StackOrder order, bench::Report& report)
{
    const std::string by = order == StackOrder::Group ? "by group: " : "by age: ";
    report.times(
        by + "plan", bench::timed(5, [&](std::size_t) { StackPlan::build(replay, colouring, order); }));
    const auto plan = StackPlan::build(replay, colouring, order);
    const TimelineWindow all = windowOf(replay, false);
    const auto picture = [&](const TimelineWindow& w) { layoutTimeline(replay, *plan, w, {}); };
    report.times(by + "whole trace", bench::timed(15, [&](std::size_t) { picture(all); }));
    if (!replay.monotoneTimes.empty())
        report.times(by + "whole trace by time",
            bench::timed(15, [&](std::size_t) { picture(windowOf(replay, true)); }));
    std::mt19937 random(1);
    for (const double share : {0.3, 0.01, 0.0005})
        report.times(
            by + std::to_string(share * 100).substr(0, 5) + " % anywhere", bench::timed(31, [&](std::size_t) {
                TimelineWindow w = all;
                w.left = all.right * (1 - share) * static_cast<double>(random() % 1000) / 1000;
                w.right = w.left + all.right * share;
                picture(w);
            }));
    TimelineWindow eighth = all;
    eighth.bottom = all.top * 0.5;
    eighth.top = all.top * 0.625;
    report.times(by + "an eighth of the height", bench::timed(15, [&](std::size_t) { picture(eighth); }));
}

} // namespace

int main(int argc, char** argv)
{
    const bench::Words words(argc, argv, "bench_layout [--json] SNAPSHOT", {});
    const auto rank = openRank(words.file(), {}, {});
    if (!rank)
        return std::fprintf(stderr, "%s\n", rank.error().message.c_str()), 3;
    const Replay& replay = *(*rank)->devices.at((*rank)->mainDevice());
    bench::Report report("layout", words.file());
    report.setJson(words.has("--json"));
    report.fact("events", static_cast<double>(replay.states() - 1));
    report.fact("allocations", static_cast<double>(replay.timeline.allocations().count()));
    report.begin();
    report.times("columns of the curve",
        bench::timed(31, [&](std::size_t) { timelineColumns(replay, windowOf(replay, false)); }));
    const auto colouring = Colouring::build(replay, *(*rank)->sites, ColourBy::Site);
    for (const StackOrder order : {StackOrder::Age, StackOrder::Group})
        stacked(replay, *colouring, order, report);
    report.end();
    return 0;
}
