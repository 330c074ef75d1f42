// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/metrics.hpp"
#include "model/findings/rule.hpp"
#include "model/findings/stack_facts.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

/// What makes two allocations alike: made at the same place, of the same size.
struct StackAndSize {
    StackId stack;
    std::uint64_t size;
    bool operator==(const StackAndSize&) const = default;
};
struct StackAndSizeHash {
    std::size_t operator()(const StackAndSize& key) const
    {
        return (key.size * 0x9e3779b97f4a7c15ULL) ^ (index(key.stack) * 0xff51afd7ed558ccdULL);
    }
};

/// A set of allocations at the moment when it is largest.
struct SetPeak {
    std::uint64_t bytes = 0;
    StateIndex state = 0; ///< first state that reaches it
    std::vector<AllocationId> live; ///< members live then, ascending
};
/// Cost: a sort of the set.
SetPeak highestSum(const Replay& replay, std::span<const AllocationId> set);

/// Σ requested bytes.
std::uint64_t sumOf(const Replay& replay, std::span<const AllocationId> set);
/// Members live at a state.
std::vector<AllocationId> liveOf(const Replay& replay, std::span<const AllocationId> set, StateIndex state);
/// Every allocation of the whole recording with the stack and size of one in the set, ascending: what an edit
/// has to change so that the peak does not merely move to the next microbatch or step. Cost: linear.
std::vector<AllocationId> likesOf(const Replay& replay, std::span<const AllocationId> set);
/// Events from the first allocation to the last end of life; predating ones count from the first event.
std::optional<std::pair<EventIndex, EventIndex>> eventsOf(
    const Replay& replay, std::span<const AllocationId> set);

/// "forward", "backward", "optimizer": the phase in which a state lies, as evidence names it.
std::string phaseWord(const RuleInput& input, StateIndex state);
/// What would make the peak at a state under some edits: phase, and the module with most bytes among what
/// comes and goes ("optimizer step, mostly gradient copies").
std::string ownerAt(
    const RuleInput& input, std::span<const std::shared_ptr<const Edits>> edits, StateIndex state);

/// Fills in what the fix's edits would do to the timeline; nothing when it has none or the job is stopped.
std::optional<EditedCurve> estimate(Fix& fix, const RuleInput& input, const Job& job);

/// An allocation that the forward of a microbatch makes and its backward frees.
inline bool isSaved(const RuleInput& input, AllocationId id)
{
    return input.labels.role(id) == Role::SavedActivation;
}
/// Phase of the event that made an allocation; Unknown for predating ones.
Phase bornIn(const RuleInput& input, AllocationId id);
/// Highest requested bytes of the timeline.
std::int64_t peakBytes(const RuleInput& input);
/// bytes / whole, 0 when there is no whole.
double shareOf(std::uint64_t bytes, std::int64_t whole);
/// Site that holds most of a set, by bytes; empty when none has a site.
std::string largestSiteOf(const RuleInput& input, std::span<const AllocationId> set);
/// Names the sites of a finding whose allocations come from several: " They come from A and 3 other sites."
/// Empty for one site or none.
std::string severalSitesText(const LargestSite& site);

/// A finding about a set of allocations: bytes, count, the overlay's list and the events they cover.
Finding findingOf(const RuleInput& input, const Rule& rule, Severity severity, std::vector<AllocationId> set,
    StateIndex lookAt);

/// The reason a rule about call sites gives when the recording has no stacks.
inline constexpr const char* needsStacks
    = "call stacks: record with torch.cuda.memory._record_memory_history(stacks=\"all\")";
inline constexpr const char* needsPhases
    = "forward and backward passes that can be told apart: at least one whole step with call stacks";
inline constexpr const char* needsSteps
    = "at least five steps in the recording: record for longer, or with torch.profiler's step marks";
inline constexpr const char* needsConfig = "the run's configuration (run_config.yaml)";

} // namespace tidemark
