// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/phases.hpp"
#include "tests/support/training_trace.hpp"

#include <QTest>

#include <map>

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::shared_ptr<const Replay> replayed(std::shared_ptr<const Snapshot> snapshot)
{
    return Replay::build(std::move(snapshot), 0, {}).value();
}

std::shared_ptr<const Phases> phasesOf(const Replay& replay)
{
    return Phases::build(replay, pairMarks(replay), {});
}

/// "set-up forward backward optimizer …", one word a span.
QString words(const Phases& phases)
{
    QStringList list;
    for (const PhaseSpan& span : phases.spans)
        list << phaseName(span.phase);
    return list.join(' ');
}

std::uint32_t mostInFlight(const Replay& replay, const Phases& phases)
{
    std::uint32_t most = 0;
    for (StateIndex state = 0; state < replay.states(); ++state)
        most = std::max(most, phases.inFlightAt(state));
    return most;
}

} // namespace

class TestPhases : public QObject {
    Q_OBJECT
private slots:
    void captures_data()
    {
        QTest::addColumn<bool>("full");
        QTest::newRow("python only") << false;
        QTest::newRow("all frames") << true;
    }
    void captures()
    {
        QFETCH(bool, full);
        TrainingTrace wish;
        wish.full = full;
        wish.steps = 2;
        const auto replay = replayed(wish.make());
        const auto phases = phasesOf(*replay);
        QCOMPARE(words(*phases), QString("set-up forward backward optimizer forward backward optimizer"));
        QCOMPARE(phases->firstForward, std::optional<StateIndex>(5));
        QCOMPARE(phases->source, StepSource::OptimizerFrames);
        QCOMPARE(phases->steps.size(), std::size_t(2));
        QVERIFY(phases->steps[0].complete && phases->steps[1].complete);
        QCOMPARE(phases->steps[0].first, StateIndex(5));
        QCOMPARE(phases->steps[1].first, phases->steps[0].last + 1);
        QCOMPARE(phases->stepAt(phases->steps[1].first), &phases->steps[1]);
        QCOMPARE(phases->stepAt(4), nullptr);
        QCOMPARE(phases->microbatches.size(), std::size_t(2));
        QVERIFY(phases->microbatches[0].backwardFirst.has_value());
        QCOMPARE(mostInFlight(*replay, *phases), 1U);
        QCOMPARE(phases->phaseAt(0), Phase::Unknown);
        // Spans follow each other and cover every event here.
        StateIndex next = 1;
        for (const PhaseSpan& span : phases->spans) {
            QCOMPARE(span.first, next);
            next = span.last + 1;
        }
        QCOMPARE(next, replay->states());
    }

    void recompute()
    {
        TrainingTrace wish;
        wish.recompute = true;
        const auto replay = replayed(wish.make());
        const auto phases = phasesOf(*replay);
        std::map<Phase, int> requests;
        for (std::size_t i = 0; i < phases->ofEvent.size(); ++i)
            if (replay->device().events.action[i] == Action::Alloc)
                ++requests[phases->ofEvent[i]];
        QCOMPARE(requests[Phase::Recompute], 3 * TrainingTrace::layers);
        QCOMPARE(phases->steps.size(), std::size_t(3));
    }

    void gradientAccumulation()
    {
        TrainingTrace wish;
        wish.microbatches = 3;
        const auto replay = replayed(wish.make());
        const auto phases = phasesOf(*replay);
        QCOMPARE(phases->steps.size(), std::size_t(3));
        QCOMPARE(phases->microbatches.size(), std::size_t(9));
    }

    void periodsWithoutOptimizer()
    {
        TrainingTrace wish;
        wish.optimizer = false;
        wish.steps = 6;
        const auto replay = replayed(wish.make());
        const auto phases = phasesOf(*replay);
        QCOMPARE(phases->source, StepSource::Periodicity);
        QCOMPARE(phases->steps.size(), std::size_t(6));
        QVERIFY(phases->confidence >= 0.95);
    }

    /// One step has layers that repeat, but nothing that tells a second step.
    void nothingIsInvented()
    {
        TrainingTrace one;
        one.optimizer = false;
        one.steps = 1;
        const auto single = phasesOf(*replayed(one.make()));
        QCOMPARE(single->source, StepSource::None);
        QVERIFY(single->steps.empty());
        QCOMPARE(single->confidence, 0.0);

        TraceMaker init;
        const StackId stack = init.stack({"__init__@/home/me/model.py:5", "main@/home/me/train.py:10"});
        for (std::uint64_t i = 0; i < 200; ++i)
            init.alloc(0x10000 * (i + 1), 512, stack);
        const auto setUp = phasesOf(*replayed(init.finish()));
        QVERIFY(setUp->steps.empty());
        QCOMPARE(words(*setUp), QString("set-up"));
        QVERIFY(!setUp->firstForward);

        TraceMaker bare;
        for (std::uint64_t i = 0; i < 200; ++i)
            bare.alloc(0x10000 * (i + 1), 512);
        const auto unknown = phasesOf(*replayed(bare.finish()));
        QVERIFY(unknown->steps.empty() && unknown->spans.empty());
    }

    void marksWin()
    {
        TraceMaker maker;
        const StackId forward = maker.stack({"forward@/home/me/model.py:5", "main@/home/me/train.py:10"});
        const auto mark = [&](bool start, const char* name, std::int64_t us) {
            maker.builder().addAnnotation(
                {start, maker.builder().strings().intern(name), 0, us, std::nullopt});
        };
        for (int step = 0; step < 3; ++step) {
            const std::string name = "ProfilerStep#" + std::to_string(step + 7);
            mark(true, name.c_str(), 100 * step + 100);
            for (int i = 0; i < 4; ++i) {
                maker.setTime(100 * step + 110 + i);
                maker.alloc(0x1000, 100, forward);
                maker.free(0x1000, 100);
            }
            mark(false, name.c_str(), 100 * step + 150);
        }
        const auto replay = replayed(maker.finish());
        const auto phases = phasesOf(*replay);
        QCOMPARE(phases->source, StepSource::ProfilerSteps);
        QCOMPARE(phases->confidence, 1.0);
        QCOMPARE(phases->steps.size(), std::size_t(3));
        QCOMPARE(phases->steps[1].name, std::string("ProfilerStep#8"));
        QCOMPARE(phases->steps[1].first, StateIndex(13));
        QCOMPARE(phases->steps[1].last, StateIndex(24));
    }

    void stops()
    {
        TrainingTrace wish;
        const auto replay = replayed(wish.make());
        std::stop_source source;
        source.request_stop();
        QVERIFY(Phases::build(*replay, {}, Job{source.get_token(), {}}) == nullptr);
    }
};

QTEST_APPLESS_MAIN(TestPhases)
#include "tst_phases.moc"
