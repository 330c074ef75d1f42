// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"

namespace tidemark {

namespace {

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    const Replay& replay = input.replay;
    const std::optional<StateIndex> forward = input.phases.firstForward;
    // Without the run's start in the trace, what stands before the first recorded forward is no set-up.
    if (!forward)
        return;
    if (!replay.reachesStart()) {
        output.undecided.push_back(
            {"setup-peak", "the beginning of the run: record before the model is built"});
        return;
    }
    if (input.peak >= *forward || input.peak == 0)
        return;
    const Series& live = replay.timeline.requested();
    const std::int64_t peak = live.at(input.peak);
    const std::int64_t later = live.extremes(*forward, replay.states() - 1).max;
    Finding finding = makeFinding(input, "setup-peak", Severity::Warning);
    finding.bytes = static_cast<std::uint64_t>(peak);
    finding.eventRange = std::pair(EventIndex{0}, EventIndex{*forward == 0 ? 0 : *forward - 1});
    finding.allocations.assign(input.liveAtPeak.begin(), input.liveAtPeak.end());
    finding.count = finding.allocations.size();
    const LargestSite site = largestSite(replay, input.sites, input.liveAtPeak);
    finding.site = site.name;
    addEvidence(finding, "peak_of_steps", EvidenceValue(later));
    addEvidence(finding, "above_steps", EvidenceValue(peak - later));
    addEvidence(finding, "first_forward_event", EvidenceValue(static_cast<std::int64_t>(momentOf(*forward))));
    finding.title = "The peak of " + sizeText(peak)
        + " lies in the set-up, before the first forward pass; the steps need " + sizeText(later) + ".";
    finding.explanation
        = "Weights often exist twice for a moment: as the module's own and as a view of the gradient "
          "and parameter buffers. ";
    finding.explanation += site.name.empty() ? "" : "The largest share is from " + site.name + ".";
    finding.fixes.push_back(makeFix("build-in-place",
        "Build or load the model on the meta device or the CPU, and move one part at a time.", Grade::D));
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule setupPeakRule;
const Rule setupPeakRule{
    "setup-peak", "", "A peak that lies before the first forward pass.", run, needs::history | needs::phases};

} // namespace tidemark
