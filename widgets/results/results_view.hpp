// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/results/results_model.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QWidget>

class QLabel;
class QStackedLayout;
class QTableView;
class QToolButton;

namespace tidemark {

class EmptyState;
class LiveTableDelegate;
class Style;

/// What the filter finds, an allocation a row, with next and previous in the order of the rows. A row chosen
/// is selected everywhere and the cursor goes to its first event. windowTitle() is the dock's subtitle. GUI
/// thread.
class ResultsView : public QWidget {
    Q_OBJECT
public:
    ResultsView(Session& session, ViewState& state, Style& style, QWidget* parent = nullptr);
    ~ResultsView() override;

    /// Goes to the next (+1) or previous (−1) row, round at the ends; false without rows.
    bool step(int direction);
    void sortBy(ResultsModel::Column column, Qt::SortOrder order);

    QTableView& table() { return *m_table; }
    const ResultsModel& model() const { return *m_model; }
    QString footText() const;
    QString emptyHeading() const;
    bool busy() const { return m_task.busy(); }

private:
    struct Found {
        std::shared_ptr<const Replay> replay;
        std::shared_ptr<const std::vector<std::uint8_t>> matches;
        std::shared_ptr<const ResultsModel::Rows> rows;
    };
    void refresh();
    void take(Found&& found);
    void showEmpty();
    void followSelection();
    void chosen(const QModelIndex& index);
    void updateFoot();
    void restyle();
    void contextMenu(QPoint position);
    QString copyText() const;

    Session& m_session;
    ViewState& m_state;
    Style& m_style;
    ResultsModel* m_model;
    LiveTableDelegate* m_delegate;
    QTableView* m_table;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    QWidget* m_footer;
    QLabel* m_foot;
    QToolButton* m_previous;
    QToolButton* m_next;
    int m_sortColumn = ResultsModel::Made;
    Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
    bool m_following = false;
    Refresher m_refresher;
    LatestTask<Found> m_task;
};

} // namespace tidemark
