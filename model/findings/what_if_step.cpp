// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/what_if_step.hpp"

#include "model/core/units.hpp"
#include "model/findings/prediction.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/simulate/what_if.hpp"

#include <algorithm>

namespace tidemark {

namespace {

constexpr const char* advice = "expandable-segments";

bool asks(const Finding& finding, std::size_t device)
{
    if (finding.deviceIndex != device)
        return false;
    return finding.rule == "fragmentation" || finding.rule == "wrong-pool"
        || std::any_of(
            finding.fixes.begin(), finding.fixes.end(), [](const Fix& fix) { return fix.id == advice; });
}

/// The failed request that a finding is about; absent when it is about something else.
std::optional<EventIndex> failureOf(const Finding& finding, const RuleInput& input)
{
    for (const OomAutopsy& oom : input.ooms)
        if (finding.severity == Severity::Critical && finding.eventRange
            && finding.eventRange->first == oom.event)
            return oom.event;
    return std::nullopt;
}

std::string figuresText(const WhatIf& predicted, const RuleInput& input)
{
    std::string text = "peak reserved " + sizeText(predicted.peakReserved);
    if (predicted.capacity)
        text += " of " + sizeText(*predicted.capacity);
    text += " (recorded " + sizeText(input.replay.segments.reserved().total().max) + "), ";
    return text + countText(predicted.counts.flushes, "flush", "flushes");
}

/// "memory runs out at event 81 already, for a request of 1.46 GiB".
std::string runsOutText(const WhatIf::OutOfMemory& oom, const RuleInput& input)
{
    if (!oom.event)
        return "what lived before the first event finds no room";
    const std::uint64_t event = index(*oom.event) + input.replay.device().firstEventInFile;
    return "memory runs out at event " + formatCount(static_cast<std::int64_t>(event))
        + " already, for a request of " + sizeText(oom.bytes);
}

/// The figures, and the grade that the sentence states on the advice itself.
void addFigures(Finding& finding, const WhatIf& predicted, bool fits, const Simulation& simulation)
{
    for (Fix& fix : finding.fixes)
        if (fix.id == advice)
            fix.grade = predictionGrade(simulation, false);
    addEvidence(finding, "whatif_expandable_fits", EvidenceValue(fits));
    addEvidence(finding, "whatif_expandable_peak_reserved", predicted.peakReserved);
    addEvidence(finding, "whatif_expandable_flushes", predicted.counts.flushes);
    addEvidence(finding, "whatif_fidelity", EvidenceValue(simulation.fidelity().score()));
}

void tellFailure(Finding& finding, EventIndex failure, const WhatIf& predicted, const RuleInput& input,
    const Simulation& simulation)
{
    if (predicted.servedFailure && *predicted.servedFailure < failure) {
        finding.explanation
            += " Replayed with expandable segments, an earlier failed request is served; what "
               "would have followed is not known.";
        return;
    }
    const bool fits = predicted.servedFailure == failure;
    addFigures(finding, predicted, fits, simulation);
    const bool earlier = predicted.outOfMemory && predicted.outOfMemory->event != failure;
    finding.explanation += " Replayed with expandable segments, "
        + (earlier     ? runsOutText(*predicted.outOfMemory, input)
                : fits ? std::string("the request fits")
                       : std::string("the request fails as well"))
        + ": " + figuresText(predicted, input) + " (" + predictionWorth(simulation, false) + ").";
    if (fits)
        finding.explanation += " How the run would have gone on is not known.";
    else if (predictionGrade(simulation, false) != Grade::D)
        std::erase_if(finding.fixes, [](const Fix& fix) { return fix.id == advice; });
}

void tell(Finding& finding, const WhatIf& predicted, const RuleInput& input, const Simulation& simulation)
{
    if (const auto failure = failureOf(finding, input)) {
        tellFailure(finding, *failure, predicted, input, simulation);
        return;
    }
    addFigures(finding, predicted, predicted.fits(), simulation);
    finding.explanation
        += " Replayed with expandable segments: " + std::string(predicted.fits() ? "" : "memory runs out, ")
        + figuresText(predicted, input) + " (" + predictionWorth(simulation, false) + ").";
}

void tellRefusal(Finding& finding, const std::string& why)
{
    addEvidence(finding, "whatif_expandable_refused", EvidenceValue(why));
    finding.explanation += " What expandable segments would do is not predicted: " + why;
}

} // namespace

void addExpandableWhatIf(std::span<Finding> findings, const RuleInput& input,
    const std::shared_ptr<const Replay>& replay, const Job& job)
{
    std::vector<Finding*> asking;
    for (Finding& finding : findings)
        if (asks(finding, replay->deviceIndex))
            asking.push_back(&finding);
    if (asking.empty() || expandableOn(input))
        return;
    const auto simulation = Simulation::build(replay, job);
    if (!simulation) {
        if (simulation.error().code != ErrorCode::Cancelled)
            for (Finding* finding : asking)
                tellRefusal(*finding, simulation.error().message);
        return;
    }
    WhatIfWish wish;
    wish.settings = (*simulation)->recording().settings;
    wish.settings.expandableSegments = true;
    const Result<WhatIf> predicted = (*simulation)->run(wish, job);
    for (Finding* finding : asking)
        if (predicted)
            tell(*finding, *predicted, input, **simulation);
        else if (predicted.error().code != ErrorCode::Cancelled)
            tellRefusal(*finding, predicted.error().message);
}

} // namespace tidemark
