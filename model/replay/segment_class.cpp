// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/segment_class.hpp"

namespace tidemark {

namespace {

/// Bytes of a hole that are whole pages, counted from where the mapped range begins.
std::uint64_t wholePages(const SegmentView& segment, const Piece& hole)
{
    const std::uint64_t page = segment.page;
    const std::uint64_t begin = hole.address - segment.address;
    const std::uint64_t first = begin / page + (begin % page != 0 ? 1 : 0);
    const std::uint64_t last = (begin + hole.size) / page;
    return last > first ? (last - first) * page : 0;
}

} // namespace

bool isSmallPool(const SegmentView& segment)
{
    if (segment.kind != SegmentKind::Unknown)
        return segment.kind == SegmentKind::Small;
    return !segment.expandable && segment.size <= smallPage;
}

MemoryClass classOf(const SegmentView& segment)
{
    return {isSmallPool(segment), segment.stream, segment.pool};
}

std::uint64_t releasableIn(const SegmentView& segment, const Piece& piece)
{
    if (piece.kind != PieceKind::Free || index(segment.pool) != 0)
        return 0;
    if (segment.expandable)
        return wholePages(segment, piece);
    return segment.freeBytes == segment.size ? piece.size : 0;
}

} // namespace tidemark
