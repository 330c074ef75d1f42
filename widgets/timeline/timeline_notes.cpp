// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_notes.hpp"

#include "model/report/anchors.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_painters.hpp"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

using report::AnnotationKind;

constexpr int longestLine = 80; // characters of a remark beside its disc

QString tr(const char* text)
{
    return QCoreApplication::translate("Timeline", text);
}

StateIndex stateOfEvent(const TimelineScene& scene, std::int64_t event)
{
    if (scene.replay)
        return report::stateOfEvent(*scene.replay, event);
    const auto last = static_cast<std::int64_t>(scene.source->states()) - 1;
    return static_cast<StateIndex>(std::clamp<std::int64_t>(event, -1, last - 1) + 1);
}

/// Middle of what the picture shows of an allocation.
std::optional<QPointF> allocationPoint(const TimelineScene& scene, AllocationId id)
{
    if (!scene.picture || !scene.scale.draws(scene.picture->request.window))
        return std::nullopt;
    const TimelineImage& layout = *scene.picture->layout;
    const AllocationColumns& all = scene.replay->timeline.allocations();
    const auto alive = [&](const ColumnInfo& c) {
        return c.shown >= all.firstState[index(id)] && c.shown < all.endState[index(id)];
    };
    const auto first = std::find_if(layout.columns.begin(), layout.columns.end(), alive);
    if (first == layout.columns.end())
        return std::nullopt;
    const auto last = std::find_if(layout.columns.rbegin(), layout.columns.rend(), alive).base();
    const auto left = static_cast<int>(first - layout.columns.begin());
    const auto right = static_cast<int>(last - layout.columns.begin());
    const auto number = static_cast<std::uint32_t>(index(id));
    const auto rowIn = [&](int x) -> std::optional<double> {
        int top = -1;
        int bottom = -1;
        for (int y = 0; y < layout.image.height; ++y)
            if (layout.image.at(x, y) == number) {
                top = top < 0 ? y : top;
                bottom = y;
            }
        return top < 0 ? std::nullopt : std::optional((top + bottom + 1) / 2.0);
    };
    const TimelineWindow& w = layout.window;
    const auto place = [&](int x, double y) {
        return QPointF(scene.xPixel(w.left + (x + 0.5) / w.width * (w.right - w.left)),
            scene.yPixel(w.top - y / w.height * (w.top - w.bottom)));
    };
    const int middle = (left + right - 1) / 2;
    for (int off = 0; off < right - left; ++off) {
        const int x = middle + (off % 2 == 0 ? off / 2 : -(off + 1) / 2);
        if (x < left || x >= right)
            continue;
        if (const auto row = rowIn(x))
            return place(x, *row);
    }
    // Thinner than a row everywhere: the model knows where it lies.
    const StateIndex state = layout.columns[static_cast<std::size_t>(middle)].shown;
    const StackRequest& drawn = scene.picture->request;
    const auto extent = drawn.source->extent(drawn.colouring, drawn.order, id, state);
    if (!extent)
        return std::nullopt;
    return QPointF(place(middle, 0).x(),
        scene.yPixel((static_cast<double>(extent->low) + static_cast<double>(extent->high)) / 2));
}

std::optional<NoteShape> shapeOf(const TimelineScene& scene, const report::Annotation& note, int number)
{
    const auto from = anchorPoint(scene, note.from);
    const auto to = note.to.index() == 0 ? from : anchorPoint(scene, note.to);
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
    shape.chosen = scene.onScreen && (note.id == 0 || (scene.notes && scene.notes->chosen() == note.id));
    if (const auto ruler = rulerOf(scene, note))
        shape.figures = rulerText(scene, *ruler);
    const QRectF plot = scene.geometry.plot;
    const QRectF covered = shape.rect().adjusted(-1, -1, 1, 1);
    if (!plot.adjusted(-1, -1, 1, 1).intersects(covered))
        return std::nullopt;
    // The disc of what begins outside of the window stays in sight.
    shape.disc.setX(std::clamp(shape.disc.x(), plot.left() + 9, plot.right() - 9));
    shape.disc.setY(std::clamp(shape.disc.y(), plot.top() + 9, std::max(plot.top() + 9, plot.bottom() - 9)));
    return shape;
}

void paintFigures(QPainter& painter, const TimelineScene& scene, const NoteShape& shape, LabelPlacer& labels)
{
    const QRectF plot = scene.geometry.plot;
    const QPointF middle = shape.rect().center();
    if (shape.figures.isEmpty() || !plot.contains(middle))
        return;
    const QFont font = scene.style.font(FontRole::Small);
    QRectF box = textBox(font, shape.figures, middle, TextSide::Centre);
    box.moveLeft(
        std::clamp(box.left(), plot.left() + 6, std::max(plot.left() + 6, plot.right() - box.width() - 6)));
    labels.block(box.adjusted(-4, -2, 4, 2));
    painter.setFont(font);
    painter.setPen(QPen(scene.style.color(Tone::Sel), 1));
    painter.setBrush(scene.style.color(Tone::Base));
    painter.drawRect(box.adjusted(-4.5, -0.5, 3.5, 0.5));
    drawText(painter, box, shape.figures, scene.style.color(Tone::Text));
}

/// Remarks anywhere in the trace, as dots on the overview.
void paintOverviewTicks(QPainter& painter, const TimelineScene& scene)
{
    const QRectF strip = scene.geometry.overview;
    if (strip.isNull() || !scene.notes || !scene.source || scene.empty())
        return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(scene.style.color(Tone::Halo), 1));
    painter.setBrush(scene.style.color(Tone::Ink));
    for (const report::Annotation& note : scene.notes->items()) {
        if (!scene.notesScope.has(note, noteDevice(scene)))
            continue;
        std::optional<StateIndex> state;
        if (scene.replay)
            state = report::stateOfAnchor(*scene.replay, note.from);
        else if (const auto* point = std::get_if<report::PointAnchor>(&note.from))
            state = stateOfEvent(scene, point->event);
        if (state)
            painter.drawEllipse(
                QPointF(overviewX(scene, scene.scale.mark(*state)), strip.bottom() - 4), 3, 3);
    }
    painter.restore();
}

} // namespace

int noteDevice(const TimelineScene& scene)
{
    return scene.replay ? scene.replay->device().ordinal : 0;
}

std::optional<Ruler> rulerOf(const TimelineScene& scene, const report::Annotation& note)
{
    const auto* from = std::get_if<report::PointAnchor>(&note.from);
    const auto* to = std::get_if<report::PointAnchor>(&note.to);
    if (note.kind != AnnotationKind::Ruler || !from || !to)
        return std::nullopt;
    return Ruler{stateOfEvent(scene, from->event), from->bytes, stateOfEvent(scene, to->event), to->bytes};
}

QString rulerText(const TimelineScene& scene, const Ruler& ruler)
{
    QStringList parts{tr("Δ %1").arg(deltaText(ruler.lastBytes - ruler.firstBytes))};
    const std::int64_t events
        = static_cast<std::int64_t>(ruler.last) - static_cast<std::int64_t>(ruler.first);
    parts << (scene.categories() ? tr("%1 rows")
            : events == 1        ? tr("%1 event")
                                 : tr("%1 events"))
                 .arg(countText(events));
    if (scene.source->hasTimes())
        parts << durationText(
            static_cast<std::int64_t>(scene.source->timeOf(ruler.last) - scene.source->timeOf(ruler.first)));
    return parts.join(QStringLiteral(" · "));
}

report::PointAnchor pointAnchorAt(const TimelineScene& scene, QPointF pos)
{
    const QRect& plot = scene.geometry.plot;
    const StateIndex state = scene.stateShownAt(std::clamp<double>(pos.x(), plot.left(), plot.right()));
    const double y = std::clamp<double>(pos.y(), plot.top(), plot.bottom() + 1);
    const std::int64_t bytes = std::llround(std::max(0.0, scene.bytesAt(y)));
    return scene.replay ? report::pointAnchor(*scene.replay, state, bytes)
                        : report::PointAnchor{momentOf(state), bytes};
}

std::optional<QPointF> anchorPoint(const TimelineScene& scene, const report::Anchor& anchor)
{
    if (const auto* point = std::get_if<report::PointAnchor>(&anchor))
        return QPointF(scene.xPixel(scene.scale.mark(stateOfEvent(scene, point->event))),
            scene.yPixel(static_cast<double>(point->bytes)));
    const auto* allocation = std::get_if<report::AllocationAnchor>(&anchor);
    if (!allocation || !scene.replay)
        return std::nullopt;
    const AllocationId id = report::findAllocation(*scene.replay, *allocation);
    return valid(id) ? allocationPoint(scene, id) : std::nullopt;
}

std::vector<NoteShape> noteShapes(const TimelineScene& scene)
{
    std::vector<NoteShape> shapes;
    if (scene.empty() || !scene.source || !scene.notes)
        return shapes;
    const int device = noteDevice(scene);
    const auto& items = scene.notes->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool dragged = scene.openNote && scene.openNote->id == items[i].id;
        const report::Annotation& note = dragged ? *scene.openNote : items[i];
        if (!scene.notesScope.has(note, device))
            continue;
        if (auto shape = shapeOf(scene, note, static_cast<int>(i) + 1))
            shapes.push_back(std::move(*shape));
    }
    if (scene.openNote && scene.openNote->id == 0)
        if (auto shape = shapeOf(scene, *scene.openNote, 0))
            shapes.push_back(std::move(*shape));
    return shapes;
}

void paintNotes(QPainter& painter, const TimelineScene& scene, LabelPlacer& labels)
{
    paintOverviewTicks(painter, scene);
    const std::vector<NoteShape> shapes = noteShapes(scene);
    if (shapes.empty())
        return;
    const double r = noteDiscRadius(scene.style) + 1;
    painter.save();
    painter.setClipRect(scene.geometry.plot, Qt::IntersectClip);
    for (const NoteShape& shape : shapes)
        paintNoteLines(painter, scene.style, shape);
    painter.restore();
    for (const NoteShape& shape : shapes) {
        paintFigures(painter, scene, shape, labels);
        paintNoteDisc(painter, scene.style, shape);
        labels.block(QRectF(shape.disc.x() - r, shape.disc.y() - r, 2 * r, 2 * r));
    }
    for (const NoteShape& shape : shapes)
        if (const auto box = labels.takeFirst(noteTextBoxes(scene.style, shape)))
            paintNoteText(painter, scene.style, shape, *box);
}

} // namespace tidemark
