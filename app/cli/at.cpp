// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/findings/diagnosis.hpp"
#include "model/findings/metrics_text.hpp"
#include "model/lens/call_tree.hpp"
#include "model/lens/groups.hpp"
#include "model/run/rank.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

namespace tidemark {

extern const Command atCommand;

namespace {

using Json = nlohmann::ordered_json;

/// Rows of the text table when --top says nothing; JSON then lists all.
constexpr std::size_t defaultRows = 20;
/// Times from here on are Unix seconds, below they count from the first event (a trace of 31 years).
constexpr double unixSeconds = 1e9;

constexpr std::array options{
    CommandOption{"--event", "N", "the moment after event N; -1 is before the first one"},
    CommandOption{"--time", "SECONDS", "that long after the first event, or Unix seconds"},
    CommandOption{"--peak", nullptr, "where live memory is highest (within --events, if given)"},
    CommandOption{"--device", "D", "device ordinal, -1 for pinned host memory; the busiest one otherwise"},
    CommandOption{
        "--by", "KEY", "group by site (default), stack, label, role, size, stream, pool or category"},
    CommandOption{"--top", "K", "list the K largest groups, sum up the others (text: 20, JSON: all)"},
    CommandOption{"--folded", nullptr,
        "the stacks from the root with their bytes, \"main;step;forward 1024\", for flame-graph tools"},
    CommandOption{"--metrics", nullptr, "the allocator's metrics M1 to M15 at that moment (help/numbers.md)"},
    CommandOption{"--raw", nullptr, "sites are the innermost frames, framework frames included"}, jsonOption,
    partialOption, eventsOption, rulesOption};

struct GroupName {
    const char* name;
    GroupBy by;
    const char* many;
};
constexpr std::array groupNames{GroupName{"site", GroupBy::Site, "sites"},
    GroupName{"stack", GroupBy::Stack, "stacks"}, GroupName{"size", GroupBy::Size, "size classes"},
    GroupName{"stream", GroupBy::Stream, "streams"}, GroupName{"pool", GroupBy::Pool, "pools"},
    GroupName{"category", GroupBy::Category, "categories"}, GroupName{"label", GroupBy::Label, "modules"},
    GroupName{"role", GroupBy::Role, "roles"}};

Error usage(std::string message)
{
    return {ErrorCode::Usage, std::move(message), std::nullopt};
}

/// What is to be shown, checked.
struct Wish {
    std::optional<std::int64_t> event;
    std::optional<double> seconds;
    std::optional<std::int64_t> device;
    const GroupName* by = groupNames.data();
    std::optional<std::size_t> top;
    bool raw = false;
    bool json = false;
    bool metrics = false;
    bool folded = false;
};

Result<const GroupName*> groupingOf(const std::string& name)
{
    for (const GroupName& known : groupNames)
        if (name == known.name)
            return &known;
    return usage("--by knows site, stack, label, role, size, stream, pool and category, not \""
        + displayText(name, 40) + "\"");
}

Result<double> secondsOf(const std::string& text)
{
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(seconds))
        return usage("--time needs seconds, not \"" + displayText(text, 40) + "\"");
    return seconds;
}

Result<Wish> wishOf(const Arguments& arguments)
{
    Wish wish;
    if (arguments.paths().size() != 1)
        return usage("at needs one file");
    if (arguments.has("--event") + arguments.has("--time") + arguments.has("--peak") != 1)
        return usage("at needs one of --event N, --time SECONDS and --peak");
    const auto event = arguments.number("--event");
    const auto device = arguments.number("--device");
    const auto top = arguments.number("--top");
    for (const Error* error :
        {event ? nullptr : &event.error(), device ? nullptr : &device.error(), top ? nullptr : &top.error()})
        if (error != nullptr)
            return *error;
    wish.event = *event;
    wish.device = *device;
    if (*top && **top < 0)
        return usage("--top needs a number from 0 on");
    if (*top)
        wish.top = static_cast<std::size_t>(**top);
    if (const auto time = arguments.value("--time")) {
        const Result<double> seconds = secondsOf(*time);
        if (!seconds)
            return seconds.error();
        wish.seconds = *seconds;
    }
    if (const auto name = arguments.value("--by")) {
        const Result<const GroupName*> by = groupingOf(*name);
        if (!by)
            return by.error();
        wish.by = *by;
    }
    wish.raw = arguments.has("--raw");
    wish.json = arguments.has(jsonOption.name);
    wish.metrics = arguments.has("--metrics");
    wish.folded = arguments.has("--folded");
    if (wish.folded && (wish.json || wish.top || arguments.value("--by")))
        return usage("--folded lists stacks as they are: leave out --by, --top and --json");
    return wish;
}

/// The number of a moment in the file, of which only a range may be open.
Moment momentInFile(const Replay& replay, StateIndex state)
{
    return momentOf(state) + static_cast<Moment>(replay.device().firstEventInFile);
}

Result<StateIndex> stateOfWish(const Replay& replay, const Wish& wish)
{
    const StateIndex last = replay.states() - 1;
    if (!wish.event && !wish.seconds)
        return replay.timeline.requested().total().maxState;
    if (wish.event) {
        if (*wish.event < momentInFile(replay, 0) || *wish.event > momentInFile(replay, last))
            return usage("event " + std::to_string(*wish.event) + " is not among "
                + std::to_string(momentInFile(replay, 0)) + " to "
                + std::to_string(momentInFile(replay, last)) + " of " + deviceName(replay.device().ordinal));
        return stateOf(*wish.event - static_cast<Moment>(replay.device().firstEventInFile));
    }
    const auto origin = replay.originUs();
    if (!origin)
        return usage("the events carry no time, use --event");
    const double base = *wish.seconds >= unixSeconds ? 0 : static_cast<double>(*origin);
    const double us = base + std::round(*wish.seconds * 1e6);
    const double most = static_cast<double>(std::numeric_limits<std::int64_t>::max() / 2);
    return std::clamp(
        replay.stateAtTime(static_cast<std::int64_t>(std::clamp(us, -most, most))), StateIndex{0}, last);
}

/// The rows to list and what all others sum to.
struct Table {
    std::vector<GroupRow> rows;
    std::uint64_t otherGroups = 0;
    std::uint64_t otherBytes = 0;
    std::uint64_t otherAllocations = 0;
};

Table tableOf(std::vector<GroupRow> rows, std::size_t top)
{
    Table table;
    for (std::size_t i = top; i < rows.size(); ++i) {
        ++table.otherGroups;
        table.otherBytes += rows[i].bytes;
        table.otherAllocations += rows[i].allocations;
    }
    rows.resize(std::min(rows.size(), top));
    table.rows = std::move(rows);
    return table;
}

void printJson(std::ostream& out, const std::string& path, const Replay& replay, StateIndex state,
    const Grouping& grouping, const Table& table, const std::optional<MomentMetrics>& metrics)
{
    Json json{{"file", path}, {"device", replay.device().ordinal}, {"event", momentInFile(replay, state)}};
    const std::optional<std::int64_t> time = replay.timeUs(state);
    json["time_us"] = time ? Json(*time) : Json(nullptr);
    json["live"] = replay.timeline.requested().at(state);
    json["reserved"]
        = replay.segments.reservedKnown() ? Json(replay.segments.reserved().at(state)) : Json(nullptr);
    json["pending"] = replay.timeline.pending().at(state);
    json["allocations"] = replay.timeline.liveCountAt(state);
    json["groups"] = Json::array();
    for (const GroupRow& row : table.rows)
        json["groups"].push_back(
            {{"key", grouping.name(row.group)}, {"bytes", row.bytes}, {"allocations", row.allocations}});
    json["other"] = {{"bytes", table.otherBytes}, {"allocations", table.otherAllocations}};
    if (metrics)
        json["metrics"] = Json::parse(metricsJson(replay, *metrics));
    out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void printMetrics(std::ostream& out, const Replay& replay, const MomentMetrics& metrics)
{
    out << '\n';
    for (const MetricLine& line : metricLines(replay, metrics)) {
        out << "  " << line.id << std::string(5 - std::string_view(line.id).size(), ' ') << line.name
            << std::string(34 - line.name.size(), ' ') << line.value;
        if (!line.remark.empty())
            out << "  (" << line.remark << ')';
        out << '\n';
    }
}

/// The metrics of a device at a state, with what its out-of-memory events and steps add.
MomentMetrics metricsOfMoment(std::shared_ptr<const Rank> rank, std::size_t device, StateIndex state)
{
    const Replay& replay = *rank->devices[device];
    const auto diagnosis = diagnose(std::move(rank), {}, {});
    const DeviceDiagnosis& found = diagnosis->devices[device];
    return metricsAt(replay, state, {found.phases->steps, found.ooms, std::nullopt}, {});
}

void printRow(
    std::ostream& out, std::uint64_t bytes, std::int64_t live, std::uint64_t count, const std::string& name)
{
    const auto right = [&out](const std::string& text, std::size_t width) {
        const auto characters = static_cast<std::size_t>(
            std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
        out << std::string(characters < width ? width - characters : 0, ' ') << text << "  ";
    };
    right(formatBytes(static_cast<std::int64_t>(bytes)), 12);
    right(live > 0 ? formatPercent(static_cast<double>(bytes) / static_cast<double>(live)) : "–", 8);
    right(formatCount(static_cast<std::int64_t>(count)), 9);
    out << name << '\n';
}

void printText(std::ostream& out, const std::string& path, const Replay& replay, StateIndex state,
    const Grouping& grouping, const Table& table, const GroupName& by)
{
    const std::int64_t live = replay.timeline.requested().at(state);
    out << displayText(path) << ", " << deviceName(replay.device().ordinal) << ", "
        << (momentInFile(replay, state) < 0 ? std::string("before the first event")
                                            : "after event " + formatCount(momentInFile(replay, state)));
    if (const auto time = replay.timeUs(state); time && !replay.monotoneTimes.empty())
        out << ", " << formatOffset(*time - replay.monotoneTimes.front());
    out << "\nlive " << formatBytes(live) << " in " << formatCount(replay.timeline.liveCountAt(state))
        << " allocations, reserved "
        << (replay.segments.reservedKnown() ? formatBytes(replay.segments.reserved().at(state)) : "unknown")
        << ", waiting for a stream " << formatBytes(replay.timeline.pending().at(state)) << "\n\n";
    for (const GroupRow& row : table.rows)
        printRow(out, row.bytes, live, row.allocations, grouping.name(row.group));
    if (table.otherGroups > 0)
        printRow(out, table.otherBytes, live, table.otherAllocations,
            formatCount(static_cast<std::int64_t>(table.otherGroups)) + " more " + by.many);
    printRow(out, static_cast<std::uint64_t>(live), live, replay.timeline.liveCountAt(state),
        momentInFile(replay, state) < 0 ? "= curve before the first event"
                                        : "= curve at event " + formatCount(momentInFile(replay, state)));
}

int run(const Arguments& arguments, CommandStreams& streams)
{
    const Result<Wish> wish = wishOf(arguments);
    if (!wish)
        return usageError(streams, wish.error().message);
    const auto rules = arguments.labelRules();
    if (!rules) {
        printError(streams.err, "", rules.error());
        return exitStatus::wrongUsage;
    }
    const auto files = expandPaths(arguments.paths());
    if (!files) {
        printError(streams.err, arguments.paths().front().string(), files.error());
        return exitStatus::nothingRead;
    }
    if (files->size() != 1)
        return usageError(
            streams, "at needs one file, and the folder holds " + std::to_string(files->size()));
    const std::string path = files->front().string();
    const auto rank = openRank(files->front(), arguments.readOptions(), terminalJob());
    if (!rank) {
        printError(streams.err, path, rank.error());
        return exitStatus::nothingRead;
    }
    warnIfPartial(streams, path, *(*rank)->snapshot);
    if ((*rank)->devices.empty()) {
        printError(streams.err, path,
            {ErrorCode::Unsupported, "the file lists no allocations, so none can be live.", std::nullopt});
        return exitStatus::nothingRead;
    }
    const Result<std::size_t> device = chosenDevice(**rank, wish->device);
    if (!device)
        return usageError(streams, device.error().message);
    const Replay& replay = *(*rank)->devices[*device];
    if (const auto wrong = eventsBeyond(replay.device()))
        return usageError(streams, *wrong);
    const Result<StateIndex> state = stateOfWish(replay, *wish);
    if (!state)
        return usageError(streams, state.error().message);
    const Sites& sites = wish->raw ? *(*rank)->rawSites : *(*rank)->sites;
    if (wish->folded) {
        CallTreeWish tree;
        tree.scope = Scope::moment(*state);
        tree.ownFramesOnly = !wish->raw;
        streams.out << buildCallTree(replay, sites, tree, {})->folded();
        return exitStatus::done;
    }
    std::shared_ptr<const Labels> labels;
    if (wish->by->by == GroupBy::Label || wish->by->by == GroupBy::Role) {
        const auto phases = Phases::build(replay, (*rank)->marks[*device], {});
        labels = Labels::build(replay, *phases, *rules, {});
    }
    const auto grouping = Grouping::build(replay, sites, wish->by->by, labels.get());
    const std::size_t all = wish->json ? std::numeric_limits<std::size_t>::max() : defaultRows;
    const Table table = tableOf(groupLive(replay, *grouping, *state), wish->top.value_or(all));
    std::optional<MomentMetrics> metrics;
    if (wish->metrics)
        metrics = metricsOfMoment(*rank, *device, *state);
    if (wish->json) {
        printJson(streams.out, path, replay, *state, *grouping, table, metrics);
        return exitStatus::done;
    }
    printText(streams.out, path, replay, *state, *grouping, table, *wish->by);
    if (metrics)
        printMetrics(streams.out, replay, *metrics);
    return exitStatus::done;
}

} // namespace

const Command atCommand{"at", "PATH (--event N | --time S | --peak)",
    "what is live at one moment, in groups whose rows sum to the curve", options, run};

} // namespace tidemark
