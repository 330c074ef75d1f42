// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/details/sheet_builders.hpp"

#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/style/text.hpp"

namespace tidemark {

namespace {

QString sep()
{
    return QStringLiteral(" · ");
}

SheetFact sizeFact(const SheetContext& context, AllocationId id)
{
    const Replay& replay = context.replay;
    const std::uint64_t size = replay.timeline.allocations().size[index(id)];
    SheetFact fact{QObject::tr("Size"), bytesText(size), exactBytesText(size), {}, false};
    if (const auto event = replay.timeline.allocEvent(id)) {
        const std::int64_t written = replay.device().events.size[index(*event)];
        if (written <= 0 || static_cast<std::uint64_t>(written) != size)
            fact.second += sep() + QObject::tr("written as %1, counted as 0").arg(exactBytesText(written));
    }
    return fact;
}

SheetFact blockFact(const SheetContext& context, AllocationId id)
{
    const Replay& replay = context.replay;
    const std::uint64_t size = replay.timeline.allocations().size[index(id)];
    const std::uint64_t block = replay.segments.blockSize(id);
    const bool exact = replay.segments.blockSizeExact(id);
    SheetFact fact;
    fact.key = QObject::tr("Block");
    if (block == size)
        fact.value = (exact ? QString() : QStringLiteral("≈ ")) + QObject::tr("the same");
    else
        fact.value = (exact ? QString() : QStringLiteral("≈ ")) + bytesText(block);
    QStringList more;
    if (block != size)
        more << exactBytesText(block);
    if (block > size)
        more << QObject::tr("waste ") + bytesText(block - size);
    more << (exact ? QObject::tr("stated by the file") : QObject::tr("inferred from the rounding rules"));
    fact.second = more.join(sep());
    return fact;
}

void addLife(const SheetContext& context, AllocationId id, const AllocationFacts& facts, DetailsSheet& sheet)
{
    const Replay& replay = context.replay;
    const AllocationColumns& columns = replay.timeline.allocations();
    const std::size_t i = index(id);
    if (replay.states() <= 1) {
        sheet.facts.push_back({QObject::tr("Lives"), QObject::tr("alive at the end of the file"),
            QObject::tr("the file has no history"), {}, false});
        return;
    }
    QString second = lifeLengthText(replay, id);
    if (!facts.endEvent)
        second += sep() + QObject::tr("alive at the end of the file");
    sheet.facts.push_back({QObject::tr("Lives"), lifeText(replay, id), second, {}, false});
    if (facts.allocEvent)
        sheet.facts.push_back(
            {QObject::tr("Allocated"), QObject::tr("event ") + eventText(replay, *facts.allocEvent),
                facts.startUs ? QString::fromStdString(formatUtc(*facts.startUs)) : QString(),
                eventLink(*facts.allocEvent), false});
    if (facts.freeRequest && facts.endEvent != facts.freeRequest)
        sheet.facts.push_back(
            {QObject::tr("Waits"), QObject::tr("from event ") + eventText(replay, *facts.freeRequest),
                QObject::tr("freed by the program, waiting for another stream"),
                eventLink(*facts.freeRequest), false});
    if (facts.endEvent)
        sheet.facts.push_back(
            {QObject::tr("Freed"), QObject::tr("event ") + eventText(replay, *facts.endEvent),
                facts.endUs ? QString::fromStdString(formatUtc(*facts.endUs)) : QString(),
                eventLink(*facts.endEvent), false});
    QString now;
    if (replay.timeline.isLive(id, context.cursor)) {
        now = columns.pendingState[i] <= context.cursor && columns.pendingState[i] < columns.endState[i]
            ? QObject::tr("waiting for a stream")
            : QObject::tr("live");
        now += sep() + shareText(columns.size[i], replay.timeline.requested().at(context.cursor));
    } else {
        now = context.cursor < columns.firstState[i] ? QObject::tr("not allocated yet")
                                                     : QObject::tr("already freed");
    }
    if (replay.states() > 1)
        sheet.facts.push_back({QObject::tr("Cursor"), now, momentText(replay, context.cursor), {}, false});
}

/// What it is for and which module made it, where the diagnosis has told.
void addLabel(const SheetContext& context, AllocationId id, DetailsSheet& sheet)
{
    const auto labels = context.session.labels();
    if (!labels || index(id) >= labels->roleOf.size())
        return;
    const auto phases = context.session.phases();
    const auto phase = [&](StateIndex state) {
        return phases ? QObject::tr(phaseName(phases->phaseAt(state))) : QString();
    };
    const AllocationColumns& columns = context.replay.timeline.allocations();
    const StateIndex first = columns.firstState[index(id)];
    const StateIndex end = columns.endState[index(id)];
    QString life;
    if (phases && first > 0)
        life = end < context.replay.states() ? phase(first) + QStringLiteral(" → ") + phase(end)
                                             : phase(first) + QObject::tr(" → end");
    sheet.facts.push_back({QObject::tr("Role"), QObject::tr(roleName(labels->role(id))), life, {}, false});
    const std::uint16_t module = labels->moduleOf[index(id)];
    if (module == Labels::unmatched || module >= labels->modules.size())
        return;
    const std::uint16_t layer = labels->layerOf.empty() ? Labels::unmatched : labels->layerOf[index(id)];
    sheet.facts.push_back({QObject::tr("Module"), shownText(labels->modules[module]),
        layer == Labels::unmatched ? QString() : QObject::tr("layer %1").arg(layer), {}, false});
}

void addPlace(const SheetContext& context, AllocationId id, const AllocationFacts& facts, DetailsSheet& sheet)
{
    const Replay& replay = context.replay;
    const AllocationColumns& columns = replay.timeline.allocations();
    const std::size_t i = index(id);
    sheet.facts.push_back(
        {QObject::tr("Place"), placeText(replay, columns.stream[i], columns.pool[i]), {}, {}, false});
    QString use;
    if (facts.generations > 1)
        use = QObject::tr("use %1 of %2 of this address")
                  .arg(countText(static_cast<std::int64_t>(facts.generation) + 1),
                      countText(static_cast<std::int64_t>(facts.generations)));
    sheet.facts.push_back({QObject::tr("Address"), addressText(columns.address[i]), use, {}, true});
    if (!replay.segments.known()) {
        sheet.facts.push_back({QObject::tr("Segment"), QObject::tr("unknown"),
            QObject::tr("the file lists no segments"), {}, false});
        return;
    }
    const bool live = replay.timeline.isLive(id, context.cursor);
    const StateIndex at = live ? context.cursor : columns.firstState[i];
    const SegmentState state = replay.segments.stateAt(at, replay.timeline);
    const SegmentView* const segment = segmentAt(state, columns.address[i]);
    if (!segment) {
        sheet.facts.push_back({QObject::tr("Segment"), QObject::tr("unknown"),
            QObject::tr("no listed segment holds this address"), {}, false});
        return;
    }
    SheetFact fact{QObject::tr("Segment"), addressText(segment->address),
        bytesText(segment->size) + sep() + QObject::tr("free ") + bytesText(segment->freeBytes), {}, true};
    if (live)
        fact.link = QStringLiteral("segment:") + addressText(segment->address);
    sheet.facts.push_back(fact);
}

QString textTitle(const AttachedText& text, const Replay& replay)
{
    QString title;
    switch (text.kind) {
    case AttachedText::Kind::UserMetadata:
        title = QObject::tr("User metadata");
        break;
    case AttachedText::Kind::Annotation:
        title = QObject::tr("Annotation");
        break;
    case AttachedText::Kind::CompileContext:
        title = QObject::tr("Compile context");
        break;
    case AttachedText::Kind::InternalMetadata:
        title = QObject::tr("Allocator's note");
        break;
    case AttachedText::Kind::Category:
        title = QObject::tr("Category");
        break;
    case AttachedText::Kind::FxNode:
        title = QObject::tr("FX node");
        break;
    }
    if (text.kind == AttachedText::Kind::Annotation && text.event)
        title += QObject::tr(" at event ") + eventText(replay, *text.event);
    return title;
}

} // namespace

DetailsSheet allocationSheet(const SheetContext& context, AllocationId id)
{
    const Replay& replay = context.replay;
    const AllocationFacts& facts = *context.facts.allocation;
    DetailsSheet sheet;
    sheet.title = siteText(context, id);
    sheet.kind = QObject::tr("allocation ") + countText(static_cast<std::int64_t>(index(id)));
    sheet.allocation = id;
    if (const auto colouring = context.session.colouring(context.view.colourBy())) {
        sheet.slot = colouring->slotOf[index(id)];
        sheet.sequential = colouring->sequential;
    }
    sheet.facts.push_back(sizeFact(context, id));
    sheet.facts.push_back(blockFact(context, id));
    addLife(context, id, facts, sheet);
    addLabel(context, id, sheet);
    addPlace(context, id, facts, sheet);
    for (const AttachedText& text : facts.texts)
        sheet.texts.push_back({textTitle(text, replay), shownText(text.text)});
    const auto frames
        = [&](StackId stack) { return valid(stack) && !replay.snapshot->stacks[stack].empty(); };
    if (frames(facts.stack))
        sheet.stacks.push_back({QObject::tr("Stack"), facts.stack, {}});
    else
        sheet.noStack = shownText(whyNoStack(replay, context.session.marks(), id));
    if (frames(facts.forwardStack))
        sheet.stacks.push_back({QObject::tr("Forward stack"), facts.forwardStack,
            QObject::tr("where the forward pass made what this backward needs")});
    if (frames(facts.freeStack))
        sheet.stacks.push_back({QObject::tr("Freed by"), facts.freeStack, {}});
    return sheet;
}

} // namespace tidemark
