// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/phases.hpp"
#include "model/lens/stack_kinds.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tidemark {

/// Phases of single events, before steps are looked for.
struct EventPhases {
    std::vector<Phase> ofEvent;
    /// A mark or the event's own stack says so; else inferred.
    std::vector<std::uint8_t> recorded;
};

/// True for events that carry the stack of a request for memory: they decide phases.
constexpr bool requestsMemory(Action action) noexcept
{
    return action == Action::Alloc || action == Action::SegmentAlloc || action == Action::SegmentMap
        || action == Action::Oom;
}

/// Cost: two passes over the events. Nothing when stopped.
std::optional<EventPhases> phasesOfEvents(
    const Replay& replay, const StackKinds& kinds, std::span<const Mark> marks, const Job& job);

} // namespace tidemark
