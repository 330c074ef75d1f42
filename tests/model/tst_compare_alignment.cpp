// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/curves.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/training_trace.hpp"

#include <QTest>

#include <cmath>

using namespace tidemark;
using namespace tidemark::test;
using namespace tidemark::compare;

namespace {

SmallRun withSteps(int first, int steps, int count = 4)
{
    SmallRun run{{{"f@/x/m.py:1", 1000, count}, {"g@/x/m.py:2", 30, 2}}};
    run.steps = steps;
    run.firstStep = first;
    run.marks = true;
    return run;
}

QString explanation(const Alignment& alignment)
{
    return QString::fromStdString(alignment.explanation());
}

/// What every alignment promises.
void checkMaps(const Alignment& alignment)
{
    const bool time = alignment.by() == AlignBy::Time;
    for (const Which side : {Which::A, Which::B}) {
        StateIndex before = 0;
        for (int i = 0; i <= 500; ++i) {
            const StateIndex state = alignment.stateOf(side, alignment.length() * i / 500);
            QVERIFY(state >= before);
            before = state;
        }
        double x = -1;
        for (StateIndex s = 0; s < alignment.replay(side).states(); ++s) {
            const double at = alignment.xOf(side, s);
            QVERIFY(at >= x);
            x = at;
            if (!time && (side == Which::A || alignment.offset() == 0))
                QCOMPARE(alignment.stateOf(side, at), s);
        }
    }
    const std::vector<AlignedPart>& parts = alignment.parts();
    QCOMPARE(parts.front().x0, 0.0);
    QCOMPARE(parts.back().endA, alignment.replay(Which::A).states());
    QCOMPARE(parts.back().endB, alignment.replay(Which::B).states());
    for (std::size_t i = 1; i < parts.size(); ++i) {
        QCOMPARE(parts[i].x0, parts[i - 1].x1);
        QCOMPARE(parts[i].firstA, parts[i - 1].endA);
        QCOMPARE(parts[i].firstB, parts[i - 1].endB);
    }
}

/// The columns against every pair of states, one by one.
void checkColumns(const Alignment& alignment, Curve curve, double from, double to, std::size_t width)
{
    const std::vector<CurveColumn> columns = curveColumns(alignment, curve, from, to, width);
    QCOMPARE(columns.size(), width);
    const Replay& a = alignment.replay(Which::A);
    const Replay& b = alignment.replay(Which::B);
    const Series& seriesA = curve == Curve::Live ? a.timeline.requested() : a.segments.reserved();
    const Series& seriesB = curve == Curve::Live ? b.timeline.requested() : b.segments.reserved();
    const double each = (to - from) / double(width);
    for (std::size_t i = 0; i < width; ++i) {
        CurveColumn expected;
        bool any = false;
        const double begin = from + each * double(i);
        const double end = from + each * double(i + 1);
        for (std::size_t p = alignment.partIndex(begin); p < alignment.parts().size(); ++p) {
            const AlignedPart& part = alignment.parts()[p];
            if (any && part.x0 >= end)
                break;
            const std::uint64_t first = alignment.tickOf(part, std::max(begin, part.x0));
            const double last = std::min(end, part.x1);
            const std::uint64_t stop = std::max(
                first + 1, alignment.tickOf(part, alignment.by() == AlignBy::Time ? std::ceil(last) : last));
            // Each curve by itself shows every state, even one that lasts no time.
            const auto extremes
                = [&](Which side, const Series& series, std::int64_t& least, std::int64_t& most) {
                      for (StateIndex s = alignment.stateAtTick(side, part, first);
                           s <= alignment.stateAtTick(side, part, stop - 1); ++s) {
                          const bool begun = any || s > alignment.stateAtTick(side, part, first);
                          least = begun ? std::min(least, series.at(s)) : series.at(s);
                          most = begun ? std::max(most, series.at(s)) : series.at(s);
                      }
                  };
            extremes(Which::A, seriesA, expected.minA, expected.maxA);
            extremes(Which::B, seriesB, expected.minB, expected.maxB);
            any = true;
            for (std::uint64_t tick = first; tick < stop; ++tick) {
                if (!part.matched())
                    break;
                const std::int64_t delta = seriesB.at(alignment.stateAtTick(Which::B, part, tick))
                    - seriesA.at(alignment.stateAtTick(Which::A, part, tick));
                expected.minDelta = expected.hasDelta ? std::min(expected.minDelta, delta) : delta;
                expected.maxDelta = expected.hasDelta ? std::max(expected.maxDelta, delta) : delta;
                expected.hasDelta = true;
            }
        }
        QCOMPARE(columns[i].minA, expected.minA);
        QCOMPARE(columns[i].maxA, expected.maxA);
        QCOMPARE(columns[i].minB, expected.minB);
        QCOMPARE(columns[i].maxB, expected.maxB);
        QCOMPARE(columns[i].hasDelta, expected.hasDelta);
        QCOMPARE(columns[i].minDelta, expected.minDelta);
        QCOMPARE(columns[i].maxDelta, expected.maxDelta);
    }
}

void checkAll(const Side& a, const Side& b)
{
    for (std::size_t i = 0; i < alignments; ++i) {
        const auto by = static_cast<AlignBy>(i);
        const Alignment alignment = Alignment::build(a, b, by);
        checkMaps(alignment);
        QVERIFY(alignment.by() == by || !alignment.options()[i].available);
        QVERIFY(!alignment.options()[i].why.empty());
        QVERIFY(alignment.explanation().ends_with('.'));
        for (const std::size_t width : {1U, 7U, 64U})
            checkColumns(alignment, Curve::Live, 0, alignment.length(), width);
        checkColumns(alignment, Curve::Live, alignment.length() * 0.3, alignment.length() * 0.41, 23);
        for (const std::int64_t offset : {-5, 3, 100000}) {
            const Alignment shifted = alignment.withOffset(offset);
            checkMaps(shifted);
            checkColumns(shifted, Curve::Live, 0, shifted.length(), 31);
        }
        // The other way round the same moments belong together.
        const Alignment back = Alignment::build(b, a, by);
        if (back.by() == AlignBy::Mark)
            continue;
        const CurveColumn whole = wholeCurve(alignment, Curve::Live);
        const CurveColumn turned = wholeCurve(back, Curve::Live);
        QCOMPARE(turned.minDelta, -whole.maxDelta);
        QCOMPARE(turned.maxDelta, -whole.minDelta);
        QCOMPARE(back.length(), alignment.length());
    }
}

} // namespace

class TestCompareAlignment : public QObject {
    Q_OBJECT
private slots:
    void stepsByNumber()
    {
        const Side a = withSteps(3, 4).side();
        const Side b = withSteps(5, 4, 9).side();
        const Alignment alignment = Alignment::build(a, b);
        QVERIFY(alignment.by() == AlignBy::Step);
        QVERIFY(alignment.automatic());
        QCOMPARE(alignment.pairs(), std::size_t(2)); // 5 and 6
        QVERIFY2(
            explanation(alignment).contains("2 of 4 matched by number"), qPrintable(explanation(alignment)));
        // Step 5 begins at the same place of the axis on both sides.
        QCOMPARE(alignment.partner(Which::A, a.phases->steps[2].first), b.phases->steps[0].first);
        QCOMPARE(alignment.partner(Which::B, b.phases->steps[1].first), a.phases->steps[3].first);
        QCOMPARE(alignment.unmatched().size(), std::size_t(2));
        QCOMPARE(QString::fromStdString(alignment.unmatched()[0].reason),
            QStringLiteral("2 steps of A have no partner (ProfilerStep#3 and ProfilerStep#4)."));
        QCOMPARE(alignment.unmatched()[1].count, 2U);
        QVERIFY(alignment.unmatched()[1].side == Which::B);
        // Nothing is said of a difference where one side has no partner.
        const auto columns = curveColumns(alignment, Curve::Live, 0, alignment.length(), 40);
        QVERIFY(!columns.front().hasDelta && columns.front().hasA && !columns.front().hasB);
        QVERIFY(!columns.back().hasDelta && columns.back().hasB && !columns.back().hasA);
        checkAll(a, b);
    }

    void stepsInOrderWithoutCommonNumbers()
    {
        const Alignment alignment
            = Alignment::build(withSteps(1, 2).side(), withSteps(100, 3).side(), AlignBy::Step);
        QCOMPARE(alignment.pairs(), std::size_t(2));
        QVERIFY(!alignment.automatic());
        QVERIFY2(explanation(alignment).contains("in order"), qPrintable(explanation(alignment)));
        QVERIFY(QString::fromStdString(alignment.unmatched().at(0).reason).contains("ProfilerStep#102"));
    }

    void trainingStepsOfDifferentLength()
    {
        TrainingTrace three;
        TrainingTrace five;
        five.steps = 5;
        five.microbatches = 2;
        const Side a = sideOf(three.make());
        const Side b = sideOf(five.make());
        checkAll(a, b);
        const Alignment alignment = Alignment::build(a, b);
        QVERIFY(alignment.by() == AlignBy::Step);
        // Inside a matched step phases lie on each other.
        std::size_t same = 0;
        for (const AlignedPart& part : alignment.parts())
            if (part.matched() && !part.name.empty() && part.firstA > 0) {
                const Phase ofA = a.phases->phaseAt(part.firstA + 1);
                const Phase ofB = b.phases->phaseAt(part.firstB + 1);
                same += ofA == ofB && ofA != Phase::Unknown;
            }
        QVERIFY(same >= 3);
    }

    void aRunOnItselfIsTheIdentity()
    {
        TrainingTrace training;
        const auto snapshot = training.make();
        const Side a = sideOf(snapshot);
        const Side b = sideOf(snapshot);
        for (const AlignBy by : {AlignBy::Step, AlignBy::Peak, AlignBy::Event}) {
            const Alignment alignment = Alignment::build(a, b, by);
            QCOMPARE(alignment.length(), double(a.replay().states()));
            for (StateIndex s = 0; s < a.replay().states(); ++s) {
                QCOMPARE(alignment.xOf(Which::A, s), double(s));
                QCOMPARE(alignment.partner(Which::A, s), s);
            }
            QCOMPARE(wholeCurve(alignment, Curve::Live).maxDelta, 0);
            QCOMPARE(wholeCurve(alignment, Curve::Live).minDelta, 0);
        }
    }

    void marksByNameAndNumber()
    {
        const Side a = withSteps(1, 3).side();
        const Side b = withSteps(1, 2, 8).side();
        const Alignment alignment = Alignment::build(a, b, AlignBy::Mark);
        QVERIFY(alignment.by() == AlignBy::Mark);
        QCOMPARE(alignment.pairs(), std::size_t(2));
        std::vector<StateIndex> beginsA;
        std::vector<StateIndex> beginsB;
        for (const Mark& mark : a.marks())
            if (mark.name == "work")
                beginsA.push_back(mark.first);
        for (const Mark& mark : b.marks())
            if (mark.name == "work")
                beginsB.push_back(mark.first);
        QCOMPARE(alignment.partner(Which::A, beginsA[1]), beginsB[1]);
        QCOMPARE(alignment.unmatched().size(), std::size_t(1));
        QCOMPARE(alignment.unmatched()[0].count, 1U);
    }

    void peaksLieOnEachOther()
    {
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            RandomTrace wish;
            wish.seed = seed;
            const Side a = sideOf(randomTrace(wish));
            wish.seed = seed + 50;
            wish.events = 333;
            const Side b = sideOf(randomTrace(wish));
            const Alignment alignment = Alignment::build(a, b);
            QVERIFY(alignment.by() == AlignBy::Peak || alignment.by() == AlignBy::Step);
            const Alignment byPeak = Alignment::build(a, b, AlignBy::Peak);
            QCOMPARE(byPeak.partner(Which::A, a.peakState()), b.peakState());
            checkAll(a, b);
        }
    }

    void timeCountsFromEachFirstEvent()
    {
        SmallRun slow = withSteps(1, 2);
        slow.tickUs = 30;
        slow.startUs = 5'000'000;
        const Side a = withSteps(1, 2).side();
        const Side b = slow.side();
        const Alignment alignment = Alignment::build(a, b, AlignBy::Time);
        QVERIFY(alignment.by() == AlignBy::Time);
        const auto us = [](const Side& side, StateIndex s) {
            return *side.replay().timeUs(s) - *side.replay().originUs();
        };
        for (StateIndex s = 1; s < a.replay().states(); ++s) {
            const StateIndex partner = alignment.partner(Which::A, s);
            QVERIFY(us(b, partner) <= us(a, s));
            QVERIFY(partner + 1 == b.replay().states() || us(b, partner + 1) > us(a, s));
        }
        QCOMPARE(alignment.unmatched().size(), std::size_t(1));
        QVERIFY(alignment.unmatched()[0].side == Which::B);
    }

    void whatIsNotPossibleSaysWhy()
    {
        SmallRun plain{{{"f@/x/m.py:1", 10, 3}}};
        const Side a = plain.side();
        const Side b = withSteps(1, 2).side();
        const Alignment alignment = Alignment::build(a, b, AlignBy::Step);
        QVERIFY(alignment.by() == AlignBy::Peak);
        QVERIFY(alignment.automatic());
        QVERIFY2(explanation(alignment).startsWith("By step is not possible: A has no steps"),
            qPrintable(explanation(alignment)));
        QVERIFY(!alignment.options()[0].available && !alignment.options()[1].available);
        QVERIFY(alignment.options()[2].available && alignment.options()[3].available);
        TraceMaker empty;
        empty.segment(0x7f0000000000, 2 << 20);
        empty.block(BlockState::Allocated, 1 << 20, 1 << 20);
        const Side nothing = sideOf(empty.finish());
        const Alignment without = Alignment::build(nothing, b);
        QVERIFY(without.by() == AlignBy::Event);
        checkMaps(without);
        checkColumns(without, Curve::Live, 0, without.length(), 9);
        QVERIFY(!curveKnown(without, Curve::Reserved));
        QVERIFY(curveColumns(without, Curve::Reserved, 0, 1, 5).empty());
    }

    void reservedCurvesToo()
    {
        RandomTrace wish;
        const Side a = sideOf(randomTrace(wish));
        wish.seed = 9;
        const Side b = sideOf(randomTrace(wish));
        const Alignment alignment = Alignment::build(a, b, AlignBy::Event);
        QVERIFY(curveKnown(alignment, Curve::Reserved));
        checkColumns(alignment, Curve::Reserved, 0, alignment.length(), 50);
    }
};

QTEST_GUILESS_MAIN(TestCompareAlignment)
#include "tst_compare_alignment.moc"
