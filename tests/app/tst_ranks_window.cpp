// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reporter.hpp"
#include "model/job/digest.hpp"
#include "tests/app/window_fixture.hpp"
#include "tests/support/command_call.hpp"
#include "tests/support/small_job.hpp"
#include "widgets/notes/notes_view.hpp"
#include "widgets/oom/oom_view.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/ranks/run_panel.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QComboBox>
#include <QFileInfo>
#include <QPushButton>
#include <QTabWidget>
#include <QTreeView>

using namespace tidemark;
using namespace tidemark::test;
namespace fs = std::filesystem;

namespace {

constexpr int patience = 60000;
constexpr std::uint64_t mib = 1U << 20;

/// A window on folders of ranks.
struct Ranks {
    WindowFixture f;
    fs::path run = fs::path(f.folder.path().toStdString()) / "run";

    RanksView& view() { return *f.window->ranks(); }
    QWidget* front() { return f.window->tabs()->currentWidget(); }
    bool hasTab() { return f.window->tabs()->indexOf(&view()) >= 0; }
    QString shown()
    {
        const auto rank = f.workspace->session.rank();
        return rank ? QString::fromStdString(rank->snapshot->source.name) : QString();
    }
    void open(const fs::path& path) { f.open({QString::fromStdString(path.string())}); }
    QString digests()
    {
        const QString out = f.path("digests");
        const auto done = callCommand({"digest", QString::fromStdString(run.string()), "-o", out});
        return done.status == 0 ? out : QString();
    }
    QPushButton* button(QWidget& in, const QString& text)
    {
        for (QPushButton* each : in.findChildren<QPushButton*>())
            if (each->text() == text)
                return each;
        return nullptr;
    }
    /// The pane that says why there is no timeline; null while there is one.
    EmptyState* excuse()
    {
        for (EmptyState* each : f.window->tabs()->findChildren<EmptyState*>())
            if (each->isVisible())
                return each;
        return nullptr;
    }
    void showTimeline()
    {
        QTabWidget& tabs = *f.window->tabs();
        for (int i = 0; i < tabs.count(); ++i)
            if (tabs.widget(i)->isAncestorOf(f.window->timeline()))
                tabs.setCurrentIndex(i);
    }
};

} // namespace

/// Folders of ranks in the window.
class TestRanksWindow : public QObject {
    Q_OBJECT
private slots:
    void failingRankInTwoClicks()
    {
        Ranks r;
        writeSmallJob(r.run, 5, 3);
        r.open(r.run);
        QCOMPARE(r.front(), &r.view());
        QCOMPARE(r.view().chosen(), std::vector<std::size_t>{3});
        QVERIFY2(
            r.view().panel().plainText().contains("fragmentation"), qPrintable(r.view().panel().plainText()));
        QPushButton* open = r.button(r.view().panel(), "Open rank 3");
        QVERIFY(open);
        QTest::mouseClick(open, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(r.shown(), QString("snapshot_oom_rank-3.pickle"), patience);
        QTRY_COMPARE_WITH_TIMEOUT(r.front(), r.f.window->oomView(), patience);
        QTRY_VERIFY(r.f.window->oomView()->hasContent());
        // The overview is still there, and what it says of the rank holds in its own findings.
        QVERIFY(r.hasTab());
        for (const Finding& finding : r.f.workspace->session.diagnosis()->findings)
            QVERIFY(finding.explanation.find("Open the files of the other ranks") == std::string::npos);
    }

    void notesOnRanks()
    {
        Ranks r;
        writeSmallJob(r.run, 4);
        r.open(r.run);
        QTRY_VERIFY_WITH_TIMEOUT(!r.f.workspace->diagnoser.isBusy(), patience);
        NotesState& notes = r.f.workspace->notes;
        QTreeView& table = r.view().table();
        // The tool, then a click on the row.
        r.f.workspace->state.setTool(Tool::Note);
        const QRect row = table.visualRect(r.view().model().indexOf(2).siblingAtColumn(RanksModel::Bar));
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, row.center());
        QCOMPARE(notes.items().size(), std::size_t(1));
        QVERIFY(r.f.workspace->state.tool() == Tool::Pointer);
        QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("slow host"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
        QCOMPARE(notes.items().front().text, std::string("slow host"));
        QCOMPARE(notes.items().front().view, std::string("ranks"));
        QCOMPARE(r.view().notesOn(2), std::vector<int>{1});
        QVERIFY(r.view().notesOn(0).empty());
        // Its disc is drawn in its row.
        const QRect found = table.visualRect(r.view().model().indexOf(2).siblingAtColumn(RanksModel::Found));
        const QImage with = table.viewport()->grab(found).toImage();
        const auto id = notes.items().front().id;
        notes.choose(std::nullopt);
        notes.remove(id);
        QVERIFY(table.viewport()->grab(found).toImage() != with);
        notes.undo();
        // Jumping there comes back from anywhere.
        r.view().choose(0);
        r.showTimeline();
        emit r.f.window->notes()->jumpRequested(id);
        QCOMPARE(r.front(), &r.view());
        QCOMPARE(r.view().chosen(), std::vector<std::size_t>{2});
        // And it is in the report, said of its file.
        const auto input = r.f.window->reporter()->input();
        QVERIFY(input);
        const auto document = report::buildReport(*input, {}, nullptr, {});
        QVERIFY(document->section("annotations"));
        const auto& list = std::get<report::List>(document->section("annotations")->blocks.front());
        QCOMPARE(
            list.items.front().plain(), std::string("slow host – note, on a rank, on snapshot_2.pickle"));
    }

    void rowOpensByKey()
    {
        Ranks r;
        writeSmallJob(r.run, 4);
        r.open(r.run);
        QCOMPARE(r.front(), &r.view());
        r.view().choose(2);
        r.view().table().setFocus();
        QTest::keyClick(&r.view().table(), Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(r.shown(), QString("snapshot_2.pickle"), patience);
        QVERIFY(r.front()->isAncestorOf(r.f.window->timeline()));
        QVERIFY(!r.excuse());
    }

    void badFilesAreRowsAndTheRestOpens()
    {
        Ranks r;
        writeSmallJob(r.run, 3);
        const std::string whole = writePickle(climbingRank(40, mib));
        writeJobFile(r.run / "snapshot_3.pickle", whole.substr(0, whole.size() / 2));
        writeJobFile(r.run / "snapshot_4.pickle", "");
        writeJobFile(r.run / "notes.txt", "no snapshot");
        r.open(r.run);
        QCOMPARE(r.front(), &r.view());
        QVERIFY2(r.view().summaryText().contains("3 of 5 ranks"), qPrintable(r.view().summaryText()));
        QCOMPARE(r.view().model().job()->job.bad.size(), std::size_t(2));
        QCOMPARE(r.shown(), QString("snapshot_0.pickle"));
        // What can be read of the cut one.
        emit r.view().partialRequested(QString::fromStdString((r.run / "snapshot_3.pickle").string()));
        QTRY_COMPARE_WITH_TIMEOUT(r.shown(), QString("snapshot_3.pickle"), patience);
        QVERIFY(r.f.workspace->session.rank()->snapshot->source.partial);
    }

    void onlyBadFiles()
    {
        Ranks r;
        writeJobFile(r.run / "snapshot_0.pickle", "");
        writeJobFile(r.run / "snapshot_1.pickle", "");
        r.open(r.run);
        QCOMPARE(r.view().model().job()->job.bad.size(), std::size_t(2));
        QVERIFY(r.hasTab());
        r.showTimeline();
        QVERIFY(r.excuse());
        QCOMPARE(r.excuse()->heading(), QString("No rank of this run can be drawn"));
    }

    void anotherFileRemovesTheOverview()
    {
        Ranks r;
        writeSmallJob(r.run, 3);
        r.open(r.run);
        QVERIFY(r.hasTab());
        r.f.open({r.f.training()});
        QVERIFY(!r.hasTab());
        QCOMPARE(r.shown(), QString("run.pickle"));
        QVERIFY(r.front()->isAncestorOf(r.f.window->timeline()));
        // And back; then everything is closed.
        r.open(r.run);
        QVERIFY(r.hasTab());
        r.f.window->commands()["file.close"]->trigger();
        QTRY_VERIFY(r.f.window->showsStartPage());
        QVERIFY(!r.hasTab());
    }

    void anotherFileWhileRanksAreRead()
    {
        Ranks r;
        writeSmallJob(r.run, 12, -1, 300);
        r.f.window->open({QString::fromStdString(r.run.string())});
        QTRY_VERIFY_WITH_TIMEOUT(r.hasTab(), patience);
        r.f.open({r.f.training()});
        QVERIFY(!r.hasTab());
        QCOMPARE(r.shown(), QString("run.pickle"));
    }

    void digestsAlone()
    {
        Ranks r;
        writeSmallJob(r.run, 5, 1);
        const QString digests = r.digests();
        QVERIFY(!digests.isEmpty());
        r.f.open({r.f.training()}); // it goes when the run comes
        r.f.open({digests});
        QTRY_VERIFY(!r.f.workspace->session.rank());
        QCOMPARE(r.front(), &r.view());
        QCOMPARE(r.view().chosen(), std::vector<std::size_t>{1});
        QVERIFY2(
            r.view().panel().plainText().contains("fragmentation"), qPrintable(r.view().panel().plainText()));
        r.showTimeline();
        QVERIFY(r.excuse());
        QCOMPARE(r.excuse()->heading(), QString("Digests have no timeline"));
        QVERIFY(!r.f.window->timeline()->isVisible());
        QVERIFY(!r.f.window->segmentMap()->isVisible());
        // The views of a rank: which file they need, and the file itself where it is still there.
        QTest::mouseClick(r.button(r.view().panel(), "Open rank 1"), Qt::LeftButton);
        QTRY_VERIFY(r.excuse());
        QCOMPARE(r.excuse()->heading(), QString("Only the digest of rank 1 is here"));
        QPushButton* open = r.button(*r.excuse(), "Open this snapshot");
        QVERIFY(open);
        open->click();
        QTRY_COMPARE_WITH_TIMEOUT(r.shown(), QString("snapshot_oom_rank-1.pickle"), patience);
        QVERIFY(!r.hasTab());
        QVERIFY(r.f.window->timeline()->isVisible() || r.front() == r.f.window->oomView());
    }

    void digestsCanBeClosed()
    {
        Ranks r;
        writeSmallJob(r.run, 3);
        r.f.open({r.digests()});
        QVERIFY(r.hasTab());
        QVERIFY(r.f.window->commands()["file.close"]->isEnabled());
        r.f.window->commands()["file.close"]->trigger();
        QTRY_VERIFY(r.f.window->showsStartPage());
        QVERIFY(!r.hasTab());
    }

    void stepsAreChosen()
    {
        Ranks r;
        writeSmallJob(r.run / "iteration_5", 2, -1, 10);
        writeSmallJob(r.run / "iteration_10", 2, -1, 30);
        r.open(r.run);
        const auto live = [&] { return r.view().model().job()->ranks[0].live.bytes; };
        QCOMPARE(live(), static_cast<std::int64_t>(30 * 64 * mib));
        emit r.view().stepChoice().activated(1);
        QTRY_COMPARE_WITH_TIMEOUT(live(), static_cast<std::int64_t>(10 * 64 * mib), patience);
        QVERIFY(r.hasTab());
        // A rank of that step opens, although another one was listed first.
        r.view().choose(1);
        QTest::keyClick(&r.view().table(), Qt::Key_Return);
        const auto path = [&] {
            const auto rank = r.f.workspace->session.rank();
            return rank ? fs::path(rank->snapshot->source.path) : fs::path();
        };
        QTRY_COMPARE_WITH_TIMEOUT(path(), r.run / "iteration_5" / "snapshot_1.pickle", patience);
        emit r.view().stepChoice().activated(0);
        QTRY_COMPARE_WITH_TIMEOUT(live(), static_cast<std::int64_t>(30 * 64 * mib), patience);
    }

    void whatIsStatedHoldsForAllRanks()
    {
        Ranks r;
        writeSmallJob(r.run, 3);
        r.open(r.run);
        QVERIFY(!r.view().model().job()->diagnosis.ranks[2].capacity);
        r.f.workspace->session.setCardSize(std::uint64_t{4096} * mib);
        QTRY_VERIFY_WITH_TIMEOUT(r.view().model().job()->diagnosis.ranks[2].capacity, patience);
        QCOMPARE(*r.view().model().job()->diagnosis.ranks[2].capacity, std::uint64_t{4096} * mib);
        // The size is known for the other ranks as well.
        r.view().choose(2);
        QTest::keyClick(&r.view().table(), Qt::Key_Return);
        QTRY_COMPARE_WITH_TIMEOUT(r.shown(), QString("snapshot_2.pickle"), patience);
        QCOMPARE(r.f.workspace->session.cardSize(), std::optional<std::uint64_t>(4096 * mib));
        const QString settings = r.f.write("settings.yaml",
            "model:\n  tensor_model_parallel_size: 1\n  pipeline_model_parallel_size: 3\nhardware:\n  "
            "world_size: 3\n");
        r.f.workspace->diagnoser.setSettingsFiles({settings});
        QTRY_COMPARE_WITH_TIMEOUT(
            r.view().model().job()->diagnosis.roles.groups.size(), std::size_t(3), patience);
        const QString rules
            = r.f.write("labels.yaml", "rules:\n  - label: my network\n    match: 'net\\.py'\n");
        r.f.workspace->diagnoser.setRulesFile(rules);
        const auto labelled = [&] {
            const auto parts = r.view().model().job()->ranks[0].byLabel();
            return !parts.empty() && parts.front().first == "my network";
        };
        QTRY_VERIFY_WITH_TIMEOUT(labelled(), patience);
    }
};

QTEST_MAIN(TestRanksWindow)
#include "tst_ranks_window.moc"
