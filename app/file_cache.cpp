// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/file_cache.hpp"

#include "app/version.hpp"

#include <algorithm>
#include <utility>

namespace tidemark {

FileCache::FileCache(Settings& settings, std::filesystem::path folder, bool off)
    : m_settings(settings)
    , m_folder(std::move(folder))
    , m_build(buildOf("/proc/self/exe"))
    , m_off(off || m_build.empty())
    , m_on(settings.get(setting::cacheOn))
    , m_limitMiB(std::max(settings.get(setting::cacheLimitMiB), 0))
{ }

std::string FileCache::buildOf(const std::filesystem::path& program)
{
    const auto stamp = RankCache::stampOf(program);
    return stamp ? std::string(versionText()) + '/' + std::to_string(stamp->bytes) + '/'
            + std::to_string(stamp->changed)
                 : std::string();
}

RankCache FileCache::cache() const
{
    return {m_folder, static_cast<std::uint64_t>(m_limitMiB.load()) << 20U, m_build};
}

Loader::Opener FileCache::opener()
{
    return [this](const std::filesystem::path& file, const ReadOptions& options, const Job& job) {
        return open(file, options, job);
    };
}

Result<std::shared_ptr<const Rank>> FileCache::open(
    const std::filesystem::path& file, const ReadOptions& options, const Job& job)
{
    // Writing would take half of the machine from the reading that somebody waits for.
    m_writer.cancel();
    if (m_off || !m_on || m_folder.empty() || options.partial || options.ranged())
        return openRank(file, options, job);
    const RankCache kept = cache();
    const auto before = RankCache::stampOf(file);
    if (auto rank = before ? kept.load(file, job) : nullptr)
        return rank;
    if (job.stopped())
        return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
    auto opened = openRank(file, options, job);
    if (opened && before && before->bytes >= RankCache::leastFile)
        m_writer.submit([this, kept, file, before, rank = *opened](const std::stop_token& stop) {
            const bool stored = kept.store(file, *before, *rank, Job{stop, {}});
            if (m_told)
                m_told(stored);
        });
    return opened;
}

void FileCache::setOn(bool on)
{
    m_on = on;
    m_settings.set(setting::cacheOn, on);
    if (!on)
        clear();
}

void FileCache::setLimitMiB(int limit)
{
    m_limitMiB = limit;
    m_settings.set(setting::cacheLimitMiB, limit);
    cache().makeRoom();
}

void FileCache::clear()
{
    m_writer.cancel();
    cache().clear();
}

} // namespace tidemark
