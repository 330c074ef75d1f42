// SPDX-License-Identifier: GPL-3.0-or-later
// Files from the outside in: gzip, zstd, zip, and what is told of files that are no snapshot.
#include "model/formats/input.hpp"
#include "tests/fuzz/fuzz_support.hpp"
#include "tests/support/memory_file.hpp"

using namespace tidemark;
using namespace tidemark::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes = textOf(data, size);
    const test::MemoryFile file(bytes);
    ReadOptions options;
    options.partial = choiceOf(bytes) % 2 == 0;
    const auto snapshot = readSnapshot(file.path(), options, Job{});
    if (!snapshot)
        checkSentence(snapshot.error());
    return 0;
}
