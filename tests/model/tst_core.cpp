// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"
#include "model/core/sorted_order.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/snapshot/builder.hpp"

#include <QtTest>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace tidemark;

class TestCore : public QObject {
    Q_OBJECT
private slots:
    /// Tables of millions of rows: the same as a stable sort, whatever the keys.
    void sortedOrders()
    {
        std::mt19937_64 random(3);
        for (const std::size_t size : {0UL, 1UL, 50UL, 1999UL, 2000UL, 7001UL}) {
            for (const unsigned bits : {0U, 1U, 10U, 11U, 12U, 33U, 47U, 64U}) {
                std::vector<std::uint64_t> keys;
                for (std::size_t i = 0; i < size; ++i)
                    keys.push_back(
                        bits == 64 ? random() : 0x7000'0000'0000U + random() % (std::uint64_t{1} << bits));
                for (const bool descending : {false, true}) {
                    std::vector<std::uint32_t> expected(size);
                    std::iota(expected.begin(), expected.end(), 0U);
                    std::ranges::stable_sort(expected, [&](std::uint32_t a, std::uint32_t b) {
                        return descending ? keys[a] > keys[b] : keys[a] < keys[b];
                    });
                    QVERIFY(sortedOrder(keys, descending, {}) == expected);
                }
            }
        }
    }
    void bytes_data()
    {
        QTest::addColumn<qint64>("bytes");
        QTest::addColumn<QString>("text");
        const auto row
            = [](qint64 bytes, const char* text) { QTest::newRow(text) << bytes << QString::fromUtf8(text); };
        row(0, "0\u00a0B");
        row(466, "466\u00a0B");
        row(1023, "1,023\u00a0B");
        row(1024, "1\u00a0KiB");
        row(16 * 1024, "16\u00a0KiB");
        row((1 << 20) - 1, "1.0\u00a0MiB");
        row(16777216, "16.0\u00a0MiB");
        row(81895424, "78.1\u00a0MiB");
        row(268435456, "256\u00a0MiB");
        row((1LL << 30) - 1, "1.00\u00a0GiB");
        row(24202141696, "22.54\u00a0GiB");
        row(-512LL * 1024 * 1024, "\u2212512\u00a0MiB");
        row(std::numeric_limits<qint64>::max(), "8,192.00\u00a0PiB");
        row(std::numeric_limits<qint64>::min(), "\u22128,192.00\u00a0PiB");
        row((1LL << 40) * 3 / 2, "1.50\u00a0TiB");
    }
    void bytes()
    {
        QFETCH(qint64, bytes);
        QFETCH(QString, text);
        QCOMPARE(QString::fromStdString(formatBytes(bytes)), text);
    }

    void signsAndExact()
    {
        QCOMPARE(formatBytesDelta(1288490189), std::string("+1.20\u00a0GiB"));
        QCOMPARE(formatBytesDelta(0), std::string("0\u00a0B"));
        QCOMPARE(formatExactBytes(268435456), std::string("268,435,456\u00a0B"));
        QCOMPARE(formatCount(-1234567), std::string("\u22121,234,567"));
        QCOMPARE(formatCount(999), std::string("999"));
        QCOMPARE(counted(1, "block is", "blocks are"), std::string("1 block is"));
        QCOMPARE(counted(0, "block", "blocks"), std::string("0 blocks"));
        QCOMPARE(counted(1204, "block", "blocks"), std::string("1,204 blocks"));
        QCOMPARE(formatPercent(0.2662), std::string("26.6\u00a0%"));
        QCOMPARE(formatPercent(std::numeric_limits<double>::quiet_NaN()), std::string("\u2013"));
        QCOMPARE(formatAddress(0xffff810000000200ULL), std::string("0xffff810000000200"));
    }

    void times()
    {
        QCOMPARE(formatDuration(812), std::string("812\u00a0µs"));
        QCOMPARE(formatOffset(77700), std::string("+77.7\u00a0ms"));
        QCOMPARE(formatDuration(1041800), std::string("1.04\u00a0s"));
        QCOMPARE(formatDuration(125000000), std::string("2\u00a0min 05\u00a0s"));
        QCOMPARE(formatDuration(11040000000LL), std::string("3\u00a0h 04\u00a0min"));
        QCOMPARE(formatOffset(-5), std::string("\u22125\u00a0µs"));
        QCOMPARE(formatUtc(1784021465123456), std::string("2026-07-14 09:31:05.123456\u00a0UTC"));
        QCOMPARE(formatUtc(-1), std::string("1969-12-31 23:59:59.999999\u00a0UTC"));
        QCOMPARE(formatUtc(951782400000000), std::string("2000-02-29 00:00:00.000000\u00a0UTC"));
    }

    void hostileText()
    {
        QCOMPARE(displayText(std::string_view("a\0b\nc\x1b", 6)), std::string("a␀b␊c␛"));
        QCOMPARE(displayText("x\xed\xa0\x80y"), std::string("x\ufffd\ufffd\ufffdy"));
        QCOMPARE(displayText("\xff"), std::string("\ufffd"));
        QCOMPARE(displayText("a\u202eb"), std::string("ab"));
        QCOMPARE(displayText("größe"), std::string("größe"));
        QCOMPARE(displayText("abcdefghij", 5), std::string("ab…ij"));
        QCOMPARE(displayText(std::string(100000, 'x') + "end", 9), std::string("xxxx…xend"));
        QVERIFY(!isValidUtf8("\xed\xa0\x80"));
        QVERIFY(!isValidUtf8("\xc0\x80"));
        QVERIFY(isValidUtf8("größe \U0001F600"));
        QCOMPARE(baseName("C:\\train\\model.py"), std::string_view("model.py"));
        QCOMPARE(baseName("/a/b/"), std::string_view(""));
    }

    void interning()
    {
        StringTable strings;
        std::vector<StringId> ids;
        for (int i = 0; i < 10000; ++i)
            ids.push_back(strings.intern("name" + std::to_string(i)));
        QCOMPARE(strings.size(), std::size_t(10000));
        for (int i = 0; i < 10000; ++i) {
            QCOMPARE(strings.intern("name" + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
            QCOMPARE(strings.view(ids[static_cast<std::size_t>(i)]), "name" + std::to_string(i));
        }
        QVERIFY(strings.intern("") != strings.intern(std::string_view("\0", 1)));
        QCOMPARE(strings.view(StringId::none), std::string_view());

        FrameTable frames;
        const FrameId a = frames.intern({ids[0], ids[1], 7});
        QCOMPARE(frames.intern({ids[0], ids[1], 7}), a);
        QVERIFY(frames.intern({ids[0], ids[1], 8}) != a);

        StackTable stacks;
        const std::array two{a, FrameId{1}};
        const std::array swapped{FrameId{1}, a};
        const StackId empty = stacks.intern({});
        const StackId s = stacks.intern(two);
        QVERIFY(stacks.intern(swapped) != s);
        QCOMPARE(stacks.intern(two), s);
        QVERIFY(stacks[empty].empty());
        QCOMPARE(stacks[s].size(), std::size_t(2));
        QVERIFY(stacks[StackId::none].empty());
    }

    void rareColumnsAppearWhenNeeded()
    {
        SnapshotBuilder builder;
        EventBuffer events;
        EventRow row;
        row.action = Action::Alloc;
        row.size = 512;
        builder.append(events, row);
        QVERIFY(events.columns.pool.empty());
        row.pool = builder.pool(0, 3);
        builder.append(events, row);
        row.pool = PoolId::none;
        row.action = Action::Unknown;
        row.otherAction = builder.strings().intern("defrag");
        row.stream = 7;
        builder.append(events, row);
        row.action = Action::Oom;
        row.hasSize = true;
        row.deviceFree = 99;
        builder.append(events, row);
        EventBuffer copy;
        for (const std::size_t i : {3U, 2U, 1U})
            copy.appendFrom(events, i);
        QCOMPARE(copy.ooms.size(), std::size_t(1));
        QCOMPARE(copy.ooms.begin()->second.deviceFree, std::optional<std::int64_t>(99));
        QCOMPARE(index(copy.otherActions.begin()->first), std::size_t(1));

        builder.addTrace(1, std::move(events));
        builder.device(-1);
        builder.device(cpuOrdinal);
        const auto snapshot = builder.finish();
        QCOMPARE(snapshot->devices.size(), std::size_t(3));
        QCOMPARE(snapshot->devices[0].ordinal, -1);
        const DeviceTrace& d = snapshot->devices[1];
        QCOMPARE(d.events.pool.size(), std::size_t(4));
        QCOMPARE(d.events.pool[0], PoolId::none);
        QCOMPARE(poolName(*snapshot, d.events.pool[1]), std::string("pool (0, 3)"));
        QCOMPARE(streamName(*snapshot, d.events.stream[2]), std::string("stream 7"));
        QCOMPARE(snapshot->strings.view(d.otherActions[0].second), std::string_view("defrag"));
    }

    void rowsWrittenAgainBackwards()
    {
        // A file may refer to its rows in any order: each new entry at the front of a list would move all
        // others.
        constexpr std::size_t count = 300000;
        SnapshotBuilder builder;
        EventBuffer events;
        EventRow row;
        row.action = Action::Alloc;
        row.size = 512;
        for (std::size_t i = 0; i < count; ++i)
            builder.append(events, row);
        row.size = -1;
        row.sizeText = builder.strings().intern("18446744073709551615");
        QElapsedTimer timer;
        timer.start();
        for (std::size_t i = count; i-- > 0;)
            events.replace(i, row, StreamId{0});
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(events.oddSizes.size(), count);
        QCOMPARE(events.row(7).sizeText, row.sizeText);
        row.size = 8;
        row.sizeText = StringId::none;
        events.replace(7, row, StreamId{0});
        events.truncate(9);
        builder.addTrace(0, std::move(events));
        const auto snapshot = builder.finish();
        const auto& odd = snapshot->devices[0].oddSizes;
        QCOMPARE(odd.size(), std::size_t(8));
        QCOMPARE(index(odd[0].first), std::size_t(0));
        QCOMPARE(index(odd[7].first), std::size_t(8));
    }

    void notesAreCountedAndMerged()
    {
        SnapshotBuilder builder;
        for (int i = 0; i < 20; ++i)
            builder.note(Quality::UnknownKey, std::nullopt, "key" + std::to_string(i % 10), "first");
        builder.note(Quality::UnknownKey, 0, "x", "second");
        const auto snapshot = builder.finish();
        QCOMPARE(snapshot->quality.size(), std::size_t(2));
        QCOMPARE(snapshot->quality[0].count, std::uint64_t(20));
        QCOMPARE(snapshot->quality[0].examples.size(), std::size_t(8));
        QCOMPARE(snapshot->quality[0].sentence, std::string("first"));
    }
};

QTEST_GUILESS_MAIN(TestCore)
#include "tst_core.moc"
