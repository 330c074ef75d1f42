// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/memory_probe.hpp"
#include "model/run/rank.hpp"

namespace tidemark {

/// openRank with another source of what memory there is. Before memory runs out (memoryReserve) opening
/// stops: ErrorCode::TooLarge, with how far it came. Any thread.
Result<std::shared_ptr<const Rank>> openRankWith(
    const std::filesystem::path& path, const ReadOptions& options, const Job& job, const MemoryProbe& memory);

} // namespace tidemark
