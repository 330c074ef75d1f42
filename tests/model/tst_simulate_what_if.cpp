// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/recorded_figures.hpp"
#include "model/simulate/what_if.hpp"
#include "tests/support/model_recorder.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <random>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

AllocatorSettings settingsOf(std::string_view conf)
{
    AllocatorSettings s;
    if (!s.apply(conf))
        qFatal("bad settings");
    return s;
}

std::shared_ptr<const Replay> replayOf(std::shared_ptr<const Snapshot> snapshot)
{
    return Replay::build(std::move(snapshot), 0, {}).value();
}

std::shared_ptr<const Simulation> simulationOf(std::shared_ptr<const Snapshot> snapshot)
{
    return Simulation::build(replayOf(std::move(snapshot)), {}).value();
}

WhatIfWish wishOf(const Simulation& simulation, std::string_view conf = {})
{
    WhatIfWish wish;
    wish.settings = simulation.recording().settings;
    if (!wish.settings.apply(conf))
        qFatal("bad settings");
    return wish;
}

/// Random requests of all kinds, the first `late` of them not recorded. Stops when memory runs out. With
/// limits below the device no private pools: without pools in the events it is not to be told what was
/// theirs.
std::shared_ptr<const Snapshot> randomProgram(
    std::uint64_t seed, const AllocatorSettings& settings, std::optional<std::uint64_t> capacity, int late)
{
    std::mt19937_64 random(seed);
    ModelRecorder recorder(settings, capacity);
    const bool pools = !settings.memoryFraction && !settings.splitLimited();
    std::vector<std::uint32_t> live;
    std::vector<std::uint32_t> waiting;
    for (int i = 0; i < 900; ++i) {
        if (i == late)
            recorder.startRecording();
        const auto choice = random() % 100;
        if (choice < 2) {
            recorder.emptyCache();
        } else if (choice < 55 || live.empty()) {
            const std::uint64_t most[] = {5000, mib, 12 * mib, 60 * mib};
            const auto made = recorder.allocate(1 + random() % most[random() % 4], random() % 8 == 0 ? 7 : 0,
                pools && random() % 10 == 0 ? PoolId{1} : PoolId{});
            if (!made)
                break;
            live.push_back(*made);
        } else {
            std::swap(live[random() % live.size()], live.back());
            if (random() % 5 == 0) {
                recorder.requestFree(live.back());
                waiting.push_back(live.back());
            } else {
                recorder.free(live.back());
            }
            live.pop_back();
        }
        if (waiting.size() > 3) {
            recorder.completeFree(waiting.front());
            waiting.erase(waiting.begin());
        }
    }
    return recorder.finish();
}

/// 24 activations, then 24 small pins among them, then the activations again: fragments native segments.
std::shared_ptr<const Snapshot> fragmentation()
{
    ModelRecorder recorder({}, 7950 * mib);
    recorder.startRecording();
    recorder.allocate(3000 * mib);
    std::vector<std::uint32_t> blocks;
    for (int i = 0; i < 24; ++i)
        blocks.push_back(*recorder.allocate(154 * mib));
    for (const std::uint32_t block : blocks)
        recorder.free(block);
    blocks.clear();
    for (int i = 0; i < 24; ++i) {
        recorder.allocate(6 * mib);
        blocks.push_back(*recorder.allocate(148 * mib));
    }
    for (const std::uint32_t block : blocks)
        recorder.free(block);
    while (recorder.allocate(154 * mib))
        ;
    return recorder.finish();
}

/// What is said of a recording is counted as what is predicted.
void compareWithRecorded(const WhatIf& same, const Recording& recording)
{
    const RecordedFigures recorded = recordedFigures(recording);
    QCOMPARE(recorded.peakReserved, same.peakReserved);
    QCOMPARE(recorded.endReserved, same.endReserved);
    QCOMPARE(recorded.counts.segmentAllocs, same.counts.segmentAllocs);
    QCOMPARE(recorded.counts.segmentFrees, same.counts.segmentFrees);
    QCOMPARE(recorded.counts.maps, same.counts.maps);
    QCOMPARE(recorded.counts.unmaps, same.counts.unmaps);
    // A recording does not tell collections and releases of single segments from flushes.
    if (recording.settings.garbageCollectionThreshold == 0 && !recording.settings.splitLimited())
        QCOMPARE(recorded.counts.flushes, same.counts.flushes);
    QCOMPARE(recorded.failures > 0, same.outOfMemory.has_value());
    if (same.outOfMemory)
        QCOMPARE(recorded.firstFailure, same.outOfMemory->event);
}

} // namespace

/// Recordings replayed through the model, under their own settings and under others.
class TestSimulateWhatIf : public QObject {
    Q_OBJECT
private slots:
    void unchanged_data();
    void unchanged();
    void requestsStay();
    void expandableHelps();
    void settingsThatAreTooTight();
    void failureInScope();
    void goesOnAfterFailureThatStays();
    void segmentMap();
    void refusals();
    void stopping();
};

void TestSimulateWhatIf::unchanged_data()
{
    QTest::addColumn<QString>("conf");
    QTest::addColumn<int>("late");
    QTest::addColumn<int>("capacityMib");
    const char* confs[] = {"", "expandable_segments:True", "roundup_power2_divisions:4",
        "expandable_segments:True,large_segment_size_mb:32", "max_split_size_mb:20",
        "per_process_memory_fraction:0.5",
        "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9"};
    for (const char* conf : confs)
        for (const int late : {0, 300})
            for (const int capacity : {0, 700})
                QTest::addRow("%s, %d requests before, %d MiB", conf, late, capacity)
                    << conf << late << capacity;
}

/// The model retells what it has made, and predicts for its own settings what was recorded.
void TestSimulateWhatIf::unchanged()
{
    QFETCH(QString, conf);
    QFETCH(int, late);
    QFETCH(int, capacityMib);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const auto capacity
            = capacityMib == 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(capacityMib) * mib);
        const auto snapshot = randomProgram(seed, settingsOf(conf.toStdString()), capacity, late);
        if (snapshot->devices.front().events.count() < 20)
            continue; // memory ran out before recording began
        const auto simulation = simulationOf(snapshot);
        const Recording& recording = simulation->recording();
        const Replay& replay = *recording.replay;
        const Fidelity& fidelity = simulation->fidelity();
        QVERIFY2(simulation->refusal().empty(), simulation->refusal().c_str());
        const std::string where
            = "seed " + std::to_string(seed) + ", score " + std::to_string(fidelity.score());
        if (late == 0)
            QVERIFY2(fidelity.score() == 1.0, where.c_str());
        else
            QVERIFY2(fidelity.score() > 0.95, where.c_str());
        if (fidelity.score() < 1.0)
            continue;
        WhatIfWish wish = wishOf(*simulation);
        wish.deviceTotal = capacity;
        const WhatIf same = simulation->run(wish, {}).value();
        for (const RecordedStep& step : recording.steps)
            if (step.kind == StepKind::Allocate || step.kind == StepKind::Free)
                QVERIFY2(same.reserved.at(step.event + 1) == replay.segments.reserved().at(step.event + 1),
                    (where + " at event " + std::to_string(step.event)).c_str());
        QCOMPARE(std::int64_t(same.endReserved), replay.segments.reserved().last());
        QCOMPARE(same.outOfMemory.has_value(), !replay.device().ooms.empty());
        compareWithRecorded(same, recording);
    }
}

/// Where memory lies is the allocator's; how much the program wants is not.
void TestSimulateWhatIf::requestsStay()
{
    for (std::uint64_t seed = 20; seed < 30; ++seed) {
        const auto simulation = simulationOf(randomProgram(seed, {}, {}, 0));
        const Replay& replay = *simulation->recording().replay;
        for (const char* conf :
            {"expandable_segments:True", "max_split_size_mb:20", "large_segment_size_mb:64"}) {
            const WhatIfWish wish = wishOf(*simulation, conf);
            const WhatIf result = simulation->run(wish, {}).value();
            QVERIFY(result.fits());
            QCOMPARE(result.knownUntil, replay.states() - 1);
            QVERIFY(result.peakReserved >= result.peakAllocated);
            QVERIFY(std::int64_t(result.peakReserved) >= result.reserved.total().max);
            for (StateIndex s = 0; s < replay.states(); s += 7)
                QVERIFY(result.allocated.at(s) >= 0 && result.reserved.at(s) >= result.allocated.at(s));
            for (const StateIndex s : {StateIndex{0}, replay.states() / 2, replay.states() - 1}) {
                const SegmentState state = simulation->segmentsAt(wish, s, {}).value();
                std::vector<AllocationId> there;
                for (const Piece& piece : state.pieces)
                    if (valid(piece.allocation))
                        there.push_back(piece.allocation);
                std::sort(there.begin(), there.end());
                QVERIFY(there == replay.timeline.liveAt(s) || replay.timeline.pending().at(s) > 0);
                QCOMPARE(std::int64_t(state.reserved), result.reserved.at(s));
            }
        }
    }
}

void TestSimulateWhatIf::expandableHelps()
{
    const auto simulation = simulationOf(fragmentation());
    QCOMPARE(simulation->fidelity().score(), 1.0);
    const Capacity capacity = simulation->recording().capacity;
    QVERIFY(capacity.source == Capacity::Source::OutOfMemory);
    QCOMPARE(capacity.bytes, 7950 * mib);
    const WhatIf same = simulation->run(wishOf(*simulation), {}).value();
    QVERIFY(same.outOfMemory && same.outOfMemory->recorded);
    QCOMPARE(same.outOfMemory->bytes, 154 * mib);
    QVERIFY(same.outOfMemory->slack() > 0);

    const WhatIf other = simulation->run(wishOf(*simulation, "expandable_segments:True"), {}).value();
    QVERIFY(other.fits());
    QCOMPARE(other.servedFailure, simulation->recording().replay->device().ooms.front().event);
    QCOMPARE(other.counts.segmentAllocs, 0U);
    QVERIFY(other.counts.maps > 0);
    QVERIFY(other.peakReserved <= 7950 * mib);
    QCOMPARE(other.settings.conf(), std::string("expandable_segments:True"));
}

void TestSimulateWhatIf::settingsThatAreTooTight()
{
    const auto simulation = simulationOf(fragmentation());
    WhatIfWish wish = wishOf(*simulation, "expandable_segments:True");
    wish.capacity = 5000 * mib;
    const WhatIf result = simulation->run(wish, {}).value();
    QVERIFY(result.outOfMemory && !result.outOfMemory->recorded && !result.servedFailure);
    QVERIFY(result.outOfMemory->event);
    QCOMPARE(result.knownUntil, stateOf(Moment(index(*result.outOfMemory->event))));
    QVERIFY(result.outOfMemory->slack() < 0);
    QVERIFY(result.peakReserved <= 5000 * mib);

    wish.capacity.reset();
    wish.settings = settingsOf("per_process_memory_fraction:0.5");
    const WhatIf half = simulation->run(wish, {}).value();
    QVERIFY(half.outOfMemory && half.peakReserved <= 3975 * mib);
}

/// A request in a graph capture cannot have the cache flushed: recorded by the cache that was there.
void TestSimulateWhatIf::failureInScope()
{
    ModelRecorder recorder({}, 1000 * mib);
    recorder.startRecording();
    recorder.allocate(100 * mib);
    recorder.free(*recorder.allocate(600 * mib));
    QVERIFY(!recorder.allocate(500 * mib, 0, PoolId{1}));
    const auto simulation = simulationOf(recorder.finish());
    for (const char* conf : {"expandable_segments:False", "expandable_segments:True"}) {
        const WhatIf result = simulation->run(wishOf(*simulation, conf), {}).value();
        QVERIFY(result.outOfMemory && result.outOfMemory->recorded);
        QCOMPARE(result.counts.flushes, 0U);
    }
}

/// A program that lives with its failures is followed to its end as long as they stay.
void TestSimulateWhatIf::goesOnAfterFailureThatStays()
{
    ModelRecorder recorder({}, 1000 * mib);
    recorder.startRecording();
    const auto first = *recorder.allocate(700 * mib);
    QVERIFY(!recorder.allocate(600 * mib));
    recorder.free(first);
    recorder.allocate(600 * mib);
    const auto simulation = simulationOf(recorder.finish());
    const WhatIf same = simulation->run(wishOf(*simulation, "expandable_segments:True"), {}).value();
    QVERIFY(same.outOfMemory && same.outOfMemory->recorded);
    QCOMPARE(same.knownUntil, simulation->recording().replay->states() - 1);
    QCOMPARE(same.endAllocated, 600 * mib);
    WhatIfWish more = wishOf(*simulation);
    more.capacity = 2000 * mib;
    const WhatIf served = simulation->run(more, {}).value();
    QVERIFY(served.fits() && served.servedFailure);
    QVERIFY(served.knownUntil < simulation->recording().replay->states() - 1);
}

void TestSimulateWhatIf::segmentMap()
{
    const auto simulation = simulationOf(fragmentation());
    const StateIndex end = simulation->recording().replay->states() - 1;
    const SegmentState native = simulation->segmentsAt(wishOf(*simulation), end - 1, {}).value();
    const SegmentState recorded
        = simulation->recording().replay->segments.stateAt(end - 1, simulation->recording().replay->timeline);
    QCOMPARE(native.reserved, recorded.reserved);
    QCOMPARE(native.live, recorded.live);
    QCOMPARE(native.pinned, recorded.pinned);
    QCOMPARE(native.segments.size(), recorded.segments.size());
    const SegmentState other
        = simulation->segmentsAt(wishOf(*simulation, "expandable_segments:True"), end - 1, {}).value();
    QCOMPARE(other.segments.size(), 1U);
    QVERIFY(other.segments[0].expandable);
}

void TestSimulateWhatIf::refusals()
{
    TraceMaker noSegments;
    noSegments.alloc(0x7f0000000000, 1024);
    const auto none = Simulation::build(replayOf(noSegments.finish()), {});
    QVERIFY(!none.ok());
    QVERIFY(none.error().message.find("segments") != std::string::npos);

    TraceMaker noEvents;
    noEvents.segment(0x7f0000000000, 2 << 20);
    noEvents.block(BlockState::Inactive, 2 << 20, 0);
    QVERIFY(!Simulation::build(replayOf(noEvents.finish()), {}).ok());

    // Frees without completions: recorded with a filter.
    TraceMaker filtered;
    for (int i = 0; i < 3; ++i) {
        filtered.alloc(0x7f0000000000, 1024);
        filtered.request(0x7f0000000000, 1024);
    }
    filtered.segment(0x7f0000000000, 2 << 20);
    filtered.block(BlockState::Inactive, 2 << 20, 0);
    const auto simulation = Simulation::build(replayOf(filtered.finish()), {}).value();
    QVERIFY(!simulation->refusal().empty());
    QVERIFY(!simulation->run({}, {}).ok());
    QVERIFY(!simulation->segmentsAt({}, 0, {}).ok());

    // Nothing lies where an allocator would have put it.
    TraceMaker odd;
    odd.segment(0x7f0000000000, 40 << 20);
    for (int i = 0; i < 10; ++i) {
        odd.alloc(0x7f0000000000 + static_cast<std::uint64_t>(20 - i) * 0x200000, 2 << 20);
        odd.block(
            i == 0 ? BlockState::Inactive : BlockState::Allocated, i == 0 ? 20 << 20 : 2 << 20, 2 << 20);
    }
    const auto guess = Simulation::build(replayOf(odd.finish()), {}).value();
    QVERIFY(guess->refusal().find("guess") != std::string::npos);
}

void TestSimulateWhatIf::stopping()
{
    const auto simulation = simulationOf(fragmentation());
    std::stop_source stop;
    stop.request_stop();
    const Job job{stop.get_token(), {}};
    QCOMPARE(simulation->run(wishOf(*simulation), job).error().code, ErrorCode::Cancelled);
    QCOMPARE(simulation->segmentsAt(wishOf(*simulation), 5, job).error().code, ErrorCode::Cancelled);
    QCOMPARE(fidelityOf(simulation->recording(), job).error().code, ErrorCode::Cancelled);
    QVERIFY(!Simulation::build(simulation->recording().replay, job).ok());
}

QTEST_GUILESS_MAIN(TestSimulateWhatIf)
#include "tst_simulate_what_if.moc"
