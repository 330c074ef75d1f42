// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/edits.hpp"
#include "tests/support/trace_maker.hpp"

#include <QtTest>

#include <random>

using namespace tidemark;
using namespace tidemark::test;

namespace {

using Given = std::vector<std::shared_ptr<const Edits>>;

std::shared_ptr<const Replay> replayOf(std::shared_ptr<const Snapshot> snapshot)
{
    return Replay::build(std::move(snapshot), 0, Job{}).value();
}

std::int64_t at(const EditedCurve& edited, StateIndex state)
{
    std::int64_t value = 0;
    for (const auto& [first, bytes] : edited.curve)
        if (first <= state)
            value = bytes;
    return value;
}

/// The definition, state by state.
std::vector<std::int64_t> bruteForce(const Replay& replay, const Given& given)
{
    const AllocationColumns& all = replay.timeline.allocations();
    std::vector<std::int64_t> out;
    for (StateIndex s = 0; s < replay.states(); ++s) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < all.count(); ++i) {
            bool live = all.firstState[i] <= s && s < all.endState[i];
            std::uint64_t bytes = all.size[i];
            for (const auto& edits : given) {
                for (const auto& cut : edits->cuts())
                    live = live && !(index(cut.id) == i && s >= cut.end);
                for (const auto& pause : edits->pauses())
                    live = live && !(index(pause.id) == i && s >= pause.first && s < pause.end);
                for (const auto& shrink : edits->shrinks())
                    if (index(shrink.id) == i)
                        bytes = std::min(bytes, shrink.bytes);
            }
            sum += live ? static_cast<std::int64_t>(bytes) : 0;
        }
        for (const auto& edits : given)
            for (const auto& addition : edits->additions())
                if (addition.first <= s && s < addition.end)
                    sum += addition.bytes;
        out.push_back(sum);
    }
    return out;
}

std::shared_ptr<Edits> randomEdits(std::mt19937& random, const Replay& replay, bool adds)
{
    auto edits = std::make_shared<Edits>();
    const std::size_t count = replay.timeline.allocations().count();
    const auto state = [&] { return static_cast<StateIndex>(random() % (replay.states() + 2)); };
    for (int i = 0; i < 8 && count > 0; ++i) {
        const auto id = static_cast<AllocationId>(random() % count);
        switch (random() % 4) {
        case 0:
            edits->drop(id);
            break;
        case 1:
            edits->endAt(id, state());
            break;
        case 2: {
            const StateIndex a = state();
            const StateIndex b = state();
            edits->pause(id, std::min(a, b), std::max(a, b));
            break;
        }
        default:
            edits->shrink(id, random() % 4096);
        }
    }
    if (adds)
        edits->add(state(), state(), static_cast<std::int64_t>(random() % 10000), "more");
    return edits;
}

/// Four blocks of 100, 200, 300 and 50 bytes in the states 1–6, 2–5, 3–4 and 8.
std::shared_ptr<const Replay> fourBlocks()
{
    TraceMaker maker;
    maker.alloc(0x1000, 100); // state 1
    maker.alloc(0x2000, 200); // 2
    maker.alloc(0x3000, 300); // 3
    maker.request(0x3000, 300); // 4
    maker.complete(0x3000, 300); // 5: gone
    maker.complete(0x2000, 200); // 6: gone
    maker.complete(0x1000, 100); // 7: gone
    maker.alloc(0x4000, 50); // 8
    return replayOf(maker.finish());
}

} // namespace

class TestEdits : public QObject {
    Q_OBJECT
private slots:
    void noEditsGiveTheRecordedCurve();
    void aDropTakesTheWholeLife();
    void theEarliestCutCounts();
    void aCutAfterTheEndChangesNothing();
    void aPauseComesBack();
    void overlappingAbsencesAreNotAddedUp();
    void theSameFixTwiceCountsOnce();
    void aShrinkLeavesThatManyBytes();
    void anAdditionCanMakeThePeak();
    void thePeakMoves();
    void unknownAllocationsAreIgnored();
    void randomTracesMatchTheDefinition_data();
    void randomTracesMatchTheDefinition();
    void stops();
};

void TestEdits::noEditsGiveTheRecordedCurve()
{
    const auto replay = replayOf(randomTrace({}));
    const auto edited = applyEdits(*replay, {}, Job{});
    QVERIFY(edited);
    const Series& series = replay->timeline.requested();
    for (StateIndex s = 0; s < replay->states(); ++s)
        QCOMPARE(at(*edited, s), series.at(s));
    QCOMPARE(edited->newPeak, series.total().max);
    QCOMPARE(edited->newPeakState, series.total().maxState);
    QCOMPARE(edited->removedAtOldPeak, 0);
    QVERIFY(!edited->peakMoved());
}

void TestEdits::aDropTakesTheWholeLife()
{
    const auto replay = fourBlocks();
    auto edits = std::make_shared<Edits>();
    edits->drop(AllocationId{1});
    const auto edited = applyEdits(*replay, Given{edits}, Job{});
    QCOMPARE(edited->oldPeak, 600);
    QCOMPARE(edited->oldPeakState, 3U);
    QCOMPARE(edited->removedAtOldPeak, 200);
    QCOMPARE(edited->newPeak, 400);
    QCOMPARE(edited->saved(), 200);
    QCOMPARE(at(*edited, 2), 100);
    QCOMPARE(at(*edited, 8), 50);
}

void TestEdits::theEarliestCutCounts()
{
    const auto replay = fourBlocks();
    auto late = std::make_shared<Edits>();
    late->endAt(AllocationId{0}, 5);
    auto early = std::make_shared<Edits>();
    early->endAt(AllocationId{0}, 3);
    const auto edited = applyEdits(*replay, Given{late, early}, Job{});
    QCOMPARE(at(*edited, 2), 300);
    QCOMPARE(at(*edited, 3), 500);
    QCOMPARE(at(*edited, 5), 200);
    QCOMPARE(edited->removedAtOldPeak, 100);
}

void TestEdits::aCutAfterTheEndChangesNothing()
{
    const auto replay = fourBlocks();
    auto edits = std::make_shared<Edits>();
    edits->endAt(AllocationId{2}, 7);
    const auto edited = applyEdits(*replay, Given{edits}, Job{});
    QCOMPARE(edited->newPeak, 600);
    QCOMPARE(at(*edited, 6), 100);
}

void TestEdits::aPauseComesBack()
{
    const auto replay = fourBlocks();
    auto edits = std::make_shared<Edits>();
    edits->pause(AllocationId{0}, 2, 4);
    const auto edited = applyEdits(*replay, Given{edits}, Job{});
    QCOMPARE(at(*edited, 1), 100);
    QCOMPARE(at(*edited, 2), 200);
    QCOMPARE(at(*edited, 3), 500);
    QCOMPARE(at(*edited, 4), 600);
    QCOMPARE(edited->newPeak, 600);
    QCOMPARE(edited->newPeakState, 4U);
    QCOMPARE(edited->removedAtOldPeak, 100);
    QVERIFY(edited->peakMoved());
}

void TestEdits::overlappingAbsencesAreNotAddedUp()
{
    const auto replay = fourBlocks();
    auto first = std::make_shared<Edits>();
    first->pause(AllocationId{0}, 2, 4);
    auto second = std::make_shared<Edits>();
    second->pause(AllocationId{0}, 3, 6);
    second->drop(AllocationId{1});
    const auto edited = applyEdits(*replay, Given{first, second}, Job{});
    QCOMPARE(at(*edited, 3), 300);
    QCOMPARE(at(*edited, 5), 0);
    QCOMPARE(at(*edited, 6), 100);
}

void TestEdits::theSameFixTwiceCountsOnce()
{
    const auto replay = fourBlocks();
    auto edits = std::make_shared<Edits>();
    edits->add(0, replay->states(), 70, "buffer");
    const auto edited = applyEdits(*replay, Given{edits, nullptr, edits}, Job{});
    QCOMPARE(edited->newPeak, 670);
    QCOMPARE(edited->removedAtOldPeak, -70);
}

void TestEdits::aShrinkLeavesThatManyBytes()
{
    const auto replay = fourBlocks();
    auto edits = std::make_shared<Edits>();
    edits->shrink(AllocationId{2}, 120);
    edits->shrink(AllocationId{2}, 500);
    edits->endAt(AllocationId{2}, 4);
    const auto edited = applyEdits(*replay, Given{edits}, Job{});
    QCOMPARE(at(*edited, 3), 420);
    QCOMPARE(at(*edited, 4), 300);
}

void TestEdits::anAdditionCanMakeThePeak()
{
    const auto replay = fourBlocks();
    auto edits = std::make_shared<Edits>();
    edits->drop(AllocationId{2});
    edits->add(7, 8, 1000, "copy");
    edits->add(9, 4, 5, "never");
    const auto edited = applyEdits(*replay, Given{edits}, Job{});
    QCOMPARE(edited->newPeak, 1000);
    QCOMPARE(edited->newPeakState, 7U);
    QCOMPARE(at(*edited, 8), 50);
    QCOMPARE(edited->saved(), -400);
}

void TestEdits::thePeakMoves()
{
    TraceMaker maker;
    maker.alloc(0x1000, 1000); // 1
    maker.complete(0x1000, 1000); // 2
    maker.alloc(0x2000, 700); // 3
    const auto replay = replayOf(maker.finish());
    auto edits = std::make_shared<Edits>();
    edits->drop(AllocationId{0});
    const auto edited = applyEdits(*replay, Given{edits}, Job{});
    QCOMPARE(edited->removedAtOldPeak, 1000);
    QCOMPARE(edited->saved(), 300);
    QCOMPARE(edited->newPeakState, 3U);
    QVERIFY(edited->peakMoved());
}

void TestEdits::unknownAllocationsAreIgnored()
{
    const auto replay = fourBlocks();
    auto edits = std::make_shared<Edits>();
    edits->drop(AllocationId::none);
    edits->drop(AllocationId{99});
    edits->shrink(AllocationId{99}, 0);
    QCOMPARE(applyEdits(*replay, Given{edits}, Job{})->newPeak, 600);
}

void TestEdits::randomTracesMatchTheDefinition_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 1; seed <= 60; ++seed)
        QTest::newRow(qPrintable(QString::number(seed))) << seed;
}

void TestEdits::randomTracesMatchTheDefinition()
{
    QFETCH(int, seed);
    RandomTrace wish;
    wish.seed = static_cast<std::uint64_t>(seed);
    wish.irregular = false;
    const auto replay = replayOf(randomTrace(wish));
    std::mt19937 random(static_cast<unsigned>(seed));
    for (const bool adds : {false, true}) {
        const Given given{randomEdits(random, *replay, adds), randomEdits(random, *replay, adds)};
        const auto edited = applyEdits(*replay, given, Job{});
        QVERIFY(edited);
        const std::vector<std::int64_t> expected = bruteForce(*replay, given);
        for (StateIndex s = 0; s < replay->states(); ++s) {
            QCOMPARE(at(*edited, s), expected[s]);
            if (!adds)
                QVERIFY(at(*edited, s) <= replay->timeline.requested().at(s));
        }
        const auto top = std::max_element(expected.begin(), expected.end());
        QCOMPARE(edited->newPeak, *top);
        QCOMPARE(edited->newPeakState, static_cast<StateIndex>(top - expected.begin()));
        QCOMPARE(edited->removedAtOldPeak, edited->oldPeak - expected[edited->oldPeakState]);
        for (std::size_t i = 1; i < edited->curve.size(); ++i) {
            QVERIFY(edited->curve[i - 1].first < edited->curve[i].first);
            QVERIFY(edited->curve[i - 1].second != edited->curve[i].second);
        }
    }
}

void TestEdits::stops()
{
    const auto replay = fourBlocks();
    std::stop_source source;
    source.request_stop();
    QVERIFY(!applyEdits(*replay, {}, Job{source.get_token(), {}}));
}

QTEST_GUILESS_MAIN(TestEdits)
#include "tst_edits.moc"
