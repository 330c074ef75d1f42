// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "model/findings/edits.hpp"
#include "model/simulate/recorded_figures.hpp"
#include "model/simulate/what_if.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

/// What fixes and allocator settings would do to reserved memory: the requests, replayed.
struct ReservedPrediction {
    /// What it is made with, for more of the same; null when the recording cannot be replayed.
    std::shared_ptr<const Simulation> simulation;
    WhatIfWish wish;
    RecordedFigures recorded;
    /// Absent when refused.
    std::optional<WhatIf> whatIf;
    /// Why nothing is predicted, in a sentence; empty when something is.
    std::string refusal;
    /// Why the run may not use these settings; empty when nothing is known against them.
    std::string barred;
    /// Why some of them do nothing in the prediction, a sentence without its full stop; empty when all act.
    std::string withoutEffect;

    /// The line to paste; empty when there is nothing to paste: nothing is predicted, the settings are the
    /// recorded ones, may not be used, or do nothing.
    std::string line() const;
    /// Whether the allocator is set as it was recorded.
    bool sameSettings() const { return !simulation || wish.settings == simulation->recording().settings; }
};

/// What some fixes together would do to one device's timeline.
struct Prediction {
    EditedCurve curve; ///< empty when no fix changes lifetimes
    std::string owner; ///< what would make the new peak
    std::vector<std::string> fixes; ///< their texts
    ReservedPrediction reserved;

    bool edited() const { return !curve.curve.empty(); }
};

/// A fix that can be tried: its place in a diagnosis.
struct FixPlace {
    std::size_t finding = 0;
    std::size_t fix = 0;
    bool operator==(const FixPlace&) const = default;
};

/// What to try.
struct PredictionWish {
    std::vector<FixPlace> fixes; ///< those with neither edits nor a setting are left out
    /// PYTORCH_CUDA_ALLOC_CONF of the run; absent: as recorded. Settings of the fixes come on top.
    std::optional<std::string> conf;
    std::optional<std::uint64_t> deviceTotal; ///< bytes of the card
    /// Of an earlier prediction of the same device, to be quicker; may be null.
    std::shared_ptr<const Simulation> simulation;
};

/// How sure a prediction of reserved memory is: B when the recording retells itself exactly and the limit is
/// known, C when the requests are those of a changed program on top, D otherwise.
/// A capacity that is given need not be inferred.
Grade predictionGrade(const Simulation& simulation, bool changedProgram, bool capacityGiven = false);
/// "fidelity 100.0 %, grade B", with the reason of a D.
std::string predictionWorth(const Simulation& simulation, bool changedProgram, bool capacityGiven = false);

/// Applies the edits of the fixes together, and replays the requests they leave under the allocator settings
/// wished for. Null when stopped or when nothing is wished. Cost: as applyEdits, and as Simulation::build and
/// run. Any thread.
std::shared_ptr<const Prediction> predict(
    const Diagnosis& diagnosis, std::size_t deviceIndex, const PredictionWish& wish, const Job& job);

} // namespace tidemark
