// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/site_key.hpp"
#include "model/compare/table.hpp"
#include "model/core/text.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/training_trace.hpp"

#include <QTest>

#include <set>

using namespace tidemark;
using namespace tidemark::test;
using namespace tidemark::compare;

namespace {

constexpr std::int64_t MiB = 1 << 20;

/// "f@m.py:7 10→20 line-drift grew": every row at the peaks.
QStringList rowsOf(const Side& a, const Side& b, GroupBy by = GroupBy::Site)
{
    const auto matching = Matching::build(a, b, by, {});
    QStringList rows;
    for (const Row& row : tableAt(a, b, *matching, a.peakState(), b.peakState()).rows) {
        const CommonGroup& group = matching->groups[row.group];
        rows += QStringLiteral("%1 %2→%3 %4 %5")
                    .arg(QString::fromStdString(group.name))
                    .arg(row.bytesA)
                    .arg(row.bytesB)
                    .arg(QLatin1String(matchKindName(group.kind)), QLatin1String(statusName(row.status)));
    }
    return rows;
}

void checkSums(const Side& a, const Side& b, const Matching& matching, StateIndex stateA, StateIndex stateB)
{
    const Table table = tableAt(a, b, matching, stateA, stateB);
    const Table back = tableAt(b, a, *Matching::build(b, a, matching.by, {}), stateB, stateA);
    const std::int64_t curves
        = b.replay().timeline.requested().at(stateB) - a.replay().timeline.requested().at(stateA);
    std::int64_t sum = 0;
    std::uint64_t bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t before = ~std::uint64_t{0};
    for (const Row& row : table.rows) {
        sum += row.delta;
        bytes += row.bytesA + row.bytesB;
        allocations += row.allocationsA;
        QCOMPARE(row.delta, std::int64_t(row.bytesB) - std::int64_t(row.bytesA));
        const auto size = std::uint64_t(std::llabs(row.delta));
        QVERIFY(size <= before);
        before = size;
    }
    QCOMPARE(sum, curves);
    QCOMPARE(table.delta, curves);
    QCOMPARE(bytes, table.bytesA + table.bytesB);
    QCOMPARE(allocations, std::uint64_t(a.replay().timeline.liveCountAt(stateA)));
    QCOMPARE(back.delta, -table.delta);
    QCOMPARE(back.rows.size(), table.rows.size());
    std::multiset<std::int64_t> forth;
    std::multiset<std::int64_t> there;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        forth.insert(table.rows[i].delta);
        there.insert(-back.rows[i].delta);
    }
    QVERIFY(forth == there);
    std::uint64_t shares = 0;
    for (const std::uint64_t each : table.matchedA.bytes)
        shares += each;
    QCOMPARE(shares, table.bytesA);
}

} // namespace

class TestCompareMatching : public QObject {
    Q_OBJECT
private slots:
    void rowsSumToTheDifferenceOfTheCurves()
    {
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            RandomTrace wish;
            wish.seed = seed;
            const Side a = sideOf(randomTrace(wish));
            wish.seed = seed + 100;
            wish.events = 260;
            const Side b = sideOf(randomTrace(wish));
            for (const GroupBy by : {GroupBy::Site, GroupBy::Stack, GroupBy::Size, GroupBy::Stream,
                     GroupBy::Pool, GroupBy::Label, GroupBy::Role, GroupBy::ExactSize, GroupBy::None}) {
                const auto matching = Matching::build(a, b, by, {});
                for (StateIndex state = 0; state < a.replay().states(); state += 41)
                    checkSums(a, b, *matching, state, (state * 7 + 3) % b.replay().states());
                checkSums(a, b, *matching, a.peakState(), b.peakState());
            }
        }
    }

    void everyGroupHasOneCommonNumber()
    {
        RandomTrace wish;
        const Side a = sideOf(randomTrace(wish));
        wish.seed = 2;
        const Side b = sideOf(randomTrace(wish));
        const auto matching = Matching::build(a, b, GroupBy::Site, {});
        QCOMPARE(matching->commonOfA.size(), matching->groupingA->count());
        std::set<std::uint32_t> seen;
        for (std::uint32_t g = 0; g < matching->commonOfA.size(); ++g) {
            QVERIFY(seen.insert(matching->commonOfA[g]).second);
            QCOMPARE(matching->groups[matching->commonOfA[g]].groupA, g);
        }
        for (std::uint32_t g = 0; g < matching->commonOfB.size(); ++g)
            QCOMPARE(matching->groups[matching->commonOfB[g]].groupB, g);
    }

    void aRunAgainstItselfIsZeroEverywhere()
    {
        TrainingTrace training;
        const auto snapshot = training.make();
        const Side a = sideOf(snapshot);
        const Side again = sideOf(training.make());
        for (const Side& b : {a, again})
            for (const GroupBy by : {GroupBy::Site, GroupBy::Stack, GroupBy::Label, GroupBy::Role}) {
                const auto matching = Matching::build(a, b, by, {});
                for (StateIndex state = 0; state < a.replay().states(); ++state)
                    for (const Row& row : tableAt(a, b, *matching, state, state).rows) {
                        QCOMPARE(row.delta, 0);
                        QCOMPARE(row.allocationsA, row.allocationsB);
                        QVERIFY(row.status == RowStatus::Same);
                    }
            }
    }

    void addressesAndFoldersDoNotCount()
    {
        SmallRun run{{{"f@/home/me/pkg/m.py:7", 10, 3}, {"g@/home/me/pkg/n.py:9", 20, 2}, {"", 5, 1}}};
        run.older = {100, 200};
        SmallRun moved = run;
        moved.base = 0x10000000;
        moved.upwards = false;
        moved.sites[0].frame = "f@/mnt/other/venv/pkg/m.py:7";
        moved.sites[1].frame = "g@C:\\work\\pkg\\n.py:9";
        for (const GroupBy by : {GroupBy::Site, GroupBy::Stack})
            for (const QString& row : rowsOf(run.side(), moved.side(), by))
                QVERIFY2(row.endsWith("exact same"), qPrintable(row));
        QCOMPARE(rowsOf(run.side(), moved.side()).size(), 4);

        TrainingTrace training;
        TrainingTrace elsewhere;
        elsewhere.prefix = "/usr/lib/python3/dist-packages/";
        for (const QString& row : rowsOf(sideOf(training.make()), sideOf(elsewhere.make()), GroupBy::Stack))
            QVERIFY2(row.endsWith("same"), qPrintable(row));
    }

    void movedLinesAreTheSamePlace()
    {
        // As many lines: in order, even where another line is nearer.
        SmallRun a{{{"f@/x/m.py:100", 10}, {"f@/x/m.py:110", 20}}};
        SmallRun b{{{"f@/x/m.py:121", 10}, {"f@/x/m.py:131", 20}}};
        QCOMPARE(rowsOf(a.side(), b.side()),
            (QStringList{"f@m.py:100 10→10 line-drift same", "f@m.py:110 20→20 line-drift same"}));
        // An exact line goes first.
        b.sites = {{"f@/x/m.py:110", 20}, {"f@/x/m.py:300", 10}};
        QCOMPARE(rowsOf(a.side(), b.side()),
            (QStringList{"f@m.py:100 10→10 line-drift same", "f@m.py:110 20→20 exact same"}));
        // Another number of lines: equal sizes, then the nearest.
        b.sites = {{"f@/x/m.py:99", 7}, {"f@/x/m.py:150", 10}, {"f@/x/m.py:111", 30}};
        QCOMPARE(rowsOf(a.side(), b.side()),
            (QStringList{"f@m.py:110 20→30 line-drift grew", "f@m.py:99 0→7 only-b new",
                "f@m.py:100 10→10 line-drift same"}));
        // Another function, or another file, is another place.
        b.sites = {{"h@/x/m.py:100", 10}, {"f@/x/other.py:110", 25}};
        QCOMPARE(rowsOf(a.side(), b.side()).filter("line-drift"), QStringList());
    }

    void anEqualFunctionElsewhereNeedsEqualSizes()
    {
        SmallRun a{{{"f@/x/old.py:5", 64 * MiB, 4}}};
        SmallRun b{{{"f@/x/new.py:90", 64 * MiB, 5}}};
        QCOMPARE(rowsOf(a.side(), b.side()),
            QStringList{QStringLiteral("f@old.py:5 %1→%2 by-size grew").arg(256 * MiB).arg(320 * MiB)});
        b.sites[0].size = 32 * MiB;
        QCOMPARE(rowsOf(a.side(), b.side()).size(), 2);
    }

    void olderMemoryIsAGroupOfItsOwn()
    {
        SmallRun a{{{"f@/x/m.py:1", 10}}};
        SmallRun b = a;
        b.older = {1000};
        const Side sideA = a.side();
        const Side sideB = b.side();
        const auto matching = Matching::build(sideA, sideB, GroupBy::Site, {});
        const Table table = tableAt(sideA, sideB, *matching, sideA.peakState(), sideB.peakState());
        QCOMPARE(table.delta, 1000);
        QVERIFY(matching->groups[table.rows[0].group].predating);
        QVERIFY(matching->groups[table.rows[0].group].name.starts_with("before recording"));
        QCOMPARE(table.matchedB.withoutSite, 1000U);
        QVERIFY(QString::fromStdString(table.matchedText()).contains("without a partner"));
    }

    void oneColourOnBothSides()
    {
        SmallRun a;
        SmallRun b;
        for (int i = 0; i < 20; ++i) {
            a.sites.push_back({"f" + std::to_string(i) + "@/x/m.py:1", 1000 - i});
            b.sites.push_back({"f" + std::to_string(19 - i) + "@/x/m.py:2", 500 + i});
        }
        const Side sideA = a.side();
        const Side sideB = b.side();
        const auto matching = Matching::build(sideA, sideB, GroupBy::Site, {});
        const auto coloursA = commonColouring(*matching, sideA, Which::A);
        const auto coloursB = commonColouring(*matching, sideB, Which::B);
        std::map<std::uint32_t, std::uint8_t> slotOf;
        for (std::uint32_t id = 0; id < 20; ++id)
            slotOf[matching->commonOfA[matching->groupingA->of(AllocationId{id})]] = coloursA->slotOf[id];
        std::set<std::uint8_t> used;
        for (std::uint32_t id = 0; id < 20; ++id) {
            const std::uint8_t slot
                = slotOf.at(matching->commonOfB[matching->groupingB->of(AllocationId{id})]);
            QCOMPARE(coloursB->slotOf[id], slot);
            used.insert(slot);
        }
        QCOMPARE(used.size(), std::size_t(13)); // twelve and "other"
        QCOMPARE(coloursA->legend.size(), std::size_t(12));
    }

    void overAStepPartsAddUp()
    {
        SmallRun a{{{"f@/x/m.py:1", 10, 2}}};
        SmallRun b{{{"f@/x/m.py:1", 10, 5}, {"g@/x/m.py:2", 7}}};
        const Side sideA = a.side();
        const Side sideB = b.side();
        const auto matching = Matching::build(sideA, sideB, GroupBy::Site, {});
        const auto over = [&](ScopePart part) {
            return tableOver(sideA, sideB, *matching, Scope::range(0, sideA.replay().states() - 1),
                Scope::range(0, sideB.replay().states() - 1), part, {});
        };
        QCOMPARE(over(ScopePart::Allocated).delta, 37);
        QCOMPARE(over(ScopePart::Freed).delta, 37);
        QCOMPARE(over(ScopePart::Surviving).rows.size(), std::size_t(0));
    }

    void twoInstantsOfOneRun()
    {
        TrainingTrace training;
        const Side side = sideOf(training.make());
        const auto matching = Matching::build(side, side, GroupBy::Site, {});
        const StateIndex last = side.replay().states() - 1;
        for (StateIndex from = 0; from <= last; from += 13) {
            const Table table = tableAt(side, side, *matching, from, last);
            QVERIFY(table.oneRun);
            std::uint64_t survived = 0;
            for (const AllocationId id : side.replay().timeline.liveAt(from))
                if (side.replay().timeline.isLive(id, last))
                    survived += side.replay().timeline.allocations().size[index(id)];
            QCOMPARE(table.bytesSurvived, survived);
            for (const Row& row : table.rows)
                QVERIFY(row.bytesSurvived <= std::min(row.bytesA, row.bytesB));
        }
    }

    void namesTakenApart()
    {
        const SiteKey key = siteKey("before recording → f@g@m.py:7");
        QCOMPARE(QString::fromStdString(key.place), "before recording → f@g@m.py");
        QCOMPARE(QString::fromStdString(key.function), "before recording → f@g");
        QVERIFY(key.lines == std::vector<std::uint32_t>{7});
        const SiteKey stack = siteKey("f@m.py:7 ← main ← g@n.py:12");
        QCOMPARE(QString::fromStdString(stack.place), "f@m.py ← main ← g@n.py");
        QVERIFY((stack.lines == std::vector<std::uint32_t>{7, 12}));
        QVERIFY(siteKey("no stack").lines.empty());
        QVERIFY(siteKey("aten::sum (backward)").function.empty());
        QCOMPARE(commonTail("/a/b/c.py", "/x/b/c.py"), std::size_t(2));
        QCOMPARE(commonTail("c.py", "/x/b/c.py"), std::size_t(1));
        QCOMPARE(commonTail("/a/bc.py", "/a/c.py"), std::size_t(0));
        QCOMPARE(commonTail("a\\c.py", "a/c.py"), std::size_t(2));
    }
};

QTEST_GUILESS_MAIN(TestCompareMatching)
#include "tst_compare_matching.moc"
