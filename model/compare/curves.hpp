// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/alignment.hpp"

#include <cstdint>
#include <vector>

namespace tidemark::compare {

enum class Curve : std::uint8_t { Live, Reserved };

/// One pixel column [x, x + step). Exact extremes: of each curve over all of its states in the column, those
/// of no duration included.
struct CurveColumn {
    std::int64_t minA = 0;
    std::int64_t maxA = 0;
    std::int64_t minB = 0;
    std::int64_t maxB = 0;
    /// Of B − A over every pair of states that the alignment puts at the same x of the column: the union of
    /// both sides' change points, not the difference of the extremes. Only over matched parts.
    std::int64_t minDelta = 0;
    std::int64_t maxDelta = 0;
    bool hasA = false; ///< A has states of its own here; else it stands still
    bool hasB = false;
    bool hasDelta = false; ///< some part of the column is matched
};

/// Both curves and their difference over x in [from, to) in `width` columns. Exact extremes, whatever the
/// width. Cost: one walk over the change points in view, about 13 ms for 2 × 10⁶ (20 ms for Time). Empty when
/// the curve is not known on a side (reserved without segments), or for width 0. Any thread.
std::vector<CurveColumn> curveColumns(
    const Alignment& alignment, Curve curve, double from, double to, std::size_t width);

/// Whether both sides know it.
bool curveKnown(const Alignment& alignment, Curve curve);

/// Extremes over the whole axis, for scales: as one column.
CurveColumn wholeCurve(const Alignment& alignment, Curve curve);

} // namespace tidemark::compare
