// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands.hpp"

#include <QWidget>

namespace tidemark {

Commands::Commands(const Style& style, QWidget& window)
    : QObject(&window)
    , m_style(style)
    , m_window(window)
{ }

QAction* Commands::make(const char* id, const QString& text, const char* icon, const QStringList& keys)
{
    auto* action = new QAction(text, this);
    action->setObjectName(QLatin1String(id));
    action->setIconVisibleInMenu(false);
    if (*icon)
        action->setIcon(m_style.icon(QLatin1String(icon)));
    QList<QKeySequence> sequences;
    for (const QString& key : keys)
        sequences << QKeySequence(key, QKeySequence::PortableText);
    action->setShortcuts(sequences);
    action->setToolTip(toolTip(*action));
    m_actions.push_back(action);
    m_keys.push_back(sequences);
    // Without this a command works only while its menu is built.
    m_window.addAction(action);
    return action;
}

QAction* Commands::add(
    const char* id, const QString& text, const char* icon, const QStringList& keys, std::function<void()> run)
{
    QAction* action = make(id, text, icon, keys);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    return action;
}

QAction* Commands::addToggle(const char* id, const QString& text, const char* icon, const QStringList& keys,
    std::function<void(bool)> run)
{
    QAction* action = make(id, text, icon, keys);
    action->setCheckable(true);
    connect(action, &QAction::triggered, this, [run = std::move(run)](bool on) { run(on); });
    return action;
}

QAction* Commands::operator[](const char* id) const
{
    for (QAction* action : m_actions)
        if (action->objectName() == QLatin1String(id))
            return action;
    qFatal("no command is called %s", id);
}

bool Commands::isSingleLetter(const QKeySequence& keys)
{
    return keys.count() == 1 && keys.toString(QKeySequence::PortableText).size() == 1;
}

void Commands::setSingleLetters(bool on)
{
    if (on == m_singleLetters)
        return;
    m_singleLetters = on;
    for (std::size_t i = 0; i < m_actions.size(); ++i) {
        QList<QKeySequence> keys;
        for (const QKeySequence& key : m_keys[i])
            if (on || !isSingleLetter(key))
                keys << key;
        m_actions[i]->setShortcuts(keys);
        m_actions[i]->setToolTip(toolTip(*m_actions[i]));
    }
}

QString Commands::toolTip(const QAction& action)
{
    QString text = action.text();
    text.remove(QLatin1Char('&'));
    if (text.endsWith(QStringLiteral("…")))
        text.chop(1);
    const QString key = action.shortcut().toString(QKeySequence::NativeText);
    return key.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, key);
}

} // namespace tidemark
