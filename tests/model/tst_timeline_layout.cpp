// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/id_image.hpp"
#include "model/layout/live_tree.hpp"
#include "tests/support/toy_allocator.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace tidemark;
using namespace tidemark::test;

namespace {

Replay replayOf(std::shared_ptr<const Snapshot> snapshot)
{
    Replay r;
    r.timeline = Timeline::build(*snapshot, snapshot->devices.front(), {}).value();
    std::int64_t latest = noTime;
    for (const std::int64_t t : snapshot->devices.front().events.timeUs) {
        if (t != noTime)
            r.monotoneTimes.push_back(latest = std::max(latest, t));
    }
    r.snapshot = std::move(snapshot);
    return r;
}

Colouring colouringOf(const Replay& r, unsigned seed)
{
    std::mt19937 random(seed);
    Colouring c;
    for (std::size_t i = 0; i < r.timeline.allocations().count(); ++i)
        c.slotOf.push_back(static_cast<std::uint8_t>(random() % (colourSlot::other + 1)));
    return c;
}

using SlotBytes = std::map<std::uint8_t, std::int64_t>;

/// The most each slot's traced allocations ever had together.
SlotBytes mostOf(const Replay& r, const Colouring& colouring)
{
    const AllocationColumns& a = r.timeline.allocations();
    SlotBytes most;
    for (StateIndex s = 0; s < r.states(); ++s) {
        SlotBytes now;
        for (const AllocationId id : r.timeline.liveAt(s))
            if (a.origin[index(id)] == Origin::Traced)
                now[colouring.slotOf[index(id)]] += std::int64_t(a.size[index(id)]);
        for (const auto& [slot, bytes] : now)
            most[slot] = std::max(most[slot], bytes);
    }
    return most;
}

/// The stack from the bottom at one state, straight from the definition; by age without `most`.
std::vector<AllocationId> stackOf(const Replay& r, const Colouring& colouring, const SlotBytes* most,
    StateIndex state, std::size_t* firstWaiting)
{
    const AllocationColumns& a = r.timeline.allocations();
    const auto key = [&](AllocationId id) {
        const std::size_t i = index(id);
        const bool waits = a.pendingState[i] <= state;
        int band = a.origin[i] == Origin::AliveAtEnd ? 0 : a.origin[i] == Origin::FreedInTrace ? 1 : 2;
        std::int64_t group = 0;
        std::uint8_t slot = 0;
        if (most && band == 2) {
            slot = colouring.slotOf[i];
            group = slot == colourSlot::other ? 1 : -most->at(slot) - 1;
        }
        return std::tuple(waits, band, group, slot, id);
    };
    std::vector<AllocationId> live = r.timeline.liveAt(state);
    std::sort(live.begin(), live.end(), [&](AllocationId l, AllocationId h) { return key(l) < key(h); });
    *firstWaiting = std::size_t(std::count_if(
        live.begin(), live.end(), [&](AllocationId id) { return a.pendingState[index(id)] > state; }));
    return live;
}

double extentOf(const Replay& r, const TimelineWindow& w)
{
    return w.knots ? w.knots->extent() : timelineExtent(r, w.timeAxis);
}

/// A bent axis with knots anywhere.
std::shared_ptr<const AxisKnots> someKnots(const Replay& r, std::mt19937& random)
{
    auto axis = std::make_shared<AxisKnots>();
    axis->knots.push_back({});
    for (double state = double(1 + random() % 9); state < r.states(); state += double(1 + random() % 40))
        axis->knots.push_back({state, axis->knots.back().x + double(1 + random() % 1000003) / 77777});
    axis->knots.push_back({double(r.states()), axis->knots.back().x + 1.234567});
    return axis;
}

double begins(const Replay& r, StateIndex s, const TimelineWindow& w)
{
    if (w.knots) { // by hand: the piece that holds the state
        const auto& knots = w.knots->knots;
        std::size_t i = 1;
        while (i + 1 < knots.size() && knots[i].state <= s)
            ++i;
        const auto& [fromState, fromX] = knots[i - 1];
        const auto& [toState, toX] = knots[i];
        return fromX + (s - fromState) * (toX - fromX) / (toState - fromState);
    }
    if (!w.timeAxis)
        return s;
    return s == 0 ? 0 : double(r.monotoneTimes[s - 1] - r.monotoneTimes[0]);
}

QByteArray wrongColumn(const Replay& r, const TimelineWindow& w, int x, const ColumnInfo& column)
{
    const double from = w.left + (w.right - w.left) * x / w.width;
    const double to = w.left + (w.right - w.left) * (x + 1) / w.width;
    if (to <= 0 || from >= extentOf(r, w))
        return column.outside ? "" : "should be outside";
    if (column.outside)
        return "is outside";
    std::vector<StateIndex> covered;
    StateIndex holds = 0;
    for (StateIndex s = 0; s < r.states(); ++s) {
        const double at = begins(r, s, w);
        if (at >= from && at < to)
            covered.push_back(s);
        if (at <= from)
            holds = s;
    }
    if (covered.empty())
        covered.push_back(holds);
    if (column.first != covered.front() || column.last != covered.back())
        return "states " + QByteArray::number(column.first) + "…" + QByteArray::number(column.last) + " for "
            + QByteArray::number(covered.front()) + "…" + QByteArray::number(covered.back());
    std::int64_t max = r.timeline.requested().at(covered[0]);
    std::int64_t min = max;
    StateIndex shown = covered[0];
    for (const StateIndex s : covered) {
        const std::int64_t v = r.timeline.requested().at(s);
        min = std::min(min, v);
        if (v > max) {
            max = v;
            shown = s;
        }
    }
    return column.max == max && column.min == min && column.shown == shown ? "" : "extremes";
}

QByteArray wrongPixels(
    const Replay& r, const Colouring& colouring, const SlotBytes* most, const TimelineImage& image, int x)
{
    const TimelineWindow& w = image.window;
    const ColumnInfo& column = image.columns[std::size_t(x)];
    std::size_t firstWaiting = 0;
    const auto stack = stackOf(r, colouring, most, column.shown, &firstWaiting);
    for (int y = 0; y < w.height; ++y) {
        const double byte = w.top - (y + 0.5) * (w.top - w.bottom) / w.height;
        std::uint32_t expected = pixel::empty;
        bool waits = false;
        double low = 0;
        for (std::size_t i = 0; !column.outside && i < stack.size(); ++i) {
            const double high = low + double(r.timeline.allocations().size[index(stack[i])]);
            if (low <= byte && byte < high) {
                expected = static_cast<std::uint32_t>(index(stack[i]));
                waits = i >= firstWaiting;
            }
            low = high;
        }
        const std::size_t at = std::size_t(y) * std::size_t(w.width) + std::size_t(x);
        if (image.image.ids[at] != expected || (image.image.waiting[at] != 0) != waits)
            return "row " + QByteArray::number(y) + ": " + QByteArray::number(image.image.ids[at]) + " for "
                + QByteArray::number(expected);
    }
    return {};
}

} // namespace

class TestTimelineLayout : public QObject {
    Q_OBJECT
private slots:
    void pixels_data();
    void pixels();
    void extents();
    void wholeStackFillsTheRows();
    void tree();
    void nothingToDraw();
    void stops();
    void oneMicrosecond();
    void inPartsAsInOne();
    void everyZoomOfALongTrace();
};

void TestTimelineLayout::pixels_data()
{
    QTest::addColumn<unsigned>("seed");
    QTest::addColumn<bool>("toy");
    QTest::addColumn<bool>("group");
    QTest::addColumn<bool>("timeAxis");
    for (unsigned seed = 1; seed <= 24; ++seed)
        QTest::addRow("seed %u", seed) << seed << (seed % 4 < 2) << (seed % 2 == 0) << (seed % 3 == 0);
}

void TestTimelineLayout::pixels()
{
    QFETCH(unsigned, seed);
    QFETCH(bool, toy);
    QFETCH(bool, group);
    QFETCH(bool, timeAxis);
    std::shared_ptr<const Snapshot> snapshot;
    if (toy) {
        ToyWish wish;
        wish.seed = seed;
        wish.skip = seed % 5 == 0 ? 60 : 0;
        snapshot = toyRun(wish).snapshot;
    } else {
        RandomTrace wish;
        wish.seed = seed;
        snapshot = randomTrace(wish);
    }
    const Replay r = replayOf(snapshot);
    timeAxis = timeAxis && !r.monotoneTimes.empty();
    const Colouring colouring = colouringOf(r, seed);
    const StackOrder order = group ? StackOrder::Group : StackOrder::Age;
    const SlotBytes most = mostOf(r, colouring);
    std::mt19937 random(seed);
    const auto knots = seed % 5 == 1 ? someKnots(r, random) : nullptr;
    timeAxis = timeAxis && !knots;
    const double extent = knots ? knots->extent() : timelineExtent(r, timeAxis);
    const double peak = std::max(1.0, double(r.timeline.requested().total().max));
    for (int i = 0; i < 14; ++i) {
        TimelineWindow w;
        w.timeAxis = timeAxis;
        w.knots = knots;
        w.width = 1 + int(random() % 70);
        w.height = 1 + int(random() % 60);
        w.right = extent;
        w.top = peak * 1.05;
        const auto unit = [&] { return double(random() % 100000) / 100000; };
        if (i % 3 != 0) { // anywhere, also beyond the trace
            w.left = (unit() * 1.4 - 0.2) * extent;
            w.right = w.left + unit() * unit() * extent + 1e-3;
        }
        if (i % 4 == 1) {
            w.bottom = (unit() - 0.2) * peak;
            w.top = w.bottom + unit() * unit() * peak + 1;
        }
        const auto image = layoutTimeline(r, colouring, order, w, {});
        QVERIFY(image);
        QCOMPARE(image->columns.size(), std::size_t(w.width));
        QCOMPARE(image->image.ids.size(), std::size_t(w.width) * std::size_t(w.height));
        for (int x = 0; x < w.width; ++x) {
            QByteArray what = wrongColumn(r, w, x, image->columns[std::size_t(x)]);
            if (what.isEmpty())
                what = wrongPixels(r, colouring, group ? &most : nullptr, *image, x);
            QVERIFY2(what.isEmpty(),
                "window " + QByteArray::number(i) + " column " + QByteArray::number(x) + " " + what);
        }
    }
}

void TestTimelineLayout::extents()
{
    for (unsigned seed = 1; seed <= 6; ++seed) {
        ToyWish wish;
        wish.seed = seed;
        wish.steps = 60;
        wish.skip = seed % 2 == 0 ? 30 : 0;
        const Replay r = replayOf(toyRun(wish).snapshot);
        const Colouring colouring = colouringOf(r, seed);
        const SlotBytes most = mostOf(r, colouring);
        for (const StackOrder order : {StackOrder::Age, StackOrder::Group}) {
            for (StateIndex s = 0; s < r.states(); s += 7) {
                std::size_t firstWaiting = 0;
                std::uint64_t low = 0;
                std::vector<bool> seen(r.timeline.allocations().count());
                for (const AllocationId id :
                    stackOf(r, colouring, order == StackOrder::Group ? &most : nullptr, s, &firstWaiting)) {
                    const auto extent = stackExtent(r, colouring, order, id, s);
                    QVERIFY(extent);
                    QCOMPARE(extent->low, low);
                    low = extent->high;
                    seen[index(id)] = true;
                }
                QCOMPARE(std::int64_t(low), r.timeline.requested().at(s));
                for (std::size_t i = 0; i < seen.size(); ++i)
                    QCOMPARE(
                        stackExtent(r, colouring, order, AllocationId(i), s).has_value(), seen[i] || false);
            }
        }
    }
    const Replay r = replayOf(toyRun({}).snapshot);
    QVERIFY(!stackExtent(r, {}, StackOrder::Age, AllocationId::none, 0));
}

/// With one byte a row, every row below the curve is accounted for and none above it.
void TestTimelineLayout::wholeStackFillsTheRows()
{
    TraceMaker t;
    t.alloc(0x1000, 5);
    t.alloc(0x2000, 3);
    t.alloc(0x3000, 7);
    t.request(0x2000, 3);
    t.event(Action::Snapshot, 0, 0);
    t.complete(0x2000, 3);
    t.free(0x1000, 5);
    const Replay r = replayOf(t.finish());
    TimelineWindow w;
    w.right = w.width = int(r.states());
    w.top = w.height = 20;
    const auto image = layoutTimeline(r, Colouring{}, StackOrder::Age, w, {});
    for (int x = 0; x < w.width; ++x) {
        std::map<std::uint32_t, int> rows;
        for (int y = 0; y < w.height; ++y)
            ++rows[image->image.at(x, y)];
        rows.erase(pixel::empty);
        int filled = 0;
        for (const auto& [id, count] : rows) {
            QCOMPARE(std::uint64_t(count), r.timeline.allocations().size[id]);
            filled += count;
        }
        QCOMPARE(std::int64_t(filled), r.timeline.requested().at(StateIndex(x)));
    }
    // At the state after the request, the 3 bytes that wait are on top.
    QCOMPARE(image->image.at(4, 20 - 15), 1U);
    QCOMPARE(image->image.waiting[std::size_t((20 - 15) * w.width + 4)], 1);
    QCOMPARE(image->image.at(4, 20 - 12), 2U);
}

void TestTimelineLayout::tree()
{
    std::mt19937 random(7);
    LiveTree tree(300000);
    std::map<std::uint32_t, std::uint64_t> naive;
    const auto bytesAt = [&](std::uint32_t p) { return naive.at(p); };
    for (int i = 0; i < 4000; ++i) {
        const std::uint32_t p = static_cast<std::uint32_t>(random() % (i % 3 == 0 ? 300 : 300000));
        const auto it = naive.find(p);
        QCOMPARE(tree.contains(p), it != naive.end());
        if (it != naive.end()) {
            tree.erase(p, it->second);
            naive.erase(it);
        } else {
            naive[p] = random() % 5 == 0 ? 0 : random() % 1000;
            tree.insert(p, naive[p]);
        }
        if (i % 50 != 0)
            continue;
        std::uint64_t sum = 0;
        const std::uint32_t probe = static_cast<std::uint32_t>(random() % 300000);
        for (const auto& [q, bytes] : naive)
            sum += q < probe ? bytes : 0;
        QCOMPARE(tree.below(probe, bytesAt), sum);
        std::vector<std::pair<std::uint32_t, std::uint64_t>> expected;
        std::uint64_t end = 0;
        for (const auto& [q, bytes] : naive) {
            end += bytes;
            if (bytes > 0)
                expected.emplace_back(q, end);
        }
        QCOMPARE(tree.total(), end);
        std::vector<std::pair<std::uint32_t, std::uint64_t>> walked;
        tree.walk(0, 0, bytesAt, [&](std::uint32_t q, std::uint64_t e) {
            walked.emplace_back(q, e);
            return e;
        });
        QVERIFY(walked == expected);
    }
}

void TestTimelineLayout::nothingToDraw()
{
    TraceMaker t;
    t.segment(0x1000000, 1 << 21);
    t.block(BlockState::Inactive, 1 << 21, 0);
    const Replay r = replayOf(t.finish());
    TimelineWindow w;
    w.width = 3;
    w.height = 2;
    auto image = layoutTimeline(r, Colouring{}, StackOrder::Age, w, {});
    QVERIFY(std::all_of(
        image->image.ids.begin(), image->image.ids.end(), [](auto id) { return id == pixel::empty; }));
    QVERIFY(!image->columns[0].outside);
    w.width = 0;
    QVERIFY(layoutTimeline(r, Colouring{}, StackOrder::Age, w, {})->image.ids.empty());
    // Without times the time axis falls back to states.
    w.width = 3;
    w.timeAxis = true;
    QCOMPARE(timelineExtent(r, true), 1.0);
    QVERIFY(layoutTimeline(r, Colouring{}, StackOrder::Group, w, {}));
}

void TestTimelineLayout::stops()
{
    const Replay r = replayOf(toyRun({}).snapshot);
    std::stop_source source;
    source.request_stop();
    Job job;
    job.stop = source.get_token();
    TimelineWindow w;
    w.width = 100;
    w.height = 100;
    QVERIFY(!layoutTimeline(r, Colouring{}, StackOrder::Age, w, job));
}

/// Long traces are drawn by several threads at once: the same as one part after the other.
void TestTimelineLayout::inPartsAsInOne()
{
    constexpr double statesAColumn = 512;
    constexpr int width = 256;
    RandomTrace wish;
    wish.events = 140000;
    wish.addresses = 600;
    const Replay r = replayOf(randomTrace(wish));
    QVERIFY(r.states() > statesAColumn * width);
    const Colouring colouring = colouringOf(r, 3);
    TimelineWindow w;
    w.right = statesAColumn * width;
    w.top = double(r.timeline.requested().total().max);
    w.width = width;
    w.height = 90;
    for (const StackOrder order : {StackOrder::Age, StackOrder::Group}) {
        const auto plan = StackPlan::build(r, colouring, order);
        const auto whole = layoutTimeline(r, *plan, w, {});
        for (int from = 0; from < width; from += 64) {
            TimelineWindow part = w;
            part.left = from * statesAColumn;
            part.right = (from + 64) * statesAColumn;
            part.width = 64;
            const auto one = layoutTimeline(r, *plan, part, {});
            for (int x = 0; x < 64; ++x) {
                for (int y = 0; y < w.height; ++y) {
                    QCOMPARE(one->image.at(x, y), whole->image.at(from + x, y));
                    const auto at = [y, &w](const TimelineImage& i, int column) {
                        return i.image
                            .waiting[std::size_t(y) * std::size_t(i.window.width) + std::size_t(column)];
                    };
                    QCOMPARE(at(*one, x), at(*whole, from + x));
                }
            }
        }
    }
}

/// From the whole trace down to single events, on a screen's width: every column keeps the extremes of its
/// states, its filled rows say the curve's highest point, and nothing is drawn that is not alive there.
void TestTimelineLayout::everyZoomOfALongTrace()
{
    RandomTrace wish;
    wish.seed = 11;
    wish.events = 200000;
    wish.addresses = 3000;
    const Replay r = replayOf(randomTrace(wish));
    const Series& live = r.timeline.requested();
    std::vector<std::int64_t> curve;
    for (StateIndex s = 0; s < r.states(); ++s)
        curve.push_back(live.at(s));
    const Colouring colouring = colouringOf(r, 5);
    const auto plan = StackPlan::build(r, colouring, StackOrder::Age);
    std::mt19937 random(17);
    for (double width = r.states(); width > 40; width /= 2.7) {
        TimelineWindow w;
        w.left = std::floor((r.states() - width) * static_cast<double>(random() % 1000) / 1000);
        w.right = w.left + width;
        w.top = double(live.total().max)
            * (width > 1000 ? 1.05 : 0.5 + static_cast<double>(random() % 100) / 100);
        w.width = 1200;
        w.height = 300;
        const auto image = layoutTimeline(r, *plan, w, {});
        StateIndex next = image->columns.front().first;
        for (int x = 0; x < w.width; ++x) {
            const ColumnInfo& c = image->columns[std::size_t(x)];
            QVERIFY(c.first == next || c.first + 1 == next); // none left out between columns
            next = c.last + 1;
            const auto [low, high] = std::minmax_element(curve.begin() + c.first, curve.begin() + c.last + 1);
            QCOMPARE(c.min, *low);
            QCOMPARE(c.max, *high);
            QCOMPARE(curve[c.shown], c.max);
            int filled = 0;
            int expected = 0;
            for (int y = 0; y < w.height; ++y) {
                expected += w.top - (y + 0.5) * w.top / w.height < double(c.max) ? 1 : 0;
                const std::uint32_t id = image->image.at(x, y);
                if (id == pixel::empty)
                    continue;
                ++filled;
                QVERIFY(r.timeline.isLive(AllocationId{id}, c.shown));
            }
            QCOMPARE(filled, expected);
            if (x % 97 != 0)
                continue;
            const QByteArray wrong = wrongPixels(r, colouring, nullptr, *image, x);
            QVERIFY2(wrong.isEmpty(), wrong);
        }
    }
}

/// Several events in one microsecond, and a clock that goes back.
void TestTimelineLayout::oneMicrosecond()
{
    TraceMaker t;
    const std::int64_t times[] = {100, 100, 103, 101, 103, 105};
    for (int i = 0; i < 6; ++i) {
        t.setTime(times[i]);
        t.alloc(0x1000 + std::uint64_t(i) * 0x1000, 10);
    }
    const Replay r = replayOf(t.finish());
    TimelineWindow w;
    w.timeAxis = true;
    w.right = timelineExtent(r, true);
    QCOMPARE(w.right, 6.0);
    w.width = 12;
    const auto columns = timelineColumns(r, w);
    QCOMPARE(columns[0].first, 0U);
    QCOMPARE(columns[0].last, 2U);
    QCOMPARE(columns[0].min, 0);
    QCOMPARE(columns[0].max, 20);
    QCOMPARE(columns[1].first, 2U); // nothing begins here: what holds
    QCOMPARE(columns[5].last, 2U);
    QCOMPARE(columns[6].first, 3U);
    QCOMPARE(columns[6].last, 5U);
    QCOMPARE(columns[11].last, 6U);
}

QTEST_GUILESS_MAIN(TestTimelineLayout)
#include "tst_timeline_layout.moc"
