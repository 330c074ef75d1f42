// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/style.hpp"

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>

#include <functional>
#include <vector>

class QWidget;

namespace tidemark {

/// All commands of the window by name: "go.peak". Menus, toolbar, key map and palette show the same actions.
/// GUI thread.
class Commands : public QObject {
    Q_OBJECT
public:
    Commands(const Style& style, QWidget& window);

    /// Creates a command; `keys` are portable texts ("Ctrl+O"), `icon` a name of resources/icons or empty.
    QAction* add(const char* id, const QString& text, const char* icon, const QStringList& keys,
        std::function<void()> run);
    /// The same with a check mark.
    QAction* addToggle(const char* id, const QString& text, const char* icon, const QStringList& keys,
        std::function<void(bool)> run);
    /// Aborts on an unknown name: that is our own mistake.
    QAction* operator[](const char* id) const;
    const std::vector<QAction*>& all() const { return m_actions; }

    /// Keys of one letter, digit or sign can be switched off; menus then show no key for them.
    void setSingleLetters(bool on);
    static bool isSingleLetter(const QKeySequence& keys);
    /// "Next peak (N)" for a tooltip.
    static QString toolTip(const QAction& action);

private:
    QAction* make(const char* id, const QString& text, const char* icon, const QStringList& keys);

    const Style& m_style;
    QWidget& m_window;
    std::vector<QAction*> m_actions;
    std::vector<QList<QKeySequence>> m_keys;
    bool m_singleLetters = true;
};

} // namespace tidemark
