// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of widgets/report: running text broken into lines for paper.
#pragma once

#include "model/report/document.hpp"
#include "widgets/style/theme.hpp"

#include <QFont>
#include <QString>
#include <QTextLayout>

#include <cstdint>
#include <vector>

namespace tidemark::page {

/// Layout units: tenths of a point, so that whole-pixel fonts are exact enough to be laid out the same on
/// every device.
inline constexpr double unitsPerPoint = 10;
constexpr double pt(double points)
{
    return points * unitsPerPoint;
}

/// How a piece of text looks.
struct TextLook {
    int size = 90; ///< units: the font's size
    bool bold = false;
    bool fixed = false;
    Tone tone = Tone::Text;
    bool operator==(const TextLook&) const = default;

    TextLook strong() const { return {size, true, fixed, tone}; }
    TextLook in(Tone other) const { return {size, bold, fixed, other}; }
    TextLook sized(int other) const { return {other, bold, fixed, tone}; }
    double lineHeight() const { return size * 1.42; }
};
/// Its font, free of any device. Any thread.
QFont fontOf(const TextLook& look);

/// A piece of one line in one look; `x` and `width` within the line.
struct Run {
    double x = 0;
    double width = 0;
    QString text;
    TextLook look;
};
struct Line {
    std::vector<Run> runs;
    double width = 0;
};
using Lines = std::vector<Line>;

/// Pieces of text that follow each other.
class RunningText {
public:
    RunningText() = default;
    RunningText(const report::Text& text, const TextLook& look) { add(text, look); }
    RunningText(const std::string& text, const TextLook& look) { add(text, look); }

    RunningText& add(const report::Text& text, const TextLook& look);
    RunningText& add(const std::string& text, const TextLook& look);
    bool empty() const { return m_text.isEmpty(); }

    /// Broken so that no line is wider than `width`: between words, else in long names after a sign, else
    /// anywhere.
    Lines lines(double width) const;
    double naturalWidth() const;
    /// Of what no line break is welcome in.
    double widestWord() const;

private:
    struct Piece {
        int from = 0;
        int length = 0;
        TextLook look;
    };
    double advance(int from, int length) const;
    void prepare(QTextLayout& layout) const;

    QString m_text;
    std::vector<Piece> m_pieces;
};

} // namespace tidemark::page
