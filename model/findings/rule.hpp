// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/findings/finding.hpp"
#include "model/findings/oom.hpp"
#include "model/findings/stack_facts.hpp"
#include "model/lens/labels.hpp"
#include "model/lens/phases.hpp"
#include "model/lens/sites.hpp"
#include "model/playbook/run_config.hpp"
#include "model/replay/replay.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tidemark {

/// Everything a rule may look at. Lives as long as the run of the rules.
struct RuleInput {
    const Replay& replay;
    const Sites& sites;
    const Sites& rawSites;
    std::span<const Mark> marks;
    const Phases& phases;
    const Labels& labels;
    const StackFacts& facts;
    const RunConfig& config;
    /// One per out-of-memory event, in order.
    std::span<const OomAutopsy> ooms;
    /// Bytes of the card: given by the user, else from the configuration; absent: unknown.
    std::optional<std::uint64_t> deviceTotal;
    std::optional<int> rank;
    /// State of the highest requested() and what is live then.
    StateIndex peak = 0;
    std::span<const AllocationId> liveAtPeak;
};

struct RuleOutput {
    std::vector<Finding> findings;
    std::vector<Undecided> undecided;
};

/// What a recording may lack.
namespace needs {
inline constexpr std::uint8_t nothing = 0;
inline constexpr std::uint8_t history = 1; ///< what happened over time: events
inline constexpr std::uint8_t segments = 2; ///< the allocator's segments
inline constexpr std::uint8_t steps = 4; ///< at least two complete steps
inline constexpr std::uint8_t phases = 8; ///< forward passes that can be told apart
inline constexpr std::uint8_t verdict = 16; ///< of every out-of-memory event: why it failed
} // namespace needs

/// One rule of help/findings.md: a file in rules/ and a line in the registry.
struct Rule {
    const char* id;
    const char* playbook; ///< "" for none
    const char* says; ///< what it looks for, a sentence
    void (*run)(const RuleInput& input, RuleOutput& output, const Job& job);
    /// What it cannot decide without (needs::…); the run of the rules says so.
    std::uint8_t needs = needs::history;
};

/// In the order in which they run.
std::span<const Rule> rules();

/// A finding with what every finding of a rule shares filled in: rule, playbook, device, rank.
Finding makeFinding(const RuleInput& input, const char* rule, Severity severity);

} // namespace tidemark
