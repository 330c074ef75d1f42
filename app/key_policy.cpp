// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/key_policy.hpp"

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextEdit>

namespace tidemark {

namespace {

bool isArrow(int key)
{
    return key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
}

bool isPaging(int key)
{
    return key == Qt::Key_PageUp || key == Qt::Key_PageDown || key == Qt::Key_Home || key == Qt::Key_End;
}

/// Ctrl+E would go to the end of the line, which the key End does too.
bool isExportInText(const QWidget& widget, const QKeyEvent& key)
{
    return key.key() == Qt::Key_E && key.modifiers() == Qt::ControlModifier
        && (qobject_cast<const QLineEdit*>(&widget) || qobject_cast<const QPlainTextEdit*>(&widget)
            || qobject_cast<const QTextEdit*>(&widget));
}

bool inside(const QWidget& widget, const QWidget* ancestor)
{
    return ancestor && (&widget == ancestor || ancestor->isAncestorOf(&widget));
}

} // namespace

KeyPolicy::KeyPolicy(QWidget& window)
    : QObject(&window)
    , m_window(window)
{
    qApp->installEventFilter(this);
}

void KeyPolicy::setEscapeOwner(QWidget* view, std::function<bool()> busy)
{
    m_escapeOwner = view;
    m_busy = std::move(busy);
}

bool KeyPolicy::belongsToFocus(const QWidget& focus, int key, Qt::KeyboardModifiers modifiers) const
{
    const bool alt = modifiers & Qt::AltModifier;
    if ((isArrow(key) || isPaging(key)) && !alt) {
        for (const QPointer<QWidget>& owner : m_arrowOwners)
            if (inside(focus, owner))
                return true;
        if (qobject_cast<const QAbstractItemView*>(&focus) || qobject_cast<const QTextEdit*>(&focus)
            || qobject_cast<const QComboBox*>(&focus))
            return true;
        // Tabs and joined buttons are walked with arrows.
        return isArrow(key) && (focus.inherits("QTabBar") || focus.inherits("QAbstractButton"));
    }
    if (key == Qt::Key_C && modifiers == Qt::ControlModifier)
        return qobject_cast<const QAbstractItemView*>(&focus) || qobject_cast<const QTextEdit*>(&focus);
    if (key == Qt::Key_Escape)
        return inside(focus, m_escapeOwner) && !(m_busy && m_busy());
    return false;
}

bool KeyPolicy::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::ShortcutOverride)
        return QObject::eventFilter(watched, event);
    const auto* widget = qobject_cast<const QWidget*>(watched);
    // Torn-off docks are windows of their own, children of ours.
    if (!widget || (widget->window() != &m_window && widget->window()->parentWidget() != &m_window))
        return false;
    const auto* key = static_cast<const QKeyEvent*>(event);
    if (isExportInText(*widget, *key)) {
        event->ignore();
        return true;
    }
    if (!belongsToFocus(*widget, key->key(), key->modifiers() & ~Qt::KeypadModifier))
        return false;
    event->accept();
    return true;
}

} // namespace tidemark
