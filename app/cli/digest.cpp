// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/digest.hpp"
#include "app/cli/command.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/job/summarise.hpp"
#include "model/report/exporter.hpp"
#include "model/report/session_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <map>
#include <ostream>

namespace tidemark {

extern const Command digestCommand;

namespace {

namespace fs = std::filesystem;

constexpr std::array options{CommandOption{"-o", "DIR", "folder for the digests; made if it is not there"},
    configOption, envOption,
    CommandOption{"--device-total", "BYTES", "size of the card, as the driver reports it"}, rulesOption,
    partialOption, eventsOption};

std::optional<std::string> environment(const char* name)
{
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

/// How long a digest that is being written may stay untouched before it counts as left by a stopped task.
constexpr auto staleAfter = std::chrono::minutes(10);

/// "NAME.tmdigest.Ab3xYz", as a digest is called while it is written.
bool isTemporary(const std::string& name)
{
    constexpr std::size_t letters = 6;
    const std::string before = std::string(digestEnding) + ".";
    const std::size_t at = name.rfind(before);
    return at != std::string::npos && at > 0 && name.size() == at + before.size() + letters
        && std::all_of(
            name.end() - letters, name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

/// Removes what stopped tasks left half written.
void removeStale(const fs::path& folder)
{
    std::error_code error;
    std::vector<fs::path> stale;
    for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
        std::error_code gone;
        if (!isTemporary(each->path().filename().string()) || !each->is_regular_file(gone))
            continue;
        const auto written = each->last_write_time(gone);
        if (!gone && written < fs::file_time_type::clock::now() - staleAfter)
            stale.push_back(each->path());
    }
    for (const fs::path& file : stale)
        fs::remove(file, error);
}

/// Makes the digests of one task and keeps count.
class Digester {
public:
    Digester(const SummariseOptions& wish, const DiscoveredJob& job, CommandStreams& streams)
        : m_wish(wish)
        , m_job(job)
        , m_streams(streams)
    {
        for (const RankFiles& rank : job.ranks)
            for (const RankFile& file : rank.files)
                if (file.kind == RankFileKind::Snapshot)
                    m_files[wholePath(file.path)] = file;
    }

    std::vector<fs::path> snapshots() const
    {
        std::vector<fs::path> out;
        for (const auto& [path, file] : m_files)
            out.emplace_back(path);
        return out;
    }

    void make(const DigestTask& task)
    {
        const RankFile& file = m_files.at(task.snapshot.string());
        const auto key = report::contentHash(file.path);
        if (!key)
            return refuse(file.path, key.error());
        if (digestKey(task.digest) == *key) {
            ++m_kept;
            return;
        }
        SummariseOptions wish = m_wish;
        wish.contentKeys = true;
        const auto summary = summariseFile(
            file, wish, settingsOf(m_wish.config, file.path, m_job.configFiles), terminalJob());
        if (!summary)
            return refuse(file.path, summary.error());
        // Rewritten while it was read: the next run takes what is there then.
        if (const auto written = report::writeWhole(task.digest, digestBytes(*summary)); !written) {
            ++m_refused;
            printError(m_streams.err, "", written.error());
            return;
        }
        ++m_made;
        m_streams.out << displayText(task.digest.string()) << '\n';
        m_streams.out.flush();
    }

    void refuse(const fs::path& file, const Error& error)
    {
        ++m_refused;
        printError(m_streams.err, file.string(), error);
    }

    int finish(const WorkShare& share, std::size_t tasks)
    {
        m_streams.err << "tidemark: " << formatCount(static_cast<std::int64_t>(m_made)) << " made, "
                      << formatCount(static_cast<std::int64_t>(m_kept)) << " done already, "
                      << formatCount(static_cast<std::int64_t>(m_refused)) << " could not be read, of "
                      << formatCount(static_cast<std::int64_t>(tasks));
        if (!share.from.empty())
            m_streams.err << " in share " << share.index + 1 << " of " << share.count << " (" << share.from
                          << ")";
        m_streams.err << ".\n";
        if (m_refused == 0)
            return exitStatus::done;
        return m_made + m_kept > 0 ? exitStatus::someNotRead : exitStatus::nothingRead;
    }

private:
    static std::string wholePath(const fs::path& path)
    {
        std::error_code error;
        const fs::path whole = fs::absolute(path, error).lexically_normal();
        return error ? path.string() : whole.string();
    }

    const SummariseOptions& m_wish;
    const DiscoveredJob& m_job;
    CommandStreams& m_streams;
    std::map<std::string, RankFile> m_files;
    std::size_t m_made = 0;
    std::size_t m_kept = 0;
    std::size_t m_refused = 0;
};

int run(const Arguments& arguments, CommandStreams& streams)
{
    if (arguments.paths().empty())
        return usageError(streams, "digest needs a file or folder; see tidemark digest --help");
    const auto out = arguments.value("-o");
    if (!out || out->empty())
        return usageError(streams, "digest needs -o DIR, a folder for the digests");
    SummariseOptions wish;
    const auto total = arguments.number("--device-total");
    if (!total)
        return usageError(streams, total.error().message);
    if (*total && **total <= 0)
        return usageError(streams, "--device-total needs a number of bytes above 0");
    if (*total)
        wish.cardBytes = static_cast<std::uint64_t>(**total);
    if (const auto failed = readConfig(arguments, streams, wish.config))
        return *failed;
    const auto rules = arguments.labelRules();
    if (!rules)
        return usageError(streams, rules.error().message);
    wish.labelRules = *rules;
    wish.read = arguments.readOptions();
    const auto share = workShare(environment);
    if (!share)
        return usageError(streams, share.error().message);

    const auto job = discover(arguments.paths(), wish.config, terminalJob());
    if (!job) {
        printError(streams.err, "", job.error());
        return exitStatus::nothingRead;
    }
    std::error_code failed;
    fs::create_directories(*out, failed);
    if (!fs::is_directory(*out)) {
        printError(streams.err, "",
            {ErrorCode::Io, "the folder " + displayText(*out) + " cannot be made: " + failed.message() + ".",
                std::nullopt});
        return exitStatus::nothingRead;
    }
    if (share->index == 0) // one task is enough
        removeStale(*out);
    Digester digester(wish, *job, streams);
    const std::vector<fs::path> snapshots = digester.snapshots();
    const std::vector<DigestTask> tasks = digestTasks(snapshots, *out);
    // Broken files are shared out as well, so that each is named once.
    std::size_t mine = 0;
    for (std::size_t i = 0; i < tasks.size() + job->bad.size(); ++i) {
        if (i % share->count != share->index)
            continue;
        ++mine;
        if (i < tasks.size())
            digester.make(tasks[i]);
        else
            digester.refuse(job->bad[i - tasks.size()].path, job->bad[i - tasks.size()].error);
    }
    return digester.finish(*share, mine);
}

} // namespace

const Command digestCommand{"digest", "PATH… -o DIR",
    "a small file per rank with its figures, for jobs too large for one machine; a rerun skips what is done",
    options, run};

} // namespace tidemark
