// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/run/guarded_open.hpp"

#include "model/core/limits.hpp"
#include "model/core/natural_order.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/replay/replay_quality.hpp"
#include "model/run/range_end.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>
#include <tuple>

namespace tidemark {

namespace {

namespace fs = std::filesystem;

/// Devices with fewer events and blocks than this are not worth a second thread.
constexpr std::size_t worthAThread = 10'000;

Error outOfMemory()
{
    return {ErrorCode::TooLarge,
        "The file needs more memory than there is. Open a range of events (--events, or File, Open a part), "
        "record fewer of them (max_entries), or open the file on a machine with more memory.",
        std::nullopt};
}

std::size_t weight(const DeviceTrace& device)
{
    return device.events.count() + device.blocks.size();
}

/// Jobs that do not depend on each other, run by the calling thread and, when it is worth it, one more.
class Tasks {
public:
    void add(std::function<std::optional<Error>()> task) { m_tasks.push_back(std::move(task)); }

    /// The first error, if any.
    std::optional<Error> run(bool twoThreads)
    {
        if (twoThreads && m_tasks.size() > 1) {
            const std::jthread second([this] { work(); });
            work();
        } else {
            work();
        }
        return std::move(m_error);
    }

private:
    void work()
    {
        for (std::size_t i = m_next++; i < m_tasks.size(); i = m_next++) {
            std::optional<Error> error;
            try {
                error = m_tasks[i]();
            } catch (const std::bad_alloc&) {
                error = outOfMemory();
            }
            if (error) {
                const std::scoped_lock lock(m_mutex);
                if (!m_error)
                    m_error = std::move(error);
                m_next = m_tasks.size();
            }
        }
    }

    std::vector<std::function<std::optional<Error>()>> m_tasks;
    std::atomic<std::size_t> m_next = 0;
    std::mutex m_mutex;
    std::optional<Error> m_error;
};

/// Hands work on with its progress, and stops it when memory gets short: the system would end the whole
/// program otherwise.
class MemoryWatch {
public:
    MemoryWatch(const Job& given, const MemoryProbe& probe)
        : m_given(given)
        , m_probe(probe)
        , m_follow(given.stop, [this] { m_stop.request_stop(); })
    {
        m_job.stop = m_stop.get_token();
        m_job.arrived = given.arrived;
        m_job.progress = [this](const Progress& progress) {
            if (m_given.progress)
                m_given.progress(progress);
            look(progress);
        };
    }
    const Job& job() const { return m_job; }
    /// Why the work was stopped, if by this.
    std::optional<Error> error(const fs::path& path) const
    {
        const std::scoped_lock lock(m_mutex);
        if (!m_short)
            return std::nullopt;
        const auto bytes = [](std::uint64_t n) { return formatBytes(static_cast<std::int64_t>(n)); };
        const Progress& at = m_at;
        const std::string how = at.stage != Stage::Read || at.total == 0
            ? "while it was replayed"
            : "after " + bytes(at.done) + " of " + bytes(at.total);
        const auto need = estimatedNeed();
        return Error{ErrorCode::TooLarge,
            displayText(path.string()) + " needs more memory than is free"
                + (need ? ", about " + bytes(*need) + " in all by what was read of it" : std::string())
                + ": opening it was stopped " + how + ", when " + bytes(m_short->available) + " of "
                + bytes(m_short->total)
                + " were left. Open a range of events (--events, or File, Open a part), close other "
                  "programs, or "
                  "open it on a machine with more memory.",
            std::nullopt};
    }

private:
    /// What is taken so far, for the whole file; the replay takes about as much again.
    std::optional<std::uint64_t> estimatedNeed() const
    {
        if (!m_first || m_first->available <= m_short->available)
            return std::nullopt;
        const std::uint64_t taken = m_first->available - m_short->available;
        if (m_at.stage != Stage::Read)
            return taken + taken / 2;
        if (m_at.total == 0 || m_at.done == 0 || m_at.done > m_at.total)
            return std::nullopt;
        const double whole = static_cast<double>(m_at.total) / static_cast<double>(m_at.done);
        return static_cast<std::uint64_t>(static_cast<double>(taken) * whole * 2);
    }

    void look(const Progress& progress)
    {
        const auto state = m_probe ? m_probe() : std::nullopt;
        if (state) {
            const std::scoped_lock lock(m_mutex);
            if (!m_first)
                m_first = state;
        }
        if (!state || state->available >= memoryReserve(*state))
            return;
        const std::scoped_lock lock(m_mutex);
        if (!m_short) {
            m_short = state;
            m_at = progress;
        }
        m_stop.request_stop();
    }

    const Job& m_given;
    const MemoryProbe& m_probe;
    std::stop_source m_stop;
    std::stop_callback<std::function<void()>> m_follow;
    Job m_job;
    mutable std::mutex m_mutex;
    std::optional<MemoryState> m_first;
    std::optional<MemoryState> m_short;
    Progress m_at;
};

/// Replays every device and finds the call sites, the largest piece first.
std::optional<Error> derive(Rank& rank, const Job& job)
{
    const Snapshot& snapshot = *rank.snapshot;
    const std::size_t count = snapshot.devices.size();
    rank.devices.resize(count);
    rank.marks.resize(count);

    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, std::greater{}, [&](std::size_t i) { return weight(snapshot.devices[i]); });

    std::mutex progress;
    std::size_t done = 0;
    const Job quiet{job.stop, {}};
    Tasks tasks;
    for (const std::size_t i : order) {
        tasks.add([&, i]() -> std::optional<Error> {
            auto replay = Replay::build(rank.snapshot, i, count == 1 ? job : quiet);
            if (!replay)
                return replay.error();
            rank.devices[i] = std::move(replay).value();
            rank.marks[i] = pairMarks(*rank.devices[i]);
            const std::scoped_lock lock(progress);
            job.report(Stage::Replay, ++done, count);
            return std::nullopt;
        });
    }
    tasks.add([&]() -> std::optional<Error> {
        rank.sites = std::make_shared<const Sites>(Sites::build(snapshot, SiteMode::User));
        rank.rawSites = std::make_shared<const Sites>(Sites::build(snapshot, SiteMode::Raw));
        return std::nullopt;
    });
    const std::size_t total = std::accumulate(snapshot.devices.begin(), snapshot.devices.end(),
        std::size_t{0}, [](std::size_t sum, const DeviceTrace& device) { return sum + weight(device); });
    if (auto error = tasks.run(total >= worthAThread && std::thread::hardware_concurrency() > 1))
        return error;
    if (job.stopped())
        return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
    return std::nullopt;
}

/// Marks whose other end is missing, as a note of their device.
std::optional<QualityNote> unpairedMarks(const std::vector<Mark>& marks, int ordinal)
{
    QualityNote note;
    note.id = Quality::UnpairedMarks;
    note.device = ordinal;
    note.count = 0;
    for (const Mark& mark : marks) {
        if (!mark.open)
            continue;
        ++note.count;
        if (note.examples.size() < limits::maxExamples
            && std::ranges::find(note.examples, mark.name) == note.examples.end())
            note.examples.push_back(mark.name);
    }
    if (note.count == 0)
        return std::nullopt;
    note.sentence = formatCount(static_cast<std::int64_t>(note.count))
        + (note.count == 1 ? " range has" : " ranges have")
        + " a begin or an end only, as ranges that were open when recording began or when the file was "
          "dumped: "
          "they are drawn to the edge of the trace, and where they really began or ended is not known.";
    return note;
}

Result<std::vector<fs::path>> filesOf(const fs::path& folder)
{
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code unreadable;
        const std::string name = entry->path().filename().string();
        // Sessions lie beside snapshots, and so do the copies of broken ones.
        const bool session = name.ends_with(".tidemark") || name.find(".tidemark.bak") != std::string::npos;
        if (!name.starts_with('.') && !session && entry->is_regular_file(unreadable))
            files.push_back(entry->path());
    }
    if (failed)
        return Error{ErrorCode::Io,
            "The folder " + displayText(folder.string()) + " cannot be listed: " + failed.message() + ".",
            std::nullopt};
    std::ranges::sort(files, [](const fs::path& a, const fs::path& b) {
        return naturallyLess(a.filename().string(), b.filename().string());
    });
    return files;
}

} // namespace

std::vector<QualityNote> Rank::quality(std::optional<std::size_t> deviceIndex) const
{
    std::vector<QualityNote> notes = emptyFileQuality(*snapshot);
    const auto known = [this](int ordinal) {
        return std::ranges::find(snapshot->devices, ordinal, &DeviceTrace::ordinal)
            != snapshot->devices.end();
    };
    // A note on a device of which nothing else is kept belongs to the file, or nobody would see it.
    for (const QualityNote& note : snapshot->quality)
        if (!note.device || !known(*note.device))
            notes.push_back(note);
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (deviceIndex && *deviceIndex != i)
            continue;
        notes.insert(notes.end(), devices[i]->quality.begin(), devices[i]->quality.end());
        const bool noted = std::ranges::find(devices[i]->quality, Quality::UnpairedMarks, &QualityNote::id)
            != devices[i]->quality.end();
        if (!noted)
            if (auto note = unpairedMarks(marks[i], snapshot->devices[i].ordinal))
                notes.push_back(std::move(*note));
    }
    return notes;
}

std::size_t Rank::mainDevice() const
{
    const auto& all = snapshot->devices;
    const auto rankOf = [](const DeviceTrace& device) {
        std::uint64_t bytes = 0;
        for (const Segment& segment : device.segments)
            bytes += sane(segment.totalSize);
        // Pinned host memory and the CPU are shown first only when there is nothing else.
        return std::tuple(device.ordinal >= 0, device.events.count(), bytes);
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < all.size(); ++i)
        if (rankOf(all[i]) > rankOf(all[best]))
            best = i;
    return best;
}

Result<std::shared_ptr<const Rank>> openRank(const fs::path& path, const ReadOptions& options, const Job& job)
{
    return openRankWith(path, options, job, systemMemory);
}

Result<std::shared_ptr<const Rank>> openRankWith(
    const fs::path& path, const ReadOptions& options, const Job& given, const MemoryProbe& memory)
{
    const MemoryWatch watch(given, memory);
    const Job& job = watch.job();
    const auto said = [&](const Error& error) {
        return error.code == ErrorCode::Cancelled ? watch.error(path).value_or(error) : error;
    };
    try {
        job.report(Stage::Open, 0, 0);
        auto snapshot = readSnapshot(path, options, job);
        if (!snapshot)
            return said(snapshot.error());
        auto rank = std::make_shared<Rank>();
        rank->snapshot = std::move(snapshot).value();
        // Nobody else has it yet.
        auto& own = const_cast<Snapshot&>(*rank->snapshot);
        if (auto error = endSegments(own, job))
            return said(*error);
        job.report(Stage::Replay, 0, rank->snapshot->devices.size());
        if (auto error = derive(*rank, job))
            return said(*error);
        for (std::size_t i = 0; i < own.devices.size(); ++i)
            endBlocks(own.devices[i], *rank->devices[i]);
        return std::shared_ptr<const Rank>(std::move(rank));
    } catch (const std::bad_alloc&) {
        return outOfMemory();
    }
}

Result<std::vector<fs::path>> expandPaths(std::span<const fs::path> paths)
{
    std::vector<fs::path> out;
    for (const fs::path& path : paths) {
        std::error_code ignored;
        if (!fs::is_directory(path, ignored)) {
            // A missing file is told of when it is opened, so that the others still are.
            out.push_back(path);
            continue;
        }
        auto files = filesOf(path);
        if (!files)
            return files.error();
        out.insert(out.end(), files->begin(), files->end());
    }
    if (out.empty() && !paths.empty())
        return Error{ErrorCode::NotFound,
            "There is no file in " + displayText(paths.front().string())
                + " (subfolders and hidden files are not looked at).",
            std::nullopt};
    return out;
}

} // namespace tidemark
