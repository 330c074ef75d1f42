// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/job/file_class.hpp"
#include "model/job/rank_summary.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Digests: a rank's summary as a small file, for jobs larger than one machine (help/digest.md).
namespace tidemark {

/// Version of the layout. Another version is refused, and made anew by a rerun.
inline constexpr std::uint32_t digestVersion = 1;
/// Bounds on digests that are read.
inline constexpr std::uint64_t maxDigestFile = 32U << 20;
inline constexpr std::uint64_t maxDigestUnpacked = 128U << 20;

/// The bytes of a digest file. At most 256 KiB or 1 % of the snapshot, whichever is larger: finer curves and
/// the pieces of segments are left out where it would be more.
std::string digestBytes(const RankSummary& summary);
/// Reads what digestBytes wrote; anything else is one sentence. Nothing in it is trusted.
Result<RankSummary> parseDigest(std::string_view bytes, const std::filesystem::path& file);
Result<RankSummary> readDigest(const std::filesystem::path& file, const Job& job);
/// The content key of a digest, from its first bytes; absent when it is none, or of another version.
std::optional<std::string> digestKey(const std::filesystem::path& file);

/// A share of some work.
struct WorkShare {
    std::uint64_t index = 0;
    std::uint64_t count = 1;
    std::string from; ///< "SLURM_PROCID", …; empty: all of it
};
using Environment = std::function<std::optional<std::string>(const char*)>;
/// Which share a task takes, by what started it: SLURM_PROCID and SLURM_NTASKS (more than one task), else
/// SLURM_ARRAY_TASK_ID with _COUNT and _MIN, OMPI_COMM_WORLD_RANK and _SIZE, RANK and WORLD_SIZE. An array of
/// several tasks each takes shares of shares. A value that is no number, or beyond its count, is an error.
Result<WorkShare> workShare(const Environment& environment);

/// One snapshot and the digest that it becomes.
struct DigestTask {
    std::filesystem::path snapshot;
    std::filesystem::path digest;
};
/// Digests in `folder` for snapshots: named by the path below the folder all of them share, with "__" between
/// folders. Equal for the same snapshots, whatever order they are given in; names are distinct.
std::vector<DigestTask> digestTasks(
    std::span<const std::filesystem::path> snapshots, const std::filesystem::path& folder);

} // namespace tidemark
