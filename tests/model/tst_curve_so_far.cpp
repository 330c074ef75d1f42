// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/pickle_reader.hpp"
#include "model/replay/curve_so_far.hpp"
#include "model/replay/replay.hpp"
#include "tests/support/read_text.hpp"
#include "tests/support/sample_training.hpp"

#include <QTest>

#include <random>

using namespace tidemark;
using namespace tidemark::test;

namespace {

struct Rows {
    std::vector<Action> actions;
    std::vector<std::int64_t> sizes;

    void push(Action action, std::int64_t size)
    {
        actions.push_back(action);
        sizes.push_back(size);
    }
    ArrivedEvents part(std::size_t from, std::size_t to, std::size_t trace = 0) const
    {
        return {trace, from, std::span(actions).subspan(from, to - from),
            std::span(sizes).subspan(from, to - from)};
    }
};

/// The lowest and highest bytes of each run of `width` events, as they are.
std::vector<std::pair<std::int64_t, std::int64_t>> extremes(
    const std::vector<std::int64_t>& bytes, std::size_t width)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (std::size_t i = 0; i < bytes.size(); i += width) {
        const auto [low, high] = std::minmax_element(bytes.begin() + static_cast<std::ptrdiff_t>(i),
            bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), i + width)));
        out.emplace_back(*low, *high);
    }
    return out;
}

} // namespace

class TestCurveSoFar : public QObject {
    Q_OBJECT
private slots:
    void columnsAreTheExtremesOfTheirEvents()
    {
        std::mt19937 random(7);
        Rows rows;
        std::vector<std::int64_t> bytes;
        std::int64_t live = 0;
        for (int i = 0; i < 9001; ++i) {
            const std::int64_t size = 1 + static_cast<std::int64_t>(random() % 5000);
            const auto kind = random() % 4;
            rows.push(kind < 2  ? Action::Alloc
                    : kind == 2 ? Action::FreeRequested
                                : Action::FreeCompleted,
                size);
            live += kind < 2 ? size : kind == 2 ? 0 : -size;
            bytes.push_back(live);
        }
        CurveSoFar curve;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t to = std::min(bytes.size(), at + 1 + random() % 700);
            curve.add(rows.part(at, to));
            at = to;
        }
        QCOMPARE(curve.events(), bytes.size());
        QVERIFY(curve.columns().size() <= CurveSoFar::maxColumns);
        const auto expected = extremes(bytes, curve.columnEvents());
        QCOMPARE(curve.columns().size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i)
            QVERIFY((std::pair{curve.columns()[i].low, curve.columns()[i].high} == expected[i]));
    }

    void requestsEndLivesOnlyWhileNoCompletionIsSeen()
    {
        Rows rows;
        rows.push(Action::Alloc, 100);
        rows.push(Action::FreeRequested, 100);
        rows.push(Action::FreeCompleted, 100);
        CurveSoFar curve;
        curve.add(rows.part(0, 2));
        QCOMPARE(curve.columns().back().low, 0);
        curve.add(rows.part(2, 3));
        QCOMPARE(curve.columns()[1].low, 100);
        QCOMPARE(curve.columns()[2].low, 0);
    }

    void anotherTraceBeginsAnew()
    {
        Rows rows;
        rows.push(Action::Alloc, 100);
        rows.push(Action::Alloc, 100);
        CurveSoFar curve;
        curve.add(rows.part(0, 2));
        curve.add(rows.part(0, 1, 1));
        QCOMPARE(curve.events(), 1U);
        QCOMPARE(curve.trace(), 1U);
        QCOMPARE(curve.columns().back().high, 100);
        // As does the same one when its rows are told of again.
        curve.add(rows.part(0, 2, 1));
        QCOMPARE(curve.events(), 2U);
        QCOMPARE(curve.columns().back().high, 200);
    }

    void absurdSizesCountAsNothing()
    {
        Rows rows;
        for (int i = 0; i < 4; ++i)
            rows.push(Action::Alloc, std::numeric_limits<std::int64_t>::max());
        rows.push(Action::Alloc, -1);
        CurveSoFar curve;
        curve.add(rows.part(0, 5));
        for (const CurveSoFar::Column& column : curve.columns())
            QVERIFY(column.low >= 0);
    }

    /// What a reader tells while it reads has the shape of what the replay finds.
    void hasTheShapeOfTheReplay()
    {
        SampleTraining training;
        training.steps = 40;
        CurveSoFar curve;
        Job job;
        std::size_t calls = 0;
        job.arrived = [&](const ArrivedEvents& events) {
            ++calls;
            curve.add(events);
        };
        const auto read = readText(writePickle(recordSampleTraining(training)), {}, pickleReader, job);
        QVERIFY2(read.snapshot, read.message().c_str());
        QVERIFY(calls > 0);
        std::size_t device = 0;
        for (std::size_t i = 0; i < read.snapshot->devices.size(); ++i)
            if (read.snapshot->devices[i].events.count() >= curve.events())
                device = i;
        const auto replay = Replay::build(read.snapshot, device, {}).value();
        // Reading tells once a piece of the file; the last piece is left to the replay.
        QVERIFY(curve.events() > 0 && curve.events() <= replay->device().events.count());
        const Series& exact = replay->timeline.requested();
        const std::int64_t start = exact.at(0);
        const auto& columns = curve.columns();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto first = static_cast<StateIndex>(i * curve.columnEvents() + 1);
            const auto last
                = static_cast<StateIndex>(std::min(curve.events(), (i + 1) * curve.columnEvents()));
            std::int64_t high = std::numeric_limits<std::int64_t>::min();
            for (StateIndex s = first; s <= last; ++s)
                high = std::max(high, exact.at(s));
            QCOMPARE(columns[i].high, high - start);
        }
    }
};

QTEST_APPLESS_MAIN(TestCurveSoFar)
#include "tst_curve_so_far.moc"
