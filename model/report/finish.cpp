// SPDX-License-Identifier: GPL-3.0-or-later
// The last pass over a report's texts.
#include "model/core/text.hpp"
#include "model/report/builder.hpp"

#include <algorithm>

namespace tidemark::report {

namespace {

class Finisher {
public:
    explicit Finisher(const Redactor& redactor)
        : m_redactor(redactor)
    { }

    void text(std::string& text) const
    {
        if (m_redactor.active())
            text = m_redactor.text(displayText(text));
        text = displayText(text, maxSpanChars);
    }
    /// Neighbours of different style may make a word together: a span is looked at by itself.
    void text(Text& text) const
    {
        for (Span& span : text.spans)
            this->text(span.text);
    }

    void operator()(Heading& block) const { text(block.text); }
    void operator()(Paragraph& block) const { text(block.text); }
    void operator()(Note& block) const { text(block.text); }
    void operator()(Figures& block) const
    {
        for (Figure& each : block.figures)
            for (std::string* one : {&each.name, &each.value, &each.note})
                text(*one);
    }
    void operator()(Table& block) const
    {
        text(block.caption);
        text(block.note);
        for (Column& column : block.columns)
            text(column.name);
        for (auto* rows : {&block.rows, &block.foot})
            for (std::vector<Cell>& row : *rows)
                for (Cell& cell : row)
                    text(cell.text);
    }
    void operator()(KeyValues& block) const
    {
        for (auto& [key, cell] : block.pairs) {
            text(key);
            text(cell.text);
        }
    }
    void operator()(List& block) const
    {
        for (Text& each : block.items)
            text(each);
    }
    void operator()(Picture& block) const
    {
        text(block.alt);
        text(block.caption);
        if (block.kind == Picture::Kind::Svg)
            block.data = m_redactor.svg(block.data);
    }
    void operator()(Stack& block) const
    {
        text(block.title);
        for (std::string& frame : block.frames)
            text(frame);
    }
    void operator()(Code& block) const
    {
        for (std::string& line : block.lines)
            text(line);
    }

private:
    const Redactor& m_redactor;
};

} // namespace

void finishDocument(Document& document, const Redactor& redactor)
{
    const Finisher finisher(redactor);
    finisher.text(document.title);
    finisher.text(document.head);
    finisher.text(document.foot);
    for (Text& each : document.summary)
        finisher.text(each);
    for (Section& section : document.sections) {
        finisher.text(section.title);
        finisher.text(section.subtitle);
        for (Block& block : section.blocks)
            std::visit(finisher, block);
    }
    for (auto& [name, json] : document.data)
        json = redactor.json(json);
}

} // namespace tidemark::report
