// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/named_area.hpp"
#include "widgets/timeline/timeline_scene.hpp"

#include <vector>

namespace tidemark {

/// Outlines of the allocations that cover most pixels of the scene's picture, at most `most`, the largest
/// first. What changes less than a pixel is drawn straight. Cost: a pass over the picture.
std::vector<NamedArea> timelineAreas(const TimelineScene& scene, std::size_t most);

} // namespace tidemark
