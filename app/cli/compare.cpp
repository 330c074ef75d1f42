// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.hpp"
#include "model/compare/several.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>
#include <tuple>

namespace tidemark {

extern const Command compareCommand;

namespace {

constexpr std::size_t defaultRows = 5;

constexpr std::array options{
    CommandOption{"--fail-if-peak-grows", "PERCENT",
        "exit status 1 when B's live peak is more than PERCENT above A's (on any rank)"},
    CommandOption{"--align", "HOW", "align by step, mark, peak, event or time; the best one otherwise"},
    CommandOption{"--by", "KEY", "compare by site (default), stack, label, role or size"},
    CommandOption{"--at", "A:B", "compare event A of A with event B of B instead of the peaks"},
    CommandOption{"--device", "D", "device ordinal on both sides, -1 for pinned host memory"},
    CommandOption{"--top", "K", "list the K largest differences, sum up the others (text: 5, JSON: all)"},
    jsonOption, rulesOption, partialOption, eventsOption};

struct GroupName {
    const char* name;
    GroupBy by;
};
constexpr std::array groupNames{GroupName{"site", GroupBy::Site}, GroupName{"stack", GroupBy::Stack},
    GroupName{"label", GroupBy::Label}, GroupName{"role", GroupBy::Role}, GroupName{"size", GroupBy::Size}};

Error usage(std::string message)
{
    return {ErrorCode::Usage, std::move(message), std::nullopt};
}

struct Wish {
    compare::Wish compare;
    std::optional<std::pair<std::int64_t, std::int64_t>> events;
    std::optional<double> limit;
    std::optional<std::int64_t> device;
    std::optional<std::size_t> top;
    std::shared_ptr<const LabelRules> rules;
    ReadOptions read;
    bool json = false;
};

template <typename Number>
bool parse(std::string_view text, Number& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

Result<double> percentOf(std::string_view text)
{
    const std::string given = displayText(text, 40);
    if (text.ends_with('%'))
        text.remove_suffix(1);
    double percent = 0;
    if (!parse(text, percent) || !(percent >= 0 && percent < 1e9))
        return usage("--fail-if-peak-grows needs a number of percent from 0 on, not \"" + given + "\"");
    return percent;
}

Result<std::pair<std::int64_t, std::int64_t>> eventsOf(std::string_view text)
{
    const std::size_t colon = text.find(':');
    std::pair<std::int64_t, std::int64_t> events;
    if (colon == std::string_view::npos || !parse(text.substr(0, colon), events.first)
        || !parse(text.substr(colon + 1), events.second) || events.first < beforeFirst
        || events.second < beforeFirst)
        return usage("--at needs two events, such as 120:140, not \"" + displayText(text, 40) + "\"");
    return events;
}

Result<Wish> wishOf(const Arguments& arguments)
{
    Wish wish;
    if (arguments.paths().size() != 2)
        return usage("compare needs two files or two folders, A and B");
    if (const auto text = arguments.value("--fail-if-peak-grows")) {
        const Result<double> percent = percentOf(*text);
        if (!percent)
            return percent.error();
        wish.limit = *percent;
    }
    if (const auto name = arguments.value("--align")) {
        wish.compare.align = compare::alignFromName(*name);
        if (!wish.compare.align)
            return usage(
                "--align knows step, mark, peak, event and time, not \"" + displayText(*name, 40) + "\"");
    }
    if (const auto name = arguments.value("--by")) {
        const auto known = std::find_if(
            groupNames.begin(), groupNames.end(), [&](const GroupName& each) { return *name == each.name; });
        if (known == groupNames.end())
            return usage(
                "--by knows site, stack, label, role and size, not \"" + displayText(*name, 40) + "\"");
        wish.compare.by = known->by;
    }
    if (const auto text = arguments.value("--at")) {
        const auto events = eventsOf(*text);
        if (!events)
            return events.error();
        wish.events = *events;
    }
    const auto device = arguments.number("--device");
    const auto top = arguments.number("--top");
    for (const Error* error : {device ? nullptr : &device.error(), top ? nullptr : &top.error()})
        if (error != nullptr)
            return *error;
    wish.device = *device;
    if (*top && **top < 0)
        return usage("--top needs a number from 0 on");
    if (*top)
        wish.top = static_cast<std::size_t>(**top);
    wish.read = arguments.readOptions();
    wish.json = arguments.has(jsonOption.name);
    return wish;
}

/// The snapshots of a path: a file, or those of a folder.
Result<std::vector<std::filesystem::path>> snapshotsOf(const std::filesystem::path& path)
{
    auto files = expandPaths(std::span(&path, 1));
    std::error_code ignored;
    if (files && std::filesystem::is_directory(path, ignored))
        std::erase_if(*files, [](const std::filesystem::path& file) { return isConfigFile(file); });
    return files;
}

class Comparer {
public:
    Comparer(const Wish& wish, CommandStreams& streams)
        : m_wish(wish)
        , m_streams(streams)
    { }

    int files(const std::filesystem::path& a, const std::filesystem::path& b)
    {
        const auto comparison = pair(a, b);
        if (!comparison)
            return m_usage ? exitStatus::wrongUsage : exitStatus::nothingRead;
        if (m_wish.json)
            m_streams.out << compareJson(*comparison, m_wish.top) << '\n';
        else
            m_streams.out << compareText(*comparison, m_wish.top.value_or(defaultRows));
        return status();
    }

    int folders(const std::vector<std::filesystem::path>& a, const std::vector<std::filesystem::path>& b)
    {
        m_inFolders = true;
        const compare::RankPairs pairs = compare::pairRanks(a, b);
        compare::FolderComparison folder;
        std::vector<std::string> json;
        std::string most; // of the pair that differs most
        for (const std::size_t i : pairs.onlyA)
            folder.onlyA.push_back(a[i].filename().string());
        for (const std::size_t i : pairs.onlyB)
            folder.onlyB.push_back(b[i].filename().string());
        for (const compare::RankPairs::Pair& each : pairs.pairs) {
            const auto comparison = pair(a[each.a], b[each.b]);
            if (m_usage)
                return exitStatus::wrongUsage;
            if (!comparison)
                continue;
            folder.lines.push_back(compare::rankLine(each.label, *comparison));
            if (m_wish.json)
                json.push_back(compareJson(*comparison, m_wish.top));
            else if (folder.largest() == folder.lines.size() - 1)
                most = compareText(*comparison, m_wish.top.value_or(defaultRows));
        }
        if (folder.lines.empty()) {
            if (m_refused == 0)
                printError(m_streams.err, "",
                    {ErrorCode::NotFound, "no file of A has a partner in B.", std::nullopt});
            return exitStatus::nothingRead;
        }
        if (m_wish.json)
            m_streams.out << folder.json(json) << '\n';
        else
            m_streams.out << folder.text() << '\n' << most;
        return status();
    }

private:
    int status()
    {
        if (m_passed)
            return exitStatus::limitPassed;
        return m_refused > 0 ? exitStatus::someNotRead : exitStatus::done;
    }

    std::optional<compare::Side> side(const std::filesystem::path& file)
    {
        const std::string path = file.string();
        const auto rank = openRank(file, m_wish.read, terminalJob());
        if (!rank && m_inFolders && rank.error().code == ErrorCode::NotASnapshot) {
            m_streams.err << "tidemark: left out, no snapshot: " << displayText(path) << '\n';
            return std::nullopt;
        }
        if (!rank) {
            printError(m_streams.err, path, rank.error());
            ++m_refused;
            return std::nullopt;
        }
        warnIfPartial(m_streams, path, *(*rank)->snapshot);
        if ((*rank)->devices.empty()) {
            printError(m_streams.err, path,
                {ErrorCode::Unsupported, "the file lists no allocations, so there is nothing to compare.",
                    std::nullopt});
            ++m_refused;
            return std::nullopt;
        }
        const Result<std::size_t> device = chosenDevice(**rank, m_wish.device);
        if (!device) {
            usageError(m_streams, device.error().message);
            m_usage = true;
            return std::nullopt;
        }
        DiagnosisOptions wanted;
        wanted.rules = m_wish.rules;
        wanted.rank = rankFromName(path);
        wanted.config = configFor({}, file, m_streams.err);
        compare::Side side;
        side.rank = *rank;
        side.device = *device;
        side.diagnosis = diagnose(*rank, wanted, terminalJob());
        return side;
    }

    /// --at as states; a usage error where a trace does not reach that far.
    bool place(const compare::Side& side, std::int64_t event, std::optional<StateIndex>& state)
    {
        const std::int64_t first = side.replay().device().firstEventInFile;
        const std::int64_t behind = first + static_cast<std::int64_t>(side.replay().states()) - 1;
        if (event >= behind || event < first - 1) {
            usageError(m_streams,
                "--at names event " + std::to_string(event) + ", but " + displayText(side.name(), 80)
                    + " has "
                    + (first > 0 ? std::to_string(first) + " to " + std::to_string(behind - 1)
                                 : std::to_string(behind)));
            m_usage = true;
            return false;
        }
        state = stateOf(event - first);
        return true;
    }

    std::shared_ptr<const compare::Comparison> pair(
        const std::filesystem::path& fileA, const std::filesystem::path& fileB)
    {
        std::optional<compare::Side> a = side(fileA);
        if (m_usage)
            return nullptr;
        std::error_code ignored;
        const bool oneFile = std::filesystem::equivalent(fileA, fileB, ignored);
        std::optional<compare::Side> b = oneFile ? a : side(fileB);
        if (!a || !b || m_usage)
            return nullptr;
        if (!oneFile)
            std::tie(a->label, b->label) = compare::distinctNames(fileA, fileB);
        compare::Wish wish = m_wish.compare;
        if (m_wish.events
            && !(place(*a, m_wish.events->first, wish.stateA)
                && place(*b, m_wish.events->second, wish.stateB)))
            return nullptr;
        const auto comparison = compareSides(*a, *b, wish, terminalJob());
        if (m_wish.limit && peakGrowsBeyond(*comparison, *m_wish.limit)) {
            m_passed = true;
            m_streams.err << "tidemark: the peak grows from " << formatBytes(comparison->peak.a) << " to "
                          << formatBytes(comparison->peak.b)
                          << ", beyond the limit: " << displayText(fileB.string()) << '\n';
        }
        return comparison;
    }

    const Wish& m_wish;
    CommandStreams& m_streams;
    std::size_t m_refused = 0;
    bool m_usage = false;
    bool m_inFolders = false; ///< other files may lie there
    bool m_passed = false;
};

int run(const Arguments& arguments, CommandStreams& streams)
{
    Result<Wish> wish = wishOf(arguments);
    if (!wish)
        return usageError(streams, wish.error().message);
    const auto rules = arguments.labelRules();
    if (!rules) {
        printError(streams.err, "", rules.error());
        return exitStatus::wrongUsage;
    }
    wish->rules = *rules;
    std::array<std::vector<std::filesystem::path>, 2> files;
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto found = snapshotsOf(arguments.paths()[i]);
        if (!found) {
            printError(streams.err, arguments.paths()[i].string(), found.error());
            return exitStatus::nothingRead;
        }
        files[i] = std::move(found).value();
    }
    Comparer comparer(*wish, streams);
    std::error_code ignored;
    const bool folderA = std::filesystem::is_directory(arguments.paths()[0], ignored);
    const bool folderB = std::filesystem::is_directory(arguments.paths()[1], ignored);
    if (folderA && folderB)
        return comparer.folders(files[0], files[1]);
    if (files[0].size() != 1 || files[1].size() != 1)
        return usageError(
            streams, "compare needs two files or two folders, and one folder holds several files");
    return comparer.files(files[0].front(), files[1].front());
}

} // namespace

const Command compareCommand{"compare", "A B [--fail-if-peak-grows PERCENT] [--json]",
    "what differs between two runs, by how much, and where in the code; folders rank by rank", options, run};

} // namespace tidemark
