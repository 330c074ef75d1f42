// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/prediction.hpp"

#include "model/findings/estimates.hpp"
#include "model/findings/rule.hpp"

namespace tidemark {

std::shared_ptr<const Prediction> predict(
    const Diagnosis& diagnosis, std::size_t deviceIndex, std::span<const FixPlace> fixes, const Job& job)
{
    if (!diagnosis.rank || deviceIndex >= diagnosis.devices.size())
        return nullptr;
    const Rank& rank = *diagnosis.rank;
    const Replay& replay = *rank.devices[deviceIndex];
    auto out = std::make_shared<Prediction>();
    std::vector<std::shared_ptr<const Edits>> edits;
    for (const FixPlace& place : fixes) {
        const Fix& fix = diagnosis.findings.at(place.finding).fixes.at(place.fix);
        if (!fix.edits || diagnosis.findings[place.finding].deviceIndex != deviceIndex)
            continue;
        edits.push_back(fix.edits);
        out->fixes.push_back(fix.text);
    }
    if (edits.empty())
        return nullptr;
    auto curve = applyEdits(replay, edits, job);
    if (!curve)
        return nullptr;
    out->curve = std::move(*curve);

    const DeviceDiagnosis& device = diagnosis.devices[deviceIndex];
    if (device.phases && device.labels) {
        const StackFacts facts(*rank.snapshot);
        const RuleInput input{replay, *rank.sites, *rank.rawSites, rank.marks[deviceIndex], *device.phases,
            *device.labels, facts, diagnosis.config, device.ooms, std::nullopt, std::nullopt, 0, {}};
        out->owner = ownerAt(input, edits, out->curve.newPeakState);
    }
    return out;
}

} // namespace tidemark
