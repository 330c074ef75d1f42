// SPDX-License-Identifier: GPL-3.0-or-later
// Remarks on the curves: those of the two timelines, where they lie on the common axis.
#include "widgets/compare/compare_curves.hpp"

#include "model/report/anchors.hpp"
#include "widgets/common/plot_text.hpp"
#include "widgets/notes/note_editor.hpp"
#include "widgets/style/text.hpp"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark {

namespace {

using compare::Which;
using report::AnnotationKind;

constexpr int longestLine = 80; // characters of a remark beside its disc
constexpr double smallest = 4; // pixels a box or an arrow must span to be meant

std::optional<AnnotationKind> kindOf(Tool tool)
{
    switch (tool) {
    case Tool::Note:
        return AnnotationKind::Note;
    case Tool::Box:
        return AnnotationKind::Box;
    case Tool::Arrow:
        return AnnotationKind::Arrow;
    case Tool::Ruler:
        return AnnotationKind::Ruler;
    default:
        return std::nullopt;
    }
}

NotesScope scopeOf(Which side)
{
    return {"compare", side == Which::A ? 0U : 1U};
}

} // namespace

void CompareCurves::setNotes(NotesState& notes)
{
    m_notes = &notes;
    connect(m_notes, &NotesState::changed, this, qOverload<>(&QWidget::update));
    connect(m_notes, &NotesState::chosenChanged, this, qOverload<>(&QWidget::update));
    update();
}

Which CompareCurves::nearer(QPointF pos) const
{
    const auto alignment = m_state.alignment();
    if (!curveKnown(*alignment, m_curve))
        return Which::B;
    const auto away = [&](Which side) {
        const Replay& replay = alignment->replay(side);
        const StateIndex state = alignment->stateOf(side, axisOf(pos.x()));
        return std::abs(yOf(m_curve == compare::Curve::Live ? replay.timeline.requested().at(state)
                                                            : replay.segments.reserved().at(state))
            - pos.y());
    };
    // Below the plot both are one line: B is what is asked about.
    return pos.y() <= plot().bottom() && away(Which::A) < away(Which::B) ? Which::A : Which::B;
}

report::PointAnchor CompareCurves::anchorAt(Which side, QPointF pos) const
{
    const auto alignment = m_state.alignment();
    const Replay& replay = alignment->replay(side);
    const QRectF area = plot();
    const StateIndex state = alignment->stateOf(side, axisOf(std::clamp(pos.x(), area.left(), area.right())));
    if (pos.y() > area.bottom() && curveKnown(*alignment, m_curve))
        return report::pointAnchor(replay, state,
            m_curve == compare::Curve::Live ? replay.timeline.requested().at(state)
                                            : replay.segments.reserved().at(state));
    const double y = std::clamp(pos.y(), area.top(), area.bottom());
    return report::pointAnchor(replay, state, std::llround((area.bottom() - y) / area.height() * m_top));
}

std::optional<QPointF> CompareCurves::placeOf(Which side, const report::Anchor& anchor) const
{
    const auto* point = std::get_if<report::PointAnchor>(&anchor);
    if (!point)
        return std::nullopt; // an allocation is no point of a sum
    const auto alignment = m_state.alignment();
    const StateIndex state = report::stateOfEvent(alignment->replay(side), point->event);
    return QPointF(xOf(alignment->xOf(side, state)), yOf(point->bytes));
}

std::optional<NoteShape> CompareCurves::shapeOf(const report::Annotation& note, int number) const
{
    const Which side = note.input == 0 ? Which::A : Which::B;
    const auto from = placeOf(side, note.from);
    const auto to = note.to.index() == 0 ? from : placeOf(side, note.to);
    if (!from || !to)
        return std::nullopt;
    NoteShape shape;
    shape.id = note.id;
    shape.number = number;
    shape.kind = note.kind;
    shape.from = *from;
    shape.to = *to;
    shape.disc = noteDisc(note, *from, *to);
    shape.text = shownText(firstLine(note.text)).left(longestLine);
    shape.chosen = isVisible() && (note.id == 0 || m_notes->chosen() == note.id);
    const auto* a = std::get_if<report::PointAnchor>(&note.from);
    const auto* b = std::get_if<report::PointAnchor>(&note.to);
    if (note.kind == AnnotationKind::Ruler && a && b)
        shape.figures
            = tr("Δ %1 · %2 events").arg(deltaText(b->bytes - a->bytes), countText(b->event - a->event));
    const QRectF area = plot();
    if (!area.adjusted(-1, -1, 1, 1).intersects(shape.rect().adjusted(-1, -1, 1, 1)))
        return std::nullopt;
    const double r = noteDiscRadius(m_style);
    shape.disc.setX(std::clamp(shape.disc.x(), area.left() + r, std::max(area.left() + r, area.right() - r)));
    shape.disc.setY(std::clamp(shape.disc.y(), area.top() + r, std::max(area.top() + r, area.bottom() - r)));
    return shape;
}

std::vector<NoteShape> CompareCurves::noteShapes() const
{
    std::vector<NoteShape> shapes;
    const auto alignment = m_state.alignment();
    if (!m_notes || !alignment)
        return shapes;
    const auto& items = m_notes->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool moved = m_openNote && m_openNote->id == items[i].id;
        const report::Annotation& note = moved ? *m_openNote : items[i];
        for (const Which side : {Which::A, Which::B})
            if (scopeOf(side).has(note, alignment->replay(side).device().ordinal))
                if (auto shape = shapeOf(note, static_cast<int>(i) + 1))
                    shapes.push_back(std::move(*shape));
    }
    if (m_openNote && m_openNote->id == 0)
        if (auto shape = shapeOf(*m_openNote, 0))
            shapes.push_back(std::move(*shape));
    return shapes;
}

void CompareCurves::paintNotes(QPainter& painter) const
{
    const std::vector<NoteShape> shapes = noteShapes();
    if (shapes.empty())
        return;
    painter.save();
    painter.setClipRect(plot());
    for (const NoteShape& shape : shapes)
        paintNoteLines(painter, m_style, shape);
    painter.setClipping(false);
    LabelPlacer labels(plot().adjusted(2, 0, -2, 0));
    const QFont font = m_style.font(FontRole::Small);
    const double r = noteDiscRadius(m_style) + 1;
    for (const NoteShape& shape : shapes) {
        if (!shape.figures.isEmpty()) {
            const QRectF box = textBox(font, shape.figures, shape.rect().center(), TextSide::Centre);
            labels.block(box);
            painter.setFont(font);
            painter.fillRect(box.adjusted(-3, -1, 3, 1), m_style.color(Tone::Base));
            drawText(painter, box, shape.figures, m_style.color(Tone::Text));
        }
        paintNoteDisc(painter, m_style, shape);
        labels.block(QRectF(shape.disc.x() - r, shape.disc.y() - r, 2 * r, 2 * r));
    }
    for (const NoteShape& shape : shapes)
        if (const auto box = labels.takeFirst(noteTextBoxes(m_style, shape)))
            paintNoteText(painter, m_style, shape, *box);
    painter.restore();
}

bool CompareCurves::pressNote(QPointF pos)
{
    if (!m_notes || !plot().united(lane()).contains(pos))
        return false;
    m_pressed = pos;
    if (const auto kind = kindOf(m_state.view(Which::A).tool())) {
        const Which side = nearer(pos);
        report::Annotation note
            = scopeOf(side).blank(*kind, m_state.alignment()->replay(side).device().ordinal);
        note.from = anchorAt(side, pos);
        if (*kind != AnnotationKind::Note)
            note.to = note.from;
        m_openNote = std::move(note);
        m_drag = Drag::Draw;
        update();
        return true;
    }
    const auto hit = noteHit(noteShapes(), m_style, pos);
    if (!hit)
        return false;
    m_notes->choose(hit->id);
    m_notePart = hit->part;
    m_drag = Drag::Note;
    return true;
}

void CompareCurves::dragNote(QPointF pos)
{
    if (m_drag == Drag::Draw) {
        if (m_openNote)
            (m_openNote->kind == AnnotationKind::Note ? m_openNote->from : m_openNote->to)
                = anchorAt(m_openNote->input == 0 ? Which::A : Which::B, pos);
        update();
        return;
    }
    const report::Annotation* kept = m_notes->chosen() ? m_notes->find(*m_notes->chosen()) : nullptr;
    if (!kept || m_notePart == NotePart::Line)
        return;
    report::Annotation note = *kept;
    if (m_notePart == NotePart::Disc) {
        note.labelX += std::round(pos.x() - m_pressed.x());
        note.labelY += std::round(pos.y() - m_pressed.y());
    } else {
        (m_notePart == NotePart::From ? note.from : note.to)
            = anchorAt(note.input == 0 ? Which::A : Which::B, pos);
    }
    m_openNote = std::move(note);
    update();
}

void CompareCurves::finishNote(QPointF pos)
{
    const auto note = std::exchange(m_openNote, std::nullopt);
    update();
    if (!note)
        return;
    if (note->id != 0) {
        m_notes->edit(note->id, *note);
        return;
    }
    const QPointF moved = pos - m_pressed;
    const bool ruler = note->kind == AnnotationKind::Ruler;
    if (note->kind != AnnotationKind::Note && std::hypot(moved.x(), moved.y()) <= smallest)
        return;
    const std::uint64_t id = m_notes->add(*note);
    if (ruler)
        return;
    m_state.view(note->input == 0 ? Which::A : Which::B).setTool(Tool::Pointer);
    editNote(id, true);
}

void CompareCurves::editNote(std::uint64_t id, bool fresh)
{
    for (const NoteShape& shape : noteShapes())
        if (shape.id == id) {
            NoteEditor::open(*this, m_style, *m_notes, id, shape.disc, fresh);
            return;
        }
}

} // namespace tidemark
