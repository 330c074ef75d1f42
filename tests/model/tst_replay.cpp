// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/replay.hpp"
#include "model/replay/replay_quality.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <functional>

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::shared_ptr<const Replay> replayed(std::shared_ptr<const Snapshot> snapshot)
{
    Result<std::shared_ptr<const Replay>> result = Replay::build(std::move(snapshot), 0, {});
    if (!result)
        qFatal("%s", result.error().message.c_str());
    return *result;
}

QStringList notes(const Replay& replay)
{
    QStringList names;
    for (const QualityNote& note : replay.quality) {
        names << qualityName(note.id);
        if (note.sentence.empty() || note.sentence.back() != '.' || note.device != replay.device().ordinal)
            names << "(flawed)";
    }
    names.sort();
    return names;
}

using Script = std::function<void(TraceMaker&)>;

} // namespace
Q_DECLARE_METATYPE(Script)

class TestReplay : public QObject {
    Q_OBJECT
private slots:
    void timesCountFromTheFirstOne()
    {
        TraceMaker t;
        t.setTime(-1);
        t.alloc(0x1000, 1);
        t.setTime(5000);
        t.alloc(0x2000, 1);
        t.setTime(7000);
        t.alloc(0x3000, 1);
        const auto replay = Replay::build(t.finish(), 0, {}).value();
        QCOMPARE(replay->originUs(), std::optional<std::int64_t>(5000));
        QVERIFY(!replay->timeUs(0) && !replay->timeUs(1));
        QCOMPARE(*replay->timeUs(3) - *replay->originUs(), std::int64_t{2000});
        TraceMaker none;
        none.alloc(0x1000, 1);
        QVERIFY(!Replay::build(none.finish(), 0, {}).value()->originUs());
    }

    /// Events without a pool belong to the pool of the segment of their time, not of the one that has the
    /// address at the end.
    void poolsAreThoseOfTheReplayedSegments()
    {
        TraceMaker t;
        const PoolId graph = t.builder().pool(0, 1);
        constexpr std::int64_t mib = 1 << 20;
        t.event(Action::SegmentAlloc, 0x1000000, 20 * mib);
        t.alloc(0x1000000, 1000);
        t.free(0x1000000, 1000);
        t.event(Action::SegmentFree, 0x1000000, 20 * mib);
        t.event(Action::SegmentAlloc, 0x1000000, 2 * mib);
        t.alloc(0x1000000, 500);
        t.segment(0x1000000, 2 * mib, graph);
        t.block(BlockState::Allocated, 2 * mib, 500);
        const auto replay = Replay::build(t.finish(), 0, {}).value();
        QCOMPARE(replay->timeline.allocations().pool, (std::vector{PoolId{0}, graph}));
        const auto at = [](const auto& list, PoolId pool, StateIndex state) {
            for (const auto& [id, series] : list)
                if (id == pool)
                    return series.at(state);
            return std::int64_t{-1};
        };
        const auto& requested = replay->requestedByPool;
        const auto& reserved = replay->segments.reservedByPool();
        QCOMPARE(at(requested, PoolId{0}, 2), 1000);
        QCOMPARE(at(reserved, PoolId{0}, 2), 20 * mib);
        QCOMPARE(at(requested, graph, 2), 0);
        QCOMPARE(at(reserved, graph, 2), 0);
        QCOMPARE(at(requested, PoolId{0}, 7), 0);
        QCOMPARE(at(reserved, PoolId{0}, 7), 0);
        QCOMPARE(at(requested, graph, 7), 500);
        QCOMPARE(at(reserved, graph, 7), 2 * mib);
    }

    /// A block freed before the trace and still pending at its end waited all the time; what waits is not
    /// free.
    void pendingFromBeforeTheTraceWaitsThroughout()
    {
        TraceMaker maker;
        maker.alloc(0x2000, 0x2000);
        maker.free(0x2000, 0x2000);
        maker.segment(0x1000, 0x4000);
        maker.block(BlockState::Pending, 0x1000, 4000);
        maker.block(BlockState::Inactive, 0x2000, 0);
        maker.block(BlockState::Allocated, 0x1000, 100);
        const auto replay = replayed(maker.finish());
        for (StateIndex state = 0; state < replay->states(); ++state) {
            const bool live = state == 1 || state == 2; // until free_completed
            QCOMPARE(replay->segments.waiting().at(state), std::int64_t{0x1000});
            QCOMPARE(replay->segments.allocated().at(state), std::int64_t{live ? 0x3000 : 0x1000});
            QCOMPARE(replay->segments.inactiveAt(state), std::int64_t{live ? 0 : 0x2000});
            const SegmentState map = replay->segments.stateAt(state, replay->timeline);
            QCOMPARE(map.waiting, std::uint64_t{0x1000});
            QCOMPARE(static_cast<std::int64_t>(map.free), replay->segments.inactiveAt(state));
        }
        QCOMPARE(replay->timeline.delayedFrees(), std::uint64_t{0});
    }

    /// Notes on memory older than the trace belong to it, whether a later free or the end makes it known.
    void notesOnOlderMemoryFindIt()
    {
        TraceMaker maker;
        const auto note = [&](std::uint64_t address, const char* text) {
            maker.event(Action::Annotate, address, 0).userMetadata = maker.builder().strings().intern(text);
        };
        note(0x1000, "weights");
        note(0x3000, "grads");
        note(0x9000, "nothing");
        maker.free(0x3000, 0x1000);
        note(0x3000, "too late");
        maker.segment(0x1000, 0x3000);
        maker.block(BlockState::Allocated, 0x1000, 0x1000);
        maker.block(BlockState::Inactive, 0x2000, 0);
        const auto replay = replayed(maker.finish());
        std::vector<std::uint64_t> noted;
        for (const AnnotatedAllocation& each : replay->timeline.annotations())
            noted.push_back(
                valid(each.allocation) ? replay->timeline.allocations().address[index(each.allocation)] : 0);
        QCOMPARE(noted, (std::vector<std::uint64_t>{0x1000, 0x3000, 0, 0}));
        QCOMPARE(replay->note(Quality::AnnotationOfUnknown)->count, std::uint64_t{2});
    }

    void onlyOneIsOlder()
    {
        for (const bool several : {false, true}) {
            TraceMaker maker;
            maker.free(0x1000, 0x1000);
            if (several)
                maker.free(0x3000, 0x1000);
            maker.alloc(0x5000, 0x1000);
            const auto replay = replayed(maker.finish());
            const std::string& note = replay->note(Quality::LateStart)->sentence;
            QVERIFY2(note.find(several ? "2 allocations, 8\u00a0KiB, are older than the trace: they count"
                                       : "1 allocation, 4\u00a0KiB, is older than the trace: it counts")
                    != std::string::npos,
                note.c_str());
        }
    }

    /// Two sizes that only just pass as such must not be undefined together.
    void hugeSizesWrap()
    {
        TraceMaker maker;
        const std::int64_t huge = std::int64_t{1} << 62;
        maker.alloc(0x1000, huge);
        maker.alloc(0x2000, huge);
        maker.alloc(0x3000, huge);
        maker.free(0x1000, huge);
        maker.free(0x2000, huge);
        const auto replay = replayed(maker.finish());
        QCOMPARE(replay->timeline.requested().last(), huge);
    }

    void streamsAndPoolsSumToTheCurve()
    {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            RandomTrace wish;
            wish.seed = seed;
            const auto replay = replayed(randomTrace(wish));
            QVERIFY(replay->requestedByStream.size() > 1);
            for (StateIndex state = 0; state < replay->states(); ++state) {
                std::int64_t streams = 0;
                for (const auto& [stream, series] : replay->requestedByStream)
                    streams += series.at(state);
                std::int64_t pools = 0;
                for (const auto& [pool, series] : replay->requestedByPool)
                    pools += series.at(state);
                QCOMPARE(streams, replay->timeline.requested().at(state));
                QCOMPARE(pools, replay->timeline.requested().at(state));
            }
        }
    }

    void seriesOfAStream()
    {
        TraceMaker maker;
        maker.setStream(0);
        maker.alloc(0x1000, 10);
        maker.setStream(7);
        maker.alloc(0x2000, 5);
        maker.alloc(0x1000, 3); // ends the one on stream 0
        const auto replay = replayed(maker.finish());
        QCOMPARE(replay->requestedByStream.size(), std::size_t(2));
        const Series& main = replay->requestedByStream[0].second;
        const Series& side = replay->requestedByStream[1].second;
        QCOMPARE(main.total().max, 10);
        QCOMPARE(main.at(3), 0);
        QCOMPARE(side.at(2), 5);
        QCOMPARE(side.at(3), 8);
        QCOMPARE(replay->requestedByPool.size(), std::size_t(1));
        QCOMPARE(replay->requestedByPool[0].first, PoolId{0});
    }

    void timesThatGoBack()
    {
        TraceMaker maker;
        for (const std::int64_t us : {100, 200, -1, 150, 300}) {
            maker.setTime(us);
            maker.event(Action::Snapshot, 0, 0);
        }
        const auto replay = replayed(maker.finish());
        QCOMPARE(replay->timeUs(0), std::optional<std::int64_t>(100));
        QCOMPARE(replay->timeUs(1), std::optional<std::int64_t>(100));
        QCOMPARE(replay->timeUs(3), std::optional<std::int64_t>());
        QCOMPARE(replay->timeUs(4), std::optional<std::int64_t>(150));
        QCOMPARE(replay->stateAtTime(99), StateIndex(0));
        QCOMPARE(replay->stateAtTime(100), StateIndex(1));
        QCOMPARE(replay->stateAtTime(199), StateIndex(1));
        QCOMPARE(replay->stateAtTime(250), StateIndex(4));
        QCOMPARE(replay->stateAtTime(1000), StateIndex(5));
        QCOMPARE(replay->note(Quality::TimeDecreases)->count, std::uint64_t(1));
        QCOMPARE(replay->note(Quality::TimeDecreases)->firstEvent, std::optional(2U));
    }

    void quality_data()
    {
        QTest::addColumn<Script>("script");
        QTest::addColumn<QStringList>("expected");
        const auto row = [](const char* name, Script script, QStringList expected) {
            expected.sort();
            QTest::newRow(name) << script << expected;
        };
        const auto good = [](TraceMaker& m) {
            m.setTime(1000);
            const StackId stack = m.stack({"f@a.py:1"});
            m.alloc(0x1000, 512, stack);
            m.alloc(0x1200, 512, stack);
            m.free(0x1200, 512);
            m.segment(0x1000, 0x400);
            m.block(BlockState::Allocated, 0x200, 512, stack);
            m.block(BlockState::Inactive, 0x200, 0);
        };
        row("nothing to say", good, {});
        row("no events",
            [](TraceMaker& m) {
                m.segment(0x1000, 0x200);
                m.block(BlockState::Allocated, 0x200, 512, m.stack({"f@a.py:1"}));
            },
            {"no-history"});
        row("ring of one",
            [](TraceMaker& m) {
                m.setTime(5);
                m.complete(0x1200, 9);
                m.segment(0x1000, 0x400);
                m.block(BlockState::Allocated, 0x200, 512, m.stack({"f@a.py:1"}));
                m.block(BlockState::Inactive, 0x200, 0);
            },
            {"state-only", "some-stacks-missing"});
        row("no segments, stacks, times", [](TraceMaker& m) { m.alloc(0x1000, 5); },
            {"no-segments", "no-stacks", "no-timestamps"});
        row("an allocation without stack",
            [good](TraceMaker& m) {
                m.setTime(1000);
                m.alloc(0x8000, 7);
                m.free(0x8000, 7);
                good(m);
            },
            {"some-stacks-missing"});
        row("late start",
            [good](TraceMaker& m) {
                m.setTime(1000);
                m.free(0x8000, 7);
                good(m);
            },
            {"late-start"});
        row("cut inside a free",
            [good](TraceMaker& m) {
                m.setTime(1000);
                m.complete(0x8000, 7);
                good(m);
            },
            {"ring-wrapped"});
        row("ring said to have wrapped",
            [good](TraceMaker& m) {
                m.builder().device(0).ringOverflowed = true;
                m.builder().device(0).ringCapacity = 4;
                good(m);
            },
            {"ring-wrapped"});
        row("ring said not to have wrapped",
            [good](TraceMaker& m) {
                m.builder().device(0).ringOverflowed = false;
                m.setTime(1000);
                m.complete(0x8000, 7);
                good(m);
            },
            {"late-start"});
        row("a round number of events, the first of them a foreign free",
            [good](TraceMaker& m) {
                m.setTime(1000);
                m.free(0x8000, 7);
                good(m);
                for (int i = 0; i < 994; ++i)
                    m.event(Action::Snapshot, 0, 0);
            },
            {"ring-wrapped"});
        row("requests skipped",
            [](TraceMaker& m) {
                m.setTime(1000);
                m.alloc(0x1000, 5, m.stack({"f@a.py:1"}));
                m.complete(0x1000, 5);
                m.segment(0x1000, 0x400);
                m.block(BlockState::Inactive, 0x400, 0);
            },
            {"filtered-actions"});
        row("completions skipped",
            [](TraceMaker& m) {
                m.setTime(1000);
                m.alloc(0x1000, 5, m.stack({"f@a.py:1"}));
                m.request(0x1000, 5);
                m.segment(0x1000, 0x400);
                m.block(BlockState::Inactive, 0x400, 0);
            },
            {"filtered-actions"});
        row("completions yet to come",
            [](TraceMaker& m) {
                m.setTime(1000);
                m.alloc(0x1000, 5, m.stack({"f@a.py:1"}));
                m.request(0x1000, 5);
                m.segment(0x1000, 0x400);
                m.block(BlockState::Pending, 0x400, 5);
            },
            {});
        row("a lone completion of older memory proves no filter",
            [good](TraceMaker& m) {
                m.setTime(1000);
                m.alloc(0x1000, 5, m.stack({"f@a.py:1"}));
                m.complete(0x9000, 5);
                m.segment(0x1000, 0x400);
                m.block(BlockState::Allocated, 0x400, 5);
            },
            {"late-start"});
        row("trace and segments differ",
            [](TraceMaker& m) {
                m.setTime(1000);
                m.alloc(0x1000, 512, m.stack({"f@a.py:1"}));
                m.event(Action::Snapshot, 0, 0);
                m.segment(0x1000, 0x400);
                m.block(BlockState::Inactive, 0x400, 0);
            },
            {"trace-segments-disagree"});
        row("twice allocated, twice freed",
            [good](TraceMaker& m) {
                m.setTime(1000);
                const StackId stack = m.stack({"f@a.py:1"});
                m.alloc(0x8000, 1, stack);
                m.alloc(0x8000, 1, stack);
                m.free(0x8000, 1);
                m.free(0x8000, 1);
                good(m);
            },
            {"realloc-of-live", "free-of-unknown"});
        row("a size below nothing",
            [good](TraceMaker& m) {
                good(m);
                m.alloc(0x1200, -1, m.stack({"f@a.py:1"}));
                m.free(0x1200, -1);
            },
            {"absurd-size"});
        row("a note on nothing",
            [good](TraceMaker& m) {
                good(m);
                m.event(Action::Annotate, 0x1000, 0);
                m.event(Action::Annotate, 0x7000, 0);
            },
            {"annotation-of-unknown"});
    }

    void quality()
    {
        QFETCH(Script, script);
        QFETCH(QStringList, expected);
        TraceMaker maker;
        script(maker);
        const auto replay = replayed(maker.finish());
        QCOMPARE(notes(*replay), expected);
        const bool complete = !expected.contains("late-start") && !expected.contains("ring-wrapped")
            && !expected.contains("no-history") && !expected.contains("state-only");
        QCOMPARE(replay->reachesStart(), complete);
    }

    void namesTheAddresses()
    {
        TraceMaker maker;
        for (const std::uint64_t address : {0x2000U, 0x1000U, 0x2000U, 0x1000U, 0x1000U})
            maker.alloc(address, 1);
        maker.free(0x3000, 1);
        maker.free(0x3000, 1);
        const auto replay = replayed(maker.finish());
        const QualityNote* twice = replay->note(Quality::ReallocOfLive);
        QCOMPARE(twice->count, std::uint64_t(3));
        QCOMPARE(twice->examples, (std::vector<std::string>{"0x2000", "0x1000"}));
        QCOMPARE(twice->firstEvent, std::optional(2U));
        QCOMPARE(replay->note(Quality::FreeOfUnknown)->examples, std::vector<std::string>{"0x3000"});
    }

    void anEmptyFileSaysSo()
    {
        SnapshotBuilder builder;
        const auto snapshot = builder.finish();
        QCOMPARE(emptyFileQuality(*snapshot).at(0).id, Quality::NoHistory);
        TraceMaker maker;
        maker.alloc(0x1000, 1);
        QVERIFY(emptyFileQuality(*maker.finish()).empty());
    }
};

QTEST_GUILESS_MAIN(TestReplay)
#include "tst_replay.moc"
