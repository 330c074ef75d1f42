// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/findings/oom.hpp"
#include "model/lens/phases.hpp"
#include "model/lens/sites.hpp"
#include "model/replay/replay.hpp"
#include "model/replay/segment_class.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tidemark {

/// The size a request of `bytes` is rounded to without a rounding setting: 512 B steps.
std::uint64_t roundedRequest(std::uint64_t bytes);
/// By how much the reserved memory has to grow for a rounded request: 2 or 20 MiB or the request in 2 MiB
/// steps; whole pages for expandable segments.
std::uint64_t growthUnit(std::uint64_t request, bool expandable, std::uint64_t page = largePage);

/// Memory at one state, all bytes. The numbers in brackets are those of help/numbers.md.
struct StateMetrics {
    std::uint64_t reserved = 0; ///< R
    std::uint64_t allocated = 0; ///< A: blocks of live allocations
    std::uint64_t waiting = 0; ///< P [M10]: blocks that wait for a stream
    std::uint64_t requested = 0; ///< Q: what the program asked for, waiting ones included
    std::uint64_t inactive = 0; ///< I: free inside segments, private pools included
    std::uint64_t holes = 0; ///< free blocks
    std::uint64_t largestHole = 0;
    /// S [M6]: free in native segments of the default pool that hold at least one block.
    std::uint64_t pinned = 0;
    /// Expandable segments of the default pool: free bytes that are no whole free page.
    std::uint64_t pageResidue = 0;
    std::uint64_t stuckHoles = 0; ///< holes with bytes of the one or the other
    /// [M8]: what emptying the cache gives back: unsplit native segments and whole free pages.
    std::uint64_t releasable = 0;
    std::uint64_t releasableSegments = 0;
    std::uint64_t privateReserved = 0; ///< [M12]
    std::uint64_t privateInactive = 0;

    /// [M1] I/R, caching included; 0 without reserved memory.
    double inactiveRatio() const;
    /// [M4] 1 − largest hole / free; for display only, high in healthy runs.
    double externalFragmentation() const;
    /// [M9] A + P − Q.
    std::uint64_t rounding() const;
    /// Free bytes of the default pool that a flush leaves behind.
    std::uint64_t stuck() const { return pinned + pageResidue; }
};

using SegmentTest = std::function<bool(const SegmentView&)>;
/// Sums over the segments that `keep` accepts (all without it). Cost: one pass over the pieces.
StateMetrics metricsOf(const SegmentState& state, const SegmentTest& keep = {});

/// One row of the class table [M11].
struct ClassMetrics {
    MemoryClass of;
    std::uint64_t segments = 0;
    StateMetrics metrics;
};
/// By pool, stream and kind.
std::vector<ClassMetrics> classTable(const SegmentState& state);

/// [M5]: share of the free bytes that lie in holes smaller than a rounded request; 0 without free bytes.
double unusableIndex(const SegmentState& state, std::uint64_t request, const SegmentTest& keep = {});

/// [M7]: live blocks of the default pool's native segments that hold free bytes back, by leverage, highest
/// first. The free bytes of a segment are shared equally by its blocks.
std::vector<PinningBlock> pinningBlocks(const SegmentState& state);

/// Figures over the whole trace.
struct TraceMetrics {
    std::int64_t allocatedPeak = 0; ///< max A + P, blocks
    StateIndex allocatedPeakState = 0;
    std::int64_t reservedPeak = 0;
    StateIndex reservedPeakState = 0;
    std::int64_t gapAtAllocatedPeak = 0; ///< [M2] R − A there
    double utilization = 0; ///< [M3] max A / max R
    std::int64_t pendingPeak = 0; ///< [M10] requested bytes
    StateIndex pendingPeakState = 0;
};
TraceMetrics traceMetrics(const Replay& replay);

/// [M13]: what others hold on the card at an out-of-memory event; absent when a part is unknown.
std::optional<std::int64_t> nonPyTorchBytes(const OomAutopsy& oom, std::optional<std::uint64_t> deviceTotal);

/// [M14]: segments given back inside one request, because the driver had refused it.
struct Flush {
    EventIndex first{};
    EventIndex last{};
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    std::int64_t reservedBefore = 0;
    std::uint64_t grownBy = 0; ///< what the request reserved right after
};
/// Bursts of segment_free or segment_unmap that a segment_alloc or segment_map follows at once, without a
/// frame of empty_cache, where reserved memory could not have grown without them: what was reserved before
/// plus the growth is above all that the trace ever had reserved.
std::vector<Flush> flushes(const Replay& replay, const Job& job);

/// [M15]: reserved and live memory at the ends of complete steps.
struct ReservedGrowth {
    std::vector<StateIndex> ends;
    std::vector<std::int64_t> reserved;
    std::vector<std::int64_t> live; ///< A + P
    /// From the end of the second step to the end of the last one; 0 with fewer than four steps.
    std::int64_t grown = 0;
    std::int64_t liveGrown = 0;
    /// Share of those steps in which reserved rose.
    double rising = 0;
};
ReservedGrowth reservedGrowth(const Replay& replay, std::span<const Step> steps);

/// The largest allocation of a step from the default pool; none without one.
AllocationId largestRequest(const Replay& replay, const Step& step);

/// What the metrics of a moment are measured against; all of it may be left out.
struct MetricsContext {
    std::span<const Step> steps;
    std::span<const OomAutopsy> ooms; ///< M13 is known at their states only
    std::optional<std::uint64_t> deviceTotal;
};
/// All metrics at one state. Those of the whole trace (M2, M3, M15) do not depend on it.
struct MomentMetrics {
    StateMetrics now; ///< M1, M4, M6, M8, M9, M10, M12
    /// What M5 is told for: the failed request at an out-of-memory event, else the largest of the next step.
    std::optional<std::uint64_t> request;
    double unusable = 0; ///< [M5] in the request's class
    std::vector<PinningBlock> pins; ///< [M7] by leverage, highest first
    std::vector<ClassMetrics> classes; ///< [M11]
    TraceMetrics trace; ///< M2, M3, peak of M10
    std::optional<std::int64_t> nonPyTorch; ///< [M13]
    std::vector<Flush> flushes; ///< [M14] up to this state
    ReservedGrowth growth; ///< [M15]
};
/// Any state, any thread; figures of segments are 0 where the file has none. Cost: SegmentHistory::stateAt
/// and passes over its pieces and over the events. Stopped: incomplete.
MomentMetrics metricsAt(
    const Replay& replay, StateIndex state, const MetricsContext& context, const Job& job);

/// A frame of CUDA-graph capture in the stack (rule F-graph of help/numbers.md).
bool capturesGraph(const Snapshot& snapshot, StackId stack);
/// The site that holds most of `ids`, by requested bytes.
struct LargestSite {
    std::string name;
    std::uint64_t bytes = 0;
    std::vector<AllocationId> allocations;
    std::size_t others = 0; ///< sites that hold the rest
};
LargestSite largestSite(const Replay& replay, const Sites& sites, std::span<const AllocationId> ids);

} // namespace tidemark
