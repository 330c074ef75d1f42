// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/run/guarded_open.hpp"
#include "tests/support/recorded_snapshot.hpp"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

using namespace tidemark;
using namespace tidemark::test;

namespace fs = std::filesystem;

namespace {

fs::path write(const fs::path& path, const std::string& bytes)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

RecordedSnapshot small()
{
    RecordedSnapshot s;
    s.frames = {
        {"forward", "/app/net.py", 12}, {"_call_impl", "/venv/site-packages/torch/nn/modules/module.py", 9}};
    s.stacks = {{1, 0}};
    s.events = {{"segment_alloc", 4096, 2097152, 0, 10, noStack}, {"alloc", 4096, 700, 0, 20, 0}};
    s.segments = {{4096, 2097152, 0, true, {0, 0}, false, noStack,
        {{4096, 1024, 700, "active_allocated", 0}, {5120, 2096128, 0, "inactive", noStack}}}};
    s.marks = {{true, "forward", 15}, {false, "forward", 25}, {true, "backward", 26}};
    return s;
}

std::string memoryEvent(int device, int size)
{
    return "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":1,\"args\":{\"Device Type\":"
        + std::to_string(device < 0 ? 0 : 1) + ",\"Device Id\":" + std::to_string(device)
        + ",\"Addr\":512,\"Bytes\":" + std::to_string(size) + "}}";
}

QStringList namesOf(const std::vector<fs::path>& paths)
{
    QStringList out;
    for (const fs::path& path : paths)
        out << QString::fromStdString(path.filename().string());
    return out;
}

} // namespace

class TestRank : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void stopsBeforeMemoryRunsOut()
    {
        const fs::path file
            = write(fs::path(m_folder->path().toStdString()) / "a.pickle", writePickle(small()));
        constexpr std::uint64_t MiB = 1 << 20;
        const auto left = [](std::uint64_t bytes) {
            return [bytes] { return std::optional(MemoryState{1000 * MiB, bytes}); };
        };
        QVERIFY(openRankWith(file, {}, {}, left(65 * MiB)));
        QVERIFY(openRankWith(file, {}, {}, [] { return std::optional<MemoryState>(); }));
        const auto refused = openRankWith(file, {}, {}, left(63 * MiB));
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::TooLarge);
        const QString sentence = QString::fromStdString(refused.error().message);
        QVERIFY2(sentence.contains(QStringLiteral("needs more memory than is free")), qPrintable(sentence));
        QVERIFY2(sentence.contains(QStringLiteral("63.0\u00a0MiB of 1,000\u00a0MiB")), qPrintable(sentence));
        // Who asked to stop gets to hear just that.
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(openRankWith(file, {}, {stop.get_token(), {}}, left(1000 * MiB)).error().code,
            ErrorCode::Cancelled);
        const auto real = systemMemory();
        QVERIFY(!real || (real->available > 0 && real->available <= real->total));
    }

    void everythingTheViewsNeed()
    {
        const fs::path path = write(folder() / "a.pickle", writePickle(small()));
        std::vector<Stage> stages;
        Job job;
        job.progress = [&](const Progress& p) {
            if (stages.empty() || stages.back() != p.stage)
                stages.push_back(p.stage);
        };
        const auto opened = openRank(path, {}, job);
        QVERIFY2(opened, opened ? "" : opened.error().message.c_str());
        const Rank& rank = **opened;
        QCOMPARE(rank.snapshot->source.name, std::string("a.pickle"));
        QCOMPARE(rank.devices.size(), std::size_t{1});
        QCOMPARE(rank.devices[0]->timeline.requested().last(), std::int64_t{700});
        QCOMPARE(rank.marks[0].size(), std::size_t{2});
        QCOMPARE(
            allocationSite(*rank.devices[0], *rank.sites, AllocationId{0}), std::string("forward@net.py:12"));
        QCOMPARE(allocationSite(*rank.devices[0], *rank.rawSites, AllocationId{0}),
            std::string("_call_impl@module.py:9"));
        QVERIFY(stages.front() == Stage::Open);
        QVERIFY(stages.back() == Stage::Replay);
    }

    void unpairedMarksAreNoted()
    {
        const auto opened = openRank(write(folder() / "a.pickle", writePickle(small())), {}, Job{});
        QVERIFY(opened);
        const auto notes = (*opened)->quality(0);
        const auto note = std::ranges::find(notes, Quality::UnpairedMarks, &QualityNote::id);
        QVERIFY(note != notes.end());
        QCOMPARE(note->count, std::uint64_t{1});
        QCOMPARE(note->examples, std::vector<std::string>{"backward"});
        QCOMPARE(note->device, std::optional<int>(0));
    }

    void severalDevices()
    {
        std::string text = "{\"traceEvents\":[" + memoryEvent(-1, 64);
        for (int i = 0; i < 3; ++i)
            text += "," + memoryEvent(-1, 64 + i);
        text += "," + memoryEvent(0, 100) + "," + memoryEvent(1, 200) + "," + memoryEvent(1, -200) + "]}";
        const auto opened = openRank(write(folder() / "t.json", text), {}, Job{});
        QVERIFY(opened);
        const Rank& rank = **opened;
        QCOMPARE(rank.devices.size(), std::size_t{3});
        for (std::size_t i = 0; i < 3; ++i)
            QCOMPARE(rank.devices[i]->deviceIndex, i);
        // The CPU has most events, but GPUs are what people come for; device 1 has more than device 0.
        QCOMPARE(rank.snapshot->devices[rank.mainDevice()].ordinal, 1);
        const auto all = rank.quality();
        const auto ofOne = rank.quality(0);
        QVERIFY(ofOne.size() < all.size());
        QVERIFY(std::ranges::count(ofOne, Quality::OtherRecorder, &QualityNote::id) == 1);
        QVERIFY(!all.front().device);
        for (const QualityNote& note : ofOne)
            QVERIFY(!note.device || *note.device == rank.snapshot->devices[0].ordinal);
    }

    void fileWithoutDevices()
    {
        const auto opened = openRank(write(folder() / "t.json", "[[1000,2,5,0]]"), {}, Job{});
        QVERIFY(opened);
        QVERIFY((*opened)->devices.empty());
        QVERIFY((*opened)->snapshot->categories);
        QCOMPARE((*opened)->mainDevice(), std::size_t{0});
        QVERIFY(!(*opened)->quality().empty());
    }

    void errors()
    {
        QCOMPARE(openRank(folder() / "nowhere.pickle", {}, Job{}).error().code, ErrorCode::NotFound);
        QCOMPARE(openRank(write(folder() / "empty.pickle", ""), {}, Job{}).error().code, ErrorCode::Empty);
        QCOMPARE(openRank(write(folder() / "a.svg", "<svg width=\"1\"/>"), {}, Job{}).error().code,
            ErrorCode::NotASnapshot);
    }

    void stopped()
    {
        std::stop_source source;
        source.request_stop();
        const auto opened
            = openRank(write(folder() / "a.pickle", writePickle(small())), {}, Job{source.get_token(), {}});
        QVERIFY(!opened);
        QCOMPARE(opened.error().code, ErrorCode::Cancelled);
    }

    void stoppedInTheMiddle()
    {
        RecordedSnapshot big = small();
        for (int i = 0; i < 50'000; ++i)
            big.events.push_back({"alloc", static_cast<std::uint64_t>(8192 + i * 512), 512, 0, 30 + i, 0});
        const fs::path path = write(folder() / "big.pickle", writePickle(big));
        for (const Stage at : {Stage::Read, Stage::Replay}) {
            std::stop_source source;
            Job job{source.get_token(), [&](const Progress& p) {
                        if (p.stage == at)
                            source.request_stop();
                    }};
            const auto opened = openRank(path, {}, job);
            QVERIFY(!opened);
            QCOMPARE(opened.error().code, ErrorCode::Cancelled);
        }
    }

    void foldersByName()
    {
        for (const char* name :
            {"rank10.pickle", "rank2.pickle", "rank02.pickle", "rank1.pickle", ".hidden", "B.txt", "a.txt"})
            write(folder() / "run" / name, "x");
        write(folder() / "run" / "deeper" / "rank0.pickle", "x");
        const std::vector<fs::path> paths{folder() / "run"};
        const auto files = expandPaths(paths);
        QVERIFY(files);
        QCOMPARE(namesOf(*files),
            (QStringList{
                "B.txt", "a.txt", "rank1.pickle", "rank02.pickle", "rank2.pickle", "rank10.pickle"}));
    }

    void numbersOfAnyLength()
    {
        for (const char* name : {"s99999999999999999999999", "s100000000000000000000000", "s0", "s"})
            write(folder() / "run" / name, "x");
        const std::vector<fs::path> paths{folder() / "run"};
        QCOMPARE(namesOf(*expandPaths(paths)),
            (QStringList{"s", "s0", "s99999999999999999999999", "s100000000000000000000000"}));
    }

    void pathsInTheOrderGiven()
    {
        write(folder() / "run" / "b", "x");
        write(folder() / "run" / "a", "x");
        write(folder() / "z", "x");
        const std::vector<fs::path> paths{folder() / "z", folder() / "run", folder() / "missing"};
        const auto files = expandPaths(paths);
        QVERIFY(files);
        // A missing file stays in the list: opening it says so, and the others are still read.
        QCOMPARE(namesOf(*files), (QStringList{"z", "a", "b", "missing"}));
    }

    void emptyFolder()
    {
        fs::create_directories(folder() / "none" / "deeper");
        const std::vector<fs::path> paths{folder() / "none"};
        const auto files = expandPaths(paths);
        QVERIFY(!files);
        QCOMPARE(files.error().code, ErrorCode::NotFound);
        QVERIFY(expandPaths({})->empty());
    }

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestRank)
#include "tst_rank.moc"
