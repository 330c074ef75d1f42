// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/command_call.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/snapshot_json.hpp"
#include "tests/support/training_trace.hpp"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

constexpr std::int64_t MiB = 1 << 20;
constexpr double margin = 15 * 72 / 25.4; // points

QByteArray contents(const QString& file)
{
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

QString squeezed(QString text)
{
    static const QRegularExpression space(QStringLiteral("[\\s\u00a0\u202f]"));
    return text.remove(space);
}

struct ProgramRun {
    int status = -1;
    QByteArray out;
    QByteArray err;
};
ProgramRun runProgram(const QString& program, const QStringList& arguments)
{
    QProcess process;
    process.start(program, arguments);
    ProgramRun run;
    if (process.waitForFinished(180000) && process.exitStatus() == QProcess::NormalExit)
        run.status = process.exitCode();
    else
        process.kill();
    run.out = process.readAllStandardOutput();
    run.err = process.readAllStandardError();
    return run;
}

/// Words of a PDF that do not lie on their page, inside of `around` points.
QString strayWord(const QString& pdftotext, const QString& file, double around)
{
    const QString page = QString::fromUtf8(runProgram(pdftotext, {"-bbox", file, "-"}).out);
    static const QRegularExpression line(
        QStringLiteral("<page width=\"([\\d.]+)\" height=\"([\\d.]+)\">|<word xMin=\"([-\\d.]+)\" "
                       "yMin=\"([-\\d.]+)\" xMax=\"([-\\d.]+)\" yMax=\"([-\\d.]+)\">(.*)</word>"));
    QRectF inside;
    int words = 0;
    for (auto each = line.globalMatch(page); each.hasNext();) {
        const QRegularExpressionMatch match = each.next();
        const auto number = [&](int i) { return match.captured(i).toDouble(); };
        if (match.hasCaptured(1) && !match.captured(1).isEmpty()) {
            inside = QRectF(0, 0, number(1), number(2)).adjusted(around, around, -around, -around);
            continue;
        }
        ++words;
        if (!inside.contains(QRectF(QPointF(number(3), number(4)), QPointF(number(5), number(6)))))
            return match.captured(0);
    }
    return words > 50 ? QString() : QStringLiteral("there are only %1 words").arg(words);
}

/// Words of a text that stands in a narrow place; of those that may be broken over lines only how they begin.
void addWords(QStringList& to, const Json& text)
{
    constexpr int mayBreak = 15;
    constexpr int begins = 4;
    for (const QString& word :
        QString::fromStdString(text.get<std::string>()).split(QLatin1Char(' '), Qt::SkipEmptyParts))
        to << squeezed(word.size() < mayBreak ? word : word.left(begins));
}

/// What a reader must find of a report's figures: values whole.
QStringList figuresOf(const Json& report)
{
    QStringList out;
    for (const Json& section : report["sections"])
        for (const Json& block : section["blocks"])
            if (block["type"] == "figures")
                for (const Json& figure : block["figures"]) {
                    out << squeezed(QString::fromStdString(figure["text"].get<std::string>()));
                    addWords(out, figure["name"]);
                    addWords(out, figure["note"]);
                }
    return out;
}

/// Words of all cells.
QStringList cellWordsOf(const Json& report)
{
    QStringList out;
    for (const Json& section : report["sections"])
        for (const Json& block : section["blocks"]) {
            if (block["type"] != "table")
                continue;
            for (const char* rows : {"rows", "foot"})
                for (const Json& row : block[rows])
                    for (const Json& cell : row)
                        addWords(out, cell["text"]);
        }
    return out;
}

} // namespace

/// tidemark report: what it writes, with and without a display, and what other programs read in it.
class TestReportCommand : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        m_sample = QStringLiteral(TIDEMARK_RESOURCES "/samples/training.pickle.gz");
        SmallRun run;
        run.sites = {{"forward@/home/ada/x/attn.py:91", 64 * MiB, 10}, {"g@/x/mlp.py:5", 10 * MiB, 2}};
        write("small.json", *run.make());
        run.sites[0].count = 12;
        write("other.json", *run.make());
        TrainingTrace training;
        training.full = true;
        training.leak = true;
        write("training.json", *training.make());
        QFile broken(path("broken.json"));
        QVERIFY(broken.open(QIODevice::WriteOnly));
        broken.write("{\"segments\": [");
    }

    void everyFormat_data()
    {
        QTest::addColumn<QString>("extension");
        QTest::addColumn<QString>("source");
        for (const char* extension : {"html", "md", "json", "pdf"})
            for (const char* source : {"sample", "small.json", "training.json"})
                QTest::newRow(qPrintable(QStringLiteral("%1 of %2").arg(extension, source)))
                    << QString(extension) << QString(source);
    }

    void everyFormat()
    {
        QFETCH(QString, extension);
        QFETCH(QString, source);
        const QString file = source == "sample" ? m_sample : path(qPrintable(source));
        const QString first = path("first.") + extension;
        const QString second = path("second.") + extension;
        const CommandOutcome outcome = callCommand({"report", file, "-o", first});
        QCOMPARE(outcome.status, std::optional(0));
        QCOMPARE(outcome.out, first + '\n');
        QCOMPARE(outcome.err, QString());
        QCOMPARE(callCommand({"report", file, "-o", second}).status, std::optional(0));
        const QByteArray bytes = contents(first);
        QVERIFY(bytes.size() > 1000);
        QVERIFY2(bytes == contents(second), "equal input gives equal bytes");
        if (extension == "html")
            QVERIFY(bytes.startsWith("<!DOCTYPE html>") && bytes.contains("<svg"));
        else if (extension == "pdf")
            QVERIFY(bytes.startsWith("%PDF-1") && bytes.trimmed().endsWith("%%EOF"));
        else if (extension == "json")
            QCOMPARE(Json::parse(bytes.toStdString())["schema"].get<int>(), 1);
        else
            QVERIFY(bytes.contains("# ") && QString::fromUtf8(bytes).size() <= 60000);
    }

    void otherProcessesAndOtherTimesGiveTheSamePdf()
    {
        const QString program = qEnvironmentVariable("TIDEMARK_BIN");
        if (program.isEmpty())
            QSKIP("TIDEMARK_BIN does not say where the program is.");
        QByteArrayList written;
        for (const char* name : {"a.pdf", "b.pdf"}) {
            QProcess process;
            QProcessEnvironment bare = QProcessEnvironment::systemEnvironment();
            for (const char* key : {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"})
                bare.remove(key);
            process.setProcessEnvironment(bare);
            process.start(program, {"report", path("training.json"), "-o", path(name)});
            QVERIFY(process.waitForFinished(120000));
            QCOMPARE(process.exitCode(), 0);
            QCOMPARE(process.readAllStandardError(), QByteArray());
            written << contents(path(name));
            QTest::qWait(1100); // a clock in the file would tick in seconds
        }
        QVERIFY(written[0].startsWith("%PDF-"));
        QVERIFY(written[0] == written[1]);
    }

    void paper()
    {
        const auto box = [&](const QStringList& more) {
            const QString file = path("paper.pdf");
            const CommandOutcome outcome
                = callCommand(QStringList{"report", path("small.json"), "--no-pictures", "-o", file} + more);
            const QByteArray bytes = contents(file);
            const auto at = bytes.indexOf("/MediaBox [");
            return outcome.status == 0 && at >= 0 ? bytes.mid(at + 11, bytes.indexOf(']', at) - at - 11)
                                                  : QByteArray();
        };
        QVERIFY2(box({}).contains("595") && box({}).contains("842"), box({}));
        QVERIFY2(box({"--paper", "letter"}).contains("612"), box({"--paper", "letter"}));
    }

    void whatIsSaidOfMistakes()
    {
        const auto said = [&](const QStringList& arguments) {
            const CommandOutcome outcome = callCommand(QStringList("report") + arguments);
            return std::pair(outcome.status, outcome.err);
        };
        const QString good = path("small.json");
        for (const auto& [arguments, words] : std::initializer_list<std::pair<QStringList, const char*>>{
                 {{good}, "needs -o"}, {{good, "-o", path("x.docx")}, ".html, .md, .json or .pdf"},
                 {{good, "-o", path("x.pdf"), "--paper", "moon"}, "--paper knows"},
                 {{good, "-o", path("x.pdf"), "--parts", "moon"}, "there is no part"},
                 {{good, "-o", path("x.pdf"), "--top", "0"}, "--top needs"},
                 {{good, "-o", path("x.pdf"), "--device", "7"}, "no device 7"},
                 {{"-o", path("x.pdf")}, "needs a file"}}) {
            const auto [status, text] = said(arguments);
            QCOMPARE(status, std::optional(2));
            QVERIFY2(text.contains(words) && text.count('\n') == 1, qPrintable(text));
        }
        QVERIFY(!QFile::exists(path("x.pdf")));
        QCOMPARE(said({path("missing.json"), "-o", path("x.pdf")}).first, std::optional(3));
        QCOMPARE(said({path("broken.json"), "-o", path("x.pdf")}).first, std::optional(3));
        QCOMPARE(said({good, "-o", path("no/such/folder/x.pdf")}).first, std::optional(3));
        QCOMPARE(said({good, path("broken.json"), "-o", path("some.pdf")}).first,
            std::optional(exitStatus::someNotRead));
        QVERIFY(contents(path("some.pdf")).startsWith("%PDF-"));
    }

    void picturesTellWhatIsUnderThePointer()
    {
        const auto titles = [&](const QStringList& more) {
            callCommand(QStringList{"report", path("training.json"), "-o", path("tips.html")} + more);
            const QString html = QString::fromUtf8(contents(path("tips.html")));
            QStringList all;
            static const QRegularExpression tip(
                QStringLiteral("<path d=\"M[^\"]*Z\"><title>([^<]*)</title>"));
            for (auto at = tip.globalMatch(html); at.hasNext();)
                all << at.next().captured(1);
            return all;
        };
        const QStringList plain = titles({});
        QVERIFY2(plain.size() > 10, qPrintable(QString::number(plain.size())));
        static const QRegularExpression size(QStringLiteral("\\d\u00a0([KMG]i)?B"));
        QVERIFY(
            std::all_of(plain.begin(), plain.end(), [](const QString& text) { return text.contains(size); }));
        const QStringList redacted = titles({"--redact"});
        QCOMPARE(redacted.size(), plain.size());
        QVERIFY(std::none_of(
            redacted.begin(), redacted.end(), [](const QString& text) { return text.contains("ada"); }));
        // A picture has no name of its own: it would be the tooltip of everything.
        QVERIFY(!QString::fromUtf8(contents(path("tips.html"))).contains("Qt SVG Document"));
    }

    void pdfIsRedacted()
    {
        const QString pdftotext = tool("pdftotext");
        if (pdftotext.isEmpty())
            QSKIP("pdftotext is not installed.");
        const auto text = [&](const QStringList& more) {
            callCommand(QStringList{"report", path("small.json"), "-o", path("r.pdf")} + more);
            return squeezed(QString::fromUtf8(runProgram(pdftotext, {path("r.pdf"), "-"}).out));
        };
        QVERIFY(!text({"--redact"}).contains("ada"));
        QVERIFY(text({"--redact"}).contains("redacted"));
    }

    void pdfTellsEverything_data() { sources(); }

    void pdfTellsEverything()
    {
        QFETCH(QStringList, input);
        const QString pdftotext = tool("pdftotext");
        const QString pdftoppm = tool("pdftoppm");
        if (pdftotext.isEmpty() || pdftoppm.isEmpty())
            QSKIP("pdftotext or pdftoppm is not installed.");
        const QString pdf = path("told.pdf");
        QCOMPARE(
            callCommand(QStringList("report") + input + QStringList{"-o", pdf}).status, std::optional(0));
        const QString json = path("told.json");
        QCOMPARE(
            callCommand(QStringList("report") + input + QStringList{"-o", json}).status, std::optional(0));
        const Json report = Json::parse(contents(json).toStdString());

        const QString plain = QString::fromUtf8(runProgram(pdftotext, {pdf, "-"}).out);
        const QString text = squeezed(plain);
        const QString raw = squeezed(QString::fromUtf8(runProgram(pdftotext, {"-raw", pdf, "-"}).out));
        QVERIFY(raw.contains(squeezed(QString::fromStdString(report["title"].get<std::string>()))));
        for (const QString& figure : figuresOf(report))
            QVERIFY2(raw.contains(figure) || text.contains(figure), qPrintable(figure));
        for (const QString& word : cellWordsOf(report))
            QVERIFY2(raw.contains(word) || text.contains(word), qPrintable(word));
        QCOMPARE(strayWord(pdftotext, pdf, margin - 1), QString());

        const int pages = static_cast<int>(plain.count(QLatin1Char('\f')));
        QVERIFY(pages >= 2);
        for (int page = 1; page <= pages; ++page)
            QVERIFY(text.contains(QStringLiteral("page%1of%2").arg(page).arg(pages)));
        QCOMPARE(runProgram(pdftoppm, {"-r", "30", "-png", pdf, path("page")}).status, 0);
        const QStringList images
            = QDir(m_folder.path()).entryList({QStringLiteral("page-*.png")}, QDir::Files);
        QCOMPARE(images.size(), pages);
        for (const QString& image : images)
            QFile::remove(m_folder.filePath(image));
    }

    void htmlInABrowser_data() { sources(); }

    void htmlInABrowser()
    {
        QFETCH(QStringList, input);
        const QString browser = this->browser();
        if (browser.isEmpty())
            QSKIP("Chromium is not installed.");
        const QString page = path("page.html");
        QCOMPARE(
            callCommand(QStringList("report") + input + QStringList{"-o", page}).status, std::optional(0));
        const QString net = path("net.json");
        const ProgramRun shown = browse({"--log-net-log=" + net, "--dump-dom", "file://" + page});
        QCOMPARE(shown.status, 0);
        QVERIFY(shown.out.contains("</html>"));
        QVERIFY2(!shown.err.contains("CONSOLE"), shown.err);
        // The browser itself may look for its maker's servers; the page asks nobody.
        static const QRegularExpression url(QStringLiteral("\"url\":\"(https?|wss?|ftp)://([^/\"]*)"));
        static const QRegularExpression maker(
            QStringLiteral("(^|\\.)(google|googleapis|gvt1|gstatic)\\.com$"));
        for (auto each = url.globalMatch(QString::fromUtf8(contents(net))); each.hasNext();) {
            const QString host = each.next().captured(2).section(QLatin1Char(':'), 0, 0);
            QVERIFY2(maker.match(host).hasMatch(), qPrintable(host));
        }
    }

    void htmlTablesSortInABrowser()
    {
        if (browser().isEmpty())
            QSKIP("Chromium is not installed.");
        const QString page = path("sort.html");
        QCOMPARE(callCommand({"report", m_sample, "--no-pictures", "--parts", "live", "-o", page}).status,
            std::optional(0));
        // The page allows no script but its own: a copy without that rule clicks and tells what it sees.
        QString html = QString::fromUtf8(contents(page));
        static const QRegularExpression policy(
            QStringLiteral("<meta http-equiv=\"Content-Security-Policy\"[^>]*>"));
        html.remove(policy);
        html.replace(QStringLiteral("</body>"),
            QStringLiteral(
                "<script>const t = document.querySelector('table[data-sort]');"
                "const b = t.querySelector('thead th.n button'); const c = b.parentNode.cellIndex;"
                "const say = () => Array.from(t.tBodies[0].rows, r => r.cells[c].dataset.v).join(' ');"
                "const foot = t.tFoot ? t.tFoot.textContent : '';"
                "b.click(); const one = say(); b.click(); const two = say();"
                "document.title = 'SORTED:' + one + '|' + two + '|' + (foot === (t.tFoot ? "
                "t.tFoot.textContent : ''));</script></body>"));
        QFile copy(path("clicked.html"));
        QVERIFY(copy.open(QIODevice::WriteOnly));
        copy.write(html.toUtf8());
        copy.close();
        const ProgramRun clicked = browse({"--dump-dom", "file://" + path("clicked.html")});
        static const QRegularExpression title(
            QStringLiteral("<title>SORTED:([^<|]*)\\|([^<|]*)\\|(true|false)</title>"));
        const QRegularExpressionMatch said = title.match(QString::fromUtf8(clicked.out));
        QVERIFY2(said.hasMatch(), clicked.err);
        const auto numbers = [](const QString& text) {
            std::vector<double> out;
            for (const QString& each : text.split(QLatin1Char(' ')))
                out.push_back(each.toDouble());
            return out;
        };
        const std::vector<double> one = numbers(said.captured(1));
        const std::vector<double> two = numbers(said.captured(2));
        QVERIFY(one.size() > 2 && one.size() == two.size());
        QVERIFY(std::is_sorted(one.rbegin(), one.rend()));
        QVERIFY(std::is_sorted(two.begin(), two.end()));
        QCOMPARE(said.captured(3), QStringLiteral("true"));
    }

    void htmlPrintsWhole_data() { sources(); }

    void htmlPrintsWhole()
    {
        QFETCH(QStringList, input);
        const QString pdftotext = tool("pdftotext");
        if (browser().isEmpty() || pdftotext.isEmpty())
            QSKIP("Chromium or pdftotext is not installed.");
        const QString page = path("print.html");
        const QString json = path("print.json");
        QCOMPARE(
            callCommand(QStringList("report") + input + QStringList{"-o", page}).status, std::optional(0));
        QCOMPARE(
            callCommand(QStringList("report") + input + QStringList{"-o", json}).status, std::optional(0));
        const QString pdf = path("print.pdf");
        QCOMPARE(browse({"--no-pdf-header-footer", "--print-to-pdf=" + pdf, "file://" + page}).status, 0);
        QCOMPARE(strayWord(pdftotext, pdf, 10), QString());
        const QString raw = squeezed(QString::fromUtf8(runProgram(pdftotext, {"-raw", pdf, "-"}).out));
        const QString text = squeezed(QString::fromUtf8(runProgram(pdftotext, {pdf, "-"}).out));
        const Json report = Json::parse(contents(json).toStdString());
        for (const QString& figure : figuresOf(report))
            QVERIFY2(raw.contains(figure) || text.contains(figure), qPrintable(figure));
    }

private:
    QString path(const char* name) const { return m_folder.filePath(QString::fromUtf8(name)); }
    void write(const char* name, const Snapshot& snapshot)
    {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(snapshotJson(snapshot).dump()));
    }
    void sources()
    {
        QTest::addColumn<QStringList>("input");
        QTest::newRow("sample") << QStringList{m_sample};
        QTest::newRow("training") << QStringList{path("training.json")};
        QTest::newRow("two runs") << QStringList{path("small.json"), "--compare", path("other.json")};
    }
    static QString tool(const char* name) { return QStandardPaths::findExecutable(QLatin1String(name)); }
    static QString browser()
    {
        for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
            if (const QString found = tool(name); !found.isEmpty())
                return found;
        return {};
    }
    ProgramRun browse(const QStringList& arguments) const
    {
        return runProgram(browser(),
            QStringList{"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr",
                "--virtual-time-budget=5000", "--host-resolver-rules=MAP * ~NOTFOUND",
                "--user-data-dir=" + path("profile")}
                + arguments);
    }

    QTemporaryDir m_folder;
    QString m_sample;
};

QTEST_MAIN(TestReportCommand)
#include "tst_report_command.moc"
