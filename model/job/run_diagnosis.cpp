// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/run_diagnosis.hpp"

#include "model/core/limits.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/job/run_rule.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tidemark {

namespace {

/// Capacity as the failed request of a rank with the same card tells it.
struct Borrowed {
    std::uint64_t usable = 0;
    std::string from;
};

std::map<std::optional<std::uint64_t>, Borrowed> usableByCard(std::span<const RankSummary> ranks)
{
    std::map<std::optional<std::uint64_t>, Borrowed> out;
    for (const RankSummary& rank : ranks) {
        if (!rank.oom || !rank.oom->usable)
            continue;
        Borrowed& known = out[rank.cardBytes];
        // Of several the least: nobody is promised more.
        if (known.usable == 0 || *rank.oom->usable < known.usable)
            known = {*rank.oom->usable, rank.name() + "'s failed request"};
    }
    return out;
}

void fillFigures(std::span<const RankSummary> ranks, const RoleMap& roles, std::vector<RankStanding>& out)
{
    const auto borrowed = usableByCard(ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const RankSummary& rank = ranks[i];
        RankStanding& standing = out[i];
        if (!rank.device)
            continue;
        if (rank.oom && rank.oom->usable) {
            standing.capacity = rank.oom->usable;
            standing.capacityFrom = "its failed request";
        } else if (const auto other = borrowed.find(rank.cardBytes); other != borrowed.end()) {
            standing.capacity = other->second.usable;
            standing.capacityFrom = other->second.from;
        } else if (rank.cardBytes) {
            standing.capacity = rank.cardBytes;
            standing.capacityFrom = "size of the card";
        }
        if (standing.capacity)
            standing.headroom = static_cast<std::int64_t>(*standing.capacity) - rank.allocated.bytes;
        if (rank.reserved)
            standing.overhead = rank.reserved->bytes - rank.allocated.bytes;
        if (!rank.findings.empty()) {
            standing.worst = rank.findings.front().severity;
            standing.worstTitle = rank.findings.front().title;
        }
    }
    for (const RoleGroup& group : roles.groups) {
        std::vector<std::int64_t> peaks;
        for (const std::size_t i : group.members)
            peaks.push_back(ranks[i].live.bytes);
        const std::int64_t median = medianOf(peaks);
        for (const std::size_t i : group.members)
            out[i].groupMedian = median;
    }
}

/// Ranks that findings over the ranks name stand out.
void markOutliers(std::span<const RankSummary> ranks, RunDiagnosis& run)
{
    for (const Finding& finding : run.findings)
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            RankStanding& standing = run.ranks[i];
            if (!finding.rank || ranks[i].rank != finding.rank)
                continue;
            if (!standing.outlier) {
                standing.outlier = true;
                standing.reason = finding.title;
            }
            if (!standing.worst || finding.severity <= *standing.worst) {
                standing.worst = finding.severity;
                standing.worstTitle = finding.title;
            }
        }
}

void addFileNotes(const DiscoveredJob& job, std::vector<QualityNote>& out)
{
    for (const bool truncated : {false, true}) {
        QualityNote note;
        note.id = truncated ? Quality::TruncatedFile : Quality::UnreadableFile;
        note.count = 0;
        for (const BadFile& bad : job.bad) {
            if ((bad.error.code == ErrorCode::Truncated) != truncated)
                continue;
            ++note.count;
            const std::string name = displayText(bad.path.filename().string());
            if (note.count == 1)
                note.sentence = name + ": " + displayText(bad.error.message);
            if (note.examples.size() < limits::maxExamples)
                note.examples.push_back(name);
        }
        if (note.count > 1)
            note.sentence += " And " + formatCount(static_cast<std::int64_t>(note.count - 1))
                + (note.count == 2 ? " more file." : " more files.");
        if (note.count > 0)
            out.push_back(std::move(note));
    }
}

/// What the recordings of the ranks lack, once for all of them.
void addSharedNotes(std::span<const RankSummary> ranks, std::vector<QualityNote>& out)
{
    std::map<Quality, std::vector<std::size_t>> having;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        for (const QualityNote& note : ranks[i].quality)
            if (having[note.id].empty() || having[note.id].back() != i)
                having[note.id].push_back(i);
    for (const auto& [id, which] : having) {
        QualityNote note;
        note.id = id;
        note.count = which.size();
        const auto& first = ranks[which.front()];
        const auto own = std::ranges::find(first.quality, id, &QualityNote::id);
        std::string who = namesOfRanks(ranks, which);
        if (!who.empty() && who.starts_with("rank"))
            who.front() = 'R';
        note.sentence = which.size() == ranks.size() && ranks.size() > 1 ? "All ranks: " + own->sentence
                                                                         : who + ": " + own->sentence;
        out.push_back(std::move(note));
    }
}

} // namespace

RunDiagnosis diagnoseRun(
    std::span<const RankSummary> summaries, const DiscoveredJob& job, const RunConfig& config)
{
    RunDiagnosis run;
    run.roles = rolesOf(summaries, config, job.worldSize);
    run.ranks.resize(summaries.size());
    fillFigures(summaries, run.roles, run.ranks);
    const RunRuleInput input{summaries, run.roles, config, job.missing, job.missingSentence()};
    std::set<std::string> ran;
    std::set<std::string> spoke;
    for (const RunRule& rule : runRules()) {
        RunRuleOutput output;
        rule.run(input, output);
        ran.insert(rule.id);
        for (Finding& finding : output.findings) {
            spoke.insert(finding.rule);
            spoke.insert(rule.id);
            run.findings.push_back(std::move(finding));
        }
        for (Undecided& each : output.undecided) {
            spoke.insert(each.rule);
            run.undecided.push_back(std::move(each));
        }
        for (QualityNote& note : output.notes) {
            spoke.insert(rule.id);
            run.quality.push_back(std::move(note));
        }
    }
    for (const std::string& rule : ran)
        if (!spoke.contains(rule))
            run.clear.push_back(rule);
    std::ranges::stable_sort(run.findings, [](const Finding& a, const Finding& b) {
        return std::tuple(a.severity, b.bytes) < std::tuple(b.severity, a.bytes);
    });
    markOutliers(summaries, run);
    addFileNotes(job, run.quality);
    addSharedNotes(summaries, run.quality);
    return run;
}

std::string RunDiagnosis::headline(std::span<const RankSummary> summaries) const
{
    if (!findings.empty())
        return findings.front().title;
    if (summaries.size() < 2)
        return "One rank only: nothing to compare it with.";
    return formatCount(static_cast<std::int64_t>(summaries.size())) + " ranks, none of which stands out.";
}

} // namespace tidemark
