// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/findings/finding_card.hpp"
#include "widgets/findings/finding_texts.hpp"
#include "widgets/findings/findings_view.hpp"

#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Two allocations that live together, then one of them alone.
std::shared_ptr<const Snapshot> twoAllocations()
{
    TraceMaker maker;
    maker.alloc(0x1000, 3 << 20, maker.stack({"forward@/m/net.py:7"}));
    maker.alloc(0x500000, 5 << 20, maker.stack({"step@/m/opt.py:9"}));
    maker.free(0x1000, 3 << 20);
    return maker.finish();
}

Finding finding(const char* rule, Severity severity, const char* title, std::vector<AllocationId> ids)
{
    Finding f;
    f.rule = rule;
    f.severity = severity;
    f.title = title;
    f.explanation = "It is kept until backward.";
    f.count = ids.size();
    f.allocations = std::move(ids);
    f.playbook = "S3";
    f.eventRange = std::pair{EventIndex{0}, EventIndex{1}};
    f.lookAt = 2;
    return f;
}

struct Found : PanelFixture {
    FindingsView findings{session, view, style};

    Found()
        : PanelFixture(twoAllocations())
    {
        findings.resize(360, 700);
        findings.show();
    }
    void give(std::vector<Finding> found, std::vector<Undecided> undecided = {})
    {
        auto diagnosis = std::make_shared<Diagnosis>();
        diagnosis->rank = session.rank();
        diagnosis->devices.resize(session.rank()->devices.size());
        diagnosis->findings = std::move(found);
        diagnosis->undecided = std::move(undecided);
        diagnosis->clear = {"leak", "logits"};
        session.setDiagnosis(diagnosis);
    }
    void giveTwo()
    {
        give({finding("fragmentation", Severity::Critical, "34.5 GiB free but pinned", {AllocationId{1}}),
            finding("recompute-candidate", Severity::Info, "MLP keeps 3.0 MiB", {AllocationId{0}})});
    }
};

} // namespace

class TestFindingsView : public QObject {
    Q_OBJECT
private slots:
    void saysThatItLooks()
    {
        Found f;
        f.findings.setBusy(true);
        QVERIFY(f.findings.footText().contains("Looking for causes"));
        f.giveTwo();
        QCOMPARE(f.findings.count(), std::size_t{2});
        QCOMPARE(f.findings.windowTitle(), QString("2, from 4 rules"));
        QVERIFY(!f.findings.footText().contains("Looking"));
    }

    void nothingFoundIsSaid()
    {
        Found f;
        f.give({}, {{"tight", "card size"}, {"capacity", "card size"}, {"leak", "more steps"}});
        QVERIFY(f.findings.footText().contains("Nothing found by 2 rules; 3 could not decide"));
        QVERIFY(f.findings.footText().contains("tight, capacity: card size\nleak: more steps"));
    }

    void keysSelectAndShow()
    {
        Found f;
        f.giveTwo();
        QTest::keyClick(&f.findings, Qt::Key_Down);
        QCOMPARE(f.view.finding(), std::optional<std::size_t>(0));
        QVERIFY(f.findings.card(0)->isOpen());
        QVERIFY(f.view.shownFinding());
        QCOMPARE((*f.view.shownFinding())[1], std::uint8_t{1});
        QCOMPARE((*f.view.shownFinding())[0], std::uint8_t{0});
        QTest::keyClick(&f.findings, Qt::Key_Down);
        QTest::keyClick(&f.findings, Qt::Key_Down); // stays at the last
        QCOMPARE(f.view.finding(), std::optional<std::size_t>(1));
        QVERIFY(!f.findings.card(0)->isOpen());
        QCOMPARE((*f.view.emphasis())[0], std::uint8_t{1});
        f.findings.toggleShown();
        QVERIFY(!f.view.emphasis());
        QCOMPARE(f.view.finding(), std::optional<std::size_t>(1));
    }

    void enterGoesThere()
    {
        Found f;
        f.giveTwo();
        f.view.setCursor(0);
        QTest::keyClick(&f.findings, Qt::Key_Down);
        QTest::keyClick(&f.findings, Qt::Key_Return);
        QCOMPARE(f.view.cursor(), StateIndex{2});
        QCOMPARE(f.view.range(), (std::optional<std::pair<StateIndex, StateIndex>>{{1, 2}}));
        QVERIFY(f.view.canGoBack());
    }

    void clickOpensAndCloses()
    {
        Found f;
        f.giveTwo();
        QTest::mouseClick(const_cast<FindingCard*>(f.findings.card(1)), Qt::LeftButton, {}, QPoint(60, 12));
        QCOMPARE(f.view.finding(), std::optional<std::size_t>(1));
        QVERIFY(!f.view.shownFinding()); // a click reads, it does not fade the views
        QTest::mouseClick(const_cast<FindingCard*>(f.findings.card(1)), Qt::LeftButton, {}, QPoint(60, 12));
        QVERIFY(!f.view.finding());
    }

    /// New figures for the same file (a card size was typed) keep what the user was reading.
    void selectionSurvivesANewDiagnosis()
    {
        Found f;
        f.giveTwo();
        f.findings.step(1);
        f.findings.step(1);
        f.give({finding("tight", Severity::Warning, "1.0 GiB of headroom", {}),
            finding("recompute-candidate", Severity::Info, "MLP keeps 3.0 MiB", {AllocationId{0}})});
        QCOMPARE(f.view.finding(), std::optional<std::size_t>(1));
        QVERIFY(f.view.shownFinding());
        f.give({finding("tight", Severity::Warning, "1.0 GiB of headroom", {})});
        QVERIFY(!f.view.finding());
        QVERIFY(!f.view.emphasis());
    }

    void findingAndSearchTogether()
    {
        Found f;
        f.giveTwo();
        f.findings.step(1); // allocation 1
        f.view.setMatches(std::make_shared<const std::vector<std::uint8_t>>(std::vector<std::uint8_t>{1, 0}));
        QCOMPARE(*f.view.emphasis(), (std::vector<std::uint8_t>{0, 0}));
        f.view.setMatches(nullptr);
        QCOMPARE(*f.view.emphasis(), (std::vector<std::uint8_t>{0, 1}));
    }

    /// The size of the card that the run's settings state counts until another is typed.
    void cardSizeFromTheSettings()
    {
        Found f;
        QVERIFY(!f.session.capacity());
        auto diagnosis = std::make_shared<Diagnosis>();
        diagnosis->rank = f.session.rank();
        diagnosis->devices.resize(1);
        diagnosis->config.set("hardware.device_total_bytes", std::int64_t{84934656000});
        f.session.setDiagnosis(diagnosis);
        QCOMPARE(f.session.capacity(), std::optional<std::uint64_t>(84934656000));
        f.session.setCardSize(1ULL << 36);
        QCOMPARE(f.session.capacity(), std::optional<std::uint64_t>(1ULL << 36));
    }

    void figuresInWords()
    {
        const auto value = [](const char* key, EvidenceValue v) {
            return evidenceText({key, std::move(v)}).value;
        };
        QCOMPARE(value("pinned_free", std::int64_t{37044092928}), QString("34.50\u00a0GiB"));
        QCOMPARE(
            evidenceText({"pinned_free", std::int64_t{37044092928}}).exact, QString("37,044,092,928\u00a0B"));
        QCOMPARE(value("layer_activations", std::int64_t{36}), QString("36"));
        QCOMPARE(value("retained_surfaces", std::int64_t{72}), QString("72"));
        QCOMPARE(value("shards_not_kept", std::int64_t{1}), QString("1"));
        QCOMPARE(value("reserved_by_pool", std::vector<std::int64_t>{1 << 21, 1 << 22}),
            QString("2.0\u00a0MiB, 4.0\u00a0MiB"));
        QCOMPARE(value("waited_us", std::int64_t{2500}), QString("2.5\u00a0ms"));
        QCOMPARE(value("something_new", std::int64_t{123456789}), QString("123,456,789"));
        QCOMPARE(value("holes", std::int64_t{24}), QString("24"));
        QCOMPARE(value("share_of_peak", 0.079), QString("7.9\u00a0%"));
        QCOMPARE(value("throughput_percent", -6.74), QString("−6.74\u00a0%"));
        QCOMPARE(value("inside_capture", true), QString("yes"));
        QCOMPARE(value("peak_moved", false), QString("where it is now"));
        QCOMPARE(evidenceText({"peak_moved", true}).name, QString("highest point after the fix"));
        QCOMPARE(evidenceText({"largest_hole", std::int64_t{1}}).name, QString("largest hole"));
        QCOMPARE(value("device_free", std::monostate{}), QString("unknown"));
        Fix fix;
        fix.removedAtPeak = std::int64_t{3} << 30;
        fix.newPeak = std::int64_t{5} << 30;
        fix.newPeakOwner = "optimizer step";
        QCOMPARE(fixEffect(fix),
            QString("−3.00\u00a0GiB at the old peak · new peak 5.00\u00a0GiB, made by optimizer step"));
    }

    /// Long names wrap: nothing is wider than the narrowest dock.
    void nothingScrollsSideways()
    {
        Found f;
        Finding found
            = finding("leak", Severity::Warning, "1.88 GiB kept by one call site", {AllocationId{1}});
        found.site = "a_very_long_function_name_of_a_framework@with_an_equally_long_file_name.py:12345";
        found.evidence
            = {{"steps_found_by", std::string("ProfilerStep marks")}, {"kept", std::int64_t{1} << 31}};
        Fix fix;
        fix.text = "Let go of it.";
        fix.edits = std::make_shared<Edits>();
        found.fixes = {fix};
        f.give({found});
        f.findings.resize(318, 700);
        f.findings.step(1);
        QTest::qWait(20);
        QVERIFY(f.findings.widget()->width() <= f.findings.viewport()->width());
        for (const QWidget* child : f.findings.widget()->findChildren<QWidget*>())
            if (child->isVisible())
                QVERIFY2(child->mapTo(f.findings.widget(), QPoint(child->width(), 0)).x()
                        <= f.findings.viewport()->width(),
                    child->metaObject()->className());
    }

    void blockedFixSaysWhy()
    {
        Found f;
        Finding found = finding("fragmentation", Severity::Critical, "Pinned", {AllocationId{1}});
        Fix fix;
        fix.id = "expandable-segments";
        fix.text = "Turn expandable segments on.";
        fix.blockedBy = "nccl_ub with PyTorch before 2.11";
        found.fixes = {fix};
        f.give({found});
        f.findings.step(1);
        QStringList texts;
        for (const QLabel* label : f.findings.findChildren<QLabel*>())
            texts << label->text();
        QVERIFY(texts.contains("Not here: nccl_ub with PyTorch before 2.11"));
        for (const QToolButton* button : f.findings.findChildren<QToolButton*>())
            QVERIFY(button->text() != "Try"); // nothing here can be predicted
    }
};

QTEST_MAIN(TestFindingsView)
#include "tst_findings_view.moc"
