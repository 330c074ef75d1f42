// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/diagnosis.hpp"
#include "model/findings/verdict_line.hpp"
#include "tests/support/rule_case.hpp"

#include <QtTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t gib = 1 << 30;

void outOfMemory(TraceMaker& maker, std::int64_t request, std::int64_t free, StackId stack = StackId::none)
{
    maker.event(Action::Oom, 0, request * mib, stack).deviceFree = free * mib;
}

std::shared_ptr<const Diagnosis> diagnosisOf(TraceMaker& maker, const DiagnosisOptions& options = {})
{
    auto rank = std::make_shared<Rank>();
    rank->snapshot = maker.finish();
    rank->devices = {Replay::build(rank->snapshot, 0, Job{}).value()};
    rank->marks = {pairMarks(*rank->devices.front())};
    rank->sites = std::make_shared<const Sites>(Sites::build(*rank->snapshot, SiteMode::User));
    rank->rawSites = std::make_shared<const Sites>(Sites::build(*rank->snapshot, SiteMode::Raw));
    return diagnose(rank, options, Job{});
}

std::vector<Finding> findingsOf(const Diagnosis& diagnosis, std::string_view rule)
{
    std::vector<Finding> out;
    std::ranges::copy_if(diagnosis.findings, std::back_inserter(out),
        [&](const Finding& finding) { return finding.rule == rule; });
    return out;
}

bool isClear(const Diagnosis& diagnosis, const char* rule)
{
    return std::ranges::find(diagnosis.clear, rule) != diagnosis.clear.end();
}

bool isUndecided(const Diagnosis& diagnosis, const char* rule)
{
    return std::ranges::any_of(diagnosis.undecided, [&](const Undecided& each) { return each.rule == rule; });
}

} // namespace

/// What is held to be the cause of a failure, and what is left open.
class TestRulesCauses : public QObject {
    Q_OBJECT
private slots:
    void scopesOfACapture_data()
    {
        QTest::addColumn<QString>("frame");
        QTest::addColumn<bool>("pool");
        QTest::addColumn<char>("grade");
        QTest::addColumn<QString>("title");
        QTest::newRow("frames") << "make_graphed_callables@/usr/lib/transformer_engine/pytorch/graph.py:80"
                                << false << 'A' << "Out of memory during graph capture:";
        QTest::newRow("MemPool") << "forward@/app/model.py:4" << true << 'A'
                                 << "Out of memory inside a memory pool's scope:";
        QTest::newRow("inferred") << "forward@/app/model.py:4" << false << 'B'
                                  << "Out of memory, most likely during graph capture";
    }
    void scopesOfACapture()
    {
        QFETCH(QString, frame);
        QFETCH(bool, pool);
        QFETCH(char, grade);
        QFETCH(QString, title);
        TraceMaker maker;
        maker.holedSegment(0, 100, 0);
        maker.holedSegment(200, 100, 100);
        if (pool)
            maker.setPool(maker.builder().pool(0, 1));
        const std::string text = frame.toStdString();
        outOfMemory(maker, 60, 10, maker.stack({text}));
        const auto diagnosis = diagnosisOf(maker);
        const auto found = findingsOf(*diagnosis, "capture-blocked");
        QCOMPARE(found.size(), std::size_t(1));
        QCOMPARE(found[0].bytes, std::uint64_t(100 * mib));
        QCOMPARE(found[0].count, std::uint64_t(1));
        QCOMPARE(static_cast<char>(found[0].grade), grade);
        QVERIFY2(QString::fromStdString(found[0].title).startsWith(title), found[0].title.c_str());
        QVERIFY(fixOf(found[0], "empty-cache-before-capture"));
        QVERIFY(findingsOf(*diagnosis, "fragmentation").empty());
    }

    void everyFailureThatOthersCaused()
    {
        // Twice 40 MiB lie in a pool and 50 on the device: not enough alone. Then memory is short as well.
        TraceMaker maker;
        maker.holedSegment(0, 40, 0, maker.builder().pool(1, 0));
        outOfMemory(maker, 60, 50);
        outOfMemory(maker, 61, 51);
        outOfMemory(maker, 400, 20);
        outOfMemory(maker, 400, 10);
        DiagnosisOptions options;
        options.deviceTotal = 5 * gib;
        const auto diagnosis = diagnosisOf(maker, options);
        const auto found = findingsOf(*diagnosis, "outside-allocator");
        QCOMPARE(found.size(), std::size_t(3));
        QCOMPARE(found[0].severity, Severity::Critical);
        QCOMPARE(found[0].bytes, std::uint64_t(5 * gib - 90 * mib));
        QCOMPARE(found[1].severity, Severity::Critical);
        QCOMPARE(found[1].bytes, std::uint64_t(5 * gib - 91 * mib));
        QCOMPARE(found[2].severity, Severity::Warning);
        QCOMPARE(found[2].bytes, std::uint64_t(5 * gib - 50 * mib));
    }

    void withoutAVerdictNothingIsClear()
    {
        TraceMaker maker;
        maker.holedSegment(0, 100, 100);
        maker.alloc(0x7f0000000000, 100 * mib);
        maker.event(Action::Oom, 0, 60 * mib);
        const auto diagnosis = diagnosisOf(maker);
        for (const char* rule : {"capture-blocked", "capacity", "wrong-pool", "fragmentation",
                 "outside-allocator", "thin-margin"}) {
            QVERIFY2(isUndecided(*diagnosis, rule), rule);
            QVERIFY2(!isClear(*diagnosis, rule), rule);
        }
    }

    void oneEventIsNoHistory()
    {
        TraceMaker maker;
        maker.holedSegment(0, 100, 50);
        maker.alloc(0x7f0000000000, 50 * mib);
        const auto diagnosis = diagnosisOf(maker);
        for (const char* rule : {"leak", "fragmentation", "setup-peak", "batch-free", "pending-frees"})
            QVERIFY2(isUndecided(*diagnosis, rule) && !isClear(*diagnosis, rule), rule);
        QVERIFY(isClear(*diagnosis, "rounding-waste")); // holds for the end, which is there
    }

    void withoutPhasesTheSetUpIsOpen()
    {
        TraceMaker maker;
        for (int i = 0; i < 4; ++i)
            maker.alloc(0x7f0000000000 + static_cast<std::uint64_t>(i * gib), 50 * mib);
        const auto diagnosis = diagnosisOf(maker);
        for (const char* rule : {"setup-peak", "phase-reserved", "fragmentation"})
            QVERIFY2(isUndecided(*diagnosis, rule), rule);
    }

    void ladderOfABarredRun()
    {
        TraceMaker maker;
        const StackId stack = maker.stack({"forward@/opt/megatron/core/transformer/mlp.py:118"});
        maker.alloc(0x7f0000000000, 80 * mib, stack);
        maker.holedSegment(0, 100, 80);
        outOfMemory(maker, 100, 30);
        DiagnosisOptions options;
        options.config.set("model.cpu_offloading", true);
        options.config.set("model.recompute_granularity", std::string("full"));
        options.config.set("ddp.use_distributed_optimizer", true);
        const auto found = findingsOf(*diagnosisOf(maker, options), "capacity");
        QCOMPARE(found.size(), std::size_t(1));
        QVERIFY(fixOf(found[0], "raise-pipeline-parallel")->blockedBy.find("C-06") != std::string::npos);
        QVERIFY(fixOf(found[0], "recompute")->blockedBy.find("C-07") != std::string::npos);
        QVERIFY(fixOf(found[0], "recompute")->text.find("recompute_modules") == std::string::npos);
        QCOMPARE(fixOf(found[0], "distributed-optimizer")->blockedBy, std::string("it is on already"));
    }

    void ladderOfAPlainRun()
    {
        TraceMaker maker;
        maker.alloc(0x7f0000000000, 80 * mib, maker.stack({"forward@/app/model.py:12"}));
        maker.holedSegment(0, 100, 80);
        outOfMemory(maker, 100, 30);
        const auto found = findingsOf(*diagnosisOf(maker), "capacity");
        QCOMPARE(found.size(), std::size_t(1));
        for (const Fix& fix : found[0].fixes)
            for (const char* key : {"model.", "optimizer.", "recompute_"})
                QVERIFY2(fix.text.find(key) == std::string::npos || fix.id == "shrink-largest-site"
                        || fix.text.find("torch.") != std::string::npos,
                    fix.text.c_str());
        QVERIFY(fixOf(found[0], "recompute")->text.find("torch.utils.checkpoint") != std::string::npos);
        QVERIFY(!fixOf(found[0], "raise-pipeline-parallel"));
    }

    /// A file that says little is not one in which all is well.
    void headlineWithoutHistory()
    {
        TraceMaker maker;
        maker.segment(0x7f0000000000, 100 * mib);
        maker.block(BlockState::Allocated, 100 * mib, 100 * mib);
        const auto diagnosis = diagnosisOf(maker);
        QVERIFY(diagnosis->findings.empty());
        const std::string line = verdictLine(*diagnosis);
        const std::string start = "Nothing found by " + std::to_string(diagnosis->clear.size()) + " rules; "
            + std::to_string(diagnosis->undecided.size())
            + " could not decide for lack of a history of events (";
        QVERIFY2(line.starts_with(start), line.c_str());
    }
    void headlineWithoutHistoryButAFinding()
    {
        TraceMaker maker;
        maker.segment(0x7f0000000000, 100 * mib);
        maker.block(BlockState::Inactive, 100 * mib, 0);
        const auto diagnosis = diagnosisOf(maker);
        QCOMPARE(findingsOf(*diagnosis, "all-idle").size(), 1U);
        const std::string line = verdictLine(*diagnosis);
        QVERIFY2(line.starts_with(diagnosis->findings.front().title), line.c_str());
        QVERIFY2(line.find(" rules could not decide for lack of a history of events") != std::string::npos,
            line.c_str());
    }
    void headlineOfTheGravest()
    {
        TraceMaker maker;
        maker.alloc(0x7f0000000000, 1000 * mib);
        outOfMemory(maker, 500, 20);
        maker.segment(0x7f0000000000, 1000 * mib);
        maker.block(BlockState::Allocated, 1000 * mib, 1000 * mib);
        const auto diagnosis = diagnosisOf(maker);
        QCOMPARE(diagnosis->findings.front().rule, std::string("capacity"));
        QCOMPARE(verdictLine(*diagnosis), diagnosis->findings.front().title);
    }
};

QTEST_GUILESS_MAIN(TestRulesCauses)
#include "tst_rules_causes.moc"
