// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/job/run_rule.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// Failing ranks that are told of one by one.
constexpr std::size_t mostFailures = 8;

/// What the rank's own rules say of its failure; null when they could not tell.
const Finding* ownFinding(const RankSummary& rank)
{
    const Finding* first = nullptr;
    for (const Finding& finding : rank.findings) {
        if (finding.rule != "fragmentation" && finding.rule != "capacity" && finding.rule != "wrong-pool"
            && finding.rule != "capture-blocked")
            continue;
        if (finding.severity != Severity::Critical || !finding.eventRange)
            continue;
        if (index(finding.eventRange->second) == rank.oom->event)
            return &finding;
        first = first == nullptr ? &finding : first;
    }
    return first;
}

bool hasEvidence(const Finding& finding, std::string_view key)
{
    return std::ranges::find(finding.evidence, key, &Evidence::key) != finding.evidence.end();
}

/// Ranks it is compared with: those of its group that did not fail, else all that did not.
std::vector<std::size_t> peersOf(const RunRuleInput& input, std::size_t failing)
{
    std::vector<std::size_t> group;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < input.ranks.size(); ++i) {
        if (i == failing || input.ranks[i].oom || !input.ranks[i].device)
            continue;
        all.push_back(i);
        if (input.roles.roles[i].group == input.roles.roles[failing].group)
            group.push_back(i);
    }
    return group.empty() ? all : group;
}

std::string whoFailed(const RunRuleInput& input, std::size_t failing, std::size_t failures)
{
    const std::string who = input.ranks[failing].name();
    if (failures == 1)
        return "Only " + who + " of " + formatCount(static_cast<std::int64_t>(input.ranks.size()))
            + " ran out of memory";
    return "R" + who.substr(1) + ", one of " + formatCount(static_cast<std::int64_t>(failures))
        + " that ran out of memory,";
}

/// Its allocated peak beside the median of its peers.
std::string comparisonText(std::int64_t allocated, std::int64_t median, std::uint64_t request, bool within)
{
    if (!within)
        return "it had allocated " + sizeText(allocated) + ", " + sizeText(allocated - median)
            + " more than the median of its peers";
    const std::string its = "its allocated peak of " + sizeText(allocated);
    if (allocated <= median)
        return its + " is no higher than the " + sizeText(median) + " of its peers";
    const std::int64_t above = allocated - median;
    return its + " is " + sizeText(above) + " above the " + sizeText(median) + " of its peers, "
        + (static_cast<std::uint64_t>(above) <= request ? "no more than what it asked for"
                                                        : "less than a hundredth");
}

void tell(const RunRuleInput& input, std::size_t failing, std::size_t failures, RunRuleOutput& output)
{
    const RankSummary& rank = input.ranks[failing];
    const Finding* own = ownFinding(rank);
    if (own == nullptr) {
        output.undecided.push_back({"fragmentation",
            "why " + rank.name() + " ran out of memory: its recording does not tell enough of the failure"});
        return;
    }
    const std::vector<std::size_t> peers = peersOf(input, failing);
    if (peers.empty()) {
        output.undecided.push_back(
            {"fragmentation", "a rank that did not run out of memory, to compare " + rank.name() + " with"});
        return;
    }
    std::vector<std::int64_t> peaks;
    std::vector<std::int64_t> livePeaks;
    for (const std::size_t i : peers) {
        peaks.push_back(input.ranks[i].allocated.bytes);
        livePeaks.push_back(input.ranks[i].live.bytes);
    }
    const std::int64_t median = medianOf(peaks);
    const std::int64_t allocated = rank.allocated.bytes;
    const std::int64_t margin = std::max(allocated / outlierShare,
        static_cast<std::int64_t>(std::min<std::uint64_t>(rank.oom->request.value_or(0), 1ULL << 60U)));
    const bool within = allocated <= median + margin;

    Finding finding = *own;
    if (own->rule == "fragmentation" && !within) {
        // Free memory in pieces is there, but the rank holds more than the others do.
        const std::int64_t liveMedian = medianOf(livePeaks);
        const std::int64_t above = std::max<std::int64_t>(rank.live.bytes - liveMedian, 0);
        finding = runFinding(rank, "rank-imbalance", Severity::Critical, static_cast<std::uint64_t>(above));
        finding.playbook = "R8";
        finding.eventRange = own->eventRange;
        finding.evidence = own->evidence;
        finding.fixes = own->fixes;
    }
    finding.rank = rank.rank;
    if (!hasEvidence(finding, "allocated_peak"))
        addEvidence(finding, "allocated_peak", EvidenceValue(allocated));
    addEvidence(finding, "peers_median_allocated_peak", EvidenceValue(median));
    addEvidence(finding, "within_peers", EvidenceValue(within));
    addEvidence(finding, "peers", static_cast<std::uint64_t>(peers.size()));
    addEvidence(finding, "failed_ranks", static_cast<std::uint64_t>(failures));

    const std::string who = whoFailed(input, failing, failures);
    const std::string comparison = comparisonText(allocated, median, rank.oom->request.value_or(0), within);
    const bool tooLarge = rank.oom->request && rank.oom->usable && *rank.oom->request > *rank.oom->usable;
    std::string cause;
    if (own->rule == "fragmentation")
        cause = within ? "of memory in pieces, not of too much of it"
                       : "holding more than its peers, not of memory in pieces alone";
    else if (own->rule == "capacity")
        cause = tooLarge ? "asking at once for more than it could ever own"
            : within     ? "and was full, as its peers nearly are"
                         : "and was full: no memory in pieces, but more held than by its peers";
    else
        cause = "and free memory was out of its reach";
    const bool because = own->rule == "fragmentation";
    finding.title = who + (because ? " because " : " ") + cause + ": " + comparison + ".";
    finding.explanation = own->title + (own->explanation.empty() ? "" : " " + own->explanation);
    output.findings.push_back(std::move(finding));
}

void run(const RunRuleInput& input, RunRuleOutput& output)
{
    std::vector<std::size_t> failed;
    for (std::size_t i = 0; i < input.ranks.size(); ++i)
        if (input.ranks[i].oom)
            failed.push_back(i);
    if (input.ranks.size() < 2)
        return;
    for (std::size_t i = 0; i < failed.size() && i < mostFailures; ++i)
        tell(input, failed[i], failed.size(), output);
    if (failed.size() > mostFailures)
        output.undecided.push_back({"fragmentation",
            "room: " + formatCount(static_cast<std::int64_t>(failed.size() - mostFailures))
                + " more ranks ran out of memory; look at them one by one"});
}

} // namespace

extern const RunRule failedRanksRunRule;
const RunRule failedRanksRunRule{
    "fragmentation", "Ranks that ran out of memory while others did not, and whether they held more.", run};

} // namespace tidemark
