// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBrush>
#include <QColor>

namespace tidemark {

/// What fills an area besides its colour. Patterns repeat a meaning that colour alone would carry.
enum class Pattern {
    Predating, ///< "/" every 7 px: older than the recording
    Waiting, ///< "|" every 4 px: freed, waits for a stream
    Pinned, ///< "/" every 5 px: free, in a segment that also holds live blocks
    PoolHeld, ///< cross hatch every 6 px: free inside a private pool
    CutOff, ///< dots every 6 px: smaller than the cut-off
    Finding, ///< "\\" every 8 px, crisp: belongs to the finding shown
};

/// How much ink the pattern puts on a device pixel, 0…255; for painting into images. `ratio` is the device
/// pixel ratio. Coordinates count from any fixed corner; patterns of neighbours join when they share it.
int patternInk(Pattern pattern, int x, int y, double ratio);

/// A brush that paints only the pattern's lines in `line` (the rest is transparent); fill the ground first.
/// Set the painter's brush origin to keep a moving area's pattern still.
QBrush patternBrush(Pattern pattern, const QColor& line, double ratio);

} // namespace tidemark
