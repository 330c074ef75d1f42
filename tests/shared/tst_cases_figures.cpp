// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.hpp"
#include "model/core/parse.hpp"
#include "model/lens/groups.hpp"
#include "model/run/rank.hpp"
#include "tests/support/json_subset.hpp"
#include "tests/support/shared_cases.hpp"
#include "tests/support/shared_paths.hpp"

#include <QTest>

#include <algorithm>
#include <set>
#include <sstream>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

Json expectationOf(const std::string& name)
{
    return caseExpectation(casesFolder() / name);
}

std::shared_ptr<const Rank> opened(const char* name, const char* file)
{
    auto rank = openRank(casesFolder() / name / file, {}, {});
    if (!rank)
        qFatal("%s/%s: %s", name, file, rank.error().message.c_str());
    return *rank;
}

std::uint64_t address(const std::string& hexadecimal)
{
    return parseAddress(hexadecimal).value();
}

AllocationId allocationAt(const Replay& replay, std::uint64_t where)
{
    const auto& addresses = replay.timeline.allocations().address;
    const auto found = std::ranges::find(addresses, where);
    return found == addresses.end() ? AllocationId::none
                                    : AllocationId{static_cast<std::uint32_t>(found - addresses.begin())};
}

} // namespace

class TestCasesFigures : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    }

    void everyFile_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("file");
        int count = 0;
        for (const CaseFile& file : caseFiles()) {
            const Json whole = caseExpectation(file.folder);
            const Json opens = expectedOf(whole, file.name, "opens");
            // A case about a folder states its notes for the set, not for each file.
            if (!std::filesystem::is_regular_file(file.path()) || whole.contains("ranks")
                || !opens.is_boolean() || !opens.get<bool>()
                || !expectedOf(whole, file.name, "either_ok").is_null())
                continue;
            QTest::newRow(file.id().c_str())
                << QString::fromStdString(file.caseName()) << QString::fromStdString(file.name);
            ++count;
        }
        QVERIFY2(count >= 100, std::to_string(count).c_str());
    }

    void everyFile()
    {
        QFETCH(QString, name);
        QFETCH(QString, file);
        const Json whole = expectationOf(name.toStdString());
        const std::string path = (casesFolder() / name.toStdString() / file.toStdString()).string();
        const std::vector<const char*> arguments{"info", "--json", path.c_str()};
        std::ostringstream out;
        std::ostringstream err;
        QCOMPARE(runCommandLine(arguments, out, err, nullptr), std::optional<int>(exitStatus::done));
        const Json info = Json::parse(out.str());
        if (whole.contains("figures") && whole["figures"].contains(file.toStdString()))
            QCOMPARE(
                QString::fromStdString(missingFrom(info, whole["figures"][file.toStdString()])), QString());
        std::set<std::string> ids;
        for (const Json& note : info["data_quality"])
            ids.insert(note["id"].get<std::string>());
        for (const Json& id : expectedOf(whole, file.toStdString(), "data_quality"))
            QVERIFY2(ids.count(id) == 1, ("lacks " + id.get<std::string>()).c_str());
        for (const Json& id : expectedOf(whole, file.toStdString(), "no_data_quality"))
            QVERIFY2(ids.count(id) == 0, ("has " + id.get<std::string>()).c_str());
    }

    void lostEvents()
    {
        const Json derived = expectationOf("U-05-lost-events")["derived"];
        const auto rank = opened("U-05-lost-events", "snapshot.pickle");
        const Replay& replay = *rank->devices[0];
        QVERIFY(replay.timeline.requested().total().max
            <= derived["never_above"]["live_requested"].get<std::int64_t>());
        std::set<std::string> named;
        for (const Quality id : {Quality::ReallocOfLive, Quality::FreeOfUnknown})
            named.insert(replay.note(id)->examples.begin(), replay.note(id)->examples.end());
        for (const Json& wanted : derived["notes_name"])
            QVERIFY2(named.count(wanted) == 1, wanted.get<std::string>().c_str());
    }

    void rowsExplainThePeak()
    {
        const Json wanted = expectationOf("U-08-step-seed")["derived"]["attribution_at_event"];
        const auto rank = opened("U-08-step-seed", "snapshot.pickle");
        const Replay& replay = *rank->devices[0];
        const auto grouping = Grouping::build(replay, *rank->sites, GroupBy::Site);
        const auto rows = groupLive(replay, *grouping, stateOf(wanted["event"]));
        QCOMPARE(rows.size(), wanted["rows"].size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            QCOMPARE(grouping->name(rows[i].group), wanted["rows"][i]["site"].get<std::string>());
            QCOMPARE(rows[i].bytes, wanted["rows"][i]["bytes"].get<std::uint64_t>());
        }
    }

    void freeOnly()
    {
        const Json wanted = expectationOf("U-09-free-only")["derived"]["live_after_event"];
        for (const char* file : {"default-pool.pickle", "private-pool.pickle"}) {
            const auto rank = opened("U-09-free-only", file);
            for (const auto& [event, bytes] : wanted.items())
                QCOMPARE(rank->devices[0]->timeline.requested().at(stateOf(std::stoll(event))),
                    bytes.get<std::int64_t>());
        }
    }

    void wrappedRing()
    {
        const auto rank = opened("U-11-ring-wrapped", "ring-full.pickle.gz");
        QVERIFY(!rank->devices[0]->reachesStart());
        QCOMPARE(rank->devices[0]->timeline.requested().first(), std::int64_t(28311552000));
    }

    /// Four allocations without a stack, four different reasons.
    void whyThereIsNoStack()
    {
        const auto mixed = opened("U-12-no-stack-why", "mixed.pickle");
        const auto none = opened("U-12-no-stack-why", "none.pickle");
        std::set<std::string> reasons;
        for (const char* where : {"0x7f4000000000", "0x7f4000a00000", "0x7f4001600000"})
            reasons.insert(whyNoStack(
                *mixed->devices[0], mixed->marks[0], allocationAt(*mixed->devices[0], address(where))));
        reasons.insert(whyNoStack(*none->devices[0], none->marks[0], AllocationId{0}));
        QCOMPARE(reasons.size(), std::size_t(4));
        QVERIFY(reasons.count("") == 0);
        const auto first = [&](const char* where) {
            return QString::fromStdString(whyNoStack(
                *mixed->devices[0], mixed->marks[0], allocationAt(*mixed->devices[0], address(where))));
        };
        QVERIFY(first("0x7f4000000000").contains("before recording"));
        QVERIFY(first("0x7f4000a00000").contains("forward"));
        QVERIFY(first("0x7f4001600000").contains("backward thread"));
    }

    void waitingForAStream()
    {
        const Json derived = expectationOf("U-23-waiting-for-a-stream")["derived"];
        const auto rank = opened("U-23-waiting-for-a-stream", "snapshot.pickle");
        const AllocationColumns& c = rank->devices[0]->timeline.allocations();
        std::set<std::int64_t> streams;
        for (std::size_t i = 0; i < c.count(); ++i)
            if (c.pendingState[i] < c.endState[i])
                streams.insert(rank->snapshot->streams[index(c.stream[i])]);
        QCOMPARE(streams, std::set<std::int64_t>{derived["stream_of_pending"].get<std::int64_t>()});
    }

    void peakPerStream()
    {
        const Json derived = expectationOf("U-46-peak-per-stream")["derived"];
        const auto rank = opened("U-46-peak-per-stream", "snapshot.pickle");
        std::int64_t sum = 0;
        QCOMPARE(rank->devices[0]->requestedByStream.size(), derived["peak_per_stream"].size());
        for (const auto& [stream, series] : rank->devices[0]->requestedByStream) {
            const std::string key = std::to_string(rank->snapshot->streams[index(stream)]);
            QCOMPARE(series.total().max, derived["peak_per_stream"][key].get<std::int64_t>());
            sum += series.total().max;
        }
        QCOMPARE(sum, derived["sum_of_stream_peaks"].get<std::int64_t>());
    }

    void annotationsOfAnAllocation()
    {
        const auto rank = opened("U-45-annotations-on-allocations", "snapshot.pickle");
        const Replay& replay = *rank->devices[0];
        const Json texts = expectationOf("U-45-annotations-on-allocations")["derived"]["texts"];
        for (const auto& [where, wanted] : texts.items()) {
            const AllocationId id = allocationAt(replay, address(where));
            std::vector<std::string> found;
            for (const AnnotatedAllocation& note : replay.timeline.annotations())
                if (note.allocation == id)
                    found.emplace_back(
                        rank->snapshot->strings.view(replay.device().events.userMetadata[index(note.event)]));
            QCOMPARE(found, wanted.get<std::vector<std::string>>());
        }
    }

    void spikeAndPlateau()
    {
        const Json derived = expectationOf("U-49-spike-and-plateau")["derived"];
        const auto rank = opened("U-49-spike-and-plateau", "snapshot.pickle");
        const Series& live = rank->devices[0]->timeline.requested();
        for (const Json& window : derived["windows"]) {
            // The states after the window's events.
            const StateIndex first = stateOf(window["events"][0]);
            const Series::Extremes extremes = live.extremes(first, stateOf(window["events"][1]));
            QCOMPARE(extremes.min, window["min"].get<std::int64_t>());
            QCOMPARE(extremes.max, window["max"].get<std::int64_t>());
            QCOMPARE(live.at(first - 1), window["live_at_start"].get<std::int64_t>());
        }
        QCOMPARE(momentOf(live.total().maxState), derived["first_event_of_spike"].get<Moment>());
        const auto peaks = rank->devices[0]->timeline.localPeaks();
        QVERIFY(std::ranges::find(peaks, live.total().maxState) != peaks.end());
    }
};

QTEST_GUILESS_MAIN(TestCasesFigures)
#include "tst_cases_figures.moc"
