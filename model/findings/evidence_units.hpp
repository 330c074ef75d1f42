// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// What the numbers of an evidence key count.
enum class EvidenceUnit : std::uint8_t {
    Count, ///< things; also texts, handles, yes or no
    Bytes,
    Share, ///< 0 … 1
    Percent,
    Factor, ///< a bare ratio
    Microseconds,
    Event, ///< its number
};

/// Absent for keys that no rule writes. A rule that brings a new key adds it to the table.
std::optional<EvidenceUnit> evidenceUnit(std::string_view key);

/// A key as people read it: "phase of the new peak"; with blanks for underscores where nothing reads better.
std::string evidenceName(std::string_view key);
/// A yes or no as people read it, to follow evidenceName.
std::string evidenceAnswer(std::string_view key, bool yes);

} // namespace tidemark
