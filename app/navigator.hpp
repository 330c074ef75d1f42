// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QObject>
#include <QString>

#include <optional>

namespace tidemark {

/// Deliberate jumps to a place in the trace: the peak, an out-of-memory event, an event, time or address that
/// was typed, a match of the search. Every jump is remembered in the view history and brings the cursor into
/// view. GUI thread.
class Navigator : public QObject {
    Q_OBJECT
public:
    Navigator(Session& session, ViewState& state, QObject* parent = nullptr);

    void goTo(StateIndex state);
    void goToPeak();
    /// The next out-of-memory event after the cursor, from the first again at the end.
    void goToOom();
    bool hasOom() const;
    /// Selects an allocation and goes to its first state.
    void goTo(AllocationId id);
    /// Next (+1) or previous (−1) match of the search in the order of the allocations; false without one.
    bool goToMatch(int direction);

    /// Where a text leads: "3737", "event 3,737", "+77.7 ms", "0x7f40…", "peak", "start", "end".
    struct Target {
        std::optional<StateIndex> state;
        AllocationId allocation = AllocationId::none;
        /// What it is, or why it is nothing: "event 3,737 · +77.7 ms · live 22.54 GiB".
        QString text;
    };
    Target find(const QString& text) const;
    /// False when it leads nowhere.
    bool goTo(const QString& text);

    /// "event 3,737", "before the first event", "end of the file".
    QString stateText(StateIndex state) const;
    /// Position of a state on the present x axis, in the units of XWindow.
    void ensureVisible(StateIndex state);

private:
    Target findAddress(std::uint64_t address) const;
    QString describe(StateIndex state) const;

    Session& m_session;
    ViewState& m_state;
};

} // namespace tidemark
