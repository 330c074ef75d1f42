// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/prediction.hpp"
#include "model/findings/what_if_step.hpp"
#include "model/simulate/recorded_figures.hpp"
#include "model/simulate/setting_search.hpp"
#include "tests/support/model_recorder.hpp"

#include <QTest>

#include <limits>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;
constexpr std::uint64_t gib = 1ULL << 30;
using CapacitySource = Capacity::Source;

AllocatorSettings settingsOf(std::string_view conf)
{
    AllocatorSettings s;
    if (!s.apply(conf))
        qFatal("bad settings");
    return s;
}

std::shared_ptr<const Simulation> simulationOf(ModelRecorder& recorder)
{
    return Simulation::build(Replay::build(recorder.finish(), 0, {}).value(), {}).value();
}

WhatIfWish wishOf(const Simulation& simulation, std::string_view conf = {})
{
    WhatIfWish wish;
    wish.settings = simulation.recording().settings;
    if (!wish.settings.apply(conf))
        qFatal("bad settings");
    return wish;
}

/// 100 blocks of 30 MiB before the recording, every other one free; then small requests.
std::shared_ptr<const Simulation> fullStart()
{
    ModelRecorder recorder({}, 60 * gib);
    std::vector<std::uint32_t> blocks;
    for (int i = 0; i < 100; ++i)
        blocks.push_back(*recorder.allocate(30 * mib));
    for (std::size_t i = 0; i < blocks.size(); i += 2)
        recorder.free(blocks[i]);
    recorder.startRecording();
    for (int i = 0; i < 20; ++i)
        recorder.free(*recorder.allocate(10 * mib));
    return simulationOf(recorder);
}

/// 40 GiB, the half of a card of 80 GiB, in blocks of 1 GiB; then 2 GiB, which fit after a flush if `room`.
std::shared_ptr<const Simulation> halfOfTheCard(bool room)
{
    ModelRecorder recorder(settingsOf("per_process_memory_fraction:0.5"), 79 * gib, 80 * gib);
    recorder.startRecording();
    std::vector<std::uint32_t> blocks;
    for (int i = 0; i < 40; ++i)
        blocks.push_back(*recorder.allocate(1 * gib));
    recorder.free(blocks[3]);
    if (room)
        recorder.free(blocks[5]);
    recorder.allocate(2 * gib);
    return simulationOf(recorder);
}

} // namespace

/// What a process may reserve, what is there at the start, and where what is predicted may lie.
class TestSimulateLimits : public QObject {
    Q_OBJECT
private slots:
    void segmentsHoldTheirRequests();
    void recordedRangesBindOnlyTheRecordedRun();
    void rangesDoNotOverlap();
    void startAboveTheCapacity();
    void startPlacedAnew();
    void countsBeginWithTheRecording();
    void poolsWithManySegments();
    void shareOfTheCardAtAFailure();
    void otherShare();
    void needsUnderAShare();
    void withoutEffect();
    void failuresThatTellNothing_data();
    void failuresThatTellNothing();
    void worth();
    void adviceIsGradedAsPredicted();
    void manyFailures();
};

/// Requests below 10 MiB are not larger than their segments, whatever a file says of the segments' size.
void TestSimulateLimits::segmentsHoldTheirRequests()
{
    for (const char* value : {"0", "1", "2", "10", "11", "1048576", "99999999999"})
        QVERIFY(!AllocatorSettings().apply(std::string("large_segment_size_mb:") + value));
    QVERIFY(AllocatorSettings().apply("large_segment_size_mb:12"));
    QVERIFY(!AllocatorSettings().apply("max_split_size_mb:32,large_segment_size_mb:64"));
    QVERIFY(!settingsOf("large_segment_size_mb:64").apply("max_split_size_mb:32"));

    AllocatorSettings tiny; // as only a made-up file can have it
    tiny.rounding.largePage = 2 * mib;
    for (const bool expandable : {false, true}) {
        tiny.expandableSegments = expandable;
        AllocatorModel model(tiny);
        for (const std::uint64_t bytes : {5 * mib, 7 * mib, 10 * mib - 1}) {
            AllocatorModel::Request request;
            request.bytes = bytes;
            QVERIFY(model.sizeOf(*model.allocate(request)) >= bytes);
        }
        QCOMPARE(model.broken(), std::string());
        QCOMPARE(model.reserved(), expandable ? 22 * mib : 24 * mib);
    }
    for (const char* conf : {"large_segment_size_mb:2", "large_segment_size_mb:10"}) {
        ModelRecorder recorder({});
        recorder.setConf(conf);
        recorder.startRecording();
        recorder.allocate(5 * mib);
        QCOMPARE(simulationOf(recorder)->recording().settings.rounding.largePage, 20 * mib);
    }
}

/// Where the recorded run began a new range says nothing of a run with other requests or settings.
void TestSimulateLimits::recordedRangesBindOnlyTheRecordedRun()
{
    const AllocatorSettings own = settingsOf("expandable_segments:True,roundup_power2_divisions:2");
    ModelRecorder recorder(own, 60 * gib);
    recorder.startRecording();
    for (int i = 0; i < 12; ++i)
        recorder.allocate(33 * mib);
    const auto simulation = simulationOf(recorder);
    QCOMPARE(simulation->run(wishOf(*simulation), {})->peakReserved, 580 * mib);
    WhatIfWish wish = wishOf(*simulation);
    QVERIFY(wish.settings.reset("roundup_power2_divisions"));
    QCOMPARE(simulation->run(wish, {})->peakReserved, 400 * mib); // 12 · 33 MiB in pages of 20 MiB
    // The same of a program that asks for 32 MiB a time: 12 · 32 = 384.
    auto change = std::make_shared<ProgramChange>();
    for (std::uint32_t i = 0; i < 12; ++i)
        change->sizes.push_back({AllocationId{i}, 32 * mib});
    wish.change = change;
    QCOMPARE(simulation->run(wish, {})->peakReserved, 400 * mib);
    wish.settings = own;
    QCOMPARE(simulation->run(wish, {})->peakReserved, 400 * mib);
}

/// A range gets a wished address only where nothing lies, and takes unused space from one that reaches there.
void TestSimulateLimits::rangesDoNotOverlap()
{
    AllocatorModel model(settingsOf("expandable_segments:True"));
    constexpr std::uint64_t base = 0x7a0000000000;
    const auto take = [&](std::uint64_t bytes, std::int64_t stream, std::uint64_t wish) {
        AllocatorModel::Request request;
        request.bytes = bytes;
        request.stream = stream;
        request.wish = wish;
        const auto block = model.allocate(request);
        return block ? model.addressOf(*block) : 0;
    };
    QCOMPARE(take(40 * mib, 0, base), base);
    QVERIFY(take(20 * mib, 1, base) != base); // there is memory of the first
    QCOMPARE(take(20 * mib, 2, base + 60 * mib), base + 60 * mib);
    QCOMPARE(take(20 * mib, 0, 0), base + 40 * mib);
    QVERIFY(take(20 * mib, 0, 0) >= AddressSpace::rangeArea); // the first ends where the third begins
    QCOMPARE(model.broken(), std::string());
    QCOMPARE(model.reserved(), 120 * mib);
}

/// More than the capacity is there before the first event: the cache would have been flushed, and what is in
/// blocks has to fit.
void TestSimulateLimits::startAboveTheCapacity()
{
    const auto simulation = fullStart();
    WhatIfWish wish = wishOf(*simulation);
    wish.capacity = 1600 * mib;
    const WhatIf flushed = simulation->run(wish, {}).value();
    QVERIFY(flushed.fits());
    QCOMPARE(flushed.peakReserved, 1510 * mib); // 50 · 30 MiB, and 10 for the requests
    QCOMPARE(flushed.reserved.at(0), std::int64_t(1500 * mib));
    wish.capacity = 100 * mib;
    const WhatIf result = simulation->run(wish, {}).value();
    QVERIFY(result.outOfMemory && !result.outOfMemory->event && !result.outOfMemory->recorded);
    QCOMPARE(result.knownUntil, 0U);
    QCOMPARE(result.outOfMemory->bytes, 1400 * mib);
    QCOMPARE(result.outOfMemory->slack(), -std::int64_t(1400 * mib));
    // A limit counts as well, and what is needed is never less than what is there.
    wish.capacity = 4000 * mib;
    wish.settings = settingsOf("per_process_memory_fraction:0.3");
    QVERIFY(!simulation->run(wish, {})->fits());
    const auto ranked = rankSettings(*simulation, {}, {}, {}).value();
    for (const SettingTrial& trial : ranked)
        if (trial.unchanged())
            QVERIFY(trial.fits && trial.needs >= 1500 * mib && trial.needs <= 1552 * mib);
}

/// The first block that finds no room ends it, and its size is told.
void TestSimulateLimits::startPlacedAnew()
{
    const auto simulation = fullStart();
    WhatIfWish wish = wishOf(*simulation, "expandable_segments:True");
    wish.capacity = 100 * mib;
    const WhatIf result = simulation->run(wish, {}).value();
    QVERIFY(result.outOfMemory && !result.outOfMemory->event);
    QCOMPARE(result.outOfMemory->bytes, 30 * mib);
    QCOMPARE(result.outOfMemory->allocated, 90 * mib);
    QCOMPARE(result.knownUntil, 0U);
    QVERIFY(!simulation->segmentsAt(wish, 5, {})->segments.empty());
}

/// Memory older than the recording is no call of the driver in it.
void TestSimulateLimits::countsBeginWithTheRecording()
{
    const auto simulation = fullStart();
    QCOMPARE(recordedFigures(simulation->recording()).counts.segmentAllocs, 0U);
    for (const char* conf : {"expandable_segments:False", "expandable_segments:True"}) {
        const WhatIf result = simulation->run(wishOf(*simulation, conf), {}).value();
        QCOMPARE(result.counts.segmentAllocs, 0U);
        QVERIFY(result.counts.maps <= 1);
        QCOMPARE(result.counts.flushes, 0U);
    }
}

/// A pool is in use once, however many segments it has at the start.
void TestSimulateLimits::poolsWithManySegments()
{
    AllocatorModel model({});
    constexpr std::uint64_t base = 0x7f0000000000;
    for (std::uint64_t i = 0; i < 70; ++i) {
        const ModelBlock block{base + i * 30 * mib, 30 * mib, 0, ModelBlock::State::Free, 0};
        model.addSegment({PoolId{1}, false, 0}, false, std::span(&block, 1));
    }
    model.emptyCache();
    QCOMPARE(model.reserved(), 2100 * mib);
    model.releasePool(PoolId{1});
    model.emptyCache();
    QCOMPARE(model.reserved(), 0U);
}

/// A run that was held by its share of the card is predicted to fail where it did.
void TestSimulateLimits::shareOfTheCardAtAFailure()
{
    const auto simulation = halfOfTheCard(false);
    QCOMPARE(simulation->recording().capacity.source, CapacitySource::OutOfMemory);
    const RecordedFigures recorded = recordedFigures(simulation->recording());
    QCOMPARE(recorded.peakReserved, 40 * gib);
    const WhatIf same = simulation->run(wishOf(*simulation), {}).value();
    QCOMPARE(same.peakReserved, 40 * gib);
    QVERIFY(same.outOfMemory && same.outOfMemory->recorded);
    QCOMPARE(same.outOfMemory->event, recorded.firstFailure);
    // Without the share the card's own end counts.
    WhatIfWish wish = wishOf(*simulation);
    wish.settings.memoryFraction.reset();
    QVERIFY(simulation->run(wish, {})->servedFailure);
}

/// A limit that came from the recorded share goes with it.
void TestSimulateLimits::otherShare()
{
    const auto simulation = halfOfTheCard(true);
    const Capacity known = simulation->recording().capacity;
    QVERIFY(known.source == CapacitySource::Flush && known.bytes == 40 * gib);
    const auto tried = [&](std::optional<double> share) {
        WhatIfWish wish = wishOf(*simulation);
        wish.settings.memoryFraction = share;
        return wish;
    };
    const WhatIf same = simulation->run(tried(0.5), {}).value();
    QCOMPARE(same.peakReserved, 40 * gib);
    QCOMPARE(same.counts.flushes, 1U);
    for (const std::optional<double> share : {std::optional<double>(), std::optional(0.9)}) {
        const WhatIf more = simulation->run(tried(share), {}).value();
        QVERIFY(more.fits());
        QCOMPARE(more.peakReserved, 42 * gib);
        QCOMPARE(more.counts.flushes, 0U);
        QCOMPARE(more.capacity, std::optional(80 * gib));
    }
    QVERIFY(!simulation->run(tried(0.25), {})->fits());
    QCOMPARE(simulation->capacityFor(tried(0.25)).source, CapacitySource::Share);
    WhatIfWish given = tried({});
    given.deviceTotal = 90 * gib;
    QCOMPARE(simulation->capacityFor(given).bytes, 90 * gib);
    given.capacity = 41 * gib;
    QCOMPARE(simulation->capacityFor(given).source, CapacitySource::Given);
    QCOMPARE(simulation->run(given, {})->counts.flushes, 1U);
}

/// The card stays as large as it is while smaller capacities are tried.
void TestSimulateLimits::needsUnderAShare()
{
    const auto ranked = rankSettings(*halfOfTheCard(true), {}, {}, {}).value();
    for (const SettingTrial& trial : ranked)
        if (trial.unchanged())
            QVERIFY(trial.fits && trial.needs > 39 * gib && trial.needs <= 40 * gib);
}

void TestSimulateLimits::withoutEffect()
{
    ModelRecorder recorder({}, 79 * gib);
    recorder.startRecording();
    for (int i = 0; i < 40; ++i)
        recorder.allocate(1 * gib);
    const auto simulation = simulationOf(recorder);
    QCOMPARE(simulation->recording().capacity.source, CapacitySource::Unknown);
    QCOMPARE(simulation->withoutEffect(wishOf(*simulation)), std::string());
    QCOMPARE(simulation->withoutEffect(wishOf(*simulation, "expandable_segments:True")), std::string());
    WhatIfWish wish = wishOf(*simulation, "per_process_memory_fraction:0.1");
    QCOMPARE(simulation->withoutEffect(wish),
        std::string("per_process_memory_fraction has no effect here: the size of the card is not known"));
    QVERIFY(simulation->run(wish, {})->fits());
    wish.capacity = 80 * gib;
    QCOMPARE(simulation->withoutEffect(wish), std::string());
    QVERIFY(!simulation->run(wish, {})->fits());
    const WhatIfWish alone = wishOf(*simulation, "garbage_collection_threshold:0.8");
    QVERIFY(simulation->withoutEffect(alone).find("only together") != std::string::npos);
}

void TestSimulateLimits::failuresThatTellNothing_data()
{
    QTest::addColumn<std::optional<std::int64_t>>("free");
    QTest::newRow("nothing") << std::optional<std::int64_t>();
    for (const std::int64_t free : {std::int64_t{-1}, std::int64_t{1} << 52, std::int64_t{1} << 62,
             std::numeric_limits<std::int64_t>::max()})
        QTest::addRow("%lld", static_cast<long long>(free)) << std::optional(free);
}

/// Such a failure shows only that no more than was reserved could be had.
void TestSimulateLimits::failuresThatTellNothing()
{
    QFETCH(std::optional<std::int64_t>, free);
    ModelRecorder recorder({}, 1024 * mib);
    recorder.tellFree(free);
    recorder.startRecording();
    for (int i = 0; i < 9; ++i)
        recorder.allocate(100 * mib);
    QVERIFY(!recorder.allocate(300 * mib));
    const auto simulation = simulationOf(recorder);
    const Capacity capacity = simulation->recording().capacity;
    QCOMPARE(capacity.source, CapacitySource::Failure);
    QVERIFY(capacity.inferred());
    QCOMPARE(capacity.bytes, 900 * mib);
    const WhatIf same = simulation->run(wishOf(*simulation), {}).value();
    QVERIFY(same.outOfMemory && same.outOfMemory->recorded);
}

/// An inferred limit makes a guess of what is predicted; one that is given does not.
void TestSimulateLimits::worth()
{
    const auto told = halfOfTheCard(false);
    QCOMPARE(predictionGrade(*told, false), Grade::B);
    QCOMPARE(predictionGrade(*told, true), Grade::C);
    // What a grade is of: a fix has its own for the recorded lifetimes.
    QVERIFY(predictionWorth(*told, false).ends_with(", grade B"));
    QVERIFY(predictionWorth(*told, true).ends_with("reserved memory of the changed requests has grade C"));
    const auto inferred = halfOfTheCard(true);
    QCOMPARE(predictionGrade(*inferred, false), Grade::D);
    QVERIFY(predictionWorth(*inferred, false).ends_with("the limit is only inferred from flushes"));
    QCOMPARE(predictionGrade(*inferred, false, true), Grade::B);
}

/// The grade beside the advice is the one in the sentence: a guess where the limit is one.
void TestSimulateLimits::adviceIsGradedAsPredicted()
{
    for (const bool told : {true, false}) {
        ModelRecorder recorder({}, 1024 * mib);
        if (!told)
            recorder.tellFree(std::nullopt);
        recorder.startRecording();
        for (int i = 0; i < 9; ++i)
            recorder.allocate(100 * mib);
        QVERIFY(!recorder.allocate(300 * mib));
        const auto replay = Replay::build(recorder.finish(), 0, {}).value();
        const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
        const Phases phases;
        const Labels labels;
        const StackFacts facts(*replay->snapshot);
        const RunConfig config;
        const RuleInput input{*replay, sites, sites, {}, phases, labels, facts, config, {}, {}, {}, 0, {}};
        Finding finding;
        finding.rule = "fragmentation";
        finding.fixes.resize(1);
        finding.fixes.front().id = "expandable-segments";
        finding.fixes.front().grade = Grade::A;
        addWhatIfs(std::span(&finding, 1), input, replay, {});
        const Grade wanted = told ? Grade::B : Grade::D;
        QCOMPARE(finding.fixes.front().grade, wanted);
        const std::string words = std::string("grade ") + static_cast<char>(wanted);
        QVERIFY2(finding.explanation.find(words) != std::string::npos, finding.explanation.c_str());
    }
}

/// Time grows with the number of failures, and what is predicted for the recorded settings stays the same.
void TestSimulateLimits::manyFailures()
{
    ModelRecorder recorder({}, 1000 * mib);
    recorder.startRecording();
    recorder.allocate(100 * mib);
    recorder.free(*recorder.allocate(600 * mib));
    for (int i = 0; i < 20000; ++i)
        QVERIFY(!recorder.allocate(950 * mib));
    recorder.allocate(200 * mib);
    const auto simulation = simulationOf(recorder);
    const RecordedFigures recorded = recordedFigures(simulation->recording());
    QCOMPARE(recorded.failures, 20000U);
    const WhatIf same = simulation->run(wishOf(*simulation), {}).value();
    QCOMPARE(same.counts.flushes, recorded.counts.flushes);
    QCOMPARE(same.endReserved, recorded.endReserved);
    QCOMPARE(same.outOfMemory->event, recorded.firstFailure);
}

QTEST_GUILESS_MAIN(TestSimulateLimits)
#include "tst_simulate_limits.moc"
