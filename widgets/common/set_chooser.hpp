// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/latest_task.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QObject>

#include <functional>
#include <memory>
#include <vector>

namespace tidemark {

/// Selects a set of allocations that costs a pass over all of them to find: off the GUI thread when there are
/// many, the newest asked for wins, and nothing is selected any more once the user has selected something
/// else. GUI thread; a member of the view it serves.
class SetChooser : public QObject {
public:
    SetChooser(Session& session, ViewState& state);

    /// `find` gives the set's allocations on any thread; it owns what it looks at.
    void choose(const QString& name, const QString& kind, std::function<std::vector<AllocationId>()> find);
    void cancel() { m_task.cancel(); }
    bool busy() const { return m_task.busy(); }
    /// The selection is the set chosen last.
    bool chose(const Selection& selection) const { return selection.set && selection.set == m_chosen; }

private:
    struct Found {
        std::shared_ptr<const Replay> replay;
        std::shared_ptr<const ChosenSet> set;
    };
    void take(Found&& found);

    Session& m_session;
    ViewState& m_state;
    std::shared_ptr<const ChosenSet> m_chosen;
    LatestTask<Found> m_task;
};

} // namespace tidemark
