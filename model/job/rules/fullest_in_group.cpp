// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"
#include "model/job/run_rule.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// At least half of what is above the peers lies in experts.
bool experts(std::int64_t above, std::int64_t expertsAbove)
{
    return expertsAbove * 2 >= above;
}

void look(const RunRuleInput& input, const RoleGroup& group, RunRuleOutput& output)
{
    std::vector<std::size_t> members;
    for (const std::size_t i : group.members)
        if (input.ranks[i].device)
            members.push_back(i);
    if (members.size() < 2)
        return;
    const std::size_t top
        = *std::ranges::max_element(members, {}, [&](std::size_t i) { return input.ranks[i].live.bytes; });
    const RankSummary& rank = input.ranks[top];
    std::vector<std::int64_t> peaks;
    std::vector<std::int64_t> expertPeaks;
    for (const std::size_t i : members)
        // A rank that ran out of memory was cut short: its peak says nothing of what it would have been.
        if (i != top && !input.ranks[i].oom) {
            peaks.push_back(input.ranks[i].live.bytes);
            expertPeaks.push_back(static_cast<std::int64_t>(input.ranks[i].expertBytes));
        }
    if (peaks.empty())
        return;
    const std::int64_t median = medianOf(peaks);
    const std::int64_t above = rank.live.bytes - median;
    if (above <= rank.live.bytes / outlierShare)
        return;
    const std::int64_t expertMedian = medianOf(expertPeaks);
    const std::int64_t expertsAbove = static_cast<std::int64_t>(rank.expertBytes) - expertMedian;
    const bool hot = experts(above, expertsAbove);
    Finding finding = runFinding(rank, "rank-imbalance", rank.oom ? Severity::Warning : Severity::Info,
        static_cast<std::uint64_t>(above));
    finding.playbook = "R8";
    addEvidence(finding, "peak", EvidenceValue(rank.live.bytes));
    addEvidence(finding, "peers_median", EvidenceValue(median));
    addEvidence(finding, "peers", static_cast<std::uint64_t>(peaks.size()));
    addEvidence(finding, "experts", EvidenceValue(hot));
    if (rank.expertBytes > 0) {
        addEvidence(finding, "expert_bytes", rank.expertBytes);
        addEvidence(finding, "peers_expert_bytes", EvidenceValue(expertMedian));
    }
    const std::string where
        = group.label.empty() ? std::string("the other ranks") : "the other ranks of " + group.label;
    const std::string name = rank.name();
    finding.title = (rank.rank ? "R" + name.substr(1) : name) + " peaks at " + sizeText(rank.live.bytes)
        + ", " + sizeText(above) + " above the median of " + where + (hot ? ": its experts are hot." : ".");
    finding.explanation = hot
        ? "Experts and their dispatch hold " + sizeText(rank.expertBytes) + " there and "
            + sizeText(expertMedian)
            + " on its peers: the router sends it more tokens. The rank with most of them needs the room."
        : "Ranks that do the same work should hold the same. Compare it with one of its peers at the peak.";
    if (hot) {
        Fix fix;
        fix.id = "balance-experts";
        fix.text = "Even out the load of the experts: an auxiliary loss or expert bias of the router, or a "
                   "capacity factor that drops what is above it.";
        fix.grade = Grade::D;
        finding.fixes.push_back(std::move(fix));
    }
    output.findings.push_back(std::move(finding));
}

void run(const RunRuleInput& input, RunRuleOutput& output)
{
    for (const RoleGroup& group : input.roles.groups)
        look(input, group, output);
}

} // namespace

extern const RunRule fullestInGroupRunRule;
const RunRule fullestInGroupRunRule{
    "rank-imbalance", "Ranks that hold more than others that do the same work, hot experts among them.", run};

} // namespace tidemark
