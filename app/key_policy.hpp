// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>

#include <functional>

namespace tidemark {

/// Decides whether a key is a command of the window or belongs to the control that has the focus: arrows and
/// page keys to lists, trees and the segment map, Ctrl+C and Enter to lists and texts, Esc to the view unless
/// a file is being loaded. Text fields see to it themselves, but Ctrl+E exports from there too. Watches the
/// whole application.
class KeyPolicy : public QObject {
    Q_OBJECT
public:
    explicit KeyPolicy(QWidget& window);

    /// Gets the arrow keys while it, or something in it, has the focus.
    void addArrowOwner(QWidget* view) { m_arrowOwners.append(view); }
    /// Gets Esc while it has the focus and `busy` is false.
    void setEscapeOwner(QWidget* view, std::function<bool()> busy);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool belongsToFocus(const QWidget& focus, int key, Qt::KeyboardModifiers modifiers) const;

    QWidget& m_window;
    QList<QPointer<QWidget>> m_arrowOwners;
    QPointer<QWidget> m_escapeOwner;
    std::function<bool()> m_busy;
};

} // namespace tidemark
