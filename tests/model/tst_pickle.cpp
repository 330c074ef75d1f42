// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/formats/pickle_reader.hpp"
#include "tests/support/pickle_forge.hpp"
#include "tests/support/read_text.hpp"

#include <QTest>

#include <random>

using namespace tidemark;
using namespace tidemark::test;
using namespace std::string_literals;

namespace {

constexpr std::uint64_t base = 0x7f4000000000;
constexpr std::int64_t start = 1790000000000000;

ReadText read(const std::string& bytes, const ReadOptions& options = {})
{
    return readText(bytes, options, pickleReader);
}

/// Two stacks over three frame objects, events with and without frames, an unmatched free, a block that is
/// live.
Py sample()
{
    const Py inner = pyFrame("relu", "net.py", 12);
    const Py outer = pyFrame("main \U0001f600 \\ \n", "train.py", 70000);
    const Py kernel = pyFrame("at::native::kernel", "", 0);
    const Py one = pyList({inner, outer});
    const Py two = pyList({kernel, inner, outer});
    return pyDict({
        {"segments",
            pyList({pySegment(0, base, 2097152,
                {pyBlock(base, 1048576, "active_allocated", 1000000, one),
                    pyBlock(base + 1048576, 1048576, "inactive", 0)})})},
        {"device_traces",
            pyList({pyList({
                        pyEvent("segment_alloc", base, 2097152, start, one),
                        pyEvent("alloc", base, 1000000, start + 1, one, 7),
                        pyEvent("alloc", base + 1048576, 300, start + 2, two),
                        pyEvent("free_requested", base + 1048576, 300, start + 3, two),
                        pyEvent("free_completed", base + 1048576, 300, start + 3),
                        pyEvent("free_completed", 0xffff810000000200, 512, start + 4, pyList()),
                    }),
                pyList()})},
        {"allocator_settings",
            pyDict({{"PYTORCH_CUDA_ALLOC_CONF", pyText("")}, {"max_split_size", pyInt(-1)},
                {"garbage_collection_threshold", pyReal(0.5)}, {"expandable_segments", pyBool(true)},
                {"roundup_power2_divisions", pyDict({{"256", pyInt(4)}})}})},
        {"external_annotations",
            pyList({pyDict({{"stage", pyText("START")}, {"name", pyText("ProfilerStep#3")},
                        {"device", pyInt(0)}, {"time_us", pyInt(start)}}),
                pyDict({{"stage", pyText("END")}, {"name", pyText("ProfilerStep#3")}, {"device", pyInt(0)},
                    {"time_us", pyInt(start + 9)}})})},
    });
}

std::string stackText(const Snapshot& s, StackId stack)
{
    if (!valid(stack))
        return "none";
    std::string out;
    for (const FrameId f : s.stacks[stack])
        out += std::string(s.strings.view(s.frames[f].name)) + '@'
            + std::string(s.strings.view(s.frames[f].file)) + ':' + std::to_string(s.frames[f].line) + ';';
    return out;
}

void checkSample(const ReadText& got)
{
    QVERIFY2(got.snapshot, got.message().c_str());
    const Snapshot& s = *got.snapshot;
    QCOMPARE(s.devices.size(), 1U);
    QCOMPARE(s.deviceSlots, 2U);
    const DeviceTrace& d = s.devices[0];
    const EventColumns& e = d.events;
    QCOMPARE(e.count(), 6U);
    QCOMPARE(e.action[0], Action::SegmentAlloc);
    QCOMPARE(e.action[3], Action::FreeRequested);
    QCOMPARE(e.address[1], base);
    QCOMPARE(e.address[5], 0xffff810000000200ULL);
    QCOMPARE(e.size[1], 1000000);
    QCOMPARE(e.timeUs[4], start + 3);
    QCOMPARE(s.streams[index(e.stream[1])], 7);
    QCOMPARE(s.streams[index(e.stream[2])], 0);
    const std::string one = "relu@net.py:12;main \U0001f600 \\ \n@train.py:70000;";
    QCOMPARE(stackText(s, e.stack[0]), one);
    QCOMPARE(stackText(s, e.stack[2]), "at::native::kernel@:0;" + one);
    QCOMPARE(e.stack[2], e.stack[3]);
    QCOMPARE(stackText(s, e.stack[4]), "none"s);
    QCOMPARE(stackText(s, e.stack[5]), ""s);
    QVERIFY(d.hasSegments);
    QCOMPARE(d.segments.size(), 1U);
    QCOMPARE(d.segments[0].totalSize, 2097152);
    QCOMPARE(d.segments[0].kind, SegmentKind::Large);
    QCOMPARE(d.blocks.size(), 2U);
    QCOMPARE(d.blocks[0].requested, 1000000);
    QCOMPARE(d.blocks[0].stack, e.stack[0]);
    QCOMPARE(d.blocks[0].state, BlockState::Allocated);
    QCOMPARE(d.blocks[1].address, base + 1048576);
    QCOMPARE(s.annotations.size(), 2U);
    QVERIFY(s.annotations[0].start && !s.annotations[1].start);
    QCOMPARE(s.strings.view(s.annotations[0].name), std::string_view("ProfilerStep#3"));
    QCOMPARE(s.settings.size(), 5U);
    QCOMPARE(std::get<double>(s.settings[2].value), 0.5);
    QCOMPARE(s.settings[4].key, "roundup_power2_divisions.256"s);
    QVERIFY(s.quality.empty());
}

/// A dict with "segments", "device_traces" and one more key "x"; then the given opcodes, at byte 43.
std::string faulty(const std::string& opcodes)
{
    return "\x80\x02}("s + opText("segments") + ']' + opText("device_traces") + ']' + opText("x") + opcodes;
}

} // namespace

class TestPickle : public QObject {
    Q_OBJECT

private slots:
    void everyProtocol_data()
    {
        QTest::addColumn<int>("protocol");
        for (int p = 0; p <= 5; ++p)
            QTest::addRow("%d", p) << p;
    }
    void everyProtocol()
    {
        QFETCH(int, protocol);
        PickleStyle style;
        style.protocol = protocol;
        const auto got = read(pickled(sample(), style));
        checkSample(got);
        QCOMPARE(got.snapshot->source.pickleProtocol, std::optional(protocol < 2 ? 0 : protocol));
        QCOMPARE(got.snapshot->source.encoding, "pickle"s);
    }

    void cppWriter()
    {
        PickleStyle style;
        style.cpp = true;
        checkSample(read(pickled(sample(), style)));
    }

    void memoSlots_data()
    {
        QTest::addColumn<quint64>("factor");
        QTest::addColumn<quint64>("offset");
        QTest::newRow("gaps") << quint64(1000) << quint64(256);
        QTest::newRow("high") << quint64(1) << quint64(0xffffff00);
        QTest::newRow("wide apart") << quint64(40000000) << quint64(3);
    }
    void memoSlots()
    {
        QFETCH(quint64, factor);
        QFETCH(quint64, offset);
        for (const int protocol : {0, 1, 2}) {
            PickleStyle style;
            style.protocol = protocol;
            style.slot = [&](std::uint64_t i) { return (i * factor + offset) & 0xffffffffU; };
            checkSample(read(pickled(sample(), style)));
            style.slot = [](std::uint64_t i) { return i < 256 ? 255 - i : i; };
            checkSample(read(pickled(sample(), style)));
        }
    }

    void framesMayLie()
    {
        for (const std::uint64_t claim :
            {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}, std::uint64_t{1} << 62U}) {
            PickleStyle style;
            style.frameBytes = 16;
            style.frameLength = [&](std::uint64_t) { return claim; };
            checkSample(read(pickled(sample(), style)));
        }
    }

    void numbersInAllForms()
    {
        const auto sizeOf = [](const std::string& opcodes) {
            const auto got = read(pickled(pySnapshot(
                {}, {pyList({with(pyEvent("alloc", base, 1, start), {{"size", pyRaw(opcodes)}})})})));
            return got.snapshot ? got.snapshot->devices.at(0).events.size.at(0) : -77;
        };
        QCOMPARE(sizeOf("K\xff"), 255);
        QCOMPARE(sizeOf("M\x01\x02"), 0x201);
        QCOMPARE(sizeOf("J\xff\xff\xff\xff"), -1);
        QCOMPARE(sizeOf("\x8a\x00"s), 0);
        QCOMPARE(sizeOf(opLong1(-5, 1)), -5);
        QCOMPARE(sizeOf(opLong1(3145728, 255)), 3145728);
        QCOMPARE(sizeOf(opLong1(std::numeric_limits<std::int64_t>::min(), 8)),
            std::numeric_limits<std::int64_t>::min());
        QCOMPARE(sizeOf("\x8b" + littleEndian(300, 4) + littleEndian(512, 300)), 512);
        QCOMPARE(sizeOf("I300\n"), 300);
        QCOMPARE(sizeOf("L-7L\n"), -7);
        QCOMPARE(sizeOf("L18446744073709551615L\n"), -1);
        QCOMPARE(sizeOf("I01\n"), 1);
        QCOMPARE(sizeOf("F4096.0\n"), 4096);
        QCOMPARE(sizeOf("G\x40\xb0\x00\x00\x00\x00\x00\x00"s), 4096);
        QCOMPARE(sizeOf("\x8a\x09" + littleEndian(~0ULL, 8) + '\0'), -1);
    }

    void numberBeyond64Bits()
    {
        std::string huge = "\x8a\x14" + std::string(19, '\xff') + '\x01';
        const auto got = read(pickled(
            pySnapshot({}, {pyList({with(pyEvent("alloc", base, 1, start), {{"size", pyRaw(huge)}})})})));
        QVERIFY(got.snapshot);
        // It adds nothing to any total and is reported.
        QCOMPARE(sane(got.snapshot->devices[0].events.size[0]), 0U);
        const QualityNote* note = got.note(Quality::AbsurdSize, 0);
        QVERIFY(note);
        QCOMPARE(note->count, 1U);
        QCOMPARE(note->firstEvent, std::optional<std::uint32_t>(0));
    }

    void texts()
    {
        const std::string symbol(75000, 's');
        const auto nameOf = [](const std::string& opcodes) {
            const auto got = read(pickled(pySnapshot({},
                {pyList({pyEvent("alloc", base, 1, start,
                    pyList({with(pyFrame("", "f.py", 1), {{"name", pyRaw(opcodes)}})}))})})));
            if (!got.snapshot)
                return got.message();
            const Snapshot& s = *got.snapshot;
            return std::string(s.strings.view(s.frames[s.stacks[s.devices[0].events.stack[0]][0]].name));
        };
        QCOMPARE(nameOf("Vcaf\xe9 \\u4e2d \\U0001f600 \\n\n"), "caf\u00e9 \u4e2d \U0001f600 \\n"s);
        QCOMPARE(nameOf("Vlone \\ud800\n"), "lone \xed\xa0\x80"s);
        QCOMPARE(nameOf("S'it\\'s \\x41\\n'\n"), "it's A\n"s);
        QCOMPARE(nameOf("S\"two\"\n"), "two"s);
        QCOMPARE(nameOf("U\x03"
                        "abc"),
            "abc"s);
        QCOMPARE(nameOf("T\x03\x00\x00\x00"
                        "abc"s),
            "abc"s);
        QCOMPARE(nameOf("C\x03"
                        "a\0c"s),
            "a\0c"s);
        QCOMPARE(nameOf('\x8d' + littleEndian(symbol.size(), 8) + symbol), symbol);
        QCOMPARE(nameOf('X' + littleEndian(2, 4) + "\xff\xfe"), "\xff\xfe"s);
        QCOMPARE(nameOf("N"), ""s);
        QCOMPARE(nameOf("K\x07"), "7"s);
    }

    void tooLongTextIsCut()
    {
        const std::string text(limits::maxStringBytes + 5000, 'x');
        const auto got = read(pickled(with(sample(), {{"notes", pyText(text)}})));
        QVERIFY2(got.snapshot, got.message().c_str());
        const QualityNote* note = got.note(Quality::BadText);
        QVERIFY(note);
        QCOMPARE(note->count, 1U);
        QVERIFY(got.note(Quality::UnknownKey));
        for (std::size_t i = 0; i < got.snapshot->strings.size(); ++i)
            QVERIFY(got.snapshot->strings.view(StringId{static_cast<std::uint32_t>(i)}).size()
                <= limits::maxStringBytes);
    }

    void trailingBytesDoNotMatter()
    {
        checkSample(read(pickled(sample()) + "\0\0\0"s));
        checkSample(read(pickled(sample()) + "\xff garbage"));
    }

    void stackOpcodes()
    {
        // POP, DUP and POP_MARK around a value; a list put in a tuple first.
        const std::string value = "K\x01"
                                  "0"
                                  "(K\x02K\x03"
                                  "1"
                                  "]K\x05"
                                  "20a"s;
        const auto got = read(pickled(with(sample(), {{"x", pyRaw(value)}})));
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(got.note(Quality::UnknownKey)->examples, std::vector<std::string>{"x"});
    }

    void slotUsedAgainMeansTheLaterObject()
    {
        // The same bytes stand for another stack once slot 9 holds another frame.
        std::string frames;
        std::string list = "(";
        for (int i = 0; i < 60; ++i)
            list += "h\x09";
        list += 'e';
        const auto makeFrame = [](const char* name) {
            return "}(" + opText("name") + opText(name) + opText("filename") + opText("f.py") + opText("line")
                + "K\x01uq\x09"
                  "0";
        };
        const auto makeEvent = [&](int at) {
            return "}(" + opText("action") + opText("alloc") + opText("addr") + opInt(at) + opText("size")
                + "K\x08" + opText("frames") + ']' + list + 'u';
        };
        const std::string bytes = "\x80\x02}("s + opText("segments") + ']' + opText("device_traces") + "](]("
            + makeFrame("first") + makeEvent(1) + makeEvent(2) + makeFrame("second") + makeEvent(3) + "eeu.";
        const auto got = read(bytes);
        QVERIFY2(got.snapshot, got.message().c_str());
        const EventColumns& e = got.snapshot->devices.at(0).events;
        QCOMPARE(e.count(), 3U);
        QCOMPARE(e.stack[0], e.stack[1]);
        QVERIFY(stackText(*got.snapshot, e.stack[1]).starts_with("first@"));
        QVERIFY(stackText(*got.snapshot, e.stack[2]).starts_with("second@"));
        QCOMPARE(got.snapshot->stacks[e.stack[2]].size(), 60U);
    }

    void foreignObjectsStayInert()
    {
        const std::string numpy
            = "cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\n(X\x02\0\0\0i8\x89\x88tR(K\x03X\x01\0\0\0<NNNtbC\x02\x07\0\x86R"s;
        struct Row {
            std::string opcodes;
            std::vector<std::string> names;
        };
        const std::vector<Row> rows{
            {"cos\nsystem\n(X\x04\0\0\0true"
             "tR"s,
                {"os.system"}},
            {"X\x05\0\0\0posixX\x06\0\0\0system\x93)R"s, {"posix.system"}},
            {numpy, {"numpy.core.multiarray.scalar", "numpy.dtype"}},
            {"cmine\nThing\n)\x81}(X\x01\0\0\0aK\x01ub"s, {"mine.Thing"}},
            {"cmine\nThing\n)}\x92"s, {"mine.Thing"}},
            {"(K\x01imine\nOld\n"s, {"mine.Old"}},
            {"(cmine\nOld\nK\x01o"s, {"mine.Old"}},
            {"Pabc\n"s, {"persistent.id"}},
            {"K\x01Q"s, {"persistent.id"}},
            {"\x82\x07"s, {"persistent.extension"}},
            {"\x97\x98"s, {"persistent.buffer"}},
            {"\x8f(K\x01\x90"s, {}},
            {"(K\x01\x91"s, {}},
            {"\x96" + littleEndian(3, 8) + "abc", {}},
        };
        for (const Row& row : rows) {
            const auto got = read(pickled(with(sample(), {{"x", pyRaw(row.opcodes)}})));
            QVERIFY2(got.snapshot, (row.opcodes + got.message()).c_str());
            QCOMPARE(got.snapshot->devices.at(0).events.count(), 6U);
            QCOMPARE(got.note(Quality::UnknownKey)->examples, std::vector<std::string>{"x"});
            const QualityNote* note = got.note(Quality::ForeignObject);
            QCOMPARE(note ? note->examples : std::vector<std::string>{}, row.names);
        }
    }

    void dictKindsCountAsDicts()
    {
        const Py plain = pyEvent("alloc", base, 4096, start);
        std::string pairs;
        std::string listed;
        for (std::size_t i = 0; i < plain->items.size(); i += 2) {
            const std::string key = opText(plain->items[i]->text);
            const Py& v = plain->items[i + 1];
            const std::string value = v->kind == PyObject::Kind::Text ? opText(v->text) : opInt(v->number);
            pairs += key + value;
            listed += '(' + key + value + 'l';
        }
        for (const std::string& form : {"ccollections\nOrderedDict\n)R(" + pairs + 'u',
                 "ccollections\ndefaultdict\ncbuiltins\nint\n\x85R(" + pairs + 'u',
                 "ccollections\nOrderedDict\n((" + listed + "ltR", "cmine\nDict\n)\x81(" + pairs + 'u',
                 "ccopy_reg\n_reconstructor\n(cmine\nDict\nc__builtin__\ndict\n}(" + pairs + "utR"}) {
            const auto got = read(pickled(pySnapshot({}, {pyList({pyRaw(form)})})));
            QVERIFY2(got.snapshot, (form + got.message()).c_str());
            QVERIFY2(got.snapshot->devices.size() == 1, form.c_str());
            const EventColumns& e = got.snapshot->devices[0].events;
            QCOMPARE(e.count(), 1U);
            QCOMPARE(e.action[0], Action::Alloc);
            QCOMPARE(e.address[0], base);
            QCOMPARE(e.size[0], 4096);
        }
    }

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
        std::vector<std::string> files{pickled(sample(), cpp)};
        for (const int protocol : {0, 2, 4})
            files.push_back(pickled(sample(), {.protocol = protocol}));
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

    void aCutTraceHasNoFinalState()
    {
        const std::string whole = pickled(sample());
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

    void flippedBytesNeverHarm()
    {
        std::mt19937 random(20240607);
        ReadOptions partial;
        partial.partial = true;
        PickleStyle cpp;
        cpp.cpp = true;
        const std::vector<std::string> files{
            pickled(sample(), {.protocol = 0}), pickled(sample()), pickled(sample(), cpp)};
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

    void manyEventsOverManyWindows()
    {
        // Larger than every buffer; each event by its own bytes, stacks by memo references.
        const Py frames = pyList({pyFrame("a", "a.py", 1), pyFrame("b", "b.py", 2)});
        std::vector<Py> events;
        constexpr std::size_t count = 60000;
        events.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
            events.push_back(pyEvent("alloc", base + (i * 512), static_cast<std::int64_t>(i + 1),
                start + static_cast<std::int64_t>(i), pyList(frames->items),
                static_cast<std::int64_t>(i % 3)));
        const Py trace = pyList(events);
        for (const bool cpp : {false, true}) {
            PickleStyle style;
            style.cpp = cpp;
            const std::string bytes = pickled(pySnapshot({}, {trace, pyList({events[0], events[5]})}), style);
            QVERIFY(bytes.size() > (2U << 20));
            const auto got = read(bytes);
            QVERIFY2(got.snapshot, got.message().c_str());
            QCOMPARE(got.snapshot->devices.size(), 2U);
            const EventColumns& e = got.device(0)->events;
            QCOMPARE(e.count(), count);
            for (std::size_t i = 0; i < count; ++i) {
                QCOMPARE(e.address[i], base + (i * 512));
                QCOMPARE(e.size[i], static_cast<std::int64_t>(i + 1));
                QCOMPARE(got.snapshot->streams[index(e.stream[i])], static_cast<std::int64_t>(i % 3));
                QCOMPARE(e.stack[i], e.stack[0]);
            }
            QCOMPARE(got.snapshot->stacks.size(), 1U);
            QCOMPARE(got.device(1)->events.size, (std::vector<std::int64_t>{1, 6}));

            ReadOptions options;
            options.events = {100, 149};
            const auto some = read(bytes, options);
            QVERIFY(some.snapshot);
            QCOMPARE(some.device(0)->events.count(), 50U);
            QCOMPARE(some.device(0)->events.size[0], 101);
            QCOMPARE(some.device(0)->firstEventInFile, 100U);
            QCOMPARE(some.device(1)->events.count(), 0U);
        }
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
        const auto nested = read("\x80\x02"s + std::string(300000, ']') + std::string(299999, 'a') + '.');
        QVERIFY(!nested.snapshot);
        QCOMPARE(nested.error->code, ErrorCode::NotASnapshot);
        std::string doubled = "]r\0\0\1\0"s;
        for (int i = 0; i < 40; ++i)
            doubled += "]("
                       "j\0\0\1\0j\0\0\1\0er\0\0\1\0"s;
        const auto got = read(pickled(with(sample(), {{"x", pyRaw('(' + doubled + 'l')}}), {.protocol = 2}));
        QVERIFY2(got.snapshot, got.message().c_str());
    }

    void probe()
    {
        for (int p = 0; p <= 5; ++p)
            QVERIFY(looksLikePickle(pickled(sample(), {.protocol = p})));
        QVERIFY(looksLikePickle(pickled(pyList(), {.protocol = 1})));
        QVERIFY(looksLikePickle("cos\nsystem\n(tR."));
        for (const char* other :
            {"", "{\"segments\": []}", "[]", "cat and dog\n", "\x89PNG\r\n", "step 1", "<html>", "(a) text"})
            QVERIFY2(!looksLikePickle(other), other);
    }
};

QTEST_GUILESS_MAIN(TestPickle)
#include "tst_pickle.moc"
