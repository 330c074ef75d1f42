// SPDX-License-Identifier: GPL-3.0-or-later
// The bundled sample is what its generator makes, and keeps the rules that hold in every real file
// (help/format.md), so that other tests may build on it.
#include "tests/support/sample_training.hpp"

#include <QFile>
#include <QtTest>

#include <map>
#include <set>

using namespace tidemark::test;

class TestSample : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { m_sample = recordSampleTraining(); }

    void checkedInFileIsWhatTheGeneratorMakes()
    {
        QFile file(QStringLiteral(TIDEMARK_RESOURCES "/samples/training.pickle.gz"));
        QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.errorString()));
        const std::string packed = file.readAll().toStdString();
        QVERIFY2(packed.size() < 400 * 1024, "small enough to ship inside the program");
        // Unpacked bytes: another zlib may pack them differently.
        QVERIFY2(gunzipped(packed) == writePickle(m_sample),
            "make it anew: build/dev/tidemark_make_sample resources/samples/training.pickle.gz");
    }

    void damagedContainerGivesNothing()
    {
        std::string packed = gzipped("some bytes that are long enough to matter");
        QCOMPARE(gunzipped(packed), std::string("some bytes that are long enough to matter"));
        packed.resize(packed.size() / 2);
        QVERIFY(gunzipped(packed).empty());
    }

    void blocksFillTheirSegments()
    {
        for (const RecordedSegment& segment : m_sample.segments) {
            std::uint64_t next = segment.address;
            bool freeBefore = false;
            for (const RecordedBlock& block : segment.blocks) {
                QCOMPARE(block.address, next);
                next += block.size;
                const bool isFree = block.state == "inactive";
                QVERIFY2(!(isFree && freeBefore), "neighbouring free blocks are merged");
                QVERIFY(isFree || block.requested <= block.size);
                freeBefore = isFree;
            }
            QCOMPARE(next, segment.address + segment.totalSize);
        }
    }

    void tracedEndStateIsTheOneInTheSegments()
    {
        std::map<std::uint64_t, std::int64_t> live; // address → requested bytes
        std::set<std::uint64_t> seen;
        for (const RecordedEvent& event : m_sample.events) {
            if (event.action == "alloc") {
                QVERIFY2(live.emplace(event.address, event.size).second, "no request lands on a live one");
                seen.insert(event.address);
            } else if (event.action == "free_completed") {
                QVERIFY(live.erase(event.address) == 1 || !seen.contains(event.address));
                seen.insert(event.address);
            }
        }
        std::size_t matched = 0;
        for (const RecordedSegment& segment : m_sample.segments)
            for (const RecordedBlock& block : segment.blocks) {
                const auto traced = live.find(block.address);
                if (traced == live.end()) {
                    QVERIFY2(
                        block.state == "inactive" || !seen.contains(block.address), "freed, so not active");
                    continue;
                }
                QCOMPARE(block.state, std::string("active_allocated"));
                QCOMPARE(static_cast<std::int64_t>(block.requested), traced->second);
                ++matched;
            }
        QCOMPARE(matched, live.size());
    }

    void reservedStaysBelowTheCard()
    {
        std::int64_t reserved = 0, growth = 0, highest = 0;
        for (const RecordedSegment& segment : m_sample.segments)
            reserved += static_cast<std::int64_t>(segment.totalSize);
        for (const RecordedEvent& event : m_sample.events) {
            if (event.action == "segment_alloc")
                growth += event.size;
            else if (event.action == "segment_free")
                growth -= event.size;
            highest = std::max(highest, growth);
        }
        QVERIFY2(reserved - growth > 0, "the model was there before");
        QVERIFY(reserved - growth + highest <= static_cast<std::int64_t>(SampleTraining().capacityBytes));
    }

    void timesNeverGoBack()
    {
        for (std::size_t i = 1; i < m_sample.events.size(); ++i)
            QVERIFY(m_sample.events[i].timeUs >= m_sample.events[i - 1].timeUs);
    }

    // What the sample is there to show.
    void tellsItsStory()
    {
        std::map<std::string, int> actions, marks;
        std::set<std::int64_t> streams;
        int delayed = 0;
        for (std::size_t i = 0; i < m_sample.events.size(); ++i) {
            const RecordedEvent& event = m_sample.events[i];
            ++actions[event.action];
            streams.insert(event.stream);
            if (event.action == "free_requested")
                delayed += i + 1 == m_sample.events.size()
                    || m_sample.events[i + 1].action != "free_completed"
                    || m_sample.events[i + 1].address != event.address;
        }
        for (const RecordedMark& mark : m_sample.marks)
            ++marks[mark.name.substr(0, mark.name.find('#')) + (mark.start ? " START" : " END")];
        const int steps = SampleTraining().steps;
        QCOMPARE(marks["ProfilerStep START"], steps);
        QCOMPARE(marks["ProfilerStep END"], steps);
        QCOMPARE(marks["Optimizer.step START"], steps);
        QCOMPARE(streams.size(), std::size_t{2});
        QVERIFY(delayed >= steps);
        QCOMPARE(actions["oom"], 1);
        QVERIFY(actions["segment_free"] > 0);

        int kept = 0;
        std::uint64_t pinned = 0;
        for (const RecordedSegment& segment : m_sample.segments) {
            std::uint64_t idle = 0;
            bool used = false;
            for (const RecordedBlock& block : segment.blocks) {
                idle += block.state == "inactive" ? block.size : 0;
                used = used || block.state != "inactive";
                for (const std::uint32_t frame :
                    block.stack == noStack ? std::vector<std::uint32_t>{} : m_sample.stacks[block.stack])
                    kept += m_sample.frames[frame].name == "update" && m_sample.frames[frame].line == 37;
            }
            pinned += used ? idle : 0;
        }
        QCOMPARE(kept, steps); // one more each step
        QVERIFY2(pinned > std::uint64_t{8} << 30, "holes that live blocks keep from being given back");
    }

private:
    RecordedSnapshot m_sample;
};

QTEST_GUILESS_MAIN(TestSample)
#include "tst_sample.moc"
