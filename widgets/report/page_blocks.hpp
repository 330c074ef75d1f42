// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of widgets/report: a document's blocks as strips.
#pragma once

#include "model/core/job.hpp"
#include "widgets/report/page_flow.hpp"

namespace tidemark::page {

namespace look {
inline constexpr TextLook body{90, false, false, Tone::Text};
inline constexpr TextLook small{82, false, false, Tone::Text2};
inline constexpr TextLook title{172, true, false, Tone::Text};
inline constexpr TextLook section{120, true, false, Tone::Text};
inline constexpr TextLook heading{100, true, false, Tone::Text};
inline constexpr TextLook value{140, true, false, Tone::Text};
inline constexpr TextLook code{80, false, true, Tone::Text};
} // namespace look

/// The text area of a page, in layout units.
struct Area {
    double width = 0;
    double height = 0;
};

/// Strips of what was added so far.
class StripMaker {
public:
    StripMaker(Area area, const Job& job);

    void addTitle(const report::Document& document);
    void addSection(const report::Section& section);

    const Strips& strips() const { return m_strips; }
    /// Heads of tables, for flow().
    const std::vector<Strip>& heads() const { return m_heads; }

    void operator()(const report::Heading& block);
    void operator()(const report::Paragraph& block);
    void operator()(const report::Figures& block);
    void operator()(const report::Table& block);
    void operator()(const report::KeyValues& block);
    void operator()(const report::List& block);
    void operator()(const report::Picture& block);
    void operator()(const report::Stack& block);
    void operator()(const report::Note& block);
    void operator()(const report::Code& block);

private:
    Strip& add(double before, double height);
    /// A paragraph; a long one goes on on the next page.
    void addText(const RunningText& text, const TextLook& look, double before, double indent = 0,
        bool keep = false, const Draws& mark = {});
    void addCells(const std::vector<report::Figure>& figures, std::size_t from, std::size_t count);
    void addPairs(const report::KeyValues& block, std::size_t columns);

    Area m_area;
    const Job& m_job;
    Strips m_strips;
    std::vector<Strip> m_heads;
};

/// Widths of a table's columns; see page_table.cpp.
struct ColumnNeed {
    double least = 0; ///< nothing breaks that should not
    double natural = 0; ///< everything on one line
    bool number = false;
};
/// Shares `room` among columns; what cannot have its least width is cut to its share.
std::vector<double> columnWidths(const std::vector<ColumnNeed>& needs, double room);

} // namespace tidemark::page
