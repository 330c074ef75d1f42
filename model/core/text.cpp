// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"

#include <cstdint>
#include <vector>

namespace tidemark {

namespace {

constexpr char32_t replacement = 0xFFFD;

struct Decoded {
    char32_t value;
    std::size_t bytes;
    bool good;
};

/// One code point by the table of well-formed UTF-8 (Unicode 15, table 3-7); a bad byte stands for itself.
Decoded decode(std::string_view text, std::size_t at)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80)
        return {lead, 1, true};
    std::size_t length = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
    char32_t value = 0;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
        value = lead & 0x1FU;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        value = lead & 0x0FU;
        if (lead == 0xE0)
            low = 0xA0;
        if (lead == 0xED)
            high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        value = lead & 0x07U;
        if (lead == 0xF0)
            low = 0x90;
        if (lead == 0xF4)
            high = 0x8F;
    } else {
        return {replacement, 1, false};
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (at + i >= text.size() || byte(i) < low || byte(i) > high)
            return {replacement, i, false};
        value = (value << 6) | (byte(i) & 0x3FU);
        low = 0x80;
        high = 0xBF;
    }
    return {value, length, true};
}

bool isDirectional(char32_t c)
{
    return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E)
        || (c >= 0x2066 && c <= 0x2069);
}

/// The character to show for `c`, or 0 for none.
char32_t shown(char32_t c)
{
    if (c < 0x20)
        return 0x2400 + c;
    if (c == 0x7F)
        return 0x2421;
    if (c >= 0x80 && c < 0xA0)
        return replacement;
    if (c == 0x2028 || c == 0x2029)
        return 0x2424;
    return isDirectional(c) || c == 0xFEFF ? 0 : c;
}

bool isPlain(std::string_view text)
{
    for (const char c : text)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F)
            return false;
    return true;
}

std::vector<char32_t> shownCharacters(std::string_view raw)
{
    std::vector<char32_t> out;
    out.reserve(raw.size());
    for (std::size_t at = 0; at < raw.size();) {
        const Decoded d = decode(raw, at);
        at += d.bytes;
        if (const char32_t c = d.good ? shown(d.value) : replacement)
            out.push_back(c);
    }
    return out;
}

} // namespace

void appendUtf8(std::string& out, std::uint32_t code)
{
    const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | (code >> 6));
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | (code >> 12));
        put(0x80 | ((code >> 6) & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | ((code >> 18) & 7));
        put(0x80 | ((code >> 12) & 0x3F));
        put(0x80 | ((code >> 6) & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

std::string displayText(std::string_view raw)
{
    if (isPlain(raw))
        return std::string(raw);
    std::string out;
    for (const char32_t c : shownCharacters(raw))
        appendUtf8(out, c);
    return out;
}

std::string displayText(std::string_view raw, std::size_t maxChars)
{
    if (isPlain(raw) && raw.size() <= maxChars)
        return std::string(raw);
    // Enough input for both ends whatever its encoding: a text of megabytes is not decoded to show a line of
    // it.
    const std::size_t window = maxChars * 8 + 64;
    std::vector<char32_t> characters;
    bool cut = false;
    if (raw.size() > 2 * window) {
        characters = shownCharacters(raw.substr(0, window));
        const std::vector<char32_t> tail = shownCharacters(raw.substr(raw.size() - window));
        characters.insert(characters.end(), tail.begin(), tail.end());
        cut = true;
    } else {
        characters = shownCharacters(raw);
    }
    std::string out;
    if (!cut && characters.size() <= maxChars) {
        for (const char32_t c : characters)
            appendUtf8(out, c);
        return out;
    }
    if (maxChars == 0)
        return out;
    const std::size_t kept = maxChars - 1;
    const std::size_t head = std::min(kept - kept / 2, characters.size());
    const std::size_t tail = std::min(kept / 2, characters.size() - head);
    for (std::size_t i = 0; i < head; ++i)
        appendUtf8(out, characters[i]);
    out += "…";
    for (std::size_t i = characters.size() - tail; i < characters.size(); ++i)
        appendUtf8(out, characters[i]);
    return out;
}

std::string_view baseName(std::string_view path)
{
    const std::size_t cut = path.find_last_of("/\\");
    return cut == std::string_view::npos ? path : path.substr(cut + 1);
}

bool isValidUtf8(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const Decoded d = decode(text, at);
        if (!d.good)
            return false;
        at += d.bytes;
    }
    return true;
}

} // namespace tidemark
