// SPDX-License-Identifier: GPL-3.0-or-later
// The text of an out-of-memory error, as somebody pastes it.
#include "model/findings/oom.hpp"
#include "tests/fuzz/fuzz_support.hpp"

using namespace tidemark;
using namespace tidemark::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto text = parseOomText(textOf(data, size));
    if (!text)
        checkError(text.error());
    else
        checkText(text->explanation);
    return 0;
}
