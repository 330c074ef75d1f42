// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/formats/pickle_reader.hpp"
#include "tests/support/pickle_forge.hpp"
#include "tests/support/read_text.hpp"

#include <QTest>

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
        const auto got = read(pickled(pySample(), style));
        checkSample(got);
        QCOMPARE(got.snapshot->source.pickleProtocol, std::optional(protocol < 2 ? 0 : protocol));
        QCOMPARE(got.snapshot->source.encoding, "pickle"s);
    }

    void cppWriter()
    {
        PickleStyle style;
        style.cpp = true;
        checkSample(read(pickled(pySample(), style)));
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
            checkSample(read(pickled(pySample(), style)));
            style.slot = [](std::uint64_t i) { return i < 256 ? 255 - i : i; };
            checkSample(read(pickled(pySample(), style)));
        }
    }

    void framesMayLie()
    {
        for (const std::uint64_t claim :
            {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}, std::uint64_t{1} << 62U}) {
            PickleStyle style;
            style.frameBytes = 16;
            style.frameLength = [&](std::uint64_t) { return claim; };
            checkSample(read(pickled(pySample(), style)));
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
        // The digits can still be shown.
        const auto& odd = got.snapshot->devices[0].oddSizes;
        QCOMPARE(odd.size(), 1U);
        QCOMPARE(odd[0].first, EventIndex{0});
        QCOMPARE(got.snapshot->strings.view(odd[0].second),
            std::string_view("11417981541647679048466287755595961091061972991"));
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
        const auto got = read(pickled(with(pySample(), {{"notes", pyText(text)}})));
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
        checkSample(read(pickled(pySample()) + "\0\0\0"s));
        checkSample(read(pickled(pySample()) + "\xff garbage"));
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
        const auto got = read(pickled(with(pySample(), {{"x", pyRaw(value)}})));
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
            const auto got = read(pickled(with(pySample(), {{"x", pyRaw(row.opcodes)}})));
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
            // Events that two devices share are in none of their ranges alone.
            QCOMPARE(read(bytes, options).error->code, ErrorCode::Unsupported);
            const auto some = read(pickled(pySnapshot({}, {trace}), style), options);
            QVERIFY2(some.snapshot, some.message().c_str());
            QCOMPARE(some.device(0)->events.count(), 50U);
            QCOMPARE(some.device(0)->events.size[0], 101);
            QCOMPARE(some.device(0)->firstEventInFile, 100U);
        }
    }

    void probe()
    {
        for (int p = 0; p <= 5; ++p)
            QVERIFY(looksLikePickle(pickled(pySample(), {.protocol = p})));
        QVERIFY(looksLikePickle(pickled(pyList(), {.protocol = 1})));
        QVERIFY(looksLikePickle("cos\nsystem\n(tR."));
        for (const char* other :
            {"", "{\"segments\": []}", "[]", "cat and dog\n", "\x89PNG\r\n", "step 1", "<html>", "(a) text"})
            QVERIFY2(!looksLikePickle(other), other);
    }
};

QTEST_GUILESS_MAIN(TestPickle)
#include "tst_pickle.moc"
