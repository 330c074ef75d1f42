// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/html_reader.hpp"

#include "model/formats/foreign.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

namespace {

constexpr std::size_t windowBytes = 64U << 10;
/// Longest stretch a marker with its colon, blanks and quote may take.
constexpr std::size_t markerBytes = 64;

std::string_view viewOf(std::span<const unsigned char> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::array<std::int8_t, 256> base64Table()
{
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < digits.size(); ++i)
        table[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i);
    table['-'] = 62;
    table['_'] = 63;
    return table;
}

class Base64Stream final : public ByteStream {
public:
    Base64Stream(ByteStream& text, char quote)
        : m_in(text)
        , m_quote(static_cast<unsigned char>(quote))
    { }

    std::span<const unsigned char> peek(std::size_t wanted) override
    {
        while (m_buffer.size() - m_at < wanted && !m_ended)
            decodeMore();
        return std::span(m_buffer).subspan(m_at);
    }
    void consume(std::size_t count) override
    {
        m_at += count;
        m_offset += count;
        if (m_at == m_buffer.size()) {
            m_buffer.clear();
            m_at = 0;
        } else if (m_at > windowBytes) {
            m_buffer.erase(m_buffer.begin(), m_buffer.begin() + static_cast<std::ptrdiff_t>(m_at));
            m_at = 0;
        }
    }
    std::uint64_t offset() const override { return m_offset; }
    std::uint64_t size() const override { return 0; }
    std::uint64_t packedOffset() const override { return m_in.packedOffset(); }
    std::uint64_t packedSize() const override { return m_in.packedSize(); }
    std::optional<Error> error() const override { return m_error; }

private:
    void decodeMore()
    {
        static constexpr auto table = base64Table();
        auto in = m_in.peek(1);
        in = in.first(std::min(in.size(), windowBytes));
        if (in.empty()) {
            end(ErrorCode::Truncated, "is truncated: the base64 text of its snapshot ends");
            return;
        }
        std::size_t used = 0;
        for (; used < in.size() && !m_ended; ++used) {
            const unsigned char c = in[used];
            const std::int8_t digit = table[c];
            if (digit >= 0) {
                m_bits = m_bits << 6 | static_cast<std::uint32_t>(digit);
                m_bitCount += 6;
                if (m_bitCount >= 8) {
                    m_bitCount -= 8;
                    m_buffer.push_back(static_cast<unsigned char>(m_bits >> m_bitCount));
                }
            } else if (c == m_quote) {
                m_ended = true;
                break;
            } else if (c != '=' && c != '\n' && c != '\r' && c != ' ' && c != '\t' && c != '\\') {
                m_in.consume(used);
                end(ErrorCode::Damaged,
                    "is damaged: its base64 text holds a character that does not belong there");
                return;
            }
        }
        m_in.consume(used);
    }

    void end(ErrorCode code, const char* what)
    {
        m_ended = true;
        if (auto damage = m_in.error())
            m_error = std::move(damage);
        else
            m_error = Error{code,
                std::string("The HTML page ") + what + " (byte " + std::to_string(m_in.offset())
                    + " of the page)",
                m_offset + (m_buffer.size() - m_at)};
    }

    ByteStream& m_in;
    unsigned char m_quote;
    std::vector<unsigned char> m_buffer;
    std::size_t m_at = 0;
    std::uint64_t m_offset = 0;
    std::uint32_t m_bits = 0;
    unsigned m_bitCount = 0;
    bool m_ended = false;
    std::optional<Error> m_error;
};

/// What a page shows of itself while it is searched.
struct PageSigns {
    bool drawnData = false;
    bool picture = false;
};

/// The quote behind `base64`, when the text goes on as the key of an embedded file: its position, else npos.
std::size_t quoteAfterKey(std::string_view rest)
{
    std::size_t i = 0;
    const auto skipBlanks = [&] {
        while (i < rest.size() && (rest[i] == ' ' || rest[i] == '\n' || rest[i] == '\r' || rest[i] == '\t'))
            ++i;
    };
    if (i < rest.size() && (rest[i] == '"' || rest[i] == '\''))
        ++i;
    skipBlanks();
    if (i == rest.size() || rest[i] != ':')
        return std::string_view::npos;
    ++i;
    skipBlanks();
    const bool quoted = i < rest.size() && (rest[i] == '"' || rest[i] == '\'' || rest[i] == '`');
    return quoted ? i : std::string_view::npos;
}

/// Moves behind the quote that opens the next embedded file and returns that quote; absent at the end.
std::optional<char> findEmbedded(ByteStream& page, PageSigns& signs, const Job& job)
{
    constexpr std::string_view marker = "base64";
    while (!job.stopped()) {
        std::string_view window = viewOf(page.peek(windowBytes));
        window = window.substr(0, std::max(windowBytes, markerBytes));
        if (window.empty())
            break;
        const std::size_t found = window.find(marker);
        // Only up to the marker, so that a page full of markers is not searched over and over.
        const std::string_view passed = window.substr(0, found);
        signs.drawnData = signs.drawnData || passed.find("alloc_data") != std::string_view::npos;
        signs.picture = signs.picture || passed.find("data:image/") != std::string_view::npos;
        const bool last = window.size() < windowBytes;
        if (found == std::string_view::npos) {
            page.consume(last ? window.size() : window.size() - marker.size() - markerBytes);
            continue;
        }
        if (found > 0 && !last && window.size() - found < marker.size() + markerBytes) {
            page.consume(found);
            continue;
        }
        const std::string_view rest = window.substr(found + marker.size(), markerBytes);
        const std::size_t quote = quoteAfterKey(rest);
        if (quote != std::string_view::npos) {
            const char opening = rest[quote];
            page.consume(found + marker.size() + quote + 1);
            return opening;
        }
        page.consume(found + marker.size());
    }
    return std::nullopt;
}

Error pageWithoutSnapshot(const PageSigns& signs)
{
    if (signs.drawnData)
        return notASnapshot("an HTML page of PyTorch's first memory viewer, which holds what it drew but no "
                            "addresses, times or segments",
            std::string("Open the .pickle it was made from, or ") + recordingAdvice());
    if (signs.picture)
        return notASnapshot("an HTML page with a picture only, as torch.profiler's "
                            "export_memory_timeline(\"….html\") writes",
            std::string("Export the timeline as .json.gz or .raw.json.gz instead, or better ")
                + recordingAdvice());
    return notASnapshot("an HTML page without an embedded snapshot",
        std::string("Open the .pickle it was made from, or ") + recordingAdvice());
}

std::optional<Error> readEmbedded(
    ByteStream& bytes, SnapshotBuilder& builder, const ReadOptions& options, const Job& job)
{
    const auto whole = bytes.peek(windowBytes);
    const std::string_view head = viewOf(whole.first(std::min(whole.size(), windowBytes)));
    for (const Reader& reader : readers())
        if (reader.read != htmlReader.read && reader.probe(head))
            return reader.read(bytes, builder, options, job);
    if (head.empty() && bytes.error())
        return bytes.error();
    Error error = describeForeign(head);
    error.message = "The HTML page embeds something that is no snapshot. " + error.message;
    return error;
}

bool probe(std::string_view head)
{
    // Flame graphs are SVG with a script inside.
    if (recognisedForeign(head))
        return false;
    std::string start(head.substr(0, 1024));
    std::ranges::transform(start, start.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const std::size_t first = start.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first == std::string::npos || start[first] != '<')
        return false;
    return start.find("<!doctype html") != std::string::npos || start.find("<html") != std::string::npos
        || start.find("<script") != std::string::npos || start.find("<head") != std::string::npos;
}

std::optional<Error> read(
    ByteStream& bytes, SnapshotBuilder& builder, const ReadOptions& options, const Job& job)
{
    PageSigns signs;
    const auto quote = findEmbedded(bytes, signs, job);
    if (job.stopped())
        return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
    if (!quote)
        return bytes.error() ? *bytes.error() : pageWithoutSnapshot(signs);
    builder.source().container = "html";
    {
        const auto embedded = decodeBase64(bytes, *quote);
        if (auto error = readEmbedded(*embedded, builder, options, job))
            return error;
        for (auto rest = embedded->peek(1); !rest.empty() && !job.stopped(); rest = embedded->peek(1))
            embedded->consume(rest.size());
    }
    std::uint64_t more = 0;
    while (const auto next = findEmbedded(bytes, signs, job))
        ++more;
    if (more > 0)
        builder.note(Quality::SeveralSnapshots, std::nullopt, {},
            "The page embeds " + std::to_string(more + 1)
                + " files; shown is the first. Open the snapshots themselves to see the others.");
    return std::nullopt;
}

} // namespace

std::unique_ptr<ByteStream> decodeBase64(ByteStream& text, char quote)
{
    return std::make_unique<Base64Stream>(text, quote);
}

const Reader htmlReader{"HTML page of PyTorch's memory viewer", probe, read};

} // namespace tidemark
