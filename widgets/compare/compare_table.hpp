// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/compare/compare_state.hpp"
#include "widgets/compare/compare_table_model.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QTableView;

namespace tidemark {

class Segmented;

/// The table of differences with its grouping, a search, and the sum that equals the difference of the
/// curves. A row chosen is highlighted on both sides. GUI thread.
class CompareTable : public QWidget {
    Q_OBJECT
public:
    CompareTable(CompareState& state, Style& style, QWidget* parent = nullptr);
    ~CompareTable() override;

    QTableView& view() { return *m_view; }
    CompareTableModel& model() { return *m_model; }
    QLineEdit& search() { return *m_search; }
    QCheckBox& hideSame() { return *m_hideSame; }
    /// "Σ 44.28 GiB → 39.87 GiB, −4.41 GiB = difference of the curves at the peak of each".
    QString sumText() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void filter();
    void followGroup();
    void restyle();
    void fitColumns();

    CompareState& m_state;
    Style& m_style;
    CompareTableModel* m_model;
    QTableView* m_view;
    QLabel* m_title;
    Segmented* m_groups;
    QLineEdit* m_search;
    QWidget* m_footer;
    QLabel* m_sum;
    QCheckBox* m_hideSame;
    bool m_following = false;
};

} // namespace tidemark
