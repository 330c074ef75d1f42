// SPDX-License-Identifier: GPL-3.0-or-later
// Events whose keys are those of the event before are read on a short way of their own; here what comes of it
// is held against the same events with their keys in an order that changes every time.
#include "model/formats/pickle_reader.hpp"
#include "tests/support/pickle_forge.hpp"
#include "tests/support/read_text.hpp"

#include <QTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;

namespace {

using Pairs = std::vector<std::pair<std::string, Py>>;

std::string frames(const Snapshot& s, StackId stack)
{
    if (!valid(stack))
        return "none";
    std::string out = "[";
    for (const FrameId f : s.stacks[stack])
        out += std::string(s.strings.view(s.frames[f].name)) + ':' + std::to_string(s.frames[f].line) + ' ';
    return out + ']';
}

template <typename Id, typename Show>
std::string rare(const std::vector<Id>& column, std::size_t i, Show show)
{
    return column.empty() || !valid(column[i]) ? "-" : show(column[i]);
}

/// Every field of every event as text.
std::vector<std::string> rows(const Snapshot& s)
{
    std::vector<std::string> out;
    if (s.devices.empty())
        return out;
    const DeviceTrace& d = s.devices[0];
    const EventColumns& e = d.events;
    const auto text = [&](StringId id) { return '"' + std::string(s.strings.view(id)) + '"'; };
    for (std::size_t i = 0; i < e.count(); ++i) {
        std::string row = std::to_string(static_cast<int>(e.action[i])) + ' ' + std::to_string(e.address[i])
            + ' ' + std::to_string(e.size[i]) + " stream " + std::to_string(s.streams[index(e.stream[i])])
            + " time " + std::to_string(e.timeUs[i]) + ' ' + frames(s, e.stack[i]) + ' '
            + rare(e.forwardStack, i, [&](StackId id) { return frames(s, id); }) + " pool "
            + rare(e.pool, i,
                [&](PoolId id) {
                    return std::to_string(s.pools[index(id)].first) + ','
                        + std::to_string(s.pools[index(id)].second);
                })
            + " context " + rare(e.compileContext, i, text) + " user " + rare(e.userMetadata, i, text)
            + " internal " + rare(e.internalMetadata, i, text) + " category " + rare(e.category, i, text);
        for (const auto& [event, word] : d.otherActions)
            row += index(event) == i ? " action " + text(word) : "";
        for (const auto& [event, digits] : d.oddSizes)
            row += index(event) == i ? " size " + text(digits) : "";
        for (const OomEvent& oom : d.ooms)
            row += index(oom.event) == i ? " oom " + std::to_string(oom.requested.value_or(-1)) + ' '
                    + std::to_string(oom.deviceFree.value_or(-1))
                                         : "";
        out.push_back(row);
    }
    return out;
}

Pairs plain(std::uint64_t address, std::int64_t size, std::int64_t time, const Py& stack)
{
    return {{"action", pyText("alloc")}, {"addr", pyInt(static_cast<std::int64_t>(address))},
        {"size", pyInt(size)}, {"stream", pyInt(0)}, {"time_us", pyInt(time)},
        {"compile_context", pyText("N/A")}, {"user_metadata", pyText("")}, {"frames", stack}};
}

Pairs changed(Pairs pairs, const std::string& key, const Py& value)
{
    for (auto& [name, old] : pairs)
        if (name == key)
            old = value;
    return pairs;
}

/// Usual events with every kind of unusual one in between.
std::vector<Pairs> events()
{
    std::vector<Py> inner;
    for (int i = 0; i < 60; ++i)
        inner.push_back(pyFrame("f" + std::to_string(i), "a.py", i + 1));
    const auto stack = [&](int from) { return pyList({inner.begin() + from, inner.end()}); };
    const Py shared = stack(3);
    std::vector<Pairs> out;
    std::uint64_t address = 0x7f0000000000;
    std::int64_t time = 1790000000000000;
    const auto usual = [&](const Py& frames) {
        time += 5;
        address += 512;
        return plain(address, 1000 + time % 70000, time, frames);
    };
    const auto odd = [&](const std::string& key, const Py& value) {
        out.push_back(changed(usual(shared), key, value));
        out.push_back(usual(stack(7)));
        out.push_back(usual(stack(7)));
    };
    for (int i = 0; i < 20; ++i)
        out.push_back(usual(i % 3 == 0 ? shared : stack(i % 5)));
    for (const std::int64_t size : {0L, 1L, 255L, 256L, 65535L, 65536L, 2147483647L, 2147483648L, -1L})
        odd("size", pyInt(size));
    odd("size", pyUnsigned(0xffffffffffffffffULL));
    odd("size", pyReal(512.0));
    odd("size", pyNone());
    odd("addr", pyUnsigned(0xffff810000000200ULL));
    odd("addr", pyText("somewhere"));
    odd("stream", pyInt(0x55aa00112233));
    odd("time_us", pyInt(-1));
    odd("time_us", pyNone());
    odd("action", pyText("free_completed"));
    odd("action", pyText("teleported"));
    odd("action", pyNone());
    odd("compile_context", pyText("0/1"));
    odd("compile_context", pyText("a context with more than eight letters"));
    odd("compile_context", pyNone());
    odd("user_metadata", pyText("exactly8"));
    odd("user_metadata", pyDict({{"k", pyInt(1)}}));
    odd("frames", pyList());
    odd("frames", pyNone());
    odd("frames", pyList({pyInt(3)}));
    odd("frames", pyText("no frames"));
    out.push_back(plain(0, 4096, time, shared));
    out.back()[0].second = pyText("oom");
    out.back().push_back({"device_free", pyInt(77)});
    out.push_back(usual(shared));
    out.push_back(usual(shared));
    out.back().pop_back(); // no frames
    for (int i = 0; i < 5; ++i) {
        Pairs pairs = usual(stack(2));
        pairs.push_back({"pool_id", pyTuple({pyInt(0), pyInt(i % 2)})});
        pairs.push_back({"forward_frames", shared});
        pairs.push_back({"category", pyText("gradient")});
        pairs.push_back({"internal_metadata", i == 3 ? pyNone() : pyText("x")});
        out.push_back(pairs);
    }
    for (int i = 0; i < 4; ++i) {
        out.push_back(usual(shared));
        out.back().push_back({"weather", pyText("rain")}); // a key no version writes
    }
    return out;
}

/// The trace; turned: so that no event begins with the key of the one before it.
std::string file(bool turned, const PickleStyle& style)
{
    std::vector<Py> trace;
    std::size_t by = 0;
    for (Pairs pairs : events()) {
        if (turned)
            std::ranges::rotate(pairs, pairs.begin() + static_cast<std::ptrdiff_t>(++by % 5));
        trace.push_back(pyDict(std::move(pairs)));
    }
    return pickled(pySnapshot({}, {pyList(std::move(trace))}), style);
}

std::vector<std::string> notes(const Snapshot& s)
{
    std::vector<std::string> out;
    for (const QualityNote& note : s.quality)
        out.push_back(std::to_string(static_cast<int>(note.id)) + ' ' + std::to_string(note.count) + ' '
            + note.sentence);
    std::ranges::sort(out);
    return out;
}

} // namespace

class TestPickleEvents : public QObject {
    Q_OBJECT

private slots:
    void orderOfKeysChangesNothing_data()
    {
        QTest::addColumn<int>("protocol");
        QTest::addColumn<bool>("cpp");
        for (int protocol = 0; protocol <= 5; ++protocol)
            QTest::addRow("protocol %d", protocol) << protocol << false;
        QTest::newRow("PyTorch's pickler") << 2 << true;
    }

    void orderOfKeysChangesNothing()
    {
        QFETCH(const int, protocol);
        QFETCH(const bool, cpp);
        const PickleStyle style{.protocol = protocol, .cpp = cpp};
        const auto straight = readText(file(false, style), {}, pickleReader);
        const auto turned = readText(file(true, style), {}, pickleReader);
        QVERIFY2(straight.snapshot, straight.message().c_str());
        QVERIFY2(turned.snapshot, turned.message().c_str());
        const auto got = rows(*straight.snapshot);
        const auto expected = rows(*turned.snapshot);
        QCOMPARE(got.size(), events().size());
        for (std::size_t i = 0; i < got.size(); ++i)
            QCOMPARE(QString::fromStdString(got[i]), QString::fromStdString(expected[i]));
        QVERIFY(notes(*straight.snapshot) == notes(*turned.snapshot));
    }

    void valuesAreThoseWritten()
    {
        const auto got = readText(file(false, {}), {}, pickleReader);
        QVERIFY2(got.snapshot, got.message().c_str());
        const Snapshot& s = *got.snapshot;
        const EventColumns& e = s.devices.at(0).events;
        for (std::size_t i = 0; i < 20; ++i) {
            QCOMPARE(e.action[i], Action::Alloc);
            QCOMPARE(e.address[i], 0x7f0000000000 + 512 * (i + 1));
            QCOMPARE(e.timeUs[i], 1790000000000000 + 5 * static_cast<std::int64_t>(i + 1));
            const std::size_t from = i % 3 == 0 ? 3 : i % 5;
            QCOMPARE(s.stacks[e.stack[i]].size(), 60 - from);
            QCOMPARE(s.frames[s.stacks[e.stack[i]].front()].line, static_cast<std::uint32_t>(from + 1));
            QVERIFY(e.userMetadata.empty() || !valid(e.userMetadata[i]));
        }
    }

    /// No recorder adds frames to a list that an event has already; were it taken, that event would not know.
    void finishedStacksTakeNothingMore()
    {
        std::string list = "(";
        for (int i = 0; i < 60; ++i)
            list += std::string("h\0", 2);
        list += 'e';
        const std::string frame = "}(" + opText("name") + opText("f") + opText("filename") + opText("f.py")
            + opText("line") + "K\x01uq" + std::string(1, '\0') + '0';
        const std::string first = "}(" + opText("action") + "q\x01" + opText("alloc") + "q\x02"
            + opText("addr") + "q\x03" + opInt(512) + opText("size") + "q\x04K\x08" + opText("frames")
            + "q\x05]q\x06" + list + 'u';
        const auto again = [](int at, const std::string& stack) {
            return "}(h\x01h\x02h\x03" + opInt(at) + "h\x04K\x08h\x05" + stack + 'u';
        };
        const auto file = [&](const std::string& last) {
            return "\x80\x02}(" + opText("segments") + ']' + opText("device_traces") + "](](" + frame + first
                + again(1024, "]q\x07" + list) + again(2048, last) + "eeu.";
        };
        const auto shared = readText(file("h\x07"), {}, pickleReader);
        QVERIFY2(shared.snapshot, shared.message().c_str());
        const EventColumns& e = shared.snapshot->devices.at(0).events;
        QCOMPARE(e.count(), 3U);
        QCOMPARE(e.stack[2], e.stack[0]);
        QCOMPARE(shared.snapshot->stacks[e.stack[2]].size(), 60U);

        const std::string more = std::string("h\x07(h\0e", 6);
        const auto refused = readText(file(more), {}, pickleReader);
        QVERIFY(!refused.snapshot);
        QCOMPARE(refused.error.value().code, ErrorCode::Malformed);
        QVERIFY2(refused.message().find("APPENDS") != std::string::npos
                && refused.message().find("finished stack of an event") != std::string::npos,
            refused.message().c_str());
    }

    /// Wherever the file ends, what stands before it is read, and nothing half.
    void endsAnywhere()
    {
        const std::string whole = file(false, {});
        const auto all = rows(*readText(whole, {}, pickleReader).snapshot);
        ReadOptions options;
        options.partial = true;
        std::size_t before = 0;
        for (std::size_t length = whole.size() / 3; length < whole.size(); length += 5) {
            const std::string cut = whole.substr(0, length);
            QCOMPARE(readText(cut, {}, pickleReader).error.value().code, ErrorCode::Truncated);
            const auto partial = readText(cut, options, pickleReader);
            QVERIFY2(partial.snapshot, partial.message().c_str());
            const auto some = rows(*partial.snapshot);
            QVERIFY(some.size() >= before && some.size() <= all.size());
            QVERIFY(std::equal(some.begin(), some.end(), all.begin()));
            before = some.size();
        }
        QVERIFY(before > all.size() / 2);
    }
};

QTEST_APPLESS_MAIN(TestPickleEvents)
#include "tst_pickle_events.moc"
