// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/scope.hpp"

#include <algorithm>

namespace tidemark {

namespace {

double timeOf(const Replay& replay, StateIndex state)
{
    const auto us = replay.monotoneTimes.empty() ? std::nullopt : replay.timeUs(state);
    return us ? static_cast<double>(*us) : static_cast<double>(state);
}

} // namespace

std::vector<AllocationId> allocationsIn(
    const Replay& replay, const Scope& scope, ScopePart part, const Job& job)
{
    if (scope.kind == Scope::Kind::Instant)
        return replay.timeline.liveAt(scope.first);
    const AllocationColumns& all = replay.timeline.allocations();
    const bool whole = scope.kind == Scope::Kind::Trace;
    std::vector<AllocationId> out;
    for (std::uint32_t i = 0; i < all.count(); ++i) {
        if (i % pollInterval == 0 && job.stopped())
            return {};
        const bool born = whole || (all.firstState[i] > scope.first && all.firstState[i] <= scope.last);
        const bool died = all.endState[i] > scope.first && all.endState[i] <= scope.last;
        if (part == ScopePart::Allocated ? born : part == ScopePart::Freed ? died : born && !died)
            out.push_back(AllocationId{i});
    }
    return out;
}

double livesWithin(const Replay& replay, const Scope& scope, AllocationId id)
{
    const AllocationColumns& all = replay.timeline.allocations();
    const StateIndex last = scope.kind == Scope::Kind::Instant ? scope.first : scope.last;
    const StateIndex from
        = std::max(all.firstState[index(id)], scope.kind == Scope::Kind::Range ? scope.first : 0U);
    const StateIndex to = std::min(all.endState[index(id)], last);
    return to > from ? std::max(0.0, timeOf(replay, to) - timeOf(replay, from)) : 0;
}

} // namespace tidemark
