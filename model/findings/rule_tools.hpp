// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/metrics.hpp"
#include "model/findings/rule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// "22.54 GiB".
std::string sizeText(std::uint64_t bytes);
std::string sizeText(std::int64_t bytes);
/// "1 block", "24 blocks".
std::string countText(std::uint64_t count, const char* one, const char* many);

/// Adds a number to a finding's evidence.
void addEvidence(Finding& finding, const char* key, std::uint64_t value);
void addEvidence(Finding& finding, const char* key, EvidenceValue value);

/// Device memory of CUDA's caching allocator; host and CPU memory follow other rules.
bool isGpu(const RuleInput& input);
/// Whether expandable segments were on: the configuration's word (which holds the snapshot's), else the
/// file's.
bool expandableOn(const RuleInput& input);
/// The advice to switch expandable segments on, blocked where they are barred. Only for runs without them.
Fix expandableFix(const RuleInput& input, std::string whatItDoes);
/// A fix with its sentence and grade.
Fix makeFix(const char* id, std::string text, Grade grade, std::string source = {});

/// The most that the allocator can own.
struct MemoryLimit {
    std::uint64_t bytes = 0;
    /// A failed request told it; else it is the whole card, of which NCCL and the CUDA context hold a part.
    bool exact = false;
};
/// Absent when no request failed and the size of the card is not known.
std::optional<MemoryLimit> memoryLimit(const RuleInput& input);

/// "optimizer state" where nine tenths of these bytes are of one known role; else empty.
std::string roleOfMost(const RuleInput& input, std::span<const AllocationId> ids);

/// A finding about an out-of-memory event with the figures all of them share.
Finding oomFinding(const RuleInput& input, const char* rule, const OomAutopsy& oom, std::uint64_t bytes);
/// "event 212" with the request: "the request of 1.50 GiB at event 212".
std::string requestText(const OomAutopsy& oom);

/// Findings of one rule and device that are told one by one: each costs a pass over what it covers, and
/// nobody reads more.
inline constexpr std::size_t mostReported = 20;
/// Keeps the mostReported ones with most `bytes`, in their order. Returns how many it drops.
template <typename Each>
std::size_t keepLargest(std::vector<Each>& all, std::uint64_t Each::*bytes)
{
    if (all.size() <= mostReported)
        return 0;
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return all[i].*bytes; });
    order.resize(mostReported);
    std::ranges::sort(order);
    std::vector<Each> kept;
    for (const std::size_t i : order)
        kept.push_back(std::move(all[i]));
    const std::size_t dropped = all.size() - kept.size();
    all = std::move(kept);
    return dropped;
}

/// The complete steps; recorded ProfilerStep marks where no phases are known.
std::vector<Step> stepsOf(const RuleInput& input);

} // namespace tidemark
