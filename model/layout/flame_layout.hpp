// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/call_tree.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

/// One box of a flame graph: pixels from the left of the plot.
struct FlameBox {
    std::uint32_t node = 0; ///< the first one of a sliver
    std::uint32_t row = 0; ///< 0: the node zoomed to and those above it
    float x = 0;
    float width = 0;
    /// Nodes side by side that are narrower than a pixel, drawn as one; 1: an ordinary box.
    std::uint32_t merged = 1;
    /// What the box holds, all of a sliver's nodes together.
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    std::uint64_t matchedCount = 0;
};

/// Boxes of the tree below `zoomed`, which is as wide as the plot, and of the nodes above it. A box lies
/// below its parent's; nodes narrower than `least` pixels are merged with their neighbours and have nothing
/// below them. Widths of children never exceed the parent's. Cost: the boxes that are drawn.
std::vector<FlameBox> layoutFlame(const CallTree& tree, std::uint32_t zoomed, double width, double least = 1);

} // namespace tidemark
