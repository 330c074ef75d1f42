// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/lens/call_tree.hpp"
#include "model/lens/filter.hpp"
#include "model/lens/growth.hpp"
#include "model/lens/live_table.hpp"
#include "tests/support/made_up_program.hpp"
#include "tests/support/trace_maker.hpp"
#include "widgets/events/events_model.hpp"
#include "widgets/results/results_model.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// A made-up filter as text, and what it says as a function of its own.
struct MadeUpFilter {
    std::string text;
    std::function<bool(AllocationId)> holds;
};

class FilterMaker {
public:
    FilterMaker(const Replay& replay, const Sites& sites, SeededNumbers& numbers)
        : m_replay(replay)
        , m_sites(sites)
        , m_numbers(numbers)
    { }

    MadeUpFilter make(int depth = 3)
    {
        const std::uint64_t kind = depth == 0 ? 9 : m_numbers.below(10);
        if (kind < 2) {
            MadeUpFilter inner = make(depth - 1);
            return {"not (" + inner.text + ")", [h = inner.holds](AllocationId id) { return !h(id); }};
        }
        if (kind < 6) {
            MadeUpFilter a = make(depth - 1);
            MadeUpFilter b = make(depth - 1);
            const bool all = kind < 4;
            return {"(" + a.text + (all ? (kind == 2 ? " and " : " ") : " or ") + b.text + ")",
                [ha = a.holds, hb = b.holds, all](
                    AllocationId id) { return all ? ha(id) && hb(id) : ha(id) || hb(id); }};
        }
        return atom();
    }

private:
    MadeUpFilter atom()
    {
        const AllocationColumns& c = m_replay.timeline.allocations();
        const auto some = static_cast<std::uint32_t>(m_numbers.below(c.count()));
        const StateIndex states = m_replay.states();
        switch (m_numbers.below(7)) {
        case 0: {
            const std::uint64_t size = c.size[some];
            return {"size>" + std::to_string(size),
                [&c, size](AllocationId id) { return c.size[index(id)] > size; }};
        }
        case 1: {
            const std::uint64_t size = c.size[some];
            return {"size<=" + std::to_string(size),
                [&c, size](AllocationId id) { return c.size[index(id)] <= size; }};
        }
        case 2:
            return {"state:live", [&c, states](AllocationId id) { return c.endState[index(id)] == states; }};
        case 3:
            return {"state:before", [&c](AllocationId id) { return c.origin[index(id)] != Origin::Traced; }};
        case 4: {
            const std::uint64_t first = m_numbers.below(states);
            const std::uint64_t last = first + m_numbers.below(30);
            return {"event:" + std::to_string(first) + ".." + std::to_string(last + 1),
                [this, first, last](AllocationId id) {
                    const auto event = m_replay.timeline.allocEvent(id);
                    return event && index(*event) >= first && index(*event) <= last + 1;
                }};
        }
        case 5: {
            const std::uint64_t address = c.address[some] + m_numbers.below(c.size[some] + 1);
            return {"addr:" + formatAddress(address), [&c, address](AllocationId id) {
                        const std::uint64_t from = c.address[index(id)];
                        return address >= from
                            && address - from < std::max<std::uint64_t>(c.size[index(id)], 1);
                    }};
        }
        default: {
            const std::string site = allocationSite(m_replay, m_sites, AllocationId{some});
            return {"site:\"" + site + "\"",
                [this, site](AllocationId id) { return allocationSite(m_replay, m_sites, id) == site; }};
        }
        }
    }

    const Replay& m_replay;
    const Sites& m_sites;
    SeededNumbers& m_numbers;
};

struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    bool operator==(const Sum&) const = default;
};

} // namespace

/// Under any filter, what tables, trees, growth, results and events count is what counting by hand gives.
class TestFilterSums : public QObject {
    Q_OBJECT
private slots:
    void everyView_data()
    {
        QTest::addColumn<int>("seed");
        for (int seed = 1; seed <= 12; ++seed)
            QTest::addRow("%d", seed) << seed;
    }
    void everyView();

private:
    void compare(const std::shared_ptr<const Replay>& replay, const Sites& sites, const MadeUpFilter& filter,
        SeededNumbers& numbers);
};

void TestFilterSums::everyView()
{
    QFETCH(int, seed);
    SeededNumbers numbers(static_cast<std::uint64_t>(seed));
    RandomTrace wish;
    wish.seed = static_cast<std::uint64_t>(seed);
    wish.events = 160;
    wish.irregular = seed % 2 == 0;
    const std::shared_ptr<const Replay> replay = *Replay::build(randomTrace(wish), 0, {});
    const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
    FilterMaker maker(*replay, sites, numbers);
    for (int i = 0; i < 25; ++i) {
        compare(replay, sites, maker.make(), numbers);
        if (QTest::currentTestFailed())
            return;
    }
}

void TestFilterSums::compare(const std::shared_ptr<const Replay>& replay, const Sites& sites,
    const MadeUpFilter& made, SeededNumbers& numbers)
{
    const auto filter = Filter::parse(made.text);
    QVERIFY2(filter.ok(), made.text.c_str());
    const auto flags = filter->match({*replay, sites, nullptr, {}}, {});
    const AllocationColumns& c = replay->timeline.allocations();
    Sum whole;
    for (std::uint32_t i = 0; i < c.count(); ++i) {
        const bool holds = made.holds(AllocationId{i});
        QVERIFY2(((*flags)[i] != 0) == holds, (made.text + " at allocation " + std::to_string(i)).c_str());
        whole.bytes += holds ? c.size[i] : 0;
        whole.count += holds ? 1 : 0;
    }

    const auto byHand = [&](const std::function<bool(std::uint32_t)>& of) {
        Sum sum;
        for (std::uint32_t i = 0; i < c.count(); ++i)
            if ((*flags)[i] != 0 && of(i)) {
                sum.bytes += c.size[i];
                ++sum.count;
            }
        return sum;
    };
    const auto treeSum = [&](const Scope& scope, ScopePart part) {
        CallTreeWish wish;
        wish.scope = scope;
        wish.part = part;
        wish.matches = flags;
        const auto tree = buildCallTree(*replay, sites, wish, {});
        Sum leaves;
        for (std::size_t n = 1; n < tree->nodes.size(); ++n)
            if (tree->nodes[n].parent == 0)
                leaves = {
                    leaves.bytes + tree->nodes[n].matchedBytes, leaves.count + tree->nodes[n].matchedCount};
        const Sum root{tree->nodes[0].matchedBytes, tree->nodes[0].matchedCount};
        if (tree->nodes.size() > 1 && leaves != root)
            qWarning("branches do not add up to the root");
        return leaves == root || tree->nodes.size() == 1 ? root : Sum{~0ULL, 0};
    };

    for (int i = 0; i < 4; ++i) {
        const auto state = static_cast<StateIndex>(numbers.below(replay->states()));
        const auto live = [&](std::uint32_t a) { return c.firstState[a] <= state && c.endState[a] > state; };
        const Sum expected = byHand(live);
        for (const GroupBy by : {GroupBy::Site, GroupBy::Size, GroupBy::None}) {
            const auto grouping = Grouping::build(*replay, sites, by);
            const LiveTable table = buildLiveTable(*replay, *grouping, by, state, flags.get(), nullptr, {});
            QCOMPARE((Sum{table.matchedBytes, table.matchedAllocations}), expected);
            QCOMPARE(static_cast<std::int64_t>(table.bytes), replay->timeline.requested().at(state));
            Sum rows;
            for (std::size_t row = 0; row < table.extras.size(); ++row)
                rows = {rows.bytes + table.extras[row].matchedBytes,
                    rows.count + table.extras[row].matchedAllocations};
            if (by != GroupBy::None)
                QCOMPARE(rows, expected);
        }
        QCOMPARE(treeSum(Scope::moment(state), ScopePart::Allocated), expected);
        const MatchSum cell = matchedAt(*replay, *flags, state);
        QCOMPARE((Sum{cell.bytes, cell.allocations}), expected);

        const auto last = static_cast<StateIndex>(state + numbers.below(replay->states() - state));
        if (last == state)
            continue;
        const Scope range = Scope::range(state, last);
        const auto born = [&](std::uint32_t a) { return c.firstState[a] > state && c.firstState[a] <= last; };
        const auto died = [&](std::uint32_t a) { return c.endState[a] > state && c.endState[a] <= last; };
        QCOMPARE(treeSum(range, ScopePart::Allocated), byHand(born));
        QCOMPARE(treeSum(range, ScopePart::Freed), byHand(died));
        QCOMPARE(treeSum(range, ScopePart::Surviving),
            byHand([&](std::uint32_t a) { return born(a) && !died(a); }));
        const auto grouping = Grouping::build(*replay, sites, GroupBy::Site);
        const auto growth = buildGrowth(*replay, *grouping, range, nullptr, flags.get(), {});
        QCOMPARE(growth->sum.matchedBytes, byHand(born).bytes);
        std::uint64_t rows = 0;
        for (const GrowthRow& row : growth->rows)
            rows += row.matchedBytes;
        QCOMPARE(rows, growth->sum.matchedBytes);
        QCOMPARE(static_cast<std::int64_t>(growth->sum.allocatedBytes - growth->sum.freedBytes),
            replay->timeline.requested().at(last) - replay->timeline.requested().at(state));
    }

    for (const int column : {ResultsModel::Made, ResultsModel::Size, ResultsModel::Site}) {
        const auto results = resultRows(*replay, sites, *flags, column, true, {});
        QCOMPARE((Sum{results->bytes, results->ids.size()}), whole);
        for (std::size_t row = 0; row < results->ids.size(); ++row) {
            QVERIFY((*flags)[index(results->ids[row])] != 0);
            QCOMPARE(results->rowOf[index(results->ids[row])], static_cast<std::uint32_t>(row));
            if (row > 0 && column == ResultsModel::Size)
                QVERIFY(c.size[index(results->ids[row - 1])] >= c.size[index(results->ids[row])]);
        }
    }

    std::vector<std::uint32_t> events;
    for (std::uint32_t e = 0; e < replay->device().events.count(); ++e) {
        const AllocationId id = replay->timeline.allocationOf(static_cast<EventIndex>(e));
        if (valid(id) && made.holds(id))
            events.push_back(e);
    }
    QCOMPARE(*matchingEvents(*replay, *flags, {}), events);
}

QTEST_GUILESS_MAIN(TestFilterSums)
#include "tst_filter_sums.moc"
