// SPDX-License-Identifier: GPL-3.0-or-later
// Tables on paper: columns share the width, the head is repeated on every page, rows are not cut.
#include "widgets/report/page_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tidemark::page {

namespace {

constexpr double between = pt(10); // room between two columns
constexpr double rowPad = pt(2.2);
constexpr double indentStep = pt(9);
/// Sizes a table is tried in.
constexpr std::array sizes{86, 80, 74, 68, 62};
/// What a text column may claim for words that would rather not break.
constexpr double mostForWord = 0.3;

/// A column's cells that carry more than words: a severity has a shape, a grade a frame.
enum class Manner { Words, Severity, Grade };

Manner mannerOf(const report::Column& column)
{
    if (column.name == "Severity" || column.name == "Level")
        return Manner::Severity;
    return column.name == "Grade" ? Manner::Grade : Manner::Words;
}

struct Shape {
    const char* icon;
    Tone shape;
    Tone text;
};
std::optional<Shape> shapeOf(const std::string& word)
{
    if (word == "critical" || word == "error")
        return Shape{"sev-critical", Tone::Crit, Tone::Crit};
    if (word == "warning")
        return Shape{"sev-warning", Tone::WarnFill, Tone::Warn};
    if (word == "info" || word == "note" || word == "advice")
        return Shape{"sev-info", Tone::Info, Tone::Info};
    return std::nullopt;
}

class TableMaker {
public:
    TableMaker(const report::Table& table, Area area, const Job& job)
        : m_table(table)
        , m_area(area)
        , m_job(job)
    {
        const double room = area.width - between * static_cast<double>(columns() - 1);
        for (const int size : sizes) {
            m_look = look::body.sized(size);
            m_head = look::small.sized(std::min(size, look::small.size));
            const std::vector<ColumnNeed> needs = this->needs(room);
            const double least = std::accumulate(needs.begin(), needs.end(), 0.0,
                [](double sum, const ColumnNeed& need) { return sum + need.least; });
            m_widths = columnWidths(needs, room);
            if (least <= room)
                break;
        }
        double x = 0;
        for (const double width : m_widths) {
            m_left.push_back(x);
            x += width + between;
        }
    }

    std::size_t columns() const { return m_table.columns.size(); }

    Strip head() const
    {
        Strip strip;
        std::vector<Lines> cells;
        std::size_t most = 1;
        for (std::size_t c = 0; c < columns(); ++c) {
            cells.push_back(RunningText(m_table.columns[c].name, m_head).lines(m_widths[c]));
            most = std::max(most, cells.back().size());
        }
        const double line = m_head.lineHeight();
        strip.height = line * static_cast<double>(most) + 2 * rowPad;
        for (std::size_t c = 0; c < columns(); ++c) {
            // Names stand at the bottom, where the numbers are.
            const double top = rowPad + line * static_cast<double>(most - cells[c].size());
            addLines(strip.draws, cells[c], {m_left[c], top}, line, m_widths[c], isNumber(c));
        }
        strip.draws.emplace_back(DrawRule{{0, strip.height}, {m_area.width, strip.height}, Tone::Line});
        strip.keep = true;
        return strip;
    }

    /// One strip; several only where the row is higher than half a page.
    Strips row(const std::vector<report::Cell>& cells, bool foot, bool firstFoot) const
    {
        std::vector<Lines> lines(columns());
        std::size_t most = 1;
        for (std::size_t c = 0; c < std::min(cells.size(), columns()); ++c) {
            const double indent = inset(c, cells[c]);
            lines[c] = text(c, cells[c], foot).lines(m_widths[c] - indent);
            most = std::max(most, lines[c].size());
        }
        const double line = m_look.lineHeight();
        const auto whole = std::max<std::size_t>(1, static_cast<std::size_t>(m_area.height / 2 / line));
        Strips out;
        for (std::size_t from = 0; from < most; from += whole) {
            const std::size_t take = std::min(whole, most - from);
            const bool first = from == 0;
            const bool last = from + take == most;
            Strip strip;
            const double top = first ? rowPad : 0;
            strip.height = top + line * static_cast<double>(take) + (last ? rowPad : 0);
            if (firstFoot && first)
                strip.draws.emplace_back(DrawRule{{0, 0}, {m_area.width, 0}, Tone::Line});
            for (std::size_t c = 0; c < std::min(cells.size(), columns()); ++c) {
                const auto begin = static_cast<std::ptrdiff_t>(std::min(from, lines[c].size()));
                const auto end = static_cast<std::ptrdiff_t>(std::min(from + take, lines[c].size()));
                const Lines part(lines[c].begin() + begin, lines[c].begin() + end);
                const double indent = inset(c, cells[c]);
                if (first)
                    addMark(strip.draws, c, cells[c], part, top);
                addLines(
                    strip.draws, part, {m_left[c] + indent, top}, line, m_widths[c] - indent, isNumber(c));
            }
            if (last)
                strip.draws.emplace_back(
                    DrawRule{{0, strip.height}, {m_area.width, strip.height}, Tone::Line2});
            out.push_back(std::move(strip));
        }
        return out;
    }

private:
    bool isNumber(std::size_t column) const { return m_table.columns[column].unit != report::Unit::None; }

    RunningText text(std::size_t column, const report::Cell& cell, bool foot) const
    {
        TextLook own = foot ? m_look.in(Tone::Text2) : m_look;
        if (mannerOf(m_table.columns[column]) == Manner::Severity)
            if (const auto shape = shapeOf(cell.text.plain()))
                own = own.in(shape->text);
        return {cell.text, own};
    }

    /// Room left of a cell's text.
    double inset(std::size_t column, const report::Cell& cell) const
    {
        switch (mannerOf(m_table.columns[column])) {
        case Manner::Severity:
            return shapeOf(cell.text.plain()) ? pt(11) : 0;
        case Manner::Grade:
            return pt(3.2);
        case Manner::Words:
            break;
        }
        const double most = m_widths.empty() ? pt(150) : m_widths[column] * 0.5;
        return std::min(indentStep * std::max(cell.indent, 0), most);
    }

    void addMark(
        Draws& draws, std::size_t column, const report::Cell& cell, const Lines& lines, double top) const
    {
        const double line = m_look.lineHeight();
        const Manner manner = mannerOf(m_table.columns[column]);
        if (manner == Manner::Severity) {
            const auto shape = shapeOf(cell.text.plain());
            const auto icon = shape ? iconSvg(shape->icon, shape->shape) : nullptr;
            if (icon) {
                const double side = pt(8.5);
                draws.emplace_back(DrawSvg{{m_left[column], top + (line - side) / 2, side, side}, icon});
            }
        } else if (manner == Manner::Grade && lines.size() == 1) {
            const double pad = pt(3.2);
            draws.emplace_back(
                DrawBox{{m_left[column], top + pt(0.8), lines.front().width + 2 * pad, line - pt(1.6)}, {},
                    Tone::Line, pt(2)});
        }
    }

    std::vector<ColumnNeed> needs(double room) const
    {
        std::vector<ColumnNeed> out(columns());
        for (std::size_t c = 0; c < columns(); ++c) {
            ColumnNeed& need = out[c];
            const RunningText head(m_table.columns[c].name, m_head);
            need.number = isNumber(c);
            need.least = head.widestWord();
            need.natural = head.naturalWidth();
            const double frame = mannerOf(m_table.columns[c]) == Manner::Grade ? pt(3.2) : 0;
            for (const auto* rows : {&m_table.rows, &m_table.foot})
                for (const auto& row : *rows) {
                    if (c >= row.size() || m_job.stopped())
                        continue;
                    const RunningText cell = text(c, row[c], false);
                    const double beside = inset(c, row[c]) + frame;
                    const double natural = cell.naturalWidth();
                    need.natural = std::max(need.natural, natural + beside);
                    need.least = std::max(need.least,
                        (need.number ? natural : std::min(cell.widestWord(), room * mostForWord)) + beside);
                }
            need.natural = std::max(need.natural, need.least) + pt(0.5);
            need.least += pt(0.5);
        }
        return out;
    }

    const report::Table& m_table;
    Area m_area;
    const Job& m_job;
    TextLook m_look;
    TextLook m_head;
    std::vector<double> m_widths;
    std::vector<double> m_left;
};

} // namespace

std::vector<double> columnWidths(const std::vector<ColumnNeed>& needs, double room)
{
    double least = 0;
    double natural = 0;
    for (const ColumnNeed& need : needs) {
        least += need.least;
        natural += need.natural;
    }
    std::vector<double> out;
    if (natural <= room) {
        // What is left over goes to the texts, so that numbers stand at the right edge.
        double texts = 0;
        for (const ColumnNeed& need : needs)
            texts += need.number ? 0 : need.natural;
        for (const ColumnNeed& need : needs)
            out.push_back(need.natural
                + (texts > 0 ? (need.number ? 0 : (room - natural) * need.natural / texts)
                             : (room - natural) / static_cast<double>(needs.size())));
        return out;
    }
    if (least <= room) {
        const double share = natural > least ? (room - least) / (natural - least) : 0;
        for (const ColumnNeed& need : needs)
            out.push_back(need.least + (need.natural - need.least) * share);
        return out;
    }
    for (const ColumnNeed& need : needs)
        out.push_back(need.least * room / least);
    return out;
}

void StripMaker::operator()(const report::Table& block)
{
    if (block.columns.empty())
        return;
    if (!block.caption.empty())
        addText(RunningText(block.caption, look::heading.sized(92)), look::heading, pt(9), 0, true);
    const TableMaker maker(block, m_area, m_job);
    m_heads.push_back(maker.head());
    const int head = static_cast<int>(m_heads.size()) - 1;
    Strip first = m_heads.back();
    first.before = block.caption.empty() ? pt(6) : 0;
    m_strips.push_back(std::move(first));
    const std::size_t all = block.rows.size() + block.foot.size();
    for (std::size_t i = 0; i < all; ++i) {
        if (m_job.stopped())
            return;
        const bool foot = i >= block.rows.size();
        const auto& cells = foot ? block.foot[i - block.rows.size()] : block.rows[i];
        Strips strips = maker.row(cells, foot, i == block.rows.size());
        for (Strip& strip : strips) {
            strip.repeats = head;
            // Sums are not left alone at the top of a page.
            strip.keep = i + 1 < all && i + 1 >= block.rows.size();
            m_strips.push_back(std::move(strip));
        }
    }
    if (!block.note.empty()) {
        m_strips.back().keep = true;
        addText(RunningText(block.note, look::small), look::small, pt(3));
    }
}

} // namespace tidemark::page
