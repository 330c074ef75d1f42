// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/error_banner.hpp"
#include "app/growing_page.hpp"
#include "app/load_strip.hpp"
#include "app/main_toolbar.hpp"
#include "app/start_page.hpp"
#include "app/status_line.hpp"
#include "app/summary_strip.hpp"
#include "tests/app/window_fixture.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QClipboard>
#include <QComboBox>
#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>
#include <QSemaphore>

#include <atomic>

using namespace tidemark;
using tidemark::test::WindowFixture;

namespace {

/// Opens nothing until it is released or told to stop; says when it has begun and ended.
struct SlowOpener {
    struct State {
        QSemaphore begun;
        std::atomic<bool> release{false};
        std::atomic<int> ended{0};
        std::atomic<int> stopped{0};
    };
    std::shared_ptr<State> state = std::make_shared<State>();
    /// Files whose name contains this are slow; the others are opened as they are.
    std::string slow = "slow";

    Result<std::shared_ptr<const Rank>> operator()(
        const std::filesystem::path& path, const ReadOptions& options, const Job& job) const
    {
        if (path.filename().string().find(slow) == std::string::npos)
            return openRank(path, options, job);
        state->begun.release();
        std::uint64_t done = 0;
        while (!state->release && !job.stopped()) {
            job.report(Stage::Read, ++done, 1000000);
            constexpr std::array actions{Action::Alloc, Action::Alloc, Action::FreeCompleted};
            constexpr std::array<std::int64_t, actions.size()> sizes{4096, 4096, 4096};
            if (job.arrived)
                job.arrived({0, (done - 1) * actions.size(), actions, sizes});
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        ++state->ended;
        if (job.stopped()) {
            ++state->stopped;
            return Error{ErrorCode::Cancelled, "stopped", std::nullopt};
        }
        return openRank(path, options, job);
    }
};

} // namespace

class TestOpening : public QObject {
    Q_OBJECT
private slots:
    void beginsWithTheStartPage();
    void opensAFileAndLooksAtThePeak();
    void opensTheSample();
    void refusesWithASentenceAndKeepsWhatIsOpen();
    void opensWhatCanBeReadOfATruncatedFile();
    void damageThatHidesEverythingIsNoOffer();
    void stopsAtOnce();
    void reloadIsOfWhatIsShown();
    void selectedSitesEndWithTheirNumbers();
    void newestRequestWins();
    void showsProgressAfterAMoment();
    void growsWhileItIsRead();
    void canBeClosedWhileLoading();
    void opensWhatIsDropped();
    void remembersFilesAndCards();
    void reloadsAndKeepsTheView();
    void switchesBetweenFiles();
    void triesTheNextOfSeveralFiles();
    void closesBackToTheStartPage();
};

void TestOpening::beginsWithTheStartPage()
{
    WindowFixture f;
    QVERIFY(f.window->showsStartPage());
    QVERIFY(!f.window->segmentMap()->isVisible());
    QVERIFY(!f.window->strip()->isVisible());
    QVERIFY(f.window->startPage()->openButton()->isVisible());
    QVERIFY(f.window->startPage()->recentButtons().empty());
    QVERIFY(!f.window->commands()["file.reload"]->isEnabled());
}

void TestOpening::opensAFileAndLooksAtThePeak()
{
    WindowFixture f;
    f.open({f.training()});
    QVERIFY(!f.window->showsStartPage());
    QCOMPARE(f.window->windowTitle(), QStringLiteral("run.pickle – Tidemark"));
    QVERIFY(f.window->segmentMap()->isVisible());
    QVERIFY(f.window->strip()->isVisible());
    QVERIFY(f.replay());
    QCOMPARE(f.workspace->state.states(), f.replay()->states());
    QCOMPARE(f.workspace->state.cursor(), f.replay()->timeline.requested().total().maxState);
    QVERIFY(f.window->statusLine()->hoverText().contains(QStringLiteral("run.pickle")));
}

void TestOpening::opensTheSample()
{
    QVERIFY(Files::hasSample());
    WindowFixture f;
    QTest::mouseClick(f.window->startPage()->sampleButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(f.replay() != nullptr, 30000);
    QVERIFY(f.replay()->device().events.count() > 1000);
    // A bundled file is not one of the user's.
    QVERIFY(f.workspace->recent.entries().empty());
}

void TestOpening::refusesWithASentenceAndKeepsWhatIsOpen()
{
    WindowFixture f;
    f.open({f.training()});
    const auto before = f.workspace->session.rank();
    const QString bad = f.write(QStringLiteral("notes.txt"), "shopping list: eggs, milk, bread\n");
    f.open({bad});
    QCOMPARE(f.workspace->session.rank(), before);
    ErrorBanner* banner = f.window->banner();
    QVERIFY(banner->isVisible());
    QVERIFY(banner->sentence().contains(QStringLiteral("notes.txt")));
    QVERIFY(!banner->partialButton()->isVisible());
    QTest::mouseClick(banner->copyButton(), Qt::LeftButton);
    QCOMPARE(QGuiApplication::clipboard()->text(), banner->sentence());
    QCOMPARE(f.window->windowTitle(), QStringLiteral("run.pickle – Tidemark"));

    f.open({f.training(QStringLiteral("other.pickle"))});
    QVERIFY(!banner->isVisible());
}

void TestOpening::opensWhatCanBeReadOfATruncatedFile()
{
    WindowFixture f;
    std::string bytes = WindowFixture::trainingBytes();
    bytes.resize(bytes.size() * 2 / 3);
    f.open({f.write(QStringLiteral("cut.pickle"), bytes)});
    QVERIFY(f.window->showsStartPage());
    ErrorBanner* banner = f.window->banner();
    QVERIFY(banner->isVisible());
    QVERIFY2(banner->partialButton()->isVisible(), qPrintable(banner->sentence()));
    QTest::mouseClick(banner->partialButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.rank() != nullptr, 20000);
    QVERIFY(!banner->isVisible());
    QVERIFY(f.workspace->session.rank()->snapshot->source.partial);
    const auto& chips = f.window->strip()->chips();
    // The file says so, and each of its devices: that is one thing to know.
    QCOMPARE(std::count_if(chips.begin(), chips.end(),
                 [](const QualityChip& chip) { return chip.note.id == Quality::TruncatedFile; }),
        1);
    QVERIFY(f.workspace->session.rank()->quality(f.workspace->session.deviceIndex()).size() >= 2);
}

void TestOpening::damageThatHidesEverythingIsNoOffer()
{
    WindowFixture f;
    f.open({f.write(QStringLiteral("noise.pickle"), "\x80\x04this is no snapshot at all")});
    QVERIFY(f.window->banner()->isVisible());
    QVERIFY(!f.window->banner()->partialButton()->isVisible());
}

void TestOpening::stopsAtOnce()
{
    const SlowOpener opener;
    WindowFixture f(opener);
    f.open({f.training()});
    const auto before = f.workspace->session.rank();
    f.window->open({f.training(QStringLiteral("slow.pickle"))});
    QVERIFY(opener.state->begun.tryAcquire(1, 10000));
    QVERIFY(f.workspace->loader.isLoading());
    f.window->timeline()->setFocus();
    QTest::keyClick(f.window->timeline(), Qt::Key_Escape);
    QVERIFY(!f.workspace->loader.isLoading());
    QCOMPARE(f.workspace->session.rank(), before);
    QTRY_COMPARE(opener.state->stopped.load(), 1);
    QTest::qWait(50);
    QCOMPARE(f.workspace->session.rank(), before);
    QVERIFY(!f.window->banner()->isVisible());
    QCOMPARE(f.workspace->files.entries().size(), std::size_t{1});
}

void TestOpening::reloadIsOfWhatIsShown()
{
    const SlowOpener opener;
    WindowFixture f(opener);
    const QString first = f.training(QStringLiteral("first.pickle"));
    const QString second = f.training(QStringLiteral("second.pickle"));
    f.open({first, second});
    f.workspace->files.show(1);
    QTRY_VERIFY_WITH_TIMEOUT(!f.workspace->loader.isLoading(), 20000);
    QCOMPARE(f.window->windowTitle(), QStringLiteral("second.pickle – Tidemark"));
    f.window->open({f.training(QStringLiteral("slow.pickle"))});
    QVERIFY(opener.state->begun.tryAcquire(1, 10000));
    f.workspace->files.reload();
    QTRY_VERIFY_WITH_TIMEOUT(!f.workspace->loader.isLoading(), 20000);
    QCOMPARE(f.workspace->files.entries().size(), std::size_t{2});
    QCOMPARE(f.workspace->files.entries()[*f.workspace->files.current()].path, second);
    QCOMPARE(f.workspace->session.rank()->snapshot->source.name, std::string("second.pickle"));
}

void TestOpening::selectedSitesEndWithTheirNumbers()
{
    WindowFixture f;
    f.open({f.training()});
    Selection selection;
    selection.kind = Selection::Kind::Group;
    selection.groupBy = GroupBy::Site;
    f.workspace->state.select(selection);
    f.workspace->session.setSiteMode(SiteMode::Raw);
    QCOMPARE(f.workspace->state.selection().kind, Selection::Kind::None);
}

void TestOpening::newestRequestWins()
{
    const SlowOpener opener;
    WindowFixture f(opener);
    f.window->open({f.training(QStringLiteral("slow.pickle"))});
    QVERIFY(opener.state->begun.tryAcquire(1, 10000));
    f.window->open({f.training(QStringLiteral("quick.pickle"))});
    QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.rank() != nullptr, 20000);
    QCOMPARE(f.window->windowTitle(), QStringLiteral("quick.pickle – Tidemark"));
    QCOMPARE(opener.state->stopped.load(), 1);
}

void TestOpening::showsProgressAfterAMoment()
{
    const SlowOpener opener;
    WindowFixture f(opener);
    int updates = 0;
    QObject::connect(&f.workspace->loader, &Loader::progressed, f.window.get(), [&updates] { ++updates; });
    f.window->open({f.training(QStringLiteral("slow.pickle"))});
    QVERIFY(!f.window->showsProgress());
    QTRY_VERIFY(f.window->showsProgress());
    QTRY_VERIFY(f.window->loadStrip()->text().contains(QStringLiteral("reading")));
    QVERIFY(f.window->loadStrip()->text().contains(QStringLiteral("slow.pickle")));
    const int before = updates;
    QElapsedTimer clock;
    clock.start();
    QTest::qWait(500);
    const auto most = clock.elapsed() * Loader::updatesPerSecond / 1000 + 2;
    QVERIFY2(updates - before <= most, qPrintable(QString::number(updates - before)));
    QVERIFY(updates > before);
    opener.state->release = true;
    QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.rank() != nullptr, 20000);
    QVERIFY(!f.window->showsProgress());
    QVERIFY(f.window->strip()->isVisible());
}

void TestOpening::growsWhileItIsRead()
{
    const SlowOpener opener;
    WindowFixture f(opener);
    GrowingPage* page = f.window->growingPage();
    f.window->open({f.training(QStringLiteral("slow.pickle"))});
    QVERIFY(!page->isVisible());
    QTRY_VERIFY(page->isVisible());
    QTRY_VERIFY(page->text().contains(QStringLiteral("events so far")));
    const auto grey = [&] {
        const QImage image = page->grab().toImage();
        const QRgb fill = f.style->color(Tone::Line).rgb();
        int count = 0;
        for (int y = 0; y < image.height(); y += 4)
            for (int x = 0; x < image.width(); x += 4)
                count += image.pixel(x, y) == fill ? 1 : 0;
        return count;
    };
    const int before = grey();
    const QString text = page->text();
    QTRY_VERIFY(page->text() != text);
    QTRY_VERIFY(grey() > before);
    opener.state->release = true;
    QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.rank() != nullptr, 20000);
    QVERIFY(!page->isVisible());
    QVERIFY(f.window->timeline()->isVisible());
    // With something on screen, that stays.
    opener.state->release = false;
    f.window->open({f.training(QStringLiteral("slow.pickle"))});
    QTRY_VERIFY(f.window->showsProgress());
    QVERIFY(!page->isVisible());
    opener.state->release = true;
}

void TestOpening::canBeClosedWhileLoading()
{
    const SlowOpener opener;
    {
        WindowFixture f(opener);
        f.window->open({f.training(QStringLiteral("slow.pickle"))});
        QVERIFY(opener.state->begun.tryAcquire(1, 10000));
        f.window->close();
    }
    QCOMPARE(opener.state->ended.load(), 1);
    QCOMPARE(opener.state->stopped.load(), 1);
}

void TestOpening::opensWhatIsDropped()
{
    WindowFixture f;
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(f.training())});
    QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(f.window.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(f.window.get(), &drop);
    QTRY_VERIFY_WITH_TIMEOUT(f.replay() != nullptr, 20000);

    QMimeData text;
    text.setText(QStringLiteral("only words"));
    QDragEnterEvent words(QPoint(300, 300), Qt::CopyAction, &text, Qt::LeftButton, Qt::NoModifier);
    words.setAccepted(false);
    QApplication::sendEvent(f.window.get(), &words);
    QVERIFY(!words.isAccepted());
}

void TestOpening::remembersFilesAndCards()
{
    WindowFixture f;
    const QString a = f.training(QStringLiteral("a.pickle"));
    const QString b = f.training(QStringLiteral("b.pickle"));
    f.open({a});
    f.workspace->session.setCardSize(std::uint64_t{24} << 30);
    f.open({b});
    QVERIFY(!f.workspace->session.cardSize());
    f.restart();
    const auto& entries = f.workspace->recent.entries();
    QCOMPARE(entries.size(), std::size_t{2});
    QCOMPARE(entries[0].path, b);
    QCOMPARE(entries[1].path, a);
    const auto& rows = f.window->startPage()->recentButtons();
    QCOMPARE(rows.size(), std::size_t{2});
    QTest::mouseClick(rows[1], Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.rank() != nullptr, 20000);
    QCOMPARE(f.window->windowTitle(), QStringLiteral("a.pickle – Tidemark"));
    QVERIFY(f.workspace->session.cardSize().has_value());
    QCOMPARE(*f.workspace->session.cardSize(), std::uint64_t{24} << 30);
    QCOMPARE(f.workspace->recent.entries()[0].path, a);
    for (int i = 0; i < 20; ++i)
        f.workspace->recent.add(f.path(QStringLiteral("x%1").arg(i)));
    QCOMPARE(f.workspace->recent.entries().size(), RecentFiles::limit);
}

void TestOpening::reloadsAndKeepsTheView()
{
    WindowFixture f;
    f.open({f.training()});
    const auto before = f.workspace->session.rank();
    f.workspace->state.setCursor(17);
    f.workspace->state.setWindow({10, 40});
    f.window->commands()["file.reload"]->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.rank() != before, 20000);
    QCOMPARE(f.workspace->state.cursor(), StateIndex{17});
    QCOMPARE(f.workspace->state.window().left, 10.0);
    QCOMPARE(f.workspace->state.window().right, 40.0);

    f.training(QStringLiteral("run.pickle"), 3);
    f.window->commands()["file.reload"]->trigger();
    const auto second = f.workspace->session.rank();
    QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.rank() != second, 20000);
    QCOMPARE(f.workspace->state.cursor(), f.replay()->timeline.requested().total().maxState);
}

void TestOpening::switchesBetweenFiles()
{
    WindowFixture f;
    QVERIFY(QDir(f.folder.path()).mkdir(QStringLiteral("job")));
    f.training(QStringLiteral("job/rank0.pickle"));
    f.training(QStringLiteral("job/rank1.pickle"), 3);
    // Settings in the folder are no snapshots.
    f.write(QStringLiteral("job/env.txt"), "TP=1\n");
    f.write(QStringLiteral("job/run_config.yaml"), "model: {}\n");
    f.open({f.path(QStringLiteral("job"))});
    QComboBox* chooser = f.window->toolbar()->fileChooser();
    QTRY_VERIFY(chooser->isVisible());
    QCOMPARE(chooser->count(), 2);
    QCOMPARE(chooser->currentText(), QStringLiteral("rank0.pickle"));
    const auto before = f.replay()->states();
    emit chooser->activated(1);
    QTRY_COMPARE_WITH_TIMEOUT(f.window->windowTitle(), QStringLiteral("rank1.pickle – Tidemark"), 20000);
    QVERIFY(f.replay()->states() > before);
    QCOMPARE(chooser->currentText(), QStringLiteral("rank1.pickle"));
}

void TestOpening::triesTheNextOfSeveralFiles()
{
    WindowFixture f;
    const QString bad = f.write(QStringLiteral("a.txt"), "no snapshot");
    const QString good = f.training(QStringLiteral("b.pickle"));
    f.window->open({bad, good});
    QTRY_VERIFY_WITH_TIMEOUT(f.replay() != nullptr, 20000);
    QCOMPARE(f.window->windowTitle(), QStringLiteral("b.pickle – Tidemark"));
    QVERIFY(!f.workspace->files.entries()[0].problem.isEmpty());
    QVERIFY(f.workspace->files.entries()[1].problem.isEmpty());

    WindowFixture g;
    g.window->open({g.write(QStringLiteral("a.txt"), "no"), g.write(QStringLiteral("b.txt"), "neither")});
    QTRY_VERIFY_WITH_TIMEOUT(g.window->banner()->isVisible(), 20000);
    QVERIFY(g.window->showsStartPage());
}

void TestOpening::closesBackToTheStartPage()
{
    WindowFixture f;
    f.open({f.training()});
    f.window->commands()["file.close"]->trigger();
    QVERIFY(f.window->showsStartPage());
    QVERIFY(!f.window->segmentMap()->isVisible());
    QVERIFY(!f.window->strip()->isVisible());
    QCOMPARE(f.window->windowTitle(), QStringLiteral("Tidemark"));
    f.open({f.path(QStringLiteral("run.pickle"))});
    QVERIFY(f.window->segmentMap()->isVisible());
}

QTEST_MAIN(TestOpening)
#include "tst_opening.moc"
