// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/facts.hpp"
#include "model/lens/growth.hpp"
#include "tests/support/training_trace.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

struct Case {
    std::shared_ptr<const Replay> replay;
    std::shared_ptr<const Phases> phases;
    std::shared_ptr<const Grouping> grouping;

    explicit Case(bool leak = false)
    {
        TrainingTrace trace;
        trace.full = true;
        trace.steps = 6;
        trace.leak = leak;
        replay = Replay::build(trace.make(), 0, {}).value();
        phases = Phases::build(*replay, {}, {});
        grouping = Grouping::build(*replay, Sites::build(*replay->snapshot, SiteMode::User), GroupBy::Site);
    }
    GrowthTable table(const Scope& scope) const
    {
        return buildGrowth(*replay, *grouping, scope, phases.get(), nullptr, {}).value();
    }
};

} // namespace

/// What came and went between two moments, and how it goes from step to step.
class TestGrowth : public QObject {
    Q_OBJECT
private slots:
    void sumsAreTheRanges();
    void stepsAddUpToTheCurve();
    void leaksGrow();
    void trends_data();
    void trends();
    void matches();
    void stopping();
};

void TestGrowth::sumsAreTheRanges()
{
    const Case c;
    const StateIndex last = c.replay->states() - 1;
    for (const auto& [from, to] :
        {std::pair<StateIndex, StateIndex>{0, last}, {last / 4, last / 2}, {3, 3}, {last / 2, last}}) {
        const RangeSums sums = rangeSums(*c.replay, from, to);
        const GrowthTable table = c.table(Scope::range(from, to));
        GrowthRow rows;
        for (const GrowthRow& row : table.rows) {
            rows.allocated += row.allocated;
            rows.allocatedBytes += row.allocatedBytes;
            rows.freed += row.freed;
            rows.freedBytes += row.freedBytes;
            rows.kept += row.kept;
            rows.keptBytes += row.keptBytes;
            QCOMPARE(keptIn(*c.replay, *c.grouping, row.group, table.scope).size(), row.kept);
        }
        for (const GrowthRow& each : {rows, table.sum}) {
            QCOMPARE(each.allocated, sums.allocated);
            QCOMPARE(each.allocatedBytes, sums.allocatedBytes);
            QCOMPARE(each.freed, sums.freed);
            QCOMPARE(each.freedBytes, sums.freedBytes);
            QCOMPARE(each.kept, sums.surviving);
            QCOMPARE(each.keptBytes, sums.survivingBytes);
        }
    }
    QCOMPARE(c.table(Scope::moment(5)).scope, Scope::trace(*c.replay));
}

void TestGrowth::stepsAddUpToTheCurve()
{
    const Case c(true);
    const GrowthTable table = c.table(Scope::trace(*c.replay));
    QVERIFY(table.steps.size() >= 4);
    const Series& live = c.replay->timeline.requested();
    for (std::size_t i = 0; i < table.steps.size(); ++i)
        QCOMPARE(table.sum.atSteps[i], live.at(table.steps[i].last));
}

void TestGrowth::leaksGrow()
{
    const auto growing = [](const Case& c) {
        std::size_t count = 0;
        for (const GrowthRow& row : c.table(Scope::trace(*c.replay)).rows)
            count += row.trend == Trend::Grows ? 1 : 0;
        return count;
    };
    QCOMPARE(growing(Case(false)), std::size_t(0));
    QCOMPARE(growing(Case(true)), std::size_t(1));
}

void TestGrowth::trends_data()
{
    QTest::addColumn<QString>("bytes");
    QTest::addColumn<QString>("name");
    QTest::newRow("two") << "1 2"
                         << "";
    QTest::newRow("same") << "7 7 7"
                          << "steady";
    QTest::newRow("hardly") << "1000 1009 1001"
                            << "steady";
    QTest::newRow("up") << "1 2 3 4"
                        << "grows";
    QTest::newRow("up with pauses") << "1 2 2 3 4"
                                    << "grows";
    QTest::newRow("up, then flat") << "0 8 9 9 9 9 9"
                                   << "plateau";
    QTest::newRow("down") << "9 5 5 1"
                          << "shrinks";
    QTest::newRow("to and fro") << "1 9 1 9 1 9"
                                << "periodic";
    QTest::newRow("up once, late") << "1 1 1 1 1 9"
                                   << "mixed";
    QTest::newRow("hill") << "1 2 3 4 5 6 5 4 3 2"
                          << "mixed";
    QTest::newRow("nothing") << "0 0 0"
                             << "";
}

void TestGrowth::trends()
{
    QFETCH(QString, bytes);
    QFETCH(QString, name);
    std::vector<std::int64_t> values;
    for (const QString& each : bytes.split(' '))
        values.push_back(each.toLongLong());
    QCOMPARE(QString(trendName(trendOf(values))), name);
}

void TestGrowth::matches()
{
    const Case c;
    std::vector<std::uint8_t> flags(c.replay->timeline.allocations().count(), 1);
    const auto all
        = buildGrowth(*c.replay, *c.grouping, Scope::trace(*c.replay), c.phases.get(), &flags, {}).value();
    QVERIFY(all.filtered);
    QCOMPARE(all.sum.matchedBytes, all.sum.allocatedBytes);
    flags.assign(flags.size(), 0);
    QCOMPARE(
        buildGrowth(*c.replay, *c.grouping, Scope::trace(*c.replay), nullptr, &flags, {})->sum.matchedBytes,
        std::uint64_t(0));
}

void TestGrowth::stopping()
{
    const Case c;
    std::stop_source source;
    source.request_stop();
    QVERIFY(!buildGrowth(
        *c.replay, *c.grouping, Scope::trace(*c.replay), nullptr, nullptr, Job{source.get_token(), {}}));
}

QTEST_GUILESS_MAIN(TestGrowth)
#include "tst_growth.moc"
