// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.hpp"
#include "app/cli/figures_json.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/findings/prediction.hpp"
#include "model/findings/setting_bar.hpp"
#include "model/run/rank.hpp"
#include "model/simulate/recorded_figures.hpp"
#include "model/simulate/setting_search.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

namespace tidemark {

extern const Command simulateCommand;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array options{
    CommandOption{"--set", "KEY=VALUE",
        "an allocator setting to try, as PYTORCH_CUDA_ALLOC_CONF names it; VALUE default gives it up; may be "
        "repeated",
        true},
    CommandOption{"--search", nullptr,
        "predict changes of one setting each of the recorded ones and rank them by the memory they need"},
    CommandOption{"--capacity", "BYTES", "what the process may reserve; otherwise as the recording tells"},
    CommandOption{"--device", "D", "device ordinal; the busiest one otherwise"}, configOption, envOption,
    jsonOption, partialOption, eventsOption};

struct Wish {
    /// Each "KEY:VALUE", or "KEY:default".
    std::vector<std::pair<std::string, std::string>> changes;
    std::optional<std::uint64_t> capacity;
    std::optional<std::int64_t> device;
    RunConfig config;
    bool search = false;
    bool json = false;
};

/// Everything that is told of one device.
struct Answer {
    std::string path;
    int device = 0;
    std::shared_ptr<const Simulation> simulation;
    RecordedFigures recorded;
    AllocatorSettings settings;
    /// What the prediction was made at.
    Capacity capacity;
    /// Why the settings may not be used in this run.
    std::string barred;
    /// Why some of them do nothing in the prediction.
    std::string withoutEffect;
    /// What they need, where that is not known to be there.
    std::string needs;
    std::optional<WhatIf> predicted;
    std::vector<SettingTrial> search;
    /// As `needs`, by trial.
    std::vector<std::string> searchNeeds;

    const Recording& recording() const { return simulation->recording(); }
    bool capacityGiven() const { return capacity.source == Capacity::Source::Given; }
    std::string grade() const
    {
        return {static_cast<char>(predictionGrade(*simulation, false, capacityGiven()))};
    }
    bool changed() const { return !(settings == recording().settings); }
    /// Whether there is something to paste: text and JSON say the same.
    bool offers() const { return barred.empty() && withoutEffect.empty(); }
    std::string line() const { return settingsLine(*recording().replay->snapshot, settings); }
};

std::optional<int> readWish(const Arguments& arguments, CommandStreams& streams, Wish& wish)
{
    if (arguments.paths().size() != 1)
        return usageError(streams, "simulate needs one file; see tidemark simulate --help");
    const auto capacity = arguments.number("--capacity");
    const auto device = arguments.number("--device");
    for (const Error* error : {capacity ? nullptr : &capacity.error(), device ? nullptr : &device.error()})
        if (error != nullptr)
            return usageError(streams, error->message);
    if (*capacity && **capacity <= 0)
        return usageError(streams, "--capacity needs a number of bytes above 0");
    if (*capacity)
        wish.capacity = static_cast<std::uint64_t>(**capacity);
    wish.device = *device;
    wish.search = arguments.has("--search");
    wish.json = arguments.has(jsonOption.name);
    for (const std::string& text : arguments.values("--set")) {
        const std::size_t end = text.find_first_of("=:");
        if (end == 0 || end == std::string::npos)
            return usageError(streams, "--set needs KEY=VALUE, not \"" + displayText(text, 60) + "\"");
        wish.changes.emplace_back(text.substr(0, end), text.substr(end + 1));
    }
    return readConfig(arguments, streams, wish.config);
}

Result<void> change(AllocatorSettings& settings, const Wish& wish)
{
    std::string conf; // taken together: some values depend on each other
    for (const auto& [key, value] : wish.changes) {
        if (value != "default") {
            conf += key + ':' + value + ',';
            continue;
        }
        if (const Result<void> done = settings.apply(std::exchange(conf, {})); !done)
            return done.error();
        if (const Result<void> done = settings.reset(key); !done)
            return done.error();
    }
    return settings.apply(conf);
}

// --- JSON

Json settingsJson(const AllocatorSettings& s)
{
    Json json{{"conf", s.conf()}, {"expandable_segments", s.expandableSegments}};
    json["max_split_size"] = s.splitLimited() ? Json(s.rounding.maxSplitSize) : Json(nullptr);
    json["roundup_power2_divisions"] = s.rounding.divisions;
    json["max_non_split_rounding"] = s.maxNonSplitRounding;
    json["large_segment_size"] = s.rounding.largePage;
    json["garbage_collection_threshold"] = s.garbageCollectionThreshold;
    json["per_process_memory_fraction"] = s.memoryFraction ? Json(*s.memoryFraction) : Json(nullptr);
    return json;
}

Json fidelityJson(const Fidelity& f)
{
    Json json = Json::object();
    const auto add = [&](const std::string& key, const Match& match) {
        json[key + "_matched"] = match.matched;
        json[key] = match.total;
    };
    add("addresses", f.addresses);
    add("segment_allocs", f.segmentAllocs);
    add("segment_frees", f.segmentFrees);
    add("maps", f.maps);
    add("unmaps", f.unmaps);
    add("reserved", f.reserved);
    add("end_segments", f.endSegments);
    add("end_blocks", f.endBlocks);
    json["largest_reserved_error"] = f.largestReservedError;
    json["score"] = f.score();
    return json;
}

void addCounts(Json& json, const AllocatorModel::Counts& counts)
{
    json["flushes"] = counts.flushes;
    json["segment_allocs"] = counts.segmentAllocs;
    json["segment_frees"] = counts.segmentFrees;
    json["maps"] = counts.maps;
    json["unmaps"] = counts.unmaps;
}

Json eventOrNull(const std::optional<EventIndex>& event)
{
    return event ? Json(index(*event)) : Json(nullptr);
}

Json recordedJson(const RecordedFigures& r)
{
    Json json{{"peak_reserved", r.peakReserved}, {"peak_event", momentOf(r.peakState)},
        {"peak_allocated", r.peakAllocated}, {"idle_at_peak", r.idleAtPeak}, {"end_reserved", r.endReserved},
        {"oom", r.failures > 0}, {"oom_event", eventOrNull(r.firstFailure)}};
    addCounts(json, r.counts);
    return json;
}

Json oomJson(const std::optional<WhatIf::OutOfMemory>& oom)
{
    if (!oom)
        return nullptr;
    return {{"event", eventOrNull(oom->event)}, {"request", oom->bytes}, {"device_free", oom->deviceFree},
        {"reserved", oom->reserved}, {"allocated", oom->allocated}, {"pending", oom->pending},
        {"slack", oom->slack()}, {"recorded", oom->recorded}};
}

Json predictedJson(const WhatIf& p)
{
    Json json{{"peak_reserved", p.peakReserved}, {"peak_event", momentOf(p.peakState)},
        {"peak_allocated", p.peakAllocated}, {"idle_at_peak", p.idleAtPeak}, {"end_reserved", p.endReserved},
        {"end_releasable", p.endReleasable}, {"oom", !p.fits()}, {"out_of_memory", oomJson(p.outOfMemory)},
        {"served_failure_event", eventOrNull(p.servedFailure)},
        {"known_until_event", momentOf(p.knownUntil)}};
    addCounts(json, p.counts);
    return json;
}

Json textOrNull(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json trialJson(const SettingTrial& t, const std::string& needs)
{
    Json json{{"change", t.change.text}, {"conf", t.change.settings.conf()}, {"barred", textOrNull(t.barred)},
        {"needs_version", textOrNull(needs)}};
    if (!t.barred.empty())
        return json;
    json["fits"] = t.fits;
    json["needs"] = t.fits ? Json(t.needs) : Json(nullptr);
    json["headroom"] = t.headroom ? Json(*t.headroom) : Json(nullptr);
    json["peak_reserved"] = t.peakReserved;
    json["idle_at_peak"] = t.idleAtPeak;
    json["out_of_memory"] = oomJson(t.outOfMemory);
    json["served_failure_event"] = eventOrNull(t.servedFailure);
    addCounts(json, t.counts);
    return json;
}

const char* sourceName(Capacity::Source source)
{
    switch (source) {
    case Capacity::Source::OutOfMemory:
        return "out-of-memory";
    case Capacity::Source::Flush:
        return "flush";
    case Capacity::Source::Failure:
        return "failure";
    case Capacity::Source::Share:
        return "share";
    case Capacity::Source::Given:
        return "given";
    default:
        return "unknown";
    }
}

void printJson(std::ostream& out, const Answer& answer, const Wish& wish)
{
    const auto capacity = answer.capacity.known();
    Json json{{"file", answer.path}, {"device", answer.device}, {"settings", settingsJson(answer.settings)},
        {"recorded_settings", settingsJson(answer.recording().settings)},
        {"barred", textOrNull(answer.barred)}, {"no_effect", textOrNull(answer.withoutEffect)},
        {"needs_version", textOrNull(answer.needs)},
        {"line", answer.changed() && answer.offers() ? Json(answer.line()) : Json(nullptr)},
        {"capacity", capacity ? Json(*capacity) : Json(nullptr)},
        {"capacity_source", sourceName(answer.capacity.source)},
        {"capacity_inferred", answer.capacity.inferred()},
        {"fidelity", fidelityJson(answer.simulation->fidelity())},
        {"grade", answer.predicted ? Json(answer.grade()) : Json(nullptr)},
        {"recorded", recordedJson(answer.recorded)},
        {"predicted", answer.predicted ? predictedJson(*answer.predicted) : Json(nullptr)},
        {"refusal", textOrNull(answer.simulation->refusal())}};
    if (wish.search) {
        json["search"] = Json::array();
        for (std::size_t i = 0; i < answer.search.size(); ++i)
            json["search"].push_back(trialJson(answer.search[i], answer.searchNeeds[i]));
    }
    out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

// --- Text

std::string size(std::uint64_t bytes)
{
    return formatBytes(static_cast<std::int64_t>(bytes));
}

std::string count(std::uint64_t number)
{
    return formatCount(static_cast<std::int64_t>(number));
}

std::string eventText(const std::optional<EventIndex>& event)
{
    return event ? "at event " + count(index(*event)) : "before the first event";
}

std::string confText(const AllocatorSettings& settings)
{
    const std::string conf = settings.conf();
    return conf.empty() ? "PyTorch's defaults" : conf;
}

/// Texts beside each other; widths count characters.
void cell(std::ostream& out, const std::string& text, std::size_t width, bool left = false)
{
    const auto characters = static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    const std::string gap(characters < width ? width - characters : 0, ' ');
    out << (left ? text + gap : "  " + gap + text);
}

std::string fidelityText(const Fidelity& f)
{
    const auto share = [](const Match& match) { return count(match.matched) + " of " + count(match.total); };
    const Match driver = f.segmentEvents();
    return share(f.addresses) + " addresses, " + share(driver) + " segment events, reserved after "
        + share(f.reserved) + " requests and frees as recorded";
}

std::string capacityText(const Capacity& capacity)
{
    const std::string bytes = size(capacity.bytes);
    switch (capacity.source) {
    case Capacity::Source::Given:
        return bytes + ", as given";
    case Capacity::Source::OutOfMemory:
        return bytes + ", reserved and free when a request failed";
    case Capacity::Source::Flush:
        return "inferred: " + bytes + ", the most that was reserved; memory had to be given back then";
    case Capacity::Source::Failure:
        return "inferred: " + bytes
            + ", the most that was reserved; a request failed, and the file does not tell how much was free";
    case Capacity::Source::Share:
        return "inferred: " + bytes
            + ", the card, of which the recorded per_process_memory_fraction was used up";
    default:
        return "unknown, since memory never ran short: no end is assumed (--capacity BYTES)";
    }
}

void printHead(std::ostream& out, const Answer& answer)
{
    const Recording& recording = answer.recording();
    out << displayText(answer.path) << ", " << deviceName(answer.device) << "\n"
        << "recorded with  " << confText(recording.settings) << '\n'
        << "tried          " << confText(answer.settings) << '\n'
        << "capacity       " << capacityText(answer.capacity) << '\n'
        << "fidelity       " << formatPercent(answer.simulation->fidelity().score())
        << ", replayed under its own settings: " << fidelityText(answer.simulation->fidelity()) << '\n';
    if (answer.predicted)
        out << "grade          " << answer.grade()
            << (answer.capacity.inferred() ? ", since the capacity is only inferred" : "") << '\n';
    out << '\n';
}

void row(std::ostream& out, const char* name, const std::string& recorded, const std::string& predicted)
{
    cell(out, name, 34, true);
    cell(out, recorded, 16);
    cell(out, predicted, 16);
    out << '\n';
}

std::string failureText(bool failed, const std::optional<EventIndex>& event)
{
    return failed ? eventText(event) : "no";
}

void printFigures(std::ostream& out, const RecordedFigures& r, const std::optional<WhatIf>& p)
{
    const auto value = [&](auto member) { return p ? member(*p) : std::string("–"); };
    row(out, "", "recorded", "predicted");
    row(out, "peak reserved", size(r.peakReserved),
        value([](const WhatIf& w) { return size(w.peakReserved); }));
    row(out, "peak allocated", size(r.peakAllocated),
        value([](const WhatIf& w) { return size(w.peakAllocated); }));
    row(out, "idle at the peak of reserved", size(r.idleAtPeak),
        value([](const WhatIf& w) { return size(w.idleAtPeak); }));
    row(out, "reserved at the end", size(r.endReserved),
        value([](const WhatIf& w) { return size(w.endReserved); }));
    row(out, "flushes of the cache", count(r.counts.flushes),
        value([](const WhatIf& w) { return count(w.counts.flushes); }));
    row(out, "driver asked for memory", count(r.counts.segmentAllocs + r.counts.maps),
        value([](const WhatIf& w) { return count(w.counts.segmentAllocs + w.counts.maps); }));
    row(out, "runs out of memory", failureText(r.failures > 0, r.firstFailure), value([](const WhatIf& w) {
        return failureText(!w.fits(), w.fits() ? std::nullopt : w.outOfMemory->event);
    }));
}

void printVerdict(std::ostream& out, const WhatIf& p, const Capacity& capacity)
{
    const std::string guess = capacity.inferred() ? " The capacity that decides this is only inferred." : "";
    if (p.servedFailure)
        out << "\nThe request that failed in the recording (" << eventText(p.servedFailure)
            << ") is served. How the run would have gone on from there is not known." << guess << '\n';
    if (!p.outOfMemory || p.outOfMemory->recorded)
        return;
    if (p.outOfMemory->event)
        out << "\nA request of " << size(p.outOfMemory->bytes) << ' ' << eventText(p.outOfMemory->event)
            << " finds no memory, although it was served in the recording." << guess << '\n';
    else
        out << "\nWhat lived before the first event does not fit." << guess << '\n';
}

void printTrial(std::ostream& out, const SettingTrial& trial, const std::string& needs)
{
    cell(out, trial.unchanged() ? "(as recorded)" : trial.change.text, 34, true);
    if (!trial.barred.empty()) {
        out << "  not here: " << displayText(trial.barred) << '\n';
        return;
    }
    cell(out, trial.fits ? size(trial.needs) : "–", 13);
    cell(out, trial.headroom ? size(*trial.headroom) : "–", 13);
    cell(out, size(trial.peakReserved), 13);
    cell(out, count(trial.counts.flushes), 13);
    if (trial.outOfMemory)
        out << "  runs out " << eventText(trial.outOfMemory->event);
    else if (trial.servedFailure)
        out << "  known up to the failed request, which is served";
    if (!needs.empty())
        out << "  needs " << needs;
    out << '\n';
}

void printSearch(std::ostream& out, const Answer& answer, const Wish& wish)
{
    out << "\nOne setting changed, best first. Needs: the least capacity with which the recorded requests "
           "fit.\n";
    if (answer.capacity.inferred())
        out << "The capacity is only inferred, so what fits and the headroom are guesses.\n";
    if (!wish.changes.empty())
        out << "The table changes the recorded settings; those of --set are not in it.\n";
    out << '\n';
    cell(out, "", 34, true);
    for (const char* title : {"needs", "headroom", "peak reserved", "flushes"})
        cell(out, title, 13);
    out << '\n';
    for (std::size_t i = 0; i < answer.search.size(); ++i)
        printTrial(out, answer.search[i], answer.searchNeeds[i]);
}

/// What to paste, or why nothing is to be pasted.
void printAdvice(std::ostream& out, const Answer& answer)
{
    if (!answer.withoutEffect.empty())
        out << '\n'
            << displayText(answer.withoutEffect) << (answer.capacity.known() ? "" : " (--capacity BYTES)")
            << ".\n";
    if (!answer.barred.empty())
        out << "\nNot to be used here: " << displayText(answer.barred) << ".\n";
    if (!answer.offers())
        return;
    if (!answer.needs.empty())
        out << "\nNeeds " << answer.needs << "; which version the run has is not known.\n";
    out << '\n' << answer.line() << '\n';
}

void printText(std::ostream& out, const Answer& answer, const Wish& wish)
{
    printHead(out, answer);
    printFigures(out, answer.recorded, answer.predicted);
    if (!answer.predicted) {
        out << "\nNo prediction: " << displayText(answer.simulation->refusal()) << '\n';
        return;
    }
    printVerdict(out, *answer.predicted, answer.capacity);
    if (wish.search) {
        printSearch(out, answer, wish);
        if (wish.changes.empty() && bestChange(answer.search) == nullptr)
            out << "\nNo single setting needs less memory than those recorded.\n";
    }
    if (answer.changed())
        printAdvice(out, answer);
}

// --- Work

/// Fills in what is predicted. Errors: Usage, when a setting is wrong.
Result<void> predict(Answer& answer, const Wish& wish, const RunConfig& config)
{
    const Simulation& simulation = *answer.simulation;
    const AllocatorSettings& recorded = answer.recording().settings;
    answer.recorded = recordedFigures(simulation.recording());
    answer.settings = recorded;
    if (const Result<void> done = change(answer.settings, wish); !done)
        return done.error();
    WhatIfWish tried{answer.settings, wish.capacity, {}, nullptr};
    answer.capacity = simulation.capacityFor(tried);
    if (!simulation.refusal().empty())
        return {};
    const Job job = terminalJob();
    if (wish.search) {
        const auto barred = [&](const AllocatorSettings& s) { return settingBarred(config, s); };
        auto ranked = rankSettings(simulation, tried, barred, job);
        if (!ranked)
            return ranked.error();
        answer.search = std::move(ranked).value();
        for (const SettingTrial& trial : answer.search)
            answer.searchNeeds.push_back(settingNeeds(config, trial.change.settings, recorded));
        if (const SettingTrial* best = bestChange(answer.search); best != nullptr && wish.changes.empty())
            answer.settings = tried.settings = best->change.settings;
    }
    if (answer.changed())
        answer.barred = settingBarred(config, answer.settings);
    answer.capacity = simulation.capacityFor(tried);
    answer.withoutEffect = simulation.withoutEffect(tried);
    answer.needs = settingNeeds(config, answer.settings, recorded);
    auto predicted = simulation.run(tried, job);
    if (!predicted)
        return predicted.error();
    answer.predicted = std::move(predicted).value();
    return {};
}

int refuse(CommandStreams& streams, const Wish& wish, const std::string& path, const Error& error)
{
    printError(streams.err, path, error);
    if (wish.json)
        streams.out << errorJson(path, error) << '\n';
    return exitStatus::nothingRead;
}

int simulate(
    const std::filesystem::path& file, const Arguments& arguments, CommandStreams& streams, const Wish& wish)
{
    Answer answer;
    answer.path = file.string();
    const auto rank = openRank(file, arguments.readOptions(), terminalJob());
    if (!rank)
        return refuse(streams, wish, answer.path, rank.error());
    warnIfPartial(streams, answer.path, *(*rank)->snapshot);
    if ((*rank)->devices.empty())
        return refuse(streams, wish, answer.path,
            {ErrorCode::Unsupported, "the file lists no allocations, so there is nothing to replay.",
                std::nullopt});
    const Result<std::size_t> device = chosenDevice(**rank, wish.device);
    if (!device)
        return usageError(streams, device.error().message);
    answer.device = (*rank)->snapshot->devices[*device].ordinal;
    auto simulation = Simulation::build((*rank)->devices[*device], terminalJob());
    if (!simulation)
        return refuse(streams, wish, answer.path, simulation.error());
    answer.simulation = std::move(simulation).value();
    RunConfig config = configFor(wish.config, file, streams.err);
    config.addSnapshot(*(*rank)->snapshot);
    if (const Result<void> done = predict(answer, wish, config); !done)
        return done.error().code == ErrorCode::Usage ? usageError(streams, done.error().message)
                                                     : refuse(streams, wish, answer.path, done.error());
    if (wish.json)
        printJson(streams.out, answer, wish);
    else
        printText(streams.out, answer, wish);
    return exitStatus::done;
}

int run(const Arguments& arguments, CommandStreams& streams)
{
    Wish wish;
    if (const auto failed = readWish(arguments, streams, wish))
        return *failed;
    AllocatorSettings trial; // wrong settings are said before a large file is read
    if (const Result<void> done = change(trial, wish); !done)
        return usageError(streams, done.error().message);
    const auto files = expandPaths(arguments.paths());
    if (!files)
        return refuse(streams, wish, arguments.paths().front().string(), files.error());
    if (files->size() != 1)
        return usageError(
            streams, "simulate needs one file, and the folder holds " + std::to_string(files->size()));
    return simulate(files->front(), arguments, streams, wish);
}

} // namespace

const Command simulateCommand{"simulate", "PATH [--set KEY=VALUE]… [--search] [--json]",
    "the recorded requests under other allocator settings: would it have fitted, and with how much reserved",
    options, run};

} // namespace tidemark
