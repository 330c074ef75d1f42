// SPDX-License-Identifier: GPL-3.0-or-later
// The half of TimelineScene that knows marks, phases, steps, the selected finding and the prediction.
#include "model/lens/subset_series.hpp"
#include "widgets/common/phase_text.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_scene.hpp"

#include <QCoreApplication>

#include <algorithm>
#include <numeric>

namespace tidemark {

namespace {

constexpr int markRows = 3; // deeper marks share the density strip

QString tr(const char* text)
{
    return QCoreApplication::translate("Timeline", text);
}

} // namespace

void TimelineScene::followDiagnosis()
{
    phases = replay ? session.phases() : nullptr;
    buildLanes();
    followFinding();
}

void TimelineScene::followFinding()
{
    finding = {};
    const auto diagnosis = session.diagnosis();
    const auto chosen = state.finding();
    if (!replay || !diagnosis || !chosen || *chosen >= diagnosis->findings.size())
        return;
    const Finding& found = diagnosis->findings[*chosen];
    if (found.deviceIndex != session.deviceIndex() || found.allocations.empty())
        return;
    finding.diagnosis = diagnosis;
    finding.finding = &found;
    finding.bytes = std::make_shared<const Series>(subsetSeries(*replay, found.allocations));
}

void TimelineScene::followPrediction()
{
    predicted = {};
    const auto prediction = session.prediction();
    if (!replay || !prediction)
        return;
    predicted.prediction = prediction;
    if (prediction->reserved.whatIf)
        predicted.reserved = {prediction, &prediction->reserved.whatIf->reserved};
    if (!prediction->edited())
        return;
    const auto& curve = prediction->curve.curve;
    Series bytes(0);
    bytes.reserve(curve.size() + 1);
    for (const auto& [at, value] : curve)
        if (at < replay->states())
            bytes.set(at, value);
    bytes.build(replay->states());
    predicted.bytes = std::make_shared<const Series>(std::move(bytes));
}

void TimelineScene::buildLanes()
{
    lanes.clear();
    if (!replay)
        return;
    if (phases) {
        Lane lane{Lane::Kind::Phases, tr("phase"), {}};
        for (std::uint32_t i = 0; i < phases->spans.size(); ++i)
            if (phases->spans[i].phase != Phase::Unknown)
                lane.items.push_back(i);
        if (!lane.items.empty())
            lanes.push_back(std::move(lane));
    }
    buildMarkLanes();
}

void TimelineScene::buildMarkLanes()
{
    const std::vector<Mark>& all = marks();
    Lane stepItems{Lane::Kind::Steps, tr("steps"), {}};
    std::vector<Lane> rows;
    Lane deeper{Lane::Kind::Density, QString(), {}};
    // Steps have a lane of their own, so they do not count as a level of nesting here.
    std::vector<bool> stepAt;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const auto depth = static_cast<std::size_t>(std::max(0, all[i].depth));
        stepAt.resize(depth);
        stepAt.push_back(all[i].step);
        if (all[i].step) {
            stepItems.items.push_back(i);
            continue;
        }
        const auto stepsAbove
            = std::count(stepAt.begin(), stepAt.begin() + static_cast<std::ptrdiff_t>(depth), true);
        const std::size_t row = depth - static_cast<std::size_t>(stepsAbove);
        if (row >= markRows) {
            deeper.items.push_back(i);
            continue;
        }
        while (rows.size() <= row)
            rows.push_back({Lane::Kind::Marks, rows.empty() ? tr("marks") : QString(), {}});
        rows[row].items.push_back(i);
    }
    if (!stepItems.items.empty()) {
        lanes.push_back(std::move(stepItems));
    } else if (phases && !phases->steps.empty()) {
        Lane found{Lane::Kind::FoundSteps, tr("steps"), {}};
        found.items.resize(phases->steps.size());
        std::iota(found.items.begin(), found.items.end(), 0U);
        lanes.push_back(std::move(found));
    }
    for (Lane& lane : rows)
        lanes.push_back(std::move(lane));
    if (!deeper.items.empty())
        lanes.push_back(std::move(deeper));
}

double TimelineScene::markBegin(const Mark& mark) const
{
    const auto origin = replay ? replay->originUs() : std::nullopt;
    if (scale.time() && mark.startUs && origin)
        return static_cast<double>(*mark.startUs - *origin);
    return mark.open && mark.first == 0 ? scale.whole().left : scale.begin(mark.first);
}

double TimelineScene::markEnd(const Mark& mark) const
{
    const auto origin = replay ? replay->originUs() : std::nullopt;
    if (scale.time() && mark.endUs && origin)
        return static_cast<double>(*mark.endUs - *origin);
    return scale.end(mark.last);
}

std::pair<double, double> TimelineScene::laneSpan(const Lane& lane, std::size_t k) const
{
    const std::size_t i = lane.items[k];
    switch (lane.kind) {
    case Lane::Kind::Phases:
        return {scale.begin(phases->spans[i].first), scale.end(phases->spans[i].last)};
    case Lane::Kind::FoundSteps:
        return {scale.begin(phases->steps[i].first), scale.end(phases->steps[i].last)};
    case Lane::Kind::Steps:
    case Lane::Kind::Marks:
    case Lane::Kind::Density:
        break;
    }
    return {markBegin(marks()[i]), markEnd(marks()[i])};
}

LaneItem TimelineScene::laneItem(const Lane& lane, std::size_t k) const
{
    LaneItem item;
    const std::size_t i = lane.items[k];
    const auto place = [&](StateIndex first, StateIndex last) {
        item.first = first;
        item.last = last;
        const auto from = replay->timeUs(first);
        const auto to = replay->timeUs(last);
        if (from && to)
            item.lengthUs = *to - *from;
    };
    if (lane.kind == Lane::Kind::Phases) {
        const PhaseSpan& span = phases->spans[i];
        place(span.first, span.last);
        item.name = phaseText(span.phase);
        item.note = phaseSourceText(span);
        item.recorded = span.recorded;
    } else if (lane.kind == Lane::Kind::FoundSteps) {
        const Step& step = phases->steps[i];
        place(step.first, step.last);
        item.name = shownText(step.name);
        item.note = stepsSourceText(*phases);
        item.recorded
            = phases->source == StepSource::ProfilerSteps || phases->source == StepSource::OptimizerMarks;
        item.open = !step.complete;
    } else {
        const Mark& mark = marks()[i];
        item.name = shownText(mark.name);
        item.first = mark.first;
        item.last = mark.last;
        if (mark.startUs && mark.endUs)
            item.lengthUs = *mark.endUs - *mark.startUs;
        item.open = mark.open;
    }
    return item;
}

std::size_t TimelineScene::firstVisible(const Lane& lane) const
{
    // What does not overlap has ascending ends, too.
    std::size_t low = 0;
    std::size_t high = lane.items.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (laneSpan(lane, middle).second < state.window().left)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

std::vector<std::pair<StateIndex, StateIndex>> TimelineScene::steps() const
{
    std::vector<std::pair<StateIndex, StateIndex>> out;
    for (const Mark& mark : marks())
        if (mark.step)
            out.emplace_back(mark.first, mark.last);
    if (out.empty() && phases)
        for (const Step& step : phases->steps)
            out.emplace_back(step.first, step.last);
    return out;
}

} // namespace tidemark
