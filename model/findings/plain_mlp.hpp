// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tidemark {

/// Feed-forward blocks of models that no rule knows by file name: by stack, whether it lies inside the
/// function that calls an activation function (silu, gelu, …). A recording gives lines, not the extent of a
/// function, so frames count as the same function when file, name and everything that calls them are equal
/// and their lines are near the activation's. Functions that also enclose attention or a convolution are
/// none, nor is anything of Megatron Core, which has boundaries of its own. `factsOfStack`: in::Facts by
/// stack. Cost: two passes over the frames of all distinct stacks.
std::vector<bool> plainMlpStacks(const Snapshot& snapshot, std::span<const std::uint64_t> factsOfStack);

} // namespace tidemark
