// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands.hpp"

#include <QWidget>

class QMenuBar;

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

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;

private:
    const QMenuBar& m_menus;
    const Style& m_style;
};

} // namespace tidemark
