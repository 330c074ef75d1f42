// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "widgets/session.hpp"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::test {

/// Ids of all allocations of a call site ("softmax@nn_utils.py:6").
inline std::vector<AllocationId> ofSite(const Session& session, std::string_view site)
{
    const auto grouping = session.grouping(GroupBy::Site);
    std::vector<AllocationId> ids;
    for (std::uint32_t i = 0; i < session.replay()->timeline.allocations().count(); ++i)
        if (grouping->name(grouping->of(AllocationId{i})) == site)
            ids.push_back(AllocationId{i});
    return ids;
}

inline Finding findingOf(std::vector<AllocationId> allocations, Severity severity = Severity::Warning)
{
    Finding finding;
    finding.rule = "recompute-candidate";
    finding.playbook = "S3";
    finding.severity = severity;
    finding.title = "Core attention keeps 384 MiB until backward";
    finding.count = allocations.size();
    finding.allocations = std::move(allocations);
    return finding;
}

/// Phases by hand: spans of (phase, first, last, recorded).
inline std::shared_ptr<Phases> phasesOf(StateIndex states, std::vector<PhaseSpan> spans)
{
    auto phases = std::make_shared<Phases>();
    phases->ofEvent.assign(states - 1, Phase::Unknown);
    for (const PhaseSpan& span : spans)
        for (StateIndex s = span.first; s <= span.last; ++s)
            phases->ofEvent[s - 1] = span.phase;
    phases->spans = std::move(spans);
    return phases;
}

/// A diagnosis of the open file whose first device has these phases (may be null) and findings.
inline std::shared_ptr<Diagnosis> diagnosisOf(
    const Session& session, std::shared_ptr<const Phases> phases, std::vector<Finding> findings)
{
    auto diagnosis = std::make_shared<Diagnosis>();
    diagnosis->rank = session.rank();
    diagnosis->devices.resize(session.rank()->devices.size());
    if (!diagnosis->devices.empty())
        diagnosis->devices[0].phases = std::move(phases);
    diagnosis->findings = std::move(findings);
    return diagnosis;
}

} // namespace tidemark::test
