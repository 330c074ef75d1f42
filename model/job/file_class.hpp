// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tidemark {

enum class FileClass : std::uint8_t {
    Snapshot, ///< seems to be one
    Digest,
    Beside, ///< something else, and not meant to be a snapshot
    Bad, ///< named as a snapshot, but cannot be one
};

struct ClassifiedFile {
    FileClass of = FileClass::Beside;
    Error error; ///< of a bad one
};

/// Tells files apart by their first bytes and, where these leave it open, by the name. `namesRank`: the name
/// says which rank it is.
ClassifiedFile classifyFile(const std::filesystem::path& file, std::uint64_t bytes, bool namesRank);

/// First bytes of a digest file.
inline constexpr std::string_view digestMagic = "TMDIGEST";
inline constexpr std::string_view digestEnding = ".tmdigest";

} // namespace tidemark
