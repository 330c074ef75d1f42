// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/marks.hpp"
#include "tests/support/trace_maker.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// A trace with an event each at 10, 20, … µs, and marks.
class MarkedTrace {
public:
    explicit MarkedTrace(int events = 10, bool timed = true)
    {
        for (int i = 1; i <= events; ++i) {
            if (timed)
                m_maker.setTime(i * 10);
            m_maker.alloc(static_cast<std::uint64_t>(i) * 512, 512);
        }
    }
    void mark(bool start, const char* name, std::int64_t timeUs, int device = 0,
        std::optional<EventIndex> event = std::nullopt)
    {
        SnapshotBuilder& b = m_maker.builder();
        b.addAnnotation({start, b.strings().intern(name), device, timeUs, event});
    }
    std::vector<Mark> pair()
    {
        m_replay = Replay::build(m_maker.finish(), 0, Job{}).value();
        return pairMarks(*m_replay);
    }
    StateIndex states() const { return m_replay->states(); }

private:
    TraceMaker m_maker;
    std::shared_ptr<const Replay> m_replay;
};

QString text(const Mark& m)
{
    return QString("%1 %2-%3 d%4%5%6")
        .arg(QString::fromStdString(m.name))
        .arg(m.first)
        .arg(m.last)
        .arg(m.depth)
        .arg(m.step ? " step" : "")
        .arg(m.open ? " open" : "");
}

QStringList texts(const std::vector<Mark>& marks)
{
    QStringList out;
    for (const Mark& m : marks)
        out << text(m);
    return out;
}

} // namespace

class TestMarks : public QObject {
    Q_OBJECT
private slots:
    void nested()
    {
        MarkedTrace t;
        t.mark(true, "ProfilerStep#3", 5);
        t.mark(true, "forward", 20);
        t.mark(true, "layer", 25);
        t.mark(false, "layer", 35);
        t.mark(false, "forward", 40);
        t.mark(true, "backward", 45);
        t.mark(false, "backward", 60);
        t.mark(false, "ProfilerStep#3", 65);
        QCOMPARE(texts(t.pair()),
            (QStringList{"ProfilerStep#3 0-6 d0 step", "forward 2-4 d1", "layer 2-3 d2", "backward 4-6 d1"}));
    }

    void sameNameNestsLastInFirstOut()
    {
        MarkedTrace t;
        t.mark(true, "checkpoint", 10);
        t.mark(true, "checkpoint", 20);
        t.mark(false, "checkpoint", 30);
        t.mark(false, "checkpoint", 40);
        const auto marks = t.pair();
        QCOMPARE(texts(marks), (QStringList{"checkpoint 1-4 d0", "checkpoint 2-3 d1"}));
        QCOMPARE(marks[1].startUs, std::optional<std::int64_t>(20));
        QCOMPARE(marks[1].endUs, std::optional<std::int64_t>(30));
    }

    void unpairedStayOpen()
    {
        MarkedTrace t;
        t.mark(false, "before", 30);
        t.mark(true, "after", 70);
        const auto marks = t.pair();
        QCOMPARE(texts(marks), (QStringList{"before 0-3 d0 open", "after 7-10 d0 open"}));
        QVERIFY(!marks[0].startUs && marks[0].endUs);
        QVERIFY(marks[1].startUs && !marks[1].endUs);
    }

    void longestOfThoseOpenAtTheStartIsOutermost()
    {
        MarkedTrace t;
        t.mark(false, "inner", 20);
        t.mark(false, "outer", 50);
        QCOMPARE(texts(t.pair()), (QStringList{"outer 0-5 d0 open", "inner 0-2 d1 open"}));
    }

    void outsideTheTrace()
    {
        MarkedTrace t;
        t.mark(true, "early", -500);
        t.mark(false, "early", -400);
        t.mark(true, "late", 5000);
        t.mark(false, "late", 6000);
        QCOMPARE(texts(t.pair()), (QStringList{"early 0-0 d0", "late 10-10 d0"}));
    }

    void listedOutOfOrder()
    {
        MarkedTrace t;
        t.mark(false, "a", 50);
        t.mark(true, "a", 20);
        QCOMPARE(texts(t.pair()), QStringList{"a 2-5 d0"});
    }

    void overlappingRangesDoNotShareALevel()
    {
        MarkedTrace t;
        t.mark(true, "a", 10);
        t.mark(true, "b", 30);
        t.mark(false, "a", 50);
        t.mark(true, "c", 60);
        t.mark(false, "c", 70);
        t.mark(false, "b", 80);
        QCOMPARE(texts(t.pair()), (QStringList{"a 1-5 d0", "b 3-8 d1", "c 6-7 d2"}));
    }

    /// PyTorch 2.4 writes marks into the trace: their events say where they stand, with or without times.
    void byEvents()
    {
        MarkedTrace t(10, false);
        t.mark(true, "step", noTime, 0, EventIndex{2});
        t.mark(false, "step", noTime, 0, EventIndex{5});
        QCOMPARE(texts(t.pair()), QStringList{"step 3-6 d0"});
    }

    void withoutAPlaceOnTheTrace()
    {
        MarkedTrace t(10, false);
        t.mark(true, "step", 100);
        t.mark(false, "step", 200);
        QVERIFY(t.pair().empty());
    }

    void ofOtherDevices()
    {
        MarkedTrace t;
        t.mark(true, "everywhere", 10, everyDevice);
        t.mark(false, "everywhere", 20, everyDevice);
        // Device 5 has no trace of its own; its range would be lost.
        t.mark(true, "elsewhere", 30, 5);
        t.mark(false, "elsewhere", 40, 5);
        QCOMPARE(texts(t.pair()), (QStringList{"everywhere 1-2 d0", "elsewhere 3-4 d0"}));

        TraceMaker two;
        two.alloc(512, 512);
        SnapshotBuilder& b = two.builder();
        EventBuffer other;
        EventRow row;
        row.action = Action::Alloc;
        row.address = 512;
        row.size = 1;
        b.append(other, row);
        b.addTrace(1, std::move(other));
        b.addAnnotation({true, b.strings().intern("x"), 1, noTime, EventIndex{0}});
        const auto snapshot = two.finish();
        QVERIFY(pairMarks(*Replay::build(snapshot, 0, Job{}).value()).empty());
        QCOMPARE(pairMarks(*Replay::build(snapshot, 1, Job{}).value()).size(), std::size_t{1});
    }

    void namesAreMadeSafe()
    {
        MarkedTrace t;
        t.mark(true, "a\nb", 10);
        QCOMPARE(QString::fromStdString(t.pair()[0].name), QString::fromUtf8("a\u240ab"));
    }

    void manyUnpairedOnesKeepFewLevels()
    {
        MarkedTrace t;
        for (int i = 0; i < 20000; ++i)
            t.mark(true, "x", 10 + i / 1000);
        int deepest = 0;
        const auto marks = t.pair();
        QCOMPARE(marks.size(), std::size_t{20000});
        for (const Mark& m : marks)
            deepest = std::max(deepest, m.depth);
        QVERIFY(deepest < 100);
    }
};

QTEST_GUILESS_MAIN(TestMarks)
#include "tst_marks.moc"
