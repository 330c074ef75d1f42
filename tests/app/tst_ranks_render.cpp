// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/command_call.hpp"
#include "tests/support/small_job.hpp"

#include <QFile>
#include <QImage>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

using namespace tidemark;
using namespace tidemark::test;
namespace fs = std::filesystem;

namespace {

QByteArray contents(const QString& file)
{
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

} // namespace

/// Pictures of a whole job: tidemark render --view ranks, and those of reports.
class TestRanksRender : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_run = fs::path(m_folder->path().toStdString()) / "run";
    }

    void asHighAsItsRows()
    {
        writeSmallJob(m_run, 4, 1);
        const CommandOutcome few = render("few.png", {});
        QVERIFY2(few.status == std::optional(0), qPrintable(few.err));
        const QImage four(path("few.png"));
        QCOMPARE(four.width(), 1200);
        writeSmallJob(m_run, 12, 1);
        QCOMPARE(render("many.png", {}).status, std::optional(0));
        const QImage twelve(path("many.png"));
        QVERIFY2(twelve.height() > four.height() + 8 * 20, qPrintable(QString::number(twelve.height())));
        // Dark pixels on light ground, and the other way round.
        QCOMPARE(render("dark.png", {"--dark"}).status, std::optional(0));
        const QImage dark(path("dark.png"));
        QCOMPARE(dark.size(), twelve.size());
        const QPoint corner(twelve.width() - 3, twelve.height() - 3);
        QVERIFY(twelve.pixelColor(corner).lightness() > 200);
        QVERIFY(dark.pixelColor(corner).lightness() < 80);
        // The failing rank's red is in it.
        int red = 0;
        for (int y = 0; y < twelve.height(); ++y)
            for (int x = 0; x < twelve.width(); ++x) {
                const QColor colour = twelve.pixelColor(x, y);
                red += colour.red() > 150 && colour.green() < 60 && colour.blue() < 60;
            }
        QVERIFY2(red > 200, qPrintable(QString::number(red)));
    }

    void sizeThatIsAskedFor()
    {
        writeSmallJob(m_run, 12);
        const CommandOutcome small = render("small.png", {"--size", "700x200", "--scale", "2"});
        QCOMPARE(small.status, std::optional(0));
        QCOMPARE(QImage(path("small.png")).size(), QSize(1400, 400));
        QVERIFY2(small.err.contains("not all rows fit"), qPrintable(small.err));
    }

    void svgSaysWhatStandsOut()
    {
        writeSmallJob(m_run, 4, 1);
        QCOMPARE(render("ranks.svg", {}).status, std::optional(0));
        const QByteArray svg = contents(path("ranks.svg"));
        QVERIFY(QSvgRenderer(svg).isValid());
        QVERIFY(svg.contains("ank 1"));
        QVERIFY(svg.contains("Headroom"));
        // Without the headline.
        QCOMPARE(render("bare.svg", {"--no-title"}).status, std::optional(0));
        QVERIFY(QSvgRenderer(contents(path("bare.svg"))).defaultSize().height()
            < QSvgRenderer(svg).defaultSize().height());
    }

    void brokenFilesAreRowsToo()
    {
        writeSmallJob(m_run, 3);
        writeJobFile(m_run / "snapshot_3.pickle", "");
        const CommandOutcome outcome = render("bad.svg", {});
        QCOMPARE(outcome.status, std::optional(4));
        QVERIFY2(outcome.err.contains("The file is empty"), qPrintable(outcome.err));
        QVERIFY(contents(path("bad.svg")).contains("The file is empty"));
    }

    void wrongUse()
    {
        writeSmallJob(m_run, 2);
        for (const QStringList& wrong : {QStringList{"--event", "3"}, QStringList{"--device-total", "0"}}) {
            const CommandOutcome outcome = render("x.png", wrong);
            QCOMPARE(outcome.status, std::optional(2));
            QCOMPARE(outcome.err.trimmed().count('\n'), 0);
        }
        QCOMPARE(render("x.jpg", {}).status, std::optional(2));
        QCOMPARE(callCommand({"render", "--view", "ranks", path("nothing"), "-o", path("x.png")}).status,
            std::optional(3));
        QVERIFY(!QFile::exists(path("x.png")));
    }

    void reportOfAFolder()
    {
        writeSmallJob(m_run, 4, 1);
        std::ofstream(m_run / "stray.json") << R"({"notes": "no snapshot"})";
        const auto write = [&](const QString& name, const QStringList& more) {
            return callCommand(
                QStringList{"report", QString::fromStdString(m_run.string()), "-o", path(name)} + more);
        };
        QCOMPARE(write("r.html", {}).status, std::optional(0));
        const QString html = QString::fromUtf8(contents(path("r.html")));
        const qsizetype part = html.indexOf("id=\"ranks\"");
        QVERIFY(part > 0);
        const QString ranks = html.mid(part);
        QVERIFY2(ranks.contains("fragmentation"), qPrintable(ranks.left(3000)));
        QVERIFY(ranks.contains("<svg"));
        QVERIFY(ranks.contains("Headroom"));
        QVERIFY(!html.contains("Open the files of the other ranks"));
        QVERIFY(!html.contains("stray.json")); // what lies beside snapshots is no broken rank
        QCOMPARE(write("r.md", {"--redact"}).status, std::optional(0));
        const QString text = QString::fromUtf8(contents(path("r.md")));
        QVERIFY2(!text.contains(m_folder->path()), qPrintable(text));
        QVERIFY(text.contains("ank 1"));
    }

    void comparisonHasItsCurves()
    {
        writeSmallJob(m_run, 1, -1, 20);
        writeSmallJob(m_run / "b", 1, -1, 26);
        QCOMPARE(
            callCommand({"report", QString::fromStdString((m_run / "snapshot_0.pickle").string()),
                            "--compare", QString::fromStdString((m_run / "b" / "snapshot_0.pickle").string()),
                            "-o", path("c.html"), "--parts", "comparison"})
                .status,
            std::optional(0));
        const QString html = QString::fromUtf8(contents(path("c.html")));
        QVERIFY2(html.contains("<svg"), qPrintable(html.right(3000)));
    }

private:
    QString path(const QString& name) const { return m_folder->filePath(name); }
    CommandOutcome render(const QString& name, const QStringList& more) const
    {
        return callCommand(
            QStringList{"render", "--view", "ranks", QString::fromStdString(m_run.string()), "-o", path(name)}
            + more);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_run;
};

QTEST_MAIN(TestRanksRender)
#include "tst_ranks_render.moc"
