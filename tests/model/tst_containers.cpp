// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/buffered_stream.hpp"
#include "model/formats/input.hpp"
#include "model/formats/reader.hpp"
#include "tests/support/packing.hpp"
#include "tests/support/pickle_forge.hpp"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <fstream>
#include <random>

using namespace tidemark;
using namespace tidemark::test;
using namespace std::string_literals;

namespace {

std::string sample(std::size_t events = 40, int protocol = 4)
{
    std::vector<Py> trace;
    for (std::size_t i = 0; i < events; ++i)
        trace.push_back(pyEvent("alloc", 0x7f0000000000 + (i * 512), static_cast<std::int64_t>(i + 1),
            1790000000000000 + static_cast<std::int64_t>(i)));
    return pickled(pySnapshot({}, {pyList(std::move(trace))}), {.protocol = protocol});
}

/// Gives its bytes in pieces of the sizes asked for, to look at the buffer.
class Pieces final : public BufferedStream {
public:
    explicit Pieces(std::string bytes)
        : m_bytes(std::move(bytes))
    { }
    std::size_t largestFill = 0;

protected:
    std::size_t fill(std::span<unsigned char> into) override
    {
        largestFill = std::max(largestFill, into.size());
        const std::size_t count = std::min({into.size(), m_bytes.size() - m_at, std::size_t{1000}});
        std::memcpy(into.data(), m_bytes.data() + m_at, count);
        m_at += count;
        return count;
    }

private:
    std::string m_bytes;
    std::size_t m_at = 0;
};

} // namespace

class TestContainers : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    std::filesystem::path write(const std::string& bytes)
    {
        const std::filesystem::path path = m_folder.filePath("file.bin").toStdString();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    Result<std::shared_ptr<const Snapshot>> read(const std::string& bytes, bool partial = false)
    {
        ReadOptions options;
        options.partial = partial;
        return readSnapshot(write(bytes), options, {});
    }
    void verifySample(const std::string& bytes, const char* container, std::uint64_t trailing = 0)
    {
        const auto got = read(bytes);
        QVERIFY2(got, got ? "" : got.error().message.c_str());
        const Snapshot& s = **got;
        QCOMPARE(s.source.container, std::string(container));
        QCOMPARE(s.source.fileBytes, bytes.size());
        QCOMPARE(s.source.trailingBytes, trailing);
        QCOMPARE(s.source.name, "file.bin"s);
        QCOMPARE(s.devices.at(0).events.count(), 40U);
        QCOMPARE(s.devices[0].events.size.back(), 40);
        QVERIFY(!s.source.partial);
    }
    void verifyRefused(const std::string& bytes, ErrorCode code, const std::vector<const char*>& words)
    {
        const auto got = read(bytes);
        QVERIFY(!got);
        QVERIFY2(got.error().code == code, got.error().message.c_str());
        for (const char* word : words)
            QVERIFY2(got.error().message.find(word) != std::string::npos, got.error().message.c_str());
        QVERIFY(got.error().message.ends_with('.'));
    }

private slots:
    void bufferHoldsWhatIsThereAndNoMore()
    {
        std::string bytes(3'000'000, '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<char>(i % 251);
        Pieces stream(bytes);
        std::size_t at = 0;
        std::mt19937 random(5);
        while (at < bytes.size()) {
            const std::size_t wanted = 1 + (random() % 400'000);
            const auto view = stream.peek(wanted);
            QVERIFY(view.size() >= std::min(wanted, bytes.size() - at));
            QVERIFY(std::memcmp(view.data(), bytes.data() + at, view.size()) == 0);
            const std::size_t used = std::min<std::size_t>(view.size(), random() % 300'000);
            stream.consume(used);
            at += used;
            QCOMPARE(stream.offset(), at);
            if (view.size() < wanted)
                break;
        }
        // Asking for a gigabyte of which two kilobytes are there reserves no gigabyte.
        Pieces small(std::string(2000, 'x'));
        QCOMPARE(small.peek(1U << 30).size(), 2000U);
        QVERIFY(small.largestFill <= 1U << 20);
        QCOMPARE(small.peek(5000).size(), 2000U);
    }

    void plainFiles()
    {
        verifySample(sample(), "none");
        verifySample(sample() + "more", "none", 4);
    }

    void gzip()
    {
        const std::string bytes = sample();
        verifySample(gzipped(bytes), "gzip");
        verifySample(gzipped(bytes.substr(0, 500)) + gzipped(bytes.substr(500)), "gzip");
        verifySample(gzipped("") + gzipped(bytes) + gzipped(""), "gzip");
        verifySample(gzipped(bytes) + std::string(512, '\0'), "gzip");
        verifySample(gzipped(bytes + "\n\n\n"), "gzip", 3);
        // More than any buffer, incompressible parts included.
        const std::string large = sample(50'000);
        const auto got = read(gzipped(large));
        QVERIFY(got);
        QCOMPARE((*got)->devices[0].events.count(), 50'000U);
        QCOMPARE((*got)->source.unpackedBytes, large.size());
    }

    void gzipDamaged()
    {
        const std::string packed = gzipped(sample());
        for (std::size_t length = 2; length < packed.size(); length += 3)
            verifyRefused(packed.substr(0, length), ErrorCode::Truncated, {"gzip", "truncated"});
        std::string checksum = packed;
        checksum[checksum.size() - 7] = static_cast<char>(checksum[checksum.size() - 7] ^ 1);
        verifyRefused(checksum, ErrorCode::Damaged, {"gzip", "checksum"});
        std::string garbage = packed;
        std::fill_n(garbage.begin() + 14, 40, '\xff');
        verifyRefused(garbage, ErrorCode::Damaged, {"gzip"});

        const auto kept = read(checksum, true);
        QVERIFY(kept);
        QVERIFY((*kept)->source.partial);
        QCOMPARE((*kept)->devices[0].events.count(), 40U);
        const std::string large = gzipped(sample(60'000));
        const auto half = read(large.substr(0, large.size() / 2), true);
        QVERIFY2(half, half ? "" : half.error().message.c_str());
        const std::size_t events = (*half)->devices[0].events.count();
        QVERIFY(events > 10'000 && events < 50'000);
        QCOMPARE((*half)->quality.at(0).id, Quality::TruncatedFile);
    }

    void zstandard()
    {
        const std::string bytes = sample();
        verifySample(zstdCompressed(bytes), "zstd");
        verifySample(zstdCompressed(bytes.substr(0, 500)) + zstdCompressed(bytes.substr(500)), "zstd");
        const std::string skippable = "\x50\x2a\x4d\x18" + littleEndian(5, 4) + "notes";
        verifySample(zstdCompressed(bytes) + skippable, "zstd");
        verifySample(zstdCompressed(bytes) + std::string(64, '\0'), "zstd");
        const auto got = read(zstdCompressed(sample(50'000)));
        QVERIFY(got);
        QCOMPARE((*got)->devices[0].events.count(), 50'000U);
    }

    void zstandardDamaged()
    {
        const std::string packed = zstdCompressed(sample());
        for (std::size_t length = 4; length < packed.size(); length += 3)
            verifyRefused(packed.substr(0, length), ErrorCode::Truncated, {"zstd", "truncated"});
        std::string checksum = packed;
        checksum.back() = static_cast<char>(checksum.back() ^ 1);
        verifyRefused(checksum, ErrorCode::Damaged, {"zstd", "checksum"});
    }

    void torchZip()
    {
        const std::string bytes = sample(40, 2);
        for (const bool deflate : {false, true})
            for (const bool zip64 : {false, true}) {
                ZipStyle style;
                style.zip64 = zip64;
                style.comment = deflate ? "a comment" : "";
                verifySample(zipped({{"archive/data.pkl", bytes, deflate}, {"archive/version", "3\n"},
                                        {"archive/byteorder", "little"}},
                                 style),
                    "zip");
            }
        verifySample(zipped({{"x/", ""}, {"snapshot.pickle", bytes, true}}), "zip");
        const auto got = read(zipped({{"a/data.pkl", sample(60'000, 2), true}, {"a/version", "3\n"}}));
        QVERIFY(got);
        QCOMPARE((*got)->devices[0].events.count(), 60'000U);
    }

    void torchZipDamaged()
    {
        const std::string bytes = sample(40, 2);
        verifyRefused(zipped({{"a.txt", "x"}, {"b.txt", "y"}}), ErrorCode::NotASnapshot, {"zip", "data.pkl"});
        const std::string whole = zipped({{"archive/data.pkl", bytes}, {"archive/version", "3\n"}});
        verifyRefused(whole.substr(0, whole.size() - 30), ErrorCode::Truncated, {"zip", "truncated"});
        std::string flipped = whole;
        flipped[30 + 16 + 20] = static_cast<char>(flipped[30 + 16 + 20] ^ 1);
        QVERIFY(!read(flipped));
        verifyRefused(flipped, read(flipped).error().code, {"zip"});
        // Without its directory the first member can still be found by its own header.
        const auto kept = read(whole.substr(0, 30 + 16 + bytes.size() - 100), true);
        QVERIFY2(kept, kept ? "" : kept.error().message.c_str());
        QVERIFY((*kept)->source.partial);
        QVERIFY((*kept)->devices[0].events.count() > 30);
        std::mt19937 random(11);
        for (int round = 0; round < 300; ++round) {
            std::string bad = whole;
            for (int flips = 0; flips < 3; ++flips)
                bad[random() % bad.size()] = static_cast<char>(random());
            const auto result = read(bad, round % 2 == 0);
            QVERIFY(result || result.error().message.ends_with('.'));
        }
    }

    void whatCannotBeOpened()
    {
        verifyRefused("", ErrorCode::Empty, {"empty"});
        verifyRefused(gzipped(""), ErrorCode::Empty, {"empty"});
        verifyRefused(std::string(100, '\0'), ErrorCode::NotASnapshot, {});
        const auto missing = readSnapshot("/nonexistent/snapshot.pickle", {}, {});
        QVERIFY(!missing);
        QCOMPARE(missing.error().code, ErrorCode::NotFound);
        const auto folder = readSnapshot(m_folder.path().toStdString(), {}, {});
        QVERIFY(!folder);
        QCOMPARE(folder.error().code, ErrorCode::Io);
    }

    void stopsWhileUnpacking()
    {
        // A small snapshot with a great many zeros behind it, which are unpacked for the checksum.
        const auto path = write(gzipped(sample() + std::string(40U << 20, '\0')));
        std::stop_source stop;
        Job job;
        job.stop = stop.get_token();
        int reports = 0;
        job.progress = [&](const Progress& p) {
            if (p.stage == Stage::Read && ++reports == 1)
                stop.request_stop();
        };
        const auto got = readSnapshot(path, {}, job);
        QVERIFY(!got);
        QCOMPARE(got.error().code, ErrorCode::Cancelled);
    }

    void progressReachesTheEnd()
    {
        const auto path = write(gzipped(sample(60'000)));
        std::uint64_t last = 0;
        std::uint64_t total = 0;
        Job job;
        job.progress = [&](const Progress& p) {
            if (p.stage != Stage::Read)
                return;
            QVERIFY(p.done >= last);
            last = p.done;
            total = p.total;
        };
        QVERIFY(readSnapshot(path, {}, job));
        QCOMPARE(total, std::filesystem::file_size(path));
        QVERIFY(last > total / 2 && last <= total);
    }
};

QTEST_GUILESS_MAIN(TestContainers)
#include "tst_containers.moc"
