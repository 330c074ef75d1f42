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

DetailsSheet detailsSheet(const Session& session, const ViewState& view)
{
    const auto replay = session.replay();
    if (!replay)
        return fileSheet(session);
    const Selection& selection = view.selection();
    const SheetContext context{session, view, *replay, std::min(view.cursor(), replay->states() - 1)};
    switch (selection.kind) {
    case Selection::Kind::Allocation:
        if (index(selection.allocation) < replay->timeline.allocations().count())
            return allocationSheet(context, selection.allocation);
        break;
    case Selection::Kind::Group:
        if (selection.groupBy == GroupBy::None) {
            if (selection.group < replay->timeline.allocations().count())
                return allocationSheet(context, static_cast<AllocationId>(selection.group));
            break;
        }
        if (const auto grouping = session.grouping(selection.groupBy);
            grouping && selection.group < grouping->count())
            return groupSheet(context, *grouping, selection.group);
        break;
    case Selection::Kind::Set:
        return setSheet(context, *selection.set);
    case Selection::Kind::Segment:
    case Selection::Kind::Hole:
        if (replay->segments.known())
            return placeSheet(context, selection);
        break;
    case Selection::Kind::None:
        break;
    }
    return view.range() ? rangeSheet(context, view.range()->first, view.range()->second)
                        : momentSheet(context);
}

} // namespace tidemark
