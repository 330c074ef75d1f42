// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cache/rank_cache.hpp"

#include "model/cache/packed_file.hpp"
#include "model/cache/rank_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <system_error>
#include <vector>

namespace tidemark {

namespace fs = std::filesystem;

namespace {

constexpr const char* ending = ".tmcache";
/// Counts up whenever what is stored, or derived, changes.
constexpr const char* layout = "1";

struct Kept {
    fs::path path;
    std::uint64_t bytes = 0;
    fs::file_time_type used;
};

/// All that is ours in the folder, the least recently used first.
std::vector<Kept> keptIn(const fs::path& folder)
{
    std::vector<Kept> all;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code odd;
        if (entry->path().filename().string().find(ending) == std::string::npos
            || !entry->is_regular_file(odd) || entry->is_symlink(odd))
            continue;
        all.push_back({entry->path(), entry->file_size(odd), entry->last_write_time(odd)});
    }
    std::ranges::sort(all, {}, &Kept::used);
    return all;
}

} // namespace

RankCache::RankCache(fs::path folder, std::uint64_t mostBytes, std::string program)
    : m_folder(std::move(folder))
    , m_mostBytes(mostBytes)
    , m_program(std::move(program))
{ }

fs::path RankCache::userFolder()
{
    // A relative one is to be ignored (XDG base directory specification).
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
        return fs::path(cache) / "tidemark";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return fs::path(home) / ".cache" / "tidemark";
    return {};
}

std::optional<RankCache::Stamp> RankCache::stampOf(const fs::path& file)
{
    struct stat status { };
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    return Stamp{static_cast<std::uint64_t>(status.st_size), status.st_ino,
        static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
}

fs::path RankCache::entryOf(const Stamp& stamp, const std::string& hash) const
{
    return m_folder / (std::to_string(stamp.bytes) + "-" + hash + ending);
}

std::string RankCache::identity(const std::string& hash) const
{
    return std::string(layout) + '/' + m_program + '/' + hash;
}

/// Most files that are opened for the first time are told apart by their length: they need not be hashed.
bool RankCache::holdsLength(std::uint64_t bytes) const
{
    const std::string start = std::to_string(bytes) + "-";
    return std::ranges::any_of(
        keptIn(m_folder), [&](const Kept& kept) { return kept.path.filename().string().starts_with(start); });
}

std::shared_ptr<const Rank> RankCache::load(const fs::path& file, const Job& job) const
{
    const auto stamp = stampOf(file);
    if (m_folder.empty() || !stamp || stamp->bytes < leastFile || !holdsLength(stamp->bytes))
        return nullptr;
    const std::string hash = hashOfFile(file, [&job] { return job.stopped(); });
    if (hash.empty() || stampOf(file) != stamp)
        return nullptr;
    const fs::path entry = entryOf(*stamp, hash);
    std::error_code failed;
    if (!fs::exists(entry, failed))
        return nullptr;
    try {
        // Columns are at most some times as large as the file they came from, however well that is packed.
        PackedReader in(entry, identity(hash), stamp->bytes * 64 + (256U << 20));
        Source source;
        source.path = file.string();
        source.name = file.filename().string();
        source.fileBytes = stamp->bytes;
        if (auto rank = in.good() ? loadRank(in, source, job) : nullptr) {
            fs::last_write_time(entry, fs::file_time_type::clock::now(), failed);
            return rank;
        }
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    if (!job.stopped())
        fs::remove(entry, failed);
    return nullptr;
}

bool RankCache::store(const fs::path& file, const Stamp& before, const Rank& rank, const Job& job) const
{
    const Snapshot& snapshot = *rank.snapshot;
    const bool whole = !snapshot.source.partial
        && std::ranges::all_of(snapshot.devices, [](const DeviceTrace& d) { return d.outside == nullptr; });
    if (m_folder.empty() || !whole || before.bytes < leastFile || stampOf(file) != before)
        return false;
    const std::string hash = hashOfFile(file, [&job] { return job.stopped(); });
    if (hash.empty() || stampOf(file) != before)
        return false;
    std::error_code failed;
    fs::create_directories(m_folder.parent_path(), failed);
    if (fs::create_directory(m_folder, failed))
        fs::permissions(m_folder, fs::perms::owner_all, failed);
    const fs::path entry = entryOf(before, hash);
    PackedWriter out(entry, identity(hash));
    if (!storeRank(out, rank, job) || !out.close())
        return false;
    makeRoom(m_mostBytes, entry);
    return fs::exists(entry, failed);
}

/// What was used last stays, unless it alone is too much.
void RankCache::makeRoom(std::uint64_t mostBytes, const fs::path& newest) const
{
    std::vector<Kept> all = keptIn(m_folder);
    std::uint64_t sum = 0;
    for (const Kept& kept : all)
        sum += kept.bytes;
    std::ranges::stable_partition(all, [&](const Kept& kept) { return kept.path != newest; });
    for (const Kept& kept : all) {
        if (sum <= mostBytes)
            return;
        std::error_code failed;
        if (fs::remove(kept.path, failed))
            sum -= kept.bytes;
    }
}

std::uint64_t RankCache::bytes() const
{
    std::uint64_t sum = 0;
    for (const Kept& kept : keptIn(m_folder))
        sum += kept.bytes;
    return sum;
}

void RankCache::clear() const
{
    for (const Kept& kept : keptIn(m_folder)) {
        std::error_code failed;
        fs::remove(kept.path, failed);
    }
}

} // namespace tidemark
