// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tree/call_tree_model.hpp"

#include "widgets/live/live_table_model.hpp"
#include "widgets/style/text.hpp"
#include "widgets/tree/tree_source.hpp"

namespace tidemark {

void CallTreeModel::show(std::shared_ptr<const CallTree> tree, std::shared_ptr<const Colouring> colouring)
{
    beginResetModel();
    m_tree = std::move(tree);
    m_colouring = std::move(colouring);
    endResetModel();
}

std::uint32_t CallTreeModel::node(const QModelIndex& index) const
{
    return index.isValid() ? static_cast<std::uint32_t>(index.internalId()) : 0;
}

QModelIndex CallTreeModel::indexOf(std::uint32_t node, int column) const
{
    if (!m_tree || node == 0 || node >= m_tree->nodes.size())
        return {};
    return createIndex(static_cast<int>(m_tree->nodes[node].row), column, static_cast<quintptr>(node));
}

QModelIndex CallTreeModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!m_tree || row < 0 || row >= rowCount(parent) || column < 0 || column >= columns)
        return {};
    return createIndex(
        row, column, static_cast<quintptr>(m_tree->child(node(parent), static_cast<std::uint32_t>(row))));
}

QModelIndex CallTreeModel::parent(const QModelIndex& child) const
{
    return child.isValid() ? indexOf(m_tree->nodes[node(child)].parent) : QModelIndex();
}

int CallTreeModel::rowCount(const QModelIndex& parent) const
{
    return m_tree && parent.column() <= 0 ? static_cast<int>(m_tree->nodes[node(parent)].children) : 0;
}

QString CallTreeModel::valueText(std::uint32_t node) const
{
    const CallTree::Node& n = m_tree->nodes[node];
    if (m_tree->weight == TreeWeight::BytesTime)
        return treeValueText(*m_tree, node);
    if (m_tree->filtered)
        return tr("%1 of %2").arg(bytesText(n.matchedBytes), bytesText(n.bytes));
    return bytesText(n.bytes);
}

QVariant CallTreeModel::data(const QModelIndex& at, int role) const
{
    if (!m_tree || !at.isValid())
        return {};
    const std::uint32_t i = node(at);
    const CallTree::Node& n = m_tree->nodes[i];
    const double all = m_tree->value(0);
    switch (role) {
    case Qt::DisplayRole:
        switch (at.column()) {
        case Frame:
            return QString::fromStdString(m_tree->name(i));
        case Value:
            return valueText(i);
        case Share:
            return percentText(all > 0 ? m_tree->value(i) / all : 0);
        case Count:
            return countText(n.count);
        default:
            return {};
        }
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(at.column() == Frame ? Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter)
                                                        : Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    case LiveTableModel::BarRole:
        return all > 0 ? m_tree->value(i) / all : 0;
    case LiveTableModel::SlotRole:
        // Inner nodes have many colours: only where a stack ends is it one.
        if (n.children > 0 || !m_colouring || !valid(n.largest))
            return {};
        return static_cast<int>(m_colouring->slotOf[tidemark::index(n.largest)]);
    case LiveTableModel::FadedRole:
        return m_tree->filtered && n.matchedCount == 0;
    case Qt::ToolTipRole:
        return tr("%1 (%2), %3 allocations")
            .arg(QString::fromStdString(m_tree->name(i)), exactBytesText(n.bytes), countText(n.count));
    default:
        return {};
    }
}

QVariant CallTreeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(section == Value || section == Count
                ? Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter)
                : Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter));
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Frame:
        return !m_tree || m_tree->direction == TreeDirection::FromRoot ? tr("Call tree, from the root")
                                                                       : tr("Call tree, from the leaf");
    case Value:
        return m_tree && m_tree->weight == TreeWeight::BytesTime ? tr("Bytes × time") : tr("Bytes");
    case Share:
        return tr("Share");
    case Count:
        return tr("Count");
    default:
        return {};
    }
}

} // namespace tidemark
