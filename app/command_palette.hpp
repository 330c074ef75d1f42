// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands.hpp"

#include <QFrame>

class QLineEdit;
class QListWidget;

namespace tidemark {

/// All commands by name: type some letters of it, Enter runs it.
class CommandPalette : public QFrame {
    Q_OBJECT
public:
    CommandPalette(const Commands& commands, const Style& style, QWidget* parent);

    void popup();
    QLineEdit* edit() const { return m_edit; }
    QListWidget* list() const { return m_list; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter();
    void run();

    const Commands& m_commands;
    const Style& m_style;
    QLineEdit* m_edit;
    QListWidget* m_list;
};

} // namespace tidemark
