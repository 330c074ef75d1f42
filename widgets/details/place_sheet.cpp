// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/details/sheet_builders.hpp"

#include "model/replay/segment_class.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/segments/segment_painter.hpp"
#include "widgets/segments/segment_texts.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>

namespace tidemark {

namespace {

constexpr std::size_t listed = 12;

QString pieceName(const SheetContext& context, const Pin& pin)
{
    return valid(pin.allocation) ? siteText(context, pin.allocation)
                                 : QObject::tr("block at ") + addressText(pin.address);
}

QString leverage(const Pin& pin)
{
    if (pin.size == 0)
        return QStringLiteral("–");
    return QString::number(static_cast<double>(pin.holds) / static_cast<double>(pin.size), 'f', 1)
        + QStringLiteral(" ×");
}

SheetTable blockTable(const SheetContext& context, std::vector<Pin> pins, bool byLeverage)
{
    SheetTable table;
    table.columns = {QObject::tr("size"), QObject::tr("free beside"), QObject::tr("leverage")};
    if (!byLeverage)
        std::stable_sort(
            pins.begin(), pins.end(), [](const Pin& a, const Pin& b) { return a.size > b.size; });
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < pins.size(); ++i) {
        const Pin& pin = pins[i];
        if (i >= listed) {
            rest += pin.size;
            continue;
        }
        SheetTable::Row row;
        row.name = pieceName(context, pin);
        if (pin.waiting)
            row.name += QObject::tr(" (waiting)");
        if (valid(pin.allocation))
            row.link = QStringLiteral("allocation:") + QString::number(index(pin.allocation));
        row.figures = {bytesText(pin.size), bytesText(pin.holds), leverage(pin)};
        table.rows.push_back(row);
    }
    if (pins.size() > listed)
        table.more = QObject::tr("and %1 more, %2")
                         .arg(countText(static_cast<std::int64_t>(pins.size() - listed)), bytesText(rest));
    return table;
}

void addSegmentFacts(const SheetContext& context, const SegmentView& segment, DetailsSheet& sheet)
{
    const Replay& replay = context.replay;
    sheet.facts.push_back({QObject::tr("Kind"), segmentKindText(segment),
        segment.expandable ? QObject::tr("one mapped range of an expandable segment") : QString(), {},
        false});
    const auto bytesFact = [&](const QString& key, std::uint64_t bytes, const QString& more = {}) {
        sheet.facts.push_back({key, bytesText(bytes),
            exactBytesText(bytes) + (more.isEmpty() ? QString() : QStringLiteral(" · ") + more), {}, false});
    };
    bytesFact(QObject::tr("Live"), segment.liveBytes,
        shareText(segment.liveBytes, static_cast<std::int64_t>(segment.size))
            .replace(QObject::tr("of live"), QObject::tr("of the segment")));
    if (segment.waitingBytes > 0)
        bytesFact(QObject::tr("Waiting"), segment.waitingBytes);
    bytesFact(QObject::tr("Free"), segment.freeBytes);
    if (segment.freeBytes > 0)
        bytesFact(QObject::tr("Largest hole"), segment.largestHole);
    if (segment.predating)
        sheet.facts.push_back({QObject::tr("Reserved"), QObject::tr("before recording"), {}, {}, false});
    else if (!replay.segments.hasEvents())
        sheet.facts.push_back({QObject::tr("Reserved"), QObject::tr("unknown"),
            QObject::tr("the trace has no segment events"), {}, false});
    else if (segment.since > 0)
        sheet.facts.push_back({QObject::tr("Reserved"),
            QObject::tr("event ") + eventText(replay, static_cast<EventIndex>(segment.since - 1)),
            ageText(replay, segment.since, context.cursor) + QObject::tr(" before the cursor"),
            eventLink(static_cast<EventIndex>(segment.since - 1)), false});
    sheet.facts.push_back(
        {QObject::tr("Place"), placeText(replay, segment.stream, segment.pool), {}, {}, false});
    sheet.facts.push_back({QObject::tr("Address"), addressText(segment.address),
        QObject::tr("to ") + addressText(segment.address + segment.size),
        QStringLiteral("segment:") + addressText(segment.address), true});
}

DetailsSheet segmentSheet(const SheetContext& context, const SegmentState& state, const SegmentView& segment)
{
    DetailsSheet sheet;
    sheet.title = QObject::tr("Segment of ") + bytesText(segment.size);
    sheet.kind = QObject::tr("segment");
    sheet.facts.push_back(
        {QObject::tr("Size"), bytesText(segment.size), exactBytesText(segment.size), {}, false});
    addSegmentFacts(context, segment, sheet);
    std::vector<Pin> pins = pinsOf(state, segment, segment.address);
    if (!pins.empty()) {
        SheetTable table = blockTable(context, std::move(pins), segment.freeBytes > 0);
        table.title = segment.freeBytes > 0 && index(segment.pool) == 0
            ? QObject::tr("Blocks that pin its free memory")
            : QObject::tr("Blocks");
        sheet.tables.push_back(std::move(table));
    } else {
        sheet.hint = index(segment.pool) == 0
            ? QObject::tr("No block is live in it: torch.cuda.empty_cache() would return it to the device.")
            : QObject::tr(
                "No block is live in it, but its pool keeps it until the graph or MemPool is gone.");
    }
    const StackId stack = segmentStack(context.replay, segment);
    if (valid(stack) && !context.replay.snapshot->stacks[stack].empty())
        sheet.stacks.push_back({QObject::tr("Reserved by"), stack, {}});
    else
        sheet.noStack = QObject::tr("No stack of its reservation was recorded.");
    return sheet;
}

QString holeMeaning(const SegmentView& segment, PieceLook look)
{
    switch (look) {
    case PieceLook::PoolHeld:
        return QObject::tr("Only allocations of this private pool can use it; its memory returns when the "
                           "graph or MemPool is gone.");
    case PieceLook::Releasable:
        if (segment.expandable)
            return QObject::tr("Most of it is whole pages: torch.cuda.empty_cache() would unmap those.");
        return QObject::tr("No block is live in the segment: torch.cuda.empty_cache() would return it to the "
                           "device.");
    default:
        return segment.expandable
            ? QObject::tr("Requests of the same stream and pool can use it; whole pages inside it can be "
                          "unmapped.")
            : QObject::tr("Requests of the same stream and pool can use it, up to its size. The device gets "
                          "it back only when every block of the segment is freed.");
    }
}

DetailsSheet holeSheet(
    const SheetContext& context, const SegmentState& state, const SegmentView& segment, const Piece& hole)
{
    const PieceLook look = lookOf(segment, hole);
    DetailsSheet sheet;
    sheet.title = QObject::tr("Hole of ") + bytesText(hole.size);
    sheet.kind = lookName(look);
    sheet.facts.push_back({QObject::tr("Size"), bytesText(hole.size), exactBytesText(hole.size), {}, false});
    sheet.facts.push_back({QObject::tr("Kind"), lookName(look), {}, {}, false});
    const std::uint64_t releasable = releasableIn(segment, hole);
    if (releasable > 0 && releasable < hole.size)
        sheet.facts.push_back(
            {QObject::tr("Whole pages"), QObject::tr("%1, the rest is pinned").arg(bytesText(releasable)),
                exactBytesText(releasable), {}, false});
    sheet.facts.push_back({QObject::tr("Segment"), addressText(segment.address),
        bytesText(segment.size) + QStringLiteral(" · ") + segmentKindText(segment),
        QStringLiteral("segment:") + addressText(segment.address), true});
    sheet.facts.push_back(
        {QObject::tr("Place"), placeText(context.replay, segment.stream, segment.pool), {}, {}, false});
    sheet.facts.push_back({QObject::tr("Address"), addressText(hole.address),
        QObject::tr("to ") + addressText(hole.address + hole.size), {}, true});
    std::vector<Pin> pins = pinsOf(state, segment, hole.address);
    if (!pins.empty()) {
        SheetTable table = blockTable(context, std::move(pins), true);
        table.title = look == PieceLook::Pinned ? QObject::tr("Pinned by") : QObject::tr("Blocks beside it");
        table.note = QObject::tr("blocks of the segment, by the free memory they touch");
        sheet.tables.push_back(std::move(table));
    }
    sheet.hint = holeMeaning(segment, look);
    return sheet;
}

} // namespace

DetailsSheet placeSheet(const SheetContext& context, const Selection& selection)
{
    const SegmentState state = context.replay.segments.stateAt(context.cursor, context.replay.timeline);
    const SegmentView* const segment = segmentAt(state, selection.address);
    const bool wantsHole = selection.kind == Selection::Kind::Hole;
    if (segment && !wantsHole)
        return segmentSheet(context, state, *segment);
    if (segment) {
        const auto first = state.pieces.begin() + segment->firstPiece;
        const auto hole = std::find_if(first, first + segment->pieceCount,
            [&](const Piece& piece) { return selection.address - piece.address < piece.size; });
        if (hole != first + segment->pieceCount && hole->kind == PieceKind::Free)
            return holeSheet(context, state, *segment, *hole);
        if (hole != first + segment->pieceCount && valid(hole->allocation)) {
            DetailsSheet sheet = allocationSheet(context, hole->allocation);
            sheet.hint = QObject::tr("The selected hole is filled by this block at the cursor.");
            return sheet;
        }
    }
    DetailsSheet sheet;
    sheet.title
        = (wantsHole ? QObject::tr("Hole of ") : QObject::tr("Segment of ")) + bytesText(selection.size);
    sheet.kind = wantsHole ? QObject::tr("hole") : QObject::tr("segment");
    sheet.facts.push_back({QObject::tr("Address"), addressText(selection.address), {}, {}, true});
    sheet.hint = QObject::tr("It does not exist %1.").arg(atMomentText(context.replay, context.cursor));
    return sheet;
}

} // namespace tidemark
