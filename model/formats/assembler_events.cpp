// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/formats/assembler.hpp"

namespace tidemark {

void Assembler::learnShape(std::span<const Value> flat)
{
    const std::size_t count = flat.size() / 2;
    bool same = count == m_lastEvent.count;
    for (std::size_t i = 0; same && i < count; ++i)
        same = m_lastEvent.texts[i] == flat[2 * i];
    if (same)
        return;
    m_lastEvent.count = 0;
    ++m_lastEvent.version;
    if (count > EventShape::maxFields)
        return;
    for (std::size_t i = 0; i < count; ++i) {
        m_lastEvent.texts[i] = flat[2 * i];
        m_lastEvent.keys[i] = keyOf(flat[2 * i]);
        if (!keyBelongs(DictKind::Event, m_lastEvent.keys[i]))
            return;
    }
    m_lastEvent.count = count;
}

bool Assembler::setPlainField(EventRow& row, Key key, Value value)
{
    switch (value.tag()) {
    case Tag::Int:
        switch (key) {
        case Key::Addr:
        case Key::Address:
            row.address = static_cast<std::uint64_t>(value.payload());
            return true;
        case Key::Size:
            row.size = value.payload();
            row.hasSize = true;
            return true;
        case Key::Stream:
            row.stream = value.payload();
            return true;
        case Key::TimeUs:
            row.timeUs = value.payload();
            return true;
        default:
            return false;
        }
    case Tag::Stack:
    case Tag::EmptyList:
        (key == Key::Frames ? row.stack : row.forwardStack)
            = value.tag() == Tag::Stack ? nodeOf(StackId{value.id()}) : m_emptyNode;
        return key == Key::Frames || key == Key::ForwardFrames;
    case Tag::Node: {
        const Tag content = m_nodes[value.id()].tag();
        if (content != Tag::Stack && content != Tag::EmptyList)
            return false;
        (key == Key::Frames ? row.stack : row.forwardStack) = StackId{value.id()};
        return key == Key::Frames || key == Key::ForwardFrames;
    }
    default:
        return setPlainOther(row, key, value);
    }
}

bool Assembler::setPlainOther(EventRow& row, Key key, Value value)
{
    if (value.tag() == Tag::Pair && key == Key::PoolId) {
        row.pool = poolOf(value);
        return true;
    }
    if (value.tag() != Tag::Text && value.tag() != Tag::None)
        return false;
    const bool empty = value.tag() == Tag::None || value.text() == m_emptyText;
    const StringId text = empty ? StringId::none : value.text();
    switch (key) {
    case Key::Action: {
        const Word* word = wordOf(value);
        if (!word || word->action == Action::Unknown)
            return false;
        row.action = word->action;
        return true;
    }
    case Key::CompileContext:
        row.compileContext = text == m_notCompiled ? StringId::none : text;
        return true;
    case Key::UserMetadata:
        row.userMetadata = text;
        return true;
    case Key::InternalMetadata:
        row.internalMetadata = text;
        return true;
    case Key::Category:
        row.category = text;
        return true;
    default:
        return false;
    }
}

std::optional<Value> Assembler::makeEvent(const EventRow& row)
{
    Chunk& chunk = m_chunks.back();
    const std::uint64_t at = chunk.end();
    if (at >= limits::maxEvents)
        return std::nullopt;
    m_builder.append(chunk.rows, row);
    return Value{Tag::Event, static_cast<std::int64_t>(at)};
}

void Assembler::tellArrived(const Job& job)
{
    // Of a range, rows go again while it is read.
    if (!job.arrived || m_options.ranged())
        return;
    const std::size_t trace = m_chunks.size() - 1;
    const EventColumns& columns = m_chunks.back().rows.columns;
    // The first rows of a trace may have been told of as the last ones of the trace before.
    const bool goesOn = trace == m_toldTrace && m_toldEvents <= columns.count();
    const std::size_t told = goesOn ? m_toldEvents : 0;
    if (columns.count() > told)
        job.arrived(
            {trace, told, std::span(columns.action).subspan(told), std::span(columns.size).subspan(told)});
    m_toldTrace = trace;
    m_toldEvents = columns.count();
}

} // namespace tidemark
