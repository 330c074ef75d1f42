// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_palette.hpp"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr int paletteWidth = 460;
constexpr int paletteHeight = 340;

/// Every word typed occurs in the name.
bool fits(const QString& name, const QString& typed)
{
    for (const QString& word : typed.split(QLatin1Char(' '), Qt::SkipEmptyParts))
        if (!name.contains(word, Qt::CaseInsensitive))
            return false;
    return true;
}

} // namespace

CommandPalette::CommandPalette(const Commands& commands, const Style& style, QWidget* parent)
    : QFrame(parent, Qt::Popup)
    , m_commands(commands)
    , m_style(style)
    , m_edit(new QLineEdit(this))
    , m_list(new QListWidget(this))
{
    setFrameShape(QFrame::StyledPanel);
    m_edit->setPlaceholderText(tr("Command"));
    m_edit->setAccessibleName(m_edit->placeholderText());
    m_edit->installEventFilter(this);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(6, 6, 6, 6);
    layout->addWidget(m_edit);
    layout->addWidget(m_list);
    connect(m_edit, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(m_edit, &QLineEdit::returnPressed, this, &CommandPalette::run);
    connect(m_list, &QListWidget::itemClicked, this, &CommandPalette::run);
}

void CommandPalette::popup()
{
    m_edit->clear();
    filter();
    const Metrics& m = m_style.metrics();
    setFixedSize(m.px(paletteWidth), m.px(paletteHeight));
    const QWidget* window = parentWidget();
    move(window->mapToGlobal(QPoint((window->width() - width()) / 2, m.px(100))));
    show();
    m_edit->setFocus();
}

void CommandPalette::filter()
{
    m_list->clear();
    for (QAction* action : m_commands.all()) {
        QString name = action->text();
        name.remove(QLatin1Char('&'));
        if (!action->isEnabled() || !action->isVisible() || !fits(name, m_edit->text()))
            continue;
        const QString key = action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(
            action->icon(), key.isEmpty() ? name : QStringLiteral("%1    %2").arg(name, key), m_list);
        item->setData(Qt::UserRole, QVariant::fromValue(static_cast<QObject*>(action)));
    }
    m_list->setCurrentRow(0);
}

void CommandPalette::run()
{
    const QListWidgetItem* item = m_list->currentItem();
    if (!item)
        return;
    auto* action = qobject_cast<QAction*>(item->data(Qt::UserRole).value<QObject*>());
    hide();
    if (action)
        action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (step != 0 && m_list->count() > 0) {
            m_list->setCurrentRow((m_list->currentRow() + step + m_list->count()) % m_list->count());
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace tidemark
