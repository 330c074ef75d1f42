// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"

#include <QString>

namespace tidemark {

class Session;

/// One line about a stretch of a segment for the status bar: "softmax@nn_utils.py:6  256 MiB · allocation
/// 801".
QString pieceLine(
    const Session& session, const Replay& replay, const SegmentView& segment, const Piece& piece);
/// The same with exact bytes, life and segment, as rich text for a tool tip. `sharing` blocks lie under one
/// pixel.
QString pieceToolTip(const Session& session, const Replay& replay, const SegmentView& segment,
    const Piece& piece, std::size_t sharing);
/// "segment 0x7f…, 20.0 MiB · stream 7 · pool (0, 1)".
QString segmentLine(const Replay& replay, const SegmentView& segment);
/// `predicted`: when it was reserved is not told.
QString segmentToolTip(const Replay& replay, const SegmentView& segment, bool predicted);
/// "large, expandable", "small", …
QString segmentKindText(const SegmentView& segment);

} // namespace tidemark
