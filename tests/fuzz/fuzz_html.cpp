// SPDX-License-Identifier: GPL-3.0-or-later
// Pages of the stock viewer and the base64 text in them.
#include "model/formats/html_reader.hpp"
#include "model/formats/memory_stream.hpp"
#include "tests/fuzz/fuzz_support.hpp"

#include <algorithm>

using namespace tidemark;
using namespace tidemark::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes = textOf(data, size);
    htmlReader.probe(bytes);
    ReadOptions options;
    options.partial = choiceOf(bytes) % 2 == 0;
    readBytes(bytes, htmlReader, options);

    MemoryStream text{std::string(bytes)};
    const auto decoded = decodeBase64(text, '"');
    std::size_t steps = size / 512 + 4;
    while (steps-- > 0) {
        const auto piece = decoded->peek(700);
        if (piece.empty())
            break;
        decoded->consume(std::min<std::size_t>(piece.size(), 512));
    }
    return 0;
}
