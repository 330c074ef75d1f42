// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"

#include <string>
#include <vector>

namespace tidemark {

/// A named range of one device's trace, recorded by record_function (help/format.md) or by 2.4's user_defined
/// events.
struct Mark {
    std::string name;
    StateIndex first = 0;
    StateIndex last = 0;
    std::optional<std::int64_t> startUs;
    std::optional<std::int64_t> endUs;
    int depth = 0; ///< nesting, outermost 0
    bool step = false; ///< ProfilerStep#N
    bool open = false; ///< its other end is missing; drawn to the edge
};

/// Begin and end marks of a device paired LIFO by name, in order of begin. Unpaired ones stay, flagged open.
std::vector<Mark> pairMarks(const Replay& replay);

} // namespace tidemark
