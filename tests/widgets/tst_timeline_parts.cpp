// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/training_step.hpp"
#include "widgets/common/plot_text.hpp"
#include "widgets/timeline/stack_worker.hpp"
#include "widgets/timeline/ticks.hpp"
#include "widgets/timeline/timeline_geometry.hpp"
#include "widgets/timeline/x_scale.hpp"

#include <QTest>

#include <atomic>
#include <cmath>
#include <mutex>

using namespace tidemark;

namespace {

QStringList texts(const std::vector<AxisTick>& ticks)
{
    QStringList list;
    for (const AxisTick& tick : ticks)
        list << QString(tick.text).replace(QChar(0xa0), QLatin1Char(' '));
    return list;
}

constexpr double KiB = 1024;
constexpr double MiB = 1024 * KiB;
constexpr double GiB = 1024 * MiB;

} // namespace

class TestTimelineParts : public QObject {
    Q_OBJECT
private slots:
    void byteTicksAreBinaryWithTheUnitOnTop()
    {
        QCOMPARE(
            texts(byteTicks(0, 25.2 * GiB, 8)), (QStringList{"0", "4", "8", "12", "16", "20", "24 GiB"}));
        QCOMPARE(texts(byteTicks(0, 1.75 * MiB, 4)), (QStringList{"0", "0.5", "1.0", "1.5 MiB"}));
        QCOMPARE(texts(byteTicks(20 * GiB, 20 * GiB + 3 * MiB, 4)),
            (QStringList{"20,480", "20,481", "20,482", "20,483 MiB"}));
        QCOMPARE(texts(byteTicks(0, 10, 20)).last(), QStringLiteral("10 B"));
        QVERIFY(byteTicks(5, 5, 4).empty());
    }

    void eventTicksHaveTheNumbersOfTheFile()
    {
        const auto plain = eventTicks(0, 22332, 22332, 0, 12);
        QCOMPARE(texts(plain).mid(0, 3), (QStringList{"0", "2,000", "4,000"}));
        QCOMPARE(plain[1].value, 2001.5); // the state after event 2,000
        const auto later = eventTicks(0, 11, 11, 1000, 5);
        QCOMPARE(texts(later), (QStringList{"1,000", "1,005"}));
        QCOMPARE(later[0].value, 1.5);
        QVERIFY(eventTicks(0, 1, 1, 0, 5).empty());
    }

    void timeTicksChooseTheirUnit()
    {
        QCOMPARE(texts(timeTicks(0, 650'000, 7)).mid(0, 3), (QStringList{"0 ms", "+100 ms", "+200 ms"}));
        QCOMPARE(texts(timeTicks(0, 10'000'000, 5)).last(), QStringLiteral("+10 s"));
        QCOMPARE(texts(timeTicks(0, 43'200'000'000, 6)).last(), QStringLiteral("+12 h"));
        const auto deep = texts(timeTicks(9'999'900, 10'000'000, 5));
        QVERIFY(deep.contains(QStringLiteral("+9.99992 s")));
    }

    void eventScaleCoversEveryStateOnce()
    {
        const auto rank = test::makeRank(test::trainingStep());
        const XScale scale(replaySource(rank->devices[0]), XAxis::Events);
        QCOMPARE(scale.whole(), (XWindow{0, 123}));
        for (StateIndex s = 0; s < 123; ++s) {
            QCOMPARE(scale.stateAt(scale.begin(s)), s);
            QCOMPARE(scale.stateAt(scale.mark(s)), s);
        }
        QCOMPARE(scale.stateAt(-5), StateIndex{0});
        QCOMPARE(scale.stateAt(1e12), StateIndex{122});
    }

    void timeScaleAgreesWithTheEvents()
    {
        const auto rank = test::makeRank(test::trainingStep());
        const XScale scale(replaySource(rank->devices[0]), XAxis::Time);
        QVERIFY(scale.time());
        for (StateIndex s = 1; s < 123; ++s) {
            QCOMPARE(scale.begin(s), (s - 1) * 100.0);
            QCOMPARE(scale.stateAt(scale.begin(s) + 50), s);
        }
        QCOMPARE(scale.whole().right, 121 * 100.0 + 1);
    }

    void windowsStayInsideTheTrace()
    {
        const auto rank = test::makeRank(test::trainingStep());
        const XScale scale(replaySource(rank->devices[0]), XAxis::Events);
        QCOMPARE(scale.clamped({-50, 500}), (XWindow{0, 123}));
        QCOMPARE(scale.clamped({-10, 20}), (XWindow{0, 30}));
        QCOMPARE(scale.clamped({100, 140}), (XWindow{83, 123}));
        const XWindow narrow = scale.clamped({60, 60.001});
        QVERIFY(narrow.right - narrow.left >= 3.99);
        QCOMPARE(scale.clamped({std::nan(""), 3}), scale.whole());
    }

    void partsGiveWayToThePlot()
    {
        Metrics metrics;
        const TimelineParts parts{3, 6, true, true, 40};
        const auto roomy = TimelineGeometry::of({1200, 900}, parts, metrics);
        QCOMPARE(roomy.lanes.size(), std::size_t{3});
        QCOMPARE(roomy.pools.size(), std::size_t{4});
        QCOMPARE(roomy.hiddenPools, 2);
        QVERIFY(!roomy.overview.isNull());
        QVERIFY(!roomy.legend.isNull());
        QVERIFY(roomy.legend.bottom() < 900);
        const auto tight = TimelineGeometry::of({400, 180}, parts, metrics);
        QVERIFY(tight.pools.empty());
        QVERIFY(tight.plot.height() >= 80);
        for (int height = 30; height < 700; height += 7) {
            const auto g = TimelineGeometry::of({300, height}, parts, metrics);
            QVERIFY(g.plot.height() >= 1);
            int last = g.plot.bottom();
            for (const QRect& strip : g.pools) {
                QVERIFY(strip.top() > last);
                last = strip.bottom();
            }
        }
    }

    void labelsNeverOverlapAndAvoidLines()
    {
        LabelPlacer placer(QRectF(0, 0, 100, 100));
        const QRectF a(10, 10, 30, 10);
        const QRectF b(10, 40, 30, 10);
        QCOMPARE(placer.takeFirst({a}), std::optional(a));
        QCOMPARE(placer.takeFirst({a.translated(5, 5), b}), std::optional(b));
        QCOMPARE(placer.takeFirst({QRectF(90, 90, 30, 30)}), std::optional<QRectF>());
        placer.addLine(QRectF(0, 64, 100, 2));
        const QRectF onLine(50, 60, 20, 10);
        const QRectF beside(50, 80, 20, 10);
        QCOMPARE(placer.takeFirst({onLine, beside}), std::optional(beside));
        QCOMPARE(placer.takeFirst({onLine, beside}), std::optional(onLine)); // better on a line than nowhere
    }

    void theWorkerDeliversTheLatestRequest()
    {
        const auto rank = test::makeRank(test::trainingStep());
        StackRequest request;
        request.source = replaySource(rank->devices[0]);
        request.colouring = Colouring::build(*rank->devices[0], *rank->sites, ColourBy::Site);
        request.ink = StackInk::of(Theme::light(), false, 1);
        request.window = {false, 0, 123, 0, 1e9, 300, 200};
        std::atomic<std::uint64_t> last{0};
        std::shared_ptr<const StackPicture> picture;
        std::mutex mutex;
        std::uint64_t wanted = 0;
        {
            StackWorker worker([&](std::uint64_t number, std::shared_ptr<const StackPicture> done) {
                const std::lock_guard lock(mutex);
                QVERIFY(number > last);
                picture = std::move(done);
                last = number;
            });
            for (int i = 0; i < 200; ++i) {
                request.window.left = i * 0.1;
                wanted = worker.request(request);
            }
            QVERIFY(QTest::qWaitFor([&] { return last == wanted; }, 10000));
        }
        QCOMPARE(picture->request.window.left, request.window.left);
        QCOMPARE(picture->pixels.size(), QSize(300, 200));
    }

    void labelsCrossAsLittleAsTheyMust()
    {
        LabelPlacer labels(QRectF(0, 0, 100, 100));
        labels.addLine(QRectF(0, 10, 100, 10));
        const QRectF on(0, 10, 20, 10);
        const QRectF half(0, 15, 20, 10);
        const QRectF beside(0, 30, 20, 10);
        QCOMPARE(labels.takeFirst({on, half}), std::optional(half));
        QCOMPARE(labels.takeFirst({on, half, beside}), std::optional(beside));
        QCOMPARE(labels.takeFirst({half, beside}), std::optional<QRectF>());
    }
};

QTEST_MAIN(TestTimelineParts)
#include "tst_timeline_parts.moc"
