// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/expectation.hpp"

#include "model/playbook/estimator.hpp"

#include <algorithm>
#include <limits>

namespace tidemark {

namespace {

ExpectedClass range(
    const char* name, const MemoryEstimate& estimate, std::int64_t (*bytes)(const StageEstimate&))
{
    ExpectedClass out{name, std::numeric_limits<std::int64_t>::max(), 0, 0};
    for (const StageEstimate& stage : estimate.stages) {
        out.low = std::min(out.low, bytes(stage));
        out.high = std::max(out.high, bytes(stage));
    }
    return out;
}

} // namespace

std::optional<Expectation> expectationOf(const Replay& replay, const Labels& labels, const RunConfig& config)
{
    const auto estimated = estimateMemory(config).estimate;
    if (!estimated || estimated->stages.empty())
        return std::nullopt;
    Expectation out;
    out.device = replay.device().ordinal;
    out.peak = replay.timeline.requested().total().maxState;
    out.activationsAreUpperBound = estimated->activationsAreUpperBound;
    out.assumptions = estimated->assumptions;
    // Buffers of gradients are set up with the parameters, in one role.
    out.classes = {range("parameters and gradients", *estimated,
                       [](const StageEstimate& s) { return s.weights + s.gradients; }),
        range("optimizer state", *estimated, [](const StageEstimate& s) { return s.optimizer; }),
        range("saved activations", *estimated,
            [](const StageEstimate& s) { return s.activations + s.output; })};
    const AllocationColumns& all = replay.timeline.allocations();
    for (const AllocationId id : replay.timeline.liveAt(out.peak)) {
        const auto bytes = static_cast<std::int64_t>(all.size[index(id)]);
        out.live += bytes;
        switch (labels.role(id)) {
        case Role::Parameter:
        case Role::Gradient:
            out.classes[0].measured += bytes;
            break;
        case Role::OptimizerState:
            out.classes[1].measured += bytes;
            break;
        case Role::SavedActivation:
            out.classes[2].measured += bytes;
            break;
        default:
            out.otherMeasured += bytes;
            break;
        }
    }
    return out;
}

} // namespace tidemark
