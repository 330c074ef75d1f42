// SPDX-License-Identifier: GPL-3.0-or-later
// Remarks in the window: tools, list, undo, and what they are about.
#include "app/main_window.hpp"
#include "app/session_places.hpp"
#include "app/status_line.hpp"
#include "widgets/compare/compare_curves.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/notes/notes_view.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QActionGroup>
#include <QTabWidget>

namespace tidemark {

void MainWindow::createNoteCommands(QActionGroup& tools)
{
    Commands& c = *m_commands;
    const auto tool
        = [&](const char* id, const QString& text, const char* icon, const QStringList& keys, Tool wanted) {
              tools.addAction(c.addToggle(id, text, icon, keys, [this, wanted](bool) {
                  const bool on = m_work.state.tool() == wanted;
                  m_work.state.setTool(on ? Tool::Pointer : wanted);
              }));
          };
    tool("tools.ruler", tr("&Ruler"), "ruler", {QStringLiteral("R")}, Tool::Ruler);
    tool("tools.note", tr("&Note"), "note", {QStringLiteral("B")}, Tool::Note);
    tool("tools.box", tr("&Box"), "box", {}, Tool::Box);
    tool("tools.arrow", tr("&Arrow"), "arrow", {}, Tool::Arrow);
    c.add("notes.pin", tr("&Pin the selected allocation"), "pin", {},
        [this] { m_timeline->noteSelected(report::AnnotationKind::Pin); });
    c.add("notes.delete", tr("&Delete the chosen note"), "clear", {}, [this] {
        if (const auto chosen = m_work.notes.chosen())
            m_work.notes.remove(*chosen);
    });
    c.add("window.notes", tr("&Notes"), "note", {}, [this] { showPane(m_notes); });
}

void MainWindow::connectNotes()
{
    NotesState& notes = m_work.notes;
    ViewState& state = m_work.state;
    const auto follow = [this, &notes] {
        const auto input = static_cast<std::uint32_t>(m_work.files.current().value_or(0));
        m_timeline->setNotes(notes, {"timeline", input});
        m_map->setNotes(notes, {"segments", input});
    };
    follow();
    connect(&m_work.session, &Session::opened, this, follow);
    connect(&m_work.files, &Files::listChanged, this, follow);
    for (const compare::Which side : {compare::Which::A, compare::Which::B}) {
        const std::uint32_t input = side == compare::Which::A ? 0 : 1;
        m_compare->timeline(side).setNotes(notes, {"compare", input});
        m_compare->map(side).setNotes(notes, {"compare", input});
        // One tool in all views.
        ViewState& other = m_work.comparer.state().view(side);
        connect(&state, &ViewState::toolChanged, &other, [&state, &other] { other.setTool(state.tool()); });
        connect(&other, &ViewState::toolChanged, &state, [&state, &other] { state.setTool(other.tool()); });
    }
    m_compare->curves().setNotes(notes);
    m_ranks->setNotes(notes, [this](const std::filesystem::path& file) -> std::optional<std::uint32_t> {
        const auto& entries = m_work.files.entries();
        for (std::size_t i = 0; i < entries.size(); ++i)
            if (entries[i].path == nameOf(file))
                return static_cast<std::uint32_t>(i);
        return std::nullopt;
    });
    connect(&state, &ViewState::toolChanged, m_ranks,
        [this, &state] { m_ranks->setPlacing(state.tool() == Tool::Note); });
    connect(m_ranks, &RanksView::notePlaced, this, [&state] { state.setTool(Tool::Pointer); });
    connect(m_notes, &NotesView::jumpRequested, this, &MainWindow::goToNote);
    connect(m_notes, &NotesView::toolRequested, this, [this] {
        m_work.state.setTool(Tool::Note);
        m_timeline->setFocus();
    });
    connect(&notes, &NotesState::changed, this, [this] {
        if (!m_undoing)
            m_lastChange = LastChange::Note;
        updateCommands();
    });
    connect(&notes, &NotesState::chosenChanged, this, &MainWindow::updateCommands);
    connect(&m_work.search, &Search::historyChanged, this, [this] {
        if (!m_undoing)
            m_lastChange = LastChange::Filter;
    });
}

void MainWindow::goToNote(std::uint64_t id)
{
    const report::Annotation* note = m_work.notes.find(id);
    if (!note)
        return;
    m_work.notes.choose(id);
    if (note->view == "compare") {
        showTab(m_compare);
        m_compare->timeline(note->input == 0 ? compare::Which::A : compare::Which::B).goToNote(id);
        return;
    }
    if (note->view == "ranks" && m_tabs->indexOf(m_ranks) >= 0) {
        showTab(m_ranks);
        m_ranks->goToNote(id);
        return;
    }
    if (note->input != m_work.files.current().value_or(0)) {
        m_status->remark(tr("This note is on another file: choose %1 first")
                             .arg(note->input < m_work.files.entries().size()
                                     ? QFileInfo(m_work.files.entries()[note->input].path).fileName()
                                     : tr("it")));
        return;
    }
    if (note->view == "segments") {
        showPane(m_map);
        m_map->goToNote(id);
    } else {
        showTimelineTab();
        m_timeline->goToNote(id);
    }
}

// Filters and remarks are taken back by the same keys: first what was changed last.
void MainWindow::undoOrRedo(bool redo)
{
    NotesState& notes = m_work.notes;
    Search& search = m_work.search;
    const bool note = redo ? notes.canRedo() : notes.canUndo();
    const bool filter = redo ? search.canRedo() : search.canUndo();
    const bool notesFirst = m_lastChange == LastChange::Note;
    m_undoing = true;
    if (note && (notesFirst || !filter))
        redo ? notes.redo() : notes.undo();
    else if (filter)
        redo ? search.redo() : search.undo();
    m_undoing = false;
    updateCommands();
}

} // namespace tidemark
