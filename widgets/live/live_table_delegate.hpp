// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QPixmap>
#include <QStyledItemDelegate>

namespace tidemark {

class Style;

/// Draws the cells of the live table: the colour before the name, names shortened so that file and line
/// survive, the share as a bar, what does not match the search faded. GUI thread.
class LiveTableDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit LiveTableDelegate(const Style& style, QObject* parent = nullptr);

    /// The colouring's slots are steps of a scale.
    void setSequential(bool sequential);
    /// The column drawn as a bar: that of the live table unless said otherwise, −1 for none.
    void setShareColumn(int column) { m_shareColumn = column; }
    void paint(
        QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    /// With the padding that paint leaves.
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    void paintKey(QPainter& painter, const QRect& cell, const QModelIndex& index, const QColor& text,
        const QColor& second, double ratio) const;
    void paintShare(QPainter& painter, const QRect& cell, const QModelIndex& index, const QColor& text,
        bool selected) const;

    const Style& m_style;
    bool m_sequential = false;
    int m_shareColumn;
};

} // namespace tidemark
