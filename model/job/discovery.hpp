// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/playbook/run_config.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

enum class RankFileKind : std::uint8_t {
    Snapshot,
    Digest, ///< of `tidemark digest`: figures without the full views
};

/// A file that is or may be one rank's snapshot, with what is known of it and from where.
struct RankFile {
    std::filesystem::path path;
    RankFileKind kind = RankFileKind::Snapshot;
    std::uint64_t bytes = 0;
    std::int64_t writtenUs = 0; ///< last change of the file, Unix microseconds
    std::optional<int> rank;
    std::string rankFrom; ///< "file name", "folder name", "device in the file"; empty: unknown
    std::optional<std::int64_t> step;
    std::string stepFrom;
    bool oom = false; ///< dumped because memory ran out
    std::string oomFrom;
    /// Once the file was read: its only GPU, and the time of the last recorded event.
    std::optional<int> device;
    std::optional<std::int64_t> recordedUs;
    /// Why another file of the rank is taken instead, a sentence; empty for the chosen one.
    std::string superseded;
};

/// All files of one rank, best first: files.front() is the chosen one.
struct RankFiles {
    std::optional<int> rank; ///< absent: no name and no content tells
    std::vector<RankFile> files;
    const RankFile& chosen() const { return files.front(); }
};

/// A file that looked like a snapshot and cannot be opened.
struct BadFile {
    std::filesystem::path path;
    Error error; ///< the sentence to show
    std::optional<int> rank; ///< which rank it would have been
};

/// A job as it lies on disk. A value: copies are independent.
struct DiscoveredJob {
    /// By rank, those without one behind, by name.
    std::vector<RankFiles> ranks;
    std::vector<BadFile> bad;
    /// No snapshots and not meant to be: settings, logs, notes.
    std::vector<std::filesystem::path> beside;
    /// run_config.yaml and the like, of the top folders first.
    std::vector<std::filesystem::path> configFiles;
    /// Steps of which some rank has a file, ascending.
    std::vector<std::int64_t> steps;
    std::optional<std::int64_t> chosenStep; ///< as asked for by chooseStep
    std::optional<int> worldSize;
    std::string worldSizeFrom; ///< "WORLD_SIZE", "file names", …
    /// Ranks the settings say were to be recorded (profile_ranks); empty: all.
    std::vector<int> recordedRanks;
    /// Expected ranks without a file that can be opened, ascending.
    std::vector<int> missing;
    /// "Ranks 3 and 8–15 left no file that can be opened."; empty when none is missing.
    std::string missingSentence() const;

    /// "Rank 3 has two files; …" for each rank of which not all files are shown, ascending.
    std::vector<std::string> supersededSentences() const;

    const RankFiles* find(int rank) const;
    /// Chosen files in the order of `ranks`.
    std::vector<std::filesystem::path> chosenFiles() const;
};

/// Looks through files and folders (with all their subfolders; hidden ones are left out) and sorts what is
/// there by the names and the first bytes. No snapshot is read. An empty folder is an error; a bad file is
/// never one. `settings` says what is known beside the files found. Cost: one short read a file. Any thread.
Result<DiscoveredJob> discover(
    std::span<const std::filesystem::path> paths, const RunConfig& settings, const Job& job);

/// What reading a file told, to correct what its name said.
struct FileContent {
    std::filesystem::path path;
    bool oom = false;
    std::optional<int> device; ///< its only GPU: the rank, where no name gives one and each file has another
    std::optional<std::int64_t> recordedUs;
    std::optional<int> rank; ///< of a digest
    std::optional<std::int64_t> step;
};
/// Files that are not in the job are passed over. Cost: one pass over the job.
void learn(DiscoveredJob& job, std::span<const FileContent> contents);
/// A file that cannot be opened after all: it moves to `bad` (or to `beside`, when nothing but its bytes
/// spoke for it), and the next file of its rank is chosen. False: the rank has no other.
bool reject(DiscoveredJob& job, const std::filesystem::path& path, const Error& error);
/// Takes the files of one step where a rank has one; absent: the newest of each rank.
void chooseStep(DiscoveredJob& job, std::optional<std::int64_t> step);

/// "0–3, 7 and 12–15".
std::string ranksText(std::span<const int> ascending);

} // namespace tidemark
