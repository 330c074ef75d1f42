// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

/// Numbers as text, the same in window, command line and reports (help/window.md). Texts are UTF-8 and hold
/// a no-break space (U+00A0) before units and the minus sign U+2212.
namespace tidemark {

/// "22.54 GiB", "512 MiB", "78.1 MiB", "16 KiB", "466 B": GiB and above two decimals, MiB none from 100 else
/// one, KiB none, below 1 KiB exact. Rounds half away from zero.
std::string formatBytes(std::int64_t bytes);
/// As formatBytes with a sign always shown for non-zero values: "+1.20 GiB", "−512 MiB".
std::string formatBytesDelta(std::int64_t bytes);
/// "268,435,456 B": all digits.
std::string formatExactBytes(std::int64_t bytes);
/// "22,331": thousands separated by commas.
std::string formatCount(std::int64_t count);
/// As formatCount for offsets and lengths that a file states, which may be anything.
std::string formatUnsigned(std::uint64_t count);
/// "26.6 %" of a fraction 0.266; "–" when the whole is zero.
std::string formatPercent(double fraction);
/// A span of time from microseconds: "812 µs", "77.7 ms", "1.04 s", "2 min 05 s", "3 h 04 min".
std::string formatDuration(std::int64_t us);
/// As formatDuration with a plus or minus sign in front: "+77.7 ms".
std::string formatOffset(std::int64_t us);
/// "2026-07-14 09:31:05.123456 UTC" of Unix microseconds.
std::string formatUtc(std::int64_t unixUs);
/// "0x7f4001600000".
std::string formatAddress(std::uint64_t address);

} // namespace tidemark
