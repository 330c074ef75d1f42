// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/job.hpp"
#include "model/formats/assembler.hpp"

#include <algorithm>
#include <utility>

namespace tidemark {

/// Lets the rows from `row` on begin a buffer of their own, so that a device's trace can be moved, not
/// copied.
void Assembler::startChunk(std::uint32_t row)
{
    constexpr std::size_t maxChunks = 4096;
    Chunk& last = m_chunks.back();
    if (row <= last.firstRow || m_chunks.size() >= maxChunks)
        return;
    const auto place = last.place(row);
    if (!place)
        return;
    const std::size_t from = *place;
    Chunk next;
    next.firstRow = row;
    for (std::size_t i = from; i < last.rows.count(); ++i)
        next.rows.appendFrom(last.rows, i);
    last.rows.truncate(from);
    m_chunks.push_back(std::move(next));
}

std::optional<std::size_t> Assembler::Chunk::place(std::uint32_t row) const
{
    const std::size_t at = row - firstRow;
    if (at < droppedFront)
        return std::nullopt;
    const std::size_t left = at - droppedFront;
    if (droppedBehind == 0 || left < kept)
        return left;
    return left < std::size_t{kept} + droppedBehind ? std::nullopt : std::optional(left - droppedBehind);
}

/// Where only a range of events is wanted: drops listed rows that are not in it, once they tell who lives at
/// its ends. A list that is not simply the rows of its chunk is kept whole, and cut when all is read.
void Assembler::foldRows(std::span<const Range> listed)
{
    if (!m_options.ranged())
        return;
    Chunk& chunk = m_chunks.back();
    if (listed.size() != 1 || listed.front().first != chunk.firstRow
        || chunk.firstRow + std::uint64_t{listed.front().count} != chunk.end())
        return;
    if (!chunk.fold)
        chunk.fold = std::make_shared<RangeFold>();
    const auto dropFront = [&](std::uint64_t count) {
        chunk.fold->before(chunk.rows.columns, 0, count);
        chunk.rows.dropFront(count);
        chunk.droppedFront += static_cast<std::uint32_t>(count);
    };
    if (m_options.lastEvents) {
        // In large pieces: all that stay move up each time.
        const std::uint64_t wanted = *m_options.lastEvents;
        const std::uint64_t slack = std::max<std::uint64_t>(wanted / 4, pollInterval);
        if (chunk.rows.count() > slack && chunk.rows.count() - slack > wanted)
            dropFront(chunk.rows.count() - wanted);
        return;
    }
    const auto [first, last] = *m_options.events;
    if (chunk.droppedFront < first)
        dropFront(std::min<std::uint64_t>(first - chunk.droppedFront, chunk.rows.count()));
    const std::uint64_t wanted = last - first; // one less than the range holds: that may be 2^64
    if (chunk.droppedFront < first || chunk.rows.count() == 0 || chunk.rows.count() - 1 <= wanted)
        return;
    chunk.kept = static_cast<std::uint32_t>(wanted + 1);
    if (!chunk.fold->insideDone())
        chunk.fold->inside(chunk.rows.columns, chunk.kept);
    chunk.fold->after(chunk.rows.columns, chunk.kept, chunk.rows.count());
    chunk.droppedBehind += static_cast<std::uint32_t>(chunk.rows.count() - chunk.kept);
    chunk.rows.truncate(chunk.kept);
}

/// What was dropped says, now that the segments are known, who lived at the ends of the range.
std::optional<Error> Assembler::finishRanges()
{
    if (m_rangeBroken)
        return Error{ErrorCode::Unsupported,
            "A range of this file's events cannot be opened alone: it changes events after they are listed, "
            "or "
            "lists them in another order. Open the whole file.",
            std::nullopt};
    for (const auto& [ordinal, fold] : m_folds) {
        DeviceTrace& device = m_builder.device(ordinal);
        const auto outside = fold->finish(device);
        for (auto* lives : {&outside->alive, &outside->aliveAtEnd})
            for (OutsideAllocation& life : *lives)
                life.stack = finalStack(life.stack);
        finishColumns(outside->laterSegments);
        device.outside = outside;
    }
    return std::nullopt;
}

} // namespace tidemark
