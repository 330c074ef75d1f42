// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>
#include <optional>

namespace tidemark {

/// Bytes of a text a person types: "1.5 GiB", "64M", "512k", "1,048,576", "2 MB" (binary, as everywhere
/// here). Absent when it is not a size, not above 0, or beyond 2^63.
std::optional<std::uint64_t> parseSize(const QString& text);

} // namespace tidemark
