// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/svg_check.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tidemark::report {

namespace {

constexpr std::array elements{"svg", "g", "defs", "path", "rect", "line", "polyline", "polygon", "circle",
    "ellipse", "text", "tspan", "title", "desc", "clipPath", "linearGradient", "radialGradient", "stop",
    "pattern", "image", "use", "symbol", "mask"};

bool isSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// One attribute that may stay.
bool harmless(std::string_view name, std::string_view value)
{
    if (name.size() > 2 && (name[0] == 'o' || name[0] == 'O') && (name[1] == 'n' || name[1] == 'N'))
        return false;
    if (value.find('&') != std::string_view::npos
        && (name == "href" || name == "style" || name.ends_with(":href")))
        return false;
    if (name == "href" || name.ends_with(":href"))
        return value.starts_with("#") || value.starts_with("data:image/png;base64,");
    if (name.starts_with("xmlns"))
        return true;
    for (std::size_t at = value.find("url("); at != std::string_view::npos; at = value.find("url(", at + 4))
        if (at + 4 >= value.size() || value[at + 4] != '#')
            return false;
    return value.find("javascript:") == std::string_view::npos
        && value.find("@import") == std::string_view::npos
        && value.find("expression(") == std::string_view::npos;
}

/// Attributes of a tag, from behind its name to its end.
bool harmlessAttributes(std::string_view tag)
{
    while (true) {
        while (!tag.empty() && (isSpace(tag.front()) || tag.front() == '/'))
            tag.remove_prefix(1);
        if (tag.empty())
            return true;
        const std::size_t equals = tag.find('=');
        if (equals == std::string_view::npos)
            return false;
        std::string_view name = tag.substr(0, equals);
        while (!name.empty() && isSpace(name.back()))
            name.remove_suffix(1);
        tag.remove_prefix(equals + 1);
        while (!tag.empty() && isSpace(tag.front()))
            tag.remove_prefix(1);
        if (tag.empty() || (tag.front() != '"' && tag.front() != '\''))
            return false;
        const std::size_t end = tag.find(tag.front(), 1);
        if (end == std::string_view::npos || name.empty() || !harmless(name, tag.substr(1, end - 1)))
            return false;
        tag.remove_prefix(end + 1);
    }
}

/// Where a tag that begins at `from` ends: at its ">" outside of quotes.
std::size_t endOfTag(std::string_view svg, std::size_t from)
{
    char quote = 0;
    for (std::size_t i = from; i < svg.size(); ++i) {
        const char c = svg[i];
        if (quote != 0)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return i;
    }
    return std::string_view::npos;
}

} // namespace

std::string svgElement(std::string_view svg)
{
    const std::size_t from = svg.find("<svg");
    const std::size_t to = svg.rfind("</svg>");
    return from == std::string_view::npos || to == std::string_view::npos || to < from
        ? std::string()
        : std::string(svg.substr(from, to + 6 - from));
}

bool isHarmlessSvg(std::string_view whole)
{
    const std::string svg = svgElement(whole);
    std::vector<std::string_view> open;
    const std::string_view view = svg;
    for (std::size_t at = view.find('<'); at != std::string_view::npos; at = view.find('<', at + 1)) {
        const std::size_t end = endOfTag(view, at);
        if (end == std::string_view::npos)
            return false;
        std::string_view tag = view.substr(at + 1, end - at - 1);
        const bool closes = tag.starts_with('/');
        if (closes)
            tag.remove_prefix(1);
        const std::size_t nameEnd = std::min(tag.find_first_of(" \t\r\n/"), tag.size());
        const std::string_view name = tag.substr(0, nameEnd);
        if (std::find(elements.begin(), elements.end(), name) == elements.end())
            return false; // comments, CDATA and anything else that is not needed to draw
        if (closes) {
            if (open.empty() || open.back() != name)
                return false;
            open.pop_back();
        } else {
            if (!harmlessAttributes(tag.substr(nameEnd)))
                return false;
            if (!tag.ends_with('/'))
                open.push_back(name);
        }
        at = end;
    }
    return !svg.empty() && open.empty();
}

} // namespace tidemark::report
