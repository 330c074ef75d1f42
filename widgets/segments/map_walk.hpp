// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/layout/segment_layout.hpp"
#include "model/replay/segments.hpp"
#include "widgets/view_state.hpp"

#include <cstddef>
#include <optional>

namespace tidemark {

// Which box of a segment picture is selected, and which one the arrow keys lead to. Any thread.

/// First box of the selected allocation, hole or segment; none when it is not in the picture.
std::optional<std::size_t> boxOf(
    const Selection& selection, const SegmentState& state, const MapPicture& picture);
/// The next (+1) or previous (−1) block or hole, the first or last one without a selection; none at the end.
std::optional<std::size_t> boxBeside(
    const MapPicture& picture, std::optional<std::size_t> selected, int direction);
/// The nearest box in the rows below (+1) or above (−1); none at the edge.
std::optional<std::size_t> boxInNextRow(const MapPicture& picture, std::size_t selected, int direction);

} // namespace tidemark
