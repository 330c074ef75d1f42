// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simulate/fidelity.hpp"
#include "model/simulate/program_order.hpp"
#include "model/simulate/recording.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tidemark {

/// What to try.
struct WhatIfWish {
    AllocatorSettings settings;
    /// Bytes the process may reserve; absent: as the recording tells (Simulation::capacityFor).
    std::optional<std::uint64_t> capacity;
    /// The whole device, for per_process_memory_fraction and the length of expandable ranges; absent: as the
    /// recording tells, else as capacity.
    std::optional<std::uint64_t> deviceTotal;
    /// Requests of a program with fixes; null: as recorded.
    std::shared_ptr<const ProgramChange> change;
    /// Another order of these requests; null: as recorded.
    std::shared_ptr<const ProgramOrder> order = {};
};

/// A recording's requests under other settings. Bytes.
struct WhatIf {
    AllocatorSettings settings;
    std::optional<std::uint64_t> capacity;
    /// Reserved, and block bytes of allocations that do not wait for a stream, by state of the recording.
    /// From knownUntil on they stand still.
    Series reserved;
    Series allocated;
    /// The last state that is predicted: the end of the trace, or where the run would have gone another way.
    StateIndex knownUntil = 0;

    std::uint64_t peakReserved = 0; ///< within requests as well, so it may lie above the curve's maximum
    StateIndex peakState = 0; ///< first state in or before which it is reached
    std::uint64_t peakAllocated = 0;
    std::uint64_t endReserved = 0; ///< at knownUntil
    std::uint64_t endAllocated = 0;
    /// What the next shortage of memory would give back, as of knownUntil.
    std::uint64_t endReleasable = 0;
    std::uint64_t idleAtPeak = 0; ///< reserved and in no block, at the curve's maximum
    AllocatorModel::Counts counts;

    struct OutOfMemory {
        /// Absent: what lived before the first event finds no room already.
        std::optional<EventIndex> event;
        std::uint64_t bytes = 0; ///< rounded request, or as ModelRun::refusedBytes
        std::uint64_t deviceFree = 0;
        std::uint64_t reserved = 0;
        std::uint64_t allocated = 0;
        std::uint64_t pending = 0;
        /// The recorded request failed there, too.
        bool recorded = false;
        /// What would be left if all free memory were one piece (help/numbers.md).
        std::int64_t slack() const
        {
            return static_cast<std::int64_t>(reserved + deviceFree - allocated - pending)
                - static_cast<std::int64_t>(bytes);
        }
    };
    /// The first request that finds no memory.
    std::optional<OutOfMemory> outOfMemory;
    /// The recorded out-of-memory event that does not happen: the request is served. The rest of the run is
    /// unknown.
    std::optional<EventIndex> servedFailure;

    bool fits() const { return !outOfMemory; }
};

/// A recording and what may be predicted from it. Immutable after build; any thread.
class Simulation {
public:
    /// Replays the recording under its own settings. Cost: as Recording::build and fidelityOf. Errors:
    /// Cancelled; Unsupported with the reason when there is nothing to replay.
    static Result<std::shared_ptr<const Simulation>> build(
        std::shared_ptr<const Replay> replay, const Job& job);

    const Recording& recording() const { return *m_recording; }
    const Fidelity& fidelity() const { return m_fidelity; }
    /// Why nothing is predicted, in a sentence; empty when something is.
    const std::string& refusal() const { return m_refusal; }

    /// What the process may reserve in such a run: the wish's capacity, else the recorded one. If the
    /// recorded run was held by its own per_process_memory_fraction and the wish has another, the device.
    Capacity capacityFor(const WhatIfWish& wish) const;
    /// The wish with what it leaves open, as far as the recording tells. A device of which the recorded run
    /// had a share is at least so large that this share was enough.
    WhatIfWish filledIn(const WhatIfWish& wish) const;
    /// Which settings of the wish, other than the recorded ones, cannot act and why, in a sentence; empty
    /// when all may.
    std::string withoutEffect(const WhatIfWish& wish) const;

    /// Below this fidelity a prediction would be a guess.
    static constexpr double leastScore = 0.9;

    /// Cost: as fidelityOf, with a change as changedRecording on top; polls job. Errors: Cancelled;
    /// Unsupported with refusal().
    Result<WhatIf> run(const WhatIfWish& wish, const Job& job) const;
    /// The predicted segments at a state, laid out like those of a recording. Cost as run. Errors as run.
    Result<SegmentState> segmentsAt(const WhatIfWish& wish, StateIndex state, const Job& job) const;

private:
    /// The least device of which the recorded share was enough; absent without a recorded share.
    std::optional<std::uint64_t> leastDevice() const;
    /// With the wish's change; null when stopped.
    std::shared_ptr<const Recording> recordingFor(const WhatIfWish& wish, const Job& job) const;

    std::shared_ptr<const Recording> m_recording;
    Fidelity m_fidelity;
    std::string m_refusal;
};

} // namespace tidemark
