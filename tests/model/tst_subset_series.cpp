// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/subset_series.hpp"
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_step.hpp"

#include <QTest>

#include <numeric>
#include <random>

using namespace tidemark;

namespace {

std::shared_ptr<const Replay> replayOf(std::shared_ptr<const Snapshot> snapshot)
{
    auto replay = Replay::build(std::move(snapshot), 0, {});
    return replay.ok() ? replay.value() : nullptr;
}

std::vector<AllocationId> everyId(const Replay& replay)
{
    std::vector<AllocationId> ids;
    for (std::uint32_t i = 0; i < replay.timeline.allocations().count(); ++i)
        ids.push_back(AllocationId{i});
    return ids;
}

/// The definition, state by state.
std::int64_t liveOf(const Replay& replay, const std::vector<AllocationId>& ids, StateIndex state)
{
    std::int64_t sum = 0;
    for (const AllocationId id : ids)
        if (replay.timeline.isLive(id, state))
            sum += static_cast<std::int64_t>(replay.timeline.allocations().size[index(id)]);
    return sum;
}

} // namespace

class TestSubsetSeries : public QObject {
    Q_OBJECT
private slots:
    void sumsWhatIsLiveOfTheSet()
    {
        test::TraceMaker maker;
        maker.alloc(0x1000000, 100);
        maker.alloc(0x2000000, 30);
        maker.alloc(0x3000000, 7);
        maker.free(0x1000000, 100);
        maker.free(0x3000000, 7);
        const auto replay = replayOf(maker.finish());
        QVERIFY(replay);
        const std::vector<AllocationId> ids{AllocationId{0}, AllocationId{2}};
        const Series series = subsetSeries(*replay, ids);
        // States: start, three allocations, request, completion, request, completion.
        const std::vector<std::int64_t> wanted{0, 100, 100, 107, 107, 7, 7, 0};
        for (StateIndex s = 0; s < wanted.size(); ++s)
            QCOMPARE(series.at(s), wanted[s]);
        QCOMPARE(series.states(), replay->states());
        QCOMPARE(series.total().max, std::int64_t{107});
        QCOMPARE(series.total().maxState, StateIndex{3});
    }

    void anAllocationNamedTwiceCountsOnce()
    {
        test::TraceMaker maker;
        maker.alloc(0x1000000, 100);
        maker.alloc(0x2000000, 30);
        const auto replay = replayOf(maker.finish());
        const std::vector<AllocationId> ids{AllocationId{1}, AllocationId{0}, AllocationId{1}};
        QCOMPARE(subsetSeries(*replay, ids).last(), std::int64_t{130});
    }

    void nothingAndUnknownIdsAreZero()
    {
        test::TraceMaker maker;
        maker.alloc(0x1000000, 100);
        const auto replay = replayOf(maker.finish());
        QCOMPARE(subsetSeries(*replay, {}).total().max, std::int64_t{0});
        const std::vector<AllocationId> ids{AllocationId{7}, AllocationId::none};
        const Series series = subsetSeries(*replay, ids);
        QCOMPARE(series.total().max, std::int64_t{0});
        QCOMPARE(series.states(), replay->states());
    }

    void memoryFromBeforeTheRecordingIsThereFromTheStart()
    {
        const auto rank = test::makeRank(test::trainingStep());
        const Replay& replay = *rank->devices[0];
        std::vector<AllocationId> predating;
        for (const AllocationId id : everyId(replay))
            if (replay.timeline.allocations().origin[index(id)] != Origin::Traced)
                predating.push_back(id);
        const Series series = subsetSeries(replay, predating);
        QCOMPARE(series.first(), std::int64_t{160} << 20);
        QCOMPARE(series.last(), std::int64_t{100} << 20);
    }

    void theWholeSetIsTheCurve_data()
    {
        QTest::addColumn<std::uint64_t>("seed");
        for (std::uint64_t seed = 1; seed <= 12; ++seed)
            QTest::addRow("seed %d", static_cast<int>(seed)) << seed;
    }
    void theWholeSetIsTheCurve()
    {
        QFETCH(std::uint64_t, seed);
        const auto replay = replayOf(test::randomTrace({.seed = seed, .events = 400}));
        QVERIFY(replay);
        const std::vector<AllocationId> all = everyId(*replay);
        const Series whole = subsetSeries(*replay, all);
        std::mt19937 random(static_cast<std::uint32_t>(seed));
        std::vector<AllocationId> some;
        for (const AllocationId id : all)
            if (random() % 3 == 0)
                some.push_back(id);
        std::shuffle(some.begin(), some.end(), random);
        const Series part = subsetSeries(*replay, some);
        for (StateIndex s = 0; s < replay->states(); ++s) {
            QCOMPARE(whole.at(s), replay->timeline.requested().at(s));
            QCOMPARE(part.at(s), liveOf(*replay, some, s));
        }
    }
};

QTEST_MAIN(TestSubsetSeries)
#include "tst_subset_series.moc"
