// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/footer.hpp"
#include "widgets/tree/tree_source.hpp"

class QHBoxLayout;
class QLabel;
class QMenu;
class QToolButton;

namespace tidemark {

class Segmented;
class Style;

/// The footer of a tree's view, sum and buttons for direction and weight, and its menu: scope, frames,
/// export. GUI thread.
class TreeControls : public Footer {
    Q_OBJECT
public:
    TreeControls(TreeSource& source, ViewState& state, Style& style, bool directions, QWidget* parent);

    /// Button with the menu, for the dock's title bar.
    QToolButton* button() const { return m_button; }
    /// "framework frames hidden" and what else is not as usual, for the title.
    QString remarks() const;
    void setSum(const QString& text);
    void copyText();

signals:
    void foldedWanted();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitSum();
    void fillMenu();
    void restyle();
    void change(const std::function<void(CallTreeWish&)>& edit);

    TreeSource& m_source;
    ViewState& m_state;
    Style& m_style;
    QHBoxLayout* m_row;
    QLabel* m_sum;
    QString m_full; ///< the sum, whole
    Segmented* m_direction;
    Segmented* m_weight;
    QToolButton* m_button;
    QMenu* m_menu;
};

} // namespace tidemark
