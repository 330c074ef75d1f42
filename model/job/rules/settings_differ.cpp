// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/job/run_rule.hpp"

#include <algorithm>
#include <map>

namespace tidemark {

namespace {

constexpr std::string_view prefix = "allocator.";
constexpr std::size_t mostSettings = 16;

/// Settings that change what the allocator does with memory.
bool mattersForMemory(std::string_view key)
{
    for (const std::string_view each : {"expandable", "max_split_size", "garbage_collection", "roundup",
             "max_non_split", "pinned", "backend"})
        if (key.find(each) != std::string_view::npos)
            return true;
    return false;
}

void look(const RunRuleInput& input, const std::string& key, RunRuleOutput& output)
{
    std::map<std::string, std::vector<std::size_t>> byValue;
    for (std::size_t i = 0; i < input.ranks.size(); ++i)
        if (const auto found = input.ranks[i].settings.find(key); found != input.ranks[i].settings.end())
            byValue[configText(found->second)].push_back(i);
    if (byValue.size() < 2)
        return;
    // Most ranks are right; of equally many the value of the lowest rank.
    const auto usual = std::ranges::max_element(byValue, [](const auto& a, const auto& b) {
        return a.second.size() != b.second.size() ? a.second.size() < b.second.size()
                                                  : a.second.front() > b.second.front();
    });
    std::vector<std::size_t> deviating;
    std::vector<std::string> values;
    std::string others;
    for (const auto& [value, ranks] : byValue) {
        values.push_back(value);
        if (value == usual->first)
            continue;
        deviating.insert(deviating.end(), ranks.begin(), ranks.end());
        others += (others.empty() ? "" : ", ") + displayText(value, 40) + " on "
            + namesOfRanks(input.ranks, ranks);
    }
    std::ranges::sort(deviating);
    const std::string name = key.substr(prefix.size());
    Finding finding = runFinding(input.ranks[deviating.front()], "settings-differ",
        mattersForMemory(name) ? Severity::Warning : Severity::Info, 0);
    finding.count = deviating.size();
    addEvidence(finding, "key", EvidenceValue(name));
    addEvidence(finding, "values", EvidenceValue(values));
    std::vector<std::int64_t> numbers;
    for (const std::size_t i : deviating)
        if (input.ranks[i].rank)
            numbers.push_back(*input.ranks[i].rank);
    addEvidence(finding, "deviating_ranks", EvidenceValue(numbers));
    finding.title = "The allocator's " + displayText(name, 60) + " is " + others + ", and "
        + displayText(usual->first, 40) + " on "
        + countText(usual->second.size(), "other rank", "other ranks") + ".";
    finding.explanation
        = "Ranks of a job should run with the same settings: with others the same requests need "
          "other amounts of memory, and comparisons between the ranks mislead.";
    Fix fix;
    fix.id = "same-settings";
    fix.text = "Set the same environment on all nodes, and check what starts "
        + namesOfRanks(input.ranks, deviating) + ".";
    fix.grade = Grade::A;
    finding.fixes.push_back(std::move(fix));
    output.findings.push_back(std::move(finding));
}

void run(const RunRuleInput& input, RunRuleOutput& output)
{
    std::map<std::string, bool> keys;
    for (const RankSummary& rank : input.ranks)
        for (auto each = rank.settings.lower_bound(prefix);
             each != rank.settings.end() && each->first.starts_with(prefix); ++each)
            keys[each->first] = true;
    for (const auto& [key, used] : keys)
        if (output.findings.size() < mostSettings)
            look(input, key, output);
}

} // namespace

extern const RunRule settingsDifferRunRule;
const RunRule settingsDifferRunRule{
    "settings-differ", "Allocator settings that are not the same on all ranks.", run};

} // namespace tidemark
