// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cache/packed_file.hpp"
#include "model/cache/rank_cache.hpp"
#include "model/replay/figures.hpp"
#include "tests/support/made_up_program.hpp"
#include "tests/support/recorded_snapshot.hpp"
#include "tests/support/sample_training.hpp"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <sstream>
#include <thread>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace tidemark;
using namespace tidemark::test;

namespace fs = std::filesystem;

namespace {

std::string contentOf(const fs::path& file)
{
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

void write(const fs::path& file, const std::string& bytes)
{
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// The checksum of a cache file made right again, as somebody who forges one would.
std::string signedAgain(std::string bytes)
{
    constexpr std::size_t hash = 16;
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size() - hash));
    bytes.replace(bytes.size() - hash, hash, reinterpret_cast<const char*>(canonical.digest), hash);
    return bytes;
}

/// Asks all that views ask, so that a wrong index is found out.
void use(const Rank& rank)
{
    for (std::size_t i = 0; i < rank.devices.size(); ++i) {
        const Replay& replay = *rank.devices[i];
        deviceFigures(replay);
        for (const StateIndex state : {StateIndex{0}, replay.states() / 2, replay.states() - 1}) {
            replay.timeline.liveAt(state);
            replay.segments.stateAt(state, replay.timeline);
            replay.timeline.requested().extremes(0, state);
        }
    }
    rank.quality();
}

} // namespace

class TestRankCache : public QObject {
    Q_OBJECT
private:
    fs::path folder() const { return fs::path(m_folder->path().toStdString()); }
    RankCache cache(const std::string& program = "test", std::uint64_t most = 1ULL << 30) const
    {
        return {folder() / "cache", most, program};
    }
    /// The one file the cache holds.
    fs::path entry() const
    {
        for (const auto& each : fs::directory_iterator(folder() / "cache"))
            return each.path();
        return {};
    }
    /// A recording of more bytes than the cache thinks worth its while.
    fs::path recording(const char* name, int more = 0) const
    {
        SampleTraining training;
        RecordedSnapshot s = recordSampleTraining(training);
        const std::vector<RecordedEvent> once = s.events;
        while (s.events.size() < 100'000)
            s.events.insert(s.events.end(), once.begin(), once.end());
        for (int i = 0; i < more; ++i)
            s.events.push_back(s.events[static_cast<std::size_t>(i)]);
        const fs::path file = folder() / name;
        write(file, writePickle(s));
        return file;
    }
    bool keep(const RankCache& into, const fs::path& file) const
    {
        const auto stamp = RankCache::stampOf(file);
        const auto rank = openRank(file, {}, {});
        return rank && into.store(file, *stamp, **rank, {});
    }
    std::unique_ptr<QTemporaryDir> m_folder;

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void comesBackTheSame()
    {
        const fs::path file = recording("a.pickle");
        QVERIFY(fs::file_size(file) > RankCache::leastFile);
        QVERIFY(!cache().load(file, {}));
        QVERIFY(keep(cache(), file));
        const std::string bytes = contentOf(entry());
        const auto loaded = cache().load(file, {});
        QVERIFY(loaded);
        use(*loaded);
        // Written again from what was read it is the same to the byte: nothing was lost or changed.
        const auto stamp = RankCache::stampOf(file);
        QVERIFY(cache().store(file, *stamp, *loaded, {}));
        QCOMPARE(contentOf(entry()), bytes);
        const auto fresh = openRank(file, {}, {});
        const Replay& a = *(*fresh)->devices[0];
        const Replay& b = *loaded->devices[0];
        QCOMPARE(b.monotoneTimes, a.monotoneTimes);
        QCOMPARE(b.device().events.address, a.device().events.address);
        QCOMPARE(b.device().events.size, a.device().events.size);
        QCOMPARE(b.device().events.stack, a.device().events.stack);
        QVERIFY(b.requestedByStream.size() == a.requestedByStream.size());
        for (StateIndex s = 0; s < a.states(); s += 501) {
            QCOMPARE(b.timeline.liveAt(s), a.timeline.liveAt(s));
            QCOMPARE(b.timeline.requested().at(s), a.timeline.requested().at(s));
            QCOMPARE(b.segments.allocated().at(s), a.segments.allocated().at(s));
            QCOMPARE(b.segments.reserved().at(s), a.segments.reserved().at(s));
            QCOMPARE(b.timeline.requested().extremes(0, s).max, a.timeline.requested().extremes(0, s).max);
        }
        QCOMPARE(loaded->marks[0].size(), (*fresh)->marks[0].size());
        QCOMPARE(loaded->sites->count(), (*fresh)->sites->count());
        QCOMPARE(loaded->quality().size(), (*fresh)->quality().size());
    }

    void isKnownByContentAlone()
    {
        const fs::path file = recording("a.pickle");
        QVERIFY(keep(cache(), file));
        const fs::path moved = folder() / "b.bin";
        fs::rename(file, moved);
        const auto loaded = cache().load(moved, {});
        QVERIFY(loaded);
        QCOMPARE(loaded->snapshot->source.path, moved.string());
        QCOMPARE(loaded->snapshot->source.name, std::string("b.bin"));
        // The same length, one byte of another kind somewhere in the middle.
        std::string bytes = contentOf(moved);
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        const auto times = fs::last_write_time(moved);
        write(moved, bytes);
        fs::last_write_time(moved, times);
        QVERIFY(!cache().load(moved, {}));
        // Another build derives anew.
        write(moved, contentOf(moved));
        QVERIFY(keep(cache(), recording("c.pickle")));
        QVERIFY(!cache("another build").load(folder() / "c.pickle", {}));
    }

    void keepsNothingOfAPart()
    {
        const fs::path file = recording("a.pickle");
        const auto stamp = RankCache::stampOf(file);
        ReadOptions options;
        options.lastEvents = 1000;
        const auto part = openRank(file, options, {});
        QVERIFY(part);
        QVERIFY(!cache().store(file, *stamp, **part, {}));
        // Nor of a file that has changed since.
        const auto whole = openRank(file, {}, {});
        write(file, contentOf(file) + " ");
        QVERIFY(!cache().store(file, *stamp, **whole, {}));
        QCOMPARE(cache().bytes(), std::uint64_t{0});
    }

    void staysWithinItsBounds()
    {
        const fs::path a = recording("a.pickle");
        const fs::path b = recording("b.pickle", 10);
        QVERIFY(keep(cache(), a));
        const std::uint64_t one = cache().bytes();
        QVERIFY(one > 0);
        QVERIFY(keep(cache("test", one * 3 / 2), b));
        QVERIFY(cache().bytes() < one * 3 / 2);
        QVERIFY(!cache().load(a, {}));
        QVERIFY(cache().load(b, {}));
        QVERIFY(!keep(cache("test", one / 2), b));
        QCOMPARE(cache().bytes(), std::uint64_t{0});
        QVERIFY(keep(cache(), a));
        cache().clear();
        QCOMPARE(cache().bytes(), std::uint64_t{0});
        QCOMPARE(
            fs::status(folder() / "cache").permissions() & (fs::perms::group_all | fs::perms::others_all),
            fs::perms::none);
    }

    void damagedOnesAreAsGoodAsNone()
    {
        const fs::path file = recording("a.pickle");
        QVERIFY(keep(cache(), file));
        const fs::path kept = entry();
        const std::string good = contentOf(kept);
        SeededNumbers numbers(7);
        const auto refused = [&](const std::string& bytes) {
            write(kept, bytes);
            return cache().load(file, {}) == nullptr && !fs::exists(kept);
        };
        for (int i = 0; i < 40; ++i)
            QVERIFY(refused(good.substr(0, numbers.below(good.size()))));
        QVERIFY(refused(""));
        QVERIFY(refused(good + "x"));
        for (int i = 0; i < 60; ++i) {
            std::string flipped = good;
            const std::size_t at = numbers.below(good.size());
            flipped[at] = static_cast<char>(flipped[at] ^ (1U << numbers.below(8)));
            QVERIFY(refused(flipped));
        }
        write(kept, good);
        QVERIFY(cache().load(file, {}));
    }

    void forgedOnesDoNoHarm()
    {
        const fs::path file = recording("a.pickle");
        QVERIFY(keep(cache(), file));
        const fs::path kept = entry();
        const std::string good = contentOf(kept);
        SeededNumbers numbers(11);
        int taken = 0;
        for (int i = 0; i < 150; ++i) {
            std::string forged = good;
            for (std::uint64_t n = 1 + numbers.below(3); n > 0; --n) {
                // Heads of columns and the values at the end are worth more than packed bytes in the middle.
                const std::size_t near = numbers.below(2) == 0 ? 4096 : good.size();
                const std::size_t at = numbers.below(2) == 0 ? numbers.below(std::min(near, good.size()))
                                                             : good.size() - 1 - numbers.below(near);
                forged[at] = static_cast<char>(numbers.below(256));
            }
            write(kept, signedAgain(forged));
            if (const auto rank = cache().load(file, {})) {
                use(*rank);
                ++taken;
            }
        }
        QVERIFY(taken < 150);
    }

    void columnsOfAllKinds()
    {
        const fs::path file = folder() / "columns";
        const std::vector<std::uint64_t> wild{0, ~0ULL, 1, 1ULL << 63U, 5};
        const std::vector<std::int64_t> below{-1, std::numeric_limits<std::int64_t>::min(), 3, 3, 3};
        const std::vector<std::uint32_t> same(100'000, 7);
        std::vector<std::int64_t> rising;
        std::vector<StackId> ids{StackId::none, StackId{0}, StackId{41}, StackId::none};
        for (int i = 0; i < 100'000; ++i)
            rising.push_back(1'700'000'000'000'000 + std::int64_t{i} * 37 + i % 5);
        const std::vector<std::uint64_t> none;
        {
            PackedWriter out(file, "id");
            out.column(wild);
            out.column(below);
            out.column(same);
            out.column(rising);
            out.column(ids);
            out.column(none);
            out.value(-3);
            out.text("text");
            QVERIFY(out.close());
        }
        QVERIFY(fs::file_size(file) < 60'000);
        PackedReader in(file, "id", 100 << 20);
        std::vector<std::uint64_t> wildRead;
        std::vector<std::int64_t> belowRead;
        std::vector<std::uint32_t> sameRead;
        std::vector<std::int64_t> risingRead;
        std::vector<StackId> idsRead;
        std::vector<std::uint64_t> noneRead{1};
        int number = 0;
        std::string text;
        in.column(wildRead);
        in.column(belowRead);
        in.column(sameRead);
        in.column(risingRead);
        in.column(idsRead);
        in.column(noneRead);
        in.value(number);
        in.text(text);
        QVERIFY(in.atEnd());
        QCOMPARE(wildRead, wild);
        QCOMPARE(belowRead, below);
        QCOMPARE(sameRead, same);
        QCOMPARE(risingRead, rising);
        QCOMPARE(idsRead, ids);
        QCOMPARE(noneRead, none);
        QCOMPARE(number, -3);
        QCOMPARE(text, std::string("text"));
        QVERIFY(!PackedReader(file, "other", 100 << 20).good());
        PackedReader small(file, "id", 1000);
        small.column(wildRead);
        small.column(belowRead);
        small.column(sameRead);
        QVERIFY(!small.good());
    }
};

QTEST_GUILESS_MAIN(TestRankCache)
#include "tst_rank_cache.moc"
