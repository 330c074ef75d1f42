// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/run/guarded_open.hpp"
#include "model/snapshot/outside_range.hpp"
#include "tests/support/made_up_program.hpp"
#include "tests/support/range_checks.hpp"
#include "tests/support/recorded_snapshot.hpp"
#include "tests/support/sample_training.hpp"

#include <QTemporaryDir>
#include <QtTest>

#include <array>
#include <fstream>

using namespace tidemark;
using namespace tidemark::test;

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t base = 0x7f0000000000;
constexpr std::uint64_t granule = 4096;

/// Anything that a trace can say of a few addresses, in any order: lost and doubled frees, frees of what is
/// older, frees that wait; in segments of which some come and go, with blocks in use that may not fit the
/// trace.
RecordedSnapshot wild(std::uint64_t seed, bool segments, bool completions)
{
    SeededNumbers numbers(seed);
    RecordedSnapshot s;
    s.frames = {{"forward", "/app/net.py", 12}};
    s.stacks = {{0}};
    constexpr std::uint64_t places = 6;
    const std::array words{"alloc", "alloc", "free_requested", "free_completed", "free_completed"};
    for (int i = 0; i < 70; ++i) {
        const std::uint64_t address = base + numbers.below(places) * granule;
        const std::uint64_t which = numbers.below(words.size());
        const auto size = static_cast<std::int64_t>(512 * (1 + numbers.below(8)));
        const std::int64_t time = 1000 + i;
        if (!completions && which >= 3) {
            s.events.push_back({"free_requested", address, size, 0, time, noStack});
        } else if (which == 2 && numbers.below(2) == 0) {
            s.events.push_back({"free_requested", address, size, 0, time, noStack});
            if (completions)
                s.events.push_back({"free_completed", address, size, 0, time, noStack});
        } else {
            s.events.push_back({words[which], address, size, 0, time, which < 2 ? 0 : noStack});
        }
    }
    if (!segments)
        return s;
    // The last segment is reserved, given back and reserved again; the first is older than the trace.
    const auto insert = [&](const char* word, std::size_t place, std::uint64_t address) {
        s.events.insert(s.events.begin() + static_cast<std::ptrdiff_t>(place),
            {word, address, 2097152, 0, 1000 + static_cast<std::int64_t>(place), noStack});
    };
    const std::uint64_t second = base + (64U << 20);
    insert("segment_alloc", 60, second);
    insert("segment_free", 40, second);
    insert("segment_alloc", 20, second);
    RecordedSegment first{base, 2097152, 0, true, {0, 0}, false, noStack, {}};
    for (std::uint64_t place = 0; place < places + 2; ++place) {
        // The last two places are named by no event.
        const bool used = numbers.below(2) == 0;
        first.blocks.push_back({base + place * granule, granule, used ? 700U : granule,
            used ? (numbers.below(4) == 0 ? "active_pending_free" : "active_allocated") : "inactive",
            noStack});
    }
    first.blocks.push_back({base + (places + 2) * granule, 2097152 - (places + 2) * granule,
        2097152 - (places + 2) * granule, "inactive", noStack});
    s.segments = {first,
        {second, 2097152, 0, true, {0, 0}, false, noStack,
            {{second, 2097152, 2097152, "inactive", noStack}}}};
    return s;
}

} // namespace

class TestEventRange : public QObject {
    Q_OBJECT
private:
    fs::path write(const RecordedSnapshot& snapshot)
    {
        const fs::path path = fs::path(m_folder.path().toStdString()) / "a.pickle";
        std::ofstream(path, std::ios::binary | std::ios::trunc) << writePickle(snapshot);
        return path;
    }
    QTemporaryDir m_folder;

private slots:
    void curvesAreThoseOfTheWholeFile()
    {
        const fs::path file = write(recordSampleTraining());
        const auto whole = openRank(file, {}, {});
        QVERIFY(whole);
        const std::uint64_t events = (*whole)->devices[0]->device().events.count();
        for (const ReadOptions& options : rangesToTry(events, 25, 1)) {
            const std::string different = differenceOfRange(**whole, file, options);
            QVERIFY2(different.empty(), different.c_str());
        }
    }

    void oddTraces_data()
    {
        QTest::addColumn<bool>("segments");
        QTest::addColumn<bool>("completions");
        QTest::newRow("bare") << false << true;
        QTest::newRow("with segments") << true << true;
        QTest::newRow("without completions") << false << false;
        QTest::newRow("without completions, with segments") << true << false;
    }
    void oddTraces()
    {
        QFETCH(bool, segments);
        QFETCH(bool, completions);
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            const RecordedSnapshot snapshot = wild(seed, segments, completions);
            const fs::path file = write(snapshot);
            const auto whole = openRank(file, {}, {});
            QVERIFY(whole);
            for (const ReadOptions& options : rangesToTry(snapshot.events.size(), 20, seed)) {
                const std::string different = differenceOfRange(**whole, file, options);
                QVERIFY2(different.empty(), ("seed " + std::to_string(seed) + ", " + different).c_str());
            }
        }
    }

    void whoLivesKeepsItsStack()
    {
        RecordedSnapshot s = wild(3, false, true);
        s.events = {{"alloc", base, 700, 0, 10, 0}, {"alloc", base + granule, 300, 0, 11, 0},
            {"free_completed", base, 700, 0, 12, noStack}};
        ReadOptions options;
        options.lastEvents = 1;
        const auto rank = openRank(write(s), options, {});
        QVERIFY(rank);
        const AllocationColumns& a = (*rank)->devices[0]->timeline.allocations();
        QCOMPARE(a.count(), std::size_t{2});
        for (std::size_t i = 0; i < 2; ++i)
            QVERIFY(valid(a.stack[i]));
        QCOMPARE((*rank)->devices[0]->device().firstEventInFile, 2U);
    }

    void whatIsOutsideIsNotStored()
    {
        RecordedSnapshot s;
        s.frames = {{"forward", "/app/net.py", 12}};
        s.stacks = {{0}};
        constexpr int pairs = 200'000;
        for (int i = 0; i < pairs; ++i) {
            const std::uint64_t address = base + static_cast<std::uint64_t>(i % 50) * granule;
            s.events.push_back({"alloc", address, 512, 0, i, 0});
            s.events.push_back({"free_completed", address, 512, 0, i, 0});
        }
        const fs::path file = write(s);
        ReadOptions last;
        last.lastEvents = 1000;
        ReadOptions middle;
        middle.events = {100'000, 100'999};
        for (const ReadOptions& options : {last, middle}) {
            const auto rank = openRank(file, options, {});
            QVERIFY(rank);
            const EventColumns& e = (*rank)->devices[0]->device().events;
            QCOMPARE(e.count(), std::size_t{1000});
            QVERIFY(e.address.capacity() < 200'000);
        }
    }

    void theNoteSaysWhatIsNotThere()
    {
        const fs::path file = write(recordSampleTraining());
        ReadOptions options;
        options.events = {100, 199};
        const auto rank = openRank(file, options, {});
        QVERIFY(rank);
        const Replay& replay = *(*rank)->devices[0];
        const QualityNote* note = replay.note(Quality::EventRange);
        QVERIFY(note != nullptr);
        QVERIFY2(note->sentence.find("Only events 100 to 199 of ") == 0, note->sentence.c_str());
        QVERIFY(note->sentence.find("not loaded") != std::string::npos);
        QVERIFY(!replay.reachesStart());
        // Nothing else is said of how the recording begins.
        QVERIFY(replay.note(Quality::RingWrapped) == nullptr && replay.note(Quality::LateStart) == nullptr);
        const auto whole = openRank(file, {}, {});
        QVERIFY((*whole)->devices[0]->note(Quality::EventRange) == nullptr);
    }

    void theGuardNamesTheNeed()
    {
        const fs::path file = write(recordSampleTraining());
        constexpr std::uint64_t MiB = 1 << 20;
        Stage stage = Stage::Open;
        const Job job{{}, [&stage](const Progress& progress) { stage = progress.stage; }};
        const auto shortInReplay = [&stage] {
            return std::optional(MemoryState{1000 * MiB, stage == Stage::Replay ? 20 * MiB : 920 * MiB});
        };
        const auto refused = openRankWith(file, {}, job, shortInReplay);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::TooLarge);
        QVERIFY2(refused.error().message.find("about 1.32\u00a0GiB in all") != std::string::npos,
            refused.error().message.c_str());
        const auto always = openRankWith(file, {}, {}, [] {
            return std::optional(MemoryState{1000 * MiB, MiB});
        });
        QVERIFY(!always);
        QVERIFY2(always.error().message.find("range of events") != std::string::npos,
            always.error().message.c_str());
    }
};

QTEST_GUILESS_MAIN(TestEventRange)
#include "tst_event_range.moc"
