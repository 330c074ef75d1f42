// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/notes/notes_state.hpp"
#include "widgets/style/style.hpp"

#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <QString>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Which remarks a view shows: those made in views of its name, on its file, and pins of the others.
struct NotesScope {
    std::string view = "timeline"; ///< Annotation::view
    std::uint32_t input = 0; ///< Annotation::input

    bool has(const report::Annotation& note, int device) const
    {
        const bool shown = note.view == view
            || (note.kind == report::AnnotationKind::Pin && note.view != "compare" && view != "compare");
        return shown && note.input == input && note.device == device;
    }
    /// One of its own kind, still without anchors.
    report::Annotation blank(report::AnnotationKind kind, int device) const;
};

/// A remark as it lies in a view, in logical pixels of the view.
struct NoteShape {
    std::uint64_t id = 0; ///< 0: is just being drawn
    int number = 0; ///< on its disc; 0: none yet
    report::AnnotationKind kind = report::AnnotationKind::Note;
    QPointF from;
    QPointF to; ///< equal to `from` where there is only one anchor
    QPointF disc; ///< centre of the numbered disc
    QString text; ///< what stands beside the disc, may be empty
    QString figures; ///< what a ruler measures
    bool chosen = false;

    QRectF rect() const { return QRectF(from, to).normalized(); }
};

/// A text up to its first line break.
std::string_view firstLine(std::string_view text);
/// Where the disc of a remark stands for its anchors, the label's offset counted.
QPointF noteDisc(const report::Annotation& note, QPointF from, QPointF to);
double noteDiscRadius(const Style& style);

/// What of a remark is under the pointer.
enum class NotePart { Disc, From, To, Line };
struct NoteHit {
    std::uint64_t id = 0;
    NotePart part = NotePart::Disc;
};
/// The topmost one. Its ends can be taken only when it is chosen.
std::optional<NoteHit> noteHit(const std::vector<NoteShape>& shapes, const Style& style, QPointF pos);

/// Lines, frames and arrow heads; clip to what they may cover before.
void paintNoteLines(QPainter& painter, const Style& style, const NoteShape& shape);
/// The numbered disc.
void paintNoteDisc(QPainter& painter, const Style& style, const NoteShape& shape);
/// Boxes for the text beside the disc, the best place first; none for no text.
std::vector<QRectF> noteTextBoxes(const Style& style, const NoteShape& shape);
void paintNoteText(QPainter& painter, const Style& style, const NoteShape& shape, const QRectF& box);

/// "note", "box", … for menus and lists, and the icon's name.
QString noteKindName(report::AnnotationKind kind);
QString noteKindIcon(report::AnnotationKind kind);

} // namespace tidemark
