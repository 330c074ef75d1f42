// SPDX-License-Identifier: GPL-3.0-or-later
// Remarks on the segment map: tied to blocks, holes and segments.
#include "model/report/anchors.hpp"
#include "widgets/common/plot_text.hpp"
#include "widgets/notes/note_editor.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/style/text.hpp"

#include <QMenu>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

using report::AnnotationKind;

constexpr double smallest = 4; // pixels a drag must span to be meant
constexpr int longestLine = 80;

AnnotationKind kindOf(Tool tool)
{
    switch (tool) {
    case Tool::Box:
        return AnnotationKind::Box;
    case Tool::Arrow:
        return AnnotationKind::Arrow;
    case Tool::Ruler:
        return AnnotationKind::Ruler;
    default:
        return AnnotationKind::Note;
    }
}

/// The segment and, unless the segment itself is meant, the piece in it that an address is in.
struct Spot {
    std::uint32_t segment = 0;
    std::optional<std::uint32_t> piece;
};

std::optional<Spot> spotOf(const SegmentState& state, const Replay& replay, const report::Anchor& anchor)
{
    if (const auto* allocation = std::get_if<report::AllocationAnchor>(&anchor)) {
        const AllocationId id = report::findAllocation(replay, *allocation);
        for (std::uint32_t s = 0; valid(id) && s < state.segments.size(); ++s)
            for (std::uint32_t p = state.segments[s].firstPiece;
                 p < state.segments[s].firstPiece + state.segments[s].pieceCount; ++p)
                if (state.pieces[p].allocation == id)
                    return Spot{s, p};
        return std::nullopt;
    }
    const auto* segment = std::get_if<report::SegmentAnchor>(&anchor);
    if (!segment)
        return std::nullopt;
    for (std::uint32_t s = 0; s < state.segments.size(); ++s) {
        const SegmentView& part = state.segments[s];
        if (segment->address < part.address || segment->address - part.address >= part.size)
            continue;
        if (segment->address == part.address)
            return Spot{s, std::nullopt};
        for (std::uint32_t p = part.firstPiece; p < part.firstPiece + part.pieceCount; ++p)
            if (segment->address >= state.pieces[p].address
                && segment->address - state.pieces[p].address < state.pieces[p].size)
                return Spot{s, p};
    }
    return std::nullopt;
}

/// The widest of the stretches a spot is drawn as.
std::optional<QRectF> rectOf(const MapPicture& picture, const Spot& spot)
{
    QRectF best;
    const auto take = [&](const auto& item) {
        if (item.width > best.width() || best.isNull())
            best = QRectF(item.x, item.y, item.width, item.height);
    };
    if (spot.piece) {
        for (const MapBox& box : picture.boxes)
            if (box.piece == *spot.piece)
                take(box);
    } else {
        for (const MapFrame& frame : picture.frames)
            if (frame.segment == spot.segment)
                take(frame);
    }
    return best.isNull() ? std::nullopt : std::optional(best);
}

/// From the start of the one to the end of the other, when both are in one segment.
QString measured(const SegmentState& state, const Spot& from, const Spot& to)
{
    if (from.segment != to.segment)
        return SegmentMapView::tr("in two segments");
    const auto span = [&](const Spot& spot) {
        const SegmentView& segment = state.segments[spot.segment];
        return spot.piece ? std::pair(state.pieces[*spot.piece].address, state.pieces[*spot.piece].size)
                          : std::pair(segment.address, segment.size);
    };
    const auto [a, aSize] = span(from);
    const auto [b, bSize] = span(to);
    return bytesText(static_cast<std::int64_t>(std::max(a + aSize, b + bSize) - std::min(a, b)));
}

} // namespace

void SegmentMapView::connectNotes()
{
    MapNotes hooks;
    hooks.paint = [this](QPainter& painter, QPointF origin) { paintNotes(painter, origin); };
    hooks.press = [this](const MapHit& hit, QPointF pos) { return pressNote(hit, pos); };
    hooks.drag = [this](const MapHit& hit, QPointF pos) { dragNote(hit, pos); };
    hooks.release = [this](QPointF pos) { releaseNote(pos); };
    hooks.doubleClick = [this](QPointF pos) {
        const auto hit = noteHit(noteShapes(m_canvas->origin()), m_style, pos);
        return hit && editNote(hit->id, false);
    };
    hooks.erase = [this] { return deleteNote(); };
    m_canvas->setNotes(std::move(hooks));
}

void SegmentMapView::setNotes(NotesState& notes, NotesScope scope)
{
    if (m_notes != &notes) {
        if (m_notes)
            m_notes->disconnect(this);
        m_notes = &notes;
        const auto repaint = [this] { m_canvas->viewport()->update(); };
        connect(m_notes, &NotesState::changed, this, repaint);
        connect(m_notes, &NotesState::chosenChanged, this, repaint);
    }
    m_notesScope = std::move(scope);
    m_canvas->viewport()->update();
}

std::optional<report::Anchor> SegmentMapView::anchorOf(const MapHit& hit) const
{
    if (!m_built.picture || !hit.segment || showsPrediction())
        return std::nullopt;
    const SegmentState& state = *m_built.state;
    const std::int64_t event = report::eventOf(*m_built.replay, m_built.state->state);
    if (!hit.box || hit.edge)
        return report::SegmentAnchor{state.segments[*hit.segment].address, event};
    const Piece& piece = state.pieces[m_built.picture->boxes[*hit.box].piece];
    if (valid(piece.allocation))
        return report::allocationAnchor(*m_built.replay, piece.allocation);
    return report::SegmentAnchor{piece.address, event};
}

std::vector<NoteShape> SegmentMapView::noteShapes(QPointF origin) const
{
    std::vector<NoteShape> shapes;
    if (!m_notes || !m_built.picture || !m_built.replay || showsPrediction())
        return shapes;
    const int device = m_built.replay->device().ordinal;
    const QRectF room(m_canvas->viewport()->rect());
    const double edge = noteDiscRadius(m_style) + 1;
    const auto add = [&](const report::Annotation& note, int number) {
        const auto from = spotOf(*m_built.state, *m_built.replay, note.from);
        const auto to = note.to.index() == 0 ? from : spotOf(*m_built.state, *m_built.replay, note.to);
        const auto fromRect = from ? rectOf(*m_built.picture, *from) : std::nullopt;
        const auto toRect = to ? rectOf(*m_built.picture, *to) : std::nullopt;
        if (!fromRect || !toRect)
            return;
        NoteShape shape;
        shape.id = note.id;
        shape.number = number;
        shape.kind = note.kind;
        shape.from = fromRect->center() + origin;
        shape.to = toRect->center() + origin;
        if (note.kind == AnnotationKind::Box) {
            const QRectF both = fromRect->united(*toRect).adjusted(-2, -2, 2, 2).translated(origin);
            shape.from = both.topLeft();
            shape.to = both.bottomRight();
        } else if (note.kind == AnnotationKind::Ruler) {
            const bool forward = fromRect->y() < toRect->y()
                || (fromRect->y() == toRect->y() && fromRect->x() <= toRect->x());
            shape.from.setX((forward ? fromRect->left() : fromRect->right()) + origin.x());
            shape.to.setX((forward ? toRect->right() : toRect->left()) + origin.x());
            shape.figures = measured(*m_built.state, *from, *to);
        }
        if (!room.intersects(shape.rect().adjusted(-1, -1, 1, 1)))
            return; // scrolled away
        shape.disc = noteDisc(note, shape.from, shape.to);
        shape.disc.setX(std::clamp(shape.disc.x(), edge, std::max(edge, room.width() - edge)));
        shape.disc.setY(std::clamp(shape.disc.y(), edge, std::max(edge, room.height() - edge)));
        shape.text = shownText(firstLine(note.text)).left(longestLine);
        if (!shape.figures.isEmpty())
            shape.text
                = shape.text.isEmpty() ? shape.figures : shape.figures + QStringLiteral(" · ") + shape.text;
        shape.chosen = note.id == 0 || m_notes->chosen() == note.id;
        shapes.push_back(std::move(shape));
    };
    const auto& items = m_notes->items();
    for (std::size_t i = 0; i < items.size(); ++i)
        if (m_notesScope.has(items[i], device))
            add(m_openNote && m_openNote->id == items[i].id ? *m_openNote : items[i],
                static_cast<int>(i) + 1);
    if (m_openNote && m_openNote->id == 0)
        add(*m_openNote, 0);
    return shapes;
}

void SegmentMapView::paintNotes(QPainter& painter, QPointF origin) const
{
    const std::vector<NoteShape> shapes = noteShapes(origin);
    LabelPlacer labels(QRectF(m_canvas->viewport()->rect()).adjusted(2, 2, -2, -2));
    const double r = noteDiscRadius(m_style) + 1;
    for (const NoteShape& shape : shapes) {
        paintNoteLines(painter, m_style, shape);
        labels.block(QRectF(shape.disc.x() - r, shape.disc.y() - r, 2 * r, 2 * r));
    }
    for (const NoteShape& shape : shapes)
        paintNoteDisc(painter, m_style, shape);
    for (const NoteShape& shape : shapes)
        if (const auto box = labels.takeFirst(noteTextBoxes(m_style, shape)))
            paintNoteText(painter, m_style, shape, *box);
}

bool SegmentMapView::pressNote(const MapHit& hit, QPointF pos)
{
    if (!m_notes || !m_built.picture)
        return false;
    const Tool tool = m_view.tool();
    m_pressed = pos;
    if (tool == Tool::Pointer) {
        const auto found = noteHit(noteShapes(m_canvas->origin()), m_style, pos);
        m_notes->choose(found ? std::optional(found->id) : std::nullopt);
        m_draggedNote = found && found->part == NotePart::Disc ? found->id : 0;
        return found.has_value();
    }
    const auto anchor = anchorOf(hit);
    if (!anchor)
        return true;
    report::Annotation note = m_notesScope.blank(kindOf(tool), m_built.replay->device().ordinal);
    note.from = *anchor;
    if (tool != Tool::Note)
        note.to = *anchor;
    m_openNote = std::move(note);
    return true;
}

void SegmentMapView::dragNote(const MapHit& hit, QPointF pos)
{
    if (m_draggedNote != 0 && m_notes && m_notes->find(m_draggedNote)) {
        report::Annotation note = *m_notes->find(m_draggedNote);
        note.labelX += std::round(pos.x() - m_pressed.x());
        note.labelY += std::round(pos.y() - m_pressed.y());
        m_openNote = std::move(note);
    } else if (m_openNote && m_openNote->to.index() != 0) {
        if (auto anchor = anchorOf(hit))
            m_openNote->to = std::move(*anchor);
    }
    m_canvas->viewport()->update();
}

void SegmentMapView::releaseNote(QPointF pos)
{
    m_draggedNote = 0;
    const auto note = std::exchange(m_openNote, std::nullopt);
    m_canvas->viewport()->update();
    if (!note || !m_notes)
        return;
    const QPointF moved = pos - m_pressed;
    const bool dragged = std::hypot(moved.x(), moved.y()) > smallest;
    if (note->id != 0) {
        if (dragged)
            m_notes->edit(note->id, *note);
        return;
    }
    if ((note->kind == AnnotationKind::Arrow || note->kind == AnnotationKind::Ruler)
        && (!dragged || note->from == note->to))
        return;
    const bool ruler = note->kind == AnnotationKind::Ruler;
    const std::uint64_t id = m_notes->add(*note);
    if (ruler)
        return;
    m_view.setTool(Tool::Pointer);
    editNote(id, true);
}

bool SegmentMapView::editNote(std::uint64_t id, bool fresh)
{
    for (const NoteShape& shape : noteShapes(m_canvas->origin()))
        if (shape.id == id) {
            NoteEditor::open(*m_canvas->viewport(), m_style, *m_notes, id, shape.disc, fresh);
            return true;
        }
    return false;
}

void SegmentMapView::goToNote(std::uint64_t id)
{
    const report::Annotation* note = m_notes ? m_notes->find(id) : nullptr;
    const auto replay = m_session.replay();
    if (!note || !replay || !m_notesScope.has(*note, replay->device().ordinal))
        return;
    m_notes->choose(id);
    if (const auto state = report::stateOfAnchor(*replay, note->from)) {
        // A block made at a moment is there from then on.
        const auto* allocation = std::get_if<report::AllocationAnchor>(&note->from);
        const AllocationId made
            = allocation ? report::findAllocation(*replay, *allocation) : AllocationId::none;
        const bool alive = valid(made) && m_view.cursor() >= *state
            && m_view.cursor() < replay->timeline.allocations().endState[index(made)];
        if (!alive) {
            m_view.pushHistory();
            m_view.setCursor(*state);
        }
    }
    setMoment(MapMoment::Cursor);
    flush();
    if (!m_built.picture)
        return;
    if (const auto spot = spotOf(*m_built.state, *m_built.replay, note->from))
        m_canvas->showSegment(spot->segment);
}

bool SegmentMapView::deleteNote()
{
    const auto chosen = m_notes ? m_notes->chosen() : std::nullopt;
    if (chosen)
        m_notes->remove(*chosen);
    return chosen.has_value();
}

void SegmentMapView::addNoteEntries(QMenu& menu, const MapHit& hit)
{
    const auto anchor = anchorOf(hit);
    if (!m_notes || !anchor)
        return;
    const auto add = [this, anchor = *anchor](AnnotationKind kind) {
        report::Annotation note = m_notesScope.blank(kind, m_built.replay->device().ordinal);
        note.from = anchor;
        editNote(m_notes->add(std::move(note)), true);
    };
    menu.addAction(
        m_style.icon(QStringLiteral("note")), tr("Note here"), this, [add] { add(AnnotationKind::Note); });
    menu.addAction(
        m_style.icon(QStringLiteral("pin")), tr("Pin this"), this, [add] { add(AnnotationKind::Pin); });
    if (m_notes->chosen())
        menu.addAction(m_style.icon(QStringLiteral("clear")), tr("Delete the chosen note"), this,
            [this] { deleteNote(); });
    menu.addSeparator();
}

} // namespace tidemark
