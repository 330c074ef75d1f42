// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"
#include "model/report/escape.hpp"
#include "model/report/exporter.hpp"
#include "model/report/svg_check.hpp"

#include <charconv>

namespace tidemark::report {

namespace {

std::string html(const Text& text)
{
    std::string out;
    for (const Span& span : text.spans) {
        const std::string inside = escapeHtml(span.text);
        switch (span.style) {
        case Span::Style::Plain:
            out += inside;
            break;
        case Span::Style::Strong:
            out += "<strong>" + inside + "</strong>";
            break;
        case Span::Style::Code:
            out += "<code>" + inside + "</code>";
            break;
        case Span::Style::Muted:
            out += "<span class=\"muted\">" + inside + "</span>";
            break;
        }
    }
    return out;
}

bool isNumber(Unit unit)
{
    return unit != Unit::None;
}

/// The exact value, for sorting and tooltips; empty for none.
std::string exactText(const Exact& exact)
{
    char buffer[40];
    std::to_chars_result result{buffer, {}};
    if (const auto* whole = std::get_if<std::int64_t>(&exact))
        result = std::to_chars(buffer, buffer + sizeof buffer, *whole);
    else if (const auto* real = std::get_if<double>(&exact))
        result = std::to_chars(buffer, buffer + sizeof buffer, *real);
    return std::string(buffer, result.ptr);
}

std::string valueAttributes(const Exact& exact, Unit unit)
{
    const std::string value = exactText(exact);
    if (value.empty())
        return {};
    const bool bytes = unit == Unit::Bytes || unit == Unit::BytesDelta;
    return " data-v=\"" + value + '"' + (bytes ? " title=\"" + value + " B\"" : std::string());
}

class HtmlWriter {
public:
    std::string write(const Document& document)
    {
        head(document);
        m_out += "<body>\n<main>\n<header>\n<p class=\"brand\"><strong>Tidemark</strong> memory "
                 "report</p>\n<p class=\"head\">"
            + escapeHtml(document.head) + "</p>\n</header>\n<h1>" + escapeHtml(document.title) + "</h1>\n";
        for (const Text& each : document.summary)
            m_out += "<p class=\"summary\">" + html(each) + "</p>\n";
        for (const Section& section : document.sections)
            write(section);
        m_out += "</main>\n<footer>" + escapeHtml(document.foot) + "</footer>\n<script>";
        m_out += htmlScript();
        m_out += "</script>\n</body>\n</html>\n";
        return std::move(m_out);
    }

    void operator()(const Heading& block)
    {
        const char* tag = block.level <= 2 ? "h3" : "h4";
        m_out += std::string("<") + tag + ">" + html(block.text) + "</" + tag + ">\n";
    }
    void operator()(const Paragraph& block) { m_out += "<p>" + html(block.text) + "</p>\n"; }
    void operator()(const Figures& block)
    {
        m_out += "<dl class=\"figures\">\n";
        for (const Figure& each : block.figures)
            m_out += std::string("<div") + (each.alarming ? " class=\"alarm\"" : "") + "><dt>"
                + escapeHtml(each.name) + "</dt><dd class=\"value\"" + valueAttributes(each.exact, each.unit)
                + ">" + escapeHtml(each.value) + "</dd><dd>" + escapeHtml(each.note) + "</dd></div>\n";
        m_out += "</dl>\n";
    }
    void operator()(const Table& block)
    {
        m_out += "<div class=\"wide\"><table";
        m_out += block.sortable && block.rows.size() > 1 ? " data-sort=\"1\">\n" : ">\n";
        if (!block.caption.empty())
            m_out += "<caption>" + escapeHtml(block.caption) + "</caption>\n";
        m_out += "<thead><tr>";
        for (const Column& column : block.columns)
            m_out += std::string("<th scope=\"col\"") + (isNumber(column.unit) ? " class=\"n\">" : ">")
                + escapeHtml(column.name) + "</th>";
        m_out += "</tr></thead>\n<tbody>\n";
        for (const auto& row : block.rows)
            this->row(block, row);
        m_out += "</tbody>\n";
        if (!block.foot.empty()) {
            m_out += "<tfoot>\n";
            for (const auto& row : block.foot)
                this->row(block, row);
            m_out += "</tfoot>\n";
        }
        m_out += "</table></div>\n";
        if (!block.note.empty())
            m_out += "<p class=\"muted\">" + escapeHtml(block.note) + "</p>\n";
    }
    void operator()(const KeyValues& block)
    {
        // Without units it explains words: they stand one below the other.
        m_out += block.units.empty() ? "<dl class=\"values words\">\n" : "<dl class=\"values\">\n";
        for (std::size_t i = 0; i < block.pairs.size(); ++i) {
            const auto& [key, cell] = block.pairs[i];
            const Unit unit = i < block.units.size() ? block.units[i] : Unit::None;
            m_out += "<div><dt>" + escapeHtml(key) + "</dt><dd" + valueAttributes(cell.exact, unit) + ">"
                + html(cell.text) + "</dd></div>\n";
        }
        m_out += "</dl>\n";
    }
    void operator()(const List& block)
    {
        const char* tag = block.ordered ? "ol" : "ul";
        m_out += std::string("<") + tag + ">\n";
        for (const Text& each : block.items)
            m_out += "<li>" + html(each) + "</li>\n";
        m_out += std::string("</") + tag + ">\n";
    }
    void operator()(const Picture& block)
    {
        const std::string size
            = "width=\"" + std::to_string(block.width) + "\" height=\"" + std::to_string(block.height) + '"';
        m_out += "<figure>\n";
        if (block.kind == Picture::Kind::Svg && isHarmlessSvg(block.data))
            m_out += "<div class=\"picture\" role=\"img\" aria-label=\"" + escapeHtml(block.alt) + "\">"
                + svgElement(block.data) + "</div>\n";
        else
            m_out += "<img " + size + " alt=\"" + escapeHtml(block.alt) + "\" src=\"data:image/"
                + (block.kind == Picture::Kind::Svg ? "svg+xml" : "png") + ";base64," + base64(block.data)
                + "\">\n";
        if (!block.caption.empty())
            m_out += "<figcaption>" + escapeHtml(block.caption) + "</figcaption>\n";
        m_out += "</figure>\n";
    }
    void operator()(const Stack& block)
    {
        m_out += std::string("<details") + (block.folded ? ">" : " open>") + "<summary>"
            + escapeHtml(block.title) + "</summary>\n<ol class=\"stack\">\n";
        for (const std::string& frame : block.frames)
            m_out += "<li>" + escapeHtml(frame) + "</li>\n";
        m_out += "</ol>\n";
        if (block.more > 0)
            m_out += "<p class=\"muted\">and " + counted(block.more, "more frame", "more frames") + "</p>\n";
        m_out += "</details>\n";
    }
    void operator()(const Note& block)
    {
        m_out += std::string("<p class=\"note ") + toneName(block.tone) + "\">" + html(block.text) + "</p>\n";
    }
    void operator()(const Code& block)
    {
        m_out += "<pre><code>";
        for (const std::string& line : block.lines)
            m_out += escapeHtml(line) + '\n';
        m_out += "</code></pre>\n";
    }

private:
    void head(const Document& document)
    {
        m_out += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                 "'unsafe-inline'; "
                 "img-src data:; script-src '";
        m_out += htmlScriptHash();
        m_out += "'; base-uri 'none'; form-action 'none'\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
                 "content=\"no-referrer\">\n"
                 "<link rel=\"icon\" href=\"data:,\">\n<title>"
            + escapeHtml(document.title) + "</title>\n<style>\n";
        m_out += htmlStyle();
        m_out += "</style>\n</head>\n";
    }

    void write(const Section& section)
    {
        m_out += "<section id=\"" + escapeHtml(section.id) + "\">\n<h2>" + escapeHtml(section.title);
        if (!section.subtitle.empty())
            m_out += " <small>" + escapeHtml(section.subtitle) + "</small>";
        m_out += "</h2>\n";
        for (const Block& block : section.blocks)
            std::visit(*this, block);
        m_out += "</section>\n";
    }

    void row(const Table& table, const std::vector<Cell>& cells)
    {
        m_out += "<tr>";
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const Unit unit = i < table.columns.size() ? table.columns[i].unit : Unit::None;
            const bool wide = i < table.columns.size() && table.columns[i].wide;
            m_out += "<td";
            if (isNumber(unit))
                m_out += " class=\"n\"";
            else if (wide)
                m_out += " class=\"w\"";
            m_out += valueAttributes(cells[i].exact, unit);
            if (cells[i].indent > 0)
                m_out += " style=\"padding-left:" + std::to_string(std::min(cells[i].indent, 24) * 14 + 8)
                    + "px\"";
            m_out += '>' + html(cells[i].text) + "</td>";
        }
        m_out += "</tr>\n";
    }

    std::string m_out;
};

} // namespace

std::string writeHtml(const Document& document)
{
    return HtmlWriter().write(document);
}

} // namespace tidemark::report
