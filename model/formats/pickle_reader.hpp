// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/reader.hpp"

namespace tidemark {

/// Snapshots as pickles: what _dump_snapshot and the C++ writer of PyTorch make.
extern const Reader pickleReader;

/// Whether bytes look like a pickle of any protocol.
bool looksLikePickle(std::string_view head);

/// Reads a pickle from any stream, also one that was taken out of another file.
std::optional<Error> readPickle(
    ByteStream& bytes, SnapshotBuilder& builder, const ReadOptions& options, const Job& job);

} // namespace tidemark
