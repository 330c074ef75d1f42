// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/live/live_table_model.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QWidget>

#include <functional>

class QHBoxLayout;
class QLabel;
class QMenu;
class QStackedLayout;
class QTableView;
class QToolButton;

namespace tidemark {

class EmptyState;
class LiveTableDelegate;
class Segmented;
class Style;

/// Who is live at the cursor or the peak, grouped, with sums that equal the curve (help/window.md). Small
/// tables are made at once, large ones on a worker, the newest asked for wins. windowTitle() is the dock's
/// subtitle. GUI thread.
class LiveTableView : public QWidget {
    Q_OBJECT
public:
    LiveTableView(Session& session, ViewState& view, Style& style, QWidget* parent = nullptr);
    ~LiveTableView() override;

    /// Button with the table's menu; in the footer unless a dock's title bar takes it over.
    QWidget* headerControls() const;

    void setGroupBy(GroupBy by);
    GroupBy groupBy() const { return m_by; }
    void setAtPeak(bool atPeak);
    bool atPeak() const { return m_atPeak; }
    void setColumnShown(LiveColumn column, bool shown);
    bool isColumnShown(LiveColumn column) const;
    void sortBy(LiveColumn column, Qt::SortOrder order);
    /// Shows the rows behind "n more sites".
    void setExpanded(bool expanded);
    bool isExpanded() const { return m_expanded; }

    /// Brings the table up to date now instead of with the next event; for exports and tests.
    void flush();
    /// For pictures: without the buttons of the footer and scroll bars.
    void setForPicture();
    QTableView& table() { return *m_table; }
    const LiveTableModel& model() const { return *m_model; }
    /// The sum line as plain text.
    QString sumText() const;
    /// What the view says instead of rows; empty when there are some.
    QString emptyHeading() const;
    /// Selected rows, or all without a selection, as tab-separated text.
    QString copyText() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Built {
        LiveRows rows;
        double costMs = 0;
    };
    struct Wanted;

    void schedule() { m_refresher.schedule(); }
    void refresh(bool now);
    void take(Built&& built);
    void reset();
    void restyle();
    void updateLimit();
    void updateSum();
    void updateTitle();
    void showEmpty();
    bool hasStacks() const;
    GroupBy effectiveGroup() const;
    void makeGroupButtons();
    void updateGroupButtons();
    void showSortOrder();
    void fitFooter();
    void fitKeyColumn();
    QString sumText(bool brief) const;
    void setColumnWidths();

    void followSelection();
    void onSelectionChanged();
    void onActivated(const QModelIndex& index);
    void onDoubleClicked(const QModelIndex& index);
    void zoomToGroup(std::uint32_t group);
    void fillMenu(QMenu& menu);
    void addColumnActions(QMenu& menu);
    void contextMenu(QPoint position);
    std::vector<int> shownColumns() const;

    Session& m_session;
    ViewState& m_view;
    Style& m_style;
    LiveTableModel* m_model;
    LiveTableDelegate* m_delegate;
    QTableView* m_table;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    QWidget* m_footer;
    QLabel* m_sum;
    QLabel* m_groupLabel;
    Segmented* m_groups = nullptr;
    std::vector<GroupBy> m_choices;
    QToolButton* m_button;
    QMenu* m_menu;

    GroupBy m_by = GroupBy::Site;
    bool m_atPeak = false;
    bool m_forPicture = false;
    bool m_expanded = false;
    LiveColumn m_sortColumn = LiveColumn::Live;
    Qt::SortOrder m_sortOrder = Qt::DescendingOrder;
    std::shared_ptr<const Replay> m_replay;
    mutable std::optional<bool> m_hasStacks;
    double m_lastCostMs = 0;
    bool m_following = false;
    bool m_filtered = false;
    Refresher m_refresher;
    LatestTask<Built> m_task;
};

} // namespace tidemark
