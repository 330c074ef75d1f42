// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/what_if.hpp"

#include "model/core/units.hpp"
#include "model/simulate/model_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tidemark {

namespace {

Error stopped()
{
    return {ErrorCode::Cancelled, "Stopped.", std::nullopt};
}

/// Follows one run and writes its result.
class Predictor {
public:
    Predictor(const Recording& recording, const WhatIfWish& wish)
        : m_recording(recording)
        , m_run(recording, wish.settings, ModelRun::Mode::WhatIf, wish.capacity, wish.deviceTotal)
        , m_states(recording.replay->states())
    {
        m_out.settings = wish.settings;
        m_out.capacity = wish.capacity;
        m_out.reserved = Series(signedBytes(model().reserved()));
        m_out.allocated = Series(signedBytes(model().allocated()));
        m_out.allocated.reserve(recording.steps.size());
        m_lastReserved = model().reserved();
        m_out.peakAllocated = model().allocated();
        m_out.idleAtPeak = idle();
        m_highest = model().reserved();
        m_peak = model().peakReserved();
    }

    Result<WhatIf> predict(const Job& job)
    {
        m_out.knownUntil = m_states - 1;
        if (m_run.startRanOut()) {
            m_out.knownUntil = 0;
            noteFailure({}, false);
            return finish();
        }
        std::uint32_t done = 0;
        for (const RecordedStep& step : m_recording.steps) {
            if (done++ % pollInterval == 0 && job.stopped())
                return stopped();
            if (!follow(step))
                break;
        }
        return finish();
    }

private:
    static std::int64_t signedBytes(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes); }
    const AllocatorModel& model() const { return m_run.model(); }
    std::uint64_t idle() const { return model().reserved() - model().allocated() - model().pending(); }

    /// False: what comes after this step is not known.
    bool follow(const RecordedStep& step)
    {
        const ModelRun::Outcome outcome = m_run.apply(step);
        const auto state = static_cast<StateIndex>(step.event + 1);
        track(state);
        const auto event = static_cast<EventIndex>(step.event);
        if (outcome == ModelRun::Outcome::Served)
            m_out.servedFailure = event;
        if (outcome == ModelRun::Outcome::RanOut || outcome == ModelRun::Outcome::FailedToo)
            noteFailure(event, outcome == ModelRun::Outcome::FailedToo);
        if (outcome != ModelRun::Outcome::Served && outcome != ModelRun::Outcome::RanOut)
            return true;
        m_out.knownUntil = state;
        return false;
    }

    void track(StateIndex state)
    {
        if (model().reserved() != m_lastReserved) {
            m_lastReserved = model().reserved();
            m_out.reserved.set(state, signedBytes(m_lastReserved));
        }
        m_out.allocated.set(state, signedBytes(model().allocated()));
        m_out.peakAllocated = std::max(m_out.peakAllocated, model().allocated());
        if (model().reserved() > m_highest) {
            m_highest = model().reserved();
            m_out.idleAtPeak = idle();
        }
        if (model().peakReserved() > m_peak) {
            m_peak = model().peakReserved();
            m_out.peakState = state;
        }
    }

    void noteFailure(std::optional<EventIndex> event, bool recorded)
    {
        if (m_out.outOfMemory)
            return;
        WhatIf::OutOfMemory& oom = m_out.outOfMemory.emplace();
        oom.event = event;
        oom.bytes = m_run.refusedBytes();
        oom.deviceFree = model().deviceFree().value_or(0);
        oom.reserved = model().reserved();
        oom.allocated = model().allocated();
        oom.pending = model().pending();
        oom.recorded = recorded;
    }

    WhatIf finish()
    {
        m_out.reserved.build(m_states);
        m_out.allocated.build(m_states);
        m_out.peakReserved = model().peakReserved();
        m_out.endReserved = model().reserved();
        m_out.endAllocated = model().allocated();
        m_out.counts = model().counts();
        m_run.model().emptyCache();
        m_out.endReleasable = m_out.endReserved - model().reserved();
        return std::move(m_out);
    }

    const Recording& m_recording;
    ModelRun m_run;
    StateIndex m_states;
    WhatIf m_out;
    std::uint64_t m_lastReserved = 0;
    std::uint64_t m_highest = 0;
    std::uint64_t m_peak = 0;
};

PieceKind kindOf(ModelBlock::State state)
{
    return state == ModelBlock::State::Free   ? PieceKind::Free
        : state == ModelBlock::State::Pending ? PieceKind::Waiting
                                              : PieceKind::Live;
}

/// The model's segments in the shape in which replayed ones are drawn.
class StateWriter {
public:
    StateWriter(const Replay& replay, StateIndex state, std::uint64_t largePage)
        : m_replay(replay)
        , m_largePage(largePage)
    {
        m_out.state = state;
        for (std::uint32_t i = 0; i < replay.snapshot->streams.size(); ++i)
            m_streams.emplace(replay.snapshot->streams[i], StreamId{i});
    }

    void add(const ModelSegment& segment)
    {
        SegmentView view;
        view.id = static_cast<SegmentId>(m_out.segments.size());
        view.address = segment.address;
        view.size = segment.size;
        if (const auto found = m_streams.find(segment.kind.stream); found != m_streams.end())
            view.stream = found->second;
        view.pool = segment.kind.pool;
        view.kind = segment.kind.small ? SegmentKind::Small : SegmentKind::Large;
        view.expandable = segment.expandable;
        view.page = segment.kind.small ? BlockRules::smallSegment : m_largePage;
        view.firstPiece = static_cast<std::uint32_t>(m_out.pieces.size());
        for (const ModelBlock& block : segment.blocks)
            addPiece(block);
        view.pieceCount = static_cast<std::uint32_t>(segment.blocks.size());
        m_out.segments.push_back(view);
    }

    SegmentState take()
    {
        sumUp(m_out);
        return std::move(m_out);
    }

private:
    void addPiece(const ModelBlock& block)
    {
        Piece piece;
        piece.address = block.address;
        piece.size = block.size;
        piece.kind = kindOf(block.state);
        if (piece.kind != PieceKind::Free) {
            piece.requested = block.requested;
            // No allocation of the recording: counts as reserved only.
            if (block.tag < m_replay.timeline.allocations().count())
                piece.allocation = AllocationId{block.tag};
            else
                piece.kind = PieceKind::Unknown;
        }
        m_out.pieces.push_back(piece);
    }

    const Replay& m_replay;
    std::uint64_t m_largePage;
    SegmentState m_out;
    std::map<std::int64_t, StreamId> m_streams;
};

} // namespace

Result<std::shared_ptr<const Simulation>> Simulation::build(
    std::shared_ptr<const Replay> replay, const Job& job)
{
    auto recording = Recording::build(std::move(replay), job);
    if (!recording)
        return recording.error();
    auto out = std::make_shared<Simulation>();
    out->m_recording = std::move(recording).value();
    if (!out->m_recording->unusable.empty())
        return Error{ErrorCode::Unsupported, out->m_recording->unusable, std::nullopt};
    const auto fidelity = fidelityOf(*out->m_recording, job);
    if (!fidelity)
        return fidelity.error();
    out->m_fidelity = *fidelity;
    out->m_refusal = out->m_recording->noPrediction;
    if (out->m_refusal.empty() && out->m_fidelity.score() < leastScore)
        out->m_refusal = "Replayed under its own settings, the recording comes out only "
            + formatPercent(out->m_fidelity.score()) + " alike, so a prediction would be a guess.";
    return std::shared_ptr<const Simulation>(std::move(out));
}

std::optional<std::uint64_t> Simulation::leastDevice() const
{
    const std::optional<double> share = m_recording->settings.memoryFraction;
    const std::int64_t most = m_recording->replay->segments.reserved().total().max;
    if (!share || most <= 0)
        return std::nullopt;
    const auto bytes = static_cast<double>(most);
    constexpr double beyondDevices = 1ULL << 50; // so small a share was not in force
    if (bytes / *share > beyondDevices)
        return std::nullopt;
    auto device = static_cast<std::uint64_t>(std::ceil(bytes / *share));
    while (*share * static_cast<double>(device) < bytes)
        ++device;
    return device;
}

Capacity Simulation::capacityFor(const WhatIfWish& wish) const
{
    if (wish.capacity)
        return {Capacity::Source::Given, *wish.capacity};
    const Capacity& known = m_recording->capacity;
    const bool sameShare = wish.settings.memoryFraction == m_recording->settings.memoryFraction;
    const std::optional<std::uint64_t> device = leastDevice();
    if (sameShare || !device || !known.inferred())
        return known;
    return {Capacity::Source::Share, std::max(*device, wish.deviceTotal.value_or(0))};
}

WhatIfWish Simulation::filledIn(const WhatIfWish& wish) const
{
    WhatIfWish full = wish;
    full.capacity = capacityFor(wish).known();
    // Where memory never ran short the share was not used up, and the card may be far larger.
    const std::optional<std::uint64_t> device = leastDevice();
    if (device && (full.capacity || full.deviceTotal))
        full.deviceTotal
            = std::max(*device, wish.deviceTotal ? *wish.deviceTotal : full.capacity.value_or(0));
    return full;
}

std::string Simulation::withoutEffect(const WhatIfWish& wish) const
{
    const AllocatorSettings& own = m_recording->settings;
    const AllocatorSettings& tried = wish.settings;
    const WhatIfWish full = filledIn(wish);
    std::string keys;
    if (tried.memoryFraction && tried.memoryFraction != own.memoryFraction)
        keys = "per_process_memory_fraction";
    if (tried.garbageCollectionThreshold > 0
        && tried.garbageCollectionThreshold != own.garbageCollectionThreshold) {
        if (!tried.memoryFraction)
            return "garbage_collection_threshold has no effect here: it acts only together with "
                   "per_process_memory_fraction";
        keys += (keys.empty() ? "" : " and ") + std::string("garbage_collection_threshold");
    }
    if (keys.empty() || full.deviceTotal || full.capacity)
        return {};
    const bool one = keys.find(' ') == std::string::npos;
    return keys + (one ? " has" : " have") + " no effect here: the size of the card is not known";
}

std::shared_ptr<const Recording> Simulation::recordingFor(const WhatIfWish& wish, const Job& job) const
{
    std::shared_ptr<const Recording> out = m_recording;
    if (wish.change && !wish.change->empty())
        out = changedRecording(*out, *wish.change, job);
    if (out && wish.order && !wish.order->empty())
        out = reorderedRecording(*out, *wish.order, job);
    return out;
}

Result<WhatIf> Simulation::run(const WhatIfWish& wish, const Job& job) const
{
    if (!m_refusal.empty())
        return Error{ErrorCode::Unsupported, m_refusal, std::nullopt};
    const auto recording = recordingFor(wish, job);
    return recording ? Predictor(*recording, filledIn(wish)).predict(job) : Result<WhatIf>(stopped());
}

Result<SegmentState> Simulation::segmentsAt(const WhatIfWish& wish, StateIndex state, const Job& job) const
{
    if (!m_refusal.empty())
        return Error{ErrorCode::Unsupported, m_refusal, std::nullopt};
    const WhatIfWish full = filledIn(wish);
    const auto recording = recordingFor(wish, job);
    if (!recording)
        return stopped();
    ModelRun run(*recording, full.settings, ModelRun::Mode::WhatIf, full.capacity, full.deviceTotal);
    std::uint32_t done = 0;
    for (const RecordedStep& step : recording->steps) {
        if (done++ % pollInterval == 0 && job.stopped())
            return stopped();
        if (run.startRanOut() || step.event + 1 > state)
            break;
        const ModelRun::Outcome outcome = run.apply(step);
        if (outcome == ModelRun::Outcome::Served || outcome == ModelRun::Outcome::RanOut)
            break;
    }
    StateWriter writer(*m_recording->replay, state, full.settings.rounding.largePage);
    for (const ModelSegment& segment : run.model().segments())
        writer.add(segment);
    return writer.take();
}

} // namespace tidemark
