// SPDX-License-Identifier: GPL-3.0-or-later
// Every small file cut at every byte, and with every single byte changed: an error that is a sentence, or an
// opening. What ends early or fails a checksum never passes for whole.
#include "model/core/text.hpp"
#include "model/job/digest.hpp"
#include "model/report/session_file.hpp"
#include "model/run/rank.hpp"
#include "tests/support/memory_file.hpp"
#include "tests/support/small_files.hpp"
#include "tests/support/small_runs.hpp"

#include <QTest>

#include <algorithm>
#include <numeric>

using namespace tidemark;
using namespace tidemark::test;

namespace {

Result<std::shared_ptr<const Rank>> opened(std::string_view bytes, bool partial)
{
    const MemoryFile file(bytes);
    ReadOptions options;
    options.partial = partial;
    return openRank(file.path(), options, Job{});
}

/// Empty when a refusal is as it should be: whole sentences on one line.
QString fault(const Error& error)
{
    const std::string& text = error.message;
    const bool line = text.find_first_of(std::string_view("\n\r\0", 3)) == std::string::npos;
    return !text.empty() && text.back() == '.' && line && text.size() < 4096 && isValidUtf8(text)
        ? QString()
        : QStringLiteral("not a sentence: ") + QString::fromStdString(text);
}

/// What a snapshot holds, in one line; equal for equal content.
std::string contentOf(const Snapshot& s)
{
    std::string out;
    const auto add = [&](auto number) { out += std::to_string(number) + ' '; };
    for (const DeviceTrace& d : s.devices) {
        add(d.ordinal);
        add(d.events.count());
        add(std::accumulate(d.events.address.begin(), d.events.address.end(), std::uint64_t{0}));
        for (const std::int64_t size : d.events.size)
            add(size);
        for (const Segment& segment : d.segments)
            add(segment.totalSize);
        add(d.blocks.size());
    }
    add(s.annotations.size());
    add(s.settings.size());
    add(s.categories ? s.categories->timesUs.size() : 0);
    return out;
}

std::string changed(std::string bytes, std::size_t at, int mask)
{
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    return bytes;
}

void addRows(const std::vector<SmallFile>& files)
{
    QTest::addColumn<QByteArray>("bytes");
    for (const SmallFile& file : files)
        QTest::newRow(file.name.c_str()) << QByteArray::fromStdString(file.bytes);
}

std::vector<SmallFile> allFiles()
{
    std::vector<SmallFile> files = smallFiles();
    std::ranges::move(smallContainers(), std::back_inserter(files));
    return files;
}

} // namespace

class TestDamage : public QObject {
    Q_OBJECT
private slots:
    void theFilesAreWhole_data() { addRows(allFiles()); }
    void theFilesAreWhole()
    {
        QFETCH(QByteArray, bytes);
        const auto rank = opened(bytes.toStdString(), false);
        QVERIFY2(rank, rank ? "" : rank.error().message.c_str());
        QVERIFY(!(*rank)->snapshot->source.partial);
    }

    void cutAtEveryByte_data() { addRows(allFiles()); }
    void cutAtEveryByte()
    {
        QFETCH(QByteArray, bytes);
        const std::string whole = bytes.toStdString();
        const auto reference = opened(whole, false);
        QVERIFY(reference);
        const std::string content = contentOf(*(*reference)->snapshot);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const std::string cut = whole.substr(0, length);
            const QString where = QStringLiteral("cut to %1 bytes").arg(length);
            // What is behind a snapshot (the end of a page, padding) may be missing.
            if (const auto rank = opened(cut, false))
                QVERIFY2(contentOf(*(*rank)->snapshot) == content, qPrintable(where));
            else
                QVERIFY2(fault(rank.error()).isEmpty(), qPrintable(where + fault(rank.error())));
            if (const auto rank = opened(cut, true))
                QVERIFY2((*rank)->snapshot->source.partial || contentOf(*(*rank)->snapshot) == content,
                    qPrintable(where));
            else
                QVERIFY2(fault(rank.error()).isEmpty(), qPrintable(where + fault(rank.error())));
        }
    }

    void everyByteChanged_data() { addRows(smallFiles()); }
    void everyByteChanged()
    {
        QFETCH(QByteArray, bytes);
        const std::string whole = bytes.toStdString();
        for (std::size_t at = 0; at < whole.size(); ++at)
            for (const int mask : {0xff, 1}) {
                const auto rank = opened(changed(whole, at, mask), mask == 1);
                if (!rank)
                    QVERIFY2(fault(rank.error()).isEmpty(),
                        qPrintable(QStringLiteral("byte %1: ").arg(at) + fault(rank.error())));
            }
    }

    void everyByteOfAContainerChanged_data() { addRows(smallContainers()); }
    void everyByteOfAContainerChanged()
    {
        QFETCH(QByteArray, bytes);
        const std::string whole = bytes.toStdString();
        const auto reference = opened(whole, false);
        QVERIFY(reference);
        const std::string content = contentOf(*(*reference)->snapshot);
        for (std::size_t at = 0; at < whole.size(); ++at)
            for (const int mask : {0xff, 1}) {
                const QString where = QStringLiteral("byte %1").arg(at);
                const std::string damaged = changed(whole, at, mask);
                // Times and names in a container's header mean nothing; all else is under a checksum.
                if (const auto rank = opened(damaged, false))
                    QVERIFY2(contentOf(*(*rank)->snapshot) == content, qPrintable(where));
                else
                    QVERIFY2(fault(rank.error()).isEmpty(), qPrintable(where + fault(rank.error())));
                if (const auto rank = opened(damaged, true); rank)
                    QVERIFY2((*rank)->snapshot->source.partial || contentOf(*(*rank)->snapshot) == content,
                        qPrintable(where));
                else
                    QVERIFY2(fault(rank.error()).isEmpty(), qPrintable(where + fault(rank.error())));
            }
    }

    void digests()
    {
        SmallRun run;
        run.sites = {{"f@/x/m.py:7", 1 << 20, 2}};
        SummaryOrigin origin;
        origin.file = "/runs/a/snapshot_3.pickle";
        const std::string whole = digestBytes(makeSummary(*diagnosedSide(run.make()).diagnosis, origin));
        QVERIFY(parseDigest(whole, "d.tmdigest"));
        const auto check = [&](const std::string& bytes, bool mustFail, std::size_t at) {
            const auto read = parseDigest(bytes, "d.tmdigest");
            QVERIFY2(!read || !mustFail, qPrintable(QString::number(at)));
            if (!read)
                QVERIFY2(fault(read.error()).isEmpty(), qPrintable(fault(read.error())));
        };
        for (std::size_t at = 0; at < whole.size(); ++at) {
            check(whole.substr(0, at), true, at);
            check(changed(whole, at, 0xff), false, at);
            check(changed(whole, at, 1), false, at);
        }
    }

    /// A session keeps every line that is right, so nearly all damage still opens.
    void sessions()
    {
        report::SessionFile session;
        session.inputs = {{"rank0.pickle", "fast1-12-abc", 12, {}}};
        session.cursor = 3;
        session.filter = "site:f";
        session.annotations.resize(1);
        session.annotations[0].id = 1;
        session.annotations[0].from = report::PointAnchor{3, 9};
        session.annotations[0].text = "here";
        const std::string whole = report::sessionText(session);
        const auto check = [&](const std::string& text) {
            const auto read = report::parseSession(text, "s.tidemark");
            if (!read)
                QVERIFY2(fault(read.error()).isEmpty(), qPrintable(fault(read.error())));
            else
                QVERIFY(read->session == session || !read->problems.empty() || text != whole);
        };
        for (std::size_t at = 0; at < whole.size(); ++at) {
            check(whole.substr(0, at));
            check(changed(whole, at, 0xff));
            check(changed(whole, at, 1));
        }
    }
};

QTEST_GUILESS_MAIN(TestDamage)
#include "tst_damage.moc"
