// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/filter_completer.hpp"
#include "app/main_toolbar.hpp"
#include "app/search_field.hpp"
#include "tests/app/window_fixture.hpp"

#include <QTest>

using namespace tidemark;
using tidemark::test::WindowFixture;

/// Typing a filter: what is offered, and the way back to the one before.
class TestFilterField : public QObject {
    Q_OBJECT
private slots:
    void words_data();
    void words();
    void offers();
    void takesWhatIsChosen();
    void history();
};

void TestFilterField::words_data()
{
    QTest::addColumn<QString>("text"); // | is the cursor
    QTest::addColumn<QString>("word");
    QTest::newRow("start") << "sit|"
                           << "sit";
    QTest::newRow("behind a space") << "size>1 rol|"
                                    << "rol";
    QTest::newRow("behind a parenthesis") << "(sta|)"
                                          << "sta";
    QTest::newRow("turned round") << "-sta|"
                                  << "sta";
    QTest::newRow("pool") << "a pool:(0,|"
                          << "pool:(0,";
    QTest::newRow("inside") << "a ro|le:x b"
                            << "role:x";
    QTest::newRow("nothing") << "a |"
                             << "";
}

void TestFilterField::words()
{
    QFETCH(QString, text);
    QFETCH(QString, word);
    const int cursor = int(text.indexOf('|'));
    text.remove('|');
    const auto [first, last] = filterWord(text, cursor);
    QCOMPARE(text.mid(first, last - first), word);
}

void TestFilterField::offers()
{
    WindowFixture f;
    f.open({f.training()});
    const Session& session = f.workspace->session;
    QVERIFY(filterCompletions(session, "s", {}).contains("site:"));
    QVERIFY(filterCompletions(session, "SI", {}).contains("size>"));
    QVERIFY(filterCompletions(session, "xyz", {}).isEmpty());
    QVERIFY(filterCompletions(session, "", {}).isEmpty());
    QCOMPARE(filterCompletions(session, "state:fr", {}), QStringList{"state:freed"});
    QCOMPARE(filterCompletions(session, "state:f", {}).size(), 2); // be-f-ore, too
    const QStringList sites
        = filterCompletions(session, "site:", sitesByLargest(*session.replay(), *session.sites()));
    QVERIFY(sites.size() > 3);
    for (const QString& each : sites)
        QVERIFY(each.startsWith("site:"));
    // The whole value is nothing to offer.
    QVERIFY(filterCompletions(session, "state:live", {}).isEmpty());
    QVERIFY(!filterCompletions(session, "stream:", {}).isEmpty());
    QTRY_VERIFY(session.diagnosis() != nullptr);
    QVERIFY(filterCompletions(session, "role:", {}).contains("role:parameter"));
}

void TestFilterField::takesWhatIsChosen()
{
    WindowFixture f;
    f.open({f.training()});
    SearchField* field = f.window->findChild<SearchField*>();
    QVERIFY(field);
    field->setFocus();
    QTest::keyClicks(field, "size>1K stat");
    auto* popup = QApplication::activePopupWidget();
    QVERIFY(popup);
    QTest::keyClick(popup, Qt::Key_Down);
    QTest::keyClick(popup, Qt::Key_Return);
    QCOMPARE(field->text(), QString("size>1K state:"));
    popup = QApplication::activePopupWidget();
    QVERIFY(popup); // now its values
    QTest::keyClick(popup, Qt::Key_Down);
    QTest::keyClick(popup, Qt::Key_Return);
    QCOMPARE(field->text(), QString("size>1K state:live "));
    QTRY_VERIFY(f.workspace->state.matches() != nullptr);
    QVERIFY(f.workspace->search.problem().isEmpty());
}

void TestFilterField::history()
{
    WindowFixture f;
    f.open({f.training()});
    Search& search = f.workspace->search;
    QVERIFY(!search.canUndo());
    SearchField* field = f.window->findChild<SearchField*>();
    field->setText("size>1M");
    QTest::qWait(1400); // it stands a moment
    field->setText("size>1M state:live");
    QVERIFY(search.canUndo());
    search.undo(); // the one on the field is kept
    QCOMPARE(field->text(), QString("size>1M"));
    search.undo();
    QCOMPARE(field->text(), QString());
    QVERIFY(!search.canUndo() && search.canRedo());
    search.redo();
    search.redo();
    QCOMPARE(field->text(), QString("size>1M state:live"));
    QVERIFY(!search.canRedo());
    QTRY_VERIFY(f.workspace->state.matches() != nullptr);
    // Something new forgets what could be redone.
    search.undo();
    field->setText("stream:0");
    QTest::qWait(1400);
    QVERIFY(!search.canRedo());
    search.undo();
    QCOMPARE(field->text(), QString("size>1M"));
}

QTEST_MAIN(TestFilterField)
#include "tst_filter_field.moc"
