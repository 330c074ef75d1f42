// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/formats/pickle_machine.hpp"
#include "model/formats/pickle_opcodes.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace tidemark {

namespace {

using namespace pickle;

/// Decimal digits of a little-endian two's-complement number of any length.
std::string decimalOf(std::string_view littleEndian)
{
    std::vector<std::uint32_t> words((littleEndian.size() + 3) / 4, 0);
    const bool negative
        = !littleEndian.empty() && (static_cast<unsigned char>(littleEndian.back()) & 0x80U) != 0;
    for (std::size_t i = 0; i < words.size() * 4; ++i) {
        unsigned byte = i < littleEndian.size() ? static_cast<unsigned char>(littleEndian[i])
            : negative                          ? 0xffU
                                                : 0U;
        if (negative)
            byte = ~byte & 0xffU;
        words[i / 4] |= byte << (8 * (i % 4));
    }
    for (std::size_t i = 0; negative && i < words.size() && ++words[i] == 0; ++i)
        ;
    std::string digits;
    while (!words.empty()) {
        std::uint64_t rest = 0;
        for (std::size_t i = words.size(); i-- > 0;) {
            rest = (rest << 32U) | words[i];
            words[i] = static_cast<std::uint32_t>(rest / 10);
            rest %= 10;
        }
        digits += static_cast<char>('0' + rest);
        while (!words.empty() && words.back() == 0)
            words.pop_back();
    }
    if (digits.empty())
        digits = "0";
    if (negative)
        digits += '-';
    std::ranges::reverse(digits);
    return digits;
}

std::optional<std::uint32_t> hexAt(std::string_view text, std::size_t at, std::size_t digits)
{
    std::uint32_t code = 0;
    if (at + digits > text.size())
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + digits, code, 16);
    if (error != std::errc{} || end != text.data() + at + digits)
        return std::nullopt;
    return code;
}

/// Python's raw-unicode-escape: Latin-1 with \uXXXX and \UXXXXXXXX.
std::string unescapeUnicode(std::string_view raw)
{
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] == '\\' && i + 1 < raw.size() && (raw[i + 1] == 'u' || raw[i + 1] == 'U')) {
            const std::size_t digits = raw[i + 1] == 'u' ? 4 : 8;
            if (const auto code = hexAt(raw, i + 2, digits); code && *code < 0x110000) {
                appendUtf8(out, *code);
                i += 1 + digits;
                continue;
            }
        }
        appendUtf8(out, static_cast<unsigned char>(raw[i]));
    }
    return out;
}

/// A quoted Python 2 string literal.
std::string unquote(std::string_view raw)
{
    if (raw.size() >= 2 && (raw.front() == '\'' || raw.front() == '"') && raw.back() == raw.front())
        raw = raw.substr(1, raw.size() - 2);
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '\\' || i + 1 == raw.size()) {
            out += raw[i];
            continue;
        }
        const char c = raw[++i];
        constexpr std::string_view letters = "abfnrtv";
        constexpr std::string_view meanings = "\a\b\f\n\r\t\v";
        if (const std::size_t at = letters.find(c); at != std::string_view::npos) {
            out += meanings[at];
        } else if (c == 'x' && hexAt(raw, i + 1, 2)) {
            out += static_cast<char>(*hexAt(raw, i + 1, 2));
            i += 2;
        } else if (c >= '0' && c <= '7') {
            unsigned code = 0;
            std::size_t digits = 0;
            for (; digits < 3 && i + digits < raw.size() && raw[i + digits] >= '0' && raw[i + digits] <= '7';
                 ++digits)
                code = (code * 8) + static_cast<unsigned>(raw[i + digits] - '0');
            out += static_cast<char>(code);
            i += digits - 1;
        } else {
            out += c;
        }
    }
    return out;
}

} // namespace

std::uint64_t PickleMachine::countArgument() const
{
    std::uint64_t count = 0;
    std::memcpy(&count, m_at + 1, opcodes[m_code].bytes);
    return count;
}

/// The bytes behind a length, and moves behind them. Of more than limits::maxStringBytes only the head is
/// given. Valid until the next call.
std::optional<std::string_view> PickleMachine::counted(std::uint64_t length, bool& cut)
{
    m_at += 1 + opcodes[m_code].bytes;
    const auto missing = [&](std::uint64_t have) {
        truncated("it ends inside " + opcodeAt() + ", which declares " + formatUnsigned(length)
            + " bytes, of which " + formatUnsigned(have) + " are there");
    };
    const std::size_t head
        = static_cast<std::size_t>(std::min<std::uint64_t>(length, limits::maxStringBytes));
    if (remaining() < head && !refill(head))
        return std::nullopt;
    if (remaining() < head) {
        missing(remaining());
        return std::nullopt;
    }
    const std::string_view text(reinterpret_cast<const char*>(m_at), head);
    m_at += head;
    cut = head < length;
    if (!cut)
        return text;

    m_scratch = text;
    for (std::uint64_t skipped = head; skipped < length;) {
        if (remaining() == 0 && !refill(1))
            return std::nullopt;
        if (remaining() == 0) {
            missing(skipped);
            return std::nullopt;
        }
        const std::uint64_t step = std::min(remaining(), length - skipped);
        m_at += step;
        skipped += step;
    }
    return m_scratch;
}

/// The text up to the newline that ends an argument of protocol 0, and moves behind it.
std::optional<std::string_view> PickleMachine::line(bool& cut)
{
    std::uint64_t start = 1;
    m_scratch.clear();
    for (;;) {
        const unsigned char* from = m_at + start;
        const auto* found = static_cast<const unsigned char*>(
            from < m_end ? std::memchr(from, '\n', static_cast<std::size_t>(m_end - from)) : nullptr);
        const unsigned char* until = found ? found : m_end;
        const std::size_t room = limits::maxStringBytes - m_scratch.size();
        const auto length = static_cast<std::size_t>(until - from);
        cut = cut || length > room;
        m_scratch.append(reinterpret_cast<const char*>(from), std::min(length, room));
        m_at = until;
        start = 0;
        if (found) {
            ++m_at;
            return m_scratch;
        }
        if (!refill(1))
            return std::nullopt;
        if (m_at == m_end) {
            truncated("it ends inside " + opcodeAt());
            return std::nullopt;
        }
    }
}

PickleMachine::Outcome PickleMachine::textOpcode(unsigned char code)
{
    switch (code) {
    case SHORT_BINUNICODE:
    case BINUNICODE:
    case BINUNICODE8:
    case SHORT_BINBYTES:
    case BINBYTES:
    case BINBYTES8:
    case BYTEARRAY8:
    case SHORT_BINSTRING:
    case BINSTRING: {
        bool cut = false;
        const auto text = counted(countArgument(), cut);
        if (!text)
            return Outcome::Failed;
        push(cut ? m_assembler.cutText(*text) : m_assembler.text(*text));
        return Outcome::Next;
    }
    case UNICODE:
    case STRING: {
        bool cut = false;
        const auto raw = line(cut);
        if (!raw)
            return Outcome::Failed;
        const std::string text = code == UNICODE ? unescapeUnicode(*raw) : unquote(*raw);
        push(cut ? m_assembler.cutText(text) : m_assembler.text(text));
        return Outcome::Next;
    }
    default:
        return Outcome::NotMine;
    }
}

PickleMachine::Outcome PickleMachine::numberOpcode(unsigned char code)
{
    switch (code) {
    case NONE:
    case NEWTRUE:
    case NEWFALSE:
        ++m_at;
        push(code == NONE ? Value::none() : Value::boolean(code == NEWTRUE));
        return Outcome::Next;
    case BINFLOAT: {
        std::uint64_t bits = 0;
        for (unsigned i = 1; i <= 8; ++i)
            bits = (bits << 8U) | m_at[i];
        m_at += 9;
        push(m_assembler.real(std::bit_cast<double>(bits)));
        return Outcome::Next;
    }
    case LONG1:
        return pushLong(m_at[1]);
    case LONG4: {
        const std::uint64_t length = countArgument();
        if (length > 0x7fffffffU)
            return fail(ErrorCode::Malformed, opcodeAt() + " declares a length below zero.");
        return pushLong(length);
    }
    case INT:
    case LONG:
    case FLOAT: {
        bool cut = false;
        const auto text = line(cut);
        if (!text)
            return Outcome::Failed;
        if (code == INT && (*text == "00" || *text == "01")) {
            push(Value::boolean(*text == "01"));
            return Outcome::Next;
        }
        if (code != FLOAT)
            return pushDecimal(text->ends_with('L') ? text->substr(0, text->size() - 1) : *text);
        double number = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
        if (error == std::errc::invalid_argument)
            return fail(ErrorCode::Malformed, opcodeAt() + " is followed by something that is no number.");
        push(m_assembler.real(number));
        return Outcome::Next;
    }
    default:
        return Outcome::NotMine;
    }
}

PickleMachine::Outcome PickleMachine::pushLong(std::uint64_t length)
{
    bool cut = false;
    const auto bytes = counted(length, cut);
    if (!bytes)
        return Outcome::Failed;
    std::string_view number = *bytes;
    constexpr std::size_t longest = 1024;
    // Sign bytes in front say nothing; PyTorch's own 64-bit addresses come with one.
    while (number.size() > 1) {
        const auto last = static_cast<unsigned char>(number.back());
        const bool below = (static_cast<unsigned char>(number[number.size() - 2]) & 0x80U) != 0;
        if ((last == 0 && !below) || (last == 0xff && below))
            number.remove_suffix(1);
        else
            break;
    }
    std::uint64_t low
        = !number.empty() && (static_cast<unsigned char>(number.back()) & 0x80U) != 0 ? ~0ULL : 0;
    std::memcpy(&low, number.data(), std::min<std::size_t>(8, number.size()));
    if (number.size() <= 8)
        push(m_assembler.integer(static_cast<std::int64_t>(low)));
    else if (number.size() == 9 && number.back() == 0)
        push(m_assembler.unsignedInteger(low));
    else if (number.size() > longest || cut)
        push(m_assembler.hugeInteger("a number of " + formatUnsigned(length) + " bytes", low));
    else
        push(m_assembler.hugeInteger(decimalOf(number), low));
    return Outcome::Next;
}

PickleMachine::Outcome PickleMachine::pushDecimal(std::string_view digits)
{
    std::int64_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (stop == end && error == std::errc{}) {
        push(m_assembler.integer(number));
        return Outcome::Next;
    }
    std::uint64_t wide = 0;
    const auto [wideStop, wideError] = std::from_chars(digits.data(), end, wide);
    if (wideStop == end && wideError == std::errc{}) {
        push(m_assembler.unsignedInteger(wide));
        return Outcome::Next;
    }
    if (stop != end || digits.empty() || digits == "-")
        return fail(ErrorCode::Malformed, opcodeAt() + " is followed by something that is no number.");
    std::uint64_t low = 0;
    for (const char c : digits)
        if (c != '-')
            low = (low * 10) + static_cast<std::uint64_t>(c - '0');
    push(m_assembler.hugeInteger(digits.substr(0, 1024), digits.front() == '-' ? 0 - low : low));
    return Outcome::Next;
}

} // namespace tidemark
