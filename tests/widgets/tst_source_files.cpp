// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/source_files.hpp"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace tidemark;

/// Source files that were recorded elsewhere.
class TestSourceFiles : public QObject {
    Q_OBJECT
private slots:
    void maps_data();
    void maps();
    void snippets();
};

void TestSourceFiles::maps_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("rules");
    QTest::addColumn<QString>("mapped");
    QTest::newRow("no rule") << "/job/a.py"
                             << ""
                             << "/job/a.py";
    QTest::newRow("one") << "/job/src/a.py"
                         << "/job/src=/home/me"
                         << "/home/me/a.py";
    QTest::newRow("blanks") << "/job/src/a.py"
                            << " /job/src = /home/me ; "
                            << "/home/me/a.py";
    QTest::newRow("longest counts") << "/job/src/x/a.py"
                                    << "/job=/a;/job/src/x=/b;/job/src=/c"
                                    << "/b/a.py";
    QTest::newRow("whole folders") << "/job/srcs/a.py"
                                   << "/job/src=/b"
                                   << "/job/srcs/a.py";
    QTest::newRow("root") << "/a.py"
                          << "/=/mnt/"
                          << "/mnt/a.py";
    QTest::newRow("no equals sign") << "/a.py"
                                    << "/a.py"
                                    << "/a.py";
}

void TestSourceFiles::maps()
{
    QFETCH(QString, path);
    QFETCH(QString, rules);
    QFETCH(QString, mapped);
    QCOMPARE(mappedPath(path, rules), mapped);
}

void TestSourceFiles::snippets()
{
    QTemporaryDir folder;
    const QString path = folder.filePath("a.py");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("one\r\ntwo\n\tthree\nfour\nfive");
    file.close();
    QCOMPARE(sourceSnippet(path, 3, 1).lines, (QStringList{"two", "    three", "four"}));
    QCOMPARE(sourceSnippet(path, 3, 1).firstLine, 2);
    QCOMPARE(sourceSnippet(path, 1, 2).lines, (QStringList{"one", "two", "    three"}));
    QCOMPARE(sourceSnippet(path, 5, 1).lines, (QStringList{"four", "five"}));
    QVERIFY(sourceSnippet(path, 6, 2).lines.isEmpty());
    QVERIFY(sourceSnippet(path, 0, 2).lines.isEmpty());
    QVERIFY(sourceSnippet(folder.path(), 1, 2).lines.isEmpty());
    QVERIFY(sourceSnippet(folder.filePath("none.py"), 1, 2).lines.isEmpty());
}

QTEST_GUILESS_MAIN(TestSourceFiles)
#include "tst_source_files.moc"
