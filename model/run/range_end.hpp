// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/replay/replay.hpp"
#include "model/snapshot/snapshot.hpp"

#include <optional>

namespace tidemark {

/// Where events behind the range that was read were left out, the segments of the file are those of a later
/// moment: undoes the later events, so that segments and blocks are those of the range's end. Block sizes of
/// what does not stay to the end of the file are rounded requests until endBlocks. Before the replay; one
/// thread.
std::optional<Error> endSegments(Snapshot& snapshot, const Job& job);

/// Replaces such a device's blocks by the pieces of the replayed last state, so that both agree to the byte.
void endBlocks(DeviceTrace& device, const Replay& replay);

} // namespace tidemark
