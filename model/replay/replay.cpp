// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/replay.hpp"

#include "model/core/byte_sum.hpp"
#include "model/replay/replay_quality.hpp"
#include "model/replay/running_maximum.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// The pools of allocations whose events name none: those of the segments they were placed in, which need not
/// be the segments that have the address at the end. None where the events tell, or nothing is known.
std::vector<PoolId> poolsBySegment(
    const DeviceTrace& device, const Timeline& timeline, const SegmentHistory& segments)
{
    std::vector<PoolId> pools;
    std::vector<PoolId> poolOf;
    for (const SegmentRange& range : segments.ranges()) {
        if (poolOf.size() <= index(range.id))
            poolOf.resize(index(range.id) + 1, PoolId::none);
        poolOf[index(range.id)] = range.pool;
    }
    const std::vector<PoolId>& stated = device.events.pool;
    const std::size_t count = poolOf.empty() ? 0 : timeline.allocations().count();
    pools.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const AllocationId id{i};
        const auto event = timeline.allocEvent(id) ? timeline.allocEvent(id) : timeline.endEvent(id);
        const bool told = event && !stated.empty() && valid(stated[index(*event)]);
        const SegmentId segment = segments.segmentOf(id);
        pools.push_back(told || !valid(segment) ? PoolId::none : poolOf[index(segment)]);
    }
    return pools;
}

/// Splits the curve of requested bytes by a key of the allocations.
template <typename Key>
class SplitSeries {
public:
    SplitSeries(const Timeline& timeline, const std::vector<Key>& keys)
        : m_timeline(timeline)
        , m_keys(keys)
    { }

    /// `keyCount` bounds the keys; `always` gets a series even when nothing has it.
    std::vector<std::pair<Key, Series>> build(std::size_t keyCount, Key always)
    {
        std::vector<std::uint8_t> used(keyCount, 0);
        if (valid(always))
            used[index(always)] = 1;
        std::size_t distinct = 0;
        for (const Key key : m_keys)
            used[index(key)] |= 2;
        for (const std::uint8_t flags : used)
            distinct += (flags & 2) != 0;
        std::vector<std::pair<Key, Series>> out;
        for (std::uint32_t k = 0; k < keyCount; ++k) {
            if (used[k] == 0)
                continue;
            const bool only = distinct == 1 && (used[k] & 2) != 0;
            out.emplace_back(Key{k}, only ? m_timeline.requested() : Series(0));
        }
        if (distinct > 1)
            walk(out, keyCount);
        if (distinct != 1 || out.size() > 1)
            for (auto& [key, series] : out)
                series.build(m_timeline.states());
        return out;
    }

private:
    void walk(std::vector<std::pair<Key, Series>>& out, std::size_t keyCount) const
    {
        const AllocationColumns& c = m_timeline.allocations();
        std::vector<std::uint32_t> place(keyCount, 0);
        for (std::uint32_t i = 0; i < out.size(); ++i)
            place[index(out[i].first)] = i;
        // An event ends at most one allocation.
        std::vector<AllocationId> endedBy(m_timeline.states(), AllocationId::none);
        std::vector<ByteSum> sums(out.size());
        std::uint32_t next = 0;
        for (; next < c.count() && c.firstState[next] == 0; ++next)
            sums[place[index(m_keys[next])]] += static_cast<std::int64_t>(c.size[next]);
        for (std::uint32_t id = 0; id < c.count(); ++id)
            if (c.endState[id] < m_timeline.states())
                endedBy[c.endState[id]] = AllocationId{id};
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i].second.set(0, sums[i]);
        const auto add = [&](std::uint32_t id, StateIndex state, std::int64_t bytes) {
            const std::uint32_t at = place[index(m_keys[id])];
            sums[at] += bytes;
            out[at].second.set(state, sums[at]);
        };
        for (StateIndex state = 1; state < m_timeline.states(); ++state) {
            if (valid(endedBy[state])) {
                const std::size_t id = index(endedBy[state]);
                add(static_cast<std::uint32_t>(id), state, -static_cast<std::int64_t>(c.size[id]));
            }
            for (; next < c.count() && c.firstState[next] == state; ++next)
                add(next, state, static_cast<std::int64_t>(c.size[next]));
        }
    }

    const Timeline& m_timeline;
    const std::vector<Key>& m_keys;
};

} // namespace

std::optional<std::int64_t> Replay::timeUs(StateIndex state) const
{
    const std::vector<std::int64_t>& times = device().events.timeUs;
    const std::size_t event = state == 0 ? 0 : state - 1;
    if (event >= times.size() || !hasTime(times[event]))
        return std::nullopt;
    return times[event];
}

std::optional<std::int64_t> Replay::originUs() const
{
    // Times before the first event that has one stand at it, so that the running maximum begins there.
    return monotoneTimes.empty() ? std::nullopt : std::optional(monotoneTimes.front());
}

StateIndex Replay::stateAtTime(std::int64_t us) const
{
    return static_cast<StateIndex>(
        std::upper_bound(monotoneTimes.begin(), monotoneTimes.end(), us) - monotoneTimes.begin());
}

bool Replay::reachesStart() const
{
    const Predating& before = timeline.predating();
    return device().firstEventInFile == 0 && before.freedInTrace + before.aliveAtEnd == 0
        && note(Quality::RingWrapped) == nullptr;
}

const QualityNote* Replay::note(Quality id) const
{
    const auto found = std::find_if(
        quality.begin(), quality.end(), [id](const QualityNote& note) { return note.id == id; });
    return found == quality.end() ? nullptr : &*found;
}

Result<std::shared_ptr<const Replay>> Replay::build(
    std::shared_ptr<const Snapshot> snapshot, std::size_t deviceIndex, const Job& job)
{
    auto replay = std::make_shared<Replay>();
    replay->snapshot = std::move(snapshot);
    replay->deviceIndex = deviceIndex;
    const DeviceTrace& device = replay->device();
    const Snapshot& file = *replay->snapshot;

    Result<Timeline> timeline = Timeline::build(file, device, job);
    if (!timeline)
        return timeline.error();
    replay->timeline = std::move(timeline).value();
    Result<SegmentHistory> segments = SegmentHistory::build(file, device, replay->timeline, job);
    if (!segments)
        return segments.error();
    replay->segments = std::move(segments).value();

    const Error stopped{ErrorCode::Cancelled, "Stopped.", std::nullopt};
    if (job.stopped())
        return stopped;
    const AllocationColumns& c = replay->timeline.allocations();
    replay->timeline.placeInPools(poolsBySegment(device, replay->timeline, replay->segments));
    replay->requestedByStream
        = SplitSeries(replay->timeline, c.stream).build(file.streams.size(), StreamId::none);
    if (job.stopped())
        return stopped;
    replay->requestedByPool = SplitSeries(replay->timeline, c.pool).build(file.pools.size(), PoolId{0});
    if (job.stopped())
        return stopped;
    replay->monotoneTimes = runningMaximum(device.events.timeUs);

    for (const QualityNote& note : file.quality)
        if (note.device == device.ordinal)
            replay->quality.push_back(note);
    for (QualityNote& note : replayQuality(file, device, replay->timeline, replay->segments))
        if (replay->note(note.id) == nullptr)
            replay->quality.push_back(std::move(note));
    return std::shared_ptr<const Replay>(std::move(replay));
}

} // namespace tidemark
