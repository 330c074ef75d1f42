// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/report.hpp"

#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/report/builder.hpp"

#include <array>

namespace tidemark::report {

namespace {

struct PartRow {
    const char* name;
    const char* title;
    void (*add)(const BuildContext&, Section&);
};
/// To add a part: one line here, one in Part.
constexpr std::array<PartRow, partCount> partRows{
    PartRow{"figures", "Figures", addFigures},
    PartRow{"comparison", "Comparison", addComparison},
    PartRow{"timeline", "Live memory over time", addTimeline},
    PartRow{"annotations", "Notes", addAnnotations},
    PartRow{"segments", "Where the free memory is", addSegments},
    PartRow{"verdict", "What to do", addVerdict},
    PartRow{"ranks", "Ranks", addRanks},
    PartRow{"findings", "Findings", addFindings},
    PartRow{"quality", "What the file cannot tell", addQuality},
    PartRow{"live", "Live at the peak", addLive},
    PartRow{"tree", "Who asked for it", addTree},
    PartRow{"settings", "Settings", addSettings},
    PartRow{"reproduce", "How to get this again", addReproduce},
    PartRow{"trust", "How far to trust this", addTrust},
    PartRow{"glossary", "Words", addGlossary},
};

/// What the author wrote: a paragraph a blank line apart.
std::vector<Text> paragraphs(const std::string& text)
{
    std::vector<Text> out;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find("\n\n", from), text.size());
        std::string one = text.substr(from, end - from);
        for (char& c : one)
            if (c == '\n' || c == '\r')
                c = ' ';
        if (one.find_first_not_of(' ') != std::string::npos)
            out.emplace_back(std::move(one));
        from = end + 2;
    }
    return out;
}

std::string headText(const BuildContext& context)
{
    std::string text = context.file().source.name;
    if (!context.hasDevice())
        return text;
    const Replay& replay = context.replay();
    const std::int64_t events = replay.states() - 1;
    text += " · " + deviceName(replay.device().ordinal) + " · " + formatCount(events)
        + (events == 1 ? " event" : " events");
    if (const auto time = replay.originUs(); time && *time >= 0)
        text += " · recorded " + formatUtc(*time).substr(0, 19) + " UTC";
    return text;
}

std::string footText(const BuildContext& context)
{
    std::string text = context.input.program + " · " + context.file().source.name + ", "
        + formatExactBytes(static_cast<std::int64_t>(context.file().source.fileBytes));
    if (context.wish.redaction.any())
        text += " · redacted";
    if (context.wish.includeTime && context.input.nowUs)
        text += " · written " + formatUtc(*context.input.nowUs).substr(0, 19) + " UTC";
    return text;
}

void addData(const BuildContext& context, Document& document)
{
    const ReportInput& input = context.input;
    if (input.diagnosis)
        document.data.emplace_back("diagnosis", input.diagnosis->json(input.rank->snapshot->source.name));
    if (input.comparison)
        document.data.emplace_back("comparison",
            compare::compareJson(*input.comparison, std::max<std::size_t>(context.wish.topRows, 1)));
}

} // namespace

const char* partName(Part part)
{
    return partRows[static_cast<std::size_t>(part)].name;
}

std::optional<Part> partFromName(std::string_view name)
{
    for (std::size_t i = 0; i < partRows.size(); ++i)
        if (name == partRows[i].name)
            return static_cast<Part>(i);
    return std::nullopt;
}

std::vector<Part> allParts()
{
    std::vector<Part> all;
    for (std::size_t i = 0; i < partCount; ++i)
        all.push_back(static_cast<Part>(i));
    return all;
}

RedactionInput redactionInput(const ReportInput& input)
{
    RedactionInput out;
    out.ranks.push_back(input.rank);
    out.fileNames = input.inputNames;
    for (const RankRow& row : input.ranks)
        out.fileNames.push_back(row.name);
    out.sites = input.run.sites;
    if (input.diagnosis)
        out.configs.push_back(&input.diagnosis->config);
    if (input.comparison)
        for (const compare::Side* side : {&input.comparison->a, &input.comparison->b}) {
            out.ranks.push_back(side->rank);
            out.paths.push_back(side->label);
            if (side->diagnosis)
                out.configs.push_back(&side->diagnosis->config);
        }
    return out;
}

std::shared_ptr<const Document> buildReport(
    const ReportInput& input, const ReportWish& wish, Pictures* pictures, const Job& job)
{
    const Redactor redactor = Redactor::build(redactionInput(input), wish.redaction);
    BuildContext context{input, wish, redactor, pictures, job, {}};
    if (input.diagnosis && context.hasDevice())
        context.verdict = verdictOf(*input.diagnosis, input.device);
    else
        context.verdict.title = "This file lists no allocations";
    auto document = std::make_shared<Document>();
    // Of two runs their difference is what the report is about.
    const compare::Verdict* const difference = input.comparison && !input.comparison->verdicts.empty()
        ? &input.comparison->verdicts.front()
        : nullptr;
    document->title = !wish.title.empty() ? wish.title
        : difference                      ? difference->title
                                          : context.verdict.title;
    document->head = headText(context);
    if (difference && !wish.title.empty())
        document->summary.push_back(Text().strong(difference->title));
    if (difference && !difference->detail.empty())
        document->summary.emplace_back(difference->detail);
    if (difference || !wish.title.empty())
        document->summary.push_back(Text().strong((difference ? "A: " : "") + context.verdict.title));
    if (!context.verdict.why.empty())
        document->summary.emplace_back(context.verdict.why);
    for (Text& each : paragraphs(wish.summary))
        document->summary.push_back(std::move(each));
    std::array<bool, partCount> done{};
    for (const Part part : wish.parts) {
        const auto at = static_cast<std::size_t>(part);
        if (job.stopped())
            return nullptr;
        if (std::exchange(done[at], true))
            continue;
        Section section{partRows[at].name, partRows[at].title, {}, {}};
        partRows[at].add(context, section);
        if (!section.blocks.empty())
            document->sections.push_back(std::move(section));
    }
    document->foot = footText(context);
    addData(context, *document);
    document->redacted = wish.redaction.any();
    if (job.stopped())
        return nullptr;
    finishDocument(*document, redactor);
    return document;
}

} // namespace tidemark::report
