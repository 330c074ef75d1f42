// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/findings_fixture.hpp"
#include "tests/widgets/timeline_window.hpp"
#include "widgets/segments/segment_map_canvas.hpp"
#include "widgets/segments/segment_map_view.hpp"

#include <QBuffer>
#include <QCheckBox>
#include <QSvgGenerator>
#include <QToolTip>

using namespace tidemark;
using test::afterForward;
using test::MiB;
using Window = test::TimelineWindowUnderTest;

namespace {

constexpr const char* softmax = "softmax@nn_utils.py:6"; // 8 × 48 MiB, kept from forward to backward

/// Everything the timeline writes.
QString writtenText(Window& w)
{
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setSize({800, 500});
    w.view.renderTo(svg, {800, 500});
    return QString::fromUtf8(buffer.data()).replace(QChar(0xa0), QLatin1Char(' '));
}

std::shared_ptr<Phases> somePhases(const Window& w)
{
    return test::phasesOf(w.replay().states(),
        {{Phase::Forward, 1, 45, false}, {Phase::Backward, 46, 100, false},
            {Phase::Optimizer, 101, 122, true}});
}

std::shared_ptr<const Prediction> prediction(
    const Window& w, std::vector<std::pair<StateIndex, std::int64_t>> curve, StateIndex peakState)
{
    auto out = std::make_shared<Prediction>();
    out->curve.oldPeak = w.replay().timeline.requested().total().max;
    out->curve.newPeakState = peakState;
    for (const auto& [state, bytes] : curve)
        out->curve.newPeak = std::max(out->curve.newPeak, bytes);
    out->curve.curve = std::move(curve);
    out->owner = "the optimizer step";
    return out;
}

/// The pointer comes to rest there, whatever window the last one rested on.
void rest(Window& w, const QPoint& pos)
{
    w.canvas()->setAttribute(Qt::WA_UnderMouse);
    w.hover(pos - QPoint(3, 0));
    w.hover(pos);
}

int countColour(const QImage& picture, const QRect& area, QRgb colour)
{
    int count = 0;
    for (int y = area.top(); y <= area.bottom(); ++y)
        for (int x = area.left(); x <= area.right(); ++x)
            count += picture.pixel(x, y) == colour;
    return count;
}

} // namespace

class TestTimelineFindings : public QObject {
    Q_OBJECT
private slots:
    // ---- phases and steps

    void nothingChangesBeforeTheDiagnosis()
    {
        Window w;
        const QImage before = w.picture();
        const int top = w.plot().top();
        w.session.setDiagnosis(test::diagnosisOf(w.session, nullptr, {}));
        w.settle();
        QCOMPARE(w.plot().top(), top);
        QVERIFY(w.picture() == before);
        w.state.setFinding(std::size_t{0}); // there is none
        w.settle();
        QVERIFY(w.picture() == before);
    }

    void phasesHaveALaneOfTheirOwn()
    {
        Window w;
        QVERIFY(!writtenText(w).contains(QStringLiteral("optimizer<")));
        const int top = w.plot().top();
        w.session.setDiagnosis(test::diagnosisOf(w.session, somePhases(w), {}));
        w.settle();
        QCOMPARE(w.plot().top(), top + w.style.metrics().lane + 1);
        const QString text = writtenText(w);
        QVERIFY(text.contains(QStringLiteral("phase")));
        for (const char* name : {"forward", "backward", "optimizer"})
            QVERIFY2(text.contains(QLatin1String(name)), name);
    }

    void namesAreWrittenOnlyWhereTheyFit()
    {
        Window w(test::makeRank(test::trainingStep({.marks = false})));
        auto phases = test::phasesOf(
            w.replay().states(), {{Phase::Recompute, 1, 4, false}, {Phase::Backward, 5, 100, false}});
        w.session.setDiagnosis(test::diagnosisOf(w.session, phases, {}));
        w.settle();
        QVERIFY(!writtenText(w).contains(QStringLiteral("recompute")));
        w.state.setWindow({0, 20});
        w.settle();
        QVERIFY(writtenText(w).contains(QStringLiteral("recompute")));
    }

    void inferredPhasesAreDashedAndRecordedOnesSolid()
    {
        Window w;
        w.state.setCursor(0);
        w.session.setDiagnosis(test::diagnosisOf(w.session, somePhases(w), {}));
        w.settle();
        const QImage picture = w.picture();
        const QRgb line = w.style.theme().rgb(Tone::Hatch);
        const int row = 6; // the first lane's frame
        const auto inked = [&](StateIndex first, StateIndex last) {
            const int left = w.atState(first, 0).x() + 4;
            const int right = w.atState(last, 0).x() - 4;
            return countColour(picture, QRect(left, row, right - left + 1, 1), line)
                / static_cast<double>(right - left + 1);
        };
        QVERIFY2(inked(101, 122) > 0.99, qPrintable(QString::number(inked(101, 122))));
        QVERIFY2(inked(1, 45) > 0.3 && inked(1, 45) < 0.8, qPrintable(QString::number(inked(1, 45))));
    }

    void aPhaseIsARangeAndADoubleClickZooms()
    {
        Window w;
        w.session.setDiagnosis(test::diagnosisOf(w.session, somePhases(w), {}));
        w.settle();
        const QPoint pos(w.atState(70, 0).x(), 14);
        w.click(pos);
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{46, 100})));
        w.doubleClick(pos);
        QVERIFY(w.state.window().left > 40 && w.state.window().left <= 46);
        QVERIFY(w.state.window().right >= 101 && w.state.window().right < 108);
    }

    void aPhaseSaysWhereItComesFrom()
    {
        Window w;
        w.session.setDiagnosis(test::diagnosisOf(w.session, somePhases(w), {}));
        w.settle();
        for (const auto& [state, words] :
            {std::pair{70U, "inferred from the events around it"}, std::pair{110U, "recorded"}}) {
            const QPoint pos(w.atState(state, 0).x(), 14);
            rest(w, pos);
            QTRY_VERIFY(QToolTip::isVisible());
            QVERIFY2(QToolTip::text().contains(QLatin1String(words)), qPrintable(QToolTip::text()));
            QToolTip::hideText();
            QTRY_VERIFY(!QToolTip::isVisible());
        }
    }

    void unknownPhasesStayEmpty()
    {
        Window w;
        const int top = w.plot().top();
        auto phases = test::phasesOf(w.replay().states(), {{Phase::Unknown, 1, 122, false}});
        w.session.setDiagnosis(test::diagnosisOf(w.session, phases, {}));
        w.settle();
        QCOMPARE(w.plot().top(), top);
    }

    void foundStepsStandInForMarks()
    {
        Window w(test::makeRank(test::trainingStep({.marks = false})));
        auto phases = somePhases(w);
        phases->steps = {{"step 1", 1, 60, true}, {"step 2", 61, 122, false}};
        phases->source = StepSource::Periodicity;
        phases->confidence = 0.9;
        w.state.setCursor(0);
        w.view.stepStep(1);
        QVERIFY(!w.state.range()); // neither marks nor steps
        w.session.setDiagnosis(test::diagnosisOf(w.session, phases, {}));
        w.settle();
        QVERIFY(writtenText(w).contains(QStringLiteral("step 2")));
        w.view.stepStep(1);
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{1, 60})));
        w.view.stepStep(1);
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{61, 122})));
        QCOMPARE(w.state.cursor(), StateIndex{61});
        w.view.stepStep(-1);
        QCOMPARE(w.state.range(), (std::optional(std::pair<StateIndex, StateIndex>{1, 60})));
        const QPoint second(w.atState(90, 0).x(), 14 + w.style.metrics().lane + 1);
        rest(w, second);
        QTRY_VERIFY(QToolTip::isVisible());
        const QString tip = QToolTip::text();
        QVERIFY2(tip.contains(QStringLiteral("by what repeats")), qPrintable(tip));
        QVERIFY2(tip.contains(QStringLiteral("90.0\u00a0%")), qPrintable(tip));
        QVERIFY2(tip.contains(QStringLiteral("its other end is not in the file")), qPrintable(tip));
        QToolTip::hideText();
    }

    void recordedStepsWinOverFoundOnes()
    {
        Window w; // with a ProfilerStep mark
        auto phases = somePhases(w);
        phases->steps = {{"step 77", 1, 60, true}};
        phases->source = StepSource::OptimizerFrames;
        w.session.setDiagnosis(test::diagnosisOf(w.session, phases, {}));
        w.settle();
        const QString text = writtenText(w);
        QVERIFY(text.contains(QStringLiteral("ProfilerStep#1")));
        QVERIFY(!text.contains(QStringLiteral("step 77")));
    }

    // ---- the finding's lane

    void theSelectedFindingIsDrawnOverTime()
    {
        Window w;
        w.session.setDiagnosis(
            test::diagnosisOf(w.session, nullptr, {test::findingOf(test::ofSite(w.session, softmax))}));
        w.state.setCursor(afterForward);
        w.settle();
        const int top = w.plot().top();
        w.state.setFinding(std::size_t{0});
        w.settle();
        QCOMPARE(w.plot().top(), top + w.style.metrics().px(26) + 1);
        const QImage picture = w.picture();
        const QRgb colour = w.style.theme().rgb(Tone::WarnFill);
        const int base = w.plot().top() - w.style.metrics().px(4) - 2;
        const auto heightAt = [&](StateIndex s) {
            const int x = w.atState(s, 0).x();
            return countColour(picture, QRect(x, base - 24, 1, 25), colour);
        };
        QCOMPARE(heightAt(1), 0); // nothing allocated yet
        const int full = heightAt(50);
        QVERIFY2(full >= 20, qPrintable(QString::number(full)));
        // After the fourth of eight layers half of it is there.
        QVERIFY2(std::abs(heightAt(21) - full / 2) <= 2, qPrintable(QString::number(heightAt(21))));
        QCOMPARE(heightAt(115), 0);
        w.state.setFinding(std::nullopt);
        w.settle();
        QCOMPARE(w.plot().top(), top);
    }

    void itsValueAtTheCursorIsWritten()
    {
        Window w;
        w.session.setDiagnosis(
            test::diagnosisOf(w.session, nullptr, {test::findingOf(test::ofSite(w.session, softmax))}));
        w.state.setFinding(std::size_t{0});
        w.state.setCursor(afterForward);
        w.settle();
        // 384 of 672 MiB.
        QVERIFY(writtenText(w).contains(QStringLiteral("384 MiB at the cursor, 57.1 % of live")));
        w.state.setCursor(3);
        QVERIFY(writtenText(w).contains(QStringLiteral("48.0 MiB at the cursor")));
        QVERIFY(w.view.spokenValue().contains(QStringLiteral("Core attention keeps")));
    }

    void findingsOfOtherDevicesOrWithoutAllocationsHaveNoLane()
    {
        Window w;
        Finding other = test::findingOf(test::ofSite(w.session, softmax));
        other.deviceIndex = 1;
        w.session.setDiagnosis(test::diagnosisOf(w.session, nullptr, {other, test::findingOf({})}));
        w.settle();
        const int top = w.plot().top();
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{9}}) {
            w.state.setFinding(i);
            w.settle();
            QCOMPARE(w.plot().top(), top);
        }
    }

    void aNewFileForgetsTheFinding()
    {
        Window w;
        const int top = w.plot().top();
        w.session.setDiagnosis(
            test::diagnosisOf(w.session, somePhases(w), {test::findingOf(test::ofSite(w.session, softmax))}));
        w.state.setFinding(std::size_t{0});
        w.settle();
        QVERIFY(w.plot().top() > top);
        w.session.setRank(test::makeRank(test::trainingStep()));
        w.state.reset(w.replay().states(), 0);
        w.settle();
        QCOMPARE(w.plot().top(), top);
    }

    // ---- the finding shown

    void itsAllocationsKeepColourAndAreStriped()
    {
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Window w(test::makeRank(test::trainingStep()), choice);
            w.session.setDiagnosis(
                test::diagnosisOf(w.session, nullptr, {test::findingOf(test::ofSite(w.session, softmax))}));
            w.state.setShownFinding(w.session.flagsOf(w.session.diagnosis()->findings[0]));
            w.state.setCursor(0);
            w.settle();
            const Theme& theme = w.style.theme();
            const QImage picture = w.picture();
            // In the first softmax: 160 to 208 MiB.
            const QPoint low = w.atState(48, 165 * MiB);
            const QPoint high = w.atState(54, 190 * MiB);
            const QRect area(QPoint(low.x(), high.y()), QPoint(high.x(), low.y()));
            const int all = area.width() * area.height();
            const int plain = countColour(picture, area, theme.category(0));
            QVERIFY2(plain > all / 2, qPrintable(QStringLiteral("%1 of %2").arg(plain).arg(all)));
            QVERIFY2(plain < all * 95 / 100, qPrintable(QStringLiteral("%1 of %2").arg(plain).arg(all)));
            // What does not belong to it is faded, and has no stripes.
            QCOMPARE(w.colourAt(afterForward, 216 * MiB), theme.faded(theme.category(1)));
            w.state.setShownFinding(nullptr);
            w.settle();
            QVERIFY(countColour(w.picture(), area, theme.category(0)) > all * 95 / 100);
        }
    }

    void theBoxShowsAndHidesIt()
    {
        Window w;
        QCheckBox* box = nullptr;
        for (QCheckBox* candidate : w.view.controls()->findChildren<QCheckBox*>())
            if (candidate->text() == QStringLiteral("Finding"))
                box = candidate;
        QVERIFY(box);
        QVERIFY(!box->isVisible());
        const auto ids = test::ofSite(w.session, softmax);
        w.session.setDiagnosis(test::diagnosisOf(w.session, nullptr, {test::findingOf(ids)}));
        QVERIFY(box->isVisible());
        QVERIFY(!box->isEnabled());
        w.state.setFinding(std::size_t{0});
        QVERIFY(box->isEnabled());
        box->click();
        QVERIFY(w.state.shownFinding());
        QCOMPARE(std::count(w.state.shownFinding()->begin(), w.state.shownFinding()->end(), 1),
            static_cast<std::ptrdiff_t>(ids.size()));
        w.state.setShownFinding(nullptr);
        QVERIFY(!box->isChecked());
        box->click();
        box->click();
        QVERIFY(!w.state.shownFinding());
    }

    void theSegmentMapStripesItToo()
    {
        Session session;
        ViewState state;
        Style style;
        SegmentMapView map(session, state, style);
        map.resize(700, 300);
        map.show();
        session.setRank(test::makeRank(test::trainingStep()));
        state.reset(session.replay()->states(), afterForward);
        const auto canvasPicture = [&] {
            QTest::qWait(60);
            return map.findChild<SegmentMapCanvas*>()->grab().toImage().convertToFormat(QImage::Format_RGB32);
        };
        const QRgb colour = style.theme().category(0);
        const QImage before = canvasPicture();
        const int plain = countColour(before, before.rect(), colour);
        QVERIFY(plain > 500);
        Finding finding = test::findingOf(test::ofSite(session, softmax));
        session.setDiagnosis(test::diagnosisOf(session, nullptr, {finding}));
        state.setShownFinding(session.flagsOf(finding));
        const QImage after = canvasPicture();
        const int left = countColour(after, after.rect(), colour);
        QVERIFY2(left > plain / 2 && left < plain * 95 / 100,
            qPrintable(QStringLiteral("%1 of %2").arg(left).arg(plain)));
        QCOMPARE(countColour(after, after.rect(), style.theme().category(1)), 0);
    }

    void theSegmentMapFramesTheFindingsSegments()
    {
        Session session;
        ViewState state;
        Style style;
        SegmentMapView map(session, state, style);
        map.resize(700, 300);
        map.show();
        session.setRank(test::makeRank(test::trainingStep()));
        state.reset(session.replay()->states(), afterForward);
        Finding finding = test::findingOf({}, Severity::Critical);
        finding.segments = {
            session.replay()->segments.stateAt(afterForward, session.replay()->timeline).segments.front().id};
        session.setDiagnosis(test::diagnosisOf(session, nullptr, {finding}));
        const QRgb colour = style.theme().rgb(Tone::Crit);
        const auto framed = [&] {
            QTest::qWait(60);
            const QImage picture
                = map.findChild<SegmentMapCanvas*>()->grab().toImage().convertToFormat(QImage::Format_RGB32);
            return countColour(picture, picture.rect(), colour);
        };
        QCOMPARE(framed(), 0);
        state.setFinding(std::size_t{0});
        QVERIFY(framed() > 100);
    }

    // ---- the prediction

    void thePredictedCurveIsDrawnWithItsPeak()
    {
        Window w;
        w.state.setCursor(0);
        const auto curve = std::vector<std::pair<StateIndex, std::int64_t>>{
            {0, 160 << 20}, {20, 300 << 20}, {110, 400 << 20}};
        w.session.setPrediction(prediction(w, curve, 110));
        w.settle();
        const QImage picture = w.picture();
        const QRgb accent = w.style.theme().rgb(Tone::Sel);
        for (const auto& [state, bytes] : {std::pair{10U, 160.0}, {60U, 300.0}, {115U, 400.0}}) {
            const QPoint at = w.atState(state, bytes * MiB);
            QCOMPARE(countColour(picture, QRect(at.x(), at.y() - 3, 1, 7), accent), 2);
        }
        const QString text = writtenText(w);
        QVERIFY(text.contains(QStringLiteral("predicted 400 MiB, made by the optimizer step")));
        QVERIFY(w.view.spokenValue().contains(QStringLiteral("predicted 160\u00a0MiB")));
        w.session.setPrediction(nullptr);
        w.settle();
        QVERIFY(!writtenText(w).contains(QStringLiteral("predicted")));
    }

    void theScaleHoldsThePrediction()
    {
        Window w;
        const double before = w.canvas()->yAxis->range().upper;
        const std::int64_t high = std::int64_t{3} << 30;
        w.session.setPrediction(prediction(w, {{0, 0}, {50, high}, {60, 0}}, 50));
        w.settle();
        QVERIFY(w.canvas()->yAxis->range().upper > static_cast<double>(high));
        w.session.setPrediction(nullptr);
        w.settle();
        QCOMPARE(w.canvas()->yAxis->range().upper, before);
    }

    // ---- little room, other looks

    void smallWindowsKeepThePlot()
    {
        Window w(test::makeRank(test::trainingStep()), ThemeChoice::Dark, {360, 190});
        w.session.setDiagnosis(
            test::diagnosisOf(w.session, somePhases(w), {test::findingOf(test::ofSite(w.session, softmax))}));
        w.state.setFinding(std::size_t{0});
        w.session.setPrediction(prediction(w, {{0, 1 << 30}}, 0));
        w.settle();
        QVERIFY(w.plot().height() >= 80);
        for (const int percent : {80, 200}) {
            w.style.setTextPercent(percent);
            w.settle();
            QVERIFY(w.plot().height() >= 60);
        }
    }

    void savesPicturesOnRequest()
    {
        const QString folder = qEnvironmentVariable("TIDEMARK_SAVE_PICTURES");
        if (folder.isEmpty())
            QSKIP("TIDEMARK_SAVE_PICTURES is not set");
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Window w(test::makeRank(test::trainingStep()), choice, {1100, 560});
            w.session.setDiagnosis(test::diagnosisOf(
                w.session, somePhases(w), {test::findingOf(test::ofSite(w.session, softmax))}));
            w.state.setFinding(std::size_t{0});
            w.state.setShownFinding(w.session.flagsOf(w.session.diagnosis()->findings[0]));
            w.state.setCursor(50);
            w.session.setPrediction(
                prediction(w, {{0, 160 << 20}, {20, 300 << 20}, {60, 350 << 20}, {110, 400 << 20}}, 110));
            w.settle();
            w.view.grab().save(folder
                + (choice == ThemeChoice::Dark ? QStringLiteral("/findings-dark.png")
                                               : QStringLiteral("/findings-light.png")));
        }
    }
};

QTEST_MAIN(TestTimelineFindings)
#include "tst_timeline_findings.moc"
