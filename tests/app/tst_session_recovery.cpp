// SPDX-License-Identifier: GPL-3.0-or-later
// What is not saved: asked about, kept safe, recovered.
#include "tests/app/session_fixture.hpp"

#include <QProcess>
#include <QSignalSpy>

#include <cstdio>

using namespace tidemark;
using tidemark::test::bytesOf;
using tidemark::test::noteAt;
using tidemark::test::SessionFixture;

namespace {

/// Another window of the same user.
struct OtherWindow {
    explicit OtherWindow(const QString& settingsFile)
        : settings(settingsFile)
        , workspace(settings)
        , window(workspace, style, settings)
    {
        window.keeper().setChooser([this](SessionKeeper::Ask, const QString& suggested) {
            asked << suggested;
            return chosen;
        });
        window.show();
    }
    bool idle()
    {
        return !workspace.loader.isLoading() && !window.keeper().isBusy() && !workspace.diagnoser.isBusy()
            && window.keeper().scene().isSettled();
    }
    void show(const QString& path)
    {
        window.keeper().open({path});
        QTRY_VERIFY_WITH_TIMEOUT(idle(), 30000);
    }
    QString said(const char* notice) { return window.notices()->sentence(QLatin1String(notice)); }

    Settings settings;
    Style style;
    Workspace workspace;
    MainWindow window;
    QString chosen;
    QStringList asked;
};

QStringList kept(const SessionFixture& f)
{
    return QDir(f.path(QStringLiteral("autosave")))
        .entryList({QStringLiteral("*.tidemark"), QStringLiteral("*-*.lock")}, QDir::Files)
        .filter(QRegularExpression(QStringLiteral("^(?!open-)")));
}

QString offer(NoticeBar& bar)
{
    const QStringList offers = bar.names().filter(QStringLiteral("recover/"));
    return offers.isEmpty() ? QString() : offers.front();
}

void answer(SessionFixture& f, QMessageBox::StandardButton button)
{
    QTRY_VERIFY(f.keeper().prompt());
    QTest::mouseClick(f.keeper().prompt()->button(button), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(f.idle(), 20000);
}

void autosaveNow(SessionFixture& f)
{
    QSignalSpy written(&f.keeper().autosave(), &Autosave::written);
    f.keeper().setTimes({0, 0});
    f.notes().add(noteAt(7, "not saved"));
    QTRY_VERIFY_WITH_TIMEOUT(!written.isEmpty(), 20000);
}

/// The same program, that opens a file, notes something, says so and waits for its end.
int hold(QApplication& application, const QString& settingsFile, const QString& file)
{
    OtherWindow other(settingsFile);
    other.window.keeper().setTimes({0, 0});
    QObject::connect(&other.window.keeper().autosave(), &Autosave::written, [] {
        std::puts("kept");
        std::fflush(stdout);
    });
    QObject::connect(&other.window.keeper().scene(), &SessionScene::begun, [&other] {
        QTimer::singleShot(0, [&other] { other.workspace.notes.add(noteAt(5, "before the crash")); });
    });
    other.window.open({file});
    return application.exec();
}

} // namespace

class TestSessionRecovery : public QObject {
    Q_OBJECT
public:
    QString program;
private slots:
    void asksBeforeNotesAreLost();
    void asksNothingElse();
    void savesWhenAsked();
    void asksBeforeAnotherFile();
    void autosavesAndCleansUp();
    void autosaveNeverTouchesTheFile();
    void autosaveThatFailsIsTold();
    void recoversAfterACrash();
    void recoversALaterState();
    void discardsAndOffersOneByOne();
    void livingProgramsAreLeftAlone();
    void damagedAutosavesAreTold();
    void secondWindowIsTold();
    void changedOnDiskIsNotReplaced();
};

void TestSessionRecovery::asksBeforeNotesAreLost()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "precious"));
    QVERIFY(!f.window->close());
    answer(f, QMessageBox::Cancel);
    QVERIFY(f.window->isVisible());
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QVERIFY(!f.window->close());
    answer(f, QMessageBox::Discard);
    QTRY_VERIFY(!f.window->isVisible());
    f.again();
    QTest::qWait(20);
    QVERIFY(offer(f.bar()).isEmpty());
    QVERIFY(kept(f).isEmpty());
}

void TestSessionRecovery::asksNothingElse()
{
    SessionFixture f;
    const QString run = f.training();
    f.open({run});
    f.workspace->state.setCursor(4);
    emit f.workspace->state.searchRequested(QStringLiteral("size>1K"));
    f.workspace->session.setCardSize(std::uint64_t{24} << 30);
    f.show(f.training(QStringLiteral("next.pickle")));
    QVERIFY(!f.keeper().prompt());
    f.save();
    QVERIFY(!f.keeper().path().isEmpty());
    f.workspace->state.setCursor(6); // where one looks is nothing one made
    QVERIFY(f.window->close());
    QVERIFY(!f.keeper().prompt());
}

void TestSessionRecovery::savesWhenAsked()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "precious"));
    QVERIFY(!f.window->close());
    QVERIFY(f.keeper().prompt()->informativeText().contains(QStringLiteral("one note")));
    answer(f, QMessageBox::Save);
    QTRY_VERIFY(!f.window->isVisible());
    QCOMPARE(f.stored(f.path(QStringLiteral("run.tidemark"))).annotations.size(), std::size_t{1});
    // A session with a file is asked about when it has changed.
    f.again();
    f.show(f.path(QStringLiteral("run.tidemark")));
    f.workspace->state.setColourBy(ColourBy::Size);
    QVERIFY(!f.window->close());
    answer(f, QMessageBox::Save);
    QTRY_VERIFY(!f.window->isVisible());
    QCOMPARE(f.stored(f.path(QStringLiteral("run.tidemark"))).colour, std::string("size"));
    // Not when it cannot be saved.
    f.again();
    f.show(f.path(QStringLiteral("run.tidemark")));
    f.notes().add(noteAt(4, "more"));
    f.write(QStringLiteral("run.tidemark"), "{\"version\": 1, \"inputs\": []}");
    QVERIFY(!f.window->close());
    answer(f, QMessageBox::Save);
    QVERIFY(f.window->isVisible());
    QVERIFY(!f.said(SessionKeeper::saving).isEmpty());
    QCOMPARE(f.notes().items().size(), std::size_t{2});
}

void TestSessionRecovery::asksBeforeAnotherFile()
{
    SessionFixture f;
    f.open({f.training()});
    const QString next = f.training(QStringLiteral("next.pickle"));
    f.notes().add(noteAt(3, "precious"));
    f.keeper().open({next});
    answer(f, QMessageBox::Cancel);
    QCOMPARE(f.window->windowTitle(), QStringLiteral("run.pickle[*] – Tidemark"));
    f.keeper().open({next});
    answer(f, QMessageBox::Save);
    QTRY_COMPARE(f.window->windowTitle(), QStringLiteral("next.pickle – Tidemark"));
    QCOMPARE(f.stored(f.path(QStringLiteral("run.tidemark"))).annotations.size(), std::size_t{1});
    QVERIFY(f.notes().items().empty());
    // What is not wanted is asked about again when nothing came of the other file.
    f.notes().add(noteAt(3, "of next"));
    f.keeper().open({f.write(QStringLiteral("bad.txt"), "no snapshot")});
    answer(f, QMessageBox::Discard);
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    f.keeper().close();
    answer(f, QMessageBox::Discard);
    QVERIFY(f.window->showsStartPage());
    QVERIFY(f.notes().items().empty());
}

void TestSessionRecovery::autosavesAndCleansUp()
{
    SessionFixture f;
    f.open({f.training()});
    autosaveNow(f);
    const QString own = nameOf(f.keeper().autosave().file());
    QVERIFY(own.startsWith(f.path(QStringLiteral("autosave"))));
    QVERIFY(QFile::exists(own));
    report::SessionFile stored = f.stored(own);
    QCOMPARE(stored.annotations[0].text, std::string("not saved"));
    QCOMPARE(stored.inputs[0].path, f.path(QStringLiteral("run.pickle")).toStdString());
    QVERIFY(stored.inputs[0].hash.starts_with("fast1-"));
    // What moves is kept, too, where something is to be kept.
    QSignalSpy written(&f.keeper().autosave(), &Autosave::written);
    f.workspace->state.setCursor(9);
    QTRY_VERIFY_WITH_TIMEOUT(!written.isEmpty(), 20000);
    QTRY_COMPARE(f.stored(own).cursor.value_or(-5), std::int64_t{8});
    f.save();
    QTRY_VERIFY(kept(f).isEmpty());
}

void TestSessionRecovery::autosaveNeverTouchesTheFile()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "saved"));
    f.save();
    const QString file = f.keeper().path();
    const QByteArray before = bytesOf(file);
    autosaveNow(f);
    QCOMPARE(bytesOf(file), before);
    f.again(); // not closed: what was not saved is still there
    QTRY_VERIFY(!offer(f.bar()).isEmpty());
    QCOMPARE(bytesOf(file), before);
}

void TestSessionRecovery::autosaveThatFailsIsTold()
{
    SessionFixture f;
    f.write(QStringLiteral("autosave"), "a file where the folder should be");
    f.open({f.training()});
    f.keeper().setTimes({0, 0});
    f.notes().add(noteAt(3, "only here"));
    QTRY_VERIFY_WITH_TIMEOUT(!f.said(SessionKeeper::unsafe).isEmpty(), 20000);
    QVERIFY(QFile::remove(f.path(QStringLiteral("autosave"))));
    f.notes().add(noteAt(4, "safe again"));
    QTRY_VERIFY_WITH_TIMEOUT(f.said(SessionKeeper::unsafe).isEmpty(), 20000);
}

void TestSessionRecovery::recoversAfterACrash()
{
    SessionFixture f;
    const QString run = f.training();
    QProcess child;
    child.start(program, {QStringLiteral("--hold"), f.path(QStringLiteral("settings.ini")), run});
    QTRY_VERIFY_WITH_TIMEOUT(child.canReadLine(), 60000);
    QCOMPARE(child.readLine(), QByteArray("kept\n"));
    // While it lives nobody else offers what it keeps.
    f.again();
    QTest::qWait(50);
    QVERIFY(offer(f.bar()).isEmpty());
    child.kill();
    QVERIFY(child.waitForFinished(20000));
    QCOMPARE(child.exitStatus(), QProcess::CrashExit);

    f.again();
    QTRY_VERIFY(!offer(f.bar()).isEmpty());
    const QString name = offer(f.bar());
    QVERIFY2(f.bar().sentence(name).contains(QStringLiteral("run.pickle, 1 note, from ")),
        qPrintable(f.bar().sentence(name)));
    f.press(qPrintable(name), QStringLiteral("Recover"));
    QTRY_VERIFY_WITH_TIMEOUT(f.replay() && f.idle(), 20000);
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QCOMPARE(f.notes().items()[0].text, std::string("before the crash"));
    QVERIFY(f.keeper().isModified() && f.keeper().path().isEmpty());
    QCOMPARE(f.window->windowTitle(), QStringLiteral("run.pickle · recovered[*] – Tidemark"));
    QVERIFY(offer(f.bar()).isEmpty());
    QCOMPARE(kept(f).size(), 2); // still safe: file and lock
    f.save();
    QCOMPARE(f.keeper().path(), f.path(QStringLiteral("run.tidemark")));
    QVERIFY(f.stored(f.keeper().path()).extra.empty());
    QTRY_VERIFY(kept(f).isEmpty());
}

void TestSessionRecovery::recoversALaterState()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "saved"));
    f.save();
    const QString file = f.keeper().path();
    const QByteArray before = bytesOf(file);
    autosaveNow(f);
    f.again();
    QTRY_VERIFY(!offer(f.bar()).isEmpty());
    const QString name = offer(f.bar());
    QVERIFY(f.bar().sentence(name).contains(QStringLiteral("run.tidemark, 2 notes")));
    f.press(qPrintable(name), QStringLiteral("Recover"));
    QTRY_VERIFY_WITH_TIMEOUT(f.replay() && f.idle(), 20000);
    QCOMPARE(f.notes().items().size(), std::size_t{2});
    QVERIFY(!f.window->close());
    answer(f, QMessageBox::Save);
    QTRY_VERIFY(!f.window->isVisible());
    QCOMPARE(bytesOf(file), before);
    QCOMPARE(f.stored(f.path(QStringLiteral("run-recovered.tidemark"))).annotations.size(), std::size_t{2});
}

void TestSessionRecovery::discardsAndOffersOneByOne()
{
    SessionFixture f;
    const QString run = f.training();
    for (int i = 0; i < 5; ++i) {
        f.open({run});
        autosaveNow(f);
        f.again();
        QTRY_VERIFY(!offer(f.bar()).isEmpty());
    }
    QCOMPARE(f.bar().names().filter(QStringLiteral("recover/")).size(), 3);
    for (int i = 5; i > 0; --i) {
        QCOMPARE(kept(f).filter(QStringLiteral(".tidemark")).size(), i);
        f.press(qPrintable(offer(f.bar())), QStringLiteral("Discard"));
    }
    QVERIFY(offer(f.bar()).isEmpty());
    QVERIFY(kept(f).isEmpty());
}

void TestSessionRecovery::livingProgramsAreLeftAlone()
{
    SessionFixture f;
    f.open({f.training()});
    autosaveNow(f);
    OtherWindow other(f.path(QStringLiteral("settings.ini")));
    QSignalSpy found(&other.window.keeper().autosave(), &Autosave::found);
    QTest::qWait(50);
    QVERIFY(found.isEmpty());
    QVERIFY(offer(*other.window.notices()).isEmpty());
}

void TestSessionRecovery::damagedAutosavesAreTold()
{
    SessionFixture f;
    QDir(f.folder.path()).mkdir(QStringLiteral("autosave"));
    f.write(QStringLiteral("autosave/x.tidemark"), "\x01\x02");
    f.write(QStringLiteral("autosave/x.tidemark.AbCdEf"), "half written");
    f.again();
    QTRY_VERIFY(!offer(f.bar()).isEmpty());
    QVERIFY(!QFile::exists(f.path(QStringLiteral("autosave/x.tidemark.AbCdEf"))));
    const QString name = offer(f.bar());
    QVERIFY(!f.bar().button(name, QStringLiteral("Recover")));
    QVERIFY(QFile::exists(f.path(QStringLiteral("autosave/x.tidemark"))));
    f.press(qPrintable(name), QStringLiteral("Discard"));
    QVERIFY(kept(f).isEmpty());
}

void TestSessionRecovery::secondWindowIsTold()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "first"));
    f.save();
    const QString file = f.keeper().path();
    OtherWindow other(f.path(QStringLiteral("settings.ini")));
    other.show(file);
    QTRY_VERIFY(other.said(SessionKeeper::elsewhere).contains(QStringLiteral("another window")));
    other.workspace.notes.add(noteAt(4, "second"));
    const QByteArray before = bytesOf(file);
    other.chosen = file;
    other.window.keeper().save();
    QTRY_VERIFY(other.idle());
    QCOMPARE(other.asked.size(), 1);
    QCOMPARE(bytesOf(file), before);
    QVERIFY(!other.said(SessionKeeper::saving).isEmpty());
    other.chosen = f.path(QStringLiteral("second.tidemark"));
    other.window.keeper().save();
    QTRY_VERIFY(other.idle() && other.window.keeper().path() == other.chosen);
    QTRY_VERIFY(other.said(SessionKeeper::elsewhere).isEmpty());
    QCOMPARE(f.stored(other.chosen).annotations.size(), std::size_t{2});
    QCOMPARE(bytesOf(file), before);
}

void TestSessionRecovery::changedOnDiskIsNotReplaced()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "mine"));
    f.save();
    const QString file = f.keeper().path();
    f.write(
        QStringLiteral("run.tidemark"), "{\n\"version\": 1,\n\"inputs\": [],\n\"title\": \"theirs\"\n}\n");
    const QByteArray theirs = bytesOf(file);
    f.notes().add(noteAt(4, "more"));
    f.save();
    QCOMPARE(bytesOf(file), theirs);
    QVERIFY(f.said(SessionKeeper::saving).contains(QStringLiteral("changed on disk")));
    QVERIFY(f.keeper().isModified());
    f.press(SessionKeeper::saving, QStringLiteral("Replace it"));
    QCOMPARE(f.stored(file).annotations.size(), std::size_t{2});
    QVERIFY(!f.keeper().isModified());
    QVERIFY(f.said(SessionKeeper::saving).isEmpty());
}

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    if (arguments.value(1) == QStringLiteral("--hold"))
        return hold(application, arguments.value(2), arguments.value(3));
    TestSessionRecovery test;
    test.program = QApplication::applicationFilePath();
    return QTest::qExec(&test, argc, argv);
}

#include "tst_session_recovery.moc"
