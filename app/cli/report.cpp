// SPDX-License-Identifier: GPL-3.0-or-later
// tidemark report: a report to share.
#include "app/cli/command.hpp"

#include "app/cli/report_pictures.hpp"
#include "app/version.hpp"
#include "model/core/text.hpp"
#include "model/report/exporter.hpp"
#include "model/report/report.hpp"
#include "model/report/session_file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ostream>

namespace tidemark {

extern const Command reportCommand;

namespace {

constexpr std::array options{
    CommandOption{"-o", "FILE", "what to write: .html, .md or .json"},
    CommandOption{"--compare", "B", "another run, to be compared with (B − A)"},
    CommandOption{"--session", "FILE", "a session: its files, notes, title and parts, unless given here"},
    CommandOption{"--redact", nullptr, "leave out folders, users, hosts and attached texts; hash functions"},
    CommandOption{"--parts", "A,B,…", "only these parts, in this order (default: all)"},
    CommandOption{"--title", "TEXT", "instead of the verdict"},
    CommandOption{"--summary", "TEXT", "a paragraph below the title"},
    CommandOption{"--top", "K", "rows of a table (default: 20); what is left out is summed up"},
    CommandOption{"--device", "D", "device ordinal (default: the busiest one)"},
    CommandOption{"--device-total", "BYTES", "size of the card, as the driver reports it"},
    CommandOption{"--with-time", nullptr, "tell when the report was written"},
    CommandOption{"--no-pictures", nullptr, "text and tables only"},
    configOption,
    envOption,
    rulesOption,
    partialOption,
};

Error usage(std::string message)
{
    return {ErrorCode::Usage, std::move(message), std::nullopt};
}

/// What is wanted, checked before any snapshot is read.
struct Wish {
    report::ReportWish report;
    report::SessionFile session;
    std::vector<std::filesystem::path> paths;
    std::optional<std::filesystem::path> compare;
    std::filesystem::path out;
    const report::Exporter* exporter = nullptr;
    std::optional<std::int64_t> device;
    DiagnosisOptions diagnosis;
    RunConfig config;
    ReadOptions read;
    bool pictures = true;
};

Result<std::vector<report::Part>> partsOf(const std::vector<std::string>& names)
{
    std::vector<report::Part> parts;
    for (const std::string& name : names) {
        const auto part = report::partFromName(name);
        if (!part) {
            std::string known;
            for (const report::Part each : report::allParts())
                known += (known.empty() ? "" : ", ") + std::string(report::partName(each));
            return usage("there is no part \"" + displayText(name, 40) + "\"; parts are " + known);
        }
        parts.push_back(*part);
    }
    return parts;
}

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> out;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(',', from), text.size());
        if (end > from)
            out.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return out;
}

Result<void> readTarget(const Arguments& arguments, Wish& wish)
{
    const auto out = arguments.value("-o");
    if (!out)
        return usage("report needs -o FILE");
    wish.out = *out;
    wish.exporter = report::exporterFor(wish.out);
    if (wish.exporter != nullptr)
        return {};
    std::string extension = wish.out.extension().string();
    if (extension == ".pdf" || extension == ".PDF")
        return usage("this command does not write PDF yet: write .html and print it from a browser");
    return usage("-o needs a name that ends in .html, .md or .json, not \"" + displayText(*out, 60) + "\"");
}

/// A path in a session file is meant from where that file lies.
std::filesystem::path besideSession(const std::filesystem::path& session, const std::string& path)
{
    const std::filesystem::path given(path);
    return given.is_absolute() ? given : session.parent_path() / given;
}

Result<void> readSessionOf(const std::filesystem::path& file, Wish& wish, CommandStreams& streams)
{
    auto read = report::readSession(file);
    if (!read)
        return read.error();
    for (const std::string& problem : read->problems)
        printError(streams.err, file.string(), {ErrorCode::Damaged, "warning: " + problem, std::nullopt});
    wish.session = std::move(read->session);
    report::SessionFile& session = wish.session;
    const auto check = [&](const report::SessionInput& input, const std::filesystem::path& path) {
        const auto hash = input.hash.empty() ? Result<std::string>(std::string()) : report::contentHash(path);
        if (hash && *hash != input.hash)
            printError(streams.err, path.string(),
                {ErrorCode::Damaged, "warning: the file is not the one the session was made with.",
                    std::nullopt});
    };
    for (const report::SessionInput& input : session.inputs) {
        const std::filesystem::path path = besideSession(file, input.path);
        check(input, path);
        if (wish.paths.empty() || wish.paths.size() < session.inputs.size())
            wish.paths.push_back(path);
    }
    if (!wish.compare && !session.compare.empty())
        wish.compare = besideSession(file, session.compare.front().path);
    for (const std::string& each : {session.config, session.env})
        if (!each.empty())
            if (const auto added = wish.config.addFile(besideSession(file, each)); !added)
                return added.error();
    if (!wish.diagnosis.deviceTotal)
        wish.diagnosis.deviceTotal = session.cardBytes;
    if (!wish.device)
        wish.device = session.device;
    if (wish.report.title.empty())
        wish.report.title = session.title;
    if (wish.report.summary.empty())
        wish.report.summary = session.summary;
    return {};
}

Result<void> readNumbers(const Arguments& arguments, Wish& wish)
{
    const auto top = arguments.number("--top");
    const auto device = arguments.number("--device");
    const auto total = arguments.number("--device-total");
    for (const auto* each : {&top, &device, &total})
        if (!*each)
            return each->error();
    if (*top && (**top < 1 || **top > 10000))
        return usage("--top needs a number from 1 to 10,000");
    if (*total && **total <= 0)
        return usage("--device-total needs a number of bytes above 0");
    if (*top)
        wish.report.topRows = static_cast<std::size_t>(**top);
    if (*total)
        wish.diagnosis.deviceTotal = static_cast<std::uint64_t>(**total);
    wish.device = *device;
    return {};
}

Result<void> readWish(const Arguments& arguments, CommandStreams& streams, Wish& wish)
{
    if (const auto target = readTarget(arguments, wish); !target)
        return target.error();
    if (const auto numbers = readNumbers(arguments, wish); !numbers)
        return numbers.error();
    wish.report.title = arguments.value("--title").value_or("");
    wish.report.summary = arguments.value("--summary").value_or("");
    wish.report.includeTime = arguments.has("--with-time");
    if (arguments.has("--redact"))
        wish.report.redaction = report::Redaction::full();
    wish.read = arguments.readOptions();
    wish.pictures = !arguments.has("--no-pictures");
    if (const auto other = arguments.value("--compare"))
        wish.compare = *other;
    std::vector<std::string> names = split(arguments.value("--parts").value_or(""));
    if (const auto session = arguments.value("--session")) {
        if (const auto read = readSessionOf(*session, wish, streams); !read)
            return read.error();
        if (names.empty())
            names = wish.session.parts;
    }
    if (!arguments.paths().empty())
        wish.paths = arguments.paths();
    if (wish.paths.empty())
        return usage("report needs a file or folder; see tidemark report --help");
    if (!names.empty()) {
        auto parts = partsOf(names);
        if (!parts)
            return parts.error();
        wish.report.parts = std::move(*parts);
    }
    const auto rules = arguments.labelRules();
    if (!rules)
        return rules.error();
    wish.diagnosis.rules = *rules;
    return {};
}

/// Reads the files of a run one after the other and keeps the one a report is about: the first that ran out
/// of memory, else the fullest.
class RunReader {
public:
    RunReader(const Wish& wish, CommandStreams& streams)
        : m_wish(wish)
        , m_streams(streams)
    { }

    void read()
    {
        for (const std::filesystem::path& given : m_wish.paths) {
            const auto files = expandPaths(std::span(&given, 1));
            if (!files) {
                refuse(given, files.error());
                continue;
            }
            std::error_code ignored;
            const bool folder = std::filesystem::is_directory(given, ignored);
            for (const std::filesystem::path& file : *files)
                if (!folder || (!isConfigFile(file) && file.extension() != ".tidemark"))
                    keep(file);
        }
    }

    std::shared_ptr<const Diagnosis> diagnosed(const std::filesystem::path& file)
    {
        const auto rank = openRank(file, m_wish.read, terminalJob());
        if (!rank) {
            refuse(file, rank.error());
            return nullptr;
        }
        warnIfPartial(m_streams, file.string(), *(*rank)->snapshot);
        DiagnosisOptions wanted = m_wish.diagnosis;
        wanted.rank = rankFromName(file.string());
        wanted.config = configFor(m_wish.config, file, m_streams.err);
        return diagnose(*rank, wanted, terminalJob());
    }

    std::shared_ptr<const Diagnosis> best; ///< null: nothing could be read
    std::filesystem::path bestFile;
    std::vector<report::RankRow> rows;
    std::size_t refused = 0;

private:
    void refuse(const std::filesystem::path& file, const Error& error)
    {
        ++refused;
        printError(m_streams.err, file.string(), error);
        report::RankRow row;
        row.name = file.filename().string();
        row.rank = rankFromName(row.name);
        row.problem = error.message;
        rows.push_back(std::move(row));
    }

    void keep(const std::filesystem::path& file)
    {
        auto diagnosis = diagnosed(file);
        if (!diagnosis)
            return;
        rows.push_back(report::rankRow(*diagnosis));
        const report::RankRow& row = rows.back();
        if (best && (m_failed || !row.failed) && (row.failed != m_failed || row.peak <= m_peak))
            return;
        best = std::move(diagnosis);
        bestFile = file;
        m_failed = row.failed;
        m_peak = row.peak;
    }

    const Wish& m_wish;
    CommandStreams& m_streams;
    bool m_failed = false;
    std::int64_t m_peak = 0;
};

/// Position of a file among a session's inputs; the first where there is no session.
std::uint32_t inputOf(const report::SessionFile& session, const std::filesystem::path& file)
{
    for (std::size_t i = 0; i < session.inputs.size(); ++i)
        if (std::filesystem::path(session.inputs[i].path).filename() == file.filename())
            return static_cast<std::uint32_t>(i);
    return 0;
}

/// The other side of --compare; an error said already.
std::shared_ptr<const compare::Comparison> comparedWith(const report::ReportInput& input,
    const std::filesystem::path& bestFile, const Wish& wish, RunReader& reader)
{
    const auto diagnosis = reader.diagnosed(*wish.compare);
    if (!diagnosis || diagnosis->rank->devices.empty() || input.rank->devices.empty())
        return nullptr;
    compare::Side a;
    a.rank = input.rank;
    a.device = input.device;
    a.diagnosis = input.diagnosis;
    compare::Side b;
    b.rank = diagnosis->rank;
    b.device = diagnosis->rank->mainDevice();
    b.diagnosis = diagnosis;
    std::tie(a.label, b.label) = compare::distinctNames(bestFile, *wish.compare);
    return compare::compareSides(std::move(a), std::move(b), {}, terminalJob());
}

int write(const report::ReportInput& input, const Wish& wish, CommandStreams& streams)
{
    std::unique_ptr<report::Pictures> pictures;
    if (wish.pictures && wish.exporter->extension != std::string_view(".md"))
        pictures = viewPictures();
    const auto document = report::buildReport(input, wish.report, pictures.get(), terminalJob());
    if (const auto written = report::writeWhole(wish.out, wish.exporter->write(*document)); !written) {
        printError(streams.err, "", written.error());
        return exitStatus::nothingRead;
    }
    streams.out << displayText(wish.out.string()) << '\n';
    return exitStatus::done;
}

int run(const Arguments& arguments, CommandStreams& streams)
{
    Wish wish;
    if (const auto failed = readConfig(arguments, streams, wish.config))
        return *failed;
    if (const auto read = readWish(arguments, streams, wish); !read) {
        if (read.error().code == ErrorCode::Usage)
            return usageError(streams, read.error().message);
        printError(streams.err, "", read.error());
        return exitStatus::nothingRead;
    }
    RunReader reader(wish, streams);
    reader.read();
    if (!reader.best) {
        if (reader.refused == 0)
            printError(streams.err, "",
                {ErrorCode::NotFound, "there are no files in the given folders.", std::nullopt});
        return exitStatus::nothingRead;
    }
    report::ReportInput input;
    input.rank = reader.best->rank;
    input.diagnosis = reader.best;
    if (!input.rank->devices.empty()) {
        const Result<std::size_t> device = chosenDevice(*input.rank, wish.device);
        if (!device)
            return usageError(streams, device.error().message);
        input.device = *device;
    }
    input.deviceTotal = wish.diagnosis.deviceTotal;
    input.ranks = reader.rows;
    input.annotations = wish.session.annotations;
    input.inputIndex = inputOf(wish.session, reader.bestFile);
    input.program = std::string("tidemark ") + versionText();
    if (wish.report.includeTime)
        input.nowUs = std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::system_clock::now().time_since_epoch())
                          .count();
    if (wish.compare)
        input.comparison = comparedWith(input, reader.bestFile, wish, reader);
    const int status = write(input, wish, streams);
    return status == exitStatus::done && reader.refused > 0 ? exitStatus::someNotRead : status;
}

} // namespace

const Command reportCommand{"report", "PATH… [--compare B] [--redact] -o FILE.{html,md,json}",
    "a report to share: the verdict, figures, findings with fixes, what is live at the peak", options, run};

} // namespace tidemark
