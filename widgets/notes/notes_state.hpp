// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/annotations.hpp"

#include <QObject>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark {

/// Remarks on what is open, with undo and redo, and which of them is chosen: what the note tools make, the
/// views draw, the list edits and session files keep. Numbers on discs are positions in items(), from 1.
/// Every setter is a no-op when nothing changes. GUI thread.
class NotesState : public QObject {
    Q_OBJECT
public:
    using Annotation = report::Annotation;

    explicit NotesState(QObject* parent = nullptr);

    const std::vector<Annotation>& items() const { return m_notes.items(); }
    const Annotation* find(std::uint64_t id) const { return m_notes.find(id); }
    /// Position in items().
    std::optional<std::size_t> placeOf(std::uint64_t id) const;

    /// Another list, such as a session's; forgets undo and what is chosen.
    void reset(std::vector<Annotation> items = {});
    /// At the end; it becomes the chosen one. Returns its id.
    std::uint64_t add(Annotation annotation);
    void edit(std::uint64_t id, Annotation annotation);
    void setText(std::uint64_t id, const QString& text);
    /// To a position in the list without it.
    void move(std::uint64_t id, std::size_t to);
    void remove(std::uint64_t id);
    bool canUndo() const { return m_notes.canUndo(); }
    bool canRedo() const { return m_notes.canRedo(); }
    void undo();
    void redo();

    std::optional<std::uint64_t> chosen() const { return m_chosen; }
    void choose(std::optional<std::uint64_t> id);

signals:
    /// items(), and what can be undone.
    void changed();
    void chosenChanged();

private:
    void changedNow();

    report::Annotations m_notes;
    std::optional<std::uint64_t> m_chosen;
};

} // namespace tidemark
