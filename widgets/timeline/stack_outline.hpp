// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/timeline/timeline_scene.hpp"

namespace tidemark {

/// An outline around one allocation over its visible life: `inner` one device-near pixel around it, `outer`
/// (transparent = none) around that. It follows the allocation through the stack column by column; where it
/// is thinner than a row its place is interpolated or asked from the model. Cost: O(pixels of its columns).
OutlineImage outlineAllocation(
    const TimelineScene& scene, AllocationId id, const QColor& inner, const QColor& outer);

} // namespace tidemark
