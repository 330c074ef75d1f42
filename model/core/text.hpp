// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

/// Text from a file made safe to show: valid UTF-8 (bad bytes and lone surrogates become U+FFFD), control
/// characters (NUL, newline, tab, escape, …) become their Control Pictures (U+2400…), bidirectional overrides
/// are removed. One line, nothing cut at a NUL.
std::string displayText(std::string_view raw);
/// As displayText, shortened in the middle to at most `maxChars` characters with "…".
std::string displayText(std::string_view raw, std::size_t maxChars);
/// Last component of a path with / or \ separators.
std::string_view baseName(std::string_view path);
/// Adds a code point (below 2^21) in UTF-8; a surrogate becomes its three-byte form, which Python's
/// "surrogatepass" reads back.
void appendUtf8(std::string& out, std::uint32_t code);
/// True when `text` is valid UTF-8 without surrogates.
bool isValidUtf8(std::string_view text);

} // namespace tidemark
