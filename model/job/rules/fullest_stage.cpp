// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/job/run_rule.hpp"
#include "model/playbook/estimator.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

/// The rank that stands for a group: its fullest, unless that one is an outlier among its own.
std::optional<std::size_t> standFor(const RunRuleInput& input, const RoleGroup& group)
{
    std::vector<std::size_t> members;
    for (const std::size_t i : group.members)
        if (input.ranks[i].device)
            members.push_back(i);
    if (members.empty())
        return std::nullopt;
    std::ranges::stable_sort(members,
        [&](std::size_t a, std::size_t b) { return input.ranks[a].live.bytes > input.ranks[b].live.bytes; });
    std::vector<std::int64_t> peers;
    for (std::size_t i = 1; i < members.size(); ++i)
        if (!input.ranks[members[i]].oom)
            peers.push_back(input.ranks[members[i]].live.bytes);
    const std::int64_t top = input.ranks[members.front()].live.bytes;
    const bool outlier = peers.size() >= 2 && top - medianOf(peers) > top / outlierShare;
    return members[outlier ? members.size() / 2 : 0];
}

struct Stage {
    const RoleGroup* group = nullptr;
    std::size_t rank = 0;
};

std::string listed(const std::vector<std::int64_t>& values)
{
    std::string out;
    for (std::size_t i = 0; i < values.size(); ++i)
        out += (i == 0 ? "" : i + 1 == values.size() ? " and " : ", ") + formatCount(values[i]);
    return out;
}

/// What the schedule lets expect, and whether it explains the fullest stage.
void addSchedule(
    const RunRuleInput& input, const std::vector<Stage>& stages, const Stage& top, Finding& finding)
{
    std::vector<std::int64_t> saved;
    std::vector<std::int64_t> peaks;
    for (const Stage& stage : stages) {
        saved.push_back(static_cast<std::int64_t>(input.ranks[stage.rank].savedActivations));
        peaks.push_back(input.ranks[stage.rank].live.bytes);
    }
    addEvidence(finding, "stage_peaks", EvidenceValue(peaks));
    double sum = 0;
    for (const std::int64_t each : saved)
        sum += static_cast<double>(each);
    if (sum > 0) {
        const double ratio
            = static_cast<double>(std::ranges::max(saved)) * static_cast<double>(saved.size()) / sum;
        addEvidence(finding, "saved_activations", EvidenceValue(saved));
        addEvidence(finding, "max_over_mean_activations", EvidenceValue(std::round(ratio * 10000) / 10000));
    }
    if (!input.roles.sizes || input.roles.sizes->pipeline < 2) {
        finding.explanation = "The groups do different work; which stage is which, the settings do not say.";
        return;
    }
    const ParallelSizes& sizes = *input.roles.sizes;
    std::vector<std::int64_t> inFlight;
    for (const Stage& stage : stages)
        inFlight.push_back(
            chunksInFlight(sizes.pipeline, *stage.group->stage, sizes.chunks, sizes.microbatches));
    addEvidence(finding, "in_flight", EvidenceValue(inFlight));
    const std::string what = sizes.chunks > 1 ? "chunks of microbatches" : "microbatches";
    std::string text = "The " + std::string(sizes.chunks > 1 ? "interleaved " : "") + "1F1B schedule keeps "
        + listed(inFlight) + " " + what
        + " in flight, first stage first, so activations fall from stage to stage. ";
    const bool first = top.group->stage == 0;
    const bool last = *top.group->stage + 1 == sizes.pipeline;
    if (first)
        text += "That the first stage is fullest is what the schedule makes, not memory in pieces.";
    else if (last)
        text += "The last stage holds the logits and the loss besides, or more layers than its share.";
    else
        text += "By the schedule alone the first stage would be fullest: this one has more layers, or larger "
                "ones.";
    finding.explanation = std::move(text);
}

void run(const RunRuleInput& input, RunRuleOutput& output)
{
    if (input.roles.groups.size() < 2) {
        if (input.ranks.size() > 1 && input.roles.source == RoleSource::None)
            output.undecided.push_back({"rank-imbalance",
                "the parallel sizes and the number of ranks in the settings, to tell pipeline stages apart"});
        return;
    }
    std::vector<Stage> stages;
    for (const RoleGroup& group : input.roles.groups)
        if (const auto rank = standFor(input, group);
            rank && (group.stage || input.roles.source != RoleSource::Settings))
            stages.push_back({&group, *rank});
    if (stages.size() < 2)
        return;
    const Stage& top = *std::ranges::max_element(
        stages, {}, [&](const Stage& stage) { return input.ranks[stage.rank].live.bytes; });
    std::vector<std::int64_t> peers;
    for (std::size_t i = 0; i < input.ranks.size(); ++i)
        if (input.ranks[i].device && input.roles.roles[i].group != input.roles.roles[top.rank].group)
            peers.push_back(input.ranks[i].live.bytes);
    const RankSummary& rank = input.ranks[top.rank];
    const std::int64_t median = medianOf(peers);
    const std::int64_t above = rank.live.bytes - median;
    if (above <= rank.live.bytes / outlierShare)
        return;
    Finding finding = runFinding(rank, "rank-imbalance", rank.oom ? Severity::Warning : Severity::Info,
        static_cast<std::uint64_t>(above));
    finding.playbook = "R8";
    addEvidence(finding, "peak", EvidenceValue(rank.live.bytes));
    addEvidence(finding, "peers_median", EvidenceValue(median));
    addEvidence(finding, "peers", static_cast<std::uint64_t>(peers.size()));
    if (top.group->stage)
        addEvidence(finding, "stage", EvidenceValue(std::int64_t{*top.group->stage}));
    std::string label = top.group->label;
    if (!label.empty() && label.front() >= 'a' && label.front() <= 'z')
        label.front() = static_cast<char>(label.front() - 'a' + 'A');
    finding.title = label + " is the fullest: " + rank.name() + " peaks at " + sizeText(rank.live.bytes)
        + ", " + sizeText(above) + " above the median of the ranks of other "
        + (top.group->stage ? "stages." : "groups.");
    addSchedule(input, stages, top, finding);
    if (top.group->stage) {
        Fix fix;
        fix.id = "rebalance-stages";
        fix.text = "Give " + top.group->label
            + " fewer layers (num_layers_in_first_pipeline_stage, num_layers_in_last_pipeline_stage, or a "
              "pipeline "
              "layout), or recompute more on it.";
        fix.grade = Grade::D;
        finding.fixes.push_back(std::move(fix));
    }
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const RunRule fullestStageRunRule;
const RunRule fullestStageRunRule{
    "rank-imbalance", "Pipeline stages that hold more than others, and what the schedule lets expect.", run};

} // namespace tidemark
