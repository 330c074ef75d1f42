// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/segments.hpp"

#include "model/core/byte_sum.hpp"
#include "model/replay/address_index.hpp"
#include "model/replay/block_rules.hpp"
#include "model/replay/block_sizes.hpp"
#include "model/replay/segment_class.hpp"
#include "model/snapshot/outside_range.hpp"

#include <algorithm>
#include <tuple>

namespace tidemark {

namespace {

Error stopped()
{
    return {ErrorCode::Cancelled, "Stopped.", std::nullopt};
}

/// Adds a piece's bytes to its segment.
void count(SegmentView& view, const Piece& piece)
{
    switch (piece.kind) {
    case PieceKind::Live:
        view.liveBytes += piece.size;
        break;
    case PieceKind::Waiting:
        view.waitingBytes += piece.size;
        break;
    case PieceKind::Free:
        view.freeBytes += piece.size;
        view.largestHole = std::max(view.largestHole, piece.size);
        break;
    case PieceKind::Unknown:
        break;
    }
}

} // namespace

void sumUp(SegmentState& state)
{
    for (SegmentView& view : state.segments) {
        for (std::uint32_t p = view.firstPiece; p < view.firstPiece + view.pieceCount; ++p) {
            count(view, state.pieces[p]);
            if (state.pieces[p].kind == PieceKind::Live || state.pieces[p].kind == PieceKind::Waiting)
                state.requested += state.pieces[p].requested;
        }
        for (std::uint32_t p = view.firstPiece; p < view.firstPiece + view.pieceCount; ++p)
            view.releasableBytes += releasableIn(view, state.pieces[p]);
        state.reserved += view.size;
        state.live += view.liveBytes;
        state.waiting += view.waitingBytes;
        state.free += view.freeBytes;
        state.largestHole = std::max(state.largestHole, view.largestHole);
        if (view.pool != PoolId{})
            state.heldByPools += view.freeBytes;
        else
            state.pinned += view.freeBytes - view.releasableBytes;
        state.releasable += view.releasableBytes;
    }
}

namespace {

PieceKind kindOf(BlockState state)
{
    switch (state) {
    case BlockState::Allocated:
        return PieceKind::Live;
    case BlockState::Pending:
        return PieceKind::Waiting;
    case BlockState::Inactive:
        return PieceKind::Free;
    case BlockState::Unknown:
        break;
    }
    return PieceKind::Unknown;
}

void addFree(std::vector<Piece>& pieces, std::uint64_t from, std::uint64_t to)
{
    if (from < to)
        pieces.push_back({from, to - from, 0, AllocationId::none, PieceKind::Free, false});
}

} // namespace

/// Makes a SegmentHistory: ranges, then what the end says of blocks, then sizes, then curves.
class SegmentHistoryBuilder {
public:
    SegmentHistoryBuilder(
        const Snapshot& snapshot, const DeviceTrace& device, const Timeline& timeline, const Job& job)
        : m_snapshot(snapshot)
        , m_device(device)
        , m_timeline(timeline)
        , m_job(job)
        , m_rules(BlockRules::of(snapshot, device))
        , m_sizes(timeline.allocations().count())
    { }

    Result<SegmentHistory> build()
    {
        m_ranks = AddressRanks::build(m_timeline.allocations().address);
        m_history.m_known = m_device.hasSegments;
        m_history.m_endsEarly = m_device.outside && m_device.outside->eventsAfter > 0;
        m_history.m_hasEvents = std::any_of(m_device.events.action.begin(), m_device.events.action.end(),
            [](Action a) { return reserving(a) != 0; });
        if (m_history.m_known && !buildRanges())
            return stopped();
        if (m_job.stopped())
            return stopped();
        endPieces();
        if (!m_sizes.infer(m_device, m_timeline, m_ranks, m_history.m_ranges, m_rules, m_job))
            return stopped();
        buildReserved();
        if (!buildAllocated())
            return stopped();
        if (m_job.stopped())
            return stopped();
        buildCheckpoints();
        m_history.m_blockSize = std::move(m_sizes.size);
        m_history.m_blockSizeExact = std::move(m_sizes.exact);
        m_history.m_segmentOf = std::move(m_sizes.segment);
        m_history.m_largePage = m_rules.largePage;
        m_history.m_sizeCheck = {m_sizes.compared, m_sizes.equal};
        return std::move(m_history);
    }

private:
    bool buildRanges()
    {
        // Which rows are at a rank is asked for only where expandable memory was unmapped for good.
        std::vector<std::uint32_t> rowAt;
        const auto kindOfRange = [&](std::uint64_t address, std::uint64_t size) {
            const std::uint32_t rank = m_ranks.lowerBound(address);
            if (rank == m_ranks.addresses.size() || m_ranks.addresses[rank] >= endOf(address, size))
                return SegmentKind::Unknown;
            if (rowAt.empty()) {
                rowAt.resize(m_ranks.addresses.size());
                for (std::uint32_t row = 0; row < m_ranks.rankOf.size(); ++row)
                    rowAt[m_ranks.rankOf[row]] = row;
            }
            const std::uint64_t rounded = m_rules.roundSize(m_timeline.allocations().size[rowAt[rank]]);
            return rounded <= BlockRules::smallLimit ? SegmentKind::Small : SegmentKind::Large;
        };
        auto ranges = SegmentRanges::build(m_device, kindOfRange, m_rules.largePage, m_job);
        if (!ranges)
            return false;
        m_history.m_misfits = ranges->misfits;
        m_history.m_reservedByPool = ranges->byPool(m_timeline.states());
        m_history.m_ranges = std::move(ranges->ranges);
        return true;
    }

    /// The allocation that lives at the end at each address.
    std::vector<AllocationId> liveAtEnd() const
    {
        std::vector<AllocationId> owner(m_ranks.addresses.size(), AllocationId::none);
        const AllocationColumns& a = m_timeline.allocations();
        for (std::uint32_t i = 0; i < a.count(); ++i) {
            if (a.endState[i] == m_timeline.states())
                owner[m_ranks.rankOf[i]] = static_cast<AllocationId>(i);
        }
        return owner;
    }

    /// The blocks of the file as pieces; sizes of the allocations they belong to become exact.
    void endPieces()
    {
        const std::vector<AllocationId> owner = liveAtEnd();
        auto& pieces = m_history.m_endPieces;
        for (const Segment& segment : m_device.segments) {
            m_history.m_endFirst.push_back(static_cast<std::uint32_t>(pieces.size()));
            std::vector<Block> blocks(m_device.blocks.begin() + segment.firstBlock,
                m_device.blocks.begin() + segment.firstBlock + segment.blockCount);
            std::stable_sort(blocks.begin(), blocks.end(),
                [](const Block& a, const Block& b) { return a.address < b.address; });
            const std::uint64_t end = endOf(segment.address, sane(segment.totalSize));
            std::uint64_t at = segment.address;
            for (const Block& b : blocks)
                at = endPiece(b, at, end, owner);
            addFree(pieces, at, end);
        }
        m_history.m_endFirst.push_back(static_cast<std::uint32_t>(pieces.size()));
    }

    /// Whether the file's own block at an address is that of who lives there at the end of what was read.
    bool statedByFile(std::uint64_t address) const
    {
        return !m_history.m_endsEarly || std::ranges::binary_search(m_device.outside->staying, address)
            || !std::ranges::binary_search(m_device.outside->named, address);
    }

    /// Returns where the next piece begins. Blocks that overlap or leave their segment are cut.
    std::uint64_t endPiece(
        const Block& block, std::uint64_t at, std::uint64_t end, const std::vector<AllocationId>& owner)
    {
        Piece piece;
        piece.exactSize = true;
        piece.kind = kindOf(block.state);
        if (piece.kind != PieceKind::Free) {
            piece.requested = sane(block.requested);
            const std::uint32_t rank = m_ranks.lowerBound(block.address);
            if (rank < owner.size() && m_ranks.addresses[rank] == block.address && valid(owner[rank])) {
                piece.allocation = owner[rank];
            }
            if (valid(piece.allocation) && statedByFile(block.address)) {
                m_sizes.size[index(piece.allocation)] = sane(block.size);
                m_sizes.exact[index(piece.allocation)] = 1;
            }
        }
        piece.address = std::max(block.address, at);
        const std::uint64_t blockEnd = std::min(endOf(block.address, sane(block.size)), end);
        if (piece.address > end || blockEnd < piece.address)
            return at;
        addFree(m_history.m_endPieces, at, piece.address);
        piece.size = blockEnd - piece.address;
        m_history.m_endPieces.push_back(piece);
        return blockEnd;
    }

    void buildReserved()
    {
        const StateIndex states = m_timeline.states();
        const std::vector<std::int64_t>& stated = m_device.statedReserved;
        const bool toldBefore = m_device.outside && m_device.outside->reservedAtStart;
        if (!m_history.m_known && (toldBefore || !stated.empty())) {
            m_history.m_reservedKnown = true;
            m_history.m_reserved = Series(toldBefore ? *m_device.outside->reservedAtStart : stated.front());
            for (StateIndex s = 1; s < states && s <= stated.size(); ++s)
                m_history.m_reserved.set(s, stated[s - 1]);
        } else if (m_history.m_known) {
            m_history.m_reservedKnown = true;
            const auto step = [&](std::size_t event) {
                return reserving(m_device.events.action[event])
                    * static_cast<std::int64_t>(sane(m_device.events.size[event]));
            };
            ByteSum value;
            for (const Segment& s : m_device.segments)
                value += static_cast<std::int64_t>(sane(s.totalSize));
            if (m_device.outside && m_device.outside->reservedAtEnd)
                value = *m_device.outside->reservedAtEnd;
            for (std::size_t i = 0; i < m_device.events.count(); ++i)
                value -= step(i);
            m_history.m_reserved = Series(value);
            for (std::size_t i = 0; i < m_device.events.count(); ++i) {
                if (const std::int64_t bytes = step(i); bytes != 0)
                    m_history.m_reserved.set(static_cast<StateIndex>(i + 1), value += bytes);
            }
        }
        m_history.m_reserved.build(states);
    }

    /// Allocations that begin to wait, by state.
    std::vector<std::pair<StateIndex, AllocationId>> waits() const
    {
        std::vector<std::pair<StateIndex, AllocationId>> list;
        const AllocationColumns& a = m_timeline.allocations();
        for (const AllocationId id : m_history.m_waitFromStart)
            list.emplace_back(0, id);
        for (std::uint32_t i = 0; i < a.count(); ++i) {
            if (a.pendingState[i] < a.endState[i])
                list.emplace_back(a.pendingState[i], static_cast<AllocationId>(i));
        }
        std::sort(list.begin(), list.end());
        return list;
    }

    /// A block that the file calls pending and the trace never mentions was freed by the program before the
    /// trace began: it waits all the time, not only at the end.
    void findWaitsFromStart()
    {
        std::vector<std::uint64_t> pending;
        for (const Block& b : m_device.blocks)
            if (b.state == BlockState::Pending)
                pending.push_back(b.address);
        std::sort(pending.begin(), pending.end());
        // Of those that events before the range tell of it is known when they began to wait.
        std::vector<std::uint64_t> told;
        if (m_device.outside)
            for (const OutsideAllocation& older : m_device.outside->alive)
                told.push_back(older.address);
        std::sort(told.begin(), told.end());
        const AllocationColumns& a = m_timeline.allocations();
        for (std::uint32_t i = 0; i < a.count() && a.firstState[i] == 0 && !pending.empty(); ++i)
            if (a.origin[i] == Origin::AliveAtEnd
                && !std::binary_search(told.begin(), told.end(), a.address[i])
                && std::binary_search(pending.begin(), pending.end(), a.address[i]))
                m_history.m_waitFromStart.push_back(static_cast<AllocationId>(i));
    }

    bool buildAllocated()
    {
        findWaitsFromStart();
        const AllocationColumns& a = m_timeline.allocations();
        const auto size = [&](AllocationId id) { return static_cast<std::int64_t>(m_sizes.size[index(id)]); };
        const auto waitList = waits();
        auto nextWait = waitList.begin();
        ByteSum live;
        ByteSum waiting;
        for (std::size_t i = 0; i < a.count() && a.firstState[i] == 0; ++i)
            live += static_cast<std::int64_t>(m_sizes.size[i]);
        const auto beginWaits = [&](StateIndex state) {
            for (; nextWait != waitList.end() && nextWait->first <= state; ++nextWait) {
                live -= size(nextWait->second);
                waiting += size(nextWait->second);
            }
        };
        beginWaits(0);
        m_history.m_allocated = Series(live);
        m_history.m_allocated.reserve(m_timeline.requested().changes().size());
        m_history.m_waiting = Series(waiting);
        // An allocation at a live address ends the one before in the same event.
        std::vector<AllocationId> owner(m_ranks.addresses.size(), AllocationId::none);
        for (std::size_t i = 0; i < a.count() && a.firstState[i] == 0; ++i)
            owner[m_ranks.rankOf[i]] = static_cast<AllocationId>(i);
        const auto end = [&](AllocationId id, StateIndex state) {
            if (!valid(id) || a.endState[index(id)] != state)
                return;
            (a.pendingState[index(id)] < state ? waiting : live) -= size(id);
            owner[m_ranks.rankOf[index(id)]] = AllocationId::none;
        };
        for (std::uint32_t event = 0; event < m_device.events.count(); ++event) {
            if (event % pollInterval == 0 && m_job.stopped())
                return false;
            const StateIndex state = event + 1;
            const AllocationId id = m_timeline.allocationOf(static_cast<EventIndex>(event));
            if (valid(id)) {
                if (a.firstState[index(id)] == state) {
                    AllocationId& slot = owner[m_ranks.rankOf[index(id)]];
                    end(slot, state);
                    slot = id;
                    live += size(id);
                } else {
                    end(id, state);
                }
            }
            beginWaits(state);
            if (live != m_history.m_allocated.last())
                m_history.m_allocated.set(state, live);
            if (waiting != m_history.m_waiting.last())
                m_history.m_waiting.set(state, waiting);
        }
        stateEnd();
        return true;
    }

    /// The last value is what the file says, also where the trace tells otherwise.
    void stateEnd()
    {
        const StateIndex states = m_timeline.states();
        if (m_history.m_known && !m_history.m_endsEarly) {
            ByteSum live;
            ByteSum waiting;
            for (const Block& b : m_device.blocks) {
                if (b.state == BlockState::Allocated)
                    live += static_cast<std::int64_t>(sane(b.size));
                else if (b.state == BlockState::Pending)
                    waiting += static_cast<std::int64_t>(sane(b.size));
                else if (b.state == BlockState::Unknown)
                    m_history.m_unknownAtEnd += static_cast<std::int64_t>(sane(b.size));
            }
            m_history.m_allocated.set(states - 1, live);
            m_history.m_waiting.set(states - 1, waiting);
        }
        m_history.m_allocated.build(states);
        m_history.m_waiting.build(states);
    }

    void buildCheckpoints()
    {
        const auto& ranges = m_history.m_ranges;
        std::vector<std::uint32_t> alive;
        std::uint32_t sinceLast = 0;
        for (std::uint32_t i = 0; i < ranges.size();) {
            const StateIndex state = ranges[i].firstState;
            for (; i < ranges.size() && ranges[i].firstState == state; ++i, ++sinceLast)
                alive.push_back(i);
            if (m_history.m_checkpoints.empty() || sinceLast > alive.size() / 2 + 64) {
                std::erase_if(alive, [&](std::uint32_t r) { return ranges[r].endState <= state; });
                m_history.m_checkpoints.push_back({state, i, alive});
                sinceLast = 0;
            }
        }
    }

    const Snapshot& m_snapshot;
    const DeviceTrace& m_device;
    const Timeline& m_timeline;
    const Job& m_job;
    BlockRules m_rules;
    BlockSizes m_sizes;
    AddressRanks m_ranks;
    SegmentHistory m_history;
};

Result<SegmentHistory> SegmentHistory::build(
    const Snapshot& snapshot, const DeviceTrace& device, const Timeline& timeline, const Job& job)
{
    return SegmentHistoryBuilder(snapshot, device, timeline, job).build();
}

std::vector<std::uint32_t> SegmentHistory::rangesAt(StateIndex state) const
{
    std::vector<std::uint32_t> found;
    std::uint32_t next = 0;
    const auto after = std::upper_bound(m_checkpoints.begin(), m_checkpoints.end(), state,
        [](StateIndex s, const Checkpoint& c) { return s < c.state; });
    if (after != m_checkpoints.begin()) {
        const Checkpoint& c = *(after - 1);
        for (const std::uint32_t r : c.alive) {
            if (m_ranges[r].endState > state)
                found.push_back(r);
        }
        next = c.next;
    }
    for (; next < m_ranges.size() && m_ranges[next].firstState <= state; ++next) {
        if (m_ranges[next].endState > state)
            found.push_back(next);
    }
    std::sort(found.begin(), found.end(), [this](std::uint32_t a, std::uint32_t b) {
        return std::tuple(m_ranges[a].address, m_ranges[a].id)
            < std::tuple(m_ranges[b].address, m_ranges[b].id);
    });
    return found;
}

void SegmentHistory::placeBlocks(const SegmentRange& range, const std::vector<LiveBlock>& live,
    std::vector<std::uint8_t>& placed, const Timeline& timeline, SegmentState& out) const
{
    const AllocationColumns& allocations = timeline.allocations();
    const std::uint64_t end = endOf(range.address, range.size);
    auto at = static_cast<std::size_t>(std::lower_bound(live.begin(), live.end(), range.address,
                                           [](const LiveBlock& b, std::uint64_t a) { return b.address < a; })
        - live.begin());
    std::uint64_t free = range.address;
    for (; at < live.size() && live[at].address < end; ++at) {
        if (placed[at] != 0)
            continue;
        placed[at] = 1;
        const std::size_t i = index(live[at].id);
        const std::uint64_t room
            = (at + 1 < live.size() ? std::min(end, live[at + 1].address) : end) - live[at].address;
        Piece piece;
        piece.address = live[at].address;
        piece.size = std::min(m_blockSize[i], room);
        piece.requested = allocations.size[i];
        piece.allocation = live[at].id;
        const bool waits = (allocations.pendingState[i] <= out.state
                               && allocations.pendingState[i] < allocations.endState[i])
            || std::binary_search(m_waitFromStart.begin(), m_waitFromStart.end(), live[at].id);
        piece.kind = waits ? PieceKind::Waiting : PieceKind::Live;
        piece.exactSize = m_blockSizeExact[i] != 0;
        addFree(out.pieces, free, piece.address);
        out.pieces.push_back(piece);
        free = piece.address + piece.size;
    }
    addFree(out.pieces, free, end);
}

SegmentState SegmentHistory::stateAt(StateIndex state, const Timeline& timeline) const
{
    SegmentState out;
    out.state = std::min(state, timeline.states() - 1);
    const bool atEnd = out.state == timeline.states() - 1 && m_known && !m_endsEarly;
    std::vector<LiveBlock> live;
    for (const AllocationId id : timeline.liveAt(out.state))
        live.push_back({timeline.allocations().address[index(id)], id});
    std::sort(live.begin(), live.end(), [](const LiveBlock& a, const LiveBlock& b) {
        return std::tuple(a.address, a.id) < std::tuple(b.address, b.id);
    });
    std::vector<std::uint8_t> placed(live.size(), 0);
    for (const std::uint32_t r : rangesAt(out.state)) {
        const SegmentRange& range = m_ranges[r];
        SegmentView view;
        view.id = range.id;
        view.address = range.address;
        view.size = range.size;
        view.stream = range.stream;
        view.pool = range.pool;
        view.kind = range.kind;
        view.expandable = range.expandable;
        view.page = range.kind == SegmentKind::Small ? BlockRules::smallSegment : m_largePage;
        view.since = range.since;
        view.predating = range.since == 0;
        view.firstPiece = static_cast<std::uint32_t>(out.pieces.size());
        if (atEnd)
            out.pieces.insert(out.pieces.end(), m_endPieces.begin() + m_endFirst[index(range.id)],
                m_endPieces.begin() + m_endFirst[index(range.id) + 1]);
        else
            placeBlocks(range, live, placed, timeline, out);
        view.pieceCount = static_cast<std::uint32_t>(out.pieces.size()) - view.firstPiece;
        out.segments.push_back(view);
    }
    if (atEnd) {
        std::vector<AllocationId> shown;
        for (const Piece& p : out.pieces)
            shown.push_back(p.allocation);
        std::sort(shown.begin(), shown.end());
        for (std::size_t i = 0; i < live.size(); ++i)
            placed[i] = std::binary_search(shown.begin(), shown.end(), live[i].id);
    }
    for (std::size_t i = 0; i < live.size(); ++i) {
        if (placed[i] == 0)
            out.homeless.push_back(live[i].id);
    }
    sumUp(out);
    return out;
}

} // namespace tidemark
