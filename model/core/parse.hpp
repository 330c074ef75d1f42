// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// What people type, as numbers: the counterpart of core/units.hpp. Spaces around and inside are ignored,
/// case does not matter; anything else that is left over makes the answer empty.
namespace tidemark {

/// "80 GiB", "64M", "1.5g", "512", "1,048,576 B": every prefix is binary, as in nvidia-smi and PyTorch.
std::optional<std::uint64_t> parseBytes(std::string_view text);
/// "0x7f4001600000".
std::optional<std::uint64_t> parseAddress(std::string_view text);
/// "3,737" or "3737".
std::optional<std::uint64_t> parseCount(std::string_view text);
/// "+77.7 ms", "1.5s", "200 us", "2 min", "1h" in microseconds; the unit is required.
std::optional<std::int64_t> parseDuration(std::string_view text);

} // namespace tidemark
