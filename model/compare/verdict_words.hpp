// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/verdicts.hpp"

namespace tidemark::compare {

/// Differences of reserved memory and of roles below this are not worth a sentence.
inline constexpr std::int64_t leastVerdictBytes = std::int64_t{64} << 20;

/// A verdict about a change of so many bytes: more is a warning.
Verdict verdictOf(VerdictKind kind, std::int64_t change, std::string title);
std::int64_t sumOf(const std::vector<VerdictPart>& parts);
/// Reserved memory that does not follow live memory; absent when it does.
std::optional<Verdict> reservedVerdict(const VerdictInput& input);
/// Fewer events and more memory in private pools; absent when it is not so.
std::optional<Verdict> poolsVerdict(const VerdictInput& input);

/// "4.41 GiB": without a sign.
std::string sizeText(std::int64_t bytes);
/// "the optimizer step", "forward", "set-up".
std::string phaseText(Phase phase);
/// "gather@d.py:7: 72 → 0 × 64 MiB (attention, saved activation)".
std::string rowText(const VerdictInput& input, const Row& row);
/// The largest rows, memory from before the recording as one, and the rest; their sum is the table's delta.
/// `all`: every row that differs is a part of its own.
std::vector<VerdictPart> rowParts(const VerdictInput& input, std::size_t most, bool& all);
/// "−4.50 GiB gather@d.py:7, +64 MiB f@x.py:1": the parts in a line.
std::string partsText(const VerdictInput& input, const std::vector<VerdictPart>& parts);
/// A setting's value: "not stated" where a side says nothing of it, "(empty)" for an empty text.
std::string settingText(const std::optional<std::string>& value);
/// "expandable_segments false → true": allocator settings that differ; empty for none.
std::string allocatorDifferences(const SettingChanges& settings);

} // namespace tidemark::compare
