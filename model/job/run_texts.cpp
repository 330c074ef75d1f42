// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/run_texts.hpp"

#include "model/findings/peers_advice.hpp"
#include "model/report/failure_text.hpp"

#include <algorithm>
#include <set>

namespace tidemark {

namespace {

report::RankRow rowOf(const RankSummary& rank)
{
    report::RankRow row;
    row.name = rank.file.filename().string();
    row.rank = rank.rank;
    if (!rank.device) {
        row.problem = "lists no allocations";
        return row;
    }
    row.device = *rank.device;
    row.peak = rank.live.bytes;
    if (rank.reserved)
        row.reservedPeak = rank.reserved->bytes;
    row.failed = rank.oom.has_value();
    if (rank.oom)
        row.verdict
            = "Out of memory" + report::failureText(rank.oom->verdict, rank.oom->slack, rank.oom->thinMargin);
    else if (const Finding* worst = rank.worst())
        row.verdict = worst->title;
    else
        row.verdict = "Nothing found; " + std::to_string(rank.undecided.size()) + " rules could not decide";
    while (row.verdict.ends_with('.'))
        row.verdict.pop_back();
    return row;
}

report::RankRow rowOf(const BadFile& bad)
{
    report::RankRow row;
    row.name = bad.path.filename().string();
    row.rank = bad.rank;
    row.problem = bad.error.message;
    // The table names the file already, and where it lies may be nobody's business.
    const std::string path = bad.path.string();
    if (path.size() > row.name.size())
        for (std::size_t at = row.problem.find(path); at != std::string::npos;
             at = row.problem.find(path, at))
            row.problem.replace(at, path.size(), row.name);
    return row;
}

} // namespace

report::RunTexts runTexts(const SummarisedJob& job)
{
    const RunDiagnosis& run = job.diagnosis;
    report::RunTexts texts{run.headline(job.ranks), run.findings, {}, {}};
    if (!run.roles.sentence.empty())
        texts.notes.push_back(run.roles.sentence);
    for (const QualityNote& note : run.quality)
        if (note.id == Quality::MissingRank)
            texts.notes.push_back(note.sentence);
    std::set<std::string> sites;
    for (const RankSummary& rank : job.ranks) {
        for (const PeakSite& site : rank.sites)
            sites.insert(site.name);
        for (const Finding& finding : rank.findings)
            sites.insert(finding.site);
    }
    for (const Finding& finding : run.findings)
        sites.insert(finding.site);
    sites.erase(std::string());
    texts.sites.assign(sites.begin(), sites.end());
    return texts;
}

std::vector<report::RankRow> rankRows(const SummarisedJob& job)
{
    std::vector<report::RankRow> rows;
    for (const RankSummary& rank : job.ranks)
        rows.push_back(rowOf(rank));
    for (const BadFile& bad : job.job.bad)
        rows.push_back(rowOf(bad));
    return rows;
}

void addJob(report::ReportInput& input, std::shared_ptr<const SummarisedJob> job)
{
    if (!job || job->ranks.size() + job->job.bad.size() < 2)
        return;
    input.ranks = rankRows(*job);
    if (job->ranks.size() < 2)
        return;
    input.run = runTexts(*job);
    input.job = std::move(job);
    if (!input.diagnosis)
        return;
    auto among = std::make_shared<Diagnosis>(*input.diagnosis);
    dropPeersAdvice(among->findings);
    input.diagnosis = std::move(among);
}

} // namespace tidemark
