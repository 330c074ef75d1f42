// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/details/details_sheet.hpp"

#include <set>

namespace tidemark {

class Style;

/// Which frames are spelled out: (stack's place in the sheet, frame's place in the stack).
using OpenFrames = std::set<std::pair<int, int>>;

/// How much of a stack is hidden.
struct FrameCount {
    std::size_t all = 0;
    std::size_t framework = 0;
};
FrameCount countFrames(const DetailsSheet& sheet, const Snapshot& snapshot);

/// Facts, tables and texts of a sheet as rich text in the theme's colours; nothing of a file goes in
/// unescaped.
QString factsHtml(const DetailsSheet& sheet, const Style& style);
/// Its stacks. Frames are links "frame:S:F"; folded runs "fold:", shortened names "open:S:F".
QString stacksHtml(const DetailsSheet& sheet, const Snapshot& snapshot, const Style& style,
    bool hideFramework, const OpenFrames& open);

} // namespace tidemark
