// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/strip_figures.hpp"

#include "model/snapshot/outside_range.hpp"
#include "widgets/common/merged_notes.hpp"
#include "widgets/common/phase_text.hpp"
#include "widgets/style/text.hpp"

#include <QCoreApplication>

#include <algorithm>

namespace tidemark {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("SummaryStrip", text);
}

/// "a · b · c" of the parts that are there.
QString joined(std::initializer_list<QString> parts)
{
    QString out;
    for (const QString& part : parts)
        if (!part.isEmpty())
            out += (out.isEmpty() ? QString() : QStringLiteral(" · ")) + part;
    return out;
}

StripText unknown(const QString& caption, const QString& why)
{
    return {caption, {{tr("unknown"), why}}, why, std::nullopt};
}

/// Notes that change no figure are remarks; all others warn.
bool warns(Quality id)
{
    switch (id) {
    case Quality::UnknownKey:
    case Quality::ForeignObject:
    case Quality::BadText:
    case Quality::AnnotationOfUnknown:
    case Quality::UnpairedMarks:
    case Quality::OtherRecorder:
        return false;
    default:
        return true;
    }
}

/// The outermost mark that covers a state.
QString markAt(const std::vector<Mark>& marks, StateIndex state)
{
    const Mark* best = nullptr;
    for (const Mark& mark : marks)
        if (mark.first <= state && state <= mark.last && (!best || mark.depth < best->depth))
            best = &mark;
    return best ? shownText(best->name) : QString();
}

/// What the program was doing: its phase where that is known, else what the file's marks say.
QString doingAt(const Session& session, StateIndex state)
{
    const auto phases = session.phases();
    if (const PhaseSpan* span = phases ? phaseSpanAt(*phases, state) : nullptr)
        return phaseText(span->phase);
    return markAt(session.marks(), state);
}

} // namespace

QString partText(const DeviceTrace& device)
{
    const std::uint64_t first = device.firstEventInFile;
    const std::uint64_t count = device.events.count();
    const QString all = countText(device.outside ? device.outside->eventsInFile : count);
    if (count == 0)
        return tr("None of %1 events").arg(all);
    return tr("Events %1\u2013%2 of %3 only").arg(countText(first), countText(first + count - 1), all);
}

StripFigures::StripFigures(const Session& session, const ViewState& state, const Navigator& navigator,
    std::shared_ptr<const TimelineSource> categories)
    : m_session(session)
    , m_state(state)
    , m_navigator(navigator)
    , m_categories(std::move(categories))
    , m_replay(session.replay())
    , m_history(m_replay && m_replay->device().events.count() > 0)
{ }

std::optional<std::int64_t> StripFigures::reservedAt(StateIndex state) const
{
    if (m_replay->segments.reservedKnown())
        return m_replay->segments.reserved().at(state);
    return std::nullopt;
}

QString StripFigures::categoryState(StateIndex state) const
{
    const auto us = static_cast<std::int64_t>(m_categories->timeOf(state));
    return joined({tr("row %1").arg(countText(static_cast<std::uint64_t>(state))), offsetText(us)});
}

StripText StripFigures::categoryCursor() const
{
    const StateIndex state = std::min(m_state.cursor(), m_categories->states() - 1);
    const std::int64_t live = m_categories->requested().at(state);
    return {joined({tr("Cursor"), categoryState(state)}), {{bytesText(live), tr("in all categories")}},
        exactBytesText(live), std::nullopt};
}

StripText StripFigures::peakLive() const
{
    if (m_categories) {
        const Series::Extremes peak = m_categories->requested().total();
        return {tr("Peak of all categories"), {{bytesText(peak.max), categoryState(peak.maxState), true}},
            joined({exactBytesText(peak.max), categoryState(peak.maxState)}), peak.maxState};
    }
    if (!m_replay)
        return {};
    const Series& live = m_replay->timeline.requested();
    if (!m_history) {
        const auto blocks = static_cast<std::uint64_t>(m_replay->timeline.liveCountAt(0));
        return {tr("Live at the end (requested)"),
            {{bytesText(live.last()), tr("%1 blocks").arg(countText(blocks)), true}},
            joined({exactBytesText(live.last()), tr("as the program asked for; the file has no events")}),
            std::nullopt};
    }
    const Series::Extremes peak = live.total();
    const bool whole = m_replay->reachesStart();
    QString tip = joined({exactBytesText(peak.max), m_navigator.stateText(peak.maxState),
        tr("the most the program had asked for at any moment, first reached here")});
    if (!whole)
        tip += QLatin1Char('\n')
            + tr(
                "The recording does not reach back to the start of the run: this is the peak of the recorded "
                "window.");
    return {whole ? tr("Peak live (requested)") : tr("Peak live of the recorded window"),
        {{bytesText(peak.max), m_navigator.stateText(peak.maxState), true}}, tip, peak.maxState};
}

StripText StripFigures::peakReserved() const
{
    if (m_categories)
        return unknown(tr("Peak reserved"), tr("not recorded"));
    if (!m_replay)
        return {};
    const QString caption = m_history ? tr("Peak reserved") : tr("Reserved at the end");
    if (m_replay->segments.reservedKnown()) {
        const Series& reserved = m_replay->segments.reserved();
        if (!m_history) {
            const auto segments = static_cast<std::uint64_t>(m_replay->device().segments.size());
            return {caption, {{bytesText(reserved.last()), tr("%1 segments").arg(countText(segments)), true}},
                exactBytesText(reserved.last()), std::nullopt};
        }
        const Series::Extremes extremes = reserved.total();
        const bool constant = extremes.min == extremes.max;
        const QString where = constant ? tr("whole trace") : m_navigator.stateText(extremes.maxState);
        return {caption, {{bytesText(extremes.max), where, true}},
            joined({exactBytesText(extremes.max), where, tr("what the allocator held of the device")}),
            constant ? std::nullopt : std::optional(extremes.maxState)};
    }
    if (m_session.rank() && m_session.rank()->snapshot->source.partial)
        return unknown(caption, tr("the file breaks off"));
    StripText cell = unknown(caption, tr("no segments in the file"));
    cell.toolTip = tr("The file lists no segments, so what the allocator held cannot be known. "
                      "torch.cuda.memory._dump_snapshot() writes them.");
    return cell;
}

StripText StripFigures::gap() const
{
    if (!m_replay)
        return {};
    if (!m_history) {
        if (!m_replay->segments.known())
            return {};
        const std::int64_t allocated = m_replay->segments.allocated().last();
        return {tr("Allocated at the end"), {{bytesText(allocated), {}}},
            joined({exactBytesText(allocated),
                tr("block sizes after rounding: what torch.cuda.memory_allocated() counts")}),
            std::nullopt};
    }
    const Series::Extremes peak = m_replay->timeline.requested().total();
    const auto reserved = reservedAt(peak.maxState);
    if (!reserved)
        return unknown(tr("Gap at the peak"), tr("reserved is unknown"));
    const std::int64_t gap = *reserved - peak.max;
    const QString share
        = *reserved > 0 ? percentText(static_cast<double>(gap) / static_cast<double>(*reserved)) : QString();
    return {tr("Gap at the peak"), {{bytesText(gap), share, true}},
        joined({exactBytesText(gap),
            tr("reserved minus live (requested) at the peak: rounding, fragmentation and cached free memory. "
               "Free inside segments is less, it counts blocks and leaves rounding out.")}),
        peak.maxState};
}

StripText StripFigures::before() const
{
    if (!m_replay)
        return {};
    if (!m_history)
        return unknown(tr("Peak"), tr("without history"));
    const Predating& p = m_replay->timeline.predating();
    const std::uint64_t bytes = p.freedInTraceBytes + p.aliveAtEndBytes;
    const std::uint64_t count = p.freedInTrace + p.aliveAtEnd;
    if (count == 0)
        return {tr("Before recording"), {{bytesText(bytes), tr("nothing was live"), true}},
            tr("No allocation of this file is older than its first event."), std::nullopt};
    return {tr("Before recording"), {{bytesText(bytes), tr("%1 allocations").arg(countText(count)), true}},
        tr("%1 freed in the trace (%2) · %3 alive at the end (%4)")
            .arg(bytesText(p.freedInTraceBytes), countText(p.freedInTrace), bytesText(p.aliveAtEndBytes),
                countText(p.aliveAtEnd)),
        StateIndex{0}};
}

StripText StripFigures::card() const
{
    if (!m_replay && !m_categories)
        return {};
    if (const auto size = m_session.cardSize())
        return {tr("Card"), {{bytesText(*size), tr("as typed"), true}}, exactBytesText(*size), std::nullopt};
    const auto stated = m_session.statedCardSize();
    if (stated && m_session.capacity() == stated)
        return {tr("Card"), {{bytesText(*stated), tr("from the settings"), true}},
            joined({exactBytesText(*stated), tr("hardware.device_total_bytes of the run's settings")}),
            std::nullopt};
    if (const auto usable = m_session.capacity())
        return {tr("Card"), {{QStringLiteral("≈ ") + bytesText(*usable), tr("usable"), true}},
            joined({exactBytesText(*usable),
                tr("reserved plus what the device had free at an out-of-memory event")}),
            std::nullopt};
    return {tr("Card"), {{{}, tr("not in file")}},
        tr("Snapshots do not say how large the device is. Type it to draw its limit."), std::nullopt};
}

QString StripFigures::cardProblem(std::uint64_t bytes) const
{
    constexpr std::uint64_t least = 64U << 20; // no device is smaller, or larger
    constexpr std::uint64_t most = std::uint64_t{1} << 50;
    if (bytes < least || bytes > most)
        return tr("No device has %1. A size with its unit, as in 80 GiB")
            .arg(bytes > most ? tr("that much") : bytesText(bytes));
    if (!m_replay)
        return {};
    const std::int64_t held = m_replay->segments.reservedKnown() ? m_replay->segments.reserved().total().max
                                                                 : m_replay->timeline.requested().total().max;
    return static_cast<std::int64_t>(bytes) < held
        ? tr("The recording holds %1 of this device, so it has more").arg(bytesText(held))
        : QString();
}

StripText StripFigures::endOfFile() const
{
    StripText cell{tr("Cursor · end of the file, the only known state"),
        {{bytesText(m_replay->timeline.requested().last()), tr("live")}}, {}, std::nullopt};
    if (m_replay->segments.known()) {
        const std::int64_t free = m_replay->segments.inactiveAt(m_replay->states() - 1);
        cell.values.push_back({bytesText(free), tr("free inside segments")});
        cell.toolTip = tr("Without events there is one moment to look at: when the file was written.");
    }
    return cell;
}

StripText StripFigures::range() const
{
    const auto [first, last] = *m_state.range();
    const Timeline& timeline = m_replay->timeline;
    const std::int64_t live = timeline.requested().at(last) - timeline.requested().at(first);
    const auto from = m_replay->timeUs(first);
    const auto to = m_replay->timeUs(last);
    StripText cell{
        joined({tr("Range"), tr("%1 to %2").arg(m_navigator.stateText(first), m_navigator.stateText(last)),
            from && to ? durationText(*to - *from) : QString()}),
        {{countText(static_cast<std::uint64_t>(last - first)), tr("events")}, {deltaText(live), tr("live")}},
        {}, std::nullopt};
    cell.toolTip = exactBytesText(live);
    const auto a = reservedAt(first);
    const auto b = reservedAt(last);
    if (a && b)
        cell.values.push_back({deltaText(*b - *a), tr("reserved")});
    return cell;
}

StripText StripFigures::cursor() const
{
    if (m_categories)
        return categoryCursor();
    if (!m_replay)
        return {};
    if (!m_history)
        return endOfFile();
    if (m_state.range() && m_state.range()->first != m_state.range()->second)
        return range();
    const StateIndex state = m_state.cursor();
    const Timeline& timeline = m_replay->timeline;
    const auto us = m_replay->timeUs(state);
    const auto start = m_replay->originUs();
    const std::int64_t live = timeline.requested().at(state);
    StripText cell{joined({tr("Cursor"), m_navigator.stateText(state),
                       us && start ? offsetText(*us - *start) : QString(), doingAt(m_session, state)}),
        {{bytesText(live), tr("live")},
            {countText(static_cast<std::uint64_t>(timeline.liveCountAt(state))), tr("allocations"), true}},
        {}, std::nullopt};
    cell.toolTip = tr("live %1 (requested)").arg(exactBytesText(live));
    if (const auto reserved = reservedAt(state)) {
        cell.values.push_back({bytesText(*reserved), tr("reserved")});
        cell.toolTip += QLatin1Char('\n') + tr("reserved %1").arg(exactBytesText(*reserved));
    } else {
        cell.values.push_back({tr("unknown"), tr("reserved")});
    }
    if (const auto phases = m_session.phases())
        if (const QString lines = phaseLinesText(*phases, state); !lines.isEmpty())
            cell.toolTip += QLatin1Char('\n') + lines;
    return cell;
}

std::vector<QualityChip> StripFigures::chips() const
{
    std::vector<QualityChip> out;
    const auto rank = m_session.rank();
    if (!rank)
        return out;
    const auto notes = mergedNotes(m_replay ? rank->quality(m_session.deviceIndex()) : rank->quality());
    for (const QualityNote& note : notes) {
        const bool part = note.id == Quality::EventRange && m_replay && m_replay->device().outside;
        out.push_back({QualityChip::Kind::Note,
            part ? partText(m_replay->device()) : QString::fromUtf8(qualityTitle(note.id)), note,
            warns(note.id)});
    }
    std::stable_sort(out.begin(), out.end(),
        [](const QualityChip& a, const QualityChip& b) { return a.warning && !b.warning; });
    if (m_replay && !m_session.capacity()) {
        QualityChip chip;
        chip.kind = QualityChip::Kind::CardUnknown;
        chip.title = tr("Card size unknown");
        chip.warning = false;
        chip.note.sentence
            = tr("A snapshot does not say how much memory the device has. Headroom and the line of "
                 "the card's limit need it; every other figure is independent of it.")
                  .toStdString();
        out.push_back(std::move(chip));
    }
    return out;
}

} // namespace tidemark
