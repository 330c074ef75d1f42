// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how long a job takes to be summed up, beside opening its files one after the other, and how much
// memory: usage: bench_job FOLDER [BUDGET_MIB]
#include "model/job/summarise.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace tidemark;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double mebibytes()
{
    struct rusage usage { };
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

double cpuSeconds()
{
    struct rusage usage { };
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

} // namespace

int main(int count, char** words)
{
    if (count < 2) {
        std::fprintf(stderr, "usage: bench_job FOLDER [BUDGET_MIB]\n");
        return 2;
    }
    const std::vector<std::filesystem::path> paths{words[1]};
    auto start = Clock::now();
    const auto job = discover(paths, {}, {});
    if (!job) {
        std::fprintf(stderr, "%s\n", job.error().message.c_str());
        return 3;
    }
    std::printf("discovered %zu ranks in %.2f s\n", job->ranks.size(), secondsSince(start));
    SummariseOptions options;
    if (count > 2)
        options.memoryBudget = std::strtoull(words[2], nullptr, 10) << 20U;
    start = Clock::now();
    double cpu = cpuSeconds();
    const auto all = summarise(*job, options, {});
    if (!all)
        return 3;
    std::printf("summed up %zu in %.2f s, %.2f s of processor, %.0f MiB at most\n", all->ranks.size(),
        secondsSince(start), cpuSeconds() - cpu, mebibytes());
    start = Clock::now();
    cpu = cpuSeconds();
    for (const RankFiles& rank : job->ranks)
        if (rank.chosen().kind == RankFileKind::Snapshot)
            (void)openRank(rank.chosen().path, {}, {});
    std::printf("opened one after the other in %.2f s, %.2f s of processor, on %u cores\n",
        secondsSince(start), cpuSeconds() - cpu, std::thread::hardware_concurrency());
    return 0;
}
