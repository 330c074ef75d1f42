// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/model_run.hpp"

#include <algorithm>

namespace tidemark {

ModelRun::ModelRun(const Recording& recording, const AllocatorSettings& settings, Mode mode,
    std::optional<std::uint64_t> capacity, std::optional<std::uint64_t> deviceTotal)
    : m_recording(recording)
    , m_mode(mode)
    , m_keepsPlace(settings.expandableSegments == recording.settings.expandableSegments)
    , m_repeats(mode == Mode::AsRecorded || (settings == recording.settings && !recording.isChanged))
    , m_model(settings, capacity, deviceTotal)
    , m_blocks(recording.replay->timeline.allocations().count() + recording.extras.size(), BlockRef::none)
    , m_pending(m_blocks.size(), false)
{
    if (m_keepsPlace)
        startAsRecorded();
    else
        startAnew();
    if (m_mode == Mode::WhatIf && !m_startRanOut)
        fitStart();
    m_model.startCounting();
}

/// What is reserved at the start may be more than this device gives: then the cache would have been flushed.
void ModelRun::fitStart()
{
    const auto limit = m_model.limit();
    if (!limit || m_model.reserved() <= *limit)
        return;
    m_model.emptyCache();
    forgetSynchronised();
    m_startRanOut = m_model.reserved() > *limit;
    if (m_startRanOut)
        m_refusedBytes = m_model.reserved() - *limit;
}

void ModelRun::startAsRecorded()
{
    for (const ModelSegment& segment : m_recording.start) {
        // A range without a page yet is one that the trace makes.
        const bool mapped = std::any_of(segment.blocks.begin(), segment.blocks.end(),
            [](const ModelBlock& b) { return b.state != ModelBlock::State::Unmapped; });
        if (!mapped)
            continue;
        const std::vector<BlockRef> blocks
            = m_model.addSegment(segment.kind, segment.expandable, segment.blocks);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const ModelBlock& block = segment.blocks[i];
            const bool used
                = block.state == ModelBlock::State::Allocated || block.state == ModelBlock::State::Pending;
            if (!used || block.tag >= m_blocks.size())
                continue;
            m_blocks[block.tag] = blocks[i];
            m_pending[block.tag] = block.state == ModelBlock::State::Pending;
        }
    }
}

void ModelRun::startAnew()
{
    for (const ModelSegment& segment : m_recording.start) {
        for (const ModelBlock& block : segment.blocks) {
            const bool used
                = block.state == ModelBlock::State::Allocated || block.state == ModelBlock::State::Pending;
            if (used && !placeAnew(segment, block)) {
                m_startRanOut = true;
                return;
            }
        }
    }
}

/// False: there is no room for it.
bool ModelRun::placeAnew(const ModelSegment& segment, const ModelBlock& block)
{
    AllocatorModel::Request request;
    request.bytes = block.requested > 0 ? block.requested : block.size;
    request.stream = segment.kind.stream;
    request.pool = segment.kind.pool;
    request.tag = block.tag;
    if (request.bytes == 0)
        return true;
    const auto placed = m_model.allocate(request);
    forgetSynchronised();
    if (!placed) {
        m_refusedBytes = m_model.settings().rounding.roundSize(request.bytes);
        return false;
    }
    if (block.tag >= m_blocks.size())
        return true;
    m_blocks[block.tag] = *placed;
    if (block.state == ModelBlock::State::Pending) {
        m_model.requestFree(*placed);
        m_pending[block.tag] = true;
    }
    return true;
}

ModelRun::Outcome ModelRun::allocate(const RecordedStep& step)
{
    AllocatorModel::Request request = m_recording.request(step);
    const bool expandable = m_model.settings().expandableSegments;
    // A segment may lie wherever there is room; where a range lies and ends is a fact of the recorded run
    // only.
    if (m_keepsPlace && (m_repeats || !expandable))
        request.wish = step.grewAt;
    if (m_repeats && expandable && step.grewAt != 0)
        m_model.closeRangesBelow(m_model.classOf(request.bytes, request.stream, request.pool), step.grewAt);
    request.search = m_mode == Mode::WhatIf || !step.afterFlush;
    const auto block = m_model.allocate(request);
    forgetSynchronised();
    if (!block) {
        m_refusedBytes = m_model.settings().rounding.roundSize(request.bytes);
        return Outcome::RanOut;
    }
    m_blocks[step.subject] = *block;
    return Outcome::Done;
}

ModelRun::Outcome ModelRun::retryFailed(const RecordedStep& step)
{
    if (m_mode == Mode::AsRecorded)
        return Outcome::Done;
    const AllocatorModel::Request request = m_recording.failedRequest(step);
    if (++m_failures > mostFailures) {
        if (!request.inScope && request.pool == PoolId{})
            m_model.failUnseen(!m_justFailed);
        m_justFailed = true;
        forgetSynchronised();
        return Outcome::FailedToo;
    }
    const auto block = m_model.allocate(request);
    forgetSynchronised();
    if (!block)
        m_refusedBytes = m_model.settings().rounding.roundSize(request.bytes);
    return block ? Outcome::Served : Outcome::FailedToo;
}

/// A release of cached memory. With settings under which the allocator gives back only some of it, a recorded
/// one is repeated segment by segment.
void ModelRun::release(const RecordedStep& step)
{
    const AllocatorSettings& settings = m_model.settings();
    const bool some = settings.splitLimited() || settings.garbageCollectionThreshold > 0;
    if (step.kind == StepKind::Flush && m_mode == Mode::AsRecorded && some && !settings.expandableSegments) {
        const std::vector<std::uint64_t>& addresses = m_recording.replay->device().events.address;
        for (std::uint32_t i = 0; i < step.subject; ++i)
            m_model.releaseSegmentAt(addresses[step.event + i]);
    } else if (step.kind == StepKind::EmptyCache || m_mode == Mode::AsRecorded) {
        m_model.emptyCache();
    }
    forgetSynchronised();
}

void ModelRun::free(const RecordedStep& step)
{
    BlockRef& block = m_blocks[step.subject];
    if (!valid(block)) {
        // A release of cached memory may have waited for it already.
        m_strayFrees += step.kind == StepKind::CompleteFree && m_mode == Mode::WhatIf ? 0 : 1;
        return;
    }
    if (step.kind == StepKind::RequestFree) {
        if (!m_pending[step.subject])
            m_model.requestFree(block);
        m_pending[step.subject] = true;
        return;
    }
    m_model.completeFree(block);
    m_pending[step.subject] = false;
    block = BlockRef::none;
}

void ModelRun::completeWaitedFor()
{
    for (const RecordedStep& step : m_waitedFor)
        free(step);
    m_waitedFor.clear();
}

void ModelRun::forgetSynchronised()
{
    if (!m_model.hasSynchronised())
        return;
    for (const std::uint32_t tag : m_model.takeSynchronised())
        if (tag < m_blocks.size())
            m_blocks[tag] = BlockRef::none;
}

ModelRun::Outcome ModelRun::apply(const RecordedStep& step)
{
    m_justFailed = m_justFailed && step.kind == StepKind::OutOfMemory;
    switch (step.kind) {
    case StepKind::Allocate:
    case StepKind::OutOfMemory: {
        const Outcome outcome = step.kind == StepKind::Allocate ? allocate(step) : retryFailed(step);
        completeWaitedFor();
        return outcome;
    }
    case StepKind::EmptyCache:
    case StepKind::Flush:
        release(step);
        return Outcome::Done;
    case StepKind::ReleasePool:
        m_model.releasePool(static_cast<PoolId>(step.subject));
        return Outcome::Done;
    default:
        if (step.atFlush && m_mode == Mode::WhatIf)
            m_waitedFor.push_back(step);
        else
            free(step);
        return Outcome::Done;
    }
}

} // namespace tidemark
