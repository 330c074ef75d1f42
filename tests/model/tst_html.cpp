// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/html_reader.hpp"
#include "tests/support/read_text.hpp"
#include "tests/support/recorded_snapshot.hpp"

#include <QByteArray>
#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::string base64(const std::string& bytes)
{
    return QByteArray::fromStdString(bytes).toBase64().toStdString();
}

/// One event and one segment, as a pickle.
std::string pickle(std::int64_t size = 700)
{
    RecordedSnapshot s;
    s.events.push_back({"alloc", 4096, size, 0, 10, noStack});
    s.segments.push_back({4096, 2097152, 0, true, {0, 0}, false, noStack,
        {{4096, 1024, static_cast<std::uint64_t>(size), "active_allocated", noStack},
            {5120, 2096128, 0, "inactive", noStack}}});
    return writePickle(s);
}

/// A page as the stock tool writes it, with any number of embedded files.
std::string page(const std::vector<std::string>& encoded, const std::string& filler = "")
{
    std::string files;
    for (const std::string& text : encoded)
        files += (files.empty() ? "" : ", ") + std::string("{\"name\": \"snapshot.pickle\", \"base64\": \"")
            + text + "\"}";
    return "<!DOCTYPE html>\n<html>\n<head></head>\n<body>\n" + filler
        + "<script type=\"module\">\nimport {add_local_files} from \"./viewer.js\"\nconst local_files = ["
        + files
        + "]\nadd_local_files(local_files, \"Active Memory Timeline\")\n</script>\n</body>\n</html>\n";
}

ReadText readPage(const std::string& text, const ReadOptions& options = {})
{
    return readText(text, options, htmlReader);
}

} // namespace

class TestHtml : public QObject {
    Q_OBJECT
private slots:
    void embeddedPickle()
    {
        for (std::size_t nuls = 0; nuls <= 3; ++nuls) {
            const ReadText file = readPage(page({base64(pickle() + std::string(nuls, '\0'))}));
            QVERIFY2(file.snapshot, file.message().c_str());
            QCOMPARE(file.snapshot->source.container, std::string("html"));
            QCOMPARE(file.snapshot->source.encoding, std::string("pickle"));
            QCOMPARE(file.device(0)->events.size, std::vector<std::int64_t>{700});
            QCOMPARE(file.device(0)->segments.size(), std::size_t{1});
            QVERIFY(!file.note(Quality::SeveralSnapshots));
        }
    }

    void anyWayOfWritingIt()
    {
        const std::string data = base64(pickle());
        const std::string unpadded = data.substr(0, data.find('='));
        std::string wrapped = data;
        for (std::size_t at = 76; at < wrapped.size(); at += 77)
            wrapped.insert(at, "\n");
        for (const std::string& script : {"let f = {base64: '" + data + "'}",
                 "let f = {'base64' : `" + wrapped + "`}", "let f = {\"base64\":\"" + unpadded + "\"}"}) {
            const ReadText file = readPage("<html><script>" + script + "</script></html>");
            QVERIFY2(file.snapshot, (script.substr(0, 40) + file.message()).c_str());
            QCOMPARE(file.device(0)->events.count(), std::size_t{1});
        }
    }

    void embeddedJson()
    {
        const ReadText file = readPage(
            page({base64("{\"device_traces\": [[{\"action\": \"alloc\", \"addr\": 512, \"size\": 9}]]}")}));
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.snapshot->source.encoding, std::string("json"));
        QCOMPARE(file.device(0)->events.count(), std::size_t{1});
    }

    void farDownThePage()
    {
        // The marker at every place around a window's edge.
        for (std::size_t length = (64U << 10) - 700; length < (64U << 10); length += 13) {
            const ReadText file = readPage(page({base64(pickle())}, std::string(length, ' ')));
            QVERIFY2(file.snapshot, (std::to_string(length) + file.message()).c_str());
        }
        const std::string decoy = "<img src=\"data:image/png;base64,AAAA\"> base64 base64: x ";
        QVERIFY(readPage(page({base64(pickle())}, decoy + std::string(300'000, 'x') + decoy)).snapshot);
    }

    void severalFiles()
    {
        const ReadText file = readPage(page({base64(pickle(700)), base64(pickle(900)), base64(pickle(300))}));
        QVERIFY2(file.snapshot, file.message().c_str());
        QCOMPARE(file.device(0)->events.size, std::vector<std::int64_t>{700});
        QVERIFY(file.note(Quality::SeveralSnapshots)->sentence.find("3 files") != std::string::npos);
    }

    void pagesWithoutSnapshot_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("word");
        QTest::newRow("picture") << QByteArray(
            "<html><body><img src=\"data:image/png;base64,iVBORw0KGgo=\"></body></html>")
                                 << "picture";
        QTest::newRow("first viewer") << QByteArray(
            "<!DOCTYPE html><html><script>let alloc_data = {\"actions\": [0]}"
            "</script></html>") << "first memory viewer";
        QTest::newRow("any page") << QByteArray("<html><body>hello</body></html>")
                                  << "without an embedded snapshot";
        QTest::newRow("other content")
            << QByteArray("<html><script>f = {\"base64\": \"iVBORw0KGgoAAAANSUhEUgAAAAE=\"}</script>")
            << "PNG";
        QTest::newRow("empty content")
            << QByteArray("<html><script>f = {\"base64\": \"\"}</script>") << "empty";
    }
    void pagesWithoutSnapshot()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, word);
        const ReadText file = readPage(text.toStdString());
        QVERIFY(file.error);
        QVERIFY(file.message().find("HTML") != std::string::npos);
        QVERIFY2(QString::fromStdString(file.message()).contains(word), file.message().c_str());
    }

    void cutPage()
    {
        const std::string whole = page({base64(pickle())});
        const std::size_t start = whole.find("\"base64\": \"") + 11;
        for (const std::size_t length : {start + 1, start + 100, start + 301}) {
            const ReadText file = readPage(whole.substr(0, length));
            QVERIFY(file.error);
            QCOMPARE(file.error->code, ErrorCode::Truncated);
        }
        std::string damaged = whole;
        damaged[start + 200] = '<';
        QVERIFY(readPage(damaged).error);
    }

    void recognised()
    {
        QVERIFY(htmlReader.probe("<!DOCTYPE html>\n<html>"));
        QVERIFY(htmlReader.probe("\xef\xbb\xbf \n<HTML lang=en>"));
        QVERIFY(htmlReader.probe("<!-- saved --><script>"));
        QVERIFY(!htmlReader.probe("<?xml version=\"1.0\"?><svg onload=\"init(evt)\"><script>"));
        QVERIFY(!htmlReader.probe("{\"html\": \"<html>\"}"));
        QVERIFY(!htmlReader.probe(""));
    }
};

QTEST_GUILESS_MAIN(TestHtml)
#include "tst_html.moc"
