// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/report/builder.hpp"

#include <algorithm>

namespace tidemark::report {

namespace {

using compare::Comparison;

constexpr std::size_t mostSettings = 60;

Table sidesTable(const Comparison& c)
{
    Table table;
    table.id = "sides";
    table.sortable = false;
    table.columns = {{"Run"}, {"File", Unit::None, true}, {"Peak live", Unit::Bytes},
        {"Where", Unit::None, true}, {"Peak reserved", Unit::Bytes}};
    for (const auto& [letter, side, state] :
        {std::tuple("A", &c.a, c.peakStateA), std::tuple("B", &c.b, c.peakStateB)}) {
        std::string where = momentText(side->replay(), state);
        if (side->phases) {
            if (const Phase phase = side->phases->phaseAt(state); phase != Phase::Unknown)
                where += std::string(", ") + phaseName(phase);
        }
        const auto reserved = side->reservedPeak();
        table.rows.push_back({textCell(Text().strong(letter)), textCell(side->name()),
            bytesCell(side->peak()), textCell(where), reserved ? bytesCell(*reserved) : unknownCell()});
    }
    table.foot.push_back({textCell(Text().strong("B − A")), textCell(""), deltaCell(c.peak.delta()),
        textCell(""), c.reservedPeak ? deltaCell(c.reservedPeak->delta()) : unknownCell()});
    return table;
}

Table rowsTable(const Comparison& c, std::size_t top)
{
    Table table;
    table.id = "differences";
    table.columns = {{"Call site", Unit::None, true}, {"A", Unit::Bytes}, {"B", Unit::Bytes},
        {"B − A", Unit::BytesDelta}, {"Allocations A", Unit::Count}, {"Allocations B", Unit::Count},
        {"Status"}};
    if (c.matching->by != GroupBy::Site)
        table.columns.front().name = compare::groupingName(c.matching->by);
    compare::Row rest;
    std::size_t more = 0;
    for (const compare::Row& row : c.table.rows) {
        if (table.rows.size() < top) {
            table.rows.push_back({textCell(Text().code(c.matching->groups[row.group].name)),
                bytesCell(row.bytesA), bytesCell(row.bytesB), deltaCell(row.delta),
                countCell(row.allocationsA), countCell(row.allocationsB), textCell(statusName(row.status))});
            continue;
        }
        ++more;
        rest.bytesA += row.bytesA;
        rest.bytesB += row.bytesB;
        rest.delta += row.delta;
        rest.allocationsA += row.allocationsA;
        rest.allocationsB += row.allocationsB;
    }
    const auto foot = [&](Text name, const compare::Row& row) {
        table.foot.push_back({textCell(std::move(name)), bytesCell(row.bytesA), bytesCell(row.bytesB),
            deltaCell(row.delta), countCell(row.allocationsA), countCell(row.allocationsB), textCell("")});
    };
    if (more > 0)
        foot(std::to_string(more) + " more", rest);
    compare::Row all;
    all.bytesA = c.table.bytesA;
    all.bytesB = c.table.bytesB;
    all.delta = c.table.delta;
    all.allocationsA = c.table.allocationsA;
    all.allocationsB = c.table.allocationsB;
    foot(Text().strong("= the curves"), all);
    table.note = c.table.matchedText();
    return table;
}

void addChanges(const BuildContext& context, const Comparison& c, Section& section)
{
    if (!c.settings.differing.empty()) {
        Table table;
        table.id = "settings";
        table.caption = "Settings that differ";
        table.columns = {{"Setting", Unit::None, true}, {"A", Unit::None, true}, {"B", Unit::None, true}};
        const auto value = [&](const std::string& key, const std::optional<std::string>& text) {
            return text ? textCell(Text().code(context.redactor.setting(key, *text)))
                        : textCell("not stated");
        };
        for (std::size_t i = 0; i < std::min(c.settings.differing.size(), mostSettings); ++i) {
            const compare::SettingChange& each = c.settings.differing[i];
            table.rows.push_back(
                {textCell(Text().code(each.key)), value(each.key, each.a), value(each.key, each.b)});
        }
        if (c.settings.differing.size() > mostSettings)
            table.note = std::to_string(c.settings.differing.size() - mostSettings) + " more differ.";
        section.blocks.emplace_back(std::move(table));
    }
    if (!c.findings.empty()) {
        Table table;
        table.id = "findings";
        table.caption = "Findings of both";
        table.columns = {{"Finding", Unit::None, true}, {"Rule"}, {"A", Unit::Bytes}, {"B", Unit::Bytes},
            {"B − A", Unit::BytesDelta}, {"Status"}};
        for (const compare::FindingChange& each : c.findings)
            table.rows.push_back({textCell(each.title), textCell(Text().code(each.rule)),
                each.inA ? bytesCell(each.bytesA) : unknownCell(),
                each.inB ? bytesCell(each.bytesB) : unknownCell(), deltaCell(each.delta()),
                textCell(!each.inA          ? "new"
                        : !each.inB         ? "gone"
                        : each.delta() == 0 ? "same"
                                            : "both")});
        section.blocks.emplace_back(std::move(table));
    }
}

} // namespace

void addComparison(const BuildContext& context, Section& section)
{
    if (!context.input.comparison)
        return;
    const Comparison& c = *context.input.comparison;
    section.subtitle = "A " + c.a.name() + ", B " + c.b.name() + "; everything is B − A";
    for (const compare::Verdict& verdict : c.verdicts) {
        Text text;
        text.strong(verdict.title).add(verdict.title.ends_with('.') ? " " : ". ").add(verdict.detail);
        section.blocks.emplace_back(Note{verdict.better ? Note::Tone::Good
                : verdict.severity == Severity::Warning ? Note::Tone::Warning
                                                        : Note::Tone::Info,
            std::move(text)});
        if (verdict.parts.empty())
            continue;
        Table parts;
        parts.id = std::string("explained-") + compare::verdictName(verdict.kind);
        parts.sortable = false;
        parts.columns = {{"Because of", Unit::None, true}, {"Bytes", Unit::BytesDelta}};
        for (const compare::VerdictPart& part : verdict.parts)
            parts.rows.push_back({textCell(part.text), deltaCell(part.bytes)});
        parts.foot.push_back({textCell(Text().strong("=")), deltaCell(verdict.sum)});
        section.blocks.emplace_back(std::move(parts));
    }
    addPictures(context, PictureKind::Comparison,
        "A peaks at " + formatBytes(c.peak.a) + ", B at " + formatBytes(c.peak.b) + ", a difference of "
            + deltaCell(c.peak.delta()).text.plain() + ".",
        section);
    section.blocks.emplace_back(sidesTable(c));
    section.blocks.emplace_back(rowsTable(c, context.wish.topRows));
    addChanges(context, c, section);
    List notes;
    notes.items.emplace_back("Aligned: " + c.alignment.explanation());
    for (const std::string& note : c.notes)
        notes.items.emplace_back(note);
    section.blocks.emplace_back(std::move(notes));
}

/// What is said of all ranks together: the headline, then each finding with what it rests on and what helps.
static void addRunFindings(const BuildContext& context, Section& section)
{
    const RunTexts& run = context.input.run;
    // What the report is about anyway is told with its own findings.
    const auto toldBelow = [&](const Finding& finding) {
        const auto& parts = context.wish.parts;
        const auto& own = context.input.diagnosis;
        return own && std::find(parts.begin(), parts.end(), Part::Findings) != parts.end()
            && std::any_of(own->findings.begin(), own->findings.end(), [&](const Finding& each) {
                   return !each.explanation.empty()
                       && finding.explanation.find(each.explanation) != std::string::npos;
               });
    };
    constexpr std::size_t mostTold = 8;
    if (run.findings.empty() || run.findings.front().title != run.headline)
        section.blocks.emplace_back(Paragraph{Text().strong(run.headline)});
    for (std::size_t i = 0; i < std::min(run.findings.size(), mostTold); ++i) {
        const Finding& finding = run.findings[i];
        const bool again = toldBelow(finding);
        section.blocks.emplace_back(
            Paragraph{Text()
                          .strong(finding.title)
                          .add(again ? std::string(" Told under Findings, with what helps.")
                                     : " " + finding.explanation)});
        if (!again)
            addFixes(finding.fixes, section);
    }
    List notes;
    if (run.findings.size() > mostTold)
        notes.items.emplace_back(
            formatUnsigned(run.findings.size() - mostTold) + " more findings over the ranks.");
    for (const std::string& note : run.notes)
        notes.items.emplace_back(note);
    if (!notes.items.empty())
        section.blocks.emplace_back(std::move(notes));
}

void addRanks(const BuildContext& context, Section& section)
{
    const std::vector<RankRow>& ranks = context.input.ranks;
    if (ranks.size() < 2)
        return;
    Table table;
    table.id = "ranks";
    table.columns = {{"File", Unit::None, true}, {"Rank", Unit::Count}, {"Peak live", Unit::Bytes},
        {"Peak reserved", Unit::Bytes}, {"Verdict", Unit::None, true}};
    std::int64_t highest = 0;
    std::size_t failed = 0;
    for (const RankRow& row : ranks) {
        const bool known = row.problem.empty();
        highest = std::max(highest, row.peak);
        failed += row.failed;
        table.rows.push_back({textCell(row.name),
            row.rank ? countCell(static_cast<std::uint64_t>(std::max(*row.rank, 0))) : unknownCell(),
            known ? bytesCell(row.peak) : unknownCell(),
            known && row.reservedPeak ? bytesCell(*row.reservedPeak) : unknownCell(),
            textCell(known ? Text(row.verdict) : Text().muted(row.problem))});
    }
    section.subtitle = formatUnsigned(ranks.size()) + " files, highest peak " + formatBytes(highest)
        + (failed > 0 ? ", " + std::to_string(failed) + " ran out of memory" : std::string());
    if (!context.input.run.headline.empty())
        addRunFindings(context, section);
    addPictures(context, PictureKind::Ranks, section.subtitle + ".", section);
    section.blocks.emplace_back(std::move(table));
}

} // namespace tidemark::report
