// SPDX-License-Identifier: GPL-3.0-or-later
// Prints how long it takes from a file on disk to all figures and the first picture, and how much memory:
// usage: bench_model_open [--python] [--parts] FILE...
// With --python the file is also loaded by CPython's pickle.load, in turn with ours, and the ratio is
// printed. Only for files you made yourself: loading a pickle with Python runs whatever is in it. With
// --parts the steps of one opening are timed one by one.
#include "model/layout/id_image.hpp"
#include "model/lens/groups.hpp"
#include "model/run/rank.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace tidemark;

namespace {

constexpr int rounds = 7;

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double seconds(const timeval& t)
{
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

struct Took {
    double wall = 0;
    double user = 0;
    double system = 0;
    double mebibytes = 0;
    bool ok = false;
};

/// Tells how long each step took when asked to.
class Steps {
public:
    explicit Steps(bool print)
        : m_print(print)
    { }

    void done(const char* what)
    {
        struct rusage usage { };
        ::getrusage(RUSAGE_SELF, &usage);
        if (m_print)
            std::printf("    %-28s %7.1f ms  (user %.1f ms, system %.1f ms, %ld page faults so far)\n", what,
                1e3 * secondsSince(m_start), 1e3 * seconds(usage.ru_utime), 1e3 * seconds(usage.ru_stime),
                usage.ru_minflt);
        m_start = Clock::now();
    }

private:
    bool m_print;
    Clock::time_point m_start = Clock::now();
};

/// All that stands between a file and the window that shows it.
bool open(const char* path, bool parts)
{
    Steps steps(parts);
    Job job;
    Stage stage = Stage::Open;
    job.progress = [&](const Progress& progress) {
        if (parts && progress.stage == Stage::Replay && stage != Stage::Replay)
            steps.done("reading");
        stage = progress.stage;
    };
    const auto opened = openRank(path, {}, job);
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().message.c_str());
        return false;
    }
    steps.done("replay and sites");
    const Rank& rank = **opened;
    const Replay& replay = *rank.devices.at(rank.mainDevice());
    const auto grouping = Grouping::build(replay, *rank.sites, GroupBy::Site);
    steps.done("Grouping by site");
    const auto colouring = Colouring::build(replay, *rank.sites, ColourBy::Site);
    steps.done("Colouring by site");
    const auto plan = StackPlan::build(replay, *colouring, StackOrder::Age);
    steps.done("StackPlan");
    TimelineWindow window;
    window.right = timelineExtent(replay, false);
    window.top = static_cast<double>(replay.timeline.requested().total().max) * 1.05;
    window.width = 1600;
    window.height = 900;
    const auto picture = layoutTimeline(replay, *plan, window, {});
    steps.done("first picture, 1600 x 900");
    return grouping->count() > 0 && picture != nullptr;
}

/// Runs `work` in a process of its own, so that its memory and processor time are its alone.
template <typename Work>
Took inChild(Work work)
{
    const auto begin = Clock::now();
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        const bool ok = work();
        std::fflush(stdout);
        ::_exit(ok ? 0 : 1);
    }
    int status = 0;
    struct rusage usage { };
    ::wait4(child, &status, 0, &usage);
    return {secondsSince(begin), seconds(usage.ru_utime), seconds(usage.ru_stime),
        static_cast<double>(usage.ru_maxrss) / 1024, WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

bool python(const char* path)
{
    const char* program = "import pickle, sys, os\nwith open(sys.argv[1], 'rb') as f: d = pickle.load(f)\n"
                          "os._exit(0)";
    ::execlp("python3", "python3", "-c", program, path, nullptr);
    return false;
}

template <typename Field>
double median(std::vector<Took> all, Field field)
{
    std::ranges::sort(all, {}, field);
    return all[all.size() / 2].*field;
}

void print(const char* who, const std::vector<Took>& all, double bytes)
{
    const double most = median(all, &Took::mebibytes);
    std::printf(
        "  %-12s %7.3f s wall (best %.3f)  %7.3f s user  %7.3f s system  %7.1f MiB (%.2f x the file)\n", who,
        median(all, &Took::wall), std::ranges::min(all, {}, &Took::wall).wall, median(all, &Took::user),
        median(all, &Took::system), most, most * 1048576 / bytes);
}

bool compare(const char* path, bool withPython, bool parts)
{
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    std::vector<Took> own;
    std::vector<Took> other;
    std::printf("%s: %.1f MB, medians of %d\n", path, bytes / 1e6, rounds);
    for (int round = 0; round < rounds; ++round) {
        own.push_back(inChild([&] { return open(path, parts && round == rounds - 1); }));
        if (!own.back().ok)
            return false;
        if (withPython)
            other.push_back(inChild([&] { return python(path); }));
    }
    print("tidemark", own, bytes);
    if (!withPython || !other.front().ok)
        return true;
    print("pickle.load", other, bytes);
    const auto busy
        = [](const std::vector<Took>& all) { return median(all, &Took::user) + median(all, &Took::system); };
    std::printf("  %.1f times as fast on the clock, %.1f times in processor time\n",
        median(other, &Took::wall) / median(own, &Took::wall), busy(other) / busy(own));
    return true;
}

/// Programs that are waiting for a processor, as the system counts them.
std::string load()
{
    std::string line;
    std::getline(std::ifstream("/proc/loadavg"), line);
    return line.substr(0, line.find(' '));
}

} // namespace

int main(int argc, char** argv)
{
    bool withPython = false;
    bool parts = false;
    int at = 1;
    for (; at < argc && std::strncmp(argv[at], "--", 2) == 0; ++at) {
        withPython |= std::strcmp(argv[at], "--python") == 0;
        parts |= std::strcmp(argv[at], "--parts") == 0;
    }
    if (at == argc)
        return 2;
    std::printf("load of the machine before: %s\n", load().c_str());
    for (; at < argc; ++at)
        if (!compare(argv[at], withPython, parts))
            return 1;
    return 0;
}
