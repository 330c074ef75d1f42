// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/colouring.hpp"
#include "model/lens/groups.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <map>
#include <set>

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::shared_ptr<const Replay> replayed(std::shared_ptr<const Snapshot> snapshot)
{
    return Replay::build(std::move(snapshot), 0, {}).value();
}

constexpr std::int64_t MiB = 1 << 20;

} // namespace

class TestGroups : public QObject {
    Q_OBJECT
private slots:
    void rowsSumToTheCurve()
    {
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            RandomTrace wish;
            wish.seed = seed;
            const auto replay = replayed(randomTrace(wish));
            const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
            for (const GroupBy by : {GroupBy::Site, GroupBy::Stack, GroupBy::Size, GroupBy::Stream,
                     GroupBy::Pool, GroupBy::Category, GroupBy::None}) {
                const auto grouping = Grouping::build(*replay, sites, by);
                for (StateIndex state = 0; state < replay->states(); state += 7) {
                    std::uint64_t bytes = 0;
                    std::uint64_t count = 0;
                    std::uint64_t before = ~std::uint64_t{0};
                    for (const GroupRow& row : groupLive(*replay, *grouping, state)) {
                        QVERIFY(row.bytes <= before);
                        before = row.bytes;
                        bytes += row.bytes;
                        count += row.allocations;
                        QCOMPARE(grouping->of(row.largestId), row.group);
                    }
                    QCOMPARE(static_cast<std::int64_t>(bytes), replay->timeline.requested().at(state));
                    QCOMPARE(count, std::uint64_t(replay->timeline.liveCountAt(state)));
                }
            }
        }
    }

    void namesOfGroups()
    {
        TraceMaker maker;
        const StackId a = maker.stack({"mm@/x/site-packages/torch/_ops.py:4", "f@/x/m.py:1", "g@/x/t.py:2"});
        const StackId b = maker.stack({"add@/x/site-packages/torch/_ops.py:5", "f@/x/m.py:1", "g@/x/t.py:2"});
        const StackId c = maker.stack({"f@/x/m.py:1", "h@/x/t.py:3"});
        maker.alloc(0x1000, 64 * 1024, a);
        maker.alloc(0x2000, 64 * 1024 - 1, b);
        maker.setStream(7);
        maker.alloc(0x3000, 300 * MiB, c);
        maker.setPool(maker.builder().pool(0, 3));
        maker.alloc(0x4000, 1);
        const auto replay = replayed(maker.finish());
        const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
        QCOMPARE(rows(*replay, sites, GroupBy::Site), (QStringList{"f@m.py:1 ×3", "no stack ×1"}));
        QCOMPARE(rows(*replay, sites, GroupBy::Stack),
            (QStringList{"f@m.py:1 ← h@t.py:3 ×1", "f@m.py:1 ← g@t.py:2 ×2", "no stack ×1"}));
        QCOMPARE(rows(*replay, sites, GroupBy::Size),
            (QStringList{"256 MiB and more ×1", "64 KiB to 1 MiB ×1", "below 64 KiB ×2"}));
        QCOMPARE(rows(*replay, sites, GroupBy::Stream), (QStringList{"stream 7 ×2", "default stream ×2"}));
        QCOMPARE(rows(*replay, sites, GroupBy::Pool), (QStringList{"default pool ×3", "pool (0, 3) ×1"}));
        QCOMPARE(rows(*replay, sites, GroupBy::None),
            (QStringList{"f@m.py:1 ×1", "f@m.py:1 ×1", "f@m.py:1 ×1", "no stack ×1"}));
        const Sites raw = Sites::build(*replay->snapshot, SiteMode::Raw);
        QCOMPARE(rows(*replay, raw, GroupBy::Stack).size(), 4);
    }

    /// Stacks that differ beyond the frames a name can hold stay apart, under names that differ.
    void longStacks()
    {
        TraceMaker maker;
        std::vector<StackId> stacks;
        for (const char* last : {"x@a.py:1", "x@a.py:2"})
            stacks.push_back(
                maker.stack({"f@a.py:1", "f@a.py:2", "f@a.py:3", "f@a.py:4", "f@a.py:5", "f@a.py:6",
                    "f@a.py:7", "f@a.py:8", "f@a.py:9", "f@a.py:10", "f@a.py:11", "f@a.py:12", last}));
        maker.alloc(0x1000, 2, stacks[0]);
        maker.alloc(0x2000, 1, stacks[1]);
        const auto replay = replayed(maker.finish());
        const QStringList names
            = rows(*replay, Sites::build(*replay->snapshot, SiteMode::User), GroupBy::Stack);
        QCOMPARE(names.size(), 2);
        QVERIFY(names[0] != names[1]);
        QVERIFY(names[0].endsWith("f@a.py:12 ← … 1 more ×1"));
    }

    void predatingGroupsAreMarked()
    {
        TraceMaker maker;
        const StackId drop = maker.stack({"drop@x.py:1"});
        maker.alloc(0x1000, 10, maker.stack({"f@x.py:2"}));
        maker.event(Action::FreeRequested, 0x9000, 5, drop);
        maker.complete(0x9000, 5);
        maker.segment(0x1000, 0x1000);
        maker.block(BlockState::Allocated, 0x800, 10);
        maker.block(BlockState::Allocated, 0x800, 7);
        const auto replay = replayed(maker.finish());
        const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
        const auto grouping = Grouping::build(*replay, sites, GroupBy::Site);
        std::map<std::string, bool> predating;
        for (std::uint32_t g = 0; g < grouping->count(); ++g)
            predating[grouping->name(g)] = grouping->predating(g);
        QCOMPARE(predating,
            (std::map<std::string, bool>{{"before recording → end", true},
                {"before recording → drop@x.py:1", true}, {"f@x.py:2", false}}));
        const auto colours = Colouring::build(*replay, sites, ColourBy::Site);
        QCOMPARE(colours->slotOf,
            (std::vector<std::uint8_t>{colourSlot::predatingStays, colourSlot::predatingFreed, 0}));
    }

    /// The order of colours is that of each site's own highest point, wherever in the trace it lies.
    void coloursByOwnMaximum()
    {
        TraceMaker maker;
        std::vector<StackId> stacks;
        for (int i = 0; i < 15; ++i) {
            const std::string frame = "f@x.py:" + std::to_string(i + 1);
            stacks.push_back(maker.stack({frame}));
        }
        // Site i is alone with 100 + i bytes in two pieces; many small lives of site 0 add up to more only
        // over time, never at once.
        for (int i = 0; i < 15; ++i) {
            maker.alloc(0x1000, 50, stacks[static_cast<std::size_t>(i)]);
            maker.alloc(0x2000, 50 + i, stacks[static_cast<std::size_t>(i)]);
            maker.free(0x1000, 50);
            maker.free(0x2000, 50 + i);
        }
        for (int i = 0; i < 20; ++i) {
            maker.alloc(0x1000, 99, stacks[0]);
            maker.free(0x1000, 99);
        }
        const auto replay = replayed(maker.finish());
        const auto colours
            = Colouring::build(*replay, Sites::build(*replay->snapshot, SiteMode::User), ColourBy::Site);
        QCOMPARE(colours->legend.size(), std::size_t(13));
        QCOMPARE(colours->legend[0].text, std::string("f@x.py:15"));
        QCOMPARE(colours->legend[11].text, std::string("f@x.py:4"));
        QCOMPARE(colours->legend[12].text, std::string("3 other sites"));
        QCOMPARE(colours->legend[12].slot, colourSlot::other);
        QCOMPARE(colours->slotOf[0], colourSlot::other);
        QCOMPARE(colours->slotOf[28], std::uint8_t(0));
    }

    void sequentialScales()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 1); // lives on
        maker.alloc(0x2000, 300 * MiB);
        maker.free(0x2000, 300 * MiB);
        for (int i = 0; i < 10000; ++i)
            maker.event(Action::Snapshot, 0, 0);
        const auto replay = replayed(maker.finish());
        const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
        const auto size = Colouring::build(*replay, sites, ColourBy::Size);
        QVERIFY(size->sequential);
        QCOMPARE(size->slotOf, (std::vector<std::uint8_t>{0, 6}));
        const auto age = Colouring::build(*replay, sites, ColourBy::Age);
        QCOMPARE(age->slotOf, (std::vector<std::uint8_t>{6, 0}));
    }

    void waitingIsInTheLegend()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 1);
        maker.request(0x1000, 1);
        maker.alloc(0x2000, 1);
        maker.complete(0x1000, 1);
        const auto replay = replayed(maker.finish());
        const auto colours
            = Colouring::build(*replay, Sites::build(*replay->snapshot, SiteMode::User), ColourBy::Stream);
        QCOMPARE(colours->legend.back().slot, colourSlot::waiting);
    }

private:
    static QStringList rows(const Replay& replay, const Sites& sites, GroupBy by)
    {
        const auto grouping = Grouping::build(replay, sites, by);
        QStringList out;
        for (const GroupRow& row : groupLive(replay, *grouping, replay.states() - 1))
            out << QString::fromStdString(grouping->name(row.group)) + QString(" ×%1").arg(row.allocations);
        return out;
    }
};

QTEST_GUILESS_MAIN(TestGroups)
#include "tst_groups.moc"
