// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.hpp"

int main(int argc, char** argv)
{
    if (const std::optional<int> status = tidemark::runCommandLine(argc, argv))
        return *status;
    return 0;
}
