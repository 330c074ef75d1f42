// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/report_case.hpp"
#include "tests/support/training_trace.hpp"
#include "widgets/report/page_blocks.hpp"
#include "widgets/report/paged_report.hpp"
#include "widgets/report/pdf.hpp"

#include <QImage>
#include <QPainter>
#include <QRegularExpression>
#include <QTest>

#include <numeric>
#include <thread>

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::shared_ptr<const PagedReport> laidOut(const report::Document& document, Paper paper = Paper::A4)
{
    return PagedReport::layOut(document, paper, {});
}

QString squeezed(QString text)
{
    text.remove(QRegularExpression(QStringLiteral("\\s")));
    return text;
}

QString squeezed(const std::string& text)
{
    return squeezed(QString::fromStdString(text));
}

/// All texts of a page without any spaces: words may be broken over lines.
QString pageText(const PagedReport& pages, int page)
{
    QString text;
    for (const PagedReport::PlacedText& each : pages.texts(page))
        text += each.text;
    return squeezed(text);
}

QString allText(const PagedReport& pages)
{
    QString text;
    for (int i = 0; i < pages.pageCount(); ++i)
        text += pageText(pages, i);
    return text;
}

/// What stands where it may not: beyond the margins, or on top of each other.
QString misplaced(const PagedReport& pages)
{
    const QSizeF sheet = paperSize(pages.paper());
    const double margin = paperMarginMm * 72 / 25.4;
    const QRectF inside(
        margin - 0.5, margin - 3, sheet.width() - 2 * margin + 1, sheet.height() - 2 * margin + 6);
    for (int i = 0; i < pages.pageCount(); ++i) {
        const auto texts = pages.texts(i);
        for (std::size_t a = 0; a < texts.size(); ++a) {
            if (!inside.contains(texts[a].box))
                return QStringLiteral("page %1: \"%2\" leaves the page").arg(i + 1).arg(texts[a].text);
            // Fonts are a little higher than their lines.
            const QRectF core
                = texts[a].box.adjusted(0.3, texts[a].box.height() * 0.2, -0.3, -texts[a].box.height() * 0.2);
            for (std::size_t b = 0; b < a; ++b) {
                const QRectF other = texts[b].box.adjusted(
                    0.3, texts[b].box.height() * 0.2, -0.3, -texts[b].box.height() * 0.2);
                if (core.isValid() && other.isValid() && core.intersects(other))
                    return QStringLiteral("page %1: \"%2\" lies on \"%3\"")
                        .arg(i + 1)
                        .arg(texts[a].text, texts[b].text);
            }
        }
        for (const QRectF& picture : pages.pictures(i))
            if (!inside.contains(picture))
                return QStringLiteral("page %1: a picture leaves the page").arg(i + 1);
    }
    return {};
}

report::Document reportOf(const report::ReportInput& input, report::Pictures* pictures = nullptr)
{
    return *report::buildReport(input, {}, pictures, {});
}

report::Document training()
{
    TrainingTrace trace;
    trace.full = true;
    trace.leak = true;
    return reportOf(reportInput(trace.make()));
}

report::Document withBlock(report::Block block)
{
    report::Document document;
    document.title = "A report";
    document.head = "file.pickle";
    document.foot = "tidemark";
    document.sections.push_back({"one", "A section", "", {std::move(block)}});
    return document;
}

report::Table longTable(int rows)
{
    report::Table table;
    table.id = "t";
    table.caption = "Many rows";
    table.columns = {{"Call site", report::Unit::None, true}, {"Live", report::Unit::Bytes}};
    for (int i = 0; i < rows; ++i)
        table.rows.push_back(
            {report::textCell("site-" + std::to_string(i)), report::bytesCell(std::int64_t{i} << 20)});
    table.foot.push_back({report::textCell("the sum of all"), report::bytesCell(std::int64_t{1} << 30)});
    return table;
}

/// Every text a block holds, to be looked for.
struct Texts {
    std::vector<std::string>& out;
    void operator()(const report::Heading& b) const { out.push_back(b.text.plain()); }
    void operator()(const report::Paragraph& b) const { out.push_back(b.text.plain()); }
    void operator()(const report::Figures& b) const
    {
        for (const report::Figure& each : b.figures)
            for (const std::string* text : {&each.name, &each.value, &each.note})
                out.push_back(*text);
    }
    void operator()(const report::Table& b) const
    {
        out.push_back(b.caption);
        out.push_back(b.note);
        for (const report::Column& column : b.columns)
            out.push_back(column.name);
    }
    void operator()(const report::KeyValues& b) const
    {
        for (const auto& [key, cell] : b.pairs)
            out.push_back(key);
    }
    void operator()(const report::List& b) const
    {
        for (const report::Text& each : b.items)
            out.push_back(each.plain());
    }
    void operator()(const report::Picture& b) const { out.push_back(b.caption); }
    void operator()(const report::Stack& b) const
    {
        for (const std::string& frame : b.frames)
            out.push_back(frame);
    }
    void operator()(const report::Note& b) const { out.push_back(b.text.plain()); }
    void operator()(const report::Code& b) const
    {
        for (const std::string& line : b.lines)
            out.push_back(line);
    }
};

} // namespace

/// A report on paper: nothing is lost, cut off or drawn over.
class TestPagedReport : public QObject {
    Q_OBJECT
private slots:
    void everyTextIsThere_data()
    {
        QTest::addColumn<bool>("letter");
        QTest::newRow("A4") << false;
        QTest::newRow("Letter") << true;
    }

    void everyTextIsThere()
    {
        QFETCH(bool, letter);
        const report::Document document = training();
        const auto pages = laidOut(document, letter ? Paper::Letter : Paper::A4);
        QVERIFY(pages->pageCount() >= 2);
        const QString text = allText(*pages);
        std::vector<std::string> wanted{document.title, document.head, document.foot};
        for (const report::Text& each : document.summary)
            wanted.push_back(each.plain());
        for (const report::Section& section : document.sections) {
            wanted.push_back(section.title);
            for (const report::Block& block : section.blocks)
                std::visit(Texts{wanted}, block);
        }
        // A paragraph may go on on the next page, with that page's head in between.
        for (const std::string& each : wanted)
            QVERIFY2(text.contains(squeezed(each).left(120)), each.c_str());
        QCOMPARE(misplaced(*pages), QString());
    }

    void everyPageHasItsNumberAndTheFile()
    {
        const report::Document document = training();
        const auto pages = laidOut(document);
        for (int i = 0; i < pages->pageCount(); ++i) {
            const QString text = pageText(*pages, i);
            QVERIFY(text.contains(QStringLiteral("page%1of%2").arg(i + 1).arg(pages->pageCount())));
            QVERIFY(text.contains(squeezed(document.head)) && text.contains(squeezed(document.foot)));
            QVERIFY(text.startsWith(QStringLiteral("Tidemarkmemoryreport")));
        }
    }

    void textsThatTryToBreakOut()
    {
        const auto pages = laidOut(reportOf(reportInput(attackSnapshot())));
        QCOMPARE(misplaced(*pages), QString());
        QVERIFY(!allText(*pages).contains(QChar(0x200b)));
    }

    void headsRepeatAndRowsStayWhole()
    {
        const auto pages = laidOut(withBlock(longTable(200)));
        QVERIFY(pages->pageCount() >= 4);
        QCOMPARE(misplaced(*pages), QString());
        int row = 0;
        for (int i = 0; i < pages->pageCount(); ++i) {
            const QString text = pageText(*pages, i);
            QCOMPARE(text.count(QStringLiteral("Callsite")), 1);
            for (; text.contains(QStringLiteral("site-%1").arg(row)); ++row) { }
        }
        QCOMPARE(row, 200);
        const QString last = pageText(*pages, pages->pageCount() - 1);
        QVERIFY2(last.contains(QStringLiteral("site-199")) && last.contains(QStringLiteral("thesumofall")),
            "a sum is not left alone");
    }

    void headingsStayWithWhatFollows()
    {
        for (int rows = 20; rows < 60; ++rows) {
            report::Document document = withBlock(longTable(rows));
            report::Section next{"two", "The next section", "", {}};
            next.blocks.emplace_back(report::Heading{2, "A heading"});
            next.blocks.emplace_back(report::Paragraph{"What is told."});
            document.sections.push_back(next);
            const auto pages = laidOut(document);
            for (int i = 0; i < pages->pageCount(); ++i) {
                const QString text = pageText(*pages, i);
                QCOMPARE(text.contains(QStringLiteral("Thenextsection")),
                    text.contains(QStringLiteral("Whatistold.")));
                QCOMPARE(
                    text.contains(QStringLiteral("Aheading")), text.contains(QStringLiteral("Whatistold.")));
            }
        }
    }

    void wideTablesDoNotOverflow()
    {
        report::Table table;
        std::vector<report::Cell> row;
        for (int i = 0; i < 12; ++i) {
            const bool text = i % 4 == 0;
            table.columns.push_back(
                {text ? "A wordy column" : "Bytes", text ? report::Unit::None : report::Unit::Bytes});
            row.push_back(text ? report::textCell(report::Text().code("a_function_name_that_never_ends_"
                              + std::string(60, 'x') + "@some/where/model.py:1234"))
                               : report::bytesCell(std::int64_t{123456789012}));
        }
        table.rows.assign(3, row);
        const auto pages = laidOut(withBlock(table));
        QCOMPARE(misplaced(*pages), QString());
        QCOMPARE(pageText(*pages, 0).count(QStringLiteral("model.py:1234")), 9);
    }

    void longWordsAndLongCellsWrap()
    {
        report::Table table;
        table.columns = {{"Text", report::Unit::None, true}, {"More", report::Unit::None, true}};
        std::string words;
        for (int i = 0; i < 3000; ++i)
            words += "word" + std::to_string(i) + ' ';
        table.rows.push_back({report::textCell(std::string(2000, 'W')), report::textCell(words)});
        report::Document document = withBlock(table);
        auto& blocks = document.sections.front().blocks;
        blocks.emplace_back(report::Paragraph{words});
        blocks.emplace_back(report::Note{report::Note::Tone::Warning, words});
        blocks.emplace_back(report::Code{"", {std::string(2000, 'c'), words}});
        blocks.emplace_back(report::Stack{"A stack", {words, words}, 3, true});
        blocks.emplace_back(report::KeyValues{"", {{"key", report::textCell(words)}}, {}});
        blocks.emplace_back(report::List{true, {words, "short"}});
        document.title = std::string(400, 'T');
        document.head = std::string(300, 'h');
        const auto pages = laidOut(document);
        QCOMPARE(misplaced(*pages), QString());
        const QString text = allText(*pages);
        for (const char* word : {"word0", "word1500", "word2999"})
            QCOMPARE(text.count(QLatin1String(word)), 8);
        QCOMPARE(text.count(QLatin1Char('W')), 2001); // and the word of the note
    }

    void toneIsSaidInWords()
    {
        report::Document document = withBlock(report::Note{report::Note::Tone::Critical, "It failed."});
        document.sections.front().blocks.emplace_back(report::Note{report::Note::Tone::Good, "It is whole."});
        const auto pages = laidOut(document);
        QVERIFY(pageText(*pages, 0).contains(QStringLiteral("Critical:Itfailed.")));
        QVERIFY(pageText(*pages, 0).contains(QStringLiteral("Good:Itiswhole.")));
    }

    void picturesFitAndTheirAltStandsInForBrokenOnes()
    {
        report::Picture picture;
        picture.data
            = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"4000\"><rect width=\"9\" "
              "height=\"9\"/></svg>";
        picture.width = 100;
        picture.height = 4000;
        picture.caption = "A tower";
        picture.alt = "Nothing to see";
        report::Document document = withBlock(picture);
        auto pages = laidOut(document);
        QCOMPARE(misplaced(*pages), QString());
        QVERIFY(!allText(*pages).contains(QStringLiteral("Nothingtosee")));
        QCOMPARE(pages->pictures(0).size(), std::size_t(2)); // and the program's icon
        picture.data = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
        pages = laidOut(withBlock(picture));
        QVERIFY(allText(*pages).contains(QStringLiteral("Nothingtosee")));
    }

    void pagesArePaintedLightWhateverTheScale()
    {
        const auto pages = laidOut(training());
        for (const double scale : {0.5, 2.0}) {
            QImage image((paperSize(Paper::A4) * scale).toSize(), QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter painter(&image);
            painter.scale(scale, scale);
            pages->paint(painter, 0);
            painter.end();
            int dark = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    dark += qGray(image.pixel(x, y)) < 128 ? 1 : 0;
            QVERIFY(dark > 100 && dark < image.width() * image.height() / 4);
        }
    }

    void aThreadOfItsOwn()
    {
        const report::Document document = training();
        const std::string here = writePdf(document, Paper::A4, {});
        std::string there;
        std::thread other([&] { there = writePdf(document, Paper::A4, {}); });
        other.join();
        QVERIFY(here == there);
        QVERIFY(here.starts_with("%PDF-"));
    }

    void pdfHoldsNoClock()
    {
        const report::Document document = training();
        const std::string first = writePdf(document, Paper::Letter, {});
        QTest::qWait(2100); // the writer's clock ticks in seconds
        QVERIFY(first == writePdf(document, Paper::Letter, {}));
        QVERIFY(first != writePdf(document, Paper::A4, {}));
    }

    void canBeStopped()
    {
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(PagedReport::layOut(training(), Paper::A4, Job{stop.get_token(), {}}) == nullptr);
        QVERIFY(writePdf(training(), Paper::A4, Job{stop.get_token(), {}}).empty());
    }

    void columnsShareTheWidth()
    {
        using page::columnWidths;
        const auto sum = [](const std::vector<double>& widths) {
            return std::accumulate(widths.begin(), widths.end(), 0.0);
        };
        const std::vector<page::ColumnNeed> easy{{10, 50, false}, {20, 20, true}};
        QCOMPARE(sum(columnWidths(easy, 100)), 100.0);
        QCOMPARE(columnWidths(easy, 100)[1], 20.0);
        QCOMPARE(sum(columnWidths(easy, 40)), 40.0);
        QVERIFY(columnWidths(easy, 40)[1] >= 20);
        QCOMPARE(sum(columnWidths(easy, 15)), 15.0);
    }
};

QTEST_MAIN(TestPagedReport)
#include "tst_paged_report.moc"
