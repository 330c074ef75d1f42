// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/formats/assembler.hpp"
#include "model/formats/pickle_reader.hpp"
#include "tests/support/pickle_forge.hpp"
#include "tests/support/read_text.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;
using namespace std::string_literals;

namespace {

constexpr std::uint64_t base = 0x7f4000000000;
constexpr std::int64_t start = 1790000000000000;

ReadText read(const Py& value, int protocol = 4)
{
    return readText(pickled(value, {.protocol = protocol}), {}, pickleReader);
}

ReadText readOpcodes(const std::string& opcodes)
{
    return readText("\x80\x02" + opcodes, {}, pickleReader);
}

/// A snapshot of one trace whose list is made by the given opcodes.
std::string traceOf(const std::string& list)
{
    return "}(" + opText("segments") + ']' + opText("device_traces") + "](" + list + "eu.";
}

std::string pairs(std::string_view action, std::int64_t address, std::int64_t size)
{
    return opText("action") + opText(action) + opText("addr") + opInt(address) + opText("size") + opInt(size);
}

std::string names(const Snapshot& s, StackId stack)
{
    std::string out;
    for (const FrameId f : s.stacks[stack])
        out += std::string(s.strings.view(s.frames[f].name)) + ';';
    return valid(stack) ? out : "none";
}

std::vector<std::string> examples(const ReadText& got, Quality id, std::optional<int> device = std::nullopt)
{
    const QualityNote* note = got.note(id, device);
    return note ? note->examples : std::vector<std::string>{};
}

} // namespace

class TestAssembler : public QObject {
    Q_OBJECT

private slots:
    void sharedEventsAreRepeated()
    {
        const Py a = pyEvent("alloc", base, 100, start);
        const Py b = pyEvent("free_completed", base, 100, start + 1);
        std::vector<Py> trace;
        for (int i = 0; i < 2500; ++i)
            trace.insert(trace.end(), {a, b});
        for (const int protocol : {0, 2, 4}) {
            const auto got = read(pySnapshot({}, {pyList(trace), pyList({b, a})}), protocol);
            QVERIFY2(got.snapshot, got.message().c_str());
            const EventColumns& e = got.device(0)->events;
            QCOMPARE(e.count(), 5000U);
            for (std::size_t i = 0; i < e.count(); ++i)
                QCOMPARE(e.action[i], i % 2 == 0 ? Action::Alloc : Action::FreeCompleted);
            QCOMPARE(got.device(1)->events.count(), 2U);
            QCOMPARE(got.device(1)->events.action[0], Action::FreeCompleted);
        }
    }

    void sharedListServesTwoDevices()
    {
        const Py trace = pyList({pyEvent("alloc", base, 100, start), pyEvent("oom", base, 7, start)});
        const auto got = read(pySnapshot({}, {trace, pyList(), trace}));
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(got.snapshot->devices.size(), 2U);
        QCOMPARE(got.snapshot->deviceSlots, 3U);
        for (const int ordinal : {0, 2}) {
            QCOMPARE(got.device(ordinal)->events.count(), 2U);
            QCOMPARE(got.device(ordinal)->ooms.size(), 1U);
            QCOMPARE(got.device(ordinal)->ooms[0].event, EventIndex{1});
        }
    }

    void containersFilledAfterTheyWereReferredTo()
    {
        // The trace list, an event, its frame list and a frame: each is put in its place first and filled
        // later.
        const std::string frameFilled = '(' + opText("name") + opText("late") + opText("filename")
            + opText("f.py") + opText("line") + "K\x09u";
        const std::string whole = "}(" + opText("segments") + ']' + opText("device_traces")
            + "]q\x07"
              "]q\x01"
              "a" // outer with inner
            + "h\x01}q\x02"
              "a0h\x02("
            + pairs("alloc", 4096, 512) + opText("frames")
            + "]q\x03"
              "u0h\x03}q\x04"
              "a0h\x04"
            + frameFilled + "0u.";
        const auto got = readOpcodes(whole);
        QVERIFY2(got.snapshot, got.message().c_str());
        const EventColumns& e = got.device(0)->events;
        QCOMPARE(e.count(), 1U);
        QCOMPARE(e.size[0], 512);
        QCOMPARE(names(*got.snapshot, e.stack[0]), "late;"s);
    }

    void frameListThatGrowsAfterItsUse()
    {
        const auto frameOf = [](const char* name) {
            return "}(" + opText("name") + opText(name) + opText("filename") + opText("") + opText("line")
                + "K\x01u";
        };
        const std::string list = "](}(" + pairs("alloc", 1, 8) + opText("frames") + "]q\x05(" + frameOf("a")
            + frameOf("b") + "eu}(" + pairs("alloc", 2, 8) + opText("frames") + "h\x05ueq\x06h\x05("
            + frameOf("c") + "e0";
        const auto got = readOpcodes(traceOf(list));
        QVERIFY2(got.snapshot, got.message().c_str());
        const EventColumns& e = got.device(0)->events;
        QCOMPARE(e.count(), 2U);
        QCOMPARE(names(*got.snapshot, e.stack[0]), "a;b;c;"s);
        QCOMPARE(e.stack[1], e.stack[0]);
    }

    void dictsInSeveralPieces()
    {
        // Two SETITEMS and a SETITEM on one event, the decisive key in the last; and the same for a segment.
        const std::string late = "](}(" + opText("addr") + opInt(77) + opText("size") + opInt(5) + "u("
            + opText("stream") + opInt(3) + "u" + opText("action") + opText("oom") + "s"
            + opText("device_free") + opInt(9) + "s" + opText("mine")
            + "K\x01s"
              "}("
            + pairs("defrag", 1, 2) + "u(" + opText("action") + opText("alloc") + "ue";
        const auto got = readOpcodes(traceOf(late));
        QVERIFY2(got.snapshot, got.message().c_str());
        const DeviceTrace& d = *got.device(0);
        QCOMPARE(d.events.count(), 2U);
        QCOMPARE(d.events.action[0], Action::Oom);
        QCOMPARE(d.events.address[0], 77U);
        QCOMPARE(got.snapshot->streams[index(d.events.stream[0])], 3);
        QCOMPARE(d.ooms.size(), 1U);
        QCOMPARE(d.ooms[0].requested, std::optional<std::int64_t>(5));
        QCOMPARE(d.ooms[0].deviceFree, std::optional<std::int64_t>(9));
        QCOMPARE(d.events.action[1], Action::Alloc);
        QVERIFY(d.otherActions.empty());
        QCOMPARE(examples(got, Quality::UnknownKey), std::vector<std::string>{"event.mine"});
    }

    void moreThanAThousandItems()
    {
        // Python writes lists in batches of 1,000, and a batch of one with another opcode.
        std::vector<Py> trace;
        std::vector<Py> frames;
        for (int i = 0; i < 3001; ++i) {
            trace.push_back(pyEvent("alloc", base + static_cast<std::uint64_t>(i), i + 1, start));
            frames.push_back(pyFrame("f" + std::to_string(i), "f.py", i));
        }
        trace[3000] = with(trace[3000], {{"frames", pyList(frames)}});
        const auto got = read(pySnapshot({}, {pyList(trace)}));
        QVERIFY2(got.snapshot, got.message().c_str());
        const EventColumns& e = got.device(0)->events;
        QCOMPARE(e.count(), 3001U);
        QCOMPARE(e.size[2999], 3000);
        QCOMPARE(got.snapshot->stacks[e.stack[3000]].size(), 3001U);
        QVERIFY(names(*got.snapshot, e.stack[3000]).ends_with("f2999;f3000;"));
    }

    void selfReferences()
    {
        const std::string self = "]r\0\0\2\0j\0\0\2\0a"s;
        const auto got = read(pyDict({{"segments", pyList()},
            {"device_traces",
                pyList({pyList({with(pyEvent("alloc", base, 8, start), {{"frames", pyRaw(self)}}),
                    pyEvent("alloc", base + 512, 8, start)})})},
            {"x", pyRaw("}r\0\0\3\0(X\1\0\0\0aj\0\0\3\0u"s)}}));
        QVERIFY2(got.snapshot, got.message().c_str());
        const EventColumns& e = got.device(0)->events;
        QCOMPARE(e.count(), 2U);
        QCOMPARE(names(*got.snapshot, e.stack[0]), ""s);
        QCOMPARE(examples(got, Quality::UnknownKey).size(), 2U);
    }

    void veryDeepStacksAreCut()
    {
        const auto got = read(pySnapshot({},
            {pyList({pyEvent(
                "alloc", base, 8, start, pyList(std::vector<Py>(5000, pyFrame("recursion", "r.py", 3))))})}));
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(got.snapshot->stacks[got.device(0)->events.stack[0]].size(), limits::maxStackFrames);
        QCOMPARE(got.note(Quality::BadText)->count, 1U);
    }

    void bareListWithHistory()
    {
        // PyTorch 1.13: no addresses, the request in the history, stacks there too.
        const Py history = pyList({pyDict({{"addr", pyInt(0)}, {"real_size", pyInt(1000)},
                                       {"frames", pyList({pyFrame("newest", "a.py", 1)})}}),
            pyDict({{"addr", pyInt(0)}, {"real_size", pyInt(5)}, {"frames", pyList()}})});
        const auto oldBlock = [](std::int64_t size, const char* state) {
            return pyDict({{"size", pyInt(size)}, {"state", pyText(state)}});
        };
        const Py old = pyDict({{"device", pyInt(1)}, {"address", pyUnsigned(base)},
            {"total_size", pyInt(4096)}, {"stream", pyInt(0)}, {"segment_type", pyText("small")},
            {"blocks",
                pyList({with(oldBlock(1024, "active_allocated"), {{"history", history}}),
                    with(oldBlock(1024, "inactive"), {{"history", history}}),
                    oldBlock(2048, "active_pending_free")})}});
        const auto got = read(pyList({old}));
        QVERIFY2(got.snapshot, got.message().c_str());
        const DeviceTrace& d = *got.device(1);
        QVERIFY(d.hasSegments);
        QCOMPARE(d.segments[0].kind, SegmentKind::Small);
        QCOMPARE(d.blocks.size(), 3U);
        QCOMPARE(d.blocks[0].address, base);
        QCOMPARE(d.blocks[0].requested, 1000);
        QCOMPARE(names(*got.snapshot, d.blocks[0].stack), "newest;"s);
        QCOMPARE(d.blocks[1].address, base + 1024);
        // What a freed block once was is not what it is.
        QCOMPARE(names(*got.snapshot, d.blocks[1].stack), "none"s);
        QCOMPARE(d.blocks[2].address, base + 2048);
        QCOMPARE(d.blocks[2].requested, 2048);
        QCOMPARE(d.blocks[2].state, BlockState::Pending);
        QVERIFY(got.snapshot->quality.empty());
        QVERIFY(read(pyList()).snapshot);
        // The dict that _memory_viz.py makes of it.
        const auto wrapped = read(pyDict({{"segments", pyList({old})}, {"traces", pyList()}}));
        QVERIFY(wrapped.snapshot);
        QCOMPARE(wrapped.device(1)->blocks.size(), 3U);
        QVERIFY(wrapped.snapshot->quality.empty());
    }

    void requestedSizeIsTakenWhenItFits()
    {
        const auto got = read(pySnapshot(
            {pySegment(0, base, 4096,
                {pyBlock(base, 1024, "active_allocated", 1000),
                    pyBlock(base + 1024, 1024, "active_allocated", 2000),
                    pyBlock(base + 2048, 1024, "active_allocated", 0),
                    without(pyBlock(base + 3072, 1024, "active_awaiting_free", 1), "requested_size")})},
            {}));
        QVERIFY(got.snapshot);
        const auto& blocks = got.device(0)->blocks;
        QCOMPARE(blocks[0].requested, 1000);
        QCOMPARE(blocks[1].requested, 1024);
        QCOMPARE(blocks[2].requested, 1024);
        QCOMPARE(blocks[3].requested, 1024);
        QCOMPARE(blocks[3].state, BlockState::Pending);
    }

    void sumOfBlocksWhenTheTotalIsMissing()
    {
        const auto got = read(pySnapshot(
            {without(pySegment(0, base, 0,
                         {pyBlock(base, 1024, "inactive", 0), pyBlock(base + 1024, 512, "inactive", 0)}),
                "total_size")},
            {}));
        QVERIFY(got.snapshot);
        QCOMPARE(got.device(0)->segments[0].totalSize, 1536);
    }

    void segmentsKnownOrUnknown()
    {
        const Py trace = pyList({pyEvent("alloc", base, 8, start)});
        QVERIFY(!read(pySnapshot({}, {trace})).device(0)->hasSegments);
        QVERIFY(!read(pyDict({{"device_traces", pyList({trace})}})).device(0)->hasSegments);
        QVERIFY(!read(pyDict({{"segments", pyNone()}, {"device_traces", pyList({trace})}}))
                     .device(0)
                     ->hasSegments);
        const auto got
            = read(pySnapshot({pySegment(2, base, 512, {pyBlock(base, 512, "inactive", 0)})}, {trace}));
        QVERIFY(got.device(0)->hasSegments);
        QVERIFY(got.device(0)->segments.empty());
        QVERIFY(got.device(2)->hasSegments);
        QCOMPARE(got.device(2)->events.count(), 0U);
        const auto empty = read(pySnapshot({}, {}));
        QVERIFY(empty.snapshot);
        QVERIFY(empty.snapshot->devices.empty());
    }

    void hostMemoryIsItsOwnDevice()
    {
        const Py host
            = with(pySegment(-1, 0x55aa0000, 4096, {pyBlock(0x55aa0000, 4096, "active_allocated", 4096)}),
                {{"segment_type", pyText("small")}});
        const auto got = read(with(pySnapshot({}, {pyList({pyEvent("alloc", base, 8, start)})}),
            {{"host_segments", pyList({host})},
                {"host_traces",
                    pyList({pyEvent("segment_alloc", 0x55aa0000, 4096, start),
                        pyEvent("alloc", 0x55aa0000, 4096, start)})}}));
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(got.snapshot->devices.size(), 2U);
        QCOMPARE(got.snapshot->devices[0].ordinal, -1);
        QCOMPARE(got.snapshot->devices[0].events.count(), 2U);
        QVERIFY(got.snapshot->devices[0].hasSegments);
        QVERIFY(!got.snapshot->devices[1].hasSegments);
        QVERIFY(got.snapshot->quality.empty());
    }

    void marksInsideTheTrace()
    {
        const auto mark = [](const char* stage, const char* name) {
            return with(
                pyEvent("user_defined", 0, 0, start + 5), {{"frames", pyList({pyFrame(stage, name, 0)})}});
        };
        const auto got = read(pySnapshot({},
            {pyList({mark("START", "forward"), pyEvent("alloc", base, 8, start), mark("END", "forward")})}));
        QVERIFY(got.snapshot);
        QCOMPARE(got.device(0)->events.count(), 3U);
        const auto& marks = got.snapshot->annotations;
        QCOMPARE(marks.size(), 2U);
        QVERIFY(marks[0].start && !marks[1].start);
        QCOMPARE(got.snapshot->strings.view(marks[0].name), std::string_view("forward"));
        QCOMPARE(marks[1].event, std::optional(EventIndex{2}));
        QCOMPARE(marks[1].timeUs, start + 5);
        QVERIFY(got.snapshot->quality.empty());
    }

    void extraFieldsOfAllVersions()
    {
        const Py fx = pyDict({{"name", pyText("forward")}, {"filename", pyText("m.py")}, {"line", pyInt(7)},
            {"fx_node_op", pyText("call_function")}, {"fx_node_name", pyText("mm")},
            {"fx_node_target", pyText("aten.mm")}, {"fx_original_trace", pyNone()}});
        const Py e = with(pyEvent("alloc", base, 8, start, pyList({fx})),
            {{"forward_frames",
                 pyList(
                     {pyText("  File \"model.py\", line 31, in forward\n    y = x @ w\n"), pyText("plain")})},
                {"compile_context", pyDict({{"graph", pyInt(0)}})},
                {"user_metadata", pyDict({{"layer", pyInt(3)}})},
                {"internal_metadata", pyText("mallocWithAddress")},
                {"pool_id", pyList({pyInt(0), pyInt(4)})}});
        const Py plain = with(pyEvent("alloc", base + 512, 8, start),
            {{"compile_context", pyText("N/A")}, {"user_metadata", pyText("")},
                {"pool_id", pyTuple({pyInt(0), pyInt(0)})}, {"frames", pyNone()},
                {"category", pyText("activation")}});
        for (const int protocol : {0, 4}) {
            const auto got = read(pySnapshot({}, {pyList({e, plain})}), protocol);
            QVERIFY2(got.snapshot, got.message().c_str());
            const Snapshot& s = *got.snapshot;
            const EventColumns& c = got.device(0)->events;
            const auto text
                = [&](StringId id) { return valid(id) ? std::string(s.strings.view(id)) : "none"s; };
            QCOMPARE(text(c.userMetadata[0]), "{\"layer\": 3}"s);
            QCOMPARE(text(c.compileContext[0]), "{\"graph\": 0}"s);
            QCOMPARE(text(c.internalMetadata[0]), "mallocWithAddress"s);
            QCOMPARE(s.pools[index(c.pool[0])], (std::pair<std::int64_t, std::int64_t>{0, 4}));
            QCOMPARE(c.pool[1], PoolId{0});
            QCOMPARE(text(c.userMetadata[1]), "none"s);
            QCOMPARE(text(c.compileContext[1]), "none"s);
            QCOMPARE(text(c.category[1]), "activation"s);
            QCOMPARE(names(s, c.stack[1]), "none"s);
            QCOMPARE(names(s, c.forwardStack[0]), "forward;plain;"s);
            const Frame forward = s.frames[s.stacks[c.forwardStack[0]][0]];
            QCOMPARE(text(forward.file), "model.py"s);
            QCOMPARE(forward.line, 31U);
            const FxInfo* info = s.frames.fx(s.stacks[c.stack[0]][0]);
            QVERIFY(info);
            QCOMPARE(text(info->target), "aten.mm"s);
            QVERIFY(!valid(info->trace));
            QVERIFY(s.quality.empty());
        }
    }

    void unknownWordsAreCountedByName()
    {
        const Py odd = with(pyEvent("defrag", base, 8, start), {{"mood", pyText("x")}});
        const Py seg
            = with(pySegment(0, base, 512, {with(pyBlock(base, 512, "evicted", 0), {{"age", pyInt(1)}})}),
                {{"colour", pyNone()}});
        const auto got = read(with(pySnapshot({seg}, {pyList({odd, odd, pyEvent("alloc", base, 8, start)})}),
            {{"zebra", pyList({pyInt(1)})}, {"allocator_settings", pyDict({{"new_setting", pyInt(1)}})}}));
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(examples(got, Quality::UnknownKey),
            (std::vector<std::string>{"block.age", "event.mood", "segment.colour", "zebra"}));
        const QualityNote* action = got.note(Quality::UnknownAction, 0);
        QVERIFY(action);
        QCOMPARE(action->count, 2U);
        QCOMPARE(action->examples, std::vector<std::string>{"defrag"});
        QCOMPARE(action->firstEvent, std::optional<std::uint32_t>(0));
        QCOMPARE(examples(got, Quality::UnknownState, 0), std::vector<std::string>{"evicted"});
        QCOMPARE(got.device(0)->otherActions.size(), 2U);
        QCOMPARE(got.snapshot->strings.view(got.device(0)->blocks[0].stateName), std::string_view("evicted"));
    }

    void oddTypesDoNotStopReading()
    {
        const Py e = pyDict({{"action", pyBytes("alloc")}, {"addr", pyReal(4096.0)}, {"size", pyReal(512.0)},
            {"stream", pyText("main")}, {"time_us", pyNone()}, {"frames", pyText("main.py")}});
        const Py numbered = pyDict({{"action", pyInt(5)}, {"addr", pyNone()}, {"size", pyList()}});
        const Py nameless = pyDict({{"addr", pyInt(1)}, {"size", pyInt(2)}});
        const auto got = read(pySnapshot({}, {pyList({e, numbered, nameless, pyInt(3)}), pyNone()}));
        QVERIFY2(got.snapshot, got.message().c_str());
        const EventColumns& c = got.device(0)->events;
        QCOMPARE(c.count(), 3U);
        QCOMPARE(c.action[0], Action::Alloc);
        QCOMPARE(c.address[0], 4096U);
        QCOMPARE(c.size[0], 512);
        QCOMPARE(c.timeUs[0], noTime);
        QCOMPARE(names(*got.snapshot, c.stack[0]), "none"s);
        QCOMPARE(examples(got, Quality::UnknownAction, 0), (std::vector<std::string>{"5", "None"}));
        QCOMPARE(c.size[2], 2);
        QVERIFY(got.note(Quality::UnknownKey)->count >= 4);
    }

    void addressesAndSizesKeepTheirBits()
    {
        const auto got = read(pySnapshot(
            {pySegment(0, 0xffff810000000000, 512, {pyBlock(0xffff810000000000, 512, "inactive", 0)})},
            {pyList({pyEvent("alloc", 0xffff810000000200, 8, start),
                with(pyEvent("alloc", base, 8, start), {{"addr", pyInt(-4096)}}),
                with(pyEvent("alloc", base, 8, start),
                    {{"size", pyUnsigned(~0ULL)}, {"stream", pyUnsigned(~0ULL)}}),
                pyEvent("alloc", base, 0, start), pyEvent("free_completed", base, -5, start),
                pyEvent("snapshot", 0, 0, start)})}));
        QVERIFY2(got.snapshot, got.message().c_str());
        const DeviceTrace& d = *got.device(0);
        QCOMPARE(d.segments[0].address, 0xffff810000000000U);
        QCOMPARE(d.events.address[0], 0xffff810000000200U);
        QCOMPARE(d.events.address[1], 0xfffffffffffff000U);
        QCOMPARE(d.events.size[2], -1);
        QCOMPARE(got.snapshot->streams[index(d.events.stream[2])], -1);
        const QualityNote* note = got.note(Quality::AbsurdSize, 0);
        QVERIFY(note);
        QCOMPARE(note->count, 3U);
        QCOMPARE(note->firstEvent, std::optional<std::uint32_t>(2));
    }

    void workspaceEventsOfAscend()
    {
        const auto untimed = [](const char* action) {
            return with(pyEvent(action, base, 512), {{"pool_id", pyTuple({pyInt(0), pyInt(0)})}});
        };
        const auto got = read(pySnapshot(
            {}, {pyList({untimed("workspace_snapshot"), untimed("segment_alloc"), untimed("alloc")})}));
        QVERIFY(got.snapshot);
        QCOMPARE(got.device(0)->events.action[0], Action::WorkspaceSnapshot);
        QVERIFY(got.snapshot->quality.empty());
    }

    void ringSizesAtTheTopOrAmongTheSettings()
    {
        const Py traces = pyList(
            {pyList({pyEvent("alloc", base, 8, start)}), pyList({pyEvent("alloc", base, 8, start)})});
        const Py plain = pyDict({{"segments", pyList()}, {"device_traces", traces}});
        const auto top = read(with(plain,
            {{"trace_alloc_max_entries", pyList({pyInt(100), pyInt(200)})},
                {"trace_alloc_overflowed", pyList({pyBool(false), pyBool(true)})}}));
        const auto inside
            = read(with(plain, {{"allocator_settings", pyDict({{"trace_alloc_max_entries", pyInt(50)}})}}));
        QVERIFY(top.snapshot && inside.snapshot);
        QCOMPARE(top.device(1)->ringCapacity, std::optional<std::uint64_t>(200));
        QCOMPARE(top.device(1)->ringOverflowed, std::optional(true));
        QCOMPARE(top.device(0)->ringOverflowed, std::optional(false));
        QCOMPARE(inside.device(0)->ringCapacity, std::optional<std::uint64_t>(50));
        QVERIFY(top.snapshot->quality.empty());
    }

    void invalidTextIsReported()
    {
        const auto got = read(pySnapshot(
            {}, {pyList({pyEvent("alloc", base, 8, start, pyList({pyFrame("caf\xe9\xff", "f.py", 1)}))})}));
        QVERIFY(got.snapshot);
        QCOMPARE(got.note(Quality::BadText)->count, 1U);
    }

    void strangersDoNotFillTheMemory()
    {
        // A long list of numbers under an unknown key is not kept; the snapshot around it is.
        std::vector<Py> numbers(300'000, pyInt(7));
        const auto got = read(
            with(pySnapshot({}, {pyList({pyEvent("alloc", base, 8, start)})}), {{"x", pyList(numbers)}}));
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(got.device(0)->events.count(), 1U);

        SnapshotBuilder builder;
        Assembler assembler(builder, {});
        std::vector<Value> lists;
        for (int i = 0; i < 100; ++i) {
            std::vector<Value> many(100'000, assembler.text("word"));
            lists.push_back(assembler.finishList(many));
        }
        QCOMPARE(assembler.tagOf(lists.front()), Tag::List);
        QCOMPARE(assembler.tagOf(lists.back()), Tag::Opaque);
    }

    void directUseAsByJson()
    {
        SnapshotBuilder builder;
        Assembler a(builder, {});
        const auto dict = [&](std::vector<std::pair<const char*, Value>> items) {
            std::vector<Value> flat;
            for (const auto& [key, value] : items) {
                flat.push_back(a.text(key));
                flat.push_back(value);
            }
            return a.finishDict(flat);
        };
        const auto list = [&](std::vector<Value> items) { return a.finishList(items); };
        const auto stack = [&] {
            return list(
                {dict({{"name", a.text("f")}, {"filename", a.text("f.py")}, {"line", a.integer(3)}})});
        };
        const auto alloc = [&](std::int64_t size) {
            return dict({{"size", a.integer(size)}, {"addr", a.unsignedInteger(1ULL << 63U)},
                {"frames", stack()}, {"action", a.text("alloc")},
                {"pool_id", list({a.integer(1), a.integer(0)})}, {"time_us", a.real(5.0)}});
        };
        const Value one = alloc(1);
        const Value two = alloc(2);
        QCOMPARE(a.events(), 2U);
        const Value other = alloc(3);
        const Value traces = list({list({one, two}), Value::emptyList(), list({other})});
        const Value top = dict({{"device_traces", traces}, {"segments", Value::emptyList()}});
        const auto error = a.finish(top);
        QVERIFY(!error);
        const auto snapshot = builder.finish();
        QCOMPARE(snapshot->devices.size(), 2U);
        const EventColumns& e = snapshot->devices[0].events;
        QCOMPARE(e.size, (std::vector<std::int64_t>{1, 2}));
        QCOMPARE(e.address[0], 1ULL << 63U);
        QCOMPARE(e.timeUs[0], 5);
        QCOMPARE(e.stack[0], e.stack[1]);
        QCOMPARE(snapshot->stacks.size(), 1U);
        QCOMPARE(snapshot->pools[index(e.pool[0])].first, 1);
        QCOMPARE(snapshot->devices[1].ordinal, 2);
        QCOMPARE(snapshot->devices[1].events.size, std::vector<std::int64_t>{3});
    }
};

QTEST_GUILESS_MAIN(TestAssembler)
#include "tst_assembler.moc"
