// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/run/range_end.hpp"

#include "model/replay/block_rules.hpp"
#include "model/replay/segment_ranges.hpp"
#include "model/snapshot/outside_range.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tidemark {

namespace {

bool endsEarly(const DeviceTrace& device)
{
    return device.outside && device.outside->eventsAfter > 0 && device.hasSegments;
}

/// The blocks of what lives at the range's end, by address.
std::map<std::uint64_t, Block> blocksInUse(const DeviceTrace& device, const BlockRules& rules)
{
    const OutsideRange& outside = *device.outside;
    std::map<std::uint64_t, Block> blocks;
    std::unordered_map<std::uint64_t, const Block*> stated;
    for (const Block& block : device.blocks) {
        stated.emplace(block.address, &block);
        // What no event names was there all the time.
        if (block.state != BlockState::Inactive && !std::ranges::binary_search(outside.named, block.address))
            blocks.emplace(block.address, block);
    }
    for (const OutsideAllocation& life : outside.aliveAtEnd) {
        Block block;
        const auto own = stated.find(life.address);
        if (own != stated.end() && std::ranges::binary_search(outside.staying, life.address)) {
            block = *own->second;
        } else {
            block.address = life.address;
            block.requested = static_cast<std::int64_t>(sane(life.size));
            block.size = static_cast<std::int64_t>(rules.roundSize(sane(life.size)));
            block.stack = life.stack;
        }
        block.state = life.waits ? BlockState::Pending : BlockState::Allocated;
        blocks[life.address] = block;
    }
    return blocks;
}

Block hole(std::uint64_t from, std::uint64_t to)
{
    Block block;
    block.address = from;
    block.size = block.requested = static_cast<std::int64_t>(to - from);
    block.state = BlockState::Inactive;
    return block;
}

/// Lists a segment's blocks, with the holes between them.
void fill(Segment& segment, const std::map<std::uint64_t, Block>& inUse, std::vector<Block>& out)
{
    segment.firstBlock = static_cast<std::uint32_t>(out.size());
    const std::uint64_t end = endOf(segment.address, sane(segment.totalSize));
    std::uint64_t at = segment.address;
    for (auto next = inUse.lower_bound(at); next != inUse.end() && next->first < end; ++next) {
        if (next->first < at)
            continue;
        if (next->first > at)
            out.push_back(hole(at, next->first));
        Block block = next->second;
        const auto after = std::next(next);
        const std::uint64_t room = (after == inUse.end() ? end : std::min(end, after->first)) - block.address;
        block.size = static_cast<std::int64_t>(std::min(sane(block.size), room));
        block.requested = std::min(block.requested, block.size);
        out.push_back(block);
        at = endOf(block.address, sane(block.size));
    }
    if (at < end)
        out.push_back(hole(at, end));
    segment.blockCount = static_cast<std::uint32_t>(out.size()) - segment.firstBlock;
}

std::optional<Error> endSegments(const Snapshot& snapshot, DeviceTrace& device, const Job& job)
{
    const BlockRules rules = BlockRules::of(snapshot, device);
    DeviceTrace later;
    later.events = device.outside->laterSegments;
    later.segments = device.segments;
    const auto unknown = [](std::uint64_t, std::uint64_t) { return SegmentKind::Unknown; };
    const auto ranges = SegmentRanges::build(later, unknown, rules.largePage, job);
    if (!ranges)
        return ranges.error();
    std::unordered_map<std::uint64_t, StackId> stacks;
    for (const Segment& segment : device.segments)
        stacks.emplace(segment.address, segment.stack);

    const auto inUse = blocksInUse(device, rules);
    std::vector<Segment> segments;
    std::vector<Block> blocks;
    for (const SegmentRange& range : ranges->ranges) {
        if (range.firstState != 0)
            continue;
        Segment segment;
        segment.address = range.address;
        segment.totalSize = static_cast<std::int64_t>(range.size);
        segment.stream = range.stream;
        segment.pool = range.pool;
        segment.kind = range.kind;
        segment.expandable = range.expandable;
        if (const auto known = stacks.find(range.address); known != stacks.end())
            segment.stack = known->second;
        fill(segment, inUse, blocks);
        segments.push_back(segment);
    }
    device.segments = std::move(segments);
    device.blocks = std::move(blocks);
    return std::nullopt;
}

BlockState stateOf(PieceKind kind)
{
    switch (kind) {
    case PieceKind::Live:
        return BlockState::Allocated;
    case PieceKind::Waiting:
        return BlockState::Pending;
    case PieceKind::Free:
        return BlockState::Inactive;
    case PieceKind::Unknown:
        break;
    }
    return BlockState::Unknown;
}

} // namespace

std::optional<Error> endSegments(Snapshot& snapshot, const Job& job)
{
    for (DeviceTrace& device : snapshot.devices)
        if (endsEarly(device))
            if (auto error = endSegments(snapshot, device, job))
                return error;
    return std::nullopt;
}

void endBlocks(DeviceTrace& device, const Replay& replay)
{
    if (!endsEarly(device))
        return;
    std::unordered_map<std::uint64_t, Block> known;
    for (const Block& block : device.blocks)
        known.emplace(block.address, block);
    const SegmentState state = replay.segments.stateAt(replay.states() - 1, replay.timeline);
    std::unordered_map<std::uint64_t, const SegmentView*> views;
    for (const SegmentView& view : state.segments)
        views.emplace(view.address, &view);
    std::vector<Block> blocks;
    for (Segment& segment : device.segments) {
        segment.firstBlock = static_cast<std::uint32_t>(blocks.size());
        if (const auto view = views.find(segment.address); view != views.end())
            for (std::uint32_t p = 0; p < view->second->pieceCount; ++p) {
                const Piece& piece = state.pieces[view->second->firstPiece + p];
                Block block;
                if (piece.kind != PieceKind::Free)
                    if (const auto own = known.find(piece.address); own != known.end())
                        block = own->second;
                block.address = piece.address;
                block.size = static_cast<std::int64_t>(piece.size);
                block.requested = static_cast<std::int64_t>(
                    piece.kind == PieceKind::Free ? piece.size : std::min(piece.requested, piece.size));
                block.state = stateOf(piece.kind);
                blocks.push_back(block);
            }
        segment.blockCount = static_cast<std::uint32_t>(blocks.size()) - segment.firstBlock;
    }
    device.blocks = std::move(blocks);
}

} // namespace tidemark
