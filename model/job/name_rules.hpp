// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidemark {

/// What a name may say of a snapshot.
enum class NameFact : std::uint8_t {
    Rank,
    Step,
    Oom, ///< dumped because memory ran out
    NoRank, ///< numbers that look like a rank and are none
};

/// Which part of a path a rule reads: the file's name without its extensions, or one of the folders above it,
/// the nearest first.
enum class NamePart : std::uint8_t { File, Folder };

/// One way in which a framework writes a fact into names. Patterns are compared in lower case and may match
/// anywhere: `#` is a number, `%` the number of ranks, `?` a separator (one of "-_=." or a space) or nothing,
/// `_` a separator, `^` and `$` are the ends of the name; every other character stands for itself. A number
/// is taken whole; a word begins and ends where its letters do.
struct NameRule {
    NameFact fact;
    NamePart part;
    const char* pattern;
    const char* writtenBy; ///< for help and tooltips
};

/// Of several rules for one fact the first that matches wins.
std::span<const NameRule> nameRules();

/// What a path says. A rule is null where its fact is absent.
struct NameFacts {
    std::optional<int> rank;
    std::optional<std::int64_t> step;
    std::optional<int> worldSize; ///< "rank_0_of_8"
    bool oom = false;
    const NameRule* rankRule = nullptr;
    const NameRule* stepRule = nullptr;
    const NameRule* oomRule = nullptr;
};
/// Folders further up than three are not looked at. Any thread.
NameFacts factsOfName(const std::filesystem::path& file);

/// A pattern found in a name, with its numbers.
struct NameMatch {
    std::optional<std::int64_t> number; ///< of `#`
    std::optional<std::int64_t> ranks; ///< of `%`
};
std::optional<NameMatch> matchName(std::string_view pattern, std::string_view name);

/// A file's name without what says how it is stored: ".pickle", ".json.gz", ".tmdigest", …
std::string stemOf(const std::filesystem::path& file);
/// The name ends as snapshots do.
bool hasSnapshotExtension(const std::filesystem::path& file);

} // namespace tidemark
