// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/details/sheet_builders.hpp"

#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>

namespace tidemark {

namespace {

QString sep()
{
    return QStringLiteral(" · ");
}

void addBytes(DetailsSheet& sheet, const QString& key, std::int64_t bytes, const QString& more = {})
{
    sheet.facts.push_back({key, bytesText(bytes),
        exactBytesText(bytes) + (more.isEmpty() ? QString() : sep() + more), {}, false});
}

void addEvent(const SheetContext& context, DetailsSheet& sheet)
{
    const Replay& replay = context.replay;
    if (context.cursor == 0)
        return;
    const auto event = static_cast<EventIndex>(context.cursor - 1);
    const EventColumns& events = replay.device().events;
    const Action action = events.action[index(event)];
    QString word = QString::fromLatin1(actionName(action));
    if (action == Action::Unknown)
        for (const auto& [at, name] : replay.device().otherActions)
            if (at == event)
                word = shownText(replay.snapshot->strings.view(name));
    SheetFact fact{QObject::tr("Event"), word, {}, {}, false};
    const std::int64_t size = events.size[index(event)];
    QStringList more;
    if (size != 0)
        more << (size > 0 ? bytesText(size) : QObject::tr("size %1").arg(exactBytesText(size)));
    const AllocationId id = replay.timeline.allocationOf(event);
    if (valid(id)) {
        more << siteText(context, id);
        fact.link = QStringLiteral("allocation:") + QString::number(index(id));
    } else if (events.address[index(event)] != 0) {
        more << addressText(events.address[index(event)]);
    }
    for (const OomEvent& oom : replay.device().ooms)
        if (oom.event == event) {
            more.clear();
            more << QObject::tr("asked for ")
                    + (oom.requested ? bytesText(*oom.requested) : QObject::tr("an unknown size"));
            more << QObject::tr("free on the device ")
                    + (oom.deviceFree ? bytesText(*oom.deviceFree) : QObject::tr("unknown"));
        }
    fact.second = more.join(sep());
    sheet.facts.push_back(fact);
    const StackId stack = events.stack[index(event)];
    if (valid(stack) && !replay.snapshot->stacks[stack].empty())
        sheet.stacks.push_back({QObject::tr("Stack of the event"), stack,
            action == Action::FreeCompleted
                ? QObject::tr("of the call that noticed the end of the free, which may be another one")
                : QString()});
}

void addTime(const SheetContext& context, DetailsSheet& sheet)
{
    const Replay& replay = context.replay;
    const auto at = replay.timeUs(context.cursor);
    const auto first = replay.originUs();
    if (replay.states() <= 1)
        return;
    if (!at || !first) {
        sheet.facts.push_back({QObject::tr("Time"), QObject::tr("unknown"),
            QObject::tr("the events carry no times"), {}, false});
        return;
    }
    sheet.facts.push_back(
        {QObject::tr("Time"), offsetText(*at - *first), QString::fromStdString(formatUtc(*at)), {}, false});
    QStringList phases;
    for (const Mark& mark : context.session.marks())
        if (mark.first <= context.cursor && context.cursor <= mark.last)
            phases << shownText(mark.name);
    if (!phases.isEmpty())
        sheet.facts.push_back({QObject::tr("Inside"), phases.join(QStringLiteral(" › ")), {}, {}, false});
}

void addReserved(const SheetContext& context, DetailsSheet& sheet)
{
    const Replay& replay = context.replay;
    if (!replay.segments.reservedKnown()) {
        sheet.facts.push_back({QObject::tr("Reserved"), QObject::tr("unknown"),
            QObject::tr("the file lists no segments"), {}, false});
        return;
    }
    const std::int64_t reserved = replay.segments.reserved().at(context.cursor);
    if (!replay.segments.known()) {
        addBytes(sheet, QObject::tr("Reserved"), reserved, QObject::tr("as the recorder counted"));
        return;
    }
    const std::int64_t allocated = replay.segments.allocated().at(context.cursor);
    const bool end = context.cursor + 1 == replay.states();
    addBytes(sheet, QObject::tr("Reserved"), reserved,
        replay.segments.hasEvents() || end ? QString() : QObject::tr("as at the end of the file"));
    sheet.facts.push_back(
        {QObject::tr("Allocated"), (end ? QString() : QStringLiteral("≈ ")) + bytesText(allocated),
            exactBytesText(allocated) + sep() + QObject::tr("blocks after rounding"), {}, false});
    const std::int64_t inactive = replay.segments.inactiveAt(context.cursor);
    addBytes(sheet, QObject::tr("Free inside"), inactive,
        shareText(static_cast<std::uint64_t>(std::max<std::int64_t>(0, inactive)), reserved)
                .replace(QObject::tr("of live"), QObject::tr("of reserved"))
            + sep() + QObject::tr("in no block"));
}

template <typename Id, typename Name>
void addShares(const SheetContext& context, DetailsSheet& sheet, const QString& title,
    const std::vector<std::pair<Id, Series>>& series, Name name)
{
    if (series.size() < 2)
        return;
    std::vector<std::pair<std::int64_t, Id>> shares;
    for (const auto& [id, curve] : series)
        if (const std::int64_t bytes = curve.at(context.cursor); bytes > 0)
            shares.emplace_back(bytes, id);
    std::stable_sort(
        shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    SheetTable table;
    table.title = title;
    table.columns = {QObject::tr("live"), QObject::tr("share")};
    const std::int64_t all = context.replay.timeline.requested().at(context.cursor);
    for (const auto& [bytes, id] : shares)
        table.rows.push_back({name(id), {},
            {bytesText(bytes),
                percentText(all ? static_cast<double>(bytes) / static_cast<double>(all) : 0)}});
    if (!table.rows.empty())
        sheet.tables.push_back(std::move(table));
}

QString settingText(const SettingValue& value)
{
    return std::visit(
        [](const auto& v) -> QString {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, bool>)
                return v ? QStringLiteral("True") : QStringLiteral("False");
            else if constexpr (std::is_same_v<T, std::string>)
                return shownText(v);
            else
                return QString::number(v);
        },
        value);
}

/// What a setting reads when nobody set it.
bool isUnset(const QString& value)
{
    return value.isEmpty() || value == QLatin1String("False") || value == QLatin1String("0")
        || value == QLatin1String("-1") || value == QLatin1String("None");
}

void addSettings(const Snapshot& snapshot, DetailsSheet& sheet)
{
    QStringList lines;
    for (const Setting& setting : snapshot.settings)
        if (const QString value = settingText(setting.value); !isUnset(value))
            lines << shownText(setting.key) + QStringLiteral(" = ") + value;
    const auto all = static_cast<std::int64_t>(snapshot.settings.size());
    if (lines.isEmpty() && all == 0)
        return;
    const QString title = QObject::tr("Allocator settings: %1 of %2 set")
                              .arg(countText(static_cast<std::int64_t>(lines.size())), countText(all));
    sheet.texts.push_back({title, lines.join(QLatin1Char('\n'))});
}

} // namespace

QString placeText(const Replay& replay, StreamId stream, PoolId pool)
{
    const Snapshot& snapshot = *replay.snapshot;
    QStringList parts{QString::fromStdString(deviceName(replay.device().ordinal))};
    parts << (valid(stream) ? shownText(streamName(snapshot, stream)) : QObject::tr("several streams"));
    if (!valid(pool))
        parts << QObject::tr("several pools");
    else
        parts << (index(pool) ? QObject::tr("pool ") : QString()) + shownText(poolName(snapshot, pool));
    return parts.join(sep());
}

QString siteText(const SheetContext& context, AllocationId id)
{
    const auto sites = context.session.sites();
    return sites ? shownText(allocationSite(context.replay, *sites, id)) : QString();
}

QString eventLink(EventIndex event)
{
    return QStringLiteral("event:") + QString::number(index(event));
}

QString shareText(std::uint64_t part, std::int64_t whole)
{
    if (whole <= 0)
        return QStringLiteral("– ") + QObject::tr("of live");
    return percentText(static_cast<double>(part) / static_cast<double>(whole)) + QLatin1Char(' ')
        + QObject::tr("of live");
}

DetailsSheet momentSheet(const SheetContext& context)
{
    const Replay& replay = context.replay;
    DetailsSheet sheet;
    const QString at = atMomentText(replay, context.cursor);
    sheet.title = at.left(1).toUpper() + at.mid(1);
    sheet.kind = QObject::tr("moment");
    addEvent(context, sheet);
    addTime(context, sheet);
    const std::int64_t live = replay.timeline.requested().at(context.cursor);
    const std::uint32_t count = replay.timeline.liveCountAt(context.cursor);
    addBytes(sheet, QObject::tr("Live"), live,
        countText(static_cast<std::int64_t>(count))
            + (count == 1 ? QObject::tr(" allocation") : QObject::tr(" allocations")));
    if (const std::int64_t pending = replay.timeline.pending().at(context.cursor); pending > 0)
        addBytes(sheet, QObject::tr("Waiting"), pending, QObject::tr("freed, not reusable yet"));
    addReserved(context, sheet);
    const auto peak = replay.timeline.requested().total();
    if (replay.states() > 1 && peak.max > 0) {
        SheetFact fact{
            QObject::tr("Peak"), bytesText(peak.max), momentText(replay, peak.maxState), {}, false};
        if (!replay.reachesStart())
            fact.second += sep() + QObject::tr("of the recorded window");
        if (peak.maxState > 0)
            fact.link = eventLink(static_cast<EventIndex>(peak.maxState - 1));
        sheet.facts.push_back(fact);
    }
    addShares(context, sheet, QObject::tr("By stream"), replay.requestedByStream,
        [&](StreamId id) { return shownText(streamName(*replay.snapshot, id)); });
    addShares(context, sheet, QObject::tr("By pool"), replay.requestedByPool,
        [&](PoolId id) { return shownText(poolName(*replay.snapshot, id)); });
    addSettings(*replay.snapshot, sheet);
    sheet.hint
        = QObject::tr("Click a block in the map or a row of the table to see its size, place and stack.");
    return sheet;
}

DetailsSheet rangeSheet(const SheetContext& context, StateIndex first, StateIndex last)
{
    const Replay& replay = context.replay;
    last = std::min(last, replay.states() - 1);
    first = std::min(first, last);
    const Series& live = replay.timeline.requested();
    const Series::Extremes extremes = live.extremes(first, last);
    DetailsSheet sheet;
    const QString start = momentText(replay, first);
    sheet.title = start.left(1).toUpper() + start.mid(1) + QStringLiteral(" → ") + momentText(replay, last);
    sheet.kind = QObject::tr("range");
    const auto from = replay.timeUs(first);
    const auto to = replay.timeUs(last);
    sheet.facts.push_back(
        {QObject::tr("Length"), countText(static_cast<std::int64_t>(last) - first) + QObject::tr(" events"),
            from && to ? durationText(*to - *from) : QString(), {}, false});
    const std::int64_t delta = live.at(last) - live.at(first);
    sheet.facts.push_back({QObject::tr("Change"), deltaText(delta),
        bytesText(live.at(first)) + QStringLiteral(" → ") + bytesText(live.at(last)), {}, false});
    addBytes(sheet, QObject::tr("Highest"), extremes.max, momentText(replay, extremes.maxState));
    if (extremes.maxState > 0)
        sheet.facts.back().link = eventLink(static_cast<EventIndex>(extremes.maxState - 1));
    addBytes(sheet, QObject::tr("Lowest"), extremes.min);
    const RangeSums& sums = *context.facts.range;
    const auto part = [&](const QString& key, std::uint64_t bytes, std::uint64_t count) {
        addBytes(sheet, key, static_cast<std::int64_t>(bytes),
            countText(static_cast<std::int64_t>(count))
                + (count == 1 ? QObject::tr(" allocation") : QObject::tr(" allocations")));
    };
    part(QObject::tr("Allocated"), sums.allocatedBytes, sums.allocated);
    part(QObject::tr("Freed"), sums.freedBytes, sums.freed);
    part(QObject::tr("Surviving"), sums.survivingBytes, sums.surviving);
    if (replay.segments.reservedKnown() && (replay.segments.hasEvents() || !replay.segments.known()))
        sheet.facts.push_back({QObject::tr("Reserved"),
            deltaText(replay.segments.reserved().at(last) - replay.segments.reserved().at(first)),
            bytesText(replay.segments.reserved().at(first)) + QStringLiteral(" → ")
                + bytesText(replay.segments.reserved().at(last)),
            {}, false});
    return sheet;
}

DetailsSheet fileSheet(const Session& session)
{
    DetailsSheet sheet;
    const auto rank = session.rank();
    if (!rank) {
        sheet.hint = QObject::tr("Open a memory snapshot to see its details.");
        return sheet;
    }
    const Snapshot& snapshot = *rank->snapshot;
    sheet.title = shownText(snapshot.source.name);
    sheet.kind = QObject::tr("file");
    sheet.hint = snapshot.categories
        ? QObject::tr("This file holds bytes per category over time; it has no single allocations to select.")
        : QObject::tr("This file holds neither events nor segments of any device.");
    addSettings(snapshot, sheet);
    return sheet;
}

} // namespace tidemark
