// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/bench.hpp"

#include "model/core/units.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tidemark::bench {

namespace {

double milliseconds(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double seconds(const timeval& t)
{
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

/// As many digits as say something.
std::string figure(double value)
{
    char text[40];
    const double size = std::abs(value);
    if (size >= 10000)
        return counted(value);
    std::snprintf(text, sizeof text, size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : "%.2f", value);
    return text;
}

} // namespace

Stamp Stamp::now()
{
    return {milliseconds(CLOCK_MONOTONIC), milliseconds(CLOCK_THREAD_CPUTIME_ID)};
}

double Times::at(std::vector<double> values, double share)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const auto last = values.size() - 1;
    return values[std::min(last, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

Times timed(std::size_t count, const std::function<void(std::size_t)>& work)
{
    Times times;
    for (std::size_t i = 0; i < count; ++i) {
        const Stamp start = Stamp::now();
        work(i);
        times.add(Stamp::now() - start);
    }
    return times;
}

Report::Report(std::string bench, std::string file)
    : m_bench(std::move(bench))
    , m_file(std::move(file))
{ }

void Report::begin() const
{
    if (m_json)
        return;
    std::printf("%s of %s:", m_bench.c_str(), m_file.c_str());
    for (const auto& [name, value] : m_facts)
        std::printf(" %s %s", figure(value).c_str(), name.c_str());
    std::printf("\n");
}

void Report::line(const std::string& what, const Figures& figures)
{
    m_lines.push_back({what, figures});
    if (m_json)
        return;
    std::printf("%-46s", what.c_str());
    for (const auto& [name, value] : figures)
        std::printf("  %s %s", name.c_str(), figure(value).c_str());
    std::printf("\n");
    std::fflush(stdout);
}

void Report::times(const std::string& what, const Times& times)
{
    if (times.empty())
        return;
    line(what,
        {{"median_ms", times.wall(0.5)}, {"p95_ms", times.wall(0.95)}, {"worst_ms", times.wall(1)},
            {"cpu_median_ms", times.cpu(0.5)}, {"cpu_p95_ms", times.cpu(0.95)},
            {"cpu_worst_ms", times.cpu(1)}, {"times", static_cast<double>(times.count())}});
}

void Report::say(const std::string& text) const
{
    if (!m_json)
        std::printf("%s\n", text.c_str());
}

void Report::end() const
{
    if (!m_json)
        return;
    const auto object = [](const Figures& figures) {
        nlohmann::ordered_json out = nlohmann::ordered_json::object();
        for (const auto& [name, value] : figures)
            out[name] = value;
        return out;
    };
    nlohmann::ordered_json all;
    all["bench"] = m_bench;
    all["file"] = m_file;
    all["facts"] = object(m_facts);
    all["lines"] = nlohmann::ordered_json::object();
    for (const Line& line : m_lines)
        all["lines"][line.what] = object(line.figures);
    std::printf("%s\n", all.dump().c_str());
}

Words::Words(int argc, char** argv, const char* usage, const std::vector<std::string>& options)
{
    bool wrong = false;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.rfind("--", 0) != 0) {
            wrong |= !m_file.empty();
            m_file = word;
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        wrong |= name != "--json" && std::find(options.begin(), options.end(), name) == options.end();
        m_given.emplace_back(name, equals == std::string::npos ? "" : word.substr(equals + 1));
    }
    if (wrong || m_file.empty()) {
        std::fprintf(stderr, "usage: %s\n", usage);
        std::exit(2);
    }
}

bool Words::has(const std::string& option) const
{
    return std::any_of(
        m_given.begin(), m_given.end(), [&](const auto& each) { return each.first == option; });
}

double Words::number(const std::string& option, double otherwise) const
{
    for (const auto& [name, value] : m_given)
        if (name == option && !value.empty())
            return std::strtod(value.c_str(), nullptr);
    return otherwise;
}

std::uint64_t peakResident()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("VmHWM:", 0) == 0)
            return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
    return 0;
}

void resetPeak()
{
    std::ofstream("/proc/self/clear_refs") << "5";
}

Took inChild(std::vector<double>& figures, const std::function<bool(double*)>& work)
{
    const std::size_t bytes = std::max<std::size_t>(1, figures.size()) * sizeof(double);
    void* const shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return {};
    auto* const place = static_cast<double*>(shared);
    const double begin = milliseconds(CLOCK_MONOTONIC);
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(work(place) ? 0 : 1);
    int status = 0;
    struct rusage usage { };
    ::wait4(child, &status, 0, &usage);
    std::copy(place, place + figures.size(), figures.begin());
    ::munmap(shared, bytes);
    return {(milliseconds(CLOCK_MONOTONIC) - begin) / 1e3, seconds(usage.ru_utime) + seconds(usage.ru_stime),
        static_cast<std::uint64_t>(usage.ru_maxrss) * 1024, WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

std::string counted(double value)
{
    return formatCount(static_cast<std::int64_t>(std::llround(value)));
}

} // namespace tidemark::bench
