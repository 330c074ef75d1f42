// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run/rank.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::test {

/// Ranges of events worth opening alone in a trace of `events`: both ends, single events, and `count` random
/// ones.
std::vector<ReadOptions> rangesToTry(std::uint64_t events, std::size_t count, std::uint64_t seed);

/// Opens a range of a file alone and compares it with the same events of the whole: curves, who is live, how
/// large reserved memory is. The first difference in words; empty when there is none.
std::string differenceOfRange(
    const Rank& whole, const std::filesystem::path& file, const ReadOptions& options);

} // namespace tidemark::test
