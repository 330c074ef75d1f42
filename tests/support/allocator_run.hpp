// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "model/findings/rule.hpp"
#include "tests/support/trace_maker.hpp"

#include <QtGlobal>

#include <algorithm>

/// Traces of an allocator written by hand, and what single rules say of them.
namespace tidemark::test {

inline constexpr std::int64_t mib = 1LL << 20;
inline constexpr std::int64_t gib = 1LL << 30;
inline constexpr std::uint64_t base = 0x7f0000000000;

inline std::uint64_t at(std::int64_t mebibytes)
{
    return base + static_cast<std::uint64_t>(mebibytes * mib);
}

/// Phases, settings and card of a test's run, with everything the rules look at.
struct Run {
    std::shared_ptr<const Replay> replay;
    Phases phases;
    RunConfig config;
    std::optional<std::uint64_t> deviceTotal;
    std::vector<Role> roles; ///< by AllocationId

    explicit Run(TraceMaker& maker)
        : replay(Replay::build(maker.finish(), 0, {}).value())
    {
        phases.ofEvent.assign(replay->device().events.count(), Phase::Unknown);
        roles.assign(replay->timeline.allocations().count(), Role::Unknown);
    }
    void step(StateIndex first, StateIndex last) { phases.steps.push_back({"step", first, last, true}); }

    RuleOutput of(const char* id) const
    {
        const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
        Labels labels;
        labels.roleOf = roles;
        std::vector<OomAutopsy> ooms;
        for (const OomEvent& oom : replay->device().ooms)
            ooms.push_back(autopsy(*replay, oom, deviceTotal));
        const StateIndex peak = replay->timeline.requested().total().maxState;
        const auto live = replay->timeline.liveAt(peak);
        const StackFacts facts(*replay->snapshot);
        const RuleInput input{
            *replay, sites, sites, {}, phases, labels, facts, config, ooms, deviceTotal, 3, peak, live};
        for (const Rule& rule : rules())
            if (std::string(rule.id) == id) {
                RuleOutput output;
                rule.run(input, output, {});
                return output;
            }
        qFatal("there is no rule %s", id);
    }
    /// The only finding of a rule.
    Finding one(const char* id) const
    {
        const RuleOutput output = of(id);
        if (output.findings.size() != 1)
            qFatal("%s: %zu findings", id, output.findings.size());
        return output.findings.front();
    }
    std::size_t count(const char* id) const { return of(id).findings.size(); }
};

inline const Fix* fixOf(const Finding& finding, const char* id)
{
    const auto found = std::find_if(
        finding.fixes.begin(), finding.fixes.end(), [&](const Fix& fix) { return fix.id == id; });
    return found == finding.fixes.end() ? nullptr : &*found;
}

inline std::vector<std::string> idsOf(const Finding& finding)
{
    std::vector<std::string> ids;
    for (const Fix& fix : finding.fixes)
        ids.push_back(fix.id);
    return ids;
}

inline std::int64_t number(const Finding& finding, const char* key)
{
    for (const Evidence& each : finding.evidence)
        if (each.key == key)
            return std::get<std::int64_t>(each.value);
    qFatal("%s lacks %s", finding.rule.c_str(), key);
}

/// A segment with one block of `live` MiB at its start.
inline void segment(TraceMaker& maker, std::int64_t address, std::int64_t size, std::int64_t live,
    PoolId pool = PoolId{0}, std::int64_t stream = 0, StackId stack = StackId::none)
{
    maker.segment(at(address), size * mib, pool, stream);
    if (live > 0)
        maker.block(BlockState::Allocated, live * mib, live * mib, stack);
    if (live < size)
        maker.block(BlockState::Inactive, (size - live) * mib, 0);
}

inline void outOfMemory(
    TraceMaker& maker, std::int64_t request, std::int64_t free, StackId stack = StackId::none)
{
    maker.event(Action::Oom, 0, request * mib, stack).deviceFree = free * mib;
}

/// 3 × 75 MiB between blocks of 25 MiB, and a request of 90 MiB.
inline Run pinnedRun(bool expandable = false)
{
    TraceMaker maker;
    const StackId stack = maker.stack({"append@/app/cache.py:57"});
    for (int i = 0; i < 3; ++i)
        segment(maker, 200 * i, 100, 25, PoolId{0}, 0, stack);
    if (expandable)
        maker.builder().addSetting("expandable_segments", true);
    outOfMemory(maker, 90, 10);
    return Run(maker);
}

} // namespace tidemark::test
