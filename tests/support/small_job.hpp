// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/recorded_snapshot.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace tidemark::test {

/// A rank whose live memory climbs to `blocks` pieces of `bytes` and falls again, `rounds` times, each in a
/// step ProfilerStep#N of its own where `steps` is set.
RecordedSnapshot climbingRank(int blocks, std::uint64_t bytes, int rounds = 3, bool steps = false);

/// The same work, and then a request for two pieces fails although half of all of them is free, in holes of
/// one piece each.
RecordedSnapshot fragmentedRank(int blocks, std::uint64_t bytes, int rounds = 3, bool steps = false);

/// The same work, and then a request for two pieces fails although nothing was freed: memory is full.
RecordedSnapshot fullRank(int blocks, std::uint64_t bytes, int rounds = 3, bool steps = false);

/// Writes a file with all folders above it.
void writeJobFile(const std::filesystem::path& file, const std::string& bytes);

/// Ranks 0 … `ranks` − 1 as snapshot_RANK.pickle; `failing` (none below 0) as snapshot_oom_rank-N.pickle.
void writeSmallJob(const std::filesystem::path& folder, int ranks, int failing = -1, int blocks = 20);

} // namespace tidemark::test
