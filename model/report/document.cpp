// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/document.hpp"

#include "model/core/units.hpp"

#include <array>

namespace tidemark::report {

Text::Text(std::string text)
{
    add(std::move(text));
}

Text& Text::add(std::string text, Span::Style style)
{
    if (!text.empty())
        spans.push_back({style, std::move(text)});
    return *this;
}

std::string Text::plain() const
{
    std::string out;
    for (const Span& span : spans)
        out += span.text;
    return out;
}

const char* unitName(Unit unit)
{
    constexpr std::array names{"text", "bytes", "bytes-delta", "count", "percent", "event"};
    return names[static_cast<std::size_t>(unit)];
}

const char* toneName(Note::Tone tone)
{
    constexpr std::array names{"info", "good", "warning", "critical"};
    return names[static_cast<std::size_t>(tone)];
}

const Section* Document::section(std::string_view id) const
{
    for (const Section& each : sections)
        if (each.id == id)
            return &each;
    return nullptr;
}

Cell textCell(Text text, int indent)
{
    return {std::move(text), {}, indent};
}

Cell bytesCell(std::int64_t bytes)
{
    return {formatBytes(bytes), bytes, 0};
}

Cell bytesCell(std::uint64_t bytes)
{
    return bytesCell(static_cast<std::int64_t>(bytes));
}

Cell deltaCell(std::int64_t bytes)
{
    return {bytes == 0 ? std::string("0 B") : formatBytesDelta(bytes), bytes, 0};
}

Cell countCell(std::uint64_t count)
{
    return {formatUnsigned(count), static_cast<std::int64_t>(count), 0};
}

Cell eventCell(std::int64_t event)
{
    return {event < 0 ? std::string("before the first") : formatCount(event), event, 0};
}

Cell percentCell(double fraction)
{
    return {formatPercent(fraction), fraction, 0};
}

Cell shareCell(std::uint64_t part, std::int64_t whole)
{
    return whole > 0 ? percentCell(static_cast<double>(part) / static_cast<double>(whole)) : unknownCell();
}

Cell unknownCell()
{
    return {"–", {}, 0};
}

} // namespace tidemark::report
