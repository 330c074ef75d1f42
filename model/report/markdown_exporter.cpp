// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"
#include "model/report/escape.hpp"
#include "model/report/exporter.hpp"

#include <algorithm>
#include <array>

namespace tidemark::report {

namespace {

/// Kept free for the sentence that says what was left out.
constexpr std::size_t reserve = 1200;
/// One list or table leaves room for what comes after it.
constexpr std::size_t mostOfOne = maxMarkdownChars / 3;
/// Parts whose heading is a fold: read by few.
constexpr std::array folded{"tree", "settings", "glossary", "ranks", "reproduce"};

std::string markdown(const Text& text, bool inTable = false)
{
    std::string out;
    for (const Span& span : text.spans) {
        switch (span.style) {
        case Span::Style::Plain:
        case Span::Style::Muted:
            out += escapeMarkdown(span.text);
            break;
        case Span::Style::Strong: {
            const std::string inside = escapeMarkdown(span.text);
            const bool tight = !span.text.empty() && span.text.front() != ' ' && span.text.back() != ' ';
            out += tight ? "**" + inside + "**" : inside;
            break;
        }
        case Span::Style::Code:
            out += markdownCode(span.text, inTable);
            break;
        }
    }
    return out;
}

/// Inside a summary tag there is HTML only.
std::string foldTitle(const std::string& text)
{
    std::string out;
    for (const char c : escapeHtml(text))
        out += c == '@' ? std::string("&#64;") : std::string(1, c);
    return out;
}

std::string fence(const std::vector<std::string>& lines, const std::string& language)
{
    std::size_t longest = 2;
    for (const std::string& line : lines) {
        std::size_t run = 0;
        for (const char c : line) {
            run = c == '`' ? run + 1 : 0;
            longest = std::max(longest, run);
        }
    }
    const std::string ticks(longest + 1, '`');
    std::string out = ticks + language + '\n';
    for (const std::string& line : lines)
        out += line + '\n';
    return out + ticks + "\n\n";
}

std::string rowText(const std::vector<Cell>& row)
{
    std::string out = "|";
    for (const Cell& cell : row) {
        out += ' ';
        for (int i = 0; i < std::min(cell.indent, 24); ++i)
            out += "&emsp;";
        out += markdown(cell.text, true) + " |";
    }
    return out + '\n';
}

class MarkdownWriter {
public:
    std::string write(const Document& document)
    {
        m_out = "# " + escapeMarkdown(document.title) + "\n\n" + escapeMarkdown(document.head) + "\n\n";
        for (const Text& each : document.summary)
            put(markdown(each) + "\n\n");
        for (const Section& section : document.sections)
            write(section);
        if (!m_left.empty())
            m_out += "**Left out, to stay below the length of an issue:** " + leftText() + "\n\n";
        m_out += escapeMarkdown(document.foot) + '\n';
        return std::move(m_out);
    }

    void operator()(const Heading& block)
    {
        put(std::string(block.level <= 2 ? "### " : "#### ") + markdown(block.text) + "\n\n");
    }
    void operator()(const Paragraph& block) { put(markdown(block.text) + "\n\n"); }
    void operator()(const Figures& block)
    {
        std::string names = "|";
        std::string line = "|";
        std::string values = "|";
        for (const Figure& each : block.figures) {
            names += ' ' + escapeMarkdown(each.name) + " |";
            line += "---|";
            values += " **" + escapeMarkdown(each.value) + "**";
            values += each.note.empty() ? " |" : "<br>" + escapeMarkdown(each.note) + " |";
        }
        put(names + '\n' + line + '\n' + values + "\n\n");
    }
    void operator()(const Table& block)
    {
        std::string head
            = block.caption.empty() ? std::string() : "**" + escapeMarkdown(block.caption) + "**\n\n";
        std::string line = "|";
        head += "|";
        for (const Column& column : block.columns) {
            head += ' ' + escapeMarkdown(column.name) + " |";
            line += column.unit == Unit::None ? "---|" : "--:|";
        }
        head += '\n' + line + '\n';
        std::string foot;
        for (const auto& row : block.foot)
            foot += rowText(row);
        std::string rows;
        std::size_t listed = 0;
        const std::size_t fixed = head.size() + foot.size() + block.note.size() + 200;
        for (const auto& row : block.rows) {
            std::string one = rowText(row);
            if (fixed + rows.size() + one.size() > mostOfOne || !fits(fixed + rows.size() + one.size()))
                break;
            rows += one;
            ++listed;
        }
        if (listed == 0 && !block.rows.empty()) {
            leave("a table");
            return;
        }
        std::string text = head + rows;
        if (listed < block.rows.size()) {
            text += "| … " + counted(block.rows.size() - listed, "row is", "rows are") + " left out here |\n";
            leave(counted(block.rows.size() - listed, "row", "rows"));
        }
        text += foot + '\n';
        if (!block.note.empty())
            text += escapeMarkdown(block.note) + "\n\n";
        put(text);
    }
    void operator()(const KeyValues& block)
    {
        std::string text;
        for (const auto& [key, cell] : block.pairs)
            text += "- " + escapeMarkdown(key) + ": " + markdown(cell.text) + '\n';
        put(text + '\n');
    }
    void operator()(const List& block)
    {
        constexpr std::size_t restText = 80;
        std::string text;
        std::size_t listed = 0;
        for (const Text& each : block.items) {
            std::string one
                = (block.ordered ? std::to_string(listed + 1) + ". " : std::string("- ")) + markdown(each);
            one += '\n';
            const std::size_t size = text.size() + one.size() + restText;
            if (size > mostOfOne || !fits(size))
                break;
            text += one;
            ++listed;
        }
        if (listed < block.items.size()) {
            const std::size_t rest = block.items.size() - listed;
            leave(counted(rest, "line of a list", "lines of a list"));
            if (listed == 0)
                return;
            text += "\n… " + counted(rest, "more is", "more are") + " left out here\n";
        }
        put(text + '\n');
    }
    void operator()(const Picture& block)
    {
        put("*Picture:* "
            + escapeMarkdown(block.caption.empty() ? block.alt : block.caption + ". " + block.alt) + "\n\n");
    }
    void operator()(const Stack& block)
    {
        std::string text
            = "<details><summary>" + foldTitle(block.title) + "</summary>\n\n" + fence(block.frames, {});
        if (block.more > 0)
            text += "and " + counted(block.more, "more frame", "more frames") + "\n\n";
        put(text + "</details>\n\n");
    }
    void operator()(const Note& block)
    {
        const char* mark = block.tone == Note::Tone::Warning ? "WARNING"
            : block.tone == Note::Tone::Critical             ? "CAUTION"
                                                             : "NOTE";
        put(std::string("> [!") + mark + "]\n> " + markdown(block.text) + "\n\n");
    }
    void operator()(const Code& block) { put(fence(block.lines, block.language)); }

private:
    bool fits(std::size_t more) const
    {
        return m_out.size() + more + m_closing + reserve <= maxMarkdownChars;
    }

    void put(const std::string& text)
    {
        if (fits(text.size()))
            m_out += text;
        else
            leave("a paragraph, stack or list");
    }

    void leave(std::string what) { m_left.emplace_back(m_section, std::move(what)); }

    std::string leftText() const
    {
        std::vector<std::string> titles;
        for (const auto& [section, what] : m_left)
            if (titles.empty() || titles.back() != section)
                titles.push_back(section);
        std::string text;
        for (const std::string& each : titles)
            if (text.size() < reserve / 2)
                text += (text.empty() ? "parts of " : ", ") + escapeMarkdown("“" + each + "”");
        return text + " (" + std::to_string(m_left.size()) + (m_left.size() == 1 ? " place" : " places")
            + "). The HTML report has everything.";
    }

    void write(const Section& section)
    {
        m_section = section.title;
        const bool fold = std::find(folded.begin(), folded.end(), section.id) != folded.end();
        const std::string title = section.title + (section.subtitle.empty() ? "" : ": " + section.subtitle);
        m_closing = fold ? 20 : 0;
        const std::size_t before = m_out.size();
        if (fold)
            put("<details><summary><b>" + foldTitle(title) + "</b></summary>\n\n");
        else
            put("## " + escapeMarkdown(title) + "\n\n");
        if (m_out.size() == before)
            return; // no room for so much as its heading
        for (const Block& block : section.blocks)
            std::visit(*this, block);
        if (fold)
            m_out += "</details>\n\n";
        m_closing = 0;
    }

    std::string m_out;
    std::string m_section;
    std::size_t m_closing = 0;
    std::vector<std::pair<std::string, std::string>> m_left; ///< section and what
};

} // namespace

std::string writeMarkdown(const Document& document)
{
    return MarkdownWriter().write(document);
}

} // namespace tidemark::report
