// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/foreign.hpp"
#include "tests/support/read_text.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

class TestNotASnapshot : public QObject {
    Q_OBJECT
private slots:
    void kinds_data()
    {
        QTest::addColumn<QByteArray>("head");
        QTest::addColumn<QString>("word");
        const auto row
            = [](const char* word, QByteArray head) { QTest::newRow(word) << head << QString(word); };
        row("PNG", QByteArray("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16));
        row("JPEG", "\xff\xd8\xff\xe0..JFIF");
        row("GIF", "GIF89a....");
        row("WebP", "RIFF1234WEBPVP8 ");
        row("PDF", "%PDF-1.7\n");
        row("SVG", "<?xml version=\"1.0\"?>\n<!-- x -->\n<svg width=\"3\">");
        row("SQLite", QByteArray("SQLite format 3\0\x10", 17));
        row("ELF",
            "\x7f"
            "ELF\x02\x01");
        row("NumPy", "\x93NUMPY\x01");
        row("safetensors", QByteArray("\x40\0\0\0\0\0\0\0{\"__metadata__\":{}}", 27));
        row("HDF5", "\x89HDF\r\n\x1a\n");
        row("GGUF", "GGUF\x03");
        row("Parquet", "PAR1....");
        row("tar", QByteArray(257, '\0').replace(0, 4, "name") + "ustar\0" + QByteArray(250, '\0'));
        row("xz",
            QByteArray("\xfd"
                       "7zXZ\0",
                6));
        row("bzip2", "BZh91AY&SY");
        row("LZ4", "\x04\x22\x4d\x18zz");
        row("Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n");
        row("UTF-16", QByteArray("\xff\xfe{\0", 4));
        row("zero bytes", QByteArray(64, '\0'));
        row("plain text", "step 1 loss 9.31 mem 41.2 GB\n");
        row("XML", "<?xml version=\"1.0\"?><project/>");
        row("unknown binary", QByteArray("\x01\x02\x03\x00\xff\xfe\xfd\x10", 8));
    }
    void kinds()
    {
        QFETCH(QByteArray, head);
        QFETCH(QString, word);
        const Error error = describeForeign({head.data(), static_cast<std::size_t>(head.size())});
        QCOMPARE(error.code, ErrorCode::NotASnapshot);
        const QString message = QString::fromStdString(error.message);
        QVERIFY2(message.contains(word), error.message.c_str());
        // Says what to do, and ends as a sentence.
        QVERIFY(message.contains(". ") && message.endsWith('.'));
    }

    void empty()
    {
        const Error error = describeForeign({});
        QCOMPARE(error.code, ErrorCode::Empty);
        QVERIFY(error.message.find("empty") != std::string::npos);
    }

    void snapshotsAreNotForeign()
    {
        for (const std::string& head : {std::string("\x80\x04\x95", 3), std::string("{\"segments\": []}"),
                 std::string("[]"), std::string("(dp0\nS'segments'\n"), std::string("\x1f\x8b\x08", 3),
                 std::string("PK\x03\x04"), std::string("<!DOCTYPE html><html>")})
            QVERIFY2(!recognisedForeign(head), head.c_str());
    }

    void otherJson_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("words");
        QTest::newRow("object") << QByteArray("{\"model\": 1, \"epochs\": [2]}") << "JSON|model|segments";
        QTest::newRow("empty object") << QByteArray("{}") << "JSON";
        QTest::newRow("value list") << QByteArray("[1, 2]") << "JSON";
        QTest::newRow("object list") << QByteArray("[{\"text\": \"a\"}, {\"text\": \"b\"}]") << "segments";
        QTest::newRow("log that starts like a list")
            << QByteArray("[2024-01-01 10:00] INFO start\n") << "text";
        QTest::newRow("settings file") << QByteArray("[section]\nkey = 1\n") << "text";
        QTest::newRow("braces") << QByteArray("{hello}") << "text";
        QTest::newRow("lines of JSON") << QByteArray("{\"loss\": 1}\n{\"loss\": 2}\n") << "JSON|loss";
        QTest::newRow("transcript") << QByteArray(
            "{\"text\": \"x\", \"segments\": [{\"id\": 0, \"start\": 0.0, \"end\": 1.5}]}")
                                    << "segment";
    }
    void otherJson()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, words);
        const ReadText file = readText(text.toStdString());
        QVERIFY(file.error);
        QCOMPARE(file.error->code, ErrorCode::NotASnapshot);
        for (const QString& word : words.split('|'))
            QVERIFY2(QString::fromStdString(file.message()).contains(word), file.message().c_str());
    }

    void nestedBrackets()
    {
        QVERIFY(readText(std::string(100'000, '[') + std::string(100'000, ']')).error);
        QVERIFY(readText(std::string(100'000, '[')).error);
        QVERIFY(readText("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}").error);
    }
};

QTEST_GUILESS_MAIN(TestNotASnapshot)
#include "tst_not_a_snapshot.moc"
