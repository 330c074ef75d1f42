// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/digest.hpp"
#include "model/job/summarise.hpp"
#include "tests/shared/scenario_maker.hpp"
#include "tests/support/json_subset.hpp"

#include <QTest>

#include <cmath>
#include <fstream>
#include <set>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

SummarisedJob summed(const fs::path& folder)
{
    const std::vector<fs::path> paths{folder};
    auto job = discover(paths, {}, {});
    if (!job)
        throw std::runtime_error(job.error().message);
    auto all = summarise(*job, {}, {});
    if (!all)
        throw std::runtime_error(all.error().message);
    return std::move(all).value();
}

Json readJson(const fs::path& file)
{
    std::ifstream in(file);
    return Json::parse(in);
}

Json reportOf(const SummarisedJob& all)
{
    return Json::parse(all.diagnosis.json(all.ranks, "job"));
}

bool same(const Json& want, const Json& got)
{
    if (want.is_number() && got.is_number())
        return std::abs(want.get<double>() - got.get<double>())
            <= 1e-4 * std::max(1.0, std::abs(want.get<double>()));
    return want == got;
}

/// What an expected finding over the ranks lacks among the found ones; empty when it is there.
std::string unmet(const Json& want, const Json& findings)
{
    std::string said = "no finding " + want["rule"].get<std::string>();
    for (const Json& found : findings) {
        if (found["rule"] != want["rule"])
            continue;
        std::string here;
        for (const auto& [key, value] : want.items()) {
            if (key == "severity") {
                if (std::find(value.begin(), value.end(), found[key]) == value.end())
                    here += key + " is " + found[key].dump() + "; ";
            } else if (key == "evidence") {
                for (const auto& [name, number] : value.items())
                    if (!same(number, found["evidence"].value(name, Json())))
                        here += name + ": want " + number.dump() + ", got "
                            + found["evidence"].value(name, Json()).dump() + "; ";
            } else if (!same(value, found.value(key, Json()))) {
                here += key + ": want " + value.dump() + ", got " + found.value(key, Json()).dump() + "; ";
            }
        }
        if (here.empty())
            return {};
        said = here;
    }
    return said;
}

const Json* findingOf(const Json& report, const std::string& rule)
{
    for (const Json& each : report["findings"])
        if (each["rule"] == rule)
            return &each;
    return nullptr;
}

std::set<std::string> notesOf(const Json& report)
{
    std::set<std::string> out;
    for (const Json& each : report["data_quality"])
        out.insert(each["id"].get<std::string>());
    return out;
}

} // namespace

class TestJobCases : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    }

    void scenarios_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("arguments");
        const std::pair<const char*, const char*> rows[] = {
            {"SC-01", ""},
            {"SC-01", "ranks=2 fail_rank=1 layers=16 act_mib=2048 pin_mib=100 param_mib=8000 grad_mib=16000"},
            {"SC-01", "ranks=4 fail_rank=0 layers=30 act_mib=1200 pin_mib=48 noise=3 --torch-version 2.14"},
            {"SC-06", ""},
            {"SC-06",
                "layers=48 hidden=6144 ffn=16384 heads=48 kv_heads=8 tp=2 pp=2 vpp=4 microbatches=8 "
                "vocab=64000 dp=4 --torch-version 2.14"},
            {"SC-06", "vpp=1 pp=8 tp=8 dp=1 layers=40 microbatches=10 steps=1 --style cpp-pickler"},
            {"SC-09", ""},
            {"SC-09", "pp=4 short_mib=0"},
            {"SC-09", "layers=24 pp=3 short_mib=300 batch=2 --torch-version 2.1 --style cpp-pickler"},
        };
        for (const auto& [id, arguments] : rows)
            QTest::addRow("%s %s", id, arguments) << id << arguments;
    }

    /// What expected.json says of the run as a whole, and of a failed rank beside its peers.
    void scenarios()
    {
        QFETCH(QString, id);
        QFETCH(QString, arguments);
        ScenarioMaker maker(id, arguments, false);
        QVERIFY(maker.started());
        const QByteArray said = maker.wait();
        QVERIFY2(said.isEmpty(), said.constData());
        const Json expected = readJson(maker.folder() / "expected.json");
        const SummarisedJob all = summed(maker.folder());
        const Json report = reportOf(all);
        QCOMPARE(all.ranks.size(), expected["files"].size());
        QVERIFY(all.job.bad.empty());
        QVERIFY2(all.job.missing.empty(), all.job.missingSentence().c_str());
        for (const Json& want : expected["run"]["must"]) {
            const std::string text = unmet(want, report["findings"]);
            QVERIFY2(text.empty(), (text + "\n" + report["findings"].dump(1)).c_str());
        }
        for (const Json& rule : expected["run"]["must_not"])
            QVERIFY2(findingOf(report, rule) == nullptr, report["findings"].dump(1).c_str());
        for (const Json& file : expected["files"])
            for (const Json& want : file["must"]) {
                if (!want.contains("evidence") || !want["evidence"].contains("within_peers"))
                    continue;
                Json brief{{"rule", want["rule"]}, {"rank", want["rank"]}, {"bytes", want["bytes"]},
                    {"evidence", want["evidence"]}};
                const std::string text = unmet(brief, report["findings"]);
                QVERIFY2(text.empty(), (text + "\n" + report["findings"].dump(1)).c_str());
            }
        // A folder of digests says the same.
        QTemporaryDir digests;
        for (const RankSummary& rank : all.ranks) {
            const std::string bytes = digestBytes(rank);
            QVERIFY(bytes.size() <= 256U << 10);
            std::ofstream(
                fs::path(digests.path().toStdString()) / (rank.file.filename().string() + ".tmdigest"),
                std::ios::binary)
                << bytes;
        }
        const SummarisedJob again = summed(digests.path().toStdString());
        QCOMPARE(again.ranks.size(), all.ranks.size());
        const Json second = reportOf(again);
        QCOMPARE(QString::fromStdString(second["findings"].dump()),
            QString::fromStdString(report["findings"].dump()));
        for (std::size_t i = 0; i < all.ranks.size(); ++i)
            QCOMPARE(
                second["ranks"][i]["labels_at_peak"].dump(), report["ranks"][i]["labels_at_peak"].dump());
    }

    void fragmentationOnOneRankOfEight()
    {
        ScenarioMaker maker("SC-01", "", false);
        QVERIFY(maker.started());
        QVERIFY(maker.wait().isEmpty());
        const SummarisedJob all = summed(maker.folder());
        const Finding& first = all.diagnosis.findings.front();
        QCOMPARE(first.rule, std::string("fragmentation"));
        QCOMPARE(first.rank, std::optional<int>(3));
        QVERIFY2(first.title.starts_with("Only rank 3 of 8 ran out of memory because of memory in pieces"),
            first.title.c_str());
        for (std::size_t i = 0; i < all.ranks.size(); ++i) {
            const RankStanding& standing = all.diagnosis.ranks[i];
            QCOMPARE(standing.outlier, i == 3);
            QVERIFY(standing.capacity);
            QCOMPARE(*standing.capacity, std::uint64_t{79500} << 20U);
            if (i != 3)
                QCOMPARE(*standing.headroom, std::int64_t{11100} << 20U);
        }
        QCOMPARE(all.diagnosis.ranks[0].capacityFrom, std::string("rank 3's failed request"));
        // Its segments at the end hold the pins: 24 with a hole behind each.
        const SegmentSummary& segments = all.ranks[3].segmentsAtEnd;
        QCOMPARE(segments.pinned, std::uint64_t{35328} << 20U);
    }

    void stageImbalanceIsNoFragmentation()
    {
        ScenarioMaker maker("SC-09", "", false);
        QVERIFY(maker.started());
        QVERIFY(maker.wait().isEmpty());
        const SummarisedJob all = summed(maker.folder());
        const Json report = reportOf(all);
        QVERIFY(findingOf(report, "fragmentation") == nullptr);
        const Json* imbalance = findingOf(report, "rank-imbalance");
        QVERIFY(imbalance != nullptr);
        QCOMPARE((*imbalance)["evidence"]["in_flight"].dump(), std::string("[4,3,2,1]"));
        const Json* capacity = findingOf(report, "capacity");
        QVERIFY(capacity != nullptr);
        QVERIFY((*capacity)["evidence"]["within_peers"] == false);
        QCOMPARE(all.diagnosis.roles.roles[2].label, std::string("stage 2"));
    }

    void theFolderOfEveryNamingStyle()
    {
        const fs::path folder = sharedFolder() / "cases" / "U-07-folder-of-ranks";
        const Json expected = readJson(folder / "expected.json");
        const std::vector<fs::path> paths{folder};
        const auto discovered = discover(paths, {}, {});
        QVERIFY(discovered);
        std::map<std::string, int> ranks;
        for (const RankFiles& rank : discovered->ranks)
            for (const RankFile& file : rank.files)
                ranks[file.path.filename().string()] = file.rank.value_or(-1);
        for (const BadFile& bad : discovered->bad)
            ranks[bad.path.filename().string()] = bad.rank.value_or(-1);
        QCOMPARE(
            QString::fromStdString(Json(ranks).dump()), QString::fromStdString(expected["ranks"].dump()));

        const SummarisedJob all = summed(folder);
        QCOMPARE(all.ranks.size(), std::size_t{8});
        QVERIFY(all.job.missing.empty());
        std::map<std::string, std::string> bad;
        for (const BadFile& each : all.job.bad)
            bad[each.path.filename().string()] = each.error.message;
        QVERIFY(bad.contains("rank6_memory_snapshot.pickle"));
        QVERIFY(QString::fromStdString(bad["rank6_memory_snapshot.pickle"]).contains("empty"));
        // Whatever is not taken says why; nothing is dropped in silence.
        std::size_t files = all.job.bad.size() + all.job.beside.size();
        for (const RankFiles& rank : all.job.ranks)
            for (std::size_t i = 0; i < rank.files.size(); ++i) {
                ++files;
                QCOMPARE(rank.files[i].superseded.empty(), i == 0);
            }
        QCOMPARE(files, expected["ranks"].size() + 1); // and expected.json
        const Json report = reportOf(all);
        QVERIFY(notesOf(report).contains("unreadable-file"));

        // The cut file alone is refused with its reason.
        const std::vector<fs::path> cut{folder / "step_12_rank_7.pickle"};
        const auto alone = summarise(*discover(cut, {}, {}), {}, {});
        QVERIFY(alone);
        QCOMPARE(alone->job.bad.size(), std::size_t{1});
        QVERIFY(QString::fromStdString(alone->job.bad[0].error.message).contains("truncated"));
        QVERIFY(notesOf(reportOf(*alone)).contains("truncated-file"));
        QCOMPARE(alone->job.missing, std::vector<int>{7});
    }

    void theFullestRankIsNeitherTheFirstNorTheLast()
    {
        const fs::path folder = sharedFolder() / "cases" / "U-42-fullest-rank";
        const Json expected = readJson(folder / "expected.json");
        const SummarisedJob all = summed(folder);
        const Json report = reportOf(all);
        for (const Json& want : expected["findings"])
            QVERIFY2(unmet(want, report["findings"]).empty(), report["findings"].dump(1).c_str());
        for (const Json& rule : expected["no_findings"])
            QVERIFY(findingOf(report, rule) == nullptr);
        for (const Json& id : expected["data_quality"])
            QVERIFY2(notesOf(report).contains(id.get<std::string>()), report["data_quality"].dump(1).c_str());
        QCOMPARE(all.job.missing, expected["missing_ranks"].get<std::vector<int>>());
        for (const RankSummary& rank : all.ranks)
            QCOMPARE(rank.live.bytes,
                expected["derived"]["peaks"][std::to_string(*rank.rank)].get<std::int64_t>());
        QCOMPARE(all.diagnosis.ranks[2].outlier, true);
        QCOMPARE(all.diagnosis.roles.roles[2].label, std::string("stage 1"));
        // Without the settings the groups are inferred, and the same rank stands out.
        const RoleMap inferred = rolesOf(all.ranks, {}, {});
        QCOMPARE(static_cast<int>(inferred.source), static_cast<int>(RoleSource::Shapes));
        QVERIFY(inferred.roles[0].group == inferred.roles[1].group);
        QVERIFY(inferred.roles[0].group != inferred.roles[2].group);
    }
};

QTEST_GUILESS_MAIN(TestJobCases)
#include "tst_job_cases.moc"
