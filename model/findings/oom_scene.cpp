// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/oom_scene.hpp"

#include "model/findings/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace tidemark {

namespace {

/// Fills a scene part by part.
class SceneMaker {
public:
    explicit SceneMaker(const OomSceneRequest& request)
        : m_request(request)
        , m_replay(*request.replay)
    {
        m_scene.of = request;
    }

    std::shared_ptr<const OomScene> make(const Job& job)
    {
        const OomAutopsy& a = m_request.autopsy;
        m_scene.stream = a.requestClass.stream;
        m_scene.pool = a.requestClass.pool;
        m_scene.live = std::make_shared<const LiveTable>(buildLiveTable(m_replay, *m_request.grouping,
            m_request.grouping->by(), a.state, nullptr, m_request.colouring.get(), job));
        m_scene.liveOrder.resize(m_scene.live->rows());
        std::iota(m_scene.liveOrder.begin(), m_scene.liveOrder.end(), 0U);
        if (m_replay.segments.known()) {
            auto state
                = std::make_shared<SegmentState>(m_replay.segments.stateAt(a.state, m_replay.timeline));
            m_scene.state = state;
            addParts();
            addSegments();
            addGhost();
        }
        addPins();
        addSums();
        return std::make_shared<const OomScene>(std::move(m_scene));
    }

private:
    bool inClass(const SegmentView& segment) const
    {
        return segment.pool == m_scene.pool && segment.stream == m_scene.stream;
    }

    using Live = std::array<CapacityPart, colourSlot::count>;
    using Rest = std::array<CapacityPart, 8>;

    static void add(CapacityPart& part, CapacityPart::Kind kind, std::uint8_t slot, std::uint64_t bytes)
    {
        part.kind = kind;
        part.slot = slot;
        part.bytes += bytes;
        ++part.pieces;
    }

    /// A hole of an expandable segment may be both: whole pages go back, what is left of it stays.
    void addHole(const SegmentView& segment, const Piece& piece, Rest& rest) const
    {
        using Kind = CapacityPart::Kind;
        const auto put = [&](Kind kind, std::uint64_t bytes) {
            if (bytes > 0)
                add(rest[static_cast<std::size_t>(kind)], kind, colourSlot::other, bytes);
        };
        if (index(segment.pool) != 0)
            return put(Kind::PoolHeld, piece.size);
        if (m_request.autopsy.verdict == Verdict::WrongPool && segment.stream != m_scene.stream)
            return put(Kind::OtherStream, piece.size);
        const std::uint64_t releasable = releasableIn(segment, piece);
        put(Kind::Releasable, releasable);
        put(Kind::Pinned, piece.size - releasable);
    }

    void addPiece(const SegmentView& segment, const Piece& piece, Live& live, Rest& rest) const
    {
        using Kind = CapacityPart::Kind;
        const std::vector<std::uint8_t>& slots = m_request.colouring->slotOf;
        const auto put = [&](Kind kind) {
            add(rest[static_cast<std::size_t>(kind)], kind, colourSlot::other, piece.size);
        };
        switch (piece.kind) {
        case PieceKind::Live: {
            const bool coloured = valid(piece.allocation) && index(piece.allocation) < slots.size();
            const std::uint8_t slot = coloured ? slots[index(piece.allocation)] : colourSlot::other;
            return add(live[slot], Kind::Live, slot, piece.size);
        }
        case PieceKind::Waiting:
            return put(Kind::Waiting);
        case PieceKind::Unknown:
            return put(Kind::Unknown);
        case PieceKind::Free:
            return addHole(segment, piece, rest);
        }
    }

    void addParts()
    {
        Live live{};
        Rest rest{};
        m_scene.exact = m_request.autopsy.scope != OomScope::Inferred;
        for (const SegmentView& segment : m_scene.state->segments)
            for (std::uint32_t i = 0; i < segment.pieceCount; ++i) {
                const Piece& piece = m_scene.state->pieces[segment.firstPiece + i];
                addPiece(segment, piece, live, rest);
                m_scene.exact = m_scene.exact && (piece.kind == PieceKind::Free || piece.exactSize);
            }
        for (CapacityPart& part : live)
            if (part.bytes > 0)
                m_scene.parts.push_back(std::move(part));
        std::stable_sort(m_scene.parts.begin(), m_scene.parts.end(),
            [](const CapacityPart& a, const CapacityPart& b) { return a.bytes > b.bytes; });
        nameParts();
        for (CapacityPart& part : rest)
            if (part.bytes > 0)
                m_scene.parts.push_back(std::move(part));
        if (const auto free = m_request.autopsy.deviceFree; free && *free > 0) {
            CapacityPart part;
            part.kind = CapacityPart::Kind::DeviceFree;
            part.bytes = *free;
            m_scene.parts.push_back(std::move(part));
        }
    }

    void nameParts()
    {
        const Colouring& colours = *m_request.colouring;
        const bool groups = colours.by == ColourBy::Site && m_request.grouping->by() == GroupBy::Site;
        for (CapacityPart& part : m_scene.parts)
            for (const LegendItem& item : colours.legend)
                if (item.slot == part.slot) {
                    part.text = item.text;
                    if (groups && item.group < m_request.grouping->count())
                        part.group = item.group;
                    break;
                }
    }

    void addSegments()
    {
        std::map<std::pair<PoolId, StreamId>, FreeElsewhere> elsewhere;
        for (const SegmentView& segment : m_scene.state->segments) {
            const bool own = inClass(segment);
            const bool holes = segment.freeBytes > 0;
            ++m_scene.everywhere.all;
            m_scene.everywhere.withHoles += holes;
            m_scene.inClass.all += own;
            m_scene.inClass.withHoles += own && holes;
            if (!holes || !m_request.autopsy.isElsewhere(segment))
                continue;
            FreeElsewhere& other = elsewhere[{segment.pool, segment.stream}];
            other.pool = segment.pool;
            other.stream = segment.stream;
            other.bytes += segment.freeBytes;
            ++other.segments;
        }
        for (const auto& [key, other] : elsewhere)
            m_scene.elsewhere.push_back(other);
        std::stable_sort(m_scene.elsewhere.begin(), m_scene.elsewhere.end(),
            [](const FreeElsewhere& a, const FreeElsewhere& b) { return a.bytes > b.bytes; });
    }

    /// The largest hole the request may use; else, when free memory lies elsewhere, the largest one there.
    void addGhost()
    {
        const bool wrongPool = m_request.autopsy.verdict == Verdict::WrongPool
            || m_request.autopsy.verdict == Verdict::CaptureBlocked;
        const auto& segments = m_scene.state->segments;
        for (std::uint32_t s = 0; s < segments.size(); ++s) {
            const SegmentView& segment = segments[s];
            const bool reachable = classOf(segment) == m_request.autopsy.requestClass;
            for (std::uint32_t i = 0; i < segment.pieceCount; ++i) {
                const std::uint32_t number = segment.firstPiece + i;
                const Piece& piece = m_scene.state->pieces[number];
                if (piece.kind != PieceKind::Free || piece.size == 0)
                    continue;
                const bool better = !m_scene.ghost
                    || (wrongPool || reachable == m_scene.ghost->reachable ? piece.size > m_scene.ghost->size
                                                                           : reachable);
                if (better)
                    m_scene.ghost
                        = GhostHole{s, number, piece.address - segment.address, piece.size, reachable};
            }
        }
        const std::uint64_t request = m_request.autopsy.request.value_or(0);
        const std::uint64_t hole = m_scene.ghost ? m_scene.ghost->size : 0;
        m_scene.missing = request > hole ? request - hole : 0;
    }

    void addPins()
    {
        const AllocationColumns& columns = m_replay.timeline.allocations();
        std::map<std::uint32_t, PinGroup> groups;
        for (const PinningBlock& pin : m_request.autopsy.pins) {
            if (!valid(pin.allocation) || index(pin.allocation) >= columns.count())
                continue;
            const std::uint32_t group = m_request.grouping->of(pin.allocation);
            const auto [found, fresh] = groups.try_emplace(group);
            PinGroup& row = found->second;
            const std::uint8_t slot = m_request.colouring->slotOf[index(pin.allocation)];
            if (fresh) {
                row.group = group;
                row.slot = slot;
                row.sizes = {pin.size, pin.size};
                row.held = {pin.releases, pin.releases};
                row.example = pin.allocation;
            }
            if (slot != row.slot)
                row.slot = colourSlot::count;
            ++row.blocks;
            row.bytes += pin.size;
            row.releases += pin.releases;
            row.sizes = {std::min(row.sizes.first, pin.size), std::max(row.sizes.second, pin.size)};
            row.held = {std::min(row.held.first, pin.releases), std::max(row.held.second, pin.releases)};
            addEvent(row, pin.allocation);
        }
        for (auto& [group, row] : groups) {
            row.leverage = row.bytes ? static_cast<double>(row.releases) / static_cast<double>(row.bytes) : 0;
            findStep(row);
            m_scene.pinBlocks += row.blocks;
            m_scene.pinBytes += row.bytes;
            m_scene.pinReleases += row.releases;
            m_scene.pins.push_back(row);
        }
        std::stable_sort(m_scene.pins.begin(), m_scene.pins.end(),
            [](const PinGroup& a, const PinGroup& b) { return a.releases > b.releases; });
    }

    void addEvent(PinGroup& row, AllocationId id) const
    {
        const auto event = m_replay.timeline.allocEvent(id);
        if (!event)
            row.predating = true;
        else if (!row.events)
            row.events = {*event, *event};
        else
            row.events = {std::min(row.events->first, *event), std::max(row.events->second, *event)};
    }

    void findStep(PinGroup& row) const
    {
        if (!m_request.phases || !row.events || row.predating)
            return;
        const auto stepOf = [&](EventIndex event) {
            return m_request.phases->stepAt(stateOf(static_cast<Moment>(index(event))));
        };
        const Step* const step = stepOf(row.events->first);
        if (step && step == stepOf(row.events->second))
            row.step = step->name;
    }

    void addSums()
    {
        const OomAutopsy& a = m_request.autopsy;
        std::uint64_t deviceFree = a.deviceFree.value_or(0);
        for (const CapacityPart& part : m_scene.parts) {
            m_scene.usable += part.bytes;
            if (!part.free())
                m_scene.used += part.bytes;
            else if (part.kind != CapacityPart::Kind::DeviceFree)
                m_scene.freeInside += part.bytes;
        }
        m_scene.freeAll = m_scene.freeInside + deviceFree;
        m_scene.reserved = m_scene.state ? m_scene.state->reserved
                                         : static_cast<std::uint64_t>(std::max<std::int64_t>(0, a.reserved));
        m_scene.pinnedAndDevice = a.pinned + deviceFree;
        // Shared equally and rounded down, the parts of a segment may lack a few bytes of it.
        m_scene.pinsAreAll
            = m_scene.pinReleases <= a.pinned && a.pinned - m_scene.pinReleases <= m_scene.pinBlocks;
        m_scene.others = nonPyTorchBytes(a, m_request.deviceTotal);
    }

    const OomSceneRequest& m_request;
    const Replay& m_replay;
    OomScene m_scene;
};

} // namespace

std::shared_ptr<const OomScene> buildOomScene(const OomSceneRequest& request, const Job& job)
{
    return SceneMaker(request).make(job);
}

std::uint64_t rowForGhost(const OomScene& scene, std::uint64_t automatic)
{
    constexpr std::uint64_t mostRows = 4;
    constexpr std::uint64_t tries = 16;
    if (!scene.ghost || !scene.autopsy().request || automatic == 0)
        return automatic;
    const std::uint64_t request = *scene.autopsy().request;
    const std::uint64_t most = automatic > (~std::uint64_t{0} >> 3) ? automatic : automatic * mostRows;
    const auto fits = [&](std::uint64_t row) { return scene.ghost->offset % row + request <= row; };
    const std::uint64_t needed = scene.ghost->offset % automatic + request;
    // Longer rows move the hole along only when its segment takes several of them.
    std::uint64_t row = std::clamp(needed, automatic, most);
    for (std::uint64_t i = 0; i < tries && !fits(row) && row < most; ++i)
        row = std::min(most, row + automatic / 8 + 1);
    return row;
}

} // namespace tidemark
