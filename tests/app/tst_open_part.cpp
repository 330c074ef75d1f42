// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dock_title.hpp"
#include "app/error_banner.hpp"
#include "app/file_cache.hpp"
#include "app/quality_chip.hpp"
#include "app/range_dialog.hpp"
#include "app/session_keeper.hpp"
#include "app/settings_window.hpp"
#include "tests/app/window_fixture.hpp"

#include <QCheckBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QRadioButton>

using namespace tidemark;
using namespace tidemark::test;

namespace {

QString chips(const MainWindow& window)
{
    QStringList texts;
    for (const ChipButton* chip : window.findChildren<ChipButton*>())
        texts << chip->text() + (chip->isHidden() ? QStringLiteral(" (hidden)") : QString());
    return texts.join(QStringLiteral(" | "));
}

bool anyChip(const MainWindow& window, const QString& begin)
{
    const auto chips = window.findChildren<ChipButton*>();
    return std::any_of(chips.begin(), chips.end(),
        [&](const ChipButton* chip) { return chip->text().startsWith(begin) && !chip->isHidden(); });
}

} // namespace

/// A part of a file's events: chosen in the dialog, said in every pane, kept by reload and session.
class TestOpenPart : public QObject {
    Q_OBJECT
private slots:
    void choosesByKeys()
    {
        WindowFixture f;
        f.open({f.training()});
        const std::uint64_t events = f.replay()->device().events.count();
        f.window->commands()["file.openPart"]->trigger();
        RangeDialog* dialog = f.window->rangeDialog();
        QVERIFY(dialog && dialog->isVisible());
        // The number is there to be typed over.
        QTest::keyClicks(dialog->lastCount(), QStringLiteral("50"));
        QTest::keyClick(dialog->lastCount(), Qt::Key_Tab);
        QVERIFY(dialog->lastButton()->isChecked());
        QCOMPARE(dialog->wish().lastEvents, std::optional<std::uint64_t>(50));
        QTest::mouseClick(dialog->openButton(), Qt::LeftButton);
        QVERIFY(!dialog->isVisible());
        QTRY_VERIFY(f.replay() && f.replay()->device().events.count() == 50);
        QCOMPARE(std::uint64_t{f.replay()->device().firstEventInFile}, events - 50);

        const QString said = QStringLiteral("Events ");
        QTRY_VERIFY2(anyChip(*f.window, said), qPrintable(chips(*f.window)));
        for (const QDockWidget* dock : f.window->findChildren<QDockWidget*>())
            QVERIFY(dock->property(DockTitle::partProperty).toString().startsWith(said));
        f.workspace->files.reload();
        QTRY_VERIFY(!f.workspace->loader.isLoading());
        QCOMPARE(f.replay()->device().events.count(), std::size_t(50));

        // All of it again.
        f.window->openPart();
        QCOMPARE(dialog->lastCount()->value(), 50.0);
        dialog->allButton()->click();
        dialog->openButton()->click();
        QTRY_VERIFY(f.replay() && f.replay()->device().events.count() == events);
        QTRY_VERIFY(!anyChip(*f.window, said));
        for (const QDockWidget* dock : f.window->findChildren<QDockWidget*>())
            QVERIFY(dock->property(DockTitle::partProperty).toString().isEmpty());
    }

    void refusesWhatIsNoRange()
    {
        const Style style;
        RangeDialog dialog(style);
        RangeDialog::File file;
        file.path = QStringLiteral("/a/b.pickle");
        file.bytes = 1 << 20;
        file.events = 6000;
        file.counted = true;
        dialog.ask(file, {});
        dialog.from()->setValue(10);
        QVERIFY(dialog.betweenButton()->isChecked());
        dialog.to()->setValue(9);
        QVERIFY(!dialog.openButton()->isEnabled());
        dialog.to()->setValue(10);
        QVERIFY(dialog.openButton()->isEnabled());
        QCOMPARE(dialog.wish().events->first, std::uint64_t(10));
        QCOMPARE(dialog.wish().events->second, std::uint64_t(10));
        dialog.to()->setValue(9000);
        dialog.from()->setValue(6000);
        QVERIFY(!dialog.openButton()->isEnabled());
        dialog.firstCount()->setValue(5);
        QCOMPARE(dialog.wish().events->second, std::uint64_t(4));
        QVERIFY(dialog.openButton()->isEnabled());
    }

    /// The refusal for want of memory has a way on.
    void theBannerOpensAPart()
    {
        const auto tooLarge = [](const std::filesystem::path& path, const ReadOptions& options,
                                  const Job& job) -> Result<std::shared_ptr<const Rank>> {
            if (!options.ranged())
                return Error{ErrorCode::TooLarge, "needs more memory than is free.", std::nullopt};
            return openRank(path, options, job);
        };
        WindowFixture f(tooLarge);
        f.open({f.training()});
        QVERIFY(!f.replay());
        QPushButton* part = f.window->banner()->rangeButton();
        QVERIFY(part->isVisible());
        part->click();
        RangeDialog* dialog = f.window->rangeDialog();
        QVERIFY(dialog && dialog->isVisible());
        dialog->firstCount()->setValue(20);
        dialog->openButton()->click();
        QTRY_VERIFY(f.replay() && f.replay()->device().events.count() == 20);
        QVERIFY(f.window->banner()->isHidden());
    }

    void aSessionRemembersThePart()
    {
        WindowFixture f;
        ReadOptions options;
        options.events = {30, 89};
        f.window->open({f.training()}, options);
        QTRY_VERIFY(f.replay() && f.replay()->device().events.count() == 60);
        report::SessionFile session;
        session.opened = std::pair<std::int64_t, std::int64_t>{30, 89};
        const auto read = report::parseSession(report::sessionText(session), "a");
        QVERIFY(read);
        QCOMPARE(read->session.opened->first, std::int64_t(30));
        QCOMPARE(read->session.opened->second, std::int64_t(89));
        SessionKeeper& keeper = f.window->keeper();
        keeper.setChooser(
            [&](SessionKeeper::Ask, const QString&) { return f.path(QStringLiteral("a.tidemark")); });
        keeper.saveAs();
        QTRY_VERIFY(!keeper.isBusy() && QFile::exists(f.path(QStringLiteral("a.tidemark"))));
        f.window->commands()["file.close"]->trigger();
        QTRY_VERIFY(!f.replay());
        f.window->open({f.path(QStringLiteral("a.tidemark"))});
        QTRY_VERIFY(f.replay() && f.replay()->device().events.count() == 60);
        QCOMPARE(f.replay()->device().firstEventInFile, 30U);
    }

    void buildsOfOneVersionAreToldApart()
    {
        QTemporaryDir folder;
        const auto program = std::filesystem::path(folder.path().toStdString()) / "tidemark";
        QVERIFY(FileCache::buildOf(program).empty());
        const auto build = [&](const char* bytes) {
            QFile file(QString::fromStdString(program.string()));
            if (!file.open(QIODevice::WriteOnly) || file.write(bytes) < 0)
                qFatal("cannot write");
            file.close();
            return FileCache::buildOf(program);
        };
        const std::string first = build("one");
        QVERIFY(!first.empty());
        QCOMPARE(FileCache::buildOf(program), first);
        QTest::qWait(20);
        QVERIFY(build("two") != first);
    }

    void theSettingsShowAndClearTheCache()
    {
        QTemporaryDir folder;
        Settings settings(folder.filePath(QStringLiteral("settings.ini")));
        const auto place = std::filesystem::path(folder.path().toStdString()) / "cache";
        FileCache cache(settings, place);
        std::atomic<int> stored{0};
        cache.onStored([&](bool kept) { stored += kept; });
        std::string bytes = WindowFixture::trainingBytes(60);
        bytes.append(RankCache::leastFile, '\0'); // bytes behind a pickle's end do no harm
        const auto file = std::filesystem::path(folder.path().toStdString()) / "run.pickle";
        {
            QFile out(QString::fromStdString(file.string()));
            QVERIFY(out.open(QIODevice::WriteOnly));
            out.write(bytes.data(), static_cast<qint64>(bytes.size()));
        }
        QVERIFY(cache.opener()(file, {}, {}));
        QTRY_COMPARE(stored.load(), 1);
        const auto again = cache.opener()(file, {}, {});
        QVERIFY(again);
        QCOMPARE((*again)->snapshot->source.name, std::string("run.pickle"));
        QCOMPARE(stored.load(), 1);

        Style style;
        RecentFiles recent(settings);
        SettingsWindow window(settings, recent, style, &cache);
        window.open();
        QVERIFY(window.cacheSwitch()->isChecked());
        QVERIFY(window.clearCacheButton()->isEnabled());
        window.clearCacheButton()->click();
        QCOMPARE(cache.bytes(), std::uint64_t{0});
        QVERIFY(!window.clearCacheButton()->isEnabled());
        QVERIFY(cache.opener()(file, {}, {}));
        QTRY_COMPARE(stored.load(), 2);
        window.cacheSwitch()->setChecked(false);
        QCOMPARE(cache.bytes(), std::uint64_t{0});
        QVERIFY(!settings.get(setting::cacheOn));
        QVERIFY(cache.opener()(file, {}, {}));
        QTest::qWait(50);
        QCOMPARE(stored.load(), 2);
        // For one start it is off whatever the settings say.
        cache.setOn(true);
        FileCache off(settings, place, true);
        QVERIFY(off.opener()(file, {}, {}));
        QTest::qWait(50);
        QCOMPARE(off.bytes(), std::uint64_t{0});
    }
};

QTEST_MAIN(TestOpenPart)
#include "tst_open_part.moc"
