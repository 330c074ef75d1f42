// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/quality.hpp"
#include "model/replay/segments.hpp"

#include <vector>

namespace tidemark {

/// What replaying one device showed about its recording (help/data-quality.md): ids of core/quality.hpp, each
/// with a sentence that says which numbers it touches, and the figures. Cost: a few passes over the columns.
std::vector<QualityNote> replayQuality(const Snapshot& snapshot, const DeviceTrace& device,
    const Timeline& timeline, const SegmentHistory& segments);

/// Notes on a file as a whole that need no replay: one without any device holds nothing to look at.
std::vector<QualityNote> emptyFileQuality(const Snapshot& snapshot);

} // namespace tidemark
