// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/caching_allocator.hpp"

#include <cassert>
#include <utility>

namespace tidemark::test {

namespace {

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;
constexpr std::uint64_t minBlock = 512;
constexpr std::uint64_t smallRequest = 1 * MiB;
constexpr std::uint64_t smallSegment = 2 * MiB;
constexpr std::uint64_t largeSegment = 20 * MiB;
constexpr std::uint64_t minOwnSegment = 10 * MiB;
constexpr std::uint64_t largeRounding = 2 * MiB;
constexpr std::uint64_t firstAddress = 0x7f3a'0000'0000;

std::uint64_t roundUp(std::uint64_t value, std::uint64_t step)
{
    return (value + step - 1) / step * step;
}

std::uint64_t blockSize(std::uint64_t bytes)
{
    return bytes < minBlock ? minBlock : roundUp(bytes, minBlock);
}

std::uint64_t segmentSize(std::uint64_t roundedBytes, bool small)
{
    if (small)
        return smallSegment;
    return roundedBytes < minOwnSegment ? largeSegment : roundUp(roundedBytes, largeRounding);
}

} // namespace

CachingAllocator::CachingAllocator(std::uint64_t capacityBytes)
    : m_capacity(capacityBytes)
{ }

void CachingAllocator::startRecording()
{
    m_recording = true;
}

void CachingAllocator::record(std::string_view action, std::uint64_t address, std::uint64_t size,
    std::int64_t stream, std::uint32_t stack, std::int64_t nowUs)
{
    if (m_recording)
        m_events.push_back(
            {std::string(action), address, static_cast<std::int64_t>(size), stream, nowUs, stack});
}

CachingAllocator::FreeKey CachingAllocator::freeKey(Blocks::const_iterator block) const
{
    return {m_segments.at(block->second.segment).stream, block->second.size, block->first};
}

std::optional<std::uint64_t> CachingAllocator::allocate(
    std::uint64_t bytes, std::int64_t stream, std::uint32_t stack, std::int64_t nowUs)
{
    assert(bytes > 0);
    completeWaiting(false, stack, nowUs);
    const std::uint64_t size = blockSize(bytes);
    const bool small = size <= smallRequest;
    auto& candidates = m_free[small ? 0 : 1];

    auto fit = candidates.lower_bound({stream, size, 0});
    if (fit == candidates.end() || std::get<0>(*fit) != stream) {
        if (!reserve(size, stream, small, stack, nowUs))
            return std::nullopt;
        fit = candidates.lower_bound({stream, size, 0});
    }
    const auto block = m_blocks.find(std::get<2>(*fit));
    candidates.erase(fit);

    const std::uint64_t remainder = block->second.size - size;
    if (small ? remainder >= minBlock : remainder > smallRequest) {
        Block rest;
        rest.size = remainder;
        rest.segment = block->second.segment;
        block->second.size = size;
        candidates.insert(freeKey(m_blocks.emplace(block->first + size, rest).first));
    }
    block->second.allocated = true;
    block->second.requested = bytes;
    block->second.stack = m_recording ? stack : noStack;
    record("alloc", block->first, bytes, stream, stack, nowUs);
    return block->first;
}

bool CachingAllocator::reserve(
    std::uint64_t roundedBytes, std::int64_t stream, bool small, std::uint32_t stack, std::int64_t nowUs)
{
    const std::uint64_t size = segmentSize(roundedBytes, small);
    if (m_reserved + size > m_capacity)
        releaseCached(stack, nowUs);
    if (m_reserved + size > m_capacity) {
        record("oom", m_capacity - m_reserved, roundedBytes, stream, stack, nowUs);
        return false;
    }
    const std::uint64_t address = newSegmentAddress(size);
    m_segments[address] = {size, stream, m_recording ? stack : noStack, small};
    m_reserved += size;
    Block block;
    block.size = size;
    block.segment = address;
    freeList(m_segments[address]).insert(freeKey(m_blocks.emplace(address, block).first));
    record("segment_alloc", address, size, stream, stack, nowUs);
    return true;
}

std::uint64_t CachingAllocator::newSegmentAddress(std::uint64_t bytes) const
{
    // The driver gives addresses of freed segments out again: lowest gap that is wide enough.
    std::uint64_t candidate = firstAddress;
    for (const auto& [address, segment] : m_segments) {
        if (address >= candidate + bytes)
            break;
        candidate = roundUp(address + segment.size, largeRounding);
    }
    return candidate;
}

void CachingAllocator::recordStream(std::uint64_t address, std::int64_t untilUs)
{
    m_blocks.at(address).usedUntilUs = untilUs;
}

void CachingAllocator::free(std::uint64_t address, std::uint32_t stack, std::int64_t nowUs)
{
    Block& block = m_blocks.at(address);
    assert(block.allocated);
    block.allocated = false;
    record("free_requested", address, block.requested, m_segments.at(block.segment).stream, stack, nowUs);
    if (const auto until = std::exchange(block.usedUntilUs, std::nullopt)) {
        block.pending = true;
        m_waiting.push_back({address, *until});
    } else {
        complete(address, stack, nowUs);
    }
}

void CachingAllocator::completeWaiting(bool all, std::uint32_t stack, std::int64_t nowUs)
{
    // Events of one stream finish in order, so the first one that is not done ends the look.
    while (!m_waiting.empty() && (all || m_waiting.front().doneUs <= nowUs)) {
        complete(m_waiting.front().address, stack, nowUs);
        m_waiting.pop_front();
    }
}

void CachingAllocator::complete(std::uint64_t address, std::uint32_t stack, std::int64_t nowUs)
{
    auto block = m_blocks.find(address);
    const Segment& segment = m_segments.at(block->second.segment);
    record("free_completed", address, block->second.requested, segment.stream, stack, nowUs);
    block->second.pending = false;
    block->second.stack = noStack;
    if (const auto next = std::next(block); mayMerge(block, next)) {
        freeList(segment).erase(freeKey(next));
        block->second.size += next->second.size;
        m_blocks.erase(next);
    }
    if (block != m_blocks.begin() && mayMerge(block, std::prev(block))) {
        const auto before = std::prev(block);
        freeList(segment).erase(freeKey(before));
        before->second.size += block->second.size;
        m_blocks.erase(block);
        block = before;
    }
    freeList(segment).insert(freeKey(block));
}

bool CachingAllocator::mayMerge(Blocks::const_iterator block, Blocks::const_iterator neighbour) const
{
    return neighbour != m_blocks.end() && neighbour->second.segment == block->second.segment
        && !neighbour->second.allocated && !neighbour->second.pending;
}

void CachingAllocator::releaseCached(std::uint32_t stack, std::int64_t nowUs)
{
    completeWaiting(true, stack, nowUs);
    for (auto* candidates : {&m_free[1], &m_free[0]}) {
        for (auto key = candidates->begin(); key != candidates->end();) {
            const auto [stream, size, address] = *key;
            const auto segment = m_segments.find(address);
            if (segment == m_segments.end() || segment->second.size != size) {
                ++key;
                continue;
            }
            record("segment_free", address, size, stream, stack, nowUs);
            m_reserved -= size;
            m_segments.erase(segment);
            m_blocks.erase(address);
            key = candidates->erase(key);
        }
    }
}

void CachingAllocator::emptyCache(std::uint32_t stack, std::int64_t nowUs)
{
    releaseCached(stack, nowUs);
}

void CachingAllocator::finish(RecordedSnapshot& snapshot)
{
    snapshot.events = std::move(m_events);
    for (const auto& [address, segment] : m_segments) {
        RecordedSegment written;
        written.address = address;
        written.totalSize = segment.size;
        written.stream = segment.stream;
        written.small = segment.small;
        written.stack = segment.stack;
        for (auto block = m_blocks.find(address); block != m_blocks.end() && block->second.segment == address;
             ++block) {
            const Block& b = block->second;
            const char* state = b.allocated ? "active_allocated"
                : b.pending                 ? "active_pending_free"
                                            : "inactive";
            written.blocks.push_back({block->first, b.size, b.requested, state, b.stack});
        }
        snapshot.segments.push_back(std::move(written));
    }
}

} // namespace tidemark::test
