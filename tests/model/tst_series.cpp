// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/series.hpp"

#include <QTest>

#include <random>

using namespace tidemark;

class TestSeries : public QObject {
    Q_OBJECT
private slots:
    void extremesEqualAScan_data()
    {
        QTest::addColumn<int>("states");
        for (const int states : {1, 2, 15, 16, 17, 255, 256, 257, 5000})
            QTest::addRow("%d states", states) << states;
    }

    void extremesEqualAScan()
    {
        QFETCH(int, states);
        const auto count = static_cast<StateIndex>(states);
        std::mt19937 random(count);
        std::vector<std::int64_t> values{0};
        Series series(0);
        for (StateIndex s = 1; s < count; ++s) {
            std::int64_t value = values.back();
            if (random() % 3 != 0)
                value += static_cast<std::int64_t>(random() % 41) - 20;
            values.push_back(value);
            series.set(s, value - 1);
            series.set(s, value);
        }
        series.build(count);
        for (int i = 0; i < 3000; ++i) {
            const StateIndex a = static_cast<StateIndex>(random() % count);
            const StateIndex b = static_cast<StateIndex>(random() % count);
            const StateIndex first = std::min(a, b);
            const StateIndex last = std::max(a, b);
            const auto begin = values.begin() + first;
            const auto end = values.begin() + last + 1;
            const auto max = std::max_element(begin, end);
            const Series::Extremes found = series.extremes(first, last);
            QCOMPARE(found.max, *max);
            QCOMPARE(found.min, *std::min_element(begin, end));
            QCOMPARE(found.maxState, static_cast<StateIndex>(max - values.begin()));
            QCOMPARE(series.at(first), values[first]);
        }
    }

    void keepsOnlyChanges()
    {
        Series series(5);
        series.set(1, 5);
        series.set(2, 9);
        series.set(2, 5); // back to what it was: no change at all
        series.set(3, 1);
        series.shift(100);
        series.build(10);
        QCOMPARE(series.changes().size(), std::size_t(2));
        QCOMPARE(series.first(), 105);
        QCOMPARE(series.at(2), 105);
        QCOMPARE(series.at(9), 101);
        QCOMPARE(series.total().maxState, StateIndex(0));
        QCOMPARE(series.extremes(3, 9).max, 101);
    }
};

QTEST_GUILESS_MAIN(TestSeries)
#include "tst_series.moc"
