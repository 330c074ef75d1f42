// SPDX-License-Identifier: GPL-3.0-or-later
// Remarks by command and menu.
#include "model/report/anchors.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_input.hpp"
#include "widgets/timeline/timeline_notes.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>

namespace tidemark {

namespace {

using report::AnnotationKind;

constexpr double air = 0.1; // of a zoom around a remark

} // namespace

void TimelineView::setNotes(NotesState& notes, NotesScope scope)
{
    if (m_notes != &notes) {
        m_notes->disconnect(this);
        m_notes = &notes;
        connect(m_notes, &NotesState::changed, this, &TimelineView::replotOverlay);
        connect(m_notes, &NotesState::chosenChanged, this, &TimelineView::replotOverlay);
    }
    m_scene.notes = m_notes;
    m_scene.notesScope = std::move(scope);
    replotOverlay();
}

void TimelineView::noteSelected(AnnotationKind kind)
{
    const Selection& selection = m_state.selection();
    if (!m_scene.replay || selection.kind != Selection::Kind::Allocation)
        return;
    report::Annotation note = m_scene.notesScope.blank(kind, noteDevice(m_scene));
    note.from = report::allocationAnchor(*m_scene.replay, selection.allocation);
    if (kind == AnnotationKind::Pin)
        note.text = m_scene.idName(static_cast<std::uint32_t>(index(selection.allocation))).toStdString();
    const std::uint64_t id = m_notes->add(std::move(note));
    if (kind != AnnotationKind::Pin)
        m_input->editNote(id, true);
}

bool TimelineView::editNote(std::uint64_t id)
{
    return m_input->editNote(id, false);
}

void TimelineView::goToNote(std::uint64_t id)
{
    const report::Annotation* note = m_notes->find(id);
    if (!note || !m_scene.source || !m_scene.notesScope.has(*note, noteDevice(m_scene)))
        return;
    m_notes->choose(id);
    const auto stateOf = [&](const report::Anchor& anchor) -> std::optional<StateIndex> {
        return m_scene.replay ? report::stateOfAnchor(*m_scene.replay, anchor) : std::nullopt;
    };
    const auto from = stateOf(note->from);
    if (!from)
        return;
    rememberPlace();
    const StateIndex to = stateOf(note->to).value_or(*from);
    const XWindow& window = m_state.window();
    const auto [first, last] = std::minmax(*from, to);
    if (m_scene.scale.mark(first) < window.left || m_scene.scale.mark(last) > window.right) {
        if (first != last)
            setWindow(m_scene.scale.around(first, last, air));
        else
            ensureVisible(first);
    }
    m_state.setCursor(*from);
    if (const auto* allocation = std::get_if<report::AllocationAnchor>(&note->from))
        m_state.selectAllocation(report::findAllocation(*m_scene.replay, *allocation));
}

bool TimelineView::deleteNote()
{
    const auto chosen = m_notes->chosen();
    if (!chosen)
        return false;
    m_notes->remove(*chosen);
    return true;
}

void TimelineView::addNoteEntries(QMenu& menu, AllocationId id, const QPointF& pos)
{
    const auto shapes = noteShapes(m_scene);
    if (const auto hit = noteHit(shapes, m_style, pos)) {
        m_notes->choose(hit->id);
        menu.addAction(m_style.icon(QStringLiteral("editor")), tr("Edit the text"), this,
            [this, note = hit->id] { editNote(note); });
        menu.addAction(tr("Copy the text"), this, [this, note = hit->id] {
            if (const report::Annotation* kept = m_notes->find(note))
                QGuiApplication::clipboard()->setText(QString::fromStdString(kept->text));
        });
        menu.addAction(m_style.icon(QStringLiteral("clear")), tr("Delete"), this, [this] { deleteNote(); });
        menu.addSeparator();
        return;
    }
    if (!QRectF(m_scene.geometry.plot).contains(pos))
        return;
    menu.addAction(
        m_style.icon(QStringLiteral("note")), tr("Note here"), this, [this, pos] { m_input->noteAt(pos); });
    if (valid(id))
        menu.addAction(m_style.icon(QStringLiteral("pin")), tr("Pin this allocation"), this,
            [this] { noteSelected(AnnotationKind::Pin); });
    menu.addAction(m_style.icon(QStringLiteral("ruler")), tr("Ruler from here"), this,
        [this, pos] { m_input->startRulerAt(pos); });
}

} // namespace tidemark
