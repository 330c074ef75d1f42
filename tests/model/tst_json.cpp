// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/core/text.hpp"
#include "model/formats/json_pull.hpp"
#include "model/formats/memory_stream.hpp"

#include <QtTest>

#include <cmath>

using namespace tidemark;

namespace {

/// Gives its bytes in pieces of a few bytes, as a container being unpacked may.
class DripStream final : public ByteStream {
public:
    DripStream(std::string bytes, std::size_t piece)
        : m_bytes(std::move(bytes))
        , m_piece(piece)
    { }
    std::span<const unsigned char> peek(std::size_t wanted) override
    {
        const std::size_t count = std::min(std::max(wanted, m_piece), m_bytes.size() - m_at);
        m_window.assign(m_bytes.begin() + static_cast<std::ptrdiff_t>(m_at),
            m_bytes.begin() + static_cast<std::ptrdiff_t>(m_at + count));
        return m_window;
    }
    void consume(std::size_t count) override { m_at += count; }
    std::uint64_t offset() const override { return m_at; }
    std::uint64_t size() const override { return 0; }

private:
    std::string m_bytes;
    std::size_t m_piece;
    std::size_t m_at = 0;
    std::vector<unsigned char> m_window;
};

/// All tokens as text: brackets, k(key), s(string), i(integer), r(real), t, f, n, then "end" or "failed".
std::string trace(ByteStream& stream)
{
    JsonPull json(stream);
    std::string out;
    for (;;) {
        switch (json.next()) {
        case JsonToken::BeginObject:
            out += "{";
            break;
        case JsonToken::EndObject:
            out += "}";
            break;
        case JsonToken::BeginArray:
            out += "[";
            break;
        case JsonToken::EndArray:
            out += "]";
            break;
        case JsonToken::Key:
            out += "k(" + std::string(json.text()) + ")";
            break;
        case JsonToken::String:
            out += "s(" + std::string(json.text()) + ")";
            break;
        case JsonToken::Integer:
            out += "i(" + std::to_string(static_cast<std::uint64_t>(json.integer())) + ")";
            break;
        case JsonToken::Real:
            out += "r(" + std::string(json.text()) + ")";
            break;
        case JsonToken::True:
            out += "t";
            break;
        case JsonToken::False:
            out += "f";
            break;
        case JsonToken::Null:
            out += "n";
            break;
        case JsonToken::End:
            return out + " end";
        case JsonToken::Failed:
            return out + " failed";
        }
    }
}

std::string traceOf(std::string text)
{
    MemoryStream stream(std::move(text));
    return trace(stream);
}

Error errorOf(std::string text)
{
    MemoryStream stream(std::move(text));
    JsonPull json(stream);
    while (json.next() != JsonToken::Failed)
        if (json.token() == JsonToken::End)
            return {};
    return *json.error();
}

} // namespace

class TestJson : public QObject {
    Q_OBJECT
private slots:
    void tokens()
    {
        QCOMPARE(traceOf(" {\"a\": [1, -2.5e3, \"x\"], \"b\": {}, \"c\": [], \"d\": true, \"e\": false, "
                         "\"f\": null} "),
            "{k(a)[i(1)r(-2.5e3)s(x)]k(b){}k(c)[]k(d)tk(e)fk(f)n} end");
        QCOMPARE(traceOf("7"), "i(7) end");
    }

    void sameInAnyPieces()
    {
        const std::string text
            = "\xef\xbb\xbf{\"key \\\"one\\\"\": [12345678901234567890, 1.25, -7, \"caf\\u00e9 "
              "\\ud83d\\ude00\", true, null], \"frames\" : [{\"line\":70}]}";
        const std::string whole = traceOf(text);
        QVERIFY(QByteArray::fromStdString(whole).endsWith(" end"));
        for (std::size_t piece = 1; piece < 20; ++piece) {
            DripStream stream(text, piece);
            QCOMPARE(trace(stream), whole);
        }
    }

    void integersOfAllSizes()
    {
        QCOMPARE(traceOf("[18446744073709551615, 9223372036854775808, -9223372036854775808]"),
            "[i(18446744073709551615)i(9223372036854775808)i(9223372036854775808)] end");
        // Beyond 64 bits a number keeps its digits.
        QCOMPARE(traceOf("[18446744073709551616]"), "[r(18446744073709551616)] end");
        MemoryStream stream("[3.0, 3.5, 1e400]");
        JsonPull json(stream);
        json.next();
        json.next();
        QVERIFY(json.isWhole());
        QCOMPARE(json.integer(), std::int64_t{3});
        json.next();
        QVERIFY(!json.isWhole());
        json.next();
        QVERIFY(std::isinf(json.real()));
    }

    void pythonsNumbersThatAreNone()
    {
        QCOMPARE(traceOf("[NaN, Infinity, -Infinity, 1]"), "[r(NaN)r(Infinity)r(-Infinity)i(1)] end");
        DripStream drip("[NaN,-Infinity]", 1);
        QCOMPARE(trace(drip), "[r(NaN)r(-Infinity)] end");
    }

    void textsKeepTheirBytes()
    {
        QCOMPARE(traceOf("[\"a\\nb\\t\\/\"]"), "[s(a\nb\t/)] end");
        // A lone surrogate as Python writes it, in front of plain text and in front of another escape.
        QCOMPARE(traceOf("[\"\\udc80x\"]"), "[s(\xed\xb2\x80x)] end");
        QCOMPARE(traceOf("[\"\\ud800\\n\"]"), "[s(\xed\xa0\x80\n)] end");
        QCOMPARE(traceOf("[\"\\ud800\"]"), "[s(\xed\xa0\x80)] end");
        // Not UTF-8, and a Windows path whose backslashes nobody doubled.
        QCOMPARE(traceOf("[\"\xff\xfe\"]"), "[s(\xff\xfe)] end");
        QCOMPARE(traceOf("[\"C:\\Users\\user\"]"), "[s(C:\\Users\\user)] end");
        QCOMPARE(traceOf("[\"a\nb\"]"), "[s(a\nb)] end");
    }

    void longTextsAreCut()
    {
        const std::string body(limits::maxStringBytes + 10, 'x');
        for (const std::string& start : {std::string(), std::string("\\n")}) {
            MemoryStream stream("[\"" + start + body + "\", \"y\"]");
            JsonPull json(stream);
            json.next();
            QCOMPARE(json.next(), JsonToken::String);
            QCOMPARE(json.text().size(), limits::maxStringBytes);
            QVERIFY(json.wasCut());
            QCOMPARE(json.next(), JsonToken::String);
            QCOMPARE(std::string(json.text()), std::string("y"));
            QVERIFY(!json.wasCut());
        }
    }

    void skipping()
    {
        MemoryStream stream("{\"a\": {\"x\": [1, {\"y\": \"}]\"}]}, \"b\": 2, \"c\": [], \"d\": 3}");
        JsonPull json(stream);
        json.next();
        json.next();
        QVERIFY(json.skip());
        QCOMPARE(json.next(), JsonToken::Key);
        QCOMPARE(std::string(json.text()), std::string("b"));
        QVERIFY(json.skip());
        QCOMPARE(json.next(), JsonToken::Key);
        QCOMPARE(json.next(), JsonToken::BeginArray);
        QVERIFY(json.skip());
        QCOMPARE(json.next(), JsonToken::Key);
        QCOMPARE(std::string(json.text()), std::string("d"));
    }

    void deepNesting()
    {
        const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
        QVERIFY(traceOf(deep).ends_with("] end"));
        MemoryStream stream("{\"a\":" + deep + ",\"b\":1}");
        JsonPull json(stream);
        json.next();
        json.next();
        QVERIFY(json.skip());
        QCOMPARE(json.next(), JsonToken::Key);
        QCOMPARE(errorOf(std::string(limits::maxJsonDepth + 1, '[')).code, ErrorCode::TooLarge);
    }

    void truncated_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("open");
        QTest::newRow("nothing") << QByteArray("") << 0;
        QTest::newRow("in a list") << QByteArray("[1, 2") << 1;
        QTest::newRow("after a comma") << QByteArray("[1,") << 1;
        QTest::newRow("in a string") << QByteArray("{\"a\": \"bc") << 1;
        QTest::newRow("in an escape") << QByteArray("[\"\\u12") << 1;
        QTest::newRow("behind a backslash") << QByteArray("[\"\\") << 1;
        QTest::newRow("in a key") << QByteArray("{\"ab") << 1;
        QTest::newRow("before the colon") << QByteArray("{\"ab\" ") << 1;
        QTest::newRow("in a word") << QByteArray("[[tr") << 2;
        QTest::newRow("after a minus") << QByteArray("[-") << 1;
    }
    void truncated()
    {
        QFETCH(QByteArray, text);
        QFETCH(int, open);
        const Error error = errorOf(text.toStdString());
        QCOMPARE(error.code, ErrorCode::Truncated);
        QCOMPARE(error.offset, std::optional<std::uint64_t>(text.size()));
        QVERIFY(error.message.find("truncated") != std::string::npos);
        QVERIFY(error.message.find(std::to_string(open) + " bracket") != std::string::npos);
    }

    void malformed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<qulonglong>("offset");
        QTest::newRow("bare word") << QByteArray("[1, oops]") << 4ULL;
        QTest::newRow("no colon") << QByteArray("{\"a\" 1}") << 5ULL;
        QTest::newRow("no comma") << QByteArray("[1 2]") << 3ULL;
        QTest::newRow("wrong bracket") << QByteArray("[1}") << 2ULL;
        QTest::newRow("key without quotes") << QByteArray("{a: 1}") << 1ULL;
        QTest::newRow("not a number") << QByteArray("[1-2]") << 1ULL;
        QTest::newRow("trailing comma") << QByteArray("{\"a\":1,}") << 7ULL;
    }
    void malformed()
    {
        QFETCH(QByteArray, text);
        QFETCH(qulonglong, offset);
        const Error error = errorOf(text.toStdString());
        QCOMPARE(error.code, ErrorCode::Malformed);
        QCOMPARE(error.offset, std::optional<std::uint64_t>(offset));
        QVERIFY(error.message.find("byte " + std::to_string(offset)) != std::string::npos);
    }

    void whatFollowsIsLeft()
    {
        MemoryStream stream(std::string("[1]\n\0\0xyz", 9));
        JsonPull json(stream);
        while (json.next() != JsonToken::End) { }
        json.release();
        QCOMPARE(stream.offset(), std::uint64_t{6});
    }
};

QTEST_GUILESS_MAIN(TestJson)
#include "tst_json.moc"
