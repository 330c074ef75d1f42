// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/address_index.hpp"
#include "model/replay/block_rules.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <random>
#include <set>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

BlockRules rulesOf(TraceMaker& maker)
{
    const auto snapshot = maker.finish();
    return BlockRules::of(*snapshot, snapshot->devices.front());
}

BlockRules rulesOfText(const char* config)
{
    TraceMaker t;
    t.segment(0x1000, 2 * mib);
    t.builder().addSetting("PYTORCH_CUDA_ALLOC_CONF", std::string(config));
    return rulesOf(t);
}

} // namespace

class TestBlockRules : public QObject {
    Q_OBJECT
private slots:
    void plainRounding();
    void powerOfTwoDivisions();
    void settingsAsKeys();
    void padding();
    void recordersThatStateBlocks();
    void rests();
    void bitTree();
    void ranks();
};

void TestBlockRules::plainRounding()
{
    const BlockRules r;
    QCOMPARE(r.roundSize(0), 0U);
    QCOMPARE(r.roundSize(1), 512U);
    QCOMPARE(r.roundSize(512), 512U);
    QCOMPARE(r.roundSize(513), 1024U);
    QCOMPARE(r.roundSize(mib + 1), mib + 512);
}

void TestBlockRules::powerOfTwoDivisions()
{
    const BlockRules r = rulesOfText("max_split_size_mb:128, roundup_power2_divisions:4");
    QCOMPARE(r.maxSplitSize, 128 * mib);
    QCOMPARE(r.roundSize(1200), 1536U); // below 512 times the divisions: plain
    QCOMPARE(r.roundSize(5 * mib), 5 * mib);
    QCOMPARE(r.roundSize(5 * mib + 1), 6 * mib);
    QCOMPARE(r.roundSize(8 * mib), 8 * mib);
    const BlockRules list
        = rulesOfText("expandable_segments:True,roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
    QCOMPARE(list.divisions[0], 1U);
    QCOMPARE(list.divisions[8], 1U);
    QCOMPARE(list.divisions[9], 2U);
    QCOMPARE(list.divisions[10], 4U);
    QCOMPARE(list.divisions[11], 8U);
    QCOMPARE(list.divisions[15], 8U);
    for (const char* broken :
        {"roundup_power2_divisions:", "roundup_power2_divisions:[", "roundup_power2_divisions:[a:b",
            "roundup_power2_divisions:[:,>", "roundup_power2_divisions:[,,,]", "max_split_size_mb:x"}) {
        const BlockRules r2 = rulesOfText(broken);
        QCOMPARE(r2.maxSplitSize, ~std::uint64_t{0});
        QCOMPARE(r2.roundSize(5 * mib + 1), 5 * mib + 512);
    }
}

void TestBlockRules::settingsAsKeys()
{
    TraceMaker t;
    t.segment(0x1000, 2 * mib);
    t.builder().addSetting("max_split_size", std::int64_t{-1});
    for (int c = 0; c < 16; ++c)
        t.builder().addSetting(
            "roundup_power2_divisions." + std::to_string(1 << c), std::int64_t{c == 2 ? 4 : 0});
    const BlockRules r = rulesOf(t);
    QCOMPARE(r.maxSplitSize, ~std::uint64_t{0});
    QCOMPARE(r.roundSize(5 * mib + 1), 6 * mib);
    QCOMPARE(r.roundSize(9 * mib + 1), 9 * mib + 512);
}

/// Ascend's allocator adds 32 bytes before it rounds; its own blocks show it.
void TestBlockRules::padding()
{
    TraceMaker t;
    t.segment(0x100000, 20 * mib);
    for (int i = 1; i < 5; ++i)
        t.block(BlockState::Allocated, 512 * i + 512, 512 * i);
    t.block(BlockState::Allocated, 512, 100);
    const BlockRules r = rulesOf(t);
    QVERIFY(!r.exactRequests);
    QCOMPARE(r.roundSize(mib), mib + 512);
    QCOMPARE(r.roundSize(480), 512U);
    QCOMPARE(r.roundSize(481), 1024U);
}

void TestBlockRules::recordersThatStateBlocks()
{
    TraceMaker host(-1);
    host.segment(0x100000, 4096);
    QCOMPARE(rulesOf(host).roundSize(100), 100U);
    TraceMaker unrounded;
    unrounded.segment(0x100000, 4000);
    unrounded.block(BlockState::Allocated, 1000, 1000);
    QCOMPARE(rulesOf(unrounded).roundSize(100), 100U);
    TraceMaker plain;
    plain.segment(0x100000, 4096);
    plain.block(BlockState::Allocated, 1024, 1000);
    QCOMPARE(rulesOf(plain).roundSize(100), 512U);
}

void TestBlockRules::rests()
{
    BlockRules r;
    QCOMPARE(r.largestRest(2 * mib, SegmentKind::Large, true), mib);
    QCOMPARE(r.largestRest(2 * mib, SegmentKind::Large, false), 511U);
    QCOMPARE(r.largestRest(512, SegmentKind::Small, true), 511U);
    r.maxSplitSize = 4 * mib;
    QCOMPARE(r.largestRest(2 * mib, SegmentKind::Large, true), mib);
    QVERIFY(r.largestRest(4 * mib, SegmentKind::Large, true) > (1ULL << 40));
}

void TestBlockRules::bitTree()
{
    for (const std::uint32_t capacity : {1U, 64U, 65U, 5000U, 300000U}) {
        std::mt19937 random(capacity);
        BitTree tree(capacity);
        std::set<std::uint32_t> naive;
        for (int i = 0; i < 3000; ++i) {
            const auto p = static_cast<std::uint32_t>(random() % capacity);
            QCOMPARE(tree.contains(p), naive.count(p) != 0);
            if (random() % 2 == 0) {
                tree.insert(p);
                naive.insert(p);
            } else {
                tree.erase(p);
                naive.erase(p);
            }
            const auto q = static_cast<std::uint32_t>(random() % capacity);
            const auto above = naive.upper_bound(q);
            QCOMPARE(tree.after(q), above == naive.end() ? BitTree::none : *above);
            const auto below = naive.lower_bound(q);
            QCOMPARE(tree.before(q), below == naive.begin() ? BitTree::none : *std::prev(below));
        }
    }
}

void TestBlockRules::ranks()
{
    QVERIFY(AddressRanks::build({}).addresses.empty());
    std::mt19937_64 random(4);
    for (const std::uint64_t spread : {1ULL, 1000ULL, 1ULL << 40, ~0ULL}) {
        std::vector<std::uint64_t> column;
        for (int i = 0; i < 2000; ++i)
            column.push_back(0x7000000000000000ULL + random() % spread);
        const AddressRanks ranks = AddressRanks::build(column);
        const std::set<std::uint64_t> sorted(column.begin(), column.end());
        QVERIFY(std::equal(sorted.begin(), sorted.end(), ranks.addresses.begin(), ranks.addresses.end()));
        for (std::size_t i = 0; i < column.size(); ++i)
            QCOMPARE(ranks.addresses[ranks.rankOf[i]], column[i]);
        QCOMPARE(ranks.lowerBound(0), 0U);
        QCOMPARE(ranks.lowerBound(*sorted.rbegin()), static_cast<std::uint32_t>(sorted.size() - 1));
    }
}

QTEST_GUILESS_MAIN(TestBlockRules)
#include "tst_block_rules.moc"
