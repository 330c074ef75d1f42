// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/core/job.hpp"

#include <memory>
#include <vector>

namespace tidemark {

struct Recording;

/// The recorded requests in another order, with the cache emptied now and then. States are those of the
/// recording.
struct ProgramOrder {
    /// torch.cuda.empty_cache() is called right before the event that leads to each of these; ascending.
    std::vector<StateIndex> emptied;
    /// Allocations made right before the event that leads to `firstAt`, in this order, instead of where they
    /// were; ascending. Those made earlier stay where they are.
    std::vector<AllocationId> first;
    StateIndex firstAt = 0;

    bool empty() const { return emptied.empty() && first.empty(); }
};

/// The recording of the reordered program. Cost: a pass over the steps. Null when stopped.
std::shared_ptr<const Recording> reorderedRecording(
    const Recording& recording, const ProgramOrder& order, const Job& job);

} // namespace tidemark
