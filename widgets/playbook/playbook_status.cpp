// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/playbook/playbook_status.hpp"

#include "model/findings/rule.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>

namespace tidemark {

namespace {

bool has(const std::vector<std::string>& list, std::string_view text)
{
    return std::find(list.begin(), list.end(), text) != list.end();
}

bool isNameLetter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/// Calls `use` with every id of a list such as "D1, S1/R7" until it says true.
template <typename Use>
bool anyName(std::string_view list, Use use)
{
    for (std::size_t i = 0; i < list.size();) {
        std::size_t end = i;
        while (end < list.size() && isNameLetter(list[end]))
            ++end;
        if (end > i && use(list.substr(i, end - i)))
            return true;
        i = end + 1;
    }
    return false;
}

/// The finding is about an entry of the same kind (a step, a diagnosis row …), by name.
bool namesKindOf(std::string_view playbook, std::string_view id)
{
    return !id.empty()
        && anyName(playbook, [id](std::string_view name) { return name.front() == id.front(); });
}

bool labelFits(const PageRow& row, const Finding& finding)
{
    return row.label.empty()
        || std::none_of(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence& e) {
               const auto* text = std::get_if<std::string>(&e.value);
               return e.key == "label" && text && *text != row.label;
           });
}

bool isFound(const PageRow& row, const Finding& finding)
{
    const std::string id = row.id.toStdString();
    if (namesEntry(finding.playbook, id))
        return true;
    return has(row.rules, finding.rule) && labelFits(row, finding) && !namesKindOf(finding.playbook, id);
}

/// A rule that looks for what the entry describes.
bool serves(std::string_view rule, const PageRow& row)
{
    if (has(row.rules, rule))
        return true;
    const std::string id = row.id.toStdString();
    const auto all = rules();
    return std::any_of(all.begin(), all.end(),
        [&](const Rule& known) { return known.id == rule && namesEntry(known.playbook, id); });
}

/// What a check that could not be decided lacks.
QString needsOf(const ConfigCheck& check)
{
    QStringList missing;
    for (const auto& [key, value] : check.keys)
        if (value == "unknown")
            missing << shownText(key);
    return missing.isEmpty() ? shownText(check.text) : missing.join(QStringLiteral(", "));
}

Severity severityOf(CheckLevel level)
{
    return level == CheckLevel::Error  ? Severity::Critical
        : level == CheckLevel::Warning ? Severity::Warning
                                       : Severity::Info;
}

void need(RowStatus& status, const QString& what)
{
    if (!status.needs.contains(what))
        status.needs << what;
}

void fire(RowStatus& status, Severity severity)
{
    if (status.kind != RowStatus::Kind::Found || severity < status.severity)
        status.severity = severity;
    status.kind = RowStatus::Kind::Found;
}

/// True when at least one of the entry's checks passed.
bool readChecks(const PageRow& row, const Diagnosis& diagnosis, RowStatus& status)
{
    // Without settings and without a word about them, none was tried.
    if (diagnosis.checks.empty() && diagnosis.config.empty())
        return false;
    bool passed = false;
    for (const std::string& id : row.checks) {
        const auto check = std::find_if(diagnosis.checks.begin(), diagnosis.checks.end(),
            [&](const ConfigCheck& c) { return c.id == id; });
        if (check == diagnosis.checks.end()) {
            passed = true;
        } else if (check->level == CheckLevel::Unknown) {
            need(status, needsOf(*check));
        } else {
            status.checks.push_back(static_cast<std::size_t>(check - diagnosis.checks.begin()));
            fire(status, severityOf(check->level));
        }
    }
    return passed;
}

} // namespace

bool namesEntry(std::string_view playbook, std::string_view id)
{
    return !id.empty() && anyName(playbook, [id](std::string_view name) { return name == id; });
}

RowStatus rowStatus(const PageRow& row, const Diagnosis* diagnosis)
{
    RowStatus status;
    if (!diagnosis)
        return status;
    bool ran = readChecks(row, *diagnosis, status);
    for (std::size_t i = 0; i < diagnosis->findings.size(); ++i) {
        const Finding& finding = diagnosis->findings[i];
        ran = ran || serves(finding.rule, row);
        if (!isFound(row, finding))
            continue;
        fire(status, finding.severity);
        status.findings.push_back(i);
    }
    for (const Undecided& open : diagnosis->undecided)
        if (serves(open.rule, row))
            need(status, shownText(open.needs));
    for (const std::string& rule : diagnosis->clear)
        ran = ran || serves(rule, row);
    if (status.kind == RowStatus::Kind::Found)
        return status;
    if (!status.needs.isEmpty())
        status.kind = RowStatus::Kind::CannotDecide;
    else if (ran)
        status.kind = RowStatus::Kind::Clear;
    return status;
}

} // namespace tidemark
