// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/segments.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QAbstractTableModel>
#include <QWidget>

class QLabel;
class QStackedLayout;
class QTableView;

namespace tidemark {

class EmptyState;
class LiveTableDelegate;
class Style;

/// The segments of one state as rows. GUI thread.
class SegmentTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Address, Size, Live, Free, LargestHole, Blocks, Kind, Stream, Pool, Since, columns };

    using QAbstractTableModel::QAbstractTableModel;

    void show(std::shared_ptr<const Replay> replay, std::shared_ptr<const SegmentState> state);
    const SegmentState* state() const { return m_state.get(); }
    const SegmentView& segment(int row) const
    {
        return m_state->segments[m_order[static_cast<std::size_t>(row)]];
    }
    /// −1 when no segment begins there.
    int rowOf(std::uint64_t address) const;
    QString copyText() const;

    void sort(int column, Qt::SortOrder order) override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const SegmentView& segment, int column) const;
    std::uint64_t blocksOf(const SegmentView& segment) const;

    std::shared_ptr<const Replay> m_replay;
    std::shared_ptr<const SegmentState> m_state;
    std::vector<std::uint32_t> m_order;
};

/// The segment map's twin: every reserved segment at the cursor with its figures. A click selects the segment
/// everywhere. windowTitle() is the dock's subtitle. GUI thread.
class SegmentTableView : public QWidget {
    Q_OBJECT
public:
    SegmentTableView(Session& session, ViewState& state, Style& style, QWidget* parent = nullptr);
    ~SegmentTableView() override;

    QTableView& table() { return *m_table; }
    SegmentTableModel& model() { return *m_model; }
    QString footText() const;
    QString emptyHeading() const;
    bool busy() const { return m_task.busy(); }

private:
    struct Made {
        std::shared_ptr<const Replay> replay;
        std::shared_ptr<const SegmentState> state;
    };
    void refresh();
    void take(Made&& made);
    void showEmpty();
    void followSelection();
    void restyle();

    Session& m_session;
    ViewState& m_state;
    Style& m_style;
    SegmentTableModel* m_model;
    LiveTableDelegate* m_delegate;
    QTableView* m_table;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    QLabel* m_foot;
    bool m_following = false;
    Refresher m_refresher;
    LatestTask<Made> m_task;
};

} // namespace tidemark
