// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/read_text.hpp"

#include <QtTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::int64_t totalAt(const CategoryTimeline& t, std::size_t row)
{
    std::int64_t sum = 0;
    for (const auto& category : t.bytes)
        sum += category[row];
    return sum;
}

} // namespace

class TestProfilerTimeline : public QObject {
    Q_OBJECT
private slots:
    void timesAndSizes()
    {
        const ReadText file
            = readText("[[1000, 2000, 2000], [[0,1,2,3,4,5,6,7,8],[0,0,0,0,0,9,0,0,0],[0,0,0,0,0,0,0,0,0]]]");
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.snapshot->source.kind, SourceKind::ProfilerTimeline);
        QVERIFY(file.snapshot->devices.empty());
        const CategoryTimeline& t = *file.snapshot->categories;
        QCOMPARE(t.timesUs, (std::vector<std::int64_t>{1000, 2000, 2000}));
        // The leading 0 is no category: parameter comes first, unknown last.
        QCOMPARE(t.bytes[0], (std::vector<std::int64_t>{1, 0, 0}));
        QCOMPARE(t.bytes[4], (std::vector<std::int64_t>{5, 9, 0}));
        QCOMPARE(t.bytes[7], (std::vector<std::int64_t>{8, 0, 0}));
        QVERIFY(!t.predating);
        QVERIFY(file.note(Quality::OtherRecorder)->sentence.find("stacks") != std::string::npos);
    }

    void rawEntries()
    {
        // [ns, action, bytes, category]; −1: before the recording.
        const ReadText file = readText(
            "[[-1,1,100,0],[-1,1,50,7],[5000,2,30,4],[6999,3,-30,4],[6999,3,30,5],[7000,4,-30,5]]");
        QVERIFY2(file.snapshot, file.message().c_str());
        const CategoryTimeline& t = *file.snapshot->categories;
        QCOMPARE(t.predating, std::optional<std::int64_t>(150));
        QCOMPARE(t.timesUs, (std::vector<std::int64_t>{5, 6, 7}));
        QCOMPARE(totalAt(t, 0), std::int64_t{180});
        // The pair of a version bump is one instant: its bytes never vanish.
        QCOMPARE(totalAt(t, 1), std::int64_t{180});
        QCOMPARE(totalAt(t, 2), std::int64_t{150});
        QCOMPARE(t.bytes[4], (std::vector<std::int64_t>{30, 0, 0}));
        QCOMPARE(t.bytes[5], (std::vector<std::int64_t>{0, 30, 0}));
    }

    void changesWithinOneMicrosecondStay()
    {
        const ReadText file = readText("[[5000,2,30,4],[5001,2,70,4],[5002,4,-70,4]]");
        const CategoryTimeline& t = *file.snapshot->categories;
        QCOMPARE(t.timesUs, (std::vector<std::int64_t>{5, 5, 5}));
        QCOMPARE(t.bytes[4], (std::vector<std::int64_t>{30, 100, 30}));
    }

    void rawEntriesOutOfOrder()
    {
        const ReadText file = readText("[[7000,4,-30,4],[5000,2,30,4]]");
        QCOMPARE(file.snapshot->categories->bytes[4], (std::vector<std::int64_t>{30, 0}));
        QVERIFY(file.note(Quality::TimeDecreases));
    }

    void timesThatGoBack()
    {
        const ReadText file
            = readText("[[10,5,20],[[0,1,0,0,0,0,0,0,0],[0,2,0,0,0,0,0,0,0],[0,3,0,0,0,0,0,0,0]]]");
        QCOMPARE(file.snapshot->categories->timesUs, (std::vector<std::int64_t>{10, 10, 20}));
        QCOMPARE(file.note(Quality::TimeDecreases)->count, std::uint64_t{1});
    }

    void unknownCategories()
    {
        const ReadText file = readText("[[1000,2,30,12],[2000,2,5,-1]]");
        QCOMPARE(file.snapshot->categories->bytes[7], (std::vector<std::int64_t>{30, 35}));
        QVERIFY(file.note(Quality::OtherRecorder)->sentence.find("2 entries") != std::string::npos);
    }

    /// Four times and four rows look like a raw entry until the second list.
    void fourTimes()
    {
        const std::string row = "[0,1,0,0,0,0,0,0,0]";
        const ReadText file = readText("[[1,2,3,4],[" + row + "," + row + "," + row + "," + row + "]]");
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.snapshot->categories->timesUs.size(), std::size_t{4});
        QVERIFY(!file.snapshot->categories->predating);
        QCOMPARE(readText("[[1000,2,5,0]]").snapshot->categories->timesUs.size(), std::size_t{1});
    }

    void otherListsAreRefused_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("matrix") << QByteArray("[[1,2,3],[4,5,6]]");
        QTest::newRow("texts") << QByteArray("[[\"a\"],[\"b\"]]");
        QTest::newRow("deeper") << QByteArray("[[[1]]]");
        QTest::newRow("no such action") << QByteArray("[[1,9,3,0],[4,2,6,0]]");
        QTest::newRow("rows too short") << QByteArray("[[1],[[0,1]]]");
        QTest::newRow("fewer rows") << QByteArray("[[1,2],[[0,1,0,0,0,0,0,0,0]]]");
        QTest::newRow("more lists") << QByteArray("[[1],[[0,1,0,0,0,0,0,0,0]],[]]");
        QTest::newRow("mixed") << QByteArray("[[1,2,3,0],{}]");
    }
    void otherListsAreRefused()
    {
        QFETCH(QByteArray, text);
        const ReadText file = readText(text.toStdString());
        QVERIFY(file.error);
        QCOMPARE(file.error->code, ErrorCode::NotASnapshot);
        QVERIFY(file.message().find("JSON") != std::string::npos);
    }

    void emptyTimeline() { QCOMPARE(readText("[[],[]]").error->code, ErrorCode::Unsupported); }

    void hostileSums()
    {
        QVERIFY(readText("[[1000,2,9223372036854775807,0],[2000,2,9223372036854775807,0]]").snapshot);
    }

    void truncated()
    {
        const std::string whole = "[[1000,2,30,4],[2000,2,30,4],[3000,4,-30,4]]";
        ReadOptions partial;
        partial.partial = true;
        for (std::size_t length = 1; length < whole.size(); ++length)
            QCOMPARE(readText(whole.substr(0, length)).error->code, ErrorCode::Truncated);
        const ReadText file = readText(whole.substr(0, 35), partial);
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.snapshot->categories->timesUs.size(), std::size_t{2});
        QVERIFY(file.note(Quality::TruncatedFile));
        // Of [times, sizes], rows without their numbers are not shown.
        const ReadText rows = readText("[[1,2,3],[[0,1,0,0,0,0,0,0,0],[0,2,0", partial);
        QCOMPARE(rows.snapshot->categories->timesUs, (std::vector<std::int64_t>{1}));
    }
};

QTEST_GUILESS_MAIN(TestProfilerTimeline)
#include "tst_profiler_timeline.moc"
