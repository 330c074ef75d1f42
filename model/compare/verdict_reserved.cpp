// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of reserved memory and of private pools.
#include "model/compare/verdict_words.hpp"
#include "model/core/byte_sum.hpp"
#include "model/core/units.hpp"

#include <cstdlib>

namespace tidemark::compare {

namespace {

/// Reserved bytes at the moment they are highest, in what they consist of.
struct ReservedParts {
    std::int64_t live = 0;
    std::int64_t idlePools = 0; ///< reserved by private pools, not requested
    std::int64_t pools = 0; ///< reserved by private pools
    std::int64_t rest = 0;
};
ReservedParts reservedParts(const Side& side)
{
    const Replay& replay = side.replay();
    const Series::Extremes top = replay.segments.reserved().total();
    ReservedParts parts;
    parts.live = replay.timeline.requested().at(top.maxState);
    ByteSum pools;
    for (const auto& [pool, series] : replay.segments.reservedByPool())
        if (pool != PoolId{0})
            pools += series.at(top.maxState);
    ByteSum idle = pools;
    for (const auto& [pool, series] : replay.requestedByPool)
        if (pool != PoolId{0})
            idle -= series.at(top.maxState);
    parts.pools = pools;
    parts.idlePools = std::max<std::int64_t>(idle, 0);
    parts.rest = wrappingSubtract(wrappingSubtract(top.max, parts.live), parts.idlePools);
    return parts;
}

/// Events in the matched steps, or in the whole recordings without any.
std::uint64_t eventsOf(const Side& side, const Alignment& alignment, Which which)
{
    if (alignment.by() != AlignBy::Step)
        return side.replay().states() - 1;
    std::uint64_t events = 0;
    for (const Step& step : side.phases->steps)
        if (alignment.partAt(alignment.xOf(which, step.first)).matched())
            events += step.last - step.first;
    return events;
}

} // namespace

std::optional<Verdict> reservedVerdict(const VerdictInput& input)
{
    const std::int64_t live = wrappingSubtract(input.b.peak(), input.a.peak());
    const auto peakA = input.a.reservedPeak();
    const auto peakB = input.b.reservedPeak();
    if (!peakA || !peakB)
        return std::nullopt;
    const std::int64_t change = wrappingSubtract(*peakB, *peakA);
    const std::int64_t apart = wrappingSubtract(change, live);
    // Rounding and remainders follow live memory, never exactly.
    const std::int64_t expected
        = std::max<std::int64_t>(std::max(*peakA, *peakB) / 100, std::llabs(live) / 10);
    if (std::llabs(apart) < std::max(leastVerdictBytes, expected))
        return std::nullopt;
    std::string title = live == 0
        ? "Live memory peaks equally, reserved " + formatBytesDelta(change)
        : "Reserved " + formatBytesDelta(change) + ", live memory " + formatBytesDelta(live);
    const std::string settings = allocatorDifferences(input.settings);
    title += settings.empty() ? "" : ": settings differ (" + settings + ")";
    const ReservedParts a = reservedParts(input.a);
    const ReservedParts b = reservedParts(input.b);
    Verdict verdict = verdictOf(VerdictKind::Reserved, change, std::move(title));
    const auto part = [&verdict](const char* text, std::int64_t before, std::int64_t after) {
        if (before != after)
            verdict.parts.push_back({text, wrappingSubtract(after, before)});
    };
    part("live where reserved memory is highest", a.live, b.live);
    part("held by private pools, not in use", a.idlePools, b.idlePools);
    part("held by the allocator, not in use: cached, split off or rounded up", a.rest, b.rest);
    verdict.sum = sumOf(verdict.parts);
    verdict.detail = "Reserved memory is highest at " + formatBytes(*peakA) + " in A and "
        + formatBytes(*peakB) + " in B.";
    return verdict;
}

std::optional<Verdict> poolsVerdict(const VerdictInput& input)
{
    if (!input.a.reservedPeak() || !input.b.reservedPeak() || sameRun(input.a, input.b))
        return std::nullopt;
    const std::int64_t change = wrappingSubtract(reservedParts(input.b).pools, reservedParts(input.a).pools);
    const auto eventsA = static_cast<double>(eventsOf(input.a, input.alignment, Which::A));
    const auto eventsB = static_cast<double>(eventsOf(input.b, input.alignment, Which::B));
    const bool quietB = change > 0;
    const double share = quietB ? eventsB / std::max(eventsA, 1.0) : eventsA / std::max(eventsB, 1.0);
    if (std::llabs(change) < std::max(leastVerdictBytes, std::max(input.a.peak(), input.b.peak()) / 100)
        || share > 0.8)
        return std::nullopt;
    Verdict verdict = verdictOf(VerdictKind::Pools, change,
        std::string(quietB ? "B" : "A") + " is quieter and fuller: " + formatPercent(1 - share)
            + " fewer events" + (input.alignment.by() == AlignBy::Step ? " in the matched steps" : "") + ", "
            + sizeText(change) + " more held by private pools");
    verdict.detail = "So it is with CUDA graphs: what runs as a graph records no events, and its pool keeps "
                     "its memory.";
    verdict.parts.push_back({"reserved by private pools", change});
    verdict.sum = change;
    return verdict;
}

} // namespace tidemark::compare
