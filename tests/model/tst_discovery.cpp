// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/discovery.hpp"
#include "model/job/name_rules.hpp"
#include "tests/support/recorded_snapshot.hpp"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

using namespace tidemark;
using namespace tidemark::test;

namespace fs = std::filesystem;

namespace {

std::string snapshot()
{
    RecordedSnapshot s;
    s.events = {{"segment_alloc", 4096, 2097152, 0, 10, noStack}, {"alloc", 4096, 700, 0, 20, noStack}};
    s.segments = {{4096, 2097152, 0, true, {0, 0}, false, noStack,
        {{4096, 1024, 700, "active_allocated", noStack}, {5120, 2096128, 0, "inactive", noStack}}}};
    return writePickle(s);
}

/// "rank 3, step 10, oom".
std::string factsText(const char* path)
{
    const NameFacts facts = factsOfName(path);
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    if (facts.rank)
        add("rank " + std::to_string(*facts.rank));
    if (facts.worldSize)
        add("of " + std::to_string(*facts.worldSize));
    if (facts.step)
        add("step " + std::to_string(*facts.step));
    if (facts.oom)
        add("oom");
    return out;
}

/// "0: a.pickle (b.pickle); 1: …; ?: c.pickle".
std::string ranksOf(const DiscoveredJob& job)
{
    std::string out;
    for (const RankFiles& rank : job.ranks) {
        out += (out.empty() ? "" : "; ") + (rank.rank ? std::to_string(*rank.rank) : std::string("?")) + ":";
        for (std::size_t i = 0; i < rank.files.size(); ++i)
            out += (i == 0 ? " " : i == 1 ? " (" : " ") + rank.files[i].path.filename().string();
        if (rank.files.size() > 1)
            out += ")";
    }
    return out;
}

std::string namesOf(const std::vector<fs::path>& paths)
{
    std::string out;
    for (const fs::path& path : paths)
        out += (out.empty() ? "" : " ") + path.filename().string();
    return out;
}

} // namespace

class TestDiscovery : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void names_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("facts");
        const std::pair<const char*, const char*> rows[] = {
            {"snapshot_3.pickle", "rank 3"},
            {"snapshot_oom_rank-3.pickle", "rank 3, oom"},
            {"iteration_10/rank7_memory_snapshot.pickle", "rank 7, step 10"},
            {"iteration_10_exit/rank7_memory_snapshot.pickle", "rank 7, step 10, oom"},
            {"iteration_10__rank7_memory_snapshot.pickle.tmdigest", "rank 7, step 10"},
            {"oom_rank5.pickle", "rank 5, oom"},
            {"oom_Rank5.PICKLE", "rank 5, oom"},
            {"step_12_rank_7.pickle", "rank 7, step 12"},
            {"rank_7_step_12.pickle.gz", "rank 7, step 12"},
            {"memory_snapshot_rank_0_of_8.pickle", "rank 0, of 8"},
            {"mem-rank00012.json.zst", "rank 12"},
            {"checkpoint-500/rank=3.pkl", "rank 3, step 500"},
            {"rank_4/snapshot.pickle", "rank 4"},
            {"rank7/snapshot_12.pickle", "rank 7"},
            {"step10_r3.pickle", "rank 3, step 10"},
            {"global_rank_9_local_rank_1.pickle", "rank 9"},
            {"4.pickle", "rank 4"},
            {"0_memory.pickle", "rank 0"},
            {"host17_Jul_14_09_31_05.pickle", ""},
            {"snapshot_20260714.pickle", ""},
            {"snapshot.pickle", ""},
            {"frank3.pickle", ""},
            {"zoom.pickle", ""},
            {"bloom_rank1.pickle", "rank 1"},
            {"out_of_memory_rank1.pickle", "rank 1, oom"},
        };
        for (const auto& [path, facts] : rows)
            QTest::addRow("%s", path) << path << facts;
    }
    void names()
    {
        QFETCH(QString, path);
        QFETCH(QString, facts);
        QCOMPARE(QString::fromStdString(factsText(path.toUtf8().constData())), facts);
    }

    void everyRuleSaysWhoWritesIt()
    {
        for (const NameRule& rule : nameRules()) {
            QVERIFY(*rule.writtenBy != 0);
            const bool number = std::string_view(rule.pattern).find('#') != std::string_view::npos;
            QVERIFY2(number || rule.fact == NameFact::Oom, rule.pattern);
        }
    }

    void aFolderIsAJob()
    {
        for (const char* name : {"snapshot_0.pickle", "snapshot_10.pickle", "snapshot_2.pickle"})
            write(name, snapshot());
        write("deeper/snapshot_1.pickle", snapshot());
        write("notes.md", "text");
        write("expected.json", "{\"figures\": 1}");
        write("run_config.yaml", "model:\n  num_layers: 4\n");
        write(".hidden/snapshot_3.pickle", snapshot());
        const DiscoveredJob job = discovered();
        QCOMPARE(ranksOf(job),
            std::string("0: snapshot_0.pickle; 1: snapshot_1.pickle; 2: snapshot_2.pickle; 10: "
                        "snapshot_10.pickle"));
        QVERIFY(job.bad.empty());
        QCOMPARE(namesOf(job.beside), std::string("expected.json notes.md run_config.yaml"));
        QCOMPARE(namesOf(job.configFiles), std::string("run_config.yaml"));
        QCOMPARE(job.missing, (std::vector<int>{3, 4, 5, 6, 7, 8, 9}));
        QCOMPARE(job.missingSentence(),
            std::string("Ranks 3–9 left no file that can be opened: comparisons over ranks leave them out."));
        QCOMPARE(job.ranks[1].chosen().rankFrom, std::string("file name"));
    }

    void badFilesAreNamed()
    {
        write("rank0_memory_snapshot.pickle", snapshot());
        write("rank1_memory_snapshot.pickle", "");
        write("rank2_memory_snapshot.pickle", "no pickle at all");
        write("rank3_memory_snapshot.pickle", snapshot().substr(0, 200)); // told when it is read
        DiscoveredJob job = discovered();
        QCOMPARE(
            ranksOf(job), std::string("0: rank0_memory_snapshot.pickle; 3: rank3_memory_snapshot.pickle"));
        QCOMPARE(job.bad.size(), std::size_t{2});
        QCOMPARE(job.bad[0].error.code, ErrorCode::Empty);
        QCOMPARE(job.bad[1].error.code, ErrorCode::NotASnapshot);
        QCOMPARE(job.bad[1].rank, std::optional<int>(2));
        QCOMPARE(job.missing, (std::vector<int>{1, 2}));
        QVERIFY(!reject(job, folder() / "rank3_memory_snapshot.pickle",
            {ErrorCode::Truncated, "It ends at byte 200.", 200}));
        QCOMPARE(job.missing, (std::vector<int>{1, 2, 3}));
        QCOMPARE(job.bad.back().error.message, std::string("It ends at byte 200."));
    }

    void theNewerFileWinsVisibly()
    {
        touch(write("snapshot_0.pickle", snapshot()), 100);
        touch(write("snapshot_oom_rank-0.pickle", snapshot()), 50);
        DiscoveredJob job = discovered();
        QCOMPARE(ranksOf(job), std::string("0: snapshot_0.pickle (snapshot_oom_rank-0.pickle)"));
        QVERIFY(job.ranks[0].files[0].superseded.empty());
        QVERIFY(job.ranks[0].files[1].superseded.starts_with(
            "snapshot_0.pickle is taken instead: it was written later, on "));
        // What was recorded counts more than the date of a copy.
        const std::vector<FileContent> read{{folder() / "snapshot_0.pickle", false, 0, 1'000, {}, {}},
            {folder() / "snapshot_oom_rank-0.pickle", true, 0, 2'000, {}, {}}};
        learn(job, read);
        QCOMPARE(ranksOf(job), std::string("0: snapshot_oom_rank-0.pickle (snapshot_0.pickle)"));
        // And when the better one is broken, the other is left.
        QVERIFY(reject(job, folder() / "snapshot_oom_rank-0.pickle", {ErrorCode::Truncated, "Cut.", 7}));
        QCOMPARE(ranksOf(job), std::string("0: snapshot_0.pickle"));
        QVERIFY(job.ranks[0].files[0].superseded.empty());
        QVERIFY(job.missing.empty());
    }

    void ofTwoEquallyNewTheDumpOfTheFailure()
    {
        touch(write("snapshot_3.pickle", snapshot()), 100);
        touch(write("snapshot_oom_rank-3.pickle", snapshot()), 100);
        const DiscoveredJob job = discovered();
        QCOMPARE(ranksOf(job), std::string("3: snapshot_oom_rank-3.pickle (snapshot_3.pickle)"));
        QCOMPARE(job.ranks[0].files[1].superseded,
            std::string("snapshot_oom_rank-3.pickle is taken instead: it was dumped when memory ran out."));
    }

    void stepsAreAChoice()
    {
        for (const char* step : {"iteration_10", "iteration_20"})
            for (const char* rank : {"rank0_memory_snapshot.pickle", "rank1_memory_snapshot.pickle"})
                write((fs::path(step) / rank).string(), snapshot());
        fs::remove(folder() / "iteration_20" / "rank1_memory_snapshot.pickle");
        DiscoveredJob job = discovered();
        QCOMPARE(job.steps, (std::vector<std::int64_t>{10, 20}));
        QCOMPARE(job.ranks[0].chosen().step, std::optional<std::int64_t>(20));
        QCOMPARE(job.ranks[0].files[1].superseded,
            std::string("rank0_memory_snapshot.pickle is taken instead: step 20 is later."));
        QCOMPARE(job.ranks[1].chosen().step, std::optional<std::int64_t>(10));
        chooseStep(job, 10);
        QCOMPARE(job.ranks[0].chosen().step, std::optional<std::int64_t>(10));
        QVERIFY(job.ranks[0].files[1].superseded.ends_with("step 10 was asked for."));
        chooseStep(job, {});
        QCOMPARE(job.ranks[0].chosen().step, std::optional<std::int64_t>(20));
    }

    void whatIsExpected()
    {
        write("snapshot_0.pickle", snapshot());
        write("snapshot_2.pickle", snapshot());
        write("env.txt", "WORLD_SIZE=4\nPATH=/bin\n");
        DiscoveredJob job = discovered();
        QCOMPARE(job.worldSize, std::optional<int>(4));
        QCOMPARE(job.worldSizeFrom, std::string("WORLD_SIZE"));
        QCOMPARE(job.missing, (std::vector<int>{1, 3}));
        QCOMPARE(job.missingSentence(),
            std::string("Ranks 1 and 3 left no file that can be opened of 4: comparisons over ranks leave "
                        "them out."));
        // Only some were to be recorded.
        write("run_config.yaml", "profiling:\n  profile_ranks:\n  - 0\n  - 2\n");
        job = discovered();
        QVERIFY(job.missing.empty());
        // The name of one file counts as well.
        fs::remove(folder() / "env.txt");
        fs::remove(folder() / "run_config.yaml");
        write("mem_rank_1_of_6.pickle", snapshot());
        QCOMPARE(discovered().missing, (std::vector<int>{3, 4, 5}));
    }

    void contentGivesARankWhereNoNameDoes()
    {
        write("alpha.pickle", snapshot());
        write("beta.pickle", snapshot());
        DiscoveredJob job = discovered();
        QCOMPARE(ranksOf(job), std::string("?: alpha.pickle; ?: beta.pickle"));
        learn(job,
            std::vector<FileContent>{{folder() / "beta.pickle", false, 0, {}, {}, {}},
                {folder() / "alpha.pickle", false, 1, {}, {}, {}}});
        QCOMPARE(ranksOf(job), std::string("0: beta.pickle; 1: alpha.pickle"));
        QCOMPARE(job.ranks[0].chosen().rankFrom, std::string("device in the file"));
    }

    void sameDeviceInTwoFilesTellsNothing()
    {
        write("alpha.pickle", snapshot());
        write("beta.pickle", snapshot());
        DiscoveredJob job = discovered();
        learn(job,
            std::vector<FileContent>{{folder() / "alpha.pickle", false, 0, {}, {}, {}},
                {folder() / "beta.pickle", false, 0, {}, {}, {}}});
        QCOMPARE(ranksOf(job), std::string("?: alpha.pickle; ?: beta.pickle"));
    }

    void aDigestKnowsItsRank()
    {
        write("alpha.pickle", snapshot());
        write("snapshot_1.pickle", snapshot());
        DiscoveredJob job = discovered();
        learn(job, std::vector<FileContent>{{folder() / "alpha.pickle", false, 0, {}, 7, 40}});
        QCOMPARE(ranksOf(job), std::string("1: snapshot_1.pickle; 7: alpha.pickle"));
        QCOMPARE(job.steps, std::vector<std::int64_t>{40});
    }

    void filesInAnyOrderAndTwice()
    {
        write("snapshot_1.pickle", snapshot());
        write("snapshot_0.pickle", snapshot());
        const std::vector<fs::path> paths{folder() / "snapshot_1.pickle", folder(),
            folder() / "snapshot_0.pickle", folder() / "gone.pickle"};
        const auto job = discover(paths, {}, {});
        QVERIFY(job);
        QCOMPARE(ranksOf(*job), std::string("0: snapshot_0.pickle; 1: snapshot_1.pickle"));
        QCOMPARE(job->bad.size(), std::size_t{1});
        QCOMPARE(job->bad[0].error.code, ErrorCode::NotFound);
    }

    void nothingThere()
    {
        const std::vector<fs::path> paths{folder()};
        const auto job = discover(paths, {}, {});
        QVERIFY(!job);
        QCOMPARE(job.error().code, ErrorCode::NotFound);
    }

    void stopped()
    {
        write("snapshot_0.pickle", snapshot());
        std::stop_source source;
        source.request_stop();
        const std::vector<fs::path> paths{folder()};
        QCOMPARE(discover(paths, {}, Job{source.get_token(), {}}).error().code, ErrorCode::Cancelled);
    }

    void ranksInWords()
    {
        QCOMPARE(ranksText(std::vector<int>{}), std::string());
        QCOMPARE(ranksText(std::vector<int>{3}), std::string("3"));
        QCOMPARE(ranksText(std::vector<int>{3, 4}), std::string("3 and 4"));
        QCOMPARE(ranksText(std::vector<int>{0, 1, 2, 5, 7, 8, 9}), std::string("0–2, 5 and 7–9"));
    }

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    fs::path write(const std::string& name, const std::string& bytes) const
    {
        const fs::path path = folder() / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    static void touch(const fs::path& path, int seconds)
    {
        fs::last_write_time(path, fs::file_time_type(std::chrono::seconds(seconds)));
    }
    DiscoveredJob discovered() const
    {
        const std::vector<fs::path> paths{folder()};
        auto job = discover(paths, {}, {});
        if (!job)
            qFatal("%s", job.error().message.c_str());
        return *job;
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestDiscovery)
#include "tst_discovery.moc"
