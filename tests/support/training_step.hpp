// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/run/rank.hpp"
#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <memory>

namespace tidemark::test {

/// A made-up training step with a bit of everything a timeline shows: memory from before the recording, a
/// forward and a backward pass over `layers` layers, optimizer state, a free that waits for another stream, a
/// private pool, growing reserved memory, times, nested marks and a failed request at the end.
struct TrainingStep {
    int layers = 8;
    bool oom = true;
    bool times = true;
    bool marks = true;
};
std::shared_ptr<const Snapshot> trainingStep(const TrainingStep& wish = {});

/// A snapshot with everything the views need, as openRank gives it. Asserts on failure.
std::shared_ptr<const Rank> makeRank(std::shared_ptr<const Snapshot> snapshot);

} // namespace tidemark::test
