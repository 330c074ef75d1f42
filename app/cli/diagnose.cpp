// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.hpp"
#include "app/cli/figures_json.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/findings/diagnosis.hpp"
#include "model/findings/peers_advice.hpp"
#include "model/findings/verdict_line.hpp"
#include "model/job/digest.hpp"
#include "model/job/summarise.hpp"

#include <array>
#include <fstream>
#include <ostream>
#include <sstream>

namespace tidemark {

extern const Command diagnoseCommand;

namespace {

constexpr std::array options{configOption, envOption,
    CommandOption{"--device-total", "BYTES", "size of the card, as the driver reports it"}, rulesOption,
    jsonOption, partialOption, eventsOption};

/// What holds for every file of the call.
struct Wish {
    RunConfig config;
    std::optional<std::uint64_t> deviceTotal;
    std::shared_ptr<const LabelRules> rules;
    ReadOptions read;
    bool json = false;
};

/// Reads the options; a wrong file among them is said in `streams` and gives its exit status.
std::optional<int> readWish(const Arguments& arguments, CommandStreams& streams, Wish& wish)
{
    const auto total = arguments.number("--device-total");
    if (!total)
        return usageError(streams, total.error().message);
    if (*total && **total <= 0)
        return usageError(streams, "--device-total needs a number of bytes above 0");
    if (*total)
        wish.deviceTotal = static_cast<std::uint64_t>(**total);
    wish.read = arguments.readOptions();
    wish.json = arguments.has(jsonOption.name);
    if (const auto failed = readConfig(arguments, streams, wish.config))
        return failed;
    const auto rules = arguments.labelRules();
    if (!rules)
        return usageError(streams, rules.error().message);
    wish.rules = *rules;
    return std::nullopt;
}

std::string indented(const std::string& text)
{
    return "    " + displayText(text) + "\n";
}

void printFix(std::ostream& out, const Fix& fix)
{
    out << "    fix   " << displayText(fix.text);
    if (fix.removedAtPeak)
        out << " Removes " << formatBytes(*fix.removedAtPeak) << " at the peak";
    if (fix.newPeak)
        out << (fix.removedAtPeak ? ", " : " ") << "new peak " << formatBytes(*fix.newPeak);
    if (!fix.newPeakOwner.empty())
        out << " (" << displayText(fix.newPeakOwner) << ")";
    out << " [" << static_cast<char>(fix.grade) << "]\n";
    if (!fix.cost.empty())
        out << "          cost: " << displayText(fix.cost) << '\n';
    if (!fix.blockedBy.empty())
        out << "          not here: " << displayText(fix.blockedBy) << '\n';
}

void printFinding(std::ostream& out, const Finding& finding)
{
    out << severityName(finding.severity) << ": " << displayText(finding.title) << '\n'
        << "    rule  " << finding.rule;
    if (!finding.playbook.empty())
        out << " (playbook " << finding.playbook << ")";
    out << ", " << deviceName(finding.device) << ", "
        << formatExactBytes(static_cast<std::int64_t>(finding.bytes)) << ", grade "
        << static_cast<char>(finding.grade);
    if (finding.eventRange) {
        const auto [first, last] = finding.eventsInFile();
        out << ", event" << (first == last ? " " : "s ") << formatCount(first);
        if (first != last)
            out << " to " << formatCount(last);
    }
    out << '\n' << indented(finding.explanation);
    for (const Fix& fix : finding.fixes)
        printFix(out, fix);
}

void printChecks(std::ostream& out, const std::vector<ConfigCheck>& checks)
{
    std::string unknown;
    for (const ConfigCheck& check : checks) {
        if (check.level == CheckLevel::Unknown) {
            unknown += (unknown.empty() ? "" : ", ") + check.id;
            continue;
        }
        out << "setting     " << check.id << " " << checkLevelName(check.level) << ": "
            << displayText(check.text) << '\n';
    }
    if (!unknown.empty())
        out << "setting     not decided for lack of settings: " << unknown << '\n';
}

void printExpectation(std::ostream& out, const Expectation& expectation)
{
    for (const ExpectedClass& each : expectation.classes) {
        out << "estimate    " << each.name << ": " << formatBytes(each.measured) << " at the peak, "
            << formatBytes(each.low);
        if (each.high != each.low)
            out << " to " << formatBytes(each.high);
        out << " expected from the settings" << (each.high != each.low ? ", by pipeline stage" : "") << '\n';
    }
    out << "estimate    " << formatBytes(expectation.otherMeasured)
        << " at the peak is in no class of the estimate\n";
}

void printText(std::ostream& out, const std::string& path, const Diagnosis& diagnosis)
{
    out << displayText(path) << ": " << displayText(verdictLine(diagnosis)) << "\n\n";
    for (const Finding& finding : diagnosis.findings)
        printFinding(out, finding);
    for (const Undecided& each : diagnosis.undecided)
        out << "undecided   " << each.rule << ": " << displayText(each.needs) << '\n';
    for (const QualityNote& note : diagnosis.rank->quality())
        out << "note        " << qualityName(note.id) << ": " << displayText(note.sentence) << '\n';
    printChecks(out, diagnosis.checks);
    if (diagnosis.expectation)
        printExpectation(out, *diagnosis.expectation);
    if (!diagnosis.clear.empty()) {
        out << "clear       ";
        const char* separator = "";
        for (const std::string& rule : diagnosis.clear) {
            out << separator << rule;
            separator = ", ";
        }
        out << '\n';
    }
}

void printRun(std::ostream& out, const std::string& path, const SummarisedJob& all)
{
    const RunDiagnosis& run = all.diagnosis;
    out << displayText(path) << ": " << displayText(run.headline(all.ranks)) << "\n\n";
    for (std::size_t i = 0; i < all.ranks.size(); ++i) {
        const RankSummary& rank = all.ranks[i];
        out << "rank        " << displayText(rank.name());
        if (!run.roles.roles[i].label.empty())
            out << ", " << displayText(run.roles.roles[i].label);
        out << ": live " << formatBytes(rank.live.bytes) << ", reserved "
            << (rank.reserved ? formatBytes(rank.reserved->bytes) : "unknown") << ", headroom "
            << (run.ranks[i].headroom ? formatBytes(*run.ranks[i].headroom) : "unknown")
            << (rank.oom ? ", out of memory" : "") << (run.ranks[i].outlier ? ", stands out" : "") << '\n';
    }
    for (const Finding& finding : run.findings)
        printFinding(out, finding);
    for (const Undecided& each : run.undecided)
        out << "undecided   " << each.rule << ": " << displayText(each.needs) << '\n';
    for (const QualityNote& note : run.quality)
        out << "note        " << qualityName(note.id) << ": " << displayText(note.sentence) << '\n';
}

/// Diagnoses the files of a call one after the other and keeps count.
class Runner {
public:
    Runner(const Wish& wish, CommandStreams& streams)
        : m_wish(wish)
        , m_streams(streams)
    { }

    void path(const std::filesystem::path& given)
    {
        std::error_code ignored;
        if (std::filesystem::is_directory(given, ignored)) {
            folder(given);
            return;
        }
        RankFile file;
        m_amongPeers = false;
        file.path = given;
        file.rank = rankFromName(given.string());
        if (given.extension() == digestEnding)
            file.kind = RankFileKind::Digest;
        one(file);
    }

    int status() const
    {
        if (m_read > 0)
            return m_refused > 0 ? exitStatus::someNotRead : exitStatus::done;
        if (m_refused == 0)
            printError(m_streams.err, "",
                {ErrorCode::NotFound, "there are no files in the given folders.", std::nullopt});
        return exitStatus::nothingRead;
    }

private:
    void refuse(const std::string& path, const Error& error)
    {
        ++m_refused;
        printError(m_streams.err, path, error);
        if (m_wish.json)
            m_streams.out << errorJson(path, error) << '\n';
    }

    /// The files of a folder by rank, the chosen one of each first, and what is said of all of them together.
    void folder(const std::filesystem::path& given)
    {
        auto job = discover(std::span(&given, 1), m_wish.config, terminalJob());
        if (!job) {
            refuse(given.string(), job.error());
            return;
        }
        for (const BadFile& bad : job->bad)
            refuse(bad.path.string(), bad.error);
        m_summaries.clear();
        m_failures.clear();
        m_amongPeers = job->ranks.size() > 1;
        for (const RankFiles& rank : job->ranks)
            for (const RankFile& file : rank.files) {
                if (!file.superseded.empty())
                    m_streams.err << "tidemark: " << displayText(file.path.string()) << ": "
                                  << displayText(file.superseded) << '\n';
                one(file);
            }
        const SummarisedJob all
            = combined(std::move(*job), std::move(m_summaries), std::move(m_failures), m_wish.config);
        if (all.ranks.empty() || all.ranks.size() + all.job.missing.size() < 2)
            return;
        if (m_wish.json)
            m_streams.out << all.diagnosis.json(all.ranks, given.string()) << '\n';
        else
            printRun(m_streams.out << '\n', given.string(), all);
    }

    void keep(RankSummary summary) { m_summaries.push_back(std::move(summary)); }

    void digest(const RankFile& file)
    {
        auto summary = readDigest(file.path, terminalJob());
        if (!summary) {
            fail(file, summary.error());
            return;
        }
        if (m_wish.json) {
            m_streams.out << summaryJson(*summary) << '\n';
        } else {
            m_streams.out << (m_read > 0 ? "\n" : "") << displayText(file.path.string()) << ": digest of "
                          << displayText(summary->snapshot.string()) << "\n\n";
            for (const Finding& finding : summary->findings)
                printFinding(m_streams.out, finding);
        }
        ++m_read;
        keep(std::move(summary).value());
    }

    void fail(const RankFile& file, const Error& error)
    {
        refuse(file.path.string(), error);
        m_failures.emplace_back(file.path, error);
    }

    void one(const RankFile& found)
    {
        if (found.kind == RankFileKind::Digest) {
            digest(found);
            return;
        }
        const std::filesystem::path& file = found.path;
        const std::string path = file.string();
        const auto rank = openRank(file, m_wish.read, terminalJob());
        if (!rank) {
            fail(found, rank.error());
            return;
        }
        warnIfPartial(m_streams, path, *(*rank)->snapshot);
        warnIfBeyond(m_streams, path, **rank);
        DiagnosisOptions wanted;
        wanted.deviceTotal = m_wish.deviceTotal;
        wanted.rules = m_wish.rules;
        wanted.rank = found.rank;
        wanted.config = configFor(m_wish.config, file, m_streams.err);
        Diagnosis diagnosis = *diagnose(*rank, wanted, terminalJob());
        if (m_amongPeers)
            dropPeersAdvice(diagnosis.findings);
        if (m_wish.json)
            m_streams.out << diagnosis.json(path) << '\n';
        else
            printText(m_streams.out << (m_read > 0 ? "\n" : ""), path, diagnosis);
        m_streams.out.flush();
        ++m_read;
        SummaryOrigin origin;
        origin.file = file;
        origin.rank = found.rank;
        origin.rankFrom = found.rankFrom;
        origin.step = found.step;
        origin.oomDump = found.oom;
        origin.cardBytes = m_wish.deviceTotal;
        keep(makeSummary(diagnosis, origin));
    }

    const Wish& m_wish;
    CommandStreams& m_streams;
    std::size_t m_read = 0;
    std::size_t m_refused = 0;
    bool m_amongPeers = false;
    std::vector<RankSummary> m_summaries;
    std::vector<std::pair<std::filesystem::path, Error>> m_failures;
};

int run(const Arguments& arguments, CommandStreams& streams)
{
    Wish wish;
    if (const auto failed = readWish(arguments, streams, wish))
        return *failed;
    if (arguments.paths().empty()) {
        if (wish.config.empty() && !arguments.has("--config") && !arguments.has("--env"))
            return usageError(streams,
                "diagnose needs a file or folder, or --config or --env; see tidemark diagnose --help");
        const std::vector<ConfigCheck> checks = checkConfig(wish.config, {});
        if (wish.json)
            streams.out << configJson(checks) << '\n';
        else
            printChecks(streams.out, checks);
        return exitStatus::done;
    }
    Runner runner(wish, streams);
    for (const std::filesystem::path& given : arguments.paths())
        runner.path(given);
    return runner.status();
}

} // namespace

const Command diagnoseCommand{"diagnose", "PATH… [--config FILE] [--env FILE] [--json]",
    "what is wrong in files: findings with bytes and what to do, settings that conflict, what cannot be "
    "known",
    options, run};

} // namespace tidemark
