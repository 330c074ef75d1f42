// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/command_call.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/snapshot_json.hpp"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

constexpr std::int64_t MiB = 1 << 20;

SmallRun runOf(int count)
{
    SmallRun run;
    run.sites = {{"forward@/x/attn.py:91", 64 * MiB, count}, {"g@/x/mlp.py:5", 10 * MiB, 2}};
    return run;
}

} // namespace

/// tidemark compare: what it prints and returns.
class TestCompareCommand : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        for (const char* folder : {"a", "b"})
            QVERIFY(QDir(m_folder.path()).mkdir(folder));
        write("a.json", runOf(10));
        write("b.json", runOf(12));
        write("a/snapshot_0.json", runOf(10));
        write("a/snapshot_1.json", runOf(10));
        write("a/snapshot_2.json", runOf(1));
        write("b/rank0.json", runOf(10));
        write("b/rank1.json", runOf(13));
        QFile broken(path("broken.json"));
        QVERIFY(broken.open(QIODevice::WriteOnly));
        broken.write("{\"segments\": [");
    }

    void textAnswersInTenLines()
    {
        const CommandOutcome outcome = callCommand({"compare", path("a.json"), path("b.json")});
        QCOMPARE(outcome.status, std::optional(0));
        QVERIFY2(
            outcome.out.contains(QString::fromUtf8("B peaks 128\u00a0MiB higher")), qPrintable(outcome.out));
        QVERIFY2(outcome.out.contains("forward@attn.py:91: 10 → 12"), qPrintable(outcome.out));
        QVERIFY2(outcome.out.count('\n') <= 12, qPrintable(outcome.out));
        QCOMPARE(outcome.err, QString());
    }

    void jsonAsTheHelpSays()
    {
        const CommandOutcome outcome = callCommand({"compare", path("a.json"), path("b.json"), "--json"});
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["peak"]["delta"].get<std::int64_t>(), 128 * MiB);
        QVERIFY(json["aligned_by"] == "peak" || json["aligned_by"] == "step");
        QVERIFY(json["sites"][0]["key"] == "forward@attn.py:91" && json["sites"][0]["status"] == "grew");
        QCOMPARE(json["sites"][0]["allocations_b"].get<int>(), 12);
        for (const char* key : {"a", "b", "reserved_peak", "compared", "other", "settings", "findings",
                 "verdicts", "matched", "alignment", "notes"})
            QVERIFY2(json.contains(key), key);
        const Json one = Json::parse(callCommand({"compare", path("a.json"), path("b.json"), "--json",
                                                     "--top", "1", "--by", "role", "--align", "event"})
                                         .out.toStdString());
        QVERIFY(one["aligned_by"] == "event" && one["grouped_by"] == "role");
        QCOMPARE(one["sites"].size(), std::size_t(1));
    }

    void limits()
    {
        const auto status = [&](const char* a, const char* b, const char* percent) {
            return callCommand({"compare", path(a), path(b), "--fail-if-peak-grows", percent}).status;
        };
        QCOMPARE(status("a.json", "b.json", "19"), std::optional(1)); // 660 → 788 MiB is 19.4 %
        QCOMPARE(status("a.json", "b.json", "20%"), std::optional(0));
        QCOMPARE(status("b.json", "a.json", "0"), std::optional(0));
        QCOMPARE(status("a", "b", "10"), std::optional(1));
        QCOMPARE(status("a", "b", "50"), std::optional(0));
    }

    void foldersRankByRank()
    {
        const CommandOutcome outcome = callCommand({"compare", path("a"), path("b")});
        QCOMPARE(outcome.status, std::optional(0));
        QVERIFY2(outcome.out.contains("rank 0") && outcome.out.contains("only in A: snapshot_2.json")
                && outcome.out.contains("largest difference: rank 1"),
            qPrintable(outcome.out));
        const Json json
            = Json::parse(callCommand({"compare", path("a"), path("b"), "--json"}).out.toStdString());
        QCOMPARE(json["ranks"].size(), std::size_t(2));
        QCOMPARE(json["largest"].get<int>(), 1);
        QCOMPARE(json["pairs"][1]["peak"]["delta"].get<std::int64_t>(), 3 * 64 * MiB);
    }

    void twoMomentsOfOneRun()
    {
        const CommandOutcome outcome
            = callCommand({"compare", path("a.json"), path("a.json"), "--at", "2:5", "--json"});
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["compared"]["delta"].get<std::int64_t>(), 3 * 64 * MiB);
        QCOMPARE(json["sites"][0]["survived"].get<std::int64_t>(), 3 * 64 * MiB);
    }

    void wrongUsage_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* says, const QStringList& arguments) {
            QTest::newRow(says) << arguments << says;
        };
        row("two files or two folders", {path("a.json")});
        row("holds several files", {path("a.json"), path("a")});
        row("--align knows", {path("a.json"), path("b.json"), "--align", "moon"});
        row("--by knows", {path("a.json"), path("b.json"), "--by", "moon"});
        row("needs a number of percent", {path("a.json"), path("b.json"), "--fail-if-peak-grows", "-3"});
        row("--at needs two events", {path("a.json"), path("b.json"), "--at", "7"});
        row("--at names event 99999", {path("a.json"), path("b.json"), "--at", "1:99999"});
        row("no device 7", {path("a.json"), path("b.json"), "--device", "7"});
        row("--top needs", {path("a.json"), path("b.json"), "--top", "-1"});
    }

    void wrongUsage()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const CommandOutcome outcome = callCommand(QStringList("compare") + arguments);
        QCOMPARE(outcome.status, std::optional(2));
        QVERIFY2(outcome.err.contains(says), qPrintable(outcome.err));
        QCOMPARE(outcome.err.count('\n'), 1);
    }

    void whatCannotBeRead()
    {
        QCOMPARE(callCommand({"compare", path("a.json"), path("broken.json")}).status, std::optional(3));
        QCOMPARE(callCommand({"compare", path("missing.json"), path("b.json")}).status, std::optional(3));
    }

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    void write(const char* name, const SmallRun& run)
    {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(snapshotJson(*run.make()).dump()));
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestCompareCommand)
#include "tst_compare_command.moc"
