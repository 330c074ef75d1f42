// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/timeline_builder.hpp"

#include "model/core/limits.hpp"

#include <algorithm>
#include <unordered_set>

namespace tidemark {

namespace {

/// Live ids may be listed again once as many events have passed, so that the lists never cost more than the
/// events themselves; below this many events a walk is quicker than a list.
constexpr StateIndex checkpointDistance = 1024;
/// Frees that must all repeat the stack of their allocation before the recorder is believed to do so, and how
/// many allocations are looked at: the setting can change during a run, and the frees in question come first.
constexpr std::uint32_t convincingFrees = 4;
constexpr std::size_t comparedFrees = 16384;
/// Events by which the address table is asked for in advance: most of the time goes into waiting for memory.
constexpr std::uint32_t prefetchDistance = 12;

} // namespace

std::size_t AddressTable::homeOf(std::uint64_t address) const
{
    const std::uint64_t mixed = (address ^ (address >> 32)) * 0x9e3779b97f4a7c15ULL;
    return (mixed >> 32) & (m_entries.size() - 1);
}

void AddressTable::prefetch(std::uint64_t address) const
{
#if defined(__GNUC__)
    __builtin_prefetch(&m_entries[homeOf(address)]);
#else
    static_cast<void>(address);
#endif
}

std::size_t AddressTable::slotOf(std::uint64_t address) const
{
    const std::size_t mask = m_entries.size() - 1;
    std::size_t slot = homeOf(address);
    while (m_entries[slot].live != unused && m_entries[slot].address != address)
        slot = (slot + 1) & mask;
    return slot;
}

AddressTable::Entry& AddressTable::mention(std::uint64_t address)
{
    Entry& entry = m_entries[slotOf(address)];
    if (entry.live != unused)
        return entry;
    if ((m_used + 1) * 2 > m_entries.size()) {
        grow();
        Entry& moved = m_entries[slotOf(address)];
        moved.address = address;
        ++m_used;
        return moved;
    }
    entry.address = address;
    ++m_used;
    return entry;
}

const AddressTable::Entry* AddressTable::find(std::uint64_t address) const
{
    const Entry& entry = m_entries[slotOf(address)];
    return entry.live == unused ? nullptr : &entry;
}

void AddressTable::grow()
{
    std::vector<Entry> old(m_entries.size() * 4);
    old.swap(m_entries);
    for (const Entry& entry : old)
        if (entry.live != unused)
            m_entries[slotOf(entry.address)] = entry;
}

SegmentFinder::SegmentFinder(const DeviceTrace& device)
{
    m_spans.reserve(device.segments.size());
    for (std::size_t i = 0; i < device.segments.size(); ++i) {
        const Segment& segment = device.segments[i];
        m_spans.push_back({segment.address, sane(segment.totalSize), static_cast<std::uint32_t>(i)});
    }
    std::sort(m_spans.begin(), m_spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
}

std::optional<std::uint32_t> SegmentFinder::find(std::uint64_t address) const
{
    const auto after = std::upper_bound(m_spans.begin(), m_spans.end(), address,
        [](std::uint64_t a, const Span& span) { return a < span.begin; });
    if (after == m_spans.begin())
        return std::nullopt;
    const Span& span = *(after - 1);
    if (address - span.begin >= span.size)
        return std::nullopt;
    return span.segment;
}

TimelineBuilder::TimelineBuilder(const Snapshot& snapshot, const DeviceTrace& device, const Job& job)
    : m_device(device)
    , m_events(device.events)
    , m_job(job)
    , m_count(static_cast<std::uint32_t>(device.events.count()))
    , m_segments(device)
    , m_outside(device.outside.get())
{
    const PoolId first = device.segments.empty() ? PoolId{0} : device.segments.front().pool;
    const bool same = std::all_of(device.segments.begin(), device.segments.end(),
        [first](const Segment& segment) { return segment.pool == first; });
    // A lone private pool does not own the addresses outside its segments.
    if (snapshot.pools.size() <= 1 || (same && first == PoolId{0}))
        m_onlyPool = PoolId{0};
}

Result<Timeline> TimelineBuilder::build()
{
    if (m_device.events.count() + m_device.blocks.size() > limits::maxEvents)
        return Error{ErrorCode::TooLarge,
            "One device has more than 4,294,967,280 events and blocks, more than can be numbered. Record "
            "fewer "
            "events (max_entries).",
            std::nullopt};
    m_out.m_states = m_count + 1;
    m_out.m_endsOnRequest = findEndsOnRequest();
    m_out.m_eventAllocation.assign(m_count, AllocationId::none);
    m_lives.reserve(m_count / 3 + 16);
    m_out.m_requested.reserve(m_count / 3 * 2 + 16);
    m_out.m_ends.reserve(m_count / 3 + 16);
    beginLives();
    for (std::uint32_t event = 0; event < m_count; ++event) {
        if (event % pollInterval == 0) {
            if (m_job.stopped())
                return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
            m_job.report(Stage::Replay, event, m_count);
        }
        if (event + prefetchDistance < m_count)
            m_table.prefetch(m_events.address[event + prefetchDistance]);
        replayEvent(event);
    }
    // Each of them takes a small part of a second at most.
    for (const auto step : {&TimelineBuilder::judgeEndState, &TimelineBuilder::number,
             &TimelineBuilder::fillColumns, &TimelineBuilder::placeEarlyNotes, &TimelineBuilder::closeSeries,
             &TimelineBuilder::compareFreeStacks, &TimelineBuilder::checkpoints}) {
        if (m_job.stopped())
            return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
        (this->*step)();
    }
    return std::move(m_out);
}

/// Where only a range was read: what lives when it begins, and what the events before it say of addresses.
void TimelineBuilder::beginLives()
{
    if (m_outside == nullptr)
        return;
    for (const std::uint64_t address : m_outside->dead)
        m_table.mention(address).live = AddressTable::notLive;
    m_olderLives = static_cast<std::uint32_t>(m_outside->alive.size());
    for (std::uint32_t i = 0; i < m_olderLives; ++i) {
        const OutsideAllocation& older = m_outside->alive[i];
        AddressTable::Entry& entry = m_table.mention(older.address);
        entry.live = i;
        const PoolId pool = valid(older.pool) ? older.pool : poolByAddress(entry);
        m_lives.push_back({i, m_out.m_states, older.waits ? 0 : m_out.m_states, pool});
        if (older.waits)
            m_pending += static_cast<std::int64_t>(sane(older.size));
    }
    m_out.m_pending.set(0, m_pending);
}

/// With completions filtered out, a request is all there is of a free; but where blocks wait at the end of
/// the file, completions are only missing because they have not happened yet.
bool TimelineBuilder::findEndsOnRequest() const
{
    if (m_outside != nullptr)
        return m_outside->endsOnRequest;
    bool requests = false;
    for (const Action action : m_events.action) {
        if (action == Action::FreeCompleted || action == Action::Free)
            return false;
        requests |= action == Action::FreeRequested;
    }
    if (!requests)
        return false;
    std::unordered_set<std::uint64_t> waiting;
    for (const Block& block : m_device.blocks)
        if (block.state == BlockState::Pending)
            waiting.insert(block.address);
    if (waiting.empty())
        return true;
    for (std::uint32_t event = 0; event < m_count; ++event)
        if (m_events.action[event] == Action::FreeRequested && waiting.count(m_events.address[event]) != 0)
            return false;
    return true;
}

void TimelineBuilder::replayEvent(std::uint32_t event)
{
    switch (const Action action = m_events.action[event]) {
    case Action::Alloc:
        alloc(event);
        break;
    case Action::FreeRequested:
    case Action::FreeCompleted:
    case Action::Free:
        free(event, action);
        break;
    case Action::Annotate: {
        const AddressTable::Entry* entry = m_table.find(m_events.address[event]);
        const bool live = entry != nullptr && entry->live < AddressTable::unused;
        // Renumbered with the rest; the event's own entry stays none because it neither starts nor ends one.
        m_out.m_annotations.push_back(
            {EventIndex{event}, live ? AllocationId{entry->live} : AllocationId::none});
        break;
    }
    default:
        break;
    }
}

void TimelineBuilder::alloc(std::uint32_t event)
{
    AddressTable::Entry& entry = m_table.mention(m_events.address[event]);
    if (entry.live < AddressTable::unused) {
        ++m_out.m_irregular.reallocOfLive;
        remember(m_out.m_oddities[0], m_events.address[event], event);
        endLife(entry.live, event);
    }
    const auto life = static_cast<std::uint32_t>(m_lives.size());
    m_lives.push_back({event, m_out.m_states, m_out.m_states, poolOf(event, entry)});
    entry.live = life;
    m_out.m_eventAllocation[event] = AllocationId{life};
    m_requested += static_cast<std::int64_t>(sizeOf(life));
    m_out.m_requested.set(event + 1, m_requested);
}

void TimelineBuilder::free(std::uint32_t event, Action action)
{
    AddressTable::Entry& entry = m_table.mention(m_events.address[event]);
    if (entry.live == AddressTable::unused) {
        // First heard of here: it is older than the trace.
        entry.live = static_cast<std::uint32_t>(m_lives.size());
        m_lives.push_back({event, m_out.m_states, m_out.m_states, poolOf(event, entry)});
        ++m_out.m_predating.freedInTrace;
        m_out.m_predating.freedInTraceBytes += sizeOf(entry.live);
    }
    const bool live = entry.live < AddressTable::unused;
    if (live)
        m_out.m_eventAllocation[event] = AllocationId{entry.live};
    if (action == Action::FreeRequested && !m_out.m_endsOnRequest) {
        if (live)
            request(event, entry.live);
    } else if (live) {
        endLife(entry.live, event);
        m_out.m_requested.set(event + 1, m_requested);
        entry.live = AddressTable::notLive;
    } else {
        ++m_out.m_irregular.freeOfUnknown;
        remember(m_out.m_oddities[1], m_events.address[event], event);
    }
}

bool TimelineBuilder::completes(std::uint32_t event, std::uint64_t address) const
{
    if (event == m_count)
        return m_outside != nullptr && m_outside->completedNext == address;
    return event < m_count && m_events.action[event] == Action::FreeCompleted
        && m_events.address[event] == address;
}

void TimelineBuilder::request(std::uint32_t event, std::uint32_t life)
{
    if (m_lives[life].pending != m_out.m_states || completes(event + 1, m_events.address[event]))
        return;
    ++m_out.m_delayedFrees;
    m_lives[life].pending = event + 1;
    m_pending += static_cast<std::int64_t>(sizeOf(life));
    m_out.m_pending.set(event + 1, m_pending);
}

void TimelineBuilder::endLife(std::uint32_t life, std::uint32_t event)
{
    const auto size = static_cast<std::int64_t>(sizeOf(life));
    m_requested -= size;
    if (m_lives[life].pending != m_out.m_states) {
        m_pending -= size;
        m_out.m_pending.set(event + 1, m_pending);
    } else {
        m_lives[life].pending = event + 1;
    }
    m_lives[life].end = event + 1;
    m_out.m_ends.push_back(event + 1);
}

PoolId TimelineBuilder::poolOf(std::uint32_t event, AddressTable::Entry& entry) const
{
    if (!m_events.pool.empty() && valid(m_events.pool[event]))
        return m_events.pool[event];
    return poolByAddress(entry);
}

PoolId TimelineBuilder::poolByAddress(AddressTable::Entry& entry) const
{
    if (m_onlyPool)
        return *m_onlyPool;
    if (!valid(entry.pool)) {
        const std::optional<std::uint32_t> segment = m_segments.find(entry.address);
        entry.pool = segment ? m_device.segments[*segment].pool : PoolId{0};
    }
    return entry.pool;
}

/// What a recorder without segments counts as allocated although no event mentions it (DeviceTrace::blocks).
void TimelineBuilder::standIns()
{
    for (const Block& block : m_device.blocks) {
        m_aliveAtEnd.emplace_back(nullptr, &block);
        m_out.m_predating.aliveAtEndBytes += sane(block.requested);
    }
    m_out.m_predating.aliveAtEnd = m_aliveAtEnd.size();
}

void TimelineBuilder::judgeEndState()
{
    if (!m_device.hasSegments) {
        standIns();
        return;
    }
    std::vector<std::uint8_t> active(m_lives.size(), 0);
    std::vector<std::uint64_t> freed;
    for (const Segment& segment : m_device.segments) {
        for (std::uint32_t i = 0; i < segment.blockCount; ++i) {
            const Block& block = m_device.blocks[segment.firstBlock + i];
            if (block.state != BlockState::Allocated && block.state != BlockState::Pending)
                continue;
            const AddressTable::Entry* entry = m_table.find(block.address);
            if (entry == nullptr) {
                m_aliveAtEnd.emplace_back(&segment, &block);
                m_out.m_predating.aliveAtEndBytes += sane(block.requested);
            } else if (entry->live == AddressTable::notLive) {
                ++m_out.m_irregular.activeButFreed;
                freed.push_back(block.address);
            } else {
                active[entry->live] = 1;
            }
        }
    }
    m_out.m_predating.aliveAtEnd = m_aliveAtEnd.size();
    std::vector<std::uint64_t> idle;
    m_table.forEach([&](const AddressTable::Entry& entry) {
        if (entry.live < AddressTable::unused && active[entry.live] == 0)
            idle.push_back(entry.address);
    });
    m_out.m_irregular.liveButInactive = idle.size();
    rememberSorted(m_out.m_oddities[2], std::move(freed));
    rememberSorted(m_out.m_oddities[3], std::move(idle));
}

/// Lives older than the trace that it frees, the last to go first; then as they are numbered.
std::vector<std::uint32_t> TimelineBuilder::predatingLives() const
{
    std::vector<std::uint32_t> freed;
    for (auto life = static_cast<std::uint32_t>(m_lives.size()); life-- > 0;)
        if (life < m_olderLives ? m_lives[life].end < m_out.m_states : !isTraced(life))
            freed.push_back(life);
    if (m_olderLives > 0)
        std::stable_sort(freed.begin(), freed.end(),
            [this](std::uint32_t a, std::uint32_t b) { return m_lives[a].end > m_lives[b].end; });
    return freed;
}

void TimelineBuilder::number()
{
    for (std::uint32_t life = 0; life < m_olderLives; ++life) {
        const bool stays = m_lives[life].end == m_out.m_states;
        m_olderStay += stays;
        Predating& p = m_out.m_predating;
        ++(stays ? p.aliveAtEnd : p.freedInTrace);
        (stays ? p.aliveAtEndBytes : p.freedInTraceBytes) += sizeOf(life);
    }
    m_idOfLife.resize(m_lives.size());
    auto next = static_cast<std::uint32_t>(m_aliveAtEnd.size());
    for (std::uint32_t life = 0; life < m_olderLives; ++life)
        if (m_lives[life].end == m_out.m_states)
            m_idOfLife[life] = AllocationId{next++};
    for (const std::uint32_t life : predatingLives())
        m_idOfLife[life] = AllocationId{next++};
    for (std::uint32_t life = m_olderLives; life < m_lives.size(); ++life)
        if (isTraced(life))
            m_idOfLife[life] = AllocationId{next++};
    for (AllocationId& id : m_out.m_eventAllocation)
        if (valid(id))
            id = m_idOfLife[index(id)];
    for (AnnotatedAllocation& note : m_out.m_annotations)
        if (valid(note.allocation))
            note.allocation = m_idOfLife[index(note.allocation)];
}

void TimelineBuilder::addColumns(const Life& life, Origin origin)
{
    AllocationColumns& c = m_out.m_allocations;
    c.address.push_back(m_events.address[life.event]);
    c.size.push_back(sane(m_events.size[life.event]));
    c.firstState.push_back(origin == Origin::Traced ? life.event + 1 : 0);
    c.endState.push_back(life.end);
    c.pendingState.push_back(life.pending);
    c.stack.push_back(origin == Origin::Traced ? m_events.stack[life.event] : StackId::none);
    c.stream.push_back(m_events.stream[life.event]);
    c.pool.push_back(life.pool);
    c.origin.push_back(origin);
}

void TimelineBuilder::fillColumns()
{
    AllocationColumns& c = m_out.m_allocations;
    const std::size_t count = m_aliveAtEnd.size() + m_lives.size();
    c.address.reserve(count);
    c.size.reserve(count);
    c.firstState.reserve(count);
    c.endState.reserve(count);
    c.pendingState.reserve(count);
    c.stack.reserve(count);
    c.stream.reserve(count);
    c.pool.reserve(count);
    c.origin.reserve(count);
    for (const auto& [segment, block] : m_aliveAtEnd) {
        c.address.push_back(block->address);
        c.size.push_back(sane(block->requested));
        c.firstState.push_back(0);
        c.endState.push_back(m_out.m_states);
        c.pendingState.push_back(m_out.m_states);
        c.stack.push_back(block->stack);
        c.stream.push_back(segment != nullptr ? segment->stream : StreamId{0});
        c.pool.push_back(segment != nullptr ? segment->pool : PoolId{0});
        c.origin.push_back(Origin::AliveAtEnd);
    }
    for (std::uint32_t life = 0; life < m_olderLives; ++life)
        if (m_lives[life].end == m_out.m_states)
            addOlder(life, Origin::AliveAtEnd);
    for (const std::uint32_t life : predatingLives()) {
        if (life < m_olderLives)
            addOlder(life, Origin::FreedInTrace);
        else
            addColumns(m_lives[life], Origin::FreedInTrace);
    }
    for (std::uint32_t life = m_olderLives; life < m_lives.size(); ++life)
        if (isTraced(life))
            addColumns(m_lives[life], Origin::Traced);
}

/// Its stack is known: its allocation stands before the range.
void TimelineBuilder::addOlder(std::uint32_t life, Origin origin)
{
    const OutsideAllocation& older = m_outside->alive[life];
    AllocationColumns& c = m_out.m_allocations;
    c.address.push_back(older.address);
    c.size.push_back(sane(older.size));
    c.firstState.push_back(0);
    c.endState.push_back(m_lives[life].end);
    c.pendingState.push_back(m_lives[life].pending);
    c.stack.push_back(older.stack);
    c.stream.push_back(older.stream);
    c.pool.push_back(m_lives[life].pool);
    c.origin.push_back(origin);
}

void TimelineBuilder::placeEarlyNotes()
{
    // A note may stand before anything tells that its address holds memory older than the trace.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> older;
    const AllocationColumns& c = m_out.m_allocations;
    for (AnnotatedAllocation& note : m_out.m_annotations) {
        if (valid(note.allocation))
            continue;
        if (older.empty()) {
            for (std::uint32_t i = 0; i < c.count() && c.origin[i] != Origin::Traced; ++i)
                older.emplace_back(c.address[i], i);
            std::sort(older.begin(), older.end());
        }
        const std::uint64_t address = m_events.address[index(note.event)];
        const auto found = std::lower_bound(older.begin(), older.end(), std::pair{address, std::uint32_t{0}});
        if (found != older.end() && found->first == address
            && c.endState[found->second] > index(note.event) + 1)
            note.allocation = AllocationId{found->second};
    }
}

void TimelineBuilder::closeSeries()
{
    const Predating& p = m_out.m_predating;
    m_out.m_requested.shift(static_cast<std::int64_t>(p.freedInTraceBytes + p.aliveAtEndBytes));
    m_out.m_requested.build(m_out.m_states);
    m_out.m_pending.build(m_out.m_states);
}

void TimelineBuilder::compareFreeStacks()
{
    m_out.m_completedOnly = (m_outside == nullptr || !m_outside->freeRequests)
        && std::find(m_events.action.begin(), m_events.action.end(), Action::FreeRequested)
            == m_events.action.end();
    AllocationColumns& c = m_out.m_allocations;
    const std::size_t staying = m_aliveAtEnd.size() + m_olderStay;
    const std::size_t predating = staying + m_out.m_predating.freedInTrace;
    std::uint32_t same = 0;
    const std::size_t end = std::min(c.count(), predating + comparedFrees);
    for (std::size_t i = predating; i < end; ++i) {
        const std::optional<EventIndex> free
            = m_out.freeEvent(AllocationId{static_cast<std::uint32_t>(i)}, m_device);
        if (!free || !valid(c.stack[i]) || !valid(m_events.stack[index(*free)]))
            continue;
        if (c.stack[i] != m_events.stack[index(*free)])
            return;
        ++same;
    }
    m_out.m_freesCarryAllocStack = same >= convincingFrees;
    if (!m_out.m_freesCarryAllocStack)
        return;
    for (std::size_t i = staying; i < predating; ++i)
        if (const auto free = m_out.freeEvent(AllocationId{static_cast<std::uint32_t>(i)}, m_device))
            c.stack[i] = valid(c.stack[i]) ? c.stack[i] : m_events.stack[index(*free)];
}

void TimelineBuilder::checkpoints()
{
    std::vector<Timeline::Checkpoint>& points = m_out.m_checkpoints;
    points.push_back({0, 0});
    // The state before the first event needs no list: who lives there is known by number.
    StateIndex state = checkpointDistance;
    while (state < m_out.m_states) {
        const StateIndex due = points.back().state + std::max(m_out.liveCountAt(state), checkpointDistance);
        if (state < due) {
            // While memory grows, the due state runs ahead of the loop; do not follow it event by event.
            state = std::max(due, state + checkpointDistance / 4);
            continue;
        }
        const std::vector<AllocationId> ids = m_out.liveAt(state);
        points.push_back({state, m_out.m_checkpointLive.size()});
        m_out.m_checkpointLive.insert(m_out.m_checkpointLive.end(), ids.begin(), ids.end());
        state += checkpointDistance;
    }
    m_out.m_checkpointLive.shrink_to_fit();
    m_out.m_ends.shrink_to_fit();
}

void TimelineBuilder::remember(Timeline::Oddity& oddity, std::uint64_t address, std::uint32_t event)
{
    if (!oddity.firstEvent)
        oddity.firstEvent = EventIndex{event};
    const bool known
        = std::find(oddity.addresses.begin(), oddity.addresses.end(), address) != oddity.addresses.end();
    if (!known && oddity.addresses.size() < limits::maxExamples)
        oddity.addresses.push_back(address);
}

void TimelineBuilder::rememberSorted(Timeline::Oddity& oddity, std::vector<std::uint64_t> addresses)
{
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    if (addresses.size() > limits::maxExamples)
        addresses.resize(limits::maxExamples);
    oddity.addresses = std::move(addresses);
}

} // namespace tidemark
