// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/report_case.hpp"
#include "tests/support/training_trace.hpp"
#include "widgets/report/page_preview.hpp"
#include "widgets/report/removed_list.hpp"
#include "widgets/report/report_options.hpp"
#include "widgets/report/report_view.hpp"
#include "widgets/style/style.hpp"

#include <QApplication>
#include <QCheckBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QTreeWidget>

#include <thread>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr int patience = 30000;

report::ReportInput training()
{
    TrainingTrace trace;
    trace.full = true;
    trace.leak = true;
    return reportInput(trace.make());
}

QString idsOf(const report::Document& document)
{
    QStringList ids;
    for (const report::Section& section : document.sections)
        ids << QString::fromStdString(section.id);
    return ids.join(QLatin1Char(' '));
}

/// A view with an input and a painter of pictures that counts.
struct Case {
    Case()
        : view(style)
    {
        style.applyTo(*qApp);
        view.resize(1200, 800);
    }

    void start()
    {
        view.setSource([this] { return input; },
            [this](const report::PictureAsk& ask) {
                ++drawn;
                drawnHere = drawnHere && std::this_thread::get_id() == gui;
                report::Picture picture{"p", report::Picture::Kind::Svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"40\"><text>"
                    "drawn</text></svg>",
                    100, 40, "alt", "caption"};
                const bool mine = ask.kind == report::PictureKind::Timeline;
                return mine ? std::vector{picture} : std::vector<report::Picture>();
            });
        view.show();
    }
    bool settle()
    {
        return QTest::qWaitFor([this] { return !view.busy() && view.document(); }, patience);
    }

    std::optional<report::ReportInput> input = training();
    int drawn = 0;
    bool drawnHere = true;
    std::thread::id gui = std::this_thread::get_id();
    Style style;
    ReportView view;
};

bool comesFirst(const report::Document& document, const char* a, const char* b)
{
    const QString ids = ' ' + idsOf(document) + ' ';
    const auto at
        = [&](const char* id) { return ids.indexOf(QStringLiteral(" %1 ").arg(QLatin1String(id))); };
    return at(a) >= 0 && at(a) < at(b);
}

QListWidgetItem* partItem(ReportOptions& options, report::Part part)
{
    for (int i = 0; i < options.parts().count(); ++i)
        if (options.parts().item(i)->data(Qt::UserRole).toInt() == static_cast<int>(part))
            return options.parts().item(i);
    return nullptr;
}

template <typename T>
T* named(QWidget& in, const char* name)
{
    for (T* each : in.findChildren<T*>())
        if (each->accessibleName() == QString::fromUtf8(name)
            || each->property("text") == QString::fromUtf8(name))
            return each;
    return nullptr;
}

} // namespace

class TestReportView : public QObject {
    Q_OBJECT
private slots:
    void withoutAFileItSaysSo()
    {
        Case c;
        c.input.reset();
        c.start();
        QTRY_COMPARE_WITH_TIMEOUT(c.view.emptyHeading(), QStringLiteral("No file is open"), patience);
        QSignalSpy asked(&c.view, &ReportView::openFileRequested);
        for (QPushButton* button : c.view.findChildren<QPushButton*>())
            if (button->isVisible())
                button->click();
        QCOMPARE(asked.count(), 1);
        c.input = training();
        c.view.inputChanged();
        QVERIFY(c.settle());
        QCOMPARE(c.view.emptyHeading(), QString());
    }

    void showsTheReport()
    {
        Case c;
        c.start();
        QVERIFY(c.settle());
        const auto& pages = c.view.preview().pages();
        QVERIFY(pages && pages->pageCount() >= 2);
        QCOMPARE(named<QLineEdit>(c.view, "Title of the report")->placeholderText().toStdString(),
            c.view.document()->title);
        QTRY_VERIFY_WITH_TIMEOUT(c.view.preview().settled(), patience);
        QVERIFY(c.drawnHere && c.drawn > 0);
        QVERIFY(c.view.document()->section("timeline")->blocks.size() > 0);
    }

    void redactsUnlessToldOtherwise()
    {
        Case c;
        c.start();
        QVERIFY(c.settle());
        QCOMPARE(c.view.wish().redaction, report::Redaction::standard());
        QVERIFY(c.view.document()->redacted);
        auto* redact = named<QCheckBox>(c.view, "Re&dact before sharing");
        redact->click();
        QVERIFY(!c.view.wish().redaction.any());
        QVERIFY(c.settle());
        QVERIFY(!c.view.document()->redacted);
        redact->click();
        named<QCheckBox>(c.view, "Hash fu&nction names")->click();
        QCOMPARE(c.view.wish().redaction, report::Redaction::full());
    }

    void orderOfPartsIsThatOfSections()
    {
        Case c;
        c.start();
        QVERIFY(c.settle());
        QListWidget& parts = c.view.options().parts();
        QVERIFY(comesFirst(*c.view.document(), "figures", "quality"));
        parts.setFocus();
        parts.setCurrentItem(partItem(c.view.options(), report::Part::Quality));
        for (int row = parts.currentRow(); row > 0; --row)
            QTest::keyClick(&parts, Qt::Key_Up, Qt::AltModifier);
        QCOMPARE(parts.currentRow(), 0);
        QVERIFY(c.settle());
        QVERIFY(comesFirst(*c.view.document(), "quality", "figures"));
        QTest::keyClick(&parts, Qt::Key_Up, Qt::AltModifier); // there is no higher place
        QCOMPARE(parts.currentRow(), 0);
        QTest::keyClick(&parts, Qt::Key_Down, Qt::AltModifier);
        QTest::keyClick(&parts, Qt::Key_Down, Qt::AltModifier);
        QVERIFY(c.settle());
        QVERIFY(comesFirst(*c.view.document(), "figures", "quality"));
        // As dragging does.
        QVERIFY(parts.model()->moveRow(
            {}, parts.row(partItem(c.view.options(), report::Part::Figures)), {}, parts.count()));
        QVERIFY(c.settle());
        QVERIFY(idsOf(*c.view.document()).endsWith("figures"));
    }

    void partsCanBeLeftOut()
    {
        Case c;
        c.start();
        QVERIFY(c.settle());
        partItem(c.view.options(), report::Part::Timeline)->setCheckState(Qt::Unchecked);
        QVERIFY(c.settle());
        QVERIFY(c.view.document()->section("timeline") == nullptr);
        QVERIFY(c.view.document()->section("figures") != nullptr);
        auto* parts = &c.view.options().parts();
        parts->setFocus();
        parts->setCurrentItem(partItem(c.view.options(), report::Part::Figures));
        QTest::keyClick(parts, Qt::Key_Space);
        QVERIFY(c.settle());
        QVERIFY(c.view.document()->section("figures") == nullptr);
    }

    void picturesAreDrawnOnceAnInput()
    {
        Case c;
        c.start();
        QVERIFY(c.settle());
        const int first = c.drawn;
        named<QLineEdit>(c.view, "Title of the report")->setText("My title");
        QVERIFY(c.settle());
        QCOMPARE(QString::fromStdString(c.view.document()->title), QStringLiteral("My title"));
        QCOMPARE(c.drawn, first);
        c.view.inputChanged();
        QVERIFY(QTest::qWaitFor([&] { return c.drawn == 2 * first; }, patience));
        QVERIFY(c.settle());
        QCOMPARE(c.drawn, 2 * first);
    }

    void aPictureThatCameTooLateIsNotShown()
    {
        Case c;
        bool other = false;
        c.view.setSource([&c] { return c.input; },
            [&](const report::PictureAsk&) {
                report::Picture picture{"p", report::Picture::Kind::Svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", 10, 10, "", other ? "new" : "old"};
                if (!std::exchange(other, true)) {
                    QCoreApplication::processEvents();
                    c.view.inputChanged();
                }
                return std::vector{picture};
            });
        c.view.show();
        QVERIFY(QTest::qWaitFor([&] { return c.view.document() && !c.view.busy(); }, patience));
        for (const report::Block& block : c.view.document()->section("timeline")->blocks)
            if (const auto* picture = std::get_if<report::Picture>(&block))
                QCOMPARE(picture->caption, std::string("new"));
    }

    void wishIsKept()
    {
        Case c;
        report::ReportWish wish;
        wish.title = "A title";
        wish.summary = "One.\n\nTwo.";
        wish.parts = {report::Part::Live, report::Part::Figures};
        wish.topRows = 7;
        wish.redaction = {report::Redaction::Paths::Hash, true, false, true};
        QSignalSpy told(&c.view, &ReportView::wishChanged);
        c.view.setWish(wish);
        QCOMPARE(told.count(), 0);
        const report::ReportWish now = c.view.wish();
        QVERIFY(now.title == wish.title && now.summary == wish.summary && now.parts == wish.parts);
        QVERIFY(now.topRows == 7U && now.redaction == wish.redaction);
        QCOMPARE(c.view.options().parts().count(), static_cast<int>(report::partCount));
        c.view.findChild<QSpinBox*>()->setValue(9);
        QCOMPARE(told.count(), 1);
        c.start();
        QVERIFY(c.settle());
        QCOMPARE(idsOf(*c.view.document()), QStringLiteral("live figures"));
        const auto& summary = c.view.document()->summary;
        QVERIFY(summary.size() >= 3); // the verdict comes first
        QCOMPARE(summary.back().plain(), std::string("Two."));
    }

    void whatIsRemovedIsListed()
    {
        Case c;
        c.input = reportInput(attackSnapshot());
        c.start();
        QVERIFY(c.settle());
        named<QPushButton>(c.view, "What is removed…")->click();
        auto* dialog = c.view.findChild<RemovedList*>();
        QVERIFY(dialog && dialog->isVisible() && !dialog->isModal());
        const auto expected
            = report::Redactor::build(report::redactionInput(*c.input), c.view.wish().redaction)
                  .replacements();
        QVERIFY(!expected.empty());
        QTRY_COMPARE_WITH_TIMEOUT(
            dialog->list().topLevelItemCount(), static_cast<int>(expected.size()), patience);
    }

    void zoomsAndScrollsByKeyboard()
    {
        Case c;
        c.start();
        QVERIFY(c.settle());
        PagePreview& preview = c.view.preview();
        QVERIFY(preview.fitsWidth());
        const double fit = preview.scale();
        preview.setFocus();
        QTest::keyClick(&preview, Qt::Key_End);
        QCOMPARE(preview.currentPage(), preview.pages()->pageCount() - 1);
        QTRY_VERIFY_WITH_TIMEOUT(preview.settled(), patience);
        QTest::keyClick(&preview, Qt::Key_Home);
        QCOMPARE(preview.currentPage(), 0);
        QTest::keyClick(&preview, Qt::Key_PageDown);
        QVERIFY(preview.verticalScrollBar()->value() > 0);
        preview.zoomBy(2);
        QVERIFY(preview.scale() > fit && !preview.fitsWidth());
        QVERIFY(preview.horizontalScrollBar()->maximum() > 0);
        preview.zoomBy(0.001);
        QVERIFY(preview.scale() > 0.1);
        QTRY_VERIFY_WITH_TIMEOUT(preview.settled(), patience);
        preview.setZoom(std::nullopt);
        QCOMPARE(preview.scale(), fit);
        QVERIFY(preview.accessibleDescription().startsWith("Page 1 of"));
    }

    void paperIsLightInBothThemes()
    {
        Case c;
        c.start();
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            c.style.setChoice(choice);
            QVERIFY(c.settle());
            QTRY_VERIFY_WITH_TIMEOUT(c.view.preview().settled(), patience);
            const QImage image = c.view.preview().viewport()->grab().toImage();
            const QPoint paper(image.width() / 2, c.style.metrics().px(14) + 20);
            QCOMPARE(image.pixelColor(paper), QColor(Qt::white));
            QCOMPARE(image.pixelColor(3, image.height() - 40), c.style.color(Tone::Win));
        }
    }

    void everyControlHasANameAndIsReachable()
    {
        Case c;
        c.start();
        QVERIFY(c.settle());
        for (QWidget* each : c.view.findChildren<QWidget*>()) {
            if (!each->isVisible() || !(each->focusPolicy() & Qt::TabFocus)
                || each->objectName().startsWith("qt_"))
                continue;
            QVERIFY2(!each->accessibleName().isEmpty() || !each->property("text").toString().isEmpty(),
                each->metaObject()->className());
        }
        QSignalSpy exported(&c.view, &ReportView::exportRequested);
        QSignalSpy copied(&c.view, &ReportView::copyMarkdownRequested);
        QTest::keyClick(named<QPushButton>(c.view, "Exp&ort…"), Qt::Key_Space);
        QTest::keyClick(named<QPushButton>(c.view, "&Copy as Markdown"), Qt::Key_Space);
        QCOMPARE(exported.count(), 1);
        QCOMPARE(copied.count(), 1);
    }

    void closedWhileItWorks()
    {
        auto c = std::make_unique<Case>();
        c->start();
        QVERIFY(
            QTest::qWaitFor([&] { return c->view.preview().pages() != nullptr || c->drawn > 0; }, patience));
        c.reset();
    }
};

QTEST_MAIN(TestReportView)
#include "tst_report_view.moc"
