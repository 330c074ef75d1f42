// SPDX-License-Identifier: GPL-3.0-or-later
// What people put beside the events themselves, and what stands where no recorder would put it.
#include "model/core/limits.hpp"
#include "model/formats/pickle_reader.hpp"
#include "tests/support/pickle_forge.hpp"
#include "tests/support/read_text.hpp"

#include <QTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;
using namespace std::string_literals;

Q_DECLARE_METATYPE(tidemark::test::Py)

namespace {

constexpr std::uint64_t base = 0x7f4000000000;
constexpr std::int64_t start = 1790000000000000;

std::string json(const Py& value)
{
    std::string out;
    switch (value->kind) {
    case PyObject::Kind::Text:
        return '"' + value->text + '"';
    case PyObject::Kind::List:
        for (const Py& item : value->items)
            out += (out.empty() ? "" : ", ") + json(item);
        return '[' + out + ']';
    case PyObject::Kind::Dict:
        for (std::size_t i = 0; i < value->items.size(); i += 2)
            out += (out.empty() ? "" : ", ") + json(value->items[i]) + ": " + json(value->items[i + 1]);
        return '{' + out + '}';
    default:
        return std::to_string(value->number);
    }
}

bool hasExample(const ReadText& got, std::string_view words)
{
    const QualityNote* note = got.note(Quality::UnknownKey);
    return note && std::ranges::any_of(note->examples, [&](const std::string& example) {
        return example.find(words) != std::string::npos;
    });
}

} // namespace

class TestMetadata : public QObject {
    Q_OBJECT
private slots:
    void dictsStayTexts_data()
    {
        QTest::addColumn<Py>("metadata");
        const auto row = [](const char* name, const Py& dict) { QTest::newRow(name) << dict; };
        row("any", pyDict({{"epoch", pyInt(3)}}));
        row("stage", pyDict({{"stage", pyText("forward")}, {"step", pyInt(3)}}));
        row("state", pyDict({{"state", pyText("training")}}));
        row("action", pyDict({{"action", pyText("resize")}, {"size", pyInt(3)}}));
        row("state and size", pyDict({{"size", pyInt(32)}, {"state", pyText("warm")}}));
        row("size, state and more",
            pyDict({{"size", pyInt(32)}, {"state", pyText("inactive")}, {"who", pyText("me")}}));
        row("stage and name", pyDict({{"stage", pyText("eval")}, {"name", pyText("run 7")}}));
        row("frame", pyDict({{"name", pyText("conv1")}, {"line", pyInt(3)}}));
        row("frame and more", pyDict({{"name", pyText("conv1")}, {"line", pyInt(3)}, {"k", pyInt(1)}}));
        row("file", pyDict({{"filename", pyText("data.bin")}}));
        row("type", pyDict({{"segment_type", pyText("image")}}));
        row("blocks", pyDict({{"blocks", pyInt(12)}}));
        row("nested",
            pyDict({{"run", pyDict({{"action", pyText("go")}, {"state", pyText("on")}})},
                {"list", pyList({pyDict({{"stage", pyInt(1)}}), pyDict({{"stage", pyInt(2)}})})}}));
    }
    void dictsStayTexts()
    {
        QFETCH(Py, metadata);
        const Py snapshot = pySnapshot({},
            {pyList({pyEvent("alloc", base, 8, start),
                with(pyEvent("free_completed", base, 8, start), {{"user_metadata", metadata}})})});
        std::vector<ReadText> all{readText(json(snapshot))};
        for (const int protocol : {0, 2, 4})
            all.push_back(readText(pickled(snapshot, {.protocol = protocol}), {}, pickleReader));
        for (const ReadText& got : all) {
            QVERIFY2(got.snapshot, got.message().c_str());
            const EventColumns& e = got.device(0)->events;
            QCOMPARE(e.action, (std::vector{Action::Alloc, Action::FreeCompleted}));
            QVERIFY(valid(e.userMetadata.at(1)));
            QCOMPARE(std::string(got.snapshot->strings.view(e.userMetadata[1])), json(metadata));
        }
    }

    /// Parts of a snapshot that a class of the program was asked to make of them.
    void rowsInsideCalls_data()
    {
        QTest::addColumn<QByteArray>("before");
        QTest::addColumn<QByteArray>("after");
        QTest::newRow("ordered") << QByteArray("ccollections\nOrderedDict\n") << QByteArray("\x85R");
        QTest::newRow("dict") << QByteArray("cbuiltins\ndict\n") << QByteArray("\x85R");
        QTest::newRow("default") << QByteArray("ccollections\ndefaultdict\ncbuiltins\nint\n")
                                 << QByteArray("\x86R");
    }
    void rowsInsideCalls()
    {
        QFETCH(QByteArray, before);
        QFETCH(QByteArray, after);
        const auto made = [&](const std::string& pairs) {
            return pyRaw(before.toStdString() + "}(" + pairs + 'u' + after.toStdString());
        };
        const Py frame = made(
            opText("name") + opText("f") + opText("filename") + opText("f.py") + opText("line") + opInt(9));
        const Py event = made(
            opText("action") + opText("alloc") + opText("addr") + opInt(4096) + opText("size") + opInt(77));
        const Py block = made(opText("address") + opInt(8192) + opText("size") + opInt(512) + opText("state")
            + opText("inactive"));
        const Py snapshot = pySnapshot({pySegment(0, 8192, 512, {block})},
            {pyList({event, pyEvent("alloc", base, 8, start, pyList({frame}))})});
        const auto got = readText(pickled(snapshot), {}, pickleReader);
        QVERIFY2(got.snapshot, got.message().c_str());
        const DeviceTrace& d = *got.device(0);
        QCOMPARE(d.events.size, (std::vector<std::int64_t>{77, 8}));
        QCOMPARE(got.snapshot->frames.size(), 1U);
        QCOMPARE(got.snapshot->stacks[d.events.stack[1]].size(), 1U);
        QCOMPARE(d.blocks.size(), 1U);
        QCOMPARE(d.blocks[0].size, 512);
        QVERIFY(!got.note(Quality::ForeignObject));
    }

    void devicesThatCannotBeAreNoted()
    {
        const std::string event = "{\"action\": \"alloc\", \"addr\": 4096, \"size\": 8}";
        std::string text = "{\"segments\": [], \"device_traces\": [[" + event + "]";
        for (std::int64_t i = 1; i <= limits::maxDevice; ++i)
            text += ", []";
        const auto mark = [](const std::string& device) {
            return "{\"stage\": \"START\", \"name\": \"s\", \"device\": " + device + ", \"time_us\": 5}";
        };
        text += ", [" + event + "]], \"external_annotations\": [" + mark("0") + ", " + mark("70000") + ", "
            + mark("-7") + "]}";
        const ReadText got = readText(text);
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(got.snapshot->devices.size(), 1U);
        QVERIFY(hasExample(got, "trace of device 4096"));
        QVERIFY(hasExample(got, "range of device 70000"));
        QVERIFY(hasExample(got, "range of device -7"));
        QCOMPARE(got.note(Quality::UnknownKey)->count, 3U);
        QCOMPARE(got.snapshot->annotations.size(), 3U);
        QCOMPARE(got.snapshot->annotations[0].device, 0);
        QCOMPARE(got.snapshot->annotations[1].device, everyDevice);
    }
};

QTEST_GUILESS_MAIN(TestMetadata)
#include "tst_metadata.moc"
