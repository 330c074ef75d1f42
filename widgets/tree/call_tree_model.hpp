// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/call_tree.hpp"
#include "model/lens/colouring.hpp"

#include <QAbstractItemModel>

#include <memory>

namespace tidemark {

/// A call tree as rows; internal ids are the tree's nodes. Roles are those of LiveTableModel, for its
/// delegate. GUI thread.
class CallTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Frame, Value, Share, Count, columns };

    using QAbstractItemModel::QAbstractItemModel;

    /// Null: no rows.
    void show(std::shared_ptr<const CallTree> tree, std::shared_ptr<const Colouring> colouring);
    const CallTree* tree() const { return m_tree.get(); }
    std::uint32_t node(const QModelIndex& index) const;
    QModelIndex indexOf(std::uint32_t node, int column = 0) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString valueText(std::uint32_t node) const;

    std::shared_ptr<const CallTree> m_tree;
    std::shared_ptr<const Colouring> m_colouring;
};

} // namespace tidemark
