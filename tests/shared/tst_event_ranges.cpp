// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/range_checks.hpp"
#include "tests/support/shared_paths.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

/// Ranges of real recordings opened alone against the whole of them.
class TestEventRanges : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (sharedFolder().empty())
            QSKIP("the outside test material is not there");
    }

    void corpus()
    {
        std::size_t compared = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(sharedFolder() / "corpus")) {
            if (!entry.is_regular_file() || entry.file_size() > (64U << 20))
                continue;
            const auto whole = openRank(entry.path(), {}, {});
            if (!whole)
                continue;
            std::uint64_t events = 0;
            for (const auto& replay : (*whole)->devices)
                events = std::max<std::uint64_t>(events, replay->device().events.count());
            if (events == 0)
                continue;
            for (const ReadOptions& options : rangesToTry(events, 4, events)) {
                const std::string different = differenceOfRange(**whole, entry.path(), options);
                QVERIFY2(different.empty(), (entry.path().filename().string() + ": " + different).c_str());
            }
            ++compared;
        }
        QVERIFY(compared > 10);
    }
};

QTEST_GUILESS_MAIN(TestEventRanges)
#include "tst_event_ranges.moc"
