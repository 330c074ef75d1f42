// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how long segments and pictures take: usage: bench_model_layout [SNAPSHOT [DEVICE]]
// Without a file: a made-up trace of 10^6 allocations that live and die at random, about 10,000 at a time, in
// 2,000 segments; harder than training, where most of what dies is young.
#include "model/formats/reader.hpp"
#include "model/layout/id_image.hpp"
#include "model/layout/segment_layout.hpp"
#include "tests/support/trace_maker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace tidemark;

namespace {

double median(std::vector<double>& values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Runs `work` some times and prints medians: time on the clock, and time on the processor, which says more
/// on a busy machine.
template <typename Work>
void measure(const char* what, int times, Work work)
{
    std::vector<double> took;
    std::vector<double> busy;
    for (int i = 0; i < times; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const std::clock_t busyStart = std::clock();
        work();
        busy.push_back(1e3 * static_cast<double>(std::clock() - busyStart) / CLOCKS_PER_SEC);
        took.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("%-48s %9.3f ms, processor %9.3f ms\n", what, median(took), median(busy));
}

std::shared_ptr<const Snapshot> madeUp()
{
    constexpr std::uint64_t base = 0x7f0000000000;
    constexpr std::uint64_t segments = 2000;
    constexpr std::uint64_t slotsEach = 10;
    constexpr std::uint64_t slotBytes = 2ULL << 20;
    constexpr int allocations = 1000000;
    test::TraceMaker t;
    std::mt19937_64 random(5);
    std::vector<std::int64_t> size(segments * slotsEach, 0);
    for (int left = allocations; left > 0;) {
        t.setTime(1790000000000000 + allocations - left);
        const std::size_t slot = random() % size.size();
        const std::uint64_t address = base + slot * slotBytes;
        if (size[slot] == 0) {
            size[slot] = static_cast<std::int64_t>((1ULL << 20) + 1 + random() % (1ULL << 20));
            t.alloc(address, size[slot]);
            --left;
        } else {
            t.free(address, std::exchange(size[slot], 0));
        }
    }
    for (std::size_t slot = 0; slot < size.size(); ++slot) {
        if (slot % slotsEach == 0)
            t.segment(base + slot * slotBytes, static_cast<std::int64_t>(slotsEach * slotBytes));
        t.block(size[slot] == 0 ? BlockState::Inactive : BlockState::Allocated, slotBytes, size[slot]);
    }
    return t.finish();
}

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

void benchTimeline(const Replay& replay)
{
    const auto sites = Sites::build(*replay.snapshot, SiteMode::User);
    const auto colouring = Colouring::build(replay, sites, ColourBy::Site);
    for (const StackOrder order : {StackOrder::Age, StackOrder::Group}) {
        const bool group = order == StackOrder::Group;
        std::printf("%s\n", group ? "stacked by colour group" : "stacked by age");
        measure("  StackPlan::build", 11, [&] { StackPlan::build(replay, *colouring, order); });
        const auto plan = StackPlan::build(replay, *colouring, order);
        const TimelineWindow all = windowOf(replay, false);
        measure("  timelineColumns", 51, [&] { timelineColumns(replay, all); });
        measure("  layoutTimeline, whole trace", 21, [&] { layoutTimeline(replay, *plan, all, {}); });
        const TimelineWindow time = windowOf(replay, true);
        measure(
            "  layoutTimeline, whole trace by time", 21, [&] { layoutTimeline(replay, *plan, time, {}); });
        std::mt19937 random(1);
        for (const double share : {0.3, 0.01, 0.0005}) {
            const std::string name
                = "  layoutTimeline, " + std::to_string(share * 100).substr(0, 5) + " % anywhere";
            measure(name.c_str(), 41, [&] {
                TimelineWindow w = all;
                w.left = all.right * (1 - share) * static_cast<double>(random() % 1000) / 1000;
                w.right = w.left + all.right * share;
                layoutTimeline(replay, *plan, w, {});
            });
        }
        measure("  layoutTimeline, an eighth of the height", 21, [&] {
            TimelineWindow w = all;
            w.bottom = all.top * 0.5;
            w.top = all.top * 0.625;
            layoutTimeline(replay, *plan, w, {});
        });
    }
}

void benchMap(const Replay& replay)
{
    std::mt19937 random(2);
    const auto anywhere = [&] { return static_cast<StateIndex>(random() % replay.states()); };
    measure("stateAt", 401, [&] { replay.segments.stateAt(anywhere(), replay.timeline); });
    const StateIndex peak = replay.timeline.requested().total().maxState;
    const SegmentState state = replay.segments.stateAt(peak, replay.timeline);
    std::printf("at the peak: %zu segments, %zu pieces, %u live\n", state.segments.size(),
        state.pieces.size(), replay.timeline.liveCountAt(peak));
    MapOptions options;
    options.width = 800;
    measure("layoutSegments, flow", 101, [&] { layoutSegments(*replay.snapshot, state, options); });
    options.layout = MapLayout::Rows;
    measure("layoutSegments, rows", 101, [&] { layoutSegments(*replay.snapshot, state, options); });
    const MapPicture picture = layoutSegments(*replay.snapshot, state, options);
    measure("boxAt, 1000 points", 101, [&] {
        for (int i = 0; i < 1000; ++i)
            boxAt(picture, static_cast<double>(random() % 800),
                picture.height * static_cast<double>(random() % 1000) / 1000);
    });
}

} // namespace

int main(int argc, char** argv)
{
    std::shared_ptr<const Snapshot> snapshot;
    if (argc > 1) {
        const auto read = readSnapshot(argv[1], {}, {});
        if (!read) {
            std::printf("%s\n", read.error().message.c_str());
            return 1;
        }
        snapshot = read.value();
    } else {
        snapshot = madeUp();
    }
    const auto deviceIndex = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 0);
    const DeviceTrace& device = snapshot->devices.at(deviceIndex);
    const Timeline timeline = Timeline::build(*snapshot, device, {}).value();
    std::printf("%zu events, %zu allocations, %zu segments\n", device.events.count(),
        timeline.allocations().count(), device.segments.size());
    measure("SegmentHistory::build", 9, [&] { SegmentHistory::build(*snapshot, device, timeline, {}).ok(); });
    const auto replay = Replay::build(snapshot, deviceIndex, {}).value();
    benchMap(*replay);
    benchTimeline(*replay);
    return 0;
}
