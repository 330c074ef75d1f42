// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/findings_fixture.hpp"
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/oom/oom_fixes.hpp"
#include "widgets/oom/oom_map.hpp"
#include "widgets/oom/oom_view.hpp"

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t MiB = 1 << 20;
constexpr std::uint64_t base = 0x7f0000000000;
constexpr std::uint64_t apart = 0x10000000;

/// Segments of 100 MiB with a block of 10 MiB in each, then a request of 100 MiB that fails.
std::shared_ptr<const Snapshot> fragmented(int segments)
{
    TraceMaker maker;
    const StackId pin = maker.stack({"pin@adam.py:7"});
    for (int i = 0; i < segments; ++i) {
        const std::uint64_t at = base + static_cast<std::uint64_t>(i) * apart;
        maker.event(Action::SegmentAlloc, at, 100 * MiB);
        maker.alloc(at, 10 * MiB, pin);
    }
    maker.event(Action::Oom, 0, 100 * MiB, pin).deviceFree = 20 * MiB;
    for (int i = 0; i < segments; ++i) {
        maker.segment(base + static_cast<std::uint64_t>(i) * apart, 100 * MiB);
        maker.block(BlockState::Allocated, 10 * MiB, 10 * MiB, pin);
        maker.block(BlockState::Inactive, 90 * MiB, 0);
    }
    return maker.finish();
}

Fix fixOf(const char* id, const char* text, const char* blockedBy = "", const char* setting = "")
{
    Fix fix;
    fix.id = id;
    fix.text = text;
    fix.blockedBy = blockedBy;
    fix.setting = setting;
    fix.grade = Grade::B;
    return fix;
}

/// Long sentences, as rules write them.
std::vector<Fix> fourFixes()
{
    return {fixOf("expandable",
                "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: what is free in pieces is then mapped "
                "behind one another, and the request is served.",
                "", "expandable_segments:True"),
        fixOf("order",
            "Allocate what stays before what goes: run one optimizer step with zero gradients before the "
            "first activations.",
            "the model is wrapped before its optimizer is made"),
        fixOf("smaller", "Lower the micro batch size."), fixOf("last", "Buy a larger card.")};
}

struct FixesFixture : PanelFixture {
    OomView oom;

    FixesFixture(std::vector<Fix> fixes, QSize size, int percent = 100)
        : PanelFixture(fragmented(12))
        , oom(session, view, style)
    {
        style.setTextPercent(percent);
        const OomAutopsy taken = autopsy(replay(), replay().device().ooms[0], std::nullopt);
        Finding other = findingOf({}, Severity::Warning);
        other.eventRange = std::pair(taken.event, taken.event);
        other.fixes = {fixOf("other", "Something else.")};
        Finding finding = findingOf({}, Severity::Critical);
        finding.eventRange = std::pair(taken.event, taken.event);
        finding.fixes = std::move(fixes);
        auto diagnosis = diagnosisOf(session, nullptr, {other, finding});
        diagnosis->devices[0].ooms.push_back(taken);
        session.setDiagnosis(diagnosis);
        oom.resize(size);
        oom.show();
        for (int i = 0; i < 2; ++i) {
            oom.flush();
            QCoreApplication::processEvents();
        }
    }
    QPushButton* button(const QString& text)
    {
        for (auto* each : oom.fixes().findChildren<QPushButton*>())
            if (each->text() == text && each->isVisible())
                return each;
        return nullptr;
    }
};

} // namespace

class TestOomFixes : public QObject {
    Q_OBJECT

private slots:
    void whatCanBeDoneGoesBeforeWhatIsBarred()
    {
        Finding finding;
        finding.fixes = fourFixes();
        QCOMPARE(bestFixes(finding, 3), (std::vector<std::size_t>{0, 2, 3}));
        finding.fixes.pop_back();
        QCOMPARE(bestFixes(finding, 3), (std::vector<std::size_t>{0, 1, 2}));
        finding.fixes.clear();
        QVERIFY(bestFixes(finding, 3).empty());
    }

    void theFindingIsTheOneOfThisFailure()
    {
        Diagnosis diagnosis;
        const auto add = [&](std::size_t device, std::uint32_t event, Severity severity) {
            Finding finding;
            finding.deviceIndex = device;
            finding.severity = severity;
            finding.eventRange = std::pair(EventIndex{event}, EventIndex{event});
            diagnosis.findings.push_back(std::move(finding));
        };
        add(1, 9, Severity::Critical);
        add(0, 8, Severity::Critical);
        add(0, 9, Severity::Warning);
        add(0, 9, Severity::Critical);
        QCOMPARE(findingOfFailure(diagnosis, 0, EventIndex{9}), std::optional<std::size_t>(3));
        QCOMPARE(findingOfFailure(diagnosis, 0, EventIndex{7}), std::optional<std::size_t>());
    }

    void isSaidBelowTheVerdict()
    {
        FixesFixture f(fourFixes(), {1220, 760});
        QVERIFY(f.oom.fixes().isVisible());
        QCOMPARE(f.oom.fixes().lines().size(), 3);
        QVERIFY(f.oom.fixes().lines()[0].contains(QLatin1String("expandable_segments:True")));
        QSignalSpy tried(&f.oom, &OomView::tryRequested);
        QSignalSpy shown(&f.oom, &OomView::findingRequested);
        QVERIFY(f.button(QStringLiteral("Try")));
        f.button(QStringLiteral("Try"))->click();
        QCOMPARE(tried.count(), 1);
        QCOMPARE(tried[0][0].value<std::size_t>(), std::size_t{1});
        QCOMPARE(tried[0][1].value<std::size_t>(), std::size_t{0});
        f.button(QStringLiteral("Show finding"))->click();
        QCOMPARE(shown.count(), 1);
        QCOMPARE(shown[0][0].value<std::size_t>(), std::size_t{1});
    }

    void whatIsBarredSaysWhyAndCannotBeTried()
    {
        FixesFixture f({fourFixes()[1]}, {1220, 760});
        QCOMPARE(f.oom.fixes().lines().size(), 1);
        QVERIFY(f.oom.fixes().lines()[0].contains(
            QLatin1String("Not here: the model is wrapped before its optimizer is made")));
        QVERIFY(!f.button(QStringLiteral("Try")));
    }

    void withoutFixesThereIsNothing()
    {
        FixesFixture f({}, {1220, 760});
        // The remark about the same event has something to do, the cause has not: the cause is told.
        QVERIFY(!f.oom.fixes().isVisible());
    }

    void everythingIsReadable_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<int>("percent");
        QTest::addRow("1600 x 1000") << QSize(1223, 833) << 100;
        QTest::addRow("1280 x 800") << QSize(957, 630) << 100;
        QTest::addRow("960 x 600") << QSize(610, 430) << 100;
        QTest::addRow("large text") << QSize(820, 520) << 200;
    }

    void everythingIsReadable()
    {
        QFETCH(QSize, size);
        QFETCH(int, percent);
        FixesFixture f(fourFixes(), size, percent);
        for (QLabel* label : f.oom.findChildren<QLabel*>()) {
            if (!label->isVisible() || label->text().isEmpty() || !label->wordWrap())
                continue;
            QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
        }
        for (QPushButton* button : f.oom.findChildren<QPushButton*>())
            if (button->isVisible()) {
                const QPoint end = button->mapTo(&f.oom, QPoint(button->width(), 0));
                QVERIFY2(end.x() <= size.width(), qPrintable(button->text()));
                QVERIFY(button->width() >= button->minimumSizeHint().width());
            }
        auto* const whole = f.oom.findChild<QScrollArea*>();
        QVERIFY(whole->widget()->width() <= size.width());
        if (percent == 100 && size.height() > 600)
            QVERIFY2(whole->verticalScrollBar()->maximum() == 0, "one screen holds all of it");
        // However little room there is, the map shows some rows.
        QVERIFY(f.oom.map().canvas().height() >= 5 * f.style.metrics().px(11));
    }
};

QTEST_MAIN(TestOomFixes)
#include "tst_oom_fixes.moc"
