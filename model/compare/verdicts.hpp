// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/alignment.hpp"
#include "model/compare/changes.hpp"
#include "model/compare/table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::compare {

enum class VerdictKind : std::uint8_t {
    Same, ///< nothing differs
    Peak, ///< why one peaks higher
    Instants, ///< what differs between two chosen moments
    PeakMoved, ///< the peaks lie in different phases
    Elsewhere, ///< something fell (or grew) much more than the peak: the peak is elsewhere
    Reserved, ///< reserved differs by more than live memory does
    Pools, ///< fewer events, more memory held by private pools
    FindingGone,
    FindingNew,
    NothingElse, ///< how many groups are the same to the byte
    Speed, ///< what a snapshot does not tell
};
const char* verdictName(VerdictKind kind); ///< "same", "peak", "peak-moved", …

/// One term of an explained difference.
struct VerdictPart {
    std::string text;
    std::int64_t bytes = 0;
    /// The common group it is about, for highlighting; CommonGroup::none for a sum of several.
    std::uint32_t group = CommonGroup::none;
};

/// A sentence with the exact bytes behind it.
struct Verdict {
    VerdictKind kind{};
    /// Warning: B is worse; Info: neutral or better.
    Severity severity = Severity::Info;
    bool better = false; ///< B needs less
    std::string title;
    std::string detail; ///< a second line, may be empty
    std::vector<VerdictPart> parts;
    std::int64_t sum = 0; ///< = Σ parts, when there are parts
};

/// What verdicts are made from.
struct VerdictInput {
    const Side& a;
    const Side& b;
    const Matching& matching;
    const Table& atPeaks;
    const Alignment& alignment;
    const std::vector<FindingChange>& findings;
    const SettingChanges& settings;
};
/// In order of importance. Cost: passes over the live allocations at the peaks and over the roles' curves.
std::vector<Verdict> verdicts(const VerdictInput& input);

/// Of two chosen moments instead of the peaks; `atPeaks` of the input is the table of these moments. One
/// verdict, whose parts are the rows.
std::vector<Verdict> verdictsOfInstants(const VerdictInput& input);

} // namespace tidemark::compare
