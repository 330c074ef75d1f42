// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/verdict_line.hpp"

#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace tidemark {

namespace {

/// What rules lack, and which of them.
struct Lack {
    std::string what;
    std::set<std::string> rules;
};

/// The need without the advice that follows it.
std::string shortNeed(std::string_view needs)
{
    // A sentence: the reason why an out-of-memory event has no verdict.
    if (!needs.empty() && std::isupper(static_cast<unsigned char>(needs.front())) != 0)
        return "a verdict on the failed request";
    for (const std::string_view end : {": ", "; ", " (", ", "})
        needs = needs.substr(0, needs.find(end));
    return std::string(needs);
}

std::vector<Lack> lacksOf(const Diagnosis& diagnosis)
{
    std::vector<Lack> out;
    for (const Undecided& each : diagnosis.undecided) {
        std::string what = shortNeed(each.needs);
        auto lack = std::find_if(out.begin(), out.end(), [&](const Lack& l) { return l.what == what; });
        if (lack == out.end())
            lack = out.insert(out.end(), {std::move(what), {}});
        lack->rules.insert(each.rule);
    }
    std::stable_sort(
        out.begin(), out.end(), [](const Lack& a, const Lack& b) { return a.rules.size() > b.rules.size(); });
    return out;
}

std::size_t undecidedRules(const Diagnosis& diagnosis)
{
    std::set<std::string_view> rules;
    for (const Undecided& each : diagnosis.undecided)
        rules.insert(each.rule);
    return rules.size();
}

/// "could not decide for lack of a history of events (25), call stacks (3) and other things"
std::string undecidedText(const Diagnosis& diagnosis)
{
    constexpr std::size_t most = 2;
    const std::vector<Lack> lacks = lacksOf(diagnosis);
    std::string text = "could not decide for lack of ";
    for (std::size_t i = 0; i < std::min(most, lacks.size()); ++i) {
        text += (i > 0 ? ", " : "") + lacks[i].what;
        if (lacks.size() > 1)
            text += " (" + std::to_string(lacks[i].rules.size()) + ")";
    }
    return text + (lacks.size() > most ? " and other things" : "");
}

/// Most of the rules had nothing to go by, so what the others say is not the whole picture.
bool mostlyUndecided(const Diagnosis& diagnosis)
{
    std::set<std::string_view> found;
    for (const Finding& finding : diagnosis.findings)
        found.insert(finding.rule);
    return undecidedRules(diagnosis) > found.size() + diagnosis.clear.size();
}

bool hasEvents(const Diagnosis& diagnosis)
{
    return diagnosis.rank && std::ranges::any_of(diagnosis.rank->devices, [](const auto& device) {
        return device->device().events.count() > 1;
    });
}

std::string firstLine(const Diagnosis& diagnosis)
{
    if (diagnosis.findings.empty())
        return nothingFoundLine(diagnosis);
    std::string text = diagnosis.findings.front().title;
    if (mostlyUndecided(diagnosis))
        text += " " + countText(undecidedRules(diagnosis), "rule", "rules") + " " + undecidedText(diagnosis)
            + ".";
    return text;
}

} // namespace

std::string nothingFoundLine(const Diagnosis& diagnosis)
{
    std::string text = "Nothing found by " + countText(diagnosis.clear.size(), "rule", "rules");
    if (const std::size_t undecided = undecidedRules(diagnosis))
        text += "; " + std::to_string(undecided) + " " + undecidedText(diagnosis);
    return text + ".";
}

std::string verdictLine(const Diagnosis& diagnosis)
{
    for (const Finding& finding : diagnosis.findings)
        if (finding.severity == Severity::Critical)
            return finding.title;
    const std::string first = firstLine(diagnosis);
    bool failed = false;
    for (const DeviceDiagnosis& device : diagnosis.devices)
        for (const OomAutopsy& oom : device.ooms) {
            if (oom.verdict == Verdict::Unknown)
                return "A request failed, and why cannot be told. " + first;
            failed = true;
        }
    return failed || diagnosis.findings.empty() || !hasEvents(diagnosis) ? first : "No failure. " + first;
}

} // namespace tidemark
