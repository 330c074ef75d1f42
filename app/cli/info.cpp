// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.hpp"
#include "app/cli/figures_json.hpp"
#include "model/core/natural_order.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/job/discovery.hpp"
#include "model/job/file_class.hpp"
#include "model/run/rank.hpp"

#include <algorithm>
#include <array>
#include <ostream>

namespace tidemark {

extern const Command infoCommand;

namespace {

constexpr std::array options{jsonOption, partialOption, eventsOption};

std::string bytes(std::uint64_t value)
{
    return formatBytes(static_cast<std::int64_t>(value));
}

std::string eventText(Moment moment)
{
    return moment < 0 ? "before the first event" : "at event " + formatCount(moment);
}

void printCurve(std::ostream& out, const char* name, const CurveFigures& curve, const char* peakName)
{
    out << "  " << name << formatBytes(curve.peak) << " " << peakName << " (" << eventText(curve.peakMoment)
        << "), " << formatBytes(curve.atStart) << " at the start, " << formatBytes(curve.atEnd)
        << " at the end\n";
}

void printSplit(std::ostream& out, const std::string& name, const CurveFigures& curve)
{
    out << "            " << name << ": peak " << formatBytes(curve.peak) << " ("
        << eventText(curve.peakMoment) << ")\n";
}

void printDevice(
    std::ostream& out, const Rank& rank, const Replay& replay, const DeviceFigures& f, bool ranged)
{
    const Snapshot& file = *rank.snapshot;
    out << deviceName(replay.device().ordinal) << ": " << formatCount(static_cast<std::int64_t>(f.events))
        << (f.events == 1 ? " event" : " events");
    if (ranged && f.range)
        out << " (" << formatCount(static_cast<std::int64_t>(numberInFile(replay, f.range->first))) << " to "
            << formatCount(static_cast<std::int64_t>(numberInFile(replay, f.range->second))) << ")";
    if (f.firstTimeUs && *f.firstTimeUs >= 0)
        out << ", " << formatUtc(*f.firstTimeUs) << ", " << formatDuration(*f.lastTimeUs - *f.firstTimeUs);
    out << '\n';
    if (f.events > 0) {
        out << "  actions   ";
        const char* separator = "";
        for (const auto& [action, count] : f.actions) {
            out << separator << displayText(action, 60) << " "
                << formatCount(static_cast<std::int64_t>(count));
            separator = ", ";
        }
        out << '\n';
    }
    const char* peak = ranged   ? "peak of these events"
        : replay.reachesStart() ? "peak"
                                : "peak of the recorded window";
    printCurve(out, "live      ", f.live, peak);
    if (f.streams.size() > 1)
        for (const auto& [stream, curve] : f.streams)
            printSplit(out, streamName(file, stream), curve);
    if (f.pools.size() > 1)
        for (const auto& [pool, curve] : f.pools)
            printSplit(out, poolName(file, pool), curve);
    if (f.reserved)
        printCurve(out, "reserved  ", *f.reserved, peak);
    else
        out << "  reserved  unknown: the file lists no segments\n";
    if (f.peakPending > 0)
        out << "  waiting   " << formatBytes(f.peakPending) << " at most for other streams, in "
            << formatCount(static_cast<std::int64_t>(f.delayedFrees)) << " delayed frees\n";
    if (const Predating& p = f.predating; p.freedInTrace + p.aliveAtEnd > 0)
        out << "  before    " << bytes(p.freedInTraceBytes + p.aliveAtEndBytes) << " in "
            << formatCount(static_cast<std::int64_t>(p.freedInTrace + p.aliveAtEnd))
            << " allocations: " << bytes(p.aliveAtEndBytes) << " stays, " << bytes(p.freedInTraceBytes)
            << " freed later\n";
    if (const auto& s = f.segments)
        out << "  segments  " << formatCount(static_cast<std::int64_t>(s->count)) << " with "
            << formatCount(static_cast<std::int64_t>(s->blocks)) << " blocks at the end: allocated "
            << bytes(s->allocated) << ", waiting " << bytes(s->pending) << ", inactive " << bytes(s->inactive)
            << ", largest hole " << bytes(s->largestInactiveBlock) << ", private pools "
            << bytes(s->privatePoolReserved) << '\n';
    for (const OomEvent& oom : f.ooms)
        out << "  oom       at event "
            << formatCount(static_cast<std::int64_t>(numberInFile(replay, index(oom.event))))
            << ": asked for " << (oom.requested ? formatBytes(*oom.requested) : "unknown") << ", device free "
            << (oom.deviceFree ? formatBytes(*oom.deviceFree) : "unknown") << '\n';
}

void printNotes(std::ostream& out, const Rank& rank)
{
    for (const QualityNote& note : rank.quality()) {
        out << "note        " << qualityName(note.id);
        if (note.device && rank.devices.size() > 1)
            out << " (" << deviceName(*note.device) << ")";
        out << ": " << note.sentence;
        const char* separator = " [";
        for (const std::string& example : note.examples) {
            out << separator << displayText(example, 60);
            separator = ", ";
        }
        out << (note.examples.empty() ? "\n" : "]\n");
    }
}

void printText(std::ostream& out, const std::string& path, const Rank& rank, bool ranged)
{
    const Source& source = rank.snapshot->source;
    out << displayText(path) << ": " << source.encoding;
    if (source.pickleProtocol)
        out << " protocol " << *source.pickleProtocol;
    if (source.container != "none")
        out << " in " << source.container;
    out << ", " << bytes(source.fileBytes)
        << (source.partial ? ", only a part of the file could be read" : "") << '\n';
    if (const auto& categories = rank.snapshot->categories) {
        out << "torch.profiler memory timeline: "
            << formatCount(static_cast<std::int64_t>(categories->timesUs.size())) << " rows\n";
        const CategoryPeak peak = categoryPeak(*categories);
        out << "  live      " << formatBytes(peak.bytes) << " peak (" << formatUtc(peak.timeUs) << ")\n";
        for (std::size_t c = 0; c < peak.byCategory.size(); ++c)
            if (peak.byCategory[c] != 0)
                out << "            " << CategoryTimeline::names[c] << ": " << formatBytes(peak.byCategory[c])
                    << '\n';
    }
    for (const auto& replay : rank.devices)
        printDevice(out, rank, *replay, figuresInFile(*replay), ranged);
    printNotes(out, rank);
}

/// The files of a folder by name, settings and digests left out, with the snapshots of its subfolders.
Result<std::vector<std::filesystem::path>> filesOf(const std::filesystem::path& given)
{
    auto files = expandPaths(std::span(&given, 1));
    std::error_code ignored;
    if (!std::filesystem::is_directory(given, ignored))
        return files;
    const auto job = discover(std::span(&given, 1), {}, terminalJob());
    if (!job)
        return files;
    std::vector<std::filesystem::path> all = files ? *files : std::vector<std::filesystem::path>();
    for (const RankFiles& rank : job->ranks)
        for (const RankFile& file : rank.files)
            all.push_back(file.path);
    for (const BadFile& bad : job->bad)
        all.push_back(bad.path);
    std::ranges::sort(
        all, [](const auto& a, const auto& b) { return naturallyLess(a.string(), b.string()); });
    const auto again = std::ranges::unique(all);
    all.erase(again.begin(), again.end());
    std::erase_if(
        all, [](const auto& file) { return isConfigFile(file) || file.extension() == digestEnding; });
    return all;
}

int run(const Arguments& arguments, CommandStreams& streams)
{
    if (arguments.paths().empty())
        return usageError(streams, "info needs a file or folder; see tidemark info --help");
    const ReadOptions wish = arguments.readOptions();
    std::size_t read = 0;
    std::size_t refused = 0;
    const bool json = arguments.has(jsonOption.name);
    const auto refuse = [&](const std::string& path, const Error& error) {
        ++refused;
        printError(streams.err, path, error);
        if (json)
            streams.out << errorJson(path, error) << '\n';
    };
    for (const std::filesystem::path& given : arguments.paths()) {
        const auto files = filesOf(given);
        if (!files) {
            refuse(given.string(), files.error());
            continue;
        }
        for (const std::filesystem::path& file : *files) {
            const auto rank = openRank(file, wish, terminalJob());
            if (!rank) {
                refuse(file.string(), rank.error());
                continue;
            }
            warnIfPartial(streams, file.string(), *(*rank)->snapshot);
            warnIfBeyond(streams, file.string(), **rank);
            if (json)
                streams.out << infoJson(file.string(), **rank) << '\n';
            else
                printText(streams.out << (read > 0 ? "\n" : ""), file.string(), **rank, wish.ranged());
            streams.out.flush();
            ++read;
        }
    }
    if (read > 0)
        return refused > 0 ? exitStatus::someNotRead : exitStatus::done;
    if (refused == 0)
        printError(
            streams.err, "", {ErrorCode::NotFound, "there are no files in the given folders.", std::nullopt});
    return exitStatus::nothingRead;
}

} // namespace

const Command infoCommand{"info", "PATH… [--json]",
    "figures of files: peaks, memory at the start and end, segments, what a file cannot tell", options, run};

} // namespace tidemark
