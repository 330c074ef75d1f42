// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/discovery.hpp"
#include "model/job/run_rule.hpp"

#include <algorithm>

// One line a rule, in the order in which they run: rules/<name>.cpp defines `const RunRule <name>RunRule`.
// clang-format off
#define TIDEMARK_RUN_RULES(X) \
    X(failedRanks) \
    X(fullestInGroup) \
    X(fullestStage) \
    X(settingsDiffer) \
    X(missingRanks)
// clang-format on

namespace tidemark {

#define X(name) extern const RunRule name##RunRule;
TIDEMARK_RUN_RULES(X)
#undef X

std::span<const RunRule> runRules()
{
#define X(name) name##RunRule,
    static const std::vector<RunRule> all = {TIDEMARK_RUN_RULES(X)};
#undef X
    return all;
}

Finding runFinding(const RankSummary& rank, const char* rule, Severity severity, std::uint64_t bytes)
{
    Finding finding;
    finding.rule = rule;
    finding.severity = severity;
    finding.rank = rank.rank;
    finding.device = rank.device.value_or(0);
    finding.bytes = bytes;
    finding.lookAt = rank.live.state;
    return finding;
}

std::int64_t medianOf(std::vector<std::int64_t> values)
{
    if (values.empty())
        return 0;
    std::ranges::sort(values);
    const std::int64_t upper = values[values.size() / 2];
    if (values.size() % 2 == 1)
        return upper;
    const std::int64_t lower = values[values.size() / 2 - 1];
    return lower + (upper - lower) / 2;
}

std::string namesOfRanks(std::span<const RankSummary> ranks, std::span<const std::size_t> which)
{
    std::vector<int> numbers;
    std::string others;
    for (const std::size_t i : which) {
        if (ranks[i].rank)
            numbers.push_back(*ranks[i].rank);
        else
            others += (others.empty() ? "" : ", ") + ranks[i].file.filename().string();
    }
    std::ranges::sort(numbers);
    std::string out
        = numbers.empty() ? std::string() : (numbers.size() == 1 ? "rank " : "ranks ") + ranksText(numbers);
    return out + (out.empty() || others.empty() ? "" : ", ") + others;
}

} // namespace tidemark
