// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/reader.hpp"
#include "model/lens/marks.hpp"
#include "model/lens/sites.hpp"
#include "model/replay/replay.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace tidemark {

/// One opened file with everything the views need. Immutable, shared between threads.
struct Rank {
    std::shared_ptr<const Snapshot> snapshot;
    /// One per snapshot->devices, same order.
    std::vector<std::shared_ptr<const Replay>> devices;
    std::vector<std::vector<Mark>> marks; ///< per device
    std::shared_ptr<const Sites> sites;
    std::shared_ptr<const Sites> rawSites;

    /// All notes of the file and of one device (or of all without one), file-wide ones first.
    std::vector<QualityNote> quality(std::optional<std::size_t> deviceIndex = std::nullopt) const;
    /// Device to show first: GPUs before host memory and the CPU, then the one with most events, then most
    /// segment bytes.
    std::size_t mainDevice() const;
};

/// Reads, replays and labels one file. Stages Open, Read, Replay are reported to job. Any thread.
Result<std::shared_ptr<const Rank>> openRank(
    const std::filesystem::path& path, const ReadOptions& options, const Job& job);

/// Files of a command line's PATHs in the order given; a folder gives its files by name (hidden ones left
/// out).
Result<std::vector<std::filesystem::path>> expandPaths(std::span<const std::filesystem::path> paths);

} // namespace tidemark
