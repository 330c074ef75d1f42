// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/estimates.hpp"

#include "model/core/counted.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace tidemark {

namespace {

/// State, workspaces and leftovers are the ground a peak stands on, not what makes it.
bool comesAndGoes(Role role)
{
    switch (role) {
    case Role::Parameter:
    case Role::OptimizerState:
    case Role::Workspace:
    case Role::Predating:
        return false;
    default:
        return true;
    }
}

const char* phaseText(Phase phase)
{
    switch (phase) {
    case Phase::Setup:
        return "set-up";
    case Phase::Forward:
        return "forward pass";
    case Phase::Backward:
        return "backward pass";
    case Phase::Recompute:
        return "recomputation inside backward";
    case Phase::Optimizer:
        return "optimizer step";
    case Phase::Side:
        return "side work between steps";
    case Phase::Unknown:
        break;
    }
    return "";
}

std::string moduleOf(const RuleInput& input, AllocationId id)
{
    const std::vector<std::uint16_t>& modules = input.labels.moduleOf;
    const std::uint16_t module = index(id) < modules.size() ? modules[index(id)] : Labels::unmatched;
    if (module < input.labels.modules.size())
        return input.labels.modules[module];
    const SiteId site = input.sites.of(input.replay.timeline.allocations().stack[index(id)]);
    return valid(site) ? input.sites.name(site) : std::string();
}

} // namespace

SetPeak highestSum(const Replay& replay, std::span<const AllocationId> set)
{
    const AllocationColumns& all = replay.timeline.allocations();
    std::vector<std::pair<StateIndex, std::int64_t>> deltas;
    deltas.reserve(set.size() * 2);
    for (const AllocationId id : set) {
        const auto size = static_cast<std::int64_t>(all.size[index(id)]);
        deltas.emplace_back(all.firstState[index(id)], size);
        deltas.emplace_back(all.endState[index(id)], -size);
    }
    std::sort(deltas.begin(), deltas.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    SetPeak out;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < deltas.size(); ++i) {
        sum += deltas[i].second;
        const bool lastOfState = i + 1 == deltas.size() || deltas[i + 1].first != deltas[i].first;
        if (lastOfState && sum > static_cast<std::int64_t>(out.bytes)) {
            out.bytes = static_cast<std::uint64_t>(sum);
            out.state = deltas[i].first;
        }
    }
    if (out.bytes > 0)
        out.live = liveOf(replay, set, out.state);
    return out;
}

std::uint64_t sumOf(const Replay& replay, std::span<const AllocationId> set)
{
    std::uint64_t sum = 0;
    for (const AllocationId id : set)
        sum += replay.timeline.allocations().size[index(id)];
    return sum;
}

std::vector<AllocationId> liveOf(const Replay& replay, std::span<const AllocationId> set, StateIndex state)
{
    std::vector<AllocationId> out;
    for (const AllocationId id : set)
        if (replay.timeline.isLive(id, state))
            out.push_back(id);
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<AllocationId> likesOf(const Replay& replay, std::span<const AllocationId> set)
{
    const AllocationColumns& all = replay.timeline.allocations();
    std::unordered_set<StackAndSize, StackAndSizeHash> kinds;
    for (const AllocationId id : set)
        kinds.insert({all.stack[index(id)], all.size[index(id)]});
    std::vector<AllocationId> out;
    for (std::size_t i = 0; i < all.count(); ++i)
        if (kinds.contains({all.stack[i], all.size[i]}))
            out.push_back(static_cast<AllocationId>(i));
    return out;
}

std::optional<std::pair<EventIndex, EventIndex>> eventsOf(
    const Replay& replay, std::span<const AllocationId> set)
{
    const AllocationColumns& all = replay.timeline.allocations();
    const StateIndex states = replay.states();
    if (set.empty() || states < 2)
        return std::nullopt;
    StateIndex first = states - 1;
    StateIndex last = 1;
    for (const AllocationId id : set) {
        first = std::min(first, std::max<StateIndex>(all.firstState[index(id)], 1));
        last = std::max(last, std::min<StateIndex>(all.endState[index(id)], states - 1));
    }
    return std::pair{static_cast<EventIndex>(first - 1), static_cast<EventIndex>(last - 1)};
}

std::string phaseWord(const RuleInput& input, StateIndex state)
{
    return phaseName(input.phases.phaseAt(state));
}

std::string ownerAt(
    const RuleInput& input, std::span<const std::shared_ptr<const Edits>> edits, StateIndex state)
{
    std::vector<AllocationId> gone;
    for (const auto& each : edits) {
        for (const Edits::Cut& cut : each->cuts())
            if (cut.end <= state)
                gone.push_back(cut.id);
        for (const Edits::Pause& pause : each->pauses())
            if (pause.first <= state && state < pause.end)
                gone.push_back(pause.id);
    }
    std::sort(gone.begin(), gone.end());
    std::unordered_map<std::uint32_t, std::uint64_t> shrunk;
    for (const auto& each : edits)
        for (const Edits::Shrink& shrink : each->shrinks()) {
            const auto [entry, added]
                = shrunk.try_emplace(static_cast<std::uint32_t>(index(shrink.id)), shrink.bytes);
            entry->second = std::min(entry->second, shrink.bytes);
        }
    std::map<std::string, std::uint64_t> bytes;
    for (const AllocationId id : input.replay.timeline.liveAt(state))
        if (comesAndGoes(input.labels.role(id)) && !std::binary_search(gone.begin(), gone.end(), id)) {
            const auto less = shrunk.find(static_cast<std::uint32_t>(index(id)));
            const std::uint64_t size = input.replay.timeline.allocations().size[index(id)];
            bytes[moduleOf(input, id)] += less == shrunk.end() ? size : std::min(size, less->second);
        }
    for (const auto& each : edits)
        for (const Edits::Addition& addition : each->additions())
            if (addition.first <= state && state < addition.end && addition.bytes > 0)
                bytes[addition.owner] += static_cast<std::uint64_t>(addition.bytes);
    const auto most = std::max_element(
        bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string owner = phaseText(input.phases.phaseAt(state));
    if (most == bytes.end() || most->first.empty())
        return owner;
    return owner.empty() ? most->first : owner + ", mostly " + most->first;
}

std::optional<EditedCurve> estimate(Fix& fix, const RuleInput& input, const Job& job)
{
    if (!fix.edits || fix.edits->empty())
        return std::nullopt;
    const std::shared_ptr<const Edits> given[] = {fix.edits};
    std::optional<EditedCurve> edited = applyEdits(input.replay, given, job);
    if (!edited)
        return std::nullopt;
    fix.removedAtPeak = edited->removedAtOldPeak;
    fix.newPeak = edited->newPeak;
    fix.newPeakState = edited->newPeakState;
    fix.newPeakOwner = ownerAt(input, given, edited->newPeakState);
    return edited;
}

Phase bornIn(const RuleInput& input, AllocationId id)
{
    return input.phases.phaseAt(input.replay.timeline.allocations().firstState[index(id)]);
}

std::int64_t peakBytes(const RuleInput& input)
{
    return input.replay.timeline.requested().total().max;
}

double shareOf(std::uint64_t bytes, std::int64_t whole)
{
    return whole > 0 ? static_cast<double>(bytes) / static_cast<double>(whole) : 0;
}

std::string largestSiteOf(const RuleInput& input, std::span<const AllocationId> set)
{
    return largestSite(input.replay, input.sites, set).name;
}

std::string severalSitesText(const LargestSite& site)
{
    if (site.others == 0)
        return {};
    return " They come from " + site.name + " and " + counted(site.others, "other site", "other sites") + ".";
}

Finding findingOf(const RuleInput& input, const Rule& rule, Severity severity, std::vector<AllocationId> set,
    StateIndex lookAt)
{
    Finding finding = makeFinding(input, rule.id, severity);
    finding.playbook = rule.playbook;
    finding.bytes = sumOf(input.replay, set);
    finding.count = set.size();
    finding.eventRange = eventsOf(input.replay, set);
    finding.allocations = std::move(set);
    finding.lookAt = lookAt;
    return finding;
}

} // namespace tidemark
