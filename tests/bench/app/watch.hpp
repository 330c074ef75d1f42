// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/bench/bench.hpp"

#include <QApplication>
#include <QWidget>

#include <map>
#include <string>
#include <vector>

namespace tidemark::bench {

/// An application that measures itself: how long each event keeps the event loop, which is how long the
/// window does not answer, and in which view the time of a frame goes. GUI thread.
class Watch : public QApplication {
public:
    Watch(int& argc, char** argv)
        : QApplication(argc, argv)
    { }

    /// Time of events for this widget, those inside it, and helpers that belong to it is the view's.
    void addView(const std::string& name, const QWidget* widget) { m_views[widget] = name; }

    /// The longest that the loop did not turn since the last call, with what did it.
    struct Gap {
        Stamp took;
        std::string what;
        std::size_t over50 = 0; ///< how often it was longer than 50 ms of processor time
    };
    Gap takeGap();

    /// Time by view since the last call; what belongs to none stands under its class, as "(QTimer)".
    std::map<std::string, Stamp> takeViews();
    /// Events delivered so far that may change what is on screen.
    std::size_t delivered() const { return m_delivered; }

    bool notify(QObject* receiver, QEvent* event) override;

private:
    /// An event that is being delivered, and what of its time went to events within it.
    struct Open {
        Stamp start;
        Stamp inner;
    };
    const std::string* viewOf(const QObject* receiver) const;

    std::map<const QObject*, std::string> m_views;
    std::map<std::string, Stamp> m_spent;
    std::vector<Open> m_open;
    Gap m_gap;
    std::size_t m_delivered = 0;
};

} // namespace tidemark::bench
