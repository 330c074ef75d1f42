// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"
#include "model/core/units.hpp"
#include "model/findings/metrics.hpp"
#include "model/report/builder.hpp"
#include "model/report/failure_text.hpp"

#include <algorithm>

namespace tidemark::report {

namespace {

std::string magnitude(std::int64_t bytes)
{
    return formatBytes(bytes < 0 ? -bytes : bytes);
}

/// The event a report is about: the last one, decided ones first. A program that catches failures goes on,
/// so what ended it comes last.
const OomAutopsy* mainOom(const DeviceDiagnosis& device)
{
    for (auto oom = device.ooms.rbegin(); oom != device.ooms.rend(); ++oom)
        if (oom->verdict != Verdict::Unknown)
            return &*oom;
    return device.ooms.empty() ? nullptr : &device.ooms.back();
}

const Finding* findingOf(const Diagnosis& diagnosis, std::size_t device, const OomAutopsy& oom)
{
    constexpr const char* rules[]{
        "fragmentation", "capacity", "wrong-pool", "capture-blocked", "outside-allocator"};
    const auto about = [&](const Finding& each) {
        return each.deviceIndex == device && each.eventRange && each.eventRange->second == oom.event
            && std::find(std::begin(rules), std::end(rules), each.rule) != std::end(rules);
    };
    const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(), about);
    return found == diagnosis.findings.end() ? nullptr : &*found;
}

std::string sentence(std::string text)
{
    if (!text.empty() && !text.ends_with('.') && !text.ends_with('!') && !text.ends_with('?'))
        text += '.';
    return text;
}

std::string joined(const std::string& a, const std::string& b)
{
    return a.empty() || b.empty() ? a + b : sentence(a) + ' ' + sentence(b);
}

} // namespace

std::string failureText(
    Verdict verdict, std::optional<std::int64_t> slack, bool thinMargin, std::optional<OomScope> scope)
{
    const std::string thin = thinMargin ? ", by a thin margin" : "";
    switch (verdict) {
    case Verdict::CaptureBlocked:
        return scope == OomScope::UserPool ? " in a memory pool's scope, where cached memory is not flushed"
            : !scope || *scope == OomScope::Inferred
            ? " while cached memory is not flushed: graph capture, or a pool's scope"
            : " during graph capture, when cached memory is not flushed";
    case Verdict::Capacity:
        return " by size" + thin + ": even packed, " + magnitude(slack.value_or(0)) + " short";
    case Verdict::WrongPool:
        return ": the free memory is in another stream or pool";
    case Verdict::Fragmentation:
        return " by fragmentation, not by size" + thin;
    case Verdict::OutsideAllocator:
        return ": something else holds the card";
    case Verdict::Unknown:
        break;
    }
    return ": cannot tell why";
}

VerdictText verdictOf(const Diagnosis& diagnosis, std::size_t device)
{
    VerdictText verdict;
    if (device < diagnosis.devices.size())
        verdict.oom = mainOom(diagnosis.devices[device]);
    if (verdict.oom != nullptr) {
        const OomAutopsy& oom = *verdict.oom;
        verdict.finding = findingOf(diagnosis, device, oom);
        std::optional<int> rank = verdict.finding ? verdict.finding->rank : std::nullopt;
        for (const Finding& each : diagnosis.findings)
            rank = rank ? rank : each.rank;
        verdict.title
            = (rank ? "Rank " + std::to_string(*rank) + " ran out of memory" : std::string("Out of memory"))
            + failureText(oom.verdict, oom.slack, oom.thinMargin, oom.scope);
        verdict.failed = true;
        if (verdict.finding != nullptr)
            verdict.why = joined(verdict.finding->title, verdict.finding->explanation);
        else
            verdict.why = joined("The request of "
                    + (oom.request ? formatBytes(static_cast<std::int64_t>(*oom.request))
                                   : std::string("unknown size"))
                    + " at event "
                    + formatCount(static_cast<std::int64_t>(
                        index(oom.event) + diagnosis.rank->devices[device]->device().firstEventInFile))
                    + " failed",
                oom.cannotTell);
        return verdict;
    }
    for (const Finding& each : diagnosis.findings)
        if (each.deviceIndex == device && each.severity != Severity::Info) {
            verdict.finding = &each;
            break;
        }
    if (verdict.finding == nullptr)
        for (const Finding& each : diagnosis.findings)
            if (each.deviceIndex == device) {
                verdict.finding = &each;
                break;
            }
    if (verdict.finding != nullptr) {
        verdict.title = verdict.finding->title;
        while (verdict.title.ends_with('.'))
            verdict.title.pop_back();
        verdict.why = sentence(verdict.finding->explanation);
        return verdict;
    }
    const std::size_t undecided = diagnosis.undecided.size();
    verdict.title = "Nothing found by " + counted(diagnosis.clear.size(), "rule", "rules") + "; "
        + formatUnsigned(undecided) + " could not be decided";
    return verdict;
}

RankRow rankRow(const Diagnosis& diagnosis)
{
    RankRow row;
    row.name = diagnosis.rank->snapshot->source.name;
    row.rank = rankFromName(row.name);
    if (diagnosis.rank->devices.empty()) {
        row.problem = "lists no allocations";
        return row;
    }
    const std::size_t device = diagnosis.rank->mainDevice();
    const Replay& replay = *diagnosis.rank->devices[device];
    row.device = replay.device().ordinal;
    row.peak = replay.timeline.requested().total().max;
    if (replay.segments.reservedKnown())
        row.reservedPeak = replay.segments.reserved().total().max;
    const VerdictText verdict = verdictOf(diagnosis, device);
    row.verdict = verdict.title;
    row.failed = verdict.failed;
    return row;
}

std::optional<std::uint64_t> cardSize(const ReportInput& input)
{
    if (input.deviceTotal)
        return input.deviceTotal;
    std::optional<std::uint64_t> usable;
    if (input.diagnosis && input.device < input.diagnosis->devices.size())
        for (const OomAutopsy& oom : input.diagnosis->devices[input.device].ooms)
            if (const auto each = oom.usable())
                usable = std::max(usable.value_or(0), *each);
    if (usable || !input.diagnosis)
        return usable;
    const auto stated = input.diagnosis->config.number("hardware.device_total_bytes");
    return stated && *stated > 0 ? std::optional(static_cast<std::uint64_t>(*stated)) : std::nullopt;
}

std::string gradeLetter(Grade grade)
{
    return std::string(1, static_cast<char>(grade));
}

std::string gradeText(Grade grade)
{
    switch (grade) {
    case Grade::A:
        return "A exact from this file";
    case Grade::B:
        return "B structural, the assumption is named";
    case Grade::C:
        return "C measured elsewhere";
    case Grade::D:
        break;
    }
    return "D rule of thumb";
}

void addFixes(const std::vector<Fix>& fixes, Section& section)
{
    if (fixes.empty())
        return;
    const auto any = [&](const auto& has) { return std::any_of(fixes.begin(), fixes.end(), has); };
    // Columns that would hold nothing are left out.
    const bool removed = any([](const Fix& fix) { return fix.removedAtPeak.has_value(); });
    const bool peak = any([](const Fix& fix) { return fix.newPeak.has_value(); });
    const bool owner = any([](const Fix& fix) { return !fix.newPeakOwner.empty(); });
    Table table;
    table.id = "fixes";
    table.sortable = false;
    table.columns = {{"Fix", Unit::None, true}};
    if (removed)
        table.columns.push_back({"Removed at the peak", Unit::Bytes});
    if (peak)
        table.columns.push_back({"New peak", Unit::Bytes});
    if (owner)
        table.columns.push_back({"New peak is made by", Unit::None, true});
    table.columns.push_back({"Cost", Unit::None, true});
    table.columns.push_back({"Grade"});
    for (const Fix& fix : fixes) {
        Text what(fix.text);
        if (!fix.blockedBy.empty())
            what.muted(" Not here: " + sentence(fix.blockedBy));
        Text cost(fix.cost.empty() ? "–" : fix.cost);
        if (fix.costGrade)
            cost.muted(" (" + gradeLetter(*fix.costGrade) + ")");
        std::vector<Cell> row{textCell(std::move(what))};
        if (removed)
            row.push_back(fix.removedAtPeak ? bytesCell(*fix.removedAtPeak) : unknownCell());
        if (peak)
            row.push_back(fix.newPeak ? bytesCell(*fix.newPeak) : unknownCell());
        if (owner)
            row.push_back(fix.newPeakOwner.empty() ? unknownCell() : textCell(fix.newPeakOwner));
        row.push_back(textCell(std::move(cost)));
        row.push_back(textCell(gradeLetter(fix.grade)));
        table.rows.push_back(std::move(row));
    }
    section.blocks.emplace_back(std::move(table));
}

void addVerdict(const BuildContext& context, Section& section)
{
    if (context.verdict.finding != nullptr)
        addFixes(context.verdict.finding->fixes, section);
}

} // namespace tidemark::report
