// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/page_blocks.hpp"

#include "model/report/svg_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

namespace tidemark::page {

namespace {

constexpr double paragraphGap = pt(5);
constexpr double blockGap = pt(7);
/// Paragraphs of up to so many lines stay on one page.
constexpr std::size_t wholeLines = 8;
constexpr std::size_t mostNoteLines = 12;

struct NoteLook {
    const char* icon;
    const char* word;
    Tone shape;
    Tone text;
    Tone ground;
};
NoteLook noteLook(report::Note::Tone tone)
{
    constexpr std::array looks{
        NoteLook{"sev-info", "Note", Tone::Info, Tone::Info, Tone::InfoBg},
        NoteLook{"sev-ok", "Good", Tone::Ok, Tone::Ok, Tone::OkBg},
        NoteLook{"sev-warning", "Warning", Tone::WarnFill, Tone::Warn, Tone::WarnBg},
        NoteLook{"sev-critical", "Critical", Tone::Crit, Tone::Crit, Tone::CritBg},
    };
    return looks[static_cast<std::size_t>(tone)];
}

/// "forward@model.py:39", not what compiled code calls itself.
bool hasLine(const std::string& frame)
{
    const std::size_t digits = frame.find_last_not_of("0123456789");
    return digits != std::string::npos && digits + 1 < frame.size() && frame[digits] == ':'
        && frame.find('@') < digits;
}

/// Paper folds nothing away: of long stacks the lines of programs, innermost first, or else the first frames.
std::vector<std::size_t> framesForPaper(const std::vector<std::string>& frames)
{
    constexpr std::size_t most = 14;
    std::vector<std::size_t> all(frames.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (all.size() <= most)
        return all;
    std::vector<std::size_t> out;
    std::copy_if(
        all.begin(), all.end(), std::back_inserter(out), [&](std::size_t i) { return hasLine(frames[i]); });
    if (out.size() < most / 2)
        out = std::move(all);
    out.resize(std::min(out.size(), most));
    return out;
}

std::string plural(std::size_t count, const char* one, const char* many)
{
    return std::to_string(count) + (count == 1 ? one : many);
}

} // namespace

StripMaker::StripMaker(Area area, const Job& job)
    : m_area(area)
    , m_job(job)
{ }

Strip& StripMaker::add(double before, double height)
{
    Strip strip;
    strip.before = before;
    strip.height = height;
    m_strips.push_back(std::move(strip));
    return m_strips.back();
}

void StripMaker::addText(
    const RunningText& text, const TextLook& look, double before, double indent, bool keep, const Draws& mark)
{
    const Lines lines = text.lines(m_area.width - indent);
    const double height = look.lineHeight();
    const std::size_t count = lines.size();
    for (std::size_t from = 0; from < count;) {
        // Never a single line by itself at either end.
        std::size_t take = count - from <= wholeLines ? count - from : 2;
        if (count - from - take == 1)
            ++take;
        Strip& strip = add(from == 0 ? before : 0, height * static_cast<double>(take));
        const Lines part(lines.begin() + static_cast<std::ptrdiff_t>(from),
            lines.begin() + static_cast<std::ptrdiff_t>(from + take));
        if (from == 0)
            addMoved(strip.draws, mark, {0, 0});
        addLines(strip.draws, part, {indent, 0}, height);
        from += take;
        strip.keep = keep;
    }
}

void StripMaker::addTitle(const report::Document& document)
{
    addText(RunningText(document.title, look::title), look::title, 0, 0, true);
    const TextLook summary = look::body.sized(96);
    for (const report::Text& each : document.summary)
        addText(RunningText(each, summary), summary, paragraphGap);
    m_strips.back().keep = false;
}

void StripMaker::addSection(const report::Section& section)
{
    RunningText text(section.title, look::section);
    if (!section.subtitle.empty())
        text.add(std::string("  "), look::section).add(section.subtitle, look::small.sized(88));
    addText(text, look::section, pt(18), 0, true);
    for (std::size_t i = 0; i < section.blocks.size(); ++i) {
        if (m_job.stopped())
            return;
        std::visit(*this, section.blocks[i]);
        // Words that lead to lines to paste stay with them.
        if (i + 1 < section.blocks.size() && std::holds_alternative<report::Paragraph>(section.blocks[i])
            && std::holds_alternative<report::Code>(section.blocks[i + 1]))
            m_strips.back().keep = true;
    }
    m_strips.back().keep = false;
}

void StripMaker::operator()(const report::Heading& block)
{
    const TextLook own = block.level <= 2 ? look::heading : look::heading.sized(92);
    addText(RunningText(block.text, own), own, pt(11), 0, true);
}

void StripMaker::operator()(const report::Paragraph& block)
{
    addText(RunningText(block.text, look::body), look::body, paragraphGap);
}

void StripMaker::operator()(const report::Figures& block)
{
    constexpr std::size_t mostInRow = 4;
    const std::size_t count = block.figures.size();
    const std::size_t rows = (count + mostInRow - 1) / mostInRow;
    for (std::size_t row = 0, from = 0; row < rows; ++row) {
        const std::size_t left = count - from;
        const std::size_t take = (left + rows - row - 1) / (rows - row);
        addCells(block.figures, from, take);
        from += take;
    }
}

void StripMaker::addCells(const std::vector<report::Figure>& figures, std::size_t from, std::size_t count)
{
    const double width = m_area.width / static_cast<double>(count);
    const double pad = pt(8);
    const double room = width - 2 * pad;
    struct Cell {
        Lines name;
        Lines value;
        Lines note;
        TextLook valueLook = look::value;
    };
    std::vector<Cell> cells;
    std::array<double, 3> heights{};
    for (std::size_t i = 0; i < count; ++i) {
        const report::Figure& figure = figures[from + i];
        Cell cell;
        if (figure.alarming)
            cell.valueLook.tone = Tone::Crit;
        RunningText value(figure.value, cell.valueLook);
        while (value.naturalWidth() > room && cell.valueLook.size > 90) {
            cell.valueLook.size -= 10;
            value = RunningText(figure.value, cell.valueLook);
        }
        cell.value = value.lines(room);
        cell.name = RunningText(figure.name, look::small).lines(room - (figure.alarming ? pt(12) : 0));
        cell.note = RunningText(figure.note, look::small).lines(room);
        for (Lines* lines : {&cell.name, &cell.value, &cell.note})
            lines->resize(std::min(lines->size(), mostNoteLines));
        heights[0] = std::max(heights[0], static_cast<double>(cell.name.size()) * look::small.lineHeight());
        heights[1]
            = std::max(heights[1], static_cast<double>(cell.value.size()) * cell.valueLook.lineHeight());
        heights[2] = std::max(heights[2], static_cast<double>(cell.note.size()) * look::small.lineHeight());
        cells.push_back(std::move(cell));
    }
    const double padY = pt(6);
    const double height = heights[0] + heights[1] + heights[2] + 2 * padY;
    // Rows of one group touch each other.
    Strip& strip = add(from == 0 ? pt(9) : 0, height);
    strip.draws.emplace_back(DrawBox{{0, 0, m_area.width, height}, std::nullopt, Tone::Line, 0});
    for (std::size_t i = 0; i < count; ++i) {
        const double x = width * static_cast<double>(i);
        if (i > 0)
            strip.draws.emplace_back(DrawRule{{x, 0}, {x, height}, Tone::Line2});
        double nameX = x + pad;
        if (figures[from + i].alarming) {
            if (const auto icon = iconSvg("sev-critical", Tone::Crit))
                strip.draws.emplace_back(DrawSvg{{nameX, padY + pt(1.5), pt(9), pt(9)}, icon});
            nameX += pt(12);
        }
        addLines(strip.draws, cells[i].name, {nameX, padY}, look::small.lineHeight());
        addLines(strip.draws, cells[i].value, {x + pad, padY + heights[0]}, cells[i].valueLook.lineHeight());
        addLines(
            strip.draws, cells[i].note, {x + pad, padY + heights[0] + heights[1]}, look::small.lineHeight());
    }
}

void StripMaker::operator()(const report::KeyValues& block)
{
    // Numbers stand in two columns where they are short; words take the whole width.
    const double half = (m_area.width - pt(20)) / 2;
    const bool narrow
        = !block.units.empty() && std::all_of(block.pairs.begin(), block.pairs.end(), [&](const auto& pair) {
              return RunningText(pair.first, look::small).naturalWidth()
                  + RunningText(pair.second.text, look::body.sized(86)).naturalWidth() + pt(12)
                  <= half;
          });
    addPairs(block, narrow ? 2 : 1);
}

void StripMaker::addPairs(const report::KeyValues& block, std::size_t columns)
{
    const double gap = pt(20);
    const double width
        = (m_area.width - gap * static_cast<double>(columns - 1)) / static_cast<double>(columns);
    const TextLook valueLook = look::body.sized(86);
    double keyWidth = 0;
    for (const auto& pair : block.pairs)
        keyWidth = std::max(keyWidth, RunningText(pair.first, look::small).naturalWidth());
    keyWidth = std::min(keyWidth, width * 0.34) + pt(8);
    bool first = true;
    for (std::size_t at = 0; at < block.pairs.size(); at += columns) {
        std::vector<std::pair<Lines, Lines>> cells;
        std::size_t most = 1;
        for (std::size_t i = at; i < std::min(at + columns, block.pairs.size()); ++i) {
            const auto& [key, cell] = block.pairs[i];
            Lines left = RunningText(key, look::small).lines(columns > 1 ? width : keyWidth - pt(8));
            Lines right = RunningText(cell.text, valueLook).lines(columns > 1 ? width : width - keyWidth);
            most = std::max({most, left.size(), right.size()});
            cells.emplace_back(std::move(left), std::move(right));
        }
        const double line = valueLook.lineHeight();
        // A value that is longer than half a page goes on on the next one.
        const auto whole = static_cast<std::size_t>(m_area.height / 2 / line);
        for (std::size_t from = 0; from < most; from += whole) {
            const std::size_t take = std::min(whole, most - from);
            const auto part = [&](const Lines& lines) {
                const auto begin = static_cast<std::ptrdiff_t>(std::min(from, lines.size()));
                const auto end = static_cast<std::ptrdiff_t>(std::min(from + take, lines.size()));
                return Lines(lines.begin() + begin, lines.begin() + end);
            };
            const double height = line * static_cast<double>(take) + pt(3);
            Strip& strip = add(std::exchange(first, false) ? paragraphGap : 0, height);
            double x = 0;
            for (const auto& [left, right] : cells) {
                addLines(strip.draws, part(left), {x, pt(1.5)}, line);
                if (columns > 1)
                    addLines(strip.draws, part(right), {x, pt(1.5)}, line, width, true);
                else
                    addLines(strip.draws, part(right), {x + keyWidth, pt(1.5)}, line);
                if (from + take == most)
                    strip.draws.emplace_back(DrawRule{{x, height}, {x + width, height}, Tone::Line2});
                x += width + gap;
            }
        }
    }
}

void StripMaker::operator()(const report::List& block)
{
    const double indent = pt(16);
    std::size_t number = 0;
    for (const report::Text& item : block.items) {
        Draws mark;
        if (block.ordered)
            addLines(mark,
                RunningText(std::to_string(++number) + ".", look::body.in(Tone::Text2)).lines(indent), {0, 0},
                look::body.lineHeight());
        else
            mark.emplace_back(DrawBox{
                {pt(5), look::body.lineHeight() / 2 - pt(1.2), pt(2.8), pt(2.8)}, Tone::Text2, {}, pt(1.4)});
        addText(RunningText(item, look::body), look::body, number == 1 ? paragraphGap : pt(2.5), indent,
            false, mark);
    }
}

void StripMaker::operator()(const report::Picture& block)
{
    Draw draw;
    const bool svg = block.kind == report::Picture::Kind::Svg;
    QImage image;
    if (!svg)
        image.loadFromData(reinterpret_cast<const uchar*>(block.data.data()),
            static_cast<int>(std::min<std::size_t>(block.data.size(), 1U << 30U)));
    if (block.width <= 0 || block.height <= 0
        || (svg ? !report::isHarmlessSvg(block.data) : image.isNull())) {
        addText(RunningText(block.alt, look::small), look::small, blockGap);
        return;
    }
    double width = m_area.width;
    double height = width * block.height / block.width;
    if (const double most = m_area.height * 0.62; height > most) {
        width *= most / height;
        height = most;
    }
    const QRectF box(0, 0, width, height);
    Strip& strip = add(blockGap, height);
    if (svg)
        strip.draws.emplace_back(DrawSvg{box, std::make_shared<const std::string>(block.data)});
    else
        strip.draws.emplace_back(DrawImage{box, std::move(image)});
    if (block.caption.empty())
        return;
    strip.keep = true;
    addText(RunningText(block.caption, look::small), look::small, pt(3));
}

void StripMaker::operator()(const report::Stack& block)
{
    addText(RunningText(block.title, look::small.in(Tone::Text).strong()), look::small, blockGap, 0, true);
    const std::vector<std::size_t> shown = framesForPaper(block.frames);
    const std::size_t count = shown.size();
    const double indent = pt(22);
    const double gap = pt(10);
    const double half = (m_area.width - gap) / 2;
    std::vector<RunningText> frames;
    bool narrow = count > 8;
    for (const std::size_t each : shown) {
        frames.emplace_back(block.frames[each], look::code);
        narrow = narrow && frames.back().naturalWidth() <= half - indent;
    }
    // Long stacks of short lines go down the left half, then down the right one.
    const std::size_t rows = narrow ? (count + 1) / 2 : count;
    const auto number = [&](std::size_t i) {
        return RunningText(std::to_string(shown[i] + 1), look::code.in(Tone::Text2)).lines(indent);
    };
    const double line = look::code.lineHeight();
    for (std::size_t i = 0; i < rows; ++i) {
        Draws mark;
        addLines(mark, number(i), {pt(4), 0}, line);
        if (narrow && rows + i < count) {
            addLines(mark, number(rows + i), {half + gap + pt(4), 0}, line);
            addLines(mark, frames[rows + i].lines(half - indent), {half + gap + indent, 0}, line);
        }
        // Not one line alone at either end.
        addText(frames[i], look::code, 0, indent, rows > 1 && (i == 0 || i + 2 == rows), mark);
    }
    if (const std::size_t more = block.more + block.frames.size() - count; more > 0)
        addText(RunningText("and " + plural(more, " more frame", " more frames"), look::small), look::small,
            0, indent);
}

void StripMaker::operator()(const report::Note& block)
{
    const NoteLook own = noteLook(block.tone);
    const double padX = pt(9);
    const double padY = pt(4);
    const double textX = padX + pt(14);
    RunningText text(std::string(own.word) + ": ", look::body.strong().in(own.text));
    text.add(block.text, look::body);
    const Lines lines = text.lines(m_area.width - textX - padX);
    const double line = look::body.lineHeight();
    const auto whole = static_cast<std::size_t>(m_area.height / 2 / line);
    for (std::size_t from = 0; from < lines.size(); from += whole) {
        const std::size_t take = std::min(whole, lines.size() - from);
        const Lines part(lines.begin() + static_cast<std::ptrdiff_t>(from),
            lines.begin() + static_cast<std::ptrdiff_t>(from + take));
        const double height = line * static_cast<double>(take) + 2 * padY;
        Strip& strip = add(from == 0 ? blockGap : 0, height);
        strip.draws.emplace_back(DrawBox{{0, 0, m_area.width, height}, own.ground, {}, 0});
        strip.draws.emplace_back(DrawBox{{0, 0, pt(2.5), height}, own.shape, {}, 0});
        if (const auto icon = iconSvg(own.icon, own.shape); icon && from == 0)
            strip.draws.emplace_back(DrawSvg{{padX, padY + pt(1.6), pt(9.5), pt(9.5)}, icon});
        addLines(strip.draws, part, {textX, padY}, line);
    }
}

void StripMaker::operator()(const report::Code& block)
{
    const double padX = pt(8);
    const double pad = pt(5);
    const double line = look::code.lineHeight();
    Lines lines;
    for (const std::string& each : block.lines) {
        Lines broken = RunningText(each, look::code).lines(m_area.width - 2 * padX);
        if (broken.empty())
            broken.emplace_back();
        lines.insert(lines.end(), broken.begin(), broken.end());
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const bool first = i == 0;
        const bool last = i + 1 == lines.size();
        const double height = line + (first ? pad : 0) + (last ? pad : 0);
        Strip& strip = add(first ? blockGap : 0, height);
        // Short ones stay together; of long ones the ends do.
        strip.keep = !last && (lines.size() <= 12 || first || i + 2 == lines.size());
        strip.draws.emplace_back(DrawBox{{0, 0, m_area.width, height}, Tone::Alt, {}, 0});
        for (const double x : {0.0, m_area.width})
            strip.draws.emplace_back(DrawRule{{x, 0}, {x, height}, Tone::Line2});
        if (first)
            strip.draws.emplace_back(DrawRule{{0, 0}, {m_area.width, 0}, Tone::Line2});
        if (last)
            strip.draws.emplace_back(DrawRule{{0, height}, {m_area.width, height}, Tone::Line2});
        addLines(strip.draws, {lines[i]}, {padX, first ? pad : 0}, line);
    }
}

} // namespace tidemark::page
