// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/findings/evidence_units.hpp"
#include "model/report/builder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tidemark::report {

namespace {

/// Findings told in full; the table lists as many as there is room for.
constexpr std::size_t mostTold = 12;
constexpr std::size_t mostListed = 200;
constexpr std::size_t mostNumbers = 12;

/// Six digits, as the window shows them.
std::string numberText(double value)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(
        text.data(), text.data() + text.size(), std::abs(value), std::chars_format::general, 6);
    return (value < 0 ? "−" : "") + std::string(text.data(), end.ptr);
}

std::string unitText(std::int64_t value, EvidenceUnit unit)
{
    switch (unit) {
    case EvidenceUnit::Bytes:
        return formatBytes(value);
    case EvidenceUnit::Microseconds:
        return formatDuration(value);
    case EvidenceUnit::Percent:
        return formatCount(value) + "\u00a0%";
    default:
        return formatCount(value);
    }
}

Unit unitOf(EvidenceUnit unit)
{
    switch (unit) {
    case EvidenceUnit::Bytes:
        return Unit::Bytes;
    case EvidenceUnit::Share:
        return Unit::Percent;
    case EvidenceUnit::Event:
        return Unit::Event;
    default:
        return Unit::Count;
    }
}

struct EvidenceText {
    std::string_view key;
    EvidenceUnit unit;

    Cell operator()(std::monostate) const { return unknownCell(); }
    Cell operator()(bool v) const { return textCell(evidenceAnswer(key, v)); }
    Cell operator()(std::int64_t v) const { return {unitText(v, unit), v, 0}; }
    Cell operator()(double v) const
    {
        return {unit == EvidenceUnit::Share
                ? formatPercent(v)
                : numberText(v) + (unit == EvidenceUnit::Percent ? "\u00a0%" : ""),
            v, 0};
    }
    Cell operator()(const std::string& v) const { return textCell(v); }
    Cell operator()(const std::vector<std::int64_t>& list) const
    {
        return joined(list, [this](std::int64_t v) { return unitText(v, unit); });
    }
    Cell operator()(const std::vector<std::string>& list) const
    {
        return joined(list, [](const std::string& v) { return v; });
    }

private:
    template <typename List, typename Say>
    static Cell joined(const List& list, const Say& say)
    {
        std::string text;
        for (std::size_t i = 0; i < std::min(list.size(), mostNumbers); ++i)
            text += (text.empty() ? "" : ", ") + say(list[i]);
        if (list.size() > mostNumbers)
            text += " and " + std::to_string(list.size() - mostNumbers) + " more";
        return textCell(text);
    }
};

std::string titleOf(const Finding& finding)
{
    return finding.title.ends_with('.') ? finding.title.substr(0, finding.title.size() - 1) : finding.title;
}

std::string whereText(const Finding& finding)
{
    std::string text = finding.rank ? "rank " + std::to_string(*finding.rank) + ", " : std::string();
    text += deviceName(finding.device);
    if (!finding.eventRange)
        return text + ", end of the file";
    const auto [first, last] = finding.eventsInFile();
    text += first == last ? ", event " : ", events ";
    text += formatCount(first);
    if (first != last)
        text += " to " + formatCount(last);
    return text;
}

Table listOf(const std::vector<Finding>& findings)
{
    Table table;
    table.id = "findings";
    table.columns = {{"Severity"}, {"What", Unit::None, true}, {"Where", Unit::None, true},
        {"Bytes", Unit::Bytes}, {"Rule"}, {"Playbook"}, {"Grade"}};
    for (std::size_t i = 0; i < std::min(findings.size(), mostListed); ++i) {
        const Finding& each = findings[i];
        table.rows.push_back({textCell(severityName(each.severity)), textCell(Text().strong(titleOf(each))),
            textCell(whereText(each)), bytesCell(each.bytes), textCell(Text().code(each.rule)),
            each.playbook.empty() ? unknownCell() : textCell(each.playbook),
            textCell(gradeLetter(each.grade))});
    }
    if (findings.size() > mostListed)
        table.note
            = counted(findings.size() - mostListed, "more finding is", "more findings are") + " left out.";
    return table;
}

void tell(const Finding& finding, bool fixesToldAbove, Section& section)
{
    section.blocks.emplace_back(Heading{2, titleOf(finding)});
    Text text(finding.explanation);
    if (!finding.site.empty())
        text.add(text.empty() ? "Call site " : " Call site ").code(finding.site).add(".");
    text.muted(text.empty() ? "" : " ")
        .muted(finding.rule + (finding.playbook.empty() ? "" : ", " + finding.playbook) + " · "
            + whereText(finding) + " · " + formatExactBytes(static_cast<std::int64_t>(finding.bytes))
            + " · grade " + gradeText(finding.grade));
    section.blocks.emplace_back(Paragraph{std::move(text)});
    KeyValues evidence;
    evidence.id = finding.rule;
    for (const Evidence& each : finding.evidence) {
        const EvidenceUnit unit = evidenceUnit(each.key).value_or(EvidenceUnit::Count);
        evidence.pairs.emplace_back(
            evidenceName(each.key), std::visit(EvidenceText{each.key, unit}, each.value));
        evidence.units.push_back(evidence.pairs.back().second.exact.index() == 0 ? Unit::None : unitOf(unit));
    }
    if (!evidence.pairs.empty())
        section.blocks.emplace_back(std::move(evidence));
    if (!fixesToldAbove)
        addFixes(finding.fixes, section);
}

} // namespace

void addFindings(const BuildContext& context, Section& section)
{
    const auto& diagnosis = context.input.diagnosis;
    if (!diagnosis)
        return;
    const std::size_t ran = diagnosis->clear.size() + diagnosis->undecided.size();
    section.subtitle = std::to_string(diagnosis->findings.size()) + " found, "
        + std::to_string(diagnosis->clear.size()) + " of " + counted(ran, "other rule", "other rules")
        + " ran and found nothing, " + std::to_string(diagnosis->undecided.size()) + " could not decide";
    if (diagnosis->findings.empty())
        section.blocks.emplace_back(Paragraph{"Nothing was found."});
    else
        section.blocks.emplace_back(listOf(diagnosis->findings));
    const bool above = std::find(context.wish.parts.begin(), context.wish.parts.end(), Part::Verdict)
        != context.wish.parts.end();
    for (std::size_t i = 0; i < std::min(diagnosis->findings.size(), mostTold); ++i) {
        const Finding& each = diagnosis->findings[i];
        tell(each, above && &each == context.verdict.finding, section);
    }
    if (diagnosis->findings.size() > mostTold)
        section.blocks.emplace_back(
            Paragraph{Text().muted(counted(diagnosis->findings.size() - mostTold, "more is", "more are")
                + " in the table above only.")});
    if (!diagnosis->undecided.empty()) {
        section.blocks.emplace_back(Heading{2, "Could not be decided"});
        List list;
        for (const Undecided& each : diagnosis->undecided)
            list.items.push_back(Text().code(each.rule).add(": " + each.needs));
        section.blocks.emplace_back(std::move(list));
    }
}

} // namespace tidemark::report
