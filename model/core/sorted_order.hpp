// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

/// Places of `keys` in ascending (or descending) order; equal keys stay in theirs. Empty when stopped. Cost:
/// a pass for every 11 bits in which the keys differ, and 20 to 36 bytes a key: some tenths of a second for 4
/// · 10⁶ addresses. Any thread. Fewer than 2^32 keys.
std::vector<std::uint32_t> sortedOrder(
    const std::vector<std::uint64_t>& keys, bool descending, const Job& job);

} // namespace tidemark
