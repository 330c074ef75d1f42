// SPDX-License-Identifier: GPL-3.0-or-later
// Filters, searches, sorting and trees over everything in a file. All of it runs off the GUI thread in the
// program; bench_views shows that it does.
#include "model/lens/call_tree.hpp"
#include "model/lens/filter.hpp"
#include "model/lens/growth.hpp"
#include "model/lens/live_table.hpp"
#include "model/run/rank.hpp"
#include "tests/bench/bench.hpp"
#include "widgets/events/events_model.hpp"
#include "widgets/results/results_model.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

using namespace tidemark;

int main(int argc, char** argv)
{
    const bench::Words words(argc, argv, "bench_tables [--json] [--times=5] SNAPSHOT", {"--times"});
    const auto rank = openRank(words.file(), {}, {});
    if (!rank)
        return std::fprintf(stderr, "%s\n", rank.error().message.c_str()), 3;
    const Replay& replay = *(*rank)->devices.at((*rank)->mainDevice());
    const Sites& sites = *(*rank)->sites;
    bench::Report report("tables", words.file());
    report.setJson(words.has("--json"));
    report.fact("events", static_cast<double>(replay.states() - 1));
    report.fact("allocations", static_cast<double>(replay.timeline.allocations().count()));
    report.fact("stacks", static_cast<double>(replay.snapshot->stacks.size()));
    report.fact("frames", static_cast<double>(replay.snapshot->frames.size()));
    report.begin();
    const auto times = static_cast<std::size_t>(std::max(1.0, words.number("--times", 5)));
    const auto measure = [&](const std::string& what, const auto& work) {
        report.times(what, bench::timed(times, [&](std::size_t) { work(); }));
    };

    const FilterContext context{replay, sites, nullptr, {}};
    std::shared_ptr<const std::vector<std::uint8_t>> flags;
    for (const char* text : {"forward", "site:forward or file:layers"})
        measure(std::string("search all frames: ") + text,
            [&] { flags = Filter::parse(text)->match(context, {}); });
    for (const char* text : {"size>64M", "size>1M age<100ms not state:before", "addr:0x7f0000000000"})
        measure(std::string("filter: ") + text, [&] { flags = Filter::parse(text)->match(context, {}); });
    flags = std::make_shared<const std::vector<std::uint8_t>>(
        replay.timeline.allocations().count(), std::uint8_t{1});
    for (const auto& [name, column] : {std::pair{"event", ResultsModel::Made}, {"end", ResultsModel::Freed},
             {"life", ResultsModel::Life}, {"size", ResultsModel::Size}, {"address", ResultsModel::Address},
             {"stream", ResultsModel::Stream}, {"site", ResultsModel::Site}})
        measure(std::string("all allocations by ") + name,
            [&, column = column] { resultRows(replay, sites, *flags, column, true, {}); });
    measure("events of all allocations", [&] { matchingEvents(replay, *flags, {}); });
    for (const auto& [name, by] : {std::pair{"site", GroupBy::Site}, {"stack", GroupBy::Stack},
             {"exact size", GroupBy::ExactSize}, {"allocation", GroupBy::None}})
        measure(std::string("grouping by ") + name, [&, by = by] { Grouping::build(replay, sites, by); });
    for (const auto& [name, by] :
        {std::pair{"site", ColourBy::Site}, {"size", ColourBy::Size}, {"age", ColourBy::Age}})
        measure(std::string("colours by ") + name, [&, by = by] { Colouring::build(replay, sites, by); });
    const auto grouping = Grouping::build(replay, sites, GroupBy::Site);
    measure("growth over the trace",
        [&] { buildGrowth(replay, *grouping, Scope::trace(replay), nullptr, flags.get(), {}); });
    CallTreeWish wish;
    wish.matches = flags;
    wish.scope = Scope::moment(replay.timeline.requested().total().maxState);
    measure("call tree at the peak", [&] { buildCallTree(replay, sites, wish, {}); });
    wish.scope = Scope::trace(replay);
    std::optional<CallTree> tree;
    measure("call tree of the trace", [&] { tree = buildCallTree(replay, sites, wish, {}); });
    if (tree && tree->nodes.size() > 1)
        measure("  a branch of it", [&] { tree->allocations(1); });
    wish.weight = TreeWeight::BytesTime;
    measure("call tree of the trace, bytes × time", [&] { buildCallTree(replay, sites, wish, {}); });
    report.end();
    return 0;
}
