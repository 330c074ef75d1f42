// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/reader.hpp"
#include "model/simulate/what_if.hpp"
#include "tests/support/shared_paths.hpp"

#include <QTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;

/// Replays every recorded trace of the corpus under its own settings.
class TestSimulateCorpus : public QObject {
    Q_OBJECT
private slots:
    void corpus_data();
    void corpus();
    void cleanupTestCase();

private:
    int m_looked = 0;
    int m_files = 0;
    std::uint64_t m_allocations = 0;
};

void TestSimulateCorpus::corpus_data()
{
    if (sharedFolder().empty())
        QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    QTest::addColumn<QString>("path");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sharedFolder() / "corpus")) {
        const std::string name = std::filesystem::relative(entry.path(), sharedFolder() / "corpus");
        // The first one was made by hand: no allocator places blocks like that.
        if (entry.is_regular_file() && !name.starts_with("01-"))
            QTest::newRow(name.c_str()) << QString::fromStdString(entry.path());
    }
}

void TestSimulateCorpus::corpus()
{
    QFETCH(QString, path);
    ++m_looked;
    const auto read = readSnapshot(path.toStdString(), {}, {});
    if (!read)
        QSKIP("not a snapshot");
    for (std::size_t d = 0; d < (*read)->devices.size(); ++d) {
        const auto recording = Recording::build(Replay::build(*read, d, {}).value(), {}).value();
        if (!recording->unusable.empty())
            continue;
        const Fidelity f = fidelityOf(*recording, {}).value();
        const auto show
            = [](const Match& m) { return std::to_string(m.matched) + '/' + std::to_string(m.total); };
        std::string text = "device " + std::to_string((*read)->devices[d].ordinal)
            + (recording->settings.expandableSegments ? " expandable" : " native") + ": addresses "
            + show(f.addresses) + ", segment_alloc " + show(f.segmentAllocs) + ", segment_free "
            + show(f.segmentFrees) + ", map " + show(f.maps) + ", unmap " + show(f.unmaps) + ", reserved "
            + show(f.reserved) + ", end segments " + show(f.endSegments) + ", end blocks "
            + show(f.endBlocks);
        if (f.firstDifference)
            text += "; first at event " + std::to_string(f.firstDifference->event) + ": "
                + std::to_string(f.firstDifference->bytes) + " B at "
                + std::to_string(f.firstDifference->recorded) + ", model "
                + std::to_string(f.firstDifference->model);
        qInfo("%s", text.c_str());
        QVERIFY2(f.score() == 1.0 && f.endSegments.matched == f.endSegments.total, text.c_str());
        QCOMPARE(f.strayFrees, 0U);
        ++m_files;
        const auto simulation = Simulation::build(recording->replay, {}).value();
        WhatIfWish wish;
        wish.settings = recording->settings;
        if (const auto same = simulation->run(wish, {})) {
            const Series& reserved = recording->replay->segments.reserved();
            QCOMPARE(std::int64_t(same->peakReserved), reserved.total().max);
            QCOMPARE(std::int64_t(same->endReserved), reserved.last());
            QCOMPARE(same->outOfMemory.has_value(), !(*read)->devices[d].ooms.empty());
        }
        m_allocations += f.addresses.total;
    }
}

/// Not all may be skipped; when all were looked at, at least those known to hold a history were replayed.
void TestSimulateCorpus::cleanupTestCase()
{
    QVERIFY(m_looked < 36 || (m_files >= 15 && m_allocations >= 35496));
    qInfo("%d traces, %llu allocations", m_files, static_cast<unsigned long long>(m_allocations));
}

QTEST_GUILESS_MAIN(TestSimulateCorpus)
#include "tst_simulate_corpus.moc"
