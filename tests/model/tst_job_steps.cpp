// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of a job: files of several steps, and one step of all ranks.
#include "model/job/digest.hpp"
#include "model/job/same_step.hpp"
#include "model/job/summarise.hpp"
#include "tests/support/small_job.hpp"

#include <QTemporaryDir>
#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t mib = 1U << 20;

/// A rank of which only the steps matter.
RankSummary stepped(int rank, std::int64_t peak, std::vector<std::string> names)
{
    RankSummary s;
    s.rank = rank;
    s.live = {peak, 15, {}};
    StateIndex at = 0;
    for (std::string& name : names) {
        s.steps.push_back({std::move(name), at, at + 9, true});
        s.stepPeaks.push_back({peak - static_cast<std::int64_t>(at), std::nullopt});
        at += 10;
    }
    return s;
}

} // namespace

class TestJobSteps : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_run = m_folder->path().toStdString();
    }

    void peaksOfStepsAreExact()
    {
        // The second round is the fullest: pieces of it are what the rounds around it do not reach.
        writeJobFile(m_run / "snapshot_0.pickle", writePickle(climbingRank(20, 64 * mib, 3, true)));
        writeJobFile(m_run / "snapshot_1.pickle", writePickle(fragmentedRank(30, 64 * mib, 2, true)));
        const SummarisedJob all = summed();
        QCOMPARE(all.ranks[0].steps.size(), std::size_t(3));
        QCOMPARE(all.ranks[0].stepPeaks.size(), std::size_t(3));
        for (const StepPeak& peak : all.ranks[0].stepPeaks) {
            QCOMPARE(peak.live, static_cast<std::int64_t>(20 * 64 * mib));
            QCOMPARE(peak.reserved, std::optional(static_cast<std::int64_t>(20 * 64 * mib)));
        }
        QCOMPARE(stepsInCommon(all.ranks), (std::vector<std::string>{"ProfilerStep#1", "ProfilerStep#2"}));
        QCOMPARE(stepToLookAt(all.ranks), std::string("ProfilerStep#2")); // where the failing rank stopped
        QVERIFY(stepPeak(all.ranks[1], "ProfilerStep#3") == nullptr);
        // A digest tells the same.
        const auto again = parseDigest(digestBytes(all.ranks[1]), "d.tmdigest");
        QVERIFY(again);
        QCOMPARE(again->stepPeaks.size(), all.ranks[1].stepPeaks.size());
        QCOMPARE(again->stepPeaks[1].live, all.ranks[1].stepPeaks[1].live);
        QCOMPARE(again->stepPeaks[1].reserved, all.ranks[1].stepPeaks[1].reserved);
    }

    void countedStepsNeedTheStart()
    {
        std::vector<RankSummary> ranks{stepped(0, 500, {"step 1", "step 2", "step 10"}),
            stepped(1, 900, {"step 1", "step 2", "step 10"}), stepped(2, 100, {"step 1"})};
        QCOMPARE(stepsInCommon(ranks), (std::vector<std::string>{"step 1", "step 2", "step 10"}));
        QCOMPARE(stepToLookAt(ranks), std::string("step 2")); // where the fullest one peaks
        ranks[1].reachesStart = false;
        QCOMPARE(stepsInCommon(ranks), std::vector<std::string>{"step 1"});
        QVERIFY(stepPeak(ranks[1], "step 1") == nullptr);
        ranks[0].stepPeaks.clear(); // of a digest that does not have them
        QVERIFY(stepsInCommon(ranks).empty());
        QCOMPARE(stepToLookAt(ranks), std::string());
        QCOMPARE(stepToLookAt({}), std::string());
    }

    void whatIsKnownIsNotReadAgain()
    {
        writeSmallJob(m_run / "iteration_5", 3, -1, 10);
        writeSmallJob(m_run / "iteration_10", 3, -1, 30);
        const SummarisedJob newest = summed();
        QCOMPARE(newest.job.steps, (std::vector<std::int64_t>{5, 10}));
        QCOMPARE(newest.ranks[2].live.bytes, static_cast<std::int64_t>(30 * 64 * mib));
        const SummarisedJob older = summed(5);
        QCOMPARE(older.ranks[2].live.bytes, static_cast<std::int64_t>(10 * 64 * mib));
        QCOMPARE(older.ranks[2].step, std::optional<std::int64_t>(5));
        // Nobody could read these files any more.
        DiscoveredJob job = found();
        for (int rank = 0; rank < 3; ++rank)
            writeJobFile(m_run / "iteration_10" / ("snapshot_" + std::to_string(rank) + ".pickle"), "");
        SummariseOptions options;
        options.known = std::make_shared<const std::vector<RankSummary>>(newest.ranks);
        const auto again = summarise(std::move(job), options, {});
        QVERIFY(again);
        QCOMPARE(again->diagnosis.json(again->ranks, "job"), newest.diagnosis.json(newest.ranks, "job"));
    }

    void filesThatAreLeftOutAreNamed()
    {
        writeSmallJob(m_run, 3);
        const fs::path later = m_run / "snapshot_oom_rank-1.pickle";
        writeJobFile(later, writePickle(fragmentedRank(20, 64 * mib)));
        fs::last_write_time(later, fs::file_time_type::clock::now() + std::chrono::hours(1));
        const std::vector<std::string> said = found().supersededSentences();
        QCOMPARE(said.size(), std::size_t(1));
        QVERIFY2(
            said[0].starts_with("Rank 1 has 2 files: snapshot_oom_rank-1.pickle is taken instead: it was "
                                "written later"),
            said[0].c_str());
    }

    void partOfARank()
    {
        writeSmallJob(m_run, 2);
        const std::string whole = writePickle(climbingRank(40, mib, 40));
        writeJobFile(m_run / "snapshot_2.pickle", whole.substr(0, whole.size() / 2));
        const SummarisedJob without = summed();
        QCOMPARE(without.ranks.size(), std::size_t(2));
        QCOMPARE(without.job.missing, std::vector<int>{2});
        SummariseOptions options;
        options.read.partial = true;
        const auto with = summarise(found(), options, {});
        QVERIFY(with);
        QCOMPARE(with->ranks.size(), std::size_t(3));
        QVERIFY(with->ranks[2].events > 0);
        QVERIFY(with->job.missing.empty());
        const auto& notes = with->ranks[2].quality;
        QVERIFY(std::any_of(notes.begin(), notes.end(),
            [](const QualityNote& note) { return note.id == Quality::TruncatedFile; }));
    }

private:
    DiscoveredJob found(std::optional<std::int64_t> step = {}) const
    {
        auto job = *discover(std::span(&m_run, 1), {}, {});
        if (step)
            chooseStep(job, step);
        return job;
    }
    SummarisedJob summed(std::optional<std::int64_t> step = {}) const
    {
        return *summarise(found(step), {}, {});
    }
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_run;
};

QTEST_GUILESS_MAIN(TestJobSteps)
#include "tst_job_steps.moc"
