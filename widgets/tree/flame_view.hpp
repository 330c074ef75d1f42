// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/layout/flame_layout.hpp"
#include "widgets/tree/tree_source.hpp"

#include <QAbstractScrollArea>
#include <QWidget>

class QLabel;
class QStackedLayout;

namespace tidemark {

class EmptyState;
class FlameCanvas;
class Style;
class TreeControls;

/// Who asked for the memory of the scope, as boxes: a box as wide as its share, below the one that called it.
/// Click selects, double click zooms, Backspace goes up. windowTitle() is the dock's subtitle. GUI thread.
class FlameView : public QWidget {
    Q_OBJECT
public:
    FlameView(Session& session, ViewState& state, Style& style, QWidget* parent = nullptr);
    ~FlameView() override;

    /// Menu button for a dock's title bar.
    QWidget* headerControls() const;
    TreeSource& source() { return m_source; }
    FlameCanvas& canvas() { return *m_canvas; }
    /// The node the plot is as wide as; 0: everything.
    std::uint32_t zoomed() const { return m_zoomed; }
    void zoomTo(std::uint32_t node);
    void selectNode(std::uint32_t node);
    /// "Zoomed to …" and the share of what is selected, as one line.
    QString headText() const;
    QString emptyHeading() const;
    /// Brings the picture up to date now; for exports and tests.
    void flush();
    /// Paints the view as it stands, without controls.
    void renderTo(QPainter& painter, double ratio);

signals:
    void foldedWanted();

private:
    friend class FlameCanvas;
    void present();
    void showEmpty();
    void showHead();
    void restyle();
    std::uint32_t sameNode(const QStringList& path) const;
    QStringList pathOf(std::uint32_t node) const;
    void contextMenu(std::uint32_t node, QPoint position);

    Session& m_session;
    ViewState& m_state;
    Style& m_style;
    TreeSource m_source;
    FlameCanvas* m_canvas;
    QLabel* m_head;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    TreeControls* m_controls;
    std::uint32_t m_zoomed = 0;
    std::uint32_t m_selected = 0;
    /// What is zoomed to and selected, by name, so that another tree shows the same.
    QStringList m_zoomedPath;
    QStringList m_selectedPath;
};

/// The boxes; part of FlameView.
class FlameCanvas : public QAbstractScrollArea {
    Q_OBJECT
public:
    FlameCanvas(FlameView& view, Style& style);

    /// Lays the boxes out anew.
    void layOut();
    const std::vector<FlameBox>& boxes() const { return m_boxes; }
    /// Where a box stands in the viewport.
    QRectF rectOf(const FlameBox& box) const;
    void paintInto(QPainter& painter, double ratio);
    QString boxText(const FlameBox& box) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    const FlameBox* boxAt(QPointF position) const;
    void paintBox(QPainter& painter, const FlameBox& box, double ratio) const;
    QColor colourOf(const FlameBox& box) const;
    int boxHeight() const;

    FlameView& m_view;
    Style& m_style;
    std::vector<FlameBox> m_boxes;
};

} // namespace tidemark
