// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/what_if_step.hpp"

#include "model/core/units.hpp"
#include "model/findings/order_what_if.hpp"
#include "model/findings/prediction.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/findings/what_if_text.hpp"
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

void addExpandable(
    const std::vector<Finding*>& asking, const RuleInput& input, const Simulation& simulation, const Job& job)
{
    WhatIfWish wish;
    wish.settings = simulation.recording().settings;
    wish.settings.expandableSegments = true;
    const Result<WhatIf> predicted = simulation.run(wish, job);
    for (Finding* finding : asking)
        if (predicted)
            tell(*finding, *predicted, input, simulation);
        else if (predicted.error().code != ErrorCode::Cancelled)
            tellRefusal(*finding, predicted.error().message);
}

} // namespace

void addWhatIfs(std::span<Finding> findings, const RuleInput& input,
    const std::shared_ptr<const Replay>& replay, const Job& job)
{
    std::vector<Finding*> asking;
    for (Finding& finding : findings)
        if (asks(finding, replay->deviceIndex) && !expandableOn(input))
            asking.push_back(&finding);
    Finding* ordered = firstThatOrderMayHelp(findings, replay->deviceIndex);
    if (asking.empty() && !ordered)
        return;
    const auto simulation = Simulation::build(replay, job);
    if (!simulation) {
        if (simulation.error().code == ErrorCode::Cancelled)
            return;
        for (Finding* finding : asking)
            tellRefusal(*finding, simulation.error().message);
        if (ordered)
            tellOrderRefusal(*ordered, simulation.error().message);
        return;
    }
    if (!asking.empty())
        addExpandable(asking, input, **simulation, job);
    if (ordered && !job.stopped())
        addOrderWhatIf(*ordered, input, **simulation, job);
}

} // namespace tidemark
