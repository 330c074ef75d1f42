// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/order_what_if.hpp"
#include "tests/support/model_recorder.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::size_t layers = 8;

/// Optimizer state that falls into cached activation segments and pins them: a second forward pass finds no
/// room for its second activation. State of 300 MiB, activations of 150, pins of 12, temporaries of 138.
struct Pinned {
    std::shared_ptr<const Replay> replay;
    Phases phases;
    std::vector<OomAutopsy> ooms;
    Finding finding;

    Pinned()
    {
        ModelRecorder recorder({}, 1700 * mib);
        recorder.startRecording();
        recorder.allocate(200 * mib);
        recorder.allocate(100 * mib);
        std::vector<std::uint32_t> kept;
        for (std::size_t i = 0; i < layers; ++i)
            kept.push_back(*recorder.allocate(150 * mib));
        for (; !kept.empty(); kept.pop_back())
            recorder.free(kept.back());
        for (std::size_t i = 0; i < layers; ++i) {
            recorder.allocate(12 * mib);
            kept.push_back(*recorder.allocate(138 * mib));
        }
        for (const std::uint32_t copy : kept)
            recorder.free(copy);
        while (recorder.allocate(150 * mib)) { }
        replay = Replay::build(recorder.finish(), 0, {}).value();
        for (const OomEvent& oom : replay->device().ooms)
            ooms.push_back(autopsy(*replay, oom, {}));
        finding.rule = "fragmentation";
        finding.eventRange = std::pair(ooms.front().event, ooms.front().event);
        for (std::uint32_t i = 0; i < layers; ++i)
            finding.allocations.push_back(AllocationId{2 + static_cast<std::uint32_t>(layers) + 2 * i});
        finding.severity = Severity::Critical;
        finding.fixes.resize(2);
        finding.fixes[0].id = emptyCacheFix;
        finding.fixes[1].id = pinsFirstFix;
        phases.firstForward = born(2);
        optimizerFrom(2 + layers);
    }
    StateIndex born(std::size_t id) const { return replay->timeline.allocations().firstState[id]; }
    void optimizerFrom(std::size_t id)
    {
        phases.spans = {{Phase::Forward, 1, born(id) - 1, true}, {Phase::Optimizer, born(id), born(id), true},
            {Phase::Unknown, born(id) + 1, born(id) + 1, true},
            {Phase::Optimizer, born(id) + 2, replay->states() - 1, true}};
    }
    void tell()
    {
        const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
        const Labels labels;
        const StackFacts facts(*replay->snapshot);
        const RunConfig config;
        const RuleInput input{*replay, sites, sites, {}, phases, labels, facts, config, ooms, {}, {}, 0, {}};
        const auto simulation = Simulation::build(replay, {});
        QVERIFY(simulation);
        addOrderWhatIf(finding, input, **simulation, {});
    }
    EvidenceValue evidence(const std::string& key) const
    {
        for (const Evidence& each : finding.evidence)
            if (each.key == key)
                return each.value;
        return {};
    }
    bool says(std::size_t fix, const char* words) const
    {
        return finding.fixes[fix].text.find(words) != std::string::npos;
    }
};

} // namespace

class TestOrderWhatIf : public QObject {
    Q_OBJECT
private slots:
    void bothOrdersServeTheRequest();
    void aUselessOrderIsBlocked();
    void whatCannotBeReplayedSaysSo();
    void earliestFindingIsAsked();
};

void TestOrderWhatIf::bothOrdersServeTheRequest()
{
    Pinned run;
    QCOMPARE(run.ooms.front().verdict, Verdict::Fragmentation);
    run.tell();
    for (const Fix& fix : run.finding.fixes) {
        QCOMPARE(fix.grade, Grade::A);
        QVERIFY2(fix.blockedBy.empty(), fix.blockedBy.c_str());
        QVERIFY2(fix.text.find("Replayed so, the request fits") != std::string::npos, fix.text.c_str());
    }
    // The second activation meets the limit at 1,650 MiB, and the temporaries' segments go back.
    QVERIFY(run.evidence("whatif_empty_cache_fits") == EvidenceValue(true));
    QVERIFY(run.evidence("whatif_empty_cache_peak_reserved") == EvidenceValue(std::int64_t(1650 * mib)));
    QVERIFY(run.evidence("whatif_empty_cache_flushes") == EvidenceValue(std::int64_t(1)));
    QVERIFY2(run.says(0, "696\u00a0MiB are reserved once it is served"), run.finding.fixes[0].text.c_str());
    // State and pins 396 MiB, activations 1,200 MiB, which serve both steps.
    QVERIFY(run.evidence("whatif_pins_first_fits") == EvidenceValue(true));
    QVERIFY(run.evidence("whatif_pins_first_peak_reserved") == EvidenceValue(std::int64_t(1596 * mib)));
    QVERIFY(run.evidence("whatif_pins_first_flushes") == EvidenceValue(std::int64_t(0)));
}

void TestOrderWhatIf::aUselessOrderIsBlocked()
{
    Pinned run;
    run.optimizerFrom(2); // nothing is cached yet
    run.tell();
    QVERIFY(run.evidence("whatif_empty_cache_fits") == EvidenceValue(false));
    QCOMPARE(run.finding.fixes[0].blockedBy, std::string("replayed so, the request fails as well"));
    QVERIFY(run.finding.fixes[1].blockedBy.empty());
}

void TestOrderWhatIf::whatCannotBeReplayedSaysSo()
{
    Pinned run;
    run.phases = {};
    run.tell();
    QVERIFY(run.says(0, "not replayed: no optimizer step can be told"));
    QVERIFY(run.says(1, "not replayed: no forward pass can be told"));
    QVERIFY(run.finding.evidence.empty());
    QCOMPARE(run.finding.fixes[0].grade, Fix().grade);

    Pinned old;
    old.finding.allocations = {AllocationId{0}};
    old.tell();
    QVERIFY(old.says(1, "older than the first forward pass"));
}

void TestOrderWhatIf::earliestFindingIsAsked()
{
    std::vector<Finding> findings(3, Pinned().finding);
    const EventIndex event = findings[0].eventRange->first;
    const auto later = static_cast<EventIndex>(index(event) + 1);
    findings[0].eventRange = std::pair(later, later);
    QCOMPARE(firstThatOrderMayHelp(findings, 0), &findings[1]);
    QCOMPARE(firstThatOrderMayHelp(findings, 1), nullptr);
    for (Finding& finding : findings)
        for (Fix& fix : finding.fixes)
            fix.blockedBy = "it is on already";
    QCOMPARE(firstThatOrderMayHelp(findings, 0), nullptr);
}

QTEST_APPLESS_MAIN(TestOrderWhatIf)
#include "tst_order_what_if.moc"
