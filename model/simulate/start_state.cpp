// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/start_state.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// Stretches of one class that lie closer than this belong to one range of addresses: more than 9/8 of any
/// device, less than what lies between two reservations of different processes.
constexpr std::uint64_t near = 1ULL << 39;

bool isSmall(SegmentKind kind, std::uint64_t size)
{
    return kind == SegmentKind::Small || (kind == SegmentKind::Unknown && size <= BlockRules::smallSegment);
}

ModelBlock::State stateOfPiece(PieceKind kind)
{
    switch (kind) {
    case PieceKind::Live:
    case PieceKind::Unknown:
        return ModelBlock::State::Allocated;
    case PieceKind::Waiting:
        return ModelBlock::State::Pending;
    default:
        return ModelBlock::State::Free;
    }
}

/// Everything that is ever reserved, by address: what bounds the ranges.
struct Extent {
    std::uint64_t address;
    std::uint64_t end;
    ModelClass kind;
    bool expandable;
};

class StartState {
public:
    explicit StartState(const Replay& replay)
        : m_replay(replay)
        , m_state(replay.segments.stateAt(0, replay.timeline))
    {
        for (const SegmentRange& r : replay.segments.ranges())
            m_extents.push_back({r.address, endOf(r.address, r.size),
                classOf(r.pool, r.kind, r.size, r.stream), r.expandable});
        std::sort(m_extents.begin(), m_extents.end(),
            [](const Extent& a, const Extent& b) { return a.address < b.address; });
    }

    std::vector<ModelSegment> build()
    {
        for (const SegmentView& view : m_state.segments) {
            const ModelClass kind = classOf(view.pool, view.kind, view.size, view.stream);
            if (view.expandable && !m_out.empty() && m_out.back().expandable && m_out.back().kind == kind
                && endOfLast() <= view.address && view.address - endOfLast() < near) {
                addUnmapped(view.address - endOfLast());
            } else {
                closeLast(view.address);
                m_out.push_back({view.address, 0, kind, view.expandable, {}});
                if (view.expandable)
                    openFront(view.address);
            }
            addPieces(view);
        }
        closeLast(~std::uint64_t{0});
        std::erase_if(m_out, [](const ModelSegment& segment) { return segment.blocks.empty(); });
        return std::move(m_out);
    }

private:
    ModelClass classOf(PoolId pool, SegmentKind kind, std::uint64_t size, StreamId stream) const
    {
        return {
            valid(pool) ? pool : PoolId{}, isSmall(kind, size), m_replay.snapshot->streams[index(stream)]};
    }

    std::uint64_t endOfLast() const { return m_out.back().address + m_out.back().size; }

    void addUnmapped(std::uint64_t size)
    {
        if (size == 0)
            return;
        m_out.back().blocks.push_back({endOfLast(), size, 0, ModelBlock::State::Unmapped, 0});
        m_out.back().size += size;
    }

    void addPieces(const SegmentView& view)
    {
        ModelSegment& segment = m_out.back();
        for (std::uint32_t p = view.firstPiece; p < view.firstPiece + view.pieceCount; ++p) {
            const Piece& piece = m_state.pieces[p];
            if (piece.size == 0)
                continue;
            const ModelBlock::State state = stateOfPiece(piece.kind);
            const auto tag = static_cast<std::uint32_t>(index(piece.allocation));
            if (state == ModelBlock::State::Free && !segment.blocks.empty()
                && segment.blocks.back().state == ModelBlock::State::Free)
                segment.blocks.back().size += piece.size;
            else
                segment.blocks.push_back({piece.address, piece.size, piece.requested, state, tag});
            segment.size += piece.size;
        }
    }

    /// Pages in front of the first mapped one that the trace maps later.
    void openFront(std::uint64_t address)
    {
        ModelSegment& segment = m_out.back();
        auto at = std::lower_bound(m_extents.begin(), m_extents.end(), address,
            [](const Extent& e, std::uint64_t a) { return e.address < a; });
        while (at != m_extents.begin()) {
            --at;
            if (at->kind != segment.kind || !at->expandable || segment.address - at->address >= near)
                break;
            segment.address = at->address;
        }
        addUnmapped(address - segment.address);
    }

    /// Unmapped space behind the last mapped page, up to what anything else ever takes.
    void closeLast(std::uint64_t next)
    {
        if (m_out.empty() || !m_out.back().expandable)
            return;
        const std::uint64_t end = endOfLast();
        std::uint64_t limit = std::min(next, end + 2 * near);
        for (auto at = std::lower_bound(m_extents.begin(), m_extents.end(), end,
                 [](const Extent&e, std::uint64_t a) { return e.address < a; });
             at != m_extents.end() && at->address < limit; ++at) {
            if (at->kind != m_out.back().kind || !at->expandable)
                limit = at->address;
        }
        if (limit > end)
            addUnmapped(limit - end);
    }

    const Replay& m_replay;
    SegmentState m_state;
    std::vector<Extent> m_extents;
    std::vector<ModelSegment> m_out;
};

} // namespace

std::vector<ModelSegment> startState(const Replay& replay)
{
    return StartState(replay).build();
}

} // namespace tidemark
