// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons of the outside test material: figures that others computed.
#include "model/compare/comparison.hpp"
#include "model/compare/curves.hpp"
#include "tests/shared/scenario_maker.hpp"
#include "tests/support/shared_cases.hpp"

#include <QTest>

#include <fstream>
#include <map>

using namespace tidemark;
using namespace tidemark::test;
using namespace tidemark::compare;
using Json = nlohmann::json;

namespace {

Side sideOf(const std::filesystem::path& file)
{
    const auto rank = openRank(file, {}, {});
    if (!rank)
        qFatal("%s", rank.error().message.c_str());
    DiagnosisOptions options;
    for (const std::filesystem::path& each : configFilesBeside(file))
        if (const auto added = options.config.addFile(each); !added)
            qFatal("%s", added.error().message.c_str());
    Side side;
    side.rank = *rank;
    side.device = side.rank->mainDevice();
    side.diagnosis = diagnose(side.rank, options, {});
    return side;
}

std::filesystem::path snapshotIn(const std::filesystem::path& folder)
{
    std::ifstream in(folder / "expected.json");
    return folder / Json::parse(in)["files"][0]["file"].get<std::string>();
}

const compare::Verdict* verdictOf(const Comparison& comparison, VerdictKind kind)
{
    for (const compare::Verdict& verdict : comparison.verdicts)
        if (verdict.kind == kind)
            return &verdict;
    return nullptr;
}

/// Σ of the rows that differ, by status: {"new": …}.
std::map<std::string, std::int64_t> byStatus(const Table& table)
{
    std::map<std::string, std::int64_t> sums;
    for (const Row& row : table.rows)
        if (row.delta != 0)
            sums[statusName(row.status)] += row.delta;
    return sums;
}

} // namespace

class TestCompareCases : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    }

    /// Every `compare` object of a case.
    void everyCase()
    {
        std::size_t compared = 0;
        for (const std::filesystem::path& folder : caseFolders()) {
            const Json whole = caseExpectation(folder);
            if (!whole.contains("compare"))
                continue;
            ++compared;
            const Json expected = whole["compare"];
            const std::string name = folder.filename().string();
            const Side a = sideOf(folder / expected["a"].get<std::string>());
            const Side b = sideOf(folder / expected["b"].get<std::string>());
            const auto comparison = compareSides(a, b, {}, {});
            const auto number = [&](const char* key) { return expected[key].get<std::int64_t>(); };
            if (expected["aligned_by"] == "steps")
                QVERIFY2(comparison->alignment.by() == AlignBy::Step, name.c_str());
            if (expected.contains("peak_delta"))
                QCOMPARE(comparison->peak.delta(), number("peak_delta"));
            QCOMPARE(comparison->table.delta, comparison->peak.delta());
            if (expected.contains("reserved_peak_delta"))
                QCOMPARE(comparison->reservedPeak->delta(), number("reserved_peak_delta"));
            if (expected.value("requested_curves_equal", false)) {
                const CurveColumn curve = wholeCurve(comparison->alignment, Curve::Live);
                QVERIFY(curve.minDelta == 0 && curve.maxDelta == 0);
            }
            for (const Json& site : expected.value("sites", Json::array())) {
                const auto row = std::find_if(
                    comparison->table.rows.begin(), comparison->table.rows.end(), [&](const Row& each) {
                        return comparison->matching->groups[each.group].name == site["site"];
                    });
                QVERIFY2(row != comparison->table.rows.end(), name.c_str());
                QCOMPARE(row->delta, site["bytes"].get<std::int64_t>());
                QCOMPARE(row->allocationsB - row->allocationsA, site["count"].get<std::uint64_t>());
            }
            if (expected.contains("peak_phase")) {
                const Json json = Json::parse(compareJson(*comparison));
                QVERIFY(json["a"]["peak_phase"] == expected["peak_phase"]["a"]);
                QVERIFY(json["b"]["peak_phase"] == expected["peak_phase"]["b"]);
                const compare::Verdict* moved = verdictOf(*comparison, VerdictKind::PeakMoved);
                QVERIFY(moved != nullptr);
                QCOMPARE(moved->sum, comparison->peak.delta());
                QVERIFY(std::any_of(moved->parts.begin(), moved->parts.end(),
                    [&](const VerdictPart& part) { return part.bytes == -number("removed"); }));
            }
            if (expected.contains("step_peaks"))
                for (const auto& [key, side] :
                    {std::pair("a", &comparison->a), std::pair("b", &comparison->b)})
                    for (std::size_t i = 0; i < side->phases->steps.size(); ++i) {
                        const Step& step = side->phases->steps[i];
                        QCOMPARE(side->replay().timeline.requested().extremes(step.first, step.last).max,
                            expected["step_peaks"][key][i].get<std::int64_t>());
                    }
        }
        QVERIFY(compared >= 5);
    }

    void sameCurveOtherReserved()
    {
        const std::filesystem::path folder = casesFolder() / "U-22-rigid-against-expandable";
        const auto comparison
            = compareSides(sideOf(folder / "rigid.pickle"), sideOf(folder / "expandable.pickle"), {}, {});
        const compare::Verdict* reserved = verdictOf(*comparison, VerdictKind::Reserved);
        QVERIFY(reserved != nullptr);
        QCOMPARE(reserved->sum, -6039797760);
        QVERIFY2(QString::fromStdString(reserved->title).contains("expandable_segments false → true"),
            reserved->title.c_str());
    }

    /// Gathered LoRA inputs kept, and gathered again.
    void loraRegather()
    {
        ScenarioMaker off("SC-04", "", false);
        ScenarioMaker on("SC-05", "", false);
        if (!off.started() || !on.started())
            QSKIP("python3 is not here.");
        QVERIFY2(off.wait().isEmpty() && on.wait().isEmpty(), "the scenarios cannot be made");
        const Side a = sideOf(snapshotIn(off.folder()));
        const Side b = sideOf(snapshotIn(on.folder()));
        const auto comparison = compareSides(a, b, {}, {});
        QCOMPARE(comparison->peak.delta(), -4731174912);
        QVERIFY(comparison->alignment.by() == AlignBy::Step);
        QCOMPARE(comparison->alignment.pairs(), std::size_t(2));
        const compare::Verdict& peak = comparison->verdicts.front();
        QVERIFY(peak.kind == VerdictKind::Peak && peak.better);
        QCOMPARE(peak.parts.size(), std::size_t(3));
        QCOMPARE(peak.parts[0].bytes, -4831838208);
        QVERIFY(QString::fromStdString(peak.parts[0].text).contains("gather_along_first_dim"));
        QVERIFY(QString::fromStdString(peak.parts[0].text).contains("72 → 0"));
        QCOMPARE(peak.parts[1].bytes, 67108864);
        QCOMPARE(peak.parts[2].bytes, 33554432);
        QCOMPARE(peak.sum, -4731174912);
        QVERIFY(std::any_of(comparison->findings.begin(), comparison->findings.end(),
            [](const FindingChange& each) { return each.rule == "lora-gathered-input" && !each.inB; }));
        QVERIFY(std::any_of(comparison->settings.differing.begin(), comparison->settings.differing.end(),
            [](const SettingChange& each) { return each.key.find("input_regather") != std::string::npos; }));
        const QString text = QString::fromStdString(compareText(*comparison));
        for (const char* part : {"gather_along_first_dim", "gone", "−4,731,174,912"})
            QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));

        const auto back = compareSides(b, a, {}, {});
        QCOMPARE(back->peak.delta(), 4731174912);
        std::map<std::string, std::int64_t> turned;
        for (const auto& [status, sum] : byStatus(back->table))
            turned[status == "new"     ? "gone"
                    : status == "gone" ? "new"
                    : status == "grew" ? "shrank"
                                       : "grew"]
                = -sum;
        QVERIFY(turned == byStatus(comparison->table));
    }
};

QTEST_GUILESS_MAIN(TestCompareCases)
#include "tst_compare_cases.moc"
