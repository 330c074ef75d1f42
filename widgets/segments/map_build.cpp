// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/segments/map_build.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

std::shared_ptr<const SegmentState> stateFor(const MapRequest& request, const Job& job)
{
    const Replay& replay = *request.replay;
    if (!request.prediction)
        return std::make_shared<const SegmentState>(replay.segments.stateAt(request.state, replay.timeline));
    const ReservedPrediction& reserved = request.prediction->reserved;
    auto predicted = reserved.simulation->segmentsAt(reserved.wish, request.state, job);
    return predicted ? std::make_shared<const SegmentState>(std::move(predicted).value()) : nullptr;
}

} // namespace

MapBuilt buildMap(const MapRequest& request, std::shared_ptr<const SegmentState> known, const Job& job)
{
    const Replay& replay = *request.replay;
    MapBuilt built;
    built.replay = request.replay;
    built.prediction = request.prediction;
    built.options = request.options;
    built.state = known ? std::move(known) : stateFor(request, job);
    if (!built.state)
        return built;
    auto picture
        = std::make_shared<MapPicture>(layoutSegments(*replay.snapshot, *built.state, built.options));
    const double pitch = built.options.rowHeight + built.options.rowGap;
    const double rows = std::max(1.0, picture->height / pitch);
    const double fitting = std::floor(request.height / rows - built.options.rowGap);
    const double height = std::clamp(fitting, request.smallestRow, request.largestRow);
    if (height != built.options.rowHeight) {
        built.options.rowHeight = height;
        *picture = layoutSegments(*replay.snapshot, *built.state, built.options);
    }
    if (picture->height > request.height && request.narrowWidth > 0) {
        built.options.width = request.narrowWidth;
        *picture = layoutSegments(*replay.snapshot, *built.state, built.options);
    }
    built.picture = std::move(picture);
    return built;
}

} // namespace tidemark
