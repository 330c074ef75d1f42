// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/prediction.hpp"

#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/rule.hpp"
#include "model/findings/setting_bar.hpp"

namespace tidemark {

namespace {

std::string ownerOf(const Diagnosis& diagnosis, std::size_t deviceIndex,
    std::span<const std::shared_ptr<const Edits>> edits, StateIndex state)
{
    const DeviceDiagnosis& device = diagnosis.devices[deviceIndex];
    if (!device.phases || !device.labels)
        return {};
    const Rank& rank = *diagnosis.rank;
    const StackFacts facts(*rank.snapshot);
    const RuleInput input{*rank.devices[deviceIndex], *rank.sites, *rank.rawSites, rank.marks[deviceIndex],
        *device.phases, *device.labels, facts, diagnosis.config, device.ooms, std::nullopt, std::nullopt, 0,
        {}};
    return ownerAt(input, edits, state);
}

/// False when stopped.
bool predictReserved(ReservedPrediction& out, std::shared_ptr<const Replay> replay, const RunConfig& config,
    const PredictionWish& wish, std::span<const std::string> settings, const Job& job)
{
    out.simulation = wish.simulation;
    if (!out.simulation) {
        auto simulation = Simulation::build(std::move(replay), job);
        if (!simulation) {
            out.refusal = simulation.error().message;
            return simulation.error().code != ErrorCode::Cancelled;
        }
        out.simulation = std::move(simulation).value();
    }
    const Recording& recording = out.simulation->recording();
    out.recorded = recordedFigures(recording);
    out.wish.settings = recording.settings;
    out.wish.deviceTotal = wish.deviceTotal;
    if (wish.conf) {
        const auto changed = recording.settings.withConf(*wish.conf);
        if (!changed) {
            out.refusal = changed.error().message;
            return true;
        }
        out.wish.settings = *changed;
    }
    for (const std::string& setting : settings)
        if (const Result<void> done = out.wish.settings.apply(setting); !done)
            out.refusal = done.error().message;
    if (!out.sameSettings())
        out.barred = settingBarred(config, out.wish.settings);
    out.withoutEffect = out.simulation->withoutEffect(out.wish);
    if (!out.refusal.empty())
        return true;
    Result<WhatIf> predicted = out.simulation->run(out.wish, job);
    if (predicted)
        out.whatIf = std::move(predicted).value();
    else
        out.refusal = predicted.error().message;
    return predicted || predicted.error().code != ErrorCode::Cancelled;
}

} // namespace

std::string ReservedPrediction::line() const
{
    const bool offered = whatIf && !sameSettings() && barred.empty() && withoutEffect.empty();
    return offered ? settingsLine(*simulation->recording().replay->snapshot, wish.settings) : std::string();
}

Grade predictionGrade(const Simulation& simulation, bool changedProgram, bool capacityGiven)
{
    constexpr double exact = 0.999;
    if (simulation.fidelity().score() < exact
        || (!capacityGiven && simulation.recording().capacity.inferred()))
        return Grade::D;
    return changedProgram ? Grade::C : Grade::B;
}

std::string predictionWorth(const Simulation& simulation, bool changedProgram, bool capacityGiven)
{
    const Grade grade = predictionGrade(simulation, changedProgram, capacityGiven);
    std::string text = "fidelity " + formatPercent(simulation.fidelity().score())
        + (changedProgram ? ", reserved memory of the changed requests has grade " : ", grade ")
        + static_cast<char>(grade);
    const Capacity& capacity = simulation.recording().capacity;
    if (!capacityGiven && capacity.inferred())
        text += std::string(": the limit is only inferred")
            + (capacity.source == Capacity::Source::Flush ? " from flushes" : "");
    return text;
}

std::shared_ptr<const Prediction> predict(
    const Diagnosis& diagnosis, std::size_t deviceIndex, const PredictionWish& wish, const Job& job)
{
    if (!diagnosis.rank || deviceIndex >= diagnosis.devices.size())
        return nullptr;
    const std::shared_ptr<const Replay> replay = diagnosis.rank->devices[deviceIndex];
    auto out = std::make_shared<Prediction>();
    std::vector<std::shared_ptr<const Edits>> edits;
    std::vector<std::string> settings;
    for (const FixPlace& place : wish.fixes) {
        const Fix& fix = diagnosis.findings.at(place.finding).fixes.at(place.fix);
        if (diagnosis.findings[place.finding].deviceIndex != deviceIndex
            || (!fix.edits && fix.setting.empty()))
            continue;
        if (fix.edits)
            edits.push_back(fix.edits);
        if (!fix.setting.empty())
            settings.push_back(fix.setting);
        out->fixes.push_back(fix.text);
    }
    if (edits.empty() && settings.empty() && !wish.conf)
        return nullptr;
    if (!edits.empty()) {
        auto curve = applyEdits(*replay, edits, job);
        if (!curve)
            return nullptr;
        out->curve = std::move(*curve);
        out->owner = ownerOf(diagnosis, deviceIndex, edits, out->curve.newPeakState);
        out->reserved.wish.change = programChange(*replay, edits);
    }
    if (!predictReserved(out->reserved, replay, diagnosis.config, wish, settings, job))
        return nullptr;
    return out;
}

} // namespace tidemark
