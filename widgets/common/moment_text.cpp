// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/moment_text.hpp"

#include "widgets/style/text.hpp"

namespace tidemark {

namespace {

constexpr char16_t arrow[] = u" → ";

QString countOfEvents(std::int64_t events)
{
    return events == 1 ? QStringLiteral("1 event") : countText(events) + QStringLiteral(" events");
}

} // namespace

QString eventText(const Replay& replay, EventIndex event)
{
    return countText(static_cast<std::int64_t>(index(event)) + replay.device().firstEventInFile);
}

QString momentText(const Replay& replay, StateIndex state)
{
    if (replay.states() <= 1)
        return QStringLiteral("end of the file");
    if (state == 0)
        return QStringLiteral("before the first event");
    return QStringLiteral("event ") + eventText(replay, static_cast<EventIndex>(state - 1));
}

QString atMomentText(const Replay& replay, StateIndex state)
{
    const QString moment = momentText(replay, state);
    if (replay.states() <= 1)
        return QStringLiteral("at the ") + moment;
    return state == 0 ? moment : QStringLiteral("at ") + moment;
}

QString lifeText(const Replay& replay, AllocationId id)
{
    const auto start = replay.timeline.allocEvent(id);
    const auto end = replay.timeline.endEvent(id);
    QString text
        = start ? QStringLiteral("event ") + eventText(replay, *start) : QStringLiteral("before recording");
    text += QString::fromUtf16(arrow);
    if (!end)
        return text + QStringLiteral("end");
    return text + (start ? QString() : QStringLiteral("event ")) + eventText(replay, *end);
}

QString lifeLengthText(const Replay& replay, AllocationId id)
{
    const auto start = replay.timeline.allocEvent(id);
    const auto end = replay.timeline.endEvent(id);
    const StateIndex last = replay.states() - 1;
    const StateIndex first = start ? stateOf(static_cast<Moment>(index(*start))) : 0;
    const StateIndex final = end ? stateOf(static_cast<Moment>(index(*end))) : last;
    if (!start && !end)
        return QStringLiteral("the whole recording");
    const auto from = replay.timeUs(first);
    const auto to = replay.timeUs(final);
    const QString length
        = from && to ? durationText(*to - *from) : countOfEvents(static_cast<std::int64_t>(final) - first);
    return start && end ? length : QStringLiteral("at least ") + length;
}

QString ageText(const Replay& replay, StateIndex since, StateIndex state)
{
    if (since == 0)
        return QStringLiteral("before recording");
    const auto from = replay.timeUs(since);
    const auto to = replay.timeUs(state);
    return from && to ? durationText(*to - *from) : countOfEvents(static_cast<std::int64_t>(state) - since);
}

} // namespace tidemark
