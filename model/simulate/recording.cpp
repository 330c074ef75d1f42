// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/recording.hpp"

#include "model/simulate/model_run.hpp"
#include "model/simulate/start_state.hpp"

#include <algorithm>
#include <unordered_map>

namespace tidemark {

namespace {

Error stopped()
{
    return {ErrorCode::Cancelled, "Stopped.", std::nullopt};
}

/// Why a device's trace cannot be replayed at all.
std::string unusableBecause(const Replay& r)
{
    const DeviceTrace& device = r.device();
    const auto& actions = device.events.action;
    if (device.ordinal < 0 || r.snapshot->source.kind != SourceKind::Snapshot)
        return "This is not a recording of PyTorch's CUDA caching allocator.";
    if (std::find(actions.begin(), actions.end(), Action::Alloc) == actions.end())
        return "The recording holds no allocation events: record with "
               "torch.cuda.memory._record_memory_history(enabled=\"all\").";
    if (!r.segments.known())
        return "The file lists no segments, so where memory stood before the first event is unknown.";
    return {};
}

/// Why one that can be replayed is no ground for a prediction.
std::string noPredictionBecause(const Replay& r)
{
    if (r.timeline.endsOnRequest() || r.note(Quality::FilteredActions) != nullptr)
        return "The recording leaves out some kinds of events (skip_actions), so the requests are not "
               "complete.";
    if (r.note(Quality::RingWrapped) != nullptr)
        return "The ring of events was full, so the requests before the first event are not in the file: "
               "record "
               "with a larger max_entries.";
    if (r.device().firstEventInFile > 0)
        return "Only a part of the recording was read.";
    return {};
}

/// Reads a device's events as steps.
class StepReader {
public:
    StepReader(Recording& out, const Job& job)
        : m_out(out)
        , m_replay(*out.replay)
        , m_events(m_replay.device().events)
        , m_job(job)
    { }

    bool read()
    {
        findCapacity();
        const auto count = static_cast<std::uint32_t>(m_events.count());
        m_out.steps.reserve(count / 2 + 16);
        for (std::uint32_t event = 0; event < count; ++event) {
            if (event % pollInterval == 0 && m_job.stopped())
                return false;
            event = readOne(event);
        }
        return true;
    }

private:
    /// Reads the step at an event; returns the last event that belongs to it.
    std::uint32_t readOne(std::uint32_t event)
    {
        const Action action = m_events.action[event];
        switch (action) {
        case Action::Alloc:
            alloc(event);
            break;
        case Action::FreeRequested:
        case Action::FreeCompleted:
        case Action::Free:
            return free(event);
        case Action::SegmentAlloc:
        case Action::SegmentMap:
            m_afterFlush = m_afterFlush || m_released;
            m_released = false;
            if (m_grewAt == 0)
                m_grewAt = m_events.address[event];
            break;
        case Action::SegmentFree:
        case Action::SegmentUnmap:
            return release(event);
        case Action::Oom:
            oom(event);
            break;
        default:
            break;
        }
        return event;
    }

    RecordedStep& add(StepKind kind, std::uint32_t event, std::uint32_t subject)
    {
        RecordedStep& step = m_out.steps.emplace_back();
        step.kind = kind;
        step.event = event;
        step.subject = subject;
        return step;
    }

    void alloc(std::uint32_t event)
    {
        const AllocationId id = m_replay.timeline.allocationOf(static_cast<EventIndex>(event));
        if (valid(id) && m_replay.timeline.allocations().size[index(id)] > 0) {
            RecordedStep& step = add(StepKind::Allocate, event, static_cast<std::uint32_t>(index(id)));
            step.afterFlush = m_afterFlush;
            step.grewAt = m_grewAt;
        }
        m_afterFlush = m_released = false;
        m_grewAt = 0;
    }

    std::uint32_t free(std::uint32_t event)
    {
        m_released = false;
        const Timeline& timeline = m_replay.timeline;
        const AllocationId id = timeline.allocationOf(static_cast<EventIndex>(event));
        if (!valid(id))
            return event;
        const auto subject = static_cast<std::uint32_t>(index(id));
        const std::uint32_t next = event + 1;
        if (m_events.action[event] == Action::FreeRequested && !timeline.endsOnRequest()) {
            const bool atOnce = next < m_events.count() && m_events.action[next] == Action::FreeCompleted
                && timeline.allocationOf(static_cast<EventIndex>(next)) == id;
            add(atOnce ? StepKind::Free : StepKind::RequestFree, atOnce ? next : event, subject);
            return atOnce ? next : event;
        }
        add(m_events.action[event] == Action::FreeCompleted ? StepKind::CompleteFree : StepKind::Free, event,
            subject);
        return event;
    }

    bool isRelease(std::uint32_t event) const
    {
        return event < m_events.count() && reserving(m_events.action[event]) < 0;
    }

    /// A burst of releases: one call of empty_cache, or the allocator's answer to a full device.
    std::uint32_t release(std::uint32_t first)
    {
        std::uint32_t end = first;
        bool called = false;
        for (; isRelease(end); ++end)
            called = called || fromEmptyCache(m_events.stack[end]);
        const bool forced = !called && isForced(first, end);
        if (forced && isFull(first, end)) // garbage is collected without waiting for anything
            markWaitedFor();
        // With max_split_size_mb set, forced releases may also take from a pool that is in use.
        if (!forced || !m_out.settings.splitLimited())
            releasePools(first, end);
        add(forced ? StepKind::Flush : StepKind::EmptyCache, first, end - first);
        m_released = true;
        return end - 1;
    }

    /// The frees completed just before: a request found nothing, and all streams were waited for.
    void markWaitedFor()
    {
        for (auto step = m_out.steps.rbegin();
             step != m_out.steps.rend() && step->kind == StepKind::CompleteFree; ++step)
            step->atFlush = true;
    }

    /// Memory of a private pool goes only when nobody uses the pool any more.
    void releasePools(std::uint32_t first, std::uint32_t end)
    {
        if (m_events.pool.empty())
            return;
        std::vector<PoolId> pools;
        for (std::uint32_t event = first; event < end; ++event)
            if (const PoolId pool = m_events.pool[event]; valid(pool) && pool != PoolId{})
                pools.push_back(pool);
        std::sort(pools.begin(), pools.end());
        pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
        for (const PoolId pool : pools)
            add(StepKind::ReleasePool, first, static_cast<std::uint32_t>(index(pool)));
    }

    bool fromEmptyCache(StackId stack)
    {
        if (!valid(stack))
            return false;
        const auto [known, added] = m_empties.try_emplace(stack, false);
        if (added) {
            const Snapshot& file = *m_replay.snapshot;
            const auto frames = file.stacks[stack];
            known->second = std::any_of(frames.begin(), frames.end(),
                [&](FrameId frame) { return file.strings.view(file.frames[frame].name) == "empty_cache"; });
        }
        return known->second;
    }

    /// Growth or a failure follows, and more would have been reserved than ever was.
    bool isForced(std::uint32_t first, std::uint32_t end) const
    {
        if (end >= m_events.count())
            return false;
        const Action action = m_events.action[end];
        if (action == Action::Oom)
            return true;
        // Garbage is collected before the device is full.
        const bool collects = m_out.settings.garbageCollectionThreshold > 0;
        return reserving(action) > 0 && (collects || isFull(first, end));
    }

    /// What was reserved before a burst and what was asked for after it are more than there ever was.
    bool isFull(std::uint32_t first, std::uint32_t end) const
    {
        if (end >= m_events.count() || reserving(m_events.action[end]) <= 0)
            return end < m_events.count() && m_events.action[end] == Action::Oom;
        return m_replay.segments.reserved().at(first) + m_events.size[end] > m_floor;
    }

    /// Reserved and free bytes at the first failure that tells them; absent when none does.
    std::optional<std::int64_t> toldByFailure() const
    {
        constexpr std::int64_t beyondDevices = 16LL << 40;
        for (const OomEvent& oom : m_replay.device().ooms) {
            const std::int64_t free = oom.deviceFree.value_or(-1);
            const std::int64_t reserved
                = m_replay.segments.reserved().at(stateOf(static_cast<Moment>(index(oom.event))));
            if (free >= 0 && reserved >= 0 && free <= beyondDevices && reserved <= beyondDevices - free)
                return reserved + free;
        }
        return std::nullopt;
    }

    void findCapacity()
    {
        m_floor = m_replay.segments.reserved().total().max;
        Capacity& capacity = m_out.capacity;
        const std::optional<std::int64_t> told = toldByFailure();
        const std::int64_t device = std::max(m_floor, told.value_or(0));
        if (told)
            capacity.source = Capacity::Source::OutOfMemory;
        else if (!m_replay.device().ooms.empty())
            capacity.source = Capacity::Source::Failure;
        // What is free of a device is out of reach beyond a limit set for the process.
        if (!m_out.settings.memoryFraction)
            m_floor = device;
        bool flushed = false;
        for (std::uint32_t event = 0; event < m_events.count(); ++event) {
            if (!isRelease(event))
                continue;
            const std::uint32_t first = event;
            bool called = false;
            for (; isRelease(event); ++event)
                called = called || fromEmptyCache(m_events.stack[event]);
            flushed = flushed || (!called && isFull(first, event));
        }
        if (flushed && capacity.source == Capacity::Source::Unknown)
            capacity.source = Capacity::Source::Flush;
        capacity.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, device));
    }

    void oom(std::uint32_t event)
    {
        const auto& ooms = m_replay.device().ooms; // in the order of events
        while (m_nextOom < ooms.size() && index(ooms[m_nextOom].event) < event)
            ++m_nextOom;
        const OomEvent* const found
            = m_nextOom < ooms.size() && index(ooms[m_nextOom].event) == event ? &ooms[m_nextOom] : nullptr;
        if (found != nullptr && found->requested && *found->requested > 0) {
            markWaitedFor();
            RecordedStep& step = add(StepKind::OutOfMemory, event, static_cast<std::uint32_t>(m_nextOom));
            step.grewAt = m_grewAt;
        }
        m_afterFlush = m_released = false;
        m_grewAt = 0;
    }

    Recording& m_out;
    const Replay& m_replay;
    const EventColumns& m_events;
    const Job& m_job;
    /// The least that the device must have had for this process.
    std::int64_t m_floor = 0;
    /// Memory was just given back / and then asked for again, inside one request.
    bool m_released = false;
    bool m_afterFlush = false;
    std::uint64_t m_grewAt = 0;
    std::size_t m_nextOom = 0;
    std::unordered_map<StackId, bool> m_empties;
};

/// Segments of a damaged file may lie across each other; no allocator can begin from that.
bool overlap(const std::vector<ModelSegment>& segments)
{
    std::uint64_t end = 0;
    for (const ModelSegment& segment : segments) {
        if (segment.address < end)
            return true;
        end = endOf(segment.address, segment.size);
    }
    return false;
}

/// A free that completes without having been requested in the trace was requested before it: until then the
/// memory waits for its stream, and a release of cached memory would have waited with it.
void markWaitingAtStart(Recording& recording)
{
    std::vector<bool> requested(recording.replay->timeline.allocations().count(), false);
    std::vector<bool> waiting(requested.size(), false);
    for (const RecordedStep& step : recording.steps) {
        if (step.kind == StepKind::RequestFree)
            requested[step.subject] = true;
        else if (step.kind == StepKind::CompleteFree && !requested[step.subject])
            waiting[step.subject] = true;
    }
    for (ModelSegment& segment : recording.start)
        for (ModelBlock& block : segment.blocks)
            if (block.state == ModelBlock::State::Allocated && block.tag < waiting.size()
                && waiting[block.tag])
                block.state = ModelBlock::State::Pending;
}

/// Finds the failed requests that the default pool could have served: they were made in the scope of another
/// pool, in which nothing is flushed. Many recordings do not say so. False when stopped.
bool markScopes(Recording& recording, const Job& job)
{
    const std::size_t failures = std::min(recording.replay->device().ooms.size(), ModelRun::mostFailures);
    // With a limit below the device, what failed because of it cannot be told from what failed in a scope.
    if (failures == 0 || recording.settings.memoryFraction)
        return true;
    ModelRun run(
        recording, recording.settings, ModelRun::Mode::AsRecorded, recording.capacity.known(), std::nullopt);
    std::size_t seen = 0;
    std::uint32_t done = 0;
    for (RecordedStep& step : recording.steps) {
        if (done++ % pollInterval == 0 && job.stopped())
            return false;
        if (step.kind != StepKind::OutOfMemory) {
            run.apply(step);
            continue;
        }
        AllocatorModel trial(run.model());
        step.inScope = trial.allocate(recording.failedRequest(step)).has_value();
        if (++seen == failures)
            break;
    }
    return true;
}

} // namespace

AllocatorModel::Request Recording::request(const RecordedStep& step) const
{
    const AllocationColumns& c = replay->timeline.allocations();
    AllocatorModel::Request out;
    out.tag = step.subject;
    if (step.subject >= c.count()) {
        out.bytes = extras[step.subject - c.count()];
        return out;
    }
    const AllocationId id{step.subject};
    out.bytes = c.size[index(id)];
    out.stream = streamOf(id);
    out.pool = valid(c.pool[index(id)]) ? c.pool[index(id)] : PoolId{};
    const auto changed = std::lower_bound(sizes.begin(), sizes.end(), id,
        [](const ProgramChange::Size& size, AllocationId wanted) { return size.id < wanted; });
    if (changed != sizes.end() && changed->id == id)
        out.bytes = changed->bytes;
    return out;
}

AllocatorModel::Request Recording::failedRequest(const RecordedStep& step) const
{
    const EventColumns& events = replay->device().events;
    AllocatorModel::Request request;
    request.bytes = sane(*replay->device().ooms[step.subject].requested);
    request.stream = replay->snapshot->streams[index(events.stream[step.event])];
    if (!events.pool.empty() && valid(events.pool[step.event]))
        request.pool = events.pool[step.event];
    request.tag = noAllocation;
    request.inScope = step.inScope;
    // Which pool the scope is of may not be told: then it is one of its own, so that no cached memory is in
    // it.
    if (step.inScope && request.pool == PoolId{})
        request.pool = static_cast<PoolId>(replay->snapshot->pools.size());
    return request;
}

Result<std::shared_ptr<const Recording>> Recording::build(
    std::shared_ptr<const Replay> replay, const Job& job)
{
    auto out = std::make_shared<Recording>();
    out->replay = std::move(replay);
    out->settings = AllocatorSettings::of(*out->replay->snapshot, out->replay->device());
    out->unusable = unusableBecause(*out->replay);
    out->noPrediction = out->unusable.empty() ? noPredictionBecause(*out->replay) : out->unusable;
    if (out->unusable.empty()) {
        out->start = startState(*out->replay);
        if (overlap(out->start)) {
            out->start.clear();
            out->unusable = out->noPrediction
                = "Segments of the file overlap, so where memory stood is unknown.";
        } else {
            if (!StepReader(*out, job).read())
                return stopped();
            markWaitingAtStart(*out);
            if (!markScopes(*out, job))
                return stopped();
        }
    }
    return std::shared_ptr<const Recording>(std::move(out));
}

} // namespace tidemark
