// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/facts.hpp"

#include <algorithm>
#include <cstdlib>

namespace tidemark {

namespace {

using Kind = AttachedText::Kind;

/// Adds texts without repeating one.
class TextCollector {
public:
    TextCollector(const Snapshot& snapshot, std::vector<AttachedText>& texts)
        : m_snapshot(snapshot)
        , m_texts(texts)
    { }

    void add(Kind kind, StringId id, std::optional<EventIndex> event)
    {
        if (!valid(id))
            return;
        const std::string_view text = m_snapshot.strings.view(id);
        if (text.empty())
            return;
        for (const AttachedText& known : m_texts) {
            const bool sameKind
                = known.kind == kind || (known.kind == Kind::Annotation && kind == Kind::UserMetadata);
            if (sameKind && known.text == text)
                return;
        }
        m_texts.push_back({kind, std::string(text), event});
    }

    void addColumn(Kind kind, const std::vector<StringId>& column, EventIndex event)
    {
        if (!column.empty())
            add(kind, column[index(event)], event);
    }

private:
    const Snapshot& m_snapshot;
    std::vector<AttachedText>& m_texts;
};

const Block* blockAt(const DeviceTrace& device, std::uint64_t address)
{
    const auto found = std::find_if(device.blocks.begin(), device.blocks.end(),
        [&](const Block& block) { return block.address == address && block.state != BlockState::Inactive; });
    return found == device.blocks.end() ? nullptr : &*found;
}

StackId differentFrom(StackId other, StackId stack)
{
    return valid(stack) && stack != other ? stack : StackId::none;
}

void collectEvents(const DeviceTrace& device, const Timeline& timeline, AllocationId id,
    AllocationFacts& facts, TextCollector& texts)
{
    const EventColumns& events = device.events;
    if (facts.allocEvent) {
        texts.addColumn(Kind::UserMetadata, events.userMetadata, *facts.allocEvent);
        texts.addColumn(Kind::CompileContext, events.compileContext, *facts.allocEvent);
        texts.addColumn(Kind::InternalMetadata, events.internalMetadata, *facts.allocEvent);
        texts.addColumn(Kind::Category, events.category, *facts.allocEvent);
        if (!events.forwardStack.empty())
            facts.forwardStack = differentFrom(facts.stack, events.forwardStack[index(*facts.allocEvent)]);
    }
    for (const AnnotatedAllocation& note : timeline.annotations())
        if (note.allocation == id)
            texts.addColumn(Kind::Annotation, events.userMetadata, note.event);
}

void collectBlock(
    const DeviceTrace& device, std::uint64_t address, AllocationFacts& facts, TextCollector& texts)
{
    const Block* block = blockAt(device, address);
    if (!block)
        return;
    texts.add(Kind::UserMetadata, block->userMetadata, std::nullopt);
    if (!valid(facts.stack))
        facts.stack = block->stack;
    if (!valid(facts.forwardStack))
        facts.forwardStack = differentFrom(facts.stack, block->forwardStack);
}

void collectTimes(
    const Replay& replay, const AllocationColumns& columns, std::size_t i, AllocationFacts& facts)
{
    if (facts.allocEvent)
        facts.startUs = replay.timeUs(columns.firstState[i]);
    if (facts.endEvent)
        facts.endUs = replay.timeUs(stateOf(static_cast<Moment>(index(*facts.endEvent))));
    if (columns.pendingState[i] < columns.endState[i] && columns.pendingState[i] > 0)
        facts.freeRequest = static_cast<EventIndex>(columns.pendingState[i] - 1);
}

} // namespace

AllocationFacts allocationFacts(const Replay& replay, AllocationId id)
{
    const AllocationColumns& columns = replay.timeline.allocations();
    const DeviceTrace& device = replay.device();
    const std::size_t i = index(id);
    AllocationFacts facts;
    facts.stack = columns.stack[i];
    facts.allocEvent = replay.timeline.allocEvent(id);
    facts.endEvent = replay.timeline.endEvent(id);
    TextCollector texts(*replay.snapshot, facts.texts);
    collectEvents(device, replay.timeline, id, facts, texts);
    if (columns.endState[i] >= replay.states())
        collectBlock(device, columns.address[i], facts, texts);
    facts.freeStack = differentFrom(facts.stack, replay.timeline.freeStack(id, device));
    collectTimes(replay, columns, i, facts);
    const auto self = columns.address.begin() + static_cast<std::ptrdiff_t>(i);
    facts.generation = replay.timeline.generation(id);
    facts.generations
        = facts.generation + static_cast<std::uint32_t>(std::count(self, columns.address.end(), *self));
    return facts;
}

namespace {

template <typename Has>
GroupFacts factsOf(const Replay& replay, StateIndex cursor, Has has)
{
    const AllocationColumns& columns = replay.timeline.allocations();
    GroupFacts facts;
    std::vector<std::int64_t> delta(replay.states() + std::size_t{1}, 0);
    bool any = false;
    for (std::size_t i = 0; i < columns.count(); ++i) {
        const auto id = static_cast<AllocationId>(i);
        if (!has(id))
            continue;
        const std::uint64_t size = columns.size[i];
        const StateIndex last = columns.endState[i] > 0 ? columns.endState[i] - 1 : 0;
        if (!any) {
            facts.first = columns.firstState[i];
            facts.smallest = size;
            facts.stack = columns.stack[i];
            facts.stream = columns.stream[i];
            facts.pool = columns.pool[i];
        }
        if (!any || size > facts.largest) {
            facts.largest = size;
            facts.largestId = id;
        }
        any = true;
        ++facts.allocations;
        facts.bytes += size;
        facts.smallest = std::min(facts.smallest, size);
        facts.first = std::min(facts.first, columns.firstState[i]);
        facts.last = std::max(facts.last, last);
        facts.oneStack = facts.oneStack && columns.stack[i] == facts.stack;
        if (facts.stream != columns.stream[i])
            facts.stream = StreamId::none;
        if (facts.pool != columns.pool[i])
            facts.pool = PoolId::none;
        if (columns.origin[i] != Origin::Traced)
            ++facts.predating;
        if (columns.endState[i] >= replay.states()) {
            ++facts.aliveAtEnd;
            facts.aliveAtEndBytes += size;
        }
        if (replay.timeline.isLive(id, cursor)) {
            ++facts.countAtCursor;
            facts.atCursor += size;
            facts.blockBytes += replay.segments.blockSize(id);
        }
        delta[columns.firstState[i]] += static_cast<std::int64_t>(size);
        delta[columns.endState[i]] -= static_cast<std::int64_t>(size);
    }
    if (any)
        facts.stack = columns.stack[index(facts.largestId)];
    std::int64_t live = 0;
    for (StateIndex state = 0; state < replay.states(); ++state) {
        live += delta[state];
        if (live > facts.peak) {
            facts.peak = live;
            facts.peakState = state;
        }
    }
    return facts;
}

} // namespace

GroupFacts groupFacts(const Replay& replay, const Grouping& grouping, std::uint32_t group, StateIndex cursor)
{
    return factsOf(replay, cursor, [&](AllocationId id) { return grouping.of(id) == group; });
}

std::pair<StateIndex, StateIndex> groupSpan(
    const Replay& replay, const Grouping& grouping, std::uint32_t group)
{
    const AllocationColumns& columns = replay.timeline.allocations();
    StateIndex first = replay.states();
    StateIndex end = 0;
    for (std::uint32_t i = 0; i < columns.count(); ++i) {
        if (grouping.of(AllocationId{i}) != group)
            continue;
        first = std::min(first, columns.firstState[i]);
        end = std::max(end, columns.endState[i]);
    }
    return {first, end > 0 ? end - 1 : 0};
}

GroupFacts setFacts(const Replay& replay, const std::vector<std::uint8_t>& flags, StateIndex cursor)
{
    return factsOf(
        replay, cursor, [&](AllocationId id) { return index(id) < flags.size() && flags[index(id)] != 0; });
}

RangeSums rangeSums(const Replay& replay, StateIndex first, StateIndex last)
{
    const AllocationColumns& columns = replay.timeline.allocations();
    RangeSums sums;
    for (std::size_t i = 0; i < columns.count(); ++i) {
        const std::uint64_t size = columns.size[i];
        const bool born = columns.firstState[i] > first && columns.firstState[i] <= last;
        const bool died = columns.endState[i] > first && columns.endState[i] <= last;
        if (born) {
            ++sums.allocated;
            sums.allocatedBytes += size;
        }
        if (died) {
            ++sums.freed;
            sums.freedBytes += size;
        }
        if (born && !died) {
            ++sums.surviving;
            sums.survivingBytes += size;
        }
    }
    return sums;
}

std::vector<Pin> pinsOf(const SegmentState& state, const SegmentView& segment, std::uint64_t hole)
{
    std::vector<Pin> pins;
    const Piece* const begin = state.pieces.data() + segment.firstPiece;
    const std::size_t count = segment.pieceCount;
    const auto of = std::find_if(begin, begin + count, [&](const Piece& p) { return p.address == hole; });
    for (std::size_t i = 0; i < count; ++i) {
        const Piece& piece = begin[i];
        if (piece.kind == PieceKind::Free)
            continue;
        Pin pin{piece.allocation, piece.address, piece.size, piece.kind == PieceKind::Waiting, 0, 0};
        if (i > 0 && begin[i - 1].kind == PieceKind::Free)
            pin.holds += begin[i - 1].size;
        if (i + 1 < count && begin[i + 1].kind == PieceKind::Free)
            pin.holds += begin[i + 1].size;
        if (of != begin + count)
            pin.distance
                = piece.address > hole ? piece.address - hole - of->size : hole - piece.address - piece.size;
        pins.push_back(pin);
    }
    std::stable_sort(pins.begin(), pins.end(),
        [](const Pin& a, const Pin& b) { return a.holds != b.holds ? a.holds > b.holds : a.size < b.size; });
    return pins;
}

const SegmentView* segmentAt(const SegmentState& state, std::uint64_t address)
{
    auto next = std::upper_bound(state.segments.begin(), state.segments.end(), address,
        [](std::uint64_t a, const SegmentView& segment) { return a < segment.address; });
    if (next == state.segments.begin())
        return nullptr;
    --next;
    return address - next->address < next->size ? &*next : nullptr;
}

FreeSums freeSums(const SegmentState& state, std::optional<PoolId> pool, std::optional<StreamId> stream)
{
    FreeSums sums;
    for (const SegmentView& segment : state.segments) {
        if ((pool && segment.pool != *pool) || (stream && segment.stream != *stream))
            continue;
        ++sums.segments;
        sums.reserved += segment.size;
        sums.waiting += segment.waitingBytes;
        sums.largestHole = std::max(sums.largestHole, segment.largestHole);
        if (segment.freeBytes == 0)
            continue;
        if (index(segment.pool) != 0) {
            sums.held += segment.freeBytes;
            ++sums.heldSegments;
            continue;
        }
        const std::uint64_t pinned = segment.freeBytes - segment.releasableBytes;
        sums.pinned += pinned;
        sums.pinnedSegments += pinned > 0;
        sums.releasable += segment.releasableBytes;
        sums.releasableSegments += segment.releasableBytes > 0;
    }
    return sums;
}

StackId segmentStack(const Replay& replay, const SegmentView& segment)
{
    const EventColumns& events = replay.device().events;
    if (segment.since > 0 && segment.since <= events.count()) {
        const std::size_t event = segment.since - 1;
        const bool reserved
            = events.action[event] == Action::SegmentAlloc || events.action[event] == Action::SegmentMap;
        if (reserved && valid(events.stack[event]))
            return events.stack[event];
    }
    const auto& segments = replay.device().segments;
    const auto found = std::find_if(segments.begin(), segments.end(), [&](const Segment& s) {
        return s.address <= segment.address && segment.address - s.address < sane(s.totalSize);
    });
    return found == segments.end() ? StackId::none : found->stack;
}

} // namespace tidemark
