// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/name_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tidemark {

namespace {

constexpr std::array rules{
    NameRule{NameFact::Rank, NamePart::File, "rank?#?of?%", "own scripts"},
    NameRule{NameFact::Rank, NamePart::File, "global?rank?#", "own scripts"},
    // snapshot_oom_rank-3 (Megatron Bridge), rank0_memory_snapshot (torchtitan), step_12_rank_0, oom_rank5.
    NameRule{NameFact::Rank, NamePart::File, "rank?#", "Megatron Bridge, torchtitan, NeMo"},
    NameRule{NameFact::Rank, NamePart::Folder, "global?rank?#", "own scripts"},
    NameRule{NameFact::Rank, NamePart::Folder, "rank?#", "own scripts"},
    NameRule{NameFact::Rank, NamePart::File, "process?#", "Accelerate"},
    NameRule{NameFact::Rank, NamePart::File, "proc?#", "own scripts"},
    NameRule{NameFact::Rank, NamePart::File, "worker?#", "Ray, vLLM"},
    NameRule{NameFact::Rank, NamePart::File, "gpu?#", "own scripts"},
    NameRule{NameFact::Rank, NamePart::File, "cuda?#", "own scripts"},
    NameRule{NameFact::Rank, NamePart::File, "r#", "own scripts"},
    NameRule{NameFact::Rank, NamePart::Folder, "worker?#", "Ray"},
    // The numbers of a date and time at the end of a name: PyTorch's tutorial, host_Jul_14_09_31_05.
    NameRule{NameFact::NoRank, NamePart::File, "_#_#_#_#$", "PyTorch tutorial"},
    // snapshot_3 (Megatron Bridge: <base>_<rank>), memory-3.
    NameRule{NameFact::Rank, NamePart::File, "_#$", "Megatron Bridge, Megatron-LM"},
    NameRule{NameFact::Rank, NamePart::File, "^#$", "own scripts"},
    NameRule{NameFact::Rank, NamePart::File, "^#_", "own scripts"},

    NameRule{NameFact::Step, NamePart::File, "step?#", "NeMo, Lightning, own scripts"},
    NameRule{NameFact::Step, NamePart::File, "iteration?#", "torchtitan"},
    NameRule{NameFact::Step, NamePart::File, "iter?#", "Megatron-LM"},
    NameRule{NameFact::Step, NamePart::File, "it?#", "own scripts"},
    NameRule{NameFact::Step, NamePart::Folder, "iteration?#", "torchtitan"},
    NameRule{NameFact::Step, NamePart::Folder, "iter?#", "Megatron-LM"},
    NameRule{NameFact::Step, NamePart::Folder, "step?#", "Lightning"},
    NameRule{NameFact::Step, NamePart::Folder, "checkpoint?#", "Transformers"},

    NameRule{NameFact::Oom, NamePart::File, "oom", "Megatron Bridge"},
    NameRule{NameFact::Oom, NamePart::File, "out?of?memory", "own scripts"},
    NameRule{NameFact::Oom, NamePart::File, "iteration?#_exit", "torchtitan"},
    NameRule{NameFact::Oom, NamePart::Folder, "oom", "own scripts"},
    // torchtitan leaves iteration_<n>_exit behind when memory runs out.
    NameRule{NameFact::Oom, NamePart::Folder, "iteration?#_exit", "torchtitan"},
};

constexpr std::array<std::string_view, 14> storageEndings{".tmdigest", ".gz", ".zst", ".zstd", ".zip",
    ".pickle", ".pkl", ".json", ".html", ".pt", ".pth", ".bin", ".memory_snapshot", ".snapshot"};
constexpr std::array<std::string_view, 4> snapshotEndings{".pickle", ".pkl", ".memory_snapshot", ".snapshot"};

constexpr std::size_t foldersLookedAt = 3;
/// Longer numbers are dates and times.
constexpr std::size_t longestRank = 6;
constexpr std::size_t longestStep = 12;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isLetter(char c)
{
    return c >= 'a' && c <= 'z';
}

bool isSeparator(char c)
{
    return c == '-' || c == '_' || c == '=' || c == '.' || c == ' ';
}

std::string lowered(std::string text)
{
    std::ranges::transform(text, text.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

/// A walk through one pattern from one place of a name.
struct Walk {
    std::string_view pattern;
    std::string_view name;
    NameMatch match;

    bool number(std::size_t& at, std::optional<std::int64_t>& out) const
    {
        std::size_t end = at;
        while (end < name.size() && isDigit(name[end]))
            ++end;
        if (end == at || end - at > longestStep || (at > 0 && isDigit(name[at - 1])))
            return false;
        std::int64_t value = 0;
        std::from_chars(name.data() + at, name.data() + end, value);
        out = value;
        at = end;
        return true;
    }

    /// Words end where their letters do.
    bool wordEnds(std::size_t p, std::size_t at) const
    {
        const bool lastLetter
            = isLetter(pattern[p]) && (p + 1 == pattern.size() || !isLetter(pattern[p + 1]));
        return !lastLetter || at == name.size() || !isLetter(name[at]);
    }

    bool from(std::size_t at)
    {
        if (isLetter(pattern.front()) && at > 0 && isLetter(name[at - 1]))
            return false;
        for (std::size_t p = 0; p < pattern.size(); ++p) {
            switch (pattern[p]) {
            case '#':
                if (!number(at, match.number))
                    return false;
                break;
            case '%':
                if (!number(at, match.ranks))
                    return false;
                break;
            case '^':
                if (at != 0)
                    return false;
                break;
            case '$':
                if (at != name.size())
                    return false;
                break;
            case '?':
                if (at < name.size() && isSeparator(name[at]))
                    ++at;
                break;
            case '_':
                if (at >= name.size() || !isSeparator(name[at]))
                    return false;
                ++at;
                break;
            default:
                if (at >= name.size() || name[at] != pattern[p] || !wordEnds(p, at + 1))
                    return false;
                ++at;
            }
        }
        return true;
    }
};

} // namespace

std::span<const NameRule> nameRules()
{
    return rules;
}

std::optional<NameMatch> matchName(std::string_view pattern, std::string_view name)
{
    for (std::size_t at = 0; at <= name.size(); ++at) {
        Walk walk{pattern, name, {}};
        if (walk.from(at))
            return walk.match;
    }
    return std::nullopt;
}

std::string stemOf(const std::filesystem::path& file)
{
    std::string name = lowered(file.filename().string());
    bool shortened = true;
    while (shortened) {
        shortened = false;
        for (const std::string_view ending : storageEndings)
            if (name.size() > ending.size() && name.ends_with(ending)) {
                name.resize(name.size() - ending.size());
                shortened = true;
            }
    }
    return name;
}

bool hasSnapshotExtension(const std::filesystem::path& file)
{
    std::string name = lowered(file.filename().string());
    for (const std::string_view packed : {".gz", ".zst", ".zstd", ".zip"})
        if (name.ends_with(packed))
            name.resize(name.size() - packed.size());
    return std::ranges::any_of(
        snapshotEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

NameFacts factsOfName(const std::filesystem::path& file)
{
    const std::string stem = stemOf(file);
    std::array<std::string, foldersLookedAt> folders;
    std::filesystem::path above = file.parent_path();
    for (std::string& folder : folders) {
        folder = lowered(above.filename().string());
        above = above.parent_path();
    }
    const auto find = [&](const NameRule& rule) -> std::optional<NameMatch> {
        if (rule.part == NamePart::File)
            return matchName(rule.pattern, stem);
        for (const std::string& folder : folders)
            if (auto match = matchName(rule.pattern, folder))
                return match;
        return std::nullopt;
    };

    NameFacts facts;
    bool noRank = false;
    constexpr std::int64_t rankLimit = 1'000'000; // of longestRank digits
    static_assert(longestRank == 6);
    for (const NameRule& rule : rules) {
        const bool wanted = (rule.fact == NameFact::NoRank)
            || (rule.fact == NameFact::Rank && !facts.rankRule && !noRank)
            || (rule.fact == NameFact::Step && !facts.stepRule)
            || (rule.fact == NameFact::Oom && !facts.oomRule);
        const auto match = wanted ? find(rule) : std::nullopt;
        if (!match)
            continue;
        switch (rule.fact) {
        case NameFact::NoRank:
            noRank = true;
            break;
        case NameFact::Rank:
            if (*match->number >= rankLimit)
                break;
            facts.rank = static_cast<int>(*match->number);
            facts.rankRule = &rule;
            if (match->ranks && *match->ranks > *match->number && *match->ranks < rankLimit)
                facts.worldSize = static_cast<int>(*match->ranks);
            break;
        case NameFact::Step:
            facts.step = match->number;
            facts.stepRule = &rule;
            break;
        case NameFact::Oom:
            facts.oom = true;
            facts.oomRule = &rule;
            break;
        }
    }
    return facts;
}

} // namespace tidemark
