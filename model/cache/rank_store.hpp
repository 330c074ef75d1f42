// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cache/packed_file.hpp"
#include "model/core/job.hpp"
#include "model/run/rank.hpp"

#include <memory>

namespace tidemark {

/// Writes an opened file: its columns, and of what is derived from them what takes long to derive. False when
/// stopped or not good.
bool storeRank(PackedWriter& out, const Rank& rank, const Job& job);

/// The same file again; null when what is read cannot be one. Marks and call sites are made anew. Everything
/// that is an index is checked.
std::shared_ptr<const Rank> loadRank(PackedReader& in, const Source& source, const Job& job);

} // namespace tidemark
