// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/changes.hpp"

#include "model/playbook/identities.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tidemark::compare {

namespace {

constexpr std::string_view allocatorPrefix = "allocator.";
constexpr std::string_view expandableKey = "allocator.expandable_segments";
constexpr std::string_view fromSegmentsKey = "allocator.segments_expandable";

/// What a finding is about, so that the other side's can be found: rule and common site.
class Subjects {
public:
    Subjects(const Grouping& grouping, const std::vector<std::uint32_t>& common)
    {
        for (std::uint32_t group = 0; group < grouping.count(); ++group)
            m_common.emplace(grouping.name(group), common[group]);
    }

    std::string of(const Finding& finding) const
    {
        const auto group = m_common.find(finding.site);
        return finding.rule + '\n'
            + (group == m_common.end() ? finding.site : '#' + std::to_string(group->second));
    }

private:
    std::unordered_map<std::string, std::uint32_t> m_common;
};

void take(FindingChange& change, const Finding& finding, std::size_t place, Which side)
{
    change.rule = finding.rule;
    change.title = finding.title;
    change.severity = finding.severity;
    (side == Which::A ? change.inA : change.inB) = place;
    (side == Which::A ? change.bytesA : change.bytesB) = finding.bytes;
    (side == Which::A ? change.countA : change.countB) = finding.count;
}

/// By key. Whether expandable segments were on stands under one key, wherever that is known from.
std::map<std::string, std::string> valuesOf(const RunConfig& config)
{
    std::map<std::string, std::string> values;
    for (const auto& [key, value] : config.values())
        if (!isIdentityKey(key) && key != expandableKey && key != fromSegmentsKey)
            values.emplace(key, configText(value));
    if (const auto expandable = config.expandableSegments())
        values.emplace(expandableKey, *expandable ? "true" : "false");
    return values;
}

bool isAllocator(std::string_view key)
{
    return key.starts_with(allocatorPrefix);
}

/// Whether there is a value of a kind at all: allocator settings of the file besides what its segments show,
/// or those of the run.
bool statesAny(const std::map<std::string, std::string>& values, bool allocator)
{
    return std::any_of(values.begin(), values.end(), [allocator](const auto& each) {
        return isAllocator(each.first) == allocator && each.first != expandableKey;
    });
}

std::string lackNote(const std::string& who, bool allocator)
{
    const bool neither = who == "Neither side";
    if (allocator)
        return who + (neither ? " states" : " does not state")
            + " allocator settings, so only what the segments show of them is compared.";
    return who + (neither ? " has a" : " has no")
        + " run configuration beside it, so the settings of the run are not compared.";
}

} // namespace

std::vector<FindingChange> findingChanges(const Side& a, const Side& b, const Matching& sites)
{
    std::vector<FindingChange> changes;
    if (!a.diagnosis || !b.diagnosis)
        return changes;
    const Subjects subjectsA(*sites.groupingA, sites.commonOfA);
    const Subjects subjectsB(*sites.groupingB, sites.commonOfB);
    std::map<std::string, std::vector<std::size_t>> open; // places in `changes` that wait for B's finding
    for (std::size_t i = 0; i < a.diagnosis->findings.size(); ++i) {
        const Finding& finding = a.diagnosis->findings[i];
        if (finding.deviceIndex != a.device)
            continue;
        open[subjectsA.of(finding)].push_back(changes.size());
        take(changes.emplace_back(), finding, i, Which::A);
    }
    for (std::size_t i = 0; i < b.diagnosis->findings.size(); ++i) {
        const Finding& finding = b.diagnosis->findings[i];
        if (finding.deviceIndex != b.device)
            continue;
        std::vector<std::size_t>& partners = open[subjectsB.of(finding)];
        if (partners.empty()) {
            take(changes.emplace_back(), finding, i, Which::B);
            continue;
        }
        take(changes[partners.front()], finding, i, Which::B);
        partners.erase(partners.begin());
    }
    const auto order = [](const FindingChange& c) { return !c.inA ? 0 : !c.inB ? 1 : 2; };
    const auto size = [](const FindingChange& c) {
        return c.bytesA > c.bytesB ? c.bytesA - c.bytesB : c.bytesB - c.bytesA;
    };
    std::stable_sort(changes.begin(), changes.end(), [&](const FindingChange& x, const FindingChange& y) {
        return order(x) != order(y) ? order(x) < order(y) : size(x) > size(y);
    });
    return changes;
}

SettingChanges settingChanges(const Side& a, const Side& b)
{
    SettingChanges out;
    const std::map<std::string, std::string> ofA = valuesOf(a.config());
    const std::map<std::string, std::string> ofB = valuesOf(b.config());
    std::map<std::string, SettingChange> all;
    for (const auto& [key, value] : ofA)
        all[key] = {key, value, std::nullopt};
    for (const auto& [key, value] : ofB) {
        all[key].key = key;
        all[key].b = value;
    }
    for (const bool allocator : {true, false}) {
        const bool lackA = !statesAny(ofA, allocator);
        const bool lackB = !statesAny(ofB, allocator);
        // What one side says nothing of at all is not a difference of every single setting.
        const bool comparable = !lackA && !lackB;
        for (const auto& [key, change] : all)
            if (isAllocator(key) == allocator
                && (comparable || key == expandableKey || (change.a && change.b)))
                (change.differs() ? out.differing : out.equal).push_back(change);
        if (lackA || lackB)
            out.notes.push_back(lackNote(lackA && lackB ? "Neither side" : lackA ? "A" : "B", allocator));
    }
    return out;
}

} // namespace tidemark::compare
