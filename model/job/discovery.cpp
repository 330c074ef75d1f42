// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/discovery.hpp"

#include "model/core/natural_order.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/job/file_class.hpp"
#include "model/job/name_rules.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>

namespace tidemark {

namespace {

namespace fs = std::filesystem;

constexpr int deepest = 16;
constexpr std::size_t maxFiles = 1'000'000;
/// Jobs are no larger; a number above is none of ranks.
constexpr int maxWorld = 1 << 20;
/// Ranks are only counted through where most of them are there.
constexpr std::size_t sparse = 64;

std::int64_t writtenUs(const fs::path& file)
{
    std::error_code error;
    const auto time = fs::last_write_time(file, error);
    if (error)
        return 0;
    const auto system = std::chrono::file_clock::to_sys(time);
    return std::chrono::duration_cast<std::chrono::microseconds>(system.time_since_epoch()).count();
}

/// Which of two files of a rank is taken, and the sentence for the other.
struct Preference {
    bool first = true;
    std::string why;
};

/// The newest, told by the step where both have one, else by what was recorded, else by the file's date.
Preference prefer(const RankFile& a, const RankFile& b, std::optional<std::int64_t> wished)
{
    const bool wishedA = wished && a.step == wished;
    const bool wishedB = wished && b.step == wished;
    if (wishedA != wishedB)
        return {wishedA, "step " + std::to_string(*wished) + " was asked for"};
    if (a.step && b.step && *a.step != *b.step)
        return {*a.step > *b.step, "step " + std::to_string(std::max(*a.step, *b.step)) + " is later"};
    constexpr std::int64_t tick = 1'000'000;
    if (a.recordedUs && b.recordedUs && *a.recordedUs != *b.recordedUs)
        return {*a.recordedUs > *b.recordedUs,
            "it was recorded until " + formatUtc(std::max(*a.recordedUs, *b.recordedUs))};
    if (std::abs(a.writtenUs - b.writtenUs) >= tick)
        return {a.writtenUs > b.writtenUs,
            "it was written later, on " + formatUtc(std::max(a.writtenUs, b.writtenUs))};
    if (a.oom != b.oom)
        return {a.oom, "it was dumped when memory ran out"};
    if (a.kind != b.kind)
        return {a.kind == RankFileKind::Snapshot, "it is the snapshot itself"};
    if (a.step.has_value() != b.step.has_value())
        return {a.step.has_value(), "its name says the step"};
    return {
        naturallyLess(a.path.string(), b.path.string()), "both are equally new, and its name comes first"};
}

void order(RankFiles& rank, std::optional<std::int64_t> wished)
{
    // Few files each, and no strict order to rely on: the best one first, the others by name.
    std::ranges::stable_sort(rank.files,
        [](const RankFile& a, const RankFile& b) { return naturallyLess(a.path.string(), b.path.string()); });
    std::size_t best = 0;
    for (std::size_t i = 1; i < rank.files.size(); ++i)
        if (!prefer(rank.files[best], rank.files[i], wished).first)
            best = i;
    std::ranges::rotate(rank.files.begin(), rank.files.begin() + static_cast<std::ptrdiff_t>(best),
        rank.files.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    rank.files.front().superseded.clear();
    for (std::size_t i = 1; i < rank.files.size(); ++i) {
        const RankFile& taken = rank.files.front();
        rank.files[i].superseded = displayText(taken.path.filename().string())
            + " is taken instead: " + prefer(taken, rank.files[i], wished).why + '.';
    }
}

void sortRanks(DiscoveredJob& job)
{
    std::ranges::stable_sort(job.ranks, [](const RankFiles& a, const RankFiles& b) {
        if (a.rank.has_value() != b.rank.has_value())
            return a.rank.has_value();
        return a.rank != b.rank ? a.rank < b.rank
                                : naturallyLess(a.chosen().path.string(), b.chosen().path.string());
    });
}

const char* const fromDevice = "device in the file";

/// On one machine the ranks are the GPUs: where no name tells, and each of these files has another GPU.
void rankByDevice(DiscoveredJob& job)
{
    std::vector<RankFile> unnamed;
    for (RankFiles& rank : job.ranks)
        for (auto file = rank.files.begin(); file != rank.files.end();) {
            if (file->rank && file->rankFrom != fromDevice) {
                ++file;
                continue;
            }
            file->rank.reset();
            file->rankFrom.clear();
            unnamed.push_back(std::move(*file));
            file = rank.files.erase(file);
        }
    std::erase_if(job.ranks, [](const RankFiles& rank) { return rank.files.empty(); });
    std::set<int> devices;
    const bool tell = std::ranges::all_of(unnamed, [&](const RankFile& file) {
        return file.device && *file.device >= 0 && job.find(*file.device) == nullptr
            && devices.insert(*file.device).second;
    });
    for (RankFile& file : unnamed) {
        if (tell) {
            file.rank = file.device;
            file.rankFrom = fromDevice;
        }
        RankFiles rank;
        rank.rank = file.rank;
        rank.files.push_back(std::move(file));
        job.ranks.push_back(std::move(rank));
    }
}

/// All of it that follows from the files: choices, steps, what is missing.
void settle(DiscoveredJob& job)
{
    rankByDevice(job);
    std::set<std::int64_t> steps;
    std::set<int> present;
    for (RankFiles& rank : job.ranks) {
        order(rank, job.chosenStep);
        if (rank.rank)
            present.insert(*rank.rank);
        for (const RankFile& file : rank.files)
            if (file.step)
                steps.insert(*file.step);
    }
    sortRanks(job);
    job.steps.assign(steps.begin(), steps.end());

    std::set<int> expected(job.recordedRanks.begin(), job.recordedRanks.end());
    for (const BadFile& bad : job.bad)
        if (bad.rank)
            expected.insert(*bad.rank);
    if (job.recordedRanks.empty() && !present.empty()) {
        const int last = std::max(*present.rbegin() + 1, job.worldSize.value_or(0));
        const bool countable = job.worldSize || static_cast<std::size_t>(last) <= present.size() * sparse;
        for (int rank = 0; countable && rank < last; ++rank)
            expected.insert(expected.end(), rank);
    }
    job.missing.clear();
    std::ranges::set_difference(expected, present, std::back_inserter(job.missing));
}

class Discoverer {
public:
    Discoverer(DiscoveredJob& out, const Job& job)
        : m_out(out)
        , m_job(job)
    { }

    std::optional<Error> path(const fs::path& path)
    {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            const fs::file_status status = fs::status(path, error);
            if (!fs::exists(status))
                m_out.bad.push_back(
                    {path, {ErrorCode::NotFound, "There is no such file. Check the path.", std::nullopt},
                        factsOfName(path).rank});
            else
                file(path);
            return std::nullopt;
        }
        for (const fs::path& each : configFilesBeside(path))
            addConfig(each);
        std::vector<fs::path> files;
        fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, error);
        for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
            if (m_job.stopped())
                return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
            const std::string name = entry->path().filename().string();
            std::error_code unreadable;
            if (name.starts_with('.') || entry.depth() >= deepest) {
                entry.disable_recursion_pending();
                if (name.starts_with('.'))
                    continue;
            }
            if (!entry->is_regular_file(unreadable))
                continue;
            if (files.size() >= maxFiles)
                return Error{ErrorCode::TooLarge,
                    "The folder " + displayText(path.string()) + " holds more than " + formatCount(maxFiles)
                        + " files. Open the folder of one run.",
                    std::nullopt};
            files.push_back(entry->path());
        }
        if (error)
            return Error{ErrorCode::Io,
                "The folder " + displayText(path.string()) + " cannot be listed: " + error.message() + ".",
                std::nullopt};
        std::ranges::sort(files,
            [](const fs::path& a, const fs::path& b) { return naturallyLess(a.string(), b.string()); });
        for (std::size_t i = 0; i < files.size(); ++i) {
            if (m_job.stopped())
                return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
            file(files[i]);
            m_job.report(Stage::Open, i + 1, files.size());
        }
        return std::nullopt;
    }

private:
    void addConfig(const fs::path& file)
    {
        if (std::ranges::find(m_out.configFiles, file) == m_out.configFiles.end())
            m_out.configFiles.push_back(file);
    }

    void file(const fs::path& path)
    {
        std::error_code error;
        if (!m_seen.insert(fs::weakly_canonical(path, error).string()).second)
            return;
        if (isConfigFile(path)) {
            addConfig(path);
            m_out.beside.push_back(path);
            return;
        }
        const NameFacts facts = factsOfName(path);
        RankFile found;
        found.path = path;
        found.bytes = fs::file_size(path, error);
        if (error)
            found.bytes = 0;
        const ClassifiedFile what = classifyFile(path, found.bytes, facts.rank.has_value());
        if (what.of == FileClass::Beside) {
            m_out.beside.push_back(path);
            return;
        }
        if (what.of == FileClass::Bad) {
            m_out.bad.push_back({path, what.error, facts.rank});
            return;
        }
        found.kind = what.of == FileClass::Digest ? RankFileKind::Digest : RankFileKind::Snapshot;
        found.writtenUs = writtenUs(path);
        const auto from = [](const NameRule* rule) {
            return rule == nullptr ? std::string()
                                   : std::string(rule->part == NamePart::File ? "file name" : "folder name");
        };
        found.rank = facts.rank;
        found.rankFrom = from(facts.rankRule);
        found.step = facts.step;
        found.stepFrom = from(facts.stepRule);
        found.oom = facts.oom;
        found.oomFrom = from(facts.oomRule);
        if (facts.worldSize && (!m_out.worldSize || *facts.worldSize > *m_out.worldSize)) {
            m_out.worldSize = facts.worldSize;
            m_out.worldSizeFrom = "file names";
        }
        if (found.rank) {
            const auto [slot, fresh] = m_rank.try_emplace(*found.rank, m_out.ranks.size());
            if (!fresh) {
                m_out.ranks[slot->second].files.push_back(std::move(found));
                return;
            }
        }
        RankFiles rank;
        rank.rank = found.rank;
        rank.files.push_back(std::move(found));
        m_out.ranks.push_back(std::move(rank));
    }

    DiscoveredJob& m_out;
    const Job& m_job;
    std::set<std::string> m_seen;
    std::map<int, std::size_t> m_rank;
};

void readSettings(DiscoveredJob& job, const RunConfig& given)
{
    RunConfig config = given;
    for (const fs::path& file : job.configFiles)
        (void)config.addFile(file); // what cannot be read is said where the settings are used
    const auto take = [&](std::optional<std::int64_t> size, const char* from) {
        if (size && *size > 0 && *size <= maxWorld) {
            job.worldSize = static_cast<int>(*size);
            job.worldSizeFrom = from;
            return true;
        }
        return false;
    };
    std::optional<std::int64_t> stated;
    if (const auto text = config.environment("WORLD_SIZE"); text && !text->empty()) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (error == std::errc() && end == text->data() + text->size())
            stated = value;
    }
    if (!take(config.number("hardware.world_size"), "settings"))
        take(stated, "WORLD_SIZE");
    if (const auto list = config.list("profiling.profile_ranks"))
        for (const std::string& each : *list) {
            int rank = -1;
            std::from_chars(each.data(), each.data() + each.size(), rank);
            if (rank >= 0 && rank < maxWorld)
                job.recordedRanks.push_back(rank);
        }
    std::ranges::sort(job.recordedRanks);
    const auto again = std::ranges::unique(job.recordedRanks);
    job.recordedRanks.erase(again.begin(), again.end());
}

RankFile* fileAt(DiscoveredJob& job, const fs::path& path)
{
    for (RankFiles& rank : job.ranks)
        for (RankFile& file : rank.files)
            if (file.path == path)
                return &file;
    return nullptr;
}

void addContent(RankFile& file, const FileContent& content)
{
    file.recordedUs = content.recordedUs;
    file.device = content.device;
    if (content.oom && !file.oom) {
        file.oom = true;
        file.oomFrom = "the file";
    }
    if (content.step && !file.step) {
        file.step = content.step;
        file.stepFrom = "the file";
    }
    if (content.rank) {
        file.rank = content.rank;
        file.rankFrom = "the file";
    }
}

/// Takes a file out of its rank; a rank without files goes.
RankFile take(DiscoveredJob& job, const fs::path& path)
{
    for (auto rank = job.ranks.begin(); rank != job.ranks.end(); ++rank)
        for (auto file = rank->files.begin(); file != rank->files.end(); ++file)
            if (file->path == path) {
                RankFile out = std::move(*file);
                rank->files.erase(file);
                if (rank->files.empty())
                    job.ranks.erase(rank);
                return out;
            }
    return {};
}

} // namespace

Result<DiscoveredJob> discover(std::span<const fs::path> paths, const RunConfig& settings, const Job& job)
{
    DiscoveredJob out;
    Discoverer discoverer(out, job);
    for (const fs::path& path : paths)
        if (auto error = discoverer.path(path))
            return *error;
    if (out.ranks.empty() && out.bad.empty() && !paths.empty())
        return Error{ErrorCode::NotFound,
            "There is no snapshot in " + displayText(paths.front().string())
                + " or its subfolders (hidden ones are not looked at).",
            std::nullopt};
    readSettings(out, settings);
    settle(out);
    return out;
}

void learn(DiscoveredJob& job, std::span<const FileContent> contents)
{
    std::map<std::string, const FileContent*> known;
    for (const FileContent& each : contents)
        known[each.path.string()] = &each;
    std::vector<RankFile> moved;
    for (RankFiles& rank : job.ranks)
        for (auto file = rank.files.begin(); file != rank.files.end();) {
            const auto content = known.find(file->path.string());
            if (content == known.end()) {
                ++file;
                continue;
            }
            addContent(*file, *content->second);
            if (file->rank == rank.rank) {
                ++file;
                continue;
            }
            moved.push_back(std::move(*file));
            file = rank.files.erase(file);
        }
    std::erase_if(job.ranks, [](const RankFiles& rank) { return rank.files.empty(); });
    for (RankFile& file : moved) {
        const auto home = std::ranges::find(job.ranks, file.rank, &RankFiles::rank);
        if (home != job.ranks.end()) {
            home->files.push_back(std::move(file));
            continue;
        }
        RankFiles rank;
        rank.rank = file.rank;
        rank.files.push_back(std::move(file));
        job.ranks.push_back(std::move(rank));
    }
    settle(job);
}

bool reject(DiscoveredJob& job, const fs::path& path, const Error& error)
{
    const RankFile* file = fileAt(job, path);
    if (file == nullptr)
        return false;
    const RankFile gone = take(job, path);
    const bool meant = hasSnapshotExtension(path) || gone.rank || gone.kind == RankFileKind::Digest
        || error.code != ErrorCode::NotASnapshot || job.ranks.empty();
    if (meant)
        job.bad.push_back({path, error, gone.rank});
    else
        job.beside.push_back(path);
    settle(job);
    return gone.rank && job.find(*gone.rank) != nullptr;
}

void chooseStep(DiscoveredJob& job, std::optional<std::int64_t> step)
{
    job.chosenStep = step;
    settle(job);
}

std::vector<std::string> DiscoveredJob::supersededSentences() const
{
    std::vector<std::string> out;
    for (const RankFiles& rank : ranks) {
        if (rank.files.size() < 2)
            continue;
        const RankFile& other = rank.files[1];
        out.push_back((rank.rank ? "Rank " + std::to_string(*rank.rank) + " has " : std::string("There are "))
            + formatCount(static_cast<std::int64_t>(rank.files.size())) + " files: " + other.superseded);
    }
    return out;
}

const RankFiles* DiscoveredJob::find(int rank) const
{
    const auto found = std::ranges::find(ranks, std::optional<int>(rank), &RankFiles::rank);
    return found == ranks.end() ? nullptr : &*found;
}

std::vector<fs::path> DiscoveredJob::chosenFiles() const
{
    std::vector<fs::path> out;
    for (const RankFiles& rank : ranks)
        out.push_back(rank.chosen().path);
    return out;
}

std::string ranksText(std::span<const int> ascending)
{
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < ascending.size();) {
        std::size_t end = i + 1;
        while (end < ascending.size() && ascending[end] == ascending[end - 1] + 1)
            ++end;
        if (end - i <= 2)
            for (; i < end; ++i)
                parts.push_back(std::to_string(ascending[i]));
        else
            parts.push_back(std::to_string(ascending[i]) + "–" + std::to_string(ascending[end - 1]));
        i = end;
    }
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i)
        out += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return out;
}

std::string DiscoveredJob::missingSentence() const
{
    if (missing.empty())
        return {};
    std::string out = (missing.size() == 1 ? "Rank " : "Ranks ") + ranksText(missing)
        + " left no file that can be opened";
    if (worldSize)
        out += " of " + formatCount(*worldSize);
    return out + ": comparisons over ranks leave " + (missing.size() == 1 ? "it" : "them") + " out.";
}

} // namespace tidemark
