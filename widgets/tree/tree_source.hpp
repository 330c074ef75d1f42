// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/call_tree.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/common/set_chooser.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QObject>

#include <memory>

namespace tidemark {

/// The figure of a node under the tree's weight: "22.54 GiB", "1,432", "3.1 GiB s".
QString treeValueText(const CallTree& tree, std::uint32_t node);

/// The call tree a view shows: made anew off the GUI thread as scope, cursor, search or options change, the
/// newest asked for wins, and only while the view can be seen. GUI thread; a member of the view it serves.
class TreeSource : public QObject {
    Q_OBJECT
public:
    TreeSource(Session& session, ViewState& state, QWidget& view);

    /// Scope and matches of the options are those of the view state.
    const CallTreeWish& options() const { return m_options; }
    void setOptions(const CallTreeWish& options);
    /// Null: nothing to show, or not made yet.
    std::shared_ptr<const CallTree> tree() const { return m_tree; }
    bool busy() const { return m_task.busy() || m_choice.busy(); }
    /// Makes the tree now; for exports and tests.
    void flush();
    /// Selects all allocations whose stacks pass through a node of the tree; of a large trace once they are
    /// found.
    void select(std::uint32_t node);
    /// The selection is what select() asked for last.
    bool chose(const Selection& selection) const { return m_choice.chose(selection); }
    /// "live at event 3,737", "allocated in events 12 to 40", "allocated in the whole trace".
    QString scopeText() const;
    QString valueText(std::uint32_t node) const { return treeValueText(*m_tree, node); }
    /// "main@a.py:1 ← …": where a node is, from itself outwards.
    QString pathText(std::uint32_t node) const;

signals:
    void changed();

private:
    struct Made {
        std::shared_ptr<const Replay> replay;
        std::shared_ptr<const CallTree> tree;
    };
    void refresh();
    void take(Made&& made);
    CallTreeWish wish() const;

    Session& m_session;
    ViewState& m_state;
    CallTreeWish m_options;
    std::shared_ptr<const Replay> m_replay;
    std::shared_ptr<const CallTree> m_tree;
    SetChooser m_choice;
    Refresher m_refresher;
    LatestTask<Made> m_task;
};

} // namespace tidemark
