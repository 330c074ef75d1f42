// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/ranks/ranks_model.hpp"

#include <QStyledItemDelegate>

#include <functional>
#include <vector>

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
    /// Numbers of the remarks on a rank, and the one that is chosen (0: none).
    struct Remarks {
        std::vector<int> numbers;
        int chosen = 0;
    };
    using RemarksOf = std::function<Remarks(const RankSummary&)>;
    void setRemarks(RemarksOf remarks) { m_remarks = std::move(remarks); }
    /// Centre of the first disc in a row.
    QPointF discAt(const QRect& cell) const;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& at) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& at) const override;

private:
    void paintHeading(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& at) const;
    void paintState(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& at) const;

    /// Discs at the left of a cell; where what is left of it begins.
    int paintRemarks(QPainter& painter, const QRect& cell, const RankSummary& summary) const;

    const RanksModel& m_model;
    Style& m_style;
    RemarksOf m_remarks;
    bool m_dense = false;
};

} // namespace tidemark
