// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/edits.hpp"
#include "model/simulate/changed_program.hpp"
#include "model/simulate/what_if.hpp"
#include "tests/support/made_up_program.hpp"
#include "tests/support/model_recorder.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

std::shared_ptr<const Replay> replayOf(std::shared_ptr<const Snapshot> snapshot)
{
    return Replay::build(std::move(snapshot), 0, {}).value();
}

/// Every sixth allocation or so ends early, is never made, is away for a while or smaller.
std::shared_ptr<const Edits> randomEdits(const Replay& replay, std::uint64_t seed)
{
    SeededNumbers numbers(seed);
    auto edits = std::make_shared<Edits>();
    const AllocationColumns& all = replay.timeline.allocations();
    for (std::uint32_t i = 0; i < all.count(); ++i) {
        const AllocationId id{i};
        const StateIndex life = all.endState[i] - all.firstState[i];
        const auto within
            = [&] { return all.firstState[i] + static_cast<StateIndex>(numbers.below(life + 1)); };
        switch (numbers.below(24)) {
        case 0:
            edits->drop(id);
            break;
        case 1:
            edits->endAt(id, within());
            break;
        case 2: {
            const StateIndex first = within();
            edits->pause(id, first, first + static_cast<StateIndex>(numbers.below(life + 9)));
            // Again, and it may touch the first time.
            edits->pause(id, within(), within());
            break;
        }
        case 3:
            if (all.firstState[i] > 0)
                edits->shrink(id, numbers.below(all.size[i] + 1));
            break;
        default:
            break;
        }
    }
    return edits;
}

std::int64_t valueAt(const EditedCurve& curve, StateIndex state)
{
    std::int64_t value = 0;
    for (const auto& [from, bytes] : curve.curve)
        if (from <= state)
            value = bytes;
    return value;
}

WhatIfWish wishOf(const Simulation& simulation)
{
    WhatIfWish wish;
    wish.settings = simulation.recording().settings;
    return wish;
}

} // namespace

/// Recordings replayed as a program with fixes would have made them.
class TestChangedProgram : public QObject {
    Q_OBJECT
private slots:
    void requestsAreTheEditedCurve_data();
    void requestsAreTheEditedCurve();
    void extras();
    void nothingChanged();
    void savesTheRun();
};

void TestChangedProgram::requestsAreTheEditedCurve_data()
{
    QTest::addColumn<QString>("conf");
    QTest::addColumn<int>("late");
    for (const char* conf : {"", "expandable_segments:True", "max_split_size_mb:20"})
        for (const int late : {0, 300})
            QTest::addRow("%s, %d requests before", conf, late) << conf << late;
}

/// What the allocator holds of the changed program is what the fixes leave of the recorded lifetimes.
void TestChangedProgram::requestsAreTheEditedCurve()
{
    QFETCH(QString, conf);
    QFETCH(int, late);
    AllocatorSettings settings;
    QVERIFY(settings.apply(conf.toStdString()));
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const auto replay = replayOf(randomProgram(seed, settings, {}, late));
        const auto simulation = Simulation::build(replay, {}).value();
        if (!simulation->refusal().empty())
            continue;
        const std::vector<std::shared_ptr<const Edits>> edits{
            randomEdits(*replay, seed), randomEdits(*replay, seed + 100)};
        WhatIfWish wish = wishOf(*simulation);
        wish.change = programChange(*replay, edits);
        QVERIFY(wish.change && !wish.change->gaps.empty() && !wish.change->sizes.empty());
        const EditedCurve curve = applyEdits(*replay, edits, {}).value();
        for (StateIndex state = 1; state < replay->states(); state += 41) {
            const SegmentState held = simulation->segmentsAt(wish, state, {}).value();
            const std::string where = "seed " + std::to_string(seed) + ", state " + std::to_string(state);
            QVERIFY2(static_cast<std::int64_t>(held.requested) == valueAt(curve, state), where.c_str());
            QVERIFY2(held.live + held.waiting + held.free == held.reserved, where.c_str());
        }
        const WhatIf predicted = simulation->run(wish, {}).value();
        QVERIFY(predicted.fits());
        const WhatIf recorded = simulation->run(wishOf(*simulation), {}).value();
        QVERIFY(predicted.peakAllocated < recorded.peakAllocated);
    }
}

void TestChangedProgram::extras()
{
    ModelRecorder recorder({}, {});
    recorder.startRecording();
    std::vector<std::uint32_t> blocks;
    for (int i = 0; i < 10; ++i)
        blocks.push_back(*recorder.allocate(30 * mib));
    for (const std::uint32_t block : blocks)
        recorder.free(block);
    const auto replay = replayOf(recorder.finish());
    const auto simulation = Simulation::build(replay, {}).value();
    const WhatIf without = simulation->run(wishOf(*simulation), {}).value();
    WhatIfWish wish = wishOf(*simulation);
    auto change = std::make_shared<ProgramChange>();
    // Two at a time in the states 4 to 8, one to the end, and one that is none.
    change->extras = {{4, 9, 100 * mib}, {4, 9, 50 * mib}, {6, 1000000, 20 * mib}, {7, 7, 5 * mib}};
    wish.change = change;
    const WhatIf with = simulation->run(wish, {}).value();
    const auto more = [&](StateIndex state) {
        return (with.allocated.at(state) - without.allocated.at(state)) / std::int64_t(mib);
    };
    QCOMPARE(more(3), 0);
    QCOMPARE(more(4), 150);
    QCOMPARE(more(6), 170);
    QCOMPARE(more(8), 170);
    QCOMPARE(more(9), 20);
    QCOMPARE(with.endAllocated, 20 * mib);
    QCOMPARE(std::int64_t(with.peakAllocated), with.allocated.total().max);
    QVERIFY(with.peakReserved >= with.peakAllocated);
}

void TestChangedProgram::nothingChanged()
{
    const auto replay = replayOf(randomProgram(3, {}, {}, 0));
    QVERIFY(!programChange(*replay, {}));
    auto edits = std::make_shared<Edits>();
    edits->pause(AllocationId{5}, 9, 9); // no time at all
    edits->shrink(AllocationId{5}, ~std::uint64_t{0});
    QVERIFY(!programChange(*replay, std::vector<std::shared_ptr<const Edits>>{edits, edits}));
    // Things the recording does not have.
    edits->drop(AllocationId{4000000});
    const auto simulation = Simulation::build(replay, {}).value();
    WhatIfWish wish = wishOf(*simulation);
    wish.change = programChange(*replay, std::vector<std::shared_ptr<const Edits>>{edits});
    const WhatIf same = simulation->run(wish, {}).value();
    QCOMPARE(same.peakReserved, simulation->run(wishOf(*simulation), {}).value().peakReserved);
    std::stop_source source;
    source.request_stop();
    const auto stopped = simulation->run(wish, Job{source.get_token(), {}});
    QVERIFY(!stopped && stopped.error().code == ErrorCode::Cancelled);
}

/// Without the pins, the run that failed for lack of memory in one piece goes on.
void TestChangedProgram::savesTheRun()
{
    const auto replay = replayOf(fragmentedProgram());
    const auto simulation = Simulation::build(replay, {}).value();
    QVERIFY(simulation->run(wishOf(*simulation), {}).value().outOfMemory);
    auto edits = std::make_shared<Edits>();
    const AllocationColumns& all = replay->timeline.allocations();
    for (std::uint32_t i = 0; i < all.count(); ++i)
        if (all.size[i] == 6 * mib)
            edits->drop(AllocationId{i});
    WhatIfWish wish = wishOf(*simulation);
    wish.change = programChange(*replay, std::vector<std::shared_ptr<const Edits>>{edits});
    const WhatIf predicted = simulation->run(wish, {}).value();
    QVERIFY(predicted.fits());
    QVERIFY(predicted.servedFailure);
}

QTEST_GUILESS_MAIN(TestChangedProgram)
#include "tst_changed_program.moc"
