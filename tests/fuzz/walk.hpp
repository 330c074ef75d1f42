// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/reader.hpp"
#include "model/run/rank.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace tidemark::fuzz {

/// Opens bytes as a file would be; checks the refusal; null when it is refused.
std::shared_ptr<const Rank> openBytes(std::string_view bytes, const ReadOptions& options);

/// Does with an opened file what the window and the command line do: findings, labels, pictures on every
/// axis, segments, a summary and its digest, a comparison with itself, other settings, reports. `choice`
/// picks options. Ends the program where sums do not fit.
void walk(const std::shared_ptr<const Rank>& rank, std::uint64_t choice);

} // namespace tidemark::fuzz
