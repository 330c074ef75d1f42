// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/several.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/training_trace.hpp"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace tidemark;
using namespace tidemark::test;
using namespace tidemark::compare;
using Json = nlohmann::json;

namespace {

constexpr std::int64_t MiB = 1 << 20;

const compare::Verdict* verdictOf(const Comparison& comparison, VerdictKind kind)
{
    for (const compare::Verdict& verdict : comparison.verdicts)
        if (verdict.kind == kind)
            return &verdict;
    return nullptr;
}

bool hasNote(const Comparison& comparison, const QString& text)
{
    for (const std::string& note : comparison.notes)
        if (QString::fromStdString(note).contains(text))
            return true;
    return false;
}

/// Every verdict's parts add up; that of the peak to the difference of the peaks.
void checkVerdicts(const Comparison& comparison)
{
    QVERIFY(!comparison.verdicts.empty());
    for (const compare::Verdict& verdict : comparison.verdicts) {
        QVERIFY(!verdict.title.empty());
        std::int64_t sum = 0;
        for (const VerdictPart& part : verdict.parts)
            sum += part.bytes;
        QCOMPARE(sum, verdict.sum);
        if (verdict.kind == VerdictKind::Peak || verdict.kind == VerdictKind::PeakMoved) {
            QCOMPARE(sum, comparison.peak.delta());
        }
        if (verdict.kind == VerdictKind::Reserved) {
            QCOMPARE(sum, comparison.reservedPeak->delta());
        }
    }
}

void checkJson(const Comparison& comparison)
{
    const Json all = Json::parse(compareJson(comparison));
    const Json two = Json::parse(compareJson(comparison, 2));
    for (const Json& json : {all, two}) {
        std::int64_t sum = json["other"]["delta"].get<std::int64_t>();
        std::uint64_t a = json["other"]["a"].get<std::uint64_t>();
        for (const Json& site : json["sites"]) {
            sum += site["delta"].get<std::int64_t>();
            a += site["a"].get<std::uint64_t>();
        }
        QCOMPARE(sum, json["compared"]["delta"].get<std::int64_t>());
        QCOMPARE(a, json["compared"]["a"].get<std::uint64_t>());
        QCOMPARE(json["peak"]["delta"].get<std::int64_t>(),
            json["peak"]["b"].get<std::int64_t>() - json["peak"]["a"].get<std::int64_t>());
    }
    QVERIFY(two["sites"].size() <= 2);
    QCOMPARE(all["other"]["sites"].get<int>(), 0);
}

RunConfig config(std::initializer_list<std::pair<const char*, ConfigValue>> values)
{
    RunConfig out;
    for (const auto& [key, value] : values)
        out.set(key, value);
    return out;
}

} // namespace

class TestCompare : public QObject {
    Q_OBJECT
private slots:
    void whyOnePeaksHigher()
    {
        SmallRun a;
        a.sites = {{"f@/x/attn.py:91", 64 * MiB, 2}, {"g@/x/mlp.py:5", 10 * MiB, 1}};
        SmallRun b = a;
        b.sites[0].count = 34;
        b.older = {512 * MiB};
        const auto comparison = compareSides(a.side("TP2"), b.side("TP4"), {}, {});
        checkVerdicts(*comparison);
        checkJson(*comparison);
        const compare::Verdict& peak = comparison->verdicts.front();
        QVERIFY(peak.kind == VerdictKind::Peak);
        QVERIFY(peak.severity == Severity::Warning && !peak.better);
        QCOMPARE(QString::fromStdString(peak.title), "B peaks 2.50\u00a0GiB higher");
        QCOMPARE(peak.sum, 32 * 64 * MiB + 512 * MiB);
        QVERIFY2(QString::fromStdString(peak.parts[0].text).startsWith("f@attn.py:91: 2 → 34 × 64"),
            peak.parts[0].text.c_str());
        QCOMPARE(QString::fromStdString(peak.parts[1].text), "older than the recording");
        QCOMPARE(peak.parts[1].bytes, 512 * MiB);
        const compare::Verdict* rest = verdictOf(*comparison, VerdictKind::NothingElse);
        QVERIFY(rest != nullptr);
        QCOMPARE(QString::fromStdString(rest->detail), "1 other group is the same to the byte.");

        const QString text = QString::fromStdString(compareText(*comparison));
        for (const char* part : {"A  TP2", "B  TP4", "B peaks 2.50\u00a0GiB higher", "f@attn.py:91: 2 → 34",
                 "grew", "= difference of the curves at the two peaks; equal: 1 other site"})
            QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
        QVERIFY2(text.count('\n') <= 14, qPrintable(text));
    }

    void theOtherWayRoundIsTheNegative()
    {
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            RandomTrace wish;
            wish.seed = seed;
            const Side a = sideOf(randomTrace(wish));
            wish.seed = seed + 40;
            const Side b = sideOf(randomTrace(wish));
            const auto forth = compareSides(a, b, {}, {});
            const auto back = compareSides(b, a, {}, {});
            checkVerdicts(*forth);
            checkVerdicts(*back);
            checkJson(*forth);
            QCOMPARE(forth->peak.delta(), -back->peak.delta());
            QCOMPARE(forth->table.delta, -back->table.delta);
            QCOMPARE(forth->table.delta, forth->peak.delta());
            QCOMPARE(forth->verdicts.size(), back->verdicts.size());
            for (std::size_t i = 0; i < forth->verdicts.size(); ++i)
                QCOMPARE(forth->verdicts[i].sum, -back->verdicts[i].sum);
        }
    }

    void aRunAgainstItself()
    {
        TrainingTrace training;
        const auto snapshot = training.make();
        for (const bool oneFile : {true, false}) {
            const Side a = diagnosedSide(snapshot);
            const Side b = oneFile ? a : diagnosedSide(training.make());
            const auto comparison = compareSides(a, b, {}, {});
            QCOMPARE(comparison->oneRun, oneFile);
            QCOMPARE(comparison->verdicts.size(), std::size_t(1));
            QCOMPARE(QString::fromStdString(comparison->verdicts[0].title), "The runs are the same");
            QVERIFY(comparison->settings.differing.empty());
            for (const FindingChange& each : comparison->findings)
                QVERIFY(each.inA && each.inB && each.delta() == 0);
            QVERIFY(!peakGrowsBeyond(*comparison, 0));
            const Json json = Json::parse(compareJson(*comparison));
            QCOMPARE(json["peak"]["delta"].get<int>(), 0);
            for (const Json& site : json["sites"])
                QVERIFY(site["status"] == "same" && site["delta"] == 0);
        }
    }

    void twoInstantsOfOneRun()
    {
        TrainingTrace training;
        const Side side = sideOf(training.make());
        Wish wish;
        wish.stateA = 3;
        wish.stateB = side.replay().states() - 1;
        const auto comparison = compareSides(side, side, wish, {});
        QCOMPARE(comparison->table.delta,
            side.replay().timeline.requested().last() - side.replay().timeline.requested().at(3));
        QCOMPARE(comparison->peak.delta(), 0);
        checkJson(*comparison);
        const QString text = QString::fromStdString(compareText(*comparison));
        QVERIFY2(text.contains("A after event 2 against B after event"), qPrintable(text));
        QVERIFY2(text.contains("survived"), qPrintable(text));
    }

    void recomputeMovesOrLowersThePeak()
    {
        TrainingTrace off;
        TrainingTrace on;
        on.recompute = true;
        const auto comparison = compareSides(diagnosedSide(off.make()), diagnosedSide(on.make()), {}, {});
        checkVerdicts(*comparison);
        checkJson(*comparison);
        QVERIFY(comparison->alignment.by() == AlignBy::Step);
    }

    void whatFellMoreThanThePeak()
    {
        // Saved first and given back, then the peak of something else.
        const auto program = [](int saved) {
            TraceMaker maker;
            for (const int count : {saved, 8}) {
                for (int i = 0; i < count; ++i)
                    maker.alloc(0x7f0000000000 + std::uint64_t(i) * 128 * MiB, 64 * MiB);
                for (int i = 0; i < count; ++i)
                    maker.free(0x7f0000000000 + std::uint64_t(i) * 128 * MiB, 64 * MiB);
            }
            Side side = sideOf(maker.finish());
            auto labels = std::make_shared<Labels>(*side.labels);
            for (std::size_t i = 0; i < labels->roleOf.size(); ++i)
                labels->roleOf[i] = i < std::size_t(saved) ? Role::SavedActivation : Role::OptimizerTemporary;
            side.labels = labels;
            return side;
        };
        const auto comparison = compareSides(program(6), program(1), {}, {});
        checkVerdicts(*comparison);
        QCOMPARE(comparison->peak.delta(), 0);
        const compare::Verdict* verdict = verdictOf(*comparison, VerdictKind::Elsewhere);
        QVERIFY(verdict != nullptr);
        QCOMPARE(verdict->sum, -5 * 64 * MiB);
        const QString title = QString::fromStdString(verdict->title);
        QVERIFY2(title.startsWith("Saved activation −320") && title.contains("but the peak is the same"),
            qPrintable(title));
        // Where the peak follows, there is nothing to say.
        const auto follows = compareSides(program(16), program(10), {}, {});
        QVERIFY(verdictOf(*follows, VerdictKind::Elsewhere) == nullptr);
        QCOMPARE(follows->peak.delta(), -6 * 64 * MiB);
    }

    void quieterAndFuller()
    {
        const auto program = [](int times, bool graph) {
            TraceMaker maker;
            for (int i = 0; i < times; ++i) {
                maker.alloc(0x7f0000000000, 32 * MiB);
                maker.free(0x7f0000000000, 32 * MiB);
            }
            maker.segment(0x7f0000000000, 64 * MiB);
            maker.block(BlockState::Inactive, 64 * MiB, 0);
            if (graph) {
                maker.segment(0x7f8000000000, 256 * MiB, maker.builder().pool(0, 1));
                maker.block(BlockState::Inactive, 256 * MiB, 0);
            }
            return sideOf(maker.finish());
        };
        const auto comparison = compareSides(program(20, false), program(5, true), {}, {});
        checkVerdicts(*comparison);
        const compare::Verdict* pools = verdictOf(*comparison, VerdictKind::Pools);
        QVERIFY(pools != nullptr);
        QCOMPARE(pools->sum, 256 * MiB);
        QVERIFY2(QString::fromStdString(pools->title).startsWith("B is quieter and fuller: 75.0"),
            pools->title.c_str());
        const compare::Verdict* reserved = verdictOf(*comparison, VerdictKind::Reserved);
        QVERIFY(reserved != nullptr);
        QCOMPARE(reserved->parts.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(reserved->parts[0].text), "held by private pools, not in use");
        const auto back = compareSides(program(5, true), program(20, false), {}, {});
        QVERIFY(
            QString::fromStdString(verdictOf(*back, VerdictKind::Pools)->title).startsWith("A is quieter"));
        QCOMPARE(verdictOf(*back, VerdictKind::Pools)->sum, -256 * MiB);
    }

    void findingsOfOneSideOnly()
    {
        TrainingTrace clean;
        clean.steps = 8;
        TrainingTrace leaky = clean;
        leaky.leak = true;
        const Side a = diagnosedSide(clean.make());
        const Side b = diagnosedSide(leaky.make());
        const auto find = [](const std::vector<FindingChange>& changes) -> const FindingChange* {
            for (const FindingChange& each : changes)
                if (each.rule == "leak")
                    return &each;
            return nullptr;
        };
        const auto forth = compareSides(a, b, {}, {});
        const FindingChange* leak = find(forth->findings);
        QVERIFY(leak != nullptr && !leak->inA && leak->inB);
        QCOMPARE(leak->delta(), std::int64_t(b.diagnosis->findings[*leak->inB].bytes));
        const auto back = compareSides(b, a, {}, {});
        const FindingChange* gone = find(back->findings);
        QVERIFY(gone != nullptr && gone->inA && !gone->inB);
        QCOMPARE(gone->delta(), -leak->delta());
        const Json json = Json::parse(compareJson(*back));
        QVERIFY(std::any_of(json["findings"]["gone"].begin(), json["findings"]["gone"].end(),
            [](const Json& each) { return each["rule"] == "leak" && each["b"].is_null(); }));
        // The same finding on both sides, where the code moved.
        const auto both = compareSides(b, b, {}, {});
        QVERIFY(find(both->findings)->inA && find(both->findings)->inB);
    }

    void settingsThatDiffer()
    {
        SmallRun run;
        run.sites = {{"f@/x/m.py:1", 10, 1}};
        const auto snapshot = run.make();
        const SettingChanges changes = settingChanges(
            diagnosedSide(snapshot,
                config({{"model.seq_length", std::int64_t(8192)}, {"peft.dim", std::int64_t(16)},
                    {"allocator.expandable_segments", false}})),
            diagnosedSide(run.make(),
                config({{"model.seq_length", std::int64_t(4096)}, {"peft.dim", std::int64_t(16)},
                    {"model.fp8", std::string("hybrid")}, {"allocator.expandable_segments", true}})));
        QStringList differing;
        for (const SettingChange& each : changes.differing)
            differing += QString::fromStdString(
                each.key + " " + each.a.value_or("-") + " → " + each.b.value_or("-"));
        QCOMPARE(differing,
            (QStringList{"allocator.expandable_segments false → true", "model.fp8 - → hybrid",
                "model.seq_length 8192 → 4096"}));
        QCOMPARE(changes.equal.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(changes.equal[0].key), "peft.dim");
        // What one side says nothing of at all is one note, not a list.
        const SettingChanges one = settingChanges(
            diagnosedSide(snapshot), diagnosedSide(run.make(), config({{"peft.dim", std::int64_t(16)}})));
        QVERIFY(one.differing.empty());
        QVERIFY(std::any_of(one.notes.begin(), one.notes.end(),
            [](const std::string& note) { return note.starts_with("A has no run configuration"); }));
    }

    void whatCannotBeComparedIsSaid()
    {
        SmallRun a;
        a.sites = {{"f@/x/m.py:1", 1000, 3}};
        a.steps = 2;
        SmallRun b = a;
        b.steps = 9;
        b.older = {5000};
        const auto comparison = compareSides(a.side(), b.side(), {}, {});
        QVERIFY(hasNote(*comparison, "older than the trace"));
        QVERIFY(hasNote(*comparison, "times as many events"));
        QVERIFY(hasNote(*comparison, "Reserved memory is not known"));
        QVERIFY(hasNote(*comparison, "Findings are not compared"));
        QVERIFY(!comparison->reservedPeak);
        QVERIFY(Json::parse(compareJson(*comparison))["reserved_peak"].is_null());
        TraceMaker other(3);
        other.alloc(0x1000, 10);
        const auto devices = compareSides(a.side(), sideOf(other.finish()), {}, {});
        QVERIFY(hasNote(*devices, "GPU 0 of A is compared with GPU 3 of B."));
    }

    void wrappedTracesAreComparedAsFarAsTheyGo()
    {
        // B's ring kept the last steps only; what it frees at first is older than its first event.
        SmallRun a;
        a.sites = {{"f@/x/m.py:1", 1000, 4}};
        a.steps = 6;
        a.marks = true;
        SmallRun b = a;
        b.steps = 2;
        b.firstStep = 5;
        b.older = {700};
        Side whole = a.side();
        const auto snapshot = std::make_shared<Snapshot>(*b.make());
        snapshot->devices[0].ringCapacity = snapshot->devices[0].events.count();
        snapshot->devices[0].ringOverflowed = true;
        const Side wrapped = sideOf(snapshot);
        const auto comparison = compareSides(whole, wrapped, {}, {});
        QVERIFY(wrapped.replay().note(Quality::RingWrapped) != nullptr);
        QVERIFY(hasNote(*comparison,
            QString::fromStdString("B: " + wrapped.replay().note(Quality::RingWrapped)->sentence)));
        QVERIFY(hasNote(*comparison, "4 steps of A have no partner (ProfilerStep#1 to ProfilerStep#4)."));
        QCOMPARE(comparison->alignment.pairs(), std::size_t(2));
        QCOMPARE(comparison->table.delta, 700);
        checkVerdicts(*comparison);
    }

    void limitOfGrowth()
    {
        SmallRun a;
        a.sites = {{"f@/x/m.py:1", 1000, 1}};
        SmallRun b = a;
        b.sites[0].size = 1050;
        const auto comparison = compareSides(a.side(), b.side(), {}, {});
        QVERIFY(peakGrowsBeyond(*comparison, 4.99));
        QVERIFY(!peakGrowsBeyond(*comparison, 5));
        QVERIFY(!peakGrowsBeyond(*compareSides(b.side(), a.side(), {}, {}), 0));
    }

    void severalRuns()
    {
        std::vector<Side> sides;
        for (const std::int64_t size : {300, 100, 900}) {
            SmallRun run;
            run.sites = {{"f@/x/m.py:1", size, 1}};
            sides.push_back(run.side("run " + std::to_string(size)));
        }
        const std::vector<PeakBar> bars = peakBars(sides, 1);
        QCOMPARE(bars.size(), std::size_t(3));
        QCOMPARE(bars[0].delta, 200);
        QCOMPARE(bars[1].delta, 0);
        QCOMPARE(bars[2].delta, 800);
        QCOMPARE(QString::fromStdString(bars[2].label), "run 900");
        QVERIFY(!bars[0].reservedPeak);
    }

    void foldersRankByRank()
    {
        const std::vector<std::filesystem::path> a{
            "a/snapshot_0.pickle", "a/snapshot_1.pickle", "a/snapshot_oom_rank-3.pickle", "a/eval.pickle"};
        const std::vector<std::filesystem::path> b{
            "b/eval.pickle", "b/rank0_memory_snapshot.pickle", "b/snapshot_3.pickle", "b/snapshot_4.pickle"};
        const RankPairs pairs = pairRanks(a, b);
        QStringList found;
        for (const RankPairs::Pair& pair : pairs.pairs)
            found
                += QStringLiteral("%1:%2 %3").arg(pair.a).arg(pair.b).arg(QString::fromStdString(pair.label));
        QCOMPARE(found, (QStringList{"0:1 rank 0", "2:2 rank 3", "3:0 eval.pickle"}));
        QVERIFY(pairs.onlyA == std::vector<std::size_t>{1});
        QVERIFY(pairs.onlyB == std::vector<std::size_t>{3});
        // Names without numbers: in their order.
        const std::vector<std::filesystem::path> x{"x/old.pickle"};
        const std::vector<std::filesystem::path> y{"y/new.pickle"};
        QCOMPARE(pairRanks(x, y).pairs.size(), std::size_t(1));

        FolderComparison folder;
        folder.lines = {{"rank 0", {100, 110}, {}, "B peaks 10 B higher"},
            {"rank 3", {500, 300}, {}, "B peaks 200 B lower"}};
        folder.onlyA = {"snapshot_1.pickle"};
        QCOMPARE(folder.largest(), std::optional<std::size_t>(1));
        QCOMPARE(folder.highest().delta(), -200);
        const QString text = QString::fromStdString(folder.text());
        QVERIFY2(text.contains("only in A: snapshot_1.pickle"), qPrintable(text));
        QVERIFY2(text.contains("largest difference: rank 3, B peaks 200 B lower"), qPrintable(text));
        const std::vector<std::string> objects{"{\"x\":1}", "{}"};
        const Json json = Json::parse(folder.json(objects));
        QCOMPARE(json["largest"].get<int>(), 1);
        QCOMPARE(json["pairs"][0]["x"].get<int>(), 1);
    }

    void namesThatTellFilesApart()
    {
        QVERIFY((distinctNames("/r/a/x/snap.pickle", "/r/b/x/snap.pickle")
            == std::pair<std::string, std::string>("a/snap.pickle", "b/snap.pickle")));
        QVERIFY((distinctNames("one.pickle", "d/two.pickle")
            == std::pair<std::string, std::string>("one.pickle", "two.pickle")));
    }

    void stoppedGivesNothing()
    {
        std::stop_source stop;
        stop.request_stop();
        TrainingTrace training;
        const Side side = sideOf(training.make());
        QVERIFY(compareSides(side, side, {}, Job{stop.get_token(), {}}) == nullptr);
    }
};

QTEST_GUILESS_MAIN(TestCompare)
#include "tst_compare.moc"
