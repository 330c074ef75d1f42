// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/escape.hpp"

#include "model/core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace tidemark::report {

namespace {

struct Entity {
    char character;
    std::string_view name;
};
constexpr std::array entities{Entity{'&', "&amp;"}, Entity{'<', "&lt;"}, Entity{'>', "&gt;"},
    Entity{'"', "&quot;"}, Entity{'\'', "&#39;"}};

} // namespace

std::string escapeHtml(std::string_view text)
{
    std::string out;
    out.reserve(text.size() + text.size() / 16);
    for (const char c : text) {
        const auto entity = std::find_if(
            entities.begin(), entities.end(), [c](const Entity& each) { return each.character == c; });
        if (entity == entities.end())
            out.push_back(c);
        else
            out += entity->name;
    }
    return out;
}

std::string unescapeHtml(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] != '&') {
            out.push_back(text[i++]);
            continue;
        }
        const std::string_view rest = text.substr(i);
        const auto entity = std::find_if(entities.begin(), entities.end(),
            [rest](const Entity& each) { return rest.starts_with(each.name); });
        if (entity != entities.end()) {
            out.push_back(entity->character);
            i += entity->name.size();
            continue;
        }
        const std::size_t end = rest.substr(0, 12).find(';');
        const bool hex = rest.starts_with("&#x") || rest.starts_with("&#X");
        std::uint32_t code = 0;
        if (end != std::string_view::npos && rest.starts_with("&#")) {
            const char* const last = rest.data() + end;
            const auto [stop, error]
                = std::from_chars(rest.data() + (hex ? 3 : 2), last, code, hex ? 16 : 10);
            if (error == std::errc{} && stop == last && code > 0 && code < 0x110000) {
                appendUtf8(out, code);
                i += end + 1;
                continue;
            }
        }
        out.push_back(text[i++]);
    }
    return out;
}

std::string escapeMarkdown(std::string_view text)
{
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '@': // no mentions of people
            out += "&#64;";
            break;
        case '\\':
        case '`':
        case '*':
        case '_':
        case '[':
        case ']':
        case '|':
        case '~':
        case '#':
        case '$':
            out.push_back('\\');
            out.push_back(c);
            break;
        case '\n':
        case '\r':
            out.push_back(' ');
            break;
        case '+':
        case '-':
        case '=':
            // A list or a heading's underline, at the start only.
            if (i == 0)
                out.push_back('\\');
            out.push_back(c);
            break;
        case ':': // no links by themselves
            out += text.substr(i).starts_with("://") ? "&#58;" : ":";
            break;
        default:
            out.push_back(c);
        }
    }
    return out;
}

std::string markdownCode(std::string_view text, bool inTable)
{
    std::size_t longest = 0;
    std::size_t run = 0;
    std::string inside;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
        if (c == '|' && inTable)
            inside.push_back('\\');
        inside.push_back(c == '\n' || c == '\r' ? ' ' : c);
    }
    if (inside.empty())
        return {};
    const std::string fence(longest + 1, '`');
    const bool pad = inside.front() == '`' || inside.back() == '`' || inside.front() == ' ';
    return fence + (pad ? " " : "") + inside + (pad ? " " : "") + fence;
}

std::string base64(std::string_view bytes)
{
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = (group << 8U) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (std::size_t k = 0; k < 4; ++k)
            out.push_back(i + k > bytes.size() ? '=' : digits[(group >> (18 - 6 * k)) & 0x3FU]);
    }
    return out;
}

} // namespace tidemark::report
