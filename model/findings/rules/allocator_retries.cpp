// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <set>

namespace tidemark {

namespace {

/// Above this share of the limit the allocator frees cached blocks on its own.
std::optional<double> collectionThreshold(const Snapshot& snapshot)
{
    for (const Setting& setting : snapshot.settings)
        if (setting.key == "garbage_collection_threshold")
            if (const double* share = std::get_if<double>(&setting.value); share && *share > 0)
                return *share;
    return std::nullopt;
}

void nameThreshold(Finding& finding, double threshold)
{
    const std::string share = formatPercent(threshold);
    finding.explanation += " garbage_collection_threshold is set: it may be the cause instead, since above "
        + share + " of its limit the allocator frees cached blocks although the driver refused nothing.";
    finding.fixes.push_back(makeFix("raise-collection-threshold",
        "Raise garbage_collection_threshold in PYTORCH_CUDA_ALLOC_CONF, or take it out, and record again.",
        Grade::D));
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    if (!isGpu(input))
        return;
    std::vector<Step> steps = stepsOf(input);
    // The first step still grows the cache: steady state begins after it.
    if (steps.size() < 3) {
        if (input.replay.device().events.count() > 1)
            output.undecided.push_back({"allocator-retries", "at least three steps in the recording"});
        return;
    }
    steps.erase(steps.begin());
    std::vector<Flush> bursts;
    std::set<std::size_t> touched;
    for (const Flush& flush : flushes(input.replay, job)) {
        const StateIndex state = static_cast<StateIndex>(index(flush.first)) + 1;
        const auto step = std::find_if(
            steps.begin(), steps.end(), [&](const Step& s) { return s.first <= state && state <= s.last; });
        if (step == steps.end())
            continue;
        bursts.push_back(flush);
        touched.insert(static_cast<std::size_t>(step - steps.begin()));
    }
    if (touched.size() < 2 || touched.size() * 2 < steps.size())
        return;
    Finding finding = makeFinding(input, "allocator-retries", Severity::Warning);
    std::uint64_t events = 0;
    for (const Flush& flush : bursts) {
        finding.bytes += flush.bytes;
        events += flush.events;
    }
    finding.count = bursts.size();
    finding.grade = Grade::B;
    finding.eventRange = std::pair(bursts.front().first, bursts.back().last);
    finding.lookAt = static_cast<StateIndex>(index(bursts.front().first)) + 1;
    addEvidence(finding, "flushes", static_cast<std::uint64_t>(bursts.size()));
    addEvidence(finding, "segment_events", events);
    addEvidence(finding, "steps_with_flush", static_cast<std::uint64_t>(touched.size()));
    addEvidence(finding, "steps", static_cast<std::uint64_t>(steps.size()));
    finding.title = "The allocator emptied its cache " + countText(bursts.size(), "time", "times")
        + " in steady state to make room, " + sizeText(finding.bytes) + " in all.";
    const std::optional<double> threshold = collectionThreshold(*input.replay.snapshot);
    finding.explanation
        = "The driver refused memory, so cached segments went back and were reserved anew, with a wait "
          "for the device each time. Told from releases that one request made and from reserved "
          "memory at its limit; no frame called empty_cache.";
    if (!expandableOn(input))
        finding.fixes.push_back(expandableFix(input, "pages move instead of whole segments"));
    finding.fixes.push_back(makeFix("lower-peak",
        "Lower the peak by what each flush gives back, so that the cache fits beside the live memory.",
        Grade::B));
    if (threshold)
        nameThreshold(finding, *threshold);
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule allocatorRetriesRule;
const Rule allocatorRetriesRule{"allocator-retries", "",
    "Caches that are flushed again and again in steady state.", run, needs::history | needs::segments};

} // namespace tidemark
