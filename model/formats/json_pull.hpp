// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/formats/byte_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// What JsonPull::next found.
enum class JsonToken : std::uint8_t {
    BeginObject,
    EndObject,
    BeginArray,
    EndArray,
    Key,
    String,
    Integer, ///< fits 64 bits, signed or unsigned
    Real, ///< a fraction, an exponent, NaN, an infinity, or an integer of more than 64 bits
    True,
    False,
    Null,
    End, ///< the outermost value is closed
    Failed, ///< see error()
};

/// A JSON text read token by token, so that nothing but the current token is in memory. One pass, no
/// recursion, one thread.
///
/// Stricter than needed nowhere, because recorders write more than the standard allows: NaN and the
/// infinities (Python's json module), lone surrogates as escapes, bytes that are not UTF-8, control
/// characters and stray backslashes inside strings, a byte-order mark in front. Texts keep the bytes of the
/// file; lone surrogates become their three-byte form, as in pickles.
class JsonPull {
public:
    /// `job` is told how far reading is and asked whether to stop once a piece of the input; it must outlive
    /// the puller.
    explicit JsonPull(ByteStream& bytes, const Job* job = nullptr);
    /// As given; may be null.
    const Job* job() const { return m_job; }

    JsonToken next();
    JsonToken token() const { return m_token; }
    /// Skips what is left of the value that the current token began; no-op on scalars. After a Key, skips its
    /// value. False when the text failed meanwhile.
    bool skip();

    /// Key or string (unescaped, at most limits::maxStringBytes), or the literal of a number. Valid until the
    /// next call of next or skip.
    std::string_view text() const { return m_text; }
    /// The text was longer than that and lost its end.
    bool wasCut() const { return m_cut; }
    /// Of an Integer: two's complement, so 2^63…2^64−1 read as negative, as in EventColumns. Of a Real: the
    /// nearest integer when it lies in the 64-bit range, else 0.
    std::int64_t integer() const { return m_integer; }
    /// Whether integer() is the number's value (an Integer, or a Real without a fraction in range).
    bool isWhole() const { return m_whole; }
    double real() const { return m_real; }

    /// Bytes behind the current token that are in memory already; never empty unless the chunk is used up.
    std::string_view ahead() const
    {
        return {reinterpret_cast<const char*>(m_cur), static_cast<std::size_t>(m_end - m_cur)};
    }
    /// Brackets that are open.
    std::size_t depth() const { return m_depth; }
    /// Bytes read so far.
    std::uint64_t offset() const { return m_chunkOffset + static_cast<std::uint64_t>(m_cur - m_begin); }
    /// Set once next() gave Failed: Truncated, Malformed or TooLarge with the byte offset, the damage of the
    /// container, or Cancelled.
    const std::optional<Error>& error() const { return m_error; }

    /// Ends reading here: next() gives Failed from now on.
    void refuse(Error error);
    /// After End: passes over blanks and NULs behind the value and leaves the stream where they end.
    void release();

private:
    enum class Expect : std::uint8_t { Value, ValueOrEnd, Key, KeyOrEnd, CommaOrEnd, End };

    bool fill();
    bool skipBlanks();
    JsonToken value();
    JsonToken key();
    JsonToken open(bool object);
    JsonToken close(bool object);
    JsonToken word(std::string_view rest, JsonToken token);
    JsonToken number();
    JsonToken constant(double value);
    bool string();
    bool longString();
    bool escape();
    bool unicodeEscape();
    int hexDigit(unsigned char c) const;
    void keep(std::string_view bytes);
    void afterValue();
    bool skipBlock(std::size_t outer);
    JsonToken fail(ErrorCode code, std::string message);
    JsonToken failExpected(const char* what);
    JsonToken failTruncated();

    ByteStream& m_bytes;
    const Job* m_job;
    const unsigned char* m_begin = nullptr;
    const unsigned char* m_cur = nullptr;
    const unsigned char* m_end = nullptr;
    std::uint64_t m_chunkOffset = 0;
    std::uint64_t m_tokenOffset = 0;

    std::vector<bool> m_objects; // one per open bracket: is it an object?
    std::size_t m_depth = 0;
    Expect m_expect = Expect::Value;
    JsonToken m_token = JsonToken::Null;

    std::string_view m_text;
    std::string m_buffer;
    std::int64_t m_integer = 0;
    double m_real = 0;
    bool m_whole = false;
    unsigned m_pendingSurrogate = 0;
    bool m_cut = false;
    std::optional<Error> m_error;
};

} // namespace tidemark
