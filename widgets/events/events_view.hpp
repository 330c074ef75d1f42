// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/events/events_model.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QWidget>

class QLabel;
class QStackedLayout;
class QTableView;

namespace tidemark {

class EmptyState;
class LiveTableDelegate;
class Style;

/// Every event of the device as a row, or those of the filter's matches: the twin of the plot. The row of the
/// cursor is the current one; a row chosen moves the cursor and selects its allocation; Enter jumps between
/// an allocation's two ends. windowTitle() is the dock's subtitle. GUI thread.
class EventsView : public QWidget {
    Q_OBJECT
public:
    EventsView(Session& session, ViewState& state, Style& style, QWidget* parent = nullptr);
    ~EventsView() override;

    QTableView& table() { return *m_table; }
    const EventsModel& model() const { return *m_model; }
    QString footText() const;
    QString emptyHeading() const;
    bool busy() const { return m_task.busy(); }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Found {
        std::shared_ptr<const Replay> replay;
        std::shared_ptr<const std::vector<std::uint8_t>> matches;
        EventsModel::Rows rows;
    };
    void refresh();
    void showRows(EventsModel::Rows rows);
    void showEmpty();
    void followCursor();
    void chosen(const QModelIndex& index);
    void jump();
    void restyle();
    void contextMenu(QPoint position);
    QString copyText() const;

    Session& m_session;
    ViewState& m_state;
    Style& m_style;
    EventsModel* m_model;
    LiveTableDelegate* m_delegate;
    QTableView* m_table;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    QLabel* m_foot;
    bool m_following = false;
    Refresher m_refresher;
    LatestTask<Found> m_task;
};

} // namespace tidemark
