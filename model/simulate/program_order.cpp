// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/program_order.hpp"

#include "model/simulate/recording.hpp"

#include <algorithm>

namespace tidemark {

std::shared_ptr<const Recording> reorderedRecording(
    const Recording& recording, const ProgramOrder& order, const Job& job)
{
    auto out = std::make_shared<Recording>(recording);
    out->isChanged = true;
    out->steps.clear();
    out->steps.reserve(recording.steps.size() + order.emptied.size());
    const std::vector<StateIndex>& born = recording.replay->timeline.allocations().firstState;
    const auto moves = [&](AllocationId id) {
        return born[index(id)] > order.firstAt
            && std::binary_search(order.first.begin(), order.first.end(), id);
    };
    const auto add = [&](StepKind kind, StateIndex state, std::uint32_t subject) {
        RecordedStep step;
        step.kind = kind;
        step.event = static_cast<std::uint32_t>(std::max<StateIndex>(state, 1) - 1);
        step.subject = subject;
        out->steps.push_back(step);
    };
    auto emptied = order.emptied.begin();
    bool moved = false;
    std::uint32_t done = 0;
    for (const RecordedStep& step : recording.steps) {
        if (done++ % pollInterval == 0 && job.stopped())
            return nullptr;
        for (; emptied != order.emptied.end() && *emptied <= step.event + 1; ++emptied)
            add(StepKind::EmptyCache, *emptied, 0);
        if (!moved && order.firstAt <= step.event + 1) {
            for (const AllocationId id : order.first)
                if (moves(id))
                    add(StepKind::Allocate, order.firstAt, static_cast<std::uint32_t>(index(id)));
            moved = true;
        }
        if (step.kind != StepKind::Allocate || !moves(AllocationId{step.subject}))
            out->steps.push_back(step);
    }
    return out;
}

} // namespace tidemark
