// SPDX-License-Identifier: GPL-3.0-or-later
// Digests: packed as they lie in a folder, and (first byte odd) the bytes inside of a valid wrapper.
#include "model/job/digest.hpp"
#include "model/job/run_diagnosis.hpp"
#include "tests/fuzz/digest_wrapper.hpp"
#include "tests/fuzz/fuzz_support.hpp"

using namespace tidemark;
using namespace tidemark::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view text = textOf(data + 1, size - 1);
    const auto summary
        = parseDigest(data[0] % 2 == 0 ? std::string(text) : wrappedDigest(text), "d.tmdigest");
    if (!summary) {
        checkError(summary.error());
        return 0;
    }
    const auto again = parseDigest(digestBytes(*summary), "d.tmdigest");
    if (!again)
        checkError(again.error());
    return 0;
}
