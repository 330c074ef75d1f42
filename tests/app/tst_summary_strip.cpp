// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/quality_chip.hpp"
#include "app/summary_strip.hpp"
#include "model/core/units.hpp"
#include "tests/app/window_fixture.hpp"
#include "widgets/style/text.hpp"

#include <QLabel>
#include <QLineEdit>

using namespace tidemark;
using tidemark::test::says;
using tidemark::test::WindowFixture;

namespace {

QString text(const std::string& s)
{
    return QString::fromStdString(s);
}

} // namespace

/// Figures, chips and the card size in the strip under the toolbar.
class TestSummaryStrip : public QObject {
    Q_OBJECT
private slots:
    void stripShowsTheReplaysFigures();
    void stripFollowsCursorAndRange();
    void cardSizeIsTyped();
    void chipsExplainThemselves();
    void cellsGiveWayInOrder();
    void nothingRunsOffTheStrip();
};

void TestSummaryStrip::stripShowsTheReplaysFigures()
{
    WindowFixture f;
    f.open({f.training()});
    const auto replay = f.replay();
    const auto peak = replay->timeline.requested().total();
    const auto reserved = replay->segments.reserved().total();
    const SummaryStrip* strip = f.window->strip();
    QVERIFY(says(strip->peakCell(), text(formatBytes(peak.max))));
    QVERIFY(says(strip->peakCell(), text("event " + formatCount(momentOf(peak.maxState)))));
    QVERIFY(strip->peakCell()->toolTip().contains(text(formatExactBytes(peak.max))));
    QVERIFY(says(strip->reservedCell(), text(formatBytes(reserved.max))));
    const std::int64_t atPeak = replay->segments.reserved().at(peak.maxState);
    QVERIFY(says(strip->gapCell(), text(formatBytes(atPeak - peak.max))));
    const Predating& p = replay->timeline.predating();
    QVERIFY(says(strip->beforeCell(),
        text(formatBytes(static_cast<std::int64_t>(p.freedInTraceBytes + p.aliveAtEndBytes)))));
    QVERIFY(says(strip->beforeCell(),
        text(formatCount(static_cast<std::int64_t>(p.freedInTrace + p.aliveAtEnd)) + " allocations")));
    // The words depend on whether the recording reaches back to the start.
    QCOMPARE(strip->peakCell()->text().caption.contains(QStringLiteral("recorded window")),
        !replay->reachesStart());
    QTest::mouseClick(strip->beforeCell(), Qt::LeftButton);
    QCOMPARE(f.workspace->state.cursor(), StateIndex{0});
    QTest::mouseClick(strip->peakCell(), Qt::LeftButton);
    QCOMPARE(f.workspace->state.cursor(), peak.maxState);
}

void TestSummaryStrip::stripFollowsCursorAndRange()
{
    WindowFixture f;
    f.open({f.training()});
    const auto replay = f.replay();
    const SummaryStrip* strip = f.window->strip();
    for (const StateIndex state :
        {StateIndex{0}, StateIndex{1}, replay->states() / 2, replay->states() - 1}) {
        f.workspace->state.setCursor(state);
        QVERIFY(says(strip->cursorCell(), text(formatBytes(replay->timeline.requested().at(state)))));
        QVERIFY(says(strip->cursorCell(), text(formatCount(replay->timeline.liveCountAt(state)))));
        QVERIFY(says(strip->cursorCell(), text(formatBytes(replay->segments.reserved().at(state)))));
    }
    QVERIFY(strip->cursorCell()->text().caption.contains(
        text("event " + formatCount(momentOf(replay->states() - 1)))));
    f.workspace->state.setRange(std::pair{StateIndex{5}, StateIndex{25}});
    QVERIFY(says(strip->cursorCell(), QStringLiteral("20 events")));
    const Series& live = replay->timeline.requested();
    QVERIFY(says(strip->cursorCell(), text(formatBytesDelta(live.at(25) - live.at(5)))));
    f.workspace->state.setRange(std::nullopt);
    QVERIFY(strip->cursorCell()->text().caption.startsWith(QStringLiteral("Cursor")));
}

void TestSummaryStrip::cardSizeIsTyped()
{
    WindowFixture f;
    f.open({f.training()});
    SummaryStrip* strip = f.window->strip();
    const auto type = [&](const QString& words) {
        f.window->commands()["file.cardSize"]->trigger();
        QVERIFY(strip->cardEditor()->isVisible());
        strip->cardEditor()->setText(words);
        QTest::keyClick(strip->cardEditor(), Qt::Key_Return);
    };
    type(QStringLiteral("80 GiB"));
    QCOMPARE(f.workspace->session.cardSize(), std::optional(std::uint64_t{80} << 30));
    QVERIFY(!strip->cardEditor()->isVisible());
    QVERIFY(says(strip->cardCell(), text(formatBytes(std::int64_t{80} << 30))));
    type(QStringLiteral("24"));
    QCOMPARE(f.workspace->session.cardSize(), std::optional(std::uint64_t{24} << 30));
    // No size; no device is so small or large; less than the recording holds of it.
    const std::int64_t held = f.workspace->session.replay()->segments.reserved().total().max;
    for (const QString& wrong : {QStringLiteral("a lot"), QStringLiteral("5 KiB"), QStringLiteral("1 KiB"),
             QStringLiteral("100 B"), QStringLiteral("80,5"), QStringLiteral("80,5 GiB"),
             QStringLiteral("9000000 GiB"), QStringLiteral("%1 B").arg(held - 1)}) {
        type(wrong);
        QCOMPARE(f.workspace->session.cardSize(), std::optional(std::uint64_t{24} << 30));
        QVERIFY2(strip->cardEditor()->isVisible(), qPrintable(wrong));
        QVERIFY2(strip->cardProblem()->isVisible() && !strip->cardProblem()->text().isEmpty(), "says why");
        const QRect field(strip->cardEditor()->mapTo(strip, QPoint(0, 0)), strip->cardEditor()->size());
        QVERIFY(!strip->cardProblem()->geometry().intersects(field));
        QVERIFY(strip->rect().contains(strip->cardProblem()->geometry()));
        QTest::keyClick(strip->cardEditor(), Qt::Key_Escape);
        QVERIFY(!strip->cardEditor()->isVisible());
        QVERIFY(!strip->cardProblem()->isVisible());
    }
    type(QString());
    QCOMPARE(f.workspace->session.cardSize(), std::optional<std::uint64_t>());
}

void TestSummaryStrip::chipsExplainThemselves()
{
    WindowFixture f;
    f.open({f.training()});
    SummaryStrip* strip = f.window->strip();
    const auto notes = f.workspace->session.rank()->quality(f.workspace->session.deviceIndex());
    QVERIFY(strip->chips().size() >= notes.size());
    for (const QualityNote& note : notes)
        QVERIFY(std::any_of(strip->chips().begin(), strip->chips().end(), [&](const QualityChip& chip) {
            return chip.note.id == note.id && chip.note.sentence.find(note.sentence) != std::string::npos;
        }));
    QVERIFY(!strip->chipButtons().empty());
    QTest::mouseClick(strip->chipButtons().front(), Qt::LeftButton);
    auto* popup = qobject_cast<ChipPopup*>(QApplication::activePopupWidget());
    QVERIFY(popup);
    bool found = false;
    for (const QLabel* label : popup->findChildren<QLabel*>())
        found |= label->text() == shownText(strip->chips().front().note.sentence);
    QVERIFY(found);
    popup->close();
}

void TestSummaryStrip::cellsGiveWayInOrder()
{
    WindowFixture f;
    f.open({f.training()});
    const SummaryStrip* strip = f.window->strip();
    QString order;
    bool before = true;
    bool gap = true;
    for (int width = 1700; width >= 960; width -= 20) {
        f.window->resize(width, 1000);
        QTest::qWait(1);
        if (before && !strip->beforeCell()->isVisible()) {
            before = false;
            order += QStringLiteral("before ");
        }
        if (gap && !strip->gapCell()->isVisible()) {
            gap = false;
            order += QStringLiteral("gap ");
        }
        QVERIFY(strip->peakCell()->isVisible());
        QVERIFY(strip->reservedCell()->isVisible());
        QVERIFY(strip->cursorCell()->isVisible());
        QVERIFY(!strip->chipButtons().empty());
    }
    QCOMPARE(order, QStringLiteral("before gap "));
}

void TestSummaryStrip::nothingRunsOffTheStrip()
{
    WindowFixture f;
    f.open({f.training()});
    const SummaryStrip* strip = f.window->strip();
    for (const int percent : {100, 150, 200})
        for (const int width : {1600, 1280, 960}) {
            f.style->setTextPercent(percent);
            f.window->resize(width, 1000);
            QTest::qWait(30);
            QVERIFY(strip->peakCell()->isVisible() && strip->cursorCell()->isVisible());
            for (const StripCell* cell : {strip->peakCell(), strip->reservedCell(), strip->gapCell(),
                     strip->beforeCell(), strip->cardCell(), strip->cursorCell()})
                if (cell->isVisible()) {
                    QVERIFY2(cell->geometry().right() < strip->width(),
                        qPrintable(QStringLiteral("%1 at %2, %3 %")
                                       .arg(cell->text().caption)
                                       .arg(width)
                                       .arg(percent)));
                    QTRY_VERIFY(cell->width() >= cell->sizeHint().width());
                }
            QVERIFY(!strip->chipButtons().empty());
            for (const ChipButton* chip : strip->chipButtons())
                QVERIFY(chip->mapTo(strip, QPoint(chip->width(), 0)).x() <= strip->width());
        }
}

QTEST_MAIN(TestSummaryStrip)
#include "tst_summary_strip.moc"
