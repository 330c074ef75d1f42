// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/ranks/ranks_model.hpp"

#include <QStyledItemDelegate>

namespace tidemark {

/// Paints the rows of the overview: headings over the whole width, bars and curves of ranks, sentences of
/// those without figures.
class RankDelegate : public QStyledItemDelegate {
public:
    RankDelegate(const RanksModel& model, Style& style, QObject* parent = nullptr);

    /// Many ranks: rows of 12 pixels that hold the bar and little else.
    void setDense(bool dense) { m_dense = dense; }
    bool dense() const { return m_dense; }
    int rowHeight() const;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& at) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& at) const override;

private:
    void paintHeading(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& at) const;
    void paintState(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& at) const;

    const RanksModel& m_model;
    Style& m_style;
    bool m_dense = false;
};

} // namespace tidemark
