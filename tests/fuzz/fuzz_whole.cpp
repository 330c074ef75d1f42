// SPDX-License-Identifier: GPL-3.0-or-later
// From the bytes of a file to its report.
#include "tests/fuzz/fuzz_support.hpp"
#include "tests/fuzz/walk.hpp"

using namespace tidemark;
using namespace tidemark::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes = textOf(data, size);
    const std::uint64_t choice = choiceOf(bytes);
    ReadOptions options;
    options.partial = choice % 8 != 0;
    if (const auto rank = openBytes(bytes, options))
        walk(rank, choice / 8);
    return 0;
}
