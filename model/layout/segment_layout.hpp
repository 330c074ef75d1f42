// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

enum class MapLayout {
    Flow, ///< rows of equal bytes, segments one after the other
    Rows, ///< one segment per row from a common left edge
};
enum class MapOrder { Size, Address, Age, FreeBytes };

struct MapOptions {
    MapLayout layout = MapLayout::Flow;
    MapOrder order = MapOrder::Size;
    /// Only segments with holes.
    bool withHoles = false;
    std::optional<PoolId> pool;
    std::optional<StreamId> stream;
    double width = 1; ///< logical pixels, label room included
    double rowHeight = 11;
    double rowGap = 2;
    double headerHeight = 18;
    double labelWidth = 0; ///< Rows: room at the left for the address
    /// Bytes per row; 0 = choose so that the largest common segment size fits a few to a row (Flow) or the
    /// largest segment fills one (Rows). Raised where it would make a segment thousands of rows long.
    std::uint64_t bytesPerRow = 0;
};

/// A stretch of a segment on one row, in logical pixels.
struct MapBox {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
    std::uint32_t segment = 0; ///< into SegmentState::segments
    std::uint32_t piece = 0; ///< into SegmentState::pieces
    bool tornLeft = false; ///< continues on the row before
    bool tornRight = false;
};

/// Outline of (a row's part of) a segment.
struct MapFrame {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
    std::uint32_t segment = 0;
    bool tornLeft = false;
    bool tornRight = false;
};

struct MapHeader {
    double y = 0;
    std::string
        text; ///< "stream 7 · pool (0, 1) · 3 segments · 1.20 GiB", "small pool: 23 segments of 2 MiB"
};

struct MapPicture {
    std::vector<MapBox> boxes; ///< sorted by y, then x
    std::vector<MapFrame> frames; ///< the same
    std::vector<MapHeader> headers;
    double height = 0;
    std::uint64_t bytesPerRow = 0;
};

/// Geometry of the segment map (help/window.md). Flow by size: largest first, each into the first row that
/// has room; in other orders segments follow each other, so that the order can be read. What is longer than a
/// row breaks over several. A headed group per (stream, private pool) when there is more than one, default
/// pool first; in each the small pool apart at the end. Cost: O(segments log segments + pieces); ≤ 4 ms for
/// 2,000 segments of 20,000 pieces.
MapPicture layoutSegments(const Snapshot& snapshot, const SegmentState& state, const MapOptions& options);

/// Index of the box at a point, by binary search on rows.
std::optional<std::size_t> boxAt(const MapPicture& picture, double x, double y);

} // namespace tidemark
