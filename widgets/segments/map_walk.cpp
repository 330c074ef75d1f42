// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/segments/map_walk.hpp"

#include <cmath>

namespace tidemark {

std::optional<std::size_t> boxOf(
    const Selection& selection, const SegmentState& state, const MapPicture& picture)
{
    const auto chosen = [&](const MapBox& box) {
        const Piece& piece = state.pieces[box.piece];
        switch (selection.kind) {
        case Selection::Kind::Allocation:
            return valid(piece.allocation) && piece.allocation == selection.allocation;
        case Selection::Kind::Hole:
            return piece.kind == PieceKind::Free && piece.address == selection.address;
        case Selection::Kind::Segment:
            return state.segments[box.segment].address == selection.address;
        case Selection::Kind::Group:
        case Selection::Kind::Set:
        case Selection::Kind::None:
            break;
        }
        return false;
    };
    for (std::size_t i = 0; i < picture.boxes.size(); ++i)
        if (chosen(picture.boxes[i]))
            return i;
    return std::nullopt;
}

std::optional<std::size_t> boxBeside(
    const MapPicture& picture, std::optional<std::size_t> selected, int direction)
{
    const auto& boxes = picture.boxes;
    if (boxes.empty())
        return std::nullopt;
    if (!selected)
        return direction > 0 ? 0 : boxes.size() - 1;
    std::size_t next = *selected;
    const std::uint32_t piece = boxes[next].piece;
    // A torn block has a box on every row; walking goes to another block.
    while (boxes[next].piece == piece) {
        if ((direction < 0 && next == 0) || (direction > 0 && next + 1 == boxes.size()))
            return std::nullopt;
        next = direction < 0 ? next - 1 : next + 1;
    }
    return next;
}

std::optional<std::size_t> boxInNextRow(const MapPicture& picture, std::size_t selected, int direction)
{
    const auto& boxes = picture.boxes;
    const MapBox& from = boxes[selected];
    const double centre = from.x + from.width / 2;
    const auto distance = [&](std::size_t at) {
        // Rows first: a box of the next row is nearer than any of the one after it.
        return std::abs(boxes[at].x + boxes[at].width / 2 - centre) + 1000 * std::abs(boxes[at].y - from.y);
    };
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < boxes.size(); ++i)
        if (((direction < 0 && boxes[i].y < from.y) || (direction > 0 && boxes[i].y > from.y))
            && (!best || distance(i) < distance(*best)))
            best = i;
    return best;
}

} // namespace tidemark
