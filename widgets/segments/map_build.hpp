// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/findings/prediction.hpp"
#include "model/layout/segment_layout.hpp"

#include <memory>

namespace tidemark {

/// Everything a map is made from; a value, so that it can be worked on anywhere.
struct MapRequest {
    std::shared_ptr<const Replay> replay;
    StateIndex state = 0;
    /// Draw the segments it predicts; null: the recorded ones. It has a simulation and a result.
    std::shared_ptr<const Prediction> prediction;
    MapOptions options;
    /// Width beside a scroll bar, for what does not fit the height.
    double narrowWidth = 0;
    /// Height to fill: rows grow and shrink between these to do so.
    double height = 0;
    double smallestRow = 8;
    double largestRow = 14;
};

struct MapBuilt {
    std::shared_ptr<const Replay> replay;
    /// Of the request.
    std::shared_ptr<const Prediction> prediction;
    /// Null when stopped.
    std::shared_ptr<const SegmentState> state;
    std::shared_ptr<const MapPicture> picture;
    MapOptions options;
};

/// Replays the segments (unless `known` is that state already) and lays them out. Cost:
/// SegmentHistory::stateAt and up to two layouts; with a prediction as Simulation::segmentsAt. Any thread.
MapBuilt buildMap(const MapRequest& request, std::shared_ptr<const SegmentState> known, const Job& job = {});

} // namespace tidemark
