// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/replay/replay.hpp"
#include "model/simulate/allocator_model.hpp"
#include "model/simulate/changed_program.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

/// What the program, or the allocator on its own, did at one event of a recording.
enum class StepKind : std::uint8_t {
    Allocate,
    Free, ///< requested and completed at once
    RequestFree, ///< completed later: another stream still used the memory
    CompleteFree,
    EmptyCache, ///< the program called torch.cuda.empty_cache
    Flush, ///< the allocator gave memory back because a request found none
    ReleasePool, ///< a private pool lost its last user at the latest here
    OutOfMemory,
};

struct RecordedStep {
    StepKind kind = StepKind::Allocate;
    /// Allocate: memory was given back inside this request, so it went to the driver without a second search.
    bool afterFlush = false;
    /// CompleteFree: right before a forced release of cached memory, which waits for all streams.
    bool atFlush = false;
    /// OutOfMemory: the default pool could have served it, so it was made in the scope of another pool, a
    /// graph capture or use_mem_pool.
    bool inScope = false;
    std::uint32_t event = 0;
    /// AllocationId; PoolId of ReleasePool; number of release events of a Flush or EmptyCache; place in
    /// DeviceTrace::ooms.
    std::uint32_t subject = 0;
    /// Address of the first memory that the driver gave for it, 0 for none.
    std::uint64_t grewAt = 0;
};

/// How much a process could reserve on its device, as far as a recording tells.
struct Capacity {
    enum class Source : std::uint8_t {
        Unknown, ///< it was never met: no out-of-memory event and no forced release
        OutOfMemory, ///< reserved and free bytes when a request failed
        Flush, ///< the most that was reserved; it was met, for memory was given back to serve a request
        Failure, ///< the most that was reserved; a request failed, but not with how much free
        Share, ///< the device, of which a share that was reached is known; the run has another share
        Given, ///< told by the user
    };
    Source source = Source::Unknown;
    std::uint64_t bytes = 0;

    std::optional<std::uint64_t> known() const
    {
        return source == Source::Unknown ? std::nullopt : std::optional(bytes);
    }
    /// No file says so: what is predicted at it is a guess.
    bool inferred() const
    {
        return source == Source::Flush || source == Source::Failure || source == Source::Share;
    }
};

/// A device's recording as an allocator sees it: where memory stood before the first event, and the requests.
/// Immutable after build; any thread. Cost: a pass over the events and the state before the first one, and as
/// fidelityOf when requests failed; 24 bytes a step.
struct Recording {
    std::shared_ptr<const Replay> replay;
    /// Those it was recorded under.
    AllocatorSettings settings;
    /// Segments and ranges before the first event; tags are AllocationIds.
    std::vector<ModelSegment> start;
    std::vector<RecordedStep> steps;
    Capacity capacity;
    /// Of a changed program (isChanged): requests of another size, and the bytes of those the recording does
    /// not have, whose subjects follow the AllocationIds. Both are empty for a recording as it is.
    std::vector<ProgramChange::Size> sizes;
    std::vector<std::uint64_t> extras;
    bool isChanged = false;
    /// Why there is nothing to replay, in a sentence; empty when there is. No steps then.
    std::string unusable;
    /// Why nothing may be predicted from it, although it may be replayed; empty when it may.
    std::string noPrediction;

    /// Errors: Cancelled.
    static Result<std::shared_ptr<const Recording>> build(
        std::shared_ptr<const Replay> replay, const Job& job);

    /// Tag of requests that are no allocation of the recording.
    static constexpr std::uint32_t noAllocation = 0xffffffffU;
    /// The request of an Allocate step.
    AllocatorModel::Request request(const RecordedStep& step) const;
    /// The request of an OutOfMemory step.
    AllocatorModel::Request failedRequest(const RecordedStep& step) const;
    /// Stream as in the file.
    std::int64_t streamOf(AllocationId id) const
    {
        return replay->snapshot->streams[index(replay->timeline.allocations().stream[index(id)])];
    }
};

} // namespace tidemark
