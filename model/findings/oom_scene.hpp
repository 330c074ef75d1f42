// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/findings/oom.hpp"
#include "model/lens/colouring.hpp"
#include "model/lens/groups.hpp"
#include "model/lens/live_table.hpp"
#include "model/lens/phases.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// A part of what the allocator could use at an out-of-memory event.
struct CapacityPart {
    enum class Kind : std::uint8_t {
        Live, ///< blocks of one colour
        Waiting, ///< freed by the program, waiting for a stream
        Unknown, ///< blocks in a state this program does not know
        Pinned, ///< free, in default-pool segments that also hold blocks
        Releasable, ///< free, in default-pool segments that hold nothing
        OtherStream, ///< free, in another stream's segments (told apart for Verdict::WrongPool only)
        PoolHeld, ///< free, inside a private pool
        DeviceFree, ///< never reserved
    };
    Kind kind = Kind::Live;
    std::uint8_t slot = 0; ///< Live: the colour
    std::string text; ///< Live: what has this colour, as the legend says
    /// Live: the group it is, under the grouping of the scene; absent when the colour stands for several.
    std::optional<std::uint32_t> group;
    std::uint64_t bytes = 0;
    std::uint64_t pieces = 0;
    bool free() const { return kind >= Kind::Pinned; }
};

/// Blocks of one site that keep free memory from going back.
struct PinGroup {
    std::uint32_t group = 0; ///< under the grouping of the scene
    std::uint8_t slot = 0; ///< colourSlot::count for several colours
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t releases = 0;
    double leverage = 0; ///< releases ÷ bytes
    std::pair<std::uint64_t, std::uint64_t> sizes; ///< of the smallest and the largest block
    std::pair<std::uint64_t, std::uint64_t> held; ///< least and most that one of them holds free
    /// Events that made the first and the last of them; absent when they are older than the recording.
    std::optional<std::pair<EventIndex, EventIndex>> events;
    bool predating = false; ///< some are older than the recording
    std::string step; ///< that all were made in; empty when unknown or several
    AllocationId example = AllocationId::none; ///< the one of highest leverage
};

/// Free memory of the request's pool kind that it may not use: of another stream or pool.
struct FreeElsewhere {
    StreamId stream{};
    PoolId pool{};
    std::uint64_t bytes = 0;
    std::uint64_t segments = 0;
};

/// The hole the failed request is drawn over.
struct GhostHole {
    std::uint32_t segment = 0; ///< into SegmentState::segments
    std::uint32_t piece = 0; ///< into SegmentState::pieces
    std::uint64_t offset = 0; ///< of its start in the segment
    std::uint64_t size = 0;
    /// It lies where the request may go; false: it belongs to another stream or pool.
    bool reachable = true;
};

/// Segments of one row list of the map.
struct SegmentCounts {
    std::uint64_t all = 0;
    std::uint64_t withHoles = 0;
};

/// What the scene is made from; values, so that it can be worked on anywhere.
struct OomSceneRequest {
    std::shared_ptr<const Replay> replay;
    OomAutopsy autopsy;
    std::shared_ptr<const Grouping> grouping; ///< what rows of tables stand for: sites, or sizes
    std::shared_ptr<const Colouring> colouring;
    std::shared_ptr<const Phases> phases; ///< may be null
    std::optional<std::uint64_t> deviceTotal;
};

/// Everything the "Out of memory" view shows of one event, with its sums.
struct OomScene {
    OomSceneRequest of;
    /// Null: the file lists no segments.
    std::shared_ptr<const SegmentState> state;
    std::shared_ptr<const LiveTable> live; ///< by the grouping
    std::vector<std::uint32_t> liveOrder; ///< largest first

    /// In drawing order; they sum to `usable`. Empty without segments.
    std::vector<CapacityPart> parts;
    std::uint64_t usable = 0; ///< reserved + free on the device
    std::uint64_t reserved = 0;
    std::uint64_t used = 0; ///< Σ of parts that are not free
    /// Free inside reserved memory, and that plus what is free on the device.
    std::uint64_t freeInside = 0;
    std::uint64_t freeAll = 0;
    /// Pinned + free on the device, to be compared with the growth.
    std::uint64_t pinnedAndDevice = 0;

    std::vector<PinGroup> pins; ///< by what they hold, most first
    std::uint64_t pinBlocks = 0;
    std::uint64_t pinBytes = 0;
    std::uint64_t pinReleases = 0;
    bool pinsAreAll = false; ///< what they hold is all that is pinned

    StreamId stream = StreamId::none; ///< of the request
    PoolId pool{}; ///< of the request; none: a private pool without memory so far
    std::vector<FreeElsewhere> elsewhere; ///< of OomAutopsy::elsewhere, most bytes first
    std::optional<GhostHole> ghost;
    std::uint64_t missing = 0; ///< what of the request the ghost's hole does not hold
    SegmentCounts inClass; ///< segments of the request's stream and pool
    SegmentCounts everywhere;
    /// What others than PyTorch hold of the card; absent when its size is unknown.
    std::optional<std::int64_t> others;
    /// All block sizes are stated by the file; else sums of free bytes are inferred by rounding rules.
    bool exact = false;

    const OomAutopsy& autopsy() const { return of.autopsy; }
};

/// Cost: SegmentHistory::stateAt, a pass over the pieces and one over the live allocations. Any thread.
std::shared_ptr<const OomScene> buildOomScene(const OomSceneRequest& request, const Job& job);

/// Bytes of a map row wide enough for the ghost from where its hole starts, given the row the layout would
/// choose; never more than four of those.
std::uint64_t rowForGhost(const OomScene& scene, std::uint64_t automatic);

} // namespace tidemark
