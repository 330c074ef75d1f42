// SPDX-License-Identifier: GPL-3.0-or-later
// From a file on disk to findings: time, bytes and events a second and most memory, stage by stage, and of
// the whole. With --pickle the file is also loaded by CPython's pickle.load, in turn with ours, and the ratio
// is printed. Only for files you made yourself: loading a pickle with Python runs whatever is in it.
#include "model/findings/diagnosis.hpp"
#include "model/layout/id_image.hpp"
#include "model/lens/groups.hpp"
#include "tests/bench/bench.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

using namespace tidemark;
using bench::Stamp;

namespace {

constexpr std::array stages{
    "read", "decode", "pair", "index", "labels", "findings", "first picture, 1600 x 900"};
constexpr std::size_t eachStage = 3; ///< figures: wall s, processor s of all threads, peak bytes

double processSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Writes what a stage took to the shared figures.
class Stages {
public:
    explicit Stages(double* figures)
        : m_figures(figures)
    { }

    template <typename Work>
    auto run(std::size_t stage, Work work)
    {
        bench::resetPeak();
        const double wall = Stamp::now().wall;
        const double cpu = processSeconds();
        auto result = work();
        double* const to = m_figures + 1 + stage * eachStage;
        to[0] = (Stamp::now().wall - wall) / 1e3;
        to[1] = processSeconds() - cpu;
        to[2] = static_cast<double>(bench::peakResident());
        return result;
    }

private:
    double* m_figures;
};

bool readThrough(const char* path)
{
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    std::vector<char> buffer(1U << 20U);
    ssize_t got = 0;
    while ((got = ::read(file, buffer.data(), buffer.size())) > 0) { }
    ::close(file);
    return got == 0;
}

std::shared_ptr<const TimelineImage> firstPicture(const Rank& rank, const Replay& replay)
{
    const auto colouring = Colouring::build(replay, *rank.sites, ColourBy::Site);
    const auto plan = StackPlan::build(replay, *colouring, StackOrder::Age);
    TimelineWindow window;
    window.right = timelineExtent(replay, false);
    window.top = static_cast<double>(replay.timeline.requested().total().max) * 1.05;
    window.width = 1600;
    window.height = 900;
    return layoutTimeline(replay, *plan, window, {});
}

/// One opening, a stage at a time; figures[0] gets the events.
bool byStage(const char* path, double* figures)
{
    Stages stage(figures);
    if (!stage.run(0, [&] { return readThrough(path); }))
        return false;
    const auto snapshot = stage.run(1, [&] { return readSnapshot(path, {}, {}); });
    if (!snapshot)
        return std::fprintf(stderr, "%s\n", snapshot.error().message.c_str()), false;
    auto rank = std::make_shared<Rank>();
    rank->snapshot = *snapshot;
    for (const DeviceTrace& device : rank->snapshot->devices)
        figures[0] += static_cast<double>(device.events.count());
    double pairing[2] = {0, 0};
    stage.run(2, [&] {
        bool ok = true;
        for (const DeviceTrace& device : rank->snapshot->devices)
            ok &= Timeline::build(*rank->snapshot, device, {}).ok();
        return ok;
    });
    std::copy(figures + 1 + 2 * eachStage, figures + 1 + 2 * eachStage + 2, pairing);
    const bool indexed = stage.run(3, [&] {
        for (std::size_t i = 0; i < rank->snapshot->devices.size(); ++i) {
            auto replay = Replay::build(rank->snapshot, i, {});
            if (!replay)
                return false;
            rank->devices.push_back(*replay);
            rank->marks.push_back(pairMarks(**replay));
        }
        rank->sites = std::make_shared<const Sites>(Sites::build(*rank->snapshot, SiteMode::User));
        rank->rawSites = std::make_shared<const Sites>(Sites::build(*rank->snapshot, SiteMode::Raw));
        return true;
    });
    if (!indexed || rank->devices.empty())
        return false;
    // Indexing pairs once more.
    for (std::size_t i = 0; i < 2; ++i)
        figures[1 + 3 * eachStage + i] -= pairing[i];
    const std::size_t device = rank->mainDevice();
    const Replay& replay = *rank->devices[device];
    stage.run(4, [&] {
        const auto phases = Phases::build(replay, rank->marks[device], {});
        return Labels::build(replay, *phases, LabelRules::standard(), {});
    });
    stage.run(5, [&] { return diagnose(rank, {}, {}); });
    return stage.run(6, [&] { return firstPicture(*rank, replay); }) != nullptr;
}

bool python(const char* path)
{
    const char* const program
        = "import pickle, sys, os\nwith open(sys.argv[1], 'rb') as f: d = pickle.load(f)\nos._exit(0)";
    ::execlp("python3", "python3", "-c", program, path, nullptr);
    return false;
}

double middle(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

bench::Report::Figures figuresOf(const std::vector<bench::Took>& all, double bytes, double events)
{
    std::vector<double> wall;
    std::vector<double> cpu;
    std::vector<double> peak;
    for (const bench::Took& took : all) {
        wall.push_back(took.wall);
        cpu.push_back(took.cpu);
        peak.push_back(static_cast<double>(took.peak));
    }
    return {{"s", middle(wall)}, {"cpu_s", middle(cpu)}, {"MB/s", bytes / middle(wall) / 1e6},
        {"MB/cpu_s", bytes / middle(cpu) / 1e6}, {"events/s", events / middle(wall)},
        {"peak_MiB", middle(peak) / 1048576}, {"peak/file", middle(peak) / bytes}};
}

} // namespace

int main(int argc, char** argv)
{
    const bench::Words words(
        argc, argv, "bench_load [--json] [--runs=3] [--pickle] SNAPSHOT", {"--runs", "--pickle"});
    const char* const path = words.file().c_str();
    std::error_code failed;
    const auto bytes = static_cast<double>(std::filesystem::file_size(path, failed));
    const auto runs = static_cast<std::size_t>(std::max(1.0, words.number("--runs", 3)));
    std::vector<std::vector<double>> figures;
    std::vector<bench::Took> whole;
    std::vector<bench::Took> pickles;
    for (std::size_t run = 0; run < runs; ++run) {
        figures.emplace_back(1 + stages.size() * eachStage);
        if (!bench::inChild(figures.back(), [&](double* to) { return byStage(path, to); }).ok)
            return 1;
        std::vector<double> none;
        whole.push_back(bench::inChild(none, [&](double*) { return openRank(path, {}, {}).ok(); }));
        if (words.has("--pickle"))
            pickles.push_back(bench::inChild(none, [&](double*) { return python(path); }));
    }
    const double events = figures[0][0];
    bench::Report report("load", words.file());
    report.setJson(words.has("--json"));
    report.fact("bytes", bytes);
    report.fact("events", events);
    report.begin();
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        std::array<double, eachStage> median{};
        for (std::size_t i = 0; i < eachStage; ++i) {
            std::vector<double> values;
            for (const auto& run : figures)
                values.push_back(run[1 + stage * eachStage + i]);
            median[i] = middle(values);
        }
        report.line(stages[stage],
            {{"s", median[0]}, {"cpu_s", median[1]}, {"MB/s", bytes / median[0] / 1e6},
                {"events/s", events / median[0]}, {"cpu_ns/event", median[1] * 1e9 / std::max(1.0, events)},
                {"peak_MiB", median[2] / 1048576}, {"peak/file", median[2] / bytes}});
    }
    report.line("open, all threads", figuresOf(whole, bytes, events));
    if (!pickles.empty() && pickles.front().ok) {
        const auto own = figuresOf(whole, bytes, events);
        const auto other = figuresOf(pickles, bytes, events);
        report.line("pickle.load", other);
        report.line("times as fast as pickle.load",
            {{"clock", other[0].second / own[0].second}, {"processor", other[1].second / own[1].second}});
    }
    report.end();
    return 0;
}
