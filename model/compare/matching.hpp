// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/side.hpp"
#include "model/lens/colouring.hpp"
#include "model/lens/groups.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::compare {

/// How two groups were found to be the same, surest first.
enum class MatchKind : std::uint8_t {
    Exact, ///< equal names: function, file and line (directories do not count), module, role, size class …
    LineDrift, ///< equal function and file, another line
    BySize, ///< equal function in another file, with allocations of the same size
    OnlyA,
    OnlyB,
};
inline constexpr std::size_t matchKinds = 5;
const char* matchKindName(MatchKind kind); ///< "exact", "line-drift", "by-size", "only-a", "only-b"

/// A group of one or both sides under one number, so that it has one colour and one row.
struct CommonGroup {
    static constexpr std::uint32_t none = 0xffffffffU;
    std::string name; ///< A's name, else B's
    std::uint32_t groupA = none; ///< under the side's Grouping
    std::uint32_t groupB = none;
    MatchKind kind{};
    bool predating = false; ///< older than the recording on a side that has it
    std::uint64_t highestA = 0; ///< its own highest bytes over the whole recording
    std::uint64_t highestB = 0;
};

/// Groups of two sides matched by what they are, never by address. Common groups are ordered by their own
/// highest bytes on either side (then by name): the first twelve get the category colours.
struct Matching {
    GroupBy by{};
    std::shared_ptr<const Grouping> groupingA;
    std::shared_ptr<const Grouping> groupingB;
    std::vector<CommonGroup> groups;
    std::vector<std::uint32_t> commonOfA; ///< by A's group
    std::vector<std::uint32_t> commonOfB;

    /// One sentence on what makes two groups the same.
    std::string rule() const;

    /// Sites and stacks by content, everything else by name. GroupBy::None counts as Site. Cost: two
    /// groupings and a pass over the events of each. Null when stopped. Sides prepared() for Label and Role.
    static std::shared_ptr<const Matching> build(const Side& a, const Side& b, GroupBy by, const Job& job);
};

/// Colours of one side such that a common group has the same colour on both: the first twelve common groups
/// get the category slots, the others "other", memory older than the recording its own. The legend's group is
/// the common one.
std::shared_ptr<const Colouring> commonColouring(const Matching& matching, const Side& side, Which which);

} // namespace tidemark::compare
