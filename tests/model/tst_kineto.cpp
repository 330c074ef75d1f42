// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/formats/kineto.hpp"
#include "model/lens/marks.hpp"
#include "model/lens/sites.hpp"
#include "model/replay/replay.hpp"
#include "tests/support/read_text.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Writes trace events one by one.
class TraceText {
public:
    TraceText& range(const std::string& cat, const std::string& name, const std::string& ts,
        const std::string& dur, const std::string& tid = "7", const std::string& args = "")
    {
        return add("{\"ph\":\"X\",\"cat\":\"" + cat + "\",\"name\":\"" + name + "\",\"pid\":1,\"tid\":" + tid
            + ",\"ts\":" + ts + ",\"dur\":" + dur + ",\"args\":{" + args + "}}");
    }
    TraceText& memory(const std::string& ts, const std::string& args, const std::string& tid = "7",
        const std::string& name = "[memory]")
    {
        return add("{\"args\":{" + args + "},\"ph\":\"i\",\"s\":\"t\",\"name\":\"" + name
            + "\",\"pid\":1,\"tid\":" + tid + ",\"ts\":" + ts + "}");
    }
    TraceText& add(const std::string& event)
    {
        m_events += (m_events.empty() ? "" : ",\n") + event;
        return *this;
    }
    std::string events() const { return "[" + m_events + "]"; }
    std::string text(const std::string& before = "", const std::string& after = "") const
    {
        return "{\"schemaVersion\":1," + before + "\"traceEvents\":" + events() + after + "}";
    }

private:
    std::string m_events;
};

std::string gpu(std::int64_t bytes, const std::string& address, const std::string& more = "")
{
    return "\"Device Type\":1,\"Device Id\":0,\"Addr\":" + address + ",\"Bytes\":" + std::to_string(bytes)
        + more;
}

std::string totals(std::int64_t allocated, std::int64_t reserved)
{
    return ",\"Total Allocated\":" + std::to_string(allocated)
        + ",\"Total Reserved\":" + std::to_string(reserved);
}

/// "name|name|…" of an event's stack, innermost first, with file:line where there is one; "-" without.
std::string stackOf(const ReadText& file, const DeviceTrace& device, std::size_t event)
{
    const StackId stack = device.events.stack[event];
    if (!valid(stack))
        return "-";
    std::string out;
    for (const FrameId id : file.snapshot->stacks[stack]) {
        const Frame& frame = file.snapshot->frames[id];
        out += (out.empty() ? "" : "|") + std::string(file.snapshot->strings.view(frame.name));
        if (valid(frame.file))
            out += "@" + std::string(file.snapshot->strings.view(frame.file)) + ":"
                + std::to_string(frame.line);
    }
    return out;
}

std::shared_ptr<const Replay> replayOf(const ReadText& file, std::size_t device)
{
    auto replay = Replay::build(file.snapshot, device, Job{});
    return replay ? std::move(replay).value() : nullptr;
}

} // namespace

class TestKineto : public QObject {
    Q_OBJECT
private slots:
    void eventsOfEachDevice()
    {
        TraceText t;
        t.memory("100.5", gpu(4096, "1000", totals(4096, 8192)))
            .memory("101",
                "\"Device Type\":0,\"Device Id\":-1,\"Addr\":50,\"Bytes\":64,\"Total Allocated\":64,"
                "\"Total Reserved\":0")
            .memory("102", "\"Device Type\":1,\"Device Id\":3,\"Addr\":1000,\"Bytes\":512")
            .memory("103.999", gpu(-4096, "1000", totals(0, 8192)))
            .memory("104", "\"Device Type\":1,\"Device Id\":0,\"Bytes\":1048576" + totals(0, 9000), "7",
                "[OutOfMemory]");
        const ReadText file = readText(t.text("", ",\"baseTimeNanoseconds\":1700000000000000500"));
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.snapshot->source.kind, SourceKind::KinetoTrace);
        QCOMPARE(file.snapshot->source.encoding, std::string("json"));
        QCOMPARE(file.snapshot->devices.size(), std::size_t{3});
        QCOMPARE(file.snapshot->devices.back().ordinal, cpuOrdinal);

        const DeviceTrace& d = *file.device(0);
        QCOMPARE(d.events.action, (std::vector{Action::Alloc, Action::Free, Action::Oom}));
        QCOMPARE(d.events.size, (std::vector<std::int64_t>{4096, 4096, 1048576}));
        QCOMPARE(d.events.address, (std::vector<std::uint64_t>{1000, 1000, 0}));
        // The base may come behind the events; fractions are cut, not rounded: 100.5 µs + 0.5 µs is 101 µs.
        QCOMPARE(d.events.timeUs,
            (std::vector<std::int64_t>{1700000000000101, 1700000000000104, 1700000000000104}));
        QCOMPARE(d.statedReserved, (std::vector<std::int64_t>{8192, 8192, 9000}));
        QCOMPARE(d.ooms.size(), std::size_t{1});
        QCOMPARE(d.ooms[0].requested, std::optional<std::int64_t>(1048576));
        QVERIFY(!d.ooms[0].deviceFree);
        QVERIFY(!d.hasSegments);
        QCOMPARE(file.device(3)->events.count(), std::size_t{1});
        // The CPU's allocator keeps nothing in reserve; the 0 it states means nothing.
        QVERIFY(file.device(cpuOrdinal)->statedReserved.empty());
        QVERIFY(file.note(Quality::OtherRecorder)->sentence.find("segments") != std::string::npos);
    }

    void curveAndReserved()
    {
        TraceText t;
        t.memory("1", gpu(100, "1", totals(100, 500)))
            .memory("2", gpu(50, "2", totals(150, 700)))
            .memory("3", gpu(-100, "1", totals(50, 700)));
        const ReadText file = readText(t.text());
        const auto replay = replayOf(file, 0);
        QVERIFY(replay);
        QCOMPARE(replay->timeline.requested().total().max, std::int64_t{150});
        QCOMPARE(replay->timeline.requested().last(), std::int64_t{50});
        QVERIFY(replay->segments.reservedKnown());
        QVERIFY(!replay->segments.known());
        QCOMPARE(replay->segments.reserved().at(1), std::int64_t{500});
        QCOMPARE(replay->segments.reserved().last(), std::int64_t{700});
    }

    /// The recorder's total says what existed before; the curve must say the same.
    void memoryFromBefore()
    {
        TraceText t;
        t.memory("1", gpu(100, "1000", totals(1600, 4096)))
            .memory("2", gpu(-500, "9000", totals(1100, 4096)))
            .memory("3", gpu(-100, "1000", totals(1000, 4096)));
        const ReadText file = readText(t.text());
        const auto replay = replayOf(file, 0);
        QVERIFY(replay);
        const Series& live = replay->timeline.requested();
        QCOMPARE(live.at(0), std::int64_t{1500});
        QCOMPARE(live.at(1), std::int64_t{1600});
        QCOMPARE(live.at(2), std::int64_t{1100});
        QCOMPARE(live.at(3), std::int64_t{1000});
        QCOMPARE(replay->timeline.predating().freedInTraceBytes, std::uint64_t{500});
        QCOMPARE(replay->timeline.predating().aliveAtEndBytes, std::uint64_t{1000});
        QVERIFY(file.note(Quality::OtherRecorder, 0)->sentence.find(formatBytes(1000)) != std::string::npos);
        // And the stand-in lies where nothing else does.
        const std::uint64_t standIn = file.device(0)->blocks.front().address;
        QVERIFY(standIn > 9000 || standIn + 1000 <= 1000);
    }

    void totalsThatMoveByThemselves()
    {
        TraceText t;
        t.memory("1", gpu(100, "1", totals(100, 500))).memory("2", gpu(100, "2", totals(900, 900)));
        const ReadText file = readText(t.text());
        QVERIFY(file.device(0)->blocks.empty());
        QVERIFY(file.note(Quality::OtherRecorder, 0)->sentence.find(formatBytes(700)) != std::string::npos);
    }

    void ownersByNesting()
    {
        TraceText t;
        t.range("python_function", "train.py(12): step", "0", "1000")
            .range("python_function", "nn.Module: Linear_0", "90", "200")
            .range("cpu_op", "aten::linear", "100", "50.25")
            .range("cpu_op", "aten::addmm", "110", "20")
            .range("kernel", "gemm", "100", "100")
            .range("cuda_runtime", "cudaMalloc", "111", "5")
            .range("cpu_op", "aten::other", "100", "50", "8")
            .memory("112", gpu(512, "1"))
            .memory("150.25", gpu(512, "2"))
            .memory("150.251", gpu(512, "3"))
            .memory("112", gpu(512, "4"), "9")
            .memory("2000", gpu(512, "5"));
        const ReadText file = readText(t.text());
        const DeviceTrace& d = *file.device(0);
        QCOMPARE(stackOf(file, d, 0),
            std::string("aten::addmm|aten::linear|nn.Module: Linear_0|step@train.py:12"));
        // Same time, another thread: nobody's.
        QCOMPARE(stackOf(file, d, 1), std::string("-"));
        QCOMPARE(stackOf(file, d, 2), std::string("aten::linear|nn.Module: Linear_0|step@train.py:12"));
        QCOMPARE(stackOf(file, d, 3), std::string("nn.Module: Linear_0|step@train.py:12"));
        QCOMPARE(stackOf(file, d, 4), std::string("-"));
    }

    void whyThereIsNoOwner()
    {
        TraceText t;
        t.range("cpu_op", "aten::mm", "0", "5").memory("1", gpu(512, "1")).memory("20", gpu(512, "2"));
        const ReadText file = readText(t.text());
        const auto replay = replayOf(file, 0);
        QVERIFY(whyNoStack(*replay, {}, AllocationId{0}).empty());
        QVERIFY(whyNoStack(*replay, {}, AllocationId{1}).find("operator") != std::string::npos);
        TraceText bare;
        bare.memory("1", gpu(512, "1"));
        const auto alone = replayOf(readText(bare.text()), 0);
        QVERIFY(whyNoStack(*alone, {}, AllocationId{0}).find("operator") != std::string::npos);
        QVERIFY(alone->note(Quality::NoStacks)->sentence.find("with_stack=True") != std::string::npos);
    }

    void neighboursThatTouch()
    {
        TraceText t;
        t.range("cpu_op", "outer", "0", "10").range("cpu_op", "a", "1", "4").range("cpu_op", "b", "5", "5");
        t.memory("5", gpu(512, "1")).memory("10", gpu(512, "2"));
        const ReadText file = readText(t.text());
        QCOMPARE(stackOf(file, *file.device(0), 0), std::string("b|outer"));
        QCOMPARE(stackOf(file, *file.device(0), 1), std::string("b|outer"));
    }

    void frameNames_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("frame");
        QTest::newRow("op") << "aten::mm"
                            << "aten::mm@:0";
        QTest::newRow("module") << "nn.Module: Linear_0"
                                << "nn.Module: Linear_0@:0";
        QTest::newRow("python") << "torch/nn/modules/module.py(1501): _call_impl"
                                << "_call_impl@torch/nn/modules/module.py:1501";
        QTest::newRow("string") << "<string>(2): __init__"
                                << "__init__@<string>:2";
        QTest::newRow("brackets") << "/data (copy)/a.py(7): f(x): g"
                                  << "f(x): g@/data (copy)/a.py:7";
        QTest::newRow("no line") << "weird(x): y"
                                 << "weird(x): y@:0";
        QTest::newRow("built-in") << "<built-in method mm of type object at 0x7f>"
                                  << "<built-in method mm of type object at 0x7f>@:0";
        QTest::newRow("bracket first") << "(3): f"
                                       << "(3): f@:0";
    }
    void frameNames()
    {
        QFETCH(QString, name);
        QFETCH(QString, frame);
        StringTable strings;
        const Frame f = kinetoFrame(name.toStdString(), strings);
        const std::string file = valid(f.file) ? std::string(strings.view(f.file)) : std::string();
        QCOMPARE(QString::fromStdString(
                     std::string(strings.view(f.name)) + "@" + file + ":" + std::to_string(f.line)),
            frame);
    }

    void nanoseconds()
    {
        QCOMPARE(nanosecondsFromMicroseconds("1623142623460121"),
            std::optional<std::int64_t>(1623142623460121000));
        // More digits than a double has.
        QCOMPARE(nanosecondsFromMicroseconds("1623142623460121.123"),
            std::optional<std::int64_t>(1623142623460121123));
        QCOMPARE(
            nanosecondsFromMicroseconds("4203669604110.5"), std::optional<std::int64_t>(4203669604110500));
        QCOMPARE(nanosecondsFromMicroseconds("-0.5"), std::optional<std::int64_t>(-500));
        QCOMPARE(nanosecondsFromMicroseconds("1.5e3"), std::optional<std::int64_t>(1500000));
        QVERIFY(!nanosecondsFromMicroseconds("99999999999999999999"));
        QVERIFY(!nanosecondsFromMicroseconds("NaN"));
        QVERIFY(!nanosecondsFromMicroseconds("x"));
    }

    /// Traces of 2021: no addresses, threads as texts for operators, Python frames as a text.
    void withoutAddresses()
    {
        TraceText t;
        const auto memory = [&](const char* ts, int bytes, int device = 0) {
            t.memory(ts,
                "\"Device Type\":1,\"Device Id\":" + std::to_string(device)
                    + ",\"Bytes\":" + std::to_string(bytes));
        };
        t.range("Operator", "aten::empty", "1623142623460100", "30", "\"7\"",
            "\"Call stack\":\"a.py(3): f;b.py(4): <module>\"");
        memory("1623142623460110", 100);
        memory("1623142623460120", 100);
        memory("1623142623460140", 200);
        memory("1623142623460150", -100);
        memory("1623142623460160", 100, 1);
        memory("1623142623460170", -100);
        memory("1623142623460180", -300);
        const ReadText file = readText(t.text());
        QVERIFY2(file.snapshot, file.message().c_str());
        const DeviceTrace& d = *file.device(0);
        const auto& at = d.events.address;
        QCOMPARE(at.size(), std::size_t{6});
        QVERIFY(at[0] != at[1] && at[1] != at[2]);
        QCOMPARE(at[3], at[1]);
        QCOMPARE(at[4], at[0]);
        QVERIFY(at[5] != at[0] && at[5] != at[1] && at[5] != at[2]);
        QCOMPARE(stackOf(file, d, 0), std::string("aten::empty|f@a.py:3|<module>@b.py:4"));
        QVERIFY(file.note(Quality::OtherRecorder)->sentence.find("no address") != std::string::npos);
        const auto replay = replayOf(file, 0);
        QCOMPARE(replay->timeline.predating().freedInTraceBytes, std::uint64_t{300});
        QCOMPARE(replay->timeline.requested().total().max, std::int64_t{700});
        QCOMPARE(replay->timeline.requested().last(), std::int64_t{200});
    }

    void eventsOutOfOrder()
    {
        TraceText t;
        t.memory("30", gpu(-100, "1")).memory("10", gpu(100, "1")).memory("20", gpu(50, "2"));
        const ReadText file = readText(t.text());
        QCOMPARE(file.device(0)->events.action, (std::vector{Action::Alloc, Action::Alloc, Action::Free}));
        QVERIFY(file.note(Quality::OtherRecorder)->sentence.find("order") != std::string::npos);
    }

    void signedAddresses()
    {
        TraceText t;
        t.memory("1", gpu(100, "-140737488355328")).memory("2", gpu(-100, "18446603336221196288"));
        const ReadText file = readText(t.text());
        const auto replay = replayOf(file, 0);
        QCOMPARE(replay->timeline.requested().last(), std::int64_t{0});
        QCOMPARE(file.device(0)->events.address[0], std::uint64_t{0xffff800000000000});
    }

    void stepsAreMarks()
    {
        TraceText t;
        t.range("user_annotation", "ProfilerStep#1", "0", "100")
            .range("user_annotation", "ProfilerStep#2", "100", "100")
            .range("user_annotation", "forward", "110", "20")
            .range("gpu_user_annotation", "forward", "110", "20")
            .memory("50", gpu(100, "1"))
            .memory("120", gpu(100, "2"))
            .memory("150", gpu(100, "3"));
        const ReadText file = readText(t.text());
        QCOMPARE(file.snapshot->annotations.size(), std::size_t{6});
        const auto marks = pairMarks(*replayOf(file, 0));
        QCOMPARE(marks.size(), std::size_t{3});
        QCOMPARE(marks[0].name, std::string("ProfilerStep#1"));
        QVERIFY(marks[0].step && !marks[0].open);
        QCOMPARE(marks[0].first, StateIndex{0});
        QCOMPARE(marks[0].last, StateIndex{1});
        QCOMPARE(marks[1].depth, 0);
        QCOMPARE(marks[2].name, std::string("forward"));
        QCOMPARE(marks[2].depth, 1);
        QCOMPARE(marks[2].first, StateIndex{1});
        QCOMPARE(marks[2].last, StateIndex{2});
        QCOMPARE(stackOf(file, *file.device(0), 1), std::string("-"));
    }

    void bareListOfEvents()
    {
        TraceText t;
        t.range("cpu_op", "aten::mm", "0", "5").memory("1", gpu(100, "1"));
        const ReadText file = readText(t.events());
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(stackOf(file, *file.device(0), 0), std::string("aten::mm"));
    }

    void withoutMemoryEvents()
    {
        TraceText t;
        t.range("kernel", "gemm", "0", "5", "7", "\"Comms Id\":10159970886766084423");
        const ReadText file = readText(t.text());
        QCOMPARE(file.error->code, ErrorCode::NotASnapshot);
        QVERIFY(file.message().find("[memory]") != std::string::npos);
        QVERIFY(file.message().find("profile_memory=True") != std::string::npos);
        QCOMPARE(readText("{\"traceEvents\":[]}").error->code, ErrorCode::NotASnapshot);
    }

    void oddEventsAreLeftOut()
    {
        TraceText t;
        t.add("7")
            .add("null")
            .add("[1]")
            .add("{\"name\":\"[memory]\"}")
            .add("{\"name\":\"[memory]\",\"args\":3}");
        t.memory("1", "\"Device Type\":1,\"Device Id\":99999999999,\"Bytes\":5")
            .memory("2", "\"Device Type\":1,\"Device Id\":0,\"Bytes\":0,\"Addr\":0")
            .memory("3", "\"Device Type\":1,\"Device Id\":0,\"Bytes\":\"x\"")
            .memory("\"4.5\"", gpu(100, "1"))
            .memory("5",
                gpu(std::numeric_limits<std::int64_t>::min(), "2",
                    totals(std::numeric_limits<std::int64_t>::min(), 1)))
            .memory("6",
                gpu(std::numeric_limits<std::int64_t>::max(), "3",
                    totals(std::numeric_limits<std::int64_t>::max(), 1)))
            .memory("7", gpu(std::numeric_limits<std::int64_t>::max(), "4"));
        const ReadText file = readText(t.text());
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.device(0)->events.count(), std::size_t{4});
        QVERIFY(file.note(Quality::OtherRecorder)->sentence.find("5 memory events") != std::string::npos);
        QVERIFY(replayOf(file, 0));
    }

    void eventRange()
    {
        TraceText t;
        t.memory("1", gpu(100, "1", totals(100, 900)))
            .memory("2", gpu(200, "2", totals(300, 900)))
            .memory("3", gpu(-100, "1", totals(200, 900)))
            .memory("4", gpu(400, "3", totals(600, 900)));
        ReadOptions options;
        options.events = std::pair<std::uint64_t, std::uint64_t>{1, 2};
        const ReadText file = readText(t.text(), options);
        const DeviceTrace& d = *file.device(0);
        QCOMPARE(d.events.count(), std::size_t{2});
        QCOMPARE(d.firstEventInFile, 1U);
        const auto replay = replayOf(file, 0);
        QCOMPARE(replay->timeline.requested().at(0), std::int64_t{100});
        QCOMPARE(replay->timeline.requested().last(), std::int64_t{200});
    }

    void truncated()
    {
        TraceText t;
        t.memory("1", gpu(100, "1")).memory("2", gpu(200, "2"));
        const std::string whole = t.text();
        const std::string cut = whole.substr(0, whole.rfind("\"tid\""));
        const ReadText refused = readText(cut);
        QCOMPARE(refused.error->code, ErrorCode::Truncated);
        QCOMPARE(refused.error->offset, std::optional<std::uint64_t>(cut.size()));
        QVERIFY(refused.message().find("1 [memory] event") != std::string::npos);
        ReadOptions partial;
        partial.partial = true;
        const ReadText file = readText(cut, partial);
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.device(0)->events.count(), std::size_t{1});
        QVERIFY(file.snapshot->source.partial);
        QVERIFY(file.note(Quality::TruncatedFile));
        QCOMPARE(readText(whole.substr(0, 40), partial).error->code, ErrorCode::Truncated);
    }

    void anyCutIsTold()
    {
        TraceText t;
        t.range("cpu_op", "aten::mm", "0", "5", "7", "\"a\":[1,{\"b\":\"c\\u00e9\"}]")
            .memory("1", gpu(100, "1", totals(5, 6)));
        const std::string whole = t.text("\"x\":[true,null],");
        ReadOptions partial;
        partial.partial = true;
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const ReadText refused = readText(whole.substr(0, length));
            QVERIFY(refused.error);
            QCOMPARE(refused.error->code, ErrorCode::Truncated);
            QCOMPARE(refused.error->partial, readText(whole.substr(0, length), partial).snapshot != nullptr);
        }
        QVERIFY(readText(whole).snapshot);
    }
};

QTEST_GUILESS_MAIN(TestKineto)
#include "tst_kineto.moc"
