// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/phases.hpp"

#include <QString>

/// Phases and steps in the words all views use.
namespace tidemark {

/// "forward", "backward", …; "unknown".
QString phaseText(Phase phase);
/// How the steps were found: "by the optimizer's frames"; empty for none.
QString stepSourceText(StepSource source);
/// The span that holds a state; null where there is none or its phase is unknown.
const PhaseSpan* phaseSpanAt(const Phases& phases, StateIndex state);
/// "recorded", "inferred from the events around it".
QString phaseSourceText(const PhaseSpan& span);
/// "steps found by …, 95.0 % of the repeats agree"; empty without steps.
QString stepsSourceText(const Phases& phases);
/// All that is known of a state in a few lines: phase and its source, step and how it was found, microbatches
/// in flight. Empty when nothing is.
QString phaseLinesText(const Phases& phases, StateIndex state);

} // namespace tidemark
