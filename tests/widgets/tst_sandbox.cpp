// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/diagnosis.hpp"
#include "tests/support/model_recorder.hpp"
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/segments/segment_map_view.hpp"

#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTableView>
#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

struct Sandbox : PanelFixture {
    SandboxView view{session, PanelFixture::view, style};

    explicit Sandbox(
        std::shared_ptr<const Snapshot> snapshot = fragmentedProgram(), const char* settings = "")
        : PanelFixture(std::move(snapshot))
    {
        view.resize(360, 700);
        view.show();
        DiagnosisOptions options;
        if (*settings != 0)
            if (const auto added = options.config.add(settings, "run_config.yaml"); !added)
                qFatal("%s", added.error().message.c_str());
        session.setDiagnosis(diagnose(session.rank(), options, {}));
    }
    /// The advice to switch expandable segments on; the place of the first fix that is a setting.
    FixPlace setting() const
    {
        const auto& findings = session.diagnosis()->findings;
        for (std::size_t i = 0; i < findings.size(); ++i)
            for (std::size_t j = 0; j < findings[i].fixes.size(); ++j)
                if (!findings[i].fixes[j].setting.empty())
                    return {i, j};
        qFatal("no fix is a setting");
        return {};
    }
    QPushButton* button(const QString& text) const
    {
        for (QPushButton* each : view.findChildren<QPushButton*>())
            if (each->text() == text)
                return each;
        return nullptr;
    }
};

} // namespace

/// The fix sandbox on a run that failed for lack of memory in one piece.
class TestSandbox : public QObject {
    Q_OBJECT
private slots:
    void expandableSegments();
    void copying();
    void unticking();
    void blockedOnesStayOff();
    void refusal();
    void typedSettings();
    void pastedLines_data();
    void pastedLines();
    void ranking();
    void fixesChangeTheRequests();
    void predictedMap();
    void anotherFileForgets();
};

void TestSandbox::expandableSegments()
{
    Sandbox s;
    QVERIFY(s.view.resultText().startsWith("Nothing ticked"));
    QVERIFY(!s.button("Copy settings")->isVisible());
    s.view.setTicked(s.setting(), true);
    QTRY_VERIFY(s.session.prediction() != nullptr);
    QTRY_VERIFY(!s.view.busy());
    const auto prediction = s.session.prediction();
    QVERIFY(prediction->reserved.whatIf && !prediction->edited());
    QVERIFY(prediction->reserved.whatIf->fits());
    const QString text = s.view.resultText();
    for (const char* words : {"With 1 fix ticked", "Failed request\tfails\tfits", "Peak reserved\t7.74",
             "Returned at the next shortage\t0", "81 of 81 addresses", "is not known"})
        QVERIFY2(text.contains(words), qPrintable(text));
    QVERIFY(!text.contains("Peak live"));
    QVERIFY(s.button("Copy settings")->isVisible());
    QVERIFY(!s.button("Go to the new peak")->isVisible());
    // More can come back than the request that failed needs.
    QVERIFY(prediction->reserved.whatIf->endReleasable > 2000 * mib);
}

void TestSandbox::copying()
{
    Sandbox s;
    s.view.setTicked(s.setting(), true);
    QTRY_VERIFY(s.button("Copy settings")->isVisible());
    QTest::mouseClick(s.button("Copy settings"), Qt::LeftButton);
    QCOMPARE(
        QGuiApplication::clipboard()->text(), QString("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"));
}

void TestSandbox::unticking()
{
    Sandbox s;
    s.view.tryFinding(s.setting().finding);
    QTRY_VERIFY(s.session.prediction() != nullptr);
    QTRY_VERIFY(s.button("Untick all")->isVisible());
    QTest::mouseClick(s.button("Untick all"), Qt::LeftButton);
    QVERIFY(s.session.prediction() == nullptr);
    QVERIFY(s.view.settingsLine().isEmpty());
    QVERIFY(!s.button("Copy settings")->isVisible());
}

/// What the run's settings rule out cannot be ticked.
void TestSandbox::blockedOnesStayOff()
{
    Sandbox s(fragmentedProgram(), "ddp:\n  nccl_ub: true\n");
    s.view.setTicked(s.setting(), true);
    QVERIFY(s.view.ticked().empty());
    QVERIFY(s.session.prediction() == nullptr);
}

/// A recording that carries no prediction says why.
void TestSandbox::refusal()
{
    TraceMaker maker;
    maker.alloc(0x1000, 3 << 20, maker.stack({"forward@/m/net.py:7"}));
    Sandbox s(maker.finish());
    auto diagnosis = std::make_shared<Diagnosis>(*s.session.diagnosis());
    Fix fix;
    fix.text = "Set it.";
    fix.setting = "expandable_segments:True";
    Finding finding;
    finding.rule = "fragmentation";
    finding.fixes.push_back(fix);
    diagnosis->findings = {finding};
    s.session.setDiagnosis(diagnosis);
    s.view.setTicked({0, 0}, true);
    QTRY_VERIFY(s.session.prediction() != nullptr && !s.view.busy());
    const QString text = s.view.resultText();
    QVERIFY2(text.contains("Reserved memory is not predicted. The file lists no segments"), qPrintable(text));
    QVERIFY(s.view.settingsLine().isEmpty());
    QVERIFY(!s.button("Copy settings")->isVisible());
}

void TestSandbox::typedSettings()
{
    Sandbox s;
    SettingsPanel& panel = s.view.settings();
    QVERIFY(panel.line().isEmpty()); // PyTorch's defaults
    panel.setLine("expandable_segments:yes");
    QVERIFY(panel.problem().contains("True or False"));
    QVERIFY(!panel.conf() && s.session.prediction() == nullptr);
    panel.setLine("expandable_segments:True,roundup_power2_divisions:4");
    QVERIFY(panel.problem().isEmpty());
    QTRY_VERIFY(s.session.prediction() != nullptr && !s.view.busy());
    QVERIFY(s.view.resultText().startsWith("With these settings"));
    QCOMPARE(s.view.settingsLine(),
        QString("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,roundup_power2_divisions:4"));
    QVERIFY(s.session.prediction()->reserved.whatIf->servedFailure);
    // What would do nothing is no line to paste; the sentence says why.
    panel.setLine("garbage_collection_threshold:0.8");
    QTRY_VERIFY(s.session.prediction() != nullptr && !s.view.busy());
    QVERIFY(s.view.settingsLine().isEmpty());
    QVERIFY(s.view.resultText().contains("has no effect here"));
    // A wrong line leaves no figures of another one on screen.
    panel.setLine("no_such_setting:1");
    QVERIFY(panel.problem().contains("no_such_setting"));
    QVERIFY(s.session.prediction() == nullptr);
    // With a fix, both count.
    panel.setLine("roundup_power2_divisions:4");
    s.view.setTicked(s.setting(), true);
    QTRY_VERIFY(!s.view.busy() && !s.view.settingsLine().isEmpty());
    QVERIFY(s.view.resultText().startsWith("With 1 fix ticked and these settings"));
    QVERIFY(s.view.settingsLine().contains("expandable_segments:True,roundup_power2_divisions:4"));
    QTest::mouseClick(s.button("As recorded"), Qt::LeftButton);
    QVERIFY(!panel.conf());
    QTRY_COMPARE(s.view.settingsLine(), QString("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"));
}

void TestSandbox::pastedLines_data()
{
    QTest::addColumn<QString>("line");
    QTest::newRow("bare") << "max_split_size_mb:256";
    QTest::newRow("variable") << "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:256";
    QTest::newRow("new name") << "PYTORCH_ALLOC_CONF=max_split_size_mb:256";
    QTest::newRow("export") << "export PYTORCH_CUDA_ALLOC_CONF=\"max_split_size_mb:256\" ";
    QTest::newRow("quotes") << "'max_split_size_mb:256'";
}

void TestSandbox::pastedLines()
{
    QFETCH(QString, line);
    Sandbox s;
    s.view.settings().setLine(line);
    QCOMPARE(s.view.settings().problem(), QString());
    QCOMPARE(s.view.settings().conf(), std::optional<std::string>("max_split_size_mb:256"));
}

void TestSandbox::ranking()
{
    Sandbox s;
    SettingsPanel& panel = s.view.settings();
    QTest::mouseClick(s.button("Which setting is best?"), Qt::LeftButton);
    QVERIFY(s.button("Stop"));
    QTRY_VERIFY_WITH_TIMEOUT(!s.view.busy(), 30000);
    const QStringList rows = panel.copyText().split('\n');
    QVERIFY(rows.size() > 5);
    QVERIFY2(rows.at(1).startsWith("expandable_segments:True\t"), qPrintable(rows.at(1)));
    QVERIFY2(rows.at(1).endsWith("fits"), qPrintable(rows.at(1)));
    const QStringList own = rows.filter("as recorded\t\t");
    QVERIFY(own.size() == 1 && own.front().endsWith("runs out"));
    auto* table = panel.findChild<QTableView*>();
    QVERIFY(table && table->isVisible());
    QVERIFY(!table->verticalScrollBar()->isVisible());
    QTest::mouseClick(
        table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 0)).center());
    QCOMPARE(panel.line(), QString("expandable_segments:True"));
    QTRY_VERIFY(s.session.prediction() != nullptr);
}

/// Fixes that change lifetimes change what is asked of the allocator.
void TestSandbox::fixesChangeTheRequests()
{
    Sandbox s;
    auto diagnosis = std::make_shared<Diagnosis>(*s.session.diagnosis());
    auto edits = std::make_shared<Edits>();
    const AllocationColumns& all = s.replay().timeline.allocations();
    for (std::uint32_t i = 0; i < all.count(); ++i)
        if (all.size[i] == 6 * mib)
            edits->drop(AllocationId{i});
    Fix fix;
    fix.text = "Keep no pins.";
    fix.edits = edits;
    Finding finding;
    finding.rule = "made-up";
    finding.fixes.push_back(fix);
    diagnosis->findings = {finding};
    s.session.setDiagnosis(diagnosis);
    s.view.setTicked({0, 0}, true);
    QTRY_VERIFY(s.session.prediction() != nullptr && !s.view.busy());
    const QString text = s.view.resultText();
    for (const char* words : {"Peak live", "Failed request\tfails\tfits", "grade C"})
        QVERIFY2(text.contains(words), qPrintable(text));
    QVERIFY(s.view.settingsLine().isEmpty()); // the settings are the recorded ones
}

void TestSandbox::predictedMap()
{
    Sandbox s;
    SegmentMapView map(s.session, static_cast<PanelFixture&>(s).view, s.style);
    map.resize(600, 300);
    map.show();
    ViewState& state = static_cast<PanelFixture&>(s).view;
    state.setCursor(s.replay().states() - 1);
    map.flush();
    const std::size_t recorded = map.scene().state->segments.size();
    QVERIFY(!map.showsPrediction());
    state.setMapPredicted(true);
    QVERIFY(!map.showsPrediction()); // nothing is predicted yet
    s.view.setTicked(s.setting(), true);
    QTRY_VERIFY(s.session.prediction() != nullptr && !s.view.busy());
    QVERIFY(map.showsPrediction());
    map.flush();
    QVERIFY(map.windowTitle().startsWith("predicted, "));
    const SegmentState& predicted = *map.scene().state;
    QVERIFY(predicted.segments.size() < recorded);
    for (const SegmentView& segment : predicted.segments)
        QVERIFY(segment.expandable);
    QCOMPARE(std::int64_t(predicted.reserved),
        s.session.prediction()->reserved.whatIf->reserved.at(s.replay().states() - 1));
    // The cursor moves in both.
    state.setCursor(40);
    QTRY_COMPARE(map.scene().state->state, StateIndex{40});
    QCOMPARE(
        std::int64_t(map.scene().state->reserved), s.session.prediction()->reserved.whatIf->reserved.at(40));
    s.view.setTicked(s.setting(), false);
    QVERIFY(!map.showsPrediction());
    state.setCursor(s.replay().states() - 1);
    map.flush();
    QCOMPARE(map.scene().state->segments.size(), recorded);
    QVERIFY(!map.windowTitle().contains("predicted"));
}

void TestSandbox::anotherFileForgets()
{
    Sandbox s;
    s.view.settings().setLine("max_split_size_mb:256");
    QTRY_VERIFY(s.session.prediction() != nullptr);
    s.open(fragmentedProgram());
    QVERIFY(s.view.settings().line().isEmpty() && !s.view.settings().conf());
    QVERIFY(s.session.prediction() == nullptr);
    QVERIFY(s.view.resultText().startsWith("Nothing ticked"));
}

QTEST_MAIN(TestSandbox)
#include "tst_sandbox.moc"
