// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/replay.hpp"
#include "tests/support/read_text.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

const std::string frames = "\"frames\": [{\"name\": \"f\", \"filename\": \"/a.py\", \"line\": 3}]";

std::string entry(
    const std::string& action, const std::string& address, const std::string& size, int time = 10)
{
    return "{\"action\": \"" + action + "\", \"addr\": " + address + ", \"size\": " + size
        + ", \"stream\": 0, \"time_us\": " + std::to_string(time) + ", " + frames + "}";
}

const std::string segments
    = "[{\"device\": 0, \"address\": 4096, \"total_size\": 2048, \"stream\": 7, "
      "\"segment_type\": \"small\", \"segment_pool_id\": [0, 1], \"is_expandable\": false, "
    + frames
    + ", \"blocks\": [{\"address\": 4096, \"size\": 512, \"requested_size\": 100, \"state\": "
      "\"active_allocated\", "
    + frames
    + "}, {\"address\": 4608, \"size\": 1536, \"requested_size\": 0, \"state\": \"inactive\", \"frames\": "
      "[]}]}]";

std::string snapshot()
{
    return "{\"segments\": " + segments + ", \"device_traces\": [[" + entry("alloc", "4096", "100") + ", "
        + entry("alloc", "8192", "50", 20) + ", " + entry("free_requested", "8192", "50", 30) + ", "
        + entry("free_completed", "8192", "50", 30)
        + "], []], \"allocator_settings\": {\"max_split_size\": -1, \"roundup_power2_divisions\": {\"1\": "
          "4}}, "
          "\"external_annotations\": [{\"stage\": \"START\", \"name\": \"s\", \"device\": 0, \"time_us\": "
          "5}]}";
}

ReadOptions partial()
{
    ReadOptions options;
    options.partial = true;
    return options;
}

} // namespace

class TestJsonSnapshot : public QObject {
    Q_OBJECT
private slots:
    void everyPart()
    {
        const ReadText file = readText(snapshot());
        QVERIFY2(file.snapshot, file.message().c_str());
        const Snapshot& s = *file.snapshot;
        QCOMPARE(s.source.kind, SourceKind::Snapshot);
        QCOMPARE(s.source.encoding, std::string("json"));
        QVERIFY(!s.source.pickleProtocol);
        QCOMPARE(s.deviceSlots, std::size_t{2});
        const DeviceTrace& d = *file.device(0);
        QCOMPARE(d.events.action,
            (std::vector{Action::Alloc, Action::Alloc, Action::FreeRequested, Action::FreeCompleted}));
        QCOMPARE(d.events.timeUs, (std::vector<std::int64_t>{10, 20, 30, 30}));
        // Equal frames and stacks are one, however often the text repeats them.
        QCOMPARE(s.frames.size(), std::size_t{1});
        QCOMPARE(d.events.stack[0], d.events.stack[3]);
        QCOMPARE(d.events.stack[0], d.blocks[0].stack);
        QCOMPARE(d.segments.size(), std::size_t{1});
        // Tuples have become lists.
        QCOMPARE(s.pools[index(d.segments[0].pool)], (std::pair<std::int64_t, std::int64_t>{0, 1}));
        QCOMPARE(d.blocks.size(), std::size_t{2});
        QCOMPARE(d.blocks[0].requested, std::int64_t{100});
        QCOMPARE(s.annotations.size(), std::size_t{1});
        QVERIFY(std::ranges::any_of(
            s.settings, [](const Setting& x) { return x.key == "roundup_power2_divisions.1"; }));
    }

    void keysInAnyOrder()
    {
        const ReadText file = readText("{\"comment\": {\"by\": [1, {\"segments\": 2}]}, \"device_traces\": [["
            + entry("alloc", "4096", "100") + "]], \"segments\": " + segments + "}");
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.device(0)->events.count(), std::size_t{1});
        QCOMPARE(file.device(0)->segments.size(), std::size_t{1});
        const QualityNote* unknown = file.note(Quality::UnknownKey);
        QVERIFY(unknown);
        QVERIFY(std::ranges::any_of(
            unknown->examples, [](const std::string& x) { return x.find("comment") != std::string::npos; }));
    }

    void bareListOfSegments()
    {
        const ReadText file = readText(segments);
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.device(0)->segments.size(), std::size_t{1});
        const ReadText nothing = readText("[]");
        QVERIFY2(nothing.snapshot, nothing.message().c_str());
        QVERIFY(nothing.snapshot->devices.empty());
    }

    void onlyOneOfBoth()
    {
        QVERIFY(readText("{\"segments\": []}").snapshot);
        QVERIFY(readText("{\"device_traces\": [[]]}").snapshot);
        const ReadText file = readText("{\"device_traces\": [[" + entry("alloc", "1", "2") + "]]}");
        QVERIFY(!file.device(0)->hasSegments);
    }

    void numbersOfAllSizes()
    {
        const ReadText file
            = readText("{\"device_traces\": [[" + entry("alloc", "18446744073709551615", "100") + ","
                + entry("alloc", "-4096", "18446744073709551615") + "," + entry("alloc", "4096.0", "1e3")
                + "," + entry("alloc", "36893488147419103232", "NaN") + "]]}");
        QVERIFY2(file.snapshot, file.message().c_str());
        const EventColumns& e = file.device(0)->events;
        QCOMPARE(e.count(), std::size_t{4});
        QCOMPARE(e.address[0], std::uint64_t{0xffffffffffffffff});
        QCOMPARE(e.address[1], std::uint64_t{0xfffffffffffff000});
        QCOMPARE(e.size[1], std::int64_t{-1});
        QCOMPARE(e.address[2], std::uint64_t{4096});
        QCOMPARE(e.size[2], std::int64_t{1000});
        QCOMPARE(sane(e.size[3]), std::uint64_t{0});
    }

    void textsOfAnyKind()
    {
        const ReadText file = readText(
            "\xef\xbb\xbf{\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 1, \"size\": 2, "
            "\"frames\": [{\"name\": \"\\udc80\\u0000\", \"filename\": \"\xff.py\", \"line\": null}]}]]}");
        QVERIFY2(file.snapshot, file.message().c_str());
        const Frame& frame
            = file.snapshot->frames[file.snapshot->stacks[file.device(0)->events.stack[0]].front()];
        QCOMPARE(file.snapshot->strings.view(frame.name), std::string_view("\xed\xb2\x80\0", 4));
        QCOMPARE(file.snapshot->strings.view(frame.file), std::string_view("\xff.py"));
    }

    void theLaterOfEqualKeysWins()
    {
        const ReadText file
            = readText("{\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 1, \"size\": 2, \"size\": "
                       "3}]], \"device_traces\": [["
                + entry("alloc", "7", "9") + "," + entry("alloc", "8", "9") + "]]}");
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.device(0)->events.address, (std::vector<std::uint64_t>{7, 8}));
    }

    void deepValuesUnderUnknownKeys()
    {
        const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
        const ReadText file
            = readText("{\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 1, \"size\": 2, \"odd\": "
                + deep + "}]], \"more\": " + deep + "}");
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.device(0)->events.size, std::vector<std::int64_t>{2});
    }

    void manyEvents()
    {
        std::string text = "{\"device_traces\": [[";
        constexpr int count = 5000;
        for (int i = 0; i < count; ++i)
            text += (i > 0 ? "," : "") + entry("alloc", std::to_string(4096 + i), std::to_string(i), i);
        const ReadText file = readText(text + "],[" + entry("alloc", "1", "1") + "]]}");
        QVERIFY2(file.snapshot, file.message().c_str());
        const EventColumns& e = file.device(0)->events;
        QCOMPARE(e.count(), std::size_t{count});
        for (int i = 0; i < count; ++i)
            QCOMPARE(e.size[static_cast<std::size_t>(i)], std::int64_t{i});
        QCOMPARE(file.device(1)->events.count(), std::size_t{1});
    }

    void eventRange()
    {
        ReadOptions options;
        options.events = std::pair<std::uint64_t, std::uint64_t>{1, 2};
        const ReadText file = readText(snapshot(), options);
        QCOMPARE(file.device(0)->events.action, (std::vector{Action::Alloc, Action::FreeRequested}));
    }

    void cutAnywhere()
    {
        const std::string whole = snapshot();
        const std::size_t firstEvent = whole.find("\"device_traces\"");
        for (std::size_t length = 1; length < whole.size(); ++length) {
            const std::string cut = whole.substr(0, length);
            const ReadText refused = readText(cut);
            QVERIFY(refused.error);
            QCOMPARE(refused.error->code, ErrorCode::Truncated);
            QCOMPARE(refused.error->offset, std::optional<std::uint64_t>(length));
            const ReadText kept = readText(cut, partial());
            QCOMPARE(refused.error->partial, kept.snapshot != nullptr);
            if (!kept.snapshot) {
                QVERIFY(length < firstEvent + 400);
                QCOMPARE(kept.error->code, ErrorCode::Truncated);
                continue;
            }
            QVERIFY(kept.snapshot->source.partial);
            QVERIFY(kept.note(Quality::TruncatedFile));
            // No half events: each one that is kept is whole.
            if (const DeviceTrace* d = kept.device(0))
                for (std::size_t i = 0; i < d->events.count(); ++i)
                    QVERIFY(d->events.size[i] > 0 && d->events.timeUs[i] > 0);
        }
        QCOMPARE(readText(whole.substr(0, whole.find("\"allocator_settings\"")), partial())
                     .device(0)
                     ->events.count(),
            std::size_t{4});
    }

    /// Each device tells what of it lies behind the end, and nothing that is not so.
    void cutAmongSeveralDevices()
    {
        const auto segment = [](int device) {
            return "{\"device\": " + std::to_string(device)
                + ", \"address\": 4096, \"total_size\": 512, \"blocks\": [{\"size\": 512, \"state\": "
                  "\"inactive\"}]}";
        };
        const std::string traces = "[" + entry("alloc", "4096", "1") + ", "
            + entry("free_completed", "4096", "1") + "], [" + entry("alloc", "8192", "2") + ", "
            + entry("alloc", "12288", "3");
        const std::string all = segment(0) + ", " + segment(1) + ", " + segment(2);
        const ReadText got
            = readText("{\"segments\": [" + all + "], \"device_traces\": [" + traces, partial());
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(got.snapshot->devices.size(), std::size_t{3});
        const auto says = [&](int device, const char* words) {
            const QualityNote* note = got.note(Quality::TruncatedFile, device);
            return note && note->sentence.find(words) != std::string::npos;
        };
        QVERIFY(!got.note(Quality::TruncatedFile, 0));
        QVERIFY(got.device(0)->hasSegments);
        QVERIFY(says(1, "in the trace of GPU 1"));
        QCOMPARE(got.device(1)->events.count(), std::size_t{2});
        QVERIFY(!got.device(1)->hasSegments);
        QVERIFY(says(2, "before the trace of GPU 2"));
        QCOMPARE(got.device(2)->segments.size(), std::size_t{1});
        const auto replayed = [&](std::size_t i) { return Replay::build(got.snapshot, i, {}).value(); };
        QVERIFY(!replayed(2)->note(Quality::NoHistory));
        QVERIFY(replayed(1)->note(Quality::NoSegments)->sentence.find("breaks off") != std::string::npos);
        QVERIFY(!replayed(0)->note(Quality::NoSegments) && !replayed(0)->note(Quality::NoHistory));

        // The other way round: all traces are there, the state at the end is not.
        const ReadText early = readText(
            "{\"device_traces\": [" + traces + "]], \"segments\": [" + segment(0) + ",", partial());
        QCOMPARE(early.device(1)->events.count(), std::size_t{2});
        for (const int device : {0, 1}) {
            QVERIFY(!early.device(device)->hasSegments);
            QVERIFY(early.note(Quality::TruncatedFile, device)->sentence.find("list of segments")
                != std::string::npos);
        }
        // Behind both nothing of a device is missing.
        const ReadText late = readText(
            "{\"segments\": [" + all + "], \"device_traces\": [" + traces + "]], \"allocator_settings\": {",
            partial());
        QVERIFY(late.note(Quality::TruncatedFile));
        for (const int device : {0, 1, 2})
            QVERIFY(!late.note(Quality::TruncatedFile, device));
        QVERIFY(Replay::build(late.snapshot, 2, {}).value()->note(Quality::NoHistory));
    }

    void bareListCutAnywhere()
    {
        const std::string one = segments.substr(1, segments.size() - 2);
        const std::string whole = "[" + one + ", " + one + "]";
        for (std::size_t length = one.size() + 1; length < whole.size(); ++length) {
            const ReadText kept = readText(whole.substr(0, length), partial());
            QVERIFY2(kept.snapshot, kept.message().c_str());
            // Each segment that is kept is whole.
            const DeviceTrace& d = *kept.device(0);
            QCOMPARE(d.segments.size(), length + 1 < whole.size() ? std::size_t{1} : std::size_t{2});
            QCOMPARE(d.blocks.size(), 2 * d.segments.size());
            for (const Segment& segment : d.segments)
                QCOMPARE(segment.totalSize, std::int64_t{2048});
            QVERIFY(kept.note(Quality::TruncatedFile, 0));
        }
    }

    void truncatedSaysWhatCouldBeRead()
    {
        const std::string whole = snapshot();
        const std::string cut = whole.substr(0, whole.find("free_completed"));
        const ReadText refused = readText(cut);
        QVERIFY2(refused.message().find("3 events") != std::string::npos, refused.message().c_str());
        QVERIFY(refused.message().find(std::to_string(cut.size())) != std::string::npos);
    }

    void damagedInTheMiddle()
    {
        std::string text = snapshot();
        const std::size_t at = text.find("free_completed") + 16;
        text[at] = '#';
        const ReadText refused = readText(text);
        QCOMPARE(refused.error->code, ErrorCode::Malformed);
        const ReadText kept = readText(text, partial());
        QVERIFY2(kept.snapshot, kept.message().c_str());
        QCOMPARE(kept.device(0)->events.count(), std::size_t{3});
    }

    void stopping_data()
    {
        QTest::addColumn<QByteArray>("start");
        QTest::addColumn<QByteArray>("item");
        QTest::newRow("events") << QByteArray("{\"device_traces\": [[")
                                << QByteArray::fromStdString(entry("alloc", "1", "2"));
        QTest::newRow("trace") << QByteArray("{\"traceEvents\": [")
                               << QByteArray("{\"name\": \"x\", \"ph\": \"i\"}");
        QTest::newRow("times") << QByteArray("[[") << QByteArray("1790000000000100");
        QTest::newRow("skipped") << QByteArray("{\"other\": [") << QByteArray("[1, 2, {}]");
    }
    /// Within a few pieces of the input, whatever is being read.
    void stopping()
    {
        QFETCH(QByteArray, start);
        QFETCH(QByteArray, item);
        std::string text = start.toStdString();
        while (text.size() < (8U << 20))
            text += item.toStdString() + ",";
        MemoryStream stream(std::move(text));
        std::stop_source source;
        int reports = 0;
        Job job{source.get_token(), [&](const Progress& p) {
                    QVERIFY(p.stage == Stage::Read && p.done <= p.total);
                    if (++reports == 3)
                        source.request_stop();
                }};
        SnapshotBuilder builder;
        const auto error = jsonReader.read(stream, builder, partial(), job);
        QVERIFY(error);
        QCOMPARE(error->code, ErrorCode::Cancelled);
        QVERIFY(stream.offset() < (4U << 20));
    }

    void wrongTypes()
    {
        QVERIFY(readText("{\"device_traces\": 7}").error);
        QVERIFY(readText("{\"segments\": \"x\"}").error);
        QVERIFY(readText("{\"segments\": {}, \"device_traces\": {}}").error);
        QVERIFY(readText("{\"device_traces\": [[1, \"x\", null, [2], {}]]}").snapshot);
    }
};

QTEST_GUILESS_MAIN(TestJsonSnapshot)
#include "tst_json_snapshot.moc"
