// SPDX-License-Identifier: GPL-3.0-or-later
// The opcode machine, on pickles that are well formed and on bytes that are not.
#include "model/formats/pickle_reader.hpp"
#include "tests/fuzz/fuzz_support.hpp"

using namespace tidemark;
using namespace tidemark::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes = textOf(data, size);
    ReadOptions options;
    options.partial = choiceOf(bytes) % 2 == 0;
    if (choiceOf(bytes) % 16 == 1)
        options.events = {1, 3};
    readBytes(bytes, pickleReader, options);
    return 0;
}
