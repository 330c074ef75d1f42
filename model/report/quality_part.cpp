// SPDX-License-Identifier: GPL-3.0-or-later
// What the file cannot tell, and how far the report can be trusted.
#include "model/core/units.hpp"
#include "model/report/builder.hpp"

#include <algorithm>
#include <set>

namespace tidemark::report {

namespace {

std::vector<QualityNote> notesOf(const BuildContext& context)
{
    return context.hasDevice() ? context.input.rank->quality(context.input.device)
                               : context.input.rank->quality();
}

} // namespace

void addQuality(const BuildContext& context, Section& section)
{
    const std::vector<QualityNote> notes = notesOf(context);
    if (notes.empty()) {
        section.blocks.emplace_back(Note{Note::Tone::Good,
            "The recording is whole: from its first event on nothing is missing that the figures need."});
        return;
    }
    Table table;
    table.id = "quality";
    table.sortable = false;
    table.columns = {{"What"}, {"What it means", Unit::None, true}, {"Times", Unit::Count}};
    for (const QualityNote& note : notes) {
        Text text(note.sentence);
        for (std::size_t i = 0; i < std::min<std::size_t>(note.examples.size(), 4); ++i)
            text.muted(i == 0 ? " e.g. " : ", ").code(note.examples[i]);
        table.rows.push_back(
            {textCell(Text().strong(qualityTitle(note.id)).muted(std::string(" ") + qualityName(note.id))),
                textCell(std::move(text)), countCell(note.count)});
    }
    section.blocks.emplace_back(std::move(table));
}

void addTrust(const BuildContext& context, Section& section)
{
    std::string text;
    if (context.hasDevice()) {
        const Replay& replay = context.replay();
        if (!context.hasHistory())
            text = "The file has no history: only the state when it was written is known.";
        else if (replay.reachesStart())
            text = "The recording reaches back to the first allocation, so the peak is that of the run up to "
                   "its end.";
        else
            text = "The recording does not reach back to the start of the run: the peak is that of the "
                   "recorded "
                   "window, and what is older has no stack.";
        text += replay.segments.reservedKnown()
            ? " Reserved memory is counted from the segments at the end of the file, backwards."
            : " The file lists no segments, so reserved memory is unknown.";
        if (!cardSize(context.input))
            text += " How large the card is the file does not tell.";
        else if (context.input.deviceTotal)
            text += " The size of the card was given by hand.";
    } else {
        text = "The file lists no allocations.";
    }
    if (context.file().source.partial)
        text += " Only a part of the file could be read.";
    section.blocks.emplace_back(Paragraph{text});
    section.blocks.emplace_back(
        Paragraph{Text("Live memory is what the program asked for; every table of live memory adds up to the "
                       "curve. Sizes are "
                       "binary: 1 GiB is 1,073,741,824 B.")
                      .muted(context.wish.redaction.any()
                              ? " Folders, names and texts that say whose run this is are replaced."
                              : "")});
    List grades;
    for (const Grade grade : {Grade::A, Grade::B, Grade::C, Grade::D})
        grades.items.emplace_back("Grade " + gradeText(grade) + ".");
    section.blocks.emplace_back(std::move(grades));
}

void addGlossary(const BuildContext&, Section& section)
{
    constexpr std::pair<const char*, const char*> words[]{
        {"Live", "what the program asked for and has not given back, in requested bytes"},
        {"Allocated", "the same in block sizes, after rounding: what torch.cuda.memory_allocated counts"},
        {"Reserved", "what PyTorch's allocator holds of the card, in segments"},
        {"Gap", "reserved minus live: rounding, free memory inside segments, and caching"},
        {"Peak", "the first moment at which live memory is highest"},
        {"Pinned", "free memory inside a segment that also holds a live block, so it cannot be given back"},
        {"Releasable", "free memory that emptying the cache gives back"},
        {"Fragmentation", "enough memory is free, but no piece is large enough"},
        {"Older than the recording", "allocated before the first event: counted, but without a stack"},
        {"Call site", "the innermost frame of a stack that is not of a framework, function@file:line"},
        {"Slack", "what would be left (or missing) if all free memory were in one piece"},
    };
    KeyValues list;
    list.id = "glossary";
    for (const auto& [word, meaning] : words)
        list.pairs.emplace_back(word, textCell(meaning));
    section.blocks.emplace_back(std::move(list));
}

} // namespace tidemark::report
