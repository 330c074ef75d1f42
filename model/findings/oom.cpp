// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/oom.hpp"

#include "model/core/units.hpp"
#include "model/findings/metrics.hpp"

#include <algorithm>
#include <map>

namespace tidemark {

namespace {

constexpr std::uint64_t gib = 1ULL << 30;

std::string bytesText(std::uint64_t bytes)
{
    return formatBytes(static_cast<std::int64_t>(bytes));
}

/// The private pool a request during capture goes to: the event's own where recorded, else that of the last
/// allocation in a private pool before it. None: a pool without memory so far.
PoolId poolOfRequest(const Replay& replay, EventIndex event, bool capturing)
{
    const EventColumns& events = replay.device().events;
    if (!events.pool.empty() && valid(events.pool[index(event)]))
        return events.pool[index(event)];
    if (!capturing)
        return PoolId{0};
    const AllocationColumns& a = replay.timeline.allocations();
    for (std::size_t i = index(event); i-- > 0;) {
        if (events.action[i] != Action::Alloc)
            continue;
        const AllocationId id = replay.timeline.allocationOf(static_cast<EventIndex>(i));
        return valid(id) && index(a.pool[index(id)]) != 0 ? a.pool[index(id)] : PoolId::none;
    }
    return PoolId::none;
}

/// Private pools: those of captures are (n, 0), those that users open (0, n).
OomScope scopeOf(const Snapshot& snapshot, PoolId pool, bool capturing)
{
    if (capturing)
        return OomScope::Capture;
    if (!valid(pool) || index(pool) == 0)
        return OomScope::None;
    return snapshot.pools[index(pool)].first != 0 ? OomScope::Capture : OomScope::UserPool;
}

/// A free block that the allocator would have handed out (get_free_block of CUDACachingAllocator.cpp).
bool serves(std::uint64_t hole, std::uint64_t request, std::optional<std::uint64_t> maxSplit)
{
    if (hole < request || !maxSplit || hole < *maxSplit)
        return hole >= request;
    return request >= *maxSplit && hole < request + largePage;
}

void fillFittingHole(OomAutopsy& out, const SegmentState& state, std::optional<std::uint64_t> maxSplit)
{
    for (const SegmentView& segment : state.segments) {
        if (!(classOf(segment) == out.requestClass))
            continue;
        for (std::uint32_t i = 0; i < segment.pieceCount; ++i) {
            const Piece& piece = state.pieces[segment.firstPiece + i];
            if (piece.kind == PieceKind::Free && serves(piece.size, *out.request, maxSplit))
                out.fittingHole = std::max(out.fittingHole, piece.size);
        }
    }
}

void fillHoles(OomAutopsy& out, const SegmentState& state)
{
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const Piece& piece : state.pieces)
        if (piece.kind == PieceKind::Free && piece.size > 0)
            ++counts[piece.size];
    for (auto it = counts.rbegin(); it != counts.rend(); ++it)
        out.holeClasses.push_back({it->first, it->second});
}

void fillElsewhere(OomAutopsy& out, const SegmentState& state)
{
    const StateMetrics all = metricsOf(state, [&](const SegmentView& s) { return out.isElsewhere(s); });
    out.elsewhere = all.inactive;
    out.elsewhereHoles = all.holes;
    for (const SegmentView& s : state.segments) {
        if (s.freeBytes == 0 || !out.isElsewhere(s))
            continue;
        out.elsewhereSegments.push_back(s.id);
        const bool otherStream = s.pool == out.requestClass.pool;
        (otherStream                 ? out.elsewhereStreams
                : index(s.pool) == 0 ? out.elsewhereDefault
                                     : out.elsewherePrivate)
            += s.freeBytes;
    }
}

void fillState(OomAutopsy& out, const Replay& replay)
{
    const SegmentState state = replay.segments.stateAt(out.state, replay.timeline);
    const StateMetrics all = metricsOf(state);
    const StateMetrics same
        = metricsOf(state, [&](const SegmentView& s) { return classOf(s) == out.requestClass; });
    out.pinned = all.stuck();
    out.pinnedHoles = all.stuckHoles;
    out.sameClassFree = same.inactive;
    fillElsewhere(out, state);
    out.unflushed = all.releasable;
    out.holes = all.holes;
    out.largestHole = all.largestHole;
    out.inactiveRatio = all.inactiveRatio();
    out.externalFragmentation = same.externalFragmentation();
    if (out.request) {
        out.unusable = unusableIndex(state, *out.request);
        fillFittingHole(out, state, maxSplitSize(*replay.snapshot));
    }
    for (const SegmentView& s : state.segments)
        if (s.releasableBytes > 0)
            out.unflushedIds.push_back(s.id);
    out.pins = pinningBlocks(state);
    fillHoles(out, state);
}

std::string whatIsMissing(const OomAutopsy& out)
{
    if (!out.request)
        return "the event does not state the size that was asked for";
    if (!out.reservedKnown)
        return "the file lists no segments, so reserved memory is unknown";
    if (!out.deviceFree)
        return "the event does not state how much of the device was free";
    return {};
}

/// The tests of the verdict in their order.
Verdict decide(const OomAutopsy& out)
{
    if (out.scope != OomScope::None && out.unflushed >= *out.request)
        return Verdict::CaptureBlocked;
    if (*out.slack < 0)
        return Verdict::Capacity;
    if (out.sameClassFree + *out.deviceFree < *out.request && *out.request <= out.elsewhere)
        return Verdict::WrongPool;
    if (out.scope == OomScope::Inferred)
        return Verdict::Unknown;
    if (out.pinned + *out.deviceFree >= out.growth)
        return Verdict::Fragmentation;
    return Verdict::Unknown;
}

/// Outside a scope the request would have been served: by a hole, or from what a flush gives back.
bool scopeMustBeOpen(const OomAutopsy& out)
{
    const bool flushServes = out.unflushed >= *out.request && out.unflushed + *out.deviceFree >= out.growth;
    return out.scope == OomScope::None && *out.slack >= 0 && (flushServes || out.fittingHole > 0);
}

std::string whyUndecided(const OomAutopsy& out)
{
    if (out.scope == OomScope::Inferred)
        return "a free block of " + bytesText(out.fittingHole)
            + " in reach would have held the request, so it was made for another pool (graph capture, or a "
              "MemPool's scope), which the event does not state";
    return bytesText(out.sameClassFree + *out.deviceFree) + " were free in reach, " + bytesText(out.pinned)
        + " of all free memory pinned, " + bytesText(out.elsewhere)
        + " elsewhere: none of these alone explains the failure";
}

} // namespace

const char* verdictCode(Verdict verdict)
{
    switch (verdict) {
    case Verdict::CaptureBlocked:
        return "V1";
    case Verdict::Capacity:
        return "V2";
    case Verdict::WrongPool:
        return "V3";
    case Verdict::Fragmentation:
        return "V4";
    case Verdict::OutsideAllocator:
        return "V6";
    case Verdict::Unknown:
        break;
    }
    return "none";
}

std::optional<std::uint64_t> maxSplitSize(const Snapshot& snapshot)
{
    constexpr std::int64_t unlimited = 1LL << 50;
    for (const Setting& setting : snapshot.settings)
        if (setting.key == "max_split_size")
            if (const std::int64_t* bytes = std::get_if<std::int64_t>(&setting.value);
                bytes != nullptr && *bytes > 0 && *bytes < unlimited)
                return static_cast<std::uint64_t>(*bytes);
    return std::nullopt;
}

bool expandableInFile(const Snapshot& snapshot, const DeviceTrace& device)
{
    for (const Setting& setting : snapshot.settings)
        if (setting.key == "expandable_segments")
            if (const bool* on = std::get_if<bool>(&setting.value))
                return *on;
    const bool mapped = std::any_of(device.events.action.begin(), device.events.action.end(),
        [](Action a) { return a == Action::SegmentMap || a == Action::SegmentUnmap; });
    return mapped || std::any_of(device.segments.begin(), device.segments.end(), [](const Segment& segment) {
        return segment.expandable;
    });
}

std::uint64_t OomAutopsy::thinBelow() const
{
    return std::max(usable().value_or(0) / 100, 2 * largePage * holes);
}

OomAutopsy autopsy(const Replay& replay, const OomEvent& oom, std::optional<std::uint64_t> deviceTotal)
{
    OomAutopsy out;
    out.event = oom.event;
    out.state = static_cast<StateIndex>(index(oom.event)) + 1;
    if (oom.requested && *oom.requested > 0)
        out.request = static_cast<std::uint64_t>(*oom.requested);
    if (oom.deviceFree && *oom.deviceFree >= 0)
        out.deviceFree = static_cast<std::uint64_t>(*oom.deviceFree);
    const EventColumns& events = replay.device().events;
    out.expandable = expandableInFile(*replay.snapshot, replay.device());
    out.capturing = capturesGraph(*replay.snapshot, events.stack[index(oom.event)]);
    const PoolId pool = poolOfRequest(replay, oom.event, out.capturing);
    // A pool of its own on the event: the scope is open, and nothing is flushed while one is.
    out.scope = scopeOf(*replay.snapshot, pool, out.capturing);
    out.capturing = out.scope != OomScope::None;
    out.reservedKnown = replay.segments.reservedKnown();
    out.allocated = replay.segments.allocated().at(out.state);
    out.waiting = replay.segments.waiting().at(out.state);
    if (out.reservedKnown)
        out.reserved = replay.segments.reserved().at(out.state);
    if (out.request)
        out.growth = growthUnit(*out.request, out.expandable, replay.segments.largePage());
    out.requestClass = {out.request && *out.request <= smallRequest, events.stream[index(oom.event)], pool};
    if (replay.segments.known())
        fillState(out, replay);
    out.cannotTell = whatIsMissing(out);
    if (!out.cannotTell.empty())
        return out;
    ByteSum slack = out.reserved;
    slack += static_cast<std::int64_t>(*out.deviceFree);
    slack -= out.allocated;
    slack -= out.waiting;
    slack -= static_cast<std::int64_t>(*out.request);
    out.slack = slack;
    if (scopeMustBeOpen(out))
        out.scope = OomScope::Inferred;
    out.verdict = decide(out);
    if (out.verdict == Verdict::Unknown) {
        out.cannotTell = whyUndecided(out);
        if (deviceTotal && out.scope != OomScope::Inferred && *out.deviceFree < out.growth
            && static_cast<std::uint64_t>(out.reserved) + 2 * gib < *deviceTotal)
            out.verdict = Verdict::OutsideAllocator;
    }
    if (out.verdict == Verdict::OutsideAllocator)
        out.cannotTell.clear();
    if (out.verdict == Verdict::Capacity || out.verdict == Verdict::Fragmentation)
        out.thinMargin = static_cast<std::uint64_t>(std::abs(*out.slack)) < out.thinBelow();
    return out;
}

} // namespace tidemark
