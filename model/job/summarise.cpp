// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/summarise.hpp"

#include "model/job/digest.hpp"
#include "model/job/memory_gate.hpp"
#include "model/report/session_file.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <new>
#include <thread>

namespace tidemark {

namespace {

namespace fs = std::filesystem;

Error cancelled()
{
    return {ErrorCode::Cancelled, "Stopped.", std::nullopt};
}

/// The settings of each folder, read once. One thread at a time.
class Settings {
public:
    Settings(const RunConfig& given, const DiscoveredJob& job)
        : m_given(given)
        , m_jobFiles(job.configFiles)
    { }

    RunConfig of(const fs::path& file)
    {
        const std::scoped_lock lock(m_mutex);
        const std::string folder = file.parent_path().string();
        auto known = m_byFolder.find(folder);
        if (known == m_byFolder.end())
            known = m_byFolder.emplace(folder, settingsOf(m_given, file, m_jobFiles)).first;
        return known->second;
    }

private:
    RunConfig m_given;
    std::vector<fs::path> m_jobFiles;
    std::mutex m_mutex;
    std::map<std::string, RunConfig> m_byFolder;
};

Result<RankSummary> sumUp(const RankFile& file, const SummariseOptions& options, const RunConfig& config,
    const Job& job, MemoryGuess* guess)
{
    if (file.kind == RankFileKind::Digest) {
        auto summary = readDigest(file.path, job);
        if (summary && file.rank && !summary->rank) {
            summary->rank = file.rank;
            summary->rankFrom = file.rankFrom;
        }
        return summary;
    }
    auto rank = openRank(file.path, options.read, job);
    if (!rank)
        return rank.error();
    if (guess != nullptr)
        guess->learn(file.path.extension().string(), file.bytes, (*rank)->snapshot->source.unpackedBytes);
    DiagnosisOptions wanted;
    wanted.config = config;
    wanted.deviceTotal = options.cardBytes;
    wanted.rank = file.rank;
    wanted.rules = options.labelRules;
    const auto diagnosis = diagnose(*rank, wanted, job);
    if (!diagnosis)
        return cancelled();
    SummaryOrigin origin;
    origin.file = file.path;
    origin.rank = file.rank;
    origin.rankFrom = file.rankFrom;
    origin.step = file.step;
    origin.oomDump = file.oom;
    origin.cardBytes = options.cardBytes;
    if (options.contentKeys) {
        auto key = report::contentHash(file.path);
        if (!key)
            return key.error();
        origin.contentKey = *key;
    }
    return makeSummary(*diagnosis, origin);
}

/// Hands out the chosen files, and the next one of a rank when one is broken.
class Summariser {
public:
    Summariser(const DiscoveredJob& discovered, const SummariseOptions& options, const Job& job,
        const SummaryCallback& callback)
        : m_options(options)
        , m_job(job)
        , m_callback(callback)
        , m_settings(options.config, discovered)
        , m_gate(options.memoryBudget)
    {
        for (const RankFiles& rank : discovered.ranks)
            m_waiting.push_back(rank.files);
        m_total = m_waiting.size();
        if (options.known)
            for (const RankSummary& each : *options.known)
                m_known.emplace(each.file.string(), &each);
    }

    void run()
    {
        const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
        const std::size_t wished = m_options.threads != 0 ? m_options.threads : cores;
        const std::size_t count = std::clamp<std::size_t>(wished, 1, std::max<std::size_t>(m_total, 1));
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < count; ++i)
            others.emplace_back([this] { work(); });
        work();
    }

    std::map<std::string, RankSummary>& summaries() { return m_summaries; }
    const std::vector<std::pair<fs::path, Error>>& refused() const { return m_refused; }

private:
    void work()
    {
        while (!m_job.stopped()) {
            std::vector<RankFile> files;
            {
                const std::scoped_lock lock(m_mutex);
                if (m_waiting.empty())
                    return;
                files = std::move(m_waiting.front());
                m_waiting.pop_front();
            }
            one(std::move(files));
        }
    }

    void one(std::vector<RankFile> files)
    {
        const RankFile& file = files.front();
        const auto known = m_known.find(file.path.string());
        auto summary = known != m_known.end() ? Result<RankSummary>(*known->second) : read(file);
        if (!summary && summary.error().code == ErrorCode::Cancelled)
            return;
        const std::scoped_lock lock(m_mutex);
        SummaryProgress progress{file.path, nullptr, nullptr, 0, 0};
        const RankSummary* kept = nullptr;
        if (summary) {
            kept = &(m_summaries[file.path.string()] = std::move(summary).value());
            progress.summary = kept;
        } else {
            m_refused.emplace_back(file.path, summary.error());
            progress.error = &summary.error();
            if (files.size() > 1) {
                std::vector<RankFile> rest(files.begin() + 1, files.end());
                m_waiting.push_back(std::move(rest));
                ++m_total;
            }
        }
        progress.done = ++m_done;
        progress.total = m_total;
        m_job.report(Stage::Findings, m_done, m_total);
        if (m_callback)
            m_callback(progress);
    }

    Result<RankSummary> read(const RankFile& file)
    {
        const std::uint64_t needed = m_guess.of(file.path.extension().string(), file.bytes);
        if (!m_gate.enter(needed, m_job.stop))
            return cancelled();
        const Job quiet{m_job.stop, {}};
        auto summary = attempt(file, quiet);
        m_gate.leave(needed);
        return summary;
    }

    Result<RankSummary> attempt(const RankFile& file, const Job& quiet)
    {
        try {
            return sumUp(file, m_options, m_settings.of(file.path), quiet, &m_guess);
        } catch (const std::bad_alloc&) {
            return Error{ErrorCode::TooLarge,
                "The file needs more memory than there is. Open it alone, or record fewer events.",
                std::nullopt};
        }
    }

    const SummariseOptions& m_options;
    const Job& m_job;
    const SummaryCallback& m_callback;
    Settings m_settings;
    MemoryGate m_gate;
    MemoryGuess m_guess;
    std::map<std::string, const RankSummary*> m_known;
    std::mutex m_mutex;
    std::deque<std::vector<RankFile>> m_waiting;
    std::map<std::string, RankSummary> m_summaries;
    std::vector<std::pair<fs::path, Error>> m_refused;
    std::size_t m_done = 0;
    std::size_t m_total = 0;
};

FileContent contentOf(const RankSummary& summary)
{
    FileContent content;
    content.path = summary.file;
    content.oom = summary.oom.has_value();
    content.recordedUs = summary.lastTimeUs;
    if (summary.devices == 1)
        content.device = summary.device;
    if (summary.fromDigest) {
        content.rank = summary.rank;
        content.step = summary.step;
    }
    return content;
}

} // namespace

RunConfig settingsOf(const RunConfig& given, const fs::path& file, std::span<const fs::path> jobFiles)
{
    RunConfig config = given;
    std::vector<fs::path> files;
    if (!file.empty())
        files = configFilesBeside(file);
    for (const fs::path& each : jobFiles)
        if (std::ranges::find(files, each) == files.end())
            files.push_back(each);
    for (const fs::path& each : files)
        (void)config.addFile(each); // whoever shows the settings says what cannot be read
    return config;
}

Result<RankSummary> summariseFile(
    const RankFile& file, const SummariseOptions& options, const RunConfig& config, const Job& job)
{
    return sumUp(file, options, config, job, nullptr);
}

SummarisedJob combined(DiscoveredJob discovered, std::vector<RankSummary> read,
    std::vector<std::pair<fs::path, Error>> refused, const RunConfig& given)
{
    SummarisedJob out;
    out.job = std::move(discovered);
    std::map<std::string, RankSummary> summaries;
    std::vector<FileContent> contents;
    for (RankSummary& each : read) {
        contents.push_back(contentOf(each));
        summaries.insert_or_assign(each.file.string(), std::move(each));
    }
    std::ranges::sort(refused, {}, &std::pair<fs::path, Error>::first);
    for (const auto& [path, error] : refused)
        reject(out.job, path, error);
    learn(out.job, contents);
    for (RankFiles& rank : out.job.ranks)
        for (std::size_t i = 0; i < rank.files.size(); ++i) {
            const auto found = summaries.find(rank.files[i].path.string());
            if (found == summaries.end())
                continue;
            RankSummary& summary = out.ranks.emplace_back(std::move(found->second));
            summary.rank = rank.files[i].rank;
            summary.rankFrom = rank.files[i].rankFrom;
            summary.oomDump = rank.files[i].oom;
            for (Finding& finding : summary.findings)
                finding.rank = summary.rank;
            const auto first = rank.files.begin();
            std::ranges::rotate(
                first, first + static_cast<std::ptrdiff_t>(i), first + static_cast<std::ptrdiff_t>(i) + 1);
            break;
        }
    out.config
        = settingsOf(given, out.ranks.empty() ? fs::path() : out.ranks.front().file, out.job.configFiles);
    // Digests may lie far from the settings of their run: they carry them.
    for (const RankSummary& rank : out.ranks)
        for (const auto& [key, value] : rank.settings)
            if (!key.starts_with("allocator.") && out.config.find(key) == nullptr)
                out.config.set(key, value);
    out.diagnosis = diagnoseRun(out.ranks, out.job, out.config);
    return out;
}

Result<SummarisedJob> summarise(DiscoveredJob discovered, const SummariseOptions& options, const Job& job,
    const SummaryCallback& callback)
{
    Summariser summariser(discovered, options, job, callback);
    summariser.run();
    if (job.stopped())
        return cancelled();
    std::vector<RankSummary> read;
    for (auto& [path, summary] : summariser.summaries())
        read.push_back(std::move(summary));
    return combined(std::move(discovered), std::move(read), summariser.refused(), options.config);
}

} // namespace tidemark
