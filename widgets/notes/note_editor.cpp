// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/notes/note_editor.hpp"

#include <QFocusEvent>
#include <QKeyEvent>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

constexpr int restMs = 1000;
constexpr int fieldWidth = 240;
constexpr int fieldHeight = 62;

} // namespace

NoteEditor::NoteEditor(QWidget& view, Style& style, NotesState& notes, std::uint64_t id, bool fresh)
    : QFrame(&view)
    , m_notes(notes)
    , m_id(id)
    , m_fresh(fresh)
    , m_field(new QPlainTextEdit(this))
{
    setObjectName(QStringLiteral("noteEditor"));
    setFrameShape(QFrame::Box);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    m_field->setFrameShape(QFrame::NoFrame);
    m_field->setTabChangesFocus(true);
    m_field->setAccessibleName(tr("Text of the note"));
    m_field->setPlaceholderText(tr("What is to be seen here?\nEnter keeps it, Esc takes it back"));
    if (const report::Annotation* note = notes.find(id))
        m_field->setPlainText(QString::fromStdString(m_before = note->text));
    m_field->selectAll();
    m_field->installEventFilter(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(2, 2, 2, 2);
    column->addWidget(m_field);
    m_rest.setSingleShot(true);
    m_rest.setInterval(restMs);
    connect(&m_rest, &QTimer::timeout, this, &NoteEditor::keep);
    connect(m_field, &QPlainTextEdit::textChanged, &m_rest, qOverload<>(&QTimer::start));
    resize(style.metrics().px(fieldWidth), style.metrics().px(fieldHeight));
    // Undone or taken away elsewhere.
    connect(&notes, &NotesState::changed, this, [this] {
        if (!m_notes.find(m_id))
            leave();
    });
}

NoteEditor* NoteEditor::open(
    QWidget& view, Style& style, NotesState& notes, std::uint64_t id, QPointF at, bool fresh)
{
    for (auto* old : view.findChildren<NoteEditor*>(QString(), Qt::FindDirectChildrenOnly))
        old->commit();
    if (!notes.find(id))
        return nullptr;
    auto* editor = new NoteEditor(view, style, notes, id, fresh);
    const int away = style.metrics().px(14);
    const QSize room = view.size() - editor->size();
    int x = static_cast<int>(at.x()) + away;
    if (x > room.width())
        x = static_cast<int>(at.x()) - away - editor->width();
    editor->move(std::clamp(x, 0, std::max(0, room.width())),
        std::clamp(static_cast<int>(at.y()) - editor->height() / 2, 0, std::max(0, room.height())));
    editor->show();
    editor->raise();
    editor->m_field->setFocus(Qt::PopupFocusReason);
    return editor;
}

void NoteEditor::commit()
{
    if (m_over)
        return;
    const QString text = m_field->toPlainText().trimmed();
    leave();
    m_notes.setText(m_id, text);
}

void NoteEditor::keep()
{
    if (!m_over)
        m_notes.setText(m_id, m_field->toPlainText().trimmed());
}

void NoteEditor::keepAll(const QWidget& below)
{
    for (NoteEditor* editor : below.findChildren<NoteEditor*>())
        editor->keep();
}

void NoteEditor::cancel()
{
    if (m_over)
        return;
    leave();
    m_notes.setText(m_id, QString::fromStdString(m_before));
    const report::Annotation* note = m_notes.find(m_id);
    if (m_fresh && note && note->kind == report::AnnotationKind::Note && note->text.empty())
        m_notes.remove(m_id);
}

void NoteEditor::leave()
{
    m_over = true;
    m_rest.stop();
    const bool focused = m_field->hasFocus();
    QWidget* view = parentWidget();
    hide();
    deleteLater();
    for (; focused && view; view = view->parentWidget())
        if (view->focusPolicy() != Qt::NoFocus) {
            view->setFocus(Qt::PopupFocusReason);
            return;
        }
}

bool NoteEditor::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter) {
            event->accept(); // these keys are meant for the text, whatever they do in the window
            return true;
        }
    }
    if (event->type() == QEvent::KeyPress) {
        const auto* press = static_cast<QKeyEvent*>(event);
        const bool enter = press->key() == Qt::Key_Return || press->key() == Qt::Key_Enter;
        if (enter && !(press->modifiers() & Qt::ShiftModifier)) {
            commit();
            return true;
        }
        if (press->key() == Qt::Key_Escape) {
            cancel();
            return true;
        }
    }
    if (event->type() == QEvent::FocusOut
        && static_cast<QFocusEvent*>(event)->reason() != Qt::PopupFocusReason)
        commit();
    return QFrame::eventFilter(watched, event);
}

} // namespace tidemark
