// SPDX-License-Identifier: GPL-3.0-or-later
// What a small file may make of memory and time.
#include "model/core/limits.hpp"
#include "model/formats/assembler.hpp"
#include "model/formats/kineto.hpp"
#include "model/formats/pickle_reader.hpp"
#include "tests/support/pickle_forge.hpp"
#include "tests/support/read_text.hpp"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <random>

using namespace tidemark;
using namespace tidemark::test;
using namespace std::string_literals;

namespace {

KinetoRange range(std::int64_t start, std::int64_t end, std::uint32_t frame)
{
    return {start, end, FrameId{frame}, StackId::none};
}

std::vector<KinetoMemory> memoryAt(const std::vector<std::int64_t>& times)
{
    std::vector<KinetoMemory> memory(times.size());
    for (std::size_t i = 0; i < times.size(); ++i)
        memory[i].timeNs = times[i];
    return memory;
}

std::vector<std::uint32_t> inOrder(std::size_t count)
{
    std::vector<std::uint32_t> order(count);
    for (std::uint32_t i = 0; i < count; ++i)
        order[i] = i;
    return order;
}

std::vector<FrameId> framesOf(const StackTable& stacks, StackId stack)
{
    if (!valid(stack))
        return {};
    return {stacks[stack].begin(), stacks[stack].end()};
}

} // namespace

class TestReadingLimits : public QObject {
    Q_OBJECT
private slots:
    void dictsThatGrowAreStrangersToo()
    {
        SnapshotBuilder builder;
        Assembler assembler(builder, {});
        const std::vector<Value> pairs(2000, assembler.integer(1));
        Value dict = assembler.share(Value::emptyDict());
        for (std::size_t bytes = 0; bytes < limits::maxLooseBytes - (1U << 20); bytes += 2000 * sizeof(Value))
            QVERIFY(assembler.setItems(dict, pairs));
        QCOMPARE(assembler.tagOf(dict), Tag::Dict);
        for (std::size_t bytes = 0; bytes < (2U << 20); bytes += 2000 * sizeof(Value))
            QVERIFY(assembler.setItems(dict, pairs));
        QCOMPARE(assembler.tagOf(dict), Tag::Opaque);
        // The memory is free for others again.
        QCOMPARE(assembler.tagOf(assembler.finishDict(pairs)), Tag::Dict);
    }

    void numbersAreCounted()
    {
        SnapshotBuilder builder;
        Assembler assembler(builder, {});
        for (std::size_t i = 0; i < limits::maxBoxedNumbers; ++i)
            assembler.real(0.5);
        QVERIFY(!assembler.tooMany(0));
        for (int i = 0; i < 100; ++i)
            assembler.real(0.5);
        QVERIFY(assembler.tooMany(0));
        QVERIFY(!assembler.tooMany(800));
    }

    /// One list of frames, longer by one at every use: each is another stack of thousands.
    void aStackThatGrowsAtEveryUse()
    {
        const std::string frame = "}q\x01("s + opText("name") + opText("f") + opText("filename")
            + opText("f.py") + opText("line") + "K\x09u0";
        std::string whole = frame + "}(" + opText("segments") + ']' + opText("device_traces") + "](](";
        const auto event = [](const std::string& frames) {
            return "}(" + opText("action") + opText("alloc") + opText("addr") + opInt(4096) + opText("size")
                + opInt(8) + opText("frames") + frames + 'u';
        };
        std::string first = "]q\x02(";
        for (int i = 0; i < 3000; ++i)
            first += "h\x01";
        whole += event(first + 'e');
        constexpr std::size_t uses = 7000;
        for (std::size_t i = 1; i < uses; ++i)
            whole += event("h\x02h\x01"s + 'a');
        const auto got = readText("\x80\x02" + whole + "eeu.", {}, pickleReader);
        QVERIFY2(got.snapshot, got.message().c_str());
        QCOMPARE(got.device(0)->events.count(), uses);
        QVERIFY(got.snapshot->stacks.frames() < limits::maxStackCells + (4U << 20));
        QVERIFY(got.note(Quality::BadText));
        QVERIFY(got.note(Quality::BadText)->sentence.find("Stacks cut, to 4,096") != std::string::npos);
        // 3,000 frames at first, one more each time: all beyond 4,096 are cut and told.
        QCOMPARE(got.note(Quality::BadText)->count, std::uint64_t{7000 - 1097});
    }

    void aTimelineOfTimesAlone()
    {
        std::string times = "[[1";
        for (std::size_t i = 0; i < limits::maxTimelineRows * 2; ++i)
            times += ",1";
        const ReadText got = readText(times + "],[]]");
        QVERIFY(got.error);
        QCOMPARE(got.error->code, ErrorCode::TooLarge);
        QVERIFY2(got.message().find("times") != std::string::npos, got.message().c_str());
    }

    /// Against the definition, event by event.
    void ownersAreTheRangesThatCoverTheMoment()
    {
        std::mt19937_64 random(5);
        std::vector<KinetoRange> ranges;
        for (std::uint32_t i = 0; i < 300; ++i) {
            const auto start = static_cast<std::int64_t>(2 * (random() % 2000));
            ranges.push_back(range(start, start + 1 + static_cast<std::int64_t>(2 * (random() % 200)), i));
        }
        std::vector<std::int64_t> times;
        for (int i = 0; i < 1000; ++i)
            times.push_back(static_cast<std::int64_t>(random() % 4400));
        std::ranges::sort(times);
        std::vector<std::vector<KinetoRange>> threads{ranges};
        std::vector<KinetoMemory> memory = memoryAt(times);
        StackTable stacks;
        QVERIFY(!assignOwners(threads, memory, inOrder(memory.size()), stacks, {}));
        std::ranges::stable_sort(ranges, [](const KinetoRange& a, const KinetoRange& b) {
            return a.startNs != b.startNs ? a.startNs < b.startNs : a.endNs > b.endNs;
        });
        std::size_t nested = 0;
        for (const KinetoMemory& m : memory) {
            std::vector<FrameId> wanted;
            for (const KinetoRange& r : ranges)
                if (r.startNs <= m.timeNs && m.timeNs <= r.endNs)
                    wanted.insert(wanted.begin(), r.frame);
            QCOMPARE(framesOf(stacks, m.stack), wanted);
            nested = std::max(nested, wanted.size());
        }
        QVERIFY(nested > 10);
    }

    /// Ranges that are over, below one that is not: each event must not pass over all of them.
    void ownersOfManyEventsBelowALongRange()
    {
        constexpr std::int64_t count = 60'000;
        std::vector<KinetoRange> ranges;
        for (std::int64_t i = 0; i < count; ++i)
            ranges.push_back(range(i, count + 10, 1));
        ranges.push_back(range(count, 10 * count, 2));
        std::vector<std::int64_t> times;
        for (std::int64_t i = 0; i < count; ++i)
            times.push_back(2 * count + i);
        std::vector<std::vector<KinetoRange>> threads{ranges};
        std::vector<KinetoMemory> memory = memoryAt(times);
        StackTable stacks;
        QElapsedTimer timer;
        timer.start();
        QVERIFY(!assignOwners(threads, memory, inOrder(memory.size()), stacks, {}));
        QVERIFY2(timer.elapsed() < 10'000, std::to_string(timer.elapsed()).c_str());
        QCOMPARE(framesOf(stacks, memory.front().stack), std::vector<FrameId>{FrameId{2}});
        QCOMPARE(memory.back().stack, memory.front().stack);
    }

    void ownersCanBeStopped()
    {
        std::vector<std::vector<KinetoRange>> threads{{range(0, 10'000, 1)}};
        std::vector<std::int64_t> times(5000, 5);
        std::vector<KinetoMemory> memory = memoryAt(times);
        StackTable stacks;
        std::stop_source source;
        source.request_stop();
        const auto error
            = assignOwners(threads, memory, inOrder(memory.size()), stacks, Job{source.get_token(), {}});
        QVERIFY(error);
        QCOMPARE(error->code, ErrorCode::Cancelled);
        QVERIFY(!valid(memory.back().stack));
    }
};

QTEST_GUILESS_MAIN(TestReadingLimits)
#include "tst_reading_limits.moc"
