// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/order_what_if.hpp"

#include "model/core/units.hpp"
#include "model/findings/prediction.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/findings/what_if_text.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// One fix as an order of the requests.
struct Trial {
    const char* evidence; ///< what its keys begin with
    ProgramOrder order;
    std::string refusal; ///< why there is none
};

Fix* fixOf(Finding& finding, const char* id)
{
    const auto fix
        = std::find_if(finding.fixes.begin(), finding.fixes.end(), [&](const Fix& f) { return f.id == id; });
    return fix == finding.fixes.end() || !fix->blockedBy.empty() ? nullptr : &*fix;
}

/// The cache is emptied where an optimizer step begins.
Trial emptied(const RuleInput& input)
{
    Trial out{"whatif_empty_cache", {}, {}};
    Phase before = Phase::Unknown;
    for (const PhaseSpan& span : input.phases.spans) {
        if (span.phase == Phase::Optimizer && before != Phase::Optimizer)
            out.order.emptied.push_back(span.first);
        before = span.phase == Phase::Unknown ? before : span.phase;
    }
    if (out.order.emptied.empty())
        out.refusal = "no optimizer step can be told in this recording";
    return out;
}

/// The blocks that pin are made where the first forward begins, and stay.
Trial pinsFirst(const RuleInput& input, const Finding& finding)
{
    Trial out{"whatif_pins_first", {}, {}};
    if (!input.phases.firstForward) {
        out.refusal = "no forward pass can be told in this recording";
        return out;
    }
    out.order.firstAt = *input.phases.firstForward;
    const std::vector<StateIndex>& born = input.replay.timeline.allocations().firstState;
    std::ranges::copy_if(finding.allocations, std::back_inserter(out.order.first),
        [&](AllocationId id) { return born[index(id)] > out.order.firstAt; });
    std::ranges::sort(out.order.first);
    if (out.order.first.empty())
        out.refusal = "they are all older than the first forward pass of this recording";
    return out;
}

/// The requests are the recorded ones: exact where the recording retells itself exactly.
Grade orderGrade(const Simulation& simulation)
{
    const Grade grade = predictionGrade(simulation, false);
    return grade == Grade::B && simulation.fidelity().score() >= 1 ? Grade::A : grade;
}

/// What is reserved once the request is served, which is where the gain shows: the peak before it may be the
/// recorded one. Without a failure, at the end.
std::string endText(const WhatIf& predicted, bool failureServed)
{
    if (!failureServed)
        return ", " + sizeText(predicted.endReserved) + " reserved at the end";
    const std::string flushed = predicted.counts.flushes == 0
        ? std::string(": nothing has to be given back for it, ")
        : ": cached segments can be given back then ("
            + countText(predicted.counts.flushes, "flush", "flushes") + "), ";
    return flushed + "and " + sizeText(predicted.endReserved) + " are reserved once it is served";
}

void tell(Finding& finding, Fix& fix, const Trial& trial, const WhatIf& predicted, const RuleInput& input,
    const Simulation& simulation)
{
    const std::optional<EventIndex> failure = failureOf(finding, input);
    const bool fits = failure ? predicted.servedFailure == *failure : predicted.fits();
    const std::string key = trial.evidence;
    fix.grade = orderGrade(simulation);
    addEvidence(finding, (key + "_fits").c_str(), EvidenceValue(fits));
    addEvidence(finding, (key + "_peak_reserved").c_str(), predicted.peakReserved);
    addEvidence(finding, (key + "_flushes").c_str(), predicted.counts.flushes);
    const bool earlier = predicted.outOfMemory && predicted.outOfMemory->event != failure;
    const std::string outcome = fits ? failure ? "the request fits" : "the run fits"
        : earlier                    ? runsOutText(*predicted.outOfMemory, input)
                                     : "the request fails as well";
    fix.text += " Replayed so, " + outcome;
    if (fits && failure)
        fix.text += endText(predicted, true) + "; highest until then " + sizeText(predicted.peakReserved)
            + (predicted.capacity ? " of " + sizeText(*predicted.capacity) : std::string()) + ", recorded "
            + sizeText(input.replay.segments.reserved().total().max);
    else
        fix.text += ": " + figuresText(predicted, input) + (fits ? endText(predicted, false) : std::string());
    fix.text += " (fidelity " + formatPercent(simulation.fidelity().score()) + ").";
    if (!fits && fix.grade != Grade::D)
        fix.blockedBy = "replayed so, " + outcome;
}

} // namespace

Finding* firstThatOrderMayHelp(std::span<Finding> findings, std::size_t deviceIndex)
{
    Finding* first = nullptr;
    for (Finding& finding : findings)
        if (finding.deviceIndex == deviceIndex && finding.eventRange
            && (fixOf(finding, emptyCacheFix) || fixOf(finding, pinsFirstFix))
            && (!first || finding.eventRange->first < first->eventRange->first))
            first = &finding;
    return first;
}

void addOrderWhatIf(Finding& finding, const RuleInput& input, const Simulation& simulation, const Job& job)
{
    for (const bool empties : {true, false}) {
        Fix* fix = fixOf(finding, empties ? emptyCacheFix : pinsFirstFix);
        if (!fix)
            continue;
        Trial trial = empties ? emptied(input) : pinsFirst(input, finding);
        WhatIfWish wish;
        wish.settings = simulation.recording().settings;
        wish.order = std::make_shared<const ProgramOrder>(trial.order);
        if (trial.refusal.empty()) {
            const Result<WhatIf> predicted = simulation.run(wish, job);
            if (predicted)
                tell(finding, *fix, trial, *predicted, input, simulation);
            else if (predicted.error().code == ErrorCode::Cancelled)
                return;
            else
                trial.refusal = predicted.error().message;
        }
        if (!trial.refusal.empty())
            fix->text += " What that would do is not replayed: " + trial.refusal
                + (trial.refusal.back() == '.' ? "" : ".");
    }
}

void tellOrderRefusal(Finding& finding, const std::string& why)
{
    for (const char* id : {emptyCacheFix, pinsFirstFix})
        if (Fix* fix = fixOf(finding, id))
            fix->text += " What that would do is not replayed: " + why;
}

} // namespace tidemark
