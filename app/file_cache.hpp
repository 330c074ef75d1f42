// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/loader.hpp"
#include "app/settings.hpp"
#include "app/worker.hpp"
#include "model/cache/rank_cache.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace tidemark {

/// Opens files through the cache of the user's settings, and keeps what was opened anew while the user looks
/// at it already. GUI thread, but for the opener, which any thread may call. Outlives the openers it gave.
class FileCache {
public:
    /// `folder` is where it lies; `off`: neither read nor written whatever the settings say (--no-cache).
    explicit FileCache(
        Settings& settings, std::filesystem::path folder = RankCache::userFolder(), bool off = false);

    /// Tells builds of one version apart, by the program's own file: what another one has derived may be
    /// wrong. Empty when the file cannot be looked at; nothing is kept then.
    static std::string buildOf(const std::filesystem::path& program);

    Loader::Opener opener();
    /// Called with true once a file is kept (tests).
    void onStored(std::function<void(bool)> told) { m_told = std::move(told); }

    bool isOn() const { return m_on; }
    void setOn(bool on);
    int limitMiB() const { return static_cast<int>(m_limitMiB); }
    void setLimitMiB(int limit);
    std::uint64_t bytes() const { return cache().bytes(); }
    void clear();
    const std::filesystem::path& folder() const { return m_folder; }

private:
    RankCache cache() const;
    Result<std::shared_ptr<const Rank>> open(
        const std::filesystem::path& file, const ReadOptions& options, const Job& job);

    Settings& m_settings;
    std::filesystem::path m_folder;
    std::string m_build;
    bool m_off;
    std::atomic<bool> m_on;
    std::atomic<std::int64_t> m_limitMiB;
    std::function<void(bool)> m_told;
    Worker m_writer; // last: stopped before the rest goes
};

} // namespace tidemark
