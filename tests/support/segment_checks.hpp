// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/segments.hpp"

#include <string>

namespace tidemark::test {

/// What must hold of SegmentHistory::stateAt at every state of any file: pieces fill their segments, sums
/// agree, every live allocation is placed once or listed as homeless. Empty when all is well, else what is
/// not.
std::string brokenState(const SegmentState& state, const Timeline& timeline);

} // namespace tidemark::test
