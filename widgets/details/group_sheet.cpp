// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/details/sheet_builders.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/style/text.hpp"

namespace tidemark {

namespace {

QString allocations(std::uint64_t count)
{
    return countText(count) + (count == 1 ? QObject::tr(" allocation") : QObject::tr(" allocations"));
}

QString kindOf(GroupBy by)
{
    switch (by) {
    case GroupBy::Site:
        return QObject::tr("call site");
    case GroupBy::Stack:
        return QObject::tr("stack");
    case GroupBy::Size:
        return QObject::tr("size class");
    case GroupBy::ExactSize:
        return QObject::tr("size");
    case GroupBy::Stream:
        return QObject::tr("stream");
    case GroupBy::Pool:
        return QObject::tr("pool");
    case GroupBy::Category:
        return QObject::tr("category");
    case GroupBy::Label:
        return QObject::tr("module");
    case GroupBy::Role:
        return QObject::tr("role");
    case GroupBy::None:
        break;
    }
    return {};
}

void addAmounts(const SheetContext& context, const GroupFacts& facts, DetailsSheet& sheet)
{
    const Replay& replay = context.replay;
    const std::int64_t live = replay.timeline.requested().at(context.cursor);
    sheet.facts.push_back({QObject::tr("Live"), bytesText(facts.atCursor),
        exactBytesText(facts.atCursor) + QStringLiteral(" · ") + allocations(facts.countAtCursor)
            + QStringLiteral(" · ") + shareText(facts.atCursor, live),
        {}, false});
    if (facts.blockBytes > facts.atCursor)
        sheet.facts.push_back({QObject::tr("Blocks"), QStringLiteral("≈ ") + bytesText(facts.blockBytes),
            QObject::tr("waste ") + bytesText(facts.blockBytes - facts.atCursor), {}, false});
    SheetFact largest{
        QObject::tr("Largest"), bytesText(facts.largest), exactBytesText(facts.largest), {}, false};
    if (valid(facts.largestId))
        largest.link = QStringLiteral("allocation:") + QString::number(index(facts.largestId));
    if (facts.smallest != facts.largest)
        largest.second += QObject::tr(" · smallest ") + bytesText(facts.smallest);
    sheet.facts.push_back(largest);
}

void addTimes(const SheetContext& context, const GroupFacts& facts, DetailsSheet& sheet)
{
    const Replay& replay = context.replay;
    if (replay.states() <= 1)
        return;
    SheetFact peak{
        QObject::tr("Own peak"), bytesText(facts.peak), momentText(replay, facts.peakState), {}, false};
    if (facts.peakState > 0)
        peak.link = eventLink(static_cast<EventIndex>(facts.peakState - 1));
    sheet.facts.push_back(peak);
    sheet.facts.push_back({QObject::tr("In the trace"), allocations(facts.allocations),
        bytesText(facts.bytes) + QObject::tr(" in all"), {}, false});
    const QString start
        = facts.first == 0 ? QObject::tr("before recording") : momentText(replay, facts.first);
    const QString end = facts.aliveAtEnd > 0 ? QObject::tr("end") : momentText(replay, facts.last);
    sheet.facts.push_back({QObject::tr("Lives"), start + QStringLiteral(" → ") + end, {}, {}, false});
    if (facts.aliveAtEnd > 0)
        sheet.facts.push_back({QObject::tr("At the end"), bytesText(facts.aliveAtEndBytes),
            allocations(facts.aliveAtEnd) + QObject::tr(" alive at the end of the file"), {}, false});
    if (facts.predating > 0)
        sheet.facts.push_back({QObject::tr("Before"), allocations(facts.predating),
            QObject::tr("older than the recording"), {}, false});
}

} // namespace

namespace {

DetailsSheet sheetOf(const SheetContext& context, const GroupFacts& facts, QString title, QString kind)
{
    const Replay& replay = context.replay;
    DetailsSheet sheet;
    sheet.title = std::move(title);
    sheet.kind = std::move(kind);
    const auto colouring = context.session.colouring(context.view.colourBy());
    if (colouring && valid(facts.largestId)) {
        sheet.slot = colouring->slotOf[index(facts.largestId)];
        sheet.sequential = colouring->sequential;
    }
    addAmounts(context, facts, sheet);
    addTimes(context, facts, sheet);
    sheet.facts.push_back({QObject::tr("Place"), placeText(replay, facts.stream, facts.pool), {}, {}, false});
    const bool hasStack = valid(facts.stack) && !replay.snapshot->stacks[facts.stack].empty();
    if (hasStack)
        sheet.stacks.push_back({QObject::tr("Stack"), facts.stack,
            facts.oneStack ? QString() : QObject::tr("of the largest allocation; others came another way")});
    else if (valid(facts.largestId))
        sheet.noStack = shownText(whyNoStack(replay, context.session.marks(), facts.largestId));
    return sheet;
}

} // namespace

DetailsSheet groupSheet(const SheetContext& context, const Grouping& grouping, std::uint32_t group)
{
    return sheetOf(context, *context.facts.group, shownText(grouping.name(group)), kindOf(grouping.by()));
}

DetailsSheet setSheet(const SheetContext& context, const ChosenSet& set)
{
    return sheetOf(context, *context.facts.group, set.name, set.kind);
}

} // namespace tidemark
