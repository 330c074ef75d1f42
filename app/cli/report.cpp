// SPDX-License-Identifier: GPL-3.0-or-later
// tidemark report: a report to share.
#include "app/cli/command.hpp"

#include "app/cli/offscreen_gui.hpp"
#include "app/cli/report_wish.hpp"
#include "app/render/report_pictures.hpp"
#include "app/version.hpp"
#include "model/core/text.hpp"
#include "model/job/run_texts.hpp"
#include "model/report/exporter.hpp"
#include "model/report/report.hpp"
#include "model/report/session_file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <ostream>

namespace tidemark {

extern const Command reportCommand;

namespace {

constexpr std::array options{
    CommandOption{"-o", "FILE", "what to write: .html, .md, .json or .pdf"},
    CommandOption{"--paper", "P", "of a PDF: a4 (default) or letter"},
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
    eventsOption,
};

/// Reads the files of a run one after the other and keeps the one a report is about: the first that ran out
/// of memory, else the fullest.
class RunReader {
public:
    RunReader(const ReportCall& wish, CommandStreams& streams)
        : m_wish(wish)
        , m_streams(streams)
    { }

    void read()
    {
        for (const std::filesystem::path& given : m_wish.paths) {
            std::error_code ignored;
            if (!std::filesystem::is_directory(given, ignored)) {
                keep(given);
                continue;
            }
            // As the window finds ranks: of several files of a rank one, and none of what lies beside them.
            const auto found = discover(std::span(&given, 1), m_wish.config, terminalJob());
            if (!found) {
                refuse(given, found.error());
                continue;
            }
            for (const RankFiles& rank : found->ranks)
                if (rank.chosen().kind == RankFileKind::Snapshot)
                    keep(rank.chosen().path);
            for (const BadFile& bad : found->bad)
                refuse(bad.path, bad.error);
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
    std::size_t refused = 0;

    /// What is known of all files together; null for one.
    std::shared_ptr<const SummarisedJob> job()
    {
        if (m_summaries.size() + m_failures.size() < 2)
            return nullptr;
        auto found = discover(m_wish.paths, m_wish.config, terminalJob());
        if (!found)
            return nullptr;
        return std::make_shared<const SummarisedJob>(
            combined(std::move(*found), std::move(m_summaries), std::move(m_failures), m_wish.config));
    }

private:
    void refuse(const std::filesystem::path& file, const Error& error)
    {
        ++refused;
        m_failures.emplace_back(file, error);
        printError(m_streams.err, file.string(), error);
    }

    void keep(const std::filesystem::path& file)
    {
        auto diagnosis = diagnosed(file);
        if (!diagnosis)
            return;
        SummaryOrigin origin;
        origin.file = file;
        origin.rank = rankFromName(file.string());
        origin.rankFrom = origin.rank ? "file name" : "";
        origin.cardBytes = m_wish.diagnosis.deviceTotal;
        m_summaries.push_back(makeSummary(*diagnosis, origin));
        const report::RankRow row = report::rankRow(*diagnosis);
        if (m_looksAt)
            return;
        m_looksAt = isLookedAt(file);
        if (best && !m_looksAt && (m_failed || !row.failed) && (row.failed != m_failed || row.peak <= m_peak))
            return;
        best = std::move(diagnosis);
        bestFile = file;
        m_failed = row.failed;
        m_peak = row.peak;
    }

    /// The file that a session shows is what its report is about.
    bool isLookedAt(const std::filesystem::path& file) const
    {
        const auto& inputs = m_wish.session.inputs;
        if (m_wish.session.current >= inputs.size())
            return false;
        const std::filesystem::path given(inputs[m_wish.session.current].path);
        const auto shown = given.is_absolute() ? given : m_wish.sessionFile.parent_path() / given;
        std::error_code ignored;
        return std::filesystem::equivalent(shown, file, ignored);
    }

    const ReportCall& m_wish;
    CommandStreams& m_streams;
    bool m_looksAt = false; ///< `best` is what a session shows
    std::vector<RankSummary> m_summaries;
    std::vector<std::pair<std::filesystem::path, Error>> m_failures;
    bool m_failed = false;
    std::int64_t m_peak = 0;
};

/// The file of the call that is the same as `file`; reports never replace what they are made from.
std::optional<std::filesystem::path> inputThatIs(const ReportCall& wish, const std::filesystem::path& file)
{
    std::vector<std::filesystem::path> all = wish.paths;
    if (wish.compare)
        all.push_back(*wish.compare);
    if (!wish.sessionFile.empty())
        all.push_back(wish.sessionFile);
    all.insert(all.end(), wish.given.begin(), wish.given.end());
    for (const std::filesystem::path& each : all) {
        std::error_code ignored;
        if (std::filesystem::equivalent(each, file, ignored))
            return each;
        if (std::filesystem::is_directory(each, ignored))
            if (const auto files = expandPaths(std::span(&each, 1)))
                for (const std::filesystem::path& inside : *files)
                    if (std::filesystem::equivalent(inside, file, ignored))
                        return inside;
    }
    return std::nullopt;
}

/// Position of a file among a session's inputs; the first where there is no session.
std::uint32_t inputOf(const report::SessionFile& session, const std::filesystem::path& file)
{
    for (std::size_t i = 0; i < session.inputs.size(); ++i)
        if (std::filesystem::path(session.inputs[i].path).filename() == file.filename())
            return static_cast<std::uint32_t>(i);
    return 0;
}

/// Of a folder, the file of the same rank or else of the same name; anything else is meant itself.
std::filesystem::path partnerIn(const std::filesystem::path& given, const std::filesystem::path& bestFile)
{
    std::error_code ignored;
    if (!std::filesystem::is_directory(given, ignored))
        return given;
    const auto files = expandPaths(std::span(&given, 1));
    if (!files)
        return given;
    const auto rank = rankFromName(bestFile.string());
    for (const std::filesystem::path& file : *files)
        if (file.filename() == bestFile.filename())
            return file;
    for (const std::filesystem::path& file : *files)
        if (rank && rankFromName(file.string()) == rank)
            return file;
    return given;
}

/// The other side of --compare; an error said already.
std::shared_ptr<const compare::Comparison> comparedWith(const report::ReportInput& input,
    const std::filesystem::path& bestFile, const ReportCall& wish, RunReader& reader)
{
    const auto other = partnerIn(*wish.compare, bestFile);
    const auto diagnosis = reader.diagnosed(other);
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
    std::tie(a.label, b.label) = compare::distinctNames(bestFile, other);
    return compare::compareSides(std::move(a), std::move(b), {}, terminalJob());
}

int write(const report::ReportInput& input, const ReportCall& wish, CommandStreams& streams)
{
    const bool draws = wish.pictures && wish.format->pictures;
    std::optional<OffscreenGui> gui; // fonts and views, without a display
    if (draws || wish.format->paper)
        gui.emplace();
    ViewPictures pictures(wish.format->paper);
    const auto document = report::buildReport(input, wish.report, draws ? &pictures : nullptr, terminalJob());
    const std::string bytes = wish.format->write(*document, wish.paper, terminalJob());
    if (const auto written = report::writeWhole(wish.out, bytes); !written) {
        printError(streams.err, "", written.error());
        return exitStatus::nothingRead;
    }
    streams.out << displayText(wish.out.string()) << '\n';
    return exitStatus::done;
}

int run(const Arguments& arguments, CommandStreams& streams)
{
    ReportCall wish;
    if (const auto failed = readConfig(arguments, streams, wish.config))
        return *failed;
    if (const auto read = readReportWish(arguments, streams, wish); !read) {
        if (read.error().code == ErrorCode::Usage)
            return usageError(streams, read.error().message);
        printError(streams.err, "", read.error());
        return exitStatus::nothingRead;
    }
    if (const auto input = inputThatIs(wish, wish.out))
        return usageError(streams,
            "-o names " + displayText(input->string())
                + ", which the report is made from: choose another name");
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
    addJob(input, reader.job());
    input.annotations = wish.session.annotations;
    input.inputIndex = inputOf(wish.session, reader.bestFile);
    for (const report::SessionInput& each : wish.session.inputs)
        input.inputNames.push_back(std::filesystem::path(each.path).filename().string());
    input.program = std::string("tidemark ") + versionText();
    if (wish.report.includeTime)
        input.nowUs = std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::system_clock::now().time_since_epoch())
                          .count();
    if (wish.compare) {
        input.comparison = comparedWith(input, reader.bestFile, wish, reader);
        if (!input.comparison) // what was asked for cannot be told: nothing is written
            return exitStatus::nothingRead;
    }
    const int status = write(input, wish, streams);
    return status == exitStatus::done && reader.refused > 0 ? exitStatus::someNotRead : status;
}

} // namespace

const Command reportCommand{"report", "PATH… [--compare B] [--redact] -o FILE.{html,md,json,pdf}",
    "a report to share: the verdict, figures, findings with fixes, what is live at the peak", options, run};

} // namespace tidemark
