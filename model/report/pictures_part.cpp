// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"
#include "model/core/units.hpp"
#include "model/lens/facts.hpp"
#include "model/report/anchors.hpp"
#include "model/report/builder.hpp"

namespace tidemark::report {

void addPictures(const BuildContext& context, PictureKind kind, const std::string& figures, Section& section)
{
    if (context.pictures == nullptr || !context.hasDevice())
        return;
    for (Picture& picture :
        context.pictures->draw({kind, context.input, context.moment(), context.redactor})) {
        if (picture.data.empty() || picture.width <= 0 || picture.height <= 0)
            continue;
        picture.alt = figures + (picture.alt.empty() ? "" : " ") + picture.alt;
        section.blocks.emplace_back(std::move(picture));
    }
}

void addTimeline(const BuildContext& context, Section& section)
{
    if (!context.hasHistory())
        return;
    std::string text = "Live memory of " + deviceName(context.replay().device().ordinal) + " over "
        + counted(context.replay().states() - 1, "event", "events") + ".";
    for (const Figure& figure : keyFigures(context))
        text
            += ' ' + figure.name + ' ' + figure.value + (figure.note.empty() ? "" : ", " + figure.note) + '.';
    addPictures(context, PictureKind::Timeline, text, section);
}

void addSegments(const BuildContext& context, Section& section)
{
    if (!context.hasDevice() || !context.replay().segments.reservedKnown())
        return;
    const StateIndex at = context.hasHistory() ? context.moment() : context.replay().states() - 1;
    const SegmentState state = context.replay().segments.stateAt(at, context.replay().timeline);
    const FreeSums sums = freeSums(state, std::nullopt, std::nullopt);
    section.subtitle = momentText(context.replay(), at);
    std::string text = counted(sums.segments, "segment holds", "segments hold") + " "
        + formatBytes(static_cast<std::int64_t>(sums.reserved)) + ", " + momentText(context.replay(), at)
        + ".";
    Table table;
    table.id = "free";
    table.sortable = false;
    table.columns = {{"Free memory", Unit::None, true}, {"Bytes", Unit::Bytes}, {"Segments", Unit::Count}};
    const auto row = [&](const char* what, std::uint64_t bytes, std::uint64_t segments) {
        table.rows.push_back({textCell(what), bytesCell(bytes), countCell(segments)});
        text += ' ' + std::string(what) + ": " + formatBytes(static_cast<std::int64_t>(bytes)) + '.';
    };
    row("Pinned: the segment also holds live blocks", sums.pinned, sums.pinnedSegments);
    row("Releasable: emptying the cache gives it back", sums.releasable, sums.releasableSegments);
    row("Held by private pools", sums.held, sums.heldSegments);
    table.foot.push_back({textCell(Text().strong("= free inside segments")),
        bytesCell(sums.pinned + sums.releasable + sums.held), unknownCell()});
    table.note = "Largest hole " + formatBytes(static_cast<std::int64_t>(sums.largestHole)) + "; "
        + formatBytes(static_cast<std::int64_t>(sums.waiting)) + " wait for another stream and are not free.";
    addPictures(context, PictureKind::Segments, text, section);
    section.blocks.emplace_back(std::move(table));
}

} // namespace tidemark::report
