// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/notes/notes_state.hpp"
#include "widgets/style/style.hpp"

#include <QFrame>
#include <QPlainTextEdit>
#include <QTimer>

#include <string>

namespace tidemark {

/// A small field over a view in which a remark's text is typed. Enter keeps it, Shift+Enter breaks the line,
/// Esc leaves the text as it was and takes a remark without any away if it was just made; so does a click
/// elsewhere, but it keeps the text. What is typed is kept after a moment's rest too, so that it is in what
/// is saved meanwhile. Deletes itself. GUI thread.
class NoteEditor : public QFrame {
    Q_OBJECT
public:
    /// Opens one for a remark beside a point of `view`; one at a time per view.
    static NoteEditor* open(
        QWidget& view, Style& style, NotesState& notes, std::uint64_t id, QPointF at, bool fresh);

    QPlainTextEdit* field() const { return m_field; }
    void commit();
    /// Keeps what is typed so far and stays open.
    void keep();
    /// The same for all that are open below a widget.
    static void keepAll(const QWidget& below);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    NoteEditor(QWidget& view, Style& style, NotesState& notes, std::uint64_t id, bool fresh);
    void cancel();
    void leave();

    NotesState& m_notes;
    std::uint64_t m_id;
    bool m_fresh;
    bool m_over = false;
    std::string m_before; ///< the text it had
    QTimer m_rest;
    QPlainTextEdit* m_field;
};

} // namespace tidemark
