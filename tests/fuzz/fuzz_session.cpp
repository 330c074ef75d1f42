// SPDX-License-Identifier: GPL-3.0-or-later
// Session files: what can be read of one, written, is read again as the same.
#include "model/report/session_file.hpp"
#include "tests/fuzz/fuzz_support.hpp"

using namespace tidemark;
using namespace tidemark::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto read = report::parseSession(textOf(data, size), "session.tidemark");
    if (!read) {
        checkError(read.error());
        return 0;
    }
    for (const std::string& problem : read->problems)
        checkLine(problem);
    const std::string written = report::sessionText(read->session);
    const auto again = report::parseSession(written, "session.tidemark");
    require(static_cast<bool>(again), "a session that was written can be read");
    require(again->session == read->session, "a session that was written is read as it was");
    return 0;
}
