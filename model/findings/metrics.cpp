// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/metrics.hpp"

#include "model/lens/frame_matcher.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tidemark {

namespace {

bool isFree(const Piece& piece)
{
    return piece.kind == PieceKind::Free && piece.size > 0;
}

std::span<const Piece> piecesOf(const SegmentState& state, const SegmentView& segment)
{
    return std::span(state.pieces).subspan(segment.firstPiece, segment.pieceCount);
}

void addSegment(StateMetrics& m, const SegmentState& state, const SegmentView& segment)
{
    std::uint64_t stuckHoles = 0;
    m.reserved += segment.size;
    m.inactive += segment.freeBytes;
    m.allocated += segment.liveBytes;
    m.waiting += segment.waitingBytes;
    m.largestHole = std::max(m.largestHole, segment.largestHole);
    for (const Piece& piece : piecesOf(state, segment)) {
        if (isFree(piece)) {
            ++m.holes;
            stuckHoles += releasableIn(segment, piece) < piece.size;
        } else if (piece.kind == PieceKind::Live || piece.kind == PieceKind::Waiting) {
            m.requested += piece.requested;
        }
    }
    if (index(segment.pool) != 0) {
        m.privateReserved += segment.size;
        m.privateInactive += segment.freeBytes;
        return;
    }
    m.releasable += segment.releasableBytes;
    m.releasableSegments += segment.releasableBytes > 0;
    const std::uint64_t stuck = segment.freeBytes - segment.releasableBytes;
    (segment.expandable ? m.pageResidue : m.pinned) += stuck;
    m.stuckHoles += stuckHoles;
}

} // namespace

std::uint64_t roundedRequest(std::uint64_t bytes)
{
    constexpr std::uint64_t step = 512;
    return bytes > ~std::uint64_t{0} - step ? bytes : std::max(step, (bytes + step - 1) / step * step);
}

std::uint64_t growthUnit(std::uint64_t request, bool expandable, std::uint64_t page)
{
    const auto up = [request](std::uint64_t step) {
        return request > ~std::uint64_t{0} - step ? request : (request + step - 1) / step * step;
    };
    if (request <= smallRequest)
        return smallPage;
    if (expandable)
        return up(page);
    constexpr std::uint64_t ownSegment = 10ULL << 20;
    return request < ownSegment ? page : up(smallPage);
}

double StateMetrics::inactiveRatio() const
{
    return reserved == 0 ? 0 : static_cast<double>(inactive) / static_cast<double>(reserved);
}

double StateMetrics::externalFragmentation() const
{
    return inactive == 0 ? 0 : 1 - static_cast<double>(largestHole) / static_cast<double>(inactive);
}

std::uint64_t StateMetrics::rounding() const
{
    const std::uint64_t blocks = allocated + waiting;
    return blocks > requested ? blocks - requested : 0;
}

StateMetrics metricsOf(const SegmentState& state, const SegmentTest& keep)
{
    StateMetrics m;
    for (const SegmentView& segment : state.segments)
        if (!keep || keep(segment))
            addSegment(m, state, segment);
    return m;
}

std::vector<ClassMetrics> classTable(const SegmentState& state)
{
    std::map<std::tuple<PoolId, StreamId, bool>, ClassMetrics> rows;
    for (const SegmentView& segment : state.segments) {
        const MemoryClass of = classOf(segment);
        ClassMetrics& row = rows[{of.pool, of.stream, of.small}];
        row.of = of;
        ++row.segments;
        addSegment(row.metrics, state, segment);
    }
    std::vector<ClassMetrics> table;
    for (const auto& [key, row] : rows)
        table.push_back(row);
    return table;
}

double unusableIndex(const SegmentState& state, std::uint64_t request, const SegmentTest& keep)
{
    std::uint64_t all = 0;
    std::uint64_t tooSmall = 0;
    for (const SegmentView& segment : state.segments) {
        if (keep && !keep(segment))
            continue;
        for (const Piece& piece : piecesOf(state, segment)) {
            if (!isFree(piece))
                continue;
            all += piece.size;
            tooSmall += piece.size < request ? piece.size : 0;
        }
    }
    return all == 0 ? 0 : static_cast<double>(tooSmall) / static_cast<double>(all);
}

std::vector<PinningBlock> pinningBlocks(const SegmentState& state)
{
    std::vector<PinningBlock> pins;
    for (const SegmentView& segment : state.segments) {
        if (segment.expandable || index(segment.pool) != 0)
            continue;
        std::uint64_t free = 0;
        std::uint64_t blocks = 0;
        for (const Piece& piece : piecesOf(state, segment)) {
            free += isFree(piece) ? piece.size : 0;
            blocks += piece.kind != PieceKind::Free;
        }
        if (free == 0 || blocks == 0)
            continue;
        for (const Piece& piece : piecesOf(state, segment)) {
            if (piece.kind == PieceKind::Free)
                continue;
            PinningBlock pin{piece.allocation, segment.id, piece.size, free / blocks, 0};
            pin.leverage = static_cast<double>(free) / static_cast<double>(blocks)
                / static_cast<double>(std::max<std::uint64_t>(piece.size, 1));
            pins.push_back(pin);
        }
    }
    std::stable_sort(pins.begin(), pins.end(), [](const PinningBlock& a, const PinningBlock& b) {
        return std::tuple(-a.leverage, b.releases) < std::tuple(-b.leverage, a.releases);
    });
    return pins;
}

TraceMetrics traceMetrics(const Replay& replay)
{
    TraceMetrics m;
    const SegmentHistory& segments = replay.segments;
    // A and P change at different states: walk both, the sum's maximum is at a change of one of them.
    const auto live = segments.allocated().changes();
    const auto waiting = segments.waiting().changes();
    std::size_t w = 0;
    std::size_t l = 0;
    bool first = true;
    while (l < live.size() || w < waiting.size()) {
        const StateIndex state = w >= waiting.size() ? live[l].state
            : l >= live.size()                       ? waiting[w].state
                                                     : std::min(live[l].state, waiting[w].state);
        while (l < live.size() && live[l].state <= state)
            ++l;
        while (w < waiting.size() && waiting[w].state <= state)
            ++w;
        const std::int64_t sum = (l > 0 ? live[l - 1].value : 0) + (w > 0 ? waiting[w - 1].value : 0);
        if (first || sum > m.allocatedPeak) {
            m.allocatedPeak = sum;
            m.allocatedPeakState = state;
        }
        first = false;
    }
    const Series::Extremes pending = replay.timeline.pending().total();
    m.pendingPeak = pending.max;
    m.pendingPeakState = pending.maxState;
    if (!segments.reservedKnown())
        return m;
    const Series::Extremes reserved = segments.reserved().total();
    m.reservedPeak = reserved.max;
    m.reservedPeakState = reserved.maxState;
    m.gapAtAllocatedPeak = segments.reserved().at(m.allocatedPeakState) - m.allocatedPeak;
    if (m.reservedPeak > 0)
        m.utilization = static_cast<double>(m.allocatedPeak) / static_cast<double>(m.reservedPeak);
    return m;
}

std::optional<std::int64_t> nonPyTorchBytes(const OomAutopsy& oom, std::optional<std::uint64_t> deviceTotal)
{
    if (!deviceTotal || !oom.deviceFree || !oom.reservedKnown)
        return std::nullopt;
    ByteSum sum = static_cast<std::int64_t>(*deviceTotal);
    sum -= static_cast<std::int64_t>(*oom.deviceFree);
    sum -= oom.reserved;
    return sum;
}

namespace {

/// Which distinct stacks have a frame that empties the cache on the program's wish.
std::vector<std::uint8_t> emptyingStacks(const Snapshot& snapshot)
{
    std::vector<std::uint8_t> frame(snapshot.frames.size(), 0);
    for (std::size_t i = 0; i < frame.size(); ++i) {
        const std::string_view name = snapshot.strings.view(snapshot.frames[static_cast<FrameId>(i)].name);
        frame[i] = bareName(name) == "empty_cache" || name.find("emptyCache") != std::string_view::npos;
    }
    std::vector<std::uint8_t> stack(snapshot.stacks.size(), 0);
    for (std::size_t i = 0; i < stack.size(); ++i) {
        const auto frames = snapshot.stacks[static_cast<StackId>(i)];
        stack[i]
            = std::any_of(frames.begin(), frames.end(), [&](FrameId id) { return frame[index(id)] != 0; });
    }
    return stack;
}

} // namespace

std::vector<Flush> flushes(const Replay& replay, const Job& job)
{
    std::vector<Flush> found;
    if (!replay.segments.reservedKnown() || !replay.segments.hasEvents())
        return found;
    const EventColumns& events = replay.device().events;
    const std::vector<std::uint8_t> emptying = emptyingStacks(*replay.snapshot);
    const std::int64_t highest = replay.segments.reserved().total().max;
    std::optional<Flush> burst;
    bool wished = false;
    for (std::uint32_t i = 0; i < events.count(); ++i) {
        if (i % pollInterval == 0 && job.stopped())
            return {};
        const int direction = reserving(events.action[i]);
        if (direction < 0) {
            if (!burst) {
                burst = Flush{};
                burst->first = EventIndex{i};
                burst->reservedBefore = replay.segments.reserved().at(i);
                wished = false;
            }
            burst->last = EventIndex{i};
            ++burst->events;
            burst->bytes += sane(events.size[i]);
            wished = wished || (valid(events.stack[i]) && emptying[index(events.stack[i])] != 0);
            continue;
        }
        if (direction > 0 && burst) {
            burst->grownBy = sane(events.size[i]);
            for (std::uint32_t next = i + 1; next < events.count() && reserving(events.action[next]) > 0;
                 ++next)
                burst->grownBy += sane(events.size[next]);
            if (!wished && burst->reservedBefore + static_cast<std::int64_t>(burst->grownBy) > highest)
                found.push_back(*burst);
        }
        burst.reset();
    }
    return found;
}

ReservedGrowth reservedGrowth(const Replay& replay, std::span<const Step> steps)
{
    ReservedGrowth growth;
    if (!replay.segments.reservedKnown())
        return growth;
    for (const Step& step : steps) {
        if (!step.complete)
            continue;
        growth.ends.push_back(step.last);
        growth.reserved.push_back(replay.segments.reserved().at(step.last));
        growth.live.push_back(
            replay.segments.allocated().at(step.last) + replay.segments.waiting().at(step.last));
    }
    constexpr std::size_t warmUp = 2;
    const std::size_t count = growth.ends.size();
    if (count < warmUp + 2)
        return growth;
    growth.grown = growth.reserved.back() - growth.reserved[warmUp - 1];
    growth.liveGrown = growth.live.back() - growth.live[warmUp - 1];
    std::size_t rising = 0;
    for (std::size_t i = warmUp; i < count; ++i)
        rising += growth.reserved[i] > growth.reserved[i - 1];
    growth.rising = static_cast<double>(rising) / static_cast<double>(count - warmUp);
    return growth;
}

AllocationId largestRequest(const Replay& replay, const Step& step)
{
    const AllocationColumns& a = replay.timeline.allocations();
    AllocationId largest = AllocationId::none;
    for (StateIndex s = std::max<StateIndex>(step.first, 1); s <= step.last; ++s) {
        const AllocationId id = replay.timeline.allocationOf(EventIndex{s - 1});
        if (valid(id) && a.firstState[index(id)] == s && index(a.pool[index(id)]) == 0
            && (!valid(largest) || a.size[index(id)] > a.size[index(largest)]))
            largest = id;
    }
    return largest;
}

namespace {

/// M5 and M13.
void measureRequest(
    MomentMetrics& m, const Replay& replay, const SegmentState& state, const MetricsContext& context)
{
    MemoryClass of;
    const auto oom = std::ranges::find(context.ooms, state.state, &OomAutopsy::state);
    const auto next = std::ranges::upper_bound(context.steps, state.state, {}, &Step::first);
    if (oom != context.ooms.end()) {
        m.nonPyTorch = nonPyTorchBytes(*oom, context.deviceTotal);
        m.request = oom->request;
        of = oom->requestClass;
    } else if (next != context.steps.end()) {
        if (const AllocationId id = largestRequest(replay, *next); valid(id)) {
            const AllocationColumns& a = replay.timeline.allocations();
            m.request = roundedRequest(a.size[index(id)]);
            of = {*m.request <= smallRequest, a.stream[index(id)], PoolId{0}};
        }
    }
    if (m.request)
        m.unusable = unusableIndex(state, *m.request, [&](const SegmentView& s) { return classOf(s) == of; });
}

} // namespace

MomentMetrics metricsAt(const Replay& replay, StateIndex state, const MetricsContext& context, const Job& job)
{
    const SegmentState now = replay.segments.stateAt(state, replay.timeline);
    MomentMetrics m;
    m.now = metricsOf(now);
    m.pins = pinningBlocks(now);
    m.classes = classTable(now);
    measureRequest(m, replay, now, context);
    m.trace = traceMetrics(replay);
    m.flushes = flushes(replay, job);
    std::erase_if(
        m.flushes, [&](const Flush& f) { return stateOf(static_cast<Moment>(index(f.first))) > now.state; });
    m.growth = reservedGrowth(replay, context.steps);
    return m;
}

bool capturesGraph(const Snapshot& snapshot, StackId stack)
{
    if (!valid(stack))
        return false;
    struct Pattern {
        std::string_view file;
        std::array<std::string_view, 4> functions;
    };
    static constexpr std::array patterns{
        Pattern{"megatron/core/transformer/cuda_graphs.py",
            {"create_fwd_graph", "create_bwd_graph", "create_cudagraphs", "alloc_tensor_from_graph_mempool"}},
        Pattern{"megatron/core/full_cuda_graph.py", {"__call__", "copy_tensors_in_struct", "", ""}},
        Pattern{"transformer_engine/pytorch/graph.py",
            {"_make_graphed_callables", "make_graphed_callables", "", ""}},
        Pattern{"torch/cuda/graphs.py", {"__enter__", "capture_begin", "make_graphed_callables", "__exit__"}},
        Pattern{"", {"at::cuda::CUDAGraph::capture_begin", "at::cuda::CUDAGraph::capture_end", "", ""}},
    };
    for (const FrameId id : snapshot.stacks[stack]) {
        const Frame& frame = snapshot.frames[id];
        const std::string_view file = snapshot.strings.view(frame.file);
        const std::string_view name = bareName(snapshot.strings.view(frame.name));
        for (const Pattern& pattern : patterns)
            if (file.ends_with(pattern.file)
                && std::any_of(pattern.functions.begin(), pattern.functions.end(),
                    [&](std::string_view f) { return !f.empty() && name.starts_with(f); }))
                return true;
    }
    return false;
}

LargestSite largestSite(const Replay& replay, const Sites& sites, std::span<const AllocationId> ids)
{
    const AllocationColumns& a = replay.timeline.allocations();
    std::unordered_map<SiteId, std::uint64_t> bytes;
    for (const AllocationId id : ids)
        if (const SiteId site = sites.of(a.stack[index(id)]); valid(site))
            bytes[site] += a.size[index(id)];
    LargestSite largest;
    SiteId winner = SiteId::none;
    for (const auto& [site, sum] : bytes)
        if (sum > largest.bytes || (sum == largest.bytes && index(site) < index(winner))) {
            winner = site;
            largest.bytes = sum;
        }
    if (!valid(winner))
        return largest;
    largest.name = sites.name(winner);
    largest.others = bytes.size() - 1;
    for (const AllocationId id : ids)
        if (sites.of(a.stack[index(id)]) == winner)
            largest.allocations.push_back(id);
    return largest;
}

} // namespace tidemark
