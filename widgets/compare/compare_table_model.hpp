// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/compare/compare_state.hpp"

#include <QAbstractTableModel>
#include <QString>

#include <memory>
#include <vector>

namespace tidemark {

/// What differs, a common group a row. GUI thread.
class CompareTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Key, A, B, Delta, Bar, Count, Status, columns };
    /// −1…1: the row's share of the largest difference.
    static constexpr int BarRole = Qt::UserRole + 60;

    using QAbstractTableModel::QAbstractTableModel;

    void show(std::shared_ptr<const compare::Comparison> comparison,
        std::shared_ptr<const compare::Table> table, std::shared_ptr<const Colouring> coloursA,
        std::shared_ptr<const Colouring> coloursB);
    /// Rows whose name contains the text, and those that changed alone.
    void setFilter(const QString& text, bool hideSame);
    const compare::Table* table() const { return m_table.get(); }
    const compare::Row& row(int at) const { return m_table->rows[m_order[static_cast<std::size_t>(at)]]; }
    /// −1 when the group has no row, or a hidden one.
    int rowOf(std::uint32_t group) const;
    /// Rows that the filter hides.
    std::size_t hidden() const { return m_table ? m_table->rows.size() - m_order.size() : 0; }
    QString name(int row) const;
    QString copyText() const;

    void sort(int column, Qt::SortOrder order) override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const compare::Row& row, int column) const;
    void order();

    std::shared_ptr<const compare::Comparison> m_comparison;
    std::shared_ptr<const compare::Table> m_table;
    std::shared_ptr<const Colouring> m_coloursA;
    std::shared_ptr<const Colouring> m_coloursB;
    std::vector<std::uint32_t> m_order;
    QString m_filter;
    bool m_hideSame = false;
    int m_column = Delta;
    Qt::SortOrder m_direction = Qt::DescendingOrder;
    std::uint64_t m_largest = 1;
};

} // namespace tidemark
