// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/details/details_sheet.hpp"

#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/details/sheet_builders.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// A pass over fewer allocations takes less than a part of a frame.
constexpr std::size_t passAtOnce = 100'000;

} // namespace

namespace {

QString stackText(const Snapshot& snapshot, const SheetStack& stack, bool hideFramework)
{
    QString text = stack.title + QLatin1Char('\n');
    std::size_t hidden = 0;
    for (const FrameId frame : snapshot.stacks[stack.stack]) {
        const ShownFrame shown = shownFrame(snapshot, frame);
        if (hideFramework && shown.framework) {
            ++hidden;
            continue;
        }
        text += QStringLiteral("  ") + shown.name
            + (shown.path.isEmpty() ? QString() : QStringLiteral("  ") + shown.path) + QLatin1Char('\n');
    }
    if (hidden > 0)
        text += QStringLiteral("  (") + countText(static_cast<std::int64_t>(hidden))
            + QStringLiteral(" framework frames left out)\n");
    return text;
}

} // namespace

ShownFrame shownFrame(const Snapshot& snapshot, FrameId id)
{
    const Frame& frame = snapshot.frames[id];
    const std::string_view name = valid(frame.name) ? snapshot.strings.view(frame.name) : std::string_view();
    const std::string_view file = valid(frame.file) ? snapshot.strings.view(frame.file) : std::string_view();
    ShownFrame text;
    text.name = name.empty() ? QStringLiteral("(no name)") : shownText(name);
    const bool hasFile = !file.empty() && file != "??";
    const QString line = frame.line ? QLatin1Char(':') + QString::number(frame.line) : QString();
    if (hasFile) {
        text.place = shownText(baseName(file)) + line;
        text.path = shownText(file) + line;
    }
    text.framework = isFrameworkFrame(name, file);
    if (const FxInfo* fx = snapshot.frames.fx(id)) {
        QStringList parts;
        const auto add = [&](const char* key, StringId value) {
            if (valid(value))
                parts << QString::fromLatin1(key) + QLatin1Char(' ')
                        + shownText(snapshot.strings.view(value));
        };
        add("op", fx->op);
        add("node", fx->name);
        add("target", fx->target);
        text.fx = parts.join(QStringLiteral(" · "));
        if (valid(fx->trace)) {
            QStringList lines;
            const std::string_view trace = snapshot.strings.view(fx->trace);
            for (std::size_t at = 0; at < trace.size();) {
                const std::size_t end = std::min(trace.find('\n', at), trace.size());
                if (end > at)
                    lines << shownText(trace.substr(at, end - at));
                at = end + 1;
            }
            text.fxTrace = lines.join(QLatin1Char('\n'));
        }
    }
    return text;
}

QString sheetText(const DetailsSheet& sheet, const Snapshot& snapshot, bool hideFramework)
{
    QString text = sheet.title + QLatin1Char('\n');
    for (const SheetFact& fact : sheet.facts)
        text += fact.key + QStringLiteral(": ") + fact.value
            + (fact.second.isEmpty() ? QString() : QStringLiteral(" (") + fact.second + QLatin1Char(')'))
            + QLatin1Char('\n');
    for (const SheetTable& table : sheet.tables) {
        text += table.title + QLatin1Char('\n');
        for (const SheetTable::Row& row : table.rows)
            text += QStringLiteral("  ") + row.name + QLatin1Char('\t') + row.figures.join(QLatin1Char('\t'))
                + QLatin1Char('\n');
        if (!table.more.isEmpty())
            text += QStringLiteral("  ") + table.more + QLatin1Char('\n');
    }
    for (const SheetText& part : sheet.texts)
        text += part.title + QStringLiteral(": ") + part.text + QLatin1Char('\n');
    if (!sheet.noStack.isEmpty())
        text += sheet.noStack + QLatin1Char('\n');
    for (const SheetStack& stack : sheet.stacks)
        text += stackText(snapshot, stack, hideFramework);
    return text;
}

SheetSubject SheetSubject::of(const Session& session, const ViewState& view)
{
    SheetSubject subject;
    subject.replay = session.replay();
    if (!subject.replay)
        return subject;
    subject.selection = view.selection();
    subject.cursor = std::min(view.cursor(), subject.replay->states() - 1);
    subject.range = view.range();
    const Selection& selection = subject.selection;
    if (selection.kind != Selection::Kind::Group || selection.groupBy == GroupBy::None)
        return subject;
    subject.grouping = session.grouping(selection.groupBy);
    if (selection.group >= subject.grouping->count())
        subject.grouping.reset();
    return subject;
}

AllocationId SheetSubject::allocation() const
{
    AllocationId id = AllocationId::none;
    if (selection.kind == Selection::Kind::Allocation)
        id = selection.allocation;
    else if (selection.kind == Selection::Kind::Group && selection.groupBy == GroupBy::None)
        id = static_cast<AllocationId>(selection.group);
    return replay && index(id) < replay->timeline.allocations().count() ? id : AllocationId::none;
}

bool SheetSubject::isSlow() const
{
    if (!replay || replay->timeline.allocations().count() < passAtOnce)
        return false;
    return valid(allocation()) || grouping || selection.set
        || (selection.kind == Selection::Kind::None && range);
}

SheetFacts SheetSubject::facts() const
{
    SheetFacts out;
    if (!replay)
        return out;
    if (const AllocationId id = allocation(); valid(id))
        out.allocation = allocationFacts(*replay, id);
    else if (grouping)
        out.group = groupFacts(*replay, *grouping, selection.group, cursor);
    else if (selection.set)
        out.group = setFacts(*replay, selection.set->flags, cursor);
    else if (range) {
        const StateIndex last = std::min(range->second, replay->states() - 1);
        out.range = rangeSums(*replay, std::min(range->first, last), last);
    }
    return out;
}

DetailsSheet detailsSheet(const Session& session, const ViewState& view, const SheetFacts& facts)
{
    const auto replay = session.replay();
    if (!replay)
        return fileSheet(session);
    const SheetSubject subject = SheetSubject::of(session, view);
    const Selection& selection = subject.selection;
    const SheetContext context{session, view, *replay, subject.cursor, facts};
    if (const AllocationId id = subject.allocation(); valid(id) && facts.allocation)
        return allocationSheet(context, id);
    if (subject.grouping && facts.group)
        return groupSheet(context, *subject.grouping, selection.group);
    if (selection.set && facts.group)
        return setSheet(context, *selection.set);
    const bool place = selection.kind == Selection::Kind::Segment || selection.kind == Selection::Kind::Hole;
    if (place && replay->segments.known())
        return placeSheet(context, selection);
    return subject.range && facts.range ? rangeSheet(context, subject.range->first, subject.range->second)
                                        : momentSheet(context);
}

} // namespace tidemark
