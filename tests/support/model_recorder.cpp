// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/model_recorder.hpp"

#include <random>

#include <array>

namespace tidemark::test {

ModelRecorder::ModelRecorder(const AllocatorSettings& settings, std::optional<std::uint64_t> capacity,
    std::optional<std::uint64_t> deviceTotal)
    : m_model(settings, capacity, deviceTotal, AddressSpace(0x7f0000000000ULL, 0x7a0000000000ULL))
    , m_conf(settings.conf())
{
    m_model.keepDriverEvents(true);
    for (std::int64_t pool = 1; pool <= 4; ++pool)
        m_builder.pool(pool, 0);
    const auto stack = [this](const char* name) {
        const std::array frames{m_builder.frames().intern(
            {m_builder.strings().intern(name), m_builder.strings().intern("train.py"), 1})};
        return m_builder.stacks().intern(frames);
    };
    m_stack = stack("forward");
    m_emptyCacheStack = stack("empty_cache");
}

void ModelRecorder::event(
    Action action, std::uint64_t address, std::uint64_t size, std::int64_t stream, StackId stack)
{
    if (!m_recording)
        return;
    EventRow row;
    row.action = action;
    row.address = action == Action::Oom ? 0 : address;
    if (action == Action::Oom)
        row.deviceFree = m_told ? *m_told : std::optional(static_cast<std::int64_t>(address));
    row.size = static_cast<std::int64_t>(size);
    row.hasSize = true;
    row.stream = stream;
    row.timeUs = 1790000000000000 + static_cast<std::int64_t>(m_events.count());
    row.stack = stack;
    m_builder.append(m_events, row);
}

void ModelRecorder::freeEvent(Action action, std::uint32_t tag)
{
    event(action, m_made[tag].address, m_made[tag].bytes, m_made[tag].stream, m_stack);
}

void ModelRecorder::driverEvents(StackId stack)
{
    for (const std::uint32_t tag : m_model.takeSynchronised()) {
        freeEvent(Action::FreeCompleted, tag);
        m_blocks[tag] = BlockRef::none;
    }
    for (const DriverEvent& e : m_model.takeDriverEvents())
        event(e.action, e.address, e.size, e.stream, stack);
}

std::optional<std::uint32_t> ModelRecorder::allocate(std::uint64_t bytes, std::int64_t stream, PoolId pool)
{
    AllocatorModel::Request request;
    request.bytes = bytes;
    request.stream = stream;
    request.pool = pool;
    request.tag = static_cast<std::uint32_t>(m_blocks.size());
    const auto block = m_model.allocate(request);
    driverEvents(m_stack);
    if (!block) {
        event(Action::Oom, m_model.deviceFree().value_or(0), m_model.settings().rounding.roundSize(bytes),
            stream, m_stack);
        return std::nullopt;
    }
    m_blocks.push_back(*block);
    m_made.push_back({m_model.addressOf(*block), bytes, stream});
    event(Action::Alloc, m_made.back().address, bytes, stream, m_stack);
    return request.tag;
}

void ModelRecorder::free(std::uint32_t tag)
{
    m_model.completeFree(m_blocks[tag]);
    m_blocks[tag] = BlockRef::none;
    freeEvent(Action::FreeRequested, tag);
    freeEvent(Action::FreeCompleted, tag);
}

void ModelRecorder::requestFree(std::uint32_t tag)
{
    m_model.requestFree(m_blocks[tag]);
    freeEvent(Action::FreeRequested, tag);
}

void ModelRecorder::completeFree(std::uint32_t tag)
{
    if (!lives(tag))
        return;
    m_model.completeFree(m_blocks[tag]);
    m_blocks[tag] = BlockRef::none;
    freeEvent(Action::FreeCompleted, tag);
}

void ModelRecorder::emptyCache()
{
    m_model.emptyCache();
    driverEvents(m_emptyCacheStack);
}

std::shared_ptr<const Snapshot> ModelRecorder::finish()
{
    m_builder.addSetting("PYTORCH_CUDA_ALLOC_CONF", m_conf);
    m_builder.addTrace(0, std::move(m_events));
    DeviceTrace& device = m_builder.device(0);
    device.hasSegments = true;
    for (const ModelSegment& s : m_model.segments()) {
        Segment segment;
        segment.address = s.address;
        segment.totalSize = static_cast<std::int64_t>(s.size);
        segment.stream = m_builder.stream(s.kind.stream);
        segment.pool = s.kind.pool;
        segment.kind = s.kind.small ? SegmentKind::Small : SegmentKind::Large;
        segment.expandable = s.expandable;
        segment.firstBlock = static_cast<std::uint32_t>(device.blocks.size());
        segment.blockCount = static_cast<std::uint32_t>(s.blocks.size());
        for (const ModelBlock& b : s.blocks) {
            Block block;
            block.address = b.address;
            block.size = static_cast<std::int64_t>(b.size);
            block.requested = static_cast<std::int64_t>(b.requested);
            block.state = b.state == ModelBlock::State::Free ? BlockState::Inactive
                : b.state == ModelBlock::State::Allocated    ? BlockState::Allocated
                                                             : BlockState::Pending;
            device.blocks.push_back(block);
        }
        device.segments.push_back(segment);
    }
    return m_builder.finish();
}

std::shared_ptr<const Snapshot> fragmentedProgram(const AllocatorSettings& settings, std::uint64_t capacity)
{
    constexpr std::uint64_t mib = 1ULL << 20;
    ModelRecorder recorder(settings, capacity);
    recorder.startRecording();
    recorder.allocate(3000 * mib);
    std::vector<std::uint32_t> blocks;
    for (int i = 0; i < 24; ++i)
        blocks.push_back(*recorder.allocate(154 * mib));
    for (const std::uint32_t block : blocks)
        recorder.free(block);
    blocks.clear();
    for (int i = 0; i < 24; ++i) {
        recorder.allocate(6 * mib);
        blocks.push_back(*recorder.allocate(148 * mib));
    }
    for (const std::uint32_t block : blocks)
        recorder.free(block);
    for (int i = 0; i < 24 && recorder.allocate(154 * mib); ++i)
        ;
    return recorder.finish();
}

std::shared_ptr<const Snapshot> randomProgram(
    std::uint64_t seed, const AllocatorSettings& settings, std::optional<std::uint64_t> capacity, int late)
{
    constexpr std::uint64_t mib = 1ULL << 20;
    std::mt19937_64 random(seed);
    ModelRecorder recorder(settings, capacity);
    const bool pools = !capacity && !settings.memoryFraction && !settings.splitLimited();
    std::vector<std::uint32_t> live;
    std::vector<std::uint32_t> waiting;
    for (int i = 0; i < 900; ++i) {
        if (i == late)
            recorder.startRecording();
        const auto choice = random() % 100;
        if (choice < 2) {
            recorder.emptyCache();
        } else if (choice < 55 || live.empty()) {
            const std::uint64_t most[] = {5000, mib, 12 * mib, 60 * mib};
            // One after the other: the order in which arguments are made is the compiler's.
            const std::uint64_t limit = most[random() % 4];
            const std::uint64_t bytes = 1 + random() % limit;
            const std::int64_t stream = random() % 8 == 0 ? 7 : 0;
            const PoolId pool = pools && random() % 10 == 0 ? PoolId{1} : PoolId{};
            const auto made = recorder.allocate(bytes, stream, pool);
            if (!made)
                break;
            live.push_back(*made);
        } else {
            const std::size_t which = random() % live.size();
            std::swap(live[which], live.back());
            if (random() % 5 == 0) {
                recorder.requestFree(live.back());
                waiting.push_back(live.back());
            } else {
                recorder.free(live.back());
            }
            live.pop_back();
        }
        if (waiting.size() > 3) {
            recorder.completeFree(waiting.front());
            waiting.erase(waiting.begin());
        }
    }
    return recorder.finish();
}

} // namespace tidemark::test
