// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/timeline.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// The rules of help/numbers.md once more, the slow and obvious way: maps by address, totals added up anew.
struct Reference {
    std::uint64_t freedInTrace = 0, freedBytes = 0, aliveAtEnd = 0, aliveBytes = 0;
    std::uint64_t realloc = 0, unknown = 0, activeFreed = 0, liveInactive = 0, delayed = 0;
    std::vector<std::int64_t> requested; ///< by state
    std::vector<std::int64_t> pending;
    std::vector<std::multiset<std::uint64_t>> live; ///< addresses by state

    explicit Reference(const DeviceTrace& device)
    {
        const EventColumns& e = device.events;
        std::map<std::uint64_t, std::uint64_t> alive;
        std::map<std::uint64_t, std::uint64_t> waiting;
        std::set<std::uint64_t> seen;
        std::vector<std::pair<std::size_t, std::pair<std::uint64_t, std::uint64_t>>> before;
        const bool onRequest = endsOnRequest(device);
        std::vector<std::map<std::uint64_t, std::uint64_t>> states{{}};
        pending.push_back(0);
        for (std::size_t i = 0; i < e.count(); ++i) {
            const std::uint64_t at = e.address[i];
            const std::uint64_t size = e.size[i] > 0 ? static_cast<std::uint64_t>(e.size[i]) : 0;
            if (e.action[i] == Action::Alloc) {
                realloc += alive.count(at);
                waiting.erase(at);
                alive[at] = size;
                seen.insert(at);
            } else if (e.action[i] == Action::FreeRequested || e.action[i] == Action::FreeCompleted) {
                if (seen.insert(at).second) {
                    alive[at] = size;
                    before.push_back({i, {at, size}});
                    ++freedInTrace;
                    freedBytes += size;
                }
                if (e.action[i] == Action::FreeRequested && !onRequest) {
                    const bool next = i + 1 < e.count() && e.action[i + 1] == Action::FreeCompleted
                        && e.address[i + 1] == at;
                    if (!next && alive.count(at) != 0 && waiting.count(at) == 0) {
                        ++delayed;
                        waiting[at] = alive[at];
                    }
                } else if (alive.erase(at) != 0) {
                    waiting.erase(at);
                } else {
                    ++unknown;
                }
            }
            states.push_back(alive);
            std::int64_t sum = 0;
            for (const auto& [address, bytes] : waiting)
                sum += static_cast<std::int64_t>(bytes);
            pending.push_back(sum);
        }
        std::map<std::uint64_t, std::uint64_t> ghosts;
        if (device.hasSegments) {
            std::set<std::uint64_t> active;
            for (const Block& block : device.blocks) {
                if (block.state != BlockState::Allocated && block.state != BlockState::Pending)
                    continue;
                active.insert(block.address);
                if (alive.count(block.address) != 0)
                    continue;
                if (seen.count(block.address) != 0)
                    ++activeFreed;
                else
                    ghosts[block.address] = static_cast<std::uint64_t>(block.requested);
            }
            for (const auto& [address, bytes] : alive)
                liveInactive += active.count(address) == 0;
        }
        aliveAtEnd = ghosts.size();
        for (const auto& [address, bytes] : ghosts)
            aliveBytes += bytes;
        for (std::size_t s = 0; s < states.size(); ++s) {
            std::map<std::uint64_t, std::uint64_t> all = states[s];
            all.insert(ghosts.begin(), ghosts.end());
            // Before its first free, a predating block lives although the walk has not met it yet.
            for (const auto& [event, block] : before)
                if (event >= s)
                    all.insert(block);
            std::int64_t sum = 0;
            std::multiset<std::uint64_t> addresses;
            for (const auto& [address, bytes] : all) {
                sum += static_cast<std::int64_t>(bytes);
                addresses.insert(address);
            }
            requested.push_back(sum);
            live.push_back(addresses);
        }
    }

    static bool endsOnRequest(const DeviceTrace& device)
    {
        std::set<std::uint64_t> waiting;
        for (const Block& block : device.blocks)
            if (block.state == BlockState::Pending)
                waiting.insert(block.address);
        bool any = false;
        for (std::size_t i = 0; i < device.events.count(); ++i) {
            if (device.events.action[i] == Action::FreeCompleted)
                return false;
            if (device.events.action[i] == Action::FreeRequested) {
                any = true;
                if (waiting.count(device.events.address[i]) != 0)
                    return false;
            }
        }
        return any;
    }
};

Timeline built(const std::shared_ptr<const Snapshot>& snapshot)
{
    Result<Timeline> result = Timeline::build(*snapshot, snapshot->devices.front(), {});
    if (!result)
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}

} // namespace

class TestTimeline : public QObject {
    Q_OBJECT
private slots:
    void equalsTheReference_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("irregular") << 0;
        QTest::newRow("regular") << 1;
        QTest::newRow("no segments") << 2;
        QTest::newRow("requests skipped") << 3;
        QTest::newRow("completions skipped") << 4;
    }

    void equalsTheReference()
    {
        QFETCH(int, kind);
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            RandomTrace wish;
            wish.seed = seed + 1000 * static_cast<std::uint64_t>(kind);
            wish.irregular = kind != 1;
            wish.segments = kind != 2;
            wish.skipRequests = kind == 3;
            wish.skipCompletions = kind == 4;
            compare(randomTrace(wish));
            if (QTest::currentTestFailed())
                qFatal("seed %llu", static_cast<unsigned long long>(wish.seed));
        }
    }

    /// Checkpoints only come into play in long traces.
    void liveSetsOfALongTrace()
    {
        for (const std::uint32_t addresses : {20U, 3000U}) {
            RandomTrace wish;
            wish.events = 30000;
            wish.addresses = addresses;
            const auto snapshot = randomTrace(wish);
            const Timeline timeline = built(snapshot);
            for (StateIndex state = 0; state < timeline.states(); state += state % 97 == 0 ? 1 : 96) {
                std::vector<AllocationId> expected;
                std::int64_t sum = 0;
                const AllocationColumns& c = timeline.allocations();
                for (std::uint32_t id = 0; id < c.count(); ++id) {
                    if (!timeline.isLive(AllocationId{id}, state))
                        continue;
                    expected.push_back(AllocationId{id});
                    sum += static_cast<std::int64_t>(c.size[id]);
                }
                QCOMPARE(timeline.liveAt(state), expected);
                QCOMPARE(timeline.liveCountAt(state), static_cast<std::uint32_t>(expected.size()));
                QCOMPARE(timeline.requested().at(state), sum);
            }
        }
    }

    void numbersOldestFirst()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 10);
        maker.free(0x9000, 5);
        maker.free(0xa000, 6);
        maker.alloc(0x9000, 7);
        maker.segment(0x1000, 0x1000);
        maker.block(BlockState::Allocated, 0x1000, 10);
        maker.segment(0xf000, 0x1000);
        maker.block(BlockState::Allocated, 0x1000, 99);
        const auto snapshot = maker.finish();
        const Timeline timeline = built(snapshot);
        const AllocationColumns& c = timeline.allocations();
        QCOMPARE(c.size, (std::vector<std::uint64_t>{99, 6, 5, 10, 7}));
        QCOMPARE(c.origin[0], Origin::AliveAtEnd);
        QCOMPARE(c.origin[1], Origin::FreedInTrace);
        QCOMPARE(c.firstState, (std::vector<StateIndex>{0, 0, 0, 1, 6}));
        QCOMPARE(c.endState, (std::vector<StateIndex>{7, 5, 3, 7, 7}));
        QCOMPARE(timeline.generation(AllocationId{2}), 0U);
        QCOMPARE(timeline.generation(AllocationId{4}), 1U);
        QCOMPARE(timeline.allocationOf(EventIndex{3}), AllocationId{1});
        QVERIFY(!timeline.allocEvent(AllocationId{1}));
        QCOMPARE(*timeline.endEvent(AllocationId{1}), EventIndex{4});
        QCOMPARE(*timeline.freeEvent(AllocationId{1}, snapshot->devices[0]), EventIndex{3});
        QVERIFY(!timeline.endEvent(AllocationId{4}));
        QCOMPARE(timeline.findLive(0x1009, 2), AllocationId{3});
        QCOMPARE(timeline.findLive(0x100a, 2), AllocationId::none);
        QCOMPARE(timeline.findLive(0x1000, 0), AllocationId::none);
    }

    void waitsForAStream()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 100);
        maker.request(0x1000, 100);
        maker.alloc(0x2000, 1);
        maker.complete(0x1000, 100);
        maker.free(0x2000, 1);
        const Timeline timeline = built(maker.finish());
        QCOMPARE(timeline.delayedFrees(), std::uint64_t(1));
        QCOMPARE(timeline.pending().at(1), 0);
        QCOMPARE(timeline.pending().at(2), 100);
        QCOMPARE(timeline.pending().at(4), 0);
        QCOMPARE(timeline.requested().at(3), 101);
        QCOMPARE(timeline.allocations().pendingState[0], StateIndex(2));
        QCOMPARE(timeline.allocations().endState[0], StateIndex(4));
        QCOMPARE(timeline.allocations().pendingState[1], timeline.allocations().endState[1]);
    }

    void stackOfTheFree()
    {
        TraceMaker maker;
        const StackId made = maker.stack({"make@a.py:1"});
        const StackId dropped = maker.stack({"drop@b.py:2"});
        const StackId polled = maker.stack({"elsewhere@c.py:3"});
        maker.alloc(0x1000, 100, made);
        maker.event(Action::FreeRequested, 0x1000, 100, dropped);
        maker.alloc(0x2000, 100, made);
        maker.event(Action::FreeCompleted, 0x1000, 100, polled);
        maker.event(Action::FreeCompleted, 0x2000, 100, polled);
        const auto snapshot = maker.finish();
        const Timeline timeline = built(snapshot);
        QCOMPARE(timeline.freeStack(AllocationId{0}, snapshot->devices[0]), dropped);
        QCOMPARE(timeline.freeStack(AllocationId{1}, snapshot->devices[0]), StackId::none);
        QVERIFY(!timeline.freesCarryAllocStack());
    }

    void freesThatRepeatTheAllocation()
    {
        TraceMaker maker;
        const StackId a = maker.stack({"make@a.py:1"});
        const StackId b = maker.stack({"make@b.py:2"});
        maker.event(Action::FreeRequested, 0x9000, 5, b);
        maker.event(Action::FreeCompleted, 0x9000, 5, b);
        for (int i = 0; i < 4; ++i) {
            maker.alloc(0x1000, 100, i % 2 == 0 ? a : b);
            maker.event(Action::FreeRequested, 0x1000, 100, i % 2 == 0 ? a : b);
            maker.event(Action::FreeCompleted, 0x1000, 100, i % 2 == 0 ? a : b);
        }
        const auto snapshot = maker.finish();
        const Timeline timeline = built(snapshot);
        QVERIFY(timeline.freesCarryAllocStack());
        QCOMPARE(timeline.allocations().stack[0], b);
        QCOMPARE(timeline.freeStack(AllocationId{0}, snapshot->devices[0]), StackId::none);
    }

    void poolFromEventElseSegment()
    {
        TraceMaker maker;
        const PoolId graph = maker.builder().pool(0, 1);
        const PoolId other = maker.builder().pool(0, 2);
        maker.alloc(0x1000, 1);
        maker.alloc(0x2000, 1);
        maker.setPool(other);
        maker.alloc(0x3000, 1);
        maker.segment(0x1000, 0x1000, graph);
        maker.block(BlockState::Allocated, 0x1000, 1);
        maker.segment(0x3000, 0x1000, graph);
        maker.block(BlockState::Allocated, 0x800, 1);
        maker.block(BlockState::Allocated, 0x800, 1);
        const Timeline timeline = built(maker.finish());
        QCOMPARE(timeline.allocations().pool, (std::vector<PoolId>{graph, graph, PoolId{0}, other}));
    }

    void localPeaks()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 1000); // 1: 1000
        maker.alloc(0x2000, 15); // 2: a ripple below 2 %
        maker.free(0x2000, 15); // 4
        maker.alloc(0x3000, 10); // 5: 1010
        maker.free(0x1000, 1000); // 7: 10
        maker.alloc(0x4000, 500); // 8: 510
        maker.free(0x4000, 500); // 10: 10
        maker.alloc(0x5000, 1005); // 11: 1015, the first peak again
        const Timeline timeline = built(maker.finish());
        QCOMPARE(timeline.localPeaks(), (std::vector<StateIndex>{2, 8, 11}));
        QCOMPARE(timeline.requested().total().maxState, StateIndex(2));
    }

    void stopsWhenAsked()
    {
        RandomTrace wish;
        wish.events = 1000;
        const auto snapshot = randomTrace(wish);
        std::stop_source source;
        source.request_stop();
        Job job;
        job.stop = source.get_token();
        const Result<Timeline> result = Timeline::build(*snapshot, snapshot->devices.front(), job);
        QVERIFY(!result.ok());
        QCOMPARE(result.error().code, ErrorCode::Cancelled);
    }

private:
    static void compare(const std::shared_ptr<const Snapshot>& snapshot)
    {
        const DeviceTrace& device = snapshot->devices.front();
        const Timeline timeline = built(snapshot);
        const Reference expected(device);
        QCOMPARE(timeline.predating().freedInTrace, expected.freedInTrace);
        QCOMPARE(timeline.predating().freedInTraceBytes, expected.freedBytes);
        QCOMPARE(timeline.predating().aliveAtEnd, expected.aliveAtEnd);
        QCOMPARE(timeline.predating().aliveAtEndBytes, expected.aliveBytes);
        QCOMPARE(timeline.irregularities().reallocOfLive, expected.realloc);
        QCOMPARE(timeline.irregularities().freeOfUnknown, expected.unknown);
        QCOMPARE(timeline.irregularities().activeButFreed, expected.activeFreed);
        QCOMPARE(timeline.irregularities().liveButInactive, expected.liveInactive);
        QCOMPARE(timeline.delayedFrees(), expected.delayed);
        for (StateIndex state = 0; state < timeline.states(); ++state) {
            QCOMPARE(timeline.requested().at(state), expected.requested[state]);
            QCOMPARE(timeline.pending().at(state), expected.pending[state]);
            std::int64_t sum = 0;
            std::int64_t waiting = 0;
            std::multiset<std::uint64_t> addresses;
            const AllocationColumns& c = timeline.allocations();
            for (const AllocationId id : timeline.liveAt(state)) {
                sum += static_cast<std::int64_t>(c.size[index(id)]);
                if (c.pendingState[index(id)] <= state)
                    waiting += static_cast<std::int64_t>(c.size[index(id)]);
                addresses.insert(c.address[index(id)]);
            }
            QCOMPARE(sum, expected.requested[state]);
            QCOMPARE(waiting, expected.pending[state]);
            QVERIFY(addresses == expected.live[state]);
            QCOMPARE(timeline.liveCountAt(state), static_cast<std::uint32_t>(addresses.size()));
        }
    }
};

QTEST_GUILESS_MAIN(TestTimeline)
#include "tst_timeline.moc"
