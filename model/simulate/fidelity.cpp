// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/fidelity.hpp"

#include "model/simulate/model_run.hpp"

#include <algorithm>
#include <tuple>

namespace tidemark {

namespace {

/// Walks a series of changes with states that never decrease.
class SeriesCursor {
public:
    explicit SeriesCursor(const Series& series)
        : m_changes(series.changes())
    { }
    std::int64_t at(StateIndex state)
    {
        while (m_next + 1 < m_changes.size() && m_changes[m_next + 1].state <= state)
            ++m_next;
        return m_changes[m_next].value;
    }

private:
    std::span<const Series::Change> m_changes;
    std::size_t m_next = 0;
};

std::vector<DriverEvent> recordedDriverEvents(const Replay& replay)
{
    const EventColumns& events = replay.device().events;
    std::vector<DriverEvent> out;
    for (std::size_t i = 0; i < events.count(); ++i)
        if (reserving(events.action[i]) != 0)
            out.push_back({events.action[i], events.address[i], sane(events.size[i]),
                replay.snapshot->streams[index(events.stream[i])]});
    return out;
}

/// How many of one kind are in both lists, which are sorted.
Match common(const std::vector<DriverEvent>& model, const std::vector<DriverEvent>& recorded, Action action)
{
    const auto isOther = [action](const DriverEvent& e) { return e.action != action; };
    std::vector<DriverEvent> theirs(recorded);
    std::erase_if(theirs, isOther);
    std::vector<DriverEvent> both;
    std::set_intersection(model.begin(), model.end(), theirs.begin(), theirs.end(), std::back_inserter(both));
    return {both.size(), theirs.size()};
}

ModelBlock::State stateOf(BlockState state)
{
    return state == BlockState::Allocated ? ModelBlock::State::Allocated
        : state == BlockState::Inactive   ? ModelBlock::State::Free
                                          : ModelBlock::State::Pending;
}

void compareEnd(Fidelity& out, const Recording& recording, const AllocatorModel& model)
{
    using Row = std::tuple<std::uint64_t, std::uint64_t, ModelBlock::State>;
    const DeviceTrace& device = recording.replay->device();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> segments;
    std::vector<Row> blocks;
    for (const ModelSegment& segment : model.segments()) {
        segments.emplace_back(segment.address, segment.size);
        for (const ModelBlock& block : segment.blocks)
            blocks.emplace_back(block.address, block.size, block.state);
    }
    for (const Segment& segment : device.segments) {
        out.endSegments.matched += std::binary_search(
            segments.begin(), segments.end(), std::pair(segment.address, sane(segment.totalSize)));
        for (std::uint32_t b = 0; b < segment.blockCount; ++b) {
            const Block& block = device.blocks[segment.firstBlock + b];
            out.endBlocks.matched += std::binary_search(
                blocks.begin(), blocks.end(), Row(block.address, sane(block.size), stateOf(block.state)));
        }
        out.endBlocks.total += segment.blockCount;
    }
    out.endSegments.total = device.segments.size();
}

void compareAddress(Fidelity& out, const Recording& recording, const RecordedStep& step, const ModelRun& run)
{
    ++out.addresses.total;
    const AllocationId id{step.subject};
    const std::uint64_t wanted = recording.replay->timeline.allocations().address[index(id)];
    const BlockRef block = run.blockOf(id);
    const std::uint64_t got = valid(block) ? run.model().addressOf(block) : 0;
    if (got == wanted)
        ++out.addresses.matched;
    else if (!out.firstDifference)
        out.firstDifference = Fidelity::Difference{
            step.event, recording.replay->timeline.allocations().size[index(id)], wanted, got};
}

} // namespace

Match Fidelity::segmentEvents() const
{
    Match sum;
    for (const Match& part : {segmentAllocs, segmentFrees, maps, unmaps}) {
        sum.matched += part.matched;
        sum.total += part.total;
    }
    return sum;
}

double Fidelity::score() const
{
    return std::min({addresses.share(), segmentEvents().share(), reserved.share(), endBlocks.share()});
}

Result<Fidelity> fidelityOf(const Recording& recording, const Job& job)
{
    Fidelity out;
    ModelRun run(recording, recording.settings, ModelRun::Mode::AsRecorded, {}, {});
    run.model().keepDriverEvents(true);
    SeriesCursor reserved(recording.replay->segments.reserved());
    std::uint32_t done = 0;
    for (const RecordedStep& step : recording.steps) {
        if (done++ % pollInterval == 0 && job.stopped())
            return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
        run.apply(step);
        if (step.kind == StepKind::Allocate)
            compareAddress(out, recording, step, run);
        if (step.kind != StepKind::Allocate && step.kind != StepKind::Free)
            continue;
        const auto is = static_cast<std::int64_t>(run.model().reserved());
        const std::int64_t was = reserved.at(static_cast<StateIndex>(step.event + 1));
        ++out.reserved.total;
        out.reserved.matched += is == was;
        out.largestReservedError
            = std::max(out.largestReservedError, static_cast<std::uint64_t>(is > was ? is - was : was - is));
    }
    std::vector<DriverEvent> model = run.model().takeDriverEvents();
    std::vector<DriverEvent> theirs = recordedDriverEvents(*recording.replay);
    std::sort(model.begin(), model.end());
    std::sort(theirs.begin(), theirs.end());
    out.segmentAllocs = common(model, theirs, Action::SegmentAlloc);
    out.segmentFrees = common(model, theirs, Action::SegmentFree);
    out.maps = common(model, theirs, Action::SegmentMap);
    out.unmaps = common(model, theirs, Action::SegmentUnmap);
    compareEnd(out, recording, run.model());
    out.strayFrees = run.strayFrees();
    return out;
}

} // namespace tidemark
