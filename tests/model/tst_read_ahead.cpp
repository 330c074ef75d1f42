// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/read_ahead.hpp"

#include "model/formats/buffered_stream.hpp"

#include <QTest>

#include <cstring>
#include <new>
#include <random>
#include <thread>

using namespace tidemark;

namespace {

std::string noise(std::size_t count)
{
    std::mt19937 random(3);
    std::string bytes(count, '\0');
    for (char& c : bytes)
        c = static_cast<char>(random());
    return bytes;
}

/// Ends, fails or throws behind its bytes.
class Source final : public BufferedStream {
public:
    enum class Ending { Plain, Failure, Exception };

    Source(std::string bytes, Ending ending)
        : m_bytes(std::move(bytes))
        , m_ending(ending)
    { }
    std::uint64_t size() const override { return m_bytes.size(); }

protected:
    std::size_t fill(std::span<unsigned char> into) override
    {
        const std::size_t count = std::min({into.size(), m_bytes.size() - m_at, std::size_t{70001}});
        std::memcpy(into.data(), m_bytes.data() + m_at, count);
        m_at += count;
        if (count == 0 && m_ending == Ending::Exception)
            throw std::bad_alloc();
        if (count == 0 && m_ending == Ending::Failure)
            fail({ErrorCode::Damaged, "The rest is missing", m_at});
        return count;
    }

private:
    std::string m_bytes;
    std::size_t m_at = 0;
    Ending m_ending;
};

std::unique_ptr<ByteStream> ahead(const std::string& bytes, Source::Ending ending = Source::Ending::Plain)
{
    return readAhead(std::make_unique<Source>(bytes, ending));
}

} // namespace

class TestReadAhead : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        if (std::thread::hardware_concurrency() < 2)
            QSKIP("One processor: nothing is read ahead.");
    }

    void givesTheSameBytes_data()
    {
        QTest::addColumn<qulonglong>("most");
        QTest::newRow("small steps") << 5000ULL;
        QTest::newRow("steps beyond a block") << 900'000ULL;
    }

    void givesTheSameBytes()
    {
        QFETCH(const qulonglong, most);
        const std::string bytes = noise(5'000'000);
        const auto stream = ahead(bytes);
        QCOMPARE(stream->size(), std::uint64_t{bytes.size()});
        QCOMPARE(stream->packedSize(), std::uint64_t{bytes.size()});
        std::mt19937 random(4);
        std::size_t at = 0;
        while (at < bytes.size()) {
            const std::size_t wanted = 1 + random() % most;
            const auto view = stream->peek(wanted);
            QVERIFY(view.size() >= std::min(wanted, bytes.size() - at));
            QVERIFY(std::memcmp(view.data(), bytes.data() + at, view.size()) == 0);
            QCOMPARE(stream->offset(), std::uint64_t{at});
            QVERIFY(stream->packedOffset() >= at + view.size());
            const std::size_t used = std::min<std::size_t>(view.size(), random() % (wanted + 1));
            stream->consume(used);
            at += used;
        }
        QVERIFY(stream->peek(1).empty());
        QVERIFY(!stream->error());
    }

    void tellsOfDamageOnlyAtItsPlace()
    {
        const auto stream = ahead(noise(1'000'000), Source::Ending::Failure);
        std::uint64_t seen = 0;
        for (auto view = stream->peek(1); !view.empty(); view = stream->peek(1)) {
            QVERIFY(!stream->error());
            stream->consume(view.size());
            seen += view.size();
        }
        QCOMPARE(seen, std::uint64_t{1'000'000});
        QVERIFY(stream->error());
        QCOMPARE(stream->error()->code, ErrorCode::Damaged);
        QCOMPARE(stream->error()->offset, std::optional<std::uint64_t>(1'000'000));
    }

    void exceptionsReachTheReader()
    {
        const auto stream = ahead(noise(10), Source::Ending::Exception);
        QCOMPARE(stream->peek(10).size(), std::size_t{10});
        QVERIFY_EXCEPTION_THROWN(stream->peek(11), std::bad_alloc);
    }

    /// The reading thread then waits for room, which never comes.
    void canBeDroppedHalfWay()
    {
        auto stream = ahead(noise(5'000'000));
        QVERIFY(stream->peek(100).size() >= 100);
        stream->consume(50);
        stream.reset();
    }
};

QTEST_APPLESS_MAIN(TestReadAhead)
#include "tst_read_ahead.moc"
