// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/matching.hpp"
#include "model/lens/scope.hpp"

#include <cstdint>
#include <vector>

namespace tidemark::compare {

enum class RowStatus : std::uint8_t { Grew, Shrank, New, Gone, Same };
const char* statusName(RowStatus status); ///< "grew", "shrank", "new", "gone", "same"

/// One common group at the compared instants.
struct Row {
    std::uint32_t group = 0; ///< position in Matching::groups
    std::uint64_t bytesA = 0;
    std::uint64_t bytesB = 0;
    std::uint64_t allocationsA = 0;
    std::uint64_t allocationsB = 0;
    std::int64_t delta = 0;
    RowStatus status = RowStatus::Same;
    AllocationId largestA = AllocationId::none;
    AllocationId largestB = AllocationId::none;
    /// Two instants of one run: what lives at both. A − survived was freed, B − survived appeared.
    std::uint64_t bytesSurvived = 0;
    std::uint64_t allocationsSurvived = 0;
};

/// Bytes of one side at the instants by how they were matched; `bytes` in the order of MatchKind.
struct MatchedShare {
    std::array<std::uint64_t, matchKinds> bytes{};
    std::uint64_t total = 0;
    /// Of the total: bytes without a call site of their own (no stack, or older than the recording), which
    /// are the same by that alone. 0 where sites are not compared.
    std::uint64_t withoutSite = 0;
    /// Fraction of the total; 1 when there is nothing.
    double share(MatchKind kind) const;
};

/// What differs between two instants. Σ delta of rows = B's curve at its instant − A's at its own.
struct Table {
    Scope scopeA;
    Scope scopeB;
    std::vector<Row> rows; ///< by |delta|, then name; groups with nothing on either side have no row
    std::uint64_t bytesA = 0;
    std::uint64_t bytesB = 0;
    std::uint64_t allocationsA = 0;
    std::uint64_t allocationsB = 0;
    std::int64_t delta = 0;
    bool oneRun = false; ///< the survived figures mean something
    std::uint64_t bytesSurvived = 0;
    std::uint64_t allocationsSurvived = 0;
    MatchedShare matchedA;
    MatchedShare matchedB;

    /// "Matched by function, file and line: 98.2 % of A's bytes, …": one sentence.
    std::string matchedText() const;
};

/// Live memory at a state of A against a state of B, in requested bytes. Cost: as Timeline::liveAt of both,
/// plus a sort of the groups. Any thread.
Table tableAt(const Side& a, const Side& b, const Matching& matching, StateIndex stateA, StateIndex stateB);

/// What was allocated, freed, or allocated and kept in a range of A against one of B (a matched step). Cost:
/// passes over the allocations. Any thread.
Table tableOver(const Side& a, const Side& b, const Matching& matching, const Scope& scopeA,
    const Scope& scopeB, ScopePart part, const Job& job);

} // namespace tidemark::compare
