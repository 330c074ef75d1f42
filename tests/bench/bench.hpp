// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::bench {

/// Clock and processor time of the calling thread, in milliseconds.
struct Stamp {
    double wall = 0;
    double cpu = 0;
    static Stamp now();
};
inline Stamp operator-(const Stamp& a, const Stamp& b)
{
    return {a.wall - b.wall, a.cpu - b.cpu};
}

/// Durations of one thing done many times, in milliseconds. Processor time is what a busy machine leaves
/// unchanged.
class Times {
public:
    void add(const Stamp& took)
    {
        m_wall.push_back(took.wall);
        m_cpu.push_back(took.cpu);
    }
    bool empty() const { return m_wall.empty(); }
    std::size_t count() const { return m_wall.size(); }
    /// The value below which `share` of the durations lie; 1 is the worst.
    double wall(double share) const { return at(m_wall, share); }
    double cpu(double share) const { return at(m_cpu, share); }

private:
    static double at(std::vector<double> values, double share);
    std::vector<double> m_wall;
    std::vector<double> m_cpu;
};

/// Runs `work` `count` times on this thread.
Times timed(std::size_t count, const std::function<void(std::size_t)>& work);

/// What a bench has measured: lines of named figures, printed as a table or as one JSON object.
class Report {
public:
    using Figures = std::vector<std::pair<std::string, double>>;

    Report(std::string bench, std::string file);

    /// About the whole file: "events", 1e6.
    void fact(const std::string& name, double value) { m_facts.emplace_back(name, value); }
    /// A line; printed at once unless JSON is wanted. Names of figures end in their unit: "median_ms".
    void line(const std::string& what, const Figures& figures);
    /// Median, p95 and worst of the clock, and of the processor.
    void times(const std::string& what, const Times& times);
    /// Free text between lines; not in the JSON.
    void say(const std::string& text) const;

    void setJson(bool json) { m_json = json; }
    /// The facts, before the first line.
    void begin() const;
    /// Prints the JSON, if wanted.
    void end() const;

private:
    struct Line {
        std::string what;
        Figures figures;
    };
    std::string m_bench;
    std::string m_file;
    bool m_json = false;
    Figures m_facts;
    std::vector<Line> m_lines;
};

/// Words of a command line: a file, and options with a value ("--runs=5") or without.
class Words {
public:
    /// Ends the program with the usage when there is no file or an option is unknown.
    Words(int argc, char** argv, const char* usage, const std::vector<std::string>& options);

    const std::string& file() const { return m_file; }
    bool has(const std::string& option) const;
    double number(const std::string& option, double otherwise) const;

private:
    std::string m_file;
    std::vector<std::pair<std::string, std::string>> m_given;
};

/// Most memory the process has held, mapped pages included, since resetPeak (or its start), in bytes.
std::uint64_t peakResident();
void resetPeak();

/// What a child process took.
struct Took {
    double wall = 0; ///< seconds
    double cpu = 0; ///< seconds, user and system
    std::uint64_t peak = 0; ///< bytes
    bool ok = false;
};
/// Runs `work` in a process of its own, so that its memory and processor time are its alone. `work` gets a
/// place for figures it wants to hand back, `figures` of them.
Took inChild(std::vector<double>& figures, const std::function<bool(double*)>& work);

/// "12,345,678".
std::string counted(double value);

} // namespace tidemark::bench
