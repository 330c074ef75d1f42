// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/digest.hpp"
#include "tests/support/small_job.hpp"

#include <nlohmann/json.hpp>

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <map>
#include <memory>
#include <random>
#include <set>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int patience = 120000;
using Variables = std::map<QString, QString>;

struct Ended {
    int status = -1;
    QString out;
    QString err;
};

/// The program as a process of its own, with these variables and none of a scheduler that may be there.
std::unique_ptr<QProcess> started(const QStringList& arguments, const Variables& variables = {})
{
    auto process = std::make_unique<QProcess>();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const QString& key : environment.keys())
        if (key.startsWith("SLURM_") || key.startsWith("OMPI_") || key == "RANK" || key == "WORLD_SIZE")
            environment.remove(key);
    for (const auto& [key, value] : variables)
        environment.insert(key, value);
    process->setProcessEnvironment(environment);
    process->start(qEnvironmentVariable("TIDEMARK_BIN"), arguments);
    return process;
}

Ended ended(QProcess& process)
{
    if (!process.waitForFinished(patience))
        return {};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
        QString::fromUtf8(process.readAllStandardOutput()),
        QString::fromUtf8(process.readAllStandardError())};
}

Ended called(const QStringList& arguments, const Variables& variables = {})
{
    return ended(*started(arguments, variables));
}

QString text(const fs::path& path)
{
    return QString::fromStdString(path.string());
}

/// The snapshots that the digests of a folder were made of, each by name; "bad" for one that does not open.
std::multiset<std::string> digested(const fs::path& folder)
{
    std::multiset<std::string> names;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
        if (entry.path().extension() == digestEnding) {
            const auto digest = readDigest(entry.path(), {});
            names.insert(digest ? digest->snapshot.filename().string() : "bad " + entry.path().string());
        }
    return names;
}

std::multiset<std::string> expected(int ranks)
{
    std::multiset<std::string> names;
    for (int rank = 0; rank < ranks; ++rank)
        names.insert("snapshot_" + std::to_string(rank) + ".pickle");
    return names;
}

std::vector<Json> lines(const QString& out)
{
    std::vector<Json> all;
    for (const QString& line : out.split('\n', Qt::SkipEmptyParts))
        all.push_back(Json::parse(line.toStdString()));
    return all;
}

/// Every task of several, as a scheduler that sets these variables starts them.
std::vector<Variables> tasksOf(const QString& by, int count)
{
    std::vector<Variables> tasks;
    for (int i = 0; i < count; ++i) {
        const QString n = QString::number(i);
        const QString of = QString::number(count);
        if (by == "slurm")
            tasks.push_back({{"SLURM_PROCID", n}, {"SLURM_NTASKS", of}});
        else if (by == "array")
            tasks.push_back({{"SLURM_ARRAY_TASK_ID", QString::number(i + 5)}, {"SLURM_ARRAY_TASK_MIN", "5"},
                {"SLURM_ARRAY_TASK_COUNT", of}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}});
        else if (by == "mpi")
            tasks.push_back({{"OMPI_COMM_WORLD_RANK", n}, {"OMPI_COMM_WORLD_SIZE", of}});
        else
            tasks.push_back({{"RANK", n}, {"WORLD_SIZE", of}});
    }
    return tasks;
}

} // namespace

/// tidemark digest as a scheduler runs it, and diagnose and info on folders of ranks.
class TestDigestCommand : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        if (qEnvironmentVariable("TIDEMARK_BIN").isEmpty())
            QSKIP("TIDEMARK_BIN does not say where the program is.");
        m_folder = std::make_unique<QTemporaryDir>();
        m_run = fs::path(m_folder->path().toStdString()) / "run";
        m_out = fs::path(m_folder->path().toStdString()) / "digests";
    }

    void makesEachOnceAndSkipsWhatIsDone()
    {
        writeSmallJob(m_run, 5);
        const Ended first = called(digest());
        QVERIFY2(first.status == 0, qPrintable(first.err));
        QCOMPARE(first.out.count('\n'), 5);
        QVERIFY(digested(m_out) == expected(5));
        const Ended again = called(digest());
        QCOMPARE(again.status, 0);
        QCOMPARE(again.out, QString());
        QVERIFY2(again.err.contains("0 made, 5 done already"), qPrintable(again.err));
        // A snapshot that was written anew is digested anew, the others stay.
        writeJobFile(m_run / "snapshot_2.pickle", writePickle(climbingRank(9, 1 << 20)));
        const Ended changed = called(digest());
        QVERIFY2(changed.err.contains("1 made, 4 done already"), qPrintable(changed.err));
        QVERIFY2(changed.out.contains("snapshot_2"), qPrintable(changed.out));
        QVERIFY(digested(m_out) == expected(5));
    }

    void sharesTogetherMakeEachOnce_data()
    {
        QTest::addColumn<QString>("by");
        for (const char* by : {"slurm", "array", "mpi", "torchrun"})
            QTest::newRow(by) << by;
    }

    void sharesTogetherMakeEachOnce()
    {
        QFETCH(QString, by);
        writeSmallJob(m_run, 7);
        std::vector<std::unique_ptr<QProcess>> running;
        for (const Variables& task : tasksOf(by, 3))
            running.push_back(started(digest(), task));
        QStringList made;
        for (const auto& process : running) {
            const Ended end = ended(*process);
            QVERIFY2(end.status == 0, qPrintable(end.err));
            made += end.out.split('\n', Qt::SkipEmptyParts);
        }
        QCOMPARE(made.size(), 7);
        made.removeDuplicates();
        QCOMPARE(made.size(), 7);
        QVERIFY(digested(m_out) == expected(7));
    }

    void moreTasksThanFiles()
    {
        writeSmallJob(m_run, 2);
        for (const Variables& task : tasksOf("slurm", 4))
            QCOMPARE(called(digest(), task).status, 0);
        QVERIFY(digested(m_out) == expected(2));
    }

    void wrongShareIsOneSentence()
    {
        writeSmallJob(m_run, 2);
        const Ended end = called(digest(), {{"SLURM_PROCID", "x"}, {"SLURM_NTASKS", "2"}});
        QCOMPARE(end.status, 2);
        QCOMPARE(end.err.trimmed().count('\n'), 0);
        QVERIFY2(end.err.contains("SLURM_PROCID"), qPrintable(end.err));
    }

    void killedTasksLoseAndDuplicateNothing()
    {
        constexpr int ranks = 24;
        writeSmallJob(m_run, ranks, -1, 400);
        std::mt19937 random(7);
        for (int round = 0; round < 6; ++round) {
            std::vector<std::unique_ptr<QProcess>> running;
            for (const Variables& task : tasksOf("slurm", 3))
                running.push_back(started(digest(), task));
            for (const auto& process : running) {
                process->waitForStarted(); // false where it is done already
                QTest::qWait(static_cast<int>(random() % 40));
                process->kill();
            }
            for (const auto& process : running)
                QVERIFY(process->state() == QProcess::NotRunning || process->waitForFinished(patience));
            // What is there is whole, and made of a file each.
            const auto names = digested(m_out);
            for (const std::string& name : names) {
                QVERIFY2(!name.starts_with("bad"), name.c_str());
                QCOMPARE(names.count(name), std::size_t(1));
            }
        }
        const std::size_t before = digested(m_out).size();
        std::size_t made = 0;
        for (const Variables& task : tasksOf("slurm", 3)) {
            const Ended end = called(digest(), task);
            QVERIFY2(end.status == 0, qPrintable(end.err));
            made += static_cast<std::size_t>(end.out.count('\n'));
        }
        QCOMPARE(before + made, std::size_t(ranks));
        QVERIFY(digested(m_out) == expected(ranks));
    }

    void staleTemporariesGo()
    {
        writeSmallJob(m_run, 2);
        const fs::path stale = m_out / "snapshot_0.pickle.tmdigest.Ab3xYz";
        const fs::path fresh = m_out / "snapshot_1.pickle.tmdigest.Q9w2eR";
        const fs::path other = m_out / "notes.tmdigest.backup1";
        for (const fs::path& file : {stale, fresh, other})
            writeJobFile(file, "TMDIGEST half");
        for (const fs::path& file : {stale, other})
            fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
        // Only one of the tasks looks after them.
        QCOMPARE(called(digest(), {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}).status, 0);
        QVERIFY(fs::exists(stale));
        const Ended end = called(digest());
        QCOMPARE(end.status, 0);
        QVERIFY(!fs::exists(stale));
        QVERIFY(fs::exists(fresh)); // its task may be at work
        QVERIFY(fs::exists(other)); // not ours
        QVERIFY(digested(m_out) == expected(2));
        const Ended run = called({"diagnose", text(m_out), "--json"});
        QCOMPARE(run.status, 0); // half a digest is no bad file
    }

    void brokenSnapshotIsNamed()
    {
        writeSmallJob(m_run, 3);
        const std::string whole = writePickle(climbingRank(40, 1 << 20));
        writeJobFile(m_run / "snapshot_3.pickle", whole.substr(0, whole.size() / 2));
        writeJobFile(m_run / "snapshot_4.pickle", "");
        const Ended end = called(digest());
        QCOMPARE(end.status, 4);
        QVERIFY(digested(m_out) == expected(3));
        QVERIFY2(end.err.contains("snapshot_3.pickle"), qPrintable(end.err));
        QVERIFY2(end.err.contains("snapshot_4.pickle: The file is empty: 0 bytes."), qPrintable(end.err));
        QVERIFY2(end.err.contains("3 made, 0 done already, 2 could not be read"), qPrintable(end.err));
        // All that can be read of the cut one, on wish.
        const Ended partial = called(digest() << "--partial");
        QCOMPARE(partial.status, 4);
        QCOMPARE(digested(m_out).count("snapshot_3.pickle"), std::size_t(1));
        // Each is named by one task only.
        int named = 0;
        for (const Variables& task : tasksOf("slurm", 3))
            named += static_cast<int>(called(digest(), task).err.count("snapshot_4.pickle:"));
        QCOMPARE(named, 1);
        fs::remove_all(m_run);
        writeJobFile(m_run / "snapshot_4.pickle", "");
        QCOMPARE(called(digest()).status, 3);
    }

    void diagnoseOfAFolder()
    {
        writeSmallJob(m_run, 4, 2);
        writeJobFile(m_run / "snapshot_4.pickle", "");
        const Ended end = called({"diagnose", text(m_run), "--json"});
        QCOMPARE(end.status, 4);
        const std::vector<Json> all = lines(end.out);
        QCOMPARE(all.size(), std::size_t(6)); // the bad file, four ranks, the whole run
        QVERIFY2(all.front()["error"]["message"].get<std::string>().starts_with("The file is empty"),
            all.front().dump().c_str());
        for (std::size_t i = 1; i < 5; ++i)
            for (const char* key : {"findings", "data_quality", "config"})
                QVERIFY(all[i].contains(key));
        const Json& run = all.back();
        QCOMPARE(run["ranks"].size(), std::size_t(4));
        bool named = false;
        for (const Json& finding : run["findings"])
            named = named || (finding["rule"] == "fragmentation" && finding["rank"] == 2);
        QVERIFY2(named, run.dump(1).c_str());
        // The same is said of the digests of the run.
        QCOMPARE(called(digest()).status, 4);
        const Ended digests = called({"diagnose", text(m_out), "--json"});
        QCOMPARE(digests.status, 0);
        const Json again = lines(digests.out).back();
        QCOMPARE(again["findings"].dump(), run["findings"].dump());
    }

    void adviceOfAWholeJobAsksForNoOtherRanks()
    {
        writeSmallJob(m_run, 3);
        writeJobFile(m_run / "snapshot_3.pickle", writePickle(fullRank(20, 64U << 20)));
        const Ended end = called({"diagnose", text(m_run)});
        QCOMPARE(end.status, 0);
        QVERIFY2(end.out.contains("capacity"), qPrintable(end.out));
        QVERIFY2(!end.out.contains("Open the files of the other ranks"), qPrintable(end.out));
        const Ended one = called({"diagnose", text(m_run / "snapshot_3.pickle")});
        QVERIFY2(one.out.contains("other ranks"), qPrintable(one.out));
    }

    void infoOfAFolder()
    {
        writeSmallJob(m_run, 3);
        writeSmallJob(m_run / "later", 1, 0);
        writeJobFile(m_run / "run_config.yaml", "model:\n  num_layers: 4\n");
        writeJobFile(m_run / "snapshot_9.pickle", "");
        const Ended end = called({"info", text(m_run), "--json"});
        QCOMPARE(end.status, 4);
        QStringList files;
        for (const Json& each : lines(end.out))
            files << QString::fromStdString(fs::path(each["file"].get<std::string>()).filename().string());
        QCOMPARE(files,
            (QStringList{"snapshot_oom_rank-0.pickle", "snapshot_0.pickle", "snapshot_1.pickle",
                "snapshot_2.pickle", "snapshot_9.pickle"}));
    }

private:
    QStringList digest() const { return {"digest", text(m_run), "-o", text(m_out)}; }

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_run;
    fs::path m_out;
};

QTEST_GUILESS_MAIN(TestDigestCommand)
#include "tst_digest_command.moc"
