// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/replay/timeline.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

/// Each group's own highest live bytes over the whole trace; `groupOf` by allocation. Cost: a pass over the
/// allocations and one over the states. Empty when stopped. Any thread.
std::vector<std::uint64_t> groupMaxima(const Timeline& timeline, const std::vector<std::uint32_t>& groupOf,
    std::size_t groups, const Job& job = {});

} // namespace tidemark
