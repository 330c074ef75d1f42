// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/flame_layout.hpp"
#include "model/lens/call_tree.hpp"
#include "model/lens/facts.hpp"
#include "model/lens/groups.hpp"
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_trace.hpp"

#include <QTest>

#include <map>
#include <set>
#include <sstream>

using namespace tidemark;
using namespace tidemark::test;

namespace {

struct Case {
    std::shared_ptr<const Replay> replay;
    Sites sites;

    explicit Case(std::shared_ptr<const Snapshot> snapshot, SiteMode mode = SiteMode::User)
        : replay(Replay::build(std::move(snapshot), 0, {}).value())
        , sites(Sites::build(*replay->snapshot, mode))
    { }
    CallTree tree(const CallTreeWish& wish) const { return buildCallTree(*replay, sites, wish, {}).value(); }
};

Case training()
{
    TrainingTrace trace;
    trace.full = true;
    trace.leak = true;
    return Case(trace.make());
}

/// A made-up program: main calls two functions, one of them through torch; some memory has no stack.
std::shared_ptr<const Snapshot> small()
{
    TraceMaker maker;
    const StackId a = maker.stack({"leaf@/app/net.py:3", "forward@/lib/torch/nn/modules/linear.py:9",
        "step@/app/main.py:7", "<module>@/app/main.py:1"});
    const StackId b = maker.stack({"leaf@/app/net.py:4", "step@/app/main.py:7", "<module>@/app/main.py:1"});
    maker.alloc(0x1000, 100, a);
    maker.alloc(0x2000, 30, b);
    maker.alloc(0x3000, 20, b);
    maker.alloc(0x4000, 5);
    maker.free(0x2000, 30);
    maker.free(0x9000, 700); // older than the recording
    return maker.finish();
}

std::uint64_t sizeOf(const Replay& replay, const std::vector<AllocationId>& ids)
{
    std::uint64_t sum = 0;
    for (const AllocationId id : ids)
        sum += replay.timeline.allocations().size[index(id)];
    return sum;
}

std::string lines(const CallTree& tree)
{
    std::string out;
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i)
        out += std::string(tree.nodes[i].depth, '.') + tree.name(i) + ' '
            + std::to_string(static_cast<std::uint64_t>(tree.value(i))) + '\n';
    return out;
}

} // namespace

class TestCallTree : public QObject {
    Q_OBJECT
private slots:
    void fromRootAndLeaf();
    void keys();
    void timesAreWeighed();
    void sumsAreThoseOfTheScope();
    void stacksAgreeWithTheTable();
    void nodesAreConsistent();
    void foldedStacks();
    void searchedFor();
    void flameBoxes();
    void stopping();
};

void TestCallTree::fromRootAndLeaf()
{
    const Case c(small());
    CallTreeWish wish;
    wish.scope = Scope::moment(4); // after the allocations
    QCOMPARE(lines(c.tree(wish)),
        std::string("all 855\n.before recording 700\n..freed in the trace 700\n.<module>@main.py:1 150\n"
                    "..step@main.py:7 150\n...leaf@net.py:3 100\n...leaf@net.py:4 50\n.no stack 5\n"));
    wish.direction = TreeDirection::FromLeaf;
    QCOMPARE(lines(c.tree(wish)),
        std::string("all 855\n.freed in the trace 700\n..before recording 700\n.leaf@net.py:3 100\n"
                    "..step@main.py:7 100\n...<module>@main.py:1 100\n.leaf@net.py:4 50\n"
                    "..step@main.py:7 50\n...<module>@main.py:1 50\n.no stack 5\n"));
    wish.weight = TreeWeight::Count;
    QCOMPARE(c.tree(wish).name(1), std::string("leaf@net.py:4")); // two of them
    wish.direction = TreeDirection::FromRoot;
    wish.ownFramesOnly = false;
    QVERIFY(lines(c.tree(wish)).find("...forward@linear.py:9 1") != std::string::npos);
}

void TestCallTree::keys()
{
    const Case c(small());
    CallTreeWish wish;
    wish.scope = Scope::moment(4);
    wish.key = FrameKey::Function;
    const std::string functions = lines(c.tree(wish));
    QVERIFY2(functions.find("...leaf 150") != std::string::npos, functions.c_str());
    wish.key = FrameKey::File; // two frames of one file are one
    const std::string files = lines(c.tree(wish));
    QVERIFY2(files.find("./app/main.py 150\n../app/net.py 150\n") != std::string::npos, files.c_str());
    wish.key = FrameKey::Module;
    wish.ownFramesOnly = false;
    TraceMaker maker;
    maker.alloc(0x1000, 1, maker.stack({"f@/opt/lib/python3.12/site-packages/torch/nn/linear.py:9"}));
    const Case packaged(maker.finish());
    wish.scope = Scope::moment(1);
    QCOMPARE(packaged.tree(wish).name(1), std::string("torch.nn.linear"));
}

/// Bytes × time: what lived long weighs more.
void TestCallTree::timesAreWeighed()
{
    TraceMaker maker;
    const StackId stack = maker.stack({"leaf@/app/net.py:3"});
    maker.setTime(1000000);
    maker.alloc(0x1000, 100, stack);
    maker.setTime(3000000);
    maker.alloc(0x2000, 10, stack);
    maker.setTime(7000000);
    maker.free(0x1000, 100);
    const Case c(maker.finish());
    CallTreeWish wish;
    wish.scope = Scope::trace(*c.replay);
    wish.weight = TreeWeight::BytesTime;
    QCOMPARE(c.tree(wish).value(0), 6e6 * 100 + 4e6 * 10);
    QCOMPARE(c.tree(wish).folded(), std::string("leaf@net.py:3 640\n"));
    wish.scope = Scope::range(1, 2); // from the first event to the second
    QCOMPARE(c.tree(wish).value(0), 0.0); // the second one begins with it
    wish.scope = Scope::moment(2);
    QCOMPARE(c.tree(wish).value(0), 2e6 * 100);
    // Without times the events count.
    wish.scope = Scope::trace(*training().replay);
    QVERIFY(training().tree(wish).value(0) > 0);
}

void TestCallTree::sumsAreThoseOfTheScope()
{
    const Case c = training();
    CallTreeWish wish;
    for (StateIndex state = 0; state < c.replay->states(); state += 7) {
        wish.scope = Scope::moment(state);
        QCOMPARE(std::int64_t(c.tree(wish).nodes[0].bytes), c.replay->timeline.requested().at(state));
    }
    const StateIndex last = c.replay->states() - 1;
    for (const auto& [from, to] :
        {std::pair<StateIndex, StateIndex>{0, last}, {last / 3, last / 2}, {5, 5}, {last, last}}) {
        const RangeSums sums = rangeSums(*c.replay, from, to);
        wish.scope = Scope::range(from, to);
        wish.part = ScopePart::Allocated;
        QCOMPARE(c.tree(wish).nodes[0].bytes, sums.allocatedBytes);
        wish.part = ScopePart::Freed;
        QCOMPARE(c.tree(wish).nodes[0].count, sums.freed);
        wish.part = ScopePart::Surviving;
        QCOMPARE(c.tree(wish).nodes[0].bytes, sums.survivingBytes);
    }
    wish.scope = Scope::trace(*c.replay);
    wish.part = ScopePart::Allocated;
    QCOMPARE(c.tree(wish).nodes[0].count, c.replay->timeline.allocations().count());
}

/// A leaf of the tree is a row of the table of stacks.
void TestCallTree::stacksAgreeWithTheTable()
{
    const Case c = training();
    const StateIndex peak = c.replay->timeline.requested().total().maxState;
    CallTreeWish wish;
    wish.scope = Scope::moment(peak);
    const CallTree tree = c.tree(wish);
    const auto grouping = Grouping::build(*c.replay, c.sites, GroupBy::Stack);
    std::multiset<std::uint64_t> rows;
    std::map<std::uint32_t, std::uint64_t> groups;
    for (const AllocationId id : c.replay->timeline.liveAt(peak))
        groups[grouping->of(id)] += c.replay->timeline.allocations().size[index(id)];
    for (const auto& [group, bytes] : groups)
        rows.insert(bytes);
    std::multiset<std::uint64_t> leaves;
    std::istringstream text(tree.folded());
    for (std::string line; std::getline(text, line);)
        leaves.insert(std::stoull(line.substr(line.rfind(' ') + 1)));
    QVERIFY(leaves == rows);
}

void TestCallTree::nodesAreConsistent()
{
    const Case c = training();
    for (const TreeDirection direction : {TreeDirection::FromRoot, TreeDirection::FromLeaf})
        for (const bool own : {true, false})
            for (const FrameKey key :
                {FrameKey::Line, FrameKey::Function, FrameKey::File, FrameKey::Module}) {
                CallTreeWish wish;
                wish.scope = Scope::trace(*c.replay);
                wish.direction = direction;
                wish.ownFramesOnly = own;
                wish.key = key;
                const CallTree tree = c.tree(wish);
                for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
                    const CallTree::Node& node = tree.nodes[i];
                    std::uint64_t below = 0;
                    double before = tree.value(i);
                    for (std::uint32_t row = 0; row < node.children; ++row) {
                        const std::uint32_t child = tree.child(i, row);
                        QCOMPARE(tree.nodes[child].parent, i);
                        QVERIFY(tree.value(child) <= before); // heaviest first
                        before = tree.value(child);
                        below += tree.nodes[child].bytes;
                    }
                    QVERIFY(below <= node.bytes);
                    const auto ids = tree.allocations(i);
                    QCOMPARE(ids.size(), node.count);
                    QCOMPARE(sizeOf(*c.replay, ids), node.bytes);
                }
            }
}

void TestCallTree::foldedStacks()
{
    const Case c(small());
    CallTreeWish wish;
    wish.scope = Scope::moment(4);
    QCOMPARE(c.tree(wish).folded(),
        std::string(
            "before recording;freed in the trace 700\n<module>@main.py:1;step@main.py:7;leaf@net.py:3 "
            "100\n<module>@main.py:1;step@main.py:7;leaf@net.py:4 50\nno stack 5\n"));
    // Whichever way the tree is shown.
    const std::string whole = c.tree(wish).folded();
    wish.direction = TreeDirection::FromLeaf;
    std::multiset<std::string> here;
    std::multiset<std::string> there;
    std::istringstream left(whole);
    std::istringstream right(c.tree(wish).folded());
    for (std::string line; std::getline(left, line);)
        here.insert(line);
    for (std::string line; std::getline(right, line);)
        there.insert(line);
    QVERIFY(here == there);
    QVERIFY(c.tree(wish).text(0).starts_with("all\t855"));
}

void TestCallTree::searchedFor()
{
    const Case c = training();
    auto matches = std::make_shared<std::vector<std::uint8_t>>(
        c.replay->timeline.allocations().count(), std::uint8_t{0});
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < matches->size(); i += 3) {
        (*matches)[i] = 1;
        bytes += c.replay->timeline.allocations().size[i];
    }
    CallTreeWish wish;
    wish.scope = Scope::trace(*c.replay);
    wish.matches = matches;
    const CallTree tree = c.tree(wish);
    QVERIFY(tree.filtered);
    QCOMPARE(tree.nodes[0].matchedBytes, bytes);
    QCOMPARE(tree.nodes[0].matchedCount, (matches->size() + 2) / 3);
}

void TestCallTree::flameBoxes()
{
    const Case c = training();
    CallTreeWish wish;
    wish.scope = Scope::trace(*c.replay);
    wish.ownFramesOnly = false;
    const CallTree tree = c.tree(wish);
    int slivers = 0;
    for (const double width : {3.0, 40.0, 900.0}) {
        for (std::uint32_t zoomed = 0; zoomed < tree.nodes.size(); zoomed += 5) {
            const std::vector<FlameBox> boxes = layoutFlame(tree, zoomed, width);
            std::map<std::uint32_t, FlameBox> byNode;
            std::map<std::uint32_t, double> rows;
            for (const FlameBox& box : boxes) {
                QVERIFY(box.x >= 0 && box.x + box.width <= width + 1e-3);
                rows[box.row] += box.width;
                if (box.merged == 1)
                    byNode[box.node] = box;
            }
            for (const auto& [row, sum] : rows)
                QVERIFY(sum <= width + 1e-2);
            QVERIFY(byNode.contains(zoomed) && byNode[zoomed].width == static_cast<float>(width));
            for (const FlameBox& box : boxes) {
                // A sliver says what all of its boxes hold.
                std::uint64_t bytes = 0;
                std::uint64_t count = 0;
                for (std::uint32_t i = 0; i < box.merged; ++i) {
                    const std::uint32_t up = tree.nodes[box.node].parent;
                    const std::uint32_t each
                        = box.merged == 1 ? box.node : tree.child(up, tree.nodes[box.node].row + i);
                    for (const AllocationId id : tree.allocations(each)) {
                        bytes += c.replay->timeline.allocations().size[index(id)];
                        ++count;
                    }
                }
                slivers += box.merged > 1 ? 1 : 0;
                QCOMPARE(box.bytes, bytes);
                QCOMPARE(box.count, count);
                const std::uint32_t parent = tree.nodes[box.node].parent;
                if (parent == CallTree::none)
                    continue;
                QVERIFY(byNode.contains(parent));
                QVERIFY(box.x >= byNode[parent].x - 1e-2F);
                QVERIFY(box.x + box.width <= byNode[parent].x + byNode[parent].width + 1e-2F);
                if (box.merged == 1 && tree.nodes[zoomed].depth < tree.nodes[box.node].depth)
                    QVERIFY(std::abs(box.width - tree.value(box.node) / tree.value(zoomed) * width) < 1e-2);
            }
        }
    }
    QVERIFY(slivers > 0);
    QVERIFY(layoutFlame(tree, 0, 0).empty());
}

void TestCallTree::stopping()
{
    const Case c = training();
    std::stop_source source;
    source.request_stop();
    CallTreeWish wish;
    wish.scope = Scope::trace(*c.replay);
    QVERIFY(!buildCallTree(*c.replay, c.sites, wish, Job{source.get_token(), {}}));
}

QTEST_GUILESS_MAIN(TestCallTree)
#include "tst_call_tree.moc"
