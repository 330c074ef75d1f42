// SPDX-License-Identifier: GPL-3.0-or-later
// Session files: kept, opened again, and what happens when something is not as it was.
#include "tests/app/session_fixture.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/oom/oom_view.hpp"

#include <QLineEdit>

#include <csignal>
#include <sys/resource.h>

using namespace tidemark;
using tidemark::test::bytesOf;
using tidemark::test::noteAt;
using tidemark::test::SessionFixture;

namespace {

/// Files cannot grow beyond this while it lives: the disk is full.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes)
    {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &m_before);
        rlimit limit = m_before;
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() { setrlimit(RLIMIT_FSIZE, &m_before); }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit m_before{};
};

/// Everything a session can hold, on two files and a third to compare with.
void setEverything(SessionFixture& f)
{
    Workspace& w = *f.workspace;
    w.files.show(1);
    QTRY_VERIFY_WITH_TIMEOUT(!w.loader.isLoading(), 20000);
    w.diagnoser.setRulesFile(
        f.write(QStringLiteral("rules.json"), R"({"rules": [{"label": "mine", "path": "x"}]})"));
    w.diagnoser.setSettingsFiles({f.write(QStringLiteral("own.yaml"), "model: {}\n"),
        f.write(QStringLiteral("more.yaml"), "model:\n  num_layers: 4\n"),
        f.write(QStringLiteral("own.env"), "TP=1\n")});
    w.session.setCardSize(std::uint64_t{24} << 30);
    w.comparer.state().setAlign(compare::AlignBy::Event);
    w.comparer.open(compare::Which::B, f.path(QStringLiteral("job/other.pickle")));
    QTRY_VERIFY_WITH_TIMEOUT(f.idle() && w.session.diagnosis(), 30000);
    w.state.setColourBy(ColourBy::Size);
    emit w.state.searchRequested(QStringLiteral("size>1K"));
    w.state.setRange(std::pair<StateIndex, StateIndex>(12, 30));
    w.state.setCursor(17);
    w.state.setWindow({10, 60});
    SandboxView& sandbox = *f.window->sandbox();
    sandbox.settings().setLine(QStringLiteral("max_split_size_mb:256"));
    for (std::size_t i = 0; i < w.session.diagnosis()->findings.size(); ++i)
        for (std::size_t j = 0; j < w.session.diagnosis()->findings[i].fixes.size(); ++j)
            sandbox.setTicked({i, j}, true);
    w.notes.add(noteAt(17, "here it begins"));
    report::Annotation box = noteAt(20, "a box");
    box.kind = report::AnnotationKind::Box;
    box.input = 1;
    box.to = report::PointAnchor{40, 5 << 20};
    w.notes.add(box);
    f.keeper().scene().setReport({"Why it runs out", "Two lines", {"verdict", "annotations"}});
}

} // namespace

class TestSessionKeeper : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { qRegisterMetaType<LoadRequest>(); }
    void keepsEverything();
    void comparisonsOfOthersComeBack();
    void otherAxesComeBack();
    void pathsGoWithTheFolder();
    void commandsAndTitle();
    void namesComeFromTheSnapshot();
    void nothingIsReplacedUnasked();
    void offersWhatLiesBeside();
    void findsMovedSnapshots();
    void opensReplacedSnapshots();
    void leavesOutWhatIsBeyondTheEnd();
    void asksWhereASnapshotIs();
    void locatesOneOfSeveral();
    void refusesNewerVersions();
    void savesWhatCanBeReadOfABrokenOne();
    void keepsUnknownKeys();
    void otherPlaceWhenItCannotBeWritten();
    void fullDiskLosesNothing();
    void anotherFileBeginsAnew();
    void failedOpeningKeepsTheNotes();
    void sessionsInFoldersAreNoSnapshots();
};

void TestSessionKeeper::keepsEverything()
{
    SessionFixture f;
    QVERIFY(QDir(f.folder.path()).mkdir(QStringLiteral("job")));
    const QString a = f.training(QStringLiteral("job/rank0.pickle"));
    const QString b = f.training(QStringLiteral("job/rank1.pickle"), 3);
    f.training(QStringLiteral("job/other.pickle"), 3);
    f.open({a, b});
    setEverything(f);
    const report::SessionFile before = f.keeper().scene().collect();
    QVERIFY(!before.fixes.empty());
    QVERIFY(before.conf && before.window && before.range && before.device && before.cardBytes);
    QCOMPARE(before.current, 1U);
    QCOMPARE(before.filter, std::string("size>1K"));
    QCOMPARE(before.compare.size(), std::size_t{1});
    QVERIFY(!before.labels.empty() && !before.config.empty() && !before.env.empty());
    QCOMPARE(before.settings.size(), std::size_t{3});
    f.save();
    const QString file = f.path(QStringLiteral("job/job.tidemark"));
    QCOMPARE(f.keeper().path(), file);
    QVERIFY(!f.keeper().isModified());
    const report::SessionFile stored = f.stored(file);
    QCOMPARE(stored.inputs[0].path, std::string("rank0.pickle"));
    QVERIFY(stored.inputs[0].hash.starts_with("fast1-"));
    QCOMPARE(stored.labels, f.path(QStringLiteral("rules.json")).toStdString());

    f.again();
    f.show(file);
    QVERIFY2(f.said(SessionKeeper::problems).isEmpty(), qPrintable(f.said(SessionKeeper::problems)));
    QCOMPARE(f.keeper().path(), file);
    QVERIFY(!f.keeper().isModified());
    report::SessionFile after = f.keeper().scene().collect();
    QCOMPARE(f.workspace->state.cursor(), StateIndex{17});
    QCOMPARE(f.window->sandbox()->ticked().size(), before.fixes.size());
    QTRY_VERIFY(f.workspace->search.isActive());
    QVERIFY(f.workspace->comparer.state().session(compare::Which::B).rank());
    for (auto* list : {&after.inputs, &after.compare})
        for (report::SessionInput& input : *list)
            input = {input.path, {}, 0, {}};
    QVERIFY2(after == before,
        (report::sessionText(after) + "\n--- was ---\n" + report::sessionText(before)).c_str());
    // Saved again it is the same text.
    const QByteArray text = bytesOf(file);
    f.save();
    QCOMPARE(bytesOf(file), text);
}

void TestSessionKeeper::comparisonsOfOthersComeBack()
{
    SessionFixture f;
    const QString open = f.training(QStringLiteral("open.pickle"));
    const QString a = f.training(QStringLiteral("a.pickle"), 3);
    const QString b = f.training(QStringLiteral("b.pickle"), 4);
    f.open({open});
    f.window->commands()["window.compare"]->trigger();
    f.workspace->comparer.open(compare::Which::A, a);
    f.workspace->comparer.open(compare::Which::B, b);
    QTRY_VERIFY_WITH_TIMEOUT(f.idle(), 30000);
    f.save();
    const QString file = f.keeper().path();
    QCOMPARE(f.stored(file).compare.size(), std::size_t{2});
    const auto name = [&](compare::Which side) {
        const auto rank = f.workspace->comparer.state().session(side).rank();
        return rank ? rank->snapshot->source.name : std::string();
    };
    f.again();
    f.show(file);
    QVERIFY2(f.said(SessionKeeper::problems).isEmpty(), qPrintable(f.said(SessionKeeper::problems)));
    QCOMPARE(name(compare::Which::A), std::string("a.pickle"));
    QCOMPARE(name(compare::Which::B), std::string("b.pickle"));
    QCOMPARE(f.workspace->session.rank()->snapshot->source.name, std::string("open.pickle"));
    // It is what one looked at, so it is in front.
    QCOMPARE(f.window->tabs()->currentWidget()->metaObject()->className(), "tidemark::CompareView");
    QVERIFY(!f.keeper().isModified());
    // The window's own file as A is not kept twice.
    f.workspace->comparer.open(compare::Which::A, open);
    QCOMPARE(f.keeper().scene().collect().compare.size(), std::size_t{1});
}

void TestSessionKeeper::otherAxesComeBack()
{
    SessionFixture f;
    f.open({f.training()});
    QTRY_VERIFY_WITH_TIMEOUT(f.workspace->session.stepsAxis() != nullptr, 30000);
    for (const XAxis axis : {XAxis::Steps, XAxis::Time}) {
        f.workspace->state.setAxis(axis);
        const double whole = f.workspace->state.window().right;
        f.workspace->state.setWindow({whole * 0.25, whole * 0.5});
        f.notes().add(noteAt(1, "x"));
        f.save();
        const report::SessionFile before = f.keeper().scene().collect();
        QVERIFY(before.window);
        const QString file = f.keeper().path();
        f.again();
        f.show(file);
        QCOMPARE(f.workspace->state.axis(), axis);
        const report::SessionFile after = f.keeper().scene().collect();
        QCOMPARE(after.axis, before.axis);
        QCOMPARE(after.window->first, before.window->first);
        QCOMPARE(after.window->second, before.window->second);
    }
}

void TestSessionKeeper::pathsGoWithTheFolder()
{
    SessionFixture f;
    QDir(f.folder.path()).mkdir(QStringLiteral("one"));
    f.open({f.training(QStringLiteral("one/run.pickle"))});
    f.notes().add(noteAt(3, "kept"));
    f.save();
    QVERIFY(f.keeper().path().endsWith(QStringLiteral("one/run.tidemark")));
    f.again();
    QVERIFY(QDir(f.folder.path()).rename(QStringLiteral("one"), QStringLiteral("two")));
    f.show(f.path(QStringLiteral("two/run.tidemark")));
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QCOMPARE(f.workspace->files.entries()[0].path, f.path(QStringLiteral("two/run.pickle")));
    QVERIFY(f.bar().names().isEmpty());
}

void TestSessionKeeper::commandsAndTitle()
{
    SessionFixture f;
    Commands& c = f.window->commands();
    QVERIFY(!c["session.save"]->isEnabled());
    QVERIFY(c["session.open"]->isEnabled());
    f.open({f.training()});
    QVERIFY(c["session.save"]->isEnabled());
    QCOMPARE(f.window->windowTitle(), QStringLiteral("run.pickle – Tidemark"));
    f.notes().add(noteAt(3, "new"));
    QTRY_VERIFY(f.window->isWindowModified());
    QCOMPARE(f.window->windowTitle(), QStringLiteral("run.pickle[*] – Tidemark"));
    c["session.save"]->trigger();
    QTRY_VERIFY(f.idle() && !f.window->isWindowModified());
    QCOMPARE(f.window->windowTitle(), QStringLiteral("run.pickle · run.tidemark[*] – Tidemark"));
    // Looking elsewhere changes nothing that somebody made; another filter does.
    f.workspace->state.setCursor(5);
    f.workspace->state.setWindow({3, 20});
    QTest::qWait(1);
    QVERIFY(!f.window->isWindowModified());
    emit f.workspace->state.searchRequested(QStringLiteral("size>1K"));
    QTRY_VERIFY(f.window->isWindowModified());
    f.chosen = f.path(QStringLiteral("copy"));
    c["session.saveAs"]->trigger();
    QTRY_VERIFY(f.idle() && !f.window->isWindowModified());
    QCOMPARE(f.keeper().path(), f.path(QStringLiteral("copy.tidemark")));
    QCOMPARE(f.stored(f.keeper().path()).filter, std::string("size>1K"));
    QCOMPARE(f.workspace->recent.entries()[0].path, f.path(QStringLiteral("copy.tidemark")));
    f.chosen = f.path(QStringLiteral("run.tidemark"));
    c["session.open"]->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(f.idle() && f.keeper().path() == f.chosen, 20000);
    f.window->open({f.path(QStringLiteral("copy.tidemark"))});
    QTRY_VERIFY_WITH_TIMEOUT(f.idle() && f.keeper().path() == f.path(QStringLiteral("copy.tidemark")), 20000);
}

void TestSessionKeeper::namesComeFromTheSnapshot()
{
    const auto named = [](std::initializer_list<const char*> snapshots) {
        const std::vector<std::filesystem::path> paths(snapshots.begin(), snapshots.end());
        return QString::fromStdString(sessionPathFor(paths).string());
    };
    QCOMPARE(named({"/a/run.pickle"}), QStringLiteral("/a/run.tidemark"));
    QCOMPARE(named({"/a/run.pickle.gz"}), QStringLiteral("/a/run.tidemark"));
    QCOMPARE(named({"/a/run.v2.pickle"}), QStringLiteral("/a/run.v2.tidemark"));
    QCOMPARE(named({"/a/run"}), QStringLiteral("/a/run.tidemark"));
    QCOMPARE(named({"/a/job.7/r0.pickle", "/a/job.7/r1.pickle"}), QStringLiteral("/a/job.7/job.7.tidemark"));
    QCOMPARE(named({}), QString());
    QCOMPARE(storedPath("/a/b/c.pickle", "/a"), std::string("b/c.pickle"));
    QCOMPARE(storedPath("/a/b.pickle", "/a/"), std::string("b.pickle"));
    QCOMPARE(storedPath("/ab/c.pickle", "/a"), std::string("/ab/c.pickle"));
    QCOMPARE(storedPath("/c.pickle", "/a/b"), std::string("/c.pickle"));
}

void TestSessionKeeper::nothingIsReplacedUnasked()
{
    SessionFixture f;
    const QString others = f.write(QStringLiteral("run.tidemark"), "somebody's");
    f.open({f.training()});
    f.notes().add(noteAt(3, "mine"));
    f.save();
    QCOMPARE(f.asked, QStringList{others}); // and the dialog was cancelled
    QCOMPARE(bytesOf(others), QByteArray("somebody's"));
    QVERIFY(f.keeper().path().isEmpty());
    // The sample goes with the program: beside it is no place.
    f.asked.clear();
    f.notes().reset();
    f.keeper().openSample();
    QTRY_VERIFY_WITH_TIMEOUT(
        f.idle() && f.workspace->files.isSample(f.workspace->files.entries()[0].path), 30000);
    f.save();
    QCOMPARE(f.asked.size(), 1);
    QVERIFY(!f.workspace->files.isSample(f.asked[0]));
    f.notes().add(noteAt(3, "of the sample"));
    f.chosen = f.path(QStringLiteral("sample.tidemark"));
    f.save();
    QCOMPARE(f.keeper().path(), f.chosen);
    f.again();
    f.show(f.chosen);
    QVERIFY(f.replay());
    QCOMPARE(f.notes().items().size(), std::size_t{1});
}

void TestSessionKeeper::offersWhatLiesBeside()
{
    SessionFixture f;
    const QString run = f.training();
    f.open({run});
    QVERIFY(f.said(SessionKeeper::beside).isEmpty());
    f.notes().add(noteAt(3, "beside"));
    f.save();
    f.again();
    f.open({run});
    QVERIFY(f.said(SessionKeeper::beside).contains(QStringLiteral("run.tidemark")));
    QVERIFY(f.notes().items().empty());
    f.press(SessionKeeper::beside, QStringLiteral("Open it"));
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QVERIFY(f.said(SessionKeeper::beside).isEmpty());
}

void TestSessionKeeper::findsMovedSnapshots()
{
    SessionFixture f;
    QDir folder(f.folder.path());
    folder.mkdir(QStringLiteral("far"));
    folder.mkdir(QStringLiteral("home"));
    const QString run = f.training(QStringLiteral("far/run.pickle"));
    f.open({run});
    f.notes().add(noteAt(3, "moved"));
    f.chosen = f.path(QStringLiteral("home/mine.tidemark"));
    f.keeper().saveAs();
    QTRY_VERIFY(f.idle() && !f.keeper().path().isEmpty());
    QCOMPARE(f.stored(f.chosen).inputs[0].path, run.toStdString());
    // By its name beside the session, then by its content under another name among others.
    f.again();
    QVERIFY(QFile::rename(run, f.path(QStringLiteral("home/run.pickle"))));
    f.show(f.chosen);
    QCOMPARE(f.workspace->files.entries()[0].path, f.path(QStringLiteral("home/run.pickle")));
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QVERIFY2(f.said(SessionKeeper::problems).isEmpty(), qPrintable(f.said(SessionKeeper::problems)));
    f.again();
    f.training(QStringLiteral("home/another.pickle"), 3);
    std::string same = tidemark::test::WindowFixture::trainingBytes();
    same.back() = static_cast<char>(same.back() ^ 1); // of the same size
    f.write(QStringLiteral("home/aa.pickle"), same);
    QVERIFY(QFile::rename(
        f.path(QStringLiteral("home/run.pickle")), f.path(QStringLiteral("home/renamed.dump"))));
    f.show(f.chosen);
    QCOMPARE(f.workspace->files.entries()[0].path, f.path(QStringLiteral("home/renamed.dump")));
    QVERIFY(f.said(SessionKeeper::problems).isEmpty());
}

void TestSessionKeeper::opensReplacedSnapshots()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "old"));
    f.save();
    const QString file = f.keeper().path();
    f.again();
    f.training(QStringLiteral("run.pickle"), 3);
    f.show(file);
    QVERIFY2(f.said(SessionKeeper::problems).contains(QStringLiteral("run.pickle is not the file")),
        qPrintable(f.said(SessionKeeper::problems)));
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QCOMPARE(f.keeper().path(), file);
    QVERIFY(f.replay());
}

void TestSessionKeeper::leavesOutWhatIsBeyondTheEnd()
{
    SessionFixture f;
    f.training();
    report::SessionFile session;
    session.inputs.push_back({"run.pickle", {}, 0, {}});
    session.device = 7;
    session.cursor = 999999;
    session.window = std::pair<std::int64_t, std::int64_t>(900000, 999999);
    session.range = std::pair<std::int64_t, std::int64_t>(5, 999999);
    session.colour = "mood";
    session.axis = "steps";
    session.alignment = "stars";
    session.labels = "gone.json";
    session.config = "gone.yaml";
    session.fixes.push_back({"no-such-rule", 3, "no-such-fix"});
    session.compare.push_back({"gone.pickle", {}, 0, {}});
    session.annotations.push_back(noteAt(999999, "far away"));
    const QString file = f.write(QStringLiteral("s.tidemark"), report::sessionText(session));
    f.show(file);
    QVERIFY(f.replay());
    QTRY_VERIFY(!f.said(SessionKeeper::problems).isEmpty());
    const QString said = f.said(SessionKeeper::problems);
    for (const char* part :
        {"GPU 7", "The cursor is left out", "The selected range is left out", "The zoom is left out", "mood",
            "stars", "gone.json", "gone.yaml", "no-such-fix", "gone.pickle", "1 of 1 notes"})
        QVERIFY2(said.contains(QLatin1String(part)), (part + (" is not in:\n" + said.toStdString())).c_str());
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QCOMPARE(f.workspace->state.cursor(), f.replay()->timeline.requested().total().maxState);
    QVERIFY(!f.workspace->state.range());
    QVERIFY(!f.keeper().isModified());
    // The other side may come back.
    QCOMPARE(f.keeper().scene().collect().compare.size(), std::size_t{1});
}

void TestSessionKeeper::asksWhereASnapshotIs()
{
    SessionFixture f;
    f.open({f.training()});
    f.workspace->state.setCursor(11);
    f.notes().add(noteAt(3, "lost"));
    f.save();
    const QString file = f.keeper().path();
    f.again();
    QDir(f.folder.path()).mkdir(QStringLiteral("deep"));
    QVERIFY(QFile::rename(f.path(QStringLiteral("run.pickle")), f.path(QStringLiteral("deep/run.pickle"))));
    f.show(file);
    QVERIFY(f.window->showsStartPage());
    QVERIFY(f.said(SessionKeeper::missing).contains(QStringLiteral("run.pickle")));
    f.press(SessionKeeper::missing, QStringLiteral("Locate…")); // and cancelled
    QVERIFY(!f.said(SessionKeeper::missing).isEmpty());
    f.chosen = f.path(QStringLiteral("deep/run.pickle"));
    f.press(SessionKeeper::missing, QStringLiteral("Locate…"));
    QTRY_VERIFY_WITH_TIMEOUT(f.replay() && f.idle(), 20000);
    QCOMPARE(f.workspace->state.cursor(), StateIndex{11});
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QCOMPARE(f.keeper().path(), file);
    QVERIFY(f.bar().names().isEmpty());
    QTRY_VERIFY(f.keeper().isModified()); // or it is asked again the next time
    f.save();
    QVERIFY(!f.keeper().isModified());
    QCOMPARE(f.stored(file).inputs[0].path, std::string("deep/run.pickle"));
}

void TestSessionKeeper::locatesOneOfSeveral()
{
    SessionFixture f;
    QDir folder(f.folder.path());
    folder.mkdir(QStringLiteral("job"));
    folder.mkdir(QStringLiteral("gone"));
    const QString a = f.training(QStringLiteral("job/rank0.pickle"));
    const QString b = f.training(QStringLiteral("job/rank1.pickle"), 3);
    f.open({a, b});
    f.workspace->files.show(1);
    QTRY_VERIFY_WITH_TIMEOUT(f.idle(), 20000);
    f.workspace->state.setCursor(23);
    f.notes().add(noteAt(3, "both"));
    f.save();
    const QString file = f.keeper().path();
    f.again();
    QVERIFY(QFile::rename(b, f.path(QStringLiteral("gone/rank1.pickle"))));
    f.show(file);
    // The rest is there, the numbers of the inputs are what they were.
    QCOMPARE(f.workspace->files.current(), std::optional<std::size_t>(0));
    QCOMPARE(f.workspace->files.entries().size(), std::size_t{2});
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QVERIFY(f.said(SessionKeeper::missing).contains(QStringLiteral("rank1.pickle")));
    f.notes().add(noteAt(4, "meanwhile"));
    f.chosen = f.path(QStringLiteral("gone/rank1.pickle"));
    f.press(SessionKeeper::missing, QStringLiteral("Locate…"));
    QTRY_VERIFY_WITH_TIMEOUT(f.idle() && f.workspace->files.current() == std::size_t{1}, 20000);
    QCOMPARE(f.workspace->state.cursor(), StateIndex{23});
    QCOMPARE(f.notes().items().size(), std::size_t{2});
    QCOMPARE(f.keeper().path(), file);
    QVERIFY(f.said(SessionKeeper::missing).isEmpty());
}

void TestSessionKeeper::refusesNewerVersions()
{
    SessionFixture f;
    f.open({f.training()});
    const auto rank = f.workspace->session.rank();
    const std::string text = "{\n\"version\": 99,\n\"inputs\": [{\"path\": \"run.pickle\"}]\n}\n";
    const QString file = f.write(QStringLiteral("new.tidemark"), text);
    f.show(file);
    QVERIFY(f.said(SessionKeeper::openNotice).contains(QStringLiteral("newer version")));
    QCOMPARE(f.workspace->session.rank(), rank);
    QCOMPARE(bytesOf(file).toStdString(), text);
    f.show(f.path(QStringLiteral("none.tidemark")));
    QVERIFY(f.said(SessionKeeper::openNotice).contains(QStringLiteral("none.tidemark")));
}

void TestSessionKeeper::savesWhatCanBeReadOfABrokenOne()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "first"));
    f.notes().add(noteAt(4, "second"));
    f.save();
    const QString file = f.keeper().path();
    f.again();
    QByteArray text = bytesOf(file);
    text.replace("\"cursor\":", "\"cur~~~");
    text.replace("\"colour\": \"site\"", "\"colour\": 5");
    f.write(QStringLiteral("run.tidemark"), text.toStdString());
    f.show(file);
    QCOMPARE(f.notes().items().size(), std::size_t{2});
    QVERIFY(!f.said(SessionKeeper::problems).isEmpty());
    f.notes().setText(f.notes().items()[0].id, QStringLiteral("mended"));
    f.save();
    QCOMPARE(bytesOf(file + QStringLiteral(".bak")), text);
    QCOMPARE(f.stored(file).annotations[0].text, std::string("mended"));
    // Once: the file is whole now.
    f.notes().setText(f.notes().items()[0].id, QStringLiteral("again"));
    f.save();
    QVERIFY(!QFile::exists(file + QStringLiteral(".bak2")));
    // All that is left may be the notes.
    f.again();
    f.write(QStringLiteral("run.tidemark"),
        "{\n\"version\": 1,\n\"inputs\": [{\"pa~,\n\"annotations\": [\n"
        "{\"id\": 1, \"kind\": \"note\", \"text\": \"x\"}\n]\n}\n");
    f.show(file);
    QVERIFY2(f.said(SessionKeeper::missing).contains(QStringLiteral("does not say which snapshot")),
        qPrintable(f.said(SessionKeeper::missing)));
    f.chosen = f.path(QStringLiteral("run.pickle"));
    f.press(SessionKeeper::missing, QStringLiteral("Locate…"));
    QTRY_VERIFY_WITH_TIMEOUT(f.replay() && f.idle(), 20000);
    QCOMPARE(f.notes().items().size(), std::size_t{1});
}

void TestSessionKeeper::keepsUnknownKeys()
{
    SessionFixture f;
    f.training();
    const QString file = f.write(QStringLiteral("s.tidemark"),
        "{\n\"version\": 1,\n\"inputs\": [{\"path\": \"run.pickle\", \"host\": \"h\"}],\n"
        "\"future\": 12345678901234567,\n\"annotations\": [\n{\"id\": 4, \"kind\": \"note\", \"text\": "
        "\"t\", \"mood\": "
        "1}\n]\n}\n");
    f.show(file);
    f.notes().add(noteAt(2, "more"));
    f.save();
    const report::SessionFile stored = f.stored(file);
    QVERIFY(stored.extra.find("12345678901234567") != std::string::npos);
    QVERIFY(stored.inputs[0].extra.find("host") != std::string::npos);
    QVERIFY(stored.annotations[0].extra.find("mood") != std::string::npos);
    QCOMPARE(stored.annotations.size(), std::size_t{2});
}

void TestSessionKeeper::otherPlaceWhenItCannotBeWritten()
{
    SessionFixture f;
    // A name that leaves no room for the new file beside the old one.
    f.open({f.training(QString(245, u'n') + QStringLiteral(".pickle"))});
    f.notes().add(noteAt(3, "homeless"));
    f.chosen = f.path(QStringLiteral("elsewhere.tidemark"));
    f.keeper().save();
    QTRY_VERIFY_WITH_TIMEOUT(f.idle() && !f.keeper().path().isEmpty(), 20000);
    QCOMPARE(f.keeper().path(), f.chosen);
    QCOMPARE(f.asked.size(), 1);
    QVERIFY(f.said(SessionKeeper::saving).isEmpty());
    // And where the user gives none, the sentence stays.
    f.notes().add(noteAt(4, "more"));
    f.chosen = f.path(QStringLiteral("no/such/folder/x.tidemark"));
    f.keeper().saveAs();
    QTRY_VERIFY(f.idle());
    QVERIFY(f.said(SessionKeeper::saving).contains(QStringLiteral("cannot be written")));
    QVERIFY(f.keeper().isModified());
    QCOMPARE(f.keeper().path(), f.path(QStringLiteral("elsewhere.tidemark")));
    f.chosen = f.path(QStringLiteral("third.tidemark"));
    f.press(SessionKeeper::saving, QStringLiteral("Save as…"));
    QCOMPARE(f.keeper().path(), f.chosen);
    QVERIFY(f.said(SessionKeeper::saving).isEmpty());
}

void TestSessionKeeper::fullDiskLosesNothing()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "before"));
    f.save();
    const QString file = f.keeper().path();
    const QByteArray before = bytesOf(file);
    f.notes().add(noteAt(4, std::string(5000, 'x')));
    {
        const FullDisk full(1000);
        f.save();
    }
    QCOMPARE(bytesOf(file), before);
    QVERIFY(f.said(SessionKeeper::saving).contains(QStringLiteral("cannot be written")));
    QCOMPARE(f.notes().items().size(), std::size_t{2});
    QVERIFY(f.keeper().isModified());
    QCOMPARE(QDir(f.folder.path()).entryList({QStringLiteral("run.tidemark*")}).size(), 1);
    f.save();
    QVERIFY(!f.keeper().isModified());
    QCOMPARE(f.stored(file).annotations.size(), std::size_t{2});
}

void TestSessionKeeper::anotherFileBeginsAnew()
{
    SessionFixture f;
    f.open({f.training()});
    f.workspace->diagnoser.setRulesFile(f.write(QStringLiteral("r.json"), R"({"rules": []})"));
    f.notes().add(noteAt(3, "of run"));
    f.save();
    const QString file = f.keeper().path();
    f.again();
    QVERIFY(f.workspace->diagnoser.rulesFile().isEmpty());
    f.show(file);
    QVERIFY(!f.workspace->diagnoser.rulesFile().isEmpty());
    f.show(f.training(QStringLiteral("second.pickle")));
    QVERIFY(f.notes().items().empty());
    QVERIFY(f.keeper().path().isEmpty());
    QVERIFY(f.workspace->diagnoser.rulesFile().isEmpty());
    QCOMPARE(f.window->windowTitle(), QStringLiteral("second.pickle – Tidemark"));
    f.show(file);
    f.keeper().close();
    QVERIFY(f.window->showsStartPage());
    QVERIFY(f.notes().items().empty() && f.keeper().path().isEmpty());
}

void TestSessionKeeper::failedOpeningKeepsTheNotes()
{
    SessionFixture f;
    f.open({f.training()});
    f.notes().add(noteAt(3, "stays"));
    f.save();
    f.show(f.write(QStringLiteral("bad.txt"), "no snapshot"));
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QVERIFY(!f.keeper().path().isEmpty());
    f.workspace->files.reload();
    QTRY_VERIFY_WITH_TIMEOUT(f.idle(), 20000);
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    // A session whose snapshot is no snapshot.
    f.show(f.write(
        QStringLiteral("bad.tidemark"), "{\n\"version\": 1,\n\"inputs\": [{\"path\": \"bad.txt\"}]\n}\n"));
    QCOMPARE(f.notes().items().size(), std::size_t{1});
    QVERIFY(f.keeper().path().endsWith(QStringLiteral("run.tidemark")));
    QVERIFY(f.workspace->files.problem());
}

void TestSessionKeeper::sessionsInFoldersAreNoSnapshots()
{
    SessionFixture f;
    QDir(f.folder.path()).mkdir(QStringLiteral("job"));
    f.training(QStringLiteral("job/run.pickle"));
    f.write(QStringLiteral("job/job.tidemark"), "{}");
    f.write(QStringLiteral("job/job.tidemark.bak"), "{}");
    f.open({f.path(QStringLiteral("job"))});
    QCOMPARE(f.workspace->files.entries().size(), std::size_t{1});
    QVERIFY(f.replay());
}

QTEST_MAIN(TestSessionKeeper)
#include "tst_session_keeper.moc"
