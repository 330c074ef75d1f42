// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/notes/notes_state.hpp"

namespace tidemark {

NotesState::NotesState(QObject* parent)
    : QObject(parent)
{ }

std::optional<std::size_t> NotesState::placeOf(std::uint64_t id) const
{
    for (std::size_t i = 0; i < items().size(); ++i)
        if (items()[i].id == id)
            return i;
    return std::nullopt;
}

void NotesState::reset(std::vector<Annotation> items)
{
    if (items.empty() && m_notes.items().empty() && !canUndo() && !canRedo())
        return;
    m_notes = report::Annotations(std::move(items));
    choose(std::nullopt);
    emit changed();
}

std::uint64_t NotesState::add(Annotation annotation)
{
    const std::uint64_t id = m_notes.add(std::move(annotation));
    emit changed();
    choose(id);
    return id;
}

void NotesState::edit(std::uint64_t id, Annotation annotation)
{
    if (m_notes.edit(id, std::move(annotation)))
        emit changed();
}

void NotesState::setText(std::uint64_t id, const QString& text)
{
    if (const Annotation* old = find(id)) {
        Annotation annotation = *old;
        annotation.text = text.toStdString();
        edit(id, std::move(annotation));
    }
}

void NotesState::move(std::uint64_t id, std::size_t to)
{
    if (m_notes.move(id, to))
        emit changed();
}

void NotesState::remove(std::uint64_t id)
{
    if (m_notes.remove(id))
        changedNow();
}

void NotesState::undo()
{
    if (m_notes.undo())
        changedNow();
}

void NotesState::redo()
{
    if (m_notes.redo())
        changedNow();
}

void NotesState::choose(std::optional<std::uint64_t> id)
{
    if (id == m_chosen)
        return;
    m_chosen = id;
    emit chosenChanged();
}

void NotesState::changedNow()
{
    if (m_chosen && !find(*m_chosen))
        choose(std::nullopt);
    emit changed();
}

} // namespace tidemark
