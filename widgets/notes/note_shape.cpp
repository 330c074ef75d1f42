// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/notes/note_shape.hpp"

#include "widgets/common/plot_text.hpp"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tidemark {

namespace {

using report::AnnotationKind;

constexpr double grab = 6; // pixels around a line or an end
constexpr double longestText = 210;
constexpr QPointF noteOffset(-20, -26);
constexpr QPointF rulerOffset(0, -16);

double length(QPointF v)
{
    return std::hypot(v.x(), v.y());
}

/// Distance of a point to a stretch of a line.
double distance(QPointF p, QPointF a, QPointF b)
{
    const QPointF along = b - a;
    const double squared = QPointF::dotProduct(along, along);
    const double t = squared > 0 ? std::clamp(QPointF::dotProduct(p - a, along) / squared, 0.0, 1.0) : 0;
    return length(p - (a + t * along));
}

QPointF usualDisc(AnnotationKind kind, QPointF from, QPointF to)
{
    switch (kind) {
    case AnnotationKind::Box:
        return QRectF(from, to).normalized().topLeft();
    case AnnotationKind::Arrow:
        return from;
    case AnnotationKind::Ruler:
        return from + rulerOffset;
    default:
        return from + noteOffset;
    }
}

bool hasEnds(AnnotationKind kind)
{
    return kind == AnnotationKind::Box || kind == AnnotationKind::Arrow || kind == AnnotationKind::Ruler;
}

void drawArrowHead(QPainter& painter, QPointF tail, QPointF tip)
{
    const QPointF along = tip - tail;
    const double size = length(along);
    if (size < 1)
        return;
    const double angle = std::atan2(along.y(), along.x());
    constexpr double side = 9;
    constexpr double spread = std::numbers::pi / 7;
    const auto wing
        = [&](double turn) { return tip - side * QPointF(std::cos(angle + turn), std::sin(angle + turn)); };
    painter.drawPolyline(QPolygonF{wing(spread), tip, wing(-spread)});
}

} // namespace

report::Annotation NotesScope::blank(AnnotationKind kind, int device) const
{
    report::Annotation note;
    note.kind = kind;
    note.view = view;
    note.input = input;
    note.device = device;
    return note;
}

std::string_view firstLine(std::string_view text)
{
    return text.substr(0, text.find('\n'));
}

QPointF noteDisc(const report::Annotation& note, QPointF from, QPointF to)
{
    return usualDisc(note.kind, from, to) + QPointF(note.labelX, note.labelY);
}

double noteDiscRadius(const Style& style)
{
    return style.metrics().px(8.5);
}

std::optional<NoteHit> noteHit(const std::vector<NoteShape>& shapes, const Style& style, QPointF pos)
{
    const double radius = noteDiscRadius(style) + 1;
    for (auto it = shapes.rbegin(); it != shapes.rend(); ++it)
        if (it->id != 0 && length(pos - it->disc) <= radius)
            return NoteHit{it->id, NotePart::Disc};
    for (auto it = shapes.rbegin(); it != shapes.rend(); ++it) {
        const NoteShape& shape = *it;
        if (shape.id == 0 || !hasEnds(shape.kind))
            continue;
        if (shape.chosen && length(pos - shape.from) <= grab)
            return NoteHit{shape.id, NotePart::From};
        if (shape.chosen && length(pos - shape.to) <= grab)
            return NoteHit{shape.id, NotePart::To};
        bool near = false;
        if (shape.kind == AnnotationKind::Box) {
            const QRectF box = shape.rect();
            near = box.adjusted(-grab, -grab, grab, grab).contains(pos)
                && !box.adjusted(grab, grab, -grab, -grab).contains(pos);
        } else {
            near = distance(pos, shape.from, shape.to) <= grab;
        }
        if (near)
            return NoteHit{shape.id, NotePart::Line};
    }
    return std::nullopt;
}

void paintNoteLines(QPainter& painter, const Style& style, const NoteShape& shape)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    const QColor ink = shape.kind == AnnotationKind::Ruler ? style.color(Tone::Sel) : style.color(Tone::Ink);
    const double thick = (shape.chosen ? 2.4 : 1.5);
    const auto draw = [&](const QPen& pen) {
        painter.setPen(pen);
        switch (shape.kind) {
        case AnnotationKind::Box:
            painter.drawRect(shape.rect());
            break;
        case AnnotationKind::Arrow:
            painter.drawLine(shape.from, shape.to);
            drawArrowHead(painter, shape.from, shape.to);
            break;
        case AnnotationKind::Ruler:
            painter.drawLine(shape.from, shape.to);
            for (const QPointF& end : {shape.from, shape.to})
                painter.drawLine(end + QPointF(0, -6), end + QPointF(0, 6));
            break;
        case AnnotationKind::Note:
        case AnnotationKind::Pin:
            painter.drawLine(shape.disc, shape.from);
            break;
        }
    };
    draw(QPen(style.color(Tone::Halo), thick + 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    draw(QPen(ink, thick, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    if (shape.kind == AnnotationKind::Pin || shape.kind == AnnotationKind::Note) {
        painter.setBrush(ink);
        painter.setPen(QPen(style.color(Tone::Halo), 1));
        const double r = shape.kind == AnnotationKind::Pin ? 3.5 : 2;
        painter.drawEllipse(shape.from, r, r);
    }
    if (shape.chosen && hasEnds(shape.kind)) {
        painter.setPen(QPen(ink, 1));
        painter.setBrush(style.color(Tone::Halo));
        for (const QPointF& end : {shape.from, shape.to})
            painter.drawRect(QRectF(end.x() - 3, end.y() - 3, 6, 6));
    }
    painter.restore();
}

void paintNoteDisc(QPainter& painter, const Style& style, const NoteShape& shape)
{
    if (shape.number <= 0)
        return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const double r = noteDiscRadius(style);
    painter.setPen(
        QPen(shape.chosen ? style.color(Tone::Sel) : style.color(Tone::Halo), shape.chosen ? 2.5 : 1.5));
    painter.setBrush(style.color(Tone::Ink));
    painter.drawEllipse(shape.disc, r, r);
    QFont font = style.font(FontRole::Small);
    font.setWeight(QFont::DemiBold);
    const QString text = QString::number(shape.number);
    if (text.size() > 2)
        font.setPointSizeF(font.pointSizeF() * 0.78);
    painter.setFont(font);
    drawText(painter, textBox(font, text, shape.disc, TextSide::Centre), text, style.color(Tone::Plot));
    painter.restore();
}

std::vector<QRectF> noteTextBoxes(const Style& style, const NoteShape& shape)
{
    if (shape.text.isEmpty())
        return {};
    const QFont font = style.font(FontRole::Small);
    const QFontMetricsF metrics(font);
    const double width
        = std::min(metrics.horizontalAdvance(shape.text), longestText * style.metrics().scale) + 8;
    const double height = std::ceil(metrics.height()) + 2;
    const double away = noteDiscRadius(style) + 3;
    const QPointF c = shape.disc;
    return {QRectF(c.x() + away, c.y() - height / 2, width, height),
        QRectF(c.x() - away - width, c.y() - height / 2, width, height),
        QRectF(c.x() - width / 2, c.y() - away - height, width, height),
        QRectF(c.x() - width / 2, c.y() + away, width, height),
        QRectF(c.x() + away, c.y() - away - height, width, height),
        QRectF(c.x() + away, c.y() + away, width, height),
        QRectF(c.x() - away - width, c.y() - away - height, width, height),
        QRectF(c.x() - away - width, c.y() + away, width, height),
        QRectF(c.x() + 3 * away, c.y() - 2 * away - height, width, height),
        QRectF(c.x() + 3 * away, c.y() + 2 * away, width, height)};
}

void paintNoteText(QPainter& painter, const Style& style, const NoteShape& shape, const QRectF& box)
{
    const QFont font = style.font(FontRole::Small);
    const QString text = QFontMetricsF(font).elidedText(shape.text, Qt::ElideRight, box.width() - 7);
    painter.save();
    painter.setFont(font);
    painter.setPen(QPen(style.color(Tone::Line), 1));
    painter.setBrush(style.color(Tone::Base));
    painter.drawRect(QRectF(std::floor(box.left()) + 0.5, std::floor(box.top()) + 0.5,
        std::ceil(box.width()) - 1, std::ceil(box.height()) - 1));
    drawText(painter, textBox(font, text, {box.left() + 4, box.center().y()}, TextSide::Left), text,
        style.color(Tone::Text));
    painter.restore();
}

QString noteKindName(AnnotationKind kind)
{
    const char* const context = "Notes";
    switch (kind) {
    case AnnotationKind::Note:
        return QCoreApplication::translate(context, "Note");
    case AnnotationKind::Box:
        return QCoreApplication::translate(context, "Box");
    case AnnotationKind::Arrow:
        return QCoreApplication::translate(context, "Arrow");
    case AnnotationKind::Ruler:
        return QCoreApplication::translate(context, "Ruler");
    case AnnotationKind::Pin:
        return QCoreApplication::translate(context, "Pin");
    }
    return {};
}

QString noteKindIcon(AnnotationKind kind)
{
    return QString::fromLatin1(report::annotationKindName(kind));
}

} // namespace tidemark
