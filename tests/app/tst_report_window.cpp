// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reporter.hpp"
#include "tests/app/window_fixture.hpp"
#include "tests/support/command_call.hpp"
#include "tests/support/small_job.hpp"
#include "widgets/report/page_preview.hpp"
#include "widgets/report/report_options.hpp"
#include "widgets/report/report_view.hpp"

#include <QClipboard>
#include <QFile>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr int patience = 60000;

QByteArray contents(const QString& file)
{
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

/// A window with a run that has been looked at, at its report.
struct Reporting {
    Reporting()
    {
        file = f.training();
        f.open({file});
        QTRY_VERIFY_WITH_TIMEOUT(
            f.workspace->session.diagnosis() && !f.workspace->diagnoser.isBusy(), patience);
    }
    ReportView& view() { return *f.window->reportView(); }
    Reporter& reporter() { return *f.window->reporter(); }
    bool show()
    {
        f.window->commands()["window.report"]->trigger();
        return QTest::qWaitFor([this] { return view().document() && !view().busy(); }, patience);
    }
    QString write(const QString& name, const report::ReportWish& wish)
    {
        QSignalSpy finished(&reporter(), &Reporter::finished);
        reporter().write(wish, Paper::A4, f.path(name));
        if (!QTest::qWaitFor([&] { return !finished.isEmpty(); }, patience))
            return {};
        return finished.front().front().toString();
    }

    WindowFixture f;
    QString file;
};

} // namespace

/// The report of the window: its tab, and the files written from it.
class TestReportWindow : public QObject {
    Q_OBJECT
private slots:
    void writesWhatTheCommandWrites_data()
    {
        QTest::addColumn<QString>("extension");
        QTest::addColumn<bool>("redact");
        for (const char* extension : {"html", "md", "json", "pdf"})
            for (const bool redact : {false, true})
                QTest::newRow(
                    qPrintable(QStringLiteral("%1 %2").arg(extension, redact ? "redacted" : "whole")))
                    << QString(extension) << redact;
    }

    void writesWhatTheCommandWrites()
    {
        QFETCH(QString, extension);
        QFETCH(bool, redact);
        Reporting r;
        r.f.style->setChoice(ThemeChoice::Dark);
        report::ReportWish wish;
        if (redact)
            wish.redaction = report::Redaction::full();
        const QString here = "window." + extension;
        QCOMPARE(r.write(here, wish), "Wrote " + here);
        const QString there = r.f.path("command." + extension);
        QStringList call{"report", r.file, "-o", there};
        if (redact)
            call << "--redact";
        QCOMPARE(callCommand(call).status, std::optional(0));
        QVERIFY(contents(there).size() > 1000);
        QVERIFY(contents(r.f.path(here)) == contents(there));
    }

    void picturesLeaveTheLookAlone()
    {
        Reporting r;
        r.f.style->applyTo(*qApp);
        r.f.style->setChoice(ThemeChoice::Dark);
        const QPalette palette = qApp->palette();
        const QStyle* look = qApp->style();
        QVERIFY(r.show());
        QCOMPARE(qApp->palette(), palette);
        QVERIFY(qApp->style() == look);
        bool drawn = false;
        for (const report::Block& block : r.view().document()->section("timeline")->blocks)
            if (const auto* picture = std::get_if<report::Picture>(&block))
                drawn = picture->data.find("<svg") != std::string::npos;
        QVERIFY(drawn);
    }

    void tabKeyAndMenu()
    {
        WindowFixture empty;
        QVERIFY(!empty.window->commands()["file.report"]->isEnabled());
        QVERIFY(!empty.window->commands()["window.report"]->isEnabled());
        Reporting r;
        QVERIFY(r.f.window->commands()["file.report"]->isEnabled());
        QCOMPARE(r.f.window->commands()["file.report"]->shortcut(), QKeySequence(QStringLiteral("Ctrl+E")));
        QTest::keyClick(r.f.window.get(), Qt::Key_9);
        QCOMPARE(r.f.window->tabs()->currentWidget(), &r.view());
    }

    void notesAndComparisonGoIn()
    {
        Reporting r;
        QVERIFY(r.show());
        QVERIFY(r.view().document()->section("annotations") == nullptr);
        report::Annotation note;
        note.from = report::PointAnchor{10, 1 << 20};
        note.text = "Look here";
        r.f.workspace->notes.add(note);
        QTRY_VERIFY_WITH_TIMEOUT(!r.view().busy() && r.view().document()->section("annotations"), patience);
        QVERIFY(r.view().document()->section("comparison") == nullptr);
        r.f.window->compareWith(r.f.training(QStringLiteral("longer.pickle"), 3));
        QTRY_VERIFY_WITH_TIMEOUT(r.f.workspace->comparer.state().comparison(), patience);
        QVERIFY(r.show());
        QVERIFY(r.view().document()->section("comparison") != nullptr);
    }

    /// What the window says of a run is what the command line says of its folder.
    void aFoldersReportIsTheCommands()
    {
        WindowFixture f;
        const std::filesystem::path run = std::filesystem::path(f.folder.path().toStdString()) / "run";
        writeSmallJob(run, 4, 2);
        QFile broken(QString::fromStdString((run / "snapshot_9.pickle").string()));
        QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("no pickle") > 0);
        broken.close();
        f.open({QString::fromStdString(run.string())});
        // The one that failed, as the command chooses.
        QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.rank()
                && f.workspace->session.rank()->snapshot->source.name == "snapshot_oom_rank-2.pickle"
                && f.workspace->session.diagnosis() && !f.workspace->diagnoser.isBusy(),
            patience);
        const auto input = f.window->reporter()->input();
        QVERIFY(input && input->job);
        QCOMPARE(input->ranks.size(), std::size_t(5));
        QVERIFY(!input->run.headline.empty());
        for (const QString& name : {QStringLiteral("json"), QStringLiteral("html"), QStringLiteral("md")}) {
            QSignalSpy finished(f.window->reporter(), &Reporter::finished);
            f.window->reporter()->write({}, Paper::A4, f.path("window." + name));
            QTRY_VERIFY_WITH_TIMEOUT(!finished.isEmpty(), patience);
            const QString there = f.path("command." + name);
            QCOMPARE(callCommand({"report", QString::fromStdString(run.string()), "-o", there}).status,
                std::optional(exitStatus::someNotRead));
            QVERIFY(contents(there).size() > 1000);
            const QByteArray here = contents(f.path("window." + name));
            if (here != contents(there))
                for (qsizetype i = 0; i < here.size(); ++i)
                    if (here[i] != contents(there)[i]) {
                        qWarning() << here.mid(std::max<qsizetype>(0, i - 120), 240);
                        qWarning() << contents(there).mid(std::max<qsizetype>(0, i - 120), 240);
                        break;
                    }
            QVERIFY2(here == contents(there), qPrintable(name));
        }
        QVERIFY(contents(f.path("window.html")).contains("id=\"ranks\""));
    }

    void whatIsTypedStaysAsItIsTyped()
    {
        // Title and summary go into the session with every key: nothing may come back from there.
        Reporting r;
        QVERIFY(r.show());
        auto* summary = r.view().findChild<QPlainTextEdit*>();
        QVERIFY(summary);
        summary->setFocus();
        QTest::keyClicks(summary, QStringLiteral("one two "));
        QTest::keyClicks(summary, QStringLiteral("three"));
        QCOMPARE(summary->toPlainText(), QStringLiteral("one two three"));
        auto* title = r.view().findChild<QLineEdit*>();
        QVERIFY(title);
        title->setText(QStringLiteral("end"));
        title->setCursorPosition(0);
        QTest::keyClicks(title, QStringLiteral("at the "));
        QCOMPARE(title->text(), QStringLiteral("at the end"));
        QCOMPARE(QString::fromStdString(r.view().wish().summary), QStringLiteral("one two three"));
    }

    void snapshotsAreNotReplaced()
    {
        Reporting r;
        const QByteArray before = contents(r.file);
        QSignalSpy failed(&r.reporter(), &Reporter::failed);
        const QString odd = r.f.write(QStringLiteral("odd.json"), before.toStdString());
        r.f.open({odd});
        QTRY_VERIFY_WITH_TIMEOUT(!r.f.workspace->diagnoser.isBusy(), patience);
        r.reporter().write({}, Paper::A4, odd);
        QCOMPARE(failed.size(), 1);
        QCOMPARE(contents(odd), before);
        const CommandOutcome outcome = callCommand({"report", odd, "-o", odd});
        QCOMPARE(outcome.status, std::optional(exitStatus::wrongUsage));
        QVERIFY(outcome.err.contains(QStringLiteral("choose another name")));
        QCOMPARE(contents(odd), before);
    }

    void markdownGoesToTheClipboard()
    {
        Reporting r;
        QSignalSpy finished(&r.reporter(), &Reporter::finished);
        QGuiApplication::clipboard()->clear();
        r.reporter().copyMarkdown(r.view().wish());
        QTRY_VERIFY_WITH_TIMEOUT(!finished.isEmpty(), patience);
        QVERIFY(QGuiApplication::clipboard()->text().startsWith(QStringLiteral("# ")));
        QVERIFY(QGuiApplication::clipboard()->text().size() > 500);
    }

    void severalFilesAreWrittenOneAfterTheOther()
    {
        Reporting r;
        QSignalSpy finished(&r.reporter(), &Reporter::finished);
        for (const char* name : {"one.html", "two.pdf", "three.json"})
            r.reporter().write({}, Paper::A4, r.f.path(QString::fromLatin1(name)));
        QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 3, patience);
        for (const char* name : {"one.html", "two.pdf", "three.json"})
            QVERIFY(contents(r.f.path(QString::fromLatin1(name))).size() > 1000);
    }

    void whatCannotBeWrittenIsSaid()
    {
        Reporting r;
        QSignalSpy failed(&r.reporter(), &Reporter::failed);
        r.write(QStringLiteral("no/such/folder/x.html"), {});
        QCOMPARE(failed.size(), 1);
        const QString said = failed.front().front().toString();
        QVERIFY2(said.endsWith(QLatin1Char('.')), qPrintable(said));
        QVERIFY2(r.write(QStringLiteral("x.docx"), {}).contains(".pdf"), "an unknown ending");
    }

    void endings()
    {
        const QStringList filters = Reporter::filters().split(QStringLiteral(";;"));
        QCOMPARE(filters.size(), 4);
        QCOMPARE(Reporter::withEnding("/a/report", filters.back()), QStringLiteral("/a/report.pdf"));
        QCOMPARE(Reporter::withEnding("/a/report.md", filters.back()), QStringLiteral("/a/report.md"));
        QCOMPARE(Reporter::withEnding("/a/report.v2", {}), QStringLiteral("/a/report.v2.html"));
        QCOMPARE(Reporter::withEnding({}, filters.back()), QString());
    }

    void closedWhileItWrites()
    {
        Reporting r;
        r.reporter().write({}, Paper::A4, r.f.path("late.pdf"));
        QCoreApplication::processEvents();
        r.f.window.reset();
    }
};

QTEST_MAIN(TestReportWindow)
#include "tst_report_window.moc"
