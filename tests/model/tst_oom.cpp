// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/oom.hpp"

#include "tests/support/trace_maker.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t mib = 1LL << 20;
constexpr std::uint64_t base = 0x7f0000000000;

/// Ends the trace with a failed request.
void outOfMemory(
    TraceMaker& maker, std::int64_t request, std::optional<std::int64_t> free, StackId stack = StackId::none)
{
    maker.event(Action::Oom, 0, request, stack).deviceFree = free;
}

std::vector<OomAutopsy> autopsiesOf(TraceMaker& maker)
{
    const auto replay = Replay::build(maker.finish(), 0, {}).value();
    std::vector<OomAutopsy> out;
    for (const OomEvent& oom : replay->device().ooms)
        out.push_back(autopsy(*replay, oom, std::nullopt));
    return out;
}

/// Segments of 100 MiB, each with a live block of `live` MiB at its start and a hole behind it.
void pinnedSegments(TraceMaker& maker, int count, std::int64_t live)
{
    for (int i = 0; i < count; ++i) {
        maker.segment(base + static_cast<std::uint64_t>(i) * 200 * mib, 100 * mib);
        maker.block(BlockState::Allocated, live * mib, live * mib);
        maker.block(BlockState::Inactive, (100 - live) * mib, 0);
    }
}

OomText parsed(const char* text)
{
    const auto result = parseOomText(text);
    if (!result)
        qFatal("%s", result.error().message.c_str());
    return *result;
}

/// The wording of PyTorch 2.1 and later.
std::string newWording(const char* tried, const char* free, const char* inside)
{
    return std::string("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ") + tried
        + ". GPU 0 has a total capacity of 79.11 GiB of which " + free
        + " is free. Including non-PyTorch memory, this process has 78.64 GiB memory in use. Of the "
          "allocated memory "
          "76.61 GiB is allocated by PyTorch, and "
        + inside
        + " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.";
}

} // namespace

class TestOom : public QObject {
    Q_OBJECT
private slots:
    void fragmentation();
    void capacity();
    void capacityBeforeLaterEvents();
    void wrongPool();
    void captureBlocked();
    void aHoleThatFits();
    void scopeByThePoolsName();
    void classOfTheRequest();
    void noSingleCause();
    void cannotTell();
    void thinMargin();
    void expandablePages();
    void text_data();
    void text();
    void oldTexts();
    void otherTexts();
    void impossibleTexts_data();
    void impossibleTexts();
    void unknownProcess();
    void moreFreeThanAskedFor();
};

void TestOom::fragmentation()
{
    TraceMaker maker;
    pinnedSegments(maker, 3, 25);
    outOfMemory(maker, 90 * mib, 10 * mib);
    const OomAutopsy oom = autopsiesOf(maker).at(0);
    QCOMPARE(oom.verdict, Verdict::Fragmentation);
    QCOMPARE(*oom.slack, (300 + 10 - 75 - 90) * mib);
    QCOMPARE(oom.reserved, 300 * mib);
    QCOMPARE(oom.allocated, 75 * mib);
    QCOMPARE(oom.pinned, std::uint64_t(225 * mib));
    QCOMPARE(oom.pinnedHoles, std::uint64_t(3));
    QCOMPARE(oom.holes, std::uint64_t(3));
    QCOMPARE(oom.largestHole, std::uint64_t(75 * mib));
    QCOMPARE(oom.unusable, 1.0);
    QCOMPARE(oom.growth, std::uint64_t(90 * mib));
    QCOMPARE(oom.pins.size(), std::size_t(3));
    QCOMPARE(oom.pins.front().leverage, 3.0);
    QCOMPARE(oom.pins.front().releases, std::uint64_t(75 * mib));
    QCOMPARE(oom.holeClasses.size(), std::size_t(1));
    QCOMPARE(oom.holeClasses.front().count, std::uint64_t(3));
    QVERIFY(!oom.thinMargin); // 145 MiB of slack against 120 MiB: two pages a hole
}

void TestOom::capacity()
{
    TraceMaker maker;
    pinnedSegments(maker, 2, 80);
    outOfMemory(maker, 100 * mib, 30 * mib);
    const OomAutopsy oom = autopsiesOf(maker).at(0);
    QCOMPARE(oom.verdict, Verdict::Capacity);
    QCOMPARE(*oom.slack, (200 + 30 - 160 - 100) * mib);
    QCOMPARE(*oom.usable(), std::uint64_t(230 * mib));
}

void TestOom::capacityBeforeLaterEvents()
{
    // The program caught the error, freed and went on: the figures are those of the event.
    TraceMaker maker;
    maker.event(Action::SegmentAlloc, base, 100 * mib);
    maker.alloc(base, 100 * mib);
    outOfMemory(maker, 50 * mib, 20 * mib);
    maker.free(base, 100 * mib);
    maker.segment(base, 100 * mib);
    maker.block(BlockState::Inactive, 100 * mib, 0);
    const OomAutopsy oom = autopsiesOf(maker).at(0);
    QCOMPARE(index(oom.event), std::size_t(2));
    QCOMPARE(oom.state, StateIndex(3));
    QCOMPARE(oom.verdict, Verdict::Capacity);
    QCOMPARE(oom.allocated, 100 * mib);
    QCOMPARE(*oom.slack, -30 * mib);
}

void TestOom::wrongPool()
{
    TraceMaker maker;
    maker.segment(base, 100 * mib, PoolId{0}, 7);
    maker.block(BlockState::Allocated, 4 * mib, 4 * mib);
    maker.block(BlockState::Inactive, 96 * mib, 0);
    maker.segment(base + 200 * mib, 40 * mib, maker.builder().pool(0, 1));
    maker.block(BlockState::Inactive, 40 * mib, 0);
    maker.segment(base + 400 * mib, 20 * mib);
    maker.block(BlockState::Allocated, 15 * mib, 15 * mib);
    maker.block(BlockState::Inactive, 5 * mib, 0);
    outOfMemory(maker, 60 * mib, 10 * mib);
    const OomAutopsy oom = autopsiesOf(maker).at(0);
    QCOMPARE(oom.verdict, Verdict::WrongPool);
    QCOMPARE(oom.elsewhere, std::uint64_t(136 * mib));
    QCOMPARE(oom.elsewherePrivate, std::uint64_t(40 * mib));
    QCOMPARE(oom.elsewhereStreams, std::uint64_t(96 * mib));
    QCOMPARE(oom.elsewhereDefault, std::uint64_t(0));
    QCOMPARE(oom.elsewhereHoles, std::uint64_t(2));
    QCOMPARE(oom.elsewhereSegments.size(), std::size_t(2));
    QCOMPARE(oom.sameClassFree, std::uint64_t(5 * mib));
}

void TestOom::captureBlocked()
{
    for (const bool capturing : {true, false}) {
        TraceMaker maker;
        maker.segment(base, 100 * mib);
        maker.block(BlockState::Inactive, 100 * mib, 0);
        const StackId stack = capturing ? maker.stack({"forward@/app/mlp.py:3",
                                  "_make_graphed_callables@/usr/lib/transformer_engine/pytorch/graph.py:80"})
                                        : maker.stack({"forward@/app/mlp.py:3"});
        outOfMemory(maker, 60 * mib, 10 * mib, stack);
        const OomAutopsy oom = autopsiesOf(maker).at(0);
        QCOMPARE(oom.capturing, capturing);
        // A plain request would have had the cache emptied: where no frame says so, the scope is inferred.
        QCOMPARE(oom.scope, capturing ? OomScope::Capture : OomScope::Inferred);
        QCOMPARE(oom.verdict, Verdict::CaptureBlocked);
        QCOMPARE(oom.unflushed, std::uint64_t(100 * mib));
        QCOMPARE(oom.unflushedIds.size(), std::size_t(1));
    }
}

void TestOom::aHoleThatFits()
{
    // A live block and a hole of 60 MiB beside it: the request of 50 MiB was not for this pool.
    for (const std::int64_t maxSplit : {std::int64_t{0}, 55 * mib, 40 * mib}) {
        TraceMaker maker;
        if (maxSplit > 0)
            maker.builder().addSetting("max_split_size", maxSplit);
        pinnedSegments(maker, 1, 40);
        outOfMemory(maker, 50 * mib, 10 * mib);
        const OomAutopsy oom = autopsiesOf(maker).at(0);
        // The setting keeps the hole from smaller requests, not from those above it.
        const bool reserved = maxSplit == 55 * mib;
        QCOMPARE(oom.verdict, reserved ? Verdict::Fragmentation : Verdict::Unknown);
        QCOMPARE(oom.fittingHole, std::uint64_t(reserved ? 0 : 60 * mib));
        QCOMPARE(oom.cannotTell.find("in reach would have held") != std::string::npos, !reserved);
    }
}

void TestOom::scopeByThePoolsName()
{
    for (const bool user : {true, false}) {
        TraceMaker maker;
        maker.segment(base, 100 * mib);
        maker.block(BlockState::Inactive, 100 * mib, 0);
        maker.setPool(user ? maker.builder().pool(0, 1) : maker.builder().pool(1, 0));
        outOfMemory(maker, 60 * mib, 10 * mib);
        const OomAutopsy oom = autopsiesOf(maker).at(0);
        QCOMPARE(oom.scope, user ? OomScope::UserPool : OomScope::Capture);
        QCOMPARE(oom.verdict, Verdict::CaptureBlocked);
    }
}

void TestOom::classOfTheRequest()
{
    TraceMaker maker;
    const PoolId own = maker.builder().pool(1, 0);
    maker.segment(base, 100 * mib);
    maker.block(BlockState::Allocated, 4 * mib, 4 * mib);
    maker.block(BlockState::Inactive, 96 * mib, 0);
    maker.segment(base + 200 * mib, 40 * mib, own, 7);
    maker.block(BlockState::Inactive, 40 * mib, 0);
    maker.segment(base + 400 * mib, 20 * mib, maker.builder().pool(2, 0));
    maker.block(BlockState::Inactive, 20 * mib, 0);
    maker.setPool(own);
    outOfMemory(maker, 60 * mib, 10 * mib);
    const OomAutopsy oom = autopsiesOf(maker).at(0);
    QCOMPARE(oom.requestClass, (MemoryClass{false, StreamId{0}, own}));
    QVERIFY(oom.capturing);
    QCOMPARE(oom.verdict, Verdict::WrongPool);
    QCOMPARE(oom.elsewhere, std::uint64_t(156 * mib));
    QCOMPARE(oom.elsewhereDefault, std::uint64_t(96 * mib));
    QCOMPARE(oom.elsewhereStreams, std::uint64_t(40 * mib));
    QCOMPARE(oom.elsewherePrivate, std::uint64_t(20 * mib));
}

void TestOom::noSingleCause()
{
    // 50 MiB in reach and 40 MiB elsewhere: neither alone holds 60 MiB, and nothing is pinned.
    TraceMaker maker;
    maker.segment(base, 40 * mib, maker.builder().pool(1, 0));
    maker.block(BlockState::Inactive, 40 * mib, 0);
    outOfMemory(maker, 60 * mib, 50 * mib);
    const OomAutopsy oom = autopsiesOf(maker).at(0);
    QCOMPARE(oom.verdict, Verdict::Unknown);
    QCOMPARE(*oom.slack, 30 * mib);
    QVERIFY(!oom.cannotTell.empty());
}

void TestOom::cannotTell()
{
    TraceMaker maker;
    maker.alloc(base, 100 * mib);
    outOfMemory(maker, 50 * mib, 20 * mib);
    const OomAutopsy noSegments = autopsiesOf(maker).at(0);
    QCOMPARE(noSegments.verdict, Verdict::Unknown);
    QVERIFY(noSegments.cannotTell.find("segments") != std::string::npos);

    TraceMaker second;
    pinnedSegments(second, 1, 50);
    outOfMemory(second, 70 * mib, std::nullopt);
    outOfMemory(second, -1, 5 * mib);
    const std::vector<OomAutopsy> both = autopsiesOf(second);
    QCOMPARE(both.size(), std::size_t(2));
    QVERIFY(!both[0].deviceFree && both[0].verdict == Verdict::Unknown && !both[0].slack);
    QVERIFY(!both[1].request && both[1].verdict == Verdict::Unknown);
    QCOMPARE(both[0].pinned, std::uint64_t(50 * mib));
}

void TestOom::thinMargin()
{
    TraceMaker maker;
    pinnedSegments(maker, 2, 100);
    outOfMemory(maker, 21 * mib, 20 * mib);
    const OomAutopsy oom = autopsiesOf(maker).at(0);
    QCOMPARE(oom.verdict, Verdict::Capacity);
    QCOMPARE(*oom.slack, -mib);
    QCOMPARE(oom.thinBelow(), std::uint64_t(220 * mib / 100));
    QVERIFY(oom.thinMargin);
}

void TestOom::expandablePages()
{
    // A range of five large pages: a hole of 50 MiB that begins 5 MiB into a page holds two whole ones.
    TraceMaker maker;
    maker.event(Action::SegmentMap, base, 100 * mib);
    maker.alloc(base, 25 * mib);
    maker.alloc(base + 75 * mib, 25 * mib);
    outOfMemory(maker, 35 * mib, 3 * mib);
    maker.segment(base, 100 * mib);
    maker.block(BlockState::Allocated, 25 * mib, 25 * mib);
    maker.block(BlockState::Inactive, 50 * mib, 0);
    maker.block(BlockState::Allocated, 25 * mib, 25 * mib);
    maker.builder().device(0).segments.back().expandable = true;
    const OomAutopsy oom = autopsiesOf(maker).at(0);
    QVERIFY(oom.expandable);
    QCOMPARE(oom.growth, std::uint64_t(40 * mib));
    QCOMPARE(oom.unflushed, std::uint64_t(20 * mib)); // from 40 to 60 MiB
    QCOMPARE(oom.pinned, std::uint64_t(30 * mib));
    QCOMPARE(oom.pinnedHoles, std::uint64_t(1));
    QCOMPARE(oom.unflushedIds.size(), std::size_t(1));
    QVERIFY(oom.pins.empty());
}

void TestOom::text_data()
{
    QTest::addColumn<QString>("tried");
    QTest::addColumn<QString>("free");
    QTest::addColumn<QString>("inside");
    QTest::addColumn<int>("slackMib");
    QTest::addColumn<bool>("capacity");
    QTest::addColumn<bool>("thin");
    QTest::newRow("3.91 GiB") << "3.91 GiB"
                              << "830.56 MiB"
                              << "100.91 MiB" << -3072 << true << false;
    QTest::newRow("1.96 GiB") << "1.96 GiB"
                              << "210.06 MiB"
                              << "206.09 MiB" << -1591 << true << false;
    QTest::newRow("fits") << "1.96 GiB"
                          << "1.08 GiB"
                          << "1.83 GiB" << 973 << false << false;
    QTest::newRow("fits, thin") << "896.00 MiB"
                                << "477.88 MiB"
                                << "944.31 MiB" << 526 << false << true;
}

void TestOom::text()
{
    QFETCH(QString, tried);
    QFETCH(QString, free);
    QFETCH(QString, inside);
    QFETCH(int, slackMib);
    QFETCH(bool, capacity);
    QFETCH(bool, thin);
    const OomText text = parsed(newWording(qPrintable(tried), qPrintable(free), qPrintable(inside)).c_str());
    QCOMPARE(qRound(double(*text.slack) / double(mib)), slackMib);
    QCOMPARE(text.verdict, capacity ? Verdict::Capacity : Verdict::Fragmentation);
    QCOMPARE(text.thinMargin, thin);
    QVERIFY(text.advisesExpandable);
    QVERIFY(text.nonPyTorch.has_value());
    QVERIFY(!text.explanation.empty());
    QVERIFY(!text.privatePools);
}

void TestOom::oldTexts()
{
    const OomText old
        = parsed("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.75 GiB total\n"
                 "capacity; 11.50 GiB already allocated; 1.00 GiB free; 13.00 GiB reserved in total by "
                 "PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb");
    QCOMPARE(old.tried, std::uint64_t(2048 * mib));
    QCOMPARE(*old.total, std::uint64_t(16128 * mib));
    QCOMPARE(*old.allocated, std::uint64_t(11776 * mib));
    QCOMPARE(*old.reservedUnallocated, std::uint64_t(1536 * mib));
    QCOMPARE(*old.slack, 512 * mib);
    QCOMPARE(*old.nonPyTorch, std::uint64_t((16128 - 1024 - 13312) * mib));
    QCOMPARE(old.verdict, Verdict::Fragmentation);
    QVERIFY(!old.advisesExpandable);

    const OomText oldest
        = parsed("CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; "
                 "10.00 GiB already allocated; 5.00 MiB free; 4.00 MiB cached)");
    QCOMPARE(*oldest.reservedUnallocated, std::uint64_t(4 * mib));
    QCOMPARE(*oldest.slack, -11 * mib);

    const OomText pools
        = parsed("CUDA out of memory. Tried to allocate 1.00 GiB. GPU 3 has a total capacty of 79.15 GiB "
                 "of which 512.00 MiB is free. Process 4711 has 78.64 GiB memory in use. Of the "
                 "allocated memory 70.00 GiB is allocated by PyTorch, with 6.00 GiB allocated in private "
                 "pools (e.g., CUDA Graphs), and 2.00 GiB is reserved by PyTorch but unallocated.");
    QCOMPARE(*pools.privatePools, std::uint64_t(6144 * mib));
    QCOMPARE(*pools.free, std::uint64_t(512 * mib));
    QCOMPARE(*pools.slack, (512 + 2048 - 1024) * mib);

    const OomText bare = parsed("CUDA out of memory. Tried to allocate 512 bytes");
    QCOMPARE(bare.tried, std::uint64_t(512));
    QVERIFY(!bare.slack && bare.verdict == Verdict::Unknown);
}

void TestOom::otherTexts()
{
    QCOMPARE(parsed("RuntimeError: CUDA error: out of memory").verdict, Verdict::OutsideAllocator);
    QVERIFY(!parseOomText("ValueError: shapes do not match"));
    QVERIFY(!parseOomText(""));
}

void TestOom::impossibleTexts_data()
{
    QTest::addColumn<QString>("given");
    QTest::addColumn<QString>("says");
    QTest::newRow("beyond 64 bits") << "CUDA out of memory. Tried to allocate 99999999999999999999 GiB."
                                    << "cannot be read";
    QTest::newRow("no number") << "CUDA out of memory. Tried to allocate many GiB."
                               << "cannot be read";
    QTest::newRow("no unit") << "CUDA out of memory. Tried to allocate 12."
                             << "cannot be read";
    QTest::newRow("request") << QString::fromStdString(newWording("2000000.00 GiB", "1.00 GiB", "1.00 GiB"))
                             << "the request is 1.91";
    QTest::newRow("free") << QString::fromStdString(newWording("1.00 GiB", "3000000.00 GiB", "1.00 GiB"))
                          << "the free memory is";
    QTest::newRow("inside") << QString::fromStdString(newWording("1.00 GiB", "1.00 GiB", "9000000.00 GiB"))
                            << "unallocated is";
    QTest::newRow("more free than there is")
        << QString::fromStdString(newWording("1.00 GiB", "99.00 GiB", "1.00 GiB")) << "are free on a card of";
    QTest::newRow("nothing asked for")
        << QString::fromStdString(newWording("0 bytes", "1.00 GiB", "1.00 GiB")) << "of no size";
    QTest::newRow("no number at all")
        << QString::fromStdString(newWording("nan GiB", "1.00 GiB", "1.00 GiB")) << "cannot be read";
    QTest::newRow("endless") << QString::fromStdString(newWording("inf GiB", "1.00 GiB", "1.00 GiB"))
                             << "cannot be read";
    QTest::newRow("below nothing") << QString::fromStdString(newWording("1.00 GiB", "-3.00 GiB", "1.00 GiB"))
                                   << "does not say how much";
    QTest::newRow("thousands") << QString::fromStdString(newWording("1.00 GiB", "1,024.00 MiB", "1.00 GiB"))
                               << "does not say how much";
}

/// Figures that nobody can have are no ground for a verdict.
void TestOom::impossibleTexts()
{
    QFETCH(QString, given);
    QFETCH(QString, says);
    const OomText text = parsed(given.toUtf8().constData());
    QCOMPARE(text.verdict, Verdict::Unknown);
    QVERIFY(!text.slack);
    QVERIFY2(text.explanation.find(says.toStdString()) != std::string::npos, text.explanation.c_str());
}

/// PyTorch's figure for a process it knows nothing of is left out; the rest stays.
void TestOom::unknownProcess()
{
    const OomText text = parsed(
        "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which "
        "512.00 MiB is free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in "
        "use. "
        "Of the allocated memory 70.00 GiB is allocated by PyTorch, and 2.00 GiB is reserved by PyTorch but "
        "unallocated.");
    QVERIFY(!text.processUsed);
    QCOMPARE(*text.slack, (512 + 2048 - 1024) * mib);
    QVERIFY(text.nonPyTorch && *text.nonPyTorch < std::uint64_t(8192 * mib));
}

/// The card alone would have served it: neither short nor in pieces, so no verdict.
void TestOom::moreFreeThanAskedFor()
{
    const OomText limited = parsed(newWording("12.50 MiB", "9.28 GiB", "4.68 MiB").c_str());
    QCOMPARE(limited.verdict, Verdict::Unknown);
    QVERIFY(!limited.thinMargin);
    QVERIFY2(
        limited.explanation.find("were free on the card") != std::string::npos, limited.explanation.c_str());
    // A segment may have to be larger than the request it is for.
    QCOMPARE(
        parsed(newWording("12.50 MiB", "20.00 MiB", "4.68 MiB").c_str()).verdict, Verdict::Fragmentation);
}

QTEST_GUILESS_MAIN(TestOom)
#include "tst_oom.moc"
