// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/config_checks.hpp"

#include "model/playbook/check_view.hpp"

#include <algorithm>

namespace tidemark {

const char* checkLevelName(CheckLevel level)
{
    switch (level) {
    case CheckLevel::Error:
        return "error";
    case CheckLevel::Warning:
        return "warning";
    case CheckLevel::Advice:
        return "advice";
    case CheckLevel::Unknown:
        break;
    }
    return "unknown";
}

std::vector<int> CheckFacts::failedRanks() const
{
    std::vector<int> ranks = otherFailedRanks;
    if (outOfMemory && rank)
        ranks.push_back(*rank);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

void CheckFacts::merge(const CheckFacts& other)
{
    mixedSegments = mixedSegments || other.mixedSegments;
    if (expandableInSnapshot && other.expandableInSnapshot
        && *expandableInSnapshot != *other.expandableInSnapshot)
        mixedSegments = true;
    if (!expandableInSnapshot)
        expandableInSnapshot = other.expandableInSnapshot;
    if (other.events)
        events = std::max(events.value_or(0), *other.events);
    if (other.ringCapacity)
        ringCapacity = std::max(ringCapacity.value_or(0), *other.ringCapacity);
    files += other.files;
    const std::vector<int> failed = other.failedRanks();
    otherFailedRanks.insert(otherFailedRanks.end(), failed.begin(), failed.end());
    loraGatheredInput = loraGatheredInput || other.loraGatheredInput;
    hasSteps = hasSteps || other.hasSteps;
}

CheckFacts checkFacts(const Snapshot& snapshot)
{
    CheckFacts facts;
    bool expandable = false;
    bool native = false;
    for (const DeviceTrace& device : snapshot.devices) {
        if (device.ordinal < 0)
            continue;
        if (device.events.count() > facts.events.value_or(0)) {
            facts.events = device.events.count();
            facts.ringCapacity = device.ringCapacity;
        }
        facts.outOfMemory = facts.outOfMemory || !device.ooms.empty();
        // Pools with an allocator of their own (NCCL user buffers) are never expandable.
        for (const Segment& segment : device.segments) {
            expandable = expandable || segment.expandable;
            native = native || (!segment.expandable && index(segment.pool) == 0);
        }
    }
    facts.mixedSegments = expandable && native;
    for (const Setting& setting : snapshot.settings)
        if (const auto* on = std::get_if<bool>(&setting.value); on && setting.key == "expandable_segments")
            facts.expandableInSnapshot = *on;
    if (!facts.expandableInSnapshot && (expandable || native))
        facts.expandableInSnapshot = expandable;
    for (const Annotation& annotation : snapshot.annotations)
        facts.hasSteps
            = facts.hasSteps || snapshot.strings.view(annotation.name).starts_with("ProfilerStep#");
    return facts;
}

namespace {

std::string undecidedText(const CheckView& view, const CheckRow& row)
{
    std::string unknown;
    for (const char* key : row.keys)
        if (view.say(key) == "unknown")
            unknown += (unknown.empty() ? "" : ", ") + std::string(key);
    return unknown.empty() ? "Cannot be decided from what is given."
                           : "Cannot be decided without " + unknown + ".";
}

} // namespace

std::vector<ConfigCheck> checkConfig(const RunConfig& config, const CheckFacts& facts)
{
    const CheckView view(config, facts);
    std::vector<ConfigCheck> checks;
    for (const auto& table : {allocatorChecks(), offloadChecks(), recomputeChecks(), parallelChecks(),
             graphChecks(), adapterChecks()})
        for (const CheckRow& row : table) {
            const Tri fires = row.fires(view);
            if (fires == Tri(false))
                continue;
            ConfigCheck check{row.id, fires ? row.level : CheckLevel::Unknown, {}, {}, row.source};
            check.text = fires ? row.text(view) : undecidedText(view, row);
            for (const char* key : row.keys)
                check.keys.emplace(key, view.say(key));
            checks.push_back(std::move(check));
        }
    std::sort(checks.begin(), checks.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return checks;
}

} // namespace tidemark
