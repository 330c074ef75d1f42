// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_support.hpp"

#include "model/core/text.hpp"
#include "model/formats/memory_stream.hpp"

#include <cstdio>
#include <cstdlib>

namespace tidemark::fuzz {

void require(bool holds, const char* promise)
{
    if (holds)
        return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

void checkText(std::string_view text)
{
    require(isValidUtf8(text), "texts that are shown are valid UTF-8");
}

void checkLine(std::string_view text)
{
    const bool oneLine = text.find_first_of(std::string_view("\n\r\0", 3)) == text.npos;
    if (text.empty() || !oneLine)
        std::fprintf(stderr, "message: %.*s\n", static_cast<int>(text.size()), text.data());
    require(!text.empty(), "a refusal says something");
    require(oneLine, "a refusal is one line");
    require(text.size() < 4096, "a refusal can be read");
    checkText(text);
}

void checkError(const Error& error)
{
    checkLine(error.message);
}

void checkSentence(const Error& error)
{
    checkError(error);
    require(error.message.back() == '.', "a file is refused with a sentence");
}

std::shared_ptr<const Snapshot> readBytes(
    std::string_view bytes, const Reader& reader, const ReadOptions& options)
{
    MemoryStream stream{std::string(bytes)};
    SnapshotBuilder builder;
    if (const auto error = reader.read(stream, builder, options, Job{})) {
        checkError(*error);
        return nullptr;
    }
    return builder.finish();
}

std::uint64_t choiceOf(std::string_view bytes)
{
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : bytes)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash ^ (hash >> 29U);
}

} // namespace tidemark::fuzz
