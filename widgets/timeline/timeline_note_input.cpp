// SPDX-License-Identifier: GPL-3.0-or-later
// What the mouse does with remarks: drawing new ones, moving discs and ends.
#include "widgets/notes/note_editor.hpp"
#include "widgets/timeline/timeline_input.hpp"
#include "widgets/timeline/timeline_notes.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

using report::AnnotationKind;

constexpr double smallest = 4; // pixels a box or an arrow must span to be meant

} // namespace

void TimelineInput::startDrawing(AnnotationKind kind, const QPointF& pos)
{
    report::Annotation note = m_scene.notesScope.blank(kind, noteDevice(m_scene));
    note.from = note.to = pointAnchorAt(m_scene, pos);
    m_scene.openNote = std::move(note);
    m_pressed = pos;
    m_floating = false;
    m_drag = Drag::Draw;
    m_view.replotOverlay();
}

void TimelineInput::startRulerAt(const QPointF& pos)
{
    startDrawing(AnnotationKind::Ruler, pos);
    m_drag = Drag::None;
    m_floating = true;
}

void TimelineInput::finishDrawing(const QPointF& pos)
{
    m_floating = false;
    const auto note = std::exchange(m_scene.openNote, std::nullopt);
    m_view.replotOverlay();
    if (!note)
        return;
    const QPointF moved = pos - m_pressed;
    const bool ruler = note->kind == AnnotationKind::Ruler;
    // A ruler measures states; the others are drawings.
    const bool meant = ruler
        ? std::get<report::PointAnchor>(note->from).event != std::get<report::PointAnchor>(note->to).event
        : std::hypot(moved.x(), moved.y()) > smallest;
    if (!meant)
        return;
    const std::uint64_t id = m_view.notes().add(*note);
    if (ruler)
        return;
    m_scene.state.setTool(Tool::Pointer);
    editNote(id, true);
}

void TimelineInput::noteAt(const QPointF& pos)
{
    report::Annotation note = m_scene.notesScope.blank(AnnotationKind::Note, noteDevice(m_scene));
    note.from = pointAnchorAt(m_scene, pos);
    const std::uint64_t id = m_view.notes().add(std::move(note));
    m_scene.state.setTool(Tool::Pointer);
    editNote(id, true);
}

bool TimelineInput::editNote(std::uint64_t id, bool fresh)
{
    const std::vector<NoteShape> shapes = noteShapes(m_scene);
    const auto shape
        = std::find_if(shapes.begin(), shapes.end(), [&](const NoteShape& s) { return s.id == id; });
    if (shape == shapes.end())
        return false;
    NoteEditor::open(m_canvas, m_scene.style, m_view.notes(), id, shape->disc, fresh);
    return true;
}

std::optional<NoteHit> TimelineInput::noteUnder(const QPointF& pos) const
{
    return noteHit(noteShapes(m_scene), m_scene.style, pos);
}

bool TimelineInput::pressNote(const QPointF& pos)
{
    const auto hit = noteUnder(pos);
    if (!hit)
        return false;
    m_view.notes().choose(hit->id);
    m_notePart = hit->part;
    m_drag = Drag::Note;
    return true;
}

void TimelineInput::dragNote(const QPointF& pos)
{
    const auto chosen = m_view.notes().chosen();
    const report::Annotation* kept = chosen ? m_view.notes().find(*chosen) : nullptr;
    if (!kept || m_notePart == NotePart::Line)
        return;
    report::Annotation note = *kept;
    if (m_notePart == NotePart::Disc) {
        note.labelX += std::round(pos.x() - m_pressed.x());
        note.labelY += std::round(pos.y() - m_pressed.y());
    } else {
        (m_notePart == NotePart::From ? note.from : note.to) = pointAnchorAt(m_scene, pos);
    }
    m_scene.openNote = std::move(note);
    m_view.replotOverlay();
}

void TimelineInput::finishNote()
{
    if (const auto note = std::exchange(m_scene.openNote, std::nullopt))
        m_view.notes().edit(note->id, *note);
    m_view.replotOverlay();
}

} // namespace tidemark
