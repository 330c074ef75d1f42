// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/search_field.hpp"

#include "app/filter_completer.hpp"

#include <QAction>
#include <QKeyEvent>
#include <QPainter>
#include <QStyle>

#include <utility>

namespace tidemark {

SearchField::SearchField(Search& search, const Style& style, QWidget* parent)
    : QLineEdit(parent)
    , m_search(search)
    , m_style(style)
{
    addAction(style.icon(QStringLiteral("filter"), Tone::Text2), QLineEdit::LeadingPosition);
    setClearButtonEnabled(true);
    setAcceptDrops(false);
    setAccessibleName(tr("Filter"));
    setToolTip(tr("Text of a function, file or site · size>64M · 0x7f… · age<1s · stream:7 · pool:(0,1) · "
                  "role:saved · label:mlp · /expression/ · and, or, not, ( )\nEnter: next match, "
                  "Shift+Enter: previous one, Esc: "
                  "clear"));
    connect(this, &QLineEdit::textChanged, &search, &Search::setText);
    connect(&search, &Search::changed, this, &SearchField::restyle);
    connect(&search, &Search::changed, this, [this] {
        if (m_jump != 0 && m_search.isSettled())
            emit matchRequested(std::exchange(m_jump, 0));
    });
    connect(&style, &Style::changed, this, &SearchField::restyle);
    setNarrow(false);
    restyle();
}

void SearchField::completeFrom(const Session& session)
{
    m_completer = new FilterCompleter(*this, session);
}

void SearchField::setNarrow(bool narrow)
{
    m_narrow = narrow;
    setPlaceholderText(narrow ? tr("Filter") : tr("Filter: site, size>64M, address"));
    updateGeometry();
}

QSize SearchField::sizeHint() const
{
    return {m_style.metrics().px(m_narrow ? 214 : 300), m_style.metrics().combo};
}

void SearchField::restyle()
{
    QPalette p = m_style.theme().palette();
    if (!m_search.problem().isEmpty())
        p.setColor(QPalette::Base, m_style.color(Tone::CritBg));
    setPalette(p);
    setFixedWidth(sizeHint().width());
}

void SearchField::paintEvent(QPaintEvent* event)
{
    QLineEdit::paintEvent(event);
    if (!text().isEmpty())
        return;
    QPainter painter(this);
    painter.setFont(m_style.font(FontRole::Small));
    painter.setPen(m_style.color(Tone::Text2));
    painter.drawText(
        rect().adjusted(0, 0, -m_style.metrics().px(8), 0), Qt::AlignRight | Qt::AlignVCenter, tr("Ctrl+F"));
}

bool SearchField::event(QEvent* event)
{
    // Esc in the field is about the field, not about the load or the range.
    if (event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    // What the field itself cannot take back is the window's: the filter before.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if ((key->matches(QKeySequence::Undo) && !isUndoAvailable())
            || (key->matches(QKeySequence::Redo) && !isRedoAvailable())) {
            event->ignore();
            return true;
        }
    }
    return QLineEdit::event(event);
}

void SearchField::keyPressEvent(QKeyEvent* event)
{
    const bool chooses
        = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Escape;
    if (chooses && m_completer && m_completer->takesKeys(event->key())) {
        event->ignore(); // the list has it
        return;
    }
    if (event->key() == Qt::Key_Escape) {
        clear();
        emit left();
        return;
    }
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        const int direction = event->modifiers() & Qt::ShiftModifier ? -1 : 1;
        if (!m_search.isSettled() || !m_search.isActive())
            m_search.start();
        if (m_search.isSettled())
            emit matchRequested(direction);
        else
            m_jump = direction;
        return;
    }
    QLineEdit::keyPressEvent(event);
}

} // namespace tidemark
