// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/growth.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/common/set_chooser.hpp"
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
class Segmented;
class Style;

/// A GrowthTable as rows. GUI thread.
class GrowthModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Key, Allocated, Freed, Kept, Count, Steps, Trend, columns };
    /// Shares of the row's highest value, 0…1, as a QList<double>.
    static constexpr int StripRole = Qt::UserRole + 40;

    using QAbstractTableModel::QAbstractTableModel;

    void show(std::shared_ptr<const GrowthTable> table, std::shared_ptr<const Grouping> grouping,
        std::shared_ptr<const Colouring> colouring);
    const GrowthTable* table() const { return m_table.get(); }
    const GrowthRow& row(int at) const { return m_table->rows[m_order[static_cast<std::size_t>(at)]]; }
    QString name(int at) const;
    QString copyText() const;

    void sort(int column, Qt::SortOrder order) override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant text(int row, int column) const;

    std::shared_ptr<const GrowthTable> m_table;
    std::shared_ptr<const Grouping> m_grouping;
    std::shared_ptr<const Colouring> m_colouring;
    std::vector<std::uint32_t> m_order;
};

/// What came and went in the range, or the whole trace without one: a row a call site, module or role, with
/// what was allocated, freed and kept, and its bytes from step to step. A click selects what it kept.
/// windowTitle() is the dock's subtitle. GUI thread.
class GrowthView : public QWidget {
    Q_OBJECT
public:
    GrowthView(Session& session, ViewState& state, Style& style, QWidget* parent = nullptr);
    ~GrowthView() override;

    QTableView& table() { return *m_table; }
    GrowthModel& model() { return *m_model; }
    void setGroupBy(GroupBy by);
    QString footText() const;
    QString emptyHeading() const;
    bool busy() const { return m_preparing || m_task.busy() || m_choice.busy(); }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Made {
        std::shared_ptr<const Replay> replay;
        std::shared_ptr<const Grouping> grouping;
        std::shared_ptr<const GrowthTable> table;
    };
    void refresh();
    void take(Made&& made);
    void showEmpty();
    void chosen(const QModelIndex& index);
    void restyle();
    void fitColumns();

    Session& m_session;
    ViewState& m_state;
    Style& m_style;
    GroupBy m_by = GroupBy::Site;
    GrowthModel* m_model;
    LiveTableDelegate* m_delegate;
    QTableView* m_table;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    QWidget* m_footer;
    QLabel* m_foot;
    Segmented* m_groups;
    bool m_following = false;
    bool m_preparing = false; ///< the session makes the grouping
    SetChooser m_choice;
    Refresher m_refresher;
    LatestTask<Made> m_task;
};

} // namespace tidemark
