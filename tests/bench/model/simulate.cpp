// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how long replaying a recording through the allocator model takes: usage: bench_simulate
// [REQUESTS [LIVE]] for a made-up training run, bench_simulate FILE for a snapshot.
#include "model/formats/reader.hpp"
#include "model/simulate/what_if.hpp"
#include "tests/support/model_recorder.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Median processor time of some runs: other programs on the machine do not count.
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

/// Allocations and frees of all sizes, about `live` allocations at a time; half of the requests are frees.
std::shared_ptr<const Snapshot> made(std::uint32_t requests, std::size_t live)
{
    constexpr std::array<std::uint64_t, 8> sizes{
        512, 2048, 65536, 1 << 20, 3 << 20, 16 << 20, 64 << 20, 100000};
    ModelRecorder recorder({});
    recorder.startRecording();
    std::mt19937_64 random(7);
    std::vector<std::uint32_t> used;
    for (std::uint32_t i = 0; i < requests; ++i) {
        if (used.size() < live && (random() % 2 == 0 || used.size() < live / 2)) {
            const std::uint64_t most = sizes[random() % sizes.size()];
            used.push_back(
                *recorder.allocate(most / 2 + 1 + random() % (most / 2), random() % 16 == 0 ? 7 : 0));
        } else {
            std::swap(used[random() % used.size()], used.back());
            recorder.free(used.back());
            used.pop_back();
        }
    }
    return recorder.finish();
}

} // namespace

int main(int argc, char** argv)
{
    const int requests = argc > 1 ? std::atoi(argv[1]) : 1000000;
    const int live = argc > 2 ? std::atoi(argv[2]) : 10000;
    std::shared_ptr<const Snapshot> snapshot;
    if (requests == 0) {
        const auto read = readSnapshot(argv[1], {}, {});
        if (!read)
            return std::fprintf(stderr, "%s\n", read.error().message.c_str()), 1;
        snapshot = *read;
    } else {
        snapshot = made(static_cast<std::uint32_t>(requests), static_cast<std::size_t>(live));
    }
    const auto replay = Replay::build(snapshot, 0, {}).value();
    measure("Recording::build", 5, [&] { Recording::build(replay, {}).ok(); });
    const auto recording = Recording::build(replay, {}).value();
    std::printf("%zu events, %zu steps\n", replay->device().events.count(), recording->steps.size());
    measure("fidelityOf", 5, [&] { fidelityOf(*recording, {}).ok(); });
    const auto simulation = Simulation::build(replay, {}).value();
    std::printf("fidelity %.4f\n", simulation->fidelity().score());
    for (const char* conf : {"expandable_segments:False", "expandable_segments:True", "max_split_size_mb:64",
             "roundup_power2_divisions:4"}) {
        WhatIfWish wish;
        wish.settings = recording->settings;
        wish.settings.apply(conf).ok();
        measure(conf, 5, [&] { simulation->run(wish, {}).ok(); });
        const WhatIf result = simulation->run(wish, {}).value();
        std::printf("    peak reserved %.2f GiB, %llu calls of the driver\n",
            static_cast<double>(result.peakReserved) / static_cast<double>(1ULL << 30),
            static_cast<unsigned long long>(result.counts.segmentAllocs + result.counts.maps));
    }
    WhatIfWish wish;
    wish.settings = recording->settings;
    measure("segmentsAt the end", 3, [&] { simulation->segmentsAt(wish, replay->states() - 1, {}).ok(); });
    return 0;
}
