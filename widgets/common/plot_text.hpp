// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QString>

#include <optional>
#include <vector>

namespace tidemark {

enum class TextSide { Left, Centre, Right };

/// Text whose vertical middle is at `at.y()` and whose left edge, middle or right edge is at `at.x()`.
QRectF textBox(const QFont& font, const QString& text, const QPointF& at, TextSide side);
void drawText(QPainter& painter, const QRectF& box, const QString& text, const QColor& colour);
/// The same on a thin rim of `halo`, readable on any ground.
void drawHaloText(
    QPainter& painter, const QRectF& box, const QString& text, const QColor& colour, const QColor& halo);

/// Remembers where labels stand so that none covers another. Lines are avoided where there is another place.
class LabelPlacer {
public:
    explicit LabelPlacer(const QRectF& bounds)
        : m_bounds(bounds)
    { }
    /// The first free box, taken from now on; of several the one that crosses least of the lines. Absent when
    /// none is free.
    std::optional<QRectF> takeFirst(const std::vector<QRectF>& boxes);
    /// Blocks a place without asking.
    void block(const QRectF& box) { m_taken.push_back(box); }
    /// A stretch of a line that labels had better not cross.
    void addLine(const QRectF& line) { m_lines.push_back(line); }

private:
    bool isFree(const QRectF& box) const;
    /// What lines cover of a box.
    double crossed(const QRectF& box) const;

    QRectF m_bounds;
    std::vector<QRectF> m_taken;
    std::vector<QRectF> m_lines;
};

/// A step line through one y per device column, as rectangles aligned to device pixels: crisp, fast, and
/// with dashes that cost nothing.
struct StepLine {
    double left = 0; ///< logical x of column 0
    double ratio = 1;
    double thickness = 1; ///< logical
    double dash = 0; ///< logical; 0 = solid
    double gap = 0;
};
void drawStepLine(
    QPainter& painter, const StepLine& line, const std::vector<double>& y, const QColor& colour);

} // namespace tidemark
