// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/json_pull.hpp"

#include "model/core/limits.hpp"
#include "model/core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace tidemark {

namespace {

/// Small enough that a mapped file's pages can be given back while reading goes on.
constexpr std::size_t chunkBytes = 1U << 20;
/// Digits of a number that are looked at; no writer needs more.
constexpr std::size_t maxNumberBytes = 512;

bool isBlank(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool isNumberPart(unsigned char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

std::string printable(unsigned char c)
{
    if (c > 0x20 && c < 0x7f)
        return std::string("'") + static_cast<char>(c) + "'";
    static constexpr char digits[] = "0123456789abcdef";
    return std::string("byte 0x") + digits[c >> 4] + digits[c & 15];
}

} // namespace

JsonPull::JsonPull(ByteStream& bytes, const Job* job)
    : m_bytes(bytes)
    , m_job(job)
    , m_chunkOffset(bytes.offset())
{
    const auto head = bytes.peek(3);
    if (head.size() >= 3 && head[0] == 0xef && head[1] == 0xbb && head[2] == 0xbf) {
        bytes.consume(3);
        m_chunkOffset += 3;
    }
}

bool JsonPull::fill()
{
    if (m_begin) {
        const auto used = static_cast<std::size_t>(m_end - m_begin);
        m_bytes.consume(used);
        m_chunkOffset += used;
    }
    m_begin = m_cur = m_end = nullptr;
    if (m_job) {
        m_job->report(Stage::Read, m_bytes.packedOffset(), m_bytes.packedSize());
        if (m_job->stopped()) {
            m_error = Error{ErrorCode::Cancelled, "Reading was stopped", std::nullopt};
            return false;
        }
    }
    const auto chunk = m_bytes.peek(1);
    m_begin = m_cur = chunk.data();
    m_end = m_begin + std::min(chunk.size(), chunkBytes);
    if (chunk.empty())
        m_begin = m_cur = m_end = nullptr;
    return m_cur != m_end;
}

bool JsonPull::skipBlanks()
{
    for (;;) {
        while (m_cur != m_end && isBlank(*m_cur))
            ++m_cur;
        if (m_cur != m_end)
            return true;
        if (!fill())
            return false;
    }
}

JsonToken JsonPull::next()
{
    if (m_error)
        return m_token = JsonToken::Failed;
    if (m_expect == Expect::End)
        return m_token = JsonToken::End;
    if (!skipBlanks())
        return m_token = failTruncated();
    if (m_expect == Expect::CommaOrEnd) {
        const bool object = m_objects[m_depth - 1];
        if (*m_cur == ',') {
            ++m_cur;
            m_expect = object ? Expect::Key : Expect::Value;
            if (!skipBlanks())
                return m_token = failTruncated();
        } else if (*m_cur == (object ? '}' : ']')) {
            return m_token = close(object);
        } else {
            return m_token = failExpected(object ? "',' or '}'" : "',' or ']'");
        }
    }
    m_tokenOffset = offset();
    if (m_expect == Expect::KeyOrEnd && *m_cur == '}')
        return m_token = close(true);
    if (m_expect == Expect::ValueOrEnd && *m_cur == ']')
        return m_token = close(false);
    if (m_expect == Expect::Key || m_expect == Expect::KeyOrEnd)
        return m_token = key();
    return m_token = value();
}

JsonToken JsonPull::key()
{
    if (*m_cur != '"')
        return failExpected("a key in quotes");
    ++m_cur;
    if (!string())
        return failTruncated();
    // The colon may lie in the next chunk, which would take the text's bytes away.
    if (m_cur == m_end || *m_cur != ':') {
        if (m_text.data() != m_buffer.data()) {
            m_buffer.assign(m_text);
            m_text = m_buffer;
        }
        if (!skipBlanks())
            return failTruncated();
        if (*m_cur != ':')
            return failExpected("':'");
    }
    ++m_cur;
    m_expect = Expect::Value;
    return JsonToken::Key;
}

JsonToken JsonPull::value()
{
    switch (*m_cur) {
    case '{':
        return open(true);
    case '[':
        return open(false);
    case '"':
        ++m_cur;
        if (!string())
            return failTruncated();
        afterValue();
        return JsonToken::String;
    case 't':
        return word("true", JsonToken::True);
    case 'f':
        return word("false", JsonToken::False);
    case 'n':
        return word("null", JsonToken::Null);
    case 'N':
        return word("NaN", JsonToken::Real) == JsonToken::Failed
            ? JsonToken::Failed
            : constant(std::numeric_limits<double>::quiet_NaN());
    case 'I':
        return word("Infinity", JsonToken::Real) == JsonToken::Failed
            ? JsonToken::Failed
            : constant(std::numeric_limits<double>::infinity());
    default:
        if (*m_cur == '-' || (*m_cur >= '0' && *m_cur <= '9'))
            return number();
        return failExpected("a value");
    }
}

void JsonPull::afterValue()
{
    m_expect = m_depth == 0 ? Expect::End : Expect::CommaOrEnd;
}

JsonToken JsonPull::open(bool object)
{
    if (m_depth == limits::maxJsonDepth)
        return fail(ErrorCode::TooLarge,
            "The JSON is nested more than " + std::to_string(limits::maxJsonDepth) + " brackets deep at byte "
                + std::to_string(offset()) + ", as no recorder writes");
    ++m_cur;
    if (m_objects.size() == m_depth)
        m_objects.push_back(object);
    else
        m_objects[m_depth] = object;
    ++m_depth;
    m_expect = object ? Expect::KeyOrEnd : Expect::ValueOrEnd;
    return object ? JsonToken::BeginObject : JsonToken::BeginArray;
}

JsonToken JsonPull::close(bool object)
{
    m_tokenOffset = offset();
    ++m_cur;
    --m_depth;
    afterValue();
    return object ? JsonToken::EndObject : JsonToken::EndArray;
}

JsonToken JsonPull::word(std::string_view rest, JsonToken token)
{
    for (const char c : rest) {
        if (m_cur == m_end && !fill())
            return failTruncated();
        if (*m_cur != static_cast<unsigned char>(c))
            return failExpected("a value");
        ++m_cur;
    }
    afterValue();
    return token;
}

JsonToken JsonPull::constant(double value)
{
    m_text = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
    m_real = value;
    m_integer = 0;
    m_whole = false;
    return JsonToken::Real;
}

JsonToken JsonPull::number()
{
    const unsigned char* start = m_cur;
    while (m_cur != m_end && isNumberPart(*m_cur))
        ++m_cur;
    m_text = {reinterpret_cast<const char*>(start), static_cast<std::size_t>(m_cur - start)};
    if (m_cur == m_end || m_text.size() > maxNumberBytes) {
        m_buffer.assign(m_text);
        while ((m_cur != m_end || fill()) && isNumberPart(*m_cur)) {
            if (m_buffer.size() <= maxNumberBytes)
                m_buffer.push_back(static_cast<char>(*m_cur));
            ++m_cur;
        }
        m_text = m_buffer;
        if (m_text.size() > maxNumberBytes)
            return fail(ErrorCode::TooLarge,
                "The JSON holds a number of more than " + std::to_string(maxNumberBytes)
                    + " characters at byte " + std::to_string(m_tokenOffset));
    }
    if (m_text == "-" && (m_cur != m_end || fill()) && *m_cur == 'I')
        return word("Infinity", JsonToken::Real) == JsonToken::Failed
            ? JsonToken::Failed
            : constant(-std::numeric_limits<double>::infinity());

    const char* first = m_text.data();
    const char* last = first + m_text.size();
    m_whole = true;
    auto result = std::from_chars(first, last, m_integer);
    if (result.ec == std::errc::result_out_of_range && *first != '-') {
        std::uint64_t magnitude = 0;
        result = std::from_chars(first, last, magnitude);
        m_integer = static_cast<std::int64_t>(magnitude);
    }
    if (result.ec == std::errc{} && result.ptr == last) {
        m_real = static_cast<double>(m_integer);
        afterValue();
        return JsonToken::Integer;
    }
    const auto real = std::from_chars(first, last, m_real);
    if (real.ptr != last || (real.ec != std::errc{} && real.ec != std::errc::result_out_of_range)) {
        if (m_cur == m_end && !fill())
            return failTruncated();
        return fail(ErrorCode::Malformed,
            "Not valid JSON at byte " + std::to_string(m_tokenOffset) + ": \""
                + std::string(m_text.substr(0, 40)) + "\" is not a number");
    }
    if (real.ec == std::errc::result_out_of_range)
        m_real = *first == '-' ? -std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::infinity();
    constexpr double limit = 9.2e18;
    const bool inRange = m_real > -limit && m_real < limit;
    m_integer = inRange ? std::llround(m_real) : 0;
    m_whole = inRange && static_cast<double>(m_integer) == m_real;
    afterValue();
    return JsonToken::Real;
}

bool JsonPull::string()
{
    m_cut = false;
    const auto* quote
        = static_cast<const unsigned char*>(std::memchr(m_cur, '"', static_cast<std::size_t>(m_end - m_cur)));
    if (!quote || std::memchr(m_cur, '\\', static_cast<std::size_t>(quote - m_cur)))
        return longString();
    m_text = {reinterpret_cast<const char*>(m_cur), static_cast<std::size_t>(quote - m_cur)};
    m_cur = quote + 1;
    if (m_text.size() > limits::maxStringBytes) {
        m_text = m_text.substr(0, limits::maxStringBytes);
        m_cut = true;
    }
    return true;
}

void JsonPull::keep(std::string_view bytes)
{
    const std::size_t room = limits::maxStringBytes - std::min(m_buffer.size(), limits::maxStringBytes);
    m_cut = m_cut || bytes.size() > room;
    m_buffer.append(bytes.substr(0, room));
}

bool JsonPull::longString()
{
    m_buffer.clear();
    m_pendingSurrogate = 0;
    const auto flushSurrogate = [this] {
        std::string lone;
        if (m_pendingSurrogate)
            appendUtf8(lone, m_pendingSurrogate);
        m_pendingSurrogate = 0;
        keep(lone);
    };
    for (;;) {
        if (m_cur == m_end && !fill())
            return false;
        const unsigned char* start = m_cur;
        while (m_cur != m_end && *m_cur != '"' && *m_cur != '\\')
            ++m_cur;
        if (m_cur != start) {
            flushSurrogate();
            keep({reinterpret_cast<const char*>(start), static_cast<std::size_t>(m_cur - start)});
        }
        if (m_cur == m_end)
            continue;
        if (*m_cur == '"') {
            flushSurrogate();
            ++m_cur;
            m_text = m_buffer;
            return true;
        }
        ++m_cur;
        if (m_cur == m_end && !fill())
            return false;
        if (*m_cur != 'u')
            flushSurrogate();
        if (!escape())
            return false;
    }
}

bool JsonPull::escape()
{
    const unsigned char c = *m_cur++;
    switch (c) {
    case 'n':
        keep("\n");
        return true;
    case 't':
        keep("\t");
        return true;
    case 'r':
        keep("\r");
        return true;
    case 'b':
        keep("\b");
        return true;
    case 'f':
        keep("\f");
        return true;
    case '"':
    case '\\':
    case '/': {
        const char plain = static_cast<char>(c);
        keep({&plain, 1});
        return true;
    }
    case 'u':
        return unicodeEscape();
    default: {
        // Old Kineto versions wrote Windows paths without doubling their backslashes.
        const char both[] = {'\\', static_cast<char>(c)};
        keep({both, 2});
        return true;
    }
    }
}

int JsonPull::hexDigit(unsigned char c) const
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool JsonPull::unicodeEscape()
{
    unsigned code = 0;
    std::string literal = "\\u";
    for (int i = 0; i < 4; ++i) {
        if (m_cur == m_end && !fill())
            return false;
        const int digit = hexDigit(*m_cur);
        if (digit < 0) {
            keep(literal);
            return true;
        }
        literal.push_back(static_cast<char>(*m_cur));
        code = code * 16 + static_cast<unsigned>(digit);
        ++m_cur;
    }
    std::string text;
    const bool low = code >= 0xdc00 && code < 0xe000;
    if (m_pendingSurrogate && low) {
        appendUtf8(text, 0x10000 + ((m_pendingSurrogate - 0xd800) << 10) + (code - 0xdc00));
        m_pendingSurrogate = 0;
    } else {
        if (m_pendingSurrogate)
            appendUtf8(text, m_pendingSurrogate);
        m_pendingSurrogate = code >= 0xd800 && code < 0xdc00 ? code : 0;
        if (!m_pendingSurrogate)
            appendUtf8(text, code);
    }
    keep(text);
    return true;
}

bool JsonPull::skip()
{
    if (m_token == JsonToken::Key)
        next();
    if (m_token == JsonToken::BeginObject || m_token == JsonToken::BeginArray)
        return skipBlock(m_depth - 1);
    return m_token != JsonToken::Failed;
}

/// Only brackets and strings are looked at here: what is skipped need not be right, only balanced.
bool JsonPull::skipBlock(std::size_t outer)
{
    for (;;) {
        if (m_cur == m_end && !fill()) {
            m_token = failTruncated();
            return false;
        }
        const unsigned char c = *m_cur;
        if (c == '"') {
            ++m_cur;
            if (!string()) {
                m_token = failTruncated();
                return false;
            }
        } else if (c == '{' || c == '[') {
            if (open(c == '{') == JsonToken::Failed) {
                m_token = JsonToken::Failed;
                return false;
            }
        } else if (c == '}' || c == ']') {
            const bool object = m_objects[m_depth - 1];
            if (object != (c == '}')) {
                m_token = failExpected(object ? "'}'" : "']'");
                return false;
            }
            m_token = close(object);
            if (m_depth == outer)
                return true;
        } else {
            ++m_cur;
        }
    }
}

void JsonPull::release()
{
    while (m_cur != m_end || fill()) {
        while (m_cur != m_end && (isBlank(*m_cur) || *m_cur == 0))
            ++m_cur;
        if (m_cur != m_end)
            break;
    }
    m_bytes.consume(static_cast<std::size_t>(m_cur - m_begin));
    m_chunkOffset += static_cast<std::uint64_t>(m_cur - m_begin);
    m_begin = m_cur = m_end = nullptr;
}

void JsonPull::refuse(Error error)
{
    m_error = std::move(error);
    m_token = JsonToken::Failed;
}

JsonToken JsonPull::fail(ErrorCode code, std::string message)
{
    m_error = Error{code, std::move(message), m_tokenOffset};
    return JsonToken::Failed;
}

JsonToken JsonPull::failExpected(const char* what)
{
    m_tokenOffset = offset();
    return fail(ErrorCode::Malformed,
        "Not valid JSON at byte " + std::to_string(m_tokenOffset) + ": " + what + " expected, "
            + printable(*m_cur) + " found");
}

JsonToken JsonPull::failTruncated()
{
    if (m_error)
        return JsonToken::Failed;
    if (auto damage = m_bytes.error()) {
        m_error = std::move(damage);
        return JsonToken::Failed;
    }
    m_tokenOffset = offset();
    return fail(ErrorCode::Truncated,
        "The file is truncated: its JSON ends at byte " + std::to_string(m_tokenOffset) + " with "
            + std::to_string(m_depth) + (m_depth == 1 ? " bracket" : " brackets") + " still open");
}

} // namespace tidemark
