// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/segment_checks.hpp"

#include <algorithm>
#include <vector>

namespace tidemark::test {

std::string brokenState(const SegmentState& s, const Timeline& timeline)
{
    const bool atEnd = s.state + 1 == timeline.states();
    std::uint64_t reserved = 0;
    std::uint64_t live = 0;
    std::uint64_t waiting = 0;
    std::uint64_t free = 0;
    std::uint64_t unknown = 0;
    std::uint64_t held = 0;
    std::vector<AllocationId> shown = s.homeless;
    std::vector<SegmentId> ids;
    std::size_t nextPiece = 0;
    for (const SegmentView& view : s.segments) {
        ids.push_back(view.id);
        if (view.firstPiece != nextPiece)
            return "pieces out of order";
        nextPiece += view.pieceCount;
        std::uint64_t at = view.address;
        std::uint64_t hole = 0;
        for (std::size_t p = view.firstPiece; p < nextPiece; ++p) {
            const Piece& piece = s.pieces[p];
            if (piece.address != at)
                return "a gap between pieces";
            at += piece.size;
            if (piece.kind == PieceKind::Live)
                live += piece.size;
            else if (piece.kind == PieceKind::Waiting)
                waiting += piece.size;
            else if (piece.kind == PieceKind::Unknown)
                unknown += piece.size;
            else {
                free += piece.size;
                hole = std::max(hole, piece.size);
                if (view.pool != PoolId{})
                    held += piece.size;
                if (p > view.firstPiece && s.pieces[p - 1].kind == PieceKind::Free && !piece.exactSize
                    && !atEnd)
                    return "two holes side by side";
            }
            if (valid(piece.allocation))
                shown.push_back(piece.allocation);
        }
        if (at != view.address + view.size)
            return "pieces do not fill the segment";
        if (view.predating != (view.since == 0) || view.since > s.state)
            return "wrong birth";
        if (hole != view.largestHole)
            return "largest hole";
        reserved += view.size;
    }
    if (s.reserved != reserved || s.live != live || s.waiting != waiting || s.free != free)
        return "sums";
    if (s.live + s.waiting + s.free + unknown != s.reserved || s.heldByPools != held)
        return "parts of reserved";
    if (s.pinned + s.releasable + s.heldByPools != s.free)
        return "kinds of free memory";
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
        return "a segment id twice";
    // As sorted lists they are equal only if everything is there exactly once.
    std::sort(shown.begin(), shown.end());
    if (shown != timeline.liveAt(s.state))
        return "live allocations";
    return {};
}

} // namespace tidemark::test
