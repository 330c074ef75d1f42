// SPDX-License-Identifier: GPL-3.0-or-later
// Digests from strangers: what they claim to hold takes no memory.
#include "model/job/digest.hpp"
#include "model/job/file_class.hpp"
#include "tests/support/packing.hpp"
#include "tests/support/pickle_forge.hpp"

#include <sys/resource.h>

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

std::string digestOf(std::uint64_t claim, const std::string& packed)
{
    return std::string(digestMagic) + littleEndian(digestVersion, 4) + littleEndian(0, 2)
        + littleEndian(claim, 8) + packed;
}

/// The most this process has had in memory so far, in bytes.
std::uint64_t mostMemory()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

} // namespace

class TestHostileDigest : public QObject {
    Q_OBJECT
private slots:
    void aClaimTakesNoMemory()
    {
        // The head of a Zstandard frame in one piece with a length of eight bytes, and nothing behind it.
        const std::string frame = "\x28\xb5\x2f\xfd\xe0" + littleEndian(maxDigestUnpacked, 8);
        const std::uint64_t before = mostMemory();
        const auto read = parseDigest(digestOf(maxDigestUnpacked, frame), "d.tmdigest");
        QVERIFY(!read);
        QVERIFY(read.error().message.ends_with('.'));
        QVERIFY(mostMemory() < before + maxDigestUnpacked / 4);
    }

    void nothingAndTooMuch()
    {
        QVERIFY(!parseDigest(digestOf(0, zstdCompressed("")), "d.tmdigest"));
        QVERIFY(!parseDigest(digestOf(maxDigestUnpacked + 1, ""), "d.tmdigest"));
        QVERIFY(!parseDigest(digestOf(3, zstdCompressed("\xa0")), "d.tmdigest"));
    }
};

QTEST_GUILESS_MAIN(TestHostileDigest)
#include "tst_hostile_digest.moc"
