// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/phase_text.hpp"

#include "widgets/style/text.hpp"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace tidemark {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("Phases", text);
}

} // namespace

QString phaseText(Phase phase)
{
    switch (phase) {
    case Phase::Unknown:
        return tr("unknown");
    case Phase::Setup:
        return tr("setup");
    case Phase::Forward:
        return tr("forward");
    case Phase::Backward:
        return tr("backward");
    case Phase::Recompute:
        return tr("recompute");
    case Phase::Optimizer:
        return tr("optimizer");
    case Phase::Side:
        return tr("side work");
    }
    return tr("unknown");
}

QString stepSourceText(StepSource source)
{
    switch (source) {
    case StepSource::None:
        return {};
    case StepSource::ProfilerSteps:
        return tr("by ProfilerStep marks");
    case StepSource::OptimizerMarks:
        return tr("by the optimizer's marks");
    case StepSource::OptimizerFrames:
        return tr("by the optimizer's frames");
    case StepSource::TrainStepFrames:
        return tr("by the frames of the training step");
    case StepSource::Periodicity:
        return tr("by what repeats");
    }
    return {};
}

const PhaseSpan* phaseSpanAt(const Phases& phases, StateIndex state)
{
    const auto found = std::partition_point(phases.spans.begin(), phases.spans.end(),
        [state](const PhaseSpan& span) { return span.last < state; });
    if (found == phases.spans.end() || found->first > state || found->phase == Phase::Unknown)
        return nullptr;
    return &*found;
}

QString phaseSourceText(const PhaseSpan& span)
{
    return span.recorded ? tr("recorded") : tr("inferred from the events around it");
}

QString stepsSourceText(const Phases& phases)
{
    const QString source = stepSourceText(phases.source);
    if (source.isEmpty() || phases.steps.empty())
        return {};
    const bool named
        = phases.source == StepSource::ProfilerSteps || phases.source == StepSource::OptimizerMarks;
    return named && phases.confidence >= 1
        ? tr("steps found %1").arg(source)
        : tr("steps found %1, %2 of the repeats agree").arg(source, percentText(phases.confidence));
}

QString phaseLinesText(const Phases& phases, StateIndex state)
{
    QStringList lines;
    if (const PhaseSpan* span = phaseSpanAt(phases, state))
        lines << tr("phase %1: %2").arg(phaseText(span->phase), phaseSourceText(*span));
    if (const Step* step = phases.stepAt(state)) {
        const QString name = shownText(step->name);
        lines << (step->complete ? name : tr("%1, cut off by the recording").arg(name));
        if (const QString source = stepsSourceText(phases); !source.isEmpty())
            lines.back() += QStringLiteral(": ") + source;
    }
    if (const std::uint32_t flying = phases.inFlightAt(state); flying > 0)
        lines << (flying == 1 ? tr("1 microbatch waits for its backward pass")
                              : tr("%1 microbatches wait for their backward pass")
                                    .arg(countText(static_cast<std::int64_t>(flying))));
    return lines.join(QLatin1Char('\n'));
}

} // namespace tidemark
