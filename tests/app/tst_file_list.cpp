// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_toolbar.hpp"
#include "app/short_names.hpp"
#include "tests/app/window_fixture.hpp"
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_step.hpp"

#include <QAbstractItemView>
#include <QComboBox>
#include <QDir>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Files whose path contains "failing" hold an out-of-memory event.
Result<std::shared_ptr<const Rank>> someFail(
    const std::filesystem::path& path, const ReadOptions&, const Job&)
{
    TraceMaker maker;
    maker.alloc(0x7f0000000000, 1 << 20);
    if (path.string().find("failing") != std::string::npos)
        maker.event(Action::Oom, 0, 1 << 30).deviceFree = 1 << 20;
    return makeRank(maker.finish());
}

} // namespace

/// The list of the files that were opened together.
class TestFileList : public QObject {
    Q_OBJECT
private slots:
    void namesTellFilesApart()
    {
        QCOMPARE(shortNames({QStringLiteral("/r/a/x.pickle"), QStringLiteral("/r/a/y.pickle")}),
            (QStringList{"x.pickle", "y.pickle"}));
        QCOMPARE(shortNames({QStringLiteral("/r/rank0/x.pickle"), QStringLiteral("/r/rank1/x.pickle"),
                     QStringLiteral("/r/rank1/y.pickle")}),
            (QStringList{"rank0/x.pickle", "rank1/x.pickle", "y.pickle"}));
        QCOMPARE(shortNames({QStringLiteral("/one/run/x"), QStringLiteral("/two/run/x")}),
            (QStringList{"one/run/x", "two/run/x"}));
        QCOMPARE(shortNames({QStringLiteral("/x"), QStringLiteral("/x")}), (QStringList{"x", "x"}));
        QVERIFY(shortNames({}).isEmpty());
    }

    // A rank of a list is asked for before the list's first file has been read.
    void anotherOneWhileTheFirstIsRead()
    {
        WindowFixture f(someFail);
        QStringList paths;
        for (const char* name : {"a.pickle", "b.pickle", "c.pickle"})
            paths << f.write(QLatin1String(name), "x");
        Files& files = f.workspace->files;
        files.openList(paths, 0);
        files.show(1);
        QCOMPARE(files.entries().size(), 3U);
        QVERIFY2(!files.current(), "nothing of the list is on screen yet");
        QTRY_COMPARE(files.current(), std::optional<std::size_t>(1));

        // The former list is back only when the new one shows nothing at all.
        const QStringList others{
            f.write(QStringLiteral("d.pickle"), "x"), f.write(QStringLiteral("e.pickle"), "x")};
        files.openList(others, 0);
        files.show(1);
        QCOMPARE(files.entries().size(), 2U);
        QVERIFY(!files.current());
        f.workspace->loader.cancel();
        QCOMPARE(files.entries().size(), 3U);
        QCOMPARE(files.current(), std::optional<std::size_t>(1));

        files.openList(others, 0);
        files.openPartially(others[1]);
        QTRY_COMPARE(files.current(), std::optional<std::size_t>(1));
        QCOMPARE(files.entries().size(), 2U);
    }

    void failedRanksAreMarked()
    {
        WindowFixture f(someFail);
        QStringList paths;
        for (const char* folder : {"fine", "failing", "other"}) {
            QVERIFY(QDir(f.folder.path()).mkpath(QLatin1String(folder)));
            paths << f.write(QLatin1String(folder) + QStringLiteral("/run.pickle"), "x");
        }
        paths << f.write(QStringLiteral("snapshot_oom_rank-3.pickle"), "x");
        f.open(paths);
        QComboBox* list = f.window->toolbar()->fileChooser();
        QCOMPARE(list->count(), 4);
        const auto row = [&](const QString& name) {
            for (int i = 0; i < list->count(); ++i)
                if (list->itemText(i).contains(name))
                    return i;
            return -1;
        };
        const auto marked = [&](const QString& name) { return !list->itemIcon(row(name)).isNull(); };
        const auto tip
            = [&](const QString& name) { return list->itemData(row(name), Qt::ToolTipRole).toString(); };
        const QString failing = QStringLiteral("failing/run.pickle");
        QVERIFY(row(failing) >= 0 && row(QStringLiteral("fine/run.pickle")) >= 0);
        QVERIFY2(!marked(failing), "not before it is read");
        QVERIFY(marked(QStringLiteral("oom_rank")));
        QVERIFY(tip(QStringLiteral("oom_rank")).contains(QStringLiteral("By its name")));
        const auto read = [&](const QString& name) {
            emit list->activated(row(name));
            QTRY_VERIFY(!f.workspace->loader.isLoading());
        };
        read(failing);
        QVERIFY(marked(failing));
        QVERIFY(tip(failing).contains(QStringLiteral("records an out-of-memory event")));
        QVERIFY(!marked(QStringLiteral("fine/run.pickle")));
        // Read, and there is none: the name was wrong.
        read(QStringLiteral("oom_rank"));
        QVERIFY(!marked(QStringLiteral("oom_rank")));
        QVERIFY2(marked(failing), "what is known stays known");
        QVERIFY(list->view()->minimumWidth() >= list->view()->sizeHintForColumn(0));
    }
};

QTEST_MAIN(TestFileList)
#include "tst_file_list.moc"
