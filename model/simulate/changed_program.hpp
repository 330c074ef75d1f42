// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/core/job.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tidemark {

struct Recording;

/// How a program with some fixes would ask for memory, compared with the recorded one. Requested bytes;
/// states are those of the recording.
struct ProgramChange {
    /// The allocation is not there in the states [first, end): it is freed at `first` and made again at
    /// `end`.
    struct Gap {
        AllocationId id;
        StateIndex first;
        StateIndex end;
    };
    /// The request is for so much instead; not of allocations older than the recording.
    struct Size {
        AllocationId id;
        std::uint64_t bytes;
    };
    /// Memory the recorded program does not hold, on the device's first stream.
    struct Extra {
        StateIndex first;
        StateIndex end;
        std::uint64_t bytes;
    };
    std::vector<Gap> gaps; ///< by id, then first; those of one id do not touch
    std::vector<Size> sizes; ///< by id, one each
    std::vector<Extra> extras;

    bool empty() const { return gaps.empty() && sizes.empty() && extras.empty(); }
};

/// The recording of the changed program. Where several things happen after one event, what is freed goes
/// before what is made, both after what was recorded. Cost: a pass over the steps, and the change sorted.
/// Null when stopped.
std::shared_ptr<const Recording> changedRecording(
    const Recording& recording, const ProgramChange& change, const Job& job);

} // namespace tidemark
