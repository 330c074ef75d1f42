// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/memory_stream.hpp"
#include "model/formats/pickle_reader.hpp"
#include "tests/support/pickle_forge.hpp"
#include "tests/support/read_text.hpp"

#include <QTest>

#include <random>

using namespace tidemark;
using namespace tidemark::test;
using namespace std::string_literals;

namespace {

constexpr std::uint64_t base = sampleBase;
constexpr std::int64_t start = sampleStart;

ReadText read(const std::string& bytes, const ReadOptions& options = {})
{
    return readText(bytes, options, pickleReader);
}

/// A dict with "segments", "device_traces" and one more key "x"; then the given opcodes, at byte 43.
std::string faulty(const std::string& opcodes)
{
    return "\x80\x02}("s + opText("segments") + ']' + opText("device_traces") + ']' + opText("x") + opcodes;
}

} // namespace

class TestPickleFaults : public QObject {
    Q_OBJECT

private slots:
    void errorsNameOpcodeAndPlace_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("offset");
        const auto row
            = [](const char* name, const std::string& bytes, const QStringList& words, int offset) {
                  QTest::newRow(name) << QByteArray::fromStdString(bytes) << words << offset;
              };
        row("unknown opcode", faulty("\xff"), {"0xff", "43"}, 43);
        row("no mark",
            "\x80\x02]K\x01K\x02"
            "e",
            {"APPENDS", "MARK", "7"}, 7);
        row("odd items", faulty("u"), {"SETITEMS", "odd", "43"}, 43);
        row("undefined slot", faulty("h\x63"), {"BINGET", "99", "43"}, 43);
        row("undefined long slot", faulty("j\x40\x42\x0f\x00"s), {"LONG_BINGET", "1,000,000", "43"}, 43);
        row("undefined text slot", faulty("g77\n"), {"GET", "77", "43"}, 43);
        row("slot is no number", faulty("gx7\n"), {"GET", "43"}, 43);
        row("empty stack", "\x80\x04.", {"STOP", "2"}, 2);
        row("below the mark", faulty("(\x86"), {"TUPLE2", "44"}, 44);
        row("items for a number", faulty("K\x01(K\x01K\x01u"), {"SETITEMS", "number", "50"}, 50);
        row("items for a text",
            faulty("K\x01"
                   "a"),
            {"APPEND", "45"}, 45);
        row("memo of nothing", "\x80\x04\x94", {"MEMOIZE", "2"}, 2);
        row("protocol", "\x80\x09}.", {"protocol", "9"}, 0);
        row("negative length", faulty("\x8b\xff\xff\xff\xff"), {"LONG4", "43"}, 43);
        row("no number", faulty("Iabc\n"), {"INT", "43"}, 43);
        row("no float", faulty("Fabc\n"), {"FLOAT", "43"}, 43);
        row("pop of nothing",
            "\x80\x02"
            "0",
            {"POP", "2"}, 2);
        row("string beyond the end",
            faulty("X\xf0\xff\xff\x7f"
                   "abc"),
            {"truncated", "BINUNICODE", "43", "2,147,483,632", "3"}, 43);
        row("huge string", faulty("\x8d" + littleEndian(1ULL << 60U, 8) + "abc"),
            {"BINUNICODE8", "43", "1,152,921,504,606,846,976"}, 43);
        row("bytes of half the world", faulty("\x8e" + littleEndian(1ULL << 63U, 8)),
            {"BINBYTES8", "43", "9,223,372,036,854,775,808"}, 43);
        row("cut length", faulty("X\x01\x02"), {"truncated", "BINUNICODE", "43"}, 43);
        row("cut line", faulty("Vabc"), {"truncated", "UNICODE", "43"}, 43);
        row("cut between", faulty(""), {"truncated", "43"}, 43);
        row("one byte", "\x80", {"truncated", "PROTO", "0"}, 0);
    }
    void errorsNameOpcodeAndPlace()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QStringList, words);
        QFETCH(int, offset);
        const auto got = read(bytes.toStdString());
        QVERIFY(!got.snapshot);
        QCOMPARE(got.error->offset, std::optional<std::uint64_t>(static_cast<std::uint64_t>(offset)));
        for (const QString& word : words)
            QVERIFY2(QString::fromStdString(got.message()).contains(word), got.message().c_str());
        QVERIFY(got.message().ends_with('.'));
    }

    void whatIsNoSnapshotIsRefused_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        const auto row = [](const char* name, const Py& value) {
            QTest::newRow(name) << QByteArray::fromStdString(pickled(value));
        };
        row("number", pyInt(42));
        row("text", pyText("hello"));
        row("checkpoint", pyDict({{"model", pyDict({{"w", pyList({pyInt(1)})}})}, {"epoch", pyInt(3)}}));
        row("list of numbers", pyList({pyInt(1), pyInt(2)}));
        row("empty dict", pyDict());
        row("event alone", pyEvent("alloc", base, 1));
        row("segments of another kind", pyDict({{"segments", pyInt(3)}}));
        row("call", pyRaw("cos\nsystem\n(tR"));
    }
    void whatIsNoSnapshotIsRefused()
    {
        QFETCH(QByteArray, bytes);
        const auto got = read(bytes.toStdString());
        QVERIFY(!got.snapshot);
        QCOMPARE(got.error->code, ErrorCode::NotASnapshot);
        for (const char* word : {"snapshot", "segments", "device_traces"})
            QVERIFY2(got.message().find(word) != std::string::npos, got.message().c_str());
        if (QByteArray(QTest::currentDataTag()) == "call")
            QVERIFY(got.message().find("os.system") != std::string::npos);
    }

    void cutAnywhereIsSaidAndKeptOnWish()
    {
        PickleStyle cpp;
        cpp.cpp = true;
        std::vector<std::string> files{pickled(pySample(), cpp)};
        for (const int protocol : {0, 2, 4})
            files.push_back(pickled(pySample(), {.protocol = protocol}));
        ReadOptions partial;
        partial.partial = true;
        for (const std::string& whole : files) {
            std::size_t before = 0;
            for (std::size_t length = 1; length < whole.size(); ++length) {
                const auto refused = read(whole.substr(0, length));
                QVERIFY(!refused.snapshot);
                QCOMPARE(refused.error->code, ErrorCode::Truncated);
                QVERIFY(refused.error->offset && *refused.error->offset <= length);

                const auto kept = read(whole.substr(0, length), partial);
                QCOMPARE(refused.error->partial, kept.snapshot != nullptr);
                if (!kept.snapshot)
                    continue;
                QVERIFY(kept.snapshot->source.partial);
                QVERIFY(kept.note(Quality::TruncatedFile));
                // Never half an event, never one fewer than a shorter piece gave.
                const DeviceTrace* d = kept.device(0);
                const std::size_t events = d ? d->events.count() : 0;
                QVERIFY(events >= before);
                before = events;
                for (std::size_t i = 0; i < events; ++i) {
                    QVERIFY2(d->events.action[i] != Action::Unknown, std::to_string(length).c_str());
                    QVERIFY(d->events.address[i] != 0);
                    QVERIFY(d->events.size[i] > 0);
                    QVERIFY(d->events.timeUs[i] >= start);
                }
            }
            QCOMPARE(before, 6U);
        }
    }

    /// A file that is broken in its middle is worth as much as one that ends there.
    void damageInTheMiddleIsOfferedToo()
    {
        const std::string whole = pickled(pySample());
        std::size_t at = whole.find("free_completed") + 14;
        std::string broken;
        do { // the next opcode
            broken = whole;
            broken[at++] = '\xff';
        } while (read(broken).snapshot);
        const auto refused = read(broken);
        QCOMPARE(refused.error->code, ErrorCode::Malformed);
        QVERIFY(refused.error->partial);
        QVERIFY2(refused.message().find("events before that can be read") != std::string::npos,
            refused.message().c_str());
        ReadOptions partial;
        partial.partial = true;
        const auto kept = read(broken, partial);
        QVERIFY(kept.snapshot && kept.snapshot->source.partial);
        QVERIFY(kept.device(0)->events.count() > 2);
    }

    void aCutTraceHasNoFinalState()
    {
        const std::string whole = pickled(pySample());
        ReadOptions partial;
        partial.partial = true;
        const auto cut = read(whole.substr(0, whole.find("free_completed") + 40), partial);
        QVERIFY(cut.snapshot);
        QVERIFY(cut.device(0)->events.count() > 2);
        QVERIFY(!cut.device(0)->hasSegments);
        QVERIFY(cut.device(0)->segments.empty());
        // Behind the traces the segments are the state at their end again.
        const auto late = read(whole.substr(0, whole.find("ProfilerStep")), partial);
        QVERIFY(late.snapshot);
        QVERIFY(late.device(0)->hasSegments);
        QCOMPARE(late.device(0)->events.count(), 6U);
    }

    void devicesBehindTheCutAreNotReached()
    {
        const Py trace0
            = pyList({pyEvent("alloc", base, 100, start), pyEvent("alloc", base + 512, 7, start)});
        const Py trace1 = pyList({pyEvent("alloc", base, 300, start), pyEvent("snapshot", 0, 0, start)});
        const auto segment
            = [](int device) { return pySegment(device, base, 1024, {pyBlock(base, 1024, "inactive", 0)}); };
        const Py all = pySnapshot({segment(0), segment(1), segment(2)}, {trace0, trace1, pyList()});
        ReadOptions partial;
        partial.partial = true;
        for (const int protocol : {2, 4}) {
            const std::string whole = pickled(all, {.protocol = protocol});
            const auto got = read(whole.substr(0, whole.rfind("snapshot")), partial);
            QVERIFY2(got.snapshot, got.message().c_str());
            QVERIFY(!got.note(Quality::TruncatedFile, 0));
            QCOMPARE(got.device(0)->events.count(), 2U);
            QVERIFY(got.note(Quality::TruncatedFile, 1)->sentence.find("in the trace") != std::string::npos);
            QCOMPARE(got.device(1)->events.count(), 1U);
            QVERIFY(!got.device(1)->hasSegments);
            QVERIFY(
                got.note(Quality::TruncatedFile, 2)->sentence.find("before the trace") != std::string::npos);
            QVERIFY(got.device(2)->hasSegments);
        }
    }

    void flippedBytesNeverHarm()
    {
        std::mt19937 random(20240607);
        ReadOptions partial;
        partial.partial = true;
        PickleStyle cpp;
        cpp.cpp = true;
        const std::vector<std::string> files{
            pickled(pySample(), {.protocol = 0}), pickled(pySample()), pickled(pySample(), cpp)};
        int opened = 0;
        int refused = 0;
        for (int round = 0; round < 6000; ++round) {
            std::string bytes = files[random() % files.size()];
            for (auto flips = 1 + (random() % 3); flips > 0; --flips)
                bytes[random() % bytes.size()] = static_cast<char>(random());
            const auto got = read(bytes, round % 2 == 0 ? partial : ReadOptions{});
            QVERIFY(got.snapshot || got.message().ends_with('.'));
            ++(got.snapshot ? opened : refused);
        }
        // Most flips land in names and numbers or break the file; both must have happened.
        QVERIFY(opened > 100 && refused > 100);
    }

    void stopsWhenAsked()
    {
        std::vector<Py> events(30000, pyEvent("alloc", base, 1, start));
        for (Py& e : events)
            e = std::make_shared<PyObject>(*e);
        const std::string bytes = pickled(pySnapshot({}, {pyList(events)}));
        std::stop_source stop;
        std::uint64_t last = 0;
        Job job;
        job.stop = stop.get_token();
        job.progress = [&](const Progress& p) {
            QCOMPARE(p.stage, Stage::Read);
            last = p.done;
            stop.request_stop();
        };
        MemoryStream stream(bytes);
        SnapshotBuilder builder;
        const auto error = readPickle(stream, builder, {}, job);
        QVERIFY(error);
        QCOMPARE(error->code, ErrorCode::Cancelled);
        QVERIFY(last < bytes.size());
    }

    void bombsAreRefusedOrHarmless()
    {
        // Millions of open values, marks, and lists in lists.
        for (const std::string& bomb : {std::string(12'000'000, ']'), std::string(12'000'000, '(')}) {
            const auto got = read("\x80\x02"s + bomb + '.');
            QVERIFY(!got.snapshot);
            QCOMPARE(got.error->code, ErrorCode::TooLarge);
        }
        std::string memos = "\x80\x04(";
        for (int i = 0; i < 6'000'000; ++i)
            memos += "]\x94"
                     "0";
        const auto many = read(memos + "l.");
        QVERIFY(!many.snapshot);
        QCOMPARE(many.error->code, ErrorCode::TooLarge);
        std::string events
            = "}(" + opText("device_traces") + "](](}(" + opText("action") + opText("alloc") + "uq\x01";
        for (int i = 0; i < 4'000'000; ++i)
            events += "h\x01";
        const auto endless = read("\x80\x02" + events + "eeu.");
        QVERIFY(!endless.snapshot);
        QCOMPARE(endless.error->code, ErrorCode::TooLarge);
        QVERIFY(endless.message().find("again") != std::string::npos);
        const auto nested = read("\x80\x02"s + std::string(300000, ']') + std::string(299999, 'a') + '.');
        QVERIFY(!nested.snapshot);
        QCOMPARE(nested.error->code, ErrorCode::NotASnapshot);
        std::string doubled = "]r\0\0\1\0"s;
        for (int i = 0; i < 40; ++i)
            doubled += "]("
                       "j\0\0\1\0j\0\0\1\0er\0\0\1\0"s;
        const auto got
            = read(pickled(with(pySample(), {{"x", pyRaw('(' + doubled + 'l')}}), {.protocol = 2}));
        QVERIFY2(got.snapshot, got.message().c_str());
    }
};

QTEST_GUILESS_MAIN(TestPickleFaults)
#include "tst_pickle_faults.moc"
