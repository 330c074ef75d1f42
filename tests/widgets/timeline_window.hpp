// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/trace_maker.hpp"
#include "tests/support/training_step.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QApplication>
#include <QTest>
#include <QWheelEvent>

#include <qcustomplot.h>

#include <cmath>
#include <functional>

namespace tidemark::test {

inline constexpr double MiB = 1 << 20;
inline constexpr StateIndex afterForward = 41; // 672 MiB: 160 from before, 8 × (48 softmax, 16 linear)

/// The real widget over a made-up file.
class TimelineWindowUnderTest {
public:
    explicit TimelineWindowUnderTest(std::shared_ptr<const Rank> rank = makeRank(trainingStep()),
        ThemeChoice theme = ThemeChoice::Light, QSize size = {800, 500})
        : view(session, state, style)
    {
        style.applyTo(*qApp);
        style.setChoice(theme);
        view.resize(size);
        view.show();
        session.setRank(std::move(rank));
        if (const auto replay = session.replay())
            state.reset(replay->states(), replay->timeline.requested().total().maxState);
        settle();
    }

    void settle()
    {
        QTest::qWait(0);
        QVERIFY2(QTest::qWaitFor([&] { return view.isExact(); }, 10000), "the exact picture never came");
        QTest::qWait(0);
    }
    QCustomPlot* canvas() const { return view.findChild<QCustomPlot*>(); }
    QRect plot() const { return canvas()->axisRect()->rect(); }
    QPoint at(double x, double bytes) const
    {
        return {static_cast<int>(canvas()->xAxis->coordToPixel(x)),
            static_cast<int>(canvas()->yAxis->coordToPixel(bytes))};
    }
    /// The middle of a state's column.
    QPoint atState(StateIndex s, double bytes) const { return at(s + 0.5, bytes); }
    void wheel(const QPoint& pos, int notches, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QWheelEvent event(pos, canvas()->mapToGlobal(pos), {}, QPoint(0, 120 * notches), Qt::NoButton,
            modifiers, Qt::NoScrollPhase, false);
        QApplication::sendEvent(canvas(), &event);
    }
    void drag(const QPoint& from, const QPoint& to, Qt::MouseButton button = Qt::LeftButton,
        Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::mousePress(canvas(), button, modifiers, from);
        const auto move = [&](const QPoint& pos) {
            QMouseEvent event(
                QEvent::MouseMove, pos, canvas()->mapToGlobal(pos), Qt::NoButton, button, modifiers);
            QApplication::sendEvent(canvas(), &event);
        };
        move((from + to) / 2);
        move(to);
        QTest::mouseRelease(canvas(), button, modifiers, to);
    }
    void hover(const QPoint& pos)
    {
        QMouseEvent event(
            QEvent::MouseMove, pos, canvas()->mapToGlobal(pos), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(canvas(), &event);
    }
    void click(const QPoint& pos, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::mouseClick(canvas(), Qt::LeftButton, modifiers, pos);
    }
    void doubleClick(const QPoint& pos)
    {
        click(pos);
        QTest::mouseDClick(canvas(), Qt::LeftButton, Qt::NoModifier, pos);
    }
    void key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::keyClick(&view, static_cast<Qt::Key>(key), modifiers);
    }
    QImage picture() { return canvas()->grab().toImage().convertToFormat(QImage::Format_RGB32); }
    QRgb colourAt(StateIndex s, double bytes) { return picture().pixel(atState(s, bytes)); }
    const Replay& replay() const { return *session.replay(); }

    Style style;
    Session session;
    ViewState state;
    TimelineView view;
};

inline AllocationId bySize(const Replay& replay, double size)
{
    const auto& sizes = replay.timeline.allocations().size;
    for (std::uint32_t i = 0; i < sizes.size(); ++i)
        if (static_cast<double>(sizes[i]) == size)
            return AllocationId{i};
    return AllocationId::none;
}

// Share of pixels that differ visibly: fonts are drawn a little differently from one library to the next.
inline double difference(const QImage& a, const QImage& b)
{
    if (a.size() != b.size())
        return 1;
    int differing = 0;
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x) {
            const QColor p(a.pixel(x, y));
            const QColor q(b.pixel(x, y));
            differing += std::abs(p.red() - q.red()) + std::abs(p.green() - q.green())
                    + std::abs(p.blue() - q.blue())
                > 48;
        }
    return static_cast<double>(differing) / (a.width() * a.height());
}

inline std::shared_ptr<const Rank> handMade(const std::function<void(TraceMaker&)>& fill)
{
    TraceMaker maker;
    fill(maker);
    return makeRank(maker.finish());
}

} // namespace tidemark::test
