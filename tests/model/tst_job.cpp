// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/run_rule.hpp"
#include "model/job/summarise.hpp"
#include "tests/support/small_job.hpp"
#include "tests/support/training_trace.hpp"

#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <fstream>
#include <thread>

using namespace tidemark;
using namespace tidemark::test;

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t mib = 1U << 20;

/// Summaries that only rules look at.
RankSummary made(int rank, std::int64_t peakMib)
{
    RankSummary s;
    s.file = "snapshot_" + std::to_string(rank) + ".pickle";
    s.rank = rank;
    s.device = rank;
    s.devices = 1;
    s.live.bytes = peakMib * static_cast<std::int64_t>(mib);
    s.allocated = s.live;
    return s;
}

RankSummary failed(int rank, std::int64_t peakMib, Verdict verdict)
{
    RankSummary s = made(rank, peakMib);
    s.oom.emplace();
    s.oom->event = 10;
    s.oom->request = 100 * mib;
    s.oom->usable = 50'000 * mib;
    s.oom->verdict = verdict;
    Finding own;
    own.rule = verdict == Verdict::Fragmentation ? "fragmentation" : "capacity";
    own.severity = Severity::Critical;
    own.rank = rank;
    own.bytes = 700 * mib;
    own.eventRange = {EventIndex{10}, EventIndex{10}};
    own.title = "Its own title.";
    s.findings = {own};
    return s;
}

RunDiagnosis judged(const std::vector<RankSummary>& ranks, const RunConfig& config = {})
{
    return diagnoseRun(ranks, DiscoveredJob{}, config);
}

/// "rank-imbalance 2 300 MiB; …".
std::string textOf(const RunDiagnosis& run)
{
    std::string out;
    for (const Finding& each : run.findings)
        out += (out.empty() ? "" : "; ") + each.rule + " " + std::to_string(each.rank.value_or(-1)) + " "
            + std::to_string(each.bytes / mib) + " MiB";
    return out;
}

RunConfig parallel(int tensor, int pipeline, int world)
{
    RunConfig config;
    config.set("model.tensor_model_parallel_size", std::int64_t{tensor});
    config.set("model.pipeline_model_parallel_size", std::int64_t{pipeline});
    config.set("hardware.world_size", std::int64_t{world});
    return config;
}

std::string rolesText(const RoleMap& map)
{
    std::string out;
    for (const ParallelRole& role : map.roles)
        out += (out.empty() ? "" : " | ") + role.label + (role.detail.empty() ? "" : ": " + role.detail);
    return out;
}

} // namespace

class TestJob : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void packedNumbers()
    {
        const std::vector<std::int64_t> values{0, -1, 1, 127, 128, -300, INT64_MAX, INT64_MIN, 5};
        PackedNumbers packed;
        for (const std::int64_t each : values)
            packed.add(each);
        const std::string bytes = packed.take();
        UnpackedNumbers numbers(bytes);
        for (const std::int64_t each : values) {
            std::int64_t got = 0;
            QVERIFY(numbers.next(got));
            QCOMPARE(got, each);
        }
        QVERIFY(numbers.atEnd());
        std::int64_t got = 0;
        QVERIFY(!numbers.next(got));
        UnpackedNumbers endless(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11));
        QVERIFY(!endless.next(got));
    }

    void seriesKeepTheirExtremes()
    {
        const auto snapshot = TrainingTrace{}.make();
        const auto replay = *Replay::build(snapshot, 0, {});
        const SeriesSummary series = SeriesSummary::of(*replay);
        const Series& live = replay->timeline.requested();
        QVERIFY(series.levels().size() >= 2);
        for (std::size_t at = 0; at < series.levels().size(); ++at) {
            const auto buckets = series.level(at);
            QCOMPARE(buckets.size(), static_cast<std::size_t>(series.levels()[at].buckets));
            QCOMPARE(buckets.front().first, StateIndex{0});
            QCOMPARE(buckets.back().last, replay->states() - 1);
            std::int64_t most = 0;
            for (std::size_t b = 0; b < buckets.size(); ++b) {
                if (b > 0)
                    QCOMPARE(buckets[b].first, buckets[b - 1].last + 1);
                const auto exact = live.extremes(buckets[b].first, buckets[b].last);
                QCOMPARE(buckets[b].liveMin, exact.min);
                QCOMPARE(buckets[b].liveMax, exact.max);
                QCOMPARE(buckets[b].timeUs, replay->timeUs(buckets[b].last));
                most = std::max(most, buckets[b].liveMax);
            }
            QCOMPARE(most, live.total().max);
        }
        QCOMPARE(series.levelFor(10), std::size_t{0});
        QCOMPARE(series.levelFor(100'000), series.levels().size() - 1);
    }

    void brokenSeriesAreRefused()
    {
        QVERIFY(!SeriesSummary::fromParts(100, false, false, {{64, "short"}}));
        QVERIFY(!SeriesSummary::fromParts(10, false, false, {{64, std::string(128, '\0')}}));
        QVERIFY(!SeriesSummary::fromParts(100, false, false, {{64, std::string(129, '\0')}}));
        QVERIFY(SeriesSummary::fromParts(100, false, false, {{64, std::string(128, '\0')}}));
        QVERIFY(
            !SeriesSummary::fromParts(UINT32_MAX, false, false, {{1'000'000, std::string(2'000'000, '\0')}}));
    }

    void aSummaryAddsUp()
    {
        const fs::path path = write("snapshot_3.pickle", writePickle(climbingRank(6, 3 * mib)));
        RankFile file;
        file.path = path;
        file.rank = 3;
        const auto summary = summariseFile(file, {}, {}, {});
        QVERIFY(summary);
        QCOMPARE(summary->rank, std::optional<int>(3));
        QCOMPARE(summary->name(), std::string("rank 3"));
        QCOMPARE(summary->live.bytes, static_cast<std::int64_t>(18 * mib));
        QCOMPARE(momentOf(summary->live.state), Moment{6});
        QCOMPARE(summary->reserved->bytes, static_cast<std::int64_t>(18 * mib));
        std::uint64_t shares = 0;
        for (const PeakShare& each : summary->shares)
            shares += each.bytes;
        QCOMPARE(shares, 18 * mib);
        QCOMPARE(summary->sites.size(), std::size_t{1});
        QCOMPARE(summary->sites[0].name, std::string("forward@net.py:12"));
        QCOMPARE(summary->sites[0].allocations, std::uint64_t{6});
        QCOMPARE(summary->segmentsAtPeak.segments.size(), std::size_t{1});
        QCOMPARE(summary->segmentsAtPeak.segments[0].pieces,
            (std::vector<std::pair<PieceKind, std::uint64_t>>{{PieceKind::Live, 18 * mib}}));
        QCOMPARE(summary->segmentsAtEnd.releasable, 18 * mib);
        std::uint64_t labels = 0;
        for (const auto& [label, bytes] : summary->byLabel())
            labels += bytes;
        QCOMPARE(labels, 18 * mib);
    }

    void rolesInMegatronsOrder()
    {
        const ParallelSizes sizes = *parallelSizes(parallel(2, 2, 8), {});
        QCOMPARE(sizes.data, std::int64_t{2});
        std::vector<RankSummary> ranks;
        for (int rank = 0; rank < 8; ++rank)
            ranks.push_back(made(rank, 100));
        const RoleMap map = rolesOf(ranks, parallel(2, 2, 8), {});
        QCOMPARE(rolesText(map),
            std::string(
                "stage 0: tp 0 · pp 0 · dp 0 | stage 0: tp 1 · pp 0 · dp 0 | stage 0: tp 0 · pp 0 · dp 1 "
                "| stage 0: tp 1 · pp 0 · dp 1 | stage 1: tp 0 · pp 1 · dp 0 | stage 1: tp 1 · pp 1 · dp "
                "0 | stage 1: tp 0 · pp 1 · dp 1 | stage 1: tp 1 · pp 1 · dp 1"));
        QCOMPARE(map.groups.size(), std::size_t{2});
        QCOMPARE(map.groups[1].members, (std::vector<std::size_t>{4, 5, 6, 7}));
        // Context and expert parallelism, and stages inside the data-parallel groups.
        RunConfig config = parallel(1, 2, 8);
        config.set("model.context_parallel_size", std::int64_t{2});
        QCOMPARE(roleOfRank(5, *parallelSizes(config, {})).detail, std::string("cp 1 · pp 1 · dp 0"));
        config = parallel(1, 2, 8);
        config.set("model.expert_model_parallel_size", std::int64_t{4});
        QCOMPARE(roleOfRank(6, *parallelSizes(config, {})).detail, std::string("pp 1 · dp 2 · ep 2"));
        config = parallel(2, 2, 8);
        config.set("dist.use_tp_pp_dp_mapping", true);
        QCOMPARE(roleOfRank(2, *parallelSizes(config, {})).detail, std::string("tp 0 · pp 1 · dp 0"));
        // What does not divide tells nothing, and a rank beyond the world has no role.
        QVERIFY(!parallelSizes(parallel(3, 2, 8), {}));
        QCOMPARE(roleOfRank(8, *parallelSizes(parallel(2, 2, 8), {})).label, std::string());
        RunConfig unknownWorld;
        unknownWorld.set("model.tensor_model_parallel_size", std::int64_t{2});
        unknownWorld.set("model.pipeline_model_parallel_size", std::int64_t{2});
        QVERIFY(!parallelSizes(unknownWorld, {}));
        QVERIFY(parallelSizes(unknownWorld, 8));
    }

    void rolesByShape()
    {
        std::vector<RankSummary> ranks;
        for (int rank = 0; rank < 6; ++rank) {
            ranks.push_back(made(rank, 100));
            ranks.back().setUpBytes = 1000;
            ranks.back().mostInFlight = rank < 2 ? 4 : 2;
            for (std::uint32_t i = 0; i < 50; ++i)
                ranks.back().shape.push_back(i * 7 + (rank < 4 ? 0 : 1'000'000));
        }
        ranks[1].oom.emplace(); // cut short
        ranks[1].shape.resize(20);
        ranks[1].mostInFlight = 3;
        const RoleMap map = rolesOf(ranks, {}, {});
        QCOMPARE(static_cast<int>(map.source), static_cast<int>(RoleSource::Shapes));
        QCOMPARE(rolesText(map), std::string("group A | group A | group B | group B | group C | group C"));
    }

    void oneRankFailsForFragmentation()
    {
        std::vector<RankSummary> ranks{made(0, 1000), made(1, 1000), failed(2, 950, Verdict::Fragmentation)};
        const RunDiagnosis run = judged(ranks);
        QCOMPARE(textOf(run), std::string("fragmentation 2 700 MiB"));
        QVERIFY2(run.findings[0].title.starts_with(
                     "Only rank 2 of 3 ran out of memory because of memory in pieces, not of too much of it"),
            run.findings[0].title.c_str());
        QVERIFY(run.findings[0].explanation.starts_with("Its own title."));
        QVERIFY(run.ranks[2].outlier);
        QVERIFY(!run.ranks[0].outlier);
        // The peers' capacity is that of the rank that met it.
        QCOMPARE(run.ranks[0].capacity, std::optional<std::uint64_t>(50'000 * mib));
        QCOMPARE(run.ranks[0].headroom, std::optional<std::int64_t>(static_cast<std::int64_t>(49'000 * mib)));
        QCOMPARE(run.headline(ranks), run.findings[0].title);
    }

    void piecesAloneAreNoFragmentation()
    {
        // Slack is there, but the rank is fuller than its peers by more than the request.
        const std::vector<RankSummary> ranks{
            made(0, 1000), made(1, 1000), failed(2, 1400, Verdict::Fragmentation)};
        const RunDiagnosis run = judged(ranks);
        QCOMPARE(run.findings[0].rule, std::string("rank-imbalance"));
        QCOMPARE(run.findings[0].bytes, 400 * mib);
        for (const Finding& each : run.findings)
            QVERIFY(each.rule != "fragmentation");
        // By no more than the request is within.
        const std::vector<RankSummary> close{
            made(0, 1000), made(1, 1000), failed(2, 1100, Verdict::Fragmentation)};
        QCOMPARE(judged(close).findings[0].rule, std::string("fragmentation"));
    }

    void peersAreOfTheSameStage()
    {
        // Stage 1 holds less; the failed rank is like its own stage.
        std::vector<RankSummary> ranks{
            made(0, 2000), failed(1, 1990, Verdict::Fragmentation), made(2, 1000), made(3, 1000)};
        const RunDiagnosis run = judged(ranks, parallel(1, 2, 4));
        QCOMPARE(run.findings[0].rule, std::string("fragmentation"));
        QCOMPARE(textOf(run), std::string("fragmentation 1 700 MiB; rank-imbalance 0 1000 MiB"));
    }

    void aRankCutShortIsNoMeasure()
    {
        // The other one is only lower because it was cut short.
        const std::vector<RankSummary> ranks{made(0, 1000), failed(1, 900, Verdict::Fragmentation)};
        QCOMPARE(textOf(judged(ranks)), std::string("fragmentation 1 700 MiB"));
    }

    void allFailed()
    {
        const std::vector<RankSummary> ranks{
            failed(0, 1000, Verdict::Capacity), failed(1, 1000, Verdict::Capacity)};
        const RunDiagnosis run = judged(ranks);
        QVERIFY(run.findings.empty());
        QVERIFY(!run.undecided.empty());
    }

    void hotExperts()
    {
        std::vector<RankSummary> ranks;
        for (int rank = 0; rank < 4; ++rank) {
            ranks.push_back(made(rank, rank == 2 ? 1500 : 1000));
            ranks.back().expertBytes = (rank == 2 ? 700 : 250) * mib;
        }
        const RunDiagnosis run = judged(ranks);
        QCOMPARE(textOf(run), std::string("rank-imbalance 2 500 MiB"));
        QVERIFY(run.findings[0].title.ends_with("its experts are hot."));
        QCOMPARE(run.findings[0].fixes.size(), std::size_t{1});
        for (RankSummary& rank : ranks)
            rank.expertBytes = 250 * mib;
        QVERIFY(!judged(ranks).findings[0].title.ends_with("its experts are hot."));
        for (RankSummary& rank : ranks)
            rank.live.bytes = static_cast<std::int64_t>(1000 * mib + 10);
        QVERIFY(judged(ranks).findings.empty());
    }

    void settingsThatDiffer()
    {
        std::vector<RankSummary> ranks{made(0, 1000), made(1, 1000), made(2, 1000)};
        for (RankSummary& rank : ranks)
            rank.settings["allocator.expandable_segments"] = true;
        QVERIFY(judged(ranks).findings.empty());
        ranks[1].settings["allocator.expandable_segments"] = false;
        const RunDiagnosis run = judged(ranks);
        QCOMPARE(textOf(run), std::string("settings-differ 1 0 MiB"));
        QCOMPARE(run.findings[0].title,
            std::string(
                "The allocator's expandable_segments is false on rank 1, and true on 2 other ranks."));
        QCOMPARE(static_cast<int>(run.findings[0].severity), static_cast<int>(Severity::Warning));
    }

    void missingAndBadFilesAreNotes()
    {
        DiscoveredJob job;
        job.missing = {1, 2};
        job.bad.push_back({"a.pickle", {ErrorCode::Empty, "The file is empty.", 0}, 1});
        job.bad.push_back({"b.pickle", {ErrorCode::Truncated, "It ends at byte 7.", 7}, 2});
        const std::vector<RankSummary> ranks{made(0, 100), made(3, 100)};
        const RunDiagnosis run = diagnoseRun(ranks, job, {});
        std::string notes;
        for (const QualityNote& note : run.quality)
            notes += std::string(qualityName(note.id)) + ": " + note.sentence + "\n";
        QCOMPARE(notes,
            std::string(
                "missing-rank: Ranks 1 and 2 left no file that can be opened: comparisons over ranks leave "
                "them out.\nunreadable-file: a.pickle: The file is empty.\ntruncated-file: b.pickle: It "
                "ends at byte 7.\n"));
    }

    void whatIsSaidOfAFailedRankIsTrue()
    {
        // Above its peers, but by less than it asked for.
        const auto titleOf = [](std::uint64_t request, std::int64_t peak) {
            RankSummary bad = failed(2, peak, Verdict::Capacity);
            bad.oom->request = request * mib;
            const RunDiagnosis run = judged({made(0, 1000), made(1, 1000), bad});
            return run.findings.empty() ? std::string() : run.findings.front().title;
        };
        const auto has = [](const std::string& title, const char* words) {
            return title.find(words) != std::string::npos;
        };
        const std::string above = titleOf(400, 1300);
        QVERIFY2(has(above, "300\u00a0MiB above the") && has(above, "no more than what it asked for"),
            above.c_str());
        QVERIFY(has(titleOf(400, 990), "is no higher than"));
        QVERIFY(has(titleOf(1, 1005), "less than a hundredth"));
        QVERIFY(has(titleOf(60'000, 1300), "asking at once for more than it could ever own"));
        QVERIFY(has(titleOf(100, 1300), "more than the median of its peers"));
    }

    void everyRunRuleSpeaks()
    {
        for (const RunRule& rule : runRules())
            QVERIFY(std::string_view(rule.says).ends_with('.'));
    }

    void manyRanksInAnyOrder()
    {
        for (int rank = 0; rank < 12; ++rank)
            write("snapshot_" + std::to_string(rank) + ".pickle",
                writePickle(climbingRank(4 + rank % 3, 2 * mib)));
        write("snapshot_12.pickle", writePickle(climbingRank(4, 2 * mib)).substr(0, 900));
        std::string first;
        for (const unsigned threads : {1U, 2U, 5U})
            for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{1} << 32U}) {
                SummariseOptions options;
                options.threads = threads;
                options.memoryBudget = budget;
                std::size_t calls = 0;
                std::size_t errors = 0;
                const auto all = summarise(discovered(), options, {}, [&](const SummaryProgress& progress) {
                    QCOMPARE(progress.done, ++calls);
                    QVERIFY((progress.summary == nullptr) != (progress.error == nullptr));
                    errors += progress.error != nullptr ? 1 : 0;
                });
                QVERIFY(all);
                QCOMPARE(calls, std::size_t{13});
                QCOMPARE(errors, std::size_t{1});
                QCOMPARE(all->ranks.size(), std::size_t{12});
                QCOMPARE(all->job.bad.size(), std::size_t{1});
                const std::string text = all->diagnosis.json(all->ranks, "job");
                if (first.empty())
                    first = text;
                QCOMPARE(text, first);
            }
    }

    void aBrokenFileGivesWayToTheNext()
    {
        write("snapshot_0.pickle", writePickle(climbingRank(4, 2 * mib)));
        const fs::path broken
            = write("snapshot_oom_rank-0.pickle", writePickle(climbingRank(4, 2 * mib)).substr(0, 900));
        fs::last_write_time(broken, fs::file_time_type::clock::now() + std::chrono::hours(1));
        const DiscoveredJob job = discovered();
        QCOMPARE(job.ranks[0].chosen().path, broken);
        const auto all = summarise(job, {}, {});
        QVERIFY(all);
        QCOMPARE(all->ranks.size(), std::size_t{1});
        QCOMPARE(all->ranks[0].file.filename().string(), std::string("snapshot_0.pickle"));
        QCOMPARE(all->job.bad.size(), std::size_t{1});
        QVERIFY(all->job.missing.empty());
    }

    void filesWithoutNumbersGetTheirDevice()
    {
        write("left.pickle", writePickle(climbingRank(4, 2 * mib)));
        const auto all = summarise(discovered(), {}, {});
        QVERIFY(all);
        QCOMPARE(all->ranks[0].rank, std::optional<int>(0));
        QCOMPARE(all->ranks[0].rankFrom, std::string("device in the file"));
    }

    void stopped()
    {
        for (int rank = 0; rank < 6; ++rank)
            write("snapshot_" + std::to_string(rank) + ".pickle", writePickle(climbingRank(4, 2 * mib)));
        std::stop_source source;
        SummariseOptions options;
        options.threads = 2;
        options.memoryBudget = 1;
        std::atomic<int> calls = 0;
        const auto all
            = summarise(discovered(), options, Job{source.get_token(), {}}, [&](const SummaryProgress&) {
                  if (++calls == 2)
                      source.request_stop();
              });
        QVERIFY(!all);
        QCOMPARE(all.error().code, ErrorCode::Cancelled);
        QVERIFY(calls <= 3);
    }

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    fs::path write(const std::string& name, const std::string& bytes) const
    {
        std::ofstream(folder() / name, std::ios::binary) << bytes;
        return folder() / name;
    }
    DiscoveredJob discovered() const
    {
        const std::vector<fs::path> paths{folder()};
        return *discover(paths, {}, {});
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestJob)
#include "tst_job.moc"
