// SPDX-License-Identifier: GPL-3.0-or-later
// The bundled sample, opened as any file: what was recorded is what is read, and the figures are those that
// were worked out apart from this program.
#include "model/run/rank.hpp"
#include "tests/support/sample_training.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

class TestSampleReading : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_recorded = recordSampleTraining();
        auto opened = openRank(TIDEMARK_RESOURCES "/samples/training.pickle.gz", {}, {});
        if (!opened)
            QFAIL(opened.error().message.c_str());
        m_rank = opened.value();
        QCOMPARE(m_rank->devices.size(), std::size_t{1});
    }

    void source()
    {
        const Source& source = m_rank->snapshot->source;
        QCOMPARE(source.encoding, std::string("pickle"));
        QCOMPARE(source.container, std::string("gzip"));
        QCOMPARE(source.pickleProtocol.value_or(-1), 4);
        QCOMPARE(source.trailingBytes, std::uint64_t{0});
    }

    void eventsAreThoseRecorded()
    {
        const Snapshot& snapshot = *m_rank->snapshot;
        const EventColumns& read = snapshot.devices[0].events;
        QCOMPARE(read.count(), m_recorded.events.size());
        for (std::size_t i = 0; i < read.count(); ++i) {
            const RecordedEvent& written = m_recorded.events[i];
            QCOMPARE(std::string(actionName(read.action[i])), written.action);
            QCOMPARE(read.address[i], written.action == "oom" ? 0 : written.address);
            QCOMPARE(read.size[i], written.size);
            QCOMPARE(snapshot.streams[index(read.stream[i])], written.stream);
            QCOMPARE(read.timeUs[i], written.timeUs);
            compareStack(read.stack[i], written.stack);
        }
    }

    void segmentsAreThoseRecorded()
    {
        const DeviceTrace& device = m_rank->snapshot->devices[0];
        QVERIFY(device.hasSegments);
        QCOMPARE(device.segments.size(), m_recorded.segments.size());
        for (std::size_t i = 0; i < device.segments.size(); ++i) {
            const Segment& read = device.segments[i];
            const RecordedSegment& written = m_recorded.segments[i];
            QCOMPARE(read.address, written.address);
            QCOMPARE(read.totalSize, static_cast<std::int64_t>(written.totalSize));
            QCOMPARE(read.kind, written.small ? SegmentKind::Small : SegmentKind::Large);
            QCOMPARE(std::size_t{read.blockCount}, written.blocks.size());
            for (std::size_t b = 0; b < written.blocks.size(); ++b) {
                const Block& block = device.blocks[read.firstBlock + b];
                QCOMPARE(block.address, written.blocks[b].address);
                QCOMPARE(block.size, static_cast<std::int64_t>(written.blocks[b].size));
                QCOMPARE(block.state == BlockState::Inactive, written.blocks[b].state == "inactive");
                compareStack(block.stack, written.blocks[b].stack);
            }
        }
    }

    void figures()
    {
        const Replay& replay = *m_rank->devices[0];
        const Timeline& timeline = replay.timeline;
        const Series::Extremes live = timeline.requested().total();
        QCOMPARE(live.max, std::int64_t{17'294'860'292});
        QCOMPARE(live.maxState, StateIndex{9135}); // after event 9134
        QCOMPARE(timeline.requested().first(), std::int64_t{2'091'065'344});
        QCOMPARE(timeline.requested().last(), std::int64_t{7'794'155'520});
        const Series::Extremes reserved = replay.segments.reserved().total();
        QCOMPARE(reserved.max, std::int64_t{23'024'631'808});
        QCOMPARE(reserved.maxState, StateIndex{7057});
        QCOMPARE(replay.segments.reserved().first(), std::int64_t{2'120'220'672});
        QCOMPARE(replay.segments.reserved().last(), std::int64_t{19'750'977'536});
        QCOMPARE(timeline.delayedFrees(), std::uint64_t{24});
        QCOMPARE(timeline.pending().total().max, std::int64_t{134'348'800});
        QCOMPARE(timeline.predating().freedInTrace, std::uint64_t{6});
        QCOMPARE(timeline.predating().freedInTraceBytes, std::uint64_t{603'979'776});
        QCOMPARE(timeline.predating().aliveAtEnd, std::uint64_t{76});
        QCOMPARE(timeline.predating().aliveAtEndBytes, std::uint64_t{1'487'085'568});
        QCOMPARE(replay.device().ooms.size(), std::size_t{1});
        QCOMPARE(replay.device().ooms[0].deviceFree.value_or(0), std::int64_t{5'481'955'328});
        QVERIFY(!replay.reachesStart());
        QVERIFY(replay.note(Quality::LateStart) != nullptr);
        QCOMPARE(std::ranges::count_if(m_rank->marks[0], [](const Mark& mark) { return mark.step; }), 8);
    }

private:
    void compareStack(StackId read, std::uint32_t written) const
    {
        if (written == noStack) {
            QVERIFY(read == StackId::none || m_rank->snapshot->stacks[read].empty());
            return;
        }
        const auto frames = m_rank->snapshot->stacks[read];
        const auto& expected = m_recorded.stacks[written];
        QCOMPARE(frames.size(), expected.size());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const Frame& frame = m_rank->snapshot->frames[frames[i]];
            QCOMPARE(m_rank->snapshot->strings.view(frame.name),
                std::string_view(m_recorded.frames[expected[i]].name));
            QCOMPARE(m_rank->snapshot->strings.view(frame.file),
                std::string_view(m_recorded.frames[expected[i]].file));
            QCOMPARE(static_cast<int>(frame.line), m_recorded.frames[expected[i]].line);
        }
    }

    RecordedSnapshot m_recorded;
    std::shared_ptr<const Rank> m_rank;
};

QTEST_GUILESS_MAIN(TestSampleReading)
#include "tst_sample_reading.moc"
