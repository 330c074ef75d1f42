// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simulate/recording.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark {

/// A recording's requests on their way through an AllocatorModel, a step at a time.
class ModelRun {
public:
    enum class Mode : std::uint8_t {
        /// Caches are released exactly when the recording shows it; the device has no end.
        AsRecorded,
        /// The allocator decides by itself; where the recording ran out, the request is tried again.
        WhatIf,
    };
    enum class Outcome : std::uint8_t {
        Done,
        RanOut, ///< a request that was served in the recording finds no memory
        FailedToo, ///< one that failed in the recording fails here as well
        Served, ///< one that failed in the recording is served: how the run goes on is not known
    };

    /// What lived before the first event stays where it was if the kind of segment is as recorded; else it is
    /// requested again, in the order of addresses. Where that is more than may be reserved, the cache is
    /// flushed (`startRanOut` tells if even that is not enough). Counts and the peak begin after it.
    ModelRun(const Recording& recording, const AllocatorSettings& settings, Mode mode,
        std::optional<std::uint64_t> capacity, std::optional<std::uint64_t> deviceTotal);

    Outcome apply(const RecordedStep& step);
    bool startRanOut() const { return m_startRanOut; }
    AllocatorModel& model() { return m_model; }
    const AllocatorModel& model() const { return m_model; }
    /// Block of a living allocation, none if it has none.
    BlockRef blockOf(AllocationId id) const { return m_blocks[index(id)]; }
    /// Frees of allocations that have no block.
    std::uint64_t strayFrees() const { return m_strayFrees; }
    /// Rounded size of the last request that found no memory; what is above the limit when memory that was
    /// there before the first event does not fit where it was.
    std::uint64_t refusedBytes() const { return m_refusedBytes; }

    /// Failed requests that are tried again: a program that meets more of them is not about memory. Those
    /// after them are taken to fail.
    static constexpr std::size_t mostFailures = 64;

private:
    void startAsRecorded();
    void startAnew();
    bool placeAnew(const ModelSegment& segment, const ModelBlock& block);
    void fitStart();
    Outcome allocate(const RecordedStep& step);
    Outcome retryFailed(const RecordedStep& step);
    void completeWaitedFor();
    void release(const RecordedStep& step);
    void free(const RecordedStep& step);
    void forgetSynchronised();

    const Recording& m_recording;
    Mode m_mode;
    bool m_keepsPlace;
    /// The run is the recorded one, so where the driver placed new ranges holds.
    bool m_repeats;
    AllocatorModel m_model;
    std::vector<BlockRef> m_blocks;
    /// Allocations whose free was requested and not completed.
    std::vector<bool> m_pending;
    /// Frees that the recorded flush waited for: before the request they are not complete.
    std::vector<RecordedStep> m_waitedFor;
    std::size_t m_failures = 0;
    /// Nothing happened since a failure of those that are not tried again.
    bool m_justFailed = false;
    std::uint64_t m_strayFrees = 0;
    std::uint64_t m_refusedBytes = 0;
    bool m_startRanOut = false;
};

} // namespace tidemark
