// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how long the parts of replay take: usage: bench_model_replay [EVENTS [LIVE]] for a made-up trace,
// bench_model_replay FILE for a snapshot.
#include "model/formats/reader.hpp"
#include "model/lens/colouring.hpp"
#include "tests/support/trace_maker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Runs `work` some times and prints the median of the processor time: other programs on the machine do not
/// count.
template <typename Work>
void measure(const char* what, int times, Work work)
{
    std::vector<double> took;
    for (int i = 0; i < times; ++i) {
        const std::clock_t start = std::clock();
        work();
        took.push_back(1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::nth_element(took.begin(), took.begin() + times / 2, took.end());
    std::printf("%-48s %9.3f ms\n", what, took[static_cast<std::size_t>(times / 2)]);
}

/// A training-like trace: addresses are reused last in, first out, about `live` allocations at a time.
std::shared_ptr<const Snapshot> trace(std::uint32_t events, std::uint32_t live)
{
    TraceMaker maker;
    std::vector<StackId> stacks;
    for (int i = 0; i < 2000; ++i) {
        const std::string inner = "op" + std::to_string(i) + "@model.py:" + std::to_string(i);
        stacks.push_back(maker.stack({"empty@torch/_ops.py:5", inner, "forward@module.py:9"}));
    }
    std::mt19937_64 random(7);
    std::vector<std::uint64_t> unused;
    std::vector<std::pair<std::uint64_t, std::int64_t>> used;
    std::uint64_t next = 0x7f0000000000ULL;
    for (std::uint32_t i = 0; i + 2 < events;) {
        maker.setTime(1790000000000000 + i);
        if (used.size() < live || random() % 2 == 0) {
            std::uint64_t address = next;
            if (unused.empty()) {
                next += 0x200000;
            } else {
                address = unused.back();
                unused.pop_back();
            }
            const auto size = static_cast<std::int64_t>(1 + random() % 2000000);
            maker.alloc(address, size, stacks[random() % stacks.size()]);
            used.emplace_back(address, size);
            ++i;
        } else {
            std::swap(used[random() % used.size()], used.back());
            maker.free(used.back().first, used.back().second);
            unused.push_back(used.back().first);
            used.pop_back();
            i += 2;
        }
    }
    maker.segment(0x7f0000000000ULL, static_cast<std::int64_t>(next - 0x7f0000000000ULL));
    return maker.finish();
}

} // namespace

int main(int argc, char** argv)
{
    const auto events = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 1000000);
    const auto live = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 10000);
    std::shared_ptr<const Snapshot> snapshot;
    if (argc > 1 && events == 0) {
        const auto read = readSnapshot(argv[1], {}, {});
        if (!read)
            return std::fprintf(stderr, "%s\n", read.error().message.c_str()), 1;
        snapshot = *read;
    } else {
        snapshot = trace(events, live);
    }
    const DeviceTrace& device = snapshot->devices.front();
    std::printf("%zu events, %zu stacks\n", device.events.count(), snapshot->stacks.size());
    measure("Timeline::build", 7, [&] { Timeline::build(*snapshot, device, {}).ok(); });
    const Timeline timeline = Timeline::build(*snapshot, device, {}).value();
    std::mt19937 random(1);
    measure("liveAt", 301, [&] { timeline.liveAt(static_cast<StateIndex>(random() % timeline.states())); });
    measure("1600 extremes", 101, [&] {
        const StateIndex step = timeline.states() / 1600;
        for (StateIndex i = 0; i < 1600; ++i)
            timeline.requested().extremes(i * step, i * step + step - 1);
    });
    measure("localPeaks", 11, [&] { timeline.localPeaks(); });
    measure("Replay::build", 5, [&] { Replay::build(snapshot, 0, {}).ok(); });
    const auto replay = Replay::build(snapshot, 0, {}).value();
    measure("Sites::build", 5, [&] { Sites::build(*snapshot, SiteMode::User); });
    const Sites sites = Sites::build(*snapshot, SiteMode::User);
    measure("Grouping::build by site", 5, [&] { Grouping::build(*replay, sites, GroupBy::Site); });
    measure("Grouping::build by stack", 5, [&] { Grouping::build(*replay, sites, GroupBy::Stack); });
    measure("Colouring::build by site", 5, [&] { Colouring::build(*replay, sites, ColourBy::Site); });
    measure("Colouring::build by size", 5, [&] { Colouring::build(*replay, sites, ColourBy::Size); });
    measure("Colouring::build by age", 5, [&] { Colouring::build(*replay, sites, ColourBy::Age); });
    const auto grouping = Grouping::build(*replay, sites, GroupBy::Site);
    measure("groupLive", 101,
        [&] { groupLive(*replay, *grouping, static_cast<StateIndex>(random() % timeline.states())); });
    return 0;
}
