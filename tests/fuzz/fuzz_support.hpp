// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/formats/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

/// What the fuzz targets share. A target ends the program where a promise is broken; the fuzzer keeps the
/// input then.
namespace tidemark::fuzz {

inline std::string_view textOf(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program with the sentence when `holds` is false.
void require(bool holds, const char* promise);
/// A message is one line of valid UTF-8.
void checkLine(std::string_view text);
void checkError(const Error& error);
/// And of a file that is not opened: a whole sentence.
void checkSentence(const Error& error);
template <typename T>
void checkResult(const Result<T>& result)
{
    if (!result)
        checkError(result.error());
}
/// A text that is shown: valid UTF-8.
void checkText(std::string_view text);

/// Feeds bytes to one reader and checks the refusal; null when it refuses.
std::shared_ptr<const Snapshot> readBytes(
    std::string_view bytes, const Reader& reader, const ReadOptions& options);

/// A number that depends on every byte: choices that are not part of the input.
std::uint64_t choiceOf(std::string_view bytes);

} // namespace tidemark::fuzz
