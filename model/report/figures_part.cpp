// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"
#include "model/core/units.hpp"
#include "model/replay/figures.hpp"
#include "model/report/anchors.hpp"
#include "model/report/builder.hpp"

namespace tidemark::report {

namespace {

Figure bytesFigure(const char* id, std::string name, std::int64_t bytes, std::string note)
{
    return {id, std::move(name), formatBytes(bytes), std::move(note), Unit::Bytes, bytes, false};
}

Figure unknownFigure(const char* id, std::string name, std::string why)
{
    return {id, std::move(name), "unknown", std::move(why), Unit::Bytes, {}, false};
}

/// What cardSize() is, in words.
const char* cardSource(const ReportInput& input)
{
    if (input.deviceTotal)
        return " on the card";
    for (const OomAutopsy& oom : input.diagnosis->devices[input.device].ooms)
        if (oom.usable())
            return " that PyTorch can use";
    return " on the card, by the settings";
}

Figure cardFigure(const BuildContext& context, const DeviceFigures& figures)
{
    const auto card = cardSize(context.input);
    if (!card)
        return unknownFigure("unreserved", "Not reserved", "the file does not tell how large the card is");
    const std::int64_t held = figures.reserved ? figures.reserved->peak : figures.live.peak;
    const std::int64_t left = static_cast<std::int64_t>(*card) - held;
    Figure figure = bytesFigure("unreserved", "Not reserved", left,
        "of " + formatBytes(static_cast<std::int64_t>(*card)) + cardSource(context.input));
    figure.alarming = context.verdict.failed || left < static_cast<std::int64_t>(*card / 50);
    return figure;
}

void addOom(const OomAutopsy& oom, std::uint32_t firstEvent, Section& section)
{
    Figures row;
    if (oom.request)
        row.figures.push_back(
            bytesFigure("failed-request", "Failed request", static_cast<std::int64_t>(*oom.request),
                "event " + formatCount(static_cast<std::int64_t>(index(oom.event) + firstEvent))));
    if (oom.reservedKnown) {
        Figure pinned = bytesFigure("pinned", "Free but pinned", static_cast<std::int64_t>(oom.pinned),
            oom.pinnedHoles == 1 ? "1 hole" : formatUnsigned(oom.pinnedHoles) + " holes");
        pinned.alarming = oom.verdict == Verdict::Fragmentation;
        row.figures.push_back(std::move(pinned));
        row.figures.push_back(bytesFigure("reserved-at-failure", "Reserved then", oom.reserved,
            oom.usable() ? "of " + formatBytes(static_cast<std::int64_t>(*oom.usable())) + " usable"
                         : std::string("what is usable is unknown")));
    }
    if (oom.slack)
        row.figures.push_back({"slack", "Slack if packed", formatBytesDelta(*oom.slack),
            *oom.slack < 0 ? "it would not fit" : "it would fit", Unit::BytesDelta, *oom.slack,
            *oom.slack < 0});
    section.blocks.emplace_back(std::move(row));
}

void addCategories(const CategoryTimeline& timeline, Section& section)
{
    std::int64_t most = 0;
    std::size_t at = 0;
    for (std::size_t row = 0; row < timeline.timesUs.size(); ++row) {
        std::int64_t sum = 0;
        for (const auto& column : timeline.bytes)
            sum += column[row];
        if (row == 0 || sum > most) {
            most = sum;
            at = row;
        }
    }
    if (timeline.timesUs.empty())
        return;
    Figures figures;
    figures.figures.push_back(
        bytesFigure("peak-live", "Peak of all categories", most, formatUtc(timeline.timesUs[at])));
    section.blocks.emplace_back(std::move(figures));
    Table table;
    table.id = "categories";
    table.columns = {{"Category"}, {"At the peak", Unit::Bytes}};
    for (std::size_t c = 0; c < timeline.bytes.size(); ++c)
        table.rows.push_back({textCell(CategoryTimeline::names[c]), bytesCell(timeline.bytes[c][at])});
    table.foot.push_back({textCell("= peak"), bytesCell(most)});
    section.blocks.emplace_back(std::move(table));
}

} // namespace

std::string momentText(const Replay& replay, StateIndex state)
{
    const std::int64_t event = eventOf(replay, state);
    return event < 0 ? std::string("before the first event") : "after event " + formatCount(event);
}

const char* peakWord(const Replay& replay)
{
    return replay.reachesStart() ? "peak" : "peak of the recorded window";
}

std::vector<Figure> keyFigures(const BuildContext& context)
{
    const Replay& replay = context.replay();
    const DeviceFigures figures = deviceFigures(replay);
    std::vector<Figure> out;
    if (!context.hasHistory()) {
        out.push_back(bytesFigure("live", "Live at the end", figures.live.atEnd, "the file has no events"));
        if (figures.segments) {
            out.push_back(bytesFigure("reserved", "Reserved at the end",
                static_cast<std::int64_t>(figures.segments->reserved),
                counted(figures.segments->count, "segment", "segments")));
            out.push_back(bytesFigure("inactive", "Free inside segments",
                static_cast<std::int64_t>(figures.segments->inactive),
                "largest hole "
                    + formatBytes(static_cast<std::int64_t>(figures.segments->largestInactiveBlock))));
        } else {
            out.push_back(unknownFigure("reserved", "Reserved", "the file lists no segments"));
        }
        out.push_back(cardFigure(context, figures));
        return out;
    }
    const StateIndex peak = stateOf(figures.live.peakMoment);
    out.push_back(bytesFigure("peak-live", "Peak live", figures.live.peak,
        momentText(replay, peak) + (replay.reachesStart() ? "" : ", of the recorded window")));
    if (figures.reserved) {
        out.push_back(bytesFigure("peak-reserved", "Peak reserved", figures.reserved->peak,
            momentText(replay, stateOf(figures.reserved->peakMoment))));
        const std::int64_t reserved = replay.segments.reserved().at(peak);
        const std::int64_t gap = reserved - figures.live.peak;
        out.push_back(bytesFigure("gap", "Gap at the peak", gap,
            reserved > 0
                ? formatPercent(static_cast<double>(gap) / static_cast<double>(reserved)) + " of reserved"
                : std::string()));
    } else {
        out.push_back(unknownFigure("peak-reserved", "Peak reserved", "the file lists no segments"));
        out.push_back(unknownFigure("gap", "Gap at the peak", "reserved is unknown"));
    }
    out.push_back(cardFigure(context, figures));
    return out;
}

void addFigures(const BuildContext& context, Section& section)
{
    if (!context.hasDevice()) {
        if (context.file().categories)
            addCategories(*context.file().categories, section);
        return;
    }
    section.blocks.emplace_back(Figures{keyFigures(context)});
    if (context.verdict.oom != nullptr)
        addOom(*context.verdict.oom, context.replay().device().firstEventInFile, section);
    const Predating& before = context.replay().timeline.predating();
    if (const std::uint64_t count = before.freedInTrace + before.aliveAtEnd;
        count > 0 && context.hasHistory())
        section.blocks.emplace_back(Paragraph{"Of the live memory, "
            + formatBytes(static_cast<std::int64_t>(before.freedInTraceBytes + before.aliveAtEndBytes))
            + " in " + formatUnsigned(count) + (count == 1 ? " allocation is" : " allocations are")
            + " older than the recording."});
}

} // namespace tidemark::report
