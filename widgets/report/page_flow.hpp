// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of widgets/report: what stands on a page, and how strips come to stand on pages.
#pragma once

#include "widgets/report/page_text.hpp"

#include <QImage>
#include <QRectF>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

class QPainter;

namespace tidemark::page {

/// A run of text; `at` is the left end of its base line.
struct DrawText {
    QPointF at;
    double width = 0;
    QString text;
    TextLook look;
};
/// A box, filled, framed or both.
struct DrawBox {
    QRectF box;
    std::optional<Tone> fill;
    std::optional<Tone> frame;
    double radius = 0;
};
/// A straight line half a point thick.
struct DrawRule {
    QPointF from;
    QPointF to;
    Tone tone = Tone::Line2;
};
/// A drawing, its SVG text shared with the document's.
struct DrawSvg {
    QRectF box;
    std::shared_ptr<const std::string> svg;
};
struct DrawImage {
    QRectF box;
    QImage image;
};
using Draw = std::variant<DrawText, DrawBox, DrawRule, DrawSvg, DrawImage>;
using Draws = std::vector<Draw>;

/// Adds `from` to `to`, moved.
void addMoved(Draws& to, const Draws& from, QPointF by);
/// Paints them; the painter's unit is the layout's. Cost: an SVG is read each time. Any thread.
void paintAll(QPainter& painter, const Draws& draws);

/// Lines of text one below the other from `topLeft`, `lineHeight` apart. `room` wider than 0 and `right`:
/// they end at its right.
void addLines(
    Draws& to, const Lines& lines, QPointF topLeft, double lineHeight, double room = 0, bool right = false);
/// One of resources/icons in one colour, as SVG text; null for none.
std::shared_ptr<const std::string> iconSvg(const char* name, Tone tone);

/// A piece as wide as the text area that is never cut. Coordinates from its own corner.
struct Strip {
    double before = 0; ///< room above, but not at the top of a page
    double height = 0;
    Draws draws;
    bool keep = false; ///< not the last on a page: what follows belongs to it
    int repeats = -1; ///< position among the heads given to flow(): goes on top when a page begins with it
};
using Strips = std::vector<Strip>;

/// Puts strips on pages of one height, which no strip may exceed.
std::vector<Draws> flow(const Strips& strips, const std::vector<Strip>& heads, double height);

} // namespace tidemark::page
