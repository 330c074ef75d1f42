// SPDX-License-Identifier: GPL-3.0-or-later
// Prints what filters, trees and tables cost on a recording, all of them off the GUI thread in the program:
// usage: bench_widgets_questions SNAPSHOT
#include "model/layout/flame_layout.hpp"
#include "model/lens/call_tree.hpp"
#include "model/lens/filter.hpp"
#include "model/lens/growth.hpp"
#include "model/lens/live_table.hpp"
#include "model/run/rank.hpp"
#include "widgets/events/events_model.hpp"
#include "widgets/results/results_model.hpp"

#include <chrono>
#include <cstdio>
#include <string>

using namespace tidemark;

namespace {

/// Best of three, in milliseconds.
template <typename Work>
void measure(const char* what, const Work& work)
{
    double best = 1e300;
    for (int i = 0; i < 3; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best,
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("%-46s %9.1f ms\n", what, best);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: bench_widgets_questions SNAPSHOT\n");
        return 2;
    }
    const auto rank = openRank(argv[1], {}, {});
    if (!rank) {
        std::fprintf(stderr, "%s\n", rank.error().message.c_str());
        return 3;
    }
    const std::size_t device = (*rank)->mainDevice();
    const Replay& replay = *(*rank)->devices[device];
    const Sites& sites = *(*rank)->sites;
    std::printf("%zu events, %zu allocations\n", replay.device().events.count(),
        replay.timeline.allocations().count());
    const StateIndex peak = replay.timeline.requested().total().maxState;
    const FilterContext context{replay, sites, nullptr, {}};
    std::shared_ptr<const std::vector<std::uint8_t>> flags;
    for (const char* text :
        {"size>64M", "forward", "size>1M age<100ms not state:before", "site:forward or file:layers"})
        measure((std::string("filter ") + text).c_str(),
            [&] { flags = Filter::parse(text)->match(context, {}); });
    flags = Filter::parse("size>64K")->match(context, {});
    measure("results, by event", [&] { resultRows(replay, sites, *flags, ResultsModel::Made, false, {}); });
    measure("results, by size", [&] { resultRows(replay, sites, *flags, ResultsModel::Size, true, {}); });
    measure("results, by site", [&] { resultRows(replay, sites, *flags, ResultsModel::Site, false, {}); });
    measure("events of the matches", [&] { matchingEvents(replay, *flags, {}); });
    std::shared_ptr<const Grouping> grouping;
    measure("grouping by site", [&] { grouping = Grouping::build(replay, sites, GroupBy::Site); });
    measure("live table at the peak",
        [&] { buildLiveTable(replay, *grouping, GroupBy::Site, peak, flags.get(), nullptr, {}); });
    LiveTable each;
    measure("live table at the peak, a row each",
        [&] { each = buildLiveTable(replay, *grouping, GroupBy::None, peak, flags.get(), nullptr, {}); });
    measure("its rows by size", [&] { liveOrder(replay, each, *grouping, LiveColumn::Live, true, {}); });
    measure("growth over the trace",
        [&] { buildGrowth(replay, *grouping, Scope::trace(replay), nullptr, flags.get(), {}); });
    CallTreeWish wish;
    wish.matches = flags;
    wish.scope = Scope::moment(peak);
    measure("call tree at the peak", [&] { buildCallTree(replay, sites, wish, {}); });
    wish.scope = Scope::trace(replay);
    std::optional<CallTree> tree;
    measure("call tree of the trace", [&] { tree = buildCallTree(replay, sites, wish, {}); });
    wish.weight = TreeWeight::BytesTime;
    measure("call tree of the trace, bytes × time", [&] { buildCallTree(replay, sites, wish, {}); });
    measure("chosen branch", [&] { tree->allocations(1); });
    return 0;
}
