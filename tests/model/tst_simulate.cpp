// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/allocator_model.hpp"
#include "tests/support/made_up_program.hpp"

#include <QTest>

#include <fstream>
#include <random>
#include <set>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

AllocatorSettings settingsOf(std::string_view conf)
{
    AllocatorSettings s;
    if (!s.apply(conf))
        qFatal("bad settings");
    return s;
}

BlockRef take(AllocatorModel& model, std::uint64_t bytes, std::int64_t stream = 0, PoolId pool = {})
{
    AllocatorModel::Request request;
    request.bytes = bytes;
    request.stream = stream;
    request.pool = pool;
    return model.allocate(request).value_or(BlockRef::none);
}

} // namespace

/// The rules of the allocator one by one, and against the Python reference.
class TestSimulate : public QObject {
    Q_OBJECT
private slots:
    void placements();
    void structureHolds();
    void blockOrder();
    void smallPool();
    void largePool();
    void streams();
    void delayedFrees();
    void pools();
    void oversize();
    void garbage();
    void fraction();
    void pages();
    void failedMapping();
    void copies();
    void settings();
    void refusedSettings_data();
    void refusedSettings();
};

/// The same made-up programs as the Python reference ran, to the last address.
void TestSimulate::placements()
{
    std::ifstream file(TIDEMARK_TEST_DATA "/allocator_placements.txt");
    std::string line;
    int count = 0;
    for (; std::getline(file, line); ++count)
        QCOMPARE(MadeUpProgram(std::stoull(line)).run(), line);
    QCOMPARE(count, 200);
}

void TestSimulate::structureHolds()
{
    for (std::uint64_t seed = 5000; seed < 5060; ++seed) {
        std::string broken;
        MadeUpProgram(seed).run([&](const AllocatorModel& model) {
            if (broken.empty())
                broken = model.broken();
            if (model.reserved() < model.allocated() + model.pending())
                broken = "more in blocks than reserved";
        });
        QVERIFY2(broken.empty(), (broken + " with seed " + std::to_string(seed)).c_str());
    }
}

void TestSimulate::blockOrder()
{
    BlockOrder order;
    std::set<std::pair<std::uint64_t, std::uint64_t>> truth;
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t size = random() % 64 * 512;
        if (truth.size() < 1500 && (i < 4000 || random() % 2 == 0)) {
            const std::uint64_t address = random() % 100000;
            if (truth.emplace(size, address).second)
                order.insert({size, address, static_cast<std::uint32_t>(address)});
        } else if (!truth.empty()) {
            auto victim = truth.lower_bound({size, 0});
            if (victim == truth.end())
                victim = truth.begin();
            order.erase({victim->first, victim->second, 0});
            truth.erase(victim);
        }
        const auto expected = truth.lower_bound({size, 0});
        const auto found = order.lowerBound({size, 0, 0});
        QCOMPARE(found == order.end(), expected == truth.end());
        if (expected != truth.end())
            QCOMPARE(std::pair(order.at(found).size, order.at(found).address), *expected);
    }
    auto place = order.begin();
    for (const auto& [size, address] : truth) {
        QCOMPARE(order.at(place).address, address);
        place = order.next(place);
    }
    QVERIFY(place == order.end());
}

/// Segments of 2 MiB, cut at 512 B, front first.
void TestSimulate::smallPool()
{
    AllocatorModel model({});
    const BlockRef a = take(model, 100);
    const BlockRef b = take(model, 1000);
    QCOMPARE(model.sizeOf(a), 512U);
    QCOMPARE(model.sizeOf(b), 1024U);
    QCOMPARE(model.addressOf(b), model.addressOf(a) + 512);
    QCOMPARE(model.reserved(), 2 * mib);
    take(model, 1 * mib);
    QCOMPARE(model.reserved(), 2 * mib);
    take(model, 1 * mib + 1);
    QCOMPARE(model.reserved(), 22 * mib);
}

/// Rests of up to 1 MiB stay with their block; free neighbours merge; best fit.
void TestSimulate::largePool()
{
    AllocatorModel model({});
    const BlockRef big = take(model, 27 * mib);
    QCOMPARE(model.sizeOf(big), 28 * mib);
    const std::uint64_t where = model.addressOf(big);
    model.free(big);
    const BlockRef part = take(model, 20 * mib);
    QCOMPARE(model.addressOf(part), where);
    const BlockRef rest = take(model, 7 * mib);
    QCOMPARE(model.sizeOf(rest), 8 * mib);
    model.free(part);
    const BlockRef best = take(model, 19 * mib + 1);
    QCOMPARE(model.sizeOf(best), 20 * mib);
    model.free(rest);
    model.free(best);
    QCOMPARE(model.segments().size(), 1U);
    QCOMPARE(model.segments()[0].blocks.size(), 1U);
    model.emptyCache();
    QCOMPARE(model.reserved(), 0U);
    QCOMPARE(model.peakReserved(), 28 * mib);
}

void TestSimulate::streams()
{
    AllocatorModel model({});
    model.free(take(model, 4 * mib));
    take(model, 4 * mib, 7);
    QCOMPARE(model.reserved(), 40 * mib);
    take(model, 4 * mib);
    QCOMPARE(model.reserved(), 40 * mib);
}

/// A block that another stream reads stays pending until that stream is known to be done.
void TestSimulate::delayedFrees()
{
    AllocatorModel model({});
    const BlockRef a = take(model, 4 * mib);
    const std::uint64_t where = model.addressOf(a);
    model.noteStream(a, 0); // its own: ignored
    model.noteStream(a, 7);
    model.free(a);
    QCOMPARE(model.pending(), 4 * mib);
    QVERIFY(model.addressOf(take(model, 4 * mib)) != where);
    model.streamDone(7);
    QCOMPARE(model.pending(), 4 * mib);
    QCOMPARE(model.addressOf(take(model, 4 * mib)), where);
    QCOMPARE(model.pending(), 0U);

    const BlockRef b = take(model, 30 * mib);
    model.requestFree(b);
    model.emptyCache(); // waits for everything
    QCOMPARE(model.takeSynchronised().size(), 1U);
    QCOMPARE(model.pending(), 0U);
    QCOMPARE(model.reserved(), 20 * mib);
}

/// Private pools share nothing and keep their memory until nobody uses them.
void TestSimulate::pools()
{
    AllocatorModel model({}, 100 * mib);
    const PoolId pool{1};
    model.usePool(pool);
    model.free(take(model, 64 * mib, 0, pool));
    QCOMPARE(take(model, 60 * mib), BlockRef::none);
    model.emptyCache();
    QCOMPARE(model.reserved(), 64 * mib);
    model.releasePool(pool);
    model.emptyCache();
    QCOMPARE(model.reserved(), 0U);
    // A request inside a scope does not flush.
    model.free(take(model, 64 * mib));
    QCOMPARE(take(model, 64 * mib, 0, pool), BlockRef::none);
    QCOMPARE(model.counts().flushes, 1U);
    QVERIFY(take(model, 80 * mib) != BlockRef::none);
    QCOMPARE(model.counts().flushes, 2U);
}

/// Blocks above max_split_size are neither cut nor given to small requests; they go one by one.
void TestSimulate::oversize()
{
    AllocatorModel model(settingsOf("max_split_size_mb:100"), 300 * mib);
    const BlockRef a = take(model, 200 * mib);
    const std::uint64_t where = model.addressOf(a);
    model.free(a);
    QVERIFY(model.addressOf(take(model, 50 * mib)) != where);
    QCOMPARE(model.reserved(), 250 * mib);
    const BlockRef b = take(model, 190 * mib);
    QCOMPARE(model.addressOf(b), where);
    QCOMPARE(model.sizeOf(b), 200 * mib);
    model.free(b);
    QVERIFY(take(model, 150 * mib) != BlockRef::none);
    QCOMPARE(model.counts().flushes, 0U);
    QCOMPARE(model.reserved(), 200 * mib);
}

void TestSimulate::garbage()
{
    AllocatorModel model(
        settingsOf("garbage_collection_threshold:0.5,per_process_memory_fraction:1"), 1000 * mib);
    const BlockRef old[] = {take(model, 200 * mib), take(model, 210 * mib), take(model, 220 * mib)};
    for (const BlockRef block : old)
        model.free(block);
    take(model, 400 * mib);
    QVERIFY(model.reserved() < 1030 * mib);
    QVERIFY(model.counts().segmentFrees > 0);
    QCOMPARE(model.counts().flushes, 0U);
}

void TestSimulate::fraction()
{
    AllocatorModel model(settingsOf("per_process_memory_fraction:0.5"), 1000 * mib);
    QVERIFY(take(model, 490 * mib) != BlockRef::none);
    QCOMPARE(take(model, 20 * mib), BlockRef::none);
    QCOMPARE(*model.deviceFree(), 510 * mib);
}

/// Expandable ranges grow by pages of 20 MiB (small pool 2 MiB); whole free pages go back, edges stay.
void TestSimulate::pages()
{
    AllocatorModel model(settingsOf("expandable_segments:True"), 1000 * mib);
    model.keepDriverEvents(true);
    const BlockRef a = take(model, 30 * mib);
    QCOMPARE(model.sizeOf(a), 30 * mib);
    QCOMPARE(model.reserved(), 40 * mib);
    const BlockRef b = take(model, 45 * mib);
    QCOMPARE(model.addressOf(b), model.addressOf(a) + 30 * mib);
    QCOMPARE(model.reserved(), 80 * mib);
    const BlockRef c = take(model, 5 * mib);
    const std::uint64_t base = model.addressOf(a);
    model.free(b);
    model.takeDriverEvents();
    model.emptyCache();
    const DriverEvent expected{Action::SegmentUnmap, base + 40 * mib, 20 * mib, 0};
    QCOMPARE(model.takeDriverEvents(), std::vector{expected});
    QCOMPARE(model.segments().size(), 2U);
    QCOMPARE(model.broken(), std::string());
    // The gap is filled again before the end grows.
    const BlockRef d = take(model, 45 * mib);
    QCOMPARE(model.addressOf(d), base + 30 * mib);
    QCOMPARE(model.reserved(), 80 * mib);
    for (const BlockRef block : {a, c, d})
        model.free(block);
    model.emptyCache();
    QCOMPARE(model.reserved(), 0U);
    take(model, 100);
    QCOMPARE(model.reserved(), 2 * mib);
}

/// What was mapped before the driver said no stays as cached memory until the flush.
void TestSimulate::failedMapping()
{
    AllocatorModel model(settingsOf("expandable_segments:True"), 100 * mib);
    const BlockRef a = take(model, 60 * mib);
    take(model, 20 * mib);
    model.free(a);
    model.emptyCache();
    QCOMPARE(model.reserved(), 20 * mib);
    QCOMPARE(take(model, 85 * mib), BlockRef::none);
    QCOMPARE(model.counts().flushes, 1U);
    QCOMPARE(model.broken(), std::string());
    QVERIFY(take(model, 80 * mib) != BlockRef::none);
    QCOMPARE(*model.deviceFree(), 0U);
}

void TestSimulate::copies()
{
    AllocatorModel model({});
    const BlockRef a = take(model, 30 * mib);
    AllocatorModel copy(model);
    copy.free(a);
    copy.emptyCache();
    QCOMPARE(copy.reserved(), 0U);
    QCOMPARE(model.reserved(), 30 * mib);
    QCOMPARE(model.allocated(), 30 * mib);
}

void TestSimulate::settings()
{
    const char* text
        = "expandable_segments:True,max_split_size_mb:128,roundup_power2_divisions:4,"
          "garbage_collection_threshold:0.6,max_non_split_rounding_mb:40,large_segment_size_mb:32,"
          "per_process_memory_fraction:0.9";
    const AllocatorSettings s = settingsOf(text);
    QCOMPARE(s.conf(), std::string(text));
    QVERIFY(settingsOf(s.conf()) == s);
    QCOMPARE(s.rounding.roundSize(5 * mib + 1), 6 * mib);
    QCOMPARE(AllocatorSettings().conf(), std::string());
    const AllocatorSettings list = settingsOf("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
    QCOMPARE(list.rounding.divisions[0], 1U);
    QCOMPARE(list.rounding.divisions[9], 2U);
    QCOMPARE(list.rounding.divisions[10], 4U);
    QCOMPARE(list.rounding.divisions[15], 8U);
    QVERIFY(settingsOf(list.conf()) == list);
    QVERIFY(settingsOf("backend:native, pinned_num_register_threads:8") == AllocatorSettings());
}

void TestSimulate::refusedSettings_data()
{
    QTest::addColumn<QString>("conf");
    for (const char* conf : {"expandable_segments:yes", "max_split_size_mb:10", "max_split_size_mb:many",
             "garbage_collection_threshold:1.5", "garbage_collection_threshold:nan",
             "per_process_memory_fraction:0", "roundup_power2_divisions:3", "roundup_power2_divisions:[]",
             "roundup_power2_divisions:[256:3]", "large_segment_size_mb:7", "max_non_split_rounding_mb:1",
             "colour:blue", "max_split_size_mb:99999999999999999999"})
        QTest::newRow(conf) << conf;
}

void TestSimulate::refusedSettings()
{
    QFETCH(QString, conf);
    AllocatorSettings s;
    const auto done = s.apply("expandable_segments:True," + conf.toStdString());
    QVERIFY(!done.ok());
    QVERIFY(!done.error().message.empty());
    QVERIFY(s == AllocatorSettings());
}

QTEST_GUILESS_MAIN(TestSimulate)
#include "tst_simulate.moc"
