// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/segments.hpp"

#include <cstdint>

namespace tidemark {

/// Requests up to this size go to the small pool, whose segments and pages are 2 MiB.
inline constexpr std::uint64_t smallRequest = 1ULL << 20;
inline constexpr std::uint64_t smallPage = 2ULL << 20;
/// Pages of the large pool's expandable segments, and its native segments for requests below 10 MiB.
inline constexpr std::uint64_t largePage = 20ULL << 20;

/// The segment serves requests up to 1 MiB; for unknown kinds told from its size.
bool isSmallPool(const SegmentView& segment);

/// Memory that one kind of request can be served from: pool kind, stream, private pool.
struct MemoryClass {
    bool small = false;
    StreamId stream{};
    PoolId pool{};
    bool operator==(const MemoryClass&) const = default;
};
MemoryClass classOf(const SegmentView& segment);

/// Bytes of a free piece that emptying the cache gives back: all of it in a native segment that holds
/// nothing, the whole pages in an expandable one, none in a private pool. What is left is pinned there. Needs
/// the sums of the segment's pieces.
std::uint64_t releasableIn(const SegmentView& segment, const Piece& piece);

} // namespace tidemark
