// SPDX-License-Identifier: GPL-3.0-or-later
// Cases and real files of neighbouring formats: JSON, pages, profiler traces and timelines, and what is no
// snapshot at all.
#include "model/core/parse.hpp"
#include "model/run/rank.hpp"
#include "tests/support/shared_cases.hpp"
#include "tests/support/shared_paths.hpp"

#include <nlohmann/json.hpp>

#include <QtTest>

using namespace tidemark;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

Result<std::shared_ptr<const Rank>> open(const fs::path& path)
{
    return openRank(path, {}, Job{});
}

std::size_t deviceAt(const Rank& rank, int ordinal)
{
    const auto& devices = rank.snapshot->devices;
    return static_cast<std::size_t>(
        std::ranges::find(devices, ordinal, &DeviceTrace::ordinal) - devices.begin());
}

/// Highest total of a category timeline and its row.
std::pair<std::int64_t, std::size_t> peakOf(const CategoryTimeline& timeline)
{
    std::pair<std::int64_t, std::size_t> peak{0, 0};
    for (std::size_t row = 0; row < timeline.timesUs.size(); ++row) {
        std::int64_t sum = 0;
        for (const auto& category : timeline.bytes)
            sum += category[row];
        if (sum > peak.first)
            peak = {sum, row};
    }
    return peak;
}

/// The curves and counts of one device against what the reference says.
void compareDevice(const Replay& replay, const json& figures)
{
    const Timeline& t = replay.timeline;
    QCOMPARE(replay.device().events.count(), figures["events"].get<std::size_t>());
    std::map<std::string, std::uint64_t> actions;
    for (const Action action : replay.device().events.action)
        ++actions[actionName(action)];
    QCOMPARE(actions, (figures["actions"].get<std::map<std::string, std::uint64_t>>()));
    const json& live = figures["live"];
    QCOMPARE(t.requested().first(), live["at_start"].get<std::int64_t>());
    QCOMPARE(t.requested().last(), live["at_end"].get<std::int64_t>());
    QCOMPARE(t.requested().total().max, live["peak"].get<std::int64_t>());
    QCOMPARE(momentOf(t.requested().total().maxState), live["peak_event"].get<Moment>());
    QCOMPARE(t.predating().freedInTrace, figures["predating"]["freed_in_trace"].get<std::uint64_t>());
    QCOMPARE(t.predating().aliveAtEndBytes, figures["predating"]["alive_at_end_bytes"].get<std::uint64_t>());
    const json& reserved = figures["reserved"];
    QCOMPARE(replay.segments.reserved().total().max, reserved["peak"].get<std::int64_t>());
    QCOMPARE(replay.segments.reserved().last(), reserved["at_end"].get<std::int64_t>());
    QCOMPARE(replay.device().segments.size(), figures["segments"]["count"].get<std::size_t>());
    QCOMPARE(replay.device().blocks.size(), figures["segments"]["blocks"].get<std::size_t>());
}

} // namespace

class TestCasesKin : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (test::sharedFolder().empty())
            QSKIP("the outside test material is not here");
        m_cases = test::sharedFolder() / "cases";
        m_corpus = test::sharedFolder() / "corpus";
    }

    void cases_data()
    {
        QTest::addColumn<QString>("file");
        int count = 0;
        for (const char* prefix : {"F-14", "F-20", "F-23", "F-24", "F-25", "F-26", "F-27", "U-07"})
            for (const test::CaseFile& file : test::caseFiles(prefix)) {
                const json whole = test::caseExpectation(file.folder);
                // Whether the others open, and what a refusal says, is tst_cases_reading's.
                if (!test::expectedOf(whole, file.name, "figures").contains(file.name))
                    continue;
                QTest::newRow(file.id().c_str()) << QString::fromStdString(file.path().string());
                ++count;
            }
        QVERIFY2(count >= 19, std::to_string(count).c_str());
    }
    void cases()
    {
        QFETCH(QString, file);
        const fs::path path = file.toStdString();
        const std::string name = path.filename().string();
        const auto opened = open(path);
        QVERIFY2(opened.ok(), opened ? "" : opened.error().message.c_str());
        const json figures = test::expectedOf(test::caseExpectation(path.parent_path()), name, "figures");
        const json& want = figures[name];
        const Rank& rank = **opened;
        QCOMPARE(rank.snapshot->source.encoding, want["encoding"].get<std::string>());
        QCOMPARE(rank.snapshot->source.container, want["container"].get<std::string>());
        QCOMPARE(rank.snapshot->annotations.size(), want["annotations"].get<std::size_t>());
        QCOMPARE(rank.devices.size(), want["devices"].size());
        for (std::size_t i = 0; i < rank.devices.size(); ++i)
            compareDevice(*rank.devices[i], want["devices"][i]);
    }

    void highAddressesStayApart()
    {
        const fs::path folder = m_cases / "F-23-json";
        const auto opened = open(folder / "high-addresses.json");
        QVERIFY(opened);
        const json expected = test::caseExpectation(folder);
        const auto& blocks = (*opened)->snapshot->devices[0].blocks;
        for (const auto& text : expected["files"]["high-addresses.json"]["derived"]["addresses"]) {
            const auto address = parseAddress(text.get<std::string>());
            QVERIFY2(
                std::ranges::count(blocks, address, &Block::address) == 1, text.get<std::string>().c_str());
        }
    }

    void profilerTimeline()
    {
        const fs::path folder = m_cases / "F-26-profiler-timeline";
        const json derived = test::caseExpectation(folder)["derived"];
        for (const char* name : {"timeline.json", "timeline.json.gz", "timeline.raw.json.gz"}) {
            const auto opened = open(folder / name);
            QVERIFY(opened);
            const CategoryTimeline& t = *(*opened)->snapshot->categories;
            const auto [peak, row] = peakOf(t);
            QCOMPARE(peak, derived["peak"].get<std::int64_t>());
            QCOMPARE(t.timesUs[row], derived["peak_time_us"].get<std::int64_t>());
            std::int64_t atEnd = 0;
            for (std::size_t c = 0; c < t.bytes.size(); ++c) {
                QCOMPARE(
                    t.bytes[c][row], derived["at_peak"].value(CategoryTimeline::names[c], std::int64_t{0}));
                atEnd += t.bytes[c].back();
            }
            QCOMPARE(atEnd, derived["at_end"].get<std::int64_t>());
            const bool raw = std::string(name).find("raw") != std::string::npos;
            QCOMPARE(t.predating,
                raw ? std::optional(derived["predating"].get<std::int64_t>())
                    : std::optional<std::int64_t>());
            QVERIFY(!(*opened)->quality().empty());
        }
    }

    void kinetoTrace()
    {
        const fs::path folder = m_cases / "F-27-kineto-trace";
        const json derived = test::caseExpectation(folder)["derived"];
        for (const char* name : {"run.pt.trace.json", "run.pt.trace.json.gz"}) {
            const auto opened = open(folder / name);
            QVERIFY(opened);
            const Rank& rank = **opened;
            QCOMPARE(rank.snapshot->source.kind, SourceKind::KinetoTrace);
            QCOMPARE(rank.devices.size(), std::size_t{2});
            const std::size_t gpu = deviceAt(rank, 0);
            QCOMPARE(rank.mainDevice(), gpu);
            const Replay& cuda = *rank.devices[gpu];
            const Replay& cpu = *rank.devices[deviceAt(rank, cpuOrdinal)];
            const auto ooms = cuda.device().ooms.size();
            QCOMPARE(cuda.device().events.count() - ooms + cpu.device().events.count(),
                derived["memory_events"].get<std::size_t>());
            QCOMPARE(ooms, derived["ooms"].get<std::size_t>());
            QCOMPARE(cuda.timeline.requested().total().max, derived["cuda_peak"].get<std::int64_t>());
            QCOMPARE(cuda.timeline.requested().last(), derived["cuda_at_end"].get<std::int64_t>());
            QCOMPARE(cpu.timeline.requested().total().max, derived["cpu_peak"].get<std::int64_t>());
            QCOMPARE(cuda.segments.reserved().total().max, std::int64_t{23068672});
            QCOMPARE(cuda.timeUs(1), std::optional<std::int64_t>(1739836029604110));

            const AllocationColumns& a = cuda.timeline.allocations();
            QCOMPARE(a.count(), derived["cuda_allocations"].get<std::size_t>());
            for (std::size_t i = 0; i < a.count(); ++i) {
                const json& owner = derived["owners"][i];
                QCOMPARE(valid(a.stack[i]), !owner.is_null());
                if (valid(a.stack[i])) {
                    const FrameId innermost = rank.snapshot->stacks[a.stack[i]].front();
                    QCOMPARE(std::string(rank.snapshot->strings.view(rank.snapshot->frames[innermost].name)),
                        owner.get<std::string>());
                }
            }
            const auto first = rank.snapshot->stacks[a.stack[0]];
            QCOMPARE(first.size(), std::size_t{2});
            QCOMPARE(std::string(rank.snapshot->strings.view(rank.snapshot->frames[first[1]].name)),
                std::string("nn.Module: Linear_0"));
            QCOMPARE(rank.marks[gpu].size(), std::size_t{1});
            QVERIFY(rank.marks[gpu][0].step);
        }
    }

    /// Figures worked out apart from the program, by adding the entries up.
    void realMemoryTimeline()
    {
        const auto opened = open(m_corpus / "51-hta-memory-timeline-raw" / "memory_timeline.raw.gz");
        QVERIFY(opened);
        const CategoryTimeline& t = *(*opened)->snapshot->categories;
        QCOMPARE(t.timesUs.size(), std::size_t{7720});
        const auto [peak, row] = peakOf(t);
        QCOMPARE(peak, std::int64_t{3082832104});
        QCOMPARE(t.timesUs[row], std::int64_t{1696966047194486});
        QCOMPARE(t.predating, std::optional<std::int64_t>(332060904));
    }

    void realTraceOf2021()
    {
        const auto opened
            = open(m_corpus / "59-kineto-trace-memory-2021" / "worker0.1623143089861.pt.trace.json.gz");
        QVERIFY(opened);
        const Rank& rank = **opened;
        const Replay& gpu = *rank.devices[deviceAt(rank, 0)];
        const Replay& cpu = *rank.devices[deviceAt(rank, cpuOrdinal)];
        QCOMPARE(gpu.device().events.count(), std::size_t{8220});
        QCOMPARE(gpu.timeline.allocations().count(), std::size_t{4110});
        QCOMPARE(gpu.timeline.requested().total().max, std::int64_t{2791636480});
        QCOMPARE(momentOf(gpu.timeline.requested().total().maxState), Moment{433});
        QCOMPARE(gpu.timeline.requested().last(), std::int64_t{0});
        QCOMPARE(cpu.device().events.count(), std::size_t{4618});
        QCOMPARE(cpu.timeline.requested().total().max, std::int64_t{57803264});
        QCOMPARE(cpu.timeline.requested().last(), std::int64_t{19267840});
        QCOMPARE(gpu.timeline.irregularities().reallocOfLive, std::uint64_t{0});
        QVERIFY(!gpu.segments.reservedKnown());
        const auto steps = std::ranges::count_if(rank.marks[deviceAt(rank, 0)], &Mark::step);
        QCOMPARE(steps, 6);
        const auto notes = rank.quality();
        QVERIFY(std::ranges::any_of(notes, [](const QualityNote& n) {
            return n.id == Quality::OtherRecorder && n.sentence.find("no address") != std::string::npos;
        }));
    }

    /// The recorder's own totals: 91,360,768 bytes stood before, 101,305,344 at most.
    void realTraceWithTotals()
    {
        const auto opened
            = open(m_corpus / "68-tl-trace-h100-small" / "gaunernst_bert-small-uncased__1016001.json.gz");
        QVERIFY(opened);
        const Rank& rank = **opened;
        const Replay& gpu = *rank.devices[deviceAt(rank, 0)];
        QCOMPARE(gpu.device().events.count(), std::size_t{218});
        QCOMPARE(gpu.timeline.requested().first(), std::int64_t{91360768});
        QCOMPARE(gpu.timeline.requested().total().max, std::int64_t{101305344});
        QCOMPARE(momentOf(gpu.timeline.requested().total().maxState), Moment{213});
        QCOMPARE(gpu.timeline.requested().last(), std::int64_t{91360768});
        QCOMPARE(gpu.segments.reserved().last(), std::int64_t{121634816});
        QCOMPARE(gpu.timeUs(1), std::optional<std::int64_t>(1751410836000000 + 1419247333400));
        const auto notes = rank.quality(deviceAt(rank, 0));
        QVERIFY(std::ranges::none_of(
            notes, [](const QualityNote& n) { return n.id == Quality::SomeStacksMissing; }));
    }

    void realFilesThatAreNone_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("words");
        QTest::newRow("53") << "53-hta-trace-rocm62/mi250_minitoy_train_ROCm6_2_kineto.json.gz"
                            << "[memory]|profile_memory=True";
        QTest::newRow("54") << "54-hta-trace-large-integers/rank-70.Mar_25_20_48_12.2861.pt.trace.json.gz"
                            << "[memory]|profile_memory=True";
        QTest::newRow("55") << "55-zdevito-cudagraph-html/cudagraph.html"
                            << "html|viewer|pickle";
        QTest::newRow("56") << "56-zdevito-trace-html/trace.html"
                            << "html|viewer|pickle";
        QTest::newRow("57") << "57-zdevito-segments-svg/segments.svg"
                            << "svg|pickle";
    }
    void realFilesThatAreNone()
    {
        QFETCH(QString, file);
        QFETCH(QString, words);
        const auto opened = open(m_corpus / file.toStdString());
        QVERIFY(!opened);
        QCOMPARE(opened.error().code, ErrorCode::NotASnapshot);
        for (const QString& word : words.split('|'))
            QVERIFY2(
                test::messageHas(opened.error().message, word.toStdString()), opened.error().message.c_str());
    }

private:
    fs::path m_cases;
    fs::path m_corpus;
};

QTEST_GUILESS_MAIN(TestCasesKin)
#include "tst_cases_kin.moc"
