// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/run/rank.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace tidemark {

/// Files that were opened before, kept in a folder of the user's so that they open faster the next time (help
/// page "cache"). Known by all of their content, never by name, place or date. What lies in the folder is not
/// trusted: a file that is damaged, of another version or of another program is as good as none. Any thread;
/// several programs may share the folder.
class RankCache {
public:
    /// `program` names the build: what another one has derived is not used.
    RankCache(std::filesystem::path folder, std::uint64_t mostBytes, std::string program);

    /// $XDG_CACHE_HOME/tidemark, or ~/.cache/tidemark; empty without a home.
    static std::filesystem::path userFolder();
    /// Smaller files open quickly enough.
    static constexpr std::uint64_t leastFile = 4U << 20;

    /// What was kept of a file with this content; null when nothing was, or it is of no use (it is removed
    /// then). Cost: a read of the file, and of what was kept.
    std::shared_ptr<const Rank> load(const std::filesystem::path& file, const Job& job) const;

    /// How a file looked before it was opened.
    struct Stamp {
        std::uint64_t bytes = 0;
        std::uint64_t inode = 0;
        std::int64_t changed = 0; ///< ns
        bool operator==(const Stamp&) const = default;
    };
    static std::optional<Stamp> stampOf(const std::filesystem::path& file);
    /// Keeps an opened file, and drops the oldest ones until all fit. Nothing happens when it was opened
    /// partially, has been changed since `before`, or the folder cannot be written to. True when it is kept.
    bool store(
        const std::filesystem::path& file, const Stamp& before, const Rank& rank, const Job& job) const;

    /// Bytes of all that is kept.
    std::uint64_t bytes() const;
    void clear() const;
    /// Drops the oldest ones until all fit.
    void makeRoom() const { makeRoom(m_mostBytes, {}); }
    const std::filesystem::path& folder() const { return m_folder; }

private:
    std::filesystem::path entryOf(const Stamp& stamp, const std::string& hash) const;
    std::string identity(const std::string& hash) const;
    bool holdsLength(std::uint64_t bytes) const;
    void makeRoom(std::uint64_t mostBytes, const std::filesystem::path& newest) const;

    std::filesystem::path m_folder;
    std::uint64_t m_mostBytes;
    std::string m_program;
};

} // namespace tidemark
