// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/tree/tree_source.hpp"

#include <QSet>
#include <QWidget>

class QStackedLayout;
class QTreeView;

namespace tidemark {

class CallTreeModel;
class EmptyState;
class LiveTableDelegate;
class Style;
class TreeControls;

/// Who asked for the memory of the scope, as a tree of call stacks whose rows add up to the curve. A click
/// selects a branch's allocations everywhere. windowTitle() is the dock's subtitle. GUI thread.
class CallTreeView : public QWidget {
    Q_OBJECT
public:
    CallTreeView(Session& session, ViewState& state, Style& style, QWidget* parent = nullptr);
    ~CallTreeView() override;

    /// Menu button for a dock's title bar.
    QWidget* headerControls() const;
    TreeSource& source() { return m_source; }
    QTreeView& tree() { return *m_tree; }
    /// What it says instead of rows; empty when there are some.
    QString emptyHeading() const;

signals:
    /// The tree's stacks are to be saved for flame-graph tools.
    void foldedWanted();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void present();
    void showEmpty();
    void restyle();
    void setColumnWidths();
    void expandAgain(const QSet<QString>& before);
    QSet<QString> expanded() const;
    void contextMenu(QPoint position);

    Session& m_session;
    ViewState& m_state;
    Style& m_style;
    TreeSource m_source;
    CallTreeModel* m_model;
    LiveTableDelegate* m_delegate;
    QTreeView* m_tree;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    TreeControls* m_controls;
    bool m_opened = false;
    bool m_following = false;
};

} // namespace tidemark
