// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/sites.hpp"

#include <algorithm>

namespace tidemark {

namespace {

bool hasFrames(const Snapshot& snapshot, StackId stack)
{
    return valid(stack) && !snapshot.stacks[stack].empty();
}

} // namespace

std::string whyNoStack(const Replay& replay, std::span<const Mark> marks, AllocationId id)
{
    const AllocationColumns& c = replay.timeline.allocations();
    const Snapshot& snapshot = *replay.snapshot;
    if (hasFrames(snapshot, c.stack[index(id)]))
        return {};
    if (replay.note(Quality::NoStacks) != nullptr && snapshot.source.kind == SourceKind::Snapshot)
        return "The whole file was recorded without stacks: set context=\"all\" and stacks=\"all\" when "
               "recording.";
    if (c.origin[index(id)] != Origin::Traced)
        return "Allocated before recording began: no stack was kept then.";
    if (snapshot.source.kind == SourceKind::KinetoTrace)
        return "The profiler knew of no operator, module or Python function on that thread at that moment.";
    const StateIndex state = c.firstState[index(id)];
    std::string_view innermost;
    int depth = -1;
    for (const Mark& mark : marks) {
        if (mark.first <= state && state <= mark.last && mark.depth > depth) {
            innermost = mark.name;
            depth = mark.depth;
        }
    }
    const auto says = [innermost](std::string_view word) {
        return std::search(innermost.begin(), innermost.end(), word.begin(), word.end(), [](char a, char b) {
            return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
        }) != innermost.end();
    };
    const EventColumns& events = replay.device().events;
    const bool forwardKnown
        = !events.forwardStack.empty() && hasFrames(snapshot, events.forwardStack[state - 1]);
    if (forwardKnown || says("backward"))
        return "Allocated by the backward thread, which runs no Python, while only Python stacks were "
               "recorded: "
               "stacks=\"all\" records C++ frames too.";
    if (says("forward"))
        return "Recorded in the forward pass without a stack: the context or stacks setting left it out.";
    return "Recorded without a stack: the context or stacks setting left it out, or a thread without Python "
           "allocated it while only Python stacks were recorded.";
}

} // namespace tidemark
