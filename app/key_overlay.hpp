// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands.hpp"

#include <QRect>
#include <QWidget>

#include <vector>

class QMenuBar;
class QPainter;

namespace tidemark {

/// All keys over the window, by menu; any key or click takes it away.
class KeyOverlay : public QWidget {
    Q_OBJECT
public:
    KeyOverlay(const QMenuBar& menus, const Style& style, QWidget* window);

    /// What is listed: menu, command, keys.
    struct Row {
        QString menu;
        QString text;
        QString keys;
    };
    std::vector<Row> rows() const;
    void toggle();
    /// Where each line stands in `area`: a heading (without keys) or a command, at a text size at which all
    /// of them fit.
    struct Cell {
        QString text;
        QString keys;
        QRect area;
        bool continued = false; ///< a heading told again at the top of a column
    };
    std::vector<Cell> cells(const QRect& area) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;

private:
    std::vector<Cell> cellsAt(const QRect& area, double scale) const;
    double scaleFor(const QRect& area) const;
    QFont font(FontRole role, double scale) const;
    int keysRoom(const QString& keys, double scale) const;
    void paintCell(QPainter& painter, const Cell& cell, double scale) const;

    const QMenuBar& m_menus;
    const Style& m_style;
};

} // namespace tidemark
